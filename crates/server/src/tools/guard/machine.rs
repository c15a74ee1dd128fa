//! Checks of tools that reach this machine or the browser as a whole.

use std::path::{Component, Path};

use serde_json::Value;

use super::super::files::Place;
use super::super::{ToolContext, ToolError};
use super::command::{only_reads, paths_in};
use super::{Effect, EffectKind, permit};
use cdpilot::code::Code;

/// Parts of names of protocol commands that only read.
const READING: &[&str] = &["get", "query", "describe", "capture", "resolve", "request", "search", "snapshot"];
/// Domains whose commands of these names have effects, or answer with what is secret.
const ACTING: &[&str] = &[
    "Runtime",
    "Input",
    "Fetch",
    "Target",
    "Storage",
    "IO",
    "Autofill",
    "WebAuthn",
    "FileSystem",
    "DOMStorage",
    "IndexedDB",
    "CacheStorage",
    "Extensions",
    "Browser",
];

/// Parts of names of commands that answer with logins.
const SECRET: &[&str] =
    &["cookie", "postdata", "storageitems", "databasedata", "cachedresponse", "requestbody", "responsebody"];

/// Asks the guard of a call about a terminal command. One that names the home is refused: the home holds the token, keys and
/// secrets. One that reaches it in another way is a matter of approval.
///
/// # Errors
/// `APPROVAL_NEEDED`, `PATH_REFUSED`.
pub(in crate::tools) fn check_command(call: &ToolContext<'_>, command: &str, folder: &Path) -> Result<(), ToolError> {
    let guards_all = call.scope.guard().is_some_and(super::Guard::guards_all);
    let workspace = call.scope.workspace();
    if let Some(path) = paths_in(command).find(|path| workspace.is_secret(&folder.join(path))) {
        let message =
            format!("{path} is in the cdpilot home; what it holds is [secret] to every tool. Nothing was run");
        return Err(ToolError::new(Code::PathRefused, message));
    }
    if !guards_all && only_reads(command, |path| workspace.is_readable(&folder.join(path))) {
        return Ok(());
    }
    let why = "it is not known what the command reads and changes on this machine";
    let folder = &*folder.to_string_lossy();
    let effect = Effect::new(EffectKind::Command, "run a terminal command", why, &[command, folder]);
    permit(call, effect.value("command", command).value("folder", folder)).map(drop)
}

/// Asks the guard of a call about input for a background command.
///
/// # Errors
/// `APPROVAL_NEEDED`.
pub(in crate::tools) fn check_input(call: &ToolContext<'_>, id: &str, input: &str) -> Result<(), ToolError> {
    let why = "it is not known what the command does with its input";
    let effect = Effect::new(EffectKind::Command, format!("write to the background command {id}"), why, &[id, input]);
    permit(call, effect.value("input", input)).map(drop)
}

/// Asks the guard of a call about a change of a file: an existing one, or one that programs may run or read by themselves.
///
/// # Errors
/// `APPROVAL_NEEDED`.
pub(in crate::tools) fn check_file_change(
    call: &ToolContext<'_>,
    path: &Place,
    old: Option<&str>,
    new: &str,
) -> Result<(), ToolError> {
    let Some(guard) = call.scope.guard() else { return Ok(()) };
    let full = path.full();
    let exists = full.symlink_metadata().is_ok();
    let is_hidden = path.below_root().components().any(|part| match part {
        Component::Normal(name) => name.to_string_lossy().starts_with('.'),
        _ => false,
    });
    if !exists && !is_hidden && !guard.guards_all() {
        return Ok(());
    }
    let why = match (exists, is_hidden) {
        (true, _) => "the file exists, and its content is replaced",
        (_, true) => "hidden files and folders are read by programs",
        _ => super::checks::EVERYTHING,
    };
    let shown = path.shown();
    let full = full.to_string_lossy();
    let bound = [&*full, old.unwrap_or_default(), new];
    let effect = Effect::new(EffectKind::File, format!("write the file {shown}"), why, &bound);
    let effect = effect.value("file", &shown);
    let effect = old.into_iter().fold(effect, |effect, old| effect.value("old text", old));
    permit(call, effect.value("new text", new)).map(drop)
}

/// Asks the guard of a call about a raw command of the protocol.
///
/// # Errors
/// `APPROVAL_NEEDED`.
pub(in crate::tools) fn check_raw(
    call: &ToolContext<'_>,
    method: &str,
    params: &Value,
    at: &str,
) -> Result<(), ToolError> {
    let (domain, command) = method.split_once('.').unwrap_or((method, ""));
    let tells_secrets = SECRET.iter().any(|word| command.to_ascii_lowercase().contains(word));
    let reads = READING.iter().any(|verb| command.starts_with(verb)) && !ACTING.contains(&domain) && !tells_secrets;
    let guards_all = call.scope.guard().is_some_and(super::Guard::guards_all);
    if reads && !guards_all {
        return Ok(());
    }
    let params = params.to_string();
    let why = "a raw command can do anything in the browser";
    let effect = Effect::new(EffectKind::Raw, format!("send the command {method}"), why, &[method, &params, at]);
    permit(call, effect.value("params", &params)).map(drop)
}
