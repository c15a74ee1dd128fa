//! What the use of an element would do: the facts from which a caller decides whether a person has to be asked first.

use serde::Deserialize;
use serde_json::json;

use super::highlight::Binding;
use super::world::Node;
use super::{Error, Tab};
use crate::sync::Deadline;

/// How an element is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Using {
    /// It is pressed: a click, or a key that presses it.
    Press,
    /// Enter is pressed in it, which may send its form.
    Enter,
    /// Otherwise: it is typed into, or something is dropped on it.
    Other,
}

impl Using {
    fn name(self) -> &'static str {
        match self {
            Self::Press => "press",
            Self::Enter => "enter",
            Self::Other => "other",
        }
    }
}

/// A field of a form, with what the form would send. Untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SentField {
    /// Its name for people, else the name it is sent with; at most 120 characters.
    pub label: String,
    /// The name it is sent with.
    pub name: String,
    /// The type of an input, else its tag.
    pub kind: String,
    /// Its attribute `autocomplete`.
    pub autocomplete: String,
    /// Its attribute `inputmode`.
    pub inputmode: String,
    /// Its value, at most 20,001 characters. Of a secret field, too: it must not be shown.
    pub value: String,
    /// What is sent of it: several for a list with several choices, nothing for files.
    pub sent: Vec<String>,
    /// The size of its files in bytes; 0 for other fields.
    pub size: u64,
    /// Whether its value is secret, as in a password field.
    pub secret: bool,
    /// Whether nobody sees it.
    pub hidden: bool,
}

/// One thing that the use of an element may set off. Untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SetOff {
    /// The role of what is set off.
    pub role: String,
    /// Its name, at most 120 characters.
    pub name: String,
    /// Its tag, in lower case.
    pub tag: String,
    /// The type of an input; empty for others.
    pub kind: String,
    /// The text that it shows, at most 120 characters; its name may be another one.
    pub text: String,
    /// The values of its attributes that say what it is for, such as `id`, `value` and `onclick`.
    pub words: String,
    /// The address that its link leads to, or that its form is sent to; empty for neither.
    pub destination: String,
    /// The method of its form in lower case; `get` for a link; empty for neither.
    pub method: String,
    /// Whether it is a link.
    pub link: bool,
    /// Whether it sends its form.
    pub submits: bool,
    /// Whether it takes text, or is a list: its name says what it holds, not what a press does.
    pub field: bool,
    /// The text of the page dialog that it is in.
    pub dialog: String,
    /// Whether it is a frame or a plug-in, whose content gets the input.
    pub frame: bool,
    /// Whether it belongs to a search form.
    pub search: bool,
    /// What its form sends: at most 501 fields.
    pub fields: Vec<SentField>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Found {
    gone: bool,
    id: u32,
    origin: String,
    url: String,
    typed: bool,
    lines: bool,
    body: bool,
    chooses: bool,
    options: Vec<String>,
    identity: String,
    stake: String,
    uses: Vec<SetOff>,
}

/// What the use of an element would do.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Effect {
    /// The element.
    pub node: Node,
    /// The origin of its document; `null` without one.
    pub origin: String,
    /// The address of its document.
    pub url: String,
    /// Whether it accepts text.
    pub typed: bool,
    /// Whether it accepts several lines, so that Enter begins a new one.
    pub lines: bool,
    /// Whether it is the body: no element has the focus.
    pub body: bool,
    /// Whether keys that move choose something while it has the focus: an option, or a value.
    pub chooses: bool,
    /// The names of the options that they choose from, at most 60.
    pub options: Vec<String>,
    /// A SHA-256 that differs when its role, name, place or destination does.
    pub identity: String,
    /// A SHA-256 that differs also when its use would do or send anything else.
    pub stake: String,
    /// What may be set off.
    pub uses: Vec<SetOff>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct State {
    id: u32,
    label: String,
    held: i64,
}

/// The fields of a tab at one time.
#[derive(Debug, Clone, Default)]
pub struct FieldStates(Vec<(Node, String, i64)>);

impl FieldStates {
    /// The names of the fields whose content differs from what it was before. New documents have new fields. Untrusted.
    #[must_use]
    pub fn changed_since(&self, before: &Self) -> Vec<String> {
        let differs = |(node, _, held): &&(Node, String, i64)| {
            before.0.iter().any(|(other, _, was)| other == node && was != held)
        };
        self.0.iter().filter(differs).map(|(_, label, _)| label.clone()).collect()
    }
}

impl Tab {
    /// The fields of all frames that answer, as they are now. Their content does not leave the page.
    #[must_use]
    pub fn field_states(&self, deadline: Deadline<'_>) -> FieldStates {
        let now = self.supervisor.view();
        let frames: Vec<_> = now.frames_of(self.target.as_str()).map(|frame| frame.frame_id.clone()).collect();
        let found = self.call_all::<Vec<State>, _>(&frames, "fieldStates", |_| json!({}), deadline);
        let mut all = Vec::new();
        for (frame, outcome) in frames.into_iter().zip(found) {
            let Ok((doc, done)) = outcome else { continue };
            for State { id, label, held } in done.result {
                all.push((Node { frame: frame.clone(), doc: doc.clone(), id }, label, held));
            }
        }
        FieldStates(all)
    }

    /// What the use of an element would do, as it is now; `None`: the element with the focus.
    ///
    /// # Errors
    /// [`Error::StaleRef`] when the element is gone; those of the supervisor.
    pub fn effect(&self, node: Option<&Node>, using: Using, deadline: Deadline<'_>) -> Result<Effect, Error> {
        let node = match node {
            Some(node) => node.clone(),
            None => self.focused_node(deadline)?,
        };
        let stale = |why| Error::StaleRef { reference: "the element".to_owned(), why };
        let ask = json!({ "id": node.id, "use": using.name() });
        let found = match self.call_in::<Found>(&node.frame, &node.doc, "effect", &ask, deadline) {
            Ok(done) => done.result,
            Err(Error::DocumentGone { .. }) => return Err(stale("its frame now shows another document")),
            Err(error) => return Err(error),
        };
        if found.gone {
            return Err(stale("it was removed from the document"));
        }
        let Found { id, origin, url, typed, lines, body, chooses, options, identity, stake, uses, gone: _ } = found;
        let node = Node { id, ..node };
        Ok(Effect { node, origin, url, typed, lines, body, chooses, options, identity, stake, uses })
    }

    /// Binds actions on an element to its identity or stake, for as long as the result lives.
    #[must_use]
    pub fn bind_to(&self, node: &Node, seal: String) -> Binding<'_> {
        Binding::new(self, vec![(node.clone(), seal)])
    }
}
