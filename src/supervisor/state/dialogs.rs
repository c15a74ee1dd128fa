//! Dialogs. However a dialog closes, it ends in exactly one record.
//!
//! A tab shows one native dialog at a time. Its events and its answer use the page's session, also if a cross-process
//! frame opened it; `frameId` names that frame.
//!
//! The answer is chosen in this order: the page is closing (`beforeunload` is accepted, others are dismissed), an armed
//! answer, the first matching rule, the policy of the task. Of the matching armed answers the oldest one of the client
//! that acts on the page is used, else the oldest one without a client. Rules and armed answers match the text as the
//! page wrote it; published texts are redacted. A dialog that waits for an answer under the policy `MustRespond` is
//! dismissed at the dialog timeout. If its page, renderer or connection goes away, it is recorded as lost.
//!
//! If a page shows a dialog while it navigates and the server has responded, the new document waits for the dialog, and
//! Chromium accepts no answer to it. Then the page is sent to the same URL again, provided that it is a plain GET; that
//! closes the dialog.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::dialog_call::DialogAnswer;
use super::super::dialog_policy::{ArmedAnswer, DialogMatch, DialogPolicy};
use super::super::error::Error;
use super::super::log::LogEvent as Noted;
use super::super::snapshot::{ArmedDialogAnswer, ClosedBy, ClosedDialog, Dialog, DialogType};
use super::bridging::{AnswerPath, answered};
use super::navigation_checks::blank;
use super::{Effect, Now, Outgoing, SessionKey, State, Waiting};
use crate::cdp;
use crate::cdp::protocol::page::{
    self, FrameId, HandleJavaScriptDialog, JavascriptDialogClosedEvent, JavascriptDialogOpeningEvent, Navigate,
};
use crate::cdp::protocol::target::TargetId;

/// Number of closed dialogs kept.
const RECENT: usize = 20;
/// An answer without effect for this long may be sent again.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// Chromium's error for an answer when the page's next document is already waiting for the dialog.
const LEAVING: &str = "Not attached to an active page";
/// Maximum number of armed answers.
const ARMED: usize = 64;

/// What is answering a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answering {
    /// A request, by its number.
    Request(u64),
    /// An armed answer.
    Armed,
    /// The policy.
    Policy,
    /// The watchdog.
    Watchdog,
    /// The closing of its page.
    Closing,
}

impl Answering {
    fn closed_by(self) -> ClosedBy {
        match self {
            Self::Request(_) | Self::Closing => ClosedBy::Agent,
            Self::Armed => ClosedBy::Armed,
            Self::Policy => ClosedBy::AutoPolicy,
            Self::Watchdog => ClosedBy::Watchdog,
        }
    }

    /// Whether the answer is automatic.
    fn is_automatic(self) -> bool {
        matches!(self, Self::Armed | Self::Policy | Self::Closing)
    }
}

#[derive(Debug)]
struct Open {
    /// As published: secrets redacted, texts truncated.
    dialog: Dialog,
    way: AnswerPath,
    /// The original message.
    message: Arc<str>,
    default_prompt: Arc<str>,
    answering: Option<(Answering, Instant, bool)>,
    /// When it is dismissed; `None` for a held dialog.
    watchdog: Option<Instant>,
}

#[derive(Debug)]
struct Armed {
    armed: ArmedAnswer,
    until: Instant,
}

/// A dialog that has just opened, with its original texts.
pub(super) struct Opening<'a> {
    pub(super) target: TargetId,
    pub(super) kind: DialogType,
    pub(super) message: Arc<str>,
    pub(super) default: Arc<str>,
    pub(super) frame: Option<FrameId>,
    /// URL of the document, for the origin of an unknown frame.
    pub(super) url: &'a str,
    pub(super) way: AnswerPath,
}

/// All dialogs of the task.
#[derive(Debug, Default)]
pub(super) struct Dialogs {
    open: Vec<Open>,
    recent: VecDeque<ClosedDialog>,
    /// Oldest first.
    armed: VecDeque<Armed>,
    opened: u64,
}

impl Dialogs {
    pub(super) fn open_on(&self, page: &TargetId) -> usize {
        self.open.iter().filter(|o| o.dialog.target_id == *page).count()
    }

    /// Pages with an open dialog, and its id.
    pub(super) fn open_pages(&self) -> Vec<(TargetId, Arc<str>)> {
        self.open.iter().map(|o| (o.dialog.target_id.clone(), Arc::clone(&o.dialog.id))).collect()
    }

    pub(super) fn any_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Dialogs that wait for an answer, except those answered automatically.
    pub(super) fn pending(&self) -> Arc<[Dialog]> {
        let waits = |o: &&Open| !o.answering.is_some_and(|(by, ..)| by.is_automatic());
        self.open.iter().filter(waits).map(|o| o.dialog.clone()).collect()
    }

    /// Answers armed for future dialogs.
    pub(super) fn armed(&self) -> Arc<[ArmedDialogAnswer]> {
        let view = |Armed { armed, until }: &Armed| {
            let (accept, prompt_text) = armed.answer.clone().parts();
            ArmedDialogAnswer { accept, prompt_text, when: armed.when.clone(), times: armed.times, until: *until }
        };
        self.armed.iter().map(view).collect()
    }

    pub(super) fn recent(&self) -> Arc<[ClosedDialog]> {
        self.recent.iter().cloned().collect()
    }

    fn ids(&self) -> Vec<String> {
        self.open.iter().map(|o| o.dialog.id.to_string()).collect()
    }

    /// Uses one of the oldest matching armed answer. While a client acts on the page, its own answer is preferred, and that of
    /// another named client is not used.
    fn take_armed(&mut self, index: usize, acting: Option<&Option<Arc<str>>>, now: Now) -> Option<DialogAnswer> {
        let open = &self.open[index];
        let matches =
            |a: &&Armed| a.armed.times > 0 && a.until > now.instant && a.armed.when.holds(&open.dialog, &open.message);
        let is_own = |a: &Armed| acting.is_none_or(|client| a.armed.when.client == *client);
        let own = self.armed.iter().position(|a| matches(&a) && is_own(a));
        let found = own.or_else(|| self.armed.iter().position(|a| matches(&a) && a.armed.when.client.is_none()))?;
        self.armed[found].armed.times -= 1;
        if self.armed[found].armed.times == 0 {
            return self.armed.remove(found).map(|used| used.armed.answer);
        }
        Some(self.armed[found].armed.answer.clone())
    }

    /// Drops expired armed answers. Returns whether there were any.
    fn drop_expired(&mut self, now: Now) -> bool {
        let before = self.armed.len();
        self.armed.retain(|armed| armed.until > now.instant);
        self.armed.len() != before
    }

    fn index(&self, id: &str) -> Option<usize> {
        self.open.iter().position(|o| *o.dialog.id == *id)
    }

    /// The dialog that a request refers to.
    pub(super) fn choose(&self, id: Option<&str>) -> Result<Arc<str>, Error> {
        let Some(id) = id else {
            return match self.open.as_slice() {
                [] => Err(Error::NoDialog),
                [only] => Ok(Arc::clone(&only.dialog.id)),
                _ => Err(Error::SeveralDialogs { candidates: self.ids() }),
            };
        };
        match self.index(id) {
            Some(index) => Ok(Arc::clone(&self.open[index].dialog.id)),
            None => Err(Error::DialogNotFound { id: id.to_owned(), known: self.ids() }),
        }
    }
}

fn kind(kind: &page::DialogType) -> DialogType {
    match kind.as_str() {
        "confirm" => DialogType::Confirm,
        "prompt" => DialogType::Prompt,
        "beforeunload" => DialogType::BeforeUnload,
        _ => DialogType::Alert,
    }
}

impl State {
    pub(super) fn dialog_opened(&mut self, session: &SessionKey, event: &JavascriptDialogOpeningEvent<'_>, now: Now) {
        let Some(target) = self.page_of(session) else { return };
        let Some(main_session) = self.page_index(&target).map(|i| Arc::clone(&self.pages[i].session)) else { return };
        let kind = kind(&event.r#type);
        let same = |o: &Open| {
            o.dialog.target_id == target && o.dialog.frame_id == event.frame_id && *o.dialog.message == *event.message
        };
        if *session != main_session && self.dialogs.open.iter().any(same) {
            return; // also reported on the frame's own session
        }
        // A page shows one native dialog at a time: an earlier one was closed without an event.
        let native = |o: &Open| o.dialog.target_id == target && !o.dialog.bridged;
        while let Some(index) = self.dialogs.open.iter().position(native) {
            self.close_record(index, None, now);
        }
        self.native_seen(event.frame_id.as_ref(), kind);
        let message = (*event.message).into();
        let default = event.default_prompt.as_deref().unwrap_or_default().into();
        let (frame, url, way) = (event.frame_id.clone(), &*event.url, AnswerPath::Native);
        self.open_dialog(Opening { target, kind, message, default, frame, url, way }, now);
    }

    /// Handles an opened dialog, native or bridged.
    pub(super) fn open_dialog(&mut self, opening: Opening<'_>, now: Now) {
        let Opening { target, kind, message, default, frame, url, way } = opening;
        let Some(page) = self.page_index(&target).map(|i| &self.pages[i]) else { return };
        let (main_session, closing) = (Arc::clone(&page.session), page.closing);
        self.dialogs.opened += 1;
        let origin = frame.as_ref().and_then(|f| self.frames.origin(f)).unwrap_or_else(|| origin_of(url));
        let frame_session = match &way {
            AnswerPath::Bridge { session, .. } => Some(Arc::clone(session)),
            AnswerPath::Native => frame.as_ref().and_then(|f| self.frames.session(f)),
        };
        let dialog = Dialog {
            id: format!("d-{}", self.dialogs.opened).into(),
            kind,
            message: self.covered(&message),
            default_prompt: self.covered(&default),
            opened_at: now.unix,
            frame_id: frame,
            target_id: target.clone(),
            origin,
            bridged: matches!(way, AnswerPath::Bridge { .. }),
        };
        let mut noted = dialog.clone();
        noted.shorten();
        self.note(Some(&target), now, Noted::DialogOpened(noted));
        let id = Arc::clone(&dialog.id);
        let frame_session = frame_session.unwrap_or_else(|| Arc::clone(&main_session));
        let open = Open { dialog, way, message, default_prompt: default, answering: None, watchdog: None };
        self.dialogs.open.push(open);
        self.dirty.dialogs = true;
        if closing {
            self.requests.asks_while_closing(&target);
            // The `beforeunload` dialog of a page that is being closed is accepted.
            self.answer(&id, Answering::Closing, kind == DialogType::BeforeUnload, None, now);
        } else if !self.answer_at_once(&id, now) {
            if kind == DialogType::BeforeUnload && frame_session != main_session {
                // The page's navigation is blocked, although the page itself continues.
                self.effects.push(Effect::Interrupt { session: main_session, dialog: Arc::clone(&id) });
            }
            self.effects.push(Effect::Interrupt { session: frame_session, dialog: id });
        }
    }

    fn covered(&self, text: &Arc<str>) -> Arc<str> {
        match self.options.secrets.cover(text) {
            std::borrow::Cow::Borrowed(same) if same.len() == text.len() => Arc::clone(text),
            covered => covered.into(),
        }
    }

    /// Answers a dialog by an armed answer or by policy. Returns whether it was answered; otherwise its watchdog is
    /// set.
    fn answer_at_once(&mut self, id: &str, now: Now) -> bool {
        let Some(index) = self.dialogs.index(id) else { return false };
        let page = &self.dialogs.open[index].dialog.target_id;
        let acting = self.pages.iter().find(|rec| rec.target == *page).and_then(|rec| rec.acting.clone());
        if let Some(answer) = self.dialogs.take_armed(index, acting.as_ref(), now) {
            let (accept, text) = answer.parts();
            self.answer(id, Answering::Armed, accept, text, now);
            return true;
        }
        let open = &mut self.dialogs.open[index];
        let rule = self.options.rules.iter().find(|rule| rule.when.holds(&open.dialog, &open.message));
        match rule.map_or(self.options.policy, |rule| rule.policy) {
            DialogPolicy::AutoDismiss => self.answer(id, Answering::Policy, false, None, now),
            DialogPolicy::AutoAccept => self.answer(id, Answering::Policy, true, None, now),
            DialogPolicy::MustRespond => {
                open.watchdog = Some(now.instant + self.options.watchdog());
                return false;
            }
            DialogPolicy::Hold => return false,
        }
        true
    }

    /// Sends an answer. The record is written when the answer takes effect.
    pub(super) fn answer(&mut self, id: &str, by: Answering, accept: bool, text: Option<String>, now: Now) {
        let Some(index) = self.dialogs.index(id) else { return };
        let open = &mut self.dialogs.open[index];
        open.answering = Some((by, now.instant, accept));
        let (id, target) = (Arc::clone(&open.dialog.id), open.dialog.target_id.clone());
        // Without a text a prompt gets its default text, as if a person pressed OK.
        let text = (accept && open.dialog.kind == DialogType::Prompt)
            .then(|| text.unwrap_or_else(|| open.default_prompt.to_string()));
        let (session, command) = match &open.way {
            AnswerPath::Native => {
                let Some(page) = self.page_index(&target).map(|i| &self.pages[i]) else { return };
                let mut answer = HandleJavaScriptDialog::new(accept);
                answer.prompt_text = text;
                (Arc::clone(&page.session), Outgoing::from(answer))
            }
            AnswerPath::Bridge { session, request, call } => {
                let (session, request) = (Arc::clone(session), Arc::clone(request));
                let Some(answer) = self.bridging.answer(call, accept, text.as_deref()) else { return };
                (session, answered(&request, &answer).into())
            }
        };
        self.dirty.dialogs = true;
        let tag = self.expect(Waiting::Dialog { id });
        self.send(Some(&session), tag, command);
    }

    /// A client answers a dialog. The response follows when the answer has taken effect.
    pub(super) fn respond(
        &mut self,
        request: u64,
        id: Option<&str>,
        accept: bool,
        text: Option<String>,
        now: Now,
    ) -> Result<(), Error> {
        let id = self.dialogs.choose(id)?;
        let answering = self.dialogs.index(&id).and_then(|index| self.dialogs.open[index].answering);
        if answering.is_some() {
            return Err(Error::DialogGone { id: id.to_string() });
        }
        self.answer(&id, Answering::Request(request), accept, text, now);
        Ok(())
    }

    pub(super) fn arm(&mut self, armed: ArmedAnswer, now: Now) -> Result<(), Error> {
        self.dialogs.drop_expired(now);
        if self.dialogs.armed.len() >= ARMED {
            return Err(Error::TooManyArmed { limit: ARMED });
        }
        let until = now.instant + armed.time.min(ArmedAnswer::LIMIT);
        self.dialogs.armed.push_back(Armed { armed, until });
        self.dirty.dialogs = true;
        Ok(())
    }

    /// Drops armed answers for these dialogs, or all.
    pub(super) fn disarm(&mut self, when: Option<&DialogMatch>) {
        self.dialogs.armed.retain(|a| when.is_some_and(|when| a.armed.when != *when));
        self.dirty.dialogs = true;
    }

    /// Dismisses bridged dialogs of a page before a navigation: Chromium closes only native dialogs.
    pub(super) fn dismiss_bridged_dialogs(&mut self, target: &TargetId, now: Now) {
        let open = self.dialogs.open.iter().filter(|o| o.dialog.bridged && o.answering.is_none());
        let here = open.filter(|o| o.dialog.target_id == *target);
        let ids: Vec<Arc<str>> = here.map(|o| Arc::clone(&o.dialog.id)).collect();
        for id in ids {
            self.answer(&id, Answering::Closing, false, None, now);
        }
    }

    /// Dismisses all dialogs of a page before it is closed.
    pub(super) fn dismiss_all(&mut self, target: &TargetId, now: Now) {
        let open = self.dialogs.open.iter().filter(|o| o.dialog.target_id == *target && o.answering.is_none());
        let ids: Vec<Arc<str>> = open.map(|o| Arc::clone(&o.dialog.id)).collect();
        for id in ids {
            self.answer(&id, Answering::Closing, false, None, now);
        }
    }

    pub(super) fn dialog_closed(&mut self, session: &SessionKey, event: &JavascriptDialogClosedEvent<'_>, now: Now) {
        let Some(target) = self.page_of(session) else { return };
        let here = |o: &Open| o.dialog.target_id == target && !o.dialog.bridged;
        let by_frame = |o: &Open| here(o) && (event.frame_id.is_none() || o.dialog.frame_id == event.frame_id);
        if let Some(index) = self.dialogs.open.iter().position(by_frame) {
            let open = &self.dialogs.open[index];
            let others = open.answering.is_none().then(|| open.dialog.clone());
            if event.result && open.dialog.kind == DialogType::Prompt {
                self.record_prompt(&target, &event.user_input);
            }
            self.close_record(index, Some(event.result), now);
            if let Some(dialog) = others {
                self.closed_by_others(&dialog, now);
            }
        }
    }

    pub(super) fn dialog_answered(&mut self, id: &str, error: Option<cdp::Error>, now: Now) {
        let Some(index) = self.dialogs.index(id) else { return }; // the closing event came first
        let (request, accept) = match self.dialogs.open[index].answering {
            Some((Answering::Request(request), _, accept)) => (Some(request), accept),
            Some((_, _, accept)) => (None, accept),
            None => (None, false),
        };
        let Some(error) = error else {
            self.close_record(index, Some(accept), now);
            return;
        };
        // https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-handleJavaScriptDialog
        const NOT_SHOWING: i64 = -32602;
        match error {
            // The request of a bridged dialog is gone with its document.
            cdp::Error::Protocol { .. } if self.dialogs.open[index].dialog.bridged => {
                self.record(index, ClosedBy::Lost, false, now);
            }
            cdp::Error::Protocol { code: NOT_SHOWING, .. } => self.record(index, ClosedBy::Remote, false, now),
            cdp::Error::SessionGone { .. } => self.record(index, ClosedBy::Lost, false, now),
            cdp::Error::Protocol { message, .. } if message.contains(LEAVING) => self.answered_too_late(index, now),
            error => {
                // It is still open: the caller gets the error, and the watchdog stays set.
                self.dialogs.open[index].answering = None;
                self.dirty.dialogs = true;
                if let Some(request) = request {
                    self.requests.responded(request, Err(error.into()));
                }
            }
        }
    }

    /// The dialog opened during a navigation whose server has responded: Chromium accepts no answer, and the next
    /// document waits for the dialog. Navigating to the same URL again makes Chromium close the dialog. Nothing is
    /// lost: whatever the script would do with the answer ends with its document.
    fn answered_too_late(&mut self, index: usize, now: Now) {
        let open = &mut self.dialogs.open[index];
        let (id, target) = (Arc::clone(&open.dialog.id), open.dialog.target_id.clone());
        if let Some((_, _, accept)) = &mut open.answering {
            *accept = false;
        }
        let Some(page) = self.page_index(&target).map(|i| &self.pages[i]) else { return };
        let (session, closing, top) = (Arc::clone(&page.session), page.closing, page.top.clone());
        if closing {
            let tag = self.expect(Waiting::Blanked { target: target.clone() });
            self.send(Some(&session), tag, blank(None));
            self.requests.blanking(&target, now);
            return;
        }
        if let Some(url) = top.and_then(|top| self.network.destination_of(&top)) {
            self.send(Some(&session), 0, Navigate::new(url));
            return;
        }
        let answering = self.dialogs.open[index].answering.take();
        self.dirty.dialogs = true;
        if let Some((Answering::Request(request), ..)) = answering {
            self.requests.responded(request, Err(Error::DialogTooLate { id: id.to_string() }));
        }
    }

    /// Records a closed dialog and what closed it.
    fn close_record(&mut self, index: usize, accepted: Option<bool>, now: Now) {
        // A dialog that was accepted by us but closed dismissed was closed by another client.
        let by = self.dialogs.open[index].answering.filter(|(.., accept)| !accept || accepted != Some(false));
        let closed_by = by.map_or(ClosedBy::Remote, |(by, ..)| by.closed_by());
        self.record(index, closed_by, accepted.unwrap_or(false), now);
    }

    fn record(&mut self, index: usize, closed_by: ClosedBy, accepted: bool, now: Now) {
        let open = self.dialogs.open.remove(index);
        let closed_by = match open.answering {
            // It closed with its page, which we closed, before the answer took effect.
            Some((Answering::Closing, ..)) if closed_by == ClosedBy::Lost => ClosedBy::Agent,
            _ => closed_by,
        };
        let mut dialog = open.dialog;
        dialog.shorten();
        // A call that begins after the publication must not be interrupted by a closed dialog.
        self.effects.retain(|effect| !matches!(effect, Effect::Interrupt { dialog: of, .. } if *of == dialog.id));
        let closed = ClosedDialog { dialog, closed_at: now.unix, closed_by, accepted };
        self.note(Some(&closed.dialog.target_id), now, Noted::DialogClosed(closed.clone()));
        if let Some((Answering::Request(request), ..)) = open.answering {
            let outcome = match closed_by {
                ClosedBy::Agent => Ok(closed.clone()),
                ClosedBy::Lost => Err(Error::DialogLost { id: closed.dialog.id.to_string() }),
                _ => Err(Error::DialogGone { id: closed.dialog.id.to_string() }),
            };
            self.requests.responded(request, outcome);
        }
        if closed_by == ClosedBy::Watchdog {
            tracing::warn!(dialog = %closed.dialog.id, "dialog not answered in time; dismissed");
        }
        self.dialogs.recent.push_back(closed);
        if self.dialogs.recent.len() > RECENT {
            self.dialogs.recent.pop_front();
        }
        self.dirty.dialogs = true;
        self.dirty.recent = true;
    }

    /// Records dialogs that can no longer be seen or answered.
    pub(super) fn lose_dialogs(&mut self, which: impl Fn(&Dialog) -> bool, now: Now) {
        while let Some(index) = self.dialogs.open.iter().position(|o| which(&o.dialog)) {
            self.record(index, ClosedBy::Lost, false, now);
        }
    }

    /// Dismisses dialogs at their timeout; resets answers without effect, and repeats them for pages that are being closed.
    pub(super) fn check_dialogs(&mut self, now: Now) {
        self.dirty.dialogs |= self.dialogs.drop_expired(now);
        let (mut late, mut unanswered) = (Vec::new(), Vec::new());
        for open in &mut self.dialogs.open {
            match open.answering {
                Some((_, since, _)) if now.instant.duration_since(since) >= ANSWER_LIMIT => {
                    unanswered.push(open.dialog.target_id.clone());
                    open.answering = None;
                    self.dirty.dialogs = true;
                }
                None if open.watchdog.is_some_and(|at| at <= now.instant) => late.push(Arc::clone(&open.dialog.id)),
                _ => {}
            }
        }
        for id in late {
            self.answer(&id, Answering::Watchdog, false, None, now);
        }
        unanswered.retain(|page| self.requests.is_closing(page));
        for page in unanswered {
            self.dismiss_all(&page, now); // otherwise its closing would wait until the dialog timeout
        }
    }

    /// Time of the next [`check_dialogs`](Self::check_dialogs).
    pub(super) fn next_dialog_check(&self) -> Option<Instant> {
        let open = self.dialogs.open.iter().filter_map(|o| match o.answering {
            Some((_, since, _)) => Some(since + ANSWER_LIMIT),
            None => o.watchdog,
        });
        open.chain(self.dialogs.armed.iter().map(|armed| armed.until)).min()
    }
}

impl Dialog {
    /// Truncates the texts for the record of a closed dialog; a page may make them arbitrarily long.
    fn shorten(&mut self) {
        for text in [&mut self.message, &mut self.default_prompt] {
            shorten(text);
        }
    }
}

fn shorten(text: &mut Arc<str>) {
    const MAX_LENGTH: usize = 8 * 1024;
    if text.len() > MAX_LENGTH {
        let end = (0..=MAX_LENGTH).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let mut short = text[..end].to_owned();
        short.push('…');
        *text = short.into();
    }
}

/// Scheme, host and port of a URL.
pub(in crate::supervisor) fn origin_of(url: &str) -> Arc<str> {
    let Some((scheme, rest)) = url.split_once("://") else { return "null".into() };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}").into()
}
