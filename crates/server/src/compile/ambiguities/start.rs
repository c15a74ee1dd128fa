//! A recording that begins on a page that cannot be opened by its address.

use super::text::quoted;
use super::trace::Trace;
use super::words::line;
use super::{AmbiguityKind, Found};
use crate::record::draft::facts;
use crate::record::{Event, EventType};
use cdpilot::redact::Secrets;

/// Parameters that hold for one session or one use.
const SESSION: &[&str] = &[
    "access_token",
    "csrf",
    "csrf_token",
    "execution",
    "jsessionid",
    "nonce",
    "phpsessid",
    "session",
    "session_id",
    "sessionid",
    "sid",
    "ticket",
    "token",
];
/// Segments of paths of pages that a submission leads to.
const AFTER_SUBMIT: &[&str] =
    &["confirm", "confirmation", "order-confirmation", "order-complete", "success", "thank-you", "thankyou", "thanks"];
/// Segments before those of pages of a purchase.
const PURCHASE: &[&str] = &["basket", "book", "booking", "buy", "cart", "order", "orders", "shop", "store"];
/// Words for the pages of a form that has several.
const STEP: &[&str] = &["etape", "paso", "schritt", "stage", "step", "étape"];

/// The ambiguity, with the events that show the first page.
pub(super) fn find(trace: &Trace<'_>) -> Option<Found> {
    let (event, url) = start(trace)?;
    let title = &event.page.title;
    let reason = if is_blank(url) {
        "it has no address of its own"
    } else if has_session(url) {
        "its address has a part that is valid only once"
    } else if is_after_submit(url) {
        "it follows from an earlier step"
    } else if is_later_step(title) || first_action_is_in_later_step(trace) {
        "it is a later step of a form"
    } else {
        return None;
    };
    let shown = if title.trim().is_empty() { facts::page(url) } else { title.as_str() };
    let page = quoted(if shown.trim().is_empty() { "an empty page" } else { shown });
    Some(Found {
        kind: AmbiguityKind::StartAfterSubmit,
        events: vec![event.event_index],
        problem: format!("The recording begins on {page}, which a run perhaps cannot open: {reason}."),
        question: format!(
            "The recording begins on {page}: how does one get there, and from which page should a run start?"
        ),
    })
}

/// The first page that the recording shows: blank only if something was done there.
fn start<'e>(trace: &Trace<'e>) -> Option<(&'e Event, &'e str)> {
    trace.0.iter().map(|seen| seen.event).find_map(|event| {
        let url = facts::url(event).trim();
        match event.event_type {
            EventType::RecordingStarted | EventType::RecordingStopped | EventType::Gap | EventType::TabClosed => None,
            EventType::Click | EventType::Input | EventType::Change | EventType::Keydown | EventType::Submit => {
                Some((event, event.page.url.trim())).filter(|(_, url)| !url.is_empty())
            }
            _ if url.is_empty() || is_blank(url) => None,
            _ => Some((event, url)),
        }
    })
}

fn is_blank(url: &str) -> bool {
    ["about:", "data:", "blob:"].iter().any(|scheme| url.starts_with(scheme))
}

fn has_session(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    let parameters = lower.split(['?', '&', ';', '#']).skip(1).filter_map(|part| part.split_once('='));
    let is_session = |(name, value): (&str, &str)| !value.is_empty() && SESSION.contains(&name);
    url.contains(Secrets::COVER) || url.contains("%5Bsecret%5D") || parameters.into_iter().any(is_session)
}

fn is_after_submit(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    let (address, query) = lower.split_once('?').unwrap_or((&lower, ""));
    let path = address.split_once("://").map_or(address, |(_, rest)| rest);
    let mut segments = path.split(['/', '#']).filter(|segment| !segment.is_empty());
    let host = segments.next().unwrap_or_default();
    let segments: Vec<&str> = segments.map(|segment| segment.split('.').next().unwrap_or(segment)).collect();
    let last = segments.last().copied().unwrap_or_default();
    let is_number = |segment: &&str| segment.parse::<u64>().is_ok();
    let is_later = |number: &str| number.parse::<u64>().is_ok_and(|number| (2..=20).contains(&number));
    let is_result = matches!(last, "result" | "results") && query.is_empty();
    let is_review = last == "review" && segments.len() <= 2 && !segments.iter().any(is_number);
    if is_result || is_review || query.split('&').any(|part| part.strip_prefix("step=").is_some_and(is_later)) {
        return true;
    }
    let is_checkout_host = host.starts_with("checkout.");
    segments.iter().enumerate().any(|(position, segment)| {
        let before = position.checked_sub(1).and_then(|before| segments.get(before)).copied();
        let next = segments.get(position + 1).copied().unwrap_or_default();
        let is_language =
            |segment: &str| matches!(segment.len(), 2 | 5) && segment.get(2..3).is_none_or(|c| c == "-" || c == "_");
        match *segment {
            "checkout" => {
                let is_purchase = before.is_none_or(|before| PURCHASE.contains(&before) || is_language(before));
                is_purchase && !matches!(last, "basket" | "cart")
            }
            "wizard" => !matches!(next, "" | "1" | "new" | "start" | "step1" | "step-1"),
            segment if AFTER_SUBMIT.contains(&segment) => true,
            segment if STEP.contains(&segment) => is_later(next),
            segment => STEP.iter().any(|step| {
                let number = segment.strip_prefix(step).map(|rest| rest.trim_start_matches(['-', '_']));
                number.is_some_and(is_later)
            }),
        }
    }) || (is_checkout_host && !matches!(last, "basket" | "cart"))
}

/// Whether a text says that it is a later step: `Step 2 of 4`.
fn is_later_step(text: &str) -> bool {
    let line = line(text.get(..200).unwrap_or(text));
    let words: Vec<&str> = line.split(' ').collect();
    words.windows(2).any(|pair| match pair {
        [step, number] => STEP.contains(step) && number.parse::<u64>().is_ok_and(|number| (2..=20).contains(&number)),
        _ => false,
    })
}

fn first_action_is_in_later_step(trace: &Trace<'_>) -> bool {
    let first = trace.0.iter().map(|seen| seen.event).find(|event| {
        matches!(event.event_type, EventType::Click | EventType::Input | EventType::Change | EventType::Submit)
    });
    let container = first.and_then(|event| event.element.as_ref()).and_then(|element| element.container.as_ref());
    container.is_some_and(|container| is_later_step(&container.title))
}
