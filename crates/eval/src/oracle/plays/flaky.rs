//! Plays on the site whose rows move and whose service is slow and fails.

use super::super::hands::{Done, Hands, Want};
use super::super::screen::{Line, groups};
use super::Known;

pub(super) const PLAYS: &[Known] = &[
    ("Take three tickets", take_tickets),
    ("Send the customer this reply", reply_and_close),
    ("In Stock moves, book three moves", book_moves),
];

/// How often something is tried that may fail.
const TRIES: usize = 12;

/// A row of a table.
#[derive(Default)]
struct Row {
    cells: Vec<String>,
    /// Names and refs.
    buttons: Vec<(String, String)>,
}

impl Row {
    fn of(lines: &[Line]) -> Self {
        let mut row = Self::default();
        for line in lines {
            if line.text.starts_with("cell ") {
                row.cells.push(line.name().to_owned());
            } else if let Some(reference) = line.reference.as_ref().filter(|_| line.text.starts_with("button ")) {
                row.buttons.push((line.name().to_owned(), reference.clone()));
            }
        }
        row
    }

    fn has_cell(&self, text: &str) -> bool {
        self.cells.iter().any(|cell| cell == text)
    }

    /// The ref of a button.
    fn button(&self, name: &str) -> Option<&str> {
        self.buttons.iter().find(|(known, _)| known == name).map(|(_, reference)| reference.as_str())
    }

    /// The number of a ticket is its first button.
    fn number(&self) -> Option<&str> {
        self.buttons.first().map(|(name, _)| name.as_str())
    }
}

struct Move {
    quantity: String,
    article: String,
    from: String,
    to: String,
}

impl Move {
    /// Whether this is the row of this move, and the visitor's own.
    fn is_in(&self, row: &Row) -> bool {
        let cells = [&self.quantity, &self.article, &self.from, &self.to];
        row.button("Void").is_some() && cells.iter().all(|text| row.has_cell(text))
    }
}

fn take_tickets(hands: &mut Hands) -> Done {
    load(hands)?;
    for (matter, dock) in tickets(&hands.task) {
        take(hands, &matter, &dock)?;
    }
    Ok(())
}

/// Takes the ticket about a matter at a dock, or the one that has followed it.
fn take(hands: &mut Hands, matter: &str, dock: &str) -> Done {
    hands.write(&Want::id("filter"), matter, false)?;
    for _ in 0..TRIES {
        let rows = rows(&hands.read()?);
        let is_wanted = |row: &&Row| row.has_cell(dock) && row.cells.iter().any(|cell| cell.starts_with(matter));
        let Some(row) = rows.iter().find(is_wanted) else {
            return hands.lost(format!("no ticket {matter:?} at {dock}"));
        };
        if row.button("Release").is_some() {
            return Ok(());
        }
        let (Some(number), Some(button)) = (row.number(), row.button("Take")) else {
            return hands.lost(format!("the ticket {matter:?} at {dock} cannot be taken"));
        };
        hands.press(button)?;
        // The button shows it while the service works.
        wait_until_gone(hands, "…")?;
        if shows(hands, &format!("{number} is already closed"))? {
            refresh(hands)?;
        }
    }
    hands.lost(format!("the ticket {matter:?} at {dock} was not taken"))
}

fn reply_and_close(hands: &mut Hands) -> Done {
    let matter = hands.told("Open the ticket \"", "\"")?;
    let customer = hands.told("of the customer ", " by its number")?;
    let reply = hands.told("in place of ADDRESS: \"", "\"")?;
    let resolution = hands.told("Choose the resolution \"", "\"")?;
    load(hands)?;
    open_ticket(hands, &matter, &customer)?;
    let text = hands.page_text()?;
    let address = text.split_once("should read ").and_then(|(_, rest)| rest.split('.').next());
    let Some(address) = address else { return hands.lost("the ticket names no address") };
    hands.write(&Want::id("reply"), &reply.replace("ADDRESS", address), false)?;
    hands.choose(&Want::id("resolution"), &resolution)?;
    for _ in 0..TRIES {
        hands.click(&Want::text("Send and close"))?;
        wait_until_gone(hands, "Sending …")?;
        if shows(hands, "the ticket is closed")? {
            return Ok(());
        }
    }
    hands.lost("the ticket was not closed")
}

fn open_ticket(hands: &mut Hands, matter: &str, customer: &str) -> Done {
    hands.write(&Want::id("filter"), matter, false)?;
    let rows = rows(&hands.read()?);
    let row = rows.iter().find(|row| row.has_cell(matter) && row.has_cell(customer));
    let Some(number) = row.and_then(Row::number) else {
        return hands.lost(format!("no ticket {matter:?} of {customer}"));
    };
    hands.click(&Want::text(number))
}

fn book_moves(hands: &mut Hands) -> Done {
    hands.click(&Want::text("Stock moves"))?;
    load(hands)?;
    for wanted in moves(&hands.task) {
        book(hands, &wanted)?;
    }
    Ok(())
}

/// Books a move until the list shows it.
fn book(hands: &mut Hands, wanted: &Move) -> Done {
    hands.choose(&Want::id("article"), &wanted.article)?;
    hands.write(&Want::id("from"), &wanted.from, false)?;
    hands.write(&Want::id("to"), &wanted.to, false)?;
    hands.write(&Want::id("quantity"), &wanted.quantity, false)?;
    for _ in 0..TRIES {
        hands.click(&Want::text("Book move"))?;
        wait_until_gone(hands, "Booking …")?;
        if is_listed(hands, wanted)? {
            return Ok(());
        }
        if shows(hands, "may be booked or not")? {
            refresh(hands)?;
            if is_listed(hands, wanted)? {
                return Ok(());
            }
        }
    }
    hands.lost(format!("the move of {:?} was not booked", wanted.article))
}

/// Whether the list shows the move. Own moves are its first rows, which are never folded.
fn is_listed(hands: &mut Hands, wanted: &Move) -> Done<bool> {
    hands.read_for(|lines| Some(rows(lines).iter().any(|row| wanted.is_in(row))))
}

/// Waits for the list of the page, and asks for it again where that failed.
fn load(hands: &mut Hands) -> Done {
    for _ in 0..TRIES {
        wait_until_gone(hands, "Loading the ")?;
        if !shows(hands, "not loaded")? {
            return Ok(());
        }
        hands.click(&Want::id("again"))?;
    }
    hands.lost("the list was not loaded")
}

/// Refreshes the list of the page until the latest message says that it is up to date.
fn refresh(hands: &mut Hands) -> Done {
    for _ in 0..TRIES {
        hands.click(&Want::id("refresh"))?;
        wait_until_gone(hands, "Refreshing")?;
        let is_told = |line: &&Line| line.text.contains("to date") || line.text.contains("ot refreshed");
        let latest = |lines: &[Line]| lines.iter().find(is_told).is_some_and(|line| line.text.contains("to date"));
        if hands.read_for(|lines| Some(latest(lines)))? {
            return Ok(());
        }
    }
    hands.lost("the list was not refreshed")
}

/// Whether a message is on the page; messages are never folded.
fn shows(hands: &mut Hands, text: &str) -> Done<bool> {
    hands.read_for(|lines| Some(lines.iter().any(|line| line.text.contains(text))))
}

fn wait_until_gone(hands: &mut Hands, text: &str) -> Done {
    for _ in 0..TRIES {
        if hands.wait_gone(text)? {
            return Ok(());
        }
    }
    hands.lost(format!("{text:?} stays"))
}

/// The rows of the tables of a page.
fn rows(lines: &[Line]) -> Vec<Row> {
    let is_group = |inside: &[Line]| inside.iter().any(|line| line.text.starts_with("row"));
    groups(lines, "row").filter(|inside| !is_group(inside)).map(Row::of).collect()
}

/// The tickets of the task: `"matter" at Dock 6`.
fn tickets(task: &str) -> Vec<(String, String)> {
    let parts: Vec<&str> = task.split('"').collect();
    let ticket = |part: &[&str]| {
        let [matter, after] = part else { return None };
        let number = after.strip_prefix(" at Dock ")?.split([',', '.', ' ']).next()?;
        Some(((*matter).to_owned(), format!("Dock {number}")))
    };
    parts.windows(2).filter_map(ticket).collect()
}

/// The moves of the task: `24 of "article" from bin A-04 to bin D-09`.
fn moves(task: &str) -> Vec<Move> {
    let parts: Vec<&str> = task.split('"').collect();
    let one = |part: &[&str]| {
        let [before, article, after] = part else { return None };
        let quantity = before.strip_suffix(" of ")?.split(' ').next_back()?;
        let (from, rest) = after.strip_prefix(" from bin ")?.split_once(" to bin ")?;
        let to = rest.split([';', '.', ' ']).next()?;
        let [quantity, article, from, to] = [quantity, article, from, to].map(str::to_owned);
        Some(Move { quantity, article, from, to })
    };
    parts.windows(3).filter_map(one).collect()
}
