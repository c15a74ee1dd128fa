//! A routine as it was parsed.

use serde::Serialize;

/// A routine that was parsed.
///
/// The fields are for reading: a routine is changed by editing its Markdown. Printing it with `to_string` gives the
/// normal form of the text that was parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct Routine {
    /// What stands behind `# Workflow:`.
    pub goal: String,
    /// Lines of `## Prerequisites` besides the Starting URL, without blank lines.
    pub prerequisites: Vec<String>,
    /// The address as written, with placeholders of inputs; [`address`](super::address) fills them in.
    pub starting_url: String,
    /// Declared inputs, in the order of the text.
    pub inputs: Vec<Input>,
    /// Steps in order, numbered from 1.
    pub steps: Vec<Step>,
    /// The section `## Result`, if there is one.
    pub result: Option<ResultSection>,
    /// All lines of the text, and where each belongs.
    pub(super) source: Vec<SourceLine>,
}

impl Routine {
    /// The declared input of this name.
    #[must_use]
    pub fn input(&self, name: &str) -> Option<&Input> {
        self.inputs.iter().find(|input| input.name == name)
    }
}

/// One line of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceLine {
    pub(super) text: String,
    pub(super) place: Place,
}

/// What a line is part of. Steps are counted from 0 by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Headings of sections, blank lines, and lines that no section takes.
    Other,
    Goal,
    Prerequisites,
    StartingUrl,
    Inputs,
    Title(usize),
    Keywords,
    Instruction(usize),
    Reasoning(usize),
    Result,
    Schema,
}

/// A declared input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Input {
    /// A letter, then letters, digits, `_` and `-`.
    pub name: String,
    /// Used when a run gives no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Neither a model nor any record of the run may see the value.
    pub sensitive: bool,
    /// Name of the stored secret that is the value. Such an input is always sensitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Line of the declaration, from 1.
    #[serde(skip)]
    pub line: usize,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Number of the step, from 1.
    pub n: u32,
    /// What stands behind `## Step N:`.
    pub title: String,
    /// Token of the Keywords line.
    pub keyword: Option<String>,
    /// At least one.
    pub instructions: Vec<Instruction>,
    /// Text behind `**Reasoning:**`, lines joined by line feeds.
    pub reasoning: Option<String>,
    /// Line of the heading, from 1.
    pub line: usize,
    /// Line of the Keywords line.
    pub(super) keyword_line: Option<usize>,
}

impl Step {
    /// Line of the Keywords line, or of the heading if there is none.
    #[must_use]
    pub fn keyword_line(&self) -> usize {
        self.keyword_line.unwrap_or(self.line)
    }

    /// Whether the step works through a list: its first instruction begins with `For each`.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.instructions.first().is_some_and(|first| first.kind == InstructionKind::ForEach)
    }
}

/// A paragraph, list item or code block of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The lines as written, with list mark and `If shown:` or the like, joined by line feeds.
    pub text: String,
    /// How the instruction begins.
    pub kind: InstructionKind,
    /// First line, from 1.
    pub line: usize,
}

/// How an instruction begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstructionKind {
    /// Done as it stands.
    Plain,
    /// `If shown:`: done only when its target is shown.
    IfShown,
    /// `For each`: works through a list.
    ForEach,
    /// `Read <name>:`: keeps a value of the page for this run.
    Read {
        /// Later steps use the value as `{{stepN.name}}`.
        name: String,
    },
}

/// The section `## Result`.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultSection {
    /// What the run returns, without the schema, without blank lines at both ends.
    pub text: String,
    /// The JSON schema that the data of the run fits: always an object.
    pub schema: Option<serde_json::Value>,
}
