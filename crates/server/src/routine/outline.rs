//! Sections of a text and their order.

use super::headings::{Heading, Reached, exact, heading};
use super::lines::{Line, LineKind};
use super::problem::{Problems, quoted};
use super::text::MAX_STEPS;

/// A section: its heading and the lines below it.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) heading: Heading,
    /// Index of the heading among all lines.
    pub(super) at: usize,
    /// Index behind the last line.
    pub(super) end: usize,
}

impl Section {
    /// Line of the heading, from 1.
    pub(super) fn line(&self) -> usize {
        self.at + 1
    }
}

/// Splits the lines into sections and reports every heading that is not as the grammar has it.
pub(super) fn outline(lines: &mut [Line<'_>], problems: &mut Problems) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut steps = 0;
    let mut starts_paragraph = true;
    for (at, line) in lines.iter_mut().enumerate() {
        let is_text = line.kind == LineKind::Text;
        let reached = match steps {
            0 if sections.is_empty() => Reached::Nothing,
            0 => Reached::Sections,
            _ => Reached::Steps,
        };
        let found = if is_text { heading(line.text, starts_paragraph, reached) } else { None };
        starts_paragraph = !is_text || found.is_some() || line.text.trim().is_empty();
        let Some(found) = found else { continue };
        let found = match found {
            // The first heading of the text is the goal, whatever it says.
            Heading::Unknown(1, text) if sections.is_empty() => {
                let written = if text.is_empty() { "<goal>" } else { &text };
                let message =
                    format!("the title does not state the goal; write {}", quoted(&format!("# Workflow: {written}")));
                problems.add(line.number, "NO_GOAL", message);
                Heading::Goal(text)
            }
            Heading::Unknown(level, text) => {
                problems.add(line.number, "UNKNOWN_SECTION", unknown(line.text, &text));
                if level > 2 && !is_steps(&text) {
                    line.kind = LineKind::Skipped;
                    continue;
                }
                Heading::Unknown(level, text)
            }
            Heading::Step { .. } => {
                steps += 1;
                check_step(line, &found, steps, problems);
                found
            }
            _ => {
                check_shape(line, &found, problems);
                found
            }
        };
        if let Some(last) = sections.last_mut() {
            last.end = at;
        }
        sections.push(Section { heading: found, at, end: at + 1 });
    }
    let count = lines.len();
    if let Some(last) = sections.last_mut() {
        last.end = count;
    }
    check_order(&sections, problems);
    sections
}

/// A heading above all steps, as people write it. What stands below it belongs to no section above it.
fn is_steps(text: &str) -> bool {
    matches!(text.trim_end_matches(':').to_ascii_lowercase().as_str(), "steps" | "instructions")
}

fn unknown(line: &str, text: &str) -> String {
    let shown = quoted(line.trim());
    match text.trim_end_matches(':').to_ascii_lowercase().as_str() {
        _ if is_steps(text) => {
            format!("{shown} is not a section; remove the line and write a heading `## Step 1: <title>` for each step")
        }
        "reasoning" | "notes" | "note" | "keywords" => format!(
            "{shown} is not a section; write `**Keywords:** <token>` directly below the heading of a step and \
             `**Reasoning:** <text>` at its end"
        ),
        _ => format!(
            "{shown} is not a section of a routine; write its content as text without `#`, put it in a code block, or \
             remove it"
        ),
    }
}

fn check_shape(line: &Line<'_>, found: &Heading, problems: &mut Problems) {
    if exact(line.text).is_some() {
        return;
    }
    if *found == Heading::Goal(String::new()) {
        let message = "the heading does not state the goal; write `# Workflow: ` followed by what the routine achieves";
        problems.add(line.number, "NO_GOAL", message);
        return;
    }
    let message =
        format!("{} is not recognised as a section heading; write {}", quoted(line.text), quoted(&found.canonical(0)));
    problems.add(line.number, "HEADING_SHAPE", message);
}

fn check_step(line: &Line<'_>, found: &Heading, expected: usize, problems: &mut Problems) {
    let Heading::Step { number, title } = found else { return };
    if expected == MAX_STEPS + 1 {
        let message = format!("a routine has at most {MAX_STEPS} steps; write the remaining ones as another routine");
        problems.add(line.number, "TOO_LONG", message);
    }
    let expected = u32::try_from(expected).unwrap_or(u32::MAX);
    let wanted = found.canonical(expected);
    if title.is_empty() {
        let code = if line.text.starts_with("## Step ") { "STEP_TITLE" } else { "HEADING_SHAPE" };
        let message = format!("the step has no title; write `{wanted}<title>` with what the step does");
        problems.add(line.number, code, message);
    } else if exact(line.text).is_none() {
        let message = format!("{} is not recognised as a step heading; write {}", quoted(line.text), quoted(&wanted));
        problems.add(line.number, "HEADING_SHAPE", message);
    } else if *number != Some(expected) {
        let message = format!("steps are numbered from 1 without a gap or repetition; write {}", quoted(&wanted));
        problems.add(line.number, "STEP_NUMBER", message);
    }
}

/// Reports sections that occur twice or stand in the wrong place.
fn check_order(sections: &[Section], problems: &mut Problems) {
    use Heading::{Goal, Inputs, Prerequisites, Result, Step, Unknown};
    for (i, section) in sections.iter().enumerate() {
        if matches!(section.heading, Step { .. } | Unknown(..)) {
            continue;
        }
        let (before, rest) = sections.split_at(i);
        let after = rest.get(1..).unwrap_or_default();
        let name = quoted(&section.heading.canonical(0));
        let first = before.iter().find(|earlier| same_kind(&earlier.heading, &section.heading));
        if let Some(first) = first {
            let code = if matches!(section.heading, Goal(_)) { "GOAL_TWICE" } else { "SECTION_TWICE" };
            let message = format!(
                "{name} already occurs in line {}; remove this heading and write its content there",
                first.line()
            );
            problems.add(section.line(), code, message);
            continue;
        }
        let place = match &section.heading {
            Goal(_) => {
                before.iter().any(|s| !matches!(s.heading, Unknown(..))).then_some("as the first line of the text")
            }
            Prerequisites => before
                .iter()
                .any(|s| matches!(s.heading, Inputs | Step { .. }))
                .then_some("directly below the goal, above `## Inputs` and the steps"),
            Inputs => before
                .iter()
                .any(|s| matches!(s.heading, Step { .. }))
                .then_some("between `## Prerequisites` and `## Step 1`"),
            Result => after
                .iter()
                .any(|s| matches!(s.heading, Prerequisites | Inputs | Step { .. }))
                .then_some("below the last step, as the last section"),
            Step { .. } | Unknown(..) => None,
        };
        if let Some(place) = place {
            problems.add(section.line(), "SECTION_ORDER", format!("{name} is in the wrong place; write it {place}"));
        }
    }
}

fn same_kind(a: &Heading, b: &Heading) -> bool {
    use Heading::{Goal, Inputs, Prerequisites, Result};
    matches!((a, b), (Goal(_), Goal(_)) | (Prerequisites, Prerequisites) | (Inputs, Inputs) | (Result, Result))
}
