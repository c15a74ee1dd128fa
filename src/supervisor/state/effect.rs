//! Effects: what the state machine has its thread do.

use std::path::Path;
use std::sync::Arc;

use super::super::bridge::Fulfil;
use super::super::network_route::{AbortReason, Encoded, Fulfilment, HeaderList};
use super::super::persistent_commands::{Login, PersistentCommand, Throttle};
use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::dom::BackendNodeId;
use crate::cdp::protocol::page::{FrameId, ScriptIdentifier};
use crate::cdp::protocol::target::TargetId;

/// An id of a session; the protocol's `SessionId` without its wrapper.
pub(in crate::supervisor) type SessionKey = Arc<str>;

/// Something to do. Nothing here waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::supervisor) enum Effect {
    /// Send a command; its answer comes back with the tag. Tag 0: the answer does not matter.
    Send { session: Option<SessionKey>, tag: u64, command: Outgoing },
    /// End the waits of calls on this session: a dialog opened in its frame.
    Interrupt { session: SessionKey, dialog: Arc<str> },
    /// Look a name up.
    LookUp { host: Arc<str> },
    /// Listen to these events for a subscriber.
    Follow { number: u64, methods: Arc<[&'static str]> },
    /// Stop listening for a subscriber, who gets what has come.
    Unfollow { number: u64 },
}

/// A script that holds a secret: its `Debug` shows nothing.
#[derive(Clone, PartialEq)]
pub(in crate::supervisor) struct Script(pub(in crate::supervisor) Arc<str>);

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}

/// Answer to an HTTP authentication request.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::supervisor) enum LoginAnswer {
    /// User name and password.
    With(Login),
    /// Nothing: the page shows what the server says to that.
    Refused,
    /// Nothing of ours: what the browser does with a proxy that asks.
    OfProxy,
}

/// Requests that a session's `Fetch` catches.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::supervisor) struct Catch {
    /// Those to the dialog bridge.
    pub(in crate::supervisor) bridge: Option<Arc<str>>,
    /// Those for documents.
    pub(in crate::supervisor) documents: bool,
    /// All of them.
    pub(in crate::supervisor) all: bool,
    /// Those that fit one of these URL patterns: they lead to protected ports.
    pub(in crate::supervisor) patterns: Vec<String>,
    /// All of them, and the questions of servers that ask for a name and password.
    pub(in crate::supervisor) logins: bool,
    /// Those that routes may be for.
    pub(in crate::supervisor) routes: Vec<RoutePattern>,
}

/// Requests that a route may be for.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::supervisor) struct RoutePattern {
    /// As `Fetch` takes it.
    pub(in crate::supervisor) url: String,
    /// In lower case.
    pub(in crate::supervisor) resource_type: Option<String>,
}

impl Catch {
    /// Whether there is nothing to catch.
    pub(in crate::supervisor) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The commands that the state machine sends.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::supervisor) enum Outgoing {
    /// `Target.setAutoAttach` on the browser: pages only, or workers that they share too.
    AttachPages { shared_workers: bool },
    /// `Target.getTargetInfo`: no event reports a new title.
    Info { target: TargetId },
    /// `Target.setAutoAttach` on a session: everything that belongs to it.
    AttachChildren,
    /// `Target.detachFromTarget`; also resumes a target that waits for us.
    Detach { session: SessionKey },
    /// `Runtime.runIfWaitingForDebugger`.
    Resume,
    /// `Network.enable`.
    EnableNetwork,
    /// `Network.enable` for what is in effect in the target itself. Its events are of no use.
    EnableConditions,
    /// `Network.disable`.
    DisableNetwork,
    /// `Browser.setDownloadBehavior`: into a folder, with events.
    CatchDownloads { context: Option<BrowserContextId>, folder: Arc<Path> },
    /// `Browser.setDownloadBehavior`: as it was.
    LeaveDownloads { context: Option<BrowserContextId> },
    /// `Page.setInterceptFileChooserDialog`.
    CatchChoosers { on: bool, cancel: bool },
    /// `DOM.setFileInputFiles`.
    SetFiles { node: BackendNodeId, files: Arc<[String]> },
    /// Whatever holds for a page.
    PersistentCommand(PersistentCommand),
    /// `Fetch.continueWithAuth`.
    AnswerLogin { request: Arc<str>, answer: LoginAnswer },
    /// `Browser.setPermission` for the location.
    AllowLocation { origin: String, context: Option<BrowserContextId>, allowed: bool },
    /// `Page.enable`.
    EnablePage,
    /// `Runtime.enable`.
    EnableRuntime,
    /// `Page.getFrameTree`.
    FrameTree,
    /// `Page.handleJavaScriptDialog`.
    AnswerDialog { accept: bool, text: Option<String> },
    /// `Page.setBypassCSP`.
    BypassCsp,
    /// `Fetch.enable`.
    CatchCalls(Catch),
    /// `Network.emulateNetworkConditionsByRule`: requests that fit one of these URL patterns fail; the others are slowed
    /// down.
    CutOff { patterns: Arc<[String]>, throttle: Option<Throttle> },
    /// `Network.emulateNetworkConditions`: requests are slowed down, or no longer.
    Throttle(Option<Throttle>),
    /// `Page.setPrerenderingAllowed`.
    ForbidPrerendering,
    /// `Fetch.disable`: what is caught goes on, into nothing.
    ReleaseCalls,
    /// `Page.addScriptToEvaluateOnNewDocument`, the present document included.
    AddScript { source: Script },
    /// `Page.removeScriptToEvaluateOnNewDocument`.
    RemoveScript { script: ScriptIdentifier },
    /// `Fetch.fulfillRequest` with the answer to a call.
    AnswerCall { request: Arc<str>, answer: Fulfil },
    /// `Fetch.continueRequest`.
    LetPass { request: Arc<str> },
    /// `Fetch.continueRequest` with these headers in place of all its own.
    LetPassWith { request: Arc<str>, headers: HeaderList },
    /// `Fetch.fulfillRequest` with the answer of a route, and more headers.
    FulfilRequest { request: Arc<str>, answer: Arc<Fulfilment>, more: HeaderList, body: Encoded },
    /// `Fetch.failRequest`, as a route says.
    FailRequest { request: Arc<str>, reason: AbortReason },
    /// `Fetch.failRequest`.
    RefuseCall { request: Arc<str> },
    /// `Fetch.failRequest` for a document or, not as of the main frame, for another request.
    RefuseDocument { request: Arc<str>, main: bool },
    /// `Target.createTarget`.
    CreatePage { url: String, context: Option<BrowserContextId>, behind: bool },
    /// `Page.navigate` to `about:blank`, of the session's own frame or another one of it.
    Blank { frame: Option<FrameId> },
    /// `Page.navigate`.
    Navigate { url: String },
    /// `Page.stopLoading`.
    StopLoading,
    /// `Runtime.terminateExecution`.
    EndScript,
    /// `Target.closeTarget`.
    ClosePage { target: TargetId },
}
