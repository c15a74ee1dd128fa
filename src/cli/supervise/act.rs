//! Carrying out a command, and the line that answers it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::failure::{Exit, Failure};
use super::super::settings::Settings;
use super::command::{Action, Asked, Command, HELP, Misread};
use super::page;
use crate::page::Tabs;
use crate::supervisor::{ArmedAnswer, Dialog, DialogAnswer, FrameRef, NavigationEntry, PageView, Supervisor, View};
use crate::sync::Deadline;

/// How long a page may take to answer, and the greatest time that may be asked for.
const PAGE_TIME: Duration = Duration::from_secs(20);
const LONGEST: Duration = Duration::from_secs(120);
/// How long a dialog may take to close.
const DIALOG_TIME: Duration = Duration::from_secs(10);
/// How long an armed answer waits for its dialog.
const ARM_TIME: Duration = Duration::from_secs(120);

/// The line that answers a command.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
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
}

impl Answer {
    pub(super) fn misread(line: Misread) -> Self {
        let failure = Some(Failure::usage(line.problem));
        Self { kind: "result", id: line.id, command: line.command, ok: false, failure, rest: Map::new() }
    }
}

/// What commands work with.
#[derive(Clone)]
pub(super) struct Means {
    pub(super) tabs: Tabs,
    pub(super) settings: Settings,
    /// The folder for pictures and papers.
    pub(super) media: Arc<Path>,
}

/// Carries out a command.
pub(super) fn carry_out(asked: Asked, means: &Means) -> Answer {
    let supervisor: &Supervisor = means.tabs.supervisor();
    let before = supervisor.view();
    let act = Act { means, supervisor, wish: asked.timeout_ms.map(Duration::from_millis) };
    let command = asked.command.name().to_owned();
    let (ok, failure, rest) = match act.run(asked.command) {
        Ok(rest) => (true, None, rest),
        // Under way when the dialog opened: the command has most likely opened it, and has done its work.
        Err(failure) if failure.exit == Exit::Dialog => {
            let now = supervisor.view();
            let opened = opened_since(&before, &now);
            let rest = object(json!({ "blockedByDialog": true, "pending_dialogs": &*now.dialogs }));
            (opened, Some(failure).filter(|_| !opened), rest)
        }
        Err(failure) => (false, Some(failure), Map::new()),
    };
    Answer { kind: "result", id: asked.id, command, ok, failure, rest }
}

fn opened_since(before: &View, now: &View) -> bool {
    let known = |dialog: &Dialog| before.dialogs.iter().any(|old| old.id == dialog.id);
    now.dialogs.iter().any(|dialog| !known(dialog))
}

struct Act<'a> {
    means: &'a Means,
    supervisor: &'a Supervisor,
    wish: Option<Duration>,
}

impl Act<'_> {
    fn deadline(&self, usual: Duration) -> Deadline {
        Deadline::after(self.wish.unwrap_or_else(|| self.means.settings.timeout(usual)).min(LONGEST))
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
                let time = self.wish.unwrap_or(ARM_TIME).min(ARM_TIME);
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
                let told = supervisor.history(&page.top, self.deadline(PAGE_TIME))?;
                let entry = |e: &NavigationEntry| json!({ "url": e.url, "title": e.title });
                let entries: Vec<_> = told.entries.iter().map(entry).collect();
                object(json!({ "targetId": page.id, "entries": entries, "current": told.current }))
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
                let went = supervisor.navigate(&page.top, &url, self.deadline(PAGE_TIME))?;
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
                let json = r#"{"cmd": "eval", "frame": "top", "script": "1 + 1", "id": 7, "timeoutMs": 5000}"#;
                object(json!({ "commands": commands, "json": json }))
            }
            Command::Quit {} => Map::new(),
            Command::OnTab { command, target } => {
                let page = self.page(target.as_deref())?;
                let tab = self.means.tabs.tab(&page.id.as_str().into())?;
                // What it takes by itself is told by the page layer.
                command.run(&tab, &self.means.media, Deadline::after(self.wish.unwrap_or(LONGEST).min(LONGEST)))?
            }
        })
    }

    fn respond(&self, dialog: Option<String>, answer: DialogAnswer) -> Result<Map<String, Value>, Failure> {
        let closed = self.supervisor.respond(dialog.as_deref(), answer, self.deadline(DIALOG_TIME))?;
        Ok(object(json!({ "dialog": closed })))
    }

    /// A frame by `top`, its id, the beginning of its id when only one begins so, or a page's target id.
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

    /// A page by its target id or the beginning of it, else the newest.
    fn page(&self, text: Option<&str>) -> Result<Chosen, Failure> {
        let now = self.supervisor.view();
        let id = match text {
            None => now.pages.last().map(|page| page.target_id.as_str()),
            Some(text) if now.page(text).is_some() => Some(text),
            Some(text) => only(now.pages.iter().map(|page| page.target_id.as_str()), text),
        };
        let missing = || match text {
            None => Failure::new("TAB_NOT_FOUND", "there is no open page; `open URL` opens one"),
            Some(text) => Failure::new("TAB_NOT_FOUND", format!("no page {text}; `snapshot` lists the pages")),
        };
        id.map(|id| Chosen { id: id.to_owned(), top: FrameRef::TopOf(id.into()) }).ok_or_else(missing)
    }
}

struct Chosen {
    id: String,
    top: FrameRef,
}

/// The one that begins with the text.
fn only<'a>(ids: impl Iterator<Item = &'a str>, text: &str) -> Option<&'a str> {
    let mut found = ids.filter(|id| !text.is_empty() && id.starts_with(text));
    found.next().filter(|_| found.next().is_none())
}

/// A page as lines show it.
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

/// With the word that a script of the page was ended for it.
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
