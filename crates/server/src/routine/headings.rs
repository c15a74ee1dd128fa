//! Headings, also those that are written in another way than the grammar has it.

use super::names::distance;

/// What a heading says, however it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heading {
    Goal(String),
    Prerequisites,
    Inputs,
    Step {
        number: Option<u32>,
        title: String,
    },
    Result,
    /// Any other heading, with its level and text.
    Unknown(usize, String),
}

/// Words by which people head the sections that have no text of their own in the heading.
const SECTION_WORDS: &[(&str, Heading)] = &[
    ("prerequisites", Heading::Prerequisites),
    ("prerequisite", Heading::Prerequisites),
    ("requirements", Heading::Prerequisites),
    ("inputs", Heading::Inputs),
    ("input", Heading::Inputs),
    ("parameters", Heading::Inputs),
    ("result", Heading::Result),
    ("results", Heading::Result),
    ("output", Heading::Result),
    ("outputs", Heading::Result),
];

/// Marks that people write between a heading's name and its text.
const SEPARATORS: &[char] = &[':', '.', '-', '–', '—', ')'];

/// How far the text has come above a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reached {
    /// No heading yet.
    Nothing,
    /// A heading, but no step.
    Sections,
    Steps,
}

impl Heading {
    /// The heading as the grammar has it. A step takes the given number.
    pub(super) fn canonical(&self, number: u32) -> String {
        match self {
            Self::Goal(goal) => format!("# Workflow: {goal}"),
            Self::Prerequisites => "## Prerequisites".to_owned(),
            Self::Inputs => "## Inputs".to_owned(),
            Self::Step { title, .. } => format!("## Step {number}: {title}"),
            Self::Result => "## Result".to_owned(),
            Self::Unknown(level, text) => format!("{} {text}", "#".repeat(*level)),
        }
    }
}

/// The heading in a line outside of code blocks, if it is one or is meant as one. `starts_paragraph`: the line above
/// is blank or a heading.
pub(super) fn heading(line: &str, starts_paragraph: bool, reached: Reached) -> Option<Heading> {
    if let Some(exact) = exact(line) {
        return Some(exact);
    }
    let unindented = line.trim_start_matches(' ');
    if line.len() - unindented.len() > 3 {
        return None;
    }
    let rest = unindented.trim_start_matches('#');
    let level = unindented.len() - rest.len();
    if level == 0 {
        return starts_paragraph.then(|| bare(unindented, reached)).flatten();
    }
    if level > 6 {
        return None;
    }
    let is_spaced = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let known = known(undecorated(rest), level);
    if is_spaced || (level > 1 && rest.starts_with(|c: char| c.is_alphabetic() || c == '*')) {
        return Some(known.unwrap_or_else(|| Heading::Unknown(level, rest.trim().to_owned())));
    }
    // `#5` and `#results` are text, `#Step 1` and `#Workflow: …` are headings without their blank.
    known.filter(|known| matches!(known, Heading::Goal(_) | Heading::Step { number: Some(_), .. }))
}

/// A heading exactly as the grammar has it.
pub(super) fn exact(line: &str) -> Option<Heading> {
    let trimmed = |text: &str| !text.is_empty() && text.trim() == text;
    if let Some(goal) = line.strip_prefix("# Workflow: ") {
        return trimmed(goal).then(|| Heading::Goal(goal.to_owned()));
    }
    if let Some((digits, title)) = line.strip_prefix("## Step ").and_then(|rest| rest.split_once(": ")) {
        let number = digits.parse::<u32>().ok().filter(|number| number.to_string() == digits)?;
        return trimmed(title).then(|| Heading::Step { number: Some(number), title: title.to_owned() });
    }
    let sections = [Heading::Prerequisites, Heading::Inputs, Heading::Result];
    sections.into_iter().find(|section| section.canonical(0) == line)
}

/// A heading without `#`: `Step 1: …`, `**Step 1: …**`, `Workflow: …`, `**Inputs**`.
fn bare(line: &str, reached: Reached) -> Option<Heading> {
    let text = undecorated(line);
    let is_bold = text.len() < line.trim().len();
    let found = known(text, 1)?;
    let admitted = match &found {
        Heading::Goal(_) => reached == Reached::Nothing,
        Heading::Step { number, title } => {
            let named = after_word(text, "step").is_some_and(|rest| is_bold || rest.contains(':'));
            named && number.is_some() && !title.is_empty() && has_colon_after_number(text)
        }
        Heading::Prerequisites | Heading::Inputs => reached != Reached::Steps,
        Heading::Result | Heading::Unknown(..) => false,
    };
    admitted.then_some(found)
}

/// `Step 12:` and not `Step 12 of the wizard: …`.
fn has_colon_after_number(text: &str) -> bool {
    let rest = after_word(text, "step").unwrap_or_default().trim_start();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.trim_start_matches(['*', ' ']).starts_with(':')
}

/// The text without blanks around it and, if it begins with emphasis, without that.
fn undecorated(text: &str) -> &str {
    let text = text.trim();
    if text.starts_with(['*', '_']) { text.trim_matches(['*', '_']).trim() } else { text }
}

fn known(text: &str, level: usize) -> Option<Heading> {
    for word in ["workflow", "routine", "goal", "task"] {
        let Some(rest) = after_word(text, word) else { continue };
        let rest = rest.trim_start_matches(['*', ' ']);
        if rest.starts_with(':') || (word == "workflow" && (rest.is_empty() || rest.starts_with(SEPARATORS))) {
            return Some(Heading::Goal(without_separator(rest)));
        }
    }
    if let Some(rest) = after_word(text, "step") {
        let (number, title) = numbered(rest.trim_start());
        return Some(Heading::Step { number, title });
    }
    let is_item = text.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with([':', '.', ')']);
    if level > 1 && is_item && text.starts_with(|c: char| c.is_ascii_digit()) {
        let (number, title) = numbered(text);
        return Some(Heading::Step { number, title });
    }
    let word = text.trim_end_matches(SEPARATORS).trim().to_ascii_lowercase();
    let exact = SECTION_WORDS.iter().find(|(known, _)| *known == word);
    let near = |known: &str| {
        let admitted = if known.len() > 8 { 2 } else { 1 };
        known.len().abs_diff(word.len()) <= admitted && distance(known, &word) <= admitted
    };
    exact.or_else(|| SECTION_WORDS.iter().find(|(known, _)| near(known))).map(|(_, heading)| heading.clone())
}

/// What stands behind a word at the beginning of the text, in any case, if the word ends there.
pub(super) fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let head = text.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word))?;
    let rest = text.get(head.len()..)?;
    let ends = !rest.starts_with(char::is_alphabetic);
    ends.then_some(rest)
}

/// Number and title from `1: Title`, `1 - Title`, `1. Title`.
fn numbered(text: &str) -> (Option<u32>, String) {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.get(..text.len() - rest.len()).unwrap_or_default();
    (digits.parse().ok(), without_separator(rest))
}

fn without_separator(text: &str) -> String {
    let text = text.trim_start_matches(['*', ' ']);
    let text = text.strip_prefix(SEPARATORS).unwrap_or(text);
    text.trim_start_matches(['*', '_']).trim().to_owned()
}
