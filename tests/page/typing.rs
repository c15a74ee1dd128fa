//! The keyboard: key events that a page receives, and the values of its fields.

use cdpilot::page::Error;
use cdpilot::supervisor::Frame;
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::chrome::{ACCEPT, soon, until};
use crate::support::input_stage::InputStage;
use crate::support::share::share;
use crate::support::test_tab::ref_of;

const FIELDS: &str = "<input id=i value=old><textarea id=t>old</textarea><div id=r contenteditable>old</div>";

#[test]
fn every_character_sends_its_key_events_in_every_frame() {
    let Some((staged, places)) = InputStage::everywhere("type-events", FIELDS) else { return };
    for place in share(&places, 1) {
        staged.act_in(place, json!({ "kind": "type", "selector": "#i", "text": "aB 1?" }));
        assert_eq!(
            staged.log_in(place),
            [
                "keydown:i:a:KeyA:trusted",
                "keypress:i:a:KeyA:trusted",
                "beforeinput:i:insertText=a::trusted",
                "input:i:insertText=a::trusted",
                "keyup:i:a:KeyA:trusted",
                "keydown:i:B:KeyB:trusted",
                "keypress:i:B:KeyB:trusted",
                "beforeinput:i:insertText=B::trusted",
                "input:i:insertText=B::trusted",
                "keyup:i:B:KeyB:trusted",
                "keydown:i: :Space:trusted",
                "keypress:i: :Space:trusted",
                "beforeinput:i:insertText= ::trusted",
                "input:i:insertText= ::trusted",
                "keyup:i: :Space:trusted",
                "keydown:i:1:Digit1:trusted",
                "keypress:i:1:Digit1:trusted",
                "beforeinput:i:insertText=1::trusted",
                "input:i:insertText=1::trusted",
                "keyup:i:1:Digit1:trusted",
                "keydown:i:?:Slash:trusted",
                "keypress:i:?:Slash:trusted",
                "beforeinput:i:insertText=?::trusted",
                "input:i:insertText=?::trusted",
                "keyup:i:?:Slash:trusted",
            ],
            "{}",
            place.name
        );
        assert_eq!(staged.value(place, "i.value"), "aB 1?", "{}", place.name);
        staged.act_in(place, json!({ "kind": "type", "selector": "#t", "text": "one\ntwo" }));
        assert_eq!(staged.value(place, "t.value"), "one\ntwo", "{}", place.name);
        staged.act_in(place, json!({ "kind": "type", "selector": "#r", "text": "three" }));
        assert_eq!(staged.value(place, "r.textContent"), "three", "{}", place.name);
    }
}

#[test]
fn typed_text_replaces_or_is_appended() {
    let body = "<input id=a value=old><input id=n type=number value=12><input id=e type=email value='a@b.de'>
        <input id=p type=password value=secret><textarea id=t>old\nlines</textarea>
        <div id=r contenteditable><b>old</b> <i>text</i></div>
        <div id=w contenteditable><p id=first>one</p><p id=second>two</p></div>";
    let Some(staged) = InputStage::alone("type-replace", body) else { return };
    let typed = |id: &str, text: &str, append: bool| {
        staged.act(json!({ "kind": "type", "selector": format!("#{id}"), "text": text, "append": append }));
        staged.eval_value(&format!("{id}.value ?? {id}.textContent"))
    };
    let cases = [
        ("a", "new", "newer"),
        ("n", "-1.5", "-1.525"),
        ("e", "c@d.de", "c@d.dev"),
        ("p", "pass", "password"),
        ("t", "new\nones", "new\nones too"),
        ("r", "plain", "plainer"),
    ];
    for (id, first, then) in share(cases, 2) {
        assert_eq!(typed(id, first, false), first, "{id}");
        assert_eq!(typed(id, &then[first.len()..], true), then, "{id}");
        assert_eq!(typed(id, "", false), "", "{id}");
    }
    assert_eq!(typed("second", "three", false), "three");
    assert_eq!(staged.eval_value("first.textContent"), "one", "the paragraph alone was meant");
}

#[test]
fn characters_without_a_key_are_inserted_as_text() {
    let Some(staged) = InputStage::alone("type-scripts", FIELDS) else { return };
    let text = "na\u{ef}ve \u{1F980}\u{1F468}\u{200d}\u{1F469}\u{200d}\u{1F467} \u{6f22}\u{5b57}\tx";
    for id in ["i", "t", "r"] {
        staged.act(json!({ "kind": "type", "selector": format!("#{id}"), "text": text }));
        let held = staged.eval_value(&format!("{id}.value ?? {id}.textContent"));
        let text = if id == "r" { text.replace('\t', " ") } else { text.to_owned() };
        assert_eq!(held.as_str().unwrap().replace('\u{a0}', " "), text, "{id}");
    }
    let log = staged.log();
    assert!(log.contains(&"input:i:insertText=\u{ef}::trusted".to_owned()), "{log:?}");
    assert!(!log.iter().any(|event| event.starts_with("key") && event.contains('\u{ef}')), "{log:?}");
}

#[test]
fn submit_presses_enter() {
    let body = "<form id=f><input id=q name=q></form><form id=g><textarea id=t></textarea></form>";
    let Some(staged) = InputStage::alone("type-submit", body) else { return };
    staged.act(json!({ "kind": "type", "selector": "#q", "text": "x", "submit": true }));
    let log = staged.log();
    assert!(log.contains(&"submit:f:::trusted".to_owned()), "{log:?}");
    staged.try_act(json!({ "kind": "type", "selector": "#q", "text": "y\n" })).unwrap_err();
    assert!(!staged.log().iter().any(|event| event.starts_with("submit")), "a line break is not Enter");
    staged.act(json!({ "kind": "type", "selector": "#t", "text": "y\nz", "submit": true }));
    assert_eq!(staged.eval_value("t.value"), "y\nz\n");
    assert!(!staged.log().iter().any(|event| event.starts_with("submit")));
}

#[test]
fn a_controlled_input_receives_every_character() {
    // As in React: the page keeps the value it knows of on the element itself and looks whether it differs.
    let body = "<input id=i><script>
        const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
        let known = '';
        Object.defineProperty(i, 'value', { configurable: true, get() { return own.get.call(this) },
            set(text) { known = String(text); own.set.call(this, text) } });
        window.heard = [];
        i.addEventListener('input', () => {
            const now = own.get.call(i);
            if (now === known) return;
            known = now;
            heard.push(now);
            i.value = now.toUpperCase();
        });
    </script>";
    let Some(staged) = InputStage::alone("type-react", body) else { return };
    for input in ["trusted", "synthetic"] {
        staged.eval_value("heard.length = 0");
        let response = staged.act(json!({ "kind": "type", "selector": "#i", "text": "abc", "input": input }));
        assert_eq!(response.input.is_some(), input == "synthetic");
        assert_eq!(staged.eval_value("i.value"), "ABC", "{input}");
        assert_eq!(staged.eval_value("heard"), json!(["a", "Ab", "ABc"]), "{input}");
    }
}

#[test]
fn an_editor_that_handles_all_events_can_be_typed_into() {
    let body = "<div id=r contenteditable>before</div><script>
        window.model = 'before';
        r.addEventListener('beforeinput', event => {
            event.preventDefault();
            const all = getSelection().toString() === r.textContent;
            if (event.inputType === 'insertText') model = (all ? '' : model) + event.data;
            else if (event.inputType === 'insertLineBreak') model += '|';
            r.textContent = model;
            getSelection().selectAllChildren(r);
            getSelection().collapseToEnd();
        });
    </script>";
    let Some(staged) = InputStage::alone("type-editor", body) else { return };
    for input in ["trusted", "synthetic"] {
        staged.act(json!({ "kind": "type", "selector": "#r", "text": "one\ntwo", "input": input }));
        assert_eq!(staged.eval_value("model"), "one|two", "{input}");
    }
}

#[test]
fn an_element_that_accepts_no_text_reports_the_reason() {
    let body = "<input id=ro readonly value=x><input id=off disabled><input id=c type=checkbox><select id=s></select>
        <input id=f type=file><input id=n type=number><p id=p>text</p><input id=m maxlength=3>";
    let Some(staged) = InputStage::alone("type-refused", body) else { return };
    let refused = |id: &str, reason: &str, deadline: Deadline<'_>| {
        let act = json!({ "kind": "type", "selector": format!("#{id}"), "text": "hunter2!" });
        let error = staged.try_by(act, deadline).unwrap_err();
        assert!(matches!(&error, Error::NotActionable { reason: why, .. } if why.contains(reason)), "{id}: {error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    };
    for (id, reason) in [("c", "use check"), ("s", "use select"), ("f", "use upload"), ("n", "numbers only")] {
        refused(id, reason, soon());
    }
    // What may become otherwise is waited for until the deadline.
    for (id, reason) in [("ro", "read-only"), ("off", "disabled"), ("p", "not editable")] {
        refused(id, reason, Deadline::after_millis(1500));
    }
    let error = staged.try_act(json!({ "kind": "type", "selector": "#m", "text": "abcdef" })).unwrap_err();
    assert!(error.to_string().contains("at most 3 characters"), "{error}");
}

#[test]
fn keys_go_to_the_focused_element() {
    let Some((staged, places)) = InputStage::everywhere(
        "type-focus",
        "<input id=i><div id=host></div>
        <script>host.attachShadow({ mode: 'open' }).innerHTML = '<input id=inner>'</script>",
    ) else {
        return;
    };
    // The top frame last: it has the focus afterwards.
    for place in share(places[1..].iter().rev(), 1).into_iter().chain(&places[..1]) {
        staged.value(place, "i.focus()");
        staged.act(json!({ "kind": "type", "text": "ab" }));
        staged.act(json!({ "kind": "insertText", "text": "cd" }));
        staged.act(json!({ "kind": "press", "key": "Home" }));
        staged.act(json!({ "kind": "press", "key": "x" }));
        assert_eq!(staged.value(place, "i.value"), "xabcd", "{}", place.name);
    }
    staged.eval_value("document.activeElement.blur()");
    let error = staged.try_act(json!({ "kind": "insertText", "text": "secret" })).unwrap_err();
    assert!(matches!(&error, Error::NotActionable { .. }), "{error}");
    assert!(!error.to_string().contains("secret"));
    let seen = staged.snapshot();
    let boxes: Vec<String> =
        seen.refs.iter().filter(|(_, info)| info.role == "textbox").map(|(r, _)| r.clone()).collect();
    assert_eq!(boxes.len(), 6, "three of them in shadow roots");
    for reference in share(&boxes, 2) {
        staged.act(json!({ "kind": "type", "ref": reference, "text": "ref" }));
        let read = json!({ "kind": "evaluate", "ref": reference, "fn": "e => e.value" });
        assert_eq!(staged.act(read).result, Some(json!("ref")));
    }
}

#[test]
fn keys_are_pressed_with_modifiers_and_repeated() {
    let Some(staged) = InputStage::alone("press", "<input id=i value='one two'><button id=b>B</button>") else {
        return;
    };
    let pressed = |key: &str| {
        staged.act(json!({ "kind": "press", "selector": "#i", "key": key }));
        staged.log()
    };
    assert_eq!(
        pressed("Control+Shift+T"),
        [
            "keydown:i:Control:ControlLeft:trusted",
            "keydown:i:Shift:ShiftLeft:trusted",
            "keydown:i:T:KeyT:trusted",
            "keyup:i:T:KeyT:trusted",
            "keyup:i:Shift:ShiftLeft:trusted",
            "keyup:i:Control:ControlLeft:trusted",
        ]
    );
    staged.eval_value("i.setSelectionRange(3, 3)");
    pressed("ControlOrMeta+a");
    assert_eq!(staged.eval_value("[i.selectionStart, i.selectionEnd]"), json!([0, 7]));
    pressed("Control+c");
    pressed("End");
    pressed("Control+v");
    assert_eq!(staged.eval_value("i.value"), "one twoone two");
    pressed("Control+z");
    assert_eq!(staged.eval_value("i.value"), "one two");
    pressed("Home");
    pressed("Shift+ArrowRight");
    pressed("ctrl+x");
    assert_eq!(staged.eval_value("i.value"), "ne two");
    pressed("Control+Backspace");
    pressed("Delete");
    assert_eq!(staged.eval_value("i.value"), "e two");
    pressed("del");
    pressed("Control++");
    assert_eq!(staged.eval_value("i.value"), " two");
    staged.eval_value("i.value = ''; addEventListener('keydown', e => { window.seen = [e.repeat, e.keyCode, e.location, e.shiftKey, e.code] })");
    let again = json!({ "kind": "press", "selector": "#i", "key": "Z", "repeat": 3 });
    staged.act(again);
    assert_eq!(staged.eval_value("i.value"), "ZZZ");
    assert_eq!(staged.eval_value("seen"), json!([true, 90, 0, true, "KeyZ"]));
    assert_eq!(staged.log().iter().filter(|event| event.starts_with("keyup")).count(), 1);
    pressed("NumpadEnter");
    assert_eq!(staged.eval_value("seen"), json!([false, 13, 3, false, "NumpadEnter"]));
    pressed("Numpad7");
    assert_eq!(staged.eval_value("i.value"), "ZZZ7");
    pressed("Control+w");
    assert_eq!(staged.eval_value("seen"), json!([false, 87, 0, false, "KeyW"]), "it is the page's, not the browser's");
    pressed("Tab");
    assert_eq!(staged.eval_value("document.activeElement.id"), "b");
    staged.log();
    staged.act(json!({ "kind": "press", "key": "Enter" }));
    assert!(staged.log().contains(&"click:b:::trusted".to_owned()));
    staged.act(json!({ "kind": "press", "key": "space" }));
    assert!(staged.log().contains(&"click:b:::trusted".to_owned()));
    for (key, near) in
        [("Entre", "Enter"), ("arowdown", "ArrowDown"), ("Controll+a", "Control"), ("a+b", "modifier"), ("", "empty")]
    {
        let error = staged.try_act(json!({ "kind": "press", "key": key })).unwrap_err();
        assert!(matches!(&error, Error::BadRequest { problem } if problem.contains(near)), "{key}: {error}");
    }
    let error = staged.try_act(json!({ "kind": "press", "key": "a", "repeat": 0 })).unwrap_err();
    assert_eq!(error.code(), "BAD_REQUEST");
}

#[test]
fn a_dialog_ends_typing() {
    let Some(staged) = InputStage::alone("type-dialog", "<input id=i onkeydown='if (event.key === \"!\") alert(1)'>")
    else {
        return;
    };
    let text = format!("ab!{}", "c".repeat(200));
    let response = staged.act(json!({ "kind": "type", "selector": "#i", "text": text }));
    assert!(response.blocked_by_dialog);
    let typed = response.result.unwrap();
    assert_eq!(typed["of"], 203);
    let [sent, more] = ["typed", "mayFollow"].map(|name| typed[name].as_u64().unwrap());
    // The `!` is the third. Chromium may tell of the dialog before it has answered the keys in front of it.
    assert!(sent <= 2 && sent + more > 2 && more < 20, "{typed}");
    let error = staged.try_act(json!({ "kind": "type", "selector": "#i", "text": "more" })).unwrap_err();
    assert_eq!(error.code(), "BLOCKED_BY_DIALOG");
    staged.supervisor().respond(None, ACCEPT, soon()).unwrap();
    staged.act(json!({ "kind": "wait", "fn": "i.value.startsWith('ab!')" }));
    staged.act(json!({ "kind": "press", "selector": "#i", "key": "End" }));
    let held = staged.eval_value("i.value.length").as_u64().unwrap();
    assert!((sent + 1..=sent + more).contains(&held), "{held}: {typed}");
}

#[test]
fn slow_typing_is_paced_and_long_text_is_fast() {
    let body =
        "<input id=i oninput='times.push(performance.now())'><textarea id=t></textarea><script>times = []</script>";
    let Some(staged) = InputStage::alone("type-pace", body) else { return };
    staged.act(json!({ "kind": "type", "selector": "#i", "text": "abcd", "slowly": true }));
    assert_eq!(staged.eval_value("i.value"), "abcd");
    assert_eq!(staged.eval_value("times.slice(1).every((time, i) => time - times[i] > 60)"), true);
    let long = "The quick brown fox. ".repeat(30);
    staged.act(json!({ "kind": "type", "selector": "#t", "text": long }));
    assert_eq!(staged.eval_value("t.value"), *long);
    let late = json!({ "kind": "type", "selector": "#i", "text": "z".repeat(50), "slowly": true });
    let error = staged.try_by(late, Deadline::after_secs(1)).unwrap_err();
    let Error::Timeout { what, .. } = &error else { panic!("{error}") };
    assert!(what.contains("of 50 characters") && !what.contains('z'), "{what}");
}

#[test]
fn synthetic_keys_have_the_full_sequence_and_default_actions() {
    let body = "<form id=f><input id=i value=old><input id=n type=number step=any><button id=b>Go</button></form>
        <textarea id=t></textarea><div id=r contenteditable>old</div><input id=m maxlength=2><input id=e type=email>
        <input id=no onkeydown='if (event.key === \"b\") event.preventDefault()'
            onbeforeinput='if (event.data === \"c\") event.preventDefault()'>";
    let Some((staged, places)) = InputStage::everywhere("type-script", body) else { return };
    for place in share(&places, 1) {
        let typed = |id: &str, text: &str| {
            staged.act_in(
                place,
                json!({ "kind": "type", "selector": format!("#{id}"), "text": text, "input": "synthetic" }),
            )
        };
        typed("i", "aB");
        assert_eq!(
            staged.log_in(place),
            [
                "keydown:i:a:KeyA:script",
                "keypress:i:a:KeyA:script",
                "beforeinput:i:insertText=a::script",
                "input:i:insertText=a::script",
                "keyup:i:a:KeyA:script",
                "keydown:i:B:KeyB:script",
                "keypress:i:B:KeyB:script",
                "beforeinput:i:insertText=B::script",
                "input:i:insertText=B::script",
                "keyup:i:B:KeyB:script",
            ]
        );
        assert_eq!(staged.value(place, "i.value"), "aB");
        typed("n", "-1.5");
        assert!(staged.log_in(place).contains(&"change:i:::script".to_owned()), "when the focus left it");
        assert_eq!(staged.value(place, "n.value"), "-1.5");
        typed("t", "one\ntw\u{f6}");
        assert_eq!(staged.value(place, "t.value"), "one\ntw\u{f6}");
        typed("r", "rich");
        assert_eq!(staged.value(place, "r.textContent"), "rich");
        let refused = |id: &str, text: &str, reason: &str| {
            let act = json!({ "kind": "type", "selector": format!("#{id}"), "text": text, "input": "synthetic" });
            let error = staged.try_act_in(place, act).unwrap_err().to_string();
            assert!(error.contains(reason), "{id}: {error}");
        };
        refused("m", "abc", "at most 2 characters");
        assert_eq!(staged.value(place, "m.value"), "ab");
        typed("e", "a@b.de");
        assert_eq!(staged.value(place, "e.value"), "a@b.de");
        refused("no", "abcd", "does not hold the text");
        assert_eq!(staged.value(place, "no.value"), "ad");
        staged.log_in(place);
        let press = |id: &str, key: &str| {
            staged.act_in(
                place,
                json!({ "kind": "press", "selector": format!("#{id}"), "key": key, "input": "synthetic" }),
            )
        };
        press("i", "Enter");
        let log = staged.log_in(place);
        assert!(
            log.iter().any(|event| event.starts_with("click:b:")) && log.iter().any(|e| e.starts_with("submit:f")),
            "{log:?}"
        );
        press("m", "Backspace");
        assert_eq!(staged.value(place, "m.value"), "a");
        press("m", "Control+a");
        press("m", "Delete");
        assert_eq!(staged.value(place, "m.value"), "");
        press("i", "Tab");
        assert_eq!(staged.value(place, "document.activeElement.id"), "n");
    }
}

#[test]
fn a_background_tab_receives_keys() {
    let Some(staged) = InputStage::alone("type-behind", FIELDS) else { return };
    let other = staged.supervisor().open_page("about:blank", None, soon()).unwrap();
    let response = staged.act(json!({ "kind": "type", "selector": "#i", "text": "behind" }));
    assert_eq!((response.input, staged.eval_value("i.value")), (None, Value::from("behind")));
    staged.supervisor().close_page(&other, soon()).unwrap();
}

#[test]
fn typing_affects_only_the_node_of_the_ref() {
    let Some(staged) = InputStage::alone("type-ref", "<label>Name <input id=i></label>") else { return };
    let name = ref_of(&staged.snapshot(), "Name\"");
    staged.act(json!({ "kind": "type", "ref": name, "text": "Ada" }));
    assert_eq!(staged.eval_value("i.value"), "Ada");
    staged.eval_value("i.outerHTML = i.outerHTML; 0");
    let error = staged.try_act(json!({ "kind": "type", "ref": name, "text": "Bob" })).unwrap_err();
    assert_eq!(error.code(), "STALE_REF");
    assert_eq!(staged.eval_value("i.value"), "");
}

#[test]
fn fields_in_closed_shadow_roots_can_be_typed_into() {
    let body = "<div id=host></div><script>
        const root = host.attachShadow({ mode: 'closed' });
        root.innerHTML = '<label>Inside <input></label><p contenteditable aria-label=Rich role=textbox>old</p>';
        window.held = () => [root.querySelector('input').value, root.querySelector('p').textContent];
    </script>";
    let Some(staged) = InputStage::alone("type-closed", body) else { return };
    let seen = staged.snapshot();
    for input in ["trusted", "synthetic"] {
        for (name, text) in [("Inside\"", "abc"), ("Rich", "de f")] {
            staged.act(json!({ "kind": "type", "ref": ref_of(&seen, name), "text": text, "input": input }));
        }
        assert_eq!(
            staged.eval_value("held().map(text => text.replace('\u{a0}', ' '))"),
            json!(["abc", "de f"]),
            "{input}"
        );
        let field = json!({ "ref": ref_of(&seen, "Inside\""), "value": "filled" });
        staged.act(json!({ "kind": "fill", "fields": [field], "input": input }));
        assert_eq!(staged.eval_value("held()[0]"), "filled");
    }
}

#[test]
fn a_document_in_design_mode_can_be_typed_into() {
    let kinds = ["<body contenteditable><p>old</p>", "<body><p>old</p><script>document.designMode = 'on'</script>"];
    for how in share(kinds, 1) {
        let Some(staged) =
            InputStage::alone("type-body", "<input id=i><iframe width=300 height=100 src='/editor'></iframe>")
        else {
            return;
        };
        staged.site.page("/editor", how);
        staged.go("/");
        let here = |frame: &&Frame| frame.url.ends_with("/editor") && frame.session_id.is_some();
        let now = until(staged.supervisor(), "the editor", |now| now.frames.iter().any(|frame| here(&frame)));
        let frame = now.frames.iter().find(here).unwrap().frame_id.to_string();
        for input in ["trusted", "synthetic"] {
            staged.act(json!({ "kind": "type", "selector": "#i", "text": "elsewhere" }));
            let typed = json!({ "kind": "type", "selector": "body", "frameId": frame, "text": input, "input": input });
            staged.act(typed);
            assert_eq!(staged.eval_value("frames[0].document.body.innerText.trim()"), input, "{how}");
        }
        staged.act(json!({ "kind": "insertText", "text": "!" }));
        assert_eq!(staged.eval_value("frames[0].document.body.innerText.trim()"), "synthetic!", "{how}");
        assert_eq!(staged.eval_value("i.value"), "elsewhere");
    }
}
