//! Banners and dialogs that were dismissed and may not appear in each run.

use std::collections::{HashMap, HashSet};

use super::elements::{self, hints};
use super::text::quoted;
use super::trace::{Seen, Trace};
use super::words::{self, line};
use super::{AmbiguityKind, Found};
use crate::record::draft::facts;
use crate::record::{Container, Element, EventType};

/// The overlays of a recording. Their events are claimed. The same overlay on several pages is one ambiguity.
pub(super) fn find(trace: &Trace<'_>, claimed: &mut HashSet<u64>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    // Containers in which something was entered, by visit and title.
    let mut used: HashSet<(usize, &str)> = HashSet::new();
    for seen in &trace.0 {
        let event = seen.event;
        let container = event.element.as_ref().and_then(|element| element.container.as_ref());
        let title = container.map_or("", |container| container.title.as_str());
        let overlay = match (event.event_type, &event.element) {
            (EventType::Dialog, _) => native(trace, seen, claimed),
            (EventType::Click | EventType::Keydown | EventType::Change, Some(element)) => {
                let is_used = used.contains(&(seen.visit, title));
                let key = (!title.trim().is_empty()).then(|| title.to_owned());
                is_overlay(trace, seen, element, is_used, claimed)
                    .then(|| (key.unwrap_or_else(|| elements::name(element).to_owned()), in_page(element)))
            }
            (EventType::Input, Some(_)) => {
                used.insert((seen.visit, title));
                None
            }
            _ => None,
        };
        let Some((key, (problem, question))) = overlay else { continue };
        claimed.insert(event.event_index);
        let position = *known.entry(key).or_insert(found.len());
        match found.get_mut(position) {
            Some(earlier) => earlier.events.push(event.event_index),
            None => found.push(Found {
                kind: AmbiguityKind::ConditionalOverlay,
                events: vec![event.event_index],
                problem,
                question,
            }),
        }
    }
    found
}

/// A native dialog that appeared before anything was done on its page.
fn native(trace: &Trace<'_>, seen: &Seen<'_>, claimed: &HashSet<u64>) -> Option<(String, (String, String))> {
    let answer = facts::dialog(seen.event);
    if answer.dialog == "beforeunload" || facts::cause(seen.event).is_some() || action(trace, seen, claimed).is_some() {
        return None;
    }
    let message = quoted(&answer.message);
    let problem =
        format!("The message {message} appeared without an action of the person and may not appear in each run.");
    let question =
        format!("Does the message {message} appear in each run, or should it be answered only if it appears?");
    Some((format!("{}\u{1f}{}", answer.dialog, answer.message), (problem, question)))
}

fn in_page(element: &Element) -> (String, String) {
    let name = elements::name(element);
    let button = if name.trim().is_empty() { "a button".to_owned() } else { quoted(name) };
    let title = element.container.as_ref().map_or("", |container| container.title.trim());
    let overlay = if title.is_empty() { "a message of the page".to_owned() } else { quoted(title) };
    (
        format!(
            "The page showed {overlay}, which was closed with {button}; nothing shows that it appears in each run."
        ),
        format!("Does {overlay} appear each time, or should {button} be used only if it appears?"),
    )
}

/// The last action on the page before an event, overlays left out.
fn action<'t, 'e>(trace: &'t Trace<'e>, seen: &Seen<'e>, claimed: &HashSet<u64>) -> Option<&'t Seen<'e>> {
    let mut before = trace.get(seen.before);
    // A page shows few overlays; without a limit, many of them would take long.
    for _ in 0..8 {
        match before {
            Some(overlay) if claimed.contains(&overlay.event.event_index) => before = trace.get(overlay.before),
            _ => break,
        }
    }
    before
}

fn is_overlay(trace: &Trace<'_>, seen: &Seen<'_>, element: &Element, is_used: bool, claimed: &HashSet<u64>) -> bool {
    let event = seen.event;
    let container = element.container.as_ref();
    let kind = container.map_or("", |container| container.kind.as_str());
    let is_dialog = matches!(kind, "dialog" | "alertdialog" | "banner" | "alert");
    let is_click = event.event_type == EventType::Click;
    if event.event_type == EventType::Keydown && (facts::text(event, "key") != Some("Escape") || !is_dialog) {
        return false;
    }
    if matches!(kind, "row" | "item" | "card") || (is_click && elements::role(element) == "textbox") {
        return false;
    }
    let name = line(elements::name(element));
    let title = line(container.map_or("", |container| container.title.as_str()));
    let has = |list: &[&str]| words::says(&title, list);
    let is_answer = is_click && words::says(&name, words::CONSENT_ANSWER);
    let asks_consent = if is_dialog {
        has(words::CONSENT) || has(words::PRIVACY)
    } else {
        is_answer && (has(words::CONSENT) || words::says(&name, words::CONSENT))
    };
    if asks_consent || (is_answer && words::says(&hints(element), words::CONSENT)) {
        // After another action, a button that many dialogs have does not show that this one asks for consent.
        let is_plain = !is_answer || words::is(&name, words::DISMISS) || words::is(&name, words::CONFIRM);
        let named = if is_plain { None } else { Some([words::CONSENT, words::PRIVACY].concat()) };
        return !is_opened(trace, seen, claimed, container, named.as_deref());
    }
    if !is_click && event.event_type != EventType::Keydown {
        return false;
    }
    let closes = event.event_type == EventType::Keydown
        || words::is(&name, words::DISMISS)
        || (is_dialog && words::is(&name, words::CONSENT_BUTTON));
    if closes && (is_dialog || kind == "section") && has(words::PROMOTION) {
        return !is_used && !is_opened(trace, seen, claimed, container, Some(words::PROMOTION));
    }
    let is_bare = container.is_none() && words::is(&name, words::CONSENT_BUTTON);
    if !is_used && ((closes && is_dialog) || (is_click && is_bare)) {
        return !is_opened(trace, seen, claimed, container, None);
    }
    false
}

/// Whether an action of the person may have opened an overlay: the one before, if it was outside the overlay. With a list,
/// only one whose name contains one of its words.
fn is_opened(
    trace: &Trace<'_>,
    seen: &Seen<'_>,
    claimed: &HashSet<u64>,
    container: Option<&Container>,
    named: Option<&[&str]>,
) -> bool {
    let Some(before) = action(trace, seen, claimed) else { return false };
    let event = before.event;
    let may_open = matches!(
        event.event_type,
        EventType::Click | EventType::Keydown | EventType::Submit | EventType::Drag | EventType::FileChosen
    );
    let element = event.element.as_ref();
    let is_inside = container.is_some() && element.and_then(|element| element.container.as_ref()) == container;
    let name = line(element.map(elements::name).unwrap_or_default());
    match named {
        Some(named) => may_open && !is_inside && words::says(&name, named),
        // A click in a dialog that was opened before is one of the person's own.
        None => may_open || is_inside,
    }
}
