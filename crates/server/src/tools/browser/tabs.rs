//! Tabs and navigation.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::guard::{check_address, check_reload};
use super::super::{Outcome, Tool, ToolContext, ToolError};
use super::{Browser, BrowserTools, observe, soon};
use crate::control::{Navigate, NewTab, Travel, WaitUntil, with_scheme};
use cdpilot::code::Code;

/// Note for a page that is still loading at the deadline.
const LOADING: &str = "the page is still loading; use its current content, or call browser_wait for missing content";
/// How long to wait for a script-rendered page to show content.
const CONTENT: Duration = Duration::from_secs(4);
/// Note for a page that shows no content by then.
const EMPTY: &str = "the page shows no content yet; call browser_wait for the expected text";
/// Note for a URL that started a download.
const DOWNLOAD: &str =
    "the URL started a download, saved in downloads/ of the cdpilot home when complete; the page is unchanged";

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Go {
    /// Either url or action
    url: Option<String>,
    action: Option<HistoryAction>,
    /// Tab id (t2) or label [current tab]
    target: Option<String>,
    /// Dismiss open dialogs first
    #[serde(default)]
    dismiss_dialogs: bool,
}

#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum HistoryAction {
    Back,
    Forward,
    Reload,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Back {
    target: Option<String>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Open,
    Focus,
    Label,
    Close,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tabs {
    action: Action,
    /// For focus, label, close
    target: Option<String>,
    /// For open
    url: Option<String>,
    /// For open and label
    label: Option<String>,
}

pub(super) fn all(browser: &BrowserTools) -> Vec<Tool> {
    let (go, back, tabs) = (browser.clone(), browser.clone(), browser.clone());
    vec![
        Tool::of(
            "browser_navigate",
            "Go to a URL, or back, forward, reload. Starts the browser. Returns a snapshot.",
            move |call, to| navigate(&go.on(call), call, to),
        ),
        Tool::of("browser_back", "Go back in history. Returns a snapshot.", move |call, to: Back| {
            navigate(&back.on(call), call, Go { action: Some(HistoryAction::Back), target: to.target, ..Go::default() })
        }),
        Tool::of("browser_tabs", "List, open, focus, label or close tabs.", move |call, doing| {
            manage(&tabs.on(call), call, doing)
        }),
    ]
}

fn navigate(browser: &Browser<'_>, call: &ToolContext<'_>, to: Go) -> Result<Outcome, ToolError> {
    let profile = browser.profile()?;
    let target = to.target.clone();
    let (url, way) = match (to.url, to.action) {
        (Some(url), None) => (url, None),
        (None, Some(HistoryAction::Back)) => (String::new(), Some(Travel::Back)),
        (None, Some(HistoryAction::Forward)) => (String::new(), Some(Travel::Forward)),
        (None, Some(HistoryAction::Reload)) => (String::new(), Some(Travel::Reload)),
        (None, None) => {
            return Err(ToolError::new(
                Code::BadRequest,
                "url is missing; pass url, or action (back, forward or reload)",
            ));
        }
        (Some(_), Some(_)) => {
            return Err(ToolError::new(
                Code::BadRequest,
                "pass either url or action (back, forward, reload), not both",
            ));
        }
    };
    let url = if way.is_none() { with_scheme(&url)? } else { url };
    check_address(call, &url)?;
    if way == Some(Travel::Reload) {
        check_reload(call, &browser.tab(target.as_deref())?)?;
    }
    let is_new = way.is_none() && target.is_none() && profile.needs_tab();
    let outcome = if is_new {
        let opened = profile.open(NewTab { url, ..NewTab::default() }, call.deadline)?;
        let outcome = Outcome::default().with("url", opened.tab.url).with("title", opened.tab.title);
        loading(with_status(outcome, opened.status), opened.is_loading)
    } else {
        let navigation = match way {
            Some(way) => profile.travel(target.as_deref(), way, WaitUntil::Load, to.dismiss_dialogs, soon(call))?,
            None => {
                let navigate = Navigate {
                    url,
                    target: to.target,
                    wait_until: WaitUntil::Load,
                    dismiss_dialogs: to.dismiss_dialogs,
                };
                profile.visit(navigate, soon(call))?
            }
        };
        let outcome = Outcome::default().with("url", navigation.url).with("title", navigation.title);
        let mut outcome = with_status(outcome, navigation.status);
        if let Some(navigated) = navigation.navigated {
            outcome = outcome.with("navigated", navigated);
        }
        if !navigation.dismissed_dialogs.is_empty() {
            outcome = outcome.with("dismissed_dialogs", json!(navigation.dismissed_dialogs));
        }
        if navigation.rescued {
            outcome = outcome.with("rescued", true);
        }
        if navigation.navigated == Some(false) && !navigation.blocked_by_dialog {
            outcome = outcome.with("note", DOWNLOAD);
        }
        if navigation.blocked_by_dialog {
            return Ok(browser.finished(outcome.with("blockedByDialog", true)));
        }
        loading(outcome, navigation.loading)
    };
    let tab = browser.tab(target.as_deref())?;
    let outcome = match tab.tab.wait_content(call.deadline.within(CONTENT)) {
        Ok(false) if !outcome.fields.contains_key("note") => outcome.with("note", EMPTY),
        // A failed wait does not fail the navigation.
        _ => outcome,
    };
    let field = |name: &str| outcome.fields.get(name).and_then(Value::as_str).unwrap_or_default();
    browser.is_news(&tab.info.target_id, field("url"), field("title"));
    // The snapshot saves the model a call. The navigation succeeded without it, too.
    match observe::short(browser, target.as_deref(), call) {
        Ok(seen) => Ok(browser.finished(outcome.and(seen))),
        Err(_) => Ok(browser.finished(outcome)),
    }
}

fn with_status(outcome: Outcome, status: Option<u16>) -> Outcome {
    status.into_iter().fold(outcome, |outcome, status| outcome.with("status", status))
}

/// Reports a page that is still loading.
fn loading(outcome: Outcome, is_loading: bool) -> Outcome {
    if is_loading { outcome.with("loading", true).with("note", LOADING) } else { outcome }
}

fn manage(browser: &Browser<'_>, call: &ToolContext<'_>, doing: Tabs) -> Result<Outcome, ToolError> {
    let profile = browser.profile()?;
    let needed = |given: Option<String>, what: &str| {
        given.ok_or_else(|| ToolError::new(Code::BadRequest, format!("{what} is missing; this action requires it")))
    };
    let one = match doing.action {
        Action::List => return Ok(browser.finished(Outcome::default().with("tabs", json!(profile.tabs())))),
        Action::Open => {
            let url = needed(doing.url, "url")?;
            let url = with_scheme(&url)?;
            check_address(call, &url)?;
            let new = NewTab { url, label: doing.label, background: false };
            let opened = profile.open(new, call.deadline)?;
            let outcome = with_status(Outcome::default().with("tab", json!(opened.tab)), opened.status);
            return Ok(browser.finished(loading(outcome, opened.is_loading)));
        }
        Action::Focus => json!(profile.focus(&needed(doing.target, "target")?, soon(call))?),
        Action::Label => json!(profile.label(&needed(doing.target, "target")?, &needed(doing.label, "label")?)?),
        Action::Close => json!(profile.close_tab(&needed(doing.target, "target")?, soon(call))?),
    };
    let key = if doing.action == Action::Close { "closed" } else { "tab" };
    Ok(browser.finished(Outcome::default().with(key, one)))
}
