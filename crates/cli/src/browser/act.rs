//! Commands with a syntax of their own: drags, waiting, scripts.

use std::io::Read as _;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::super::failure::Failure;
use super::super::values::whole;
use super::call::{ActionOptions, Call, Selector, Tab, element, frame, locator, request};
use super::show;
use cdpilot::code::Code;
use cdpilot::page::{Act, ActKind, LoadState, Locator, Point, State, WaitFor};

/// Size limit for scripts and lists from stdin or a file, bytes: the server's limit for a request body.
const MAX_INPUT: u64 = 1 << 20;

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
    /// Number of mouse moves between start and end, 1 to 1000 [default: 10]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(..))]
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
#[command(after_help = "With several conditions, all must hold.")]
pub(in super::super) struct Wait {
    /// Wait this many milliseconds, at most 30000; for longer waits give a condition and --timeout
    #[arg(value_name = "MS", value_parser = whole::<u64>(..))]
    millis: Option<u64>,
    /// Alternative to the positional argument
    #[arg(long, value_name = "MS", value_parser = whole::<u64>(..), conflicts_with = "millis", alias = "time-ms")]
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
    /// Wait until the URL of the tab matches this pattern; * and ? as in file names. `--url GLOB` means the same, unless the
    /// value has the form http://host:port, which is the address of the server
    #[arg(long, value_name = "GLOB")]
    page_url: Option<String>,
    /// Wait until the page has reached this load state
    #[arg(long, value_parser = load_states(), value_name = "STATE", alias = "load-state")]
    load: Option<LoadState>,
    /// Wait until this script returns a truthy value
    #[arg(long = "fn", value_name = "SCRIPT")]
    script: Option<String>,
    /// Wait until this element, a ref or locator, is in the state given by --state
    #[arg(id = "at", long = "ref", value_name = "REF", value_parser = element)]
    at: Option<String>,
    /// State to wait for, with --ref [default: visible]
    #[arg(long, value_parser = states(), value_name = "STATE", requires = "at")]
    state: Option<State>,
    /// Frame for --selector and --fn: frame id, or ref of the iframe [default: the main frame]
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    frame: Option<String>,
    #[command(flatten)]
    tab: Tab,
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

impl Drag {
    pub(super) fn call(&self) -> Call {
        let (start_ref, start_locator, start) = Place::parts(self.from.as_ref());
        let (end_ref, end_locator, end) = Place::parts(self.to.as_ref());
        let kind = ActKind::Drag {
            start_ref,
            start_selector: self.from_selector.clone(),
            start_locator,
            start,
            end_ref,
            end_selector: self.to_selector.clone(),
            end_locator,
            end,
            steps: self.steps,
            frame_id: self.frame.clone(),
        };
        Call::new(self.acting.request(kind), show::acted)
    }
}

impl Place {
    /// A ref, a locator, a point: one of them.
    fn parts(place: Option<&Self>) -> (Option<String>, Option<String>, Option<Point>) {
        match place {
            None => (None, None, None),
            Some(Self::Ref(at)) if at.contains('=') => (None, Some(at.clone()), None),
            Some(Self::Ref(at)) => (Some(at.clone()), None, None),
            Some(Self::Point(x, y)) => (None, None, Some(Point { x: *x, y: *y })),
        }
    }
}

impl Wait {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let Locator { reference, locator, .. } = locator(self.at.as_deref());
        let wanted = WaitFor {
            time_ms: self.millis.or(self.time),
            text: self.text.clone(),
            text_gone: self.text_gone.clone(),
            selector: self.selector.clone(),
            url: self.page_url.clone(),
            load_state: self.load,
            script: self.script.clone(),
            reference,
            locator,
            nth: None,
            state: None,
            frame_id: None,
        };
        if wanted == WaitFor::default() {
            let problem =
                "nothing to wait for; give MS, --text, --text-gone, --selector, --page-url, --load, --fn or --ref";
            return Err(Failure::usage(problem));
        }
        let state = self.state.or(self.at.is_some().then_some(State::Visible));
        let wanted = WaitFor { state, frame_id: self.frame.clone(), ..wanted };
        Ok(Call::new(request(&Act::wait(wanted), &self.tab), show::acted))
    }
}

impl Evaluate {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let script = match self.positional.as_deref().or(self.script.as_deref()) {
            Some("-") => input("-")?,
            Some(script) => script.to_owned(),
            None => String::new(),
        };
        let at = Locator { frame_id: self.frame.clone(), ..locator(self.at.as_deref()) };
        Ok(Call::new(request(&Act::evaluate(script).on(at), &self.tab), show::evaluated))
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
        Err(problem) => Err(Failure::new(Code::PathRefused, format!("cannot read {shown}: {problem}"))),
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

/// Parses how far a document has loaded.
fn load_states() -> impl TypedValueParser<Value = LoadState> {
    PossibleValuesParser::new(LoadState::NAMES).try_map(|name| LoadState::from_name(&name).ok_or("unknown load state"))
}

/// Parses the state of an element.
fn states() -> impl TypedValueParser<Value = State> {
    PossibleValuesParser::new(State::NAMES).try_map(|name| State::from_name(&name).ok_or("unknown state"))
}
