//! Plays on the archive site, which asks by the browser's own dialogs.

use super::super::hands::{Done, Hands, Want};
use super::super::screen::{Line, groups};
use super::Known;

pub(super) const PLAYS: &[Known] = &[
    ("One of the two is on legal hold", cleanup),
    ("The browser asks whether you want to leave the page", draft),
    ("Three questions follow one after the other", storage),
];

fn cleanup(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let [twice, old, new] = quoted.as_slice() else { return hands.lost("the task does not quote three titles") };
    let copies = buttons(hands, twice, "Delete")?.len();
    // From the last one: a deletion leaves those before it where they are.
    for nth in (0..copies).rev() {
        delete(hands, twice, nth)?;
    }
    rename(hands, old, new)
}

/// Deletes one of the documents with a title, unless it is on hold.
pub(super) fn delete(hands: &mut Hands, title: &str, nth: usize) -> Done {
    press_in_row(hands, title, nth, "Delete")?;
    let question = question(hands, title)?;
    hands.dialog(!question.contains("is on legal hold"), None)
}

/// Renames a document.
pub(super) fn rename(hands: &mut Hands, old: &str, new: &str) -> Done {
    press_in_row(hands, old, 0, "Rename")?;
    question(hands, old)?;
    hands.dialog(true, Some(new))
}

/// The refs of the buttons with this name, in the rows with this title.
fn buttons(hands: &mut Hands, title: &str, name: &str) -> Done<Vec<String>> {
    let lines = hands.read()?;
    let is = |line: &Line, role: &str, name: &str| line.text.starts_with(role) && line.name() == name;
    let titled = groups(&lines, "row").filter(|row| row.iter().any(|line| is(line, "cell", title)));
    let buttons = titled.filter_map(|row| row.iter().find(|line| is(line, "button", name)));
    Ok(buttons.filter_map(|line| line.reference.clone()).collect())
}

fn press_in_row(hands: &mut Hands, title: &str, nth: usize, name: &str) -> Done {
    match buttons(hands, title, name)?.get(nth) {
        Some(reference) => hands.press(reference),
        None => hands.lost(format!("no {name} for {title:?}")),
    }
}

/// The last result, which must show a dialog that says this.
fn question(hands: &Hands, part: &str) -> Done<String> {
    let is_open = hands.last.contains("pending_dialogs") || hands.last.contains("A dialog is open");
    if is_open && hands.last.contains(part) {
        return Ok(hands.last.clone());
    }
    hands.lost(format!("no question about {part:?}: {}", hands.last))
}

fn draft(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let [title, sentence, save] = quoted.as_slice() else { return hands.lost("the task does not quote three texts") };
    hands.click(&Want::text("Drafts"))?;
    hands.click(&Want::text(title))?;
    let lines = hands.read()?;
    let text = lines.iter().find(|line| line.text.starts_with("textbox") && line.name() == "Text");
    let Some((_, text)) = text.and_then(|line| line.text.split_once("]: ")) else {
        return hands.lost("the draft has no text");
    };
    hands.write(&Want::id("text"), &format!("{text} {sentence}"), false)?;
    hands.click(&Want::text("Documents"))?;
    hands.dialog(false, None)?;
    hands.click(&Want::text(save))?;
    hands.click(&Want::text("Documents"))
}

fn storage(hands: &mut Hands) -> Done {
    hands.click(&Want::text("Storage"))?;
    place(hands)?;
    dispose(hands)
}

fn place(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let [find, take, save, ..] = quoted.as_slice() else { return hands.lost("the task does not quote the buttons") };
    let (item, room) = (hands.told("open the box ", " ")?, hands.told("lowest number in the ", " and ")?);
    hands.click(&Want::html(&item))?;
    hands.click(&Want::text(find))?;
    hands.switch("Place finder")?;
    press_first(hands, "tab", |name| name.eq_ignore_ascii_case(&room))?;
    press_first(hands, "button", |name| name.contains('-'))?;
    hands.click(&Want::text(take))?;
    hands.switch("Storage")?;
    hands.click(&Want::text(save))
}

/// Presses the first element of a role that is not disabled and whose name is meant.
fn press_first(hands: &mut Hands, role: &str, is_meant: impl Fn(&str) -> bool) -> Done {
    let lines = hands.read()?;
    let role = format!("{role} \"");
    let is_usable = |line: &&Line| line.text.starts_with(&role) && !line.text.contains("[disabled]");
    let line = lines.iter().filter(is_usable).find(|line| is_meant(line.name()));
    match line.and_then(|line| line.reference.as_deref()) {
        Some(reference) => hands.press(reference),
        None => hands.lost(format!("no {role} to press")),
    }
}

fn dispose(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let Some(button) = quoted.last() else { return hands.lost("the task does not quote the button") };
    let item = hands.told("Then open the box ", " ")?;
    hands.click(&Want::html(&item))?;
    hands.click(&Want::text(button))?;
    question(hands, &item)?;
    hands.dialog(true, None)?;
    let scans = question(hands, "Cancel keeps them")?;
    let reference = scans.split_once("Disposal reference: ").map_or("", |(_, rest)| rest);
    let end = reference.find(|sign: char| !sign.is_ascii_alphanumeric() && sign != '-').unwrap_or(reference.len());
    hands.dialog(false, None)?;
    question(hands, "Type the disposal reference")?;
    hands.dialog(true, reference.get(..end))
}
