//! Runs commands and writes their result lines.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::failure::{Exit, Failure};
use super::super::settings::Settings;
use super::command::{Action, Command, HELP, InvalidLine, Request};
use super::page;
use crate::code::Code;
use crate::page::Tabs;
use crate::server::{LocalApi, LocalRequest};
use crate::supervisor::{
    self, ArmedAnswer, Dialog, DialogAnswer, FrameRef, NavigationEntry, PageView, Supervisor, View,
};
use crate::sync::Deadline;

/// Default and maximum time limit for commands to a page.
const PAGE_TIME: Duration = Duration::from_secs(20);
const MAX_TIME: Duration = Duration::from_secs(120);
/// Time limit for closing a dialog.
const DIALOG_TIME: Duration = Duration::from_secs(10);
/// Default and maximum lifetime of an armed answer.
const ARM_TIME: Duration = Duration::from_secs(120);

/// The result line of a command, or the answer to a request.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Answer {
    /// Of a word.
    Result {
        #[serde(rename = "type")]
        kind: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<Value>,
        command: String,
        ok: bool,
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        #[serde(flatten)]
        rest: Map<String, Value>,
    },
    /// Of a request of the HTTP API.
    Answer {
        #[serde(rename = "type")]
        kind: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<Value>,
        status: u16,
        body: Map<String, Value>,
    },
}

impl Answer {
    fn result(id: Option<Value>, command: String, result: Result<Map<String, Value>, Failure>) -> Self {
        let (failure, rest) = match result {
            Ok(rest) => (None, rest),
            Err(failure) => (Some(failure), Map::new()),
        };
        Self::Result { kind: "result", id, command, ok: failure.is_none(), failure, rest }
    }

    pub(super) fn misread(line: InvalidLine) -> Self {
        if line.is_request {
            let body = object(json!({ "ok": false, "error": line.problem, "code": Code::BadRequest.as_str() }));
            return Self::Answer { kind: "answer", id: line.id, status: 400, body };
        }
        Self::result(line.id, line.command, Err(Failure::usage(line.problem)))
    }
}

/// Context of commands.
#[derive(Clone)]
pub(super) struct Context {
    pub(super) tabs: Tabs,
    pub(super) settings: Settings,
    /// The routes of the HTTP API for this browser.
    pub(super) api: Arc<LocalApi>,
}

/// Runs a command.
pub(super) fn carry_out(asked: Request, context: &Context) -> Answer {
    let supervisor: &Supervisor = context.tabs.supervisor();
    let before = supervisor.view();
    let act = Act { context, supervisor, timeout: asked.timeout_ms.map(Duration::from_millis) };
    let command = asked.command.name().to_owned();
    if let Command::Api { request, .. } = &asked.command {
        let (status, body) = context.api.answer(request);
        return Answer::Answer { kind: "answer", id: asked.id, status, body };
    }
    let mut answer = Answer::result(asked.id, command, act.run(asked.command));
    // A dialog that opened during the command was most likely caused by it: that is a success.
    if let Answer::Result { ok, failure, rest, .. } = &mut answer
        && failure.as_ref().is_some_and(|failure| failure.exit == Exit::Dialog)
    {
        let now = supervisor.view();
        *rest = object(json!({ "blockedByDialog": true, "pending_dialogs": &*now.dialogs }));
        if opened_since(&before, &now) {
            (*ok, *failure) = (true, None);
        }
    }
    answer
}

fn opened_since(before: &View, now: &View) -> bool {
    let known = |dialog: &Dialog| before.dialogs.iter().any(|old| old.id == dialog.id);
    now.dialogs.iter().any(|dialog| !known(dialog))
}

struct Act<'a> {
    context: &'a Context,
    supervisor: &'a Supervisor,
    timeout: Option<Duration>,
}

impl Act<'_> {
    fn deadline(&self, usual: Duration) -> Deadline<'static> {
        Deadline::after(self.timeout.unwrap_or_else(|| self.context.settings.timeout(usual)).min(MAX_TIME))
    }

    fn run(&self, command: Command) -> Result<Map<String, Value>, Failure> {
        let supervisor = self.supervisor;
        Ok(match command {
            Command::Accept { dialog, text } => self.respond(dialog, DialogAnswer::Accept(text))?,
            Command::Dismiss { dialog } => self.respond(dialog, DialogAnswer::Dismiss)?,
            Command::Arm { action, text, when, times } => {
                let answer = match action {
                    Action::Accept => DialogAnswer::Accept(text),
                    Action::Dismiss => DialogAnswer::Dismiss,
                };
                let time = self.timeout.unwrap_or(ARM_TIME).min(ARM_TIME);
                supervisor.arm_when(ArmedAnswer::new(answer).when(when).times(times.unwrap_or(1)).within(time))?;
                object(json!({ "armedForMs": u64::try_from(time.as_millis()).unwrap_or(u64::MAX) }))
            }
            Command::Disarm {} => {
                supervisor.disarm()?;
                Map::new()
            }
            Command::Policy { policy, rules } => {
                supervisor.set_policy(policy, rules)?;
                object(json!({ "policy": policy }))
            }
            Command::Reload { target } => {
                let page = self.page(target.as_deref())?;
                let done = supervisor.reload(&page.top, self.deadline(PAGE_TIME))?;
                rescued(json!({ "targetId": page.id }), done.rescued)
            }
            Command::Revive { target } => {
                let page = self.page(target.as_deref())?;
                supervisor.revive(&page.top, self.deadline(PAGE_TIME))?;
                object(json!({ "targetId": page.id }))
            }
            Command::History { target } => {
                let page = self.page(target.as_deref())?;
                let history = supervisor.history(&page.top, self.deadline(PAGE_TIME))?;
                let entry = |e: &NavigationEntry| json!({ "url": e.url, "title": e.title });
                let entries: Vec<_> = history.entries.iter().map(entry).collect();
                object(json!({ "targetId": page.id, "entries": entries, "current": history.current }))
            }
            Command::Eval { frame, script } => {
                let frame = self.frame(&frame);
                let got = supervisor.evaluate(&frame, &script, self.deadline(PAGE_TIME))?;
                let mut rest = rescued(json!({ "result": got.value, "resultType": got.kind }), got.rescued);
                if got.described {
                    rest.insert("described".to_owned(), true.into());
                }
                rest
            }
            Command::Navigate { url, target } => {
                let page = self.page(target.as_deref())?;
                let went = supervisor.navigate(&page.top, &url, self.deadline(PAGE_TIME));
                let went = went.map_err(|error| not_navigated(error, &url))?;
                rescued(json!({ "targetId": page.id, "frameId": went.frame_id.as_str(), "url": url }), went.rescued)
            }
            Command::Open { url } => {
                let target = supervisor.open_page(&url, None, self.deadline(PAGE_TIME))?;
                object(json!({ "targetId": target.as_str(), "url": url }))
            }
            Command::Close { target } => {
                let page = self.page(target.as_deref())?;
                supervisor.close_page(&page.id.as_str().into(), self.deadline(PAGE_TIME))?;
                object(json!({ "targetId": page.id }))
            }
            Command::Snapshot {} => object(snapshot(&supervisor.view())),
            Command::Frames { target } => {
                let page = self.page(target.as_deref())?;
                let tree = supervisor.view().full_frame_tree(&page.id);
                object(json!({ "targetId": page.id, "frame_tree": tree }))
            }
            Command::Help {} => {
                let commands: Vec<_> = HELP
                    .iter()
                    .chain(&page::HELP)
                    .map(|(usage, what)| json!({ "usage": usage, "what": what }))
                    .collect();
                let request = r#"{"POST": "/act", "body": {"kind": "click", "ref": "e12"}, "id": 7}"#;
                let json = r#"{"cmd": "eval", "frame": "top", "script": "1 + 1", "id": 7, "timeoutMs": 5000}"#;
                object(json!({ "commands": commands, "json": json, "request": request }))
            }
            Command::Quit {} => Map::new(),
            Command::OnTab { command, target } => {
                let page = self.page(target.as_deref())?;
                let request = command.request(&page.id, self.millis()).map_err(Failure::usage)?;
                self.answer(&request)?
            }
            Command::Downloads { target } => {
                let page = self.page(target.as_deref())?;
                let tab = self.context.tabs.tab(&page.id.as_str().into())?;
                object(json!({ "downloads": tab.downloads() }))
            }
            Command::Api { request, .. } => self.answer(&request)?,
        })
    }

    /// The timeout as the HTTP API takes it.
    fn millis(&self) -> Option<u64> {
        self.timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    /// The fields of an answer of the HTTP API, for a result line. In a failure, words replace routes.
    fn answer(&self, request: &LocalRequest) -> Result<Map<String, Value>, Failure> {
        let (_, mut rest) = self.context.api.answer(request);
        if rest.remove("ok") == Some(Value::Bool(true)) {
            rest.remove("type"); // of a screenshot; the ending of its path says the same
            return Ok(rest);
        }
        let text = |name: &str| rest.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let error = text("error").replace("with POST /hooks/dialog first", "with `accept` or `dismiss` first");
        let mut failure = Failure::of_text(text("code"), error);
        if failure.code == Code::BlockedByDialog.as_str() {
            failure.exit = Exit::Dialog;
        } else {
            failure.details = rest.remove("details");
        }
        Err(failure)
    }

    fn respond(&self, dialog: Option<String>, answer: DialogAnswer) -> Result<Map<String, Value>, Failure> {
        let closed = self.supervisor.respond(dialog.as_deref(), answer, self.deadline(DIALOG_TIME))?;
        Ok(object(json!({ "dialog": closed })))
    }

    /// Resolves `top`, a frame id, a unique prefix of one, or a page's target id.
    fn frame(&self, text: &str) -> FrameRef {
        let now = self.supervisor.view();
        if text == "top" {
            return FrameRef::Top;
        }
        if now.frame(text).is_none() {
            if let Some(page) = now.page(text) {
                return FrameRef::TopOf(page.target_id.clone());
            }
            if let Some(id) = only(now.frames.iter().map(|f| f.frame_id.as_str()), text) {
                return FrameRef::Id(id.into());
            }
        }
        FrameRef::Id(text.into())
    }

    /// Resolves a target id or a unique prefix of one; by default the newest page.
    fn page(&self, text: Option<&str>) -> Result<PageTarget, Failure> {
        let now = self.supervisor.view();
        let id = match text {
            None => now.pages.last().map(|page| page.target_id.as_str()),
            Some(text) if now.page(text).is_some() => Some(text),
            Some(text) => only(now.pages.iter().map(|page| page.target_id.as_str()), text),
        };
        let missing = || match text {
            None => Failure::new(Code::TabNotFound, "no open page; open one with `open URL`"),
            Some(text) => Failure::new(Code::TabNotFound, format!("no page {text:?}; `snapshot` lists the pages")),
        };
        id.map(|id| PageTarget { id: id.to_owned(), top: FrameRef::TopOf(id.into()) }).ok_or_else(missing)
    }
}

struct PageTarget {
    id: String,
    top: FrameRef,
}

/// The failure of a navigation: the browser's message about an invalid URL does not show it.
fn not_navigated(error: supervisor::Error, url: &str) -> Failure {
    let is_invalid = error.is_refusal() && error.to_string().contains("Cannot navigate to invalid URL");
    let failure = Failure::from(error);
    if !is_invalid {
        return failure;
    }
    let url: String = url.chars().take(100).collect();
    Failure { error: format!("{url:?} is not a URL; give one such as https://example.com"), ..failure }
}

/// The only id with this prefix.
fn only<'a>(ids: impl Iterator<Item = &'a str>, text: &str) -> Option<&'a str> {
    let mut found = ids.filter(|id| !text.is_empty() && id.starts_with(text));
    found.next().filter(|_| found.next().is_none())
}

/// A page in output lines.
pub(super) fn page_line(page: &PageView) -> Map<String, Value> {
    let mut map = object(json!({
        "targetId": page.target_id.as_str(), "url": page.url, "title": page.title, "state": page.state, "own": page.own,
    }));
    if let Some(dialog) = &page.lost_dialog {
        map.insert("lostDialog".to_owned(), json!(dialog));
    }
    if let Some(opener) = &page.opener {
        map.insert("opener".to_owned(), opener.as_str().into());
    }
    map
}

fn snapshot(now: &View) -> Value {
    let pages: Vec<_> = now
        .pages
        .iter()
        .map(|known| {
            let mut map = page_line(known);
            map.insert("frame_tree".to_owned(), json!(now.frame_tree(known.target_id.as_str())));
            map
        })
        .collect();
    json!({
        "pages": pages,
        "pending_dialogs": &*now.dialogs,
        "recent_dialogs": &*now.recent,
        "console": &*now.console,
    })
}

/// Adds `rescued: true` if a script of the page was terminated.
fn rescued(value: Value, rescued: bool) -> Map<String, Value> {
    let mut map = object(value);
    if rescued {
        map.insert("rescued".to_owned(), true.into());
    }
    map
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
