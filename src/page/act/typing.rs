//! Typing.
//!
//! Key events go to the page's session: Chromium delivers them to the focused frame, of any process. Each character
//! with a key on the US layout is sent as that key, down and up; a line break is Enter, which ends a line in a text
//! area and submits a form from a single-line field; all other characters (tabs, accents, emoji, other scripts) are
//! inserted as text, without key events.
//!
//! A dialog that opens in between ends the typing. The answer then reports how many characters the page has handled
//! (`typed`) of how many (`of`), and how many more may arrive once the dialog is answered because they were already
//! sent (`mayFollow`).

use serde::Deserialize;
use serde_json::json;

use super::super::input::keys::Chord;
use super::super::world::Node;
use super::super::{Error, Tab};
use super::actionability::{Needs, Ready};
use super::input_probe::is_end;
use super::keyboard::FocusIn;
use super::{Act, Input, Locator, Performed};
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
    /// A hash of its content.
    pub(super) was: i64,
}

/// The answer of the in-page call `tookText`: how a field accepted a text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextCheck {
    pub(super) gone: bool,
    pub(super) same: bool,
    pub(super) empty: bool,
    pub(super) now: i64,
    pub(super) bad: bool,
    /// Whether the focus moved to something that does not accept text.
    pub(super) lost: bool,
    #[serde(rename = "type")]
    pub(super) type_: String,
    pub(super) most: Option<u64>,
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
            self.check_focus(deadline)?;
            let typed = if input == Some(Input::Synthetic) {
                self.synthetic_text(None, &text, how, deadline)?
            } else {
                self.send_text(&text, how, None, deadline)?
            };
            return Ok(performed(typed, None));
        }
        self.check_kind(at, how.force, deadline)?;
        let ready = self.ready(at, Needs::EDIT, how.force, deadline)?;
        let mode = if how.append { Mode::Append } else { Mode::Replace };
        let focused = self.focus_field(&ready, at, mode, deadline)?;
        let with_secrets = self.with_secrets(&text, act, Some((&ready, at)), deadline)?;
        let how = Typing { has_secret: with_secrets.is_some(), ..how };
        let text = with_secrets.unwrap_or(text);
        match focused.kind.as_str() {
            "line" if how.insert_lines && text.contains(['\n', '\r']) => {
                let problem = "it is a single-line field, but the text has line breaks; remove them".to_owned();
                return Err(Error::BadRequest { problem });
            }
            "line" | "lines" | "rich" => {}
            "picked" => {
                self.set_field(&ready, at, &text, deadline)?;
                let submit = if how.submit { "\n" } else { "" };
                let typed = self.send_text(submit, Typing { submit: false, ..how }, None, deadline)?;
                return Ok(performed(typed, Some(ready)));
            }
            other => return Err(not_typed(at, other)),
        }
        let typed = if input == Some(Input::Synthetic) {
            self.synthetic_text(Some((&ready.node, mode)), &text, how, deadline)?
        } else {
            self.type_into(&ready, &focused, mode, &text, how, deadline)?
        };
        self.check_keys(&ready, at, deadline)?;
        if !typed.blocked && !how.submit {
            self.check_taken(&ready, at, &focused, &text, mode, deadline)?;
        }
        Ok(performed(typed, Some(ready)))
    }

    /// Ends the blocking of keys for an element that is bound to what a preview has shown.
    ///
    /// # Errors
    /// [`Error::StaleRef`] when keys were blocked, because it was no longer that.
    pub(super) fn check_keys(&self, ready: &Ready, at: &Locator, deadline: Deadline<'_>) -> Result<(), Error> {
        // A document that is gone has received them.
        let were_blocked = || self.call_on_node(&ready.node, "keysBlocked", &json!({}), deadline).unwrap_or(false);
        if ready.bound.is_some() && were_blocked() {
            let why = "it has changed since the preview; keys for it were blocked";
            return Err(Error::StaleRef { reference: named(at), why });
        }
        Ok(())
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
                    "another frame took the focus while typing; {sent} of {of} characters had been sent, and the last ones may have gone to that frame"
                );
                Err(Error::not_actionable("the password field", reason))
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

    /// Fails with the reason when a field accepted nothing of a text.
    fn check_taken(
        &self,
        ready: &Ready,
        at: &Locator,
        focused: &Focused,
        text: &str,
        mode: Mode,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        if focused.kind != "line" || text.contains('\n') || text.is_empty() || mode != Mode::Replace {
            return Ok(());
        }
        let Some(result) = self.took(ready, text, deadline) else { return Ok(()) };
        let nothing = !result.same && (result.empty || (result.now == focused.was && result.bad));
        if nothing && !result.gone {
            let reason = refusal(&result);
            return Err(Error::not_actionable(named(at), reason));
        }
        Ok(())
    }

    /// How a field accepted a text; `None` when it can no longer be checked.
    pub(super) fn took(&self, ready: &Ready, text: &str, deadline: Deadline<'_>) -> Option<TextCheck> {
        let args = json!({ "id": ready.node.id, "text": text });
        self.call_on_node(&ready.node, "tookText", &args, deadline).ok()
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
    /// Insert line breaks instead of pressing Enter.
    pub(super) insert_lines: bool,
}

impl Typing {
    /// The way of an action, with defaults for the rest.
    pub(super) fn of(act: &Act) -> Self {
        Self { force: act.force, insert_lines: act.insert_lines, ..Self::default() }
    }
}

/// Why a field did not accept a text.
pub(super) fn refusal(took: &TextCheck) -> String {
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

fn performed(typed: Typed, ready: Option<Ready>) -> Performed {
    let rescued = ready.as_ref().is_some_and(|ready| ready.rescued);
    let element = ready.map(|ready| ready.shown);
    let result = typed.blocked.then(|| json!({ "typed": typed.sent, "of": typed.of, "mayFollow": typed.follows }));
    Performed { result, input: typed.synthetic.then_some(Input::Synthetic), rescued, element, ..Performed::default() }
}
