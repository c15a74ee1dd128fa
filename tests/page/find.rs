//! Locators: elements by role, text, label, placeholder, test id or CSS, over frames and shadow roots.

use std::time::Duration;

use cdpilot::browser::TransportKind;
use cdpilot::page::{ElementProperty, Error, Locator, Match, SnapshotOptions};
use cdpilot::sync::{Deadline, pause};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::chrome::{launch, soon};
use crate::support::renderers;
use crate::support::test_tab::{TestTab, ref_of, text};

fn found(page: &TestTab, locator: &str) -> Vec<Match> {
    page.tab.find(locator, None, None, soon()).unwrap().matches
}

fn names(page: &TestTab, locator: &str) -> Vec<String> {
    found(page, locator).into_iter().map(|found| format!("{} {}", found.role, found.name)).collect()
}

fn form() -> &'static str {
    "<h1>Sign in</h1>
     <form id=f><label>E-mail <input name=mail placeholder='you@example.com'></label>
     <label for=p>Password</label><input id=p type=password value=hunter22>
     <label><input type=checkbox id=c checked> Remember me</label>
     <select aria-label=Country><option>Austria<option selected>Norway</select>
     <button data-testid=go>Sign in</button><button disabled>Sign in later</button><input type=submit value='Send it'></form>
     <p id=t>Don't have an account? <a href='/join?x=1' id=join>Join  now</a></p><p style='display:none'>Join now hidden</p>
     <div role=dialog aria-label=Terms><button id=ok onclick='window.ok = 1'>OK</button></div><button onclick='window.ok = 2'>OK</button>"
}

#[test]
fn elements_are_found_by_visible_text_and_labels() {
    let Some(page) = TestTab::showing("find", form()) else { return };
    for (locator, expected) in [
        ("role=heading[name=\"Sign in\"]", vec!["heading Sign in"]),
        ("role=heading[level=1]", vec!["heading Sign in"]),
        ("role=button[name=\"Sign in\"]", vec!["button Sign in"]),
        ("role=button[name*=\"sign IN\"]", vec!["button Sign in", "button Sign in later"]),
        ("role=button[disabled]", vec!["button Sign in later"]),
        ("role=checkbox[checked]", vec!["checkbox Remember me"]),
        ("role=checkbox[checked=false]", vec![]),
        ("text=\"Join now\"", vec!["link Join now"]),
        ("text=don't have", vec!["paragraph "]),
        ("text=send it", vec!["button Send it"]),
        ("label=e-mail", vec!["textbox E-mail"]),
        ("label=Password", vec!["textbox Password"]),
        ("label=\"Country\"", vec!["combobox Country"]),
        ("label=Sign in", vec![]),
        ("placeholder=you@", vec!["textbox E-mail"]),
        ("testid=go", vec!["button Sign in"]),
        ("css=form > select", vec!["combobox Country"]),
        ("role=dialog >> role=button", vec!["button OK"]),
        ("role=button[name=OK] >> nth=-1", vec!["button OK"]),
        ("css=#f >> role=button >> nth=5", vec![]),
        ("text=nothing like this", vec![]),
    ] {
        assert_eq!(names(&page, locator), expected, "{locator}");
    }
    assert!(!found(&page, "css=p:last-of-type")[0].visible);
    assert_eq!(page.tab.find("role=button", None, Some(2), soon()).unwrap().matches.len(), 2);
    assert_eq!(page.tab.find("role=button", None, Some(2), soon()).unwrap().total, 5);
    // The refs are those of snapshots.
    let join = ref_of(&page.snapshot(), "Join now");
    assert_eq!(found(&page, "role=link")[0].reference, join);
    assert_eq!(names(&page, &format!("ref={join}")), ["link Join now"]);
    for wrong in ["button", "css=:::", "role=x y", "text=a >> nth=b"] {
        let error = page.tab.find(wrong, None, None, soon()).unwrap_err();
        assert_eq!(error.code(), "BAD_REQUEST", "{wrong}: {error}");
        assert!(error.to_string().contains(wrong), "{error}");
    }
}

#[test]
fn locators_search_frames_and_shadow_roots() {
    let Some(page) = TestTab::new("find-frames") else { return };
    let inner = |n: u32| {
        format!(
            "<title>in</title><button onclick='window.hit = {n}'>Deep {n}</button><span id=s></span>
        <script>s.attachShadow({{ mode: 'closed' }}).innerHTML = '<button>Shut {n}</button>'</script>"
        )
    };
    page.put("/same", &inner(1));
    page.put("/far", &inner(2));
    page.put(
        "/",
        "<div id=one><iframe title=Same src='@a/same'></iframe></div><div id=two><iframe title=Far src='@b/far'></iframe></div>
         <x-a></x-a><script>document.querySelector('x-a').attachShadow({ mode: 'open' }).innerHTML = '<button>Deep 3</button>'</script>",
    );
    page.go("/");
    page.snapshot(); // closed roots are known from then on
    assert_eq!(names(&page, "role=button[name*=Deep]").len(), 3);
    assert_eq!(names(&page, "role=button[name*=Shut]").len(), 2);
    assert_eq!(names(&page, "css=#two >> role=button[name*=Deep]"), ["button Deep 2"]);
    assert_eq!(names(&page, "role=iframe[name=Same] >> text=deep"), ["button Deep 1"]);
    let far = found(&page, "text=Deep 2").remove(0);
    let frame = far.frame_id.unwrap().to_string();
    assert_eq!(page.tab.find("role=button", Some(&frame), None, soon()).unwrap().total, 2);
    page.act(json!({ "kind": "click", "locator": "role=button[name=\"Deep 2\"]" })).unwrap();
    let hit = page.act(json!({ "kind": "evaluate", "fn": "hit", "frameId": frame })).unwrap();
    assert_eq!(hit.result, Some(json!(2)));
}

#[test]
fn locators_are_accepted_wherever_refs_are() {
    let Some(page) = TestTab::showing("find-act", form()) else { return };
    for act in [
        json!({ "kind": "fill", "fields": [
            { "locator": "label=E-mail", "value": "ada@example.com" }, { "locator": "role=combobox", "value": "Austria" },
        ] }),
        json!({ "kind": "type", "locator": "label=Password", "text": "secret" }),
        json!({ "kind": "uncheck", "locator": "role=checkbox" }),
        json!({ "kind": "hover", "locator": "role=link" }),
        json!({ "kind": "focus", "locator": "testid=go" }),
        json!({ "kind": "wait", "locator": "role=dialog", "state": "visible" }),
        json!({ "kind": "wait", "locator": "text=Never there", "state": "gone" }),
        json!({ "kind": "drag", "startLocator": "role=link", "endLocator": "role=heading" }),
        json!({ "kind": "batch", "actions": [{ "kind": "click", "locator": "role=dialog >> role=button" }] }),
    ] {
        let outcome = page.act(act.clone()).unwrap();
        assert!(outcome.failed.unwrap_or(0) == 0, "{act}: {outcome:?}");
        if act["kind"] == "focus" {
            assert_eq!(page.value("document.activeElement.dataset.testid"), "go");
        }
    }
    let held = page.value("[f.mail.value, p.value, c.checked, f.querySelector('select').value, window.ok]");
    assert_eq!(held, json!(["ada@example.com", "secret", false, "Austria", 1]));
    let script = json!({ "kind": "evaluate", "fn": "el => el.id", "locator": "text=Join now" });
    assert_eq!(page.act(script).unwrap().result, Some(json!("join")));
}

#[test]
fn ambiguous_locators_are_an_error_that_lists_the_matches() {
    let Some(page) = TestTab::showing("find-many", form()) else { return };
    let click = |more: Value| {
        let mut act = json!({ "kind": "click", "locator": "role=button[name=OK]" });
        act.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(act).unwrap()
    };
    let error = page.tab.act(&click(json!({})), Deadline::after_secs(5)).unwrap_err();
    assert_eq!(error.code(), "AMBIGUOUS_LOCATOR");
    let Error::AmbiguousLocator { matches, total: 2, .. } = &error else { panic!("{error}") };
    assert_eq!(error.details().unwrap()["matches"][1]["ref"], json!(matches[1].reference));
    assert!(error.to_string().contains(&matches[0].reference), "{error}");
    page.tab.act(&click(json!({ "nth": 1 })), soon()).unwrap();
    assert_eq!(page.value("window.ok"), 2);
    page.tab.act(&click(json!({ "nth": -2 })), soon()).unwrap();
    assert_eq!(page.value("window.ok"), 1);
    for wrong in [json!({ "ref": "e1" }), json!({ "selector": "#ok" })] {
        assert_eq!(page.tab.act(&click(wrong), soon()).unwrap_err().code(), "BAD_REQUEST");
    }
    let none = serde_json::from_value(json!({ "kind": "click", "locator": "text=Nowhere" })).unwrap();
    let error = page.tab.act(&none, Deadline::after_millis(800)).unwrap_err();
    assert_eq!(error.code(), "NOT_FOUND", "{error}");
}

#[test]
fn late_and_replaced_elements_are_located() {
    let Some(page) = TestTab::showing(
        "find-late",
        "<div id=app></div><script>
            let n = 0;
            const draw = () => { app.innerHTML = `<button onclick='window.got = ${n}'>Save</button>` };
            window.later = () => { n++; draw() };
            setTimeout(draw, 300);
         </script>",
    ) else {
        return;
    };
    page.act(json!({ "kind": "click", "locator": "role=button[name=Save]" })).unwrap();
    assert_eq!(page.value("got"), 0);
    page.value("later(), 1");
    page.act(json!({ "kind": "click", "locator": "role=button[name=Save]" })).unwrap();
    assert_eq!(page.value("got"), 1);
}

#[test]
fn elements_are_read_by_ref_locator_or_selector() {
    let Some(page) = TestTab::showing("get", form()) else { return };
    let by = |locator: &str| Locator { locator: Some(locator.to_owned()), ..Locator::default() };
    let get = |what, name, at: &Locator| page.tab.get(what, name, at, soon()).unwrap();
    assert_eq!(get(ElementProperty::Text, None, &by("css=#t")).value, "Don't have an account? Join now");
    assert_eq!(get(ElementProperty::Attribute, Some("href"), &by("role=link")).value, "/join?x=1");
    assert_eq!(get(ElementProperty::Attribute, Some("rel"), &by("role=link")).value, Value::Null);
    assert!(get(ElementProperty::Html, None, &by("role=link")).value.as_str().unwrap().starts_with("<a href="));
    assert_eq!(get(ElementProperty::Value, None, &by("label=Country")).value, "Norway");
    // A password is as many bullets as it has characters.
    assert_eq!(get(ElementProperty::Value, None, &by("label=Password")).value, "••••••••");
    assert_eq!(get(ElementProperty::Attribute, Some("value"), &by("label=Password")).value, "••••••••");
    assert_eq!(get(ElementProperty::Count, None, &by("role=button")).value, 5);
    assert!(get(ElementProperty::Box, None, &by("role=link")).value["width"].as_f64().unwrap() > 10.0);
    let state = get(ElementProperty::State, None, &by("role=checkbox")).value;
    assert_eq!((&state["visible"], &state["checked"], &state["enabled"]), (&json!(true), &json!(true), &json!(true)));
    assert_eq!(get(ElementProperty::State, None, &by("role=button[disabled]")).value["enabled"], false);
    let selector = Locator { selector: Some("#join".to_owned()), ..Locator::default() };
    let got = get(ElementProperty::Text, None, &selector);
    assert_eq!((got.value, got.element.unwrap().role), (json!("Join now"), "link".to_owned()));
    for (what, name) in [(ElementProperty::Attribute, None), (ElementProperty::Text, Some("x"))] {
        assert_eq!(page.tab.get(what, name, &selector, soon()).unwrap_err().code(), "BAD_REQUEST");
    }
    let none = Locator { selector: Some("#nothing".to_owned()), ..Locator::default() };
    assert_eq!(
        page.tab.get(ElementProperty::Text, None, &none, Deadline::after_millis(500)).unwrap_err().code(),
        "NOT_FOUND"
    );
}

#[test]
fn long_pages_are_searched_in_parts_and_by_frame() {
    let Some(page) = TestTab::new("find-parts") else { return };
    page.put("/in", "<p>Inside</p>");
    let lines: String = (0..200).map(|n| format!("<p>Line {n}</p>")).collect();
    page.put("/", &format!("{lines}<iframe src='@b/in'></iframe>"));
    page.go("/");
    let whole = page.snapshot();
    let all: Vec<&str> = text(&whole).lines().collect();
    let options = SnapshotOptions::new().offset(150).max_chars(600);
    let part = page.snapshot_with(options);
    let shown: Vec<&str> = text(&part).lines().collect();
    let (last, kept) = shown.split_last().unwrap();
    assert_eq!(kept, &all[150..150 + kept.len()]);
    assert_eq!(*last, format!("[truncated: {} of {} lines]", kept.len(), all.len()));
    let frame = page.id_of("/in").to_string();
    assert_eq!(page.tab.text_in(Some(&frame), None, None, soon()).unwrap().text.trim(), "Inside");
    assert!(page.tab.text_in(Some("nothing"), None, None, soon()).is_err());
}

#[test]
fn an_expired_wait_reports_locator_and_total_time() {
    let Some(page) = TestTab::showing("find-wait-long", form()) else { return };
    let error = page.fails_by(
        json!({ "kind": "wait", "locator": "role=heading", "state": "hidden" }),
        Deadline::after_millis(1800),
    );
    let Error::Timeout { what, after_ms } = &error else { panic!("{error}") };
    assert!(what.contains("role=heading") && what.contains("hidden") && !what.contains("e1"), "{what}");
    assert!(*after_ms >= 1000, "{after_ms} of 1800 ms");
    let error = page.fails_by(
        json!({ "kind": "wait", "locator": "role=heading", "text": "never there", "state": "visible" }),
        Deadline::after_millis(1300),
    );
    let Error::Timeout { what, after_ms } = &error else { panic!("{error}") };
    assert!(what.contains("never there") && *after_ms >= 1000, "{what} {after_ms}");
}

#[test]
fn an_nth_beyond_the_matches_and_a_misspelt_role_are_named() {
    let Some(page) = TestTab::showing("find-nth", "<button>Save</button><button>Save</button>") else { return };
    let get = |at: Locator| {
        page.tab.get(ElementProperty::Text, None, &at, Deadline::after_millis(1_000)).unwrap_err().to_string()
    };
    let by = |locator: &str, nth: Option<i32>| Locator { locator: Some(locator.to_owned()), nth, ..Locator::default() };
    let expected = "'text=Save' has 2 matches; nth 9 does not exist (use 0 or 1)";
    assert_eq!(get(by("text=Save", Some(9))), expected);
    assert_eq!(get(by("text=Save >> nth=9", None)), expected);
    assert!(get(by("text=none", Some(9))).contains("no element matches"));
    assert!(get(by("role=buton", None)).contains("did you mean button?"));
}

#[cfg(unix)]
#[test]
fn a_page_that_stops_responding_is_not_reported_as_a_missing_element() {
    let Some(browser) = launch(TransportKind::Port(0)) else { return };
    let pid = browser.pid().unwrap();
    let page = TestTab::of("find-stopped", browser);
    page.site.page("/", form());
    page.go("/");
    let renderers = renderers::of(pid);
    let refused = std::thread::scope(|scope| {
        scope.spawn(|| {
            // After the first look, which finds nothing.
            pause(Duration::from_millis(300));
            renderers.iter().for_each(|renderer| renderers::signal(*renderer, Signal::STOP));
        });
        page.fails_by(json!({ "kind": "click", "locator": "text=Nothing" }), Deadline::after_secs(4))
    });
    renderers.iter().for_each(|renderer| renderers::signal(*renderer, Signal::CONT));
    assert!(!matches!(refused, Error::NoneLocated { .. }), "{refused}");
}

/// Widgets keep a hidden field with the attributes of the one that is shown.
#[test]
fn hidden_inputs_have_no_placeholder() {
    let Some(paged) =
        TestTab::showing("find-hidden", "<input type=hidden placeholder=Date><input placeholder=Date id=d>")
    else {
        return;
    };
    paged.act(json!({ "kind": "fill", "fields": [{ "locator": "placeholder=Date", "value": "x" }] })).unwrap();
    assert_eq!(paged.value("d.value"), "x");
}
