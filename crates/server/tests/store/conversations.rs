//! Conversations and what belongs to them.

use cdpilot::code::Code;
use cdpilot_server::store::{
    Batch, Conversation, ConversationState, IntentOutcome, KEPT_IMAGES, NewConversation, QuestionKind, image_reference,
};
use serde_json::{Value, json};

use crate::store_files::{Database, soon};

fn conversation(at: &Database, id: &str) -> Conversation {
    at.store().conversation(id, soon()).unwrap().unwrap()
}

fn bodies(at: &Database, id: &str) -> Vec<Value> {
    let all = at.store().messages(id, 1, usize::MAX, soon()).unwrap();
    assert!(all.iter().map(|message| message.n).eq(1..=all.len() as u64), "{all:?}");
    assert_eq!(conversation(at, id).message_count, all.len() as u64);
    all.into_iter().map(|message| message.body).collect()
}

#[test]
fn conversations_are_created_listed_and_deleted() {
    let mut at = Database::new();
    let settings = json!({ "toolsets": ["browser"], "cwd": "/tmp" });
    let new = NewConversation::new("a", "fast", "chat").settings(settings.clone());
    let created = at.store().create_conversation(new.clone(), soon()).unwrap();
    assert_eq!(created, conversation(&at, "a"));
    assert_eq!((created.state, created.title.as_str(), &created.usage), (ConversationState::Idle, "", &Value::Null));
    assert_eq!((created.model.as_str(), created.mode.as_str(), &created.settings), ("fast", "chat", &settings));
    assert_eq!((created.message_count, created.images, created.last_event, created.unfinished), (0, 0, 0, false));
    assert!(created.created_at > 1.7e9 && created.created_at == created.updated_at);
    let error = at.store().create_conversation(new, soon()).unwrap_err();
    assert_eq!((error.kind(), error.to_string().contains("\"a\"")), (Code::Conflict, true), "{error}");

    at.create("b");
    at.create("c");
    at.store().commit("a", Batch::new().state(ConversationState::Error), soon()).unwrap();
    let listed = |at: &Database, state, limit| -> Vec<String> {
        let all = at.store().conversations(state, None, limit, soon()).unwrap();
        all.into_iter().map(|conversation| conversation.id).collect()
    };
    at.reopen().unwrap();
    assert_eq!(listed(&at, None, 10), ["a", "c", "b"]);
    assert_eq!(listed(&at, None, 1), ["a"]);
    assert_eq!(listed(&at, Some(ConversationState::Idle), 10), ["c", "b"]);
    assert_eq!(listed(&at, Some(ConversationState::Active), 10), Vec::<String>::new());

    let batch = Batch::new()
        .message(json!({}))
        .image("image/png", vec![1])
        .event("e", json!({}))
        .open_intent("call", "tool", json!({}))
        .ask("q", "call", QuestionKind::Help, json!({}));
    at.store().commit("b", batch, soon()).unwrap();
    assert!(at.store().delete_conversation("b", soon()).unwrap());
    assert!(!at.store().delete_conversation("b", soon()).unwrap());
    at.create("b");
    assert_eq!(at.store().image("b", 1, soon()).unwrap(), None);
    assert!(at.store().events("b", 0, 10, soon()).unwrap().is_empty() && bodies(&at, "b").is_empty());
    assert!(at.store().open_intents("b", soon()).unwrap().is_empty());
    assert_eq!(at.store().question("q", soon()).unwrap(), None);
}

#[test]
fn a_batch_is_stored_as_a_whole() {
    let mut at = Database::new();
    at.create("c");
    let batch = Batch::new()
        .state(ConversationState::Waiting)
        .model("slow")
        .title(format!("  {}", "ä".repeat(150)))
        .settings(json!({ "cwd": "x" }))
        .usage(json!({ "tokens": 12 }))
        .unfinished(true)
        .message(json!({ "role": "user", "images": ["@image:1", "other"] }))
        .message(json!({ "role": "assistant", "content": "@image:0" }))
        .image("image/png", vec![1, 2, 3])
        .image("image/jpeg", vec![4])
        .event("agent_event", json!({ "image": image_reference(0), "text": "@image:0" }))
        .event_at("help_request", json!({ "image": image_reference(1) }), 12.5)
        .open_intent("call", "click", json!({ "ref": "e1" }))
        .ask("q", "call", QuestionKind::Approval, json!({ "image": image_reference(1) }));
    let committed = at.store().commit("c", batch, soon()).unwrap();
    assert_eq!((committed.first_event, committed.last_event), (1, 2));
    assert_eq!((committed.first_message, committed.last_message), (1, 2));
    assert_eq!((committed.first_image, committed.last_image), (1, 2));
    at.reopen().unwrap();
    let now = conversation(&at, "c");
    assert_eq!((now.state, now.model.as_str(), now.unfinished), (ConversationState::Waiting, "slow", true));
    assert_eq!((now.title, now.settings, now.usage), ("ä".repeat(100), json!({ "cwd": "x" }), json!({ "tokens": 12 })));
    assert_eq!((now.images, now.last_event), (2, 2));
    let path = |n| format!("/agent/conversations/c/images/{n}");
    let messages = bodies(&at, "c");
    assert_eq!(messages[0]["images"], json!([path(2), "other"]));
    assert_eq!(messages[1]["content"], "@image:0", "only the fields `image` and `images` refer to images");
    let events = at.store().events("c", 0, 10, soon()).unwrap();
    let data: Value = serde_json::from_str(&events[0].data).unwrap();
    assert_eq!((events[0].id, data), (1, json!({ "image": path(1), "text": "@image:0" })));
    assert!(events[0].ts > 1.7e9);
    assert_eq!((events[1].event.as_str(), events[1].ts), ("help_request", 12.5));
    let image = at.store().image("c", 2, soon()).unwrap().unwrap();
    assert_eq!((image.media_type.as_str(), image.bytes), ("image/jpeg", vec![4]));
    assert_eq!(at.store().image("c", u64::MAX, soon()).unwrap(), None);

    let again = Batch::new().title("another").message(json!(3)).event("e", json!({})).image("image/png", vec![5]);
    let committed = at.store().commit("c", again, soon()).unwrap();
    assert_eq!((committed.first_event, committed.first_message, committed.first_image), (3, 3, 3));
    assert_eq!(conversation(&at, "c").title, "ä".repeat(100), "the first title stays");
    let none = at.store().commit("c", Batch::new(), soon()).unwrap();
    assert_eq!((none.first_event, none.last_event), (4, 3));
}

#[test]
fn a_batch_that_fails_stores_nothing() {
    let at = Database::new();
    at.create("c");
    at.store().commit("c", Batch::new().open_intent("open", "t", json!({})), soon()).unwrap();
    let deep = (0..200).fold(json!(1), |inside, _| json!([inside]));
    let full = || Batch::new().state(ConversationState::Active).message(json!(1)).event("e", json!({}));
    for (name, batch, code) in [
        ("unknown image", full().event("e", json!({ "image": "@image:0" })), Code::Conflict),
        ("no number", full().image("image/png", vec![1]).event("e", json!({ "image": "@image:x" })), Code::Conflict),
        ("open twice", full().open_intent("open", "t", json!({})), Code::Conflict),
        ("not open", full().close_intent("none", IntentOutcome::Done), Code::NotFound),
        ("no question", full().answer("none", json!("yes")), Code::NotFound),
        ("no message", full().replace_message(2, json!(2)), Code::NotFound),
        ("a gap", full().rewrite_messages(2, vec![json!(2)]), Code::NotFound),
        ("from 0", full().rewrite_messages(0, vec![json!(2)]), Code::NotFound),
        ("too deep", full().message(deep), Code::Conflict),
    ] {
        let error = at.store().commit("c", batch, soon()).unwrap_err();
        assert_eq!(error.kind(), code, "{name}: {error}");
        let now = conversation(&at, "c");
        assert_eq!((now.state, now.message_count, now.last_event), (ConversationState::Idle, 0, 0), "{name}");
        assert!(bodies(&at, "c").is_empty() && at.store().events("c", 0, 9, soon()).unwrap().is_empty(), "{name}");
    }
    assert_eq!(at.store().commit("none", full(), soon()).unwrap_err().kind(), Code::NotFound);
}

#[test]
fn messages_are_replaced_one_by_one_and_as_a_range() {
    let at = Database::new();
    at.create("c");
    let numbered = |range: std::ops::Range<u32>| range.fold(Batch::new(), |batch, n| batch.message(json!(n)));
    at.store().commit("c", numbered(0..6), soon()).unwrap();
    let batch = Batch::new().replace_message(2, json!("two")).replace_message(6, json!("six")).message(json!("seven"));
    let committed = at.store().commit("c", batch, soon()).unwrap();
    assert_eq!((committed.first_message, committed.last_message), (7, 7));
    assert_eq!(bodies(&at, "c"), [json!(0), json!("two"), json!(2), json!(3), json!(4), json!("six"), json!("seven")]);
    assert_eq!(at.store().replace_messages("c", 3, vec![json!("short")], soon()).unwrap(), 3);
    assert_eq!(bodies(&at, "c"), [json!(0), json!("two"), json!("short")]);
    assert_eq!(at.store().replace_messages("c", 4, vec![json!(4), json!(5)], soon()).unwrap(), 5);
    let batch = Batch::new()
        .rewrite_messages(1, vec![json!("a"), json!("b")])
        .replace_message(2, json!("c"))
        .message(json!("d"));
    assert_eq!(at.store().commit("c", batch, soon()).unwrap().first_message, 3);
    assert_eq!(bodies(&at, "c"), [json!("a"), json!("c"), json!("d")]);
    let part = at.store().messages("c", 2, 1, soon()).unwrap();
    assert_eq!((part.len(), part[0].n), (1, 2));
    assert_eq!(at.store().replace_messages("c", 1, Vec::new(), soon()).unwrap(), 0);
    assert!(bodies(&at, "c").is_empty());
}

#[test]
fn the_newest_images_of_each_conversation_are_kept() {
    let at = Database::new();
    at.create("c");
    at.create("d");
    at.store().commit("d", Batch::new().image("image/png", vec![9]), soon()).unwrap();
    let images = |range: std::ops::Range<u8>| range.fold(Batch::new(), |batch, n| batch.image("image/png", vec![n]));
    at.store().commit("c", images(1..50), soon()).unwrap();
    let has = |n| at.store().image("c", n, soon()).unwrap().map(|image| image.bytes);
    at.store().commit("c", images(50..51), soon()).unwrap();
    assert_eq!((has(1), has(50)), (Some(vec![1]), Some(vec![50])));
    at.store().commit("c", images(51..54), soon()).unwrap();
    assert_eq!((has(3), has(4), has(53)), (None, Some(vec![4]), Some(vec![53])));
    at.store().commit("c", images(54..174), soon()).unwrap();
    let kept: Vec<u64> = (0..200).filter(|n| has(*n).is_some()).collect();
    assert_eq!(kept, (174 - KEPT_IMAGES..174).collect::<Vec<_>>());
    assert_eq!(conversation(&at, "c").images, 173);
    assert!(at.store().image("d", 1, soon()).unwrap().is_some());
}

#[test]
fn intents_and_questions_stay_open_until_they_are_closed() {
    let mut at = Database::new();
    at.create("c");
    at.create("d");
    let store = at.store();
    let open = |id: &str| -> Vec<String> {
        store.open_intents(id, soon()).unwrap().into_iter().map(|intent| intent.call_id).collect()
    };
    let batch = Batch::new().open_intent("z", "click", json!({ "ref": "e1" })).open_intent("a", "type", json!({}));
    store.commit("c", batch, soon()).unwrap();
    store.commit("d", Batch::new().open_intent("z", "open", json!({})), soon()).unwrap();
    assert_eq!((open("c"), open("d")), (vec!["z".to_owned(), "a".to_owned()], vec!["z".to_owned()]));
    let first = &store.open_intents("c", soon()).unwrap()[0];
    assert_eq!((first.tool.as_str(), &first.arguments), ("click", &json!({ "ref": "e1" })));
    store.commit("c", Batch::new().close_intent("z", IntentOutcome::Done), soon()).unwrap();
    let twice = store.commit("c", Batch::new().close_intent("z", IntentOutcome::Failed), soon()).unwrap_err();
    assert_eq!(twice.kind(), Code::NotFound);
    assert_eq!((open("c"), open("d")), (vec!["a".to_owned()], vec!["z".to_owned()]));
    // Models repeat ids of calls.
    store.commit("c", Batch::new().open_intent("z", "click", json!({})), soon()).unwrap();
    assert_eq!(open("c"), ["a", "z"]);

    let ask = |id: &str| Batch::new().ask(id, "a", QuestionKind::Clarify, json!({ "text": "which?" }));
    store.commit("c", ask("q1"), soon()).unwrap();
    assert_eq!(store.commit("d", ask("q1"), soon()).unwrap_err().kind(), Code::Conflict);
    let question = store.open_question("c", soon()).unwrap().unwrap();
    assert_eq!((question.id.as_str(), question.kind, &question.answer), ("q1", QuestionKind::Clarify, &None));
    assert_eq!(store.open_question("d", soon()).unwrap(), None);
    let answer = |id: &str| Batch::new().answer(id, json!({ "text": "this" }));
    assert_eq!(store.commit("d", answer("q1"), soon()).unwrap_err().kind(), Code::NotFound);
    store.commit("c", answer("q1"), soon()).unwrap();
    assert_eq!(store.commit("c", answer("q1"), soon()).unwrap_err().kind(), Code::NotFound);
    store.commit("c", ask("q2"), soon()).unwrap();
    at.reopen().unwrap();
    assert_eq!(at.store().open_question("c", soon()).unwrap().unwrap().id, "q2");
    let answered = at.store().question("q1", soon()).unwrap().unwrap();
    assert_eq!(answered.answer, Some(json!({ "text": "this" })));
    assert!(answered.answered_at.unwrap() >= answered.asked_at && answered.conversation == "c");
}

#[test]
fn recovery_ends_interrupted_runs() {
    use ConversationState::{Active, Error, Idle, Waiting};
    let mut at = Database::new();
    for id in ["active", "asking", "answered", "waiting", "idle", "error"] {
        at.create(id);
    }
    let commit = |id: &str, batch: Batch| at.store().commit(id, batch, soon()).unwrap();
    let ask = |id: &str| Batch::new().ask(id, "call", QuestionKind::Help, json!({}));
    commit("active", Batch::new().state(Active).open_intent("call", "click", json!({})));
    commit("asking", ask("q1").state(Active));
    commit("answered", ask("q2").state(Active));
    commit("answered", Batch::new().answer("q2", Value::Null));
    commit("waiting", ask("q3").state(Waiting));
    commit("error", Batch::new().state(Error));
    at.reopen().unwrap();
    let mut recovered = at.store().recover(soon()).unwrap();
    recovered.sort();
    assert_eq!(recovered, ["active", "answered"]);
    for (id, state, unfinished) in [
        ("active", Idle, true),
        ("asking", Waiting, false),
        ("answered", Idle, true),
        ("waiting", Waiting, false),
        ("idle", Idle, false),
        ("error", Error, false),
    ] {
        let now = conversation(&at, id);
        assert_eq!((now.state, now.unfinished), (state, unfinished), "{id}");
    }
    assert_eq!(at.store().open_intents("active", soon()).unwrap().len(), 1);
    assert_eq!(at.store().recover(soon()).unwrap(), Vec::<String>::new());
}
