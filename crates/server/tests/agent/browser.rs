//! Conversations that use a real browser.

use std::sync::Arc;

use cdpilot_server::agent::{Agents, Followed, NewConversation};
use cdpilot_server::store::Store;
use cdpilot_server::tools::{Toolbox, ToolboxOptions};
use serde_json::{Value, json};

use crate::support::agent_home::{say, soon};
use crate::support::agent_wire::check;
use crate::support::streaming_model::{Script, StreamingModel};
use crate::support::test_home::TestHome;

/// The id of the element in whose line `part` is, in the newest result that lists it; `none` if no result does.
fn id_of(messages: &[Value], part: &str) -> String {
    let results = messages.iter().rev().filter(|message| message["role"] == "tool");
    let line = results.into_iter().find_map(|message| {
        let result: Value = serde_json::from_str(message["content"].as_str().unwrap()).unwrap();
        let text = result["observation"].as_str().unwrap_or_default().to_owned();
        text.lines().find(|line| line.contains("): ") && line.contains(part)).map(ToOwned::to_owned)
    });
    line.map_or_else(|| "none".to_owned(), |line| line.split('(').next().unwrap().to_owned())
}

#[test]
fn a_login_form_is_filled_and_its_password_is_stored_nowhere() {
    let Some(home) = TestHome::new("") else { return };
    home.site.page(
        "/",
        "<title>Log in</title><style>input, button { position: absolute; left: 200px; width: 200px; height: 30px }</style>
         <input aria-label=Name style='top: 100px'><input type=password aria-label=Password style='top: 250px'>
         <button style='top: 400px' onclick='const [a, b] = document.querySelectorAll(\"input\");
            this.textContent = `${a.value} ${b.value.length}`'>Log in</button>",
    );
    let url = home.site.url("a", "/");
    let model = StreamingModel::answering(move |request| {
        let messages = request["messages"].as_array().unwrap();
        let act = |action: &str, part: &str, text: Option<&str>| {
            let mut arguments = json!({ "action": action, "element_id": id_of(messages, part) });
            if let Some(text) = text {
                arguments["text"] = text.into();
            }
            ("element_interaction", arguments)
        };
        let calls = messages.iter().filter(|message| message["tool_calls"].is_array()).count();
        let (tool, arguments) = match calls {
            0 => ("tab", json!({ "action": "init", "url": url })),
            1 => act("keyboard_input", "aria-label=\"Password\"", Some("hunter2")),
            // As the model reads it in its own call.
            2 => act("confirm_keyboard_input", "aria-label=\"Password\"", Some("[secret]")),
            3 => act("keyboard_input", "aria-label=\"Name\"", Some("ada")),
            4 => act("confirm_keyboard_input", "aria-label=\"Name\"", None),
            5 => act("click", "<button", None),
            6 => act("confirm_click", "<button", None),
            _ => return say("Logged in."),
        };
        Script::stream().call(&format!("c{calls}"), tool, &arguments).done()
    });
    let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
    std::fs::write(home.control.home().root().join("llm.json"), models.to_string()).unwrap();
    let toolbox = Toolbox::open(&home.control, &ToolboxOptions::new()).unwrap();
    let store = Store::open(home.control.home(), soon()).unwrap().store;
    let agents = Agents::new(Arc::clone(&home.control), toolbox, store).unwrap();
    let id = agents.create(NewConversation::new()).unwrap();
    let after = agents.send(&id, "Log in").unwrap();
    let mut follower = agents.follow(&id, after).unwrap();
    let mut events = Vec::new();
    loop {
        match follower.next(soon()).unwrap() {
            Followed::Event { event, data, .. } => events.push((event, serde_json::from_str::<Value>(&data).unwrap())),
            Followed::End => break,
            _ => {}
        }
    }
    let failed: Vec<&Value> = events.iter().map(|(_, data)| data).filter(|data| data["success"] == false).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(events.last().unwrap().0, "complete", "{:#?}", events.last());
    let requests = model.requests();
    check(&requests);
    let seen = requests.last().unwrap()["messages"].to_string();
    assert!(seen.contains("ada 7"), "the button shows what was typed: {seen}");
    let actions: Vec<&Value> =
        events.iter().map(|(_, data)| &data["action"]["text"]).filter(|text| text.is_string()).collect();
    assert_eq!(actions, ["[secret]", "[secret]", "ada"]);
    assert!(events.iter().any(|(_, data)| data["image"].is_string()));
    let history = json!(agents.history(&id).unwrap()).to_string();
    assert!(
        !history.contains("hunter2")
            && !json!(events.iter().map(|e| &e.1).collect::<Vec<_>>()).to_string().contains("hunter2")
    );
    // What the tools show has the size of the tabs of conversations.
    let size = events.iter().filter_map(|(_, data)| data["image"].as_str()).next_back().unwrap();
    let number = size.rsplit('/').next().unwrap().parse().unwrap();
    let image = agents.image(&id, number).unwrap();
    let size: Vec<u32> =
        image.bytes[16..24].chunks(4).map(|four| u32::from_be_bytes(four.try_into().unwrap())).collect();
    assert_eq!((&*image.media_type, size), ("image/png", vec![1280, 720]));
    agents.delete(&id, soon()).unwrap();
    drop(agents);
    for file in ["cdpilot.db", "cdpilot.db-wal"] {
        let bytes = std::fs::read(home.control.home().root().join(file)).unwrap_or_default();
        assert!(!bytes.windows(7).any(|seven| seven == b"hunter2"), "{file}");
    }
}
