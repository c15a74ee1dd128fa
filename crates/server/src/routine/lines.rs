//! Lines of a text, with its code blocks.

use super::problem::{Problems, quoted};

/// One line of the normalised text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    /// From 1.
    pub(super) number: usize,
    pub(super) text: &'t str,
    pub(super) kind: LineKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Text,
    /// First line of a code block.
    FenceOpen,
    FenceInside,
    FenceClose,
    /// A faulty heading that was reported and belongs to no section.
    Skipped,
}

impl<'t> Line<'t> {
    pub(super) fn is_blank(&self) -> bool {
        self.kind == LineKind::Skipped || (self.kind == LineKind::Text && self.text.trim().is_empty())
    }

    /// What stands behind the fence that opens a code block, such as `json`.
    pub(super) fn info(&self) -> &'t str {
        fence(self.text).map_or("", |fence| fence.info)
    }
}

struct Fence<'t> {
    mark: char,
    length: usize,
    info: &'t str,
}

fn fence(line: &str) -> Option<Fence<'_>> {
    let line = line.trim();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    let is_fence = length >= 3 && !(mark == '`' && rest.contains('`'));
    is_fence.then_some(Fence { mark, length, info: rest.trim() })
}

/// The lines of a normalised text. A code block that is never closed is reported and taken for plain text.
pub(super) fn lines<'t>(text: &'t str, problems: &mut Problems) -> Vec<Line<'t>> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let numbered = text.split('\n').enumerate();
    let mut lines: Vec<Line<'_>> =
        numbered.map(|(i, text)| Line { number: i + 1, text, kind: LineKind::Text }).collect();
    // Fences that nothing below closes: mark and length.
    let mut never_closed: Vec<(char, usize)> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let open = at;
        at += 1;
        let Some(opening) = lines.get(open).and_then(|line| fence(line.text)) else { continue };
        let hopeless = never_closed.iter().any(|(mark, length)| *mark == opening.mark && opening.length >= *length);
        let closes = |line: &Line<'_>| {
            fence(line.text).is_some_and(|closing| {
                closing.mark == opening.mark && closing.length >= opening.length && closing.info.is_empty()
            })
        };
        let below = lines.iter().skip(at);
        match if hopeless { None } else { below.clone().position(closes) } {
            Some(inside) => {
                let close = at + inside;
                for (i, line) in lines.get_mut(open..=close).unwrap_or_default().iter_mut().enumerate() {
                    line.kind = match i {
                        0 => LineKind::FenceOpen,
                        _ if i == close - open => LineKind::FenceClose,
                        _ => LineKind::FenceInside,
                    };
                }
                at = close + 1;
            }
            None => {
                never_closed.push((opening.mark, opening.length));
                let mark: String = std::iter::repeat_n(opening.mark, opening.length.min(10)).collect();
                let shown = lines.get(open).map_or(String::new(), |line| quoted(line.text.trim()));
                let message = format!(
                    "the code block that starts with {shown} is never closed; write a line with only {mark} after its last line"
                );
                problems.add(open + 1, "CODE_BLOCK_OPEN", message);
            }
        }
    }
    lines
}
