//! The keyboard.
//!
//! Key events go to the page's own session: Chromium hands them to whatever frame has the focus, of any
//! process. Each character that the US layout has a key for is sent as that key, going down and up; a
//! line break is Enter, which ends a line in a text area and submits a form from a field of one line;
//! everything else (tabs, accents, emoji, other scripts) is put in as text, without key events.
//!
//! Events are sent in bursts, so that a long text does not wait for each of them. A dialog that opens in
//! between ends the typing: what was sent of the burst comes in when the dialog is answered, the rest does not.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use super::super::input::keys::{Chord, Key, SHIFT};
use super::super::world::Node;
use super::super::{Error, Tab};
use super::ready::{Needs, Ready};
use super::{Act, Did, Input, Kind, Locator};
use crate::cdp::protocol::input::{DispatchKeyEvent, InsertText};
use crate::supervisor::{self, FrameRef};
use crate::sync::{Deadline, pause};

/// Between the characters of slow typing.
const SLOWLY: Duration = Duration::from_millis(75);
/// How many characters are under way at once.
const BURST: usize = 16;
/// How often a key may be repeated.
const MOST: u32 = 1_000;
/// Where Chromium does not answer the first key for so long, though the page answers, the events are dispatched
/// by script.
const UNANSWERED: Duration = Duration::from_secs(1);

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
    #[serde(rename = "type")]
    pub(super) type_: String,
    pub(super) most: Option<u64>,
}

/// The focus in one frame.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FocusIn {
    has: bool,
    id: u32,
    typed: bool,
    locked: bool,
}

/// What becomes of the content of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Replace,
    Append,
    Keep,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Append => "append",
            Self::Keep => "none",
        }
    }
}

/// What is sent for a part of a text.
enum Step {
    Key(Key),
    Text(String),
}

/// How far a text came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Typed {
    /// Characters that were sent.
    pub(super) sent: usize,
    /// Characters that there were.
    of: usize,
    /// A dialog opened meanwhile.
    pub(super) blocked: bool,
    /// The events were dispatched by script.
    pub(super) synthetic: bool,
}

impl Tab {
    /// [`Kind::Type`], [`Kind::InsertText`] and [`Kind::Press`].
    pub(super) fn write(&self, act: &Act, deadline: Deadline) -> Result<Did, Error> {
        self.emulate_focus();
        match &act.kind {
            Kind::Type { at, text, submit, slowly, append } => {
                let how = Typing { submit: *submit, slowly: *slowly, append: *append, force: act.force };
                self.type_text(at, text, how, act.input, deadline)
            }
            Kind::InsertText { text } => self.insert(text, deadline),
            Kind::Press { at, key, repeat } => self.press(act, at, key, repeat.unwrap_or(1), deadline),
            _ => Err(Error::BadRequest { problem: "this is nothing for the keyboard".to_owned() }),
        }
    }

    fn page(&self) -> FrameRef {
        FrameRef::TopOf(self.target.clone())
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
            let typed = if input == Some(Input::Synthetic) {
                self.synthetic_text(None, &text, how.submit, deadline)?
            } else {
                self.send_text(&text, how, None, deadline)?
            };
            return Ok(did(typed, false));
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
                return Ok(did(typed, ready.rescued));
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
        Ok(did(typed, ready.rescued))
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
        match self.send_keys(before, deadline) {
            Err(error) if error.is_blocked_by_dialog() && self.has_dialog() => {
                return Ok(Typed { sent: 0, of: text.chars().count(), blocked: true, synthetic: false });
            }
            outcome => outcome?,
        }
        self.send_text(text, how, Some((&ready.node, mode)), deadline)
    }

    /// Sends a text to whatever has the focus.
    fn send_text(
        &self,
        text: &str,
        how: Typing,
        into: Option<(&Node, Mode)>,
        deadline: Deadline,
    ) -> Result<Typed, Error> {
        let mut steps = steps_of(text);
        let of = text.chars().count();
        steps.extend(how.submit.then(|| Key::of_char('\n').map(Step::Key)).flatten());
        let began = Instant::now();
        let late = |sent: usize| Error::Timeout {
            what: format!("the end of the text ({sent} of {of} characters are typed; insertText is for long texts)"),
            after_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let (mut sent, mut steps, mut first) = (0, steps.into_iter().peekable(), true);
        while let Some(step) = steps.next() {
            if deadline.passed() {
                return Err(late(sent));
            }
            let (count, outcome) = match step {
                Step::Text(text) => (text.chars().count(), self.insert_raw(&text, deadline)),
                Step::Key(key) => {
                    let mut events = strokes(&key);
                    let mut count = 1;
                    let most = if how.slowly || first { 1 } else { BURST };
                    while count < most
                        && let Some(Step::Key(key)) = steps.next_if(|step| matches!(step, Step::Key(_)))
                    {
                        events.extend(strokes(&key));
                        count += 1;
                    }
                    let sent = if first { self.send_first(events, deadline) } else { self.send_keys(events, deadline) };
                    (count, sent)
                }
            };
            match outcome {
                Ok(()) => sent += count,
                Err(error) if error.is_blocked_by_dialog() && self.has_dialog() => {
                    return Ok(Typed { sent: (sent + count).min(of), of, blocked: true, synthetic: false });
                }
                // The page answers, the browser's input does not.
                Err(error) if first && unanswered(&error) && !deadline.passed() => {
                    tracing::debug!(target: "cdpilot::page", %error, "trusted keys are not answered");
                    return self.synthetic_text(into, text, how.submit, deadline);
                }
                Err(error) if unanswered(&error) && deadline.passed() => return Err(late(sent)),
                Err(error) => return Err(error),
            }
            first = false;
            if how.slowly && steps.peek().is_some() {
                pause(SLOWLY.min(deadline.left()));
            }
        }
        Ok(Typed { sent: sent.min(of), of, blocked: false, synthetic: false })
    }

    /// Sends key events, all before the first answer is waited for.
    fn send_keys(&self, events: Vec<DispatchKeyEvent>, deadline: Deadline) -> Result<(), Error> {
        let page = self.page();
        let mut events = events.into_iter().peekable();
        while events.peek().is_some() {
            let calls = events.by_ref().take(BURST * 2).map(|event| (page.clone(), event)).collect();
            for outcome in self.supervisor.session_calls(calls, deadline) {
                outcome?;
            }
        }
        Ok(())
    }

    /// The same for the first ones, which tell whether the browser's input is answered at all.
    fn send_first(&self, events: Vec<DispatchKeyEvent>, deadline: Deadline) -> Result<(), Error> {
        match self.send_keys(events, deadline.within(UNANSWERED)) {
            // What the page does about the key takes that long.
            Err(Error::Supervisor(supervisor::Error::Unresponsive { .. })) if !deadline.passed() => {
                self.is_mac(deadline).map(|_| ())
            }
            outcome => outcome,
        }
    }

    fn insert_raw(&self, text: &str, deadline: Deadline) -> Result<(), Error> {
        self.supervisor.session_call(&self.page(), &InsertText::new(text), deadline)?;
        Ok(())
    }

    fn insert(&self, text: &str, deadline: Deadline) -> Result<Did, Error> {
        let focus = self.focus(deadline)?;
        let reason = match &focus {
            Some((_, focus)) if focus.locked => "it is read-only",
            Some((_, focus)) if focus.typed => "",
            Some(_) => "it takes no text; focus a field first, or use type with a ref",
            None => "nothing has the focus; focus a field first, or use type with a ref",
        };
        if !reason.is_empty() {
            let what = "the focused element".to_owned();
            return Err(Error::NotActionable { what, reason: reason.to_owned(), covered_by: None });
        }
        self.insert_raw(text, deadline)?;
        Ok(Did::default())
    }

    /// The frame that has the focus and what has it there.
    fn focus(&self, deadline: Deadline) -> Result<Option<(Node, FocusIn)>, Error> {
        let now = self.supervisor.snapshot();
        let frames: Vec<_> = now.frames_of(self.target.as_str()).map(|frame| frame.frame_id.clone()).collect();
        let found = self.call_all::<FocusIn, _>(&frames, "focus", |_| json!({}), deadline);
        let mut failed = None;
        for (frame, outcome) in frames.into_iter().zip(found) {
            match outcome {
                Ok((doc, done)) if done.has => {
                    let node = Node { frame, doc, id: done.id };
                    return Ok(Some((node, done.result)));
                }
                Ok(_) => {}
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(None), Err)
    }

    fn press(&self, act: &Act, at: &Locator, key: &str, times: u32, deadline: Deadline) -> Result<Did, Error> {
        let chord = Chord::parse(key).map_err(|problem| Error::BadRequest { problem })?;
        if times == 0 || times > MOST {
            let problem = format!("repeat is {times}; a key is pressed 1 to {MOST} times");
            return Err(Error::BadRequest { problem });
        }
        let mut did = Did::default();
        let mut node = None;
        let mut mac = cfg!(target_os = "macos");
        if at.reference.is_some() || at.selector.is_some() {
            let ready = self.ready(at, Needs::FOCUS, act.force, deadline)?;
            self.focus_field(&ready, at, Mode::Keep, deadline)?;
            did.rescued = ready.rescued;
            mac = ready.mac;
            node = Some(ready.node);
        } else if chord.by_platform {
            mac = self.is_mac(deadline)?;
        }
        let chord = chord.on(mac);
        if act.input == Some(Input::Synthetic) {
            self.synthetic_press(node.as_ref(), &chord, times, deadline)?;
            did.input = Some(Input::Synthetic);
            return Ok(did);
        }
        let events = chord.events(times, mac);
        let sent = if times == 1 { self.send_first(events, deadline) } else { self.send_keys(events, deadline) };
        match sent {
            Ok(()) => Ok(did),
            Err(error) if unanswered(&error) && !deadline.passed() => {
                self.synthetic_press(node.as_ref(), &chord, times, deadline)?;
                did.input = Some(Input::Synthetic);
                Ok(did)
            }
            Err(error) => Err(error),
        }
    }

    fn is_mac(&self, deadline: Deadline) -> Result<bool, Error> {
        let (_, told) = self.call::<bool>(&self.top()?, "isMac", &json!({}), deadline)?;
        Ok(told.result)
    }

    /// Types by script: into a field, or into what has the focus.
    pub(super) fn synthetic_text(
        &self,
        into: Option<(&Node, Mode)>,
        text: &str,
        submit: bool,
        deadline: Deadline,
    ) -> Result<Typed, Error> {
        let (node, mode) = match into {
            Some((node, mode)) => (node.clone(), mode),
            None => (self.focused_node(deadline)?, Mode::Keep),
        };
        let mut keys: Vec<_> = text.chars().map(stroke_by_script).collect();
        keys.extend(submit.then(|| stroke_by_script('\n')));
        let args = json!({ "id": node.id, "mode": mode.name(), "keys": keys });
        let of = text.chars().count();
        match self.call_on_node::<Sent>(&node, "typeByScript", &args, deadline) {
            Ok(told) => match told.problem {
                Some(reason) => {
                    Err(Error::NotActionable { what: "the focused element".to_owned(), reason, covered_by: None })
                }
                None => Ok(Typed { sent: of, of, blocked: false, synthetic: true }),
            },
            Err(error) => Err(error),
        }
    }

    fn synthetic_press(&self, node: Option<&Node>, chord: &Chord, times: u32, deadline: Deadline) -> Result<(), Error> {
        let node = match node {
            Some(node) => node.clone(),
            None => self.focused_node(deadline)?,
        };
        let args = json!({
            "id": node.id, "held": chord.held, "key": chord.key, "bits": chord.bits(), "times": times,
        });
        let told: Sent = self.call_on_node(&node, "pressByScript", &args, deadline)?;
        match told.problem {
            Some(reason) => {
                Err(Error::NotActionable { what: "the focused element".to_owned(), reason, covered_by: None })
            }
            None => Ok(()),
        }
    }

    /// What has the focus; the body of the top document when nothing has it (id 0).
    fn focused_node(&self, deadline: Deadline) -> Result<Node, Error> {
        if let Some((node, _)) = self.focus(deadline)? {
            return Ok(node);
        }
        let top = self.top()?;
        let doc = self.document(&top, deadline)?;
        Ok(Node { frame: top, doc, id: 0 })
    }

    /// Calls into the document of a node.
    pub(super) fn call_on_node<T: serde::de::DeserializeOwned>(
        &self,
        node: &Node,
        name: &str,
        args: &serde_json::Value,
        deadline: Deadline,
    ) -> Result<T, Error> {
        Ok(self.call_in(&node.frame, &node.doc, name, args, deadline)?.result)
    }

    pub(super) fn has_dialog(&self) -> bool {
        self.supervisor.snapshot().dialogs_of(self.target.as_str()).next().is_some()
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

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Sent {
    problem: Option<String>,
}

/// How a text is typed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Typing {
    pub(super) submit: bool,
    pub(super) slowly: bool,
    pub(super) append: bool,
    pub(super) force: bool,
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

fn did(typed: Typed, rescued: bool) -> Did {
    let result = typed.blocked.then(|| json!({ "typed": typed.sent, "of": typed.of }));
    Did { result, input: typed.synthetic.then_some(Input::Synthetic), rescued }
}

/// Whether the browser left input unanswered though the page answered.
fn unanswered(error: &Error) -> bool {
    matches!(error, Error::Supervisor(supervisor::Error::Cdp(error)) if error.is_timeout())
}

fn steps_of(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for character in text.chars() {
        match (Key::of_char(character), steps.last_mut()) {
            (Some(key), _) => steps.push(Step::Key(key)),
            (None, Some(Step::Text(text))) => text.push(character),
            (None, _) => steps.push(Step::Text(character.to_string())),
        }
    }
    steps
}

fn strokes(key: &Key) -> Vec<DispatchKeyEvent> {
    let bits = if key.shifted { SHIFT } else { 0 };
    vec![key.down(bits, false, false), key.up(bits)]
}

fn stroke_by_script(character: char) -> serde_json::Value {
    match Key::of_char(character) {
        Some(key) => json!({ "key": key, "shift": key.shifted }),
        None => json!({ "put": character }),
    }
}
