//! Checks of the browser tools before they act: the effect is determined, and the guard of the call is asked.

use std::sync::LazyLock;

use super::super::{Image, ToolContext, ToolError};
use super::{Allowed, Effect, EffectKind, Ground, Guard, address, control, permit, words};
use crate::control::TabHandle;
use cdpilot::page::{self, Binding, Node, SentField, Shown, Using, secrets_in};
use cdpilot::redact::Secrets;

/// Most values that a question shows.
const MOST_VALUES: usize = 20;
/// Longest name of an element in a question, in characters.
const MOST_NAME: usize = 80;
/// Names of hidden fields that no person can judge.
const TECHNICAL: &[&str] =
    &["csrf", "token", "nonce", "authenticity", "verification", "viewstate", "session", "captcha"];
/// Words of dialogs that ask for something which cannot be undone, without saying what.
const SURE: &[&str] =
    &["sure", "undone", "irreversible", "sicher", "sûr", "seguro", "sicuro", "zeker", "pewno", "уверены", "certeza"];
/// Keys that move, select or close, whatever has the focus.
const MOVING: &[&str] = &[
    "tab",
    "escape",
    "esc",
    "arrowup",
    "arrowdown",
    "arrowleft",
    "arrowright",
    "up",
    "down",
    "left",
    "right",
    "pageup",
    "pagedown",
    "home",
    "end",
    "shift",
    "control",
    "alt",
    "meta",
    "capslock",
];
/// Letters that select, copy, paste and undo together with Control or Meta.
const EDITING: &[&str] =
    &["a", "c", "x", "v", "z", "y", "arrowleft", "arrowright", "home", "end", "backspace", "delete"];

/// The key of the fingerprints of elements, which no other process has.
static PROCESS_KEY: LazyLock<String> = LazyLock::new(|| {
    let mut key = [0_u8; 16];
    // Without random numbers of the system, those of the generator do.
    if getrandom::fill(&mut key).is_err() {
        fastrand::fill(&mut key);
    }
    format!("{key:?}")
});

/// What is done with an element.
#[derive(Debug, Clone, Copy)]
pub(in crate::tools) struct Doing<'a> {
    /// The verb, such as `click`.
    pub(in crate::tools) verb: &'a str,
    /// How the element is used.
    pub(in crate::tools) using: Using,
    /// The text that goes with it, such as that to type.
    pub(in crate::tools) text: &'a str,
}

impl<'a> Doing<'a> {
    pub(in crate::tools) fn new(verb: &'a str, using: Using) -> Self {
        Self { verb, using, text: "" }
    }
}

/// An element whose use is allowed, for as long as it is what it was.
#[derive(Debug)]
#[must_use = "the element is released when this is dropped"]
pub(in crate::tools) struct Checked<'t> {
    _binding: Option<Binding<'t>>,
}

impl Checked<'_> {
    /// Nothing is bound.
    pub(in crate::tools) fn free() -> Self {
        Self { _binding: None }
    }
}

/// Asks the guard of a call about the use of an element, and binds the element to what was decided.
///
/// # Errors
/// `APPROVAL_NEEDED`; those of reading the element.
pub(in crate::tools) fn check_element<'t>(
    call: &ToolContext<'_>,
    handle: &'t TabHandle,
    (node, shown): (&Node, &Shown),
    doing: Doing<'_>,
) -> Result<Checked<'t>, ToolError> {
    let Some(guard) = call.scope.guard() else { return Ok(Checked::free()) };
    let now = handle.tab.effect(Some(node), doing.using, call.deadline).map_err(crate::control::Error::from)?;
    let chosen = || {
        // The name of an option, or the position of a slider.
        let is_list = now.uses.first().is_some_and(|used| used.tag == "select");
        let (kind, word) = words::of_name(doing.text, false).filter(|_| is_list)?;
        Some(Ground::new(kind, format!("the option contains {word:?}")))
    };
    let ground = control::ground(&now).or_else(chosen);
    let ground = ground.or_else(|| guard.guards_all().then(|| Ground::new(EffectKind::Action, EVERYTHING)));
    let Some(ground) = ground else {
        guard.allow_free(doing.verb)?;
        return Ok(Checked { _binding: Some(handle.tab.bind_to(node, now.identity)) });
    };
    let effect = described(guard, handle, &now, ground, shown, doing);
    let allowed = guard.permit(effect, &|| picture(handle, (node, shown), call))?;
    let number = match allowed {
        Allowed::Free => now.identity,
        Allowed::Approved => now.stake,
    };
    Ok(Checked { _binding: Some(handle.tab.bind_to(node, number)) })
}

/// Why everything counts with the guard `all`.
pub(super) const EVERYTHING: &str = "every action of this conversation needs approval";

fn described(
    guard: &dyn Guard,
    handle: &TabHandle,
    now: &page::Effect,
    ground: Ground,
    shown: &Shown,
    doing: Doing<'_>,
) -> Effect {
    let name: String = shown.name.chars().take(MOST_NAME).collect();
    let action = match name.is_empty() {
        true => format!("{} the {}", doing.verb, shown.role),
        false => format!("{} the {} {name:?}", doing.verb, shown.role),
    };
    // The first use that has a destination or fields is what the element is.
    let used = now.uses.iter().find(|used| !used.destination.is_empty() || !used.fields.is_empty());
    let used = used.or(now.uses.first());
    let tab = handle.tab.target().as_str();
    let (place, uses) = (format!("{:?}", now.node), format!("{:?}", now.uses));
    // Fingerprints are stored: without a secret key, a short password could be found out from one. Pages do not outlive the process.
    let bound = [PROCESS_KEY.as_str(), tab, &now.url, &place, &uses, &shown.role, &shown.name, doing.text];
    let mut effect = Effect::new(ground.kind, action, ground.why, &bound).origin(origin_of(now));
    let Some(used) = used else { return effect };
    effect = effect.destination(used.destination.as_str());
    let sends = used.submits || doing.using == Using::Enter;
    let fields = used.fields.iter().filter(|field| sends && !field.value.is_empty() && !is_technical(field));
    for field in fields.take(MOST_VALUES) {
        let value = match guard.secret_named(&field.value) {
            Some(name) => format!("{{{{secret:{name}}}}}"),
            None if field.secret => Secrets::COVER.to_owned(),
            None => field.value.clone(),
        };
        let label = if field.label.is_empty() { &field.kind } else { &field.label };
        effect = effect.value(label.as_str(), &value);
    }
    effect
}

fn origin_of(now: &page::Effect) -> &str {
    if now.origin == "null" { "" } else { &now.origin }
}

fn is_technical(field: &SentField) -> bool {
    let name = field.name.to_lowercase();
    field.hidden && (TECHNICAL.iter().any(|word| name.contains(word)) || field.value.len() > 200)
}

fn picture(handle: &TabHandle, element: (&Node, &Shown), call: &ToolContext<'_>) -> Option<Image> {
    let preview = handle.tab.preview("the element", element, "Is this to be done?", call.deadline).ok()?;
    let media_type = if preview.picture.kind == page::PictureType::Png { "image/png" } else { "image/jpeg" };
    Some(Image::new(media_type, preview.picture.bytes))
}

/// Asks the guard of a call about the first use of the secrets in a text to type.
///
/// # Errors
/// `APPROVAL_NEEDED`; those of reading the element.
pub(in crate::tools) fn check_secrets(
    call: &ToolContext<'_>,
    handle: &TabHandle,
    (node, shown): (&Node, &Shown),
    text: &str,
) -> Result<(), ToolError> {
    let names = secrets_in(text);
    let Some(guard) = call.scope.guard().filter(|_| !names.is_empty()) else { return Ok(()) };
    let now = handle.tab.effect(Some(node), Using::Other, call.deadline).map_err(crate::control::Error::from)?;
    let origin = origin_of(&now);
    for name in names {
        let why = "stored secrets are typed only with approval";
        let effect =
            Effect::new(EffectKind::Secret, format!("type the secret {name:?} at {origin}"), why, &[name, origin]);
        let field: String = shown.name.chars().take(MOST_NAME).collect();
        let destination = now.uses.first().map(|used| used.destination.clone()).unwrap_or_default();
        let effect = effect.origin(origin).destination(destination).value(field, &format!("{{{{secret:{name}}}}}"));
        guard.permit(effect, &|| picture(handle, (node, shown), call))?;
    }
    Ok(())
}

/// How a key is used.
enum KeyUse {
    /// It moves, selects or closes.
    Free,
    /// It may send the form of the focused element, or a message.
    Enter,
    /// It presses the focused element.
    Press,
    /// A page may take it as a command.
    Command,
}

fn use_of(key: &str, now: &page::Effect) -> KeyUse {
    let lower = key.to_lowercase();
    let mut parts: Vec<&str> = lower.split('+').filter(|part| !part.is_empty()).collect();
    let last = parts.pop().unwrap_or_default();
    let has_command = parts
        .iter()
        .any(|part| matches!(*part, "control" | "ctrl" | "meta" | "cmd" | "command" | "alt" | "controlormeta"));
    match last {
        _ if MOVING.contains(&last) => KeyUse::Free,
        "enter" | "return" | "numpadenter" | "\n" => KeyUse::Enter,
        _ if has_command && now.typed && EDITING.contains(&last) => KeyUse::Free,
        _ if has_command => KeyUse::Command,
        _ if now.typed => KeyUse::Free,
        "space" | " " if now.body => KeyUse::Free,
        "space" | " " => KeyUse::Press,
        "f5" => KeyUse::Free,
        _ => KeyUse::Command,
    }
}

/// Asks the guard of a call about a key for an element, or for the one with the focus. `follows`: the text before it is typed.
/// Returns the binding of the element.
///
/// # Errors
/// `APPROVAL_NEEDED`; those of reading the element.
pub(in crate::tools) fn check_keys<'t>(
    call: &ToolContext<'_>,
    handle: &'t TabHandle,
    element: Option<(&Node, &Shown)>,
    (key, follows): (&str, bool),
) -> Result<Checked<'t>, ToolError> {
    let Some(guard) = call.scope.guard() else { return Ok(Checked::free()) };
    let read = |using| handle.tab.effect(element.map(|(node, _)| node), using, call.deadline);
    let now = read(Using::Press).map_err(crate::control::Error::from)?;
    // The field itself; Enter in it may press a button.
    let focused = now.uses.first().map(|used| Shown::new(&used.role, &used.name));
    let using = match use_of(key, &now) {
        KeyUse::Free if !guard.guards_all() => {
            guard.allow_free("press")?;
            return Ok(Checked::free());
        }
        KeyUse::Enter => Using::Enter,
        _ => Using::Press,
    };
    let now = if using == Using::Enter { read(using).map_err(crate::control::Error::from)? } else { now };
    let ground = match use_of(key, &now) {
        KeyUse::Free => Some(Ground::new(EffectKind::Action, EVERYTHING)),
        KeyUse::Command => Some(Ground::new(EffectKind::Key, "the page may take the key as a command")),
        KeyUse::Enter if now.typed && now.uses.iter().any(control::is_search) => control::ground(&now),
        // Also a field without a form, which a script of the page may read.
        KeyUse::Enter
            if now.lines || (now.typed && !now.uses.iter().any(|used| used.submits || !used.fields.is_empty())) =>
        {
            Some(Ground::new(EffectKind::Send, "Enter may send what is in the field"))
        }
        KeyUse::Enter if now.body => Some(Ground::new(EffectKind::Key, "the page may take the key as a command")),
        KeyUse::Enter | KeyUse::Press => control::ground(&now),
    };
    let ground = ground.or_else(|| guard.guards_all().then(|| Ground::new(EffectKind::Action, EVERYTHING)));
    let shown = element.map(|(_, shown)| shown.clone()).or(focused).unwrap_or_default();
    let Some(ground) = ground else {
        guard.allow_free("press")?;
        return Ok(Checked { _binding: Some(handle.tab.bind_to(&now.node, now.identity)) });
    };
    let verb = format!("press {key} in");
    let effect = described(guard, handle, &now, ground, &shown, Doing { verb: &verb, using, text: key });
    let effect = effect.following(follows);
    let allowed = guard.permit(effect, &|| picture(handle, (&now.node, &shown), call))?;
    let number = if allowed == Allowed::Approved { now.stake } else { now.identity };
    Ok(Checked { _binding: Some(handle.tab.bind_to(&now.node, number)) })
}

/// Asks the guard of a call about opening an address.
///
/// # Errors
/// `APPROVAL_NEEDED`.
pub(in crate::tools) fn check_address(call: &ToolContext<'_>, url: &str) -> Result<(), ToolError> {
    if call.scope.guard().is_none() {
        return Ok(());
    }
    let Some(ground) = address::ground(url) else { return Ok(()) };
    let effect = Effect::new(ground.kind, format!("open {url}"), ground.why, &[url]);
    permit(call, effect.origin(address::origin(url)).destination(url)).map(drop)
}

/// Asks the guard of a call about accepting a dialog of the browser.
///
/// # Errors
/// `APPROVAL_NEEDED`.
pub(in crate::tools) fn check_dialog(
    call: &ToolContext<'_>,
    dialog: &cdpilot::supervisor::Dialog,
    text: Option<&str>,
) -> Result<(), ToolError> {
    use cdpilot::supervisor::DialogType;
    let Some(guard) = call.scope.guard() else { return Ok(()) };
    if !matches!(dialog.kind, DialogType::Confirm | DialogType::Prompt) {
        return Ok(());
    }
    let found =
        words::of_text(&dialog.message).map(|(kind, word)| Ground::new(kind, format!("the dialog contains {word:?}")));
    let is_sure = || {
        let text = dialog.message.to_lowercase();
        let word = SURE.iter().find(|word| text.split(|c: char| !c.is_alphanumeric()).any(|one| one == **word));
        word.map(|word| Ground::new(EffectKind::Unknown, format!("the dialog contains {word:?}")))
    };
    let Some(ground) = found.or_else(is_sure) else { return Ok(()) };
    // The question of the page about what a person has just approved.
    if guard.has_just_approved(ground.kind) {
        return Ok(());
    }
    let message: String = dialog.message.chars().take(MOST_NAME).collect();
    let text = text.unwrap_or_default();
    let bound = [&*dialog.id, &*dialog.message, text];
    let effect = Effect::new(ground.kind, format!("accept the dialog {message:?}"), ground.why, &bound);
    let effect = effect.origin(&*dialog.origin);
    let effect = if text.is_empty() { effect } else { effect.value("text", text) };
    guard.permit(effect, &|| None).map(drop)
}

/// Asks the guard of a call about a script that is known to change something.
///
/// # Errors
/// `APPROVAL_NEEDED`.
pub(in crate::tools) fn check_script(
    call: &ToolContext<'_>,
    handle: &TabHandle,
    script: &str,
) -> Result<(), ToolError> {
    let url = handle.info.url.as_str();
    let why = "the script changes something, or may do so";
    let bound = [handle.tab.target().as_str(), url, script];
    let effect = Effect::new(EffectKind::Script, "run a script in the page", why, &bound);
    permit(call, effect.origin(address::origin(url)).value("script", script)).map(drop)
}

/// Asks the guard of a call about files that a page is given.
///
/// # Errors
/// `APPROVAL_NEEDED`.
pub(in crate::tools) fn check_upload(
    call: &ToolContext<'_>,
    handle: &TabHandle,
    paths: &[std::path::PathBuf],
) -> Result<(), ToolError> {
    let url = handle.info.url.as_str();
    let names: Vec<String> =
        paths.iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect();
    // A file that has changed since is another one.
    let stamp = |path: &std::path::PathBuf| {
        let found = std::fs::metadata(path).ok();
        format!("{path:?} {:?}", found.map(|found| (found.len(), found.modified().ok())))
    };
    let stamps: Vec<String> = paths.iter().map(stamp).collect();
    let origin = address::origin(url);
    let bound: Vec<&str> =
        stamps.iter().map(String::as_str).chain([handle.tab.target().as_str(), origin.as_str()]).collect();
    let why = "the page gets a file of this machine";
    let effect =
        Effect::new(EffectKind::Upload, format!("upload {}", names.join(", ")), why, &bound).origin(origin.as_str());
    permit(call, names.iter().fold(effect, |effect, name| effect.value("file", name))).map(drop)
}

/// Asks the guard of a call about loading a page again, if that sends a form again.
///
/// # Errors
/// `APPROVAL_NEEDED`.
pub(in crate::tools) fn check_reload(call: &ToolContext<'_>, handle: &TabHandle) -> Result<(), ToolError> {
    if call.scope.guard().is_none() {
        return Ok(());
    }
    let requests = handle.tab.requests(None, false);
    let Some(last) = requests.iter().rev().find(|request| &*request.resource_type == "Document") else { return Ok(()) };
    if &*last.method == "GET" {
        return Ok(());
    }
    let why = format!("the page is the answer to a form, which is sent again by {}", last.method);
    let bound = [handle.tab.target().as_str(), &*last.id, &*last.url];
    let effect = Effect::new(EffectKind::Submit, "load the page again", why, &bound);
    permit(call, effect.origin(address::origin(&last.url)).destination(&*last.url)).map(drop)
}
