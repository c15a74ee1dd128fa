//! `session_search`: full text of earlier conversations.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Effects, Outcome, Registry, RegistryError, Tool, ToolContext, ToolError};
use crate::store::{self, Store, StoredText, TextQuery};
use cdpilot::code::Code;
use cdpilot::redact::Secrets;

/// The toolset.
const SESSION_SEARCH: &str = "session_search";
/// Results: by default, and at most.
const DEFAULT_RESULTS: usize = 5;
const MOST_RESULTS: usize = 20;
/// Longest query, in characters.
const MOST_QUERY: usize = 500;
/// Length of an excerpt, of what stands before and after it, and of a text with `around`, in characters.
const EXCERPT: usize = 300;
const NEIGHBOUR: usize = 160;
const WHOLE: usize = 2_000;
/// Texts before and after the one with `around`.
const AROUND: usize = 4;
const UNTRUSTED: &str = store::OF_SEARCH;

/// The database of the home: set once the server has opened it.
#[derive(Debug, Clone, Default)]
pub(super) struct HomeStore(Arc<OnceLock<Store>>);

impl HomeStore {
    pub(super) fn set(&self, store: Store) {
        // A home has one.
        let _ = self.0.set(store);
    }

    fn get(&self) -> Option<&Store> {
        self.0.get()
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// Words, "phrases" and beginnings of words with *. Omit to list the last conversations
    query: Option<String>,
    /// Default 5, at most 20
    limit: Option<usize>,
    /// Only in this conversation
    conversation_id: Option<String>,
    /// The n of a result: returns what was said before and after it
    around: Option<u64>,
}

/// Registers the tool, which is available once the server has opened the database.
///
/// # Errors
/// The name is taken.
pub(super) fn register(registry: &Registry, home: &HomeStore, secrets: &Secrets) -> Result<(), RegistryError> {
    let (home, known, secrets) = (home.clone(), home.clone(), secrets.clone());
    let tool = Tool::when(
        "session_search",
        "Search earlier conversations: what was said and what tools returned. The current one is left out.",
        move |_| known.get().is_some(),
        move |call, arguments: Search| {
            let store = home.get().ok_or_else(|| {
                ToolError::new(
                    Code::ToolUnavailable,
                    "the database of conversations is not open; see the log of the server",
                )
            })?;
            search(store, &secrets, call, arguments).map(|outcome| outcome.with("untrusted", UNTRUSTED))
        },
    );
    let tool =
        tool.reading().with_effects(Effects::None).needing("the server, which opens the database of conversations");
    registry.register(SESSION_SEARCH, tool)
}

fn search(store: &Store, secrets: &Secrets, call: &ToolContext<'_>, wanted: Search) -> Result<Outcome, ToolError> {
    let bad = |problem: String| ToolError::new(Code::BadRequest, problem);
    let limit = wanted.limit.unwrap_or(DEFAULT_RESULTS);
    if limit == 0 || limit > MOST_RESULTS {
        return Err(bad(format!("limit must be 1 to {MOST_RESULTS}")));
    }
    if let Some(n) = wanted.around {
        return around(store, call, n);
    }
    let query = wanted.query.unwrap_or_default();
    if query.trim().is_empty() && wanted.conversation_id.is_some() {
        return Err(bad("conversation_id needs a query, whose results are then of that conversation".to_owned()));
    }
    if query.trim().is_empty() {
        return latest(store, call, limit);
    }
    let terms = TextQuery::terms_of(&query);
    if query.chars().count() > MOST_QUERY {
        return Err(bad(format!("query has more than {MOST_QUERY} characters; give some words")));
    }
    if terms.is_empty() {
        return Err(bad("query has no word; signs alone are not searched".to_owned()));
    }
    let words: Vec<String> = terms.iter().map(|term| term.text.clone()).collect();
    let query = TextQuery {
        terms,
        conversation: wanted.conversation_id,
        except: call.scope.conversation().map(ToOwned::to_owned),
    };
    let mut found = store.search_texts(&query, limit, call.deadline).map_err(failed)?;
    // What is covered is not found either: a search would tell it piece by piece.
    found.retain(|text| {
        let shown = secrets.cover(&text.body);
        shown == text.body || words.iter().all(|word| folded(&shown).contains(&folded(word)))
    });
    let mut results = Vec::new();
    for text in &found {
        let near = store.texts_around(text.n, (1, 1), call.deadline).map_err(failed)?;
        let beside = |is_side: &dyn Fn(u64) -> bool| {
            near.iter().find(|one| is_side(one.n)).map(|one| format!("{}: {}", one.role, cut(&one.body, 0, NEIGHBOUR)))
        };
        let mut result = shown(text, excerpt(&text.body, &words));
        if let Some(before) = beside(&|n| n < text.n) {
            result["before"] = before.into();
        }
        if let Some(after) = beside(&|n| n > text.n) {
            result["after"] = after.into();
        }
        results.push(result);
    }
    let outcome = Outcome::default().with("count", results.len()).with("results", results);
    Ok(match found.is_empty() {
        true => outcome.with("hint", "nothing was found; try fewer or other words, or the beginning of a word with *"),
        false => outcome,
    })
}

fn latest(store: &Store, call: &ToolContext<'_>, limit: usize) -> Result<Outcome, ToolError> {
    let hidden = Some(store::COMPILE_MODE);
    let all = store.conversations(None, hidden, limit + 1, call.deadline).map_err(failed)?;
    let others = all.iter().filter(|one| Some(&*one.id) != call.scope.conversation()).take(limit);
    let conversations: Vec<Value> = others
        .map(|one| {
            json!({
                "conversation_id": one.id, "title": one.title, "at": date(one.updated_at), "messages": one.message_count,
            })
        })
        .collect();
    Ok(Outcome::default().with("count", conversations.len()).with("conversations", conversations))
}

fn around(store: &Store, call: &ToolContext<'_>, n: u64) -> Result<Outcome, ToolError> {
    let all = store.texts_around(n, (AROUND, AROUND), call.deadline).map_err(failed)?;
    let is_own = |text: &StoredText| Some(&*text.conversation) == call.scope.conversation();
    let Some(first) = all.first().filter(|first| !is_own(first) && all.iter().any(|text| text.n == n)) else {
        let problem = format!("around: there is no text {n}; take the n of a result");
        return Err(ToolError::new(Code::NotFound, problem));
    };
    let texts: Vec<Value> = all
        .iter()
        .map(|text| json!({ "n": text.n, "role": text.role, "at": date(text.at), "text": cut(&text.body, 0, WHOLE) }))
        .collect();
    Ok(Outcome::default()
        .with("conversation_id", first.conversation.as_str())
        .with("title", first.title.as_str())
        .with("texts", texts))
}

fn shown(text: &StoredText, excerpt: String) -> Value {
    json!({
        "n": text.n, "conversation_id": text.conversation, "title": text.title, "at": date(text.at), "role": text.role,
        "excerpt": excerpt,
    })
}

fn failed(problem: store::Error) -> ToolError {
    ToolError::new(problem.kind(), problem.to_string())
}

fn date(seconds: f64) -> String {
    let since = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    httpdate::fmt_http_date(UNIX_EPOCH + since)
}

/// The part of a text around the first of the words.
fn excerpt(text: &str, words: &[String]) -> String {
    let first = words.iter().filter_map(|word| {
        let word = folded(word);
        // By characters: the lower case of a text may have another length.
        let at = folded(text).find(&word)?;
        Some(folded(text).get(..at)?.chars().count())
    });
    let at = first.min().unwrap_or_default();
    cut(text, at.saturating_sub(EXCERPT / 3), EXCERPT)
}

fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// A part of a text on one line, with `…` where it is cut.
fn cut(text: &str, from: usize, most: usize) -> String {
    let line = |part: String| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let part: String = text.chars().skip(from).take(most).collect();
    let start = if from > 0 { "…" } else { "" };
    let end = if text.chars().nth(from + most).is_some() { "…" } else { "" };
    format!("{start}{}{end}", line(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_around_the_first_word() {
        let text = format!("{} the İstanbul Ticket {}", "a ".repeat(200), "b ".repeat(200));
        let shown = excerpt(&text, &["ticket".to_owned()]);
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("İstanbul Ticket"), "{shown}");
        assert_eq!(excerpt("one\ntwo", &["none".to_owned()]), "one two");
    }

    #[test]
    fn dates_are_for_people() {
        assert_eq!(date(1_795_990_479.7), "Sun, 29 Nov 2026 22:14:39 GMT");
    }
}
