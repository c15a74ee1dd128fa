//! Waiting for conditions.
//!
//! All given conditions must hold at once. Conditions on a document are awaited there, by a promise that follows its
//! changes and is renewed every half second, in whatever document the frame shows by then; the URL is awaited in the
//! supervisor's view. When the missing condition holds, all are checked again.
//!
//! Text is compared without regard to case, with any white space as one space. A script (`fn`) is evaluated at every
//! change of its document, at least ten times a second; an exception counts as "not yet" and is reported at the end,
//! unless the script does not parse. `networkidle` means a loaded document, no request under way, and half a second
//! since the last one; sockets and event streams do not count.

use std::time::{Duration, Instant};

use super::super::world::Node;
use super::super::{Error, Tab};
use super::conditions::{Condition, HoldsArgs, HoldsReply, Wait, check, is_true};
use super::{Act, LoadState, Locator, Performed, State, WaitFor};
use crate::cdp;
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::{self, PageState, Phase, View};
use crate::sync::Deadline;

/// How long one call waits in a single frame, and in each of several frames, which are awaited together.
const SINGLE_FRAME: Duration = Duration::from_millis(500);
const PER_FRAME: Duration = Duration::from_millis(100);
/// How often a script of the caller is evaluated when nothing changes.
const SCRIPT: Duration = Duration::from_millis(100);
/// Additional time for the answer of a call; a page that answers later is called again.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// How long there must have been no network activity for [`LoadState::NetworkIdle`].
const QUIET_NETWORK: Duration = Duration::from_millis(500);
/// A wait shorter than this cannot tell a page that does not respond from one whose answer was cut off.
const UNRESPONSIVE: Duration = Duration::from_secs(1);
/// Time reserved before the deadline for the answer.
const RESERVED: Duration = Duration::from_millis(100);

/// Arguments of the in-page call `content`: how long it waits, in milliseconds.
#[derive(serde::Serialize)]
struct ContentArgs {
    ms: u64,
    /// The greatest age of a document that is waited for, in milliseconds; `None`: any.
    young: Option<u64>,
}

impl Tab {
    /// Fingerprints of texts that are hidden, and their base.
    fn hidden_texts(&self) -> (Vec<crate::redact::Fingerprint>, u32) {
        let base = fastrand::u32(..) | 1;
        (self.options.hidden.as_ref().map(|hidden| hidden.fingerprints(base)).unwrap_or_default(), base)
    }

    /// Waits until the document shows text or something to interact with, for pages that scripts render after loading.
    /// Returns whether it does by the deadline. A document without scripts counts as complete at once.
    ///
    /// # Errors
    /// Those of the supervisor; [`Error::DocumentGone`] when the page keeps navigating.
    pub fn wait_content(&self, deadline: Deadline<'_>) -> Result<bool, Error> {
        self.wait_content_of(None, deadline)
    }

    /// The same, if the document is not older than `young`.
    pub(in super::super) fn wait_content_of(
        &self,
        young: Option<Duration>,
        deadline: Deadline<'_>,
    ) -> Result<bool, Error> {
        let young = young.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        loop {
            self.arrived(deadline)?;
            let ms = u64::try_from(deadline.within(SINGLE_FRAME).left().as_millis()).unwrap_or(u64::MAX);
            let answer = deadline.renewed(SINGLE_FRAME + ANSWER_TIME);
            let asked = self.call_all::<Option<bool>, ContentArgs>(
                &[self.top()?],
                "content",
                |_| ContentArgs { ms, young },
                answer,
            );
            match asked.into_iter().next() {
                Some(Ok((_, done))) => match done.result {
                    None => return Ok(false),
                    Some(shows) if shows || deadline.passed() => return Ok(shows),
                    Some(_) => {}
                },
                Some(Err(Error::DocumentGone { .. })) if !deadline.passed() => {}
                Some(Err(error)) => return Err(error),
                None => return Ok(false),
            }
        }
    }

    /// Waits until all conditions hold.
    pub(super) fn wait(&self, condition: &WaitFor, act: &Act, deadline: Deadline<'_>) -> Result<Performed, Error> {
        if condition.locator.is_some() {
            return self
                .wait_located(condition, deadline, |condition, deadline| self.wait_for(condition, act, deadline));
        }
        self.wait_for(condition, act, deadline)
    }

    fn wait_for(&self, wanted: &WaitFor, act: &Act, deadline: Deadline<'_>) -> Result<Performed, Error> {
        check(wanted)?;
        let began = Instant::now();
        let timeout = |what: String| {
            let after_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            Error::Timeout { what, after_ms }
        };
        if let Some(time) = wanted.time_ms {
            self.wait_time(Duration::from_millis(time), deadline)?;
            if began.elapsed() < Duration::from_millis(time) {
                return Err(timeout(format!("{time} ms to pass")));
            }
        }
        let top = self.top()?;
        let frame = wanted.frame_id.as_deref().map_or_else(|| top.clone(), FrameId::from);
        if wanted.frame_id.is_some() {
            // A frame that does not exist will not appear under this id.
            self.document(&frame, deadline)
                .map_or_else(|error| if may_pass(&error) { Ok(()) } else { Err(error) }, |_| Ok(()))?;
        }
        if wanted.load_state == Some(LoadState::NetworkIdle) && !self.supervisor.traffic().watched {
            self.supervisor.watch_network(true, deadline)?;
        }
        let mut wait = Wait {
            wanted,
            node: self.referenced_node(wanted, act.force, deadline)?,
            top,
            frame,
            busy: None,
            thrown: None,
            unknown: false,
            silent: false,
            rescued: false,
            hidden: self.hidden_texts(),
            redact: act.redact.as_ref(),
        };
        let mut missing = wait.all();
        loop {
            self.is_there()?;
            match self.missing(&mut wait, deadline) {
                // At the end, the missing conditions say more than that the page was slow.
                Ok(_) if wait.unknown && deadline.left() <= RESERVED => {}
                Ok(now) => missing = now,
                // The missing conditions say more than that an answer was late.
                Err(error) if is_late(&error) && deadline.left() <= RESERVED => {}
                Err(error) => return self.is_there().and(Err(error)),
            }
            let Some(first) = missing.first().copied() else {
                return Ok(Performed { rescued: wait.rescued, ..Performed::default() });
            };
            if deadline.left() <= RESERVED {
                let names: Vec<String> = missing.iter().map(|what| wait.describe(*what)).collect();
                let silent = if wait.silent && began.elapsed() > UNRESPONSIVE {
                    " (the page did not respond at the end)"
                } else {
                    ""
                };
                return Err(timeout(names.join(" and ") + silent));
            }
            let step = deadline.earlier_by(RESERVED);
            self.wait_for_one(&mut wait, first, step).or_else(|error| self.is_there().and(Err(error)))?;
        }
    }

    /// Waits a time, unless a dialog opens or the tab closes.
    fn wait_time(&self, time: Duration, deadline: Deadline<'_>) -> Result<(), Error> {
        let target = self.target.as_str();
        self.supervisor
            .wait_until(deadline.within(time), |s| s.dialogs_of(target).next().is_some() || s.page(target).is_none());
        self.is_there()?;
        self.no_dialog()?;
        self.top().map(|_| ())
    }

    /// Fails when the browser has ended or the page has crashed: no condition can come true by itself any more.
    fn is_there(&self) -> Result<(), Error> {
        let now = self.supervisor.view();
        if let Phase::Ended(reason) = &now.phase {
            return Err(supervisor::Error::NotActive { reason: reason.to_string() }.into());
        }
        if now.page(self.target.as_str()).is_some_and(|page| page.state == PageState::Crashed) {
            let crashed = cdp::Error::SessionGone { method: "wait".into(), reason: cdp::GoneReason::Crashed };
            return Err(supervisor::Error::Cdp(crashed).into());
        }
        Ok(())
    }

    fn no_dialog(&self) -> Result<(), Error> {
        match self.supervisor.view().dialogs_of(self.target.as_str()).next() {
            Some(dialog) => Err(supervisor::Error::blocked_by_dialog("wait", &dialog.id).into()),
            None => Ok(()),
        }
    }

    /// The node of the ref. With `hidden` and `gone`, it may already be gone.
    fn referenced_node(&self, wanted: &WaitFor, force: bool, deadline: Deadline<'_>) -> Result<Option<Node>, Error> {
        let Some(reference) = &wanted.reference else { return Ok(None) };
        let (node, _) = self.resolve(reference)?;
        let ends = matches!(wanted.state, Some(State::Hidden | State::Gone));
        if !ends {
            let at = Locator { reference: Some(reference.clone()), ..Locator::default() };
            self.ready(&at, super::actionability::Needs::PRESENT, force, deadline)?;
        }
        Ok(Some(node))
    }

    /// The conditions that do not hold now.
    fn missing(&self, wait: &mut Wait<'_>, deadline: Deadline<'_>) -> Result<Vec<Condition>, Error> {
        self.is_there()?;
        self.no_dialog()?;
        (wait.silent, wait.unknown) = (false, false);
        let mut missing = Vec::new();
        if !wait.url_holds(&self.supervisor.view(), self.target.as_str()) {
            missing.push(Condition::Url);
        }
        let unmet = self.ask(wait, None, Duration::ZERO, deadline)?;
        if !unmet.contains(&Condition::Load) && !self.is_quiet(wait) {
            missing.push(Condition::Quiet);
        }
        missing.extend(unmet);
        if let Some(script) = &wait.wanted.script {
            let truth = match self.evaluate_in(&wait.frame, script, deadline) {
                Ok(value) => {
                    wait.rescued |= value.rescued;
                    wait.thrown = None;
                    is_true(&value)
                }
                Err(Error::Supervisor(supervisor::Error::Script(thrown)))
                    if !thrown.message.starts_with("SyntaxError") =>
                {
                    wait.thrown = thrown.message.lines().next().map(str::to_owned);
                    false
                }
                Err(error) if may_pass(&error) => {
                    wait.silent |= is_silent(&error);
                    wait.unknown = true;
                    false
                }
                Err(error) => return Err(error),
            };
            if !truth {
                missing.push(Condition::Script);
            }
        }
        Ok(missing)
    }

    /// Waits a moment for one condition.
    fn wait_for_one(&self, wait: &mut Wait<'_>, what: Condition, deadline: Deadline<'_>) -> Result<(), Error> {
        let target = self.target.as_str();
        match what {
            Condition::Url => {
                let over = |s: &View| {
                    wait.url_holds(s, target) || s.page(target).is_none() || s.dialogs_of(target).next().is_some()
                };
                self.supervisor.wait_until(deadline, over);
                self.top().map(|_| ())
            }
            Condition::Quiet => {
                let step = deadline.within(SINGLE_FRAME);
                self.supervisor.wait_traffic(step, |traffic| traffic.of(&self.target).next().is_none());
                if self.is_quiet(wait) {
                    return Ok(());
                }
                let left = wait.busy.map_or(QUIET_NETWORK, |busy| QUIET_NETWORK.saturating_sub(busy.elapsed()));
                self.supervisor
                    .wait_traffic(deadline.within(left), |traffic| traffic.of(&self.target).next().is_some());
                Ok(())
            }
            Condition::Script => {
                let time = SCRIPT.min(deadline.left());
                let ask = HoldsArgs { until: Some(what.name()), ms: millis(time), ..HoldsArgs::default() };
                match self.call::<HoldsReply>(&wait.frame, "holds", &ask, deadline.within(time + ANSWER_TIME)) {
                    Err(error) if !may_pass(&error) => Err(error),
                    Err(_) => self.wait_for_news(deadline),
                    Ok(_) => Ok(()),
                }
            }
            _ => {
                let several = matches!(what, Condition::Text) && self.frames().len() > 1;
                let time = if several { PER_FRAME } else { SINGLE_FRAME };
                self.ask(wait, Some(what), time.min(deadline.left()), deadline).map(|_| ())
            }
        }
    }

    /// Whether the network has been quiet long enough, if the caller waits for that.
    fn is_quiet(&self, wait: &mut Wait<'_>) -> bool {
        if wait.wanted.load_state != Some(LoadState::NetworkIdle) {
            return true;
        }
        if self.supervisor.traffic().of(&self.target).next().is_some() {
            wait.busy = Some(Instant::now());
        }
        wait.busy.is_none_or(|busy| busy.elapsed() >= QUIET_NETWORK)
    }

    /// A frame that cannot answer at the moment recovers with some event of the browser.
    fn wait_for_news(&self, deadline: Deadline<'_>) -> Result<(), Error> {
        let _ = self.supervisor.wait_newer(self.supervisor.version(), deadline.within(PER_FRAME));
        self.top().map(|_| ())
    }

    fn frames(&self) -> Vec<FrameId> {
        let now = self.supervisor.view();
        now.frames_of(self.target.as_str()).map(|frame| frame.frame_id.clone()).collect()
    }

    /// Asks all documents which conditions hold, or waits for one of them there.
    fn ask(
        &self,
        wait: &mut Wait<'_>,
        until: Option<Condition>,
        time: Duration,
        deadline: Deadline<'_>,
    ) -> Result<Vec<Condition>, Error> {
        let requests: Vec<(FrameId, HoldsArgs<'_>)> = self
            .frames()
            .into_iter()
            .map(|frame| {
                let ask =
                    HoldsArgs { until: until.map(Condition::name), ms: millis(time), ..wait.args_of(&frame, until) };
                (frame, ask)
            })
            .filter(|(_, ask)| !ask.is_empty())
            .collect();
        let frames: Vec<FrameId> = requests.iter().map(|(frame, _)| frame.clone()).collect();
        let ask =
            |frame: &FrameId| requests.iter().find(|(f, _)| f == frame).map(|(_, ask)| ask.clone()).unwrap_or_default();
        let answers = self.call_all::<HoldsReply, _>(&frames, "holds", ask, deadline.within(time + ANSWER_TIME));
        let wanted = wait.wanted;
        let (mut text, mut text_gone, mut unknown) = (false, true, false);
        let (mut selector, mut load, mut reference) = (false, false, false);
        for (frame, answer) in frames.iter().zip(answers) {
            let (doc, done) = match answer {
                Ok(answer) => answer,
                // Pages replace frames while they work; only the frame that is waited for has to stay.
                Err(error) if may_pass(&error) || *frame != wait.frame && has_left(&error) => {
                    wait.silent |= is_silent(&error);
                    wait.unknown = true;
                    unknown = true;
                    continue;
                }
                Err(error) => return Err(error),
            };
            wait.rescued |= done.rescued;
            let holds = done.result;
            if holds.bad.is_some() {
                let selector: String = wanted.selector.as_deref().unwrap_or_default().chars().take(200).collect();
                return Err(Error::BadRequest { problem: format!("the selector {selector:?} is not valid CSS") });
            }
            text |= holds.text == Some(true);
            text_gone &= holds.text_gone != Some(false);
            selector |= holds.selector == Some(true);
            load |= holds.load == Some(true);
            if let Some(node) = wait.node.as_ref().filter(|node| node.frame == *frame) {
                if node.doc != doc || holds.gone {
                    reference |= wait.gone(node.doc != doc)?;
                } else {
                    reference |= holds.reference == Some(true);
                }
            }
        }
        if let Some(node) = &wait.node
            && !frames.contains(&node.frame)
        {
            reference |= wait.gone(true)?;
        }
        if unknown && until.is_some() {
            self.wait_for_news(deadline)?;
        }
        let all = [
            (Condition::Load, wanted.load_state.is_none() || load),
            (Condition::Text, wanted.text.is_none() || text),
            (Condition::Selector, wanted.selector.is_none() || selector),
            (Condition::Reference, wanted.reference.is_none() || reference),
            (Condition::TextGone, wanted.text_gone.is_none() || (text_gone && !unknown)),
        ];
        Ok(all.into_iter().filter(|(_, holds)| !holds).map(|(what, _)| what).collect())
    }
}

/// Whether a frame has gone since it was listed.
fn has_left(error: &Error) -> bool {
    matches!(error, Error::Supervisor(supervisor::Error::FrameNotFound { .. }))
}

/// Whether the error may pass: the frame is loading another document.
fn may_pass(error: &Error) -> bool {
    use supervisor::Error as E;
    match error {
        Error::DocumentGone { .. } => true,
        Error::Supervisor(E::Cdp(cdp::Error::SessionGone { .. } | cdp::Error::Protocol { .. })) => true,
        Error::Supervisor(
            E::NoContext { .. } | E::FrameDetached { .. } | E::Navigating { .. } | E::ScriptTimeout { .. },
        ) => true,
        error => is_late(error) || is_silent(error),
    }
}

/// Whether the page did not respond at all.
fn is_silent(error: &Error) -> bool {
    matches!(error, Error::Supervisor(error) if error.is_unresponsive())
}

/// Whether an answer was late.
fn is_late(error: &Error) -> bool {
    match error {
        Error::Supervisor(supervisor::Error::Cdp(error)) => error.is_timeout(),
        Error::Supervisor(supervisor::Error::Timeout { .. }) => true,
        _ => false,
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
