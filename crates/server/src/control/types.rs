//! Requests to a home's browsers, and their results.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::AutoSwitch;
use cdpilot::page::{self, Download, WaitUntil};
use cdpilot::setters;
use cdpilot::supervisor::{ClosedDialog, Dialog, DialogType};

/// Overrides of `config.yaml`, from flags and environment variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Headless mode of all profiles.
    pub headless: Option<AutoSwitch>,
    /// CDP port of the default profile. It is an error if the port is in use; no other port is tried.
    pub cdp_port: Option<u16>,
    /// Name of the default profile.
    pub profile: Option<String>,
    /// Browser executable of all profiles.
    pub executable: Option<PathBuf>,
    /// CDP URL to which the default profile attaches instead of launching a browser.
    pub cdp_url: Option<String>,
}

impl Overrides {
    /// Nothing is overridden: `config.yaml` and the defaults apply.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { Overrides:
    headless(some into AutoSwitch),
    cdp_port(some u16),
    profile(some into String),
    executable(some into PathBuf),
    cdp_url(some into String),
}

impl Overrides {
    /// Reads the environment: `CDPILOT_PROFILE`, `CDPILOT_BROWSER`, `CDPILOT_CDP_URL`, `CDPILOT_HEADLESS`.
    #[must_use]
    pub fn env() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let headless = text("CDPILOT_HEADLESS").and_then(|word| match word.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Some(AutoSwitch::On),
            "0" | "false" | "no" | "off" => Some(AutoSwitch::Off),
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

    /// These values, with `other` for those that are not set.
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

/// Options for one start of a browser. `Debug` shows only the names of capabilities: hosted grids accept API keys in them.
#[derive(Clone, Default, PartialEq)]
pub struct StartWith {
    /// Headless mode. Default: as configured. Only for browsers that are launched, not for remote ones.
    pub headless: Option<AutoSwitch>,
    /// WebDriver capabilities, for WebDriver servers and Selenium Grid. They override the profile's of the same names.
    pub capabilities: Map<String, Value>,
}

impl StartWith {
    /// A start as the profile is configured.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { StartWith:
    headless(some into AutoSwitch),
    capabilities(Map<String, Value>),
}

impl std::fmt::Debug for StartWith {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.capabilities.keys().collect();
        f.debug_struct("StartWith").field("headless", &self.headless).field("capabilities", &names).finish()
    }
}

/// A profile to create.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewProfile {
    /// Name: lower-case letters, digits and hyphens, at most 40 characters.
    #[schemars(regex(pattern = "^[a-z0-9][a-z0-9-]{0,39}$"))]
    pub name: String,
    /// Colour of the browser window, `#RRGGBB`. Default: chosen by name.
    #[schemars(regex(pattern = "^#[0-9A-Fa-f]{6}$"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// CDP port; 0: any free port. Default: no open port, unless `browser.transport` is `port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdp_port: Option<u16>,
    /// CDP URL of a browser to attach to instead of launching one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdp_url: Option<String>,
    /// Headless mode; `auto`: when there is no display. Default: as configured for all profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headless: Option<AutoSwitch>,
}

impl NewProfile {
    /// A profile of this name, with defaults for everything else.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

setters! { NewProfile:
    color(some into String),
    cdp_port(some u16),
    cdp_url(some into String),
    headless(some into AutoSwitch),
}

/// A profile: a browser with its own data folder, port, colour and logins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileInfo {
    /// Name of the profile.
    pub name: String,
    /// Whether its browser is running.
    pub running: bool,
    /// CDP port of the running browser, else the configured one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdp_port: Option<u16>,
    /// Folder with its data.
    pub user_data_dir: String,
    /// Colour that marks the profile's windows, `#RRGGBB`.
    pub color: String,
    /// Whether it is used when a request names no profile.
    pub is_default: bool,
    /// Whether it attaches to a browser that is not launched by cdpilot.
    pub is_remote: bool,
}

/// Status of a profile's browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Whether browsers may be started (`browser.enabled`).
    pub enabled: bool,
    /// Whether the profile's browser is running.
    pub running: bool,
    /// Name of the profile.
    pub profile: String,
    /// Process id of a launched browser.
    pub pid: Option<u32>,
    /// CDP port; `null` if the browser is controlled by a pipe only.
    pub cdp_port: Option<u16>,
    /// CDP URL, without its secret path.
    pub cdp_url: Option<String>,
    /// Name and version of the running browser.
    pub browser: Option<String>,
    /// Executable that is running or would be launched.
    pub executable_path: Option<String>,
    /// Folder with the profile's data; `null` for a remote browser.
    pub user_data_dir: Option<String>,
    /// Whether it runs, or would be launched, without a window; `null` for a remote browser.
    pub headless: Option<bool>,
    /// Colour of the profile, `#RRGGBB`.
    pub color: String,
    /// Whether the profile only attaches to browsers and never launches one.
    pub attach_only: bool,
    /// `pipe`; `port` if a port is open in addition to the pipe; `auto` if not decided before the start; `remote` for a
    /// browser that is not launched by cdpilot.
    pub transport: String,
    /// Whether it runs, or would be launched, without its sandbox.
    pub no_sandbox: bool,
    /// Number of open tabs.
    pub tabs: usize,
    /// Number of pending dialogs.
    pub pending_dialogs: usize,
    /// Version of this program, such as `0.1.0`.
    pub version: String,
    /// Remarks: why the sandbox is off, which port replaced an occupied one, how the last browser ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// An open tab with its names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TabInfo {
    /// Target id, assigned by the browser.
    pub target_id: String,
    /// Tab id, `t1`; never reused in a profile while the server runs.
    pub tab_id: String,
    /// Label, if one was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Title of the document; untrusted.
    pub title: String,
    /// URL of the document that the tab shows.
    pub url: String,
    /// Type of the target; always `page`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it is the current tab, used when a request names no tab.
    pub active: bool,
}

/// A tab that was labelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LabelledTab {
    /// Its ids, label, title and URL.
    #[serde(flatten)]
    pub tab: TabInfo,
    /// Tab id of the tab that had the label before and lost it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_taken_from: Option<String>,
}

/// A tab that was closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClosedTab {
    /// Its ids, label, title and URL.
    #[serde(flatten)]
    pub tab: TabInfo,
    /// The empty tab that replaced it because it was the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<TabInfo>,
}

/// A tab, with its description.
#[derive(Debug, Clone)]
pub struct TabHandle {
    /// The tab itself, for actions and reads.
    pub tab: Arc<page::Tab>,
    /// Its ids, label, title and URL.
    pub info: TabInfo,
}

/// A tab to open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTab {
    /// The URL to load.
    pub url: String,
    /// Label of the tab.
    pub label: Option<String>,
    /// Open it behind the other tabs; the current tab stays the same.
    pub background: bool,
}

impl NewTab {
    /// A tab with this URL, which becomes the current tab.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }
}

setters! { NewTab:
    label(some into String),
    background(bool),
}

/// A URL to load in a tab, and when the load counts as done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Navigate {
    /// The URL to load.
    pub url: String,
    /// The tab. Default: the current tab.
    pub target: Option<String>,
    /// What to wait for.
    pub wait_until: WaitUntil,
    /// Dismiss the dialogs of the tab first, and leave a page despite its `beforeunload` dialog. If false, a tab that
    /// shows a dialog is not navigated.
    pub dismiss_dialogs: bool,
}

impl Navigate {
    /// A navigation of the current tab to this URL.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }
}

setters! { Navigate:
    target(some into String),
    wait_until(WaitUntil),
    dismiss_dialogs(bool),
}

/// Navigation within the history of a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Travel {
    /// Go to the previous entry.
    Back,
    /// Go to the next entry.
    Forward,
    /// Load the current document again.
    Reload,
}

/// Result of a navigation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Navigated {
    /// Target id of the tab.
    pub target_id: String,
    /// URL of the page.
    pub url: String,
    /// Title of the page; untrusted.
    pub title: String,
    /// HTTP status of the document, if it was loaded over HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// `false` if the tab still shows the previous document; omitted otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub navigated: Option<bool>,
    /// Whether a dialog now blocks the tab.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocked_by_dialog: bool,
    /// Pending dialogs of the tab.
    #[serde(rename = "pending_dialogs", skip_serializing_if = "Vec::is_empty")]
    pub pending_dialogs: Vec<Dialog>,
    /// Dismissed dialogs of the previous document, oldest first, including an accepted `beforeunload` dialog by which the
    /// page was left.
    #[serde(rename = "dismissed_dialogs", skip_serializing_if = "Vec::is_empty")]
    pub dismissed_dialogs: Vec<ClosedDialog>,
    /// Downloads that the navigation started instead of showing a document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Download>,
    /// Whether a running script of the page was terminated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rescued: bool,
    /// Whether the page was still loading at the deadline, after [`visit`](super::Profile::visit).
    #[serde(skip)]
    pub loading: bool,
}

/// A raw CDP command.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawCall {
    /// Name of the command, `Domain.command`.
    pub method: String,
    /// Parameters of the command; `null` for none.
    pub params: Value,
    /// The tab. Default: the current tab. Commands of `Browser` and `Target` go to the browser when neither tab nor frame is given.
    pub target: Option<String>,
    /// Frame of that tab.
    pub frame: Option<String>,
}

impl RawCall {
    /// A command, such as `Page.reload`, without parameters.
    #[must_use]
    pub fn new(method: impl Into<String>) -> Self {
        Self { method: method.into(), ..Self::default() }
    }
}

setters! { RawCall:
    params(Value),
    target(some into String),
    frame(some into String),
}

/// An answer to a pending or future dialog.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DialogReply {
    /// The tab. Default: a pending dialog of any tab; to arm an answer, the current tab.
    pub target: Option<String>,
    /// True: OK. False: Cancel.
    pub accept: bool,
    /// Text for a prompt. Default: the default text of the prompt.
    pub prompt_text: Option<String>,
    /// Id of the dialog.
    pub dialog_id: Option<String>,
    /// How long an answer stays armed. Default and maximum: two minutes.
    pub timeout: Option<Duration>,
}

impl DialogReply {
    /// OK, for any pending dialog, or for the next one of the current tab.
    #[must_use]
    pub fn accept() -> Self {
        Self { accept: true, ..Self::default() }
    }

    /// As [`accept`](Self::accept), with Cancel.
    #[must_use]
    pub fn dismiss() -> Self {
        Self::default()
    }
}

setters! { DialogReply:
    target(some into String),
    prompt_text(some into String),
    dialog_id(some into String),
    timeout(some Duration),
}

/// An answer that is armed for the next dialog of a tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArmedDialog {
    /// Target id of the tab; omitted for an answer to dialogs of all tabs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_id: Option<String>,
    /// Tab id of the tab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tab_id: Option<String>,
    /// True: OK. False: Cancel.
    pub accept: bool,
    /// Type of dialog that it answers; omitted if it answers every type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<DialogType>,
    /// Time until it expires, in milliseconds.
    pub expires_in_ms: u64,
}

/// Result of an answer to a dialog.
#[derive(Debug, Clone, PartialEq)]
pub enum DialogOutcome {
    /// A pending dialog was answered.
    Answered(ClosedDialog),
    /// No dialog was pending; the answer stays armed.
    Armed {
        /// How long it stays armed.
        time: Duration,
        /// The armed answer that it replaced.
        replaced: Option<ArmedDialog>,
    },
}

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// The checked thing works.
    Pass,
    /// It works, with a limitation or a risk that the summary names.
    Warn,
    /// A problem that prevents something from working.
    Fail,
}

/// One check of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Stable name of the check.
    pub id: String,
    /// Result of the check.
    pub status: CheckStatus,
    /// What the check found.
    pub summary: String,
    /// How to fix the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix_hint: Option<String>,
}

/// A repair made by `doctor --fix`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fixed {
    /// Name of the check.
    pub id: &'static str,
    /// What was repaired, as a sentence.
    pub summary: String,
}
