//! Plays on the dashboard, whose icons have no names: they are recognised by what they show.

use super::super::hands::{Done, Hands, Want};
use super::super::screen::Element;
use super::Known;

pub(super) const PLAYS: &[Known] =
    &[("switch on \"Weekly reports\"", settings), ("with one of the icons in the report", lowest_quarter)];

const GEAR: [&str; 11] = [
    ".....#.....",
    ".....#.....",
    "..#######..",
    "..##.#.##..",
    "..#.#.#.#..",
    ".####.####.",
    "..#.#.#.#..",
    "..##.#.##..",
    "..#######..",
    ".....#.....",
    ".....#.....",
];
/// An arrow down into a tray: downloads.
const DOWN: [&str; 9] = [
    "....#....",
    "....#....",
    "....#....",
    "..#.#.#..",
    "...###...",
    "....#....",
    "#.......#",
    "#.......#",
    "#########",
];
/// An arrow up from a tray: export.
const UP: [&str; 9] = [
    "....#....",
    "...###...",
    "..#.#.#..",
    "....#....",
    "....#....",
    "#...#...#",
    "#.......#",
    "#.......#",
    "#########",
];

fn settings(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let [switch, tab] = quoted.as_slice() else { return hands.lost("the task does not quote a switch and a tab") };
    hands.click_icon(&Want::html("aria-haspopup"), &GEAR)?;
    hands.click(&Want::html(switch).lacks("<dialog"))?;
    hands.click(&Want::text("Save"))?;
    open_report(hands, highest)?;
    close(hands)?;
    hands.click(&Want::text(tab))
}

fn lowest_quarter(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let [year, _, keep] = quoted.as_slice() else { return hands.lost("the task does not quote a year and a button") };
    let format = hands.told("Export this report as ", " ")?;
    hands.choose(&Want::id("year-filter"), year)?;
    open_report(hands, lowest)?;
    hands.click_icon(&Want::html("data-i=").lacks("<dialog"), &UP)?;
    hands.click(&Want::text(&format))?;
    close(hands)?;
    hands.click_icon(&Want::html("aria-haspopup"), &DOWN)?;
    hands.click(&Want::text(keep))
}

/// Closes the window that is open.
fn close(hands: &mut Hands) -> Done {
    hands.click(&Want::html("aria-label=\"Close\"").lacks("<dialog"))
}

/// Clicks the bar that is chosen by the heights of all of them.
fn open_report(hands: &mut Hands, choose: fn(Vec<Bar>) -> Option<Bar>) -> Done {
    let bars = hands.all(&Want::html("class=\"bar\""))?;
    let bars = bars.into_iter().filter_map(|bar| Some((height(&bar)?, bar)));
    match choose(bars.collect()) {
        Some((_, bar)) => hands.click(&Want::html(&bar.html)),
        None => hands.lost("the chart has no bars"),
    }
}

/// A bar, after its height.
type Bar = (f64, Element);

fn highest(bars: Vec<Bar>) -> Option<Bar> {
    bars.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))
}

fn lowest(bars: Vec<Bar>) -> Option<Bar> {
    bars.into_iter().min_by(|one, other| one.0.total_cmp(&other.0))
}

/// The height in its style, in percent.
fn height(bar: &Element) -> Option<f64> {
    let (_, style) = bar.html.split_once("height:")?;
    style.split_once('%')?.0.trim().parse().ok()
}
