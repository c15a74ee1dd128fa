//! `element_interaction`: waiting for the page, and keys.

use std::time::Duration;

use super::super::guard::check_keys;
use super::super::{Outcome, ToolError};
use super::Visual;
use super::element::{bad, carry_out, effects, perform, ref_of, shown_after};
use super::interaction::Interaction;
use super::observation::{Observation, cut, named, quoted};
use crate::control::TabHandle;
use cdpilot::code::Code;
use cdpilot::page::{Act, PressedKey, VisibleElement, WaitFor};
use cdpilot::sync::{Deadline, pause};

/// Longest wait, and that of a call that gives no time, in seconds.
const MOST_SECONDS: f64 = 30.0;
const SECONDS: f64 = 10.0;
/// How often a page is compared.
const INTERVAL: Duration = Duration::from_millis(250);
/// Length of the text that is compared, in characters.
const COMPARED: usize = 200_000;
/// Length of a text in a sentence, in characters.
const MOST_TEXT: usize = 80;

/// Waits until a text appears or disappears, the page changes, or the time is over; then shows the page.
pub(super) fn wait(
    visual: &Visual<'_>,
    handle: &TabHandle,
    wanted: &Interaction,
    mut said: Observation,
) -> Result<Outcome, ToolError> {
    let seconds = wanted.seconds.unwrap_or(SECONDS);
    if !(0.0..=MOST_SECONDS).contains(&seconds) {
        return Err(bad("seconds must be 0 to 30"));
    }
    let limit = Duration::from_secs_f64(seconds);
    let text = wanted.text.as_deref().filter(|text| !text.is_empty());
    let gone = wanted.gone.as_deref().filter(|text| !text.is_empty());
    let in_words = format!("{seconds} s");
    match (text, gone) {
        (None, None) if wanted.changed => {
            let has_changed = changes(visual, handle, visual.call.deadline.within(limit));
            said.done.push(match has_changed {
                true => "The page changed.".to_owned(),
                false => format!("The page did not change within {in_words}."),
            });
        }
        (None, None) => {
            perform(visual, handle, Act::wait(WaitFor::new().time(limit)), &[])?;
            said.done.push(format!("Waited {in_words}."));
        }
        (text, gone) => {
            let (mut condition, mut words) = (WaitFor::new(), Vec::new());
            if let Some(text) = text {
                condition = condition.text(text);
                words.push(format!("{} appeared", quoted(&cut(text, MOST_TEXT))));
            }
            if let Some(gone) = gone {
                condition = condition.text_gone(gone);
                words.push(format!("{} disappeared", quoted(&cut(gone, MOST_TEXT))));
            }
            let words = words.join(" and ");
            match perform(visual, handle, Act::wait(condition).timeout(limit.max(INTERVAL)), &[]) {
                Ok(outcome) => {
                    said.done.push(format!("{words}."));
                    effects(&outcome, &mut said);
                }
                Err(error) if error.code == Code::Timeout && !visual.call.deadline.passed() => {
                    said.done.push(format!("Not within {in_words}: {words}."));
                }
                Err(error) => return Err(error),
            }
        }
    }
    shown_after(visual, handle, said)
}

/// Whether the text of a page changes before a deadline.
fn changes(visual: &Visual<'_>, handle: &TabHandle, deadline: Deadline<'_>) -> bool {
    let read = || {
        let inner = handle.tab.frame_texts(usize::MAX, COMPARED, visual.deadline());
        let top = handle.tab.text(None, Some(COMPARED), visual.deadline()).ok();
        top.into_iter().chain(inner.into_iter().map(|frame| frame.text)).map(|text| text.text).collect::<Vec<_>>()
    };
    let address =
        || visual.profile().ok()?.tab_to_read(Some(handle.tab.target().as_str())).ok().map(|tab| tab.info.url);
    let before = (read(), address());
    while !deadline.passed() {
        pause(INTERVAL.min(deadline.left()));
        if (read(), address()) != before {
            return true;
        }
    }
    false
}

/// Presses a key on an element, or where the focus is.
pub(super) fn press_key(
    visual: &Visual<'_>,
    handle: &TabHandle,
    wanted: &Interaction,
    element: Option<&VisibleElement>,
    said: Observation,
) -> Result<Outcome, ToolError> {
    let key =
        wanted.key.as_deref().ok_or_else(|| bad("press_key requires key, such as Escape, ArrowDown or Control+a"))?;
    PressedKey::read(key).map_err(bad)?;
    let at = element.map(|element| (&element.node, &element.shown));
    let _checked = check_keys(visual.call, handle, at, (key, false))?;
    let (act, place) = match element {
        Some(element) => (Act::press(key).on(ref_of(element)), format!(" on {}", named(element))),
        None => (Act::press(key), String::new()),
    };
    carry_out(visual, handle, element.as_slice(), act, format!("Pressed {key}{place}."), said)
}
