//! `/secrets`: secrets that conversations may type, and that no answer, event or picture of the server shows.

use base64::Engine as _;
use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::pixels::Pixels;

/// A value that differs in each of its encodings.
const VALUE: &str = "Tr0ub4 dor&3<\"x";

fn store(served: &TestServer, name: &str, origin: &str, value: &str) -> Value {
    served.api.post("/secrets", &json!({ "name": name, "origin": origin, "value": value })).ok()["secret"].clone()
}

fn local() -> TestServer {
    TestServer::with(|config, _| config.secrets.store = cdpilot_server::config::SecretsIn::File)
}

fn browsing() -> Option<TestServer> {
    TestServer::browsing_with(|config, _| config.secrets.store = cdpilot_server::config::SecretsIn::File)
}

#[test]
fn secrets_are_stored_and_listed_without_their_values() {
    let mut served = local();
    assert_eq!(served.api.get("/secrets").ok()["secrets"], json!([]));
    let shop = store(&served, "shop", "https://Shop.example/", VALUE);
    assert_eq!(shop, json!({ "name": "shop", "origin": "https://shop.example", "kind": "text", "stored_in": "file" }));
    store(&served, "bank.code", "https://bank.example", "totp:JBSWY3DPEHPK3PXP");
    let file = served.home.root().join("secrets.json");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    served.restart();
    let listed = served.api.get("/secrets").ok();
    assert_eq!(listed["secrets"].as_array().unwrap().len(), 2);
    assert_eq!(listed["secrets"][0]["kind"], "totp");
    assert!(!listed.to_string().contains("JBSWY") && !listed.to_string().contains("Tr0ub4"), "{listed}");
    assert_eq!(served.api.delete("/secrets/shop").ok()["removed"], true);
    let missing = served.api.delete("/secrets/shop").fails(404, "NOT_FOUND");
    assert!(missing["error"].as_str().unwrap().contains("there are: bank.code"), "{missing}");
    assert!(!std::fs::read_to_string(&file).unwrap().contains("Tr0ub4"));
}

#[test]
fn what_is_not_accepted_is_refused_without_repeating_the_value() {
    let served = local();
    let good = json!({ "name": "shop", "origin": "https://shop.example", "value": VALUE });
    for (field, value, part) in [
        ("name", json!("a b"), "name: use 1 to 64"),
        ("name", json!(7), "name: "),
        ("origin", json!("shop.example"), "origin: \"shop.example\" is not a URL"),
        ("origin", json!("https://shop.example/login"), "give https://shop.example"),
        ("origin", json!("javascript:alert(1)"), "origin: only https://"),
        ("value", json!("123"), "value: it has fewer than 4"),
        ("value", json!(482_913), "value: expected a string"),
        ("value", json!(["hunter22"]), "value: expected a string"),
        ("value", json!("totp:hunter22!"), "Base32"),
    ] {
        let mut body = good.clone();
        body[field] = value.clone();
        let failure = served.api.post("/secrets", &body).fails(400, "BAD_REQUEST");
        let error = failure["error"].as_str().unwrap();
        assert!(error.contains(part), "{field} {value}: {error}");
        assert!(!error.contains("hunter22") && !error.contains("482913") && !error.contains("Tr0ub4"), "{error}");
    }
    served.api.post("/secrets", &json!({ "name": "shop" })).fails(400, "BAD_REQUEST");
    served.api.post("/secrets", &json!({ "name": "a", "secret": VALUE })).fails(400, "UNKNOWN_FIELD");
    assert_eq!(served.api.get("/secrets").ok()["secrets"], json!([]));
}

#[test]
fn a_damaged_file_leaves_the_rest_of_the_server_working() {
    let mut served = local();
    store(&served, "shop", "https://shop.example", VALUE);
    let file = served.home.root().join("secrets.json");
    served.restart_after(|| std::fs::write(&file, "{\"value\": \"Tr0ub4").unwrap());
    let failure = served.api.get("/secrets").fails(500, "INTERNAL");
    assert!(failure["error"].as_str().unwrap().contains("secrets.json"), "{failure}");
    assert!(!failure.to_string().contains("Tr0ub4"), "{failure}");
    served.api.get("/tabs").ok();
}

/// Shows the value as text, split over elements, in fields, in an attribute, and in a frame of another site; in red. What is
/// not secret is blue.
fn showing(served: &TestServer, value: &str) -> String {
    let html = value.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let split: String =
        value.chars().map(|c| format!("<b>{}</b>", c.to_string().replace('&', "&amp;").replace('<', "&lt;"))).collect();
    let style = "<style>body { font: bold 32px sans-serif; color: #f00; margin: 4px } p { margin: 0 } input, textarea, select { font: inherit;
        color: #f00; width: 400px; height: 44px } i { color: #00f; display: block; margin-bottom: 12px } [data-x]::before { content: attr(data-x) }</style>";
    let page = format!(
        "{style}<i>public</i><p>{html}</p><p>{split}</p><input value=\"{html}\"><textarea>{html}</textarea>
         <select><option>{html}</select><p data-x=\"{html}\"></p><p style='width:80px;white-space:nowrap'>{html}</p>
         <iframe src='@b/inner' style='width:600px;height:60px;border:0'></iframe>"
    );
    served.site.page("/inner", &format!("{style}<p>{html}</p>"));
    served.site.page("/", &page);
    served.open("/")
}

fn picture(served: &TestServer, body: &Value) -> Pixels {
    let mut body = body.clone();
    body["inline"] = true.into();
    let taken = served.api.post("/screenshot", &body).ok();
    let png = base64::engine::general_purpose::STANDARD.decode(taken["data"].as_str().unwrap()).unwrap();
    Pixels::decode(&png)
}

const RED: [u8; 3] = [255, 0, 0];
const BLUE: [u8; 3] = [0, 0, 255];

#[test]
fn pictures_show_no_secret() {
    let Some(served) = browsing() else { return };
    showing(&served, VALUE);
    let before = picture(&served, &json!({}));
    assert!(before.count(RED) > 2_000 && before.count(BLUE) > 50, "{} {}", before.count(RED), before.count(BLUE));
    store(&served, "shop", "https://shop.example", VALUE);
    let after = picture(&served, &json!({}));
    assert_eq!((after.count(RED), after.bounds(RED)), (0, None));
    assert_eq!(after.count(BLUE), before.count(BLUE), "the rest is as it was");
    let labelled = picture(&served, &json!({ "labels": true }));
    assert_eq!(labelled.count(RED), 0);
    let element = picture(&served, &json!({ "element": "textarea" }));
    assert_eq!(element.count(RED), 0);
    // The last picture, which is shown while a dialog is open.
    served.dialog("alert(1)");
    let blocked = served.api.post("/screenshot", &json!({ "inline": true })).fails(409, "BLOCKED_BY_DIALOG");
    let last = blocked["details"]["lastScreenshot"]["data"].as_str().unwrap();
    let last = Pixels::decode(&base64::engine::general_purpose::STANDARD.decode(last).unwrap());
    assert!(last.count(RED) == 0 && last.count(BLUE) > 50);
    served.api.post("/hooks/dialog", &json!({ "accept": true })).ok();
    // Where it cannot be painted over, there is no picture.
    let refused = served.api.post("/pdf", &json!({})).fails(409, "NOT_ACTIONABLE");
    assert!(refused["error"].as_str().unwrap().contains("stored secret"), "{refused}");
    served.api.eval("void (document.body.style.height = '5000px')");
    let whole = picture(&served, &json!({ "fullPage": true }));
    assert!(whole.count(RED) == 0 && whole.count(BLUE) > 50, "{}", whole.count(RED));
    for method in ["Page.captureScreenshot", "Page.printToPDF", "Page.captureSnapshot"] {
        served.api.post("/cdp", &json!({ "method": method })).fails(400, "BAD_REQUEST");
    }
    // What moves cannot be painted over.
    served.site.page("/moving", &format!("<b style='position:fixed'>{}</b><script>x = 0; setInterval(() => document.querySelector('b').style.left = (x = (x + 37) % 900) + 'px', 5)</script>", VALUE.replace('&', "&amp;").replace('<', "&lt;")));
    served.open("/moving");
    let refused = served.api.post("/screenshot", &json!({ "inline": true })).fails(409, "NOT_ACTIONABLE");
    assert!(refused["error"].as_str().unwrap().contains("moves"), "{refused}");
    // A page without a secret is captured as a whole, even after the secret was removed.
    served.api.delete("/secrets/shop").ok();
    served.site.page("/plain", "<body style='height:5000px'><p style='color:#00f;font-size:60px'>public");
    served.open("/plain");
    assert!(picture(&served, &json!({ "fullPage": true })).count(BLUE) > 50);
    served.api.post("/pdf", &json!({})).ok();
}

#[test]
fn no_answer_and_no_event_contains_a_secret() {
    let Some(served) = browsing() else { return };
    store(&served, "shop", "https://shop.example", VALUE);
    let mut events = served.api.events("/events", "");
    showing(&served, VALUE);
    let script = "(value => {
        document.title = value;
        document.body.append(value.toUpperCase(), ' ', btoa(value));
        console.log('logged', value);
        localStorage.setItem('kept', value);
        document.cookie = 'kept=' + encodeURIComponent(value);
        history.replaceState(null, '', '?q=' + encodeURIComponent(value));
        setTimeout(() => { throw new Error(value) });
        return value;
    })(document.querySelector('input').value)";
    let returned = served.api.eval(script);
    assert_eq!(returned, "[secret]");
    served.api.until("the error", "/errors", |errors| errors["errors"].as_array().is_some_and(|all| !all.is_empty()));
    let encoded = "Tr0ub4%20dor%263%3C%22x";
    let base64 = base64::engine::general_purpose::STANDARD.encode(VALUE);
    let check = |what: &str, answer: &str| {
        for form in [VALUE, &VALUE.to_uppercase(), encoded, "Tr0ub4+dor%263%3C%22x", &base64, "Tr0ub4 dor&3<\\\"x"] {
            assert!(!answer.contains(form), "{what} contains {form}: {answer}");
        }
        assert!(!answer.contains("Tr0ub4"), "{what}: {answer}");
    };
    for path in [
        "/snapshot",
        "/snapshot?format=aria",
        "/text",
        "/console",
        "/errors",
        "/requests",
        "/tabs",
        "/cookies",
        "/storage/local",
        "/frames?full",
    ] {
        check(path, &served.api.get(path).ok().to_string());
    }
    for (path, body) in [
        ("/get", json!({ "what": "html", "selector": "body" })),
        ("/get", json!({ "what": "value", "selector": "input" })),
        ("/find", json!({ "locator": "css=input" })),
        ("/screenshot", json!({ "labels": true })),
        (
            "/cdp",
            json!({ "method": "Runtime.evaluate", "params": { "expression": "document.body.innerText", "returnByValue": true } }),
        ),
    ] {
        check(path, &served.api.post(path, &body).ok().to_string());
    }
    let failure = served
        .api
        .act(&json!({ "kind": "evaluate", "fn": "throw new Error(document.title)" }))
        .fails(422, "SCRIPT_ERROR");
    check("an error", &failure.to_string());
    // Pages, the log and stored texts may still contain it.
    served.api.delete("/secrets/shop").ok();
    check("/get", &served.api.post("/get", &json!({ "what": "value", "selector": "input" })).ok().to_string());
    check("/events", &served.api.get("/console").ok().to_string());
    // A state is saved as it is: with "[secret]" it would not restore the login.
    let state = served.api.post("/state/save", &json!({})).ok()["state"].to_string();
    assert!(state.contains("Tr0ub4"), "{state}");
    served.api.eval("void (document.title = 'the end')");
    served.api.eval("console.log('the end')");
    loop {
        let (name, _, data) = events.next();
        check(&name, &data.to_string());
        if data["text"] == "the end" {
            break;
        }
    }
}
