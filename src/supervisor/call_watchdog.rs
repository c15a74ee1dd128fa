//! Call watchdog: waits for the answer of a call, and frees a page that is stuck meanwhile.
//!
//! A call ends with its answer, with the end of its session or connection, with a dialog that holds
//! its page, at its deadline, or when it is cancelled. While it waits, its page is probed with an empty script. A page that
//! leaves the probe unanswered until the deadline of the call is busy: [`Error::PageBusy`], with the time since the first
//! probe without an answer; that one is kept, so that the time counts over several calls. Once the page has not paused for
//! the supervisor's `rescue_after`, the script that runs is ended (`Runtime.terminateExecution`, which Chromium answers also
//! then); the document stays, the call goes on, and its answer is marked as rescued. Not ended are
//!
//! - a script of a client, before the deadline of its own call: it alone is ended there. Scripts of our own are never taken
//!   for it ([`ScriptOf`]);
//! - a script of a document that is loading, or has loaded within `rescue_after_load`: applications start up then;
//! - anything while a dialog is open anywhere in the task, because dialogs also stop the other pages of their process: the
//!   call fails with it;
//! - anything while the page is navigating to another document: Chromium holds back every command to such a page until the
//!   server answers, including `Runtime.terminateExecution`, which would then end a script of the next document.
//!
//! [`Supervisor::rescue`] ends a script at once, on request.
//!
//! Whether a script of a client runs, or waits behind one of the page, is shown by a probe that is sent ahead of it. It
//! doubles the messages of a call, so it is left out while the page is idle
//! ([`Liveness::is_idle`](super::liveness::Liveness::is_idle)). If such a script is not answered, and a script of the
//! page has run for three times `rescue_after` ([`PageScripts`]), that one is ended. Otherwise the script of the
//! client has its time until its deadline. What runs then is ended; if that was a script of the page, the one of the
//! client runs, and its answer is the outcome of the call.
//!
//! Emulation that slows the processor of the page makes `rescue_after` proportionally longer. A stopped process cannot be
//! rescued; the call reports that at its deadline.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::error::Error;
use super::handle::Supervisor;
use super::liveness::{Probe, Running};
use super::page_scripts::PageScripts;
use super::route::{Route, ScriptOf};
use super::snapshot::{Dialog, PageState, View};
use super::state::Request;
use super::value::Done;
use crate::cdp::protocol::runtime::{CallFunctionOn, Evaluate, TerminateExecution};
use crate::cdp::rt::Command;
use crate::cdp::{CallOptions, RawReply, Reply, answered_by_browser};
use crate::sync::Deadline;

/// A call on a page whose dialog another process shows usually goes through; when it has not by now,
/// it is blocked after all.
pub(super) const DIALOG_GRACE: Duration = Duration::from_secs(1);
/// The same for input, when the dialog came after it: most likely because of it.
const INPUT_GRACE: Duration = Duration::from_millis(100);
/// A call that is answered within this time needs no probe.
const PROBE_AFTER: Duration = Duration::from_millis(50);
/// Poll interval of outstanding probes.
const PROBE_POLL_INTERVAL: Duration = Duration::from_millis(25);
/// Time for a page to respond once its script was terminated, before the next one is.
const RESCUED_WITHIN: Duration = Duration::from_secs(2);
/// Longest wait for the answer of a script that was terminated at its deadline.
const END_SCRIPT_GRACE: Duration = Duration::from_millis(100);
/// Time limit for the log entry about a terminated script.
const NOTED_WITHIN: Duration = Duration::from_secs(2);
/// Multiple of `rescue_after` for a script that may be the caller's own.
const PRESUMED_OWN_FACTOR: u32 = 3;
/// Number of scripts that are terminated for one call; then the page counts as unresponsive.
const MAX_RESCUES: u32 = 3;

/// Commands that need every process of a page, not only the one of their session.
const ALL_FRAME_METHODS: [&str; 5] =
    ["Page.captureScreenshot", "Page.printToPDF", "Input.", "Accessibility.", "DOMSnapshot."];

/// Whether a dialog of another process has a grace time before it blocks a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DialogGrace {
    None,
    /// For a call that began then.
    Since(Instant),
}

/// Watches the page of a waiting call.
pub(super) struct CallWatchdog<'a> {
    supervisor: &'a Supervisor,
    route: &'a Route,
    method: Cow<'static, str>,
    began: Instant,
    is_script: bool,
    is_client_script: bool,
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
    /// The call is a script without a probe ahead: what runs now is most likely that script.
    presumed_own: bool,
    page_scripts: PageScripts,
    /// Number of events that the connection had received when the call began.
    events: u64,
    running: Option<Running<'a>>,
}

impl<'a> CallWatchdog<'a> {
    /// Begins before the call is sent.
    pub(super) fn new(
        supervisor: &'a Supervisor,
        route: &'a Route,
        method: Cow<'static, str>,
        deadline: Deadline<'_>,
    ) -> Self {
        let is_script = method == Evaluate::METHOD || method == CallFunctionOn::METHOD;
        let is_client_script = is_script && route.script == ScriptOf::Client;
        let now = Instant::now();
        let mut watch = Self {
            supervisor,
            route,
            method,
            began: now,
            is_script,
            is_client_script,
            probes: Vec::new(),
            next_probe: now + PROBE_AFTER,
            ahead: false,
            rescues: 0,
            rescued: false,
            own_runs: is_client_script,
            presumed_own: false,
            page_scripts: PageScripts::default(),
            events: route.connection.counters().events,
            running: is_client_script.then(|| supervisor.liveness.running(&route.session, deadline.instant())),
        };
        // A probe ahead of a script shows whether that script or another one keeps the page
        // busy, one that the page began a moment after its last answer too.
        if is_script && watch.is_on() {
            watch.own_runs = false;
            let is_brief = route.script == ScriptOf::OursBrief;
            let is_idle = !is_brief && watch.is_page_idle();
            watch.presumed_own = is_client_script && is_idle;
            if !(is_idle || is_brief && supervisor.liveness.answered_lately(&route.session)) {
                if is_client_script && supervisor.liveness.measure(&route.session) {
                    PageScripts::enable(&route.connection, &route.session, Deadline::after(PROBE_POLL_INTERVAL));
                }
                watch.probe(Arc::clone(&route.session));
                watch.ahead = true;
            }
        }
        watch
    }

    fn is_on(&self) -> bool {
        !self.supervisor.rescue_after.is_zero()
    }

    /// Whether what may block the page is most likely the script of this call.
    fn is_page_idle(&self) -> bool {
        let session = &self.route.session;
        let own = self.running.as_ref().map_or(0, Running::number);
        self.supervisor.liveness.is_idle(session, own, self.events) && self.supervisor.view().dialogs.is_empty()
    }

    fn probe(&mut self, session: Arc<str>) {
        // That of an earlier call shows since when the page has not paused.
        if let Some(kept) = self.supervisor.liveness.kept_probe(&session)
            && let Err(reply) = kept.reply.poll_raw(Deadline::after(Duration::ZERO))
        {
            self.probes.push(Probe { reply, session: kept.session, sent: kept.sent });
        }
        let mut nothing = Evaluate::new("0");
        nothing.silent = Some(true);
        let options = CallOptions {
            session: Some(&session),
            deadline: Deadline::after(PROBE_POLL_INTERVAL),
            interruptible: false,
        };
        // What cannot be sent is found out by the call itself.
        if let Ok(reply) = self.route.connection.send_with(Cow::Borrowed(Evaluate::METHOD), &nothing, options) {
            self.probes.push(Probe { session, sent: Instant::now(), reply });
        }
    }

    /// Time until [`check`](Self::check) is due again.
    pub(super) fn poll_interval(&self) -> Duration {
        if !self.is_on() {
            DIALOG_GRACE
        } else if self.probes.is_empty() {
            self.next_probe.saturating_duration_since(Instant::now()).clamp(Duration::from_millis(1), DIALOG_GRACE)
        } else {
            PROBE_POLL_INTERVAL
        }
    }

    /// Probes the page, and terminates a script that blocks it.
    ///
    /// # Errors
    /// [`Error::PageBusy`] when a script of another caller holds it longer than this call may wait;
    /// `BlockedByDialog` when a dialog of another page does.
    pub(super) fn check(&mut self, deadline: Deadline<'_>) -> Result<(), Error> {
        if !self.is_on() {
            return Ok(());
        }
        let now = Instant::now();
        let mut silent = Vec::new();
        for probe in std::mem::take(&mut self.probes) {
            match probe.reply.poll_raw(Deadline::at(now)) {
                Ok(_) => {
                    self.rescued |= self.rescues > 0;
                    self.own_runs = self.is_client_script;
                    // Behind the one ahead of a script comes one that shows whether the script blocks the page.
                    let pause = if self.ahead { PROBE_AFTER } else { self.supervisor.rescue_after };
                    self.next_probe = now + pause;
                    self.ahead = false;
                }
                Err(reply) => silent.push(Probe { reply, session: probe.session, sent: probe.sent }),
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
        if self.presumed_own {
            let silent = self.probes.iter().map(|probe| now.duration_since(probe.sent)).max();
            let due = silent.is_some_and(|silent| silent >= limit.saturating_mul(PRESUMED_OWN_FACTOR));
            let (connection, session) = (&self.route.connection, &self.route.session);
            let send_by = Deadline::after(PROBE_POLL_INTERVAL);
            if silent.is_none() || !self.page_scripts.block_the_page(connection, session, due, send_by) {
                return Ok(());
            }
            self.presumed_own = false;
        }
        let stuck = self.probes.iter().filter(|probe| now.duration_since(probe.sent) >= limit);
        let stuck: BTreeSet<Arc<str>> = stuck.map(|probe| Arc::clone(&probe.session)).collect();
        for session in stuck {
            self.end_stuck_script(&session, deadline)?;
        }
        Ok(())
    }

    /// Frees the page of a script that blocks it, before a navigation: afterwards nothing reaches
    /// the script any more. Chromium 156 holds back every command, `Runtime.terminateExecution` and
    /// `Page.stopLoading` included, until the new document is there, which waits for the script.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub(super) fn free_page(&mut self, deadline: Deadline<'_>) -> Result<(), Error> {
        let supervisor = self.supervisor;
        if !self.is_on() {
            return Ok(());
        }
        let (target, session) = (self.route.target.as_str(), &*self.route.session);
        // A page that is navigating already answers no probe, and accepts another navigation at once.
        let may_answer = |s: &View| {
            s.dialogs.is_empty()
                && s.page(target).is_some_and(|page| page.state == PageState::Ready)
                && !s.is_navigating(session)
        };
        self.probe(Arc::clone(&self.route.session));
        while !self.probes.is_empty() && !deadline.passed() && may_answer(&supervisor.view()) {
            let first = self.probes.remove(0);
            match first.reply.poll_raw(deadline.within(PROBE_POLL_INTERVAL)) {
                Ok(_) => {
                    self.rescued |= self.rescues > 0;
                    return Ok(());
                }
                Err(reply) => self.probes.push(Probe { reply, session: first.session, sent: first.sent }),
            }
            self.check(deadline)?;
            if self.rescues > 1 {
                break; // it does not help
            }
        }
        // Sent now, the command would be carried out later, after the call has failed.
        if !self.probes.is_empty() && deadline.passed() && self.rescues == 0 && may_answer(&supervisor.view()) {
            return Err(self.busy());
        }
        self.probes.clear();
        Ok(())
    }

    /// Probes all processes of the page, and ends the script of each that does not answer within a time, at once. Returns the
    /// longest time that one had been silent, if any was.
    ///
    /// # Errors
    /// [`Error::Unresponsive`] when it does not answer afterwards either.
    pub(super) fn end_all(&mut self, within: Duration, deadline: Deadline<'_>) -> Result<Option<Duration>, Error> {
        for session in self.all_sessions() {
            self.probe(session);
        }
        let began = self.began;
        let mut busy = None;
        let mut by = deadline.within(within);
        for round in 0..=MAX_RESCUES {
            if self.are_answered(by) {
                return Ok(busy);
            }
            let now = self.supervisor.view();
            self.probes.retain(|probe| !now.is_navigating(&probe.session));
            let silent: BTreeSet<Arc<str>> = self.probes.iter().map(|probe| Arc::clone(&probe.session)).collect();
            if silent.is_empty() || round == MAX_RESCUES {
                break;
            }
            busy = busy.max(self.probes.iter().map(|probe| probe.sent.elapsed()).max());
            self.rescues += 1;
            silent.iter().for_each(|session| self.end_script(session));
            // Slow to end is not the next script yet.
            by = deadline.within(RESCUED_WITHIN);
        }
        if self.probes.is_empty() { Ok(busy) } else { Err(self.unresponsive(began.elapsed(), true)) }
    }

    fn sessions(&self) -> Vec<Arc<str>> {
        if ALL_FRAME_METHODS.iter().any(|begin| self.method.starts_with(begin)) {
            return self.all_sessions();
        }
        vec![Arc::clone(&self.route.session)]
    }

    fn all_sessions(&self) -> Vec<Arc<str>> {
        let mut all = vec![Arc::clone(&self.route.session)];
        {
            let snapshot = self.supervisor.view();
            for session in snapshot.frames_of(self.route.target.as_str()).filter_map(|f| f.session_id.clone()) {
                if !all.contains(&session) {
                    all.push(session);
                }
            }
        }
        all
    }

    /// Terminates the script of a session that has not answered for long.
    fn end_stuck_script(&mut self, session: &Arc<str>, deadline: Deadline<'_>) -> Result<(), Error> {
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
            return Err(Error::BlockedByDialog { method: self.method.clone(), dialogs });
        }
        if let Some(until) = self.client_script_until(session) {
            // One that has just as much time was sent together with this one, by the same caller.
            if until > deadline.instant() {
                return Err(self.busy());
            }
            return Ok(()); // ends before we do
        }
        if now.has_just_loaded(session, self.supervisor.rescue_after_load) {
            return Ok(());
        }
        if self.rescues >= MAX_RESCUES {
            return Ok(());
        }
        self.rescues += 1;
        self.end_script(session);
        self.restart(session);
        Ok(())
    }

    /// Until when a script of another client may run.
    fn client_script_until(&self, session: &Arc<str>) -> Option<Instant> {
        self.supervisor.liveness.busy(session, self.running.as_ref().map(Running::number))
    }

    /// The error for a page that a script holds.
    fn busy(&self) -> Error {
        let session = &self.route.session;
        let now = Instant::now();
        let busy = self.probes.iter().map(|probe| now.duration_since(probe.sent)).max().unwrap_or_default();
        let left = self.client_script_until(session).map(|until| until.saturating_duration_since(now));
        Error::PageBusy { page: self.route.target.to_string(), busy, left }
    }

    /// Gives a session as much time again.
    fn restart(&mut self, session: &Arc<str>) {
        let now = Instant::now();
        for probe in self.probes.iter_mut().filter(|probe| probe.session == *session) {
            probe.sent = now;
        }
    }

    fn end_script(&self, session: &Arc<str>) {
        let options = CallOptions {
            session: Some(session),
            deadline: Deadline::after(PROBE_POLL_INTERVAL),
            interruptible: false,
        };
        let sent = self.route.connection.send_with(
            Cow::Borrowed(TerminateExecution::METHOD),
            &TerminateExecution::new(),
            options,
        );
        let target = self.route.target.clone();
        let waited = self.began.elapsed();
        if sent.is_ok() {
            tracing::info!(%target, ?waited, "the page does not respond; terminating its running script");
            // In the log before the call returns: answers say from it that a script was ended.
            let note = |reply| Request::Rescued { target, method: self.method.to_string(), waited, reply };
            let _ = self.supervisor.requester().ask("a log entry", Deadline::after(NOTED_WITHIN), note);
        }
    }

    /// The call was answered.
    pub(super) fn answered<T>(&self, result: T) -> Done<T> {
        Done { result, rescued: self.rescued || self.rescues > 0 }
    }

    /// The outcome of a call whose deadline passed or that was cancelled. A script of the call that still runs is terminated.
    ///
    /// # Errors
    /// Always, unless a script of the page kept the call's own script from running.
    pub(super) fn timed_out(
        &mut self,
        reply: Reply<RawReply>,
        deadline: Deadline<'_>,
    ) -> Result<Done<RawReply>, Error> {
        let after = self.began.elapsed();
        let may_run = self.is_client_script && (self.own_runs || self.presumed_own);
        if deadline.is_cancelled() {
            if may_run && !self.probes.is_empty() {
                self.end_script(&self.route.session);
            }
            return Err(Error::Cancelled);
        }
        // A probe that was sent just before the deadline shows nothing yet.
        let grace = self.probes.iter().map(|probe| probe.sent + END_SCRIPT_GRACE).max();
        let is_blocked = grace.is_some_and(|grace| !self.are_answered(Deadline::at(grace)));
        // It may have been answered meanwhile.
        let reply = match reply.poll_raw(Deadline::after(Duration::ZERO)) {
            Ok(outcome) => return Ok(self.answered(outcome?)),
            Err(reply) => reply,
        };
        let now = self.supervisor.view();
        if is_blocked && now.is_navigating(&self.route.session) {
            return Err(Error::Navigating { page: self.route.target.to_string(), after });
        }
        if may_run && is_blocked {
            let dialogs: Vec<String> = now.dialogs.iter().map(|d| d.id.to_string()).collect();
            if !self.own_runs && !dialogs.is_empty() {
                return Err(Error::BlockedByDialog { method: self.method.clone(), dialogs });
            }
            self.end_script(&self.route.session);
            return match reply.poll_raw(Deadline::after(END_SCRIPT_GRACE)) {
                Ok(Ok(result)) if !self.own_runs => Ok(Done { result, rescued: true }),
                Ok(_) => Err(Error::ScriptTimeout { after }),
                // It ran after an `await`: the page responds again, but its promise is never settled.
                Err(_) if self.are_answered(Deadline::after(Duration::ZERO)) => Err(Error::ScriptTimeout { after }),
                Err(_) => Err(self.unresponsive(after, true)),
            };
        }
        if is_blocked && self.rescues > 0 {
            return Err(self.unresponsive(after, true));
        }
        if is_blocked {
            return Err(self.busy());
        }
        // The answer may have come before that of a probe; the error contains the time waited.
        Ok(self.answered(reply.wait_raw(deadline)?))
    }

    /// Whether all probes are answered by then.
    fn are_answered(&mut self, by: Deadline<'_>) -> bool {
        let probes = std::mem::take(&mut self.probes);
        let silent = probes.into_iter().filter_map(|probe| {
            let reply = probe.reply.poll_raw(by).err()?;
            Some(Probe { reply, session: probe.session, sent: probe.sent })
        });
        self.probes = silent.collect();
        self.probes.is_empty()
    }

    fn unresponsive(&self, after: Duration, tried: bool) -> Error {
        let page = self.route.target.to_string();
        Error::Unresponsive { page, method: self.method.to_string(), after, tried }
    }
}

impl Drop for CallWatchdog<'_> {
    fn drop(&mut self) {
        for probe in self.probes.drain(..) {
            self.supervisor.liveness.keep_probe(probe);
        }
    }
}

/// A call under way.
struct WatchedCall<'a> {
    watch: CallWatchdog<'a>,
    reply: Reply<RawReply>,
}

/// One of several calls.
#[expect(clippy::large_enum_variant, reason = "lives on the stack of one call")]
enum Slot<'a> {
    Open(WatchedCall<'a>),
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
    pub(super) fn call_watched(
        &self,
        route: &Route,
        method: Cow<'static, str>,
        params: &impl Serialize,
        deadline: Deadline<'_>,
    ) -> Result<Done<RawReply>, Error> {
        let minds_dialogs = !answered_by_browser(&method);
        if !minds_dialogs {
            let options = CallOptions { session: Some(&route.session), deadline, interruptible: false };
            let reply = route.connection.send_with(method, params, options)?;
            let result = reply.wait_raw(deadline).map_err(|error| Error::from(error).or_cancelled(deadline))?;
            return Ok(Done { result, rescued: false });
        }
        let mut call = self.start_watched(route, method, params, deadline)?;
        loop {
            match self.poll_watched(call, deadline, true) {
                Slot::Open(back) => call = back,
                ended => return ended.outcome(),
            }
        }
    }

    /// The same for several calls under way at once. One that ends badly does not end the others.
    pub(super) fn call_all_watched<P: Serialize>(
        &self,
        calls: &[(Route, &'static str, P)],
        deadline: Deadline<'_>,
    ) -> Vec<Result<Done<RawReply>, Error>> {
        let begun = calls.iter().map(|(route, method, params)| {
            self.start_watched(route, Cow::Borrowed(*method), params, deadline).map_or_else(Slot::Ended, Slot::Open)
        });
        let mut slots: Vec<Slot<'_>> = begun.collect();
        while slots.iter().any(|slot| matches!(slot, Slot::Open(_))) {
            // Wait for the first call without an answer; poll the others.
            let mut wait = true;
            for slot in &mut slots {
                let call = match std::mem::replace(slot, Slot::Taken) {
                    Slot::Open(call) => call,
                    other => {
                        *slot = other;
                        continue;
                    }
                };
                *slot = self.poll_watched(call, deadline, wait);
                wait &= !matches!(slot, Slot::Open(_));
            }
        }
        slots.into_iter().map(Slot::outcome).collect()
    }

    fn start_watched<'a>(
        &'a self,
        route: &'a Route,
        method: Cow<'static, str>,
        params: &impl Serialize,
        deadline: Deadline<'_>,
    ) -> Result<WatchedCall<'a>, Error> {
        if deadline.is_cancelled() {
            return Err(Error::Cancelled);
        }
        self.check_page(route, &method, deadline)?;
        let watch = CallWatchdog::new(self, route, method.clone(), deadline);
        let options = CallOptions { session: Some(&route.session), deadline, interruptible: true };
        let reply = route.connection.send_with(method, params, options)?;
        // Again, now that the call can be interrupted: a dialog between the two would be missed.
        self.check_dialogs(route, &watch.method, DialogGrace::None)?;
        Ok(WatchedCall { watch, reply })
    }

    /// Waits a while for a call, or not at all.
    fn poll_watched<'a>(&'a self, call: WatchedCall<'a>, deadline: Deadline<'_>, wait: bool) -> Slot<'a> {
        let WatchedCall { mut watch, reply } = call;
        let patience = if wait { watch.poll_interval() } else { Duration::ZERO };
        let reply = match reply.poll_raw(deadline.within(patience)) {
            Ok(outcome) => {
                if outcome.is_ok() {
                    let script = watch.is_script.then_some(watch.events);
                    self.liveness.answered(&watch.route.session, script);
                }
                return Slot::from(outcome.map(|raw| watch.answered(raw)).map_err(Error::from));
            }
            Err(back) => back,
        };
        if let Err(error) = self.check_dialogs(watch.route, &watch.method, DialogGrace::Since(watch.began)) {
            return Slot::Ended(error);
        }
        let is_held = || self.view().is_navigating(&watch.route.session);
        if let Some(after) = deadline.delayed_for(is_held) {
            let page = watch.route.target.to_string();
            return Slot::Ended(Error::Navigating { page, after });
        }
        if deadline.passed() {
            return Slot::from(watch.timed_out(reply, deadline));
        }
        match watch.check(deadline) {
            Ok(()) => Slot::Open(WatchedCall { watch, reply }),
            Err(error) => Slot::Ended(error),
        }
    }

    /// Fails when nothing can be done with the page at the moment.
    fn check_page(&self, route: &Route, method: &str, deadline: Deadline<'_>) -> Result<(), Error> {
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
        self.check_dialogs(route, method, DialogGrace::None)
    }

    /// Fails when a dialog blocks calls on this route. One shown by the same session does so at once,
    /// one shown by another process after the grace time only.
    fn check_dialogs(&self, route: &Route, method: &str, patience: DialogGrace) -> Result<(), Error> {
        let snapshot = self.view();
        let blocks = |dialog: &&Dialog| {
            let shown_by = dialog.frame_id.as_ref().and_then(|f| snapshot.frame(f.as_str()));
            let same = shown_by.is_none_or(|f| f.session_id.as_ref() == Some(&route.session));
            // Measured from the later of the two: the call has the whole time, however long the dialog has been open.
            let takes_long = |began: Instant| {
                let (open, waited) = (open_for(dialog), began.elapsed());
                let caused = method.starts_with("Input.") && open <= waited;
                open.min(waited) > if caused { INPUT_GRACE } else { DIALOG_GRACE }
            };
            same || matches!(patience, DialogGrace::Since(began) if takes_long(began))
        };
        let dialogs: Vec<String> =
            snapshot.dialogs_of(route.target.as_str()).filter(blocks).map(|d| d.id.to_string()).collect();
        if dialogs.is_empty() {
            return Ok(());
        }
        Err(Error::BlockedByDialog { method: method.to_owned().into(), dialogs })
    }
}

/// How long a dialog has been open.
pub(super) fn open_for(dialog: &Dialog) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    Duration::try_from_secs_f64(now - dialog.opened_at).unwrap_or_default()
}
