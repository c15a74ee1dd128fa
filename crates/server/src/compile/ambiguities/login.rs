//! Logins: forms with a password or a one-time code.

use std::collections::{HashMap, HashSet};

use super::elements::{self, hints};
use super::fills::{Field, Fill, Holds};
use super::text::quoted;
use super::trace::{self, Trace};
use super::words::{self, line};
use super::{AmbiguityKind, Found};
use crate::record::draft::Draft;
use crate::record::{Element, Event};

/// Events between two forms of one login: the click or key that ends the first one, its submission, the page after it.
const BETWEEN: usize = 8;

/// The logins of a recording. Their events are claimed.
pub(super) fn find(trace: &Trace<'_>, draft: &Draft, fills: &[Fill<'_>], claimed: &mut HashSet<u64>) -> Vec<Found> {
    let mut steps: HashMap<u64, &[u64]> = HashMap::new();
    let mut found: Vec<Found> = Vec::new();
    // Position of the last form of the last login.
    let mut last: Option<usize> = None;
    for (position, fill) in fills.iter().enumerate() {
        if !is_login(trace, fill) {
            continue;
        }
        if steps.is_empty() {
            for step in &draft.normalized_steps {
                let sources = step.source_event_indexes.as_slice();
                steps.extend(sources.iter().map(|source| (*source, sources)));
            }
        }
        let previous = position.checked_sub(1).and_then(|at| fills.get(at)).filter(|previous| follows(previous, fill));
        let mut events = Vec::new();
        if let Some(previous) = previous.filter(|previous| is_user_name(previous)) {
            events.extend(events_of(trace, previous, &steps));
        }
        events.extend(events_of(trace, fill, &steps));
        claimed.extend(&events);
        let continues = last.is_some() && last == position.checked_sub(1) && previous.is_some();
        match found.last_mut().filter(|_| continues) {
            Some(login) => login.events.extend(events),
            None => found.push(login(trace, fill, events)),
        }
        last = Some(position);
    }
    found
}

fn login(trace: &Trace<'_>, fill: &Fill<'_>, events: Vec<u64>) -> Found {
    let url = first(trace, fill).map_or("", |event| event.page.url.as_str());
    let host = url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let place = host.map_or("a page".to_owned(), |host| quoted(&host));
    let names: Vec<&str> = secrets(fill).map(|field| field.label.as_str()).collect();
    let name = names.into_iter().find(|name| !name.trim().is_empty()).map_or("a secret field".to_owned(), quoted);
    Found {
        kind: AmbiguityKind::Login,
        events,
        problem: format!("To log in on {place}, {name} was filled in, but a run may begin logged in."),
        question: format!(
            "Will you be logged in on {place} already when the routine runs, or should it log in with a stored password or code?"
        ),
    }
}

fn secrets<'f, 'e>(fill: &'f Fill<'e>) -> impl Iterator<Item = &'f Field<'e>> {
    fill.fields.iter().filter(|field| field.holds == Holds::Secret)
}

fn first<'e>(trace: &Trace<'e>, fill: &Fill<'_>) -> Option<&'e Event> {
    trace.get(Some(fill.first)).map(|seen| seen.event)
}

/// Whether a form logs somebody in: one secret that is a password or code, or is used where logins are.
fn is_login(trace: &Trace<'_>, fill: &Fill<'_>) -> bool {
    let secrets: Vec<String> = secrets(fill).map(|field| field.element.map(words_of).unwrap_or_default()).collect();
    if secrets.is_empty() {
        return false;
    }
    let says = |list: &[&str]| secrets.iter().any(|secret| words::says(secret, list));
    let codes = secrets.iter().filter(|secret| words::says(secret, words::ONE_TIME_CODE)).count();
    let passwords = secrets.iter().filter(|secret| words::says(secret, words::PASSWORD)).count();
    if passwords > 1 || (codes == 0 && says(words::NEW_PASSWORD)) {
        return false;
    }
    let context = context(trace, fill);
    let is_login_page = words::says(&context, words::LOGIN);
    let is_account_page = words::says(&context, words::ACCOUNT_CHANGE);
    if passwords == 0 && (codes == 0 || says(words::OTHER_SECRET)) {
        return is_login_page && !is_account_page;
    }
    is_login_page || !is_account_page
}

fn words_of(element: &Element) -> String {
    format!("{} {}", line(&format!("{} {}", element.label, element.name)), hints(element))
}

/// Where a form is: address, titles, and the button that ends it.
fn context(trace: &Trace<'_>, fill: &Fill<'_>) -> String {
    let Some(event) = first(trace, fill) else { return String::new() };
    let path = trace::page(&event.page.url).split_once("://").map_or("", |(_, rest)| rest);
    let form = fill.form.map_or("", |form| form.title.as_str());
    let end = trace.get(fill.ended_by).and_then(|seen| seen.event.element.as_ref());
    let end = end.map(elements::name).unwrap_or_default();
    [path, &event.page.title, form, end].map(|part| line(part.get(..200).unwrap_or(part))).join(" ")
}

/// Whether a form follows another one with little between them.
fn follows(previous: &Fill<'_>, fill: &Fill<'_>) -> bool {
    previous.tab == fill.tab && fill.first.saturating_sub(previous.last) <= BETWEEN
}

/// Whether a form asks only for the name of an account, as the first page of a login does.
fn is_user_name(fill: &Fill<'_>) -> bool {
    let [field] = fill.fields.as_slice() else { return false };
    field.holds == Holds::Text && field.element.is_some_and(|element| words::says(&words_of(element), words::USER))
}

/// Edits of a form, the other events of its steps, and the button that ended it.
fn events_of(trace: &Trace<'_>, fill: &Fill<'_>, steps: &HashMap<u64, &[u64]>) -> Vec<u64> {
    let edits: Vec<u64> = fill.fields.iter().flat_map(|field| field.events.iter().copied()).collect();
    let mut seen = HashSet::new();
    let sources = edits.iter().filter_map(|edit| steps.get(edit)).filter(|sources| seen.insert(sources.first()));
    let sources: Vec<u64> = sources.flat_map(|sources| sources.iter().copied()).collect();
    let end = trace.get(fill.ended_by).map(|seen| seen.event.event_index);
    sources.into_iter().chain(edits).chain(end).collect()
}
