//! The tokens that a job over MCP costs: navigate, snapshot, type, click, dialog, nested frame, screenshot. Eleven calls.

use serde_json::{Value, json};

use crate::cli_run::Program;
use crate::support::mcp_process::McpProcess;
use crate::support::site::Site;

/// Tokens that the job may cost, counted as bytes: a token of such texts has at least so many (measured with o200k_base,
/// see benches/peers/job.mjs).
const TOKENS: usize = 2000;
const BYTES_OF_A_TOKEN: usize = 3;

const SHOP: &str = "<title>Tea shop</title>
    <nav><a href='#t'>Teas</a> <a href='#c'>Cart</a> <a href='#a'>Account</a></nav><h1>Order tea</h1>
    <p>All teas are packed by hand and sent within two days.</p>
    <form onsubmit=\"event.preventDefault(); out.textContent = confirm('Order 3 of Oolong for ' + n.value + '?') ? 'Ordered' : 'Not ordered'\">
      <label>Name <input id=n required></label> <label>Email <input type=email></label>
      <label>Tea <select><option>Assam<option>Oolong<option>Sencha</select></label>
      <label><input type=checkbox> Gift wrap</label> <button>Order</button>
    </form><p role=status id=out></p><iframe src='@b/outer' title=Rating width=500 height=300></iframe>";
const OUTER: &str = "<h2>Rate us</h2><iframe src='@c/inner' title=Stars width=300 height=150></iframe>";
const INNER: &str = "<button onclick=\"this.textContent = 'Thank you'\">Five stars</button>";

/// The ref in the line that holds a text.
fn reference(response: &str, part: &str) -> String {
    let line = response.split("\\n").find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part} in {response}"));
    line.split("[ref=").nth(1).unwrap().split(']').next().unwrap().to_owned()
}

#[test]
fn eleven_calls_cost_at_most_two_thousand_tokens() {
    let Some(program) = Program::at_home().0.leasing() else { return };
    let site = Site::start();
    for (path, html) in [("/", SHOP), ("/outer", OUTER), ("/inner", INNER)] {
        site.page(path, html);
    }
    let mut spoken = McpProcess::start(program.command(&["mcp"]));
    let (mut steps, mut transcript) = (Vec::new(), Vec::new());
    let mut call = |name: &str, arguments: Value| {
        let number = i64::try_from(steps.len()).unwrap() + 1;
        let mut response = spoken.ask(number, "tools/call", json!({ "name": name, "arguments": arguments }));
        let content = response["result"]["content"].as_array_mut().unwrap_or_else(|| panic!("{name}")).drain(..);
        let text: String = content.filter_map(|part| part["text"].as_str().map(str::to_owned)).collect();
        assert!(text.contains("\"success\":true"), "{name}: {text}");
        steps.push((name.to_owned(), name.len() + arguments.to_string().len() + text.len()));
        transcript.push(json!({ "name": name, "arguments": arguments, "text": text }));
        text
    };
    call("browser_navigate", json!({ "url": site.url("a", "/") }));
    let seen = call("browser_snapshot", json!({ "full": true }));
    call("browser_type", json!({ "ref": reference(&seen, "textbox \\\"Name"), "text": "Ada Lovelace" }));
    call("browser_type", json!({ "ref": reference(&seen, "textbox \\\"Email"), "text": "ada@example.com" }));
    call("browser_select", json!({ "ref": reference(&seen, "- combobox"), "values": ["Oolong"] }));
    call("browser_click", json!({ "ref": reference(&seen, "- checkbox") }));
    let requested = call("browser_click", json!({ "ref": reference(&seen, "button \\\"Order\\\"") }));
    assert!(requested.contains("Order 3 of Oolong for Ada Lovelace?"), "{requested}");
    let answered = call("browser_dialog", json!({ "action": "accept" }));
    assert!(answered.contains("Ordered"), "{answered}");
    let rated = call("browser_click", json!({ "ref": reference(&seen, "Five stars") }));
    assert!(rated.contains("Thank you"), "{rated}");
    call("browser_press", json!({ "key": "Escape" }));
    call("browser_screenshot", json!({}));
    if let Some(path) = std::env::var_os("JOB_TRANSCRIPT") {
        std::fs::write(path, Value::from(transcript).to_string()).unwrap();
    }
    let total: usize = steps.iter().map(|(_, bytes)| bytes).sum();
    let table: Vec<String> = steps.iter().map(|(name, bytes)| format!("{bytes:6} {name}")).collect();
    println!("{}\n{total:6} bytes in {} calls", table.join("\n"), steps.len());
    assert_eq!(steps.len(), 11);
    assert!(total <= TOKENS * BYTES_OF_A_TOKEN, "{total} bytes:\n{}", table.join("\n"));
}
