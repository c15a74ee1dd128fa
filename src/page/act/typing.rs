//! The keyboard.
//!
//! Key events go to the page's own session: Chromium hands them to whatever frame has the focus, of any
//! process. Each character that the US layout has a key for is sent as that key, going down and up; a
//! line break is Enter, which ends a line in a text area and submits a form from a field of one line;
//! everything else (tabs, accents, emoji, other scripts) is put in as text, without key events.
//!
//! A dialog that opens in between ends the typing. The answer then tells how many characters the page has
//! handled (`typed`), how many there are (`of`), and how many of the rest may come in once the dialog is answered,
//! since they were under way already (`mayFollow`).

use serde::Deserialize;
use serde_json::json;

use super::super::input::keys::Chord;
use super::super::world::Node;
use super::super::{Error, Tab};
use super::arrive::is_end;
use super::keyboard::FocusIn;
use super::ready::{Needs, Ready};
use super::{Act, ActKind, Did, Input, Locator};
use crate::sync::Deadline;

/// How a field is prepared for typing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Focused {
    /// It is not there any more.
    pub(super) gone: bool,
    /// `line`, `lines`, `rich`, `picked`, `ticked`, `choice`, `file`, `other`.
    pub(super) kind: String,
    /// The type of an input.
    #[serde(rename = "type")]
    pub(super) type_: String,
    /// Why it does not have the focus.
    pub(super) problem: Option<String>,
    /// All that is edited together is meant.
    pub(super) whole: bool,
    /// There is nothing in it.
    pub(super) empty: bool,
    /// Stands for what is in it.
    pub(super) was: i64,
}

/// How a field took a text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Took {
    pub(super) gone: bool,
    pub(super) same: bool,
    pub(super) empty: bool,
    pub(super) now: i64,
    pub(super) bad: bool,
    /// The focus has gone to something that takes no text.
    pub(super) lost: bool,
    #[serde(rename = "type")]
    pub(super) type_: String,
    pub(super) most: Option<u64>,
}

/// What becomes of the content of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Replace,
    Append,
    Keep,
}

impl Mode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Append => "append",
            Self::Keep => "none",
        }
    }
}

/// How far a text came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Typed {
    /// Characters that the page has handled.
    pub(super) sent: usize,
    /// Characters that there are.
    pub(super) of: usize,
    /// Characters that may come in when the dialog is answered.
    pub(super) follows: usize,
    /// A dialog opened meanwhile.
    pub(super) blocked: bool,
    /// The events were dispatched by script.
    pub(super) synthetic: bool,
}

impl Tab {
    /// [`ActKind::Type`], [`ActKind::InsertText`] and [`ActKind::Press`].
    pub(super) fn write(&self, act: &Act, deadline: Deadline) -> Result<Did, Error> {
        self.emulate_focus();
        match &act.kind {
            ActKind::Type { at, text, submit, slowly, append } => {
                let how =
                    Typing { submit: *submit, slowly: *slowly, append: *append, force: act.force, watched: false };
                self.type_text(at, text, how, act.input, deadline)
            }
            ActKind::InsertText { text } => self.insert(text, deadline),
            ActKind::Focus { at } => self.focus_on(at, act.force, deadline),
            ActKind::Press { at, key, repeat } => self.press(act, at, key, repeat.unwrap_or(1), deadline),
            _ => Err(Error::BadRequest { problem: "this is nothing for the keyboard".to_owned() }),
        }
    }

    fn type_text(
        &self,
        at: &Locator,
        text: &str,
        how: Typing,
        input: Option<Input>,
        deadline: Deadline,
    ) -> Result<Did, Error> {
        let text = text.replace("\r\n", "\n");
        if at.reference.is_none() && at.selector.is_none() {
            self.check_focus(deadline)?;
            let typed = if input == Some(Input::Synthetic) {
                self.synthetic_text(None, &text, how.submit, deadline)?
            } else {
                self.send_text(&text, how, None, deadline)?
            };
            return Ok(did(typed, None));
        }
        self.check_kind(at, how.force, deadline)?;
        let ready = self.ready(at, Needs::EDIT, how.force, deadline)?;
        let mode = if how.append { Mode::Append } else { Mode::Replace };
        let focused = self.focus_field(&ready, at, mode, deadline)?;
        match focused.kind.as_str() {
            "line" | "lines" | "rich" => {}
            "picked" => {
                self.set_field(&ready, at, &text, deadline)?;
                let submit = if how.submit { "\n" } else { "" };
                let typed = self.send_text(submit, Typing { submit: false, ..how }, None, deadline)?;
                return Ok(did(typed, Some(ready)));
            }
            other => return Err(not_typed(at, other)),
        }
        let typed = if input == Some(Input::Synthetic) {
            self.synthetic_text(Some((&ready.node, mode)), &text, how.submit, deadline)?
        } else {
            self.type_into(&ready, &focused, mode, &text, how, deadline)?
        };
        if !typed.blocked && !how.submit {
            self.check_taken(&ready, at, &focused, &text, mode, deadline)?;
        }
        Ok(did(typed, Some(ready)))
    }

    /// Gives an element the focus.
    fn focus_on(&self, at: &Locator, force: bool, deadline: Deadline) -> Result<Did, Error> {
        let ready = self.ready(at, Needs { enabled: true, ..Needs::FOCUS }, force, deadline)?;
        self.focus_field(&ready, at, Mode::Keep, deadline)?;
        Ok(Did { rescued: ready.rescued, element: Some(ready.shown), ..Did::default() })
    }

    /// Fails at once for what will never take text, instead of waiting until it does.
    fn check_kind(&self, at: &Locator, force: bool, deadline: Deadline) -> Result<(), Error> {
        let ready = self.ready(at, Needs::PRESENT, force, deadline)?;
        match (ready.tag.as_str(), ready.kind.as_str()) {
            ("select", _) => Err(not_typed(at, "choice")),
            ("input", "checkbox" | "radio") => Err(not_typed(at, "ticked")),
            ("input", "file") => Err(not_typed(at, "file")),
            ("input", "button" | "submit" | "reset" | "image" | "hidden") => Err(not_typed(at, "other")),
            _ => Ok(()),
        }
    }

    /// Focuses a field and selects what is to be replaced.
    pub(super) fn focus_field(
        &self,
        ready: &Ready,
        at: &Locator,
        mode: Mode,
        deadline: Deadline,
    ) -> Result<Focused, Error> {
        let args = json!({ "id": ready.node.id, "mode": mode.name() });
        let focused: Focused = self.call_on_node(&ready.node, "focusField", &args, deadline)?;
        if focused.gone {
            return Err(gone(at));
        }
        match focused.problem {
            Some(reason) => Err(Error::NotActionable { what: named(at), reason, covered_by: None }),
            None => Ok(focused),
        }
    }

    /// Types into the focused field whose content is selected.
    pub(super) fn type_into(
        &self,
        ready: &Ready,
        focused: &Focused,
        mode: Mode,
        text: &str,
        how: Typing,
        deadline: Deadline,
    ) -> Result<Typed, Error> {
        let mut before = Vec::new();
        if mode == Mode::Replace {
            // Editors that draw their text themselves know of their own selection only.
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
        let watched = focused.type_ == "password" && self.supervisor.view().frames_of(self.target.as_str()).count() > 1;
        let how = Typing { watched, ..how };
        let typed = self.send_text(text, how, Some((&ready.node, mode)), deadline)?;
        if watched && !how.submit && !typed.blocked && !typed.synthetic {
            self.check_still_focused(&ready.node, typed.sent, typed.of, deadline)?;
        }
        Ok(typed)
    }

    /// Fails when another document has the focus than that of a field which is typed into.
    pub(super) fn check_still_focused(
        &self,
        node: &Node,
        sent: usize,
        of: usize,
        deadline: Deadline,
    ) -> Result<(), Error> {
        match self.call_in::<FocusIn>(&node.frame, &node.doc, "focus", &json!({}), deadline) {
            Ok(done) if done.result.has => Ok(()),
            // The field itself is told to be gone, or blocked, by what comes next.
            Err(error) if error.is_blocked_by_dialog() => Ok(()),
            Err(error) if !is_end(&error) => Err(error),
            _ => {
                let reason = format!(
                    "another frame took the focus while the text was typed; {sent} of {of} characters were sent by then, and the last ones may have gone there"
                );
                Err(Error::NotActionable { what: "the password field".to_owned(), reason, covered_by: None })
            }
        }
    }

    /// Calls into the document of a node.
    pub(in crate::page) fn call_on_node<T: serde::de::DeserializeOwned>(
        &self,
        node: &Node,
        name: &str,
        args: &serde_json::Value,
        deadline: Deadline,
    ) -> Result<T, Error> {
        Ok(self.call_in(&node.frame, &node.doc, name, args, deadline)?.result)
    }

    pub(super) fn has_dialog(&self) -> bool {
        self.supervisor.view().dialogs_of(self.target.as_str()).next().is_some()
    }

    /// A field that took nothing of a text says why.
    fn check_taken(
        &self,
        ready: &Ready,
        at: &Locator,
        focused: &Focused,
        text: &str,
        mode: Mode,
        deadline: Deadline,
    ) -> Result<(), Error> {
        if focused.kind != "line" || text.contains('\n') || text.is_empty() || mode != Mode::Replace {
            return Ok(());
        }
        let Some(took) = self.took(ready, text, deadline) else { return Ok(()) };
        let nothing = !took.same && (took.empty || (took.now == focused.was && took.bad));
        if nothing && !took.gone {
            let reason = refusal(&took);
            return Err(Error::NotActionable { what: named(at), reason, covered_by: None });
        }
        Ok(())
    }

    /// How a field took a text; `None` when it cannot be asked any more.
    pub(super) fn took(&self, ready: &Ready, text: &str, deadline: Deadline) -> Option<Took> {
        let args = json!({ "id": ready.node.id, "text": text });
        self.call_on_node(&ready.node, "tookText", &args, deadline).ok()
    }
}

/// How a text is typed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Typing {
    pub(super) submit: bool,
    pub(super) slowly: bool,
    pub(super) append: bool,
    pub(super) force: bool,
    /// Each character is typed only while its field's document has the focus.
    pub(super) watched: bool,
}

/// Why a field did not take a text.
pub(super) fn refusal(took: &Took) -> String {
    match (took.type_.as_str(), took.most) {
        ("number", _) => "it did not take the text: it holds numbers only, like 12.5".to_owned(),
        (_, Some(0)) => "it did not take the text: it takes no characters (maxlength 0)".to_owned(),
        _ => "it did not take the text; the page may refuse keys there, or put its own value back".to_owned(),
    }
}

/// How an element is spoken of.
pub(super) fn named(at: &Locator) -> String {
    match (&at.reference, &at.selector) {
        (Some(reference), _) => format!("e{}", reference.trim_start_matches(['@', 'e'])),
        (None, Some(selector)) => format!("the element {selector:?}"),
        (None, None) => "the focused element".to_owned(),
    }
}

pub(super) fn gone(at: &Locator) -> Error {
    match &at.reference {
        Some(_) => Error::StaleRef { reference: named(at), why: "its element is not in the document any more" },
        None => Error::NotActionable {
            what: named(at),
            reason: "it is not attached to the document any more".to_owned(),
            covered_by: None,
        },
    }
}

fn not_typed(at: &Locator, kind: &str) -> Error {
    let reason = match kind {
        "choice" => "it is a list of options; use select",
        "ticked" => "it is ticked, not typed into; use check or uncheck",
        "file" => "it takes files; use upload",
        _ => "it takes no text",
    };
    Error::NotActionable { what: named(at), reason: reason.to_owned(), covered_by: None }
}

fn did(typed: Typed, ready: Option<Ready>) -> Did {
    let rescued = ready.as_ref().is_some_and(|ready| ready.rescued);
    let element = ready.map(|ready| ready.shown);
    let result = typed.blocked.then(|| json!({ "typed": typed.sent, "of": typed.of, "mayFollow": typed.follows }));
    Did { result, input: typed.synthetic.then_some(Input::Synthetic), rescued, element, ..Did::default() }
}
