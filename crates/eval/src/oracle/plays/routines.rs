//! Following routines: their steps in order, each with the keyword that it names.

use serde_json::json;

use super::super::hands::{Done, Hands, Want};
use super::techforum;

/// A step, as the text of a routine has it.
#[derive(Debug, Clone, Default)]
struct Step {
    n: u32,
    keyword: Option<String>,
    text: String,
}

/// Follows the routine of the task.
pub(super) fn follow(hands: &mut Hands) -> Done {
    let steps = steps(&hands.task);
    hands.begin()?;
    for step in &steps {
        record(hands, "begin", step.n)?;
        if let Some(keyword) = &step.keyword {
            hands.call("highlight", json!({ "element_type": "any", "keywords": [keyword] }))?;
        }
        act(hands, step)?;
        record(hands, "done", step.n)?;
    }
    Ok(())
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
    hands.lost(format!("no play for step {}", step.n))
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
