//! Writing and changing a routine: in an editor, or from a file. A text that is refused is kept.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::Value;

use super::super::chat::link::Link;
use super::super::client::Request;
use super::super::editor;
use super::super::failure::{Exit, Failure};
use super::super::files;
use super::super::output::{Out, clean, one_line};
use cdpilot::code::Code;
use cdpilot_server::api::operations as op;
use cdpilot_server::api::{ChangeRoutine, CreateRoutine};

/// Size limit of a text, bytes; the server accepts less.
const MOST: u64 = 4 << 20;

const TEMPLATE: &str = "\
# Workflow: What this routine achieves

## Prerequisites
Starting URL: https://example.com/

## Step 1: What the first step does
Say here what a person would do, in one or two sentences.

## Result
Say here what the run returns.
";

pub(super) fn edit(
    link: &Link<'_>,
    name: &str,
    file: Option<&str>,
    rename: Option<&str>,
    out: &Out,
) -> Result<Exit, Failure> {
    let before = match link.ask(&Request::at(op::ROUTINE, &[name])) {
        Ok(answer) => Some(answer["routine"].clone()),
        Err(failure) if failure.kind() == Some(Code::NotFound) => None,
        Err(failure) => return Err(failure),
    };
    let old = before.as_ref().and_then(|routine| routine["routine_markdown"].as_str()).unwrap_or(TEMPLATE);
    if rename.is_some() && file.is_none() {
        return store(link, name, before.as_ref(), None, rename, out);
    }
    if let Some(file) = file {
        return store(link, name, before.as_ref(), Some(&files::read_text(file, MOST)?), rename, out);
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(
            "there is no terminal for an editor; give the text with --file FILE, or --file - for stdin",
        ));
    }
    let path = editor::kept_path(name);
    editor::write(&path, old)?;
    loop {
        editor::open(&path)?;
        let text = editor::read(&path)?;
        if before.is_some() && text == old {
            let _ = std::fs::remove_file(&path);
            out.aside("nothing was changed");
            return Ok(Exit::Done);
        }
        match store(link, name, before.as_ref(), Some(&text), rename, out) {
            Ok(exit) => {
                let _ = std::fs::remove_file(&path);
                return Ok(exit);
            }
            Err(failure) => {
                print_problems(&failure, out);
                out.aside(&format!("your text is kept in {}", path.display()));
                if failure.kind() != Some(Code::BadRequest) || !again() {
                    return Err(failure);
                }
            }
        }
    }
}

/// Stores a text, as a new routine or as a new version.
fn store(
    link: &Link<'_>,
    name: &str,
    before: Option<&Value>,
    markdown: Option<&str>,
    rename: Option<&str>,
    out: &Out,
) -> Result<Exit, Failure> {
    let request = match (before, markdown) {
        (Some(before), markdown) => {
            let change = ChangeRoutine {
                version: before["version"].as_u64().unwrap_or_default(),
                name: rename.map(ToOwned::to_owned),
                routine_markdown: markdown.map(ToOwned::to_owned),
                defaults: None,
            };
            Request::at(op::CHANGE_ROUTINE, &[before["routine_id"].as_str().unwrap_or(name)]).and(&change)
        }
        (None, Some(markdown)) => {
            let name = rename.unwrap_or(name).to_owned();
            Request::new(
                op::CREATE_ROUTINE,
                &CreateRoutine { name, routine_markdown: markdown.to_owned(), defaults: None },
            )
        }
        (None, None) => {
            return Err(Failure::new(Code::NotFound, format!("there is no routine {:?}", clean(name))));
        }
    };
    let answer = link.ask(&request).inspect_err(|failure| {
        if markdown.is_some() && !io::stdin().is_terminal() {
            print_problems(failure, out);
        }
    })?;
    out.object(&answer);
    let routine = &answer["routine"];
    let version = routine["version"].as_u64().unwrap_or_default();
    out.line(&format!("stored {} as version {version}", clean(routine["name"].as_str().unwrap_or(name))));
    Ok(Exit::Done)
}

fn print_problems(failure: &Failure, out: &Out) {
    let problems = failure.details.as_ref().and_then(|details| details["problems"].as_array());
    for problem in problems.into_iter().flatten() {
        let line = problem["line"].as_u64().unwrap_or_default();
        out.aside(&format!("line {line}: {}", one_line(&clean(problem["message"].as_str().unwrap_or_default()))));
    }
}

fn again() -> bool {
    let _ = write!(io::stderr(), "Press Enter to edit it again, or Ctrl-C to leave: ");
    let mut line = String::new();
    io::stdin().read_line(&mut line).is_ok_and(|count| count > 0)
}
