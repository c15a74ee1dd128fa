//! The web UI's recordings, used in a real browser as a person would.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cdpilot::page::Act;
use serde_json::{Value, json};

use crate::server_tasks::Tasks;
use crate::server_ui_agent::{Person, shop};
use crate::support::agent_plan::Do;
use crate::support::api::TestServer;
use crate::support::site::Site;

const PICTURE: &[u8] = include_bytes!("../../src/server/routes/white.png");
/// Markup, and a character that reverses what follows.
const HOSTILE: &str = "<img src=x onerror=\"window.attacked = 1\">\u{202e}evil";

fn event(index: u64, kind: &str, element: &Value, data: Value) -> Value {
    json!({ "event_index": index, "event_type": kind, "timestamp": 100.0 + index as f64, "tab": 2, "data": data,
            "element": element, "page": { "url": "https://a.test/", "title": "A" } })
}

/// Events with their lines: the words of `cdpilot record`.
fn worded() -> Vec<(Value, &'static str)> {
    let save = json!({ "tag": "button", "role": "button", "name": "Save", "container": { "kind": "row", "title": "Harbour lease" } });
    let field = json!({ "tag": "input", "role": "textbox", "label": "City" });
    let secret = json!({ "tag": "input", "role": "textbox", "label": "Password", "sensitive": true });
    let place = |name: &str| json!({ "role": "listitem", "name": name });
    let none = &Value::Null;
    let cases = [
        ("click", &save, json!({ "button": "left", "count": 1 }), "click button “Save” in row “Harbour lease”"),
        (
            "click",
            &json!({ "tag": "div" }),
            json!({ "button": "right", "count": 2 }),
            "click div (right button) (double)",
        ),
        ("input", &field, json!({ "value": "Oslo\nBergen" }), "input textbox “City”: “Oslo Bergen”"),
        ("input", &secret, json!({ "value": null }), "input textbox “Password”: (not recorded)sensitive"),
        ("change", &field, json!({ "checked": true }), "change textbox “City”: checked"),
        ("change", &field, json!({ "values": [{ "value": "n", "label": "North" }] }), "change textbox “City”: “North”"),
        ("keydown", none, json!({ "key": "Enter", "modifiers": ["Control"] }), "keydown Control+Enter"),
        ("scroll", none, json!({ "x": 0, "y": 120.6 }), "scroll to 0, 120"),
        ("drag", none, json!({ "from": place("A"), "to": place("B") }), "drag listitem “A” to listitem “B”"),
        (
            "dialog",
            none,
            json!({ "type": "confirm", "message": "Delete?", "accepted": true }),
            "dialog confirm “Delete?”: accepted",
        ),
        ("file_chosen", &field, json!({ "names": ["a.pdf", "b.pdf"] }), "file_chosen textbox “City”: “a.pdf”, “b.pdf”"),
        ("download", none, json!({ "url": "https://a.test/a", "filename": "a.pdf" }), "download “a.pdf”"),
        ("gap", none, json!({ "count": null, "why": "the page ended" }), "gap events are missing: the page ended"),
        ("tab_navigated", none, json!({ "url": "https://b.test/" }), "tab_navigated tab 2 https://b.test/"),
        ("page_view", none, json!({}), "page_view https://a.test/"),
        ("recording_stopped", none, json!({}), "recording_stopped"),
    ];
    (1..).zip(cases).map(|(index, (kind, element, data, line))| (event(index, kind, element, data), line)).collect()
}

fn lines(person: &Person) -> Vec<String> {
    let shown = person
        .eval("JSON.stringify([...document.querySelectorAll('.recorded .line')].map(line => line.textContent.trim()))");
    serde_json::from_value(shown).unwrap()
}

fn imports(person: &Person, file: &str, then: &str) {
    person.eval(&format!(
        "(() => {{ const files = new DataTransfer(), input = document.querySelector('#view-recordings input[type=file]'); \
         files.items.add(new File([{}], 'a.json')); input.files = files.files; input.dispatchEvent(new Event('change')); return 1; }})()",
        json!(file)
    ));
    person.until(then);
}

#[test]
fn recordings_are_reviewed_in_the_page() {
    let served = TestServer::with(|_, options| options.test_routes = true);
    let Some(person) = Person::at(&served) else { return };
    person.clicks("role=link[name=Recordings]");
    person.sees("view-recordings", "There are no recordings yet.");
    let (events, wanted): (Vec<Value>, Vec<&str>) = worded().into_iter().unzip();
    let body = json!({ "name": "Lease", "events": events });
    let id = served.api.post("/recordings/ingest", &body).ok()["recording_id"].as_str().unwrap().to_owned();
    // The list is read again by itself.
    person.sees("view-recordings", "16 events, 1 gap");
    person.clicks("text=Lease");
    person.sees("view-recordings", "Events are missing in 1 place");
    person.until("document.querySelectorAll('.recorded .line').length === 16");
    assert_eq!(lines(&person), wanted);
    person.clicks("css=.recorded li:nth-child(1) summary");
    person.sees("view-recordings", "This event has no screenshot.");
    // What is excluded stays so in this tab, and is marked in what the compiler is sent.
    person.clicks("role=checkbox[name=\"Exclude event 2\"]");
    person.sees("view-recordings", "1 event is excluded");
    person.types("role=textbox >> nth=0", "Extend the lease.");
    person.sees("view-recordings", "Not saved yet");
    person.clicks("role=button[name=\"Save note\"]");
    person.sees("view-recordings", "Saved");
    assert_eq!(served.api.get(&format!("/recordings/{id}")).ok()["recording"]["intent_note"], "Extend the lease.");
    person.clicks("role=tab[name=\"What the compiler will be sent\"]");
    person.sees("view-recordings", "1 event is excluded from compilation.");
    for part in ["Lease", "sensitive: not recorded", "Click button “Save” in row “Harbour lease”", "the page ended"]
    {
        person.sees("view-recordings", part);
    }
    person.clicks("css=.draft li:nth-child(1) summary");
    person.until("document.querySelector('.draft .recorded .line')?.textContent.includes('click button “Save”')");
    assert_eq!(person.eval("document.querySelectorAll('.draft > .excluded').length"), 1);
    person.clicks("role=tab[name=Events]");
    person.until("document.querySelectorAll('.recorded .line').length === 16");
    assert_eq!(person.eval("document.querySelectorAll('.recorded input:checked').length"), 1);
    for width in [1280, 420] {
        person.acts(Act::resize(width, 740));
        person.until(&format!("innerWidth === {width}"));
        assert_eq!(person.eval("document.documentElement.scrollWidth <= innerWidth"), true, "{width}");
    }
    person.acts(Act::resize(1280, 800));
    // The file that is saved can be imported.
    person.eval(
        "URL.createObjectURL = file => (file.text().then(text => { window.exportedText = text; }), 'blob:none'); 1",
    );
    for (button, part) in [("Export for Chrome DevTools", "\"steps\""), ("Export", "cdpilot-recording/v1")] {
        person.clicks(&format!("role=button[name=\"{button}\"]"));
        person.until(&format!("window.exportedText?.includes({})", json!(part)));
    }
    let saved = person.eval("JSON.stringify(JSON.parse(window.exportedText))");
    person.clicks("role=button[name=Delete]");
    person.clicks("text=\"Delete it with its screenshots?\"");
    person.sees("view-recordings", "There are no recordings yet.");
    served.api.get(&format!("/recordings/{id}")).fails(404, "NOT_FOUND");
    imports(&person, &saved.to_string(), "location.hash.length > '#/recordings/'.length");
    person.sees("view-recordings", "Lease");
    person.until("document.querySelectorAll('.recorded .line').length === 16");
    assert_eq!(lines(&person), wanted);
}

#[test]
fn texts_of_pages_are_shown_as_text() {
    let served = TestServer::with(|_, options| options.test_routes = true);
    let element = json!({ "tag": "button", "role": "button", "name": HOSTILE, "text": HOSTILE, "html": HOSTILE, "selectors": [HOSTILE],
                          "container": { "kind": "row", "title": HOSTILE } });
    let mut click = event(1, "click", &element, json!({ "button": HOSTILE, "count": 1 }));
    click["page"]["title"] = json!(HOSTILE);
    click["frame"] = json!([{ "index": 0, "name": HOSTILE, "url": "https://b.test/" }]);
    let typed = event(2, "input", &json!({ "tag": "input", "label": HOSTILE }), json!({ "value": HOSTILE }));
    let dialog = event(3, "dialog", &Value::Null, json!({ "type": "confirm", "message": HOSTILE, "accepted": false }));
    let file = json!({ "format": "cdpilot-recording/v1", "recording": { "name": HOSTILE, "intent_note": HOSTILE },
                       "events": [click, typed, dialog],
                       "keyframes": [{ "event_index": 1, "media_type": "image/png", "base64": STANDARD.encode(PICTURE) },
                                     { "event_index": 1, "after": true, "media_type": "image/png", "base64": STANDARD.encode(PICTURE) }] });
    let Some(person) = Person::at(&served) else { return };
    person.clicks("role=link[name=Recordings]");
    imports(&person, "no JSON", "document.getElementById('problem').textContent.includes('not JSON')");
    imports(&person, "{}", "document.getElementById('problem').textContent.includes('neither')");
    imports(&person, &file.to_string(), "document.querySelectorAll('.recorded .line').length === 3");
    person.clicks("css=.recorded li:nth-child(1) summary >> nth=0");
    // Both screenshots, side by side.
    person.until("[...document.querySelectorAll('.pair img')].filter(image => image.naturalWidth === 8).length === 2");
    person.clicks("role=button[name=\"The page before event 1: enlarge\"]");
    person.until("document.querySelectorAll('.pair .large').length === 1");
    person.clicks("text=\"All fields\"");
    person.sees("view-recordings", "\\u202e");
    for part in ["events", "draft"] {
        person.eval(&format!("location.hash = location.hash.split('/').slice(0, 3).join('/') + '/{part}'; 1"));
        person.until(&format!(
            "document.querySelector('#view-recordings [role=tab][aria-selected=true]')?.textContent === '{}'",
            if part == "draft" { "What the compiler will be sent" } else { "Events" }
        ));
        person.sees("view-recordings", "<img src=x onerror=");
        assert_eq!(person.eval("document.querySelectorAll('#view-recordings img[src$=\"x\"]').length"), 0);
        assert_eq!(person.eval("document.getElementById('view-recordings').innerText.includes('\\u202e')"), false);
    }
    assert_eq!(person.eval("window.attacked ?? 0"), 0);
}

#[test]
fn a_recording_is_started_followed_and_stopped_in_the_page() {
    let Some(served) = TestServer::browsing() else { return };
    served.site.page("/", "<title>Stage</title><h1>Stage</h1><button>Save</button>");
    let Some(person) = Person::at(&served) else { return };
    person.clicks("role=link[name=Recordings]");
    person.types("label=\"Address to open first (optional)\"", &served.site.url("a", "/"));
    person.types("label=\"Name (optional)\"", "Stage");
    person.clicks("role=button[name=\"Start recording\"]");
    person.sees("view-recordings", "page_view");
    let created = served.api.get("/recordings").ok();
    let path = format!("/recordings/{}", created["recordings"][0]["recording_id"].as_str().unwrap());
    let events = served.api.get(&format!("{path}/events")).ok();
    let tab = events["events"].as_array().unwrap().iter().find(|event| event["event_type"] == "tab_created").unwrap();
    let target = tab["data"]["target_id"].clone();
    served.api.act(&json!({ "kind": "click", "locator": "role=button[name=Save]", "targetId": target })).ok();
    // As it happens, and once.
    person.sees("view-recordings", "click button “Save” (agent)");
    person.clicks("role=button[name=Pause]");
    person.sees("view-recordings", "Paused");
    person.clicks("role=button[name=Resume]");
    person.sees("view-recordings", "events are missing: the recording was paused");
    // A browser is recorded once at a time.
    person.clicks("text=\"← All recordings\"");
    person.clicks("role=button[name=\"Start recording\"]");
    person.clicks("text=\"Open that recording\"");
    person.sees("view-recordings", "click button “Save”");
    person.clicks("role=button[name=Stop]");
    person.sees("view-recordings", "Stopped");
    person.sees("view-recordings", "recording_stopped");
    assert_eq!(served.api.get(&path).ok()["recording"]["stop_reason"], "user");
    let clicks = lines(&person).iter().filter(|line| line.starts_with("click")).count();
    assert_eq!(clicks, 1);
}

#[test]
fn the_tabs_of_the_open_conversation_are_recorded() {
    let site = Site::start();
    shop(&site);
    let plan = vec![Do::Tab("init", site.url("a", "/")), Do::Say("It is a shop.")];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let Some(person) = Person::at(&tasks.served) else { return };
    person.types("label=Task", "Look, by plan 0");
    person.acts(Act::press("Enter"));
    person.sees("narration", "It is a shop.");
    person.sees("badge", "Done");
    person.clicks("role=link[name=Recordings]");
    person.acts(Act::select("label=Record", ["The tabs of the conversation “Look, by plan 0”"]));
    person.until("document.querySelector('.start-form label:nth-child(3)').hidden");
    person.clicks("role=button[name=\"Start recording\"]");
    person.sees("view-recordings", "tab_created");
    person.clicks("role=button[name=Stop]");
    person.sees("view-recordings", "recording_stopped");
    let recording = tasks.served.api.get("/recordings").ok()["recordings"][0].clone();
    assert_eq!(recording["launch_mode"], Value::Null);
}

#[test]
fn a_conversation_that_has_ended_becomes_a_recording_to_compile() {
    let site = Site::start();
    site.page("/", "<title>Switch</title><button onclick=\"this.textContent = 'On'\">Off</button>");
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Act("click", ">Off<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Say("Switched."),
        Do::Hang,
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let Some(person) = Person::at(&tasks.served) else { return };
    person.clicks("role=button[name=\"New task\"]");
    person.types("label=Task", "Follow plan 0");
    person.acts(Act::press("Enter"));
    person.sees("timeline", "Switched.");
    let button = "document.getElementById('to-routine')";
    person.until(&format!("!{button}.hidden && {button}.checkVisibility()"));
    person.clicks("role=button[name=\"Make this a routine\"]");
    person.until("/^#\\/recordings\\/.+\\/compile$/.test(location.hash)");
    person.sees("view-recordings", "Follow plan 0");
    let listed = tasks.served.api.get("/recordings").ok();
    assert_eq!(listed["recordings"][0]["name"], "Follow plan 0", "{listed:#}");
    assert!(
        person
            .eval("location.hash")
            .as_str()
            .unwrap()
            .contains(listed["recordings"][0]["recording_id"].as_str().unwrap())
    );
    // What is in progress is no work that has ended.
    person.eval("history.back(), 1");
    person.until("location.hash.startsWith('#/c/')");
    person.types("label=Task", "Follow plan 0");
    person.acts(Act::press("Enter"));
    person.until(&format!("{button}.hidden"));
}
