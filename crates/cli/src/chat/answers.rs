//! Questions to the person at the terminal, and their answers.

use serde_json::Value;

use super::super::client::Request;
use super::super::failure::Failure;
use super::super::output::{clean, one_line};
use super::watch::Followed;
use cdpilot_server::api::{AnswerQuestion, operations as op};

/// How an approval is answered.
const DECISIONS: [(&str, &str); 4] = [
    ("once", "this once"),
    ("origin", "actions of this kind at this address, for this conversation"),
    ("kind", "actions of this kind everywhere, for this conversation"),
    ("refuse", "no; the model gets what you write after this word"),
];
/// How an approval in a run of a routine is answered.
const ROUTINE_DECISIONS: [(&str, &str); 5] = [
    ("once", "this once"),
    ("routine", "this, in this step of the routine, in later runs too, for 90 days, whatever values are sent then"),
    ("origin", "actions of this kind at this address, for this run"),
    ("kind", "actions of this kind everywhere, for this run"),
    ("refuse", "no; the model gets what you write after this word"),
];
/// How the use of a secret is answered: it is not asked for again at an address where it was approved.
const SECRET_DECISIONS: [(&str, &str); 4] = [
    ("once", "this secret at this address, for this conversation"),
    ("origin", "all secrets at this address, for this conversation"),
    ("kind", "all secrets everywhere, for this conversation"),
    ("refuse", "no; the model gets what you write after this word"),
];
/// How a request for a host is answered.
const HOST_DECISIONS: [(&str, &str); 2] = [
    ("once", "admit this host, for this conversation"),
    ("refuse", "no; the model gets what you write after this word"),
];
/// Other words for these answers.
const WORDS: [(&str, &str); 6] =
    [("y", "once"), ("yes", "once"), ("site", "origin"), ("n", "refuse"), ("no", "refuse"), ("approve", "once")];

/// A question of the model, or whether it may do something.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) message: String,
    pub(super) choices: Vec<String>,
    approval: Option<Approval>,
}

/// What waits for an approval.
#[derive(Debug, Clone, PartialEq)]
struct Approval {
    id: String,
    /// What is shown about it, by label.
    facts: Vec<(&'static str, String)>,
    /// What is sent, by names that the page chose.
    values: Vec<(String, String)>,
    /// The answers, with their meaning.
    decisions: &'static [(&'static str, &'static str)],
}

impl Asked {
    /// The question of a `help_request` event.
    pub(super) fn of_event(data: &Value) -> Self {
        Self::of(data, data["question_id"].as_str(), data["kind"].as_str())
    }

    /// The open question of a conversation.
    pub(super) fn of_question(question: &Value) -> Self {
        Self::of(&question["body"], question["id"].as_str(), question["kind"].as_str())
    }

    fn of(data: &Value, id: Option<&str>, kind: Option<&str>) -> Self {
        let choices = data["choices"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let approval = (kind == Some("approval")).then(|| {
            let facts = [("page", "origin"), ("sent to", "destination")].into_iter();
            let facts = facts.map(|(label, field)| (label, data[field].as_str().unwrap_or_default().to_owned()));
            let facts = facts.filter(|(_, value)| !value.is_empty()).collect();
            let values = data["values"].as_object().into_iter().flatten();
            let values = values.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
            let values = values.filter(|(_, value)| !value.is_empty()).collect();
            let decisions: &[_] = match data["effect"].as_str() {
                Some("host") => &HOST_DECISIONS,
                Some("secret") => &SECRET_DECISIONS,
                _ if data["routine_step"].is_u64() => &ROUTINE_DECISIONS,
                _ => &DECISIONS,
            };
            Approval { id: id.unwrap_or_default().to_owned(), facts, values, decisions }
        });
        Self {
            message: data["message"].as_str().unwrap_or_default().to_owned(),
            choices: choices.map(str::to_owned).collect(),
            approval,
        }
    }

    /// The question as it is shown.
    pub(super) fn text(&self) -> String {
        let mut text = format!("? {}", clean(&self.message));
        let Some(approval) = &self.approval else {
            for (at, choice) in self.choices.iter().enumerate() {
                text.push_str(&format!("\n  {}  {}", at + 1, one_line(choice)));
            }
            return text;
        };
        for (label, value) in &approval.facts {
            text.push_str(&format!("\n  {label}: {}", one_line(value)));
        }
        // In quotes, so that no field of a page looks like one of the lines above.
        for (name, value) in &approval.values {
            text.push_str(&format!("\n  {:?}: {}", one_line(name), one_line(value)));
        }
        for (at, (name, meaning)) in approval.decisions.iter().enumerate() {
            text.push_str(&format!("\n  {}  {name}: {meaning}", at + 1));
        }
        text
    }

    /// What to type as the answer.
    pub(super) fn expected(&self) -> &'static str {
        match &self.approval {
            None => "ANSWER",
            Some(approval) if approval.decisions.len() == HOST_DECISIONS.len() => "once or refuse",
            Some(approval) if approval.decisions.len() == ROUTINE_DECISIONS.len() => {
                "once, routine, origin, kind or refuse"
            }
            Some(_) => "once, origin, kind or refuse",
        }
    }

    /// The request that answers the question with a text.
    ///
    /// # Errors
    /// A usage error for a text that is no answer to an approval.
    pub(super) fn answer(&self, followed: &Followed, typed: &str) -> Result<Request, Failure> {
        let typed = typed.trim();
        let Some(approval) = &self.approval else {
            return Ok(answer(followed, &AnswerQuestion { text: Some(self.chosen(typed)), ..Default::default() }));
        };
        let (first, note) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let first = first.trim_end_matches([',', '.', ':']).to_lowercase();
        let number = first.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let decisions = approval.decisions;
        let by_number = number.and_then(|at| decisions.get(at)).map(|(name, _)| *name);
        let word = WORDS.iter().find(|(word, _)| *word == first).map_or(&*first, |(_, name)| *name);
        let by_name = || decisions.iter().find(|(name, _)| *name == word).map(|(name, _)| *name);
        let decision = by_number.or_else(by_name);
        let decision = decision.ok_or_else(|| {
            Failure::usage(format!(
                "{first:?} is no answer to an approval; answer {}, and a reason if you refuse",
                self.expected()
            ))
        })?;
        let note = Some(note.trim()).filter(|note| !note.is_empty());
        let answered = AnswerQuestion {
            approval_id: Some(approval.id.clone()),
            decision: serde_json::from_value(decision.into()).ok(),
            note: note.map(str::to_owned),
            ..Default::default()
        };
        Ok(answer(followed, &answered))
    }

    /// The choice with the number that was typed, or the text.
    fn chosen(&self, typed: &str) -> String {
        let number = typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let choice = number.and_then(|at| self.choices.get(at)).cloned();
        choice.unwrap_or_else(|| typed.to_owned())
    }
}

fn answer(followed: &Followed, answer: &AnswerQuestion) -> Request {
    followed.request(op::ANSWER_QUESTION).and(answer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_approval_shows_its_facts_and_takes_only_decisions() {
        let asked = Asked::of_event(&json!({
            "kind": "approval", "question_id": "q1", "message": "The model wants to click the button \"Pay\".",
            "origin": "https://shop.test", "destination": "", "values": { "Name": "Ada", "Password": "{{secret:shop}}" },
        }));
        let text = asked.text();
        for part in ["  page: https://shop.test", "  \"Name\": Ada", "{{secret:shop}}", "  4  refuse"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!text.contains("sent to"), "{text}");
        let followed = Followed::of("c1");
        for typed in ["once", "1", "yes", "no, too expensive", "4", "Refuse it is the wrong one", "site"] {
            assert!(asked.answer(&followed, typed).is_ok(), "{typed}");
        }
        for typed in ["", "maybe", "5", "0", "go on"] {
            assert!(asked.answer(&followed, typed).is_err(), "{typed}");
        }
        let asked =
            Asked::of_event(&json!({ "kind": "approval", "question_id": "q2", "message": "m", "effect": "host" }));
        assert!(asked.text().contains("  2  refuse") && !asked.text().contains("kind"), "{}", asked.text());
        for (typed, is_answer) in
            [("yes", true), ("2 no", true), ("kind", false), ("origin", false), ("site", false), ("3", false)]
        {
            assert_eq!(asked.answer(&followed, typed).is_ok(), is_answer, "{typed}");
        }
    }
}
