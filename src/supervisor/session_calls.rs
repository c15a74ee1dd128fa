//! Typed commands to the session of a frame, one or several at once.

use std::time::Duration;

use serde::Serialize;

use super::error::Error;
use super::handle::Supervisor;
use super::route::{FrameRef, Route, ScriptOf};
use super::value::Done;
use crate::cdp::rt::Command;
use crate::sync::Deadline;

/// Maximum wait for the session in [`Supervisor::post`].
const POST_ROUTE_LIMIT: Duration = Duration::from_millis(100);

impl Supervisor {
    /// Sends a command to the session of a frame, even if other frames share that session. For commands whose
    /// parameters select their target: a frame, an execution context, an object, a node.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn session_call<C: Command>(
        &self,
        frame: &FrameRef,
        command: &C,
        deadline: Deadline<'_>,
    ) -> Result<Done<C::Returns>, Error> {
        let route = self.route(frame, deadline)?;
        self.run(&route, command, deadline)
    }

    /// Sends a command without waiting for its answer. Failures are ignored.
    pub fn post<C: Command>(&self, frame: &FrameRef, command: &C) {
        let Ok(route) = self.route(frame, Deadline::after(POST_ROUTE_LIMIT)) else { return };
        self.liveness.started(&route.session);
        drop(route.connection.session(route.session).send(command));
    }

    /// Sends commands to several frames at once: all are sent before the first answer is awaited. Returns the outcomes
    /// in the order of the calls; a failed one does not affect the others.
    pub fn session_calls<C: Command>(
        &self,
        calls: Vec<(FrameRef, C)>,
        deadline: Deadline<'_>,
    ) -> Vec<Result<Done<C::Returns>, Error>> {
        self.session_calls_beside::<C, C>(calls, Vec::new(), deadline).0
    }

    /// Like [`session_call`](Self::session_call), for a script of our own.
    #[cfg_attr(not(feature = "page"), expect(dead_code, reason = "used by `page` only"))]
    pub(crate) fn own_call<C: Command>(
        &self,
        frame: &FrameRef,
        command: &C,
        deadline: Deadline<'_>,
    ) -> Result<Done<C::Returns>, Error> {
        let route = self.route(frame, deadline)?;
        self.run(&Route { script: ScriptOf::Ours, ..route }, command, deadline)
    }

    /// Like [`session_calls_beside`](Self::session_calls_beside), for scripts of our own.
    #[cfg_attr(not(feature = "page"), expect(dead_code, reason = "used by `page` only"))]
    pub(crate) fn own_calls_beside<A: Command, B: Command>(
        &self,
        calls: Vec<(FrameRef, A)>,
        beside: Vec<(FrameRef, B)>,
        deadline: Deadline<'_>,
    ) -> (Outcomes<A>, Outcomes<B>) {
        self.calls_beside(calls, beside, ScriptOf::Ours, deadline)
    }

    /// Like [`brief_calls`](Self::brief_calls), for one script.
    #[cfg_attr(not(feature = "page"), expect(dead_code, reason = "used by `page` only"))]
    pub(crate) fn brief_call<C: Command>(
        &self,
        frame: &FrameRef,
        command: &C,
        deadline: Deadline<'_>,
    ) -> Result<Done<C::Returns>, Error> {
        let route = self.route(frame, deadline)?;
        self.run(&Route { script: ScriptOf::OursBrief, ..route }, command, deadline)
    }

    /// Like [`session_calls`](Self::session_calls), for short scripts of our own, or ones that wait without blocking
    /// the page. Saves one message if the page answered a moment ago.
    #[cfg_attr(not(feature = "page"), expect(dead_code, reason = "used by `page` only"))]
    pub(crate) fn brief_calls<C: Command>(
        &self,
        calls: Vec<(FrameRef, C)>,
        deadline: Deadline<'_>,
    ) -> Vec<Result<Done<C::Returns>, Error>> {
        self.calls_beside::<C, C>(calls, Vec::new(), ScriptOf::OursBrief, deadline).0
    }

    /// Like [`session_calls`](Self::session_calls), with two types of commands. A session receives its commands in the
    /// given order, those of the first type first.
    pub fn session_calls_beside<A: Command, B: Command>(
        &self,
        calls: Vec<(FrameRef, A)>,
        beside: Vec<(FrameRef, B)>,
        deadline: Deadline<'_>,
    ) -> (Outcomes<A>, Outcomes<B>) {
        self.calls_beside(calls, beside, ScriptOf::Client, deadline)
    }

    fn calls_beside<A: Command, B: Command>(
        &self,
        calls: Vec<(FrameRef, A)>,
        beside: Vec<(FrameRef, B)>,
        script: ScriptOf,
        deadline: Deadline<'_>,
    ) -> (Outcomes<A>, Outcomes<B>) {
        let first = calls.into_iter().map(|(frame, command)| (frame, A::METHOD, Either::A(command)));
        let second = beside.into_iter().map(|(frame, command)| (frame, B::METHOD, Either::B(command)));
        let mut order: Vec<(bool, Result<usize, Error>)> = Vec::new();
        let mut routed = Vec::new();
        for (frame, method, command) in first.chain(second) {
            let is_first = matches!(command, Either::A(_));
            let place = self.route(&frame, deadline).map(|route| {
                routed.push((Route { script, ..route }, method, command));
                routed.len() - 1
            });
            order.push((is_first, place));
        }
        let mut answers: Vec<_> = self.call_all_watched(&routed, deadline).into_iter().map(Some).collect();
        let mut outcomes = (Vec::new(), Vec::new());
        for (is_first, place) in order {
            let raw =
                place.and_then(|index| answers.get_mut(index).and_then(Option::take).unwrap_or(Err(Error::NoPage)));
            if is_first {
                outcomes.0.push(raw.and_then(|raw| Ok(raw.try_map(|raw| raw.decode())?)));
            } else {
                outcomes.1.push(raw.and_then(|raw| Ok(raw.try_map(|raw| raw.decode())?)));
            }
        }
        outcomes
    }
}

/// Outcomes of several commands, in the order of the commands.
pub type Outcomes<C> = Vec<Result<Done<<C as Command>::Returns>, Error>>;

/// One of two command types, for one batch of calls.
#[derive(Serialize)]
#[serde(untagged)]
enum Either<A, B> {
    A(A),
    B(B),
}
