//! Commands for the browser, its tabs, navigation and profiles.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value};

use super::super::args::When;
use super::super::client::Request;
use super::super::failure::Failure;
use super::super::values::port;
use super::address::complete;
use super::call::{Call, Tab, request};
use super::fields::Fields;
use super::show;
use cdpilot::page::{Act, ActKind};
use cdpilot_server::api::{self, Operation, operations as op};
use cdpilot_server::control::{NewProfile, WaitUntil};

#[derive(Debug, Args)]
pub(in super::super) struct Start {
    /// Run the browser without a window [default: CDPILOT_HEADLESS, else the profile's setting, else browser.headless in
    /// config.yaml]
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, default_missing_value = "true")]
    headless: Option<When>,
    /// Capability to request from a WebDriver server or Selenium Grid, for example platformName=linux; JSON objects,
    /// lists, true and false are sent as JSON; repeatable
    #[arg(long = "capability", value_name = "NAME=VALUE", value_parser = capability)]
    capabilities: Vec<(String, Value)>,
}

/// Parses `NAME=VALUE`.
fn capability(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("give NAME=VALUE, for example browserName=chrome")?;
    let json = serde_json::from_str(value).ok().filter(|json: &Value| !json.is_string() && !json.is_number());
    Ok((name.trim().to_owned(), json.unwrap_or_else(|| value.into())))
}

#[derive(Debug, Args)]
pub(in super::super) struct Open {
    /// URL; without a scheme https:// is used, for localhost and loopback addresses http://
    #[arg(value_name = "URL", value_parser = complete)]
    url: String,
    #[command(flatten)]
    fields: Fields<api::OpenTab>,
}

/// Arguments of `back`, `forward` and `reload`.
#[derive(Debug, Args)]
pub(in super::super) struct HistoryArgs {
    #[command(flatten)]
    how: NavigationOptions,
}

#[derive(Debug, Args)]
pub(in super::super) struct Rescue {
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Close {
    /// Tab: id (t1), label, target id or unique prefix of the target id [default: the current tab]
    #[arg(value_name = "TAB")]
    tab: Option<String>,
    /// Alternative to the positional argument
    #[arg(long, value_name = "TAB", conflicts_with = "tab")]
    target: Option<String>,
}

#[derive(Debug, Args)]
pub(in super::super) struct Label {
    /// Tab: id (t1), label, target id or unique prefix of the target id
    #[arg(value_name = "TAB")]
    tab: String,
    /// New label
    #[arg(value_name = "NAME")]
    label: String,
}

#[derive(Debug, Args)]
pub(in super::super) struct Navigate {
    /// URL; without a scheme https:// is used, for localhost and loopback addresses http://
    #[arg(value_name = "URL", value_parser = complete)]
    url: String,
    #[command(flatten)]
    how: NavigationOptions,
}

/// Options of navigations.
#[derive(Debug, Args)]
struct NavigationOptions {
    /// Event to wait for [default: load]
    #[arg(long, value_enum, value_name = "WHEN", alias = "wait-until")]
    until: Option<Until>,
    /// Dismiss the open dialogs of the tab first. If the navigation opens a beforeunload dialog, the page stays until you
    /// answer it: `dialog --accept` continues
    #[arg(long)]
    dismiss_dialogs: bool,
    #[command(flatten)]
    tab: Tab,
}

impl NavigationOptions {
    fn wait_until(&self) -> WaitUntil {
        match self.until {
            None | Some(Until::Load) => WaitUntil::Load,
            Some(Until::DomContentLoaded) => WaitUntil::DomContentLoaded,
            Some(Until::None) => WaitUntil::None,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "lower")]
enum Until {
    /// The page has loaded completely
    Load,
    /// The document is parsed
    DomContentLoaded,
    /// Do not wait: return when the request is sent
    None,
}

#[derive(Debug, Args)]
pub(in super::super) struct Profiles {
    #[command(subcommand)]
    what: Option<ProfilesWhat>,
}

#[derive(Debug, Subcommand)]
enum ProfilesWhat {
    /// List profiles
    List,
    /// Create a profile
    Create {
        /// Profile name
        name: String,
        /// Color of its windows, #RRGGBB [default: browser.color in config.yaml]
        #[arg(long, value_name = "COLOR")]
        color: Option<String>,
        /// Attach to this browser instead of starting one: ws://…, wss://… or http://host:port
        #[arg(long, value_name = "URL")]
        cdp_url: Option<String>,
        /// CDP port to open for other programs [default: none; with browser.transport: port, the next free port]
        #[arg(long, value_name = "PORT", value_parser = port)]
        cdp_port: Option<u16>,
        /// Run its browser without a window [default: browser.headless in config.yaml]; CDPILOT_HEADLESS overrides it
        #[arg(
            long,
            value_enum,
            value_name = "WHEN",
            num_args = 0..=1,
            default_missing_value = "true",
            require_equals = true
        )]
        headless: Option<When>,
    },
    /// Stop the browser of a profile, and delete the profile and all its data
    Delete {
        /// Profile name
        name: String,
    },
    /// Stop the browser of a profile and delete its browsing data; the profile stays
    Reset {
        /// Profile name
        name: String,
    },
}

pub(super) fn status() -> Call {
    Call::new(Request::of(op::STATUS), show::status)
}

pub(super) fn stop() -> Call {
    Call::new(Request::of(op::STOP), show::stopped).never_starts()
}

pub(super) fn tabs() -> Call {
    Call::new(Request::of(op::TABS), show::tabs)
}

impl Start {
    pub(super) fn call(&self) -> Call {
        let capabilities: Map<String, Value> = self.capabilities.iter().cloned().collect();
        let capabilities = (!capabilities.is_empty()).then_some(capabilities);
        let body = api::Start { headless: self.headless.map(Into::into), capabilities };
        Call::new(Request::new(op::START, &body), show::status)
    }
}

impl Open {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let body = self.fields.with([("url", self.url.as_str().into())])?;
        Ok(Call::new(Request::new(op::OPEN_TAB, &body), show::opened))
    }
}

impl HistoryArgs {
    pub(super) fn call<A>(&self, operation: Operation<api::HistoryNavigation, A>) -> Call {
        let (wait_until, dismiss_dialogs) = (self.how.wait_until(), self.how.dismiss_dialogs);
        let body = api::HistoryNavigation { wait_until, dismiss_dialogs };
        Call::new(self.how.tab.of(Request::new(operation, &body)), show::navigated)
    }
}

impl Rescue {
    pub(super) fn call(&self) -> Call {
        Call::new(self.tab.of(Request::new(op::RESCUE, &api::NoFields {})), show::rescued)
    }
}

impl Close {
    pub(super) fn call(&self) -> Call {
        match self.tab.as_ref().or(self.target.as_ref()) {
            Some(tab) => Call::new(Request::at(op::CLOSE_TAB, &[tab]), show::closed),
            None => Call::new(request(&Act::new(ActKind::Close {}), &Tab { target: None }), show::closed),
        }
    }
}

impl Label {
    pub(super) fn call(&self) -> Call {
        let body = api::LabelTab { target_id: self.tab.clone(), label: self.label.clone() };
        Call::new(Request::new(op::LABEL_TAB, &body), show::labelled)
    }
}

impl Navigate {
    pub(super) fn call(&self) -> Call {
        let (url, dismiss_dialogs) = (self.url.clone(), self.how.dismiss_dialogs);
        let body = api::NavigateTo { url, wait_until: self.how.wait_until(), dismiss_dialogs };
        Call::new(self.how.tab.of(Request::new(op::NAVIGATE, &body)), show::navigated)
    }
}

impl Profiles {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let named = |name: &str| {
            let bad = name.is_empty() || name.contains(['/', '\\']);
            if bad {
                Err(Failure::usage("the profile name is empty or a path; give a plain name such as work"))
            } else {
                Ok(())
            }
        };
        Ok(match &self.what {
            None | Some(ProfilesWhat::List) => Call::new(Request::of(op::PROFILES), show::profiles),
            Some(ProfilesWhat::Create { name, color, cdp_url, cdp_port, headless }) => {
                let body = NewProfile {
                    color: color.clone(),
                    cdp_url: cdp_url.clone(),
                    cdp_port: *cdp_port,
                    headless: headless.map(Into::into),
                    ..NewProfile::new(name)
                };
                Call::new(Request::new(op::CREATE_PROFILE, &body), show::made)
            }
            Some(ProfilesWhat::Delete { name }) => {
                named(name)?;
                Call::new(Request::at(op::DELETE_PROFILE, &[name]), show::deleted_profile)
            }
            Some(ProfilesWhat::Reset { name }) => {
                named(name)?;
                Call::new(Request::at(op::RESET_PROFILE, &[name]), show::reset)
            }
        })
    }
}
