//! `tab`: tabs and navigation.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::guard::{check_address, check_reload};
use super::super::{Outcome, Tool, ToolError};
use super::observation::Observation;
use super::observe::with_picture;
use super::{Visual, VisualTools, failed};
use crate::control::{NewTab, TabHandle, Travel, WaitUntil, with_scheme};
use cdpilot::code::Code;
use cdpilot::page::LookOptions;

#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Action {
    Init,
    Open,
    Close,
    Switch,
    List,
    Refresh,
    View,
    Back,
    Forward,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tab {
    action: Action,
    /// For init and open
    url: Option<String>,
    /// t1, t2, … [current tab]
    tab_id: Option<String>,
}

pub(super) fn tool(visual: &VisualTools) -> Tool {
    let visual = visual.clone();
    Tool::of(
        "tab",
        "Open (init, open), close, switch, list, refresh tabs; go back, forward. view: a clean picture. Others answer with \
         labelled elements.",
        move |call, arguments: Tab| run(&visual.on(call), &arguments),
    )
}

fn run(visual: &Visual<'_>, wanted: &Tab) -> Result<Outcome, ToolError> {
    visual.take_pending();
    let mut observation = Observation::default();
    visual.unblocked_into(&mut observation)?;
    let profile = visual.profile()?;
    let tab = wanted.tab_id.as_deref();
    match wanted.action {
        Action::Init | Action::Open => {
            let url = wanted.url.as_deref().filter(|url| !url.trim().is_empty());
            let url =
                url.ok_or_else(|| ToolError::new(Code::BadRequest, "url is missing; init and open require it"))?;
            let url = with_scheme(url)?;
            check_address(visual.call, &url)?;
            let opened = profile.open(NewTab { url, ..NewTab::default() }, visual.call.deadline).map_err(failed)?;
            observation.done.push(format!("Opened {}.", opened.tab.tab_id));
            if let Some(status) = opened.status.filter(|status| *status >= 400) {
                observation.done.push(format!("The server answered with HTTP status {status}."));
            }
            let handle = visual.tab(Some(opened.tab.target_id.as_str()))?;
            after_load(visual, &handle, observation)
        }
        Action::Switch => {
            let tab = tab.ok_or_else(|| ToolError::new(Code::BadRequest, "tab_id is missing; switch requires it"))?;
            // A tab is never brought to the front unasked: naming it makes it the current one.
            let handle = visual.tab(Some(tab))?;
            observation.done.push(format!("Switched to {}.", handle.info.tab_id));
            after_load(visual, &handle, observation)
        }
        Action::Close => {
            let handle = visual.tab(tab)?;
            let was_current = handle.info.active;
            let closed = profile.close_tab(handle.tab.target().as_str(), visual.deadline()).map_err(failed)?;
            visual.state().lock().forget(handle.tab.target().as_str());
            observation.done.push(format!("Closed {}.", handle.info.tab_id));
            if closed.replaced_by.is_some() {
                observation.done.push("It was the last tab: an empty one replaces it.".to_owned());
            }
            if was_current && let Some(opener) = visual.back_to_opener(handle.tab.target().as_str()) {
                observation.done.push(format!("{}, which opened it, is the current tab.", opener.info.tab_id));
                return visual.shown(&opener, &LookOptions::new(), observation, true);
            }
            listed(visual, observation)
        }
        Action::List => listed(visual, observation),
        Action::View => {
            let handle = visual.tab(tab)?;
            observation.rescued_if(visual.responds(&handle).map_err(failed)?);
            let picture = handle.tab.clean_picture(visual.deadline()).map_err(|error| failed(error.into()))?;
            observation.done.push(format!("The viewport of {}, without labels.", handle.info.tab_id));
            visual.tabs_into(&mut observation);
            Ok(with_picture(visual.outcome(&observation.text(&[], None)), picture))
        }
        Action::Refresh | Action::Back | Action::Forward => {
            let way = match wanted.action {
                Action::Back => Travel::Back,
                Action::Forward => Travel::Forward,
                _ => Travel::Reload,
            };
            let handle = visual.tab(tab)?;
            visual.is_not_in_use(&handle).map_err(failed)?;
            if wanted.action == Action::Refresh {
                check_reload(visual.call, &handle)?;
            }
            let target = handle.tab.target().as_str();
            let done = profile.travel(Some(target), way, WaitUntil::Load, false, visual.deadline()).map_err(failed)?;
            observation.done.push(match (wanted.action, done.navigated) {
                (Action::Refresh, Some(false)) => "The page was not loaded again.".to_owned(),
                (_, Some(false)) => "There is no such page in the history.".to_owned(),
                (Action::Refresh, _) => "Loaded the page again.".to_owned(),
                (Action::Back, _) => "Went back.".to_owned(),
                _ => "Went forward.".to_owned(),
            });
            after_load(visual, &handle, observation)
        }
    }
}

fn listed(visual: &Visual<'_>, mut said: Observation) -> Result<Outcome, ToolError> {
    visual.tabs_into(&mut said);
    if said.page_texts.is_empty() {
        said.done.push("No tab is open.".to_owned());
    }
    Ok(visual.outcome(&said.text(&[], None)))
}

/// What a tab shows after it was loaded: a page rendered by a script may need a moment for its content.
fn after_load(visual: &Visual<'_>, handle: &TabHandle, said: Observation) -> Result<Outcome, ToolError> {
    visual.shown(handle, &LookOptions::new(), said, true)
}
