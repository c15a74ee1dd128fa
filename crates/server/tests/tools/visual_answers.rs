//! The answers of the visual agent's tools say what happened.

use serde_json::{Value, json};

use crate::support::share::{rounds, share};
use crate::support::tool_home::ToolHome;

fn showing(html: &str) -> Option<ToolHome> {
    let tooled = ToolHome::new("")?;
    tooled.home.site.page("/", html);
    tooled.done("tab", json!({ "action": "init", "url": tooled.home.site.url("a", "/") }));
    Some(tooled)
}

fn text(response: &Value) -> &str {
    response["observation"].as_str().unwrap_or_else(|| panic!("no observation in {response}"))
}

/// The line of the only element with a keyword.
fn line(tooled: &ToolHome, keyword: &str) -> String {
    let seen = tooled.done("highlight", json!({ "keywords": [keyword] }));
    let line = text(&seen).lines().find(|line| line.contains("): <"));
    line.unwrap_or_else(|| panic!("no {keyword:?} in {seen}")).to_owned()
}

fn id(tooled: &ToolHome, keyword: &str) -> String {
    line(tooled, keyword).split('(').next().unwrap().to_owned()
}

fn act(tooled: &ToolHome, arguments: Value) -> Value {
    tooled.call("element_interaction", arguments)
}

/// A call with its confirmation; panics unless both succeed.
fn confirmed(tooled: &ToolHome, arguments: Value) -> Value {
    let preview = tooled.done("element_interaction", arguments.clone());
    assert!(preview["pending"].is_object(), "{preview}");
    let action = format!("confirm_{}", arguments["action"].as_str().unwrap());
    tooled.done("element_interaction", json!({ "action": action, "element_id": arguments["element_id"] }))
}

fn value(tooled: &ToolHome, script: &str) -> Value {
    tooled.done("browser_evaluate", json!({ "script": script }))["result"].clone()
}

const FORM: &str = "<title>Form</title>
    <label><input type=checkbox name=terms> Terms</label><input name=code maxlength=5 placeholder=Code>
    <input name=digits placeholder=Digits oninput=\"this.value = this.value.replace(/\\D/g, '')\"><input type=number name=age value=4 aria-label=Age>
    <select name=size aria-label=Size><option>Small<option value=l>Large<option disabled>Huge</select><textarea name=note aria-label=Note></textarea>
    <input name=fixed readonly aria-label=Fixed><input type=date name=day aria-label=Day><button type=button>Go</button>";

#[test]
fn lines_and_answers_show_what_fields_hold() {
    let Some(tooled) = showing(FORM) else { return };
    let done = confirmed(&tooled, json!({ "action": "click", "element_id": id(&tooled, "terms") }));
    assert!(text(&done).contains("(clickable, checked): <input type=\"checkbox\" name=\"terms\">"), "{done}");
    assert!(!line(&tooled, "code").contains("holds"), "the HTML says it all");
    let code = id(&tooled, "code");
    tooled.done("element_interaction", json!({ "action": "keyboard_input", "element_id": code, "text": "abcdefghij" }));
    let refused = act(&tooled, json!({ "action": "confirm_keyboard_input", "element_id": code }));
    assert_eq!(refused["success"], false, "{refused}");
    let why = refused["error"].as_str().unwrap();
    assert!(why.contains("at most 5 characters") && why.ends_with("The field now holds \"abcde\""), "{why}");
    let digits = id(&tooled, "digits");
    let done = confirmed(&tooled, json!({ "action": "keyboard_input", "element_id": digits, "text": "12" }));
    assert!(text(&done).contains("holds: \"12\"") && !text(&done).contains("different from"), "{done}");
    let done = confirmed(&tooled, json!({ "action": "select", "element_id": id(&tooled, "Size"), "value": "Large" }));
    assert!(text(&done).contains("</select> chosen: \"Large\""), "{done}");
    // What was in the field is gone, and the answer says so.
    let age = id(&tooled, "Age");
    tooled.done("element_interaction", json!({ "action": "keyboard_input", "element_id": age, "text": "abc" }));
    let refused = act(&tooled, json!({ "action": "confirm_keyboard_input", "element_id": age }));
    assert_eq!(refused["success"], false, "{refused}");
    assert!(refused["error"].as_str().unwrap().ends_with("The field now holds \"\""), "{refused}");
    // Long texts are typed to their end.
    let words = rounds("CDPILOT_TEST_WORDS", 140, 700);
    let long = "word ".repeat(words);
    let note = id(&tooled, "Note");
    confirmed(&tooled, json!({ "action": "keyboard_input", "element_id": note, "text": long }));
    assert_eq!(value(&tooled, "document.querySelector('textarea').value.length"), 5 * words);
}

#[test]
fn lines_show_labels_that_the_html_does_not() {
    let Some(tooled) = showing(
        "<title>Labels</title><label for=d>Day of arrival (1 to 3)</label><input id=d name=d><p id=hint>Send now</p>
         <button aria-labelledby=hint><b>&gt;</b></button><label><input type=checkbox name=t> Terms</label>
         <button><b>Add</b> to <i>cart</i></button>",
    ) else {
        return;
    };
    let day = line(&tooled, "Day of arrival (1 to 3)");
    assert!(day.contains(", label \"Day of arrival 1 to 3\"): <input id=\"d\" name=\"d\">"), "{day}");
    let button = line(&tooled, "Send now");
    assert!(button.contains("(clickable, label \"Send now\"): <button"), "{button}");
    assert!(line(&tooled, "Terms").contains("label \"Terms\""));
    assert!(!line(&tooled, "Add to cart").contains("label"), "its text is in the HTML");
}

#[test]
fn the_removal_of_elements_that_only_a_search_has_shown_is_reported() {
    let Some(tooled) =
        showing("<title>Slides</title><button onclick=\"document.querySelector('a').remove()\">Go</button>")
    else {
        return;
    };
    value(&tooled, "document.body.insertAdjacentHTML('beforeend', '<a href=/x>Slide</a>')");
    let slide = id(&tooled, "Slide");
    let done = confirmed(&tooled, json!({ "action": "click", "element_id": id(&tooled, "Go") }));
    assert!(text(&done).contains(&format!("removed {slide}")), "{done}");
}

#[test]
fn a_tab_that_the_limit_closes_is_named() {
    let Some(tooled) = ToolHome::new("tabs: {max: 1, idle_minutes: 60}") else { return };
    tooled.home.site.page("/", "<title>Full</title><a href=/more target=_blank>More</a>");
    tooled.home.site.page("/more", "<title>More</title>");
    tooled.done("tab", json!({ "action": "init", "url": tooled.home.site.url("a", "/") }));
    let done = confirmed(&tooled, json!({ "action": "click", "element_id": id(&tooled, "More") }));
    assert!(text(&done).contains("the limit of open tabs is reached"), "{done}");
}

#[test]
fn what_cannot_succeed_is_refused_before_its_preview() {
    let Some(tooled) = showing(FORM) else { return };
    let cases = [
        ("Go", json!({ "action": "keyboard_input", "text": "x" }), "it is not editable"),
        ("terms", json!({ "action": "keyboard_input", "text": "x" }), "use click"),
        ("Size", json!({ "action": "keyboard_input", "text": "x" }), "use select"),
        ("Fixed", json!({ "action": "keyboard_input", "text": "x" }), "it is read-only"),
        ("Day", json!({ "action": "keyboard_input", "text": "24.12.2026" }), "it needs a date like 2024-02-29"),
        ("Go", json!({ "action": "select", "value": "x" }), "it is no list of options"),
        (
            "Size",
            json!({ "action": "select", "value": "Tiny" }),
            "it has no option \"Tiny\"; its options: \"Small\", \"Large\"",
        ),
        ("Size", json!({ "action": "select", "value": "Huge" }), "its option \"Huge\" is disabled"),
        ("Go", json!({ "action": "upload_file", "file_path": "x.txt" }), "call upload_file without element_id"),
    ];
    for (element, arguments, problem) in share(cases, 3) {
        let mut call = arguments.clone();
        call["element_id"] = id(&tooled, element).into();
        let refused = act(&tooled, call);
        assert_eq!(refused["code"], "NOT_ACTIONABLE", "{element} {arguments}: {refused}");
        assert!(refused["error"].as_str().unwrap().contains(problem), "{refused}");
    }
}

#[test]
fn a_confirmation_with_other_arguments_does_nothing() {
    let Some(tooled) = showing(FORM) else { return };
    let (code, size) = (id(&tooled, "code"), id(&tooled, "Size"));
    let typing = json!({ "action": "keyboard_input", "element_id": code, "text": "safe" });
    let choosing = json!({ "action": "select", "element_id": size, "value": "Large" });
    let cases = [
        (&typing, json!({ "text": "evil" }), "text"),
        (&typing, json!({ "submit": true }), "submit"),
        (&typing, json!({ "tab_id": "t99" }), "tab_id"),
        (&choosing, json!({ "value": "Small" }), "value"),
        (&choosing, json!({ "target_element_id": code }), "target_element_id"),
    ];
    for (first, given, field) in share(cases, 2) {
        tooled.done("element_interaction", first.clone());
        let mut call = json!({ "action": format!("confirm_{}", first["action"].as_str().unwrap()) });
        call.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        let refused = act(&tooled, call);
        assert_eq!(refused["code"], "CONFLICT", "{given}: {refused}");
        assert!(
            refused["error"].as_str().unwrap().starts_with(&format!("{field} is not the one of the preview")),
            "{refused}"
        );
    }
    assert_eq!(
        value(&tooled, "[document.querySelector('[name=code]').value, document.querySelector('select').value]"),
        json!(["", "Small"])
    );
    // The same arguments again are fine.
    tooled.done("element_interaction", typing);
    tooled.done(
        "element_interaction",
        json!({ "action": "confirm_keyboard_input", "element_id": code, "text": "safe", "tab_id": "t1" }),
    );
    assert_eq!(value(&tooled, "document.querySelector('[name=code]').value"), "safe");
}

#[test]
fn sliders_are_set_by_their_keys_where_they_have_no_value() {
    let Some(tooled) = showing(
        "<title>Slider</title><div role=slider tabindex=0 aria-label=Volume aria-valuemin=0 aria-valuemax=50 aria-valuenow=10 id=s
            style='width:20px;height:20px;margin:60px;background:red'></div>
         <div role=slider tabindex=0 aria-label=Dead aria-valuemin=0 aria-valuemax=9 aria-valuenow=1 style='width:20px;height:20px;margin:60px'>x</div>
         <script>s.onkeydown = event => { const by = {ArrowRight: 2, ArrowLeft: -2}[event.key] || 0;
            s.setAttribute('aria-valuenow', Math.max(0, Math.min(50, Number(s.getAttribute('aria-valuenow')) + by))); }</script>",
    ) else {
        return;
    };
    let slider = id(&tooled, "Volume");
    let set = |value: Value| act(&tooled, json!({ "action": "set_slider", "element_id": slider, "value": value }));
    let cases = [(json!("80%"), "40"), (json!(4), "4"), (json!(50), "50"), (json!(0), "0")];
    for (given, expected) in share(cases, 2) {
        let done = set(given.clone());
        assert_eq!(value(&tooled, "s.getAttribute('aria-valuenow')"), expected, "{given}: {done}");
        assert!(text(&done).contains(&format!("to {expected}.")), "{done}");
    }
    let refused = act(&tooled, json!({ "action": "set_slider", "element_id": id(&tooled, "Dead"), "value": 5 }));
    assert!(refused["error"].as_str().unwrap().contains("does not react to arrow keys"), "{refused}");
}

#[test]
fn a_carousel_moves_also_when_its_control_is_named() {
    let Some(tooled) = showing(
        "<title>Carousel</title><div class=carousel style='position:relative;width:600px;height:200px;overflow:hidden'>
            <div class='carousel-item active' style='width:600px;height:200px'>One</div><div class=carousel-item style='width:600px;height:200px'>Two</div>
            <button class=carousel-control-next aria-label=Next style='position:absolute;right:0;top:0;width:90px;height:200px'>&gt;</button></div>
         <script>window.at = 0; document.querySelector('button').onclick = () => { at += 1;
            document.querySelectorAll('.carousel-item').forEach((one, index) => one.classList.toggle('active', index === at % 2)); }</script>",
    ) else {
        return;
    };
    let next = id(&tooled, "Next");
    let done =
        tooled.done("element_interaction", json!({ "action": "swipe", "element_id": next, "direction": "next" }));
    assert!(text(&done).contains("to the next content 1 of 1 times, by its control"), "{done}");
    assert_eq!(value(&tooled, "at"), 1, "once");
}

#[test]
fn a_click_after_which_alerts_never_end_is_reported_as_done() {
    let Some(tooled) = showing("<title>Alerts</title><button onclick='for (;;) alert(1)'>Forever</button>") else {
        return;
    };
    let forever = id(&tooled, "Forever");
    let done = confirmed(&tooled, json!({ "action": "click", "element_id": forever }));
    assert!(text(&done).contains(&format!("Clicked {forever}")), "{done}");
}

#[test]
fn errors_and_addresses_within_a_document_are_named() {
    let Some(tooled) =
        showing("<title>Links</title><a href='#part'>Part</a><p><br><p><a href='http://127.0.0.1:1/'>Dead</a>")
    else {
        return;
    };
    let done = confirmed(&tooled, json!({ "action": "click", "element_id": id(&tooled, "Part") }));
    assert!(text(&done).contains("The address of the page changed."), "{done}");
    let done = confirmed(&tooled, json!({ "action": "click", "element_id": id(&tooled, "Dead") }));
    assert!(text(&done).contains("could not be loaded"), "{done}");
}

#[test]
fn a_long_text_leaves_no_guard_behind_and_is_guarded_itself() {
    let Some(tooled) = showing(
        "<title>Long</title><textarea aria-label=Note></textarea><input id=other aria-label=Other>
         <form action='/pay'><input id=code aria-label=Code oninput=\"this.form.action = '/evil'\"></form>",
    ) else {
        return;
    };
    // More than is typed key by key.
    let long = "word ".repeat(105);
    let note = id(&tooled, "Note");
    confirmed(&tooled, json!({ "action": "keyboard_input", "element_id": note, "text": long }));
    // The field goes. Keys for another one are none of its business.
    value(
        &tooled,
        "document.querySelector('textarea').remove(); other.focus(); window.keys = []; other.onkeydown = event => keys.push(event.key); 1",
    );
    let tab = tooled.home.main().tab(None).unwrap().tab;
    for key in ["a", "Enter"] {
        tab.act(&cdpilot::page::Act::press(key), crate::support::chrome::soon()).unwrap();
    }
    assert_eq!(value(&tooled, "keys.join()"), "a,Enter");
    // Enter is not sent to where the form leads now.
    let code = id(&tooled, "Code");
    tooled.done(
        "element_interaction",
        json!({ "action": "keyboard_input", "element_id": code, "text": "x".repeat(510), "submit": true }),
    );
    let refused = act(&tooled, json!({ "action": "confirm_keyboard_input", "element_id": code }));
    assert_eq!(refused["code"], "STALE_REF", "{refused}");
    assert!(!tooled.home.site.requested().iter().any(|path| path.starts_with("/evil")));
}
