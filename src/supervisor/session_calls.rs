//! Typed commands to whatever session runs a frame, one or many at once.

use std::time::Duration;

use serde::Serialize;

use super::error::Error;
use super::handle::Supervisor;
use super::route::{FrameRef, Route};
use super::value::Done;
use crate::cdp::rt::Command;
use crate::sync::Deadline;

/// Longest time to find the session for [`Supervisor::post`].
const POST_ROUTE_LIMIT: Duration = Duration::from_millis(100);

impl Supervisor {
    /// Sends a command to the session that runs a frame, also when other frames share that session. For
    /// commands that are aimed by what is in them: a frame, an execution context, an object, a node.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn session_call<C: Command>(
        &self,
        frame: &FrameRef,
        command: &C,
        deadline: Deadline,
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

    /// Does it for several frames at once: all commands are under way before the first answer is waited
    /// for. The outcomes are in the order of the calls; one that fails does not end the others.
    pub fn session_calls<C: Command>(
        &self,
        calls: Vec<(FrameRef, C)>,
        deadline: Deadline,
    ) -> Vec<Result<Done<C::Returns>, Error>> {
        self.session_calls_beside::<C, C>(calls, Vec::new(), deadline).0
    }

    /// [`session_call`](Self::session_call) for one script as [`brief_calls`](Self::brief_calls) takes several.
    pub(crate) fn brief_call<C: Command>(
        &self,
        frame: &FrameRef,
        command: &C,
        deadline: Deadline,
    ) -> Result<Done<C::Returns>, Error> {
        let route = self.route(frame, deadline)?;
        self.run(&Route { brief: true, ..route }, command, deadline)
    }

    /// The same for scripts of our own that are over in a moment, or wait without holding the page. Such a call costs one
    /// message less where the page answered a moment ago; a script that blocks the page for long is terminated,
    /// whichever client started it.
    pub(crate) fn brief_calls<C: Command>(
        &self,
        calls: Vec<(FrameRef, C)>,
        deadline: Deadline,
    ) -> Vec<Result<Done<C::Returns>, Error>> {
        self.calls_beside::<C, C>(calls, Vec::new(), true, deadline).0
    }

    /// Two kinds of commands at once, as [`session_calls`](Self::session_calls) does one. A session gets its
    /// commands in the order in which they are given, those of the first kind before the others.
    pub fn session_calls_beside<A: Command, B: Command>(
        &self,
        calls: Vec<(FrameRef, A)>,
        beside: Vec<(FrameRef, B)>,
        deadline: Deadline,
    ) -> (Outcomes<A>, Outcomes<B>) {
        self.calls_beside(calls, beside, false, deadline)
    }

    fn calls_beside<A: Command, B: Command>(
        &self,
        calls: Vec<(FrameRef, A)>,
        beside: Vec<(FrameRef, B)>,
        brief: bool,
        deadline: Deadline,
    ) -> (Outcomes<A>, Outcomes<B>) {
        let first = calls.into_iter().map(|(frame, command)| (frame, A::METHOD, Either::A(command)));
        let second = beside.into_iter().map(|(frame, command)| (frame, B::METHOD, Either::B(command)));
        let mut order: Vec<(bool, Result<usize, Error>)> = Vec::new();
        let mut routed = Vec::new();
        for (frame, method, command) in first.chain(second) {
            let is_first = matches!(command, Either::A(_));
            let place = self.route(&frame, deadline).map(|route| {
                routed.push((Route { brief, ..route }, method, command));
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
