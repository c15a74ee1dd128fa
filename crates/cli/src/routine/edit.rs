//! Writing and changing a routine: in an editor, or from a file. A text that is refused is kept.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::super::chat::link::Link;
use super::super::client::Request;
use super::super::failure::{Exit, Failure};
use super::super::files;
use super::super::output::{Out, clean, one_line};
use super::super::settings::env;
use cdpilot::code::Code;
use cdpilot_server::api::operations as op;
use cdpilot_server::api::{ChangeRoutine, CreateRoutine};

/// Size limit of a text, bytes; the server accepts less.
const MOST: u64 = 4 << 20;
/// The editor if none is set.
const EDITOR: &str = if cfg!(windows) { "notepad" } else { "vi" };

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
    let path = kept_path(name);
    write(&path, old)?;
    loop {
        open_editor(&path)?;
        let text = read(&path)?;
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

/// Where a text is while it is edited: in the folder for temporary files, so that it survives a failure.
fn kept_path(name: &str) -> PathBuf {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    std::env::temp_dir().join(format!("cdpilot-{plain}-{:08x}.md", fastrand::u32(..)))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|problem| Failure::internal(format!("cannot write {}: {problem}", path.display())))
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|problem| Failure::internal(format!("cannot read {} again: {problem}", path.display())))
}

fn open_editor(path: &Path) -> Result<(), Failure> {
    let editor = env("VISUAL").or_else(|| env("EDITOR")).unwrap_or_else(|| EDITOR.to_owned());
    // It may have arguments, as in `code --wait`.
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(EDITOR);
    let status = Command::new(program).args(words).arg(path).status();
    let problem = match status {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("{program} ended with {status}"),
        Err(problem) => format!("cannot start {program}: {problem}"),
    };
    Err(Failure::new(
        Code::Internal,
        format!("{problem}; set VISUAL or EDITOR, or give the text with --file. It is in {}", path.display()),
    ))
}
