//! `cdpilot tools` without a command: turns tools on and off interactively.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};

use inquire::{InquireError, MultiSelect};

use super::super::failure::{Exit, Failure};
use super::super::output::{Out, one_line};
use super::catalog::{Catalog, Row, widths};
use super::{change, needs_restart, save};
use cdpilot::code::Code;
use cdpilot_server::config::{Config, Home};

/// Visible lines of the list.
const PAGE: usize = 15;
/// Key help below the list.
const KEYS: &str = "space: on/off · type: filter · →: select all, ←: select none · enter: save · esc: leave";

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

/// Asks once which tools of a platform are on, and saves the choice.
pub(super) fn run(home: &Home, platform: &str, out: &Out) -> Result<Exit, Failure> {
    if out.json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let instead =
            "without one use `cdpilot tools list`, `cdpilot tools enable NAME` and `cdpilot tools disable NAME`";
        return Err(Failure::usage(format!("`cdpilot tools` needs a terminal; {instead}")));
    }
    let config = Config::of(home)?;
    let platform = Catalog::platform(&config, platform)?;
    let rows = Catalog::open(home, &config)?.rows(&config, &platform);
    let wanted = chosen(&platform, &rows)?;
    let Some(wanted) = wanted.filter(|wanted| rows.iter().any(|row| row.on != wanted.contains(&row.name))) else {
        out.line("no changes");
        return Ok(Exit::Done);
    };
    // Applied to the present settings, which may have changed meanwhile.
    let done = save::change(home, |config| {
        let catalog = Catalog::open(home, config)?;
        let done = change::set(&catalog, config, &platform, &catalog.rows(config, &platform), &wanted)?;
        Ok((done.config.clone(), done))
    })?;
    done.changed.iter().for_each(|line| out.line(&format!("{line} for {platform}")));
    done.notes.iter().for_each(|note| out.line(&format!("  {}", out.style.yellow(note))));
    out.line(&format!("saved to {}", home.tools().display()));
    needs_restart(home, &done, out);
    Ok(Exit::Done)
}

/// Asks which tools are on. `None`: Esc.
fn chosen(platform: &str, rows: &[Row]) -> Result<Option<BTreeSet<String>>, Failure> {
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
    let answer = MultiSelect::new(&title, choices)
        .with_default(&on)
        .with_help_message(KEYS)
        .with_page_size(PAGE)
        .with_scorer(&|typed, choice, line, index| score(typed, &format!("{line} {}", choice.row.description), index))
        .with_formatter(&|chosen| format!("{} on", chosen.len()))
        .prompt();
    match answer {
        Ok(chosen) => Ok(Some(chosen.into_iter().map(|choice| choice.row.name).collect())),
        Err(InquireError::OperationCanceled) => Ok(None),
        Err(InquireError::OperationInterrupted) => {
            // Clears the question, which is below the cursor.
            let _ = io::stderr().lock().write_all(b"\r\x1b[J");
            Err(Failure::new(Code::Cancelled, "interrupted; nothing was saved"))
        }
        Err(problem) => Err(Failure::internal(format!("cannot use the terminal: {problem}"))),
    }
}

/// Filter of the list: all typed words must occur; the order stays.
fn score(typed: &str, line: &str, index: usize) -> Option<i64> {
    let line = line.to_lowercase();
    let fits = typed.to_lowercase().split_whitespace().all(|word| line.contains(word));
    fits.then(|| i64::try_from(index).map_or(i64::MIN, |index| -index))
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
