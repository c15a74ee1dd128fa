//! The isolated world in each frame: created on demand.
//!
//! A world belongs to one document. It holds a random token, and every call names the token it expects, so that nothing
//! runs in another document than the intended one: other processes reuse execution context ids under the same session.
//! `Page.createIsolatedWorld` returns the existing world while the document stays.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::Tab;
use super::error::Error;
use super::script;
use crate::cdp;
use crate::cdp::protocol::dom::{BackendNodeId, ResolveNode};
use crate::cdp::protocol::page::{CreateIsolatedWorld, FrameId};
use crate::cdp::protocol::runtime::{
    CallArgument, CallFunctionOn, CallFunctionOnReturns, ExecutionContextId, GetProperties, PropertyDescriptor,
    ReleaseObject, RemoteObjectId,
};
use crate::supervisor::{self, Done, FrameRef, View};
use crate::sync::Deadline;

/// The name of the isolated worlds.
const WORLD_NAME: &str = "cdpilot";
/// How often a call that takes any document is repeated because the document was replaced.
const MAX_TRIES: u32 = 4;

/// One document of one frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Doc(pub(super) Arc<str>);

impl fmt::Display for Doc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One DOM node of one document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Node {
    /// Id of the frame that shows the document.
    pub frame: FrameId,
    /// The document that contains the node; another document makes the node stale.
    pub doc: Doc,
    /// The number of the node in that document.
    pub id: u32,
}

#[derive(Debug, Clone)]
pub(super) struct World {
    session: Option<Arc<str>>,
    /// The loader id of its document, if it was known.
    document: Option<Arc<str>>,
    context: ExecutionContextId,
    pub(super) doc: Doc,
}

/// The worlds of a tab. The lock is held for map operations only.
#[derive(Debug, Default)]
pub(super) struct Worlds(Mutex<HashMap<FrameId, World>>);

impl Worlds {
    fn forget(&self, frame: &FrameId, doc: &Doc) {
        let mut worlds = self.0.lock();
        if worlds.get(frame).is_some_and(|world| world.doc == *doc) {
            worlds.remove(frame);
        }
    }

    /// Forgets the worlds of frames that no longer exist.
    pub(super) fn keep(&self, frames: &[FrameId]) {
        self.0.lock().retain(|frame, _| frames.contains(frame));
    }
}

/// The answer of [`script::CALL`].
#[derive(serde::Deserialize)]
struct CallReply<'a> {
    #[serde(default)]
    g: u8,
    #[serde(borrow)]
    v: Option<&'a RawValue>,
    e: Option<String>,
}

impl Tab {
    /// The present document of a frame.
    ///
    /// # Errors
    /// [`Error::Supervisor`] when the frame does not answer.
    pub fn document(&self, frame: &FrameId, deadline: Deadline<'_>) -> Result<Doc, Error> {
        Ok(self.world(frame, deadline)?.doc)
    }

    /// Calls a function of the page script in a frame, whatever document it shows.
    pub(super) fn call<T: DeserializeOwned>(
        &self,
        frame: &FrameId,
        name: &str,
        args: &impl Serialize,
        deadline: Deadline<'_>,
    ) -> Result<(Doc, Done<T>), Error> {
        let args = raw(args, frame)?;
        let mut tries = 0;
        loop {
            tries += 1;
            let world = self.world(frame, deadline)?;
            match self.call_world(frame, &world, name, &args, deadline) {
                Err(Error::DocumentGone { .. }) if tries < MAX_TRIES => {}
                outcome => return Ok((world.doc, outcome?)),
            }
        }
    }

    /// Calls a function of the page script in one document.
    ///
    /// # Errors
    /// [`Error::DocumentGone`] when the frame shows another one.
    pub(super) fn call_in<T: DeserializeOwned>(
        &self,
        frame: &FrameId,
        doc: &Doc,
        name: &str,
        args: &impl Serialize,
        deadline: Deadline<'_>,
    ) -> Result<Done<T>, Error> {
        let (world, call) = self.call_of_doc(frame, doc, name, args, deadline)?;
        let answer = self.send(frame, &call, deadline);
        self.reply(frame, &world, answer)
    }

    /// As [`call_in`](Self::call_in), for a function that returns quickly.
    pub(super) fn call_in_brief<T: DeserializeOwned>(
        &self,
        frame: &FrameId,
        doc: &Doc,
        name: &str,
        args: &impl Serialize,
        deadline: Deadline<'_>,
    ) -> Result<Done<T>, Error> {
        let (world, call) = self.call_of_doc(frame, doc, name, args, deadline)?;
        let answer = self.supervisor.brief_call(&FrameRef::Id(frame.clone()), &call, deadline);
        self.reply(frame, &world, answer)
    }

    /// The call of a function in one document, and its world.
    fn call_of_doc(
        &self,
        frame: &FrameId,
        doc: &Doc,
        name: &str,
        args: &impl Serialize,
        deadline: Deadline<'_>,
    ) -> Result<(World, CallFunctionOn), Error> {
        let args = raw(args, frame)?;
        let world = self.world_of(frame, doc, deadline)?;
        let call = call_of(&world, name, &args);
        Ok((world, call))
    }

    /// Sends a call into the document of a frame without waiting for the answer. Returns `false`, and sends nothing,
    /// when the world of that document is not known.
    pub(super) fn post_to(&self, frame: &FrameId, name: &str, args: &impl Serialize) -> bool {
        let (Some(world), Ok(args)) = (self.known(frame), raw(args, frame)) else { return false };
        let document = world.document.clone().filter(|loader| !loader.is_empty());
        if document.is_none() || document != self.supervisor.view().document_of(frame) {
            return false; // the world is gone with its document
        }
        self.supervisor.post(&FrameRef::Id(frame.clone()), &call_of(&world, name, &args));
        true
    }

    /// Calls a function of the page script in several frames at once, whatever documents they show. The results are in
    /// the order of the frames.
    pub(super) fn call_all<T: DeserializeOwned, A: Serialize>(
        &self,
        frames: &[FrameId],
        name: &str,
        args: impl Fn(&FrameId) -> A,
        deadline: Deadline<'_>,
    ) -> Vec<Called<T>> {
        self.call_all_beside::<T, A, CallFunctionOn>(frames, name, args, Vec::new(), deadline).0
    }

    /// As [`call_all`](Self::call_all), for functions that return quickly or wait without blocking the page.
    pub(super) fn call_all_brief<T: DeserializeOwned, A: Serialize>(
        &self,
        frames: &[FrameId],
        name: &str,
        args: impl Fn(&FrameId) -> A,
        deadline: Deadline<'_>,
    ) -> Vec<Called<T>> {
        let send = |calls| (self.supervisor.brief_calls(calls, deadline), Vec::new());
        self.call_each::<T, A, CallFunctionOn>(frames, name, args, send, deadline).0
    }

    /// As [`call_all_brief`](Self::call_all_brief), followed by protocol commands on the same sessions.
    pub(super) fn call_all_beside<T: DeserializeOwned, A: Serialize, C: cdp::rt::Command>(
        &self,
        frames: &[FrameId],
        name: &str,
        args: impl Fn(&FrameId) -> A,
        beside: Vec<(FrameRef, C)>,
        deadline: Deadline<'_>,
    ) -> (Vec<Called<T>>, supervisor::Outcomes<C>) {
        let send = |calls| self.supervisor.own_calls_beside(calls, beside, deadline);
        self.call_each::<T, A, C>(frames, name, args, send, deadline)
    }

    fn call_each<T: DeserializeOwned, A: Serialize, C: cdp::rt::Command>(
        &self,
        frames: &[FrameId],
        name: &str,
        args: impl Fn(&FrameId) -> A,
        send: impl FnOnce(
            Vec<(FrameRef, CallFunctionOn)>,
        ) -> (supervisor::Outcomes<CallFunctionOn>, supervisor::Outcomes<C>),
        deadline: Deadline<'_>,
    ) -> (Vec<Called<T>>, supervisor::Outcomes<C>) {
        self.make_worlds(frames, deadline);
        let mut outcomes: Vec<Option<Called<T>>> = Vec::new();
        let mut calls = Vec::new();
        for frame in frames {
            let world = self.known(frame);
            match (world, raw(&args(frame), frame)) {
                (Some(world), Ok(args)) => {
                    calls.push((FrameRef::Id(frame.clone()), call_of(&world, name, &args)));
                    outcomes.push(None);
                }
                // A single call reports the reason.
                (None, Ok(_)) => outcomes.push(Some(self.call(frame, name, &args(frame), deadline))),
                (_, Err(error)) => outcomes.push(Some(Err(error))),
            }
        }
        let (answers, beside) = send(calls);
        let mut answers = answers.into_iter();
        let finish = |(frame, outcome): (&FrameId, Option<_>)| {
            if let Some(outcome) = outcome {
                return outcome;
            }
            let Some((answer, world)) = answers.next().zip(self.known(frame)) else {
                return self.call(frame, name, &args(frame), deadline);
            };
            match self.reply(frame, &world, answer) {
                // It navigated meanwhile.
                Err(Error::DocumentGone { .. }) => self.call(frame, name, &args(frame), deadline),
                outcome => Ok((world.doc, outcome?)),
            }
        };
        (frames.iter().zip(outcomes).map(finish).collect(), beside)
    }

    /// A handle of a node for protocol commands, in the isolated world. The caller must [release](Self::release) it.
    pub(super) fn object(&self, node: &Node, deadline: Deadline<'_>) -> Result<RemoteObjectId, Error> {
        let world = self.world_of(&node.frame, &node.doc, deadline)?;
        let mut call = CallFunctionOn::new(script::NODE);
        call.execution_context_id = Some(world.context);
        call.arguments = Some(vec![argument(&node.doc.0, &node.frame)?, argument(&node.id, &node.frame)?]);
        call.silent = Some(true);
        let returned = self.send(&node.frame, &call, deadline).map_err(|error| gone(error, &node.frame))?;
        returned.result.result.object_id.ok_or_else(|| Error::DocumentGone { frame: node.frame.to_string() })
    }

    /// Handles of several nodes of one document, and one of the list that holds them. Nodes that no longer exist are
    /// left out. The caller must [release](Self::release) all of them.
    pub(super) fn objects(
        &self,
        frame: &FrameId,
        doc: &Doc,
        ids: &[u32],
        deadline: Deadline<'_>,
    ) -> Result<(RemoteObjectId, Vec<(u32, RemoteObjectId)>), Error> {
        let world = self.world_of(frame, doc, deadline)?;
        let mut call = CallFunctionOn::new(script::NODES);
        call.execution_context_id = Some(world.context);
        call.arguments = Some(vec![argument(&doc.0, frame)?, argument(&ids, frame)?]);
        call.silent = Some(true);
        let list = self.send(frame, &call, deadline).map_err(|error| gone(error, frame))?;
        let list = list.result.result.object_id.ok_or_else(|| Error::DocumentGone { frame: frame.to_string() })?;
        let mut members = GetProperties::new(list.clone());
        members.own_properties = Some(true);
        let reply = self.send(frame, &members, deadline).map_err(|error| gone(error, frame))?;
        let member = |member: PropertyDescriptor| {
            let index: usize = member.name.parse().ok()?;
            Some((*ids.get(index)?, member.value?.object_id?))
        };
        Ok((list, reply.result.result.into_iter().filter_map(member).collect()))
    }

    /// Releases a handle without waiting for the answer.
    pub(super) fn release(&self, frame: &FrameId, object: RemoteObjectId) {
        self.supervisor.post(&FrameRef::Id(frame.clone()), &ReleaseObject::new(object));
    }

    /// The nodes with some backend ids in the present document of a frame. Ids of other documents are left out.
    pub(super) fn numbers(
        &self,
        frame: &FrameId,
        nodes: &[BackendNodeId],
        deadline: Deadline<'_>,
    ) -> Result<Vec<Option<u32>>, Error> {
        let world = self.world(frame, deadline)?;
        let at = || FrameRef::Id(frame.clone());
        let resolve = nodes.iter().map(|id| {
            let mut resolve = ResolveNode::new();
            resolve.backend_node_id = Some(*id);
            resolve.execution_context_id = Some(world.context);
            (at(), resolve)
        });
        let objects: Vec<Option<RemoteObjectId>> = self
            .supervisor
            .session_calls(resolve.collect(), deadline)
            .into_iter()
            .map(|outcome| outcome.ok().and_then(|done| done.result.object.object_id))
            .collect();
        let number = |object: &RemoteObjectId| {
            let mut call = CallFunctionOn::new(script::NUMBER);
            call.object_id = Some(object.clone());
            call.return_by_value = Some(true);
            (at(), call)
        };
        let calls = objects.iter().flatten().map(number).collect();
        let numbers = self.supervisor.own_calls_beside::<CallFunctionOn, CallFunctionOn>(calls, Vec::new(), deadline).0;
        let mut numbers = numbers.into_iter();
        let mut found = Vec::with_capacity(objects.len());
        for object in objects {
            let Some(object) = object else {
                found.push(None);
                continue;
            };
            let reply = numbers.next().and_then(Result::ok);
            let value = reply.as_ref().and_then(|done| done.result.result.value.as_deref());
            found.push(value.and_then(|raw| raw.get().parse().ok()).filter(|number| *number > 0));
            self.release(frame, object);
        }
        Ok(found)
    }

    /// The execution context of the isolated world in a frame.
    pub(super) fn context(&self, frame: &FrameId, deadline: Deadline<'_>) -> Option<ExecutionContextId> {
        self.world(frame, deadline).ok().map(|world| world.context)
    }

    fn known(&self, frame: &FrameId) -> Option<World> {
        let session = self.supervisor.view().frame(frame.as_str()).and_then(|frame| frame.session_id.clone());
        let worlds = self.worlds.0.lock();
        worlds.get(frame).filter(|world| world.session.is_some() && world.session == session).cloned()
    }

    /// The world of a frame, created if it does not exist.
    fn world(&self, frame: &FrameId, deadline: Deadline<'_>) -> Result<World, Error> {
        if let Some(world) = self.known(frame) {
            return Ok(world);
        }
        let mut tries = 0;
        loop {
            tries += 1;
            let now = self.supervisor.view();
            let made = self.supervisor.session_call(&FrameRef::Id(frame.clone()), &make(frame), deadline)?;
            let context = made.result.execution_context_id;
            match self.send(frame, &install(context), deadline) {
                Ok(returned) => return self.installed(frame, &now, context, returned.result.into()),
                Err(error) if tries < MAX_TRIES && is_gone(&error) => {}
                Err(error) => return Err(gone(error, frame)),
            }
        }
    }

    fn world_of(&self, frame: &FrameId, doc: &Doc, deadline: Deadline<'_>) -> Result<World, Error> {
        let world = self.world(frame, deadline)?;
        if world.doc == *doc { Ok(world) } else { Err(Error::DocumentGone { frame: frame.to_string() }) }
    }

    /// Creates the missing worlds, all at once. Failures are ignored.
    fn make_worlds(&self, frames: &[FrameId], deadline: Deadline<'_>) {
        let now = self.supervisor.view();
        let missing: Vec<&FrameId> = frames.iter().filter(|frame| self.known(frame).is_none()).collect();
        if missing.len() < 2 {
            return;
        }
        let makes = missing.iter().map(|frame| (FrameRef::Id((*frame).clone()), make(frame))).collect();
        let made = self.supervisor.session_calls(makes, deadline).into_iter();
        let made: Vec<(&FrameId, ExecutionContextId)> = missing
            .into_iter()
            .zip(made)
            .filter_map(|(frame, made)| Some((frame, made.ok()?.result.execution_context_id)))
            .collect();
        let installs =
            made.iter().map(|(frame, context)| (FrameRef::Id((*frame).clone()), install(*context))).collect();
        for ((frame, context), done) in made.iter().zip(self.supervisor.session_calls(installs, deadline)) {
            if let Ok(done) = done {
                let _ = self.installed(frame, &now, *context, done.result.into());
            }
        }
    }

    fn installed(
        &self,
        frame: &FrameId,
        now: &View,
        context: ExecutionContextId,
        reply: ScriptResult,
    ) -> Result<World, Error> {
        let internal = |problem: String| Error::Internal { frame: frame.to_string(), problem };
        if let Some(problem) = reply.problem {
            return Err(internal(problem));
        }
        let token: Option<String> = reply.value.as_deref().and_then(|raw| serde_json::from_str(raw.get()).ok());
        let doc = Doc(token.ok_or_else(|| internal("no token".to_owned()))?.into());
        let session = now.frame(frame.as_str()).and_then(|frame| frame.session_id.clone());
        let world = World { session, document: now.document_of(frame), context, doc };
        self.worlds.0.lock().insert(frame.clone(), world.clone());
        Ok(world)
    }

    fn call_world<T: DeserializeOwned>(
        &self,
        frame: &FrameId,
        world: &World,
        name: &str,
        args: &RawValue,
        deadline: Deadline<'_>,
    ) -> Result<Done<T>, Error> {
        let answer = self.send(frame, &call_of(world, name, args), deadline);
        self.reply(frame, world, answer)
    }

    fn reply<T: DeserializeOwned>(
        &self,
        frame: &FrameId,
        world: &World,
        answer: Result<Done<CallFunctionOnReturns>, supervisor::Error>,
    ) -> Result<Done<T>, Error> {
        let answer = answer.map_err(|error| {
            if is_gone(&error) {
                self.worlds.forget(frame, &world.doc);
            }
            gone(error, frame)
        })?;
        let rescued = answer.rescued;
        let internal = |problem: String| Error::Internal { frame: frame.to_string(), problem };
        let reply = ScriptResult::from(answer.result);
        let Some(value) = reply.value else {
            return Err(internal(reply.problem.unwrap_or_else(|| "no value".to_owned())));
        };
        let text: String = serde_json::from_str(value.get()).map_err(|error| internal(error.to_string()))?;
        let reply: CallReply<'_> = serde_json::from_str(&text).map_err(|error| internal(error.to_string()))?;
        if reply.g == 1 {
            self.worlds.forget(frame, &world.doc);
            return Err(Error::DocumentGone { frame: frame.to_string() });
        }
        if let Some(problem) = reply.e {
            return Err(internal(problem));
        }
        let result = reply.v.map_or("null", RawValue::get);
        let result = serde_json::from_str(result).map_err(|error| internal(error.to_string()))?;
        Ok(Done { result, rescued })
    }

    fn send<C: cdp::rt::Command>(
        &self,
        frame: &FrameId,
        command: &C,
        deadline: Deadline<'_>,
    ) -> Result<Done<C::Returns>, supervisor::Error> {
        self.supervisor.own_call(&FrameRef::Id(frame.clone()), command, deadline)
    }
}

/// The result of a call into a frame, and the document in which it ran.
pub(super) type Called<T> = Result<(Doc, Done<T>), Error>;

/// The result of a script.
struct ScriptResult {
    value: Option<Box<RawValue>>,
    problem: Option<String>,
}

impl From<CallFunctionOnReturns> for ScriptResult {
    fn from(returned: CallFunctionOnReturns) -> Self {
        let problem = returned.exception_details.map(|details| {
            let thrown = details.exception.and_then(|thrown| thrown.description);
            thrown.unwrap_or(details.text)
        });
        Self { value: returned.result.value, problem }
    }
}

fn make(frame: &FrameId) -> CreateIsolatedWorld {
    let mut make = CreateIsolatedWorld::new(frame.clone());
    make.world_name = Some(WORLD_NAME.to_owned());
    make
}

/// The token is passed as an argument: V8 need not compile a text that it has seen before.
fn install(context: ExecutionContextId) -> CallFunctionOn {
    let token = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
    let mut install = CallFunctionOn::new(script::SOURCE);
    install.execution_context_id = Some(context);
    install.arguments = Some(vec![text(&token)]);
    install.return_by_value = Some(true);
    install.silent = Some(true);
    install
}

fn text(text: &str) -> CallArgument {
    CallArgument { value: serde_json::value::to_raw_value(text).ok(), ..CallArgument::default() }
}

fn call_of(world: &World, name: &str, args: &RawValue) -> CallFunctionOn {
    let given = CallArgument { value: Some(args.to_owned()), ..CallArgument::default() };
    let mut call = CallFunctionOn::new(script::CALL);
    call.execution_context_id = Some(world.context);
    call.arguments = Some(vec![text(&world.doc.0), text(name), given]);
    call.await_promise = Some(true);
    call.return_by_value = Some(true);
    call.silent = Some(true);
    call
}

fn raw(args: &impl Serialize, frame: &FrameId) -> Result<Box<RawValue>, Error> {
    let problem = |error: serde_json::Error| Error::Internal { frame: frame.to_string(), problem: error.to_string() };
    serde_json::value::to_raw_value(args).map_err(problem)
}

fn argument(value: &impl Serialize, frame: &FrameId) -> Result<CallArgument, Error> {
    Ok(CallArgument { value: Some(raw(value, frame)?), ..CallArgument::default() })
}

/// Whether the execution context, or the object in it, is gone, by Chromium's messages.
fn is_gone(error: &supervisor::Error) -> bool {
    let supervisor::Error::Cdp(cdp::Error::Protocol { message, .. }) = error else { return false };
    [
        "Cannot find context",
        "uniqueContextId not found",
        "Execution context was destroyed",
        "Could not find object",
        "Inspected target navigated",
    ]
    .iter()
    .any(|text| message.contains(text))
}

/// The error of a call into a frame: [`Error::DocumentGone`] where Chromium's message says that.
pub(super) fn gone(error: supervisor::Error, frame: &FrameId) -> Error {
    if is_gone(&error) { Error::DocumentGone { frame: frame.to_string() } } else { error.into() }
}
