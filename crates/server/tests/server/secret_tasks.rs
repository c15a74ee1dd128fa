//! Conversations that type secrets which their model never sees.

use std::path::Path;

use serde_json::{Value, json};

use crate::server_tasks::{Tasks, results};
use crate::support::agent_plan::Do;
use crate::support::agent_wire::check;
use crate::support::share::share;
use crate::support::site::Site;
use crate::support::streaming_model::{Script, StreamingModel};

const PASSWORD: &str = "Xk9#mQ2 vL&7pZ";

const STYLE: &str = "<style>body { font: 16px sans-serif } * { margin: 8px }</style>";

fn login(action: &str) -> String {
    format!(
        "{STYLE}<form method=post action='{action}'><input name=user aria-label=User><input type=password name=pass aria-label=Password>
         <input name=hint aria-label=Hint><button>Log in</button></form>"
    )
}

fn plan(url: String, steps: &[(&'static str, &'static str, &'static str)]) -> Vec<Do> {
    let mut plan = vec![Do::Tab("init", url)];
    plan.extend(steps.iter().map(|(action, part, text)| Do::Act(action, part, text)));
    plan.push(Do::Say("Done."));
    plan
}

fn store(tasks: &Tasks, name: &str, origin: &str, value: &str) {
    tasks.served.api.post("/secrets", &json!({ "name": name, "origin": origin, "value": value })).ok();
}

fn run(tasks: &Tasks, plan: usize, body: &Value) -> Vec<(String, Value)> {
    let id = tasks.create(body);
    let mut stream = tasks.send(&id, plan);
    while stream.try_next().is_some() {}
    tasks.events(&id)
}

/// All files below a folder that contain a text, except the one that stores it.
fn containing(folder: &Path, text: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            // The browser's own files: it stores what pages store.
            if !path.ends_with("profiles") {
                found.extend(containing(&path, text));
            }
        } else if !path.ends_with("secrets.json")
            && std::fs::read(&path).is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn a_model_logs_in_with_a_password_that_it_never_sees() {
    let site = Site::start();
    // As a query, which is part of addresses.
    site.page("/", &login("/in").replace("method=post", ""));
    // The site checks what it got, and shows it.
    let sent = "?user=ada&pass=Xk9%23mQ2+vL%267pZ&hint=Xk9%23mQ2+vL%267pZ";
    let check_it = format!(
        "<script>document.querySelector('button').textContent = location.search === '{sent}' ? 'Welcome' : 'Wrong'</script>"
    );
    let shown = PASSWORD.replace('&', "&amp;");
    let page = format!(
        "{STYLE}<title>Hello {shown}</title><button title='{shown}'></button><p>Your password is {shown}</p>{check_it}"
    );
    site.page("/in", &page);
    let steps = [
        ("keyboard_input", "aria-label=\"User\"", "ada"),
        ("confirm_keyboard_input", "", ""),
        ("keyboard_input", "aria-label=\"Password\"", "{{secret:shop}}"),
        ("confirm_keyboard_input", "", ""),
        ("keyboard_input", "aria-label=\"Hint\"", "{{secret:shop}}"),
        ("confirm_keyboard_input", "", ""),
        ("click", ">Log in<", ""),
        ("confirm_click", "", ""),
    ];
    let Some(tasks) = Tasks::new(vec![plan(site.url("a", "/"), &steps)]) else { return };
    let secret = json!({ "name": "shop", "origin": site.url("a", ""), "value": PASSWORD });
    tasks.served.api.post("/secrets", &secret).ok();
    let added = tasks.served.api.post("/secrets", &json!({ "name": "shop", "fields": ["Hint"] })).ok();
    assert_eq!(added["secret"]["fields"], json!(["Hint"]));
    let events = run(&tasks, 0, &json!({ "guard": "off", "secrets": ["shop"] }));
    let failed: Vec<&Value> = results(&events).into_iter().filter(|data| data["success"] != true).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let texts: Vec<&str> = results(&events).iter().map(|data| data["text"].as_str().unwrap()).collect();
    assert!(texts.iter().any(|text| text.contains("Typed the secret shop into")), "{texts:#?}");
    assert!(texts.last().unwrap().contains("[secret]") && texts.last().unwrap().contains("Welcome"), "{texts:#?}");
    // The model is told that it may, keeps the name in its history, and never gets the value.
    let requests = tasks.model.requests();
    check(&requests);
    let all = json!(requests).to_string();
    assert!(all.contains("`{{secret:shop}}`") && all.contains(r#"\"text\":\"{{secret:shop}}\""#));
    for form in ["Xk9#mQ2", "Xk9%23mQ2", "XK9#MQ2"] {
        assert!(!all.contains(form), "{form}");
        assert!(!json!(events).to_string().contains(form), "{form}");
        assert_eq!(containing(tasks.served.home.root(), form.as_bytes()), [""; 0]);
    }
}

#[test]
fn a_secret_is_typed_nowhere_else() {
    let site = Site::start();
    site.page("/", &login("/in"));
    site.page("/away", &login(&site.url("b", "/steal")));
    site.page(
        "/button",
        &login("/in").replace("<button>", &format!("<button formaction='{}'>", site.url("b", "/steal"))),
    );
    site.page("/loose", &format!("{STYLE}<input type=password aria-label=Password>"));
    site.page(
        "/framed",
        &format!("{STYLE}<h1>Login</h1><iframe src='{}' width=600 height=300></iframe>", site.url("b", "/")),
    );
    site.page(
        "/sandbox",
        &format!("{STYLE}<iframe sandbox='allow-forms allow-scripts' src='/' width=600 height=300></iframe>"),
    );
    site.page("/base", &format!("<base href='{}'>{}", site.url("b", "/"), login("steal")));
    site.page(
        "/clobbered",
        &login(&site.url("b", "/steal")).replace("<input name=user", "<input name=action value=/in><input name=user"),
    );
    site.page("/script", &login("javascript:void(0)"));
    site.page(
        "/search",
        &format!("{STYLE}<form action=/find><input name=q aria-label=Password><button>Go</button></form>"),
    );
    let typing =
        |name: &'static str| [("keyboard_input", "aria-label=\"Password\"", name), ("confirm_keyboard_input", "", "")];
    let cases = [
        (site.url("b", "/"), "{{secret:shop}}", "belongs to"),
        (site.url("a", "/away"), "{{secret:shop}}", "its form may be sent to http://b.localhost"),
        (site.url("a", "/button"), "{{secret:shop}}", "its form may be sent to http://b.localhost"),
        (site.url("a", "/loose"), "{{secret:shop}}", "it belongs to no form"),
        (site.url("a", "/framed"), "{{secret:shop}}", "this field is in a page of http://b.localhost"),
        (site.url("a", "/sandbox"), "{{secret:shop}}", "this field is in a page of null"),
        (site.url("a", "/base"), "{{secret:shop}}", "its form may be sent to http://b.localhost"),
        (site.url("a", "/clobbered"), "{{secret:shop}}", "its form may be sent to http://b.localhost"),
        (site.url("a", "/"), "{{secret:shop}}x", "a secret is typed alone"),
        (site.url("a", "/script"), "{{secret:shop}}", "an address without an origin, such as that of a script"),
        (site.url("a", "/search"), "{{secret:shop}}", "is no field for passwords or one-time codes"),
        (site.url("a", "/"), "{{secret:other}}", "may not use the secret \"other\"; it may use: shop"),
    ];
    let plans = cases.iter().map(|(url, text, _)| plan(url.clone(), &typing(text))).collect();
    let Some(tasks) = Tasks::new(plans) else { return };
    store(&tasks, "shop", &site.url("a", ""), PASSWORD);
    store(&tasks, "other", &site.url("a", ""), "another value");
    for (number, (url, _, part)) in share(cases.iter().enumerate(), 4) {
        let events = run(&tasks, number, &json!({ "guard": "off", "secrets": ["shop"] }));
        let last = results(&events).pop().unwrap();
        assert_eq!((&last["success"], &last["code"]), (&json!(false), &json!("NOT_ACTIONABLE")), "{url}: {last}");
        let text = last["error"].as_str().or(last["text"].as_str()).unwrap();
        assert!(text.contains(part) && text.contains("nothing was typed"), "{url}: {text}");
    }
    assert!(!json!(tasks.model.requests()).to_string().contains("Xk9#mQ2"));
    assert!(site.requested().iter().all(|path| !path.contains("steal")));
}

#[test]
fn a_conversation_names_only_secrets_that_there_are() {
    let site = Site::start();
    let Some(tasks) = Tasks::new(vec![vec![Do::Say("Done.")]]) else { return };
    let api = &tasks.served.api;
    let failure =
        api.post("/agent/conversations", &json!({ "guard": "off", "secrets": ["shop"] })).fails(400, "BAD_REQUEST");
    assert!(failure["error"].as_str().unwrap().contains("secrets: there is no secret \"shop\""), "{failure}");
    store(&tasks, "shop", &site.url("a", ""), PASSWORD);
    let id = tasks.create(&json!({ "guard": "off", "secrets": ["shop"] }));
    // What a person writes is covered, too.
    let body = json!({ "text": format!("The password is {PASSWORD} 0") }).to_string();
    let mut stream = api.events_of("POST", &format!("/agent/conversations/{id}/messages"), Some(&body), "");
    while stream.try_next().is_some() {}
    assert!(!json!(tasks.model.requests()).to_string().contains("mQ2"));
}

#[test]
fn one_time_codes_are_typed_and_covered() {
    let site = Site::start();
    site.page("/", &format!("{STYLE}<form method=post action=/in><input name=code autocomplete=one-time-code aria-label=Code><button>Verify</button></form><output></output>
        <script>document.querySelector('input').oninput = event => {{ document.querySelector('output').textContent = 'code ' + event.target.value }}</script>"));
    let steps = [("keyboard_input", "aria-label=\"Code\"", "{{secret:shop_code}}"), ("confirm_keyboard_input", "", "")];
    let mut plans = plan(site.url("a", "/"), &steps);
    plans.insert(3, Do::Look);
    let Some(tasks) = Tasks::new(vec![plans]) else { return };
    store(&tasks, "shop_code", &site.url("a", ""), "otpauth://totp/Shop:ada?secret=JBSWY3DPEHPK3PXP&issuer=Shop");
    let events = run(&tasks, 0, &json!({ "guard": "off", "secrets": ["shop_code"] }));
    let failed: Vec<&Value> = results(&events).into_iter().filter(|data| data["success"] != true).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let tab = tasks.served.api.get("/tabs").ok()["tabs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|tab| tab["url"] == site.url("a", "/"))
        .unwrap()["targetId"]
        .clone();
    let script = json!({ "kind": "evaluate", "fn": "/^[0-9]{6}$/.test(document.querySelector('input').value) && document.querySelector('output').textContent", "targetId": tab });
    assert_eq!(tasks.served.api.act(&script).ok()["result"], "code [secret]");
}

#[test]
fn scripts_and_conditions_tell_nothing_where_secrets_are_typed() {
    let site = Site::start();
    // Its address contains the secret.
    let address = "<script>history.replaceState(0, '', '/?p=Xk9%23mQ2+vL%267pZ')</script>";
    site.page("/", &format!("{}{address}", login("/in")));
    let url = site.url("a", "/");
    let model = StreamingModel::answering(move |request| {
        let calls =
            request["messages"].as_array().unwrap().iter().filter(|message| message["tool_calls"].is_array()).count();
        let call = |tool: &str, arguments: &Value| Script::stream().call(&format!("c{calls}"), tool, arguments).done();
        match calls {
            0 => call("browser_navigate", &json!({ "url": url })),
            1 => call("browser_evaluate", &json!({ "script": "1 + 1" })),
            2 => call("browser_cdp", &json!({ "method": "Runtime.evaluate", "params": { "expression": "1 + 1" } })),
            3 => call("browser_console", &json!({ "expression": "1 + 1" })),
            // What it does not show, no condition tells.
            4 => call("browser_wait", &json!({ "url": "*mQ2*", "timeout_ms": 300 })),
            5 => call("browser_wait", &json!({ "url": "*p=[secret]" })),
            _ => Script::stream().text("Done.").done(),
        }
    });
    let Some(tasks) = Tasks::new(vec![]) else { return };
    let models = json!({ "models": { "two": { "model": "m", "base_url": model.url() } } });
    tasks.served.api.post("/api/config/llm", &models).ok();
    store(&tasks, "shop", &site.url("a", ""), PASSWORD);
    // Raw commands are offered while a browser runs.
    tasks.served.open("/");
    let events = run(&tasks, 0, &json!({ "guard": "off", "secrets": ["shop"], "toolsets": ["browser"] }));
    let codes: Vec<&Value> = results(&events).iter().skip(1).map(|data| &data["code"]).collect();
    let refused = "EVALUATE_DISABLED";
    assert_eq!(json!(codes), json!([refused, refused, refused, "TIMEOUT", null]), "{events:#?}");
}
