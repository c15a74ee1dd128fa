//! Following routines: their steps in order, each with the keyword that it names.

use serde_json::json;

use super::super::hands::{Done, Hands, Want};
use super::super::screen::{Line, groups};
use super::{dialogs, techforum};

/// A step, as the text of a routine has it.
#[derive(Debug, Clone, Default)]
struct Step {
    n: u32,
    keyword: Option<String>,
    text: String,
}

/// Follows the routine of the task.
pub(super) fn follow(hands: &mut Hands) -> Done<String> {
    let steps = steps(&hands.task);
    let has_data = hands.task.contains("```json");
    hands.begin()?;
    for step in &steps {
        record(hands, "begin", step.n)?;
        if let Some(keyword) = &step.keyword {
            hands.call("highlight", json!({ "element_type": "any", "keywords": [keyword] }))?;
        }
        act(hands, step)?;
        record(hands, "done", step.n)?;
    }
    Ok(if has_data { "Done. ```json\n{\"count\": 1}\n```".to_owned() } else { "Done.".to_owned() })
}

fn record(hands: &mut Hands, command: &str, n: u32) -> Done {
    hands.call("routine_step", json!({ "command": command, "n": n }))?;
    if hands.ok() { Ok(()) } else { hands.lost(format!("step {n} cannot {command}: {}", hands.last)) }
}

/// Does what a step says.
fn act(hands: &mut Hands, step: &Step) -> Done {
    let quoted = |at: usize| step.text.split('"').nth(2 * at + 1).unwrap_or_default().to_owned();
    if let Some((_, rest)) = step.text.split_once("elect the option `") {
        let value = rest.split('`').next().unwrap_or_default().to_owned();
        let keyword = step.keyword.clone().unwrap_or_default();
        return hands.choose(&Want::id(&keyword), &value);
    }
    if step.text.starts_with("Click the ") {
        return hands.click(&Want::text(&quoted(0)).has("data-tab="));
    }
    if step.text.contains("into the field \"Search questions\"") {
        return techforum::search_by_button(hands, &quoted(0));
    }
    if step.text.contains("press its upvote button") {
        let topics = ["agent", "agents", "agentic"];
        for title in techforum::about(hands, &topics)? {
            techforum::set_toggle(hands, &title, "Upvote")?;
            techforum::set_toggle(hands, &title, "Collect")?;
        }
        return Ok(());
    }
    if step.text.contains("press its button with the number of comments") {
        return techforum::comments_below(hands, &quoted(0));
    }
    if step.text.starts_with("For each clipping") {
        return clippings(hands, step.n);
    }
    if step.text.starts_with("In the row of the clipping") {
        return file(hands, &quoted(0));
    }
    if step.text.contains("Export the filed ones") {
        hands.click(&Want::text("Export the filed ones"))?;
        hands.dialog(true, None)?;
        return hands
            .call("routine_step", json!({ "command": "read", "n": step.n, "name": "count", "value": "1" }))
            .map(drop);
    }
    if step.text.starts_with("For each of the two documents") {
        return duplicates(hands, step.n, &quoted(0));
    }
    if step.text.contains("\"Read all reviews\"") {
        return hands.click(&Want::text("Read all reviews"));
    }
    if step.text.starts_with("For each review") {
        return reviews(hands, step.n);
    }
    if step.text.contains("the close button at the top of the drawer") {
        return hands.click(&Want::html("aria-label=\"Close reviews\""));
    }
    if step.text.contains("press the pen") {
        return dialogs::rename(hands, &quoted(0), &quoted(1));
    }
    hands.lost(format!("no play for step {}", step.n))
}

/// Records what becomes of an item of a list.
fn item(hands: &mut Hands, n: u32, state: &str, title: &str) -> Done {
    let items = json!([{ "title": title }]);
    hands.call("routine_step", json!({ "command": "item", "n": n, "state": state, "items": items }))?;
    if hands.ok() { Ok(()) } else { hands.lost(format!("item {title:?} cannot be {state}: {}", hands.last)) }
}

/// The titles of the list, with the refs of their buttons and whether they are filed.
fn rows(lines: &[Line]) -> Vec<(String, String, bool)> {
    let row = |row: &[Line]| {
        let title = row.iter().find(|line| line.text.starts_with("heading "))?;
        let button = row.iter().find(|line| line.text.starts_with("button "))?;
        Some((title.name().to_owned(), button.reference.clone()?, button.text.contains("[pressed]")))
    };
    groups(lines, "listitem").filter_map(row).collect()
}

/// Files the clippings about the ferry, to the end of the list.
fn clippings(hands: &mut Hands, n: u32) -> Done {
    while !hands.at_end() {
        hands.scroll_page("down", 3.0)?;
        hands.wait_for("Chandler closes after a century")?;
    }
    let is_wanted =
        |title: &str| title.split(|c: char| !c.is_alphabetic()).any(|word| word.eq_ignore_ascii_case("ferry"));
    let lines = hands.read()?;
    let wanted: Vec<_> = rows(&lines).into_iter().filter(|(title, ..)| is_wanted(title)).collect();
    let items: Vec<_> = wanted.iter().map(|(title, ..)| json!({ "title": title })).collect();
    hands.call("routine_step", json!({ "command": "item", "n": n, "state": "found", "items": items }))?;
    for (title, reference, is_filed) in &wanted {
        item(hands, n, "begun", title)?;
        if !is_filed {
            hands.press(reference)?;
        }
        item(hands, n, "done", title)?;
    }
    Ok(())
}

/// Marks the reviews with five stars.
fn reviews(hands: &mut Hands, n: u32) -> Done {
    let lines = hands.read()?;
    let starred = groups(&lines, "article").filter_map(|review| {
        let title = review.iter().find(|line| line.text.starts_with("heading "))?;
        let button = review.iter().find(|line| line.text.starts_with("button \"Helpful\""))?;
        let is_wanted = review.iter().any(|line| line.text.contains("5 out of 5 stars"));
        is_wanted.then_some((title.name().to_owned(), button.reference.clone()?))
    });
    let starred: Vec<(String, String)> = starred.collect();
    for (title, button) in &starred {
        item(hands, n, "begun", title)?;
        hands.press(button)?;
        item(hands, n, "done", title)?;
    }
    Ok(())
}

/// Files one clipping, wherever in the list it is.
fn file(hands: &mut Hands, title: &str) -> Done {
    for _ in 0..4 {
        let lines = hands.read()?;
        if let Some((_, reference, _)) = rows(&lines).into_iter().find(|(known, ..)| known == title) {
            return hands.press(&reference);
        }
        hands.scroll_page("down", 3.0)?;
    }
    hands.lost(format!("no clipping {title:?}"))
}

/// Deletes the copies of a document whose question allows it.
fn duplicates(hands: &mut Hands, n: u32, title: &str) -> Done {
    for nth in [1, 0] {
        let name = format!("{title} {}", nth + 1);
        item(hands, n, "found", &name)?;
        item(hands, n, "begun", &name)?;
        dialogs::delete(hands, title, nth)?;
        item(hands, n, "done", &name)?;
    }
    Ok(())
}

/// The steps of a routine.
fn steps(text: &str) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    let mut is_step = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("## ") {
            let number = rest.strip_prefix("Step ").and_then(|rest| rest.split(':').next()?.parse().ok());
            is_step = number.is_some();
            all.extend(number.map(|n| Step { n, ..Step::default() }));
            continue;
        }
        let Some(step) = all.last_mut().filter(|_| is_step) else { continue };
        match line.strip_prefix("**Keywords:** ") {
            Some(keyword) => step.keyword = Some(keyword.trim().to_owned()),
            None if line.starts_with("**Reasoning:**") => is_step = false,
            None if !line.trim().is_empty() => {
                if !step.text.is_empty() {
                    step.text.push(' ');
                }
                step.text.push_str(line.trim());
            }
            None => {}
        }
    }
    all
}
