//! `element_interaction`: scrolling, swiping, sliders and files.

use std::path::Path;

use serde_json::Value;

use super::super::guard::check_upload;
use super::super::{Outcome, ToolError};
use super::Visual;
use super::element::{bad, effects, perform, ref_of, shown_after};
use super::interaction::{Direction, Interaction, Values};
use super::observation::{Observation, named, quoted};
use super::{failed, failed_at};
use crate::control::TabHandle;
use cdpilot::code::Code;
use cdpilot::page::{self, Act, Upload, VisibleElement};

/// Part of the visible area to scroll.
const AMOUNT: f64 = 0.5;
const LEAST_AMOUNT: f64 = 0.1;
const MOST_AMOUNT: f64 = 3.0;
const MOST_SWIPES: u32 = 5;

pub(super) fn scroll(
    visual: &Visual<'_>,
    handle: &TabHandle,
    wanted: &Interaction,
    element: Option<&VisibleElement>,
    mut said: Observation,
) -> Result<Outcome, ToolError> {
    let amount = wanted.scroll_amount.unwrap_or(AMOUNT);
    if !(LEAST_AMOUNT..=MOST_AMOUNT).contains(&amount) {
        return Err(bad("scroll_amount must be 0.1 to 3"));
    }
    let (direction, name) = match wanted.direction.unwrap_or_default() {
        Direction::Up => (page::Direction::Up, "up"),
        Direction::Down => (page::Direction::Down, "down"),
        Direction::Left => (page::Direction::Left, "left"),
        Direction::Right => (page::Direction::Right, "right"),
        Direction::Next | Direction::Prev => {
            return Err(bad("next and prev are for swipe; scroll takes up, down, left, right"));
        }
    };
    let is_across = matches!(name, "left" | "right");
    let size = match element.filter(|element| element.kind == page::Use::Scrollable) {
        Some(element) => (element.bounds.width, element.bounds.height),
        None => handle.tab.viewport_size(visual.deadline()).map_err(|error| failed(error.into()))?,
    };
    let pixels = (if is_across { size.0 } else { size.1 }) * amount;
    let mut act = Act::scroll(direction).by_pixels(pixels.round());
    if let Some(element) = element {
        act = act.on(ref_of(element));
    }
    let what = element.map_or_else(|| "the page".to_owned(), named);
    let outcome = perform(visual, handle, act, element.as_slice())?;
    let moved = outcome.result.as_ref().and_then(moved_by);
    said.done.push(match moved {
        Some(moved) if moved.abs() < 1.0 && !is_handled(&outcome) => {
            format!("Scrolling {what} {name} had no effect: it is at its end.")
        }
        _ => format!("Scrolled {what} {name}."),
    });
    effects(&outcome, &mut said);
    shown_after(visual, handle, said)
}

/// Whether the page reacted to the wheel itself.
fn is_handled(outcome: &page::Outcome) -> bool {
    outcome.result.as_ref().is_some_and(|result| result["handledByPage"] == true)
}

/// How far a scroll action moved, in CSS pixels.
fn moved_by(result: &Value) -> Option<f64> {
    let along = |name: &str| result.get(name).and_then(Value::as_f64);
    along("y").zip(along("x")).map(|(y, x)| y.abs() + x.abs())
}

pub(super) fn swipe(
    visual: &Visual<'_>,
    handle: &TabHandle,
    wanted: &Interaction,
    element: &VisibleElement,
    mut said: Observation,
) -> Result<Outcome, ToolError> {
    let is_next = match wanted.direction {
        None | Some(Direction::Next | Direction::Right) => true,
        Some(Direction::Prev | Direction::Left) => false,
        Some(_) => return Err(bad("swipe takes the direction next or prev")),
    };
    let count = wanted.swipe_count.unwrap_or(1);
    if !(1..=MOST_SWIPES).contains(&count) {
        return Err(bad("swipe_count must be 1 to 5"));
    }
    let (mut swiped, mut way) = (0, "");
    for _ in 0..count {
        let done = handle.tab.swipe(&element.node, is_next, visual.deadline());
        match done.map_err(|error| failed_at(error, &[element]))? {
            Some(by) => {
                swiped += 1;
                way = by;
            }
            None => break,
        }
    }
    let to = if is_next { "next" } else { "previous" };
    said.done.push(if swiped == 0 {
        format!("Swiping {} to the {to} content had no effect: it is at its end, or does not swipe.", named(element))
    } else {
        format!("Swiped {} to the {to} content {swiped} of {count} times, by {way}.", named(element))
    });
    shown_after(visual, handle, said)
}

pub(super) fn set_slider(
    visual: &Visual<'_>,
    handle: &TabHandle,
    wanted: &Interaction,
    element: &VisibleElement,
    mut said: Observation,
) -> Result<Outcome, ToolError> {
    let text = match &wanted.value {
        Some(Values::One(text)) => text.trim().to_owned(),
        Some(Values::Number(number)) => number.to_string(),
        _ => return Err(bad("set_slider requires value: a number, or a percentage such as \"40%\"")),
    };
    let at = |error: page::Error| failed_at(error, &[element]);
    let value = handle.tab.set_slider((&element.node, &element.reference), &text, visual.deadline()).map_err(at)?;
    said.done.push(format!("Set {} to {value}.", named(element)));
    shown_after(visual, handle, said)
}

pub(super) fn upload(
    visual: &Visual<'_>,
    handle: &TabHandle,
    wanted: &Interaction,
    element: Option<&VisibleElement>,
    mut said: Observation,
) -> Result<Outcome, ToolError> {
    let path = wanted.file_path.as_deref().ok_or_else(|| bad("upload_file requires file_path"))?;
    if let Some(element) = element.filter(|element| !element.hints.contains(&page::Hint::Uploadable)) {
        let message = format!(
            "{} is no file field; call upload_file without element_id, and then click what opens the file chooser",
            named(element)
        );
        return Err(ToolError::new(Code::NotActionable, message));
    }
    let checked = visual.control.files().check_upload(Path::new(path)).map_err(failed)?;
    check_upload(visual.call, handle, std::slice::from_ref(&checked))?;
    let name = checked.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let at = |error: page::Error| failed_at(error, element.as_slice());
    let reference = element.map(|element| element.reference.as_str());
    let given = handle.tab.arm_chooser(&[checked], reference, visual.deadline()).map_err(at)?;
    said.done.push(match (given, element) {
        (Upload::Done(_), Some(element)) => format!("Gave the file {} to {}.", quoted(&name), named(element)),
        _ => format!("The next file chooser gets {}: click what opens it.", quoted(&name)),
    });
    shown_after(visual, handle, said)
}
