//! The section `## Prerequisites` with the Starting URL.

use super::headings::after_word;
use super::labels::without_mark;
use super::lines::{Line, LineKind};
use super::model::{Place, SourceLine};
use super::problem::{Problems, quoted};

/// What the section says.
#[derive(Debug, Default)]
pub(super) struct Prerequisites {
    /// The address and its line.
    pub(super) starting_url: Option<(String, usize)>,
    pub(super) lines: Vec<String>,
}

/// Exact beginnings of the line, each also behind `- `.
const LABELS: &[&str] = &["Starting URL: ", "**Starting URL:** ", "**Starting URL**: "];
/// Words that people write instead.
const WORDS: &[&str] = &["starting url", "start url", "starting address", "start address", "start_url", "url"];

/// Parses the section. `missing_at`: the line at which a missing Starting URL is reported.
pub(super) fn prerequisites(
    missing_at: Option<usize>,
    lines: &[Line<'_>],
    source: &mut [SourceLine],
    problems: &mut Problems,
) -> Prerequisites {
    let mut section = Prerequisites::default();
    let mut has_line = false;
    for (line, source) in lines.iter().zip(source) {
        if line.is_blank() {
            continue;
        }
        let found = if line.kind == LineKind::Text { starting_url(line.text) } else { None };
        let Some((url, is_exact)) = found else {
            source.place = Place::Prerequisites;
            section.lines.push(line.text.to_owned());
            continue;
        };
        source.place = Place::StartingUrl;
        if url.is_empty() {
            let message =
                "the line has no address; write `Starting URL: https://…` with the page where the routine begins";
            problems.add(line.number, "NO_STARTING_URL", message);
        } else if let Some((_, first)) = &section.starting_url {
            let message = format!("the Starting URL is already in line {first}; remove this line");
            problems.add(line.number, "STARTING_URL_TWICE", message);
        } else {
            if !is_exact {
                let wanted = quoted(&format!("Starting URL: {url}"));
                let message = format!("{} is not recognised; write {wanted}", quoted(line.text));
                problems.add(line.number, "LABEL_SHAPE", message);
            }
            section.starting_url = Some((url.to_owned(), line.number));
        }
        has_line = true;
    }
    if let Some(line) = missing_at.filter(|_| !has_line) {
        let message = "the section does not say where the routine begins; write a line `Starting URL: https://…`";
        problems.add(line, "NO_STARTING_URL", message);
    }
    section
}

/// The address in a line that names the Starting URL, and whether the line is exactly as the grammar has it.
fn starting_url(line: &str) -> Option<(&str, bool)> {
    let bare = line.strip_prefix("- ").unwrap_or(line);
    for label in LABELS {
        if let Some(url) = bare.strip_prefix(label) {
            return Some((url.trim(), url.trim() == url));
        }
    }
    let text = without_mark(line.trim()).trim_start_matches(['*', '_']);
    let after = WORDS.iter().find_map(|word| after_word(text, word))?;
    let url = after.trim_start_matches(['*', '_', ' ']).strip_prefix([':', '='])?;
    let url = url.trim_start_matches(['*', '_']).trim();
    Some((url, false))
}
