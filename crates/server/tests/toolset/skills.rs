//! Skills: who writes, changes and deletes them, what paths lead nowhere, and how a conversation follows one.

use cdpilot::redact::Secrets;
use cdpilot_server::config::Home;
use cdpilot_server::skills::{AGENT, Skills};
use serde_json::{Value, json};

use crate::support::agent_plan::Do;
use crate::toolset_memory::guarded;
use crate::toolset_search::{called, followed, tasks};

const TRAINS: &str =
    "---\nname: book-trains\ndescription: Book train tickets on the site of the railway\n---\n\n1. Open it.\n";

fn manage(action: &str, more: &Value) -> Value {
    let mut arguments = json!({ "action": action, "name": "book-trains" });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    arguments
}

#[test]
fn skills_are_written_when_a_person_agrees_and_followed_by_later_conversations() {
    let create = || Do::Call("skill_manage", manage("create", &json!({ "content": TRAINS })));
    let read = || Do::Call("session_search", json!({ "query": "tickets" }));
    let mut tasks = tasks(vec![
        vec![create(), Do::Say("Done.")],
        vec![read(), create(), Do::Call("skill_view", json!({ "name": "book-trains" })), Do::Say("Done.")],
        vec![Do::Say("I follow it.")],
    ]);
    let served = |tasks: &crate::server_tasks::Tasks| called(&tasks.served, "skills_list", &json!({}));
    let names = |list: &Value| -> Vec<String> {
        list["skills"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let (results, asked) = guarded(&tasks, 0, &["skills"], "refuse");
    assert_eq!((asked.len(), &results[0]["code"]), (1, &json!("APPROVAL_REFUSED")), "{results:#?}");
    let (_, results) = followed(&tasks, 0, &json!({ "toolsets": ["skills"] }));
    assert_eq!(results[0]["code"], "APPROVAL_REFUSED", "without a guard nobody is asked: {results:#?}");
    assert!(!names(&served(&tasks)).contains(&"book-trains".to_owned()));
    let (results, asked) = guarded(&tasks, 1, &["skills", "session_search"], "once");
    assert_eq!((asked.len(), &results[1]["origin"]), (1, &json!("from session_search")), "{results:#?}");
    assert!(asked[0].to_string().contains("1. Open it."), "the text is shown: {:#}", asked[0]);
    assert!(results[2]["untrusted"].is_string() && results[2]["text"].as_str().unwrap().contains("Open it"));
    // After a restart, a message that begins with its name carries its text to the model; people see what was typed.
    tasks.served.restart();
    assert!(names(&served(&tasks)).contains(&"book-trains".to_owned()));
    let id = tasks.create(&json!({ "toolsets": ["skills"] }));
    let body = json!({ "text": "/book-trains to Dover, plan 2" }).to_string();
    let mut stream =
        tasks.served.api.events_of("POST", &format!("/agent/conversations/{id}/messages"), Some(&body), "");
    while stream.try_next().is_some() {}
    let told = tasks.model.requests().last().unwrap()["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(told.contains("1. Open it.") && told.ends_with("Task: to Dover, plan 2"), "{told}");
    let typed = tasks.events(&id).into_iter().find(|(_, data)| data["source"] == "user").unwrap().1.to_string();
    assert!(typed.contains("/book-trains to Dover") && !typed.contains("Open it"), "{typed}");
}

#[test]
fn what_a_person_wrote_is_not_deleted_and_paths_lead_nowhere_else() {
    let tasks = tasks(Vec::new());
    let served = &tasks.served;
    let call = |arguments: &Value| called(served, "skill_manage", arguments);
    let folder = served.home.root().join("skills");
    std::fs::create_dir_all(folder.join("book-trains")).unwrap();
    std::fs::write(folder.join("book-trains/SKILL.md"), TRAINS).unwrap();
    for (action, more) in
        [("delete", json!({})), ("edit", json!({ "content": TRAINS })), ("remove_file", json!({ "file": "notes.md" }))]
    {
        assert_eq!(call(&manage(action, &more))["code"], "PATH_REFUSED", "{action}");
    }
    // A change is possible, and does not make it one of a model.
    let patched = call(&manage("patch", &json!({ "old_text": "1. Open it.", "new_text": "1. Open the site." })));
    assert_eq!(patched["origin"], "person, agent", "{patched}");
    assert_eq!(call(&manage("delete", &json!({})))["code"], "PATH_REFUSED");
    let twice = call(&manage("patch", &json!({ "old_text": "the", "new_text": "a" })));
    assert_eq!(twice["code"], "BAD_REQUEST", "{twice}");
    let token = std::fs::read_to_string(served.home.token()).unwrap();
    for file in [
        "../../token",
        "..\\..\\token",
        "/etc/passwd",
        "a/../../../token",
        ".hidden",
        "a//b",
        "",
        "a/b/c/d/e",
        "token\u{0}",
    ] {
        for action in ["write_file", "remove_file"] {
            let refused = call(&manage(action, &json!({ "file": file, "content": "x" })));
            assert_eq!(refused["success"], false, "{action} {file:?}: {refused}");
        }
        let viewed = called(served, "skill_view", &json!({ "name": "book-trains", "file": file }));
        assert_eq!(viewed["success"], false, "{file:?}: {viewed}");
    }
    for name in ["../token", "..", "a/b", "A", "", "-a", "cdpilot-browser"] {
        let made = call(&json!({ "action": "create", "name": name, "content": TRAINS.replace("book-trains", name) }));
        assert_eq!(made["success"], false, "{name:?}: {made}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(served.home.root(), folder.join("book-trains/out")).unwrap();
        std::os::unix::fs::symlink(served.home.root(), folder.join("outside")).unwrap();
        for (name, file) in [("book-trains", "out/token"), ("outside", "token")] {
            let viewed = called(served, "skill_view", &json!({ "name": name, "file": file }));
            assert!(viewed["success"] == false && !viewed.to_string().contains(token.trim()), "{viewed}");
        }
    }
    assert_eq!(std::fs::read_to_string(served.home.token()).unwrap(), token);
}

#[test]
fn one_like_another_is_named_and_what_cannot_be_used_is_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.prepare().unwrap();
    let (skills, none) = (Skills::of(&home), Secrets::default());
    let text = |name: &str, description: &str, requires: &str| {
        format!("---\nname: {name}\ndescription: {description}\n{requires}---\nDo it.\n")
    };
    let trains = "Book train tickets on the site of the railway";
    skills.create("book-trains", &text("book-trains", trains, ""), AGENT, &none, false).unwrap();
    let like = text("train-tickets", "How to book train tickets of the railway on its site", "");
    let refused = skills.create("train-tickets", &like, AGENT, &none, false).unwrap_err().to_string();
    assert!(refused.contains("\"book-trains\" is like it") && refused.contains("despite_alike"), "{refused}");
    skills.create("train-tickets", &like, AGENT, &none, true).unwrap();
    skills.create("weather", &text("weather", "Read the forecast", ""), AGENT, &none, false).unwrap();
    for (wrong, part) in [
        ("name: x".to_owned(), "begin with a line ---"),
        (text("other", "d", ""), "has the name \"other\""),
        (text("x", "", ""), "description"),
        (text("x", "d", "").replace("Do it.", ""), "no text"),
        (text("x", "d", "").replace("Do it.", "Do\u{200b} it."), "invisible"),
        (text("x", "d", "") + &"y".repeat(101 * 1024), "100 KiB"),
    ] {
        let problem = skills.create("x", &wrong, AGENT, &none, true).unwrap_err().to_string();
        assert!(problem.contains(part), "{part}: {problem}");
    }
    assert!(!home.skills().join("x").exists());
    // One megabyte for all files.
    let file = "z".repeat(100 * 1024);
    let written =
        (0..12).filter(|n| skills.write_file("weather", &format!("part{n}.txt"), &file, &none).is_ok()).count();
    assert_eq!(written, 10);
    skills.delete("weather").unwrap();
    assert!(!home.skills().join("weather").exists());
    let tasks = tasks(Vec::new());
    for (name, requires) in
        [("one", "requires: [\"command:no-such-program\"]\n"), ("two", "requires: [browser_snapshot]\n")]
    {
        let content = text(name, name, requires);
        assert_eq!(
            called(
                &tasks.served,
                "skill_manage",
                &json!({ "action": "create", "name": name, "content": content, "despite_alike": true })
            )["success"],
            true
        );
    }
    let list = called(&tasks.served, "skills_list", &json!({}));
    let names: Vec<&str> = list["skills"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"two") && !names.contains(&"one"), "{list}");
}
