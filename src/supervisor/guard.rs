//! How a call waits: for its answer, or for whatever keeps the answer from coming.
//!
//! A call ends with its answer, with the end of its session or connection, with a dialog that holds
//! its page, at its deadline, or when nobody wants it any more ([`Cancel`]). While it waits, its page is probed with a script that costs nothing.
//! A page that leaves the probe unanswered for the supervisor's `rescue_after` is stuck in a script: that
//! script is ended (`Runtime.terminateExecution`, which Chromium answers also then) and the document
//! stays. A script that a caller of ours runs is left alone until its own deadline.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::error::Error;
use super::handle::Supervisor;
use super::liveness::Running;
use super::navigation_limit;
use super::route::Route;
use super::snapshot::{Dialog, PageState, View};
use super::state::Request;
use super::value::Done;
use crate::cdp::protocol::runtime::{CallFunctionOn, Evaluate, TerminateExecution};
use crate::cdp::rt::Command;
use crate::cdp::{self, CallOptions, RawReply, Reply, answered_by_browser};
use crate::sync::{Cancel, Deadline};

/// A call on a page whose dialog another process shows usually goes through; when it has not by now,
/// it is blocked after all.
pub(super) const DIALOG_GRACE: Duration = Duration::from_secs(1);
/// The same for input, when the dialog came after it: most likely because of it.
const INPUT_GRACE: Duration = Duration::from_millis(100);
/// A call that is answered so soon needs no probe.
const UNPROBED: Duration = Duration::from_millis(50);
/// How often outstanding probes are looked at.
const LOOK: Duration = Duration::from_millis(25);
/// What a script that was ended at its deadline has to say so.
const LAST_WORD: Duration = Duration::from_millis(100);
/// A page that falls back into such a script again and again is given up.
const RESCUES: u32 = 3;

/// Commands that need every process of a page, not only the one of their session.
const OF_ALL_FRAMES: [&str; 5] =
    ["Page.captureScreenshot", "Page.printToPDF", "Input.", "Accessibility.", "DOMSnapshot."];

/// How patient a look at the open dialogs is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    None,
    /// For a call that began then.
    Grace(Instant),
}

struct Probe {
    session: Arc<str>,
    sent: Instant,
    reply: Reply<RawReply>,
}

/// What a waiting call knows about its page.
pub(super) struct Watch<'a> {
    supervisor: &'a Supervisor,
    route: &'a Route,
    method: Cow<'static, str>,
    began: Instant,
    is_script: bool,
    /// Probes without an answer yet.
    probes: Vec<Probe>,
    next_probe: Instant,
    /// The probe ahead of the script is not answered yet.
    ahead: bool,
    rescues: u32,
    /// A probe was answered after a rescue.
    rescued: bool,
    /// The call is a script, and the page answered after it was sent: what runs now is that script.
    own_runs: bool,
    running: Option<Running<'a>>,
}

impl<'a> Watch<'a> {
    /// Begins before the call is sent.
    pub(super) fn new(
        supervisor: &'a Supervisor,
        route: &'a Route,
        method: Cow<'static, str>,
        deadline: Deadline,
    ) -> Self {
        let is_script = method == Evaluate::METHOD || method == CallFunctionOn::METHOD;
        let now = Instant::now();
        let mut watch = Self {
            supervisor,
            route,
            method,
            began: now,
            is_script,
            probes: Vec::new(),
            next_probe: now + UNPROBED,
            ahead: false,
            rescues: 0,
            rescued: false,
            own_runs: is_script,
            running: is_script.then(|| supervisor.liveness.running(&route.session, deadline)),
        };
        // A probe ahead of a script tells whether it is that script or another one which keeps the page
        // busy, one that the page began a moment after its last answer too.
        if is_script && watch.is_on() {
            watch.own_runs = false;
            if !route.brief || !supervisor.liveness.answered_lately(&route.session) {
                watch.probe(Arc::clone(&route.session));
                watch.ahead = true;
            }
        }
        watch
    }

    fn is_on(&self) -> bool {
        !self.supervisor.rescue_after.is_zero()
    }

    fn probe(&mut self, session: Arc<str>) {
        let mut nothing = Evaluate::new("0");
        nothing.silent = Some(true);
        let options = CallOptions { session: Some(&session), deadline: Deadline::after(LOOK), interruptible: false };
        // What cannot be sent is found out by the call itself.
        if let Ok(reply) = self.route.connection.send_with(Cow::Borrowed(Evaluate::METHOD), &nothing, options) {
            self.probes.push(Probe { session, sent: Instant::now(), reply });
        }
    }

    /// How long the call may wait before [`look`](Self::look) has something to do.
    pub(super) fn patience(&self) -> Duration {
        if !self.is_on() {
            DIALOG_GRACE
        } else if self.probes.is_empty() {
            self.next_probe.saturating_duration_since(Instant::now()).clamp(Duration::from_millis(1), DIALOG_GRACE)
        } else {
            LOOK
        }
    }

    /// Looks after the page: sends probes, takes their answers, ends a script that holds it.
    ///
    /// # Errors
    /// [`Error::PageBusy`] when a script of another caller holds it longer than this call may wait;
    /// `BlockedByDialog` when a dialog of another page does.
    pub(super) fn look(&mut self, deadline: Deadline) -> Result<(), Error> {
        if !self.is_on() {
            return Ok(());
        }
        let now = Instant::now();
        let mut silent = Vec::new();
        for probe in std::mem::take(&mut self.probes) {
            match probe.reply.poll_raw(Deadline::at(now)) {
                Ok(_) => {
                    self.rescued |= self.rescues > 0;
                    self.own_runs = self.is_script;
                    // Behind the one ahead of a script comes one that tells whether the script holds the page.
                    let pause = if self.ahead { UNPROBED } else { self.supervisor.rescue_after };
                    self.next_probe = now + pause;
                    self.ahead = false;
                }
                Err(reply) => silent.push(Probe { reply, ..probe }),
            }
        }
        self.probes = silent;
        if self.probes.is_empty() && now >= self.next_probe {
            for session in self.sessions() {
                self.probe(session);
            }
        }
        if self.own_runs {
            return Ok(()); // it has until its deadline
        }
        // What a page does takes longer when its processor is slowed down, and is no reason to end it.
        let limit = self.supervisor.rescue_after.mul_f64(self.supervisor.liveness.slowdown(&self.route.target));
        let stuck = self.probes.iter().filter(|probe| now.duration_since(probe.sent) >= limit);
        let stuck: Vec<Arc<str>> = stuck.map(|probe| Arc::clone(&probe.session)).collect();
        for session in stuck {
            self.free(&session, deadline)?;
        }
        Ok(())
    }

    /// Sees to it that the page is not stuck in a script before it is sent away: afterwards nothing reaches
    /// the script any more. Chromium 156 holds back every command, `Runtime.terminateExecution` and
    /// `Page.stopLoading` included, until the new document is there, which waits for the script.
    ///
    /// # Errors
    /// Those of [`look`](Self::look).
    pub(super) fn free_first(&mut self, deadline: Deadline) -> Result<(), Error> {
        let supervisor = self.supervisor;
        if !self.is_on() {
            return Ok(());
        }
        let (target, session) = (self.route.target.as_str(), &*self.route.session);
        // One that is on its way already answers no probe, and takes another way at once.
        let may_answer = |s: &View| {
            s.dialogs.is_empty()
                && s.page(target).is_some_and(|page| page.state == PageState::Ready)
                && !s.is_navigating(session)
        };
        self.probe(Arc::clone(&self.route.session));
        while !self.probes.is_empty() && !deadline.passed() && may_answer(&supervisor.view()) {
            let first = self.probes.remove(0);
            match first.reply.poll_raw(deadline.within(LOOK)) {
                Ok(_) => {
                    self.rescued |= self.rescues > 0;
                    return Ok(());
                }
                Err(reply) => self.probes.push(Probe { reply, ..first }),
            }
            self.look(deadline)?;
            if self.rescues > 1 {
                break; // it does not help
            }
        }
        self.probes.clear();
        Ok(())
    }

    fn sessions(&self) -> Vec<Arc<str>> {
        let mut all = vec![Arc::clone(&self.route.session)];
        if OF_ALL_FRAMES.iter().any(|begin| self.method.starts_with(begin)) {
            let snapshot = self.supervisor.view();
            for session in snapshot.frames_of(self.route.target.as_str()).filter_map(|f| f.session_id.clone()) {
                if !all.contains(&session) {
                    all.push(session);
                }
            }
        }
        all
    }

    /// Ends what runs in a session that has not answered for long.
    fn free(&mut self, session: &Arc<str>, deadline: Deadline) -> Result<(), Error> {
        let now = self.supervisor.view();
        if now.is_navigating(session) {
            // Chromium holds back every command until the new document is there, and would end that one's
            // script then. The page is not stuck, its server is slow.
            self.restart(session);
            return Ok(());
        }
        // A dialog stops the other pages of its process too. There is no script to end then.
        let dialogs: Vec<String> = now.dialogs.iter().map(|d| d.id.to_string()).collect();
        if !dialogs.is_empty() {
            return Err(Error::Cdp(cdp::Error::BlockedByDialog { method: self.method.clone(), dialogs }));
        }
        if let Some(until) = self.supervisor.liveness.busy(session, self.running.as_ref().map(Running::number)) {
            // One that has just as much time was sent together with this one, by the same caller.
            if until > deadline {
                return Err(Error::PageBusy { page: self.route.target.to_string(), left: until.left() });
            }
            return Ok(()); // ends before we do
        }
        if self.rescues >= RESCUES {
            return Ok(());
        }
        self.rescues += 1;
        self.end_script(session);
        self.restart(session);
        Ok(())
    }

    /// Gives a session as much time again.
    fn restart(&mut self, session: &Arc<str>) {
        let now = Instant::now();
        for probe in self.probes.iter_mut().filter(|probe| probe.session == *session) {
            probe.sent = now;
        }
    }

    fn end_script(&self, session: &Arc<str>) {
        let options = CallOptions { session: Some(session), deadline: Deadline::after(LOOK), interruptible: false };
        let sent = self.route.connection.send_with(
            Cow::Borrowed(TerminateExecution::METHOD),
            &TerminateExecution::new(),
            options,
        );
        let target = self.route.target.clone();
        let waited = self.began.elapsed();
        if sent.is_ok() {
            tracing::info!(%target, ?waited, "the page did not answer, its running script is ended");
            let note = Request::Rescued { target, method: self.method.to_string(), waited };
            let _ = self.supervisor.requests.try_send(note);
        }
    }

    /// The call was answered.
    pub(super) fn answered<T>(&self, result: T) -> Done<T> {
        Done { result, rescued: self.rescued || self.rescues > 0 }
    }

    /// The deadline passed, or nobody waits any more. A script that still runs is ended.
    pub(super) fn too_late(&self, reply: Reply<RawReply>, deadline: Deadline) -> Error {
        let after = self.began.elapsed();
        if Cancel::is_current_set() {
            if self.is_script && self.own_runs && !self.probes.is_empty() {
                Cancel::shielded(|| self.end_script(&self.route.session));
            }
            return Error::Cancelled;
        }
        if !self.probes.is_empty() && self.supervisor.view().is_navigating(&self.route.session) {
            return Error::Navigating { page: self.route.target.to_string(), after };
        }
        if self.is_script && self.own_runs && !self.probes.is_empty() {
            self.end_script(&self.route.session);
            if reply.poll_raw(Deadline::after(LAST_WORD)).is_ok() {
                return Error::ScriptTimeout { after };
            }
            return self.unresponsive(after, true);
        }
        if !self.probes.is_empty() {
            return self.unresponsive(after, self.rescues > 0);
        }
        match reply.wait_raw(deadline) {
            Err(error) => error.into(), // it tells how long was waited
            Ok(_) => Error::Timeout { what: "the call", after },
        }
    }

    fn unresponsive(&self, after: Duration, tried: bool) -> Error {
        let page = self.route.target.to_string();
        Error::Unresponsive { page, method: self.method.to_string(), after, tried }
    }
}

/// A call under way.
struct Guarded<'a> {
    watch: Watch<'a>,
    reply: Reply<RawReply>,
}

/// One of several calls.
enum Slot<'a> {
    Open(Guarded<'a>),
    Answered(Done<RawReply>),
    Ended(Error),
    Taken,
}

impl Slot<'_> {
    fn from(outcome: Result<Done<RawReply>, Error>) -> Self {
        outcome.map_or_else(Self::Ended, Self::Answered)
    }

    fn outcome(self) -> Result<Done<RawReply>, Error> {
        match self {
            Self::Answered(done) => Ok(done),
            Self::Ended(error) => Err(error),
            Self::Open(_) | Self::Taken => Err(Error::Timeout { what: "the call", after: Duration::ZERO }),
        }
    }
}

impl Supervisor {
    /// Sends a call and waits for its answer, the end of its session, a dialog that blocks it, or the
    /// deadline, whichever is first.
    pub(super) fn guarded(
        &self,
        route: &Route,
        method: Cow<'static, str>,
        params: &impl Serialize,
        deadline: Deadline,
    ) -> Result<Done<RawReply>, Error> {
        let minds_dialogs = !answered_by_browser(&method);
        if !minds_dialogs {
            let options = CallOptions { session: Some(&route.session), deadline, interruptible: false };
            let reply = route.connection.send_with(method, params, options)?;
            let result = reply.wait_raw(deadline).map_err(|error| Error::from(error).or_cancelled())?;
            return Ok(Done { result, rescued: false });
        }
        let mut call = self.begin_guarded(route, method, params, deadline)?;
        loop {
            match self.wait_guarded(call, deadline, true) {
                Slot::Open(back) => call = back,
                ended => return ended.outcome(),
            }
        }
    }

    /// The same for several calls under way at once. One that ends badly does not end the others.
    pub(super) fn guarded_all<P: Serialize>(
        &self,
        calls: &[(Route, &'static str, P)],
        deadline: Deadline,
    ) -> Vec<Result<Done<RawReply>, Error>> {
        let begun = calls.iter().map(|(route, method, params)| {
            self.begin_guarded(route, Cow::Borrowed(*method), params, deadline).map_or_else(Slot::Ended, Slot::Open)
        });
        let mut slots: Vec<Slot<'_>> = begun.collect();
        while slots.iter().any(|slot| matches!(slot, Slot::Open(_))) {
            // Waited for is the first that has no answer yet; the others are looked at by the way.
            let mut wait = true;
            for slot in &mut slots {
                let call = match std::mem::replace(slot, Slot::Taken) {
                    Slot::Open(call) => call,
                    other => {
                        *slot = other;
                        continue;
                    }
                };
                *slot = self.wait_guarded(call, deadline, wait);
                wait &= !matches!(slot, Slot::Open(_));
            }
        }
        slots.into_iter().map(Slot::outcome).collect()
    }

    fn begin_guarded<'a>(
        &'a self,
        route: &'a Route,
        method: Cow<'static, str>,
        params: &impl Serialize,
        deadline: Deadline,
    ) -> Result<Guarded<'a>, Error> {
        if Cancel::is_current_set() {
            return Err(Error::Cancelled);
        }
        self.check_page(route, &method, deadline)?;
        let watch = Watch::new(self, route, method.clone(), deadline);
        let options = CallOptions { session: Some(&route.session), deadline, interruptible: true };
        let reply = route.connection.send_with(method, params, options)?;
        // Again, now that the call can be interrupted: a dialog between the two would be missed.
        self.check_dialogs(route, &watch.method, Patience::None)?;
        Ok(Guarded { watch, reply })
    }

    /// Waits a while for a call, or not at all.
    fn wait_guarded<'a>(&'a self, call: Guarded<'a>, deadline: Deadline, wait: bool) -> Slot<'a> {
        let Guarded { mut watch, reply } = call;
        let patience = if wait { watch.patience() } else { Duration::ZERO };
        let reply = match reply.poll_raw(deadline.within(patience)) {
            Ok(outcome) => {
                if outcome.is_ok() {
                    self.liveness.answered(&watch.route.session);
                }
                return Slot::from(outcome.map(|raw| watch.answered(raw)).map_err(Error::from));
            }
            Err(back) => back,
        };
        if let Err(error) = self.check_dialogs(watch.route, &watch.method, Patience::Grace(watch.began)) {
            return Slot::Ended(error);
        }
        let is_held = || self.view().is_navigating(&watch.route.session);
        if let Some(after) = navigation_limit::exceeded(is_held) {
            let page = watch.route.target.to_string();
            return Slot::Ended(Error::Navigating { page, after });
        }
        if deadline.passed() {
            return Slot::Ended(watch.too_late(reply, deadline));
        }
        match watch.look(deadline) {
            Ok(()) => Slot::Open(Guarded { watch, reply }),
            Err(error) => Slot::Ended(error),
        }
    }

    /// Fails when nothing can be done with the page at the moment.
    fn check_page(&self, route: &Route, method: &str, deadline: Deadline) -> Result<(), Error> {
        let wedged = |s: &View| {
            let page = s.page(route.target.as_str()).filter(|page| page.state == PageState::Wedged);
            page.map(|page| page.lost_dialog.as_deref().unwrap_or("unknown").to_owned())
        };
        if wedged(&self.view()).is_some() {
            // Some proxies close the dialogs of a client that left; the page says so in a moment.
            self.wait_until(deadline.within(DIALOG_GRACE), |s| wedged(s).is_none());
            if let Some(dialog) = wedged(&self.view()) {
                return Err(Error::Wedged { page: route.target.to_string(), dialog });
            }
        }
        self.check_dialogs(route, method, Patience::None)
    }

    /// Fails when a dialog blocks calls on this route. One shown by the same session does so at once,
    /// one shown by another process after the grace time only.
    fn check_dialogs(&self, route: &Route, method: &str, patience: Patience) -> Result<(), Error> {
        let snapshot = self.view();
        let blocks = |dialog: &&Dialog| {
            let shown_by = dialog.frame_id.as_ref().and_then(|f| snapshot.frame(f.as_str()));
            let same = shown_by.is_none_or(|f| f.session_id.as_ref() == Some(&route.session));
            let takes_long = |began: Instant| {
                let open = open_for(dialog);
                let caused = method.starts_with("Input.") && open <= began.elapsed();
                open > if caused { INPUT_GRACE } else { DIALOG_GRACE }
            };
            same || matches!(patience, Patience::Grace(began) if takes_long(began))
        };
        let dialogs: Vec<String> =
            snapshot.dialogs_of(route.target.as_str()).filter(blocks).map(|d| d.id.to_string()).collect();
        if dialogs.is_empty() {
            return Ok(());
        }
        Err(Error::Cdp(cdp::Error::BlockedByDialog { method: method.to_owned().into(), dialogs }))
    }
}

fn open_for(dialog: &Dialog) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    Duration::try_from_secs_f64(now - dialog.opened_at).unwrap_or_default()
}
