//! Conditions.
//!
//! All that are given have to hold at once. What can be seen in a document is waited for there, by a promise
//! that follows its changes and is renewed every half second, in whatever document the frame shows by then; the
//! address is waited for in what the supervisor is told. When the one that was missing has come, all are
//! looked at again.
//!
//! Text is looked for without regard to case, and with any white space as one space. A script (`fn`) is
//! tried at every change of its document, at least ten times a second; what it throws counts as "not yet" and is told
//! in the end, unless it does not parse. `networkidle` is a loaded document, no request under way, and half a
//! second since the last one; sockets and event streams do not count.

use std::time::{Duration, Instant};

use super::super::world::Node;
use super::super::{Error, Tab};
use super::conditions::{Ask, Holds, Wait, What, check, is_true};
use super::{Act, ActKind, Did, Locator, State, WaitFor};
use crate::cdp;
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::{self, Phase, View};
use crate::sync::Deadline;

/// How long one call waits in one frame, and in several: the first that has it is waited for together with
/// the others.
const ALONE: Duration = Duration::from_millis(500);
const TOGETHER: Duration = Duration::from_millis(100);
/// How long a script of the caller is not tried again when nothing changes.
const SCRIPT: Duration = Duration::from_millis(100);
/// What a call may take beyond what it waits: a page that answers later is asked again.
const BEYOND: Duration = Duration::from_secs(5);
/// The load state in which nothing is loaded, and for how long nothing has been.
const IDLE: &str = "networkidle";
const QUIET: Duration = Duration::from_millis(500);
/// What is kept back of the deadline for the answer.
const ANSWER: Duration = Duration::from_millis(100);

/// How long a call waits for content, milliseconds.
#[derive(serde::Serialize)]
struct Content {
    ms: u64,
}

impl Tab {
    /// Waits until the document shows a text or something to act on, for pages that scripts render after they have loaded.
    /// Whether it does by the deadline; a document without scripts is not waited for, and counts as complete.
    ///
    /// # Errors
    /// Those of the supervisor; [`Error::DocumentGone`] when the page keeps going elsewhere.
    pub fn wait_content(&self, deadline: Deadline) -> Result<bool, Error> {
        loop {
            let ms = u64::try_from(deadline.within(ALONE).left().as_millis()).unwrap_or(u64::MAX);
            let answer = Deadline::after(ALONE + BEYOND);
            let asked = self.call_all::<bool, Content>(&[self.top()?], "content", |_| Content { ms }, answer);
            match asked.into_iter().next() {
                Some(Ok((_, done))) if done.result || deadline.passed() => return Ok(done.result),
                Some(Ok(_)) => {}
                Some(Err(Error::DocumentGone { .. })) if !deadline.passed() => {}
                Some(Err(error)) => return Err(error),
                None => return Ok(false),
            }
        }
    }

    /// [`ActKind::Wait`].
    pub(super) fn wait(&self, act: &Act, deadline: Deadline) -> Result<Did, Error> {
        let ActKind::Wait(wanted) = &act.kind else {
            return Err(Error::BadRequest { problem: "this is no wait".to_owned() });
        };
        if wanted.locator.is_some() {
            return self.wait_located(wanted, deadline, |wanted, deadline| self.wait_for(wanted, act.force, deadline));
        }
        self.wait_for(wanted, act.force, deadline)
    }

    fn wait_for(&self, wanted: &WaitFor, force: bool, deadline: Deadline) -> Result<Did, Error> {
        check(wanted)?;
        let began = Instant::now();
        let timeout = |what: String| {
            let after_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            Error::Timeout { what, after_ms }
        };
        if let Some(time) = wanted.time_ms {
            self.wait_time(Duration::from_millis(time), deadline)?;
            if began.elapsed() < Duration::from_millis(time) {
                return Err(timeout(format!("the end of {time} ms")));
            }
        }
        let top = self.top()?;
        let frame = wanted.frame_id.as_deref().map_or_else(|| top.clone(), FrameId::from);
        if wanted.frame_id.is_some() {
            // A frame that is not there will not come by this id.
            self.document(&frame, deadline)
                .map_or_else(|error| if passing(&error) { Ok(()) } else { Err(error) }, |_| Ok(()))?;
        }
        if wanted.load_state.as_deref() == Some(IDLE) && !self.supervisor.traffic().watched {
            self.supervisor.watch_network(true, deadline)?;
        }
        let mut wait = Wait {
            wanted,
            node: self.meant(wanted, force, deadline)?,
            top,
            frame,
            busy: None,
            thrown: None,
            unknown: false,
            silent: false,
            rescued: false,
        };
        let mut missing = wait.all();
        loop {
            match self.missing(&mut wait, deadline) {
                // In the end, what was missing before tells more than that the page was not quick enough.
                Ok(_) if wait.unknown && deadline.left() <= ANSWER => {}
                Ok(now) => missing = now,
                // An answer that did not come in time says less than what it was about.
                Err(error) if is_late(&error) && deadline.left() <= ANSWER => {}
                Err(error) => return self.is_there().and(Err(error)),
            }
            let Some(first) = missing.first().copied() else {
                return Ok(Did { rescued: wait.rescued, ..Did::default() });
            };
            if deadline.left() <= ANSWER {
                let names: Vec<String> = missing.iter().map(|what| wait.told(*what)).collect();
                let silent = if wait.silent { " (the page did not answer in the end)" } else { "" };
                return Err(timeout(names.join(" and ") + silent));
            }
            let step = Deadline::after(deadline.left().saturating_sub(ANSWER));
            self.wait_for_one(&mut wait, first, step).or_else(|error| self.is_there().and(Err(error)))?;
        }
    }

    /// Waits a time, unless something comes in between that ends all waiting.
    fn wait_time(&self, time: Duration, deadline: Deadline) -> Result<(), Error> {
        let target = self.target.as_str();
        self.supervisor
            .wait_until(deadline.within(time), |s| s.dialogs_of(target).next().is_some() || s.page(target).is_none());
        self.is_there()?;
        self.no_dialog()?;
        self.top().map(|_| ())
    }

    /// Refuses to wait on when the browser has ended: nothing comes any more.
    fn is_there(&self) -> Result<(), Error> {
        match &self.supervisor.view().phase {
            Phase::Ended(reason) => Err(supervisor::Error::NotActive { reason: reason.to_string() }.into()),
            _ => Ok(()),
        }
    }

    fn no_dialog(&self) -> Result<(), Error> {
        match self.supervisor.view().dialogs_of(self.target.as_str()).next() {
            Some(dialog) => Err(supervisor::Error::blocked_by_dialog("wait", &dialog.id).into()),
            None => Ok(()),
        }
    }

    /// The node of the ref. One that is gone already is what `hidden` and `gone` wait for.
    fn meant(&self, wanted: &WaitFor, force: bool, deadline: Deadline) -> Result<Option<Node>, Error> {
        let Some(reference) = &wanted.reference else { return Ok(None) };
        let (node, _) = self.resolve(reference)?;
        let ends = matches!(wanted.state, Some(State::Hidden | State::Gone));
        if !ends {
            let at = Locator { reference: Some(reference.clone()), ..Locator::default() };
            self.ready(&at, super::ready::Needs::PRESENT, force, deadline)?;
        }
        Ok(Some(node))
    }

    /// The conditions that do not hold now.
    fn missing(&self, wait: &mut Wait<'_>, deadline: Deadline) -> Result<Vec<What>, Error> {
        self.is_there()?;
        self.no_dialog()?;
        (wait.silent, wait.unknown) = (false, false);
        let mut missing = Vec::new();
        if !wait.url_holds(&self.supervisor.view(), self.target.as_str()) {
            missing.push(What::Url);
        }
        let unmet = self.ask(wait, None, Duration::ZERO, deadline)?;
        if !unmet.contains(&What::Load) && !self.is_quiet(wait) {
            missing.push(What::Quiet);
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
                Err(error) if passing(&error) => {
                    wait.silent |= is_silent(&error);
                    wait.unknown = true;
                    false
                }
                Err(error) => return Err(error),
            };
            if !truth {
                missing.push(What::Script);
            }
        }
        Ok(missing)
    }

    /// Waits a while for one condition.
    fn wait_for_one(&self, wait: &mut Wait<'_>, what: What, deadline: Deadline) -> Result<(), Error> {
        let target = self.target.as_str();
        match what {
            What::Url => {
                let over = |s: &View| {
                    wait.url_holds(s, target) || s.page(target).is_none() || s.dialogs_of(target).next().is_some()
                };
                self.supervisor.wait_until(deadline, over);
                self.top().map(|_| ())
            }
            What::Quiet => {
                let step = deadline.within(ALONE);
                self.supervisor.wait_traffic(step, |traffic| traffic.of(&self.target).next().is_none());
                if self.is_quiet(wait) {
                    return Ok(());
                }
                let left = wait.busy.map_or(QUIET, |busy| QUIET.saturating_sub(busy.elapsed()));
                self.supervisor
                    .wait_traffic(deadline.within(left), |traffic| traffic.of(&self.target).next().is_some());
                Ok(())
            }
            What::Script => {
                let time = SCRIPT.min(deadline.left());
                let ask = Ask { until: Some(what.name()), ms: millis(time), ..Ask::default() };
                match self.call::<Holds>(&wait.frame, "holds", &ask, deadline.within(time + BEYOND)) {
                    Err(error) if !passing(&error) => Err(error),
                    Err(_) => self.wait_for_news(deadline),
                    Ok(_) => Ok(()),
                }
            }
            _ => {
                let several = matches!(what, What::Text) && self.frames().len() > 1;
                let time = if several { TOGETHER } else { ALONE };
                self.ask(wait, Some(what), time.min(deadline.left()), deadline).map(|_| ())
            }
        }
    }

    /// Whether the network has been quiet for a while, as far as that is waited for.
    fn is_quiet(&self, wait: &mut Wait<'_>) -> bool {
        if wait.wanted.load_state.as_deref() != Some(IDLE) {
            return true;
        }
        if self.supervisor.traffic().of(&self.target).next().is_some() {
            wait.busy = Some(Instant::now());
        }
        wait.busy.is_none_or(|busy| busy.elapsed() >= QUIET)
    }

    /// A frame that cannot be asked at the moment comes back with something new from the browser.
    fn wait_for_news(&self, deadline: Deadline) -> Result<(), Error> {
        let _ = self.supervisor.wait_newer(self.supervisor.version(), deadline.within(TOGETHER));
        self.top().map(|_| ())
    }

    fn frames(&self) -> Vec<FrameId> {
        let now = self.supervisor.view();
        now.frames_of(self.target.as_str()).map(|frame| frame.frame_id.clone()).collect()
    }

    /// Asks the documents which conditions hold, or waits for one of them there.
    fn ask(
        &self,
        wait: &mut Wait<'_>,
        until: Option<What>,
        time: Duration,
        deadline: Deadline,
    ) -> Result<Vec<What>, Error> {
        let asks: Vec<(FrameId, Ask<'_>)> = self
            .frames()
            .into_iter()
            .map(|frame| {
                let ask = Ask { until: until.map(What::name), ms: millis(time), ..wait.ask_of(&frame, until) };
                (frame, ask)
            })
            .filter(|(_, ask)| !ask.is_empty())
            .collect();
        let frames: Vec<FrameId> = asks.iter().map(|(frame, _)| frame.clone()).collect();
        let ask =
            |frame: &FrameId| asks.iter().find(|(f, _)| f == frame).map(|(_, ask)| ask.clone()).unwrap_or_default();
        let answers = self.call_all::<Holds, _>(&frames, "holds", ask, deadline.within(time + BEYOND));
        let wanted = wait.wanted;
        let (mut text, mut text_gone, mut unknown) = (false, true, false);
        let (mut selector, mut load, mut reference) = (false, false, false);
        for (frame, answer) in frames.iter().zip(answers) {
            let (doc, done) = match answer {
                Ok(answer) => answer,
                Err(error) if passing(&error) => {
                    wait.silent |= is_silent(&error);
                    wait.unknown = true;
                    unknown = true;
                    continue;
                }
                Err(error) => return Err(error),
            };
            wait.rescued |= done.rescued;
            let holds = done.result;
            if let Some(problem) = holds.bad {
                return Err(Error::BadRequest { problem: format!("the selector is not valid CSS: {problem}") });
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
            (What::Load, wanted.load_state.is_none() || load),
            (What::Text, wanted.text.is_none() || text),
            (What::Selector, wanted.selector.is_none() || selector),
            (What::Reference, wanted.reference.is_none() || reference),
            (What::TextGone, wanted.text_gone.is_none() || (text_gone && !unknown)),
        ];
        Ok(all.into_iter().filter(|(_, holds)| !holds).map(|(what, _)| what).collect())
    }
}

/// Whether it may be otherwise in a moment: the frame goes on to another document.
fn passing(error: &Error) -> bool {
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

/// Whether the page answered nothing at all.
fn is_silent(error: &Error) -> bool {
    matches!(error, Error::Supervisor(supervisor::Error::Unresponsive { .. }))
}

/// Whether an answer did not come in time.
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
