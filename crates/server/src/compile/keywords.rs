//! Keywords of steps: what `highlight` finds by one, in the elements of a recording.
//!
//! A look compares a keyword with whole values: the text, the name, and the lasting attributes of an element.

use std::collections::{BTreeMap, BTreeSet};

use super::submission::{folded, problem};
use super::view::quoted;
use crate::record::{Element, Event};
use crate::routine::{PlaceholderKind, Problem, Routine, Step, placeholders};

/// Attributes that are compared, besides those that begin with `data-`.
const COMPARED: [&str; 10] =
    ["id", "name", "value", "title", "alt", "placeholder", "aria-label", "href", "for", "type"];
/// Longest text of the recording in a problem, in characters.
const MOST_TEXT: usize = 60;
/// Kinds of containers in which elements are alike.
const ITEMS: [&str; 3] = ["row", "item", "card"];
/// Most values that a problem suggests.
const MOST_SUGGESTED: usize = 3;

/// The elements that were used, by page: each once, with its first event.
#[derive(Debug)]
pub(super) struct Used<'e> {
    pages: BTreeMap<&'e str, Vec<UsedElement<'e>>>,
}

/// An element with its first event, and the values by which a look finds it.
type UsedElement<'e> = (u64, &'e Element, Vec<String>);

impl<'e> Used<'e> {
    pub(super) fn of(events: &'e [Event]) -> Self {
        let (mut pages, mut known): (BTreeMap<&str, Vec<_>>, _) = (BTreeMap::new(), BTreeSet::new());
        for event in events {
            let Some(element) = &event.element else { continue };
            let page = page(&event.page.url);
            if known.insert((page, key(element))) {
                pages.entry(page).or_default().push((event.event_index, element, values(element)));
            }
        }
        Self { pages }
    }
}

/// Checks that the keyword of a step finds one of its elements, and no other that was used on its pages.
pub(super) fn check_keyword(used: &Used<'_>, step: &Step, own: &[&Event], problems: &mut Vec<Problem>) {
    let Some(keyword) = step.keyword.as_deref().filter(|_| !own.is_empty()) else { return };
    let wanted = folded(keyword);
    let elements: Vec<&Element> = own.iter().filter_map(|event| event.element.as_ref()).collect();
    let finds = |element: &Element| values(element).contains(&wanted) || is_in_selector(element, keyword);
    let found: Vec<&Element> = elements.iter().copied().filter(|element| finds(element)).collect();
    let shown = quoted(keyword, MOST_TEXT);
    if found.is_empty() {
        // A token that does not occur at all is a problem of the text already.
        if elements.iter().any(|element| element.html.contains(keyword) || element.name.contains(keyword)) {
            let suggested: Vec<String> = elements.iter().flat_map(|element| tokens(element)).collect();
            let suggested: BTreeSet<String> = suggested.into_iter().take(MOST_SUGGESTED).collect();
            let advice = match suggested.is_empty() {
                true => "remove the line".to_owned(),
                false => {
                    let all: Vec<String> = suggested.iter().map(|value| quoted(value, MOST_TEXT)).collect();
                    format!("write a whole value, such as {}, or remove the line", all.join(", "))
                }
            };
            let message =
                format!("{shown} is only a part of a name, text or attribute, and a look finds whole values; {advice}");
            problems.push(problem(step.keyword_line(), "KEYWORD_PART", message));
        }
        return;
    }
    if step.is_list() {
        return;
    }
    if found.windows(2).any(|two| matches!(two, [a, b] if key(a) != key(b))) {
        let message = format!(
            "{shown} finds several elements of step {}, so it does not say which one to look for first; write a token that only one \
             of them has, or remove the line",
            step.n
        );
        problems.push(problem(step.keyword_line(), "KEYWORD_NOT_UNIQUE", message));
        return;
    }
    let is_in_item = |element: &&&Element| {
        let is_item = element.container.as_ref().is_some_and(|one| ITEMS.contains(&&*one.kind));
        let own = [&element.name, &element.text, &element.label];
        is_item && own.into_iter().any(|text| without_numbers(text) == without_numbers(&wanted))
    };
    if found.iter().any(|element| is_in_item(&element)) {
        let message = format!(
            "{shown} is what the element is called in every row or card of its list, so it finds all of them; write a token that only \
             this one has, or remove the line"
        );
        problems.push(problem(step.keyword_line(), "KEYWORD_NOT_UNIQUE", message));
        return;
    }
    let pages: BTreeSet<&str> = own.iter().map(|event| page(&event.page.url)).collect();
    let others = pages.iter().filter_map(|page| used.pages.get(page)).flatten();
    let is_own = |element: &Element| found.iter().any(|one| key(one) == key(element));
    let other = others.into_iter().find(|(_, element, values)| values.contains(&wanted) && !is_own(element));
    if let Some((index, element, _)) = other {
        let message = format!(
            "{shown} also finds another element of the same page: {} {} of event {index}; write a token that only the element of step \
             {} has, or remove the line",
            element.role,
            quoted(&element.name, MOST_TEXT),
            step.n
        );
        problems.push(problem(step.keyword_line(), "KEYWORD_NOT_UNIQUE", message));
    }
}

/// A text, folded and without numbers, as looks compare it.
fn without_numbers(text: &str) -> String {
    folded(&text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>())
}

/// A keyword is not the value of an input that the step uses: another run has another value.
pub(super) fn check_varying(routine: &Routine, step: &Step, problems: &mut Vec<Problem>) {
    let Some(keyword) = step.keyword.as_deref() else { return };
    let text: String = step.instructions.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n");
    let used = placeholders(&text).into_iter().filter_map(|one| match one.kind {
        PlaceholderKind::Input(name) => Some(name),
        _ => None,
    });
    let is_value = |name: &String| {
        let default = routine.input(name).and_then(|input| input.default.as_deref());
        default.is_some_and(|default| folded(default) == folded(keyword))
    };
    if let Some(name) = used.into_iter().find(is_value) {
        let message = format!(
            "{} is the value of the input {name}, which differs from run to run, so that the step would look for the wrong element; remove \
             the line",
            quoted(keyword, MOST_TEXT)
        );
        problems.push(problem(step.keyword_line(), "KEYWORD_VARIES", message));
    }
}

/// What identifies an element among those of a page.
fn key(element: &Element) -> String {
    let container = element.container.as_ref().map_or("", |container| container.title.as_str());
    let parts = [&*element.role, &*element.name, &*element.label, &*element.test_id, container];
    format!("{}\u{1f}{}", parts.join("\u{1f}"), element.selectors.join("\u{1f}"))
}

/// An address without its fragment.
fn page(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

/// The values by which a look finds an element, folded.
fn values(element: &Element) -> Vec<String> {
    let own = [&element.name, &element.text, &element.label, &element.test_id];
    let texts = own.into_iter().map(|text| folded(text));
    let attributes = attributes(&element.html).into_iter().filter(|(name, _)| is_compared(name));
    texts.chain(attributes.map(|(_, value)| folded(&value))).filter(|value| !value.is_empty()).collect()
}

/// Values of an element that can be a keyword: one word each.
fn tokens(element: &Element) -> Vec<String> {
    let attributes = attributes(&element.html)
        .into_iter()
        .filter(|(name, _)| name.starts_with("data-") || matches!(name.as_str(), "id" | "name"));
    let all = std::iter::once(element.test_id.clone())
        .chain(attributes.map(|(_, value)| value))
        .chain([element.name.clone()]);
    all.filter(|value| !value.is_empty() && !value.contains(char::is_whitespace)).collect()
}

fn is_compared(name: &str) -> bool {
    name.starts_with("data-") || COMPARED.contains(&name)
}

/// For elements that were recorded without HTML: whether a selector has the keyword as a whole id, name or attribute value.
fn is_in_selector(element: &Element, keyword: &str) -> bool {
    let parts = |selector: &str| {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        selector.split(|c| !is_word(c)).any(|part| part == keyword)
    };
    element.html.is_empty() && element.selectors.iter().any(|selector| parts(selector))
}

/// The attributes of the first tag of an HTML text, as a browser writes it.
fn attributes(html: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let Some(mut rest) = html.trim_start().strip_prefix('<') else { return all };
    rest = rest.trim_start_matches(|c: char| !c.is_whitespace() && c != '>');
    loop {
        rest = rest.trim_start();
        if rest.is_empty() || rest.starts_with(['>', '/']) {
            return all;
        }
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '>')).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let (value, after) = match after.strip_prefix("=\"") {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => ("", after.trim_start_matches('=')),
        };
        all.push((name.to_lowercase(), value.replace("&quot;", "\"").replace("&amp;", "&")));
        if name.is_empty() {
            return all;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attributes_of_the_first_tag_are_read() {
        let html = "<input id=\"q\" data-Role=\"a &quot;b&quot;\" disabled=\"\" required>Text <b id=\"inner\">";
        let expected = [("id", "q"), ("data-role", "a \"b\""), ("disabled", ""), ("required", "")];
        let read = attributes(html);
        assert_eq!(read.iter().map(|(name, value)| (&**name, &**value)).collect::<Vec<_>>(), expected);
        for html in ["", "text", "<", "<p", "<p>", "<p =", "<p a=\"", "<p \"\"\"", "<br/>"] {
            let _ = attributes(html);
        }
        assert!(attributes("<form><input id=\"q\">").is_empty());
    }
}
