//! What is asked of a home's browsers, and what they answer.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::page::{self, WaitUntil};
use crate::supervisor::{ClosedDialog, Dialog, DialogType};

/// What comes before `config.yaml`: flags and environment variables of whoever starts the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Without a window; of all profiles.
    pub headless: Option<bool>,
    /// The CDP port of the default profile. One that is taken is an error then, not a reason for another one.
    pub cdp_port: Option<u16>,
    /// Which profile is the default one.
    pub profile: Option<String>,
    /// The executable; of all profiles.
    pub executable: Option<PathBuf>,
    /// Where the default profile attaches instead of launching.
    pub cdp_url: Option<String>,
}

impl Overrides {
    /// What the environment says: `CDPILOT_PROFILE`, `CDPILOT_BROWSER`, `CDPILOT_CDP_URL`, `CDPILOT_HEADLESS`.
    #[must_use]
    pub fn env() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let headless = text("CDPILOT_HEADLESS").and_then(|word| match word.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Some(true),
            "0" | "false" | "no" | "off" => Some(false),
            _ => None,
        });
        Self {
            headless,
            cdp_port: None,
            profile: text("CDPILOT_PROFILE"),
            executable: text("CDPILOT_BROWSER").map(PathBuf::from),
            cdp_url: text("CDPILOT_CDP_URL"),
        }
    }

    /// These, and where they say nothing the others: flags come before the environment.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            headless: self.headless.or(other.headless),
            cdp_port: self.cdp_port.or(other.cdp_port),
            profile: self.profile.or(other.profile),
            executable: self.executable.or(other.executable),
            cdp_url: self.cdp_url.or(other.cdp_url),
        }
    }
}

/// Wishes for one start of a browser. `Debug` shows the names of capabilities only: hosted grids take keys among them.
#[derive(Clone, Default, PartialEq)]
pub struct StartWith {
    /// Without a window; by default as the settings say. Only for browsers that are started here, not attached to.
    pub headless: Option<bool>,
    /// WebDriver capabilities, for WebDriver servers and Selenium Grids. Each replaces the profile's of that name.
    pub capabilities: Map<String, Value>,
}

impl std::fmt::Debug for StartWith {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.capabilities.keys().collect();
        f.debug_struct("StartWith").field("headless", &self.headless).field("capabilities", &names).finish()
    }
}

/// A profile to be made. Its name: lower-case letters, digits and hyphens, at most 40.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewProfile {
    /// Its name.
    #[schemars(regex(pattern = "^[a-z0-9][a-z0-9-]{0,39}$"))]
    pub name: String,
    /// Its colour, `#RRGGBB`.
    #[schemars(regex(pattern = "^#[0-9A-Fa-f]{6}$"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// Its CDP port; 0: any free one. Without one no port is open, unless `browser.transport` is `port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdp_port: Option<u16>,
    /// Attach here instead of launching.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdp_url: Option<String>,
    /// Without a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headless: Option<bool>,
}

/// The contract's `profile` element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileInfo {
    /// Its name.
    pub name: String,
    /// Whether its browser runs.
    pub running: bool,
    /// The port that others may attach to: of the running browser, else the one it is set to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdp_port: Option<u16>,
    /// Where its data lies.
    pub user_data_dir: String,
    /// Its colour.
    pub color: String,
    /// Whether it is used where no profile is named.
    pub is_default: bool,
    /// Whether it is a browser that somebody else started.
    pub is_remote: bool,
}

/// The fields of `GET /`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Whether browsers are started at all.
    pub enabled: bool,
    /// Whether the profile's browser runs.
    pub running: bool,
    /// The profile.
    pub profile: String,
    /// Process id of a browser that we started.
    pub pid: Option<u32>,
    /// The port that others may attach to; `null` over a pipe alone.
    pub cdp_port: Option<u16>,
    /// Where others may attach, without the secret path.
    pub cdp_url: Option<String>,
    /// Name and version, of a running browser.
    pub browser: Option<String>,
    /// The executable that runs, or that would be started.
    pub executable_path: Option<String>,
    /// Where the profile's data lies; `null` for a browser that somebody else started.
    pub user_data_dir: Option<String>,
    /// Whether it runs, or would run, without a window; `null` for a browser that somebody else started.
    pub headless: Option<bool>,
    /// The profile's colour.
    pub color: String,
    /// Whether browsers are only attached to, never started.
    pub attach_only: bool,
    /// `pipe`, or `port` where a port is open beside the pipe; `auto` before it runs; `remote` for a browser that somebody
    /// else started.
    pub transport: String,
    /// Whether it runs, or would run, without its sandbox.
    pub no_sandbox: bool,
    /// Open tabs.
    pub tabs: usize,
    /// Dialogs that wait for an answer.
    pub pending_dialogs: usize,
    /// Version of cdpilot.
    pub version: String,
    /// What is worth knowing: why there is no sandbox, which port was taken instead of another one, how the last browser ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The contract's `tab` element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TabInfo {
    /// The browser's id.
    pub target_id: String,
    /// Ours, `t1`; never used again in a profile as long as the server runs.
    pub tab_id: String,
    /// The name that somebody gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its title: untrusted.
    pub title: String,
    /// Its address.
    pub url: String,
    /// `page`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it is the one that is meant where no tab is named.
    pub active: bool,
}

/// A tab to work with.
#[derive(Debug, Clone)]
pub struct TabHandle {
    /// Seeing and acting.
    pub tab: Arc<page::Tab>,
    /// What it is called.
    pub info: TabInfo,
}

/// A tab to be opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTab {
    /// What it shows.
    pub url: String,
    /// A name for it.
    pub label: Option<String>,
    /// Whether it stays behind the others, and the tab that is meant by itself stays the same.
    pub background: bool,
}

/// A navigation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Navigate {
    /// Where to.
    pub url: String,
    /// Which tab; the last used one by default.
    pub target: Option<String>,
    /// Until when it is waited for.
    pub wait_until: WaitUntil,
    /// Whether dialogs that the tab shows are dismissed first, and a page that asks whether it may be left is left. Without,
    /// such a tab is not navigated.
    pub dismiss_dialogs: bool,
}

/// Where to, from where a tab is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Travel {
    /// To what it showed before.
    Back,
    /// To what it was taken back from.
    Forward,
    /// The same again.
    Reload,
}

/// What came of a navigation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Navigated {
    /// The tab.
    pub target_id: String,
    /// What it shows.
    pub url: String,
    /// Its title: untrusted.
    pub title: String,
    /// The HTTP status of the document, when there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// `false` when the tab still shows the document that it showed before; left out otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub navigated: Option<bool>,
    /// Whether a dialog stands in the way of what follows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocked_by_dialog: bool,
    /// The dialogs that wait on the tab.
    #[serde(rename = "pending_dialogs", skip_serializing_if = "Vec::is_empty")]
    pub pending_dialogs: Vec<Dialog>,
    /// The dialogs of the document before that were dismissed, oldest first. One of type `beforeunload` that was accepted
    /// is among them: the page was left.
    #[serde(rename = "dismissed_dialogs", skip_serializing_if = "Vec::is_empty")]
    pub dismissed_dialogs: Vec<ClosedDialog>,
    /// Whether a running script was ended on the way.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rescued: bool,
    /// Whether the page was not complete when its time was up, after [`visit`](super::Profile::visit).
    #[serde(skip)]
    pub loading: bool,
}

/// A raw CDP command.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawCall {
    /// The command, `Domain.name`.
    pub method: String,
    /// Its parameters; `null` for none.
    pub params: Value,
    /// Which tab; the last used one by default. Commands of `Browser` and `Target` go to the browser when neither tab nor frame is given.
    pub target: Option<String>,
    /// Which frame of that tab.
    pub frame: Option<String>,
}

/// An answer to a dialog, pending or to come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DialogReply {
    /// On which tab. By default a pending dialog of any tab is answered, and an answer for later is for the current tab.
    pub target: Option<String>,
    /// OK or Cancel.
    pub accept: bool,
    /// The text for a prompt. Without one it gets its own default text.
    pub prompt_text: Option<String>,
    /// Which dialog.
    pub dialog_id: Option<String>,
    /// How long the answer waits for its dialog; two minutes by default and at most.
    pub timeout: Option<Duration>,
}

/// An answer that is armed for the next dialog of a tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArmedDialog {
    /// The tab; left out for an answer that is for dialogs of all tabs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_id: Option<String>,
    /// Its tab id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<String>,
    /// OK or Cancel.
    pub accept: bool,
    /// The type of dialog that it is for; left out when it is for every type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<DialogType>,
    /// When it expires, milliseconds from now.
    pub expires_in_ms: u64,
}

/// What came of an answer to a dialog.
#[derive(Debug, Clone, PartialEq)]
pub enum DialogOutcome {
    /// A dialog was pending and is answered.
    Answered(ClosedDialog),
    /// None was; the answer waits for one so long.
    Armed(Duration),
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// All is well.
    Pass,
    /// Something to know about.
    Warn,
    /// Something does not work.
    Fail,
}

/// One check of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// What was looked at.
    pub id: String,
    /// How it came out.
    pub status: CheckStatus,
    /// What was found.
    pub summary: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix_hint: Option<String>,
}

/// Something that `doctor --fix` did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fixed {
    /// The check it belongs to.
    pub id: &'static str,
    /// What was done.
    pub summary: String,
}
