//! Locators of Playwright.

use super::acts::Target;
use super::words::{Language, expression, fixed, literal};
use crate::record::FrameStep;

/// Longest text that a recording has of an element, in characters. One of that length may be a part.
const LONGEST: usize = 200;
/// Attributes that mark elements for tests.
const TEST_MARKS: [&str; 5] = ["data-testid", "data-test-id", "data-test", "data-cy", "data-qa"];
/// Roles that `getByRole` takes.
const ROLES: &str = " alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox \
    complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group \
    heading img insertion link list listbox listitem log main marquee math meter menu menubar menuitem menuitemcheckbox menuitemradio \
    navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search \
    searchbox separator slider spinbutton status strong subscript superscript switch tab table tablist tabpanel term textbox time timer \
    toolbar tooltip tree treegrid treeitem ";

/// The locator of an element in a page that a variable holds. `within` of the helpers finds what is around it.
pub(super) fn locator(page: &str, target: &Target) -> String {
    let scope = frames(page, &target.frame);
    match &target.anchor.container {
        None => own(&scope, target),
        Some(container) => {
            let title = expression(&target.title, Language::TypeScript);
            let kind = literal(&container.kind, Language::TypeScript);
            format!("within({page}, {scope}, {kind}, {title}, (at) => {})", own("at", target))
        }
    }
}

/// Whether a locator uses the helper `within`.
pub(super) fn has_container(target: &Target) -> bool {
    target.anchor.container.is_some()
}

/// Whether only the name of an element is known, so that it is any control with that name: the helper `control`.
pub(super) fn is_any_control(target: &Target) -> bool {
    target.anchor.tag.is_empty() && target.anchor.role.is_empty() && !target.name.is_empty()
}

/// The frame of an element.
fn frames(page: &str, path: &[FrameStep]) -> String {
    let mut scope = page.to_owned();
    for step in path {
        let part = step.url.split(['?', '#']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        let is_steady = !part.is_empty() && !part.bytes().any(|byte| byte.is_ascii_digit() || byte == b'%');
        let is_of_server = step.url.starts_with("http");
        let selector = if !step.name.is_empty() {
            Some(format!("[name={}]", css(&step.name)))
        } else if is_of_server && is_steady {
            Some(format!("[src*={}]", css(part)))
        } else {
            None
        };
        scope.push_str(&match selector {
            Some(one) => format!(".frameLocator({})", typescript(&format!("iframe{one}, frame{one}"))),
            None => format!(".locator(\"iframe, frame\").nth({}).contentFrame()", step.index),
        });
    }
    scope
}

/// The locator of an element in what an expression stands for: by role and name; without a name by a mark of its own.
fn own(scope: &str, target: &Target) -> String {
    let anchor = &target.anchor;
    let is_role = !anchor.role.is_empty() && anchor.role != "generic" && ROLES.contains(&format!(" {} ", anchor.role));
    let role = typescript(&anchor.role);
    let text = matching(target);
    if is_any_control(target) {
        return format!("control({scope}, {})", expression(&target.name, Language::TypeScript));
    }
    if anchor.name.trim().is_empty() {
        let label = anchor.label.trim();
        return match (target.name.is_empty(), is_role) {
            (false, _) if !label.is_empty() => format!("{scope}.getByLabel({text})"),
            (false, true) => format!("{scope}.getByRole({role}).filter({{ hasText: {} }})", pattern_or_text(target)),
            (false, false) => format!("{scope}.getByText({text})"),
            (true, _) => format!("{scope}.locator({})", typescript(&marked(target))),
        };
    }
    match is_role {
        true => {
            let name = match text.strip_suffix(", { exact: true }") {
                Some(text) => format!("{text}, exact: true"),
                None => text,
            };
            format!("{scope}.getByRole({role}, {{ name: {name} }})")
        }
        // An element whose role Playwright does not have.
        false if anchor.label.trim().is_empty() => format!("{scope}.getByText({text})"),
        false => format!("{scope}.getByLabel({text})"),
    }
}

/// The name of an element as an argument: as a whole, unless a part of it may differ or is missing.
fn matching(target: &Target) -> String {
    match fixed(&target.name) {
        Some(name) if has_counter(&name) => pattern(&name),
        Some(name) if name.chars().count() >= LONGEST => typescript(&name),
        _ => format!("{}, {{ exact: true }}", expression(&target.name, Language::TypeScript)),
    }
}

fn pattern_or_text(target: &Target) -> String {
    match fixed(&target.name) {
        Some(name) if name.chars().count() < LONGEST => pattern(&name),
        _ => expression(&target.name, Language::TypeScript),
    }
}

/// The value of a file field has no role of its own.
pub(super) fn file_field(page: &str, target: &Target) -> String {
    let scope = frames(page, &target.frame);
    match target.name.is_empty() {
        true => format!("{scope}.locator('input[type=\"file\"]')"),
        false => format!("{scope}.getByLabel({})", matching(target)),
    }
}

/// A selector of an element without a name.
pub(super) fn marked(target: &Target) -> String {
    let anchor = &target.anchor;
    if !anchor.test_id.is_empty() {
        return TEST_MARKS.map(|mark| format!("[{mark}={}]", css(&anchor.test_id))).join(", ");
    }
    // Other programs record selectors of other languages, too.
    let is_css =
        |selector: &&String| !["aria/", "pierce/", "text/", "xpath/"].iter().any(|one| selector.starts_with(one));
    let css = || anchor.selectors.iter().filter(is_css);
    let lasting = css().find(|selector| !selector.contains(":nth-")).or_else(|| css().next());
    lasting.cloned().unwrap_or_else(|| anchor.tag.clone())
}

/// Whether a name has a counter in brackets, which differs from run to run.
fn has_counter(name: &str) -> bool {
    pieces(name).iter().any(|(_, is_counter)| *is_counter)
}

/// The pieces of a name: counters in brackets, and what is between them.
fn pieces(name: &str) -> Vec<(&str, bool)> {
    let mut all = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(begin) = name.get(at..).and_then(|rest| rest.find(['(', '['])).map(|found| at + found) {
        at = begin + 1;
        let inner = name.get(at..).unwrap_or_default();
        let Some(length) = inner.find([')', ']']) else { break };
        let is_digit = |c: char| c.is_ascii_digit() || matches!(c, ',' | '.' | '+');
        if length > 0 && inner.get(..length).is_some_and(|inner| inner.chars().all(is_digit)) {
            all.push((name.get(from..begin).unwrap_or_default(), false));
            all.push((name.get(begin..at + length + 1).unwrap_or_default(), true));
            (from, at) = (at + length + 1, at + length + 1);
        }
    }
    all.push((name.get(from..).unwrap_or_default(), false));
    all
}

/// A pattern for a whole text: with any blanks, and any counters.
fn pattern(text: &str) -> String {
    let words = |text: &str| text.split_whitespace().map(escaped).collect::<Vec<_>>().join("\\s+");
    let each: Vec<String> = pieces(text)
        .into_iter()
        .map(|(text, is_counter)| if is_counter { "(?:[(\\[][\\d.,+]+[)\\]])?".to_owned() } else { words(text) })
        .filter(|text| !text.is_empty())
        .collect();
    format!("new RegExp({}, \"i\")", typescript(&format!("^\\s*{}\\s*$", each.join("\\s*"))))
}

/// A word without the meaning of characters in patterns.
fn escaped(word: &str) -> String {
    word.chars().flat_map(|c| ["\\".repeat(usize::from("\\^$.*+?()[]{}|/".contains(c))), c.to_string()]).collect()
}

/// A string of CSS.
fn css(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\{:x} ", u32::from(c))),
            c => out.push(c),
        }
    }
    out + "\""
}

fn typescript(text: &str) -> String {
    literal(text, Language::TypeScript)
}
