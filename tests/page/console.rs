//! Console messages and uncaught exceptions.

use cdpilot::page::ConsoleMessage;
use cdpilot::supervisor::ConsoleLevel;
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::settle_tab::SettleTab;

fn said(tab: &SettleTab, level: Option<ConsoleLevel>) -> Vec<ConsoleMessage> {
    tab.supervisor().caught_up(soon()).unwrap();
    tab.console(level, None, false)
}

#[test]
fn console_messages_are_filtered_by_tab_and_level() {
    let Some(tab) = SettleTab::new("console") else { return };
    tab.site.page("/", "<iframe src='@b/inner'></iframe>\n<script>\n  console.log('plain', 1, { a: 1 })\n</script>");
    tab.site.page("/inner", "<script>console.warn('from the frame')</script>");
    tab.go("/");
    let inner = tab.frame("/inner");
    tab.eval("console.info('info'), console.debug('debug'), console.error('bad'), 1");
    tab.eval(
        "setTimeout(() => { function fail() { throw new TypeError('boom\\nsecond line') } fail() }), \
              setTimeout(() => { throw 'text' }), new Promise(done => setTimeout(done, 20, 1))",
    );
    let all = said(&tab, None);
    let texts = |all: &[ConsoleMessage]| all.iter().map(|message| message.text.clone()).collect::<Vec<_>>();
    let mut found = texts(&all);
    assert_eq!(found.len(), 7, "{all:#?}");
    found.retain(|text| text != "from the frame");
    assert_eq!(found, ["plain 1 {a: 1}", "info", "debug", "bad", "TypeError: boom\nsecond line", "text"]);
    let first = all.iter().find(|message| message.text.starts_with("plain")).unwrap();
    assert_eq!((first.line, first.url.as_deref()), (Some(3), Some(&*tab.site.url("a", "/"))));
    let shown = serde_json::to_value(all.iter().find(|message| message.text == "from the frame").unwrap()).unwrap();
    assert_eq!((&shown["level"], &shown["frameId"]), (&json!("warning"), &json!(inner.frame_id)));
    assert!(shown.get("targetId").is_none() && shown["timestamp"].as_f64().unwrap() > 1.6e9);
    assert_eq!(said(&tab, Some(ConsoleLevel::Warning)).len(), 4);
    assert_eq!(texts(&said(&tab, Some(ConsoleLevel::Error))), ["bad", "TypeError: boom\nsecond line", "text"]);
    assert_eq!(texts(&tab.console(None, Some(2), false)), ["TypeError: boom\nsecond line", "text"]);

    let errors = tab.errors(None, false);
    assert_eq!(errors.len(), 2);
    assert_eq!(errors[0].message, "TypeError: boom\nsecond line");
    assert!(errors[0].stack.as_deref().is_some_and(|stack| stack.starts_with("    at fail")), "{errors:?}");
    assert_eq!((errors[1].message.as_str(), errors[1].stack.as_deref()), ("text", None));

    // Another tab has its own, and clearing one changes nothing else.
    let other = tab.supervisor().open_page(&tab.site.url("b", "/inner"), None, soon()).unwrap();
    let other = tab.pages.tab(&other).unwrap();
    tab.supervisor().wait_until(soon(), |now| now.console.iter().any(|e| e.target_id == *other.target())).unwrap();
    assert_eq!(other.console(None, None, false).len(), 1);
    assert_eq!(tab.console(None, None, true).len(), 7);
    assert!(tab.console(None, None, false).is_empty());
    assert_eq!((tab.errors(None, true).len(), tab.errors(None, false).len()), (2, 0));
    tab.eval("console.log('again'), 1");
    assert_eq!(texts(&said(&tab, None)), ["again"]);
    assert_eq!(other.console(None, None, false).len(), 1);
}

#[test]
fn five_hundred_console_messages_are_kept_per_tab() {
    let Some(tab) = SettleTab::new("console-flood") else { return };
    tab.site.page("/", "hello");
    tab.go("/");
    tab.eval("console.log('kept'), 1");
    let other = tab.supervisor().open_page(&tab.site.url("b", "/"), None, soon()).unwrap();
    let other = tab.pages.tab(&other).unwrap();
    // In steps, so that the queue of messages does not run over.
    for step in 0..8 {
        let script = format!("for (let n = 0; n < 100; n++) console.log('m' + ({step} * 100 + n)); 1");
        let top = cdpilot::supervisor::FrameRef::TopOf(other.target().clone());
        tab.supervisor().evaluate(&top, &script, soon()).unwrap();
        tab.supervisor().caught_up(soon()).unwrap();
    }
    let all = other.console(None, None, false);
    assert_eq!((all.len(), &*all[0].text, &*all[499].text), (500, "m300", "m799"));
    assert_eq!(said(&tab, None).len(), 1);
}

/// Every kind of value and call, as developer tools show it.
const SHOWN: &[(&str, &str)] = &[
    ("log('plain', 1, true)", "plain 1 true"),
    ("log(undefined, null, -0, NaN, -Infinity, 12n, Symbol('s'))", "undefined null -0 NaN -Infinity 12n Symbol(s)"),
    ("log({a: 1, b: {c: 2}, s: 'it'})", "{a: 1, b: {…}, s: 'it'}"),
    ("log({})", "{}"),
    ("log({a: 1, b: 2, c: 3, d: 4, e: 5, f: 6})", "{a: 1, b: 2, c: 3, d: 4, e: 5, …}"),
    ("log({f() {}, a: 1, get g() { return 1 }})", "{a: 1, f: ƒ}"),
    (
        "log({n: null, u: undefined, z: -0, i: 3n, y: Symbol('q'), })",
        "{n: null, u: undefined, z: -0, i: 3n, y: Symbol(q)}",
    ),
    (
        "log({d: new Date(NaN), r: /x/g, e: new Error('no').message, l: [1, 2], m: new Map([[1, 2]])})",
        "{d: Invalid Date, r: /x/g, e: 'no', l: Array(2), m: Map(1)}",
    ),
    ("log({el: document.body, q: \"it's\"})", "{el: body, q: \"it's\"}"),
    ("log([1, 2, 3])", "(3) [1, 2, 3]"),
    ("log([], [1], ['a'])", "[] [1] ['a']"),
    ("log([1, , 3, , ,])", "(5) [1, empty, 3, empty × 2]"),
    ("log([{a: 1}, [2], null])", "(3) [{…}, Array(1), null]"),
    ("log(Object.assign([1, 2], {x: 3}))", "(2) [1, 2, x: 3]"),
    ("log(Array(200).fill(7))", "(200) [7, 7, "),
    (
        "log(new Uint8Array([1, 2]))",
        "Uint8Array(2) [1, 2, buffer: ArrayBuffer(2), byteLength: 2, byteOffset: 0, length: 2, Symbol(Symbol.toStringTag): 'Uint8Array']",
    ),
    ("log(new BigInt64Array(1))", "BigInt64Array [0n, "),
    ("log(new ArrayBuffer(8))", "ArrayBuffer(8)"),
    ("log(new Map([['a', 1], [{}, [2]]]))", "Map(2) {'a' => 1, {…} => Array(1)}"),
    ("log(new Set([1, 'b']))", "Set(2) {1, 'b'}"),
    ("log(new Map(), new Set())", "Map(0) {size: 0} Set(0) {size: 0}"),
    ("log(new WeakMap())", "WeakMap {}"),
    ("log(new Date(NaN))", "Invalid Date"),
    ("log(/a+/gi)", "/a+/gi"),
    ("log(function add(a, b) { return a + b })", "ƒ add(a, b) { return a + b }"),
    ("log(a => a + 1)", "a => a + 1"),
    ("log(async function later() {})", "async ƒ later() {}"),
    ("log(function* many() {})", "ƒ* many() {}"),
    ("log(class Car extends Object {})", "class Car extends Object {}"),
    ("log(new (class Car { wheels = 4 }))", "Car {wheels: 4}"),
    ("log(Object.create(null))", "{}"),
    ("log(Promise.resolve(5), new Promise(() => {}))", "Promise {<fulfilled>: 5} Promise {<pending>}"),
    ("log(new Number(5), new String('ab'))", "Number {5} String {'ab'}"),
    ("log(new Proxy({a: 1}, {}))", "Proxy(Object) {a: 1}"),
    ("log((function* g() {})())", "g {<suspended>}"),
    ("log(document.querySelector('div'))", "div#id.class.other"),
    ("log(document.querySelectorAll('p'))", "NodeList(2) [p, p]"),
    ("log(document.querySelector('p').firstChild)", "#text"),
    ("log('%s is %d years and %i', 'it', 7.5, '42px')", "it is 7 years and 42"),
    ("log('%f|%%|%s', '1.5', {a: 1})", "1.5|%|[object Object]"),
    ("log('%o and %O', {a: 1}, [1, 2])", "{a: 1} and (2) [1, 2]"),
    ("log('%cstyled%c text', 'color: red', '')", "styled text"),
    ("log('%s', 'one', 'two', {a: 1})", "one two {a: 1}"),
    ("log('%s %d')", "%s %d"),
    ("log('100%', 'sure')", "100% sure"),
    ("log('two\\nlines')", "two\nlines"),
    ("warn('careful', {a: 1})", "careful {a: 1}"),
    ("dir({a: 1}); console.dirxml([1, 2])", "{a: 1}"),
    ("assert(1 === 2, 'numbers', {n: 1}); console.assert(true, 'never')", "Assertion failed: numbers {n: 1}"),
    ("assert(false)", "Assertion failed: console.assert"),
    ("count('n'); console.count('n')", "n: 1"),
    ("log(new Error('boom'))", "Error: boom\n    at "),
    ("trace('here')", "here\n    (anonymous) ("),
    ("time('t'); console.timeLog('t', {a: 1}); console.timeEnd('t')", "t: "),
    (
        "group('outer', {a: 1}); console.log('in'); console.groupCollapsed(); console.log('deep'); console.groupEnd(); console.log('back'); console.groupEnd(); console.log('out')",
        "▼ outer {a: 1}",
    ),
    (
        "table([{a: 1, b: 'x'}, {a: 2, c: {}}])",
        "┌─────────┬───┬─────┬─────┐\n│ (index) │ a │ b   │ c   │\n├─────────┼───┼─────┼─────┤\n│ 0       │ 1 │ 'x' │     │\n│ 1       │ 2 │     │ {…} │\n└─────────┴───┴─────┴─────┘",
    ),
    (
        "table(['one', 'two'])",
        "┌─────────┬───────┐\n│ (index) │ Value │\n├─────────┼───────┤\n│ 0       │ 'one' │\n│ 1       │ 'two' │\n└─────────┴───────┘",
    ),
    ("log('x'.repeat(9000))", "xxxx"),
];

#[test]
fn values_appear_as_developer_tools_preview_them() {
    let Some(tab) = SettleTab::new("console-values") else { return };
    tab.site.page("/", "<div id=id class='class other'></div><p>one</p><p>two</p>");
    tab.go("/");
    let mut wrong = Vec::new();
    let mut all = Vec::new();
    for &(call, expected) in SHOWN {
        let _ = tab.console(None, None, true);
        tab.eval(&format!("console.{call}; 1"));
        let texts: Vec<_> = said(&tab, None).into_iter().map(|message| message.text).collect();
        let first = texts.first().cloned().unwrap_or_default();
        let shortened =
            ["(200)", "BigInt64", "Error: boom", "here", "t: ", "xxxx"].iter().any(|start| expected.starts_with(start));
        if first != expected && !(shortened && first.starts_with(expected)) {
            wrong.push(format!("console.{call}\n   expected {expected}\n   got      {first}"));
        }
        all.extend(texts);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let has = |text: &str| all.iter().any(|said| said == text);
    for text in ["(2) [1, 2]", "n: 2", "  in", "  ▶ console.groupCollapsed", "    deep", "  back", "out"] {
        assert!(has(text), "{text}: {all:#?}");
    }
    assert!(!has("never") && !all.iter().any(|text| text.contains("groupEnd")), "{all:#?}");
    let long = all.iter().find(|text| text.starts_with("xxxx")).unwrap();
    assert!(long.len() <= 4096 && long.ends_with("x…"), "{}", long.len());
    // Groups belong to their document.
    tab.eval("console.group('left open'), 1");
    tab.go("/?again");
    let _ = tab.console(None, None, true);
    tab.eval("console.log('fresh'), 1");
    assert_eq!(said(&tab, None)[0].text, "fresh");
}
