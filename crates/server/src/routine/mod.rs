//! Routines: tasks written down as Markdown so that they can be repeated.
//!
//! This module is pure. It parses, checks, prints, fills and compares texts, and needs neither a browser nor a store.
//!
//! # Grammar
//! Sections come in this order, and each heading is written exactly as shown.
//!
//! ````text
//! # Workflow: <goal>
//!
//! ## Prerequisites
//! Starting URL: https://shop.example/          (also **Starting URL:** …, also as an item `- Starting URL: …`)
//! Any other lines: what must be true before the run.
//!
//! ## Inputs                                     (optional)
//! - city
//! - city (default Berlin)
//! - city (default "Berlin, Germany")
//! - note (sensitive)
//! - password (sensitive, secret shop_password)
//!
//! ## Step 1: <title>
//! **Keywords:** <one token>                     (optional, directly below the heading)
//! Instructions: paragraphs, list items, tables and code blocks.
//! If shown: <done only when its target is shown>
//! For each <item>: <works through a list>
//! Read <name>: <keeps a value of the page; later steps use it as {{step1.name}}>
//!
//! **Reasoning:** <one paragraph at the end of the step>   (optional)
//!
//! ## Result                                     (optional, last)
//! What the run returns, optionally with a JSON schema in one ```json block.
//! ````
//!
//! **Inputs.** One item a line: `- name`, optionally followed by attributes in parentheses, separated by commas, each
//! at most once and in any order: `default VALUE`, `sensitive`, `secret NAME`. A name begins with a letter and has
//! letters, digits, `_` and `-`. A default ends at the next comma or at the closing parenthesis at the end of the line;
//! a default in double quotes may contain commas, with `\"` and `\\` for a quote and a backslash. `secret NAME` names
//! a stored secret and makes the input sensitive; it excludes a default.
//!
//! **Instructions.** A paragraph is one instruction, also over several lines. A list item, a line that begins with
//! `If shown:`, `For each` or `Read <name>:`, and the end of a code block begin a new instruction. Indented lines belong
//! to the list item above them. Headings inside a code block are text.
//!
//! **Placeholders.** `{{name}}` is an input, `{{secret:NAME}}` a stored secret, `{{stepN.name}}` a value that an earlier
//! step reads. They have no blanks inside and may appear everywhere but in `## Inputs`, in a Keywords line and in the
//! JSON schema; secrets in instructions only. The Starting URL takes inputs that are not sensitive.

mod check;
mod differences;
mod digest;
mod element_ids;
mod events;
mod headings;
mod inputs;
mod keyword;
mod labels;
mod lines;
mod model;
mod names;
mod outline;
mod parse;
mod placeholders;
mod prerequisites;
mod print;
mod problem;
mod result;
mod schema;
mod starting_url;
mod steps;
mod text;

pub use check::{Context, check};
pub use differences::{Difference, DifferenceKind, differences, unified};
pub use events::{RecordedEvent, StepEvents, kept_events};
pub use model::{Input, Instruction, InstructionKind, ResultSection, Routine, Step};
pub use parse::parse;
pub use placeholders::{Placeholder, PlaceholderKind, placeholders, secrets_used};
pub use print::{address, fill};
pub use problem::{MAX_PROBLEMS, Problem};
pub use text::{MAX_BYTES, MAX_INPUTS, MAX_LINE_CHARS, MAX_STEPS, normalise};
