//! Checks of the browser tools before they act: the effect is determined, and the guard of the call is asked.

use std::sync::LazyLock;

use super::super::{Image, ToolContext, ToolError};
use super::{Allowed, Effect, EffectKind, Ground, Guard, SentForm, address, control, permit, unshowable, words};
use crate::control::TabHandle;
use cdpilot::code::Code;
use cdpilot::page::{self, Binding, Node, PressedKey, Shown, Using, secrets_in};
use cdpilot::redact::Secrets;
use cdpilot::supervisor::NetworkRequest;

/// Longest name of an element in a question, in characters.
const MOST_NAME: usize = 80;
/// Largest file that a question about an upload is bound to, in bytes.
const MOST_FILE: u64 = 10_000_000;
/// Deepest folder of an upload.
const MOST_DEPTH: usize = 16;
/// Keys that move, select or close. In a list, a group of radio buttons or a slider they choose.
const MOVING: &[&str] = &[
    "Tab",
    "Escape",
    "ArrowUp",
    "ArrowDown",
    "ArrowLeft",
    "ArrowRight",
    "PageUp",
    "PageDown",
    "Home",
    "End",
    "Shift",
    "Control",
    "Alt",
    "Meta",
    "CapsLock",
];
/// Those of them that choose nothing anywhere.
const NEVER_CHOOSING: &[&str] = &["Tab", "Escape", "Shift", "Control", "Alt", "Meta", "CapsLock"];
/// Keys that select, copy, paste and undo together with Control or Meta.
const EDITING: &[&str] =
    &["a", "c", "x", "v", "z", "y", "ArrowLeft", "ArrowRight", "Home", "End", "Backspace", "Delete"];

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
    let Some(ground) = ground_of(guard, &now, doing.text) else {
        guard.allow_free(doing.verb)?;
        return Ok(Checked { _binding: Some(bound(guard, handle, &now, Allowed::Free)) });
    };
    let effect = described(guard, handle, &now, ground, shown, doing)?;
    let allowed = guard.permit(effect, &|| picture(handle, (node, shown), call))?;
    Ok(Checked { _binding: Some(bound(guard, handle, &now, allowed)) })
}

/// Why the use of an element needs approval; `None` if it needs none.
fn ground_of(guard: &dyn Guard, now: &page::Effect, text: &str) -> Option<Ground> {
    let chosen = || {
        // The name of an option, or the position of a slider.
        let is_list = now.uses.first().is_some_and(|used| used.tag == "select");
        // Given by its value, it may be any of them.
        let is_label = now.options.iter().any(|option| option.eq_ignore_ascii_case(text.trim()));
        let any = || now.options.iter().find_map(|option| words::of_name(option, false)).filter(|_| !is_label);
        let (kind, word) = words::of_name(text, false).or_else(any).filter(|_| is_list)?;
        Some(Ground::new(kind, format!("the option contains {word:?}")))
    };
    let ground = control::ground(now).or_else(chosen);
    ground.or_else(|| guard.guards_all().then(|| Ground::new(EffectKind::Action, EVERYTHING)))
}

/// Whether the guard of a call classifies the use of an element. Nothing is asked.
///
/// # Errors
/// Those of reading the element.
pub(in crate::tools) fn classifies(
    call: &ToolContext<'_>,
    handle: &TabHandle,
    node: &Node,
    using: Using,
    text: &str,
) -> Result<bool, ToolError> {
    let Some(guard) = call.scope.guard() else { return Ok(false) };
    let now = handle.tab.effect(Some(node), using, call.deadline).map_err(crate::control::Error::from)?;
    Ok(ground_of(guard, &now, text).is_some())
}

/// The same for a key on an element.
///
/// # Errors
/// Those of reading the element; `BAD_REQUEST` for an unknown key.
pub(in crate::tools) fn classifies_key(
    call: &ToolContext<'_>,
    handle: &TabHandle,
    node: &Node,
    key: &str,
) -> Result<bool, ToolError> {
    let Some(guard) = call.scope.guard() else { return Ok(false) };
    let pressed = PressedKey::read(key).map_err(|problem| ToolError::new(Code::BadRequest, problem))?;
    let read = |using| handle.tab.effect(Some(node), using, call.deadline).map_err(crate::control::Error::from);
    let now = read(Using::Press)?;
    let now = if matches!(use_of(&pressed, &now), KeyUse::Enter) { read(Using::Enter)? } else { now };
    Ok(guard.guards_all() || key_ground(&pressed, &now).is_some_and(|ground| ground.kind != EffectKind::Action))
}

/// Binds the element of a decision to what was decided.
fn bound<'t>(guard: &dyn Guard, handle: &'t TabHandle, now: &page::Effect, allowed: Allowed) -> Binding<'t> {
    if allowed == Allowed::Free {
        return handle.tab.bind_to(&now.node, now.identity.clone());
    }
    let attributes: Vec<&str> = now.uses.iter().map(|used| used.words.as_str()).collect();
    guard.foresee(now.node.frame.as_str(), &attributes.join("\n"));
    handle.tab.bind_to(&now.node, now.stake.clone())
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
) -> Result<Effect, ToolError> {
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
    let bound = [PROCESS_KEY.as_str(), tab, &now.url, &place, &uses, &now.stake, &shown.role, &shown.name, doing.text];
    let mut effect = Effect::new(ground.kind, action, ground.why, &bound).origin(origin_of(now)).in_tab(tab);
    effect = effect.with_element(&*shown.role, &*shown.name);
    let Some(used) = used else { return Ok(effect) };
    effect = effect.destination(used.destination.as_str());
    let sends = used.submits || doing.using == Using::Enter;
    let file = used.fields.iter().find(|field| sends && field.kind == "file" && field.size > MOST_FILE);
    if let Some(file) = file {
        return Err(unshowable(&effect, &format!("the files of {:?} have more than 10 MB", file.label)));
    }
    effect = effect.sending((sends && used.method != "get").then(|| sent_form(used)));
    for field in used.fields.iter().filter(|field| sends && !field.value.is_empty()) {
        let value = match guard.secret_named(&field.value) {
            Some(name) => format!("{{{{secret:{name}}}}}"),
            None if field.secret => Secrets::COVER.to_owned(),
            None => field.value.clone(),
        };
        let label = if field.label.is_empty() { &field.kind } else { &field.label };
        effect = effect.value(label.as_str(), &value);
    }
    Ok(effect)
}

/// A form as its page sends it.
fn sent_form(used: &page::SetOff) -> SentForm {
    let value = |field: &page::SentField| {
        let name = field.name.clone();
        field.sent.iter().map(move |value| (name.clone(), value.clone())).collect::<Vec<_>>()
    };
    SentForm {
        method: used.method.clone(),
        url: used.destination.clone(),
        fields: used.fields.iter().flat_map(value).collect(),
        has_files: used.fields.iter().any(|field| field.kind == "file" && !field.value.is_empty()),
    }
}

fn origin_of(now: &page::Effect) -> &str {
    if now.origin == "null" { "" } else { &now.origin }
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
    let target = handle.tab.secret_target(node, call.deadline).map_err(crate::control::Error::from)?;
    let origin = origin_of(&now);
    let field: String = shown.name.chars().take(MOST_NAME).collect();
    for name in names {
        // Other fields are approved one by one.
        let effect = if target.fits {
            let why = "stored secrets are typed only with approval";
            Effect::new(EffectKind::Secret, format!("type the secret {name:?} at {origin}"), why, &[name, origin])
        } else {
            let why = "the field is not one for passwords or one-time codes";
            let action = format!("type the secret {name:?} into the {} {field:?}", shown.role);
            let own: Vec<&str> = target.names.iter().map(String::as_str).collect();
            Effect::new(EffectKind::Secret, action, why, &[&[name, origin, "field"], own.as_slice()].concat())
        };
        let destination = now.uses.first().map(|used| used.destination.clone()).unwrap_or_default();
        let effect = effect.origin(origin).destination(destination);
        let effect = effect.value(field.as_str(), &format!("{{{{secret:{name}}}}}"));
        let effect = effect.with_element(&*shown.role, format!("{field}: {{{{secret:{name}}}}}"));
        guard.permit(effect, &|| picture(handle, (node, shown), call))?;
        if !target.fits {
            call.scope.typed_secrets().allow(name, &target);
        }
    }
    Ok(())
}

/// How a key is used.
enum KeyUse {
    /// It moves, selects or closes.
    Free,
    /// It chooses one of some options, or a value.
    Choose,
    /// It may send the form of the focused element, or a message.
    Enter,
    /// It presses the focused element.
    Press,
    /// A page may take it as a command.
    Command,
}

fn use_of(pressed: &PressedKey, now: &page::Effect) -> KeyUse {
    let key = pressed.key.as_str();
    match key {
        _ if MOVING.contains(&key) && !now.typed && now.chooses && !NEVER_CHOOSING.contains(&key) => KeyUse::Choose,
        _ if MOVING.contains(&key) => KeyUse::Free,
        "Enter" => KeyUse::Enter,
        _ if pressed.is_command && now.typed && EDITING.contains(&key.to_lowercase().as_str()) => KeyUse::Free,
        _ if pressed.is_command && now.typed && EDITING.contains(&key) => KeyUse::Free,
        _ if pressed.is_command => KeyUse::Command,
        _ if now.typed => KeyUse::Free,
        " " if now.body => KeyUse::Free,
        " " => KeyUse::Press,
        "F5" => KeyUse::Free,
        _ => KeyUse::Command,
    }
}

/// Why a key needs approval; `None` if it needs none.
fn key_ground(pressed: &PressedKey, now: &page::Effect) -> Option<Ground> {
    match use_of(pressed, now) {
        KeyUse::Free => Some(Ground::new(EffectKind::Action, EVERYTHING)),
        KeyUse::Choose => {
            let chosen = now.options.iter().find_map(|option| words::of_name(option, false));
            let chosen = chosen.map(|(kind, word)| Ground::new(kind, format!("the key may choose {word:?}")));
            chosen.or_else(|| control::ground(now))
        }
        KeyUse::Command => Some(Ground::new(EffectKind::Key, "the page may take the key as a command")),
        KeyUse::Enter if now.typed && now.uses.iter().any(control::is_search) => control::ground(now),
        // Also a field without a form, which a script of the page may read.
        KeyUse::Enter
            if now.lines || (now.typed && !now.uses.iter().any(|used| used.submits || !used.fields.is_empty())) =>
        {
            Some(Ground::new(EffectKind::Send, "Enter may send what is in the field"))
        }
        KeyUse::Enter if now.body => Some(Ground::new(EffectKind::Key, "the page may take the key as a command")),
        KeyUse::Enter | KeyUse::Press => control::ground(now),
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
    let pressed = &PressedKey::read(key).map_err(|problem| ToolError::new(Code::BadRequest, problem))?;
    let read = |using| handle.tab.effect(element.map(|(node, _)| node), using, call.deadline);
    let now = read(Using::Press).map_err(crate::control::Error::from)?;
    // The field itself; Enter in it may press a button.
    let focused = now.uses.first().map(|used| Shown::new(&used.role, &used.name));
    let using = match use_of(pressed, &now) {
        KeyUse::Free if !guard.guards_all() => {
            guard.allow_free("press")?;
            return Ok(Checked::free());
        }
        KeyUse::Enter => Using::Enter,
        _ => Using::Press,
    };
    let now = if using == Using::Enter { read(using).map_err(crate::control::Error::from)? } else { now };
    let ground = key_ground(pressed, &now);
    let ground = ground.or_else(|| guard.guards_all().then(|| Ground::new(EffectKind::Action, EVERYTHING)));
    let shown = element.map(|(_, shown)| shown.clone()).or(focused).unwrap_or_default();
    let Some(ground) = ground else {
        guard.allow_free("press")?;
        return Ok(Checked { _binding: Some(bound(guard, handle, &now, Allowed::Free)) });
    };
    let verb = format!("press {} in", if key == " " { "Space" } else { key });
    let effect = described(guard, handle, &now, ground, &shown, Doing { verb: &verb, using, text: key })?;
    let effect = effect.following(follows);
    let allowed = guard.permit(effect, &|| picture(handle, (&now.node, &shown), call))?;
    Ok(Checked { _binding: Some(bound(guard, handle, &now, allowed)) })
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
    // The question of the page about what a person has just approved.
    if dialog.kind == DialogType::Alert || guard.has_foreseen(dialog) {
        return Ok(());
    }
    let ground = match words::of_text(&dialog.message) {
        Some((kind, word)) => Ground::new(kind, format!("the dialog contains {word:?}")),
        None => Ground::new(EffectKind::Unknown, "it is not known what the page does when the dialog is accepted"),
    };
    let message: String = dialog.message.chars().take(MOST_NAME).collect();
    let text = text.unwrap_or_default();
    let bound = [&*dialog.id, &*dialog.message, text];
    let effect = Effect::new(ground.kind, format!("accept the dialog {message:?}"), ground.why, &bound);
    let effect = effect.origin(&*dialog.origin).in_tab(dialog.target_id.as_str());
    let effect =
        if dialog.message.chars().nth(MOST_NAME).is_some() { effect.value("dialog", &dialog.message) } else { effect };
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
    let effect = effect.origin(address::origin(url)).in_tab(handle.tab.target().as_str());
    permit(call, effect.value("script", script)).map(drop)
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
    let origin = address::origin(url);
    let (action, why) = (format!("upload {}", names.join(", ")), "the page gets a file of this machine");
    let mut contents = Contents::default();
    if call.scope.guard().is_some() {
        let added = paths.iter().try_for_each(|path| contents.add(path, 0));
        added.map_err(|why| unshowable(&Effect::new(EffectKind::Upload, action.as_str(), "", &[]), &why))?;
    }
    let bound = [contents.sums.as_str(), handle.tab.target().as_str(), origin.as_str()];
    let effect = Effect::new(EffectKind::Upload, action, why, &bound).origin(origin.as_str());
    let effect = effect.in_tab(handle.tab.target().as_str());
    permit(call, names.iter().fold(effect, |effect, name| effect.value("file", name))).map(drop)
}

/// The content of files and folders to upload: a file that has changed since is another one.
#[derive(Default)]
struct Contents {
    sums: String,
    bytes: u64,
    files: usize,
}

impl Contents {
    /// Adds a file, or all files of a folder. The reason if there are too many or too much.
    fn add(&mut self, path: &std::path::Path, depth: usize) -> Result<(), String> {
        let failed = |problem: std::io::Error| format!("{} cannot be read: {problem}", path.display());
        if path.is_dir() {
            let mut inside: Vec<_> = Vec::new();
            for entry in std::fs::read_dir(path).map_err(failed)? {
                inside.push(entry.map_err(failed)?.path());
            }
            inside.sort();
            if depth > MOST_DEPTH {
                return Err(format!("it has folders in more than {MOST_DEPTH} levels"));
            }
            return inside.iter().try_for_each(|inner| self.add(inner, depth + 1));
        }
        self.bytes += std::fs::metadata(path).map_err(failed)?.len();
        self.files += 1;
        if self.bytes > MOST_FILE {
            return Err("it is more than 10 MB".to_owned());
        }
        if self.files > super::MOST_VALUES {
            return Err(format!("it is more than {} files", super::MOST_VALUES));
        }
        let content = std::fs::read(path).map_err(failed)?;
        let sum = super::fingerprint_of([&*path.to_string_lossy()].iter(), &content);
        self.sums.push_str(&sum);
        Ok(())
    }
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
    // The top frame has the id of its target. A redirect is several requests, and the last one is repeated.
    let is_document = |request: &&std::sync::Arc<NetworkRequest>| {
        let in_top = request.frame_id.as_ref().is_none_or(|frame| frame.as_str() == handle.tab.target().as_str());
        in_top && request.resource_type.eq_ignore_ascii_case("document")
    };
    let Some(last) = requests.iter().rev().find(is_document) else { return Ok(()) };
    if matches!(&*last.method, "GET" | "HEAD") {
        return Ok(());
    }
    let why = format!("the page is the answer to a form, which is sent again by {}", last.method);
    let bound = [handle.tab.target().as_str(), &*last.id, &*last.url];
    let effect = Effect::new(EffectKind::Submit, "load the page again", why, &bound);
    let effect = effect.origin(address::origin(&last.url)).in_tab(handle.tab.target().as_str());
    permit(call, effect.destination(&*last.url)).map(drop)
}
