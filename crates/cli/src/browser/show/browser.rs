//! Browser status, tabs, profiles.

use serde_json::Value;

use super::super::super::output::Out;
use super::{is, list, note, pairs, pending, short, table, word};

pub(in super::super) fn status(value: &Value, out: &Out) {
    let running = is(value, "running");
    let enabled = value["enabled"].as_bool() != Some(false);
    let state = match (running, enabled) {
        (true, _) => out.style.green("running"),
        (false, true) => out.style.yellow("not running"),
        (false, false) => out.style.yellow("disabled (browser.enabled in config.yaml)"),
    };
    let window = match value["headless"].as_bool() {
        Some(true) => "none (headless)",
        Some(false) => "shown",
        None => "",
    };
    let when = |text: String| if running { text } else { String::new() };
    let browser = [word(value, "browser"), word(value, "executablePath")];
    let [product, path] = browser;
    let browser = if product.is_empty() || path.is_empty() { product + &path } else { format!("{product}, {path}") };
    pairs(
        &[
            ("browser", state),
            ("profile", word(value, "profile")),
            ("tabs", when(word(value, "tabs"))),
            ("dialogs", when(word(value, "pendingDialogs")).trim_start_matches('0').to_owned()),
            ("process", when(word(value, "pid"))),
            ("executable", browser),
            ("window", when(window.to_owned())),
            ("cdp port", when(word(value, "cdpPort"))),
            ("cdp url", when(word(value, "cdpUrl"))),
            ("transport", when(word(value, "transport"))),
            ("data folder", word(value, "userDataDir")),
            ("server version", word(value, "version")),
        ],
        out,
    );
    if !running && enabled {
        out.aside("`cdpilot start` or `cdpilot open URL` starts it");
    } else if value["pendingDialogs"].as_u64().is_some_and(|count| count > 0) {
        out.aside("a dialog is open: `cdpilot dialogs` shows it");
    }
}

pub(in super::super) fn stopped(value: &Value, out: &Out) {
    let profile = word(value, "profile");
    let of = if profile.is_empty() { String::new() } else { format!(" of profile {profile}") };
    let line = if is(value, "running") {
        format!("the browser{of} is still running")
    } else if is(value, "attachOnly") || word(value, "transport") == "remote" {
        format!("detached from the browser{of}, which cdpilot has not launched")
    } else {
        format!("the browser{of} is stopped")
    };
    note(&line, out);
}

pub(in super::super) fn tabs(value: &Value, out: &Out) {
    let tabs = list(value, "tabs");
    if tabs.is_empty() {
        let what = if is(value, "running") { "no open tabs" } else { "the browser is not running" };
        note(&format!("{what}; `cdpilot open URL` opens one"), out);
        return;
    }
    let row = |tab: &Value| {
        let mark = if is(tab, "active") { "*" } else { "" };
        let kind = Some(word(tab, "type")).filter(|kind| kind != "page").unwrap_or_default();
        let (target, title) = (short(&word(tab, "targetId"), 9), short(&word(tab, "title"), 40));
        vec![mark.to_owned(), word(tab, "tabId"), word(tab, "label"), target, kind, title, word(tab, "url")]
    };
    let rows: Vec<Vec<String>> = tabs.iter().map(row).collect();
    table(&["", "tab", "label", "target", "type", "title", "url"], &rows, out);
}

/// Describes a tab on one line.
fn tab(value: &Value) -> String {
    let name = [word(value, "tabId"), word(value, "targetId")].into_iter().find(|name| !name.is_empty());
    let label = Some(word(value, "label")).filter(|label| !label.is_empty()).map(|label| format!(" ({label})"));
    let parts = [word(value, "title"), word(value, "url")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}{} {}", name.unwrap_or_default(), label.unwrap_or_default(), parts.join(" - ")).trim().to_owned()
}

pub(in super::super) fn opened(value: &Value, out: &Out) {
    out.line(&tab(value));
    label_taken(value, out);
    for download in list(value, "downloads") {
        let file = super::acts::downloaded(download);
        note(&format!("a download started: {}; the tab is empty", file.trim_start_matches("downloaded ")), out);
    }
    pending(value, out);
}

pub(in super::super) fn focused(value: &Value, out: &Out) {
    note(&format!("current tab: {}", tab(value)), out);
}

pub(in super::super) fn rescued(value: &Value, out: &Out) {
    match value["busyMs"].as_u64() {
        Some(ms) => note(&format!("ended a script that had kept the page busy for {ms} ms; the document is kept"), out),
        None => note("the page responds; nothing was ended", out),
    }
}

pub(in super::super) fn closed(value: &Value, out: &Out) {
    // The answer of an action has no tab id: it was the current tab.
    let name = match word(value, "tabId").is_empty() {
        true => format!("the current tab {}", word(value, "url")),
        false => tab(value),
    };
    note(&format!("closed {}", name.trim_end()), out);
    let empty = list(value, "newTabs").first().unwrap_or(&value["replacedBy"]);
    if empty.is_object() {
        note(&format!("it was the last tab; the empty tab {} replaces it", word(empty, "tabId")), out);
    }
    pending(value, out);
}

pub(in super::super) fn labelled(value: &Value, out: &Out) {
    note(&tab(value), out);
    label_taken(value, out);
}

/// Names the tab that lost its label to this one.
fn label_taken(value: &Value, out: &Out) {
    let from = word(value, "labelTakenFrom");
    if !from.is_empty() {
        note(&format!("the label was taken from {from}"), out);
    }
}

pub(in super::super) fn profiles(value: &Value, out: &Out) {
    let row = |profile: &Value| {
        let state = if is(profile, "running") { "running" } else { "" };
        let mark = if is(profile, "isDefault") { "*" } else { "" };
        let place = if is(profile, "isRemote") { "remote".to_owned() } else { word(profile, "userDataDir") };
        let (port, color) = (word(profile, "cdpPort"), word(profile, "color"));
        vec![mark.to_owned(), word(profile, "name"), state.to_owned(), port, color, place]
    };
    let rows: Vec<Vec<String>> = list(value, "profiles").iter().map(row).collect();
    table(&["", "profile", "state", "cdp port", "color", "data folder"], &rows, out);
}

fn of_profile(what: &str, value: &Value, out: &Out) {
    let profile = if value["profile"].is_object() { &value["profile"] } else { value };
    note(&format!("{what} profile {}", word(profile, "name")), out);
}

pub(in super::super) fn made(value: &Value, out: &Out) {
    of_profile("created", value, out);
}

pub(in super::super) fn deleted_profile(value: &Value, out: &Out) {
    of_profile("deleted", value, out);
}

pub(in super::super) fn reset(value: &Value, out: &Out) {
    of_profile("reset", value, out);
}
