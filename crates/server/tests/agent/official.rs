//! Requests to models against the types of the official OpenAI client, and our double against its types of answers.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::agent_home::{AgentHome, call, say, soon};
use crate::support::mcp_peers::Peers;
use crate::support::streaming_model::Script;

#[test]
fn requests_and_our_double_fit_the_types_of_the_official_client() {
    let Some(peers) = Peers::find() else { return };
    let two = Script::stream()
        .text("I look.")
        .call("a1", "picture", &json!({}))
        .call("a2", "note", &json!({ "text": "é" }))
        .done();
    let ask = Script::stream().call("h1", "please_help_me", &json!({ "message": "Which?" })).done();
    let scripts = [two, call("b1", "fail", "no"), ask, say("Done."), say("Again.")];
    let chunks: Vec<_> = scripts.iter().flat_map(Script::chunks).collect();
    let home = AgentHome::with("", json!({ "max_output_tokens": 500 }), scripts);
    let id = home.create();
    let agents = home.agents();
    let after = agents.send(&id, "Look").unwrap();
    let mut follower = agents.follow(&id, after).unwrap();
    home.until(&mut follower, |name, _| name == "help_request");
    drop(follower);
    let after = agents.answer(&id, "This one").unwrap();
    home.to_end(&id, after);
    home.turn(&id, "And again");
    agents.stop(soon());
    let given = json!({ "requests": home.model.requests(), "chunks": chunks });
    let script = testkit::root().join("tests/peers/openai_types.py");
    let mut child = Command::new(peers.python())
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (said, problem) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.starts_with("5 requests"), "{said}{problem}");
}
