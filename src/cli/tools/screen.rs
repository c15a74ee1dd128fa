//! `cdpilot tools`: tools turned on and off at a terminal.

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
use crate::config::{Config, Home};

/// Lines of a list that are shown at once.
const PAGE: usize = 15;
/// What a list says below itself.
const TOOLS: &str = "space: turn · type: filter · →: only these, ←: none · enter: done · esc: back";
const PLATFORMS: &str = "enter: its tools · type: filter · esc: leave";

/// A platform, as it is shown.
struct Place {
    name: String,
    line: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

/// A tool, as it is shown.
struct Choice {
    row: Row,
    line: String,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

/// Asks for platforms and their tools until there is no more to change.
pub(super) fn run(home: &Home, out: &Out) -> Result<Exit, Failure> {
    if out.json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let instead = "`cdpilot tools list`, `cdpilot tools enable NAME` and `cdpilot tools disable NAME` need none";
        return Err(Failure::usage(format!("`cdpilot tools` needs a terminal to ask at; {instead}")));
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
            done.notes.iter().for_each(|note| out.line(&format!("  {}", out.look.yellow(note))));
            if done.changed.is_empty() {
                out.line("nothing to change");
            } else if confirmed()? {
                // Upon the settings as they are now: somebody else may have changed them meanwhile.
                save::change(home, |config| {
                    let catalog = Catalog::open(home, config)?;
                    let rows = catalog.rows(config, &platform);
                    Ok((change::set(&catalog, config, &platform, &rows, &wanted).config, ()))
                })?;
                out.line(&format!("saved to {}", home.tools().display()));
                Saved::of(home, !done.notes.iter().any(|note| note == change::DANGER)).told(out);
            }
        }
        last = Some(platform);
    }
}

/// The platform that is chosen. `None` to leave.
fn place(catalog: &Catalog, config: &Config, last: Option<&str>) -> Result<Option<String>, Failure> {
    let all = Catalog::platforms(config);
    let width = all.iter().map(String::len).max().unwrap_or_default();
    let cursor = all.iter().position(|name| Some(name.as_str()) == last).unwrap_or_default();
    let line = |name: &String| {
        let rows = catalog.rows(config, name);
        format!("{name:width$}  {:>2} of {} on", rows.iter().filter(|row| row.on).count(), rows.len())
    };
    let places: Vec<Place> = all.iter().map(|name| Place { line: line(name), name: name.clone() }).collect();
    let asked = Select::new("Tools of which platform?", places)
        .with_help_message(PLATFORMS)
        .with_page_size(PAGE)
        .with_starting_cursor(cursor)
        .with_scorer(&|typed, _, line, index| score(typed, line, index))
        .with_formatter(&|chosen: ListOption<&Place>| chosen.value.name.clone())
        .with_render_config(look("none"))
        .prompt();
    Ok(answer(asked)?.map(|place| place.name))
}

/// The tools that are to be on. `None` when nothing is to be saved.
fn tools(platform: &str, rows: &[Row]) -> Result<Option<BTreeSet<String>>, Failure> {
    let width = columns().saturating_sub(7);
    let (name, toolset) = widths(rows);
    let line = |row: &Row| {
        let told = match row.there.told() {
            "" => one_line(&row.description),
            why => format!("({why}) {}", one_line(&row.description)),
        };
        let line = format!("{:name$}  {:toolset$}  {told}", row.name, row.toolset);
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
        .with_render_config(look("as before"))
        .prompt();
    Ok(answer(asked)?.map(|chosen| chosen.into_iter().map(|choice| choice.row.name).collect()))
}

/// Whether what was shown is to be saved.
fn confirmed() -> Result<bool, Failure> {
    let asked = Confirm::new("Save that?").with_default(true).with_render_config(look("no")).prompt();
    Ok(answer(asked)?.unwrap_or(false))
}

/// How questions look; behind one that was left with Esc stands what came of it.
fn look(left: &'static str) -> RenderConfig<'static> {
    let look = RenderConfig::default();
    look.with_canceled_prompt_indicator(Styled::new(left))
}

/// What is turned on, and what off.
fn summary(changed: &[String], out: &Out) {
    for (mark, word) in [("+ ", "on: "), ("- ", "off:")] {
        let names: Vec<&str> = changed.iter().filter_map(|line| line.strip_prefix(mark)).collect();
        for (at, line) in list::wrapped(&names).iter().enumerate() {
            out.line(&format!("  {} {line}", out.look.bold(if at == 0 { word } else { "    " })));
        }
    }
}

/// Everything typed has to be there; the order stays.
fn score(typed: &str, line: &str, index: usize) -> Option<i64> {
    let line = line.to_lowercase();
    let fits = typed.to_lowercase().split_whitespace().all(|word| line.contains(word));
    fits.then(|| i64::try_from(index).map_or(i64::MIN, |index| -index))
}

/// Esc is an answer too; Ctrl-C ends the program.
fn answer<T>(asked: Result<T, InquireError>) -> Result<Option<T>, Failure> {
    match asked {
        Ok(value) => Ok(Some(value)),
        Err(InquireError::OperationCanceled) => Ok(None),
        Err(InquireError::OperationInterrupted) => {
            // The question stands below the cursor.
            let _ = io::stderr().lock().write_all(b"\r\x1b[J");
            Err(Failure::new("CANCELLED", "interrupted; nothing was saved"))
        }
        Err(problem) => Err(Failure::internal(format!("the terminal cannot be used: {problem}"))),
    }
}

/// Characters in a line of the terminal.
fn columns() -> usize {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stdout())
        && size.ws_col > 0
    {
        return usize::from(size.ws_col);
    }
    80
}
