//! Commands that find elements and read their properties.

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::super::client::Request;
use super::super::failure::Failure;
use super::call::{ActionOptions, Call, Element, Tab, element, locator};
use super::fields::Fields;
use super::show;
use cdpilot::page::{ActKind, ElementProperty, Locator};
use cdpilot_server::api::{self, operations as op};

#[derive(Debug, Args)]
#[command(after_help = LOCATORS)]
pub(in super::super) struct Find {
    #[command(flatten)]
    fields: Fields<api::FindQuery>,
    #[command(flatten)]
    tab: Tab,
}

/// Help text on locators.
const LOCATORS: &str = "\
Locators (accepted wherever a command takes a ref):
  role=button[name=\"Save\"]   role and accessible name, as in snapshots; also [name*=part],
                             [checked], [disabled], [expanded], [level=2], [pressed], [selected]
  text=Sign in               innermost element that contains the text, ignoring case;
                             text=\"Sign in\": the exact text
  label=E-mail               field with this label
  placeholder=Search         field with this placeholder
  testid=login               value of data-testid, data-test-id or data-test
  css=form > button          CSS selector; reaches into open shadow roots
`A >> B` finds B inside A, including frames: role=dialog >> role=button[name=\"OK\"].
`>> nth=0` picks the first match.";

#[derive(Debug, Args)]
pub(in super::super) struct Get {
    /// Property to print
    #[arg(value_enum, value_name = "WHAT")]
    what: What,
    #[command(flatten)]
    at: Element,
    /// Attribute name, with `attribute`
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print values as they are; without --raw, secrets are replaced by [secret]
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Rendered text
    Text,
    /// Outer HTML
    Html,
    /// Value of a field
    Value,
    /// Attribute given by --name
    Attribute,
    /// Position and size in CSS pixels
    Box,
    /// Number of elements that match
    Count,
    /// Visible, enabled, editable, focused, checked
    State,
}

impl From<What> for ElementProperty {
    fn from(what: What) -> Self {
        match what {
            What::Text => Self::Text,
            What::Html => Self::Html,
            What::Value => Self::Value,
            What::Attribute => Self::Attribute,
            What::Box => Self::Box,
            What::Count => Self::Count,
            What::State => Self::State,
        }
    }
}

#[derive(Debug, Args)]
pub(in super::super) struct Is {
    /// State to check
    #[arg(value_enum, value_name = "STATE")]
    state: State,
    #[command(flatten)]
    at: Element,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum State {
    Visible,
    Hidden,
    Enabled,
    Disabled,
    Editable,
    Focused,
    Checked,
    Unchecked,
}

#[derive(Debug, Args)]
#[command(override_usage = "cdpilot browser focus <TAB> [OPTIONS]\n       \
                            cdpilot browser focus <REF> [OPTIONS]")]
pub(in super::super) struct Focus {
    /// Tab: id (t1), label, target id or unique prefix of the target id; or element: ref or locator
    #[arg(value_name = "TAB|REF", required_unless_present = "selector")]
    what: Option<String>,
    /// Focus the first element that matches this CSS selector
    #[arg(long, value_name = "CSS", conflicts_with = "what")]
    selector: Option<String>,
    #[command(flatten)]
    acting: ActionOptions,
}

impl Find {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        Ok(Call::new(self.tab.of(Request::new(op::FIND, &self.fields.request()?)), show::found))
    }
}

impl Get {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        if (self.what == What::Attribute) != self.name.is_some() {
            return Err(Failure::usage(
                "`get attribute` and --name belong together, for example `cdpilot get attribute e5 --name href`",
            ));
        }
        let body = api::GetQuery { name: self.name.clone(), raw: self.raw, ..read(self.what.into(), &self.at) };
        let show = match self.what {
            What::Value => show::got_value,
            What::Attribute => show::got_attribute,
            _ => show::got,
        };
        Ok(Call { show, ..got(&body, &self.tab) })
    }
}

impl Is {
    pub(super) fn call(&self) -> Call {
        // A missing element counts as hidden; the other states require an element.
        let is_seen = matches!(self.state, State::Visible | State::Hidden);
        let body = api::GetQuery { absent: is_seen, ..read(ElementProperty::State, &self.at) };
        got(&body, &self.tab)
    }

    /// Whether the element of the answer is in the state.
    pub(super) fn holds(&self, answer: &Value) -> bool {
        let (name, wanted) = match self.state {
            State::Visible => ("visible", true),
            State::Hidden => ("visible", false),
            State::Enabled => ("enabled", true),
            State::Disabled => ("enabled", false),
            State::Editable => ("editable", true),
            State::Focused => ("focused", true),
            State::Checked => ("checked", true),
            State::Unchecked => ("checked", false),
        };
        answer["value"][name] == wanted
    }
}

/// The request to read a property of an element.
fn read(what: ElementProperty, at: &Element) -> api::GetQuery {
    let Locator { reference, selector, locator, nth, frame_id } = at.locator();
    api::GetQuery { what, name: None, reference, selector, locator, nth, frame_id, raw: false, absent: false }
}

fn got(body: &api::GetQuery, tab: &Tab) -> Call {
    Call::new(tab.of(Request::new(op::GET, body)), show::got)
}

/// Whether a text is the beginning of a target id even if it would parse as a ref. Lists show eight hexadecimal digits of it,
/// which in one of forty ids are all decimal; refs are shorter and have no leading zero.
fn begins_target_id(text: &str) -> bool {
    let is_long = text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_long || (text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Focus {
    pub(super) fn call(&self) -> Call {
        let at = self.what.as_deref().filter(|what| !begins_target_id(what)).and_then(|what| element(what).ok());
        match (&self.what, at) {
            (Some(tab), None) => {
                let body = api::FocusTab { target_id: tab.clone() };
                Call::new(Request::new(op::FOCUS_TAB, &body), show::focused)
            }
            (_, at) => {
                let at = Locator { selector: self.selector.clone(), ..locator(at.as_deref()) };
                Call::new(self.acting.request(ActKind::Focus { at }), show::acted)
            }
        }
    }
}
