//! Texts of console messages, from events as Chromium sends them.

use serde_json::{Value, json};

use super::*;

fn text(kind: &str, args: &Value) -> String {
    rendered(kind, args, 0).unwrap()
}

fn rendered(kind: &str, args: &Value, groups: usize) -> Option<String> {
    let call = json!({"functionName": "", "scriptId": "3", "url": "http://a/x.js", "lineNumber": 4, "columnNumber": 8});
    let event = json!({
        "type": kind, "args": args, "executionContextId": 1, "timestamp": 1.0,
        "stackTrace": {"callFrames": [call]},
    })
    .to_string();
    message(&serde_json::from_str(&event).unwrap(), groups)
}

fn log(args: &Value) -> String {
    text("log", args)
}

fn string(text: &str) -> Value {
    json!({"type": "string", "value": text})
}

fn object(description: &str, subtype: Option<&str>, properties: &Value, overflow: bool) -> Value {
    let mut preview =
        json!({"type": "object", "description": description, "overflow": overflow, "properties": properties});
    let mut object = json!({"type": "object", "className": "Object", "description": description});
    if let Some(subtype) = subtype {
        preview["subtype"] = subtype.into();
        object["subtype"] = subtype.into();
    }
    object["preview"] = preview;
    object
}

fn property(name: &str, kind: &str, value: &str) -> Value {
    json!({"name": name, "type": kind, "value": value})
}

#[test]
fn plain_values() {
    let args = json!([
        {"type": "undefined"}, {"type": "object", "subtype": "null", "value": null}, {"type": "boolean", "value": true},
        {"type": "number", "value": 1.5, "description": "1.5"},
        {"type": "number", "unserializableValue": "-0", "description": "-0"},
        {"type": "number", "unserializableValue": "NaN", "description": "NaN"},
        {"type": "bigint", "unserializableValue": "12n", "description": "12n"},
        {"type": "symbol", "description": "Symbol(s)"},
        string("a 'text'"),
    ]);
    assert_eq!(log(&args), "undefined null true 1.5 -0 NaN 12n Symbol(s) a 'text'");
    assert_eq!(log(&json!([])), "");
}

#[test]
fn objects() {
    let inside = json!([
        property("a", "number", "1"),
        property("f", "function", ""),
        property("b", "object", "Object"),
        property("list", "object", "Array(2)"),
        property("hidden", "accessor", ""),
        property("text", "string", "it's \"x\"\n\u{1b}`"),
        property(" space", "undefined", "undefined"),
        {"name": "none", "type": "object", "subtype": "null", "value": "null"},
    ]);
    let plain = object("Object", None, &inside, true);
    assert_eq!(
        log(&json!([plain])),
        "{a: 1, b: {…}, list: Array(2), text: 'it\\'s \"x\"\\n\\u001b`', ' space': undefined, none: null, f: ƒ, …}"
    );
    assert_eq!(log(&json!([object("Object", None, &json!([]), false)])), "{}");
    assert_eq!(log(&json!([object("Object", None, &json!([]), true)])), "{…}");
    assert_eq!(log(&json!([object("Car", None, &json!([property("w", "number", "4")]), false)])), "Car {w: 4}");
    // Without a preview the description is used.
    assert_eq!(log(&json!([{"type": "object", "description": "Window"}])), "Window");
}

#[test]
fn arrays_and_their_holes() {
    let array = |description: &str, at: &[u32], overflow| {
        let items: Vec<_> = at.iter().map(|at| property(&at.to_string(), "number", &at.to_string())).collect();
        log(&json!([object(description, Some("array"), &items.into(), overflow)]))
    };
    assert_eq!(array("Array(3)", &[0, 1, 2], false), "(3) [0, 1, 2]");
    assert_eq!(array("Array(1)", &[0], false), "[0]");
    assert_eq!(array("Array(0)", &[], false), "[]");
    assert_eq!(array("Array(200)", &[0, 1], true), "(200) [0, 1, …]");
    assert_eq!(array("Array(7)", &[1, 4], false), "(7) [empty, 1, empty × 2, 4, empty × 2]");
    assert_eq!(array("Array(3)", &[], false), "(3) [empty × 3]");
    assert_eq!(array("Array(900)", &[0, 7], true), "(900) [0, 7: 7, …]");
    assert_eq!(array("NodeList(2)", &[0, 1], false), "NodeList(2) [0, 1]");
    let typed = object("Uint8Array(2)", Some("typedarray"), &json!([property("0", "number", "9")]), true);
    assert_eq!(log(&json!([typed])), "Uint8Array(2) [9, …]");
}

#[test]
fn what_has_entries() {
    let value = |n: u32| json!({"type": "number", "description": n.to_string(), "overflow": false, "properties": []});
    let key = json!({"type": "string", "description": "k", "overflow": false, "properties": []});
    let of = json!({"type": "object", "description": "Object", "overflow": false, "properties": []});
    let mut map = object("Map(2)", Some("map"), &json!([]), false);
    map["preview"]["entries"] = json!([{"key": key, "value": value(1)}, {"key": of, "value": value(2)}]);
    let mut set = object("Set(9)", Some("set"), &json!([]), true);
    set["preview"]["entries"] = json!([{"value": value(1)}]);
    assert_eq!(log(&json!([map, set])), "Map(2) {'k' => 1, {…} => 2} Set(9) {1, …}");
}

#[test]
fn kinds_with_a_text_of_their_own() {
    let of = |kind: &str, subtype: Option<&str>, description: &str| {
        let mut object = object(description, subtype, &json!([]), false);
        object["type"] = kind.into();
        log(&json!([object]))
    };
    assert_eq!(of("object", Some("date"), "Thu Jan 01 1970"), "Thu Jan 01 1970");
    assert_eq!(of("object", Some("regexp"), "/a/g"), "/a/g");
    assert_eq!(of("object", Some("node"), "div#id.class"), "div#id.class");
    assert_eq!(of("object", Some("error"), "Error: no\n    at x"), "Error: no\n    at x");
    assert_eq!(of("object", Some("arraybuffer"), "ArrayBuffer(8)"), "ArrayBuffer(8)");
    assert_eq!(of("function", None, "function f(a) {\n  return a\n}"), "ƒ f(a) { return a }");
    assert_eq!(of("function", None, "async function* f() {}"), "async ƒ* f() {}");
    assert_eq!(of("function", None, "m() {}"), "ƒ m() {}");
    assert_eq!(of("function", None, "a => a"), "a => a");
    assert_eq!(of("function", None, "class A extends B {}"), "class A extends B {}");
    assert_eq!(of("function", None, "classes() {}"), "ƒ classes() {}");
    let long = "x;".repeat(200);
    assert_eq!(of("function", None, &format!("function f(a) {{{long}}}")), "ƒ f(a) {…}");
    assert_eq!(of("function", None, &format!("class A {{ m() {{{long}}} }}")), "class A {…}");
    assert_eq!(of("function", None, &format!("(a) => {{{long}}}")), "(a) => {…}");
}

#[test]
fn insides_of_promises_generators_and_boxes() {
    let state = property("[[PromiseState]]", "string", "fulfilled");
    let done = json!([state, property("[[PromiseResult]]", "number", "5")]);
    assert_eq!(log(&json!([object("Promise", Some("promise"), &done, false)])), "Promise {<fulfilled>: 5}");
    let state = property("[[PromiseState]]", "string", "pending");
    let open = json!([state, property("[[PromiseResult]]", "undefined", "undefined")]);
    assert_eq!(log(&json!([object("Promise", Some("promise"), &open, false)])), "Promise {<pending>}");
    let state = json!([property("[[GeneratorState]]", "string", "suspended")]);
    assert_eq!(log(&json!([object("g", Some("generator"), &state, false)])), "g {<suspended>}");
    let inside = json!([property("[[PrimitiveValue]]", "number", "5")]);
    assert_eq!(log(&json!([object("Number", None, &inside, false)])), "Number {5}");
}

#[test]
fn format_specifiers() {
    let number = json!({"type": "number", "value": 7, "description": "7"});
    let object = object("Object", None, &json!([property("a", "number", "1")]), false);
    let format = |text: &str, rest: &[&Value]| {
        let mut args = vec![string(text)];
        args.extend(rest.iter().map(|value| (*value).clone()));
        log(&args.into())
    };
    assert_eq!(format("%s is %d%%", &[&string("it"), &number]), "it is 7%");
    assert_eq!(format("%i %f %o %O", &[&number, &number, &string("t"), &object]), "7 7 't' {a: 1}");
    assert_eq!(format("%chello%c there", &[&string("color: red"), &string("")]), "hello there");
    assert_eq!(format("%s", &[&string("one"), &string("two %s"), &number]), "one two %s 7");
    assert_eq!(format("%s %d %x 100%", &[&string("one")]), "one %d %x 100%");
    assert_eq!(format("%é %s", &[&string("%s")]), "%é %s");
    // A format without arguments is a text, and so is a percent sign in a later argument.
    assert_eq!(format("%s %%", &[]), "%s %%");
    assert_eq!(log(&json!([number, string("%s"), string("x")])), "7 %s x");
}

#[test]
fn kinds_of_calls() {
    assert_eq!(text("assert", &json!([string("no")])), "Assertion failed: no");
    assert_eq!(text("trace", &json!([string("here")])), "here\n    (anonymous) (http://a/x.js:5:9)");
    assert_eq!(text("startGroup", &json!([string("g")])), "▼ g");
    assert_eq!(text("startGroupCollapsed", &json!([string("g")])), "▶ g");
    assert_eq!(rendered("log", &json!([string("in")]), 2).unwrap(), "    in");
    assert_eq!(rendered("log", &json!([string("in")]), 5000).unwrap(), format!("{}in", "  ".repeat(8)));
    assert_eq!(rendered("endGroup", &json!([string("console.groupEnd")]), 1), None);
    assert_eq!(text("clear", &json!([])), "Console was cleared");
    assert_eq!(text("dir", &json!([object("Object", None, &json!([]), false)])), "{}");
}

#[test]
fn tables() {
    let row = |name: &str, inside: &Value| {
        let preview = json!({"type": "object", "description": "Object", "overflow": false, "properties": inside});
        json!({"name": name, "type": "object", "value": "Object", "valuePreview": preview})
    };
    let rows = json!([
        row("0", &json!([property("a", "number", "1"), property("b", "string", "x\ny")])),
        row("1", &json!([property("b", "string", &"long".repeat(30))])),
        property("two", "number", "22"),
    ]);
    let shown = text("table", &json!([object("Array(3)", Some("array"), &rows, true)]));
    let expected = "\
┌─────────┬───┬──────────────────────────────────────────┬───────┐
│ (index) │ a │ b                                        │ Value │
├─────────┼───┼──────────────────────────────────────────┼───────┤
│ 0       │ 1 │ 'x\\ny'                                   │       │
│ 1       │   │ 'longlonglonglonglonglonglonglonglonglo… │       │
│ two     │   │                                          │ 22    │
└─────────┴───┴──────────────────────────────────────────┴───────┘
…";
    assert_eq!(shown, expected);
    assert_eq!(text("table", &json!([string("plain")])), "plain");
}

#[test]
fn a_text_ends_at_the_limit() {
    let long = log(&json!([string(&"é".repeat(3000)), string("x")]));
    assert!(long.len() <= MAX && long.len() > MAX - 8 && long.ends_with("é…"), "{}", long.len());
    let exact = "x".repeat(MAX);
    assert_eq!(log(&json!([string(&exact)])), exact);
    assert!(log(&json!([string(&exact), string("y")])).ends_with("x…"));
    let many: Vec<_> = (0..20_000).map(|_| string("ab")).collect();
    assert!(log(&many.into()).len() <= MAX);
}
