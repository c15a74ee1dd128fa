//! When elements, names and addresses of a run are those of the recording.

use url::Url;

use crate::record::{Container, Element};

/// Kinds of containers that tell alike elements apart.
const ITEMS: [&str; 4] = ["row", "item", "card", "dialog"];
/// Shortest token in an address that may differ, in characters.
const TOKEN: usize = 16;

/// Recorded values of inputs, and the values of the run in their place.
#[derive(Debug, Clone, Default)]
pub struct Replaced(pub Vec<(String, String)>);

impl Replaced {
    /// A recorded text with the values of the run, in lower case, with single blanks, and without counters in brackets.
    pub(super) fn key(&self, recorded: &str) -> String {
        let filled = self.0.iter().filter(|(from, to)| !from.trim().is_empty() && from != to);
        key(&filled.fold(recorded.to_owned(), |text, (from, to)| text.replace(from, to)))
    }

    /// A recorded value with the values of the run.
    pub(super) fn value(&self, recorded: &str) -> String {
        let same = self.0.iter().find(|(from, _)| from.trim() == recorded.trim());
        same.map_or_else(|| recorded.to_owned(), |(_, to)| to.clone())
    }

    /// Whether an element of a run is the recorded one: role, name and the item around it.
    pub(super) fn is_same(&self, recorded: &Element, seen: &Element) -> bool {
        role(recorded) == role(seen)
            && self.is_same_name(recorded, seen)
            && self.is_same_item(recorded, seen)
            && (recorded.state.is_empty() || recorded.state == seen.state)
    }

    /// Whether an element of a run has the role of the recorded one, and its name but for numbers, in whatever item.
    pub(super) fn is_same_kind(&self, recorded: &Element, seen: &Element) -> bool {
        let plain = |name: String| name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        role(recorded) == role(seen) && plain(self.key(name(recorded))) == plain(key(name(seen)))
    }

    fn is_same_name(&self, recorded: &Element, seen: &Element) -> bool {
        let (own, other) = (name(recorded), name(seen));
        if own.is_empty() && other.is_empty() {
            let place = |element: &Element| (element.test_id.clone(), element.selectors.first().cloned());
            return place(recorded) == place(seen);
        }
        self.key(own) == key(other)
    }

    fn is_same_item(&self, recorded: &Element, seen: &Element) -> bool {
        let Some(own) = item(recorded) else {
            // Nothing around it tells it from others: then the selectors do, which matched only this element.
            let (own, other) = (&recorded.selectors, &seen.selectors);
            return own.is_empty() || other.is_empty() || own.iter().any(|selector| other.contains(selector));
        };
        seen.container.as_ref().is_some_and(|other| {
            let is_same_link = own.href.is_empty() || other.href.is_empty() || own.href == other.href;
            let filled = self.0.iter().filter(|(from, to)| !from.trim().is_empty() && from != to);
            let title = filled.fold(own.title.clone(), |text, (from, to)| text.replace(from, to));
            folded(&title) == folded(&other.title) && is_same_column(own, other) && is_same_link
        })
    }

    /// Whether an address of a run fits the recorded one: the same origin and path, with other numbers and tokens at most, and the
    /// same parameters.
    #[must_use]
    pub fn is_same_address(&self, recorded: &str, seen: &str) -> bool {
        self.is_alike_address(recorded, seen, is_id)
    }

    /// As [`is_same_address`](Self::is_same_address), but numbers are the same: of frames, they tell which one it is.
    pub(super) fn is_same_frame(&self, recorded: &str, seen: &str) -> bool {
        self.is_alike_address(recorded, seen, |part| is_id(part) && !part.bytes().all(|byte| byte.is_ascii_digit()))
    }

    fn is_alike_address(&self, recorded: &str, seen: &str, is_id: impl Fn(&str) -> bool) -> bool {
        let (Ok(own), Ok(other)) = (Url::parse(recorded), Url::parse(seen)) else { return recorded == seen };
        if own.origin() != other.origin() || (own.host().is_none() && own.path() != other.path()) {
            return false;
        }
        let segments = |url: &Url| -> Vec<String> {
            url.path().split('/').filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect()
        };
        let (own_path, other_path) = (segments(&own), segments(&other));
        let is_same_part = |own: &str, other: &str| self.key(own) == key(other) || (is_id(own) && is_id(other));
        if own_path.len() != other_path.len() || !own_path.iter().zip(&other_path).all(|(a, b)| is_same_part(a, b)) {
            return false;
        }
        own.query_pairs().all(|(name, value)| {
            let found = other.query_pairs().find(|(other, _)| *other == name);
            found.is_some_and(|(_, other)| self.key(&value) == key(&other) || (is_token(&value) && is_token(&other)))
        })
    }
}

/// The item around an element, if it tells alike elements apart.
pub(super) fn item(element: &Element) -> Option<&Container> {
    element
        .container
        .as_ref()
        .filter(|container| ITEMS.contains(&&*container.kind) && !container.title.trim().is_empty())
}

/// What an element is called: its name, its label or its text.
fn name(element: &Element) -> &str {
    let all = [&element.name, &element.label, &element.text];
    all.into_iter().find(|text| !text.trim().is_empty()).map_or("", String::as_str)
}

fn role(element: &Element) -> &str {
    if element.role.is_empty() { &element.tag } else { &element.role }
}

/// A text with single blanks. Titles of rows are compared so: case or a counter in brackets may be all in which two differ.
pub(super) fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a selector says what an element is, and not only where.
pub(super) fn is_telling(selector: &str) -> bool {
    !selector.contains(":nth-") && selector.contains(['#', '['])
}

/// Whether a row has its title in the recorded column, and is in the recorded section.
pub(super) fn is_same_column(recorded: &Container, seen: &Container) -> bool {
    (recorded.column.is_empty() || folded(&recorded.column) == folded(&seen.column))
        && (recorded.within.is_empty() || key(&recorded.within) == key(&seen.within))
}

/// A text in lower case, with single blanks, without counters in brackets.
pub(super) fn key(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['(', '[']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = from.find([')', ']']);
        let inner = end.and_then(|end| from.get(1..end)).unwrap_or_default();
        let is_counter = !inner.is_empty() && inner.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '+'));
        match (is_counter, end) {
            (true, Some(end)) => rest = from.get(end + 1..).unwrap_or_default(),
            _ => {
                out.push_str(from.get(..1).unwrap_or_default());
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Whether a part of a path is a number or a token.
fn is_id(part: &str) -> bool {
    let has_digit = part.bytes().any(|byte| byte.is_ascii_digit());
    part.bytes().all(|byte| byte.is_ascii_digit())
        || (has_digit && part.len() >= 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-'))
        || is_token(part)
}

fn is_token(value: &str) -> bool {
    value.len() >= TOKEN
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'='))
        && value.bytes().any(|byte| byte.is_ascii_digit())
}
