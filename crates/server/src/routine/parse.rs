//! From text to routine.

use super::headings::Heading;
use super::inputs::inputs;
use super::lines::{Line, lines};
use super::model::{Place, Routine, SourceLine};
use super::outline::{Section, outline};
use super::prerequisites::prerequisites;
use super::problem::{Problem, Problems, quoted};
use super::result::result;
use super::steps::step;
use super::text::{check_text, normalise};

/// Parses a routine and checks its structure only: sections, headings, labels and the syntax of inputs. A text with
/// placeholders that are not filled in yet can be parsed.
///
/// # Errors
/// All problems of the structure, by line, at most [`MAX_PROBLEMS`](super::MAX_PROBLEMS).
pub fn parse(text: &str) -> Result<Routine, Vec<Problem>> {
    let Reading { routine, problems, .. } = read(text);
    match routine {
        Some(routine) if problems.is_empty() => Ok(routine),
        _ => Err(problems.sorted()),
    }
}

/// What could be read, also of a faulty text.
pub(super) struct Reading {
    /// `None`: the text is too far from a routine for its rules to be checked.
    pub(super) routine: Option<Routine>,
    /// Line of the Starting URL.
    pub(super) url_line: Option<usize>,
    pub(super) problems: Problems,
}

pub(super) fn read(text: &str) -> Reading {
    let text = normalise(text);
    let mut problems = Problems::default();
    if !check_text(&text, &mut problems) || has_lost_line_ends(&text, &mut problems) {
        return Reading { routine: None, url_line: None, problems };
    }
    let mut lines = lines(&text, &mut problems);
    let sections = outline(&mut lines, &mut problems);
    let source = lines.iter().map(|line| SourceLine { text: line.text.to_owned(), place: Place::Other });
    let routine = Routine {
        goal: String::new(),
        prerequisites: Vec::new(),
        starting_url: String::new(),
        inputs: Vec::new(),
        steps: Vec::new(),
        result: None,
        source: source.collect(),
    };
    let mut reader = Reader { lines: &lines, routine, url_line: None, problems };
    reader.check_stray(0, sections.first().map_or(lines.len(), |first| first.at), &sections);
    for section in &sections {
        reader.section(section, &sections);
    }
    reader.check_missing(&sections);
    Reading { routine: Some(reader.routine), url_line: reader.url_line, problems: reader.problems }
}

/// Reports a routine whose line ends were lost, as this one problem explains all others.
fn has_lost_line_ends(text: &str, problems: &mut Problems) -> bool {
    let line = text.trim();
    let is_lost = !line.contains('\n') && ["## Prerequisites", "## Step "].iter().any(|part| line.contains(part));
    let is_lost = is_lost && line.starts_with("# ");
    if is_lost {
        let message = "the whole routine is on one line; write each heading, label and paragraph on its own line";
        problems.add(1, "ONE_LINE", message);
    }
    is_lost
}

struct Reader<'t> {
    lines: &'t [Line<'t>],
    routine: Routine,
    url_line: Option<usize>,
    problems: Problems,
}

impl Reader<'_> {
    fn section(&mut self, section: &Section, all: &[Section]) {
        let body = section.at + 1..section.end;
        let lines = self.lines.get(body.clone()).unwrap_or_default();
        let heading_line = section.line();
        let position = self.routine.steps.len();
        let own_place = match &section.heading {
            Heading::Goal(_) => Place::Goal,
            Heading::Step { .. } => Place::Title(position),
            _ => Place::Other,
        };
        if let Some(source) = self.routine.source.get_mut(section.at) {
            source.place = own_place;
        }
        let source = self.routine.source.get_mut(body).unwrap_or_default();
        let problems = &mut self.problems;
        match &section.heading {
            Heading::Goal(goal) => {
                if self.routine.goal.is_empty() {
                    self.routine.goal.clone_from(goal);
                }
                self.check_stray(section.at + 1, section.end, all);
            }
            Heading::Prerequisites => {
                let first = all.iter().find(|other| other.heading == Heading::Prerequisites);
                let missing_at = first.filter(|first| first.at == section.at).map(Section::line);
                let found = prerequisites(missing_at, lines, source, problems);
                self.routine.prerequisites.extend(found.lines);
                if let Some((url, line)) = found.starting_url.filter(|_| self.url_line.is_none()) {
                    self.routine.starting_url = url;
                    self.url_line = Some(line);
                }
            }
            Heading::Inputs => self.routine.inputs.extend(inputs(heading_line, lines, source, problems)),
            Heading::Step { title, .. } => {
                let step = step(position, (title, heading_line), lines, source, problems);
                self.routine.steps.push(step);
            }
            Heading::Result => self.routine.result = Some(result(heading_line, lines, source, problems)),
            Heading::Unknown(..) => {}
        }
    }

    /// Reports text that stands in no section: above the goal or directly below it.
    fn check_stray(&mut self, from: usize, to: usize, sections: &[Section]) {
        if !sections.iter().any(|section| matches!(section.heading, Heading::Goal(_))) {
            return;
        }
        let lines = self.lines.get(from..to).unwrap_or_default();
        if let Some(line) = lines.iter().find(|line| !line.is_blank()) {
            let message =
                format!("{} is outside of any section; write it below `## Prerequisites`", quoted(line.text.trim()));
            self.problems.add(line.number, "TEXT_PLACE", message);
        }
    }

    fn check_missing(&mut self, sections: &[Section]) {
        let has = |wanted: fn(&Heading) -> bool| sections.iter().any(|section| wanted(&section.heading));
        if !has(|heading| matches!(heading, Heading::Goal(_))) {
            let message = "the text has no goal; write `# Workflow: <goal>` as its first line";
            self.problems.add(1, "NO_GOAL", message);
        }
        if !has(|heading| *heading == Heading::Prerequisites) {
            let goal = sections.iter().find(|section| matches!(section.heading, Heading::Goal(_)));
            let message = "the section with the starting address is missing; write `## Prerequisites` and below it \
                           `Starting URL: https://…`";
            self.problems.add(goal.map_or(1, Section::line), "NO_STARTING_URL", message);
        }
        if !has(|heading| matches!(heading, Heading::Step { .. })) {
            let message = "the text has no steps; write `## Step 1: <title>` and below it what to do";
            self.problems.add(self.lines.len().max(1), "NO_STEPS", message);
        }
    }
}
