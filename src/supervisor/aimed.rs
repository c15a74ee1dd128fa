//! Typed commands to whatever session runs a frame, one or many at once.

use std::time::Duration;

use super::error::Error;
use super::handle::Supervisor;
use super::route::FrameRef;
use super::value::Done;
use crate::cdp::rt::Command;
use crate::sync::Deadline;

/// What finding the session may take where nobody waits.
const POSTING: Duration = Duration::from_millis(100);

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

    /// Sends a command whose answer nobody needs, and does not wait for it. What cannot be sent is left.
    pub fn post<C: Command>(&self, frame: &FrameRef, command: &C) {
        let Ok(route) = self.route(frame, Deadline::after(POSTING)) else { return };
        drop(route.connection.session(route.session).send(command));
    }

    /// Does it for several frames at once: all commands are under way before the first answer is waited
    /// for. The outcomes are in the order of the calls; one that fails does not end the others.
    pub fn session_calls<C: Command>(
        &self,
        calls: Vec<(FrameRef, C)>,
        deadline: Deadline,
    ) -> Vec<Result<Done<C::Returns>, Error>> {
        let mut outcomes: Vec<Result<usize, Error>> = Vec::with_capacity(calls.len());
        let mut routed = Vec::with_capacity(calls.len());
        for (frame, command) in calls {
            outcomes.push(self.route(&frame, deadline).map(|route| {
                routed.push((route, command));
                routed.len() - 1
            }));
        }
        let mut answers: Vec<_> = self.guarded_all(&routed, C::METHOD, deadline).into_iter().map(Some).collect();
        let answer = |index: usize, answers: &mut Vec<Option<_>>| answers.get_mut(index).and_then(Option::take);
        let finish = |outcome: Result<usize, Error>| {
            let raw = answer(outcome?, &mut answers).unwrap_or(Err(Error::NoPage))?;
            Ok(raw.try_map(|raw| raw.decode())?)
        };
        outcomes.into_iter().map(finish).collect()
    }
}
