//! Recordings of a person's work, over the HTTP API.

use std::io::Read as _;
use std::time::Duration;

use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::person::Person;
use crate::support::soon;

/// A recording in progress and the person who is recorded.
pub(crate) struct Stage {
    pub(crate) served: TestServer,
    pub(crate) id: String,
    pub(crate) person: Person,
}

impl Stage {
    /// Records a page of the site.
    pub(crate) fn showing(html: &str) -> Option<Self> {
        let served = TestServer::browsing()?;
        served.site.page("/", html);
        Some(Self::of(served, "/"))
    }

    pub(crate) fn of(served: TestServer, path: &str) -> Self {
        let start_url = served.site.url("a", path);
        let begun = served.api.post("/recordings", &json!({ "start_url": start_url, "name": "Stage" })).ok();
        let id = begun["recording_id"].as_str().unwrap().to_owned();
        let created = served.api.until("the first tab", &format!("/recordings/{id}/events"), |answer| {
            of_type(answer, "page_view").next().is_some()
        });
        let target = of_type(&created, "tab_created").next().unwrap()["data"]["target_id"].as_str().unwrap().to_owned();
        let person = Person::at(served.cdp_url(), &target);
        Self { served, id, person }
    }

    pub(crate) fn path(&self, end: &str) -> String {
        format!("/recordings/{}{end}", self.id)
    }

    /// The bytes of a screenshot.
    pub(crate) fn picture(&self, path: &str) -> Vec<u8> {
        let mut answer = Vec::new();
        self.served.api.send("GET", path, None, "Connection: close\r\n").read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|part| part == b"\r\n\r\n").unwrap();
        answer.split_off(head + 4)
    }

    /// Ends the recording; its events.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.served.api.post(&self.path("/stop"), &json!({})).ok();
        let answer = self.served.api.get(&self.path("/events?limit=5000")).ok();
        answer["events"].as_array().unwrap().clone()
    }
}

fn of_type<'a>(answer: &'a Value, wanted: &'a str) -> impl Iterator<Item = &'a Value> {
    answer["events"].as_array().into_iter().flatten().filter(move |event| event["event_type"] == wanted)
}

/// What was done, a line for each event.
fn lines(events: &[Value]) -> Vec<String> {
    let line = |event: &Value| {
        let element = &event["element"];
        let of = |name: &str| element[name].as_str().unwrap_or_default();
        let kind = event["event_type"].as_str().unwrap();
        let data = &event["data"];
        let rest = match kind {
            "input" => data["value"].to_string(),
            "change" => ["values", "checked", "value"]
                .iter()
                .find(|name| !data[**name].is_null())
                .map_or(String::new(), |name| data[*name].to_string()),
            "keydown" => data["key"].to_string(),
            "click" if data["count"] != 1 => data["count"].to_string(),
            "click" if data["button"] != "left" => data["button"].to_string(),
            "dialog" => format!("{} {} {}", data["message"], data["accepted"], data["prompt_text"]),
            "file_chosen" => data["names"].to_string(),
            _ => String::new(),
        };
        format!("{kind} {} {:?} {rest}", of("role"), of("name")).trim_end().to_owned()
    };
    events.iter().map(line).collect()
}

/// The events of actions, and what followed them, without those of the start and end.
pub(crate) fn actions(events: &[Value]) -> Vec<String> {
    let passive = ["recording_started", "recording_stopped", "tab_created", "tab_navigated", "tab_ready", "page_view"];
    lines(events).into_iter().filter(|line| !passive.iter().any(|kind| line.starts_with(kind))).collect()
}

#[test]
fn work_in_a_page_becomes_events_with_screenshots() {
    let html = "<title>Stage</title><body style='background: #fff'><form action=/next><label>Name <input name=name></label> \
        <button>Send</button></form>";
    let Some(stage) = Stage::showing(html) else { return };
    stage.served.site.page("/next", "<title>Next</title><h1>Done</h1>");
    stage.person.click("document.querySelector('input')");
    stage.person.write("Ada");
    stage.person.click("document.querySelector('button')");
    stage.served.api.until("the next page", &stage.path("/events"), |answer| of_type(answer, "page_view").count() == 2);
    let events = stage.events();
    assert_eq!(
        lines(&events),
        [
            "recording_started  \"\"",
            "tab_created  \"\"",
            "tab_navigated  \"\"",
            "page_view  \"\"",
            "tab_ready  \"\"",
            "click textbox \"Name\"",
            "input textbox \"Name\" \"Ada\"",
            "click button \"Send\"",
            "submit form \"\"",
            "tab_navigated  \"\"",
            "page_view  \"\"",
            "recording_stopped  \"\"",
        ]
    );
    let indexes: Vec<u64> = events.iter().map(|event| event["event_index"].as_u64().unwrap()).collect();
    assert_eq!(indexes, (1..=12).collect::<Vec<u64>>());
    assert_eq!(events[8]["data"]["caused_by"], 8, "the click caused the submission");
    assert_eq!(events[9]["data"]["caused_by"], 9, "which caused the navigation");
    assert!(events.iter().all(|event| event["by"] == "person"), "{events:?}");
    let sent = &events[7];
    let path = sent["keyframe"].as_str().unwrap_or_else(|| panic!("no screenshot: {sent}"));
    let picture = stage.picture(path);
    assert!(picture.starts_with(&[0xff, 0xd8, 0xff]), "{} bytes", picture.len());
}

#[test]
fn a_page_that_is_drawn_once_has_screenshots() {
    let html = "<title>First</title><a href=/next>Next</a>";
    let Some(stage) = Stage::showing(html) else { return };
    stage.served.site.page("/next", "<title>Second</title><p style='width: 200px'>Nothing changes here.</p>");
    stage.person.click("document.querySelector('a')");
    stage.served.api.until("the next page", &stage.path("/events"), |answer| of_type(answer, "page_view").count() == 2);
    let at = stage.person.middle("document.querySelector('p')");
    // A person clicks until it is there, but not faster than screenshots are made.
    let until_pictured = |what: &str, is_there: &dyn Fn(&Value) -> bool| {
        let deadline = soon();
        while !deadline.passed() {
            stage.person.click_at(at);
            let turn = Deadline::after(Duration::from_secs(1));
            while !turn.passed() {
                let answer = stage.served.api.get(&stage.path("/events?limit=5000")).ok();
                if of_type(&answer, "click").any(|event| is_there(event) && event["keyframe"].is_string()) {
                    return;
                }
                cdpilot::sync::pause(Duration::from_millis(20));
            }
        }
        panic!("no click {what} has a screenshot");
    };
    until_pictured("on the next page", &|event| event["page"]["title"] == "Second");
    // The address changes, the page is not drawn again.
    stage.person.eval("history.pushState(null, '', '/other'); 1");
    until_pictured("at the new address", &|event| event["page"]["url"].as_str().unwrap().ends_with("/other"));
}

fn placed(left: u32, top: u32) -> String {
    format!("position: absolute; left: {left}px; top: {top}px; width: 100px; height: 30px; box-sizing: border-box")
}

#[test]
fn frames_shadow_roots_and_stopped_events_are_recorded() {
    let Some(served) = TestServer::browsing() else { return };
    let frame = |host: &str, path: &str, (left, top, width, height): (u32, u32, u32, u32)| {
        let url = served.site.url(host, path);
        let style = format!(
            "position: absolute; left: {left}px; top: {top}px; width: {width}px; height: {height}px; border: 0"
        );
        format!("<iframe name=deep src='{url}' style='{style}'></iframe>")
    };
    served.site.page("/deepest", &format!("<button style='{}'>Deepest</button>", placed(10, 10)));
    let button = format!("<button style='{}'>Inner</button>", placed(10, 10));
    served.site.page("/inner", &format!("{button}{}", frame("a", "/deepest", (0, 60, 300, 100))));
    served.site.page("/outer", &frame("b", "/inner", (0, 0, 400, 200)));
    let html = format!(
        "<title>Stage</title><body style='margin: 0'>{}
         <closed-box style='position: absolute; left: 10px; top: 10px'></closed-box>
         <div id=list style='position: absolute; left: 520px; top: 100px; width: 200px; height: 100px; overflow: auto'>
         <p style='height: 900px'>Long</p></div>
         <input type=range id=level aria-label=Level style='position: absolute; left: 10px; top: 350px; width: 200px'>
         <div id=plain style='position: absolute; left: 600px; top: 10px; width: 200px'></div>
         <script>plain.attachShadow({{mode: 'closed'}}).innerHTML = '<input aria-label=Inside>'; customElements.define('closed-box', class extends HTMLElement {{ constructor() {{
         super(); this.attachShadow({{mode: 'closed'}}).innerHTML = '<button>Hidden</button>'; }} }});
         for (const type of ['pointerdown', 'mousedown', 'click', 'input', 'change', 'keydown', 'focusin', 'scroll'])
         addEventListener(type, (event) => event.stopImmediatePropagation(), true);
         Object.freeze(Event.prototype); Object.freeze(EventTarget.prototype);
         </script>",
        frame("b", "/outer", (100, 100, 400, 200))
    );
    served.site.page("/", &html);
    let stage = Stage::of(served, "/");
    let person = &stage.person;
    stage.served.api.until("the frames", &stage.path("/events"), |_| person.eval("document.readyState") == "complete");
    person.click_at((120.0, 120.0));
    person.click_at((120.0, 180.0));
    person.click_at((30.0, 20.0));
    person.click_at((620.0, 20.0));
    stage.served.api.until("the field", &stage.path("/events"), |answer| answer.to_string().contains("\"Inside\""));
    person.write("Hi");
    person.drag((110.0, 358.0), (190.0, 358.0));
    // What a page does by itself is nobody's work.
    person.eval(
        "document.querySelector('#level').dispatchEvent(new Event('change', { bubbles: true })); scrollTo(0, 10); 1",
    );
    person.wheel((600.0, 150.0), 300.0);
    stage.served.api.until("the scroll", &stage.path("/events"), |answer| of_type(answer, "scroll").next().is_some());
    let events = stage.events();
    assert_eq!(
        actions(&events),
        [
            "click button \"Inner\"",
            "click button \"Deepest\"",
            "click button \"Hidden\"",
            "click textbox \"Inside\"",
            "input textbox \"Inside\" \"Hi\"",
            "change slider \"Level\" \"92\"",
            "scroll generic \"\"",
        ]
    );
    let paths: Vec<usize> =
        events.iter().map(|event| event["frame"].as_array().unwrap().len()).filter(|deep| *deep > 0).collect();
    assert_eq!(paths, [2, 3], "frames of the first two clicks");
    let deepest = events.iter().find(|event| event["element"]["name"] == "Deepest").unwrap();
    assert_eq!(deepest["frame"][2]["name"], "deep");
    assert_eq!(deepest["page"]["title"], "Stage");
}

#[test]
fn what_is_typed_into_a_closed_root_of_a_plain_element_is_recorded() {
    // Without a custom element, from which the recorder would look for closed roots anyway.
    let html = "<title>Stage</title><body style='margin: 0'><div id=plain style='position: absolute; left: 100px; top: 10px; width: 200px'></div>
        <script>plain.attachShadow({mode: 'closed'}).innerHTML = '<input aria-label=Inside>'</script>";
    let Some(stage) = Stage::showing(html) else { return };
    stage.person.click_at((120.0, 20.0));
    stage.served.api.until("the field", &stage.path("/events"), |answer| answer.to_string().contains("\"Inside\""));
    stage.person.write("Hi");
    assert_eq!(actions(&stage.events()), ["click textbox \"Inside\"", "input textbox \"Inside\" \"Hi\""]);
}

#[test]
fn a_password_that_a_form_puts_into_the_next_address_is_covered() {
    let html = "<title>In</title><form action=/in><input type=password name='x 1'><input name=who value=Ann><button>Go</button></form>";
    let Some(stage) = Stage::showing(html) else { return };
    stage.served.site.page("/in", "<title>Welcome</title><button>Next</button>");
    let person = &stage.person;
    person.click("document.querySelector('input')");
    person.write("zebra-4711");
    person.click("document.querySelector('button')");
    let welcome = |answer: &Value| of_type(answer, "page_view").any(|event| event["page"]["title"] == "Welcome");
    stage.served.api.until("the next page", &stage.path("/events"), welcome);
    person.click("document.querySelector('button')");
    let events = json!(stage.events()).to_string();
    assert!(events.contains("/in?x+1=[secret]&who=Ann"), "{events}");
    assert!(events.contains("\"sensitive\":true"), "its field is described: {events}");
    let bytes = stored_bytes(stage.served.home.root());
    assert!(!bytes.windows(10).any(|part| part == b"zebra-4711"), "it is in a file");
}

#[test]
fn dialogs_files_popups_and_reloads_are_recorded() {
    let Some(served) = TestServer::browsing() else { return };
    let html =
        "<title>Stage</title><button id=ask onclick=\"document.title = confirm('Sure?') + prompt('Who?')\">Ask</button>
        <label>Paper <input type=file></label><a href=/popup target=_blank rel=opener>Open</a><a href=/next>Next</a>";
    served.site.page("/", html);
    served.site.page("/popup", "<title>Popup</title><button onclick='window.close()'>Close</button>");
    served.site.page("/next", "<title>Next</title><input aria-label=City>");
    let stage = Stage::of(served, "/");
    let person = &stage.person;
    person.click_and_answer("document.querySelector('#ask')", &[(true, ""), (true, "Ada")]);
    let file = person.send("Runtime.evaluate", &json!({ "expression": "document.querySelector('input')" }));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt");
    std::fs::write(&path, "Dear").unwrap();
    person.send("DOM.setFileInputFiles", &json!({ "files": [path], "objectId": file["result"]["objectId"] }));
    person.click("document.querySelector('a')");
    let opened =
        stage.served.api.until("the popup", &stage.path("/events"), |answer| of_type(answer, "page_view").count() == 2);
    let popup = of_type(&opened, "tab_created").last().unwrap()["data"].clone();
    let second = Person::at(stage.served.cdp_url(), popup["target_id"].as_str().unwrap());
    let at = second.middle("document.querySelector('button')");
    second.close_by_click_at(at);
    stage.served.api.until("its end", &stage.path("/events"), |answer| of_type(answer, "tab_closed").next().is_some());
    person.click("document.querySelectorAll('a')[1]");
    stage.served.api.until("the next page", &stage.path("/events"), |answer| of_type(answer, "page_view").count() == 3);
    person.click("document.querySelector('input')");
    person.write("Bo");
    person.send("Page.reload", &json!({}));
    stage.served.api.until("the reload", &stage.path("/events"), |answer| of_type(answer, "page_view").count() == 4);
    person.click("document.querySelector('input')");
    person.write("Rome");
    person.send(
        "Page.navigateToHistoryEntry",
        &json!({ "entryId": person.send("Page.getNavigationHistory", &json!({}))["entries"][0]["id"] }),
    );
    stage.served.api.until("back", &stage.path("/events"), |answer| of_type(answer, "tab_back").next().is_some());
    let events = stage.events();
    assert_eq!(
        actions(&events),
        [
            "click button \"Ask\"",
            "dialog  \"\" \"Sure?\" true null",
            "dialog  \"\" \"Who?\" true \"Ada\"",
            "file_chosen button \"Paper\" [\"letter.txt\"]",
            "click link \"Open\"",
            "click button \"Close\"",
            "tab_closed  \"\"",
            "click link \"Next\"",
            "click textbox \"City\"",
            "input textbox \"City\" \"Bo\"",
            "click textbox \"City\"",
            "input textbox \"City\" \"Rome\"",
            "tab_back  \"\"",
        ]
    );
    let opening = events.iter().find(|event| event["element"]["name"] == "Open").unwrap();
    assert_eq!(popup["caused_by"], opening["event_index"], "{popup}");
    assert_eq!(popup["opener"], 1, "{popup}");
}

/// The bytes of all files of a home.
fn stored_bytes(folder: &std::path::Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(stored_bytes(&path));
        } else if let Ok(bytes) = std::fs::read(&path) {
            all.extend(bytes);
        }
    }
    all
}

/// The colour of a screenshot at a point in its pixels; the browser decodes it.
fn colour(served: &TestServer, jpeg: &[u8], (x, y): (u32, u32)) -> [u64; 3] {
    use base64::Engine as _;
    let data = base64::engine::general_purpose::STANDARD.encode(jpeg);
    let script = format!(
        "(async () => {{ const image = new Image(); image.src = 'data:image/jpeg;base64,{data}'; await image.decode(); \
         const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d'); canvas.drawImage(image, 0, 0); \
         return [...canvas.getImageData({x}, {y}, 1, 1).data].slice(0, 3); }})()"
    );
    let got = served.api.eval(&script);
    std::array::from_fn(|at| got[at].as_u64().unwrap())
}

#[test]
fn what_is_typed_into_sensitive_fields_is_found_nowhere() {
    let html = "<title>Pay</title><body style='margin: 0; background: #fff'><input type=password aria-label=Password>
        <input autocomplete=one-time-code aria-label=Code style='position: absolute; left: 0; top: 100px; width: 400px; height: 100px; \
        font: 90px monospace; border: 0; padding: 0; background: #fff'>
        <input name=cardNumber aria-label=Card><input name=secretary aria-label=Secretary>
        <button style='position: absolute; left: 500px; top: 300px'>Pay</button>";
    let Some(stage) = Stage::showing(html) else { return };
    let person = &stage.person;
    let typed = [("0", "zebra-4711-kite"), ("1", "8240917"), ("2", "4929 1168 0001 2233"), ("3", "Miss Lemon")];
    for (field, text) in typed {
        person.click(&format!("document.querySelectorAll('input')[{field}]"));
        person.write(text);
    }
    // A password that the page shows stays secret.
    person.eval("document.querySelector('input').type = 'text'; 1");
    person.click("document.querySelector('input')");
    person.write("!x");
    person.click("document.querySelector('button')");
    let events = stage.events();
    let values: Vec<&Value> = of_type_in(&events, "input").map(|event| &event["data"]["value"]).collect();
    assert_eq!(values, [&Value::Null, &Value::Null, &Value::Null, &json!("Miss Lemon"), &Value::Null]);
    let export = stage.served.api.get(&stage.path("/export?format=cdpilot")).text;
    let draft = stage.served.api.get(&stage.path("/workflow-draft")).text;
    let bytes = stored_bytes(stage.served.home.root());
    for (_, secret) in &typed[..3] {
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret} is in a file");
        assert!(!export.contains(secret) && !draft.contains(secret), "{secret} is in an export");
    }
    assert!(export.contains("Miss Lemon"));
    // The last click: 960 of 1280 pixels, below the line of text. The code would be drawn at the middle of its field.
    let click = of_type_in(&events, "click").last().unwrap();
    let picture = stage.picture(click["keyframe"].as_str().unwrap_or_else(|| panic!("{click}")));
    stage.served.open("/");
    for x in (10..260).step_by(10) {
        let [red, green, blue] = colour(&stage.served, &picture, (x, 22 + 110));
        assert!(red < 90 && green < 90 && blue < 90, "at {x}: {red} {green} {blue}");
    }
}

fn of_type_in<'a>(events: &'a [Value], wanted: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["event_type"] == wanted)
}

#[test]
fn a_page_cannot_forge_events_and_a_flood_is_a_gap() {
    let html = "<title>Flood</title><button id=b>Real</button><input id=i><div id=s style='height: 50px; overflow: auto'><p style='height: 999px'></div>
        <script>for (const name of Object.getOwnPropertyNames(window)) if (/^(record[0-9a-f]{32}|__cdpilot)$/.test(name)) document.title = 'seen ' + name;
        function flood() { for (let n = 0; n < 3000; n++) {
            b.click(); b.dispatchEvent(new MouseEvent('click', { bubbles: true })); i.focus(); i.value = n; s.scrollTop = n % 500;
            i.dispatchEvent(new Event('input', { bubbles: true })); i.dispatchEvent(new Event('change', { bubbles: true })); } }
        flood();</script>";
    let Some(stage) = Stage::showing(html) else { return };
    stage.person.click("document.querySelector('#b')");
    stage.person.eval("flood(); 1");
    let events = stage.events();
    assert_eq!(actions(&events), ["click button \"Real\""]);
    assert!(events.iter().all(|event| !event["page"]["title"].as_str().unwrap().starts_with("seen")), "{events:?}");
}

#[test]
fn one_recording_a_browser_and_none_after_the_end() {
    let html = "<title>One</title><button>Go</button>";
    let Some(stage) = Stage::showing(html) else { return };
    let refused = stage.served.api.post("/recordings", &json!({})).fails(409, "CONFLICT");
    assert_eq!(refused["details"]["recording_id"], stage.id.as_str());
    stage.served.api.post(&stage.path("/pause"), &json!({})).ok();
    stage.served.api.until("the pause", &stage.path(""), |answer| answer["recording"]["paused"] == true);
    let events = stage.events();
    let last = events.last().unwrap()["event_index"].as_u64().unwrap();
    let again = stage.served.api.post(&stage.path("/stop"), &json!({})).ok();
    assert_eq!(
        (again["recording"]["status"].as_str(), again["recording"]["stop_reason"].as_str()),
        (Some("stopped"), Some("user"))
    );
    let late = json!({ "events": [{ "event_index": last + 1, "event_type": "click", "timestamp": 1.0 }] });
    stage.served.api.post(&stage.path("/events"), &late).fails(409, "CONFLICT");
    let next = stage.served.api.post("/recordings", &json!({ "launch_mode": "current_window" })).ok();
    stage.served.api.post(&format!("/recordings/{}/stop", next["recording_id"].as_str().unwrap()), &json!({})).ok();
}
