//! The lines of one step.

use super::labels::{body, is_item, kind, label, misspelled, shape_message};
use super::lines::{Line, LineKind};
use super::model::{Instruction, InstructionKind, Place, SourceLine, Step};
use super::problem::{Problems, quoted};

/// What the next line continues.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Instruction,
    Reasoning,
}

/// Parses the lines below the heading of a step. `position` counts steps from 0.
pub(super) fn step(
    position: usize,
    (title, line): (&str, usize),
    lines: &[Line<'_>],
    source: &mut [SourceLine],
    problems: &mut Problems,
) -> Step {
    let n = u32::try_from(position + 1).unwrap_or(u32::MAX);
    let step = Step {
        n,
        title: title.to_owned(),
        keyword: None,
        instructions: Vec::new(),
        reasoning: None,
        line,
        keyword_line: None,
    };
    let mut parser = Parser { step, position, reasoning_line: None, open: Open::Nothing, problems };
    let mut is_misplaced = false;
    for (i, (line, source)) in lines.iter().zip(source).enumerate() {
        let was_reasoning = parser.open == Open::Reasoning;
        source.place = parser.line(i == 0, line);
        let follows = parser.reasoning_line.is_some() && !was_reasoning;
        is_misplaced |= follows && matches!(source.place, Place::Instruction(_));
    }
    parser.finish(is_misplaced)
}

struct Parser<'p> {
    step: Step,
    position: usize,
    reasoning_line: Option<usize>,
    open: Open,
    problems: &'p mut Problems,
}

impl Parser<'_> {
    fn line(&mut self, is_first: bool, line: &Line<'_>) -> Place {
        if line.kind != LineKind::Text && line.kind != LineKind::Skipped {
            return self.fenced(line);
        }
        if line.is_blank() {
            self.open = Open::Nothing;
            return Place::Other;
        }
        if let Some(label) = label(line.text, "Keywords").filter(|label| is_first || label.is_bold) {
            self.keywords(is_first, line, label.rest, label.is_exact);
            return Place::Keywords;
        }
        let starts = self.open == Open::Nothing;
        if let Some(label) = label(line.text, "Reasoning").filter(|label| starts || label.is_bold) {
            self.reasoning(line, label.rest, label.is_exact);
            return Place::Reasoning(self.position);
        }
        if self.open == Open::Reasoning {
            if let Some(reasoning) = &mut self.step.reasoning {
                push(reasoning, line.text);
            }
            return Place::Reasoning(self.position);
        }
        let kind = kind(line.text);
        let begins = starts || is_item(line.text) || (kind != InstructionKind::Plain && !line.text.starts_with("  "));
        if begins {
            if let Some(wanted) = misspelled(line.text) {
                self.problems.add(line.number, "INSTRUCTION_SHAPE", shape_message(line.text, &wanted));
            }
            self.begin(line, kind);
        } else {
            self.go_on(line);
        }
        Place::Instruction(self.position)
    }

    fn fenced(&mut self, line: &Line<'_>) -> Place {
        if self.open == Open::Reasoning {
            if let Some(reasoning) = &mut self.step.reasoning {
                push(reasoning, line.text);
            }
            return Place::Reasoning(self.position);
        }
        match self.open {
            Open::Nothing => self.begin(line, InstructionKind::Plain),
            Open::Instruction | Open::Reasoning => self.go_on(line),
        }
        if line.kind == LineKind::FenceClose {
            self.open = Open::Nothing;
        }
        Place::Instruction(self.position)
    }

    fn begin(&mut self, line: &Line<'_>, kind: InstructionKind) {
        self.step.instructions.push(Instruction { text: line.text.to_owned(), kind, line: line.number });
        self.open = Open::Instruction;
    }

    fn go_on(&mut self, line: &Line<'_>) {
        if let Some(last) = self.step.instructions.last_mut() {
            push(&mut last.text, line.text);
        }
    }

    fn keywords(&mut self, is_first: bool, line: &Line<'_>, token: &str, is_exact: bool) {
        self.open = Open::Nothing;
        if let Some(first) = self.step.keyword_line {
            let message = format!("the step already has a Keywords line (line {first}); remove this one");
            self.problems.add(line.number, "KEYWORDS_TWICE", message);
            return;
        }
        self.step.keyword_line = Some(line.number);
        if token.is_empty() {
            let message = "the Keywords line has no token; write one after `**Keywords:**`, or remove the line";
            self.problems.add(line.number, "KEYWORD_SHAPE", message);
        } else {
            self.step.keyword = Some(token.to_owned());
        }
        let wanted = format!("**Keywords:** {token}");
        if !is_first {
            let message = format!(
                "the Keywords line is not directly below the step heading; write {} in line {}",
                quoted(&wanted),
                self.step.line + 1
            );
            self.problems.add(line.number, "KEYWORDS_PLACE", message);
        } else if !token.is_empty() && !is_exact {
            self.problems.add(line.number, "LABEL_SHAPE", shape_message(line.text, &wanted));
        }
    }

    fn reasoning(&mut self, line: &Line<'_>, text: &str, is_exact: bool) {
        self.open = Open::Reasoning;
        if let Some(first) = self.reasoning_line {
            let message =
                format!("the step already has a Reasoning paragraph (line {first}); write both as one paragraph");
            self.problems.add(line.number, "REASONING_TWICE", message);
            return;
        }
        self.reasoning_line = Some(line.number);
        self.step.reasoning = Some(text.to_owned());
        if !is_exact && !text.is_empty() {
            let wanted = format!("**Reasoning:** {text}");
            self.problems.add(line.number, "LABEL_SHAPE", shape_message(line.text, &wanted));
        }
    }

    fn finish(mut self, is_misplaced: bool) -> Step {
        let n = self.step.n;
        if let Some(line) = self.reasoning_line {
            if is_misplaced {
                let message = format!(
                    "text follows the reasoning of step {n}; write `**Reasoning:**` as the last paragraph of the step"
                );
                self.problems.add(line, "REASONING_PLACE", message);
            }
            if self.step.reasoning.as_ref().is_some_and(|text| text.trim().is_empty()) {
                let message = "the reasoning has no text; write it after `**Reasoning:**`, or remove the line";
                self.problems.add(line, "EMPTY_REASONING", message);
            }
        }
        let has_text = |instruction: &Instruction| instruction.text.chars().any(char::is_alphanumeric);
        if !self.step.instructions.iter().any(has_text) {
            let message =
                format!("step {n} has no instruction; write at least one line below its heading that says what to do");
            self.problems.add(self.step.line, "EMPTY_STEP", message);
        }
        self.check_instructions();
        self.step
    }

    fn check_instructions(&mut self) {
        let mut reads: Vec<(&str, usize)> = Vec::new();
        for instruction in &self.step.instructions {
            let is_special = matches!(instruction.kind, InstructionKind::IfShown | InstructionKind::Read { .. });
            let begins_only = instruction.kind == InstructionKind::ForEach
                && !instruction.body().trim_start_matches("For each").contains(char::is_alphanumeric);
            if (is_special && instruction.body().is_empty()) || begins_only {
                let message = format!(
                    "{} has no text; write what to do after it, on the same line",
                    quoted(instruction.text.trim())
                );
                self.problems.add(instruction.line, "EMPTY_INSTRUCTION", message);
            }
            let InstructionKind::Read { name } = &instruction.kind else { continue };
            if let Some((_, first)) = reads.iter().find(|(known, _)| known == name) {
                let message = format!(
                    "step {} already reads `{name}` in line {first}; write another name before the colon",
                    self.step.n
                );
                self.problems.add(instruction.line, "READ_TWICE", message);
            } else {
                reads.push((name, instruction.line));
            }
        }
    }
}

impl Instruction {
    /// What the instruction says, without list mark, `If shown:` and `Read <name>:`.
    #[must_use]
    pub fn body(&self) -> &str {
        body(&self.text, &self.kind)
    }
}

fn push(text: &mut String, line: &str) {
    text.push('\n');
    text.push_str(line);
}
