//! Commands for the mouse, scrolling, waiting and scripts.

use std::io::Read as _;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::super::client::Request;
use super::super::failure::Failure;
use super::call::{ActionOptions, Call, Element, OptionalElement, Selector, Tab, act, element, frame, named};
use super::show;

/// Size limit for scripts and lists from stdin or a file, bytes: the server's limit for a request body.
const MAX_INPUT: u64 = 1 << 20;

#[derive(Debug, Args)]
pub(in super::super) struct Click {
    #[command(flatten)]
    at: Element,
    #[command(flatten)]
    how: ClickOptions,
    /// Comma-separated keys to hold: Alt, Control, ControlOrMeta, Meta, Shift
    #[arg(long, value_name = "KEYS", value_delimiter = ',', value_parser = modifier)]
    modifiers: Vec<String>,
    #[command(flatten)]
    acting: ActionOptions,
}

#[derive(Debug, Args)]
pub(in super::super) struct ClickCoords {
    /// Distance from the left edge of the viewport, CSS pixels
    #[arg(allow_negative_numbers = true)]
    x: f64,
    /// Distance from the top edge of the viewport, CSS pixels
    #[arg(allow_negative_numbers = true)]
    y: f64,
    #[command(flatten)]
    how: ClickOptions,
    #[command(flatten)]
    acting: ActionOptions,
}

#[derive(Debug, Args)]
struct ClickOptions {
    /// Double-click
    #[arg(long)]
    double: bool,
    /// Mouse button [default: left]
    #[arg(long, value_enum, value_name = "BUTTON")]
    button: Option<Button>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Button {
    Left,
    Right,
    Middle,
}

/// Arguments of actions that take only an element.
#[derive(Debug, Args)]
pub(in super::super) struct ElementAction {
    #[command(flatten)]
    at: Element,
    #[command(flatten)]
    acting: ActionOptions,
}

#[derive(Debug, Args)]
pub(in super::super) struct Drag {
    /// Start: ref, locator, or viewport position x,y
    #[arg(value_name = "FROM", value_parser = place, required_unless_present = "from_selector", allow_negative_numbers = true)]
    from: Option<Place>,
    /// End: ref, locator, or viewport position x,y
    #[arg(value_name = "TO", value_parser = place, required_unless_present = "to_selector", allow_negative_numbers = true)]
    to: Option<Place>,
    /// Start at the first element that matches this CSS selector
    #[arg(long, value_name = "CSS", conflicts_with = "from", requires = "to_selector")]
    from_selector: Option<String>,
    /// End at the first element that matches this CSS selector
    #[arg(long, value_name = "CSS", conflicts_with = "to")]
    to_selector: Option<String>,
    /// Frame for the selectors: frame id, or ref of the iframe [default: the main frame]
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    frame: Option<String>,
    /// Number of mouse moves between start and end
    #[arg(long, value_name = "N")]
    steps: Option<u32>,
    #[command(flatten)]
    acting: ActionOptions,
}

/// An end of a drag.
#[derive(Debug, Clone)]
enum Place {
    Ref(String),
    Point(f64, f64),
}

#[derive(Debug, Args)]
pub(in super::super) struct Scroll {
    /// Direction
    #[arg(value_enum, value_name = "DIRECTION", default_value = "down")]
    direction: Direction,
    /// Distance, CSS pixels [default: most of the visible area]
    #[arg(value_name = "PIXELS")]
    pixels: Option<f64>,
    #[command(flatten)]
    at: OptionalElement,
    #[command(flatten)]
    acting: ActionOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Direction {
    Up,
    Down,
    Left,
    Right,
}

#[derive(Debug, Args)]
#[command(after_help = "With several conditions, all must hold.")]
pub(in super::super) struct Wait {
    /// Wait this many milliseconds, at most 30000; for longer waits give a condition and --timeout
    #[arg(value_name = "MS")]
    millis: Option<u64>,
    /// Alternative to the positional argument
    #[arg(long, value_name = "MS", conflicts_with = "millis", alias = "time-ms")]
    time: Option<u64>,
    /// Wait until this text is visible
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Wait until this text is no longer visible
    #[arg(long, value_name = "TEXT")]
    text_gone: Option<String>,
    /// Wait until a visible element matches this CSS selector
    #[arg(long, value_name = "CSS")]
    selector: Option<String>,
    /// Wait until the URL of the tab matches this pattern; * and ? as in file names. `--url` after `wait` means the
    /// same, unless its value is http://host:port
    #[arg(long, value_name = "GLOB")]
    page_url: Option<String>,
    /// Wait until the page has reached this load state
    #[arg(long, value_enum, value_name = "STATE", alias = "load-state")]
    load: Option<Load>,
    /// Wait until this script returns a truthy value
    #[arg(long = "fn", value_name = "SCRIPT")]
    script: Option<String>,
    /// Wait until this element, a ref or locator, is in the state given by --state
    #[arg(id = "at", long = "ref", value_name = "REF", value_parser = element)]
    at: Option<String>,
    /// State to wait for, with --ref [default: visible]
    #[arg(long, value_enum, value_name = "STATE", requires = "at")]
    state: Option<State>,
    /// Frame for --selector and --fn: frame id, or ref of the iframe [default: the main frame]
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    frame: Option<String>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Load {
    #[value(name = "load")]
    Whole,
    #[value(name = "domcontentloaded")]
    Parsed,
    #[value(name = "networkidle")]
    Quiet,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum State {
    Visible,
    Hidden,
    Enabled,
    Disabled,
    Checked,
    Unchecked,
    Gone,
}

#[derive(Debug, Args)]
pub(in super::super) struct Evaluate {
    /// Expression, function, or function body; `-`: read from stdin
    #[arg(value_name = "SCRIPT", required_unless_present = "script", allow_negative_numbers = true)]
    positional: Option<String>,
    /// Alternative to the positional argument
    #[arg(long = "fn", value_name = "SCRIPT", conflicts_with = "positional", allow_hyphen_values = true)]
    script: Option<String>,
    /// Call the function with this element: ref or locator
    #[arg(long = "ref", value_name = "REF", value_parser = element)]
    at: Option<String>,
    /// Frame to run in: frame id, or ref of the iframe [default: the element's frame, else the main frame]
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    frame: Option<String>,
    #[command(flatten)]
    tab: Tab,
}

impl ClickOptions {
    fn of(&self, request: Request) -> Request {
        request.on("double", self.double).field("button", self.button.and_then(name))
    }
}

impl Click {
    pub(super) fn call(&self) -> Call {
        let request = self.how.of(self.at.of(self.acting.act("click")));
        let modifiers = (!self.modifiers.is_empty()).then(|| self.modifiers.clone());
        Call::new(request.field("modifiers", modifiers), show::acted)
    }
}

impl ClickCoords {
    pub(super) fn call(&self) -> Call {
        let request = self.acting.act("clickCoords").field("x", Some(self.x)).field("y", Some(self.y));
        Call::new(self.how.of(request), show::acted)
    }
}

impl ElementAction {
    pub(super) fn call(&self, kind: &str) -> Call {
        Call::new(self.at.of(self.acting.act(kind)), show::acted)
    }
}

impl Drag {
    pub(super) fn call(&self) -> Call {
        let request = self.acting.act("drag").field("startSelector", self.from_selector.clone());
        let request = request.field("endSelector", self.to_selector.clone()).field("frameId", self.frame.clone());
        let request = request.field("steps", self.steps);
        let request = Place::of(self.from.as_ref(), request, ["startRef", "startLocator", "start"]);
        Call::new(Place::of(self.to.as_ref(), request, ["endRef", "endLocator", "end"]), show::acted)
    }
}

impl Place {
    fn of(place: Option<&Self>, request: Request, [by_ref, by_locator, by_point]: [&str; 3]) -> Request {
        match place {
            None => request,
            Some(Self::Ref(at)) if at.contains('=') => request.field(by_locator, Some(at.clone())),
            Some(Self::Ref(at)) => request.field(by_ref, Some(at.clone())),
            Some(Self::Point(x, y)) => request.field(by_point, Some(json!({ "x": x, "y": y }))),
        }
    }
}

impl Scroll {
    pub(super) fn call(&self) -> Call {
        let request = self.at.of(self.acting.act("scroll")).field("direction", name(self.direction));
        Call::new(request.field("pixels", self.pixels), show::acted)
    }
}

impl Wait {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let texts = [&self.text, &self.text_gone, &self.selector, &self.page_url, &self.script, &self.at];
        if self.millis.or(self.time).is_none() && self.load.is_none() && texts.iter().all(|text| text.is_none()) {
            let problem =
                "nothing to wait for; give MS, --text, --text-gone, --selector, --page-url, --load, --fn or --ref";
            return Err(Failure::usage(problem));
        }
        let request =
            act("wait", &self.tab).field("timeMs", self.millis.or(self.time)).field("text", self.text.clone());
        let request = request.field("textGone", self.text_gone.clone()).field("selector", self.selector.clone());
        let request = request.field("url", self.page_url.clone()).field("loadState", self.load.and_then(name));
        let request = request.field("fn", self.script.clone());
        let request = named(request, self.at.as_deref());
        let state = self.state.or(self.at.is_some().then_some(State::Visible));
        let request = request.field("state", state.and_then(name)).field("frameId", self.frame.clone());
        Ok(Call::new(request, show::acted))
    }
}

impl Evaluate {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let script = match self.positional.as_deref().or(self.script.as_deref()) {
            Some("-") => input("-")?,
            Some(script) => script.to_owned(),
            None => String::new(),
        };
        let request = named(act("evaluate", &self.tab).field("fn", Some(script)), self.at.as_deref());
        Ok(Call::new(request.field("frameId", self.frame.clone()), show::evaluated))
    }
}

/// Reads a file, or stdin for `-`, up to 1 MiB.
pub(super) fn input(path: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if path == "-" {
        std::io::stdin().lock().take(MAX_INPUT + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MAX_INPUT + 1).read_to_string(&mut text))
    };
    let shown = if path == "-" { "stdin" } else { path };
    match read {
        Ok(_) if text.len() as u64 > MAX_INPUT => {
            Err(Failure::usage(format!("{shown} is larger than 1 MiB, the limit; give less")))
        }
        Ok(_) => Ok(text),
        Err(problem) => Err(Failure::new("PATH_REFUSED", format!("cannot read {shown}: {problem}"))),
    }
}

/// Splits positional arguments into the ref and at least `least` further values. With `--selector` there is no ref.
pub(super) fn split(
    mut given: Vec<String>,
    by: &Selector,
    least: usize,
    what: &str,
) -> Result<(Option<String>, Vec<String>), Failure> {
    if by.selector.is_some() {
        return if given.len() >= least {
            Ok((None, given))
        } else {
            Err(Failure::usage(format!("nothing given for {what}")))
        };
    }
    if given.len() <= least {
        return Err(Failure::usage(format!("give a ref and {what}, or --selector and {what}")));
    }
    let at = element(&given.remove(0)).map_err(Failure::usage)?;
    Ok((Some(at), given))
}

fn modifier(text: &str) -> Result<String, String> {
    const KNOWN: [(&str, &[&str]); 5] = [
        ("Alt", &["option"]),
        ("Control", &["ctrl"]),
        ("ControlOrMeta", &["mod"]),
        ("Meta", &["cmd", "command"]),
        ("Shift", &[]),
    ];
    let is = |other: &str| other.eq_ignore_ascii_case(text);
    let found = KNOWN.iter().find(|(name, others)| is(name) || others.iter().any(|other| is(other)));
    found
        .map(|(name, _)| (*name).to_owned())
        .ok_or_else(|| "give Alt, Control, ControlOrMeta, Meta or Shift".to_owned())
}

fn place(text: &str) -> Result<Place, String> {
    let is_locator = text.contains('=');
    if let Some((x, y)) = text.split_once(',').filter(|_| !is_locator) {
        let read = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        return match (read(x), read(y)) {
            (Some(x), Some(y)) => Ok(Place::Point(x, y)),
            _ => Err("give a position as x,y, for example 100,250".to_owned()),
        };
    }
    element(text).map(Place::Ref)
}

/// The name of an enum value as typed on the command line.
fn name(value: impl ValueEnum) -> Option<Value> {
    value.to_possible_value().map(|value| value.get_name().into())
}
