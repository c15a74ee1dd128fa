//! `element_interaction`: whether an element is still there, and whether its use shows a preview first.

use super::super::ToolError;
use super::super::guard::{classifies, classifies_key};
use super::action::{Action, Given};
use super::observation::{Observation, named};
use super::{LOOK_AGAIN, Visual, failed_at};
use crate::config::Confirm;
use crate::control::TabHandle;
use cdpilot::code::Code;
use cdpilot::page::{self, Bound, Presence, Using, VisibleElement};

/// The element as it is now: one that the page has drawn anew is found again, if exactly one has its role, name and setting.
pub(super) fn present(
    visual: &Visual<'_>,
    handle: &TabHandle,
    element: VisibleElement,
    said: &mut Observation,
) -> Result<VisibleElement, ToolError> {
    let presence = handle.tab.presence(&element, visual.deadline());
    match presence.map_err(|error| failed_at(error, &[&element]))? {
        Presence::Redrawn(now) => {
            said.done.push(format!("{} was redrawn by the page and found again.", named(&now)));
            visual.state().lock().replace(handle.tab.target().as_str(), &now);
            Ok(*now)
        }
        Presence::Gone { alike, recycled } => {
            visual.state().lock().add(handle.tab.target().as_str(), &alike);
            Err(gone(&element, &alike, recycled))
        }
        _ => Ok(element),
    }
}

/// The error for an element that is gone, with those that look like it.
fn gone(element: &VisibleElement, alike: &[VisibleElement], recycled: bool) -> ToolError {
    let of_setting =
        |one: &VisibleElement| one.setting.as_ref().map_or_else(String::new, |own| format!(" in {}", own.described()));
    let listed: Vec<String> = alike.iter().map(|one| format!("{}{}", one.id, of_setting(one))).collect();
    let shown = format!("{}{}", named(element), of_setting(element));
    let (code, why) = match recycled {
        true => (Code::RefChanged, "its element is now in another row or card"),
        false => (Code::StaleRef, "its element was removed from the document"),
    };
    let message = match listed.as_slice() {
        [] => {
            format!("{shown} can no longer be used: {why}, and none with this role and name is in view; {LOOK_AGAIN}")
        }
        all => format!(
            "{shown} can no longer be used: {why}. Visible elements with this role and name now: {}. \
             If one of them is meant, use its id; else {LOOK_AGAIN}",
            all.join(", ")
        ),
    };
    ToolError::new(code, message)
}

/// Whether an action shows a preview first.
pub(super) fn needs_preview(
    visual: &Visual<'_>,
    handle: &TabHandle,
    action: Action,
    (element, onto): (&VisibleElement, Option<&VisibleElement>),
    given: &Given,
) -> Result<bool, ToolError> {
    match visual.confirms() {
        Confirm::Always => return Ok(true),
        Confirm::Never => return Ok(false),
        Confirm::Auto => {}
    }
    let is_plain = {
        let state = visual.state();
        let state = state.lock();
        let target = handle.tab.target().as_str();
        let is_plain = |one: &VisibleElement| state.is_plain(target, &one.id, visual.call.scope.is_blind());
        is_plain(element) && onto.is_none_or(is_plain)
    };
    Ok(!is_plain || is_classified(visual, handle, action, (element, onto), given)?)
}

/// Whether the guard of the call classifies an action as one that cannot be undone.
fn is_classified(
    visual: &Visual<'_>,
    handle: &TabHandle,
    action: Action,
    (element, onto): (&VisibleElement, Option<&VisibleElement>),
    given: &Given,
) -> Result<bool, ToolError> {
    let at = &element.node;
    let text = given.values.join(", ");
    match action {
        Action::Click => classifies(visual.call, handle, at, Using::Press, ""),
        Action::Select => classifies(visual.call, handle, at, Using::Other, &text),
        Action::DragAndDrop => classifies(visual.call, handle, &onto.unwrap_or(element).node, Using::Press, ""),
        Action::KeyboardInput => Ok(visual.call.scope.guard().is_some() && !page::secrets_in(&given.text).is_empty()
            || classifies(visual.call, handle, at, Using::Other, "")?
            || given.submit && classifies_key(visual.call, handle, at, "Enter")?),
        _ => Ok(false),
    }
}

/// Checks that an element is as it was in its preview. One that the page has drawn anew since is used in its place.
pub(super) fn check(
    handle: &TabHandle,
    (element, bound): (&mut VisibleElement, &mut Bound),
    visual: &Visual<'_>,
    said: &mut Observation,
) -> Result<(), ToolError> {
    let undone = |mut error: ToolError| {
        error.message.push_str(". Nothing was done");
        error
    };
    let was = element.node.clone();
    *element = present(visual, handle, element.clone(), said).map_err(undone)?;
    let now = if element.node == was {
        handle.tab.still_bound(&element.id, bound, visual.deadline())
    } else {
        handle.tab.still_bound_anew(&element.id, &element.node, bound, visual.deadline())
    };
    let now = now.map_err(|error| undone(failed_at(error, &[element])))?;
    if element.node != was {
        *bound = now;
    }
    Ok(())
}
