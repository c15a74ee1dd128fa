//! Text goes to its field, whole: keys stay in it, line breaks do not send, and what it took is read back.

use std::fmt::Write as _;

use cdpilot::page::Error;
use serde_json::{Value, json};

use crate::support::test_tab::{TestTab, ref_of};

/// Types or fills a text into the element with an id.
fn put(page: &TestTab, kind: &str, id: &str, text: &str) -> Result<Option<Value>, Error> {
    let selector = format!("#{id}");
    let act = match kind {
        "type" => json!({ "kind": "type", "selector": selector, "text": text }),
        _ => json!({ "kind": "fill", "fields": [{ "selector": selector, "value": text }] }),
    };
    page.act(act).map(|outcome| outcome.result)
}

#[test]
fn keys_stay_in_their_field_when_the_page_moves_the_focus() {
    let Some(page) = TestTab::new("typing-stays") else { return };
    page.site
        .page("/inner", "<!doctype html><title>Inner</title><input id=i oninput='parent.postMessage(i.value, \"*\")'>");
    let (same, other) = (page.site.url("a", "/inner"), page.site.url("b", "/inner"));
    page.site.page(
        "/",
        &format!(
            "<!doctype html><title>Outer</title><input type=password id=secret><textarea id=area></textarea><div id=rich contenteditable></div>
            <input id=plain><iframe id=same src='{same}'></iframe><iframe id=other src='{other}'></iframe>
            <script>
                let goal = null; const got = [];
                addEventListener('message', e => got.push(e.data));
                for (const e of [secret, area, rich]) e.oninput = () => (e.value ?? e.textContent).length === 3 && goal && goal.focus();
            </script>"
        ),
    );
    page.go("/");
    for goal in ["plain", "same", "other"] {
        for id in ["secret", "area", "rich"] {
            for kind in ["type", "fill"] {
                page.value(&format!(
                    "secret.value = area.value = plain.value = rich.textContent = '', goal = {goal}, got.length = 0, 1"
                ));
                let case = format!("{kind} {id}, focus to {goal}");
                let error = put(&page, kind, id, "hunter2secret").expect_err(&case).to_string();
                assert!(error.contains("moved the focus") && error.contains("after 3 of 13"), "{case}: {error}");
                assert!(!error.contains("hunter") && !error.contains("2secret"), "{case}: {error}");
                assert_eq!(page.value("plain.value + got.join()"), "", "{case}");
                // The keyboard is free again.
                page.value("goal = null, plain.focus(), 1");
                page.act(json!({ "kind": "press", "key": "x" })).unwrap();
                assert_eq!(page.value("plain.value"), "x", "{case}");
            }
        }
    }
    // Without a field, text goes wherever the focus is.
    page.value("secret.value = plain.value = '', goal = plain, secret.focus(), 1");
    page.act(json!({ "kind": "type", "text": "abcdef" })).unwrap();
    assert_eq!(page.value("[secret.value, plain.value].join()"), "abc,def");
}

/// Fields that change what is typed into them.
const FIELDS: &str = "<!doctype html><title>Fields</title>
    <textarea id=blocked onkeydown='event.preventDefault()' onbeforeinput='event.preventDefault()'></textarea>
    <input id=most maxlength=5><textarea id=lines maxlength=4></textarea>
    <input id=phone><input id=upper oninput='upper.value = upper.value.toUpperCase()'><input id=city list=cities>
    <input id=digits oninput='digits.value = digits.value.replace(/\\D/g, \"\")'>
    <input id=amount type=number><input id=restored onblur='0' oninput='setTimeout(() => restored.value = \"fixed\")'>
    <input id=slow><input id=lossy><div id=host></div><div id=kept></div>
    <script>
        phone.oninput = () => { const d = phone.value.replace(/\\D/g, ''); phone.value = d.length > 3 ? '(' + d.slice(0, 3) + ') ' + d.slice(3) : d };
        city.oninput = () => { if ('Berlin'.startsWith(city.value) && city.value.length > 2) { const n = city.value.length; city.value = 'Berlin'; city.setSelectionRange(n, 6) } };
        // Formats after each key, as libraries for card numbers do.
        const group = (e, ms) => () => setTimeout(() => { const d = e.value.replace(/\\D/g, ''); e.value = d.replace(/(.{4})(?=.)/g, '$1 ') }, ms);
        slow.addEventListener('keypress', group(slow, 10));
        lossy.addEventListener('keypress', () => setTimeout(() => lossy.value = lossy.value.slice(0, 4), 5));
        // Rendered anew at each key: without the focus, and with it.
        const make = (where, focus, value) => { const i = document.createElement('input'); i.id = where.id + '-field'; i.setAttribute('aria-label', 'City');
            i.value = value; i.oninput = () => make(where, focus, i.value); where.replaceChildren(i); if (focus) { i.focus(); i.setSelectionRange(value.length, value.length) } };
        make(host, false, ''); make(kept, true, '');
    </script>";

#[test]
fn what_a_field_took_is_read_back() {
    let Some(page) = TestTab::showing("typing-taken", FIELDS) else { return };
    let value = |id: &str| page.value(&format!("document.getElementById('{id}').value"));
    for kind in ["type", "fill"] {
        for (id, text, problem) in [
            ("blocked", "hello", "did not accept the text"),
            ("most", "abcdefgh", "at most 5 characters"),
            ("lines", "a\nbcdef", "at most 4 characters"),
            ("digits", "12ab34cd", "it does not hold the text"),
            ("restored", "mine", "it does not hold the text"),
            ("lossy", "1234567890", "it does not hold the text"),
            ("host-field", "Berlin", "moved the focus"),
        ] {
            let error = put(&page, kind, id, text).expect_err(id).to_string();
            assert!(error.contains(problem), "{kind} {id}: {error}");
        }
        for (id, text, held) in [
            ("phone", "1234567890", "(123) 4567890"),
            ("upper", "loud", "LOUD"),
            ("city", "Ber", "Berlin"),
            ("slow", "4242424242424242", "4242 4242 4242 4242"),
        ] {
            let result = put(&page, kind, id, text).unwrap_or_else(|error| panic!("{kind} {id}: {error}"));
            assert_eq!(value(id), held, "{kind} {id}");
            let taken = if kind == "type" { json!(held) } else { json!([{ "field": 1, "value": held }]) };
            assert_eq!(result, Some(json!({ "taken": taken })), "{kind} {id}");
        }
        // What is as it was given is not reported.
        for (id, text) in [("most", "abc"), ("lines", "a\nb"), ("amount", "12.5"), ("kept-field", "Berlin")] {
            let result = put(&page, kind, id, text).unwrap_or_else(|error| panic!("{kind} {id}: {error}"));
            assert_eq!((result, value(id)), (None, json!(text)), "{kind} {id}");
        }
    }
    page.act(json!({ "kind": "type", "selector": "#most", "text": "de", "append": true })).unwrap();
    assert_eq!(value("most"), "abcde");
    let more = json!({ "kind": "type", "selector": "#most", "text": "f", "append": true });
    assert!(page.act(more).unwrap_err().to_string().contains("at most 5"));
}

#[test]
fn line_breaks_insert_a_line_and_send_nothing() {
    const PAGE: &str = "<!doctype html><title>Chat</title><input id=line><form><textarea id=area></textarea></form>
        <div id=rich contenteditable role=textbox aria-label=Rich></div><script>
        const sent = []; addEventListener('submit', e => (e.preventDefault(), sent.push('form')));
        document.onkeydown = e => { if (e.key === 'Enter' && !e.shiftKey) { e.preventDefault(); sent.push(e.target.id) } };
        const lines = e => (e.value ?? e.innerText).replace(/\\n$/, '').split('\\n').join('|');
    </script>";
    let Some(page) = TestTab::showing("typing-lines", PAGE) else { return };
    for input in ["trusted", "synthetic"] {
        for id in ["area", "rich"] {
            for kind in ["type", "fill"] {
                page.value("area.value = rich.textContent = '', sent.length = 0, 1");
                let selector = format!("#{id}");
                let act = match kind {
                    "type" => json!({ "kind": "type", "selector": selector, "text": "one\r\ntwo", "input": input }),
                    _ => {
                        json!({ "kind": "fill", "fields": [{ "selector": selector, "value": "one\ntwo" }], "input": input })
                    }
                };
                page.act(act).unwrap();
                assert_eq!(page.value(&format!("lines({id})")), "one|two", "{kind} {id} {input}");
                assert_eq!(page.value("sent.join()"), "", "{kind} {id} {input}");
            }
        }
    }
    // An editor that ignores Shift+Enter gets paragraphs, without a key that could send.
    page.value(
        "rich.replaceChildren(), document.onkeydown = e => { if (e.key === 'Enter') { e.preventDefault(); e.shiftKey || sent.push('key') } }, 1",
    );
    for kind in ["type", "fill"] {
        put(&page, kind, "rich", "one\ntwo\nthree").unwrap();
        assert_eq!(page.value("lines(rich)"), "one|two|three", "{kind}");
        assert_eq!(page.value("sent.join()"), "", "{kind}");
    }
    page.value("document.onkeydown = e => { if (e.key === 'Enter' && !e.shiftKey) { e.preventDefault(); sent.push(e.target.id) } }, 1");
    // Also into the focused field, and only `submit` presses Enter.
    page.value("area.value = '', area.focus(), 1");
    page.act(json!({ "kind": "type", "text": "a\nb" })).unwrap();
    assert_eq!(page.value("lines(area) + sent.join()"), "a|b");
    page.act(json!({ "kind": "type", "selector": "#area", "text": "c\nd", "submit": true })).unwrap();
    assert_eq!(page.value("[lines(area), sent.join()].join()"), "c|d,area");
    page.value("line.focus(), 1");
    for act in [
        json!({ "kind": "type", "selector": "#line", "text": "a\nb" }),
        json!({ "kind": "type", "text": "a\nb" }),
        json!({ "kind": "fill", "fields": [{ "selector": "#line", "value": "a\nb" }] }),
    ] {
        let error = page.act(act).unwrap_err().to_string();
        assert!(error.contains("line breaks; remove them"), "{error}");
    }
    assert_eq!(page.value("line.value"), "");
}

#[test]
fn a_terminal_receives_the_text_alone() {
    const PAGE: &str = "<!doctype html><title>Terminal</title><div class=screen>$ <div style='position:absolute;left:-9999em'>
        <textarea aria-label='Shell input' style='opacity:0;width:0;height:0'></textarea></div></div><script>
        const keys = []; document.querySelector('textarea').onkeydown = e => { if (!/Shift|Control/.test(e.key)) keys.push((e.ctrlKey ? '^' : '') + e.key); e.preventDefault() };
    </script>";
    let Some(page) = TestTab::showing("typing-terminal", PAGE) else { return };
    let reference = ref_of(&page.snapshot(), "Shell input");
    page.act(json!({ "kind": "type", "ref": reference, "text": "ls", "submit": true })).unwrap();
    assert_eq!(page.value("keys.join()"), "l,s,Enter");
}

#[test]
fn options_are_chosen_by_the_label_that_a_person_sees() {
    let mut months = String::new();
    for (value, label) in ["1", "2", "3"].iter().enumerate() {
        let _ = write!(months, "<option value={value}>{label}</option>");
    }
    let html = format!(
        "<!doctype html><title>Lists</title><select id=month>{months}</select>
        <select id=who><option value=x>none<option value=a>Alpha<option value=Alpha>Tricky<option value=b>Beta</select>
        <select id=twice><option value=1>Springfield<option value=2>Springfield<option value=3>Shelbyville</select>
        <select id=many multiple><option value=1>One<option value=2>Two</select>"
    );
    let Some(page) = TestTab::showing("select-labels", &html) else { return };
    let shown = |id: &str| page.value(&format!("{id}.selectedOptions[0].text"));
    let choose = |kind: &str, id: &str, value: &str| match kind {
        "select" => page.act(json!({ "kind": "select", "selector": format!("#{id}"), "values": [value] })),
        _ => page.act(json!({ "kind": "fill", "fields": [{ "selector": format!("#{id}"), "value": value }] })),
    };
    for kind in ["select", "fill"] {
        for (id, value, label) in [
            ("who", "Beta", "Beta"),
            ("who", "b", "Beta"),
            ("month", "3", "3"),
            ("month", "label=2", "2"),
            ("month", "value=2", "3"),
        ] {
            let result =
                choose(kind, id, value).unwrap_or_else(|error| panic!("{kind} {id} {value}: {error}")).result.unwrap();
            assert_eq!(shown(id), label, "{kind} {id} {value}");
            let told = if kind == "select" { &result } else { &result["selected"][0] };
            assert_eq!(told["labels"], json!([label]), "{kind} {id} {value}: {result}");
        }
        for (id, value, candidates) in [
            ("month", "2", ["\"1\" (2)", "\"2\" (3)"]),
            ("who", "Alpha", ["\"a\" (Alpha)", "\"Alpha\" (Tricky)"]),
            ("twice", "Springfield", ["\"1\" (Springfield)", "\"2\" (Springfield)"]),
        ] {
            let before = shown(id);
            let error = choose(kind, id, value).unwrap_err().to_string();
            assert!(candidates.iter().all(|one| error.contains(one)), "{kind} {id} {value}: {error}");
            assert_eq!(shown(id), before, "{kind} {id} {value}");
        }
    }
    let both =
        page.act(json!({ "kind": "select", "selector": "#many", "values": ["One", "2"] })).unwrap().result.unwrap();
    assert_eq!(both, json!({ "values": ["1", "2"], "labels": ["One", "Two"] }));
}

/// A page that takes the keys for itself, as a console does, gets each of them once.
#[test]
fn keys_that_the_page_takes_are_not_typed_again() {
    let html = "<pre id=o></pre><textarea id=a></textarea><textarea id=b></textarea><textarea id=c></textarea><script>
        a.oninput = () => { o.textContent += a.value; a.value = '' };
        b.onkeypress = event => { event.preventDefault(); o.textContent += event.key };
        c.onkeydown = event => { if (event.key.length === 1) { event.preventDefault(); o.textContent += event.key } };
        </script>";
    let Some(page) = TestTab::showing("console", html) else { return };
    for id in ["a", "b", "c"] {
        page.value("o.textContent = '', 1");
        let took = put(&page, "type", id, "ls -l").unwrap_or_else(|error| panic!("{id}: {error}"));
        assert_eq!((page.value("o.textContent"), took), (json!("ls -l"), Some(json!({ "taken": "" }))), "{id}");
    }
}
