//! What a call would do that cannot be undone, and whether a person has to allow it first.
//!
//! Everything is decided by code from facts: what an element is, where its form is sent and with which values, the words on it
//! and in its address. No model is asked.
//!
//! | file | contents |
//! |---|---|
//! | `words` | words that say what a control does, in some languages |
//! | `address` | addresses that do something when they are opened |
//! | `control` | elements and forms of pages |
//! | `command` | terminal commands that only read |
//! | `checks` | checks of the browser tools before they act |
//! | `machine` | checks of tools that reach this machine: commands, files, raw commands of the protocol |
//!
//! The page is asked what a press would set off (`Tab::effect`, `script/effect.js`): the controls that may receive it,
//! with role, name, attributes, page dialog, address and method, and what the form would send. The fingerprint of such
//! an effect covers tab, address of the page, node, role, name, these facts and the text. A tool that declares no
//! `Effects` and is not read-only needs approval for each call.

mod address;
mod checks;
mod command;
mod control;
mod machine;
mod words;

pub(super) use checks::{
    Checked, Doing, check_address, check_dialog, check_element, check_keys, check_reload, check_script, check_secrets,
    check_upload, classifies, classifies_key,
};
pub(super) use machine::{check_command, check_file_change, check_input, check_raw};

use std::fmt::Write as _;

use ring::digest::{Context, SHA256};

use super::{Image, ToolContext, ToolError};
use cdpilot::code::Code;
use cdpilot::supervisor::Dialog;

/// Longest value that a question shows, in characters. A longer one cannot be approved.
pub(super) const MOST_SHOWN: usize = 20_000;
/// Most values that a question shows. More cannot be approved.
pub(super) const MOST_VALUES: usize = 500;
/// Longest address that a question shows, in characters.
const MOST_ADDRESS: usize = 2_000;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal),+ $(,)?) => {
        /// What an effect is, which decides who has to allow it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum EffectKind { $($(#[doc = $doc])+ $name),+ }

        impl EffectKind {
            /// Its name in questions and settings.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }

            /// The kind of a name.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$name),)+ _ => None }
            }
        }
    };
}

kinds! {
    /// `delete`: something is deleted or cancelled.
    Delete = "delete",
    /// `purchase`: something is bought, paid or booked.
    Purchase = "purchase",
    /// `send`: something is sent or published.
    Send = "send",
    /// `account`: an account, a right or a subscription changes.
    Account = "account",
    /// `submit`: a form is sent with another method than GET, or to another site.
    Submit = "submit",
    /// `upload`: a file of this machine is given to a page.
    Upload = "upload",
    /// `secret`: a stored secret is typed for the first time.
    Secret = "secret",
    /// `key`: a key outside of fields, which the page may take as a command.
    Key = "key",
    /// `unknown`: input to content that cannot be read.
    Unknown = "unknown",
    /// `script`: a script that is not known to change nothing.
    Script = "script",
    /// `raw`: a command of the protocol of the browser.
    Raw = "raw",
    /// `command`: a command on this machine.
    Command = "command",
    /// `file`: a file of this machine is changed.
    File = "file",
    /// `tool`: a tool whose effects are not known, such as one of an MCP server.
    Tool = "tool",
    /// `note`: a note or a skill is kept, changed or removed, which later conversations read.
    Note = "note",
    /// `request`: a request with an effect leaves a page, and no action that was approved explains it.
    Request = "request",
    /// `action`: anything else that changes something; asked for only with the guard `all`.
    Action = "action",
}

/// The fact by which something has an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ground {
    pub(super) kind: EffectKind,
    /// As a part of a sentence: "its name contains the word …".
    pub(super) why: String,
}

impl Ground {
    pub(super) fn new(kind: EffectKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into() }
    }
}

/// A form as a page sends it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentForm {
    /// Its method, in any case.
    pub method: String,
    /// Its address.
    pub url: String,
    /// What it sends, by the names that are sent. Includes secret values.
    pub fields: Vec<(String, String)>,
    /// Whether it sends files, so that its body is not known.
    pub has_files: bool,
}

/// What a call is about to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What kind of effect it is.
    pub kind: EffectKind,
    /// What would be done, such as `click the button "Place order"`. Contains untrusted text.
    pub action: String,
    /// Why it counts as this kind, as a part of a sentence.
    pub why: String,
    /// The origin of the page; empty without one.
    pub origin: String,
    /// The address that something is sent to; empty without one.
    pub destination: String,
    /// What is sent, by name; secret values are named, not shown. Untrusted.
    pub values: Vec<(String, String)>,
    /// Whether it follows a first part of its call, such as typing, that is done already.
    pub follows: bool,
    /// The tab in which it happens; empty without one. What its page sends is allowed with it.
    pub tab: String,
    /// The form that is sent; `None`: none is, or it is not known.
    pub form: Option<SentForm>,
    /// Role and name of what it is done with: an element, or `request` with method and address. `None`: nothing that later runs of a
    /// routine could recognise. Untrusted.
    pub element: Option<(String, String)>,
    /// Differs whenever anything that an approval is bound to does. Kept with the question.
    pub fingerprint: String,
}

impl Effect {
    /// An effect without origin, destination and values. `bound` is all that an approval of it is for.
    #[must_use]
    pub fn new(kind: EffectKind, action: impl Into<String>, why: impl Into<String>, bound: &[&str]) -> Self {
        let action = action.into();
        let parts = [kind.as_str(), &*action];
        let fingerprint = fingerprint_of(parts.iter().chain(bound), &[]);
        Self {
            kind,
            action,
            why: why.into(),
            origin: String::new(),
            destination: String::new(),
            values: Vec::new(),
            follows: false,
            tab: String::new(),
            form: None,
            element: None,
            fingerprint,
        }
    }

    /// Sets the tab in which it happens.
    #[must_use]
    pub fn in_tab(self, tab: impl Into<String>) -> Self {
        Self { tab: tab.into(), ..self }
    }

    /// Sets what it is done with.
    #[must_use]
    pub fn with_element(self, role: impl Into<String>, name: impl Into<String>) -> Self {
        Self { element: Some((role.into(), name.into())), ..self }
    }

    /// Sets the form that is sent.
    #[must_use]
    pub fn sending(self, form: Option<SentForm>) -> Self {
        Self { form, ..self }
    }

    /// Sets the origin of the page.
    #[must_use]
    pub fn origin(self, origin: impl Into<String>) -> Self {
        Self { origin: origin.into(), ..self }
    }

    /// Sets the address that something is sent to.
    #[must_use]
    pub fn destination(self, destination: impl Into<String>) -> Self {
        Self { destination: shortened(&destination.into(), MOST_ADDRESS), ..self }
    }

    /// Sets whether it follows a first part of its call that is done already.
    #[must_use]
    pub fn following(self, follows: bool) -> Self {
        Self { follows, ..self }
    }

    /// Adds something that is sent.
    #[must_use]
    pub fn value(mut self, name: impl Into<String>, value: &str) -> Self {
        self.values.push((name.into(), value.to_owned()));
        self
    }

    /// Why a person cannot judge it, because a question cannot show it; `None` if it can.
    #[must_use]
    pub fn unshowable(&self) -> Option<String> {
        if self.values.len() > MOST_VALUES {
            return Some(format!("it sends more than {MOST_VALUES} values"));
        }
        let long = self.values.iter().find(|(_, value)| value.chars().nth(MOST_SHOWN).is_some());
        long.map(|(name, _)| format!("the value of {name:?} has more than {MOST_SHOWN} characters"))
    }
}

/// The SHA-256 of some texts and of bytes, none of which can take a part of its neighbour.
fn fingerprint_of<'t>(parts: impl Iterator<Item = &'t &'t str>, bytes: &[u8]) -> String {
    let mut hasher = Context::new(&SHA256);
    for part in parts.map(|part| part.as_bytes()).chain([bytes]) {
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finish().as_ref().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// How an effect is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// It is of no kind that needs approval, or its kind is allowed.
    Free,
    /// A person has approved exactly this.
    Approved,
}

/// Decides whether effects need the approval of a person.
pub trait Guard: Send + Sync {
    /// Whether all changes need approval, not only those that cannot be undone.
    fn guards_all(&self) -> bool;

    /// Allows an effect, or refuses it until a person has approved it. `picture` is called only for a question.
    ///
    /// # Errors
    /// `APPROVAL_NEEDED`; nothing may have been done yet.
    fn permit(&self, effect: Effect, picture: &dyn Fn() -> Option<Image>) -> Result<Allowed, ToolError>;

    /// Allows the use of an element that needs no approval.
    ///
    /// # Errors
    /// `APPROVAL_VOID` if something else was approved for the call.
    fn allow_free(&self, _action: &str) -> Result<(), ToolError> {
        Ok(())
    }

    /// Whether the call is made again after its effect was approved: what comes before the effect, such as typing, is done.
    fn resumes(&self) -> bool {
        false
    }

    /// Notes what the element of an approved effect says of itself, and its frame: its attributes may contain the question
    /// that it asks in a dialog.
    fn foresee(&self, _frame: &str, _attributes: &str) {}

    /// Whether a dialog was opened by the action that a person has approved last, in the same frame, with a question that
    /// was foreseen.
    fn has_foreseen(&self, _dialog: &Dialog) -> bool {
        false
    }

    /// The name of the stored secret that has a value, among those that the caller may type.
    fn secret_named(&self, _value: &str) -> Option<String> {
        None
    }
}

/// The error of an effect that nobody has approved yet.
#[must_use]
pub fn approval_needed(effect: &Effect) -> ToolError {
    let message = format!("{} needs the approval of the user, because {}; nothing was done", effect.action, effect.why);
    ToolError::new(Code::ApprovalNeeded, message)
}

/// The error of an effect that no question can show.
#[must_use]
pub fn unshowable(effect: &Effect, why: &str) -> ToolError {
    let action = &effect.action;
    let message = format!(
        "{action} needs the approval of the user, but a question cannot show it: {why}. Nothing was done; let the user do it in the page"
    );
    ToolError::new(Code::NotActionable, message)
}

/// What a tool does to the world, apart from what it returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effects {
    /// Not known: a guard asks before each call, unless the tool is read-only.
    Unknown,
    /// None that outlast the conversation.
    None,
    /// The tool checks its effects itself, when it knows them.
    Checked,
}

/// Asks the guard of a call about an effect.
///
/// # Errors
/// `APPROVAL_NEEDED`.
pub(super) fn permit(call: &ToolContext<'_>, effect: Effect) -> Result<Allowed, ToolError> {
    match call.scope.guard() {
        Some(guard) => guard.permit(effect, &|| None),
        None => Ok(Allowed::Free),
    }
}
