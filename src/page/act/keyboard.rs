//! Sending keys and text.
//!
//! Key events go to the page's session: Chromium delivers them to the focused frame, of any process. They are sent in
//! bursts, so that a long text does not wait for each of them. A dialog that opens in between ends the typing: the rest
//! of the burst arrives when the dialog is answered, later characters are not sent.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use super::super::input::keys::{Chord, Key, SHIFT};
use super::super::world::Node;
use super::super::{Error, Tab};
use super::actionability::Needs;
use super::input_probe::LOST_AFTER_FRAMES;
use super::typing::{Breaks, Mode, Typed, Typing};
use super::{Act, Input, Locator, Performed};
use crate::cdp::protocol::input::{DispatchKeyEvent, InsertText};
use crate::supervisor::{self, FrameRef};
use crate::sync::{Deadline, pause};

/// Pause between characters with `slowly`.
const SLOW_PAUSE: Duration = Duration::from_millis(75);
/// The first characters are handled one by one, as from a fast typist: widgets that work between keys miss none.
const SINGLE: usize = 64;
/// Characters per burst after that: at first, and at most. Each burst is twice the size of the one before while the page keeps
/// up, and half of it when it takes longer than [`SLOW_BURST`]: a page that is busy with keys must not look like a stuck one.
const BURST: usize = 16;
const LONGEST_BURST: usize = 256;
const SLOW_BURST: Duration = Duration::from_millis(300);
/// Maximum of `repeat`.
const MAX_REPEAT: u32 = 1_000;
/// When Chromium does not confirm the first key for this long although the page responds, the events are dispatched by
/// script.
const UNANSWERED: Duration = Duration::from_secs(1);

/// One part of a text: a key, or text without a key.
enum Step {
    Key(Key),
    Text(String),
    /// A new paragraph, without a key.
    Paragraph,
}

/// The focus in one frame: the answer of the in-page call `focus`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FocusIn {
    pub(super) has: bool,
    id: u32,
    kind: String,
    typed: bool,
    locked: bool,
    /// What it is, if keys press it: a button, a link, a checkbox. Untrusted.
    presses: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ScriptReply {
    problem: Option<String>,
}

impl Tab {
    /// Keys go to the page, which knows the focused element.
    fn keyboard(&self) -> FrameRef {
        FrameRef::TopOf(self.target.clone())
    }

    /// Sends a text to the focused element.
    pub(super) fn send_text(
        &self,
        text: &str,
        how: Typing,
        into: Option<(&Node, Mode)>,
        deadline: Deadline<'_>,
    ) -> Result<Typed, Error> {
        let mut steps = steps_of(text, how);
        let of = text.chars().count();
        steps.extend(how.submit.then(|| Key::of_char('\n').map(Step::Key)).flatten());
        let began = Instant::now();
        let late = |sent: usize| Error::Timeout {
            what: format!("the text to be typed ({sent} of {of} characters are typed; use insertText for long texts)"),
            after_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let (mut sent, mut steps, mut first, mut burst) = (0, steps.into_iter().peekable(), true, BURST);
        while let Some(step) = steps.next() {
            if deadline.passed() {
                return Err(late(sent));
            }
            if let Some((node, _)) = into.filter(|_| how.watched && !first) {
                self.check_still_focused(node, sent, of, deadline)?;
            }
            let (count, (handled, outcome)) = match step {
                Step::Text(text) => {
                    let count = text.chars().count();
                    (count, (count * 2, self.insert_raw(&text, deadline)))
                }
                Step::Paragraph => (1, (2, self.new_paragraph(into, deadline))),
                Step::Key(key) => {
                    let mut events = strokes(&key);
                    let mut count = 1;
                    let is_single = how.slowly || how.watched || first || sent < SINGLE;
                    let most = if is_single { 1 } else { burst };
                    while count < most
                        && let Some(Step::Key(key)) = steps.next_if(|step| matches!(step, Step::Key(_)))
                    {
                        events.extend(strokes(&key));
                        count += 1;
                    }
                    let sending = Instant::now();
                    let sent = if first { self.send_first(events, deadline) } else { self.send_keys(events, deadline) };
                    burst = match sending.elapsed() {
                        _ if is_single => burst,
                        took if took > SLOW_BURST => (burst / 2).max(BURST),
                        took if took < SLOW_BURST / 2 => (burst * 2).min(LONGEST_BURST),
                        _ => burst,
                    };
                    (count, sent)
                }
            };
            match outcome {
                Ok(()) => sent += count,
                Err(error) if error.is_blocked_by_dialog() && self.has_dialog() => {
                    // The key that opened the dialog and those already sent after it arrive later.
                    let sent = sent + (handled / 2).min(count - 1);
                    return Ok(Typed { sent, of, follows: count.min(of - sent), blocked: true, synthetic: false });
                }
                // The page responds, the browser's input does not.
                Err(error) if first && unanswered(&error) && !deadline.passed() => {
                    if self.key_came(into.map(|(node, _)| node), deadline)? {
                        (sent, first) = (sent + count, false);
                        continue;
                    }
                    tracing::debug!(target: "cdpilot::page", %error, "trusted keys are not answered");
                    return self.synthetic_text(into, text, how, deadline);
                }
                Err(error) if unanswered(&error) && deadline.passed() => return Err(late(sent)),
                Err(error) => return Err(error),
            }
            first = false;
            if how.slowly && steps.peek().is_some() {
                pause(SLOW_PAUSE.min(deadline.left()));
            }
        }
        Ok(Typed { sent: sent.min(of), of, follows: 0, blocked: false, synthetic: false })
    }

    /// Sends key events, all before the first answer is awaited. Returns how many the page has handled, and the error
    /// that ended it.
    pub(super) fn send_keys(
        &self,
        events: Vec<DispatchKeyEvent>,
        deadline: Deadline<'_>,
    ) -> (usize, Result<(), Error>) {
        let page = self.keyboard();
        let (mut handled, mut events) = (0, events.into_iter().peekable());
        while events.peek().is_some() {
            let calls = events.by_ref().take(LONGEST_BURST * 2).map(|event| (page.clone(), event)).collect();
            for outcome in self.supervisor.session_calls(calls, deadline) {
                match outcome {
                    Ok(_) => handled += 1,
                    Err(error) => return (handled, Err(error.into())),
                }
            }
        }
        (handled, Ok(()))
    }

    /// As `send_keys`, for the first events: they show whether the browser confirms input at all.
    fn send_first(&self, events: Vec<DispatchKeyEvent>, deadline: Deadline<'_>) -> (usize, Result<(), Error>) {
        let all = events.len();
        match self.send_keys(events, deadline.within(UNANSWERED)) {
            // The page takes this long to handle the key.
            (_, Err(Error::Supervisor(error))) if error.is_unresponsive() && !deadline.passed() => {
                (all, self.is_mac(deadline).map(|_| ()))
            }
            outcome => outcome,
        }
    }

    fn insert_raw(&self, text: &str, deadline: Deadline<'_>) -> Result<(), Error> {
        self.supervisor.session_call(&self.keyboard(), &InsertText::new(text), deadline)?;
        Ok(())
    }

    fn new_paragraph(&self, into: Option<(&Node, Mode)>, deadline: Deadline<'_>) -> Result<(), Error> {
        let Some((node, _)) = into else { return Err(not_focused()) };
        self.call_on_node(node, "newParagraph", &json!({ "id": node.id }), deadline)
    }

    pub(super) fn insert(&self, text: &str, deadline: Deadline<'_>) -> Result<Performed, Error> {
        let reason = match self.focus(deadline)? {
            Some((_, focus)) if focus.locked => "it is read-only",
            Some((_, focus)) if focus.typed => "",
            Some((node, _)) if node.id == 0 => return Err(not_focused()),
            Some(_) => "it does not accept text; focus a field first, or use type with a ref",
            None => return Err(not_focused()),
        };
        if !reason.is_empty() {
            let what = "the focused element".to_owned();
            return Err(Error::not_actionable(what, reason));
        }
        self.insert_raw(text, deadline)?;
        Ok(Performed::default())
    }

    /// The kind of the focused field. Fails when no element has the focus: the text would be lost.
    pub(super) fn focused_kind(&self, deadline: Deadline<'_>) -> Result<String, Error> {
        match self.focus(deadline)? {
            // An editable body is not a focused element, but accepts text.
            Some((_, FocusIn { presses: Some(element), .. })) => {
                let reason = format!(
                    "{element} has the focus, and keys would press it; type into a given field, or click into one first (press \
                     sends keys to it)"
                );
                Err(Error::not_actionable("the text", reason))
            }
            Some((node, focus)) if node.id > 0 || focus.typed => Ok(focus.kind),
            _ => Err(not_focused()),
        }
    }

    /// The focused frame and element.
    fn focus(&self, deadline: Deadline<'_>) -> Result<Option<(Node, FocusIn)>, Error> {
        let now = self.supervisor.view();
        let frames: Vec<_> = now.frames_of(self.target.as_str()).map(|frame| frame.frame_id.clone()).collect();
        let found = self.call_all::<FocusIn, _>(&frames, "focus", |_| json!({}), deadline);
        let mut failed = None;
        for (frame, outcome) in frames.into_iter().zip(found) {
            match outcome {
                Ok((doc, done)) if done.has => {
                    let node = Node { frame, doc, id: done.id };
                    return Ok(Some((node, done.result)));
                }
                Ok(_) => {}
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(None), Err)
    }

    pub(super) fn press(
        &self,
        act: &Act,
        at: &Locator,
        key: &str,
        times: u32,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        let chord = Chord::parse(key).map_err(|problem| Error::BadRequest { problem })?;
        if times == 0 || times > MAX_REPEAT {
            let problem = format!("repeat is {times}; use 1 to {MAX_REPEAT}");
            return Err(Error::BadRequest { problem });
        }
        let mut performed = Performed::default();
        let mut node = None;
        let mut mac = cfg!(target_os = "macos");
        if at.reference.is_some() || at.selector.is_some() {
            let ready = self.ready(at, Needs::FOCUS, act.force, deadline)?;
            self.focus_field(&ready, at, Mode::Keep, deadline)?;
            performed.rescued = ready.rescued;
            mac = ready.mac;
            (node, performed.element) = (Some(ready.node), Some(ready.shown));
        } else if chord.by_platform {
            mac = self.is_mac(deadline)?;
        }
        let chord = chord.on(mac);
        if act.input == Some(Input::Synthetic) {
            self.synthetic_press(node.as_ref(), &chord, times, deadline)?;
            performed.input = Some(Input::Synthetic);
            return Ok(performed);
        }
        let events = chord.events(times, mac);
        let sent = if times == 1 { self.send_first(events, deadline) } else { self.send_keys(events, deadline) };
        match sent.1 {
            Ok(()) => Ok(performed),
            Err(error) if unanswered(&error) && !deadline.passed() => {
                if self.key_came(node.as_ref(), deadline)? {
                    return Ok(performed);
                }
                self.synthetic_press(node.as_ref(), &chord, times, deadline)?;
                performed.input = Some(Input::Synthetic);
                Ok(performed)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a key has reached a field although Chromium has not confirmed it in time.
    fn key_came(&self, node: Option<&Node>, deadline: Deadline<'_>) -> Result<bool, Error> {
        let Some(node) = node else { return Ok(false) };
        match self.missed(node, &["keydown"], LOST_AFTER_FRAMES, deadline) {
            Ok(arrived) => Ok(arrived.result.keydown > 0),
            // The key navigated.
            Err(Error::DocumentGone { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    fn is_mac(&self, deadline: Deadline<'_>) -> Result<bool, Error> {
        let (_, reply) = self.call::<bool>(&self.top()?, "isMac", &json!({}), deadline)?;
        Ok(reply.result)
    }

    /// Types by script, into a field or the focused element.
    pub(super) fn synthetic_text(
        &self,
        into: Option<(&Node, Mode)>,
        text: &str,
        how: Typing,
        deadline: Deadline<'_>,
    ) -> Result<Typed, Error> {
        let (node, mode) = match into {
            Some((node, mode)) => (node.clone(), mode),
            None => (self.focused_node(deadline)?, Mode::Keep),
        };
        let stroke = |character: char| match character {
            '\n' if how.breaks == Breaks::Soft => json!({ "key": Key::of_char(character), "shift": true }),
            '\n' if how.breaks != Breaks::Enter => json!({ "put": character }),
            character => stroke_by_script(character),
        };
        let mut keys: Vec<_> = text.chars().map(stroke).collect();
        keys.extend(how.submit.then(|| stroke_by_script('\n')));
        let args = json!({ "id": node.id, "mode": mode.name(), "keys": keys });
        let of = text.chars().count();
        match self.call_on_node::<ScriptReply>(&node, "typeByScript", &args, deadline) {
            Ok(reply) => match reply.problem {
                Some(reason) => Err(Error::not_actionable("the focused element", reason)),
                None => Ok(Typed { sent: of, of, follows: 0, blocked: false, synthetic: true }),
            },
            Err(error) => Err(error),
        }
    }

    fn synthetic_press(
        &self,
        node: Option<&Node>,
        chord: &Chord,
        times: u32,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let node = match node {
            Some(node) => node.clone(),
            None => self.focused_node(deadline)?,
        };
        let args = json!({
            "id": node.id, "held": chord.held, "key": chord.key, "bits": chord.bits(), "times": times,
        });
        let reply: ScriptReply = self.call_on_node(&node, "pressByScript", &args, deadline)?;
        match reply.problem {
            Some(reason) => Err(Error::not_actionable("the focused element", reason)),
            None => Ok(()),
        }
    }

    /// The focused element; id 0, the body of the top document, when there is none.
    pub(in crate::page) fn focused_node(&self, deadline: Deadline<'_>) -> Result<Node, Error> {
        if let Some((node, _)) = self.focus(deadline)? {
            return Ok(node);
        }
        let top = self.top()?;
        let doc = self.document(&top, deadline)?;
        Ok(Node { frame: top, doc, id: 0 })
    }
}

fn not_focused() -> Error {
    let reason = "no element has the focus, so there is no field for it; focus a field first, or type into a given field (press \
                  sends keys to the page itself)";
    Error::not_actionable("the text", reason)
}

/// Whether the browser did not confirm input although the page responds.
fn unanswered(error: &Error) -> bool {
    matches!(error, Error::Supervisor(supervisor::Error::Cdp(error)) if error.is_timeout())
}

/// The keys of a text, and what has none.
fn steps_of(text: &str, how: Typing) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for character in text.chars() {
        let key = match (character, Key::of_char(character)) {
            ('\n' | '\r', _) if how.breaks == Breaks::Paragraph => {
                steps.push(Step::Paragraph);
                continue;
            }
            ('\n' | '\r', Some(key)) if how.breaks == Breaks::Soft => Some(Key { shifted: true, ..key }),
            ('\n' | '\r', _) if how.breaks == Breaks::Text => None,
            (_, key) => key,
        };
        match (key, steps.last_mut()) {
            (Some(key), _) => steps.push(Step::Key(key)),
            (None, Some(Step::Text(text))) => text.push(character),
            (None, _) => steps.push(Step::Text(character.to_string())),
        }
    }
    steps
}

fn strokes(key: &Key) -> Vec<DispatchKeyEvent> {
    let bits = if key.shifted { SHIFT } else { 0 };
    vec![key.down(bits, false, false), key.up(bits)]
}

fn stroke_by_script(character: char) -> serde_json::Value {
    match Key::of_char(character) {
        Some(key) => json!({ "key": key, "shift": key.shifted }),
        None => json!({ "put": character }),
    }
}
