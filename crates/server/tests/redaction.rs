//! Redaction of secrets in answers for models: forms, snapshot lines, JSON.

use std::fs;
use std::path::Path;

use cdpilot::page::SnapshotOptions;
use cdpilot::supervisor::Secrets;
use cdpilot_server::config::Config;
use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::chrome::soon;
use crate::support::share::share;
use crate::support::test_home::eval_value;
use crate::support::tool_home::{ToolHome, ref_in};

/// Login pages, by name.
fn logins() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/logins");
    let mut pages: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(path).unwrap())
        })
        .collect();
    pages.sort();
    pages
}

/// Fills all fields, those for secrets with `zQ9-secret-N`; gives these texts.
const FILL: &str = "(() => {
    const all = (root) => [...root.querySelectorAll('*')].flatMap((e) =>
        [e, ...(e.shadowRoot ? all(e.shadowRoot) : []), ...(e.contentDocument ? all(e.contentDocument) : [])]);
    const fields = all(document).filter((e) => e.localName === 'input' && !/hidden|checkbox|radio|submit|reset|button/.test(e.type));
    return fields.map((field, n) => {
        const secret = field.hasAttribute('data-secret');
        field.value = secret ? `zQ9-secret-${n}x` : field.type === 'email' ? `ada${n}@example.test` : field.value || `ada ${n}`;
        return secret ? field.value : null;
    }).filter((secret) => secret);
})()";

#[test]
fn redaction_keeps_every_line_of_forty_login_forms() {
    let Some(tooled) = ToolHome::new("") else { return };
    let pages = logins();
    assert_eq!(pages.len(), 40);
    let mut masked = 0;
    for (name, html) in share(&pages, 5) {
        let path = format!("/{name}");
        tooled.home.site.page(&path, html);
        tooled.done("browser_navigate", json!({ "url": tooled.home.site.url("a", &path) }));
        let profile = tooled.home.main();
        let filled = eval_value(&profile, None, FILL);
        let secrets: Vec<&str> = filled.as_array().unwrap().iter().map(|secret| secret.as_str().unwrap()).collect();
        assert!(!secrets.is_empty(), "{name}");
        let options = SnapshotOptions::new().fold(true).max_chars(0);
        let raw = profile.tab(None).unwrap().tab.snapshot(&options, soon()).unwrap().snapshot.unwrap();
        let seen = tooled.done("browser_snapshot", json!({ "full": true }));
        let response = seen["snapshot"].as_str().unwrap();
        // The secrets that the page shows are covered, and nothing else differs.
        let expected = secrets.iter().fold(raw.clone(), |text, secret| text.replace(secret, "[secret]"));
        assert_eq!(response, expected, "{name}");
        masked += secrets.iter().filter(|secret| !raw.contains(**secret)).count();
        for secret in &secrets {
            assert!(!seen.to_string().contains(secret), "{name}: {secret}");
        }
    }
    assert!(masked < 30, "{masked}: too few forms show their secrets for this to say much");
}

#[test]
fn redaction_keeps_refs_and_lines_after_a_label() {
    let Some(tooled) = ToolHome::new("") else { return };
    tooled.home.site.page(
        "/",
        "<label>Password: <input id=p></label><button onclick='p.value = \"zQ9-secret-1\"; this.textContent = \"Done\"'>Log in</button>
         <label>Token: <input value='zQ9-secret-2'></label><button>Next</button><p>API key: zQ9-secret-3</p>",
    );
    let gone = tooled.done("browser_navigate", json!({ "url": tooled.home.site.url("a", "/") }));
    let seen = tooled.done("browser_snapshot", json!({ "full": true }));
    for response in [&gone, &seen] {
        let text = response["snapshot"].as_str().unwrap();
        let line = |part: &str| text.lines().filter(|line| line.contains(part) && line.contains("[ref=e")).count();
        assert_eq!([line("\"Password:\""), line("\"Log in\""), line("\"Token:\""), line("\"Next\"")], [1; 4], "{text}");
        assert!(!response.to_string().contains("zQ9"), "{response}");
    }
    assert!(seen["snapshot"].as_str().unwrap().contains("API key: [secret]"), "{seen}");
    let clicked = tooled.done("browser_click", json!({ "ref": ref_in(&seen, "Log in") }));
    let changes = clicked["changes"].as_str().unwrap();
    assert!(changes.contains("+ - button \"Done\" [ref=e") && changes.contains("\"Password:\" [ref=e"), "{changes}");
    assert!(changes.contains(": [secret]") && !changes.contains("zQ9"), "{changes}");
    // What a person reads is as the page has it, and no difference to what a model read.
    let options = SnapshotOptions::new().diff(true);
    let tab = tooled.home.main().tab(None).unwrap().tab;
    let raw = tab.snapshot(&options, soon()).unwrap().snapshot.unwrap();
    assert!(raw.contains("zQ9-secret-1") && raw.contains("zQ9-secret-2") && !raw.contains("[secret]"), "{raw}");
    let diff = tooled.done("browser_snapshot", json!({ "full": true, "diff": true }));
    let lines = diff["snapshot"].as_str().unwrap();
    assert!(lines.contains("+ - button \"Done\"") && lines.contains(": [secret]") && !lines.contains("zQ9"), "{lines}");
    assert!(!lines.contains("Token:") && !lines.contains("API key"), "what did not change: {lines}");
}

#[test]
fn redaction_stays_within_a_line_and_keeps_refs() {
    let secrets = Secrets::default();
    for (text, expected) in [
        // The quote behind the colon ends the name.
        ("textbox \"Password:\" [ref=e1]\n- button \"Log in\" [ref=e2]", None),
        ("textbox \"Token: \" [ref=e11]: abc\n- button \"Next\" [ref=e12]", None),
        ("- link Token: [ref=e123456]", None),
        ("token=[ref=e12]", None),
        ("password: \"n0t1closed here\nnext line\"", Some("password: \"[secret] here\nnext line\"")),
        ("password:\nhunter22x", None),
        ("Bearer token: and API key:", None),
        ("Private key: abc123def", Some("Private key: [secret]")),
        // Literals of programs.
        ("{password: \"correcthorse\"}", Some("{password: \"[secret]\"}")),
        ("{password: 'correcthorse', user: 'ada'}", Some("{password: '[secret]', user: 'ada'}")),
        ("{'password': 'correcthorse'}", Some("{'password': '[secret]'}")),
        ("{\"password\":\"correct horse\",\"user\":\"ada\"}", Some("{\"password\":\"[secret]\",\"user\":\"ada\"}")),
        (r#""{\"password\":\"correct horse\",\"user\":1}""#, Some(r#""{\"password\":\"[secret]\",\"user\":1}""#)),
        ("{token: 1234567}", Some("{token: [secret]}")),
        (":password => 'correcthorse'", Some(":password => '[secret]'")),
        ("password := \"correcthorse\"", Some("password := \"[secret]\"")),
        ("don't tell, password: 'correcthorse'", Some("don't tell, password: '[secret]'")),
        ("{\"password\": \"\"}", None),
        // Covering twice changes nothing.
        ("password: [secret], token=[secret]", None),
    ] {
        let response = secrets.cover(text);
        assert_eq!(response, expected.unwrap_or(text), "{text}");
        assert_eq!(secrets.cover(&response), response, "{text}");
    }
}

#[test]
fn script_results_redact_keys_and_secret_fields() {
    let Some(tooled) = ToolHome::new("") else { return };
    tooled.home.open("/");
    let token = ["gh", "p_", "a1B2c3D4e5F6g7H8i9J0"].concat();
    let script =
        format!("({{ '{token}': 1, password: 'correcthorse', text: '{{password: \"correcthorse\"}}', user: 'ada' }})");
    let response = tooled.done("browser_evaluate", json!({ "script": script }));
    let expected: Value =
        json!({ "[secret]": 1, "password": "[secret]", "text": "{password: \"[secret]\"}", "user": "ada" });
    assert_eq!(response["result"], expected);
}

#[test]
fn page_text_is_redacted_unless_requested_raw() {
    let Some(served) = TestServer::browsing_with(|config, _| {
        let text = "mcp_servers: {notes: {command: x, env: {ACCOUNT: correcthorse, MODE: production}}}";
        config.mcp_servers = Config::parse(text, Path::new("config.yaml")).unwrap().mcp_servers;
    }) else {
        return;
    };
    let token = ["gh", "p_", "a1B2c3D4e5F6g7H8i9J0"].concat();
    served.show(&format!("<p>Token: {token}</p><p>password=hunter2</p><p>the correcthorse in production</p><p>end"));
    let text = |query: &str| served.api.get(&format!("/text{query}")).ok();
    let response = text("");
    assert_eq!(response["text"], "Token: [secret]\n\npassword=[secret]\n\nthe [secret] in production\n\nend");
    assert_eq!(response["truncated"], false);
    let raw = text("?raw=true");
    assert!(
        raw["text"].as_str().unwrap().contains(&token) && raw["text"].as_str().unwrap().contains("hunter2"),
        "{raw}"
    );
    // One that the limit would cut is covered as a whole, and the limit holds for what is returned.
    let cut = text("?maxChars=13");
    assert_eq!((cut["text"].as_str(), &cut["truncated"]), (Some("Token: [secre"), &json!(true)));
    let whole = text("?maxChars=0");
    assert_eq!((whole["text"].as_str(), &whole["truncated"]), (response["text"].as_str(), &json!(false)));
}

#[test]
fn element_reads_are_redacted_in_every_form() {
    let Some(served) = TestServer::browsing_with(|_, _| {}) else { return };
    let token = ["gh", "p_", "a1B2c3D4e5F6g7H8i9J0"].concat();
    served.show(&format!(
        "<select multiple aria-label='Keys {token}'><option selected>{token}</option><option selected>plain</option></select>"
    ));
    let get = |more: Value| {
        let mut query = json!({ "what": "value", "selector": "select" });
        query.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        served.api.post("/get", &query).ok()
    };
    let response = get(json!({}));
    assert_eq!(response["value"], json!(["[secret]", "plain"]), "{response}");
    assert!(!response.to_string().contains(&token), "{response}");
    let raw = get(json!({ "raw": true }));
    assert_eq!(raw["value"], json!([token, "plain"]), "{raw}");
}
