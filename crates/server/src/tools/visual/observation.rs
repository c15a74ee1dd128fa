//! The text of an observation: what was done, and what is to be seen, within a budget.

use std::collections::{HashMap, HashSet};

use super::html;
use super::state::Changes;
use cdpilot::page::{Hint, Use, VisibleElement};

/// Maximum size of the text: 4,000 tokens, estimated as three bytes a token.
pub(super) const MOST_BYTES: usize = 12_000;
/// Usual length of the HTML in a line, and of that of a list of options, in characters, and what they are reduced to where the budget
/// requires it.
const HTML: [(usize, usize); 9] =
    [(200, 20_000), (200, 4_000), (200, 1_500), (150, 1_500), (150, 600), (110, 600), (110, 300), (80, 200), (50, 200)];
/// Room for what stands around the lines.
const AROUND: usize = 400;

/// Maximum length of an element's name in a sentence, in characters.
pub(super) const MOST_NAME: usize = 60;

/// A text of the page that names the markers is written differently.
const OPEN: &str = "<<page ";
const CLOSE: &str = "<</page ";

/// Maximum length of a field's content in a line, in characters.
const MOST_HELD: usize = 120;
/// Maximum length of the title of a row, card or dialog in a line, in characters.
const MOST_TITLE: usize = 60;

/// An element of a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listed<'a> {
    pub(super) element: &'a VisibleElement,
    /// Whether the picture has a label for it; models without pictures need not know.
    pub(super) is_labelled: bool,
    /// Whether another element in view has the same role and name: its row, card or dialog is named then.
    pub(super) is_alike: bool,
}

/// The elements of a list, with what distinguishes them in view. `labelled`: the ids with a label in the picture; `None`: nobody sees it.
pub(super) fn listed<'a>(all: &'a [VisibleElement], labelled: Option<&HashSet<&str>>) -> Vec<Listed<'a>> {
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    for element in all {
        *counts.entry((&element.shown.role, &element.shown.name)).or_default() += 1;
    }
    let of = |element: &'a VisibleElement| Listed {
        element,
        is_labelled: labelled.is_none_or(|labelled| labelled.contains(&*element.id)),
        is_alike: counts.get(&(&*element.shown.role, &*element.shown.name)).is_some_and(|count| *count > 1),
    };
    all.iter().map(of).collect()
}

/// The line of an element: `id(type, hints): html`, and what a field holds where the HTML does not show it.
pub(super) fn line(listed: &Listed<'_>, step: usize) -> String {
    let VisibleElement { id, kind, also, hints, html, held, setting, .. } = listed.element;
    let element = listed.element;
    let mut hinted = kind.name().to_owned();
    if !listed.is_labelled {
        hinted.push_str(", no label");
    }
    if let Some(also) = also {
        hinted.push_str(", ");
        hinted.push_str(also.name());
    }
    for hint in hints {
        hinted.push_str(", ");
        hinted.push_str(&hint.to_string());
    }
    let is_list = *kind == Use::Selectable;
    let (most, options) = HTML.get(step).copied().unwrap_or(HTML[HTML.len() - 1]);
    let most = if is_list { options } else { most };
    let html = html::shortened(html, most);
    if let Some(label) = label(element, &html) {
        hinted.push_str(", label ");
        hinted.push_str(&quoted(&label));
    }
    if let Some(setting) = setting.as_ref().filter(|_| listed.is_alike) {
        // Hints stand in parentheses.
        let title = setting.title.replace(['(', ')'], " ");
        hinted.push_str(&format!(", in {} {}", setting.kind, quoted(&cut(title.trim(), MOST_TITLE))));
    }
    let mut line = format!("{id}({hinted}): {html}");
    if let Some(held) = held {
        let verb = if is_list { "chosen" } else { "holds" };
        line.push_str(&format!(" {verb}: {}", quoted(&cut(held, MOST_HELD))));
    }
    line
}

/// The name of an element that has words which its HTML does not show, such as that of a `<label>` elsewhere. Without
/// parentheses: hints stand in these.
fn label(element: &VisibleElement, html: &str) -> Option<String> {
    let name = element.shown.name.replace(['(', ')'], " ");
    let name = cut(&name.split_whitespace().collect::<Vec<_>>().join(" "), MOST_NAME);
    let (html, lower) = (html.to_lowercase(), name.trim_end_matches('…').to_lowercase());
    let is_shown = |word: &str| {
        let plain = word.trim_matches(|c: char| !c.is_alphanumeric());
        html.contains(if plain.is_empty() { word } else { plain })
    };
    let is_missing = lower.split_whitespace().any(|word| !is_shown(word));
    is_missing.then_some(name)
}

/// A text, cut with a mark.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Lines of elements within a budget, and whether they were shortened, or some left out.
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) shortened: bool,
    pub(super) left_out: usize,
}

/// What of an element is compared with the last list: its line whether it has a label or not, with all that a field holds.
pub(super) fn compared(listed: &Listed<'_>) -> String {
    let held = listed.element.held.as_deref().unwrap_or_default();
    format!("{}\n{held}", line(&Listed { is_labelled: true, is_alike: false, ..*listed }, 0))
}

/// The lines of elements, as long as the budget in bytes allows.
pub(super) fn lines(elements: &[Listed<'_>], budget: usize) -> Lines {
    for step in 0..HTML.len() {
        let all: Vec<String> = elements.iter().map(|element| line(element, step)).collect();
        let size: usize = all.iter().map(|line| escaped_length(line) + 1).sum();
        if size <= budget {
            return Lines { text: all.join("\n"), shortened: step > 0, left_out: 0 };
        }
    }
    let mut text = String::new();
    let mut room = budget;
    for (index, element) in elements.iter().enumerate() {
        let line = line(element, HTML.len() - 1);
        let size = escaped_length(&line) + 1;
        if size > room {
            return Lines { text, shortened: true, left_out: elements.len() - index };
        }
        room -= size;
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
    }
    Lines { text, shortened: true, left_out: 0 }
}

/// The length of a text in bytes once it is in JSON.
fn escaped_length(text: &str) -> usize {
    text.len() + text.bytes().filter(|byte| matches!(byte, b'"' | b'\\' | b'\n')).count()
}

/// What an observation is made of.
#[derive(Debug, Default)]
pub(super) struct Observation {
    /// What was done: our own words, with texts of the page in quotes only.
    pub(super) done: Vec<String>,
    /// Texts of the page besides its elements: tabs, dialogs, console.
    pub(super) page_texts: Vec<String>,
    /// Whether the page navigated, within its document or to another one.
    pub(super) navigated: bool,
    /// What the elements are: `12 clickable elements, page 1 of 2.`
    pub(super) head: String,
}

impl Observation {
    /// Reports that a script of the page was terminated, if one was.
    pub(super) fn rescued_if(&mut self, rescued: bool) {
        if rescued {
            self.done.push("A script that blocked the page was ended.".to_owned());
        }
    }

    /// The text. Texts of the page stand between markers with a random value.
    pub(super) fn text(&self, elements: &[Listed<'_>], changes: Option<&Changes>) -> String {
        let mark = format!("{:08x}", fastrand::u32(..));
        let head = [self.done.join("\n"), self.head.clone()];
        let head = head.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
        let page_texts = self.page_texts.iter().map(|line| cut(line, 400)).collect::<Vec<_>>().join("\n");
        let fixed = head.len() + escaped_length(&page_texts) + AROUND;
        let (listed, note) = match changes {
            Some(changes) => changed(elements, changes),
            None => (elements.to_vec(), None),
        };
        let found = lines(&listed, MOST_BYTES.saturating_sub(fixed));
        let mut text = head;
        if let Some(note) = note {
            text.push_str(&format!("\n{note}"));
        }
        if found.shortened {
            text.push_str("\nHTML was cut to fit.");
        }
        if found.left_out > 0 {
            text.push_str(&format!("\n{} more elements of this page do not fit in this list.", found.left_out));
        }
        let inside =
            [page_texts, found.text].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
        if !inside.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&format!("{OPEN}{mark}>>\n{}\n{CLOSE}{mark}>>", without_markers(&inside)));
        }
        text
    }
}

/// Only what has changed, and a line that says what has not.
fn changed<'a>(elements: &[Listed<'a>], changes: &Changes) -> (Vec<Listed<'a>>, Option<String>) {
    let Changes { added, changed, removed } = changes;
    let is_listed = |one: &&Listed<'_>| added.contains(&one.element.id) || changed.contains(&one.element.id);
    let listed: Vec<Listed<'a>> = elements.iter().filter(is_listed).copied().collect();
    let count = |ids: &[String], what: &str| match ids {
        [] => None,
        _ if ids.len() <= 20 => Some(format!("{what} {}", ids.join(" "))),
        _ => Some(format!("{what} {} elements", ids.len())),
    };
    let parts: Vec<String> =
        [count(added, "added"), count(changed, "changed"), count(removed, "removed")].into_iter().flatten().collect();
    let note = if parts.is_empty() {
        "No element was added, removed or changed since the last list of this tab.".to_owned()
    } else {
        format!("Since the last list of this tab: {}. Only added and changed ones are listed.", parts.join("; "))
    };
    (listed, Some(note))
}

/// The text of a page, which cannot end its block.
fn without_markers(text: &str) -> String {
    text.replace("<<page", "< <page").replace("<</page", "< </page")
}

/// A text in quotes, on one line.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What an element is in a sentence: `a1b2c3 (button "Save")`.
pub(super) fn named(element: &VisibleElement) -> String {
    let name = cut(&element.shown.name, MOST_NAME);
    let name = if name.is_empty() { name } else { format!(" {}", quoted(&name)) };
    format!("{} ({}{name})", element.id, element.shown.role)
}

/// Whether an element cannot be used at present.
pub(super) fn is_disabled(element: &VisibleElement) -> bool {
    element.hints.contains(&Hint::Disabled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_cannot_end_its_block() {
        let text = without_markers("x <</page 00000000>> y <<page 1>>");
        assert!(!text.contains(OPEN) && !text.contains(CLOSE), "{text}");
        assert_eq!(cut("äöü", 2), "äö…");
        assert_eq!(cut("äöü", 3), "äöü");
    }
}
