//! Commands that find elements and read their properties.

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::super::client::Request;
use super::super::failure::Failure;
use super::call::{ActionOptions, Call, Element, Tab, element, frame, locator};
use super::show;
use crate::page::{ActKind, Locator};

#[derive(Debug, Args)]
#[command(after_help = LOCATORS)]
pub(in super::super) struct Find {
    /// Locator; see below
    #[arg(value_name = "LOCATOR")]
    locator: String,
    /// Search only this frame and its child frames: frame id, or ref of the iframe [default: all frames]
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    frame: Option<String>,
    /// Show at most N matches [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: Option<u32>,
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
    pub(super) fn call(&self) -> Call {
        let request = Request::post("/find").field("locator", Some(self.locator.clone()));
        let request = request.field("frame", self.frame.clone()).field("limit", self.limit);
        Call::new(request.field("targetId", self.tab.target.clone()), show::found)
    }
}

impl Get {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        if (self.what == What::Attribute) != self.name.is_some() {
            return Err(Failure::usage(
                "`get attribute` and --name belong together, for example `cdpilot get attribute e5 --name href`",
            ));
        }
        let request = read(self.what.to_possible_value(), &self.at, &self.tab);
        let request = request.field("name", self.name.clone()).on("raw", self.raw);
        let show = match self.what {
            What::Value => show::got_value,
            What::Attribute => show::got_attribute,
            _ => show::got,
        };
        Ok(Call::new(request, show))
    }
}

impl Is {
    pub(super) fn call(&self) -> Call {
        // A missing element counts as hidden; the other states require an element.
        let is_seen = matches!(self.state, State::Visible | State::Hidden);
        Call::new(read(What::State.to_possible_value(), &self.at, &self.tab).on("absent", is_seen), show::got)
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

fn read(what: Option<clap::builder::PossibleValue>, at: &Element, tab: &Tab) -> Request {
    let request = Request::post("/get").field("what", what.map(|what| what.get_name().to_owned()));
    request.object(&at.locator()).field("targetId", tab.target.clone())
}

impl Focus {
    pub(super) fn call(&self) -> Call {
        // Tab ids begin with a t, and target ids are longer than refs, so neither parses as a ref.
        let at = self.what.as_deref().and_then(|what| element(what).ok());
        match (&self.what, at) {
            (Some(tab), None) => {
                Call::new(Request::post("/tabs/focus").field("targetId", Some(tab.clone())), show::focused)
            }
            (_, at) => {
                let at = Locator { selector: self.selector.clone(), ..locator(at.as_deref()) };
                Call::new(self.acting.request(ActKind::Focus { at }), show::acted)
            }
        }
    }
}
