//! `cdpilot tools` without a command: turns tools on and off interactively.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};

use inquire::list_option::ListOption;
use inquire::ui::{RenderConfig, Styled};
use inquire::{Confirm, InquireError, MultiSelect, Select};

use super::super::failure::{Exit, Failure};
use super::super::output::{Out, one_line};
use super::catalog::{Catalog, Row, widths};
use super::{Saved, change, list, save};
use crate::code::Code;
use crate::config::{Config, Home};

/// Visible lines of a list.
const PAGE: usize = 15;
/// Key help below the lists.
const TOOLS: &str = "space: on/off · type: filter · →: select all, ←: select none · enter: done · esc: back";
const PLATFORMS: &str = "enter: choose tools · type: filter · esc: quit";

/// A platform in the list.
struct Place {
    name: String,
    line: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

/// A tool in the list.
struct Choice {
    row: Row,
    line: String,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

/// Asks for a platform and its tools, until the user quits.
pub(super) fn run(home: &Home, out: &Out) -> Result<Exit, Failure> {
    if out.json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let instead =
            "without one use `cdpilot tools list`, `cdpilot tools enable NAME` and `cdpilot tools disable NAME`";
        return Err(Failure::usage(format!("`cdpilot tools` needs a terminal; {instead}")));
    }
    let mut last = None;
    loop {
        let config = Config::of(home)?;
        let catalog = Catalog::open(home, &config)?;
        let Some(platform) = place(&catalog, &config, last.as_deref())? else { return Ok(Exit::Done) };
        let rows = catalog.rows(&config, &platform);
        if let Some(wanted) = tools(&platform, &rows)? {
            let done = change::set(&catalog, &config, &platform, &rows, &wanted);
            summary(&done.changed, out);
            done.notes.iter().for_each(|note| out.line(&format!("  {}", out.style.yellow(note))));
            if done.changed.is_empty() {
                out.line("no changes");
            } else if confirmed()? {
                // Applied to the present settings, which may have changed meanwhile.
                save::change(home, |config| {
                    let catalog = Catalog::open(home, config)?;
                    let rows = catalog.rows(config, &platform);
                    Ok((change::set(&catalog, config, &platform, &rows, &wanted).config, ()))
                })?;
                out.line(&format!("saved to {}", home.tools().display()));
                Saved::of(home, !done.notes.iter().any(|note| note == change::DANGER)).report(out);
            }
        }
        last = Some(platform);
    }
}

/// Asks for a platform. `None`: quit.
fn place(catalog: &Catalog, config: &Config, last: Option<&str>) -> Result<Option<String>, Failure> {
    let all = Catalog::platforms(config);
    let width = all.iter().map(String::len).max().unwrap_or_default();
    let cursor = all.iter().position(|name| Some(name.as_str()) == last).unwrap_or_default();
    let line = |name: &String| {
        let rows = catalog.rows(config, name);
        format!("{name:width$}  {:>2} of {} on", rows.iter().filter(|row| row.on).count(), rows.len())
    };
    let places: Vec<Place> = all.iter().map(|name| Place { line: line(name), name: name.clone() }).collect();
    let asked = Select::new("Choose a platform:", places)
        .with_help_message(PLATFORMS)
        .with_page_size(PAGE)
        .with_starting_cursor(cursor)
        .with_scorer(&|typed, _, line, index| score(typed, line, index))
        .with_formatter(&|chosen: ListOption<&Place>| chosen.value.name.clone())
        .with_render_config(style("none"))
        .prompt();
    Ok(answer(asked)?.map(|place| place.name))
}

/// Asks which tools are on. `None`: back without changes.
fn tools(platform: &str, rows: &[Row]) -> Result<Option<BTreeSet<String>>, Failure> {
    let width = columns().saturating_sub(7);
    let (name, toolset) = widths(rows);
    let line = |row: &Row| {
        let description = match row.availability.explanation() {
            "" => one_line(&row.description),
            why => format!("({why}) {}", one_line(&row.description)),
        };
        let line = format!("{:name$}  {:toolset$}  {description}", row.name, row.toolset);
        if line.chars().count() <= width {
            return line;
        }
        line.chars().take(width.saturating_sub(1)).chain(['…']).collect()
    };
    let choices: Vec<Choice> = rows.iter().map(|row| Choice { line: line(row), row: row.clone() }).collect();
    let on: Vec<usize> = rows.iter().enumerate().filter(|(_, row)| row.on).map(|(index, _)| index).collect();
    let title = format!("Tools that are on for {platform}:");
    let asked = MultiSelect::new(&title, choices)
        .with_default(&on)
        .with_help_message(TOOLS)
        .with_page_size(PAGE)
        .with_scorer(&|typed, choice, line, index| score(typed, &format!("{line} {}", choice.row.description), index))
        .with_formatter(&|chosen| format!("{} on", chosen.len()))
        .with_render_config(style("as before"))
        .prompt();
    Ok(answer(asked)?.map(|chosen| chosen.into_iter().map(|choice| choice.row.name).collect()))
}

/// Asks whether to save the changes.
fn confirmed() -> Result<bool, Failure> {
    let asked = Confirm::new("Save the changes?").with_default(true).with_render_config(style("no")).prompt();
    Ok(answer(asked)?.unwrap_or(false))
}

/// Appearance of questions; `left` follows one that was cancelled with Esc.
fn style(left: &'static str) -> RenderConfig<'static> {
    let style = RenderConfig::default();
    style.with_canceled_prompt_indicator(Styled::new(left))
}

/// Prints what is turned on and off.
fn summary(changed: &[String], out: &Out) {
    for (mark, word) in [("+ ", "on: "), ("- ", "off:")] {
        let names: Vec<&str> = changed.iter().filter_map(|line| line.strip_prefix(mark)).collect();
        for (at, line) in list::wrapped(&names).iter().enumerate() {
            out.line(&format!("  {} {line}", out.style.bold(if at == 0 { word } else { "    " })));
        }
    }
}

/// Filter of lists: all typed words must occur; the order stays.
fn score(typed: &str, line: &str, index: usize) -> Option<i64> {
    let line = line.to_lowercase();
    let fits = typed.to_lowercase().split_whitespace().all(|word| line.contains(word));
    fits.then(|| i64::try_from(index).map_or(i64::MIN, |index| -index))
}

/// Esc gives `None`, Ctrl-C an error.
fn answer<T>(asked: Result<T, InquireError>) -> Result<Option<T>, Failure> {
    match asked {
        Ok(value) => Ok(Some(value)),
        Err(InquireError::OperationCanceled) => Ok(None),
        Err(InquireError::OperationInterrupted) => {
            // Clears the question, which is below the cursor.
            let _ = io::stderr().lock().write_all(b"\r\x1b[J");
            Err(Failure::new(Code::Cancelled, "interrupted; nothing was saved"))
        }
        Err(problem) => Err(Failure::internal(format!("cannot use the terminal: {problem}"))),
    }
}

/// Width of the terminal, characters.
fn columns() -> usize {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stdout())
        && size.ws_col > 0
    {
        return usize::from(size.ws_col);
    }
    80
}
