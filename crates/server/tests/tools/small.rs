//! The todo list, questions to the user, web search.

use std::sync::Arc;

use cdpilot::ErrorKind;
use cdpilot::sync::{Cancel, Deadline};
use cdpilot_server::tools::{AskUser, Question, ToolError};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::support::site::{Answer, Held, Site};
use crate::support::tool_workspace::ToolWorkspace;

#[test]
fn a_todo_list_is_set_changed_and_read() {
    let shop = ToolWorkspace::new("");
    let item = |id: &str, content: &str, status: &str| json!({ "id": id, "content": content, "status": status });
    assert_eq!(shop.done("todo", json!({}))["todos"], json!([]));
    let first = json!([item("1", "look", "in_progress"), item("2", "act", "pending")]);
    let response = shop.done("todo", json!({ "todos": first }));
    assert_eq!((&response["todos"], &response["summary"]["pending"]), (&first, &json!(1)));
    assert!(response.get("hint").is_none(), "{response}");
    let merged = json!({ "todos": [item("2", "act now", "in_progress"), item("3", "tell", "pending")], "merge": true });
    let response = shop.done("todo", merged);
    let expected =
        json!([item("1", "look", "in_progress"), item("2", "act now", "in_progress"), item("3", "tell", "pending")]);
    assert!(response["todos"] == expected && response["hint"].is_string(), "{response}");
    assert_eq!(shop.done("todo", json!({}))["todos"], expected);
    for wrong in [
        json!([item("1", "a", "pending"), item("1", "b", "pending")]),
        json!([item("", "a", "pending")]),
        json!([item("1", " ", "pending")]),
        json!([item("1", "a", "open")]),
        (0..201).map(|number| item(&number.to_string(), "a", "pending")).collect::<Value>(),
    ] {
        assert_eq!(shop.refused("todo", json!({ "todos": wrong })).0, "BAD_REQUEST");
    }
    assert_eq!(shop.done("todo", json!({}))["todos"], expected);
    assert_eq!(shop.done("todo", json!({ "todos": [] }))["summary"]["total"], 0);
}

/// Answers with what is written down, and remembers what it was asked.
struct Person(Mutex<Vec<Result<String, ToolError>>>, Mutex<Vec<Question>>);

impl AskUser for Person {
    fn ask(&self, question: &Question, _deadline: Deadline<'_>) -> Result<String, ToolError> {
        self.1.lock().push(question.clone());
        self.0.lock().pop().unwrap_or_else(|| Ok(String::new()))
    }
}

#[test]
fn clarify_asks_the_user_if_there_is_one() {
    let nobody = ToolWorkspace::new("");
    assert!(!nobody.offers("clarify"));
    assert_eq!(nobody.refused("clarify", json!({ "question": "Which?" })).0, "TOOL_UNAVAILABLE");
    let answers =
        vec![Err(ToolError::new(ErrorKind::Timeout, "nobody answered")), Ok("green".to_owned()), Ok("blue".to_owned())];
    let person = Arc::new(Person(Mutex::new(answers), Mutex::default()));
    let ask: Arc<dyn AskUser> = Arc::clone(&person) as Arc<dyn AskUser>;
    let shop = ToolWorkspace::with("", |_, options| options.ask(ask));
    let choices = json!(["red", "blue"]);
    let response = shop.done("clarify", json!({ "question": " Which? ", "choices": choices }));
    assert_eq!((&response["answer"], &response["choice"]), (&json!("blue"), &json!(2)));
    let response = shop.done("clarify", json!({ "question": "Which?", "choices": choices }));
    assert_eq!((&response["answer"], response.get("choice")), (&json!("green"), None));
    assert_eq!(shop.refused("clarify", json!({ "question": "Which?" })).0, "TIMEOUT");
    assert_eq!(shop.refused("clarify", json!({ "question": " " })).0, "BAD_REQUEST");
    let many = json!({ "question": "Which?", "choices": ["a", "b", "c", "d", "e"] });
    assert_eq!(shop.refused("clarify", many).0, "BAD_REQUEST");
    let requested = person.1.lock();
    assert_eq!((requested.len(), &*requested[0].question, requested[0].choices.len()), (3, "Which?", 2));
}

fn searching(url: &str, time_s: u64) -> ToolWorkspace {
    ToolWorkspace::new(&format!("search: {{url: '{url}', timeout_s: {time_s}}}"))
}

fn json_answer(response: &Value) -> Answer {
    Answer::html(response.to_string()).kind("application/json")
}

#[test]
fn web_search_returns_results() {
    assert!(!ToolWorkspace::new("").offers("web_search"));
    let site = Site::start();
    let hit = |number: usize| {
        json!({ "title": format!("Title {number}"), "url": format!("https://example.test/{number}"),
                "content": "about it ".repeat(100), "engine": "x" })
    };
    let mut results: Vec<Value> = (0..30).map(hit).collect();
    results.insert(0, json!({ "title": "bad", "url": "javascript:alert(1)" }));
    site.put("/search", json_answer(&json!({ "results": results, "answers": [{ "answer": "forty-two" }] })));
    let shop = searching(&site.url("1", "/").replace("http://", "http://ada:s%40fe-word@"), 20);
    assert!(shop.offers("web_search"));
    let response = shop.done("web_search", json!({ "query": " what is & what is not " }));
    assert_eq!(response["results"].as_array().unwrap().len(), 5);
    assert_eq!((&response["results"][0]["title"], &response["answer"]), (&json!("Title 0"), &json!("forty-two")));
    assert!(response["results"][0]["description"].as_str().unwrap().len() <= 500 && response["untrusted"].is_string());
    assert_eq!(shop.done("web_search", json!({ "query": "x", "limit": 99 }))["results"].as_array().unwrap().len(), 20);
    let heads = [site.heads("127.0.0.1/search"), site.heads("/search")].concat();
    assert!(heads[0].starts_with("GET /search?q=what+is+%26+what+is+not&format=json "), "{}", heads[0]);
    let login = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, "ada:s@fe-word");
    assert!(heads[0].contains(&login) && !heads[0].contains("s%40fe"), "{}", heads[0]);
    assert_eq!(shop.refused("web_search", json!({ "query": "  " })).0, "BAD_REQUEST");
}

#[test]
fn a_failed_search_reports_the_reason_without_secrets() {
    let site = Site::start();
    let url = site.url("1", "/sub/?key=hunter22x").replace("http://", "http://ada:hunter22x@");
    let shop = searching(&url, 20);
    let path = "/sub/search";
    let refused = |answer: Answer| {
        site.put(path, answer);
        let (code, error) = shop.refused("web_search", json!({ "query": "x" }));
        assert!(!error.contains("hunter22x") && !error.contains("ada"), "{error}");
        (code, error)
    };
    let (code, error) = refused(Answer::html("no").status("403 Forbidden"));
    assert!(code == "SEARCH_ERROR" && error.contains("search.formats") && error.contains("127.0.0.1"), "{error}");
    let (_, error) = refused(Answer::html("<title>SearXNG</title>"));
    assert!(error.contains("search.formats"), "{error}");
    let (_, error) = refused(Answer::html("{oh").kind("application/json"));
    assert!(error.contains("JSON"), "{error}");
    let (_, error) = refused(Answer::html("").status("302 Found").header("Location", "https://other.test/search"));
    assert!(error.contains("tools.search.url"), "{error}");
    let (_, error) = refused(Answer::html("").status("429 Too Many Requests"));
    assert!(error.contains("429"), "{error}");
    site.put(path, json_answer(&json!({ "results": [] })));
    assert_eq!(shop.done("web_search", json!({ "query": "x" }))["results"], json!([]));
    let gone = searching("http://127.0.0.1:1/", 20);
    let (code, error) = gone.refused("web_search", json!({ "query": "x" }));
    assert!(code == "SEARCH_ERROR" && error.contains("cannot be reached"), "{error}");
    let wrong = searching("ftp://ada:hunter22x@example.test", 20);
    let (code, error) = wrong.refused("web_search", json!({ "query": "x" }));
    assert!(code == "SEARCH_ERROR" && !error.contains("hunter22x"), "{error}");
}

#[test]
fn a_search_ends_at_its_deadline_or_when_cancelled() {
    let (site, held) = (Site::start(), Held::default());
    site.put("/search", json_answer(&json!({ "results": [] })).held_by(&held));
    let shop = searching(&site.url("1", "/"), 60);
    let search = || json!({ "query": "x" });
    let response = shop.call_by("web_search", search(), Deadline::after_millis(300));
    assert_eq!(response["code"], "TIMEOUT", "{response}");
    let cancel = Cancel::new();
    cancel.set();
    let response = shop.call_by("web_search", search(), Deadline::after_secs(600).cancelled_by(&cancel));
    assert!(response["code"] == "CANCELLED" || response["code"] == "TIMEOUT", "{response}");
    held.release();
}
