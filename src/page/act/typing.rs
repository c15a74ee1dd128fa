//! Typing.
//!
//! Key events go to the page's session: Chromium delivers them to the focused frame, of any process. Each character
//! with a key on the US layout is sent as that key, down and up; all other characters (tabs, accents, emoji, other scripts)
//! are inserted as text, without key events. A line break is text in a text area and Shift+Enter in an editor, because Enter
//! may send what was typed so far; only `submit` presses Enter.
//!
//! Keys for a given field go to that field alone: when the page moves the focus, they are kept from it, and the error says how
//! much was typed. Afterwards the content is read back. If the page has changed it more than by formatting, it is typed once
//! more, slowly; what then differs is an error, and what is only formatted is reported as `taken`.
//!
//! A dialog that opens in between ends the typing. The answer then reports how many characters the page has handled
//! (`typed`) of how many (`of`), and how many more may arrive once the dialog is answered because they were already
//! sent (`mayFollow`).

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::super::input::keys::Chord;
use super::super::world::Node;
use super::super::{Error, Tab};
use super::actionability::{Needs, Ready};
use super::input_probe::is_end;
use super::keyboard::FocusIn;
use super::{Act, Input, Locator, Performed};
use crate::cdp::protocol::page::FrameId;
use crate::sync::Deadline;

/// The answer of the in-page call `focusField`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Focused {
    /// Whether the field was removed.
    pub(super) gone: bool,
    /// `line`, `lines`, `rich`, `picked`, `ticked`, `choice`, `file`, `other`.
    pub(super) kind: String,
    /// The type of an `<input>`.
    #[serde(rename = "type")]
    pub(super) type_: String,
    /// Why it does not have the focus.
    pub(super) problem: Option<String>,
    /// Whether the whole content of the editor is to be replaced.
    pub(super) whole: bool,
    /// Whether it is empty.
    pub(super) empty: bool,
}

/// The answer of the in-page call `tookText`: how a field accepted a text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TextCheck {
    gone: bool,
    same: bool,
    /// Whether only its format differs, or it was completed.
    like: bool,
    /// Whether the text is kept elsewhere, as by an editor of code.
    unknown: bool,
    /// Whether it is there without its line breaks.
    joined: bool,
    empty: bool,
    /// Whether it is empty although the page reacted: the page took the keys.
    spent: bool,
    now: i64,
    bad: bool,
    /// The content, of a secret field as bullets. Untrusted.
    held: String,
    #[serde(rename = "type")]
    type_: String,
    most: Option<u64>,
}

/// The answer of the in-page call `keysBlocked`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct KeysBlocked {
    /// Whether the field was no longer what a preview has shown.
    blocked: bool,
    /// What had the focus instead of the field.
    away: Option<String>,
    /// Keys that were kept from the page.
    kept: usize,
}

/// How a field took a text.
enum Taken {
    /// As it was given, or that cannot be known.
    Whole,
    /// In another format.
    As(String),
    /// Otherwise: why, whether typing it once more may help, and whether only the line breaks are missing.
    Wrong { reason: String, may_repeat: bool, is_joined: bool },
}

/// How typing into a field ended.
pub(super) struct TypedInto {
    pub(super) typed: Typed,
    /// What the field holds, if that differs from the text.
    pub(super) taken: Option<String>,
}

/// What happens to the content of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Replace,
    Append,
    Keep,
    /// As `Keep`; it is focused although an element inside has the focus already.
    Itself,
}

impl Mode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Append => "append",
            Self::Keep => "none",
            Self::Itself => "itself",
        }
    }
}

/// Whether an element is a part of a table, which may become a field when it is clicked.
fn is_cell(tag: &str, role: &str) -> bool {
    matches!(tag, "td" | "th" | "tr") || matches!(role, "gridcell" | "cell" | "row" | "columnheader" | "rowheader")
}

/// Longest text that is typed once more, slowly, in characters.
const MOST_REPEATED: usize = 200;
/// Time for ending the keeping of keys.
const RELEASE: Duration = Duration::from_secs(2);

/// The progress of typing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Typed {
    /// Characters that the page has handled.
    pub(super) sent: usize,
    /// Characters of the whole text.
    pub(super) of: usize,
    /// Characters that may arrive when the dialog is answered.
    pub(super) follows: usize,
    /// Whether a dialog interrupted the typing.
    pub(super) blocked: bool,
    /// Whether the events were dispatched by script.
    pub(super) synthetic: bool,
}

impl Tab {
    /// Types a text into a field, or into the focused one.
    pub(super) fn type_text(
        &self,
        act: &Act,
        at: &Locator,
        text: &str,
        how: Typing,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        let (text, input) = (text.replace("\r\n", "\n"), act.input);
        if at.reference.is_none() && at.selector.is_none() {
            self.with_secrets(&text, act, None, deadline)?;
            let kind = self.focused_kind(deadline)?;
            if kind == "line" && text.contains('\n') {
                let problem =
                    "the focused field has a single line, but the text has line breaks; remove them".to_owned();
                return Err(Error::BadRequest { problem });
            }
            let breaks = match kind.as_str() {
                "rich" => Breaks::Soft,
                "lines" => Breaks::Text,
                _ => Breaks::Enter,
            };
            let how = Typing { breaks, ..how };
            let typed = if input == Some(Input::Synthetic) {
                self.synthetic_text(None, &text, how, deadline)?
            } else {
                self.send_text(&text, how, None, deadline)?
            };
            return Ok(performed(typed, None, None));
        }
        self.check_kind(at, how.force, deadline)?;
        let ready = self.ready(at, Needs::EDIT, how.force, deadline)?;
        let mode = if how.append { Mode::Append } else { Mode::Replace };
        let focused = self.focus_field(&ready, at, mode, deadline)?;
        let with_secrets = self.with_secrets(&text, act, Some((&ready, at)), deadline)?;
        let how = Typing { has_secret: with_secrets.is_some(), ..how };
        let text = with_secrets.unwrap_or(text);
        match focused.kind.as_str() {
            "line" | "lines" | "rich" => {}
            "picked" => {
                self.set_field(&ready, at, &text, deadline)?;
                let submit = if how.submit { "\n" } else { "" };
                let typed =
                    self.send_text(submit, Typing { submit: false, breaks: Breaks::Enter, ..how }, None, deadline)?;
                return Ok(performed(typed, None, Some(ready)));
            }
            other => return Err(not_typed(at, other)),
        }
        let done = self.type_checked((&ready, at), focused, mode, &text, how, input, deadline)?;
        let TypedInto { mut typed, taken } = done;
        if how.submit && !typed.blocked {
            let pressed = self.submit_typed((&ready, at), how, input, deadline)?;
            (typed.blocked, typed.synthetic) = (pressed.blocked, typed.synthetic || pressed.synthetic);
        }
        Ok(performed(typed, taken, Some(ready)))
    }

    /// Presses Enter after a field was typed into. Under a preview only if the field still leads where it did when the typing began.
    fn submit_typed(
        &self,
        (ready, at): (&Ready, &Locator),
        how: Typing,
        input: Option<Input>,
        deadline: Deadline<'_>,
    ) -> Result<Typed, Error> {
        let why = "it changed while the text was typed; the text is in it, Enter was not pressed";
        let stale = || Error::StaleRef { reference: named(at), why };
        if ready.bound.is_some() {
            #[derive(Deserialize)]
            struct Guarded {
                changed: bool,
            }
            // A document that is gone has no field to press Enter in.
            match self.call_on_node::<Guarded>(&ready.node, "guardEnter", &json!({}), deadline) {
                Ok(Guarded { changed: false }) => {}
                Ok(_) => return Err(stale()),
                Err(error) if is_end(&error) => return Err(stale()),
                Err(error) => return Err(error),
            }
        }
        let enter = Typing { breaks: Breaks::Enter, submit: false, ..how };
        let pressed = match input {
            Some(Input::Synthetic) => self.synthetic_text(None, "\n", enter, deadline),
            _ => self.send_text("\n", enter, None, deadline),
        };
        if ready.bound.is_some() {
            if pressed.as_ref().is_ok_and(|pressed| pressed.blocked) {
                self.post_to(&ready.node.frame, "keysBlocked", &());
                return pressed;
            }
            // A document that is gone has received it.
            let kept: KeysBlocked = self
                .call_on_node(&ready.node, "keysBlocked", &json!({}), deadline.renewed(RELEASE))
                .unwrap_or_default();
            if kept.blocked || kept.away.is_some() {
                return Err(stale());
            }
        }
        pressed
    }

    /// Types into a field and reads back what it took. Its content is selected, or its caret is at the end. A text that the page has
    /// taken in another way is typed once more, slowly, for pages that format after each key.
    ///
    /// # Errors
    /// [`Error::NotActionable`] when the field does not hold the text, or the page moves the focus; [`Error::StaleRef`] when it is no
    /// longer what a preview has shown.
    #[allow(clippy::too_many_arguments)] // two callers, which have all of them
    pub(super) fn type_checked(
        &self,
        (ready, at): (&Ready, &Locator),
        focused: Focused,
        mode: Mode,
        text: &str,
        how: Typing,
        input: Option<Input>,
        deadline: Deadline<'_>,
    ) -> Result<TypedInto, Error> {
        if focused.kind == "line" && text.contains('\n') {
            let problem = "it is a single-line field, but the text has line breaks; remove them".to_owned();
            return Err(Error::BadRequest { problem });
        }
        let breaks = if focused.kind == "rich" { Breaks::Soft } else { Breaks::Text };
        let how = Typing { submit: false, breaks, ..how };
        let (mut focused, mut how, mut is_second) = (focused, how, false);
        loop {
            let others = self.keep_keys(&ready.node, deadline);
            let outcome = if input == Some(Input::Synthetic) {
                self.synthetic_text(Some((&ready.node, mode)), text, how, deadline)
            } else {
                self.type_into(ready, &focused, mode, text, how, deadline)
            };
            let taken = match &outcome {
                Ok(typed) if !typed.blocked => Some(self.taken(ready, &focused, text, mode, how, deadline)),
                _ => None,
            };
            let typed = match outcome {
                Ok(typed) if !typed.blocked => typed,
                // The page does not answer now: keys are released when it does.
                ended => {
                    for frame in others.iter().chain([&ready.node.frame]) {
                        self.post_to(frame, "keysBlocked", &());
                    }
                    return ended.map(|typed| TypedInto { typed, taken: None });
                }
            };
            let away = self.release_keys(ready, at, &others, deadline.renewed(RELEASE))?;
            let taken = match (away, taken) {
                (Some((place, kept)), _) => {
                    let count = typed.sent.saturating_sub(kept);
                    let reason = format!(
                        "the page moved the focus to {place} after {count} of {} characters; the rest was not typed",
                        typed.of
                    );
                    Taken::Wrong { reason, may_repeat: mode == Mode::Replace, is_joined: false }
                }
                (None, taken) => taken.unwrap_or(Taken::Whole),
            };
            let again = match &taken {
                Taken::Wrong { may_repeat: true, .. }
                    if !is_second && mode == Mode::Replace && typed.of <= MOST_REPEATED =>
                {
                    self.focus_field(ready, at, mode, deadline).ok()
                }
                _ => None,
            };
            let is_joined = matches!(taken, Taken::Wrong { is_joined: true, .. });
            match taken {
                Taken::Whole => return Ok(TypedInto { typed, taken: None }),
                Taken::As(held) => return Ok(TypedInto { typed, taken: Some(held) }),
                Taken::Wrong { reason, .. } => match again {
                    Some(again) => {
                        (is_second, how.slowly) = (true, true);
                        if is_joined {
                            how = Typing { breaks: Breaks::Paragraph, slowly: false, ..how };
                        }
                        focused = again;
                    }
                    None => return Err(Error::not_actionable(named(at), reason)),
                },
            }
        }
    }

    /// Keeps keys from the other frames while text is typed into one. Returns these frames.
    fn keep_keys(&self, node: &Node, deadline: Deadline<'_>) -> Vec<FrameId> {
        let now = self.supervisor.view();
        let frames = now.frames_of(self.target.as_str()).filter(|frame| frame.frame_id != node.frame);
        let others: Vec<FrameId> = frames.map(|frame| frame.frame_id.clone()).collect();
        // A frame that does not answer shows no text field either.
        if !others.is_empty() {
            self.call_all::<serde_json::Value, _>(&others, "keepKeys", |_| json!({}), deadline);
        }
        others
    }

    /// Ends the keeping of keys. What had the focus instead of the field, and how many keys were kept from it.
    ///
    /// # Errors
    /// [`Error::StaleRef`] when keys were blocked, because the field was no longer what a preview has shown.
    fn release_keys(
        &self,
        ready: &Ready,
        at: &Locator,
        others: &[FrameId],
        deadline: Deadline<'_>,
    ) -> Result<Option<(String, usize)>, Error> {
        // A document that is gone has received them.
        let own: KeysBlocked = self.call_on_node(&ready.node, "keysBlocked", &json!({}), deadline).unwrap_or_default();
        if ready.bound.is_some() && own.blocked {
            let why = "it has changed since the preview; keys for it were blocked";
            return Err(Error::StaleRef { reference: named(at), why });
        }
        let mut away = own.away.map(|place| (place, own.kept));
        if !others.is_empty() {
            for other in self.call_all::<KeysBlocked, _>(others, "keysBlocked", |_| json!({}), deadline) {
                let Ok((_, done)) = other else { continue };
                away = away
                    .or_else(|| done.result.away.map(|place| (format!("{place} in another frame"), done.result.kept)));
            }
        }
        Ok(away)
    }

    /// How a field has taken a text.
    fn taken(
        &self,
        ready: &Ready,
        focused: &Focused,
        text: &str,
        mode: Mode,
        how: Typing,
        deadline: Deadline<'_>,
    ) -> Taken {
        let args = json!({ "id": ready.node.id, "text": text, "append": mode == Mode::Append });
        // A document that is gone has taken it.
        let took = self.call_on_node::<TextCheck>(&ready.node, "tookText", &args, deadline);
        let Ok(took) = took else { return Taken::Whole };
        if took.joined {
            let reason = "it ignores line breaks: the text is in it as one line".to_owned();
            return Taken::Wrong { reason, may_repeat: true, is_joined: true };
        }
        if took.gone || took.same || took.unknown {
            return Taken::Whole;
        }
        if let Some(most) = took.most {
            let reason = format!("it accepts at most {most} characters");
            return Taken::Wrong { reason, may_repeat: false, is_joined: false };
        }
        if took.spent && !took.bad && mode == Mode::Replace {
            return Taken::As(String::new());
        }
        if took.bad || (took.empty && !text.is_empty()) {
            return Taken::Wrong { reason: refusal(&took), may_repeat: !took.bad, is_joined: false };
        }
        let held = if how.has_secret { "•".repeat(took.held.chars().count().min(100)) } else { took.held };
        if took.like || focused.kind == "rich" {
            return Taken::As(held);
        }
        let reason = format!(
            "it does not hold the text after it was typed, but {held:?}; the page may format or restrict what is typed there"
        );
        Taken::Wrong { reason, may_repeat: true, is_joined: false }
    }

    /// Moves the focus to an element.
    pub(super) fn focus_on(&self, at: &Locator, force: bool, deadline: Deadline<'_>) -> Result<Performed, Error> {
        let ready = self.ready(at, Needs { enabled: true, ..Needs::FOCUS }, force, deadline)?;
        self.focus_field(&ready, at, Mode::Itself, deadline)?;
        Ok(Performed { rescued: ready.rescued, element: Some(ready.shown), ..Performed::default() })
    }

    /// Fails at once for elements that never accept text, instead of waiting.
    fn check_kind(&self, at: &Locator, force: bool, deadline: Deadline<'_>) -> Result<(), Error> {
        let ready = self.ready(at, Needs::PRESENT, force, deadline)?;
        match (ready.tag.as_str(), ready.kind.as_str()) {
            ("select", _) => Err(not_typed(at, "choice")),
            ("input", "checkbox" | "radio") => Err(not_typed(at, "ticked")),
            ("input", "file") => Err(not_typed(at, "file")),
            ("input", "button" | "submit" | "reset" | "image" | "hidden") | ("button" | "a" | "img", _) => {
                Err(not_typed(at, "other"))
            }
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", _) if !ready.editable => Err(not_typed(at, "other")),
            (tag, _) if !ready.editable && is_cell(tag, &ready.shown.role) => {
                let reason =
                    "it is no field; click or double-click it, and then use type without an element if it becomes one";
                Err(Error::not_actionable(named(at), reason.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Focuses a field and selects the content to replace.
    pub(super) fn focus_field(
        &self,
        ready: &Ready,
        at: &Locator,
        mode: Mode,
        deadline: Deadline<'_>,
    ) -> Result<Focused, Error> {
        let args = json!({ "id": ready.node.id, "mode": mode.name(), "identity": ready.bound });
        let focused: Focused = self.call_on_node(&ready.node, "focusField", &args, deadline)?;
        if focused.gone {
            return Err(gone(at));
        }
        match focused.problem {
            Some(reason) => Err(Error::not_actionable(named(at), reason)),
            None => Ok(focused),
        }
    }

    /// Types into the focused field, whose content is selected.
    pub(super) fn type_into(
        &self,
        ready: &Ready,
        focused: &Focused,
        mode: Mode,
        text: &str,
        how: Typing,
        deadline: Deadline<'_>,
    ) -> Result<Typed, Error> {
        let mut before = Vec::new();
        if mode == Mode::Replace {
            // Editors that draw their own text only know their own selection.
            if focused.whole && (focused.kind == "lines" || !focused.empty) {
                let all = Chord::parse("ControlOrMeta+a").map_err(|problem| Error::BadRequest { problem })?;
                before.extend(all.on(ready.mac).events(1, ready.mac));
            }
            if text.is_empty() && !focused.empty {
                let delete = Chord::parse("Delete").map_err(|problem| Error::BadRequest { problem })?;
                before.extend(delete.events(1, ready.mac));
            }
        }
        match self.send_keys(before, deadline).1 {
            Err(error) if error.is_blocked_by_dialog() && self.has_dialog() => {
                let of = text.chars().count();
                return Ok(Typed { sent: 0, of, follows: 0, blocked: true, synthetic: false });
            }
            outcome => outcome?,
        }
        // A frame of another site could take the focus, and with it the rest of a password.
        let is_secret = how.has_secret || focused.type_ == "password";
        let watched = is_secret && self.supervisor.view().frames_of(self.target.as_str()).count() > 1;
        let how = Typing { watched, ..how };
        let typed = self.send_text(text, how, Some((&ready.node, mode)), deadline)?;
        if watched && !how.submit && !typed.blocked && !typed.synthetic {
            self.check_still_focused(&ready.node, typed.sent, typed.of, deadline)?;
        }
        Ok(typed)
    }

    /// Fails when the document of the field has lost the focus.
    pub(super) fn check_still_focused(
        &self,
        node: &Node,
        sent: usize,
        of: usize,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        match self.call_in::<FocusIn>(&node.frame, &node.doc, "focus", &json!({}), deadline) {
            Ok(done) if done.result.has => Ok(()),
            // The next call reports that the field is gone or blocked.
            Err(error) if error.is_blocked_by_dialog() => Ok(()),
            Err(error) if !is_end(&error) => Err(error),
            _ => {
                let reason = format!(
                    "the page moved the focus to another frame after {sent} of {of} characters; the rest was not typed"
                );
                Err(Error::not_actionable("the field", reason))
            }
        }
    }

    /// Calls into the document of a node.
    pub(in crate::page) fn call_on_node<T: serde::de::DeserializeOwned>(
        &self,
        node: &Node,
        name: &str,
        args: &serde_json::Value,
        deadline: Deadline<'_>,
    ) -> Result<T, Error> {
        Ok(self.call_in(&node.frame, &node.doc, name, args, deadline)?.result)
    }

    pub(super) fn has_dialog(&self) -> bool {
        self.supervisor.view().dialogs_of(self.target.as_str()).next().is_some()
    }
}

/// How to type a text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Typing {
    pub(super) submit: bool,
    pub(super) slowly: bool,
    pub(super) append: bool,
    pub(super) force: bool,
    /// Whether a stored secret is part of the text.
    pub(super) has_secret: bool,
    /// Send each character only while the field's document has the focus.
    pub(super) watched: bool,
    pub(super) breaks: Breaks,
}

/// How to type a line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Breaks {
    /// As text.
    #[default]
    Text,
    /// Shift+Enter: in an editor Enter may send.
    Soft,
    /// As a new paragraph, without a key: for editors that ignore Shift+Enter.
    Paragraph,
    /// Enter: for `submit`, and for what is not a field.
    Enter,
}

impl Typing {
    /// The way of an action, with defaults for the rest.
    pub(super) fn of(act: &Act) -> Self {
        Self { force: act.force, ..Self::default() }
    }
}

/// Why a field did not accept a text.
fn refusal(took: &TextCheck) -> String {
    match (took.type_.as_str(), took.most) {
        ("number", _) => "it did not accept the text; it accepts numbers only, like 12.5".to_owned(),
        (_, Some(0)) => "it did not accept the text; its maxlength is 0".to_owned(),
        _ => "it did not accept the text; the page may block keys there, or restore its own value".to_owned(),
    }
}

/// An element in error messages.
pub(super) fn named(at: &Locator) -> String {
    match (&at.reference, &at.selector) {
        (Some(reference), _) => format!("e{}", reference.trim_start_matches(['@', 'e'])),
        (None, Some(selector)) => format!("the element {selector:?}"),
        (None, None) => "the focused element".to_owned(),
    }
}

pub(super) fn gone(at: &Locator) -> Error {
    match &at.reference {
        Some(_) => Error::StaleRef { reference: named(at), why: "its element was removed from the document" },
        None => Error::not_actionable(named(at), "it was removed from the document"),
    }
}

fn not_typed(at: &Locator, kind: &str) -> Error {
    let reason = match kind {
        "choice" => "it is a list of options; use select",
        "ticked" => "it is a checkbox or radio button; use check or uncheck",
        "file" => "it is a file input; use upload",
        _ => "it does not accept text",
    };
    Error::not_actionable(named(at), reason)
}

fn performed(typed: Typed, taken: Option<String>, ready: Option<Ready>) -> Performed {
    let rescued = ready.as_ref().is_some_and(|ready| ready.rescued);
    let element = ready.map(|ready| ready.shown);
    let result = match taken {
        _ if typed.blocked => Some(json!({ "typed": typed.sent, "of": typed.of, "mayFollow": typed.follows })),
        taken => taken.map(|taken| json!({ "taken": taken })),
    };
    Performed { result, input: typed.synthetic.then_some(Input::Synthetic), rescued, element, ..Performed::default() }
}
