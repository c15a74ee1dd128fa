//! The rules of the chat completions API that real endpoints enforce, and those of a stable prefix.

use serde_json::Value;

/// Checks all requests of one conversation, in order. Panics at the first violation.
pub fn check(requests: &[Value]) {
    for (number, request) in requests.iter().enumerate() {
        let messages = request["messages"].as_array().unwrap();
        check_one(number, messages);
        if let Some(before) = number.checked_sub(1).and_then(|before| requests.get(before)) {
            check_prefix(number, before["messages"].as_array().unwrap(), messages);
            let is_summary = request.get("tools").is_none() || before.get("tools").is_none();
            assert!(is_summary || before["tools"] == request["tools"], "request {number} has other tools");
        }
    }
}

fn check_one(number: usize, messages: &[Value]) {
    assert_eq!(messages[0]["role"], "system", "request {number}");
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let place = format!("request {number}, message {at}: {message}");
        let role = message["role"].as_str().unwrap();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_else(|| panic!("no call: {place}"));
            let known = open.iter().position(|open| *open == id).unwrap_or_else(|| panic!("unasked result: {place}"));
            open.remove(known);
            assert!(message["content"].is_string(), "a tool message is a text: {place}");
            continue;
        }
        assert!(open.is_empty(), "calls without result before {place}");
        match role {
            "system" => assert_eq!(at, 0, "{place}"),
            "user" => match &message["content"] {
                Value::String(text) => assert!(!text.is_empty(), "{place}"),
                Value::Array(parts) => {
                    for part in parts {
                        assert!(part["type"] == "text" || part["type"] == "image_url", "{place}");
                    }
                }
                _ => panic!("{place}"),
            },
            "assistant" => {
                let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
                assert!(message["content"].is_string() || !calls.is_empty(), "{place}");
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    let arguments = call["function"]["arguments"].as_str().unwrap();
                    assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object(), "{place}");
                    open.push(call["id"].as_str().unwrap());
                }
            }
            _ => panic!("unknown role: {place}"),
        }
    }
    assert!(open.is_empty(), "calls without result at the end of request {number}: {open:?}");
}

fn check_prefix(number: usize, before: &[Value], now: &[Value]) {
    let is_condensed = |messages: &[Value]| {
        messages.get(2).and_then(|message| message["content"].as_str()).is_some_and(|text| text.starts_with("Summary"))
    };
    if is_condensed(now) && before.get(2) != now.get(2) {
        assert_eq!(before[..2], now[..2], "request {number}: the first message stays");
        return;
    }
    let asks_for_summary = |messages: &[Value]| {
        messages.last().and_then(|m| m["content"].as_str()).is_some_and(|text| text.starts_with("Summarise"))
    };
    if asks_for_summary(now) || asks_for_summary(before) {
        return; // without images, and one more message
    }
    assert!(now.len() >= before.len(), "request {number} is shorter");
    for (at, (old, new)) in before.iter().zip(now).enumerate() {
        let is_drop = old["content"].is_array() && new["content"] == "[picture dropped]";
        assert!(old == new || is_drop, "request {number}, message {at} has changed:\n{old}\n{new}");
    }
}
