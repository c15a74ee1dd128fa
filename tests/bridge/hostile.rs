//! The dialog bridge with pages that try to use, read, break or detect it.

use std::time::Instant;

use cdpilot::supervisor::bridge::RefusedCall;
use serde_json::json;

use crate::support::bridged::{ALL, Bridged, HandledBy};
use crate::support::chrome::soon;
use crate::support::share::rounds;

fn open(html: &str) -> Option<Bridged> {
    let mut tab = Bridged::start(ALL)?;
    tab.site.page("/", html);
    let url = tab.site.url("a", "/");
    tab.go(&url);
    Some(tab)
}

/// The address of the bridge, as a page finds it.
const FOUND: &str = "performance.getEntriesByType('resource').map(e => e.name).find(n => n.includes('.invalid'))";

fn ways(tab: &mut Bridged) -> Vec<HandledBy> {
    tab.taken().iter().map(|met| met.way).collect()
}

#[test]
fn a_page_sees_only_the_url_of_a_bridge_call() {
    let Some(mut tab) = open("page") else { return };
    assert_eq!(tab.eval(FOUND), json!(null), "nothing before the first call");
    tab.eval(
        "window.reports = new Promise(done => new ReportingObserver(r => done(JSON.stringify(r)), {buffered: true}).observe()); 0",
    );
    tab.eval("prompt('secret message', 'secret default')");
    // Chromium tells a page that synchronous requests are deprecated.
    let reports = tab.eval("reports");
    let reports = reports.as_str().unwrap();
    assert!(reports.contains("deprecat"), "{reports}");
    assert!(!reports.contains("secret") && !reports.contains(".invalid"), "{reports}");
    let bridge = tab.bridge.pattern().to_owned();
    assert_eq!(tab.eval(FOUND), json!(bridge));
    let shown = tab.eval("JSON.stringify(performance.getEntries())");
    assert!(!shown.as_str().unwrap().contains("secret"), "{shown}");
    assert_eq!(
        tab.eval(&FOUND.replace("e.name)", "e.name + ' ' + e.initiatorType)")),
        format!("{bridge} xmlhttprequest")
    );
}

#[test]
fn forged_requests_of_a_page_are_refused_with_an_empty_response() {
    let Some(mut tab) = open("page") else { return };
    tab.eval("alert('true')");
    tab.met.clear();
    for (request, refused) in [
        ("fetch(u)", RefusedCall::Method),
        ("fetch(u, {mode: 'no-cors'})", RefusedCall::Method),
        ("fetch(u, {method: 'POST'})", RefusedCall::BadCode),
        ("fetch(u, {method: 'POST', body: 'x'})", RefusedCall::BadCode),
        ("fetch(u, {method: 'POST', body: new Uint8Array([255, 0, 254])})", RefusedCall::BadCode),
        (
            "fetch(u, {method: 'POST', mode: 'no-cors', body: '0'.repeat(32) + '\\nq\\n' + '0'.repeat(32) + '\\n1\\nalert\\n0\\nforged\\n'})",
            RefusedCall::BadCode,
        ),
        ("fetch(u, {method: 'POST', body: 'x'.repeat(2e6)})", RefusedCall::TooLong),
        ("fetch(u, {method: 'PUT', body: 'x'})", RefusedCall::Method),
        (
            "new Promise((ok, no) => { const x = new XMLHttpRequest; x.open('POST', u); x.onload = ok; x.onerror = () => no('x'); x.send('x') })",
            RefusedCall::BadCode,
        ),
        (
            "new Promise((ok, no) => { const i = new Image; i.onload = ok; i.onerror = () => no('i'); i.src = u })",
            RefusedCall::Method,
        ),
    ] {
        let got = tab.eval(&format!("(u => {request})({FOUND}).then(() => 'read', () => 'nothing')"));
        assert_eq!(got, "nothing", "{request}");
        // A preflight comes first where one is needed, and is refused as well.
        let ways = ways(&mut tab);
        assert_eq!(ways.first(), Some(&HandledBy::Refused(refused)), "{request}: {ways:?}");
        assert!(ways.iter().all(|way| matches!(way, HandledBy::Refused(_))), "{request}");
    }
    for other in ["u + '?x'", "u + 'x'", "u.replace('https', 'http')", "u.replace('//', '//x.')"] {
        let got = tab.eval(&format!("(u => fetch({other}))({FOUND}).then(() => 'read', () => 'nothing')"));
        assert_eq!((got, ways(&mut tab)), (json!("nothing"), vec![]), "{other} is not even caught");
    }
}

#[test]
fn a_bridge_call_can_be_neither_replayed_nor_modified() {
    let Some(mut tab) = open("page") else { return };
    tab.eval("confirm('first'), confirm('second')");
    let old: Vec<String> = tab.taken().into_iter().map(|met| met.body).collect();
    // Nobody shows a page these texts; here it has them all the same.
    let send = |body: &str| {
        let body = json!(body);
        format!("fetch({FOUND}, {{method: 'POST', body: {body}}}).then(() => 'read', () => 'nothing')")
    };
    let (first, second) = (&old[0], &old[1]);
    for (body, refused) in [
        (first.clone(), RefusedCall::Repeated),
        (second.clone(), RefusedCall::Repeated),
        (second.replace("second", "third"), RefusedCall::BadCode),
        (second.replace("\n2\n", "\n3\n"), RefusedCall::BadCode),
        (second.replace("confirm", "alert"), RefusedCall::BadCode),
        (first[..33].to_owned() + &second[33..], RefusedCall::BadCode),
    ] {
        assert_eq!(tab.eval(&send(&body)), "nothing");
        assert_eq!(ways(&mut tab), [HandledBy::Refused(refused)], "{body}");
    }
    assert_eq!(tab.eval("confirm('third')"), true);
    assert_eq!(ways(&mut tab), [HandledBy::Bridge]);
}

#[test]
fn a_flood_of_forged_requests_is_refused() {
    let Some(mut tab) = open("page") else { return };
    tab.eval("alert('true')");
    tab.met.clear();
    let (began, many) = (Instant::now(), rounds("CDPILOT_TEST_FORGED", 4, 20));
    tab.eval(&format!(
        "(async u => {{ for (let i = 0; i < {many}; i++) await Promise.allSettled(Array.from({{length: 50}}, (_, j) =>
            fetch(u, {{method: 'POST', body: '0'.repeat(32) + '\\nq\\n' + i + j}}))) }})({FOUND})"
    ));
    println!("{} forged requests took {:?}", 50 * many, began.elapsed());
    let ways = ways(&mut tab);
    assert_eq!(ways.len(), 50 * many);
    assert!(ways.iter().all(|way| *way == HandledBy::Refused(RefusedCall::BadCode)));
    assert_eq!(tab.eval("confirm('still')"), true);
    assert_eq!(tab.taken()[0].short(), (HandledBy::Bridge, "confirm", "still"));
}

/// Changes everything a page can change, and notes every use and every text that is seen there.
const TAMPER: &str = r#"<script>
    window.seen = [];
    const keep = seen, texts = { String, call: Function.prototype.call, apply: Reflect.apply, keys: Reflect.ownKeys };
    const raw = { stringify: JSON.stringify };
    const note = (where, args) => { keep[keep.length] = where };
    const holders = { XMLHttpRequest: XMLHttpRequest.prototype, XhrTarget: XMLHttpRequestEventTarget.prototype,
        EventTarget: EventTarget.prototype, String: String.prototype, Array: Array.prototype, Function: Function.prototype,
        Object: Object.prototype, Number: Number.prototype, BigInt: BigInt.prototype, RegExp: RegExp.prototype,
        Map: Map.prototype, Symbol: Symbol.prototype, Uint32: Object.getPrototypeOf(Uint32Array.prototype),
        DOMException: DOMException.prototype, Error: Error.prototype, Document: Document.prototype,
        statics_String: String, statics_Object: Object, statics_Array: Array, statics_Reflect: Reflect, statics_JSON: JSON,
        statics_Math: Math, statics_Crypto: Crypto.prototype };
    for (const name in holders) {
        const holder = holders[name];
        for (const key of texts.keys(holder)) {
            const found = Object.getOwnPropertyDescriptor(holder, key);
            if (!found || !found.configurable || (name === 'Function' && key === 'prototype')) continue;
            const where = name + '.' + texts.String(key);
            try {
                if (found.get || found.set) {
                    const { get, set } = found;
                    tampered(holder, key, { configurable: true, get() { note(where); return texts.apply(get, this, []) },
                        set(v) { note(where); texts.apply(set, this, [v]) } });
                } else if (typeof found.value === 'function') {
                    const old = found.value;
                    tampered(holder, key, { configurable: true, writable: true,
                        value: function () { note(where); return texts.apply(old, this, arguments) } });
                }
            } catch (e) { console.log(where, e.message) }
        }
    }
    function tampered(holder, key, what) { later.push([holder, key, what]) }
    var later;
    </script>"#;

#[test]
fn modified_builtins_neither_observe_nor_break_the_bridge() {
    // Declared before use, and applied only when everything is prepared: the loop above uses what it changes.
    let html = TAMPER.replacen("<script>", "<script>var later = [];", 1).replace("    var later;\n", "");
    let Some(mut tab) = open(&html) else { return };
    let count = tab.eval(
        "(() => { const define = Object.defineProperty, names = ['get', 'set', 'apply', 'has', 'construct', 'value', 'writable',
            'configurable', 'enumerable', 'defineProperty', 'getOwnPropertyDescriptor', 'toJSON', 'then', 'raw', 'prerendering'];
        const all = later, n = all.length;
        const traps = [];
        for (let i = 0; i < names.length; i++) traps[i] = { __proto__: null, configurable: true,
            get() { keep[keep.length] = 'trap ' + names[i]; return undefined }, set(v) { keep[keep.length] = 'set ' + names[i] } };
        const indices = [];
        for (let i = 0; i < 40; i++) indices[i] = { __proto__: null, configurable: true,
            get() { keep[keep.length] = 'index ' + i; return undefined }, set(v) { keep[keep.length] = 'setindex ' + i } };
        window.go = () => {
            for (let i = 0; i < n; i++) { const w = all[i][2]; define(all[i][0], all[i][1], w) }
            for (let i = 0; i < names.length; i++) define(Object.prototype, names[i], traps[i]);
            for (let i = 0; i < 40; i++) if (i !== 0) define(Object.prototype, i, indices[i]);
            define(Object.prototype, '0', indices[0]);
            XMLHttpRequest = Proxy = Reflect = String = Array = Error = DOMException = undefined;
            crypto.getRandomValues = undefined;
        };
        return n })()",
    );
    assert!(count.as_u64().unwrap() > 300, "{count} things are changed");
    // One script, since the protocol's own helpers use what is changed here.
    let got = tab.eval(
        "(() => { keep.length = 0; const before = keep.length; const w = window; const frozen = [];
        const define = Object.defineProperty, parse = JSON.stringify; go(); keep.length = 0;
        const a = alert('mess\\u00e4ge'), c = confirm('ok?'), p = prompt('P', 'D'), used = keep.length;
        let list = ''; for (let i = 0; i < used; i++) list += keep[i] + ' ';
        return (a === undefined) + '|' + c + '|' + p + '|' + used + '|' + list })()",
    );
    assert_eq!(got, "true|true|typed|0|");
    let met = tab.taken();
    let met: Vec<_> = met.iter().map(|met| met.short()).collect();
    assert_eq!(
        met,
        [
            (HandledBy::Bridge, "alert", "messäge"),
            (HandledBy::Bridge, "confirm", "ok?"),
            (HandledBy::Bridge, "prompt", "P")
        ]
    );
}

#[test]
fn new_windows_have_the_bridged_functions() {
    let Some(mut tab) = open("<iframe id=f></iframe>") else { return };
    for window in [
        "document.body.appendChild(document.createElement('iframe')).contentWindow",
        "(document.body.insertAdjacentHTML('beforeend', '<iframe>'), window[window.length - 1])",
        "(f => (f.src = 'javascript:0', document.body.append(f), f.contentWindow))(document.createElement('iframe'))",
        "(f => (f.srcdoc = 'x', document.body.append(f), f.contentWindow))(document.createElement('iframe'))",
        "(f => (f.src = '/', document.body.append(f), f.contentWindow))(document.createElement('iframe'))",
        "(f => (document.body.append(f), f.contentDocument.open(), f.contentDocument.write('x'), f.contentWindow))(document.createElement('iframe'))",
        "document.body.appendChild(Object.assign(document.createElement('object'), {data: 'about:blank'})).contentWindow",
        "document.body.appendChild(document.createElement('embed')) && document.body.appendChild(document.createElement('iframe')).contentDocument.defaultView",
        "(document.getElementById('f').contentDocument.write('<script>parent.got = confirm<' + '/script>'), {confirm: (m) => got(m)})",
    ] {
        assert_eq!(tab.eval(&format!("({window}).confirm('fresh')")), true, "{window}");
        assert_eq!(ways(&mut tab), [HandledBy::Bridge], "{window}");
    }
}

#[test]
fn a_page_reaches_neither_the_bridge_script_nor_the_native_function() {
    let Some(mut tab) = open("page") else { return };
    let host = tab.bridge.pattern().trim_start_matches("https://").trim_end_matches("/").to_owned();
    // Whatever a page gets hold of while the functions run: as texts, and functions it can call.
    let found = tab.eval(
        "(() => {
        const texts = [], functions = new Set();
        const take = (x) => { if (typeof x === 'function') { functions.add(x); texts.push(Function.prototype.toString.call(x)) } else texts.push(String(x)) };
        const old = Error.prepareStackTrace;
        const sites = (list) => { for (const s of list) { for (const m of ['getThis', 'getFunction', 'getTypeName', 'getFunctionName',
            'getMethodName', 'getFileName', 'getEvalOrigin', 'getScriptNameOrSourceURL', 'toString'])
            try { take(s[m]()) } catch (e) { texts.push(e.message) } } };
        Error.prepareStackTrace = (e, list) => { sites(list); return 'x' };
        window.onerror = (...all) => { all.forEach(x => texts.push(String(x))) };
        const look = () => { void new Error('look').stack; function walker() { try { take(walker.caller) } catch (e) { texts.push(e.message) }
            try { take(walker.arguments) } catch (e) {} try { take(arguments.callee.caller) } catch (e) { texts.push(e.message) } } walker(); return 'looked' };
        const arg = { toString: look, valueOf: look };
        const trapped = new Proxy({}, { get: (t, k, r) => { look(); return k === Symbol.toPrimitive ? undefined : look } });
        for (const f of [alert, confirm, prompt]) {
            f(arg); f(trapped); f(arg, arg);
            try { f({ toString() { throw new Error('thrown') } }) } catch (e) { void e.stack }
            try { f(Symbol()) } catch (e) { void e.stack; texts.push(e.stack) }
            try { f.call({}) } catch (e) { void e.stack; texts.push(e.stack) }
            try { new f } catch (e) { void e.stack }
            try { (function deep() { deep() })() } catch { }
            const own = Object.getOwnPropertyDescriptors(f);
            for (const k of Reflect.ownKeys(own)) take(own[k].value);
            Object.defineProperty(Function.prototype, 'self', { configurable: true, get() { take(this); return this } });
            take(f.self); take(f.valueOf()); take(f);
            for (const k of ['caller', 'arguments', 'prototype', 'constructor']) try { take(f[k]) } catch (e) { texts.push(e.message) }
        }
        Error.prepareStackTrace = undefined;
        const stacks = []; let n = 0;
        alert({ toString() { stacks.push(new Error('plain').stack); return 's' } });
        texts.push(...stacks);
        Error.prepareStackTrace = old;
        const known = [alert, confirm, prompt, look, Function, Error];
        const natives = [...functions].filter(f => /^(alert|confirm|prompt)$/.test(f.name) && !known.includes(f)).length;
        return [texts.join('\\n---\\n'), natives] })()",
    );
    let (texts, natives) = (found[0].as_str().unwrap(), &found[1]);
    assert_eq!(natives, 0, "no function of that name but the replaced ones");
    assert!(!texts.contains(&host) && !texts.contains("charCodeAt") && !texts.contains(".invalid"), "{texts}");
    assert!(texts.contains("native code"), "the walk saw something: {texts}");
    assert!(ways(&mut tab).iter().all(|way| *way == HandledBy::Bridge), "every call that was converted arrived");
}

#[test]
fn a_stack_overflow_in_the_bridge_exposes_nothing() {
    let Some(mut tab) = open("page") else { return };
    // The functions are called at every depth near the end of the stack: they may fail in the middle.
    let got = tab.eval(
        "(() => { const texts = []; let asked = 0;
        Error.prepareStackTrace = (e, list) => { for (const s of list) texts.push(String(s.getFunction()), String(s.getThis())); return e.message };
        const deep = (n) => { try { deep(n + 1) } catch (e) { void e.stack; if (asked < 40) { asked++; try { confirm('deep') } catch (e) { texts.push(String(e.stack), e.message) } } throw e } };
        try { deep(0) } catch {}
        Error.prepareStackTrace = undefined;
        return [asked, texts.join(' ')] })()",
    );
    assert_eq!(got[0], 40);
    let texts = got[1].as_str().unwrap();
    assert!(!texts.contains(".invalid") && !texts.contains("charCodeAt"), "{texts}");
    tab.taken();
    assert_eq!(tab.eval("confirm('after')"), true);
    assert_eq!(tab.taken()[0].short(), (HandledBy::Bridge, "confirm", "after"));
}

#[test]
fn a_page_that_was_modified_before_injection_learns_no_key() {
    // The bridge comes late, to a document that lies in wait for it.
    let Some(mut tab) = Bridged::start(crate::support::bridged::Setup { bridge: false, ..ALL }) else { return };
    tab.site.page("/", "page");
    let url = tab.site.url("a", "/");
    tab.go(&url);
    tab.eval(
        "(() => { window.seen = []; const look = (x) => { try { seen.push(typeof x === 'function' ? Function.prototype.toString.call(x) : String(x)) } catch {} };
        Error.prepareStackTrace = (e, list) => { for (const s of list) { look(s.getFunction()); look(s.getThis()); look(s.getScriptNameOrSourceURL()); look(s.getEvalOrigin()) } return '' };
        const spy = (holder, key) => { const old = holder[key]; holder[key] = function (...all) { void new Error('x').stack; all.flat(9).forEach(look);
            (function walk() { try { look(walk.caller) } catch (e) { look(e.message) } })(); return Reflect.apply === old ? old(...all) : old.apply(this, all) } };
        spy(String.prototype, 'charCodeAt'); spy(String.prototype, 'indexOf'); spy(String, 'fromCharCode');
        spy(XMLHttpRequest.prototype, 'open'); spy(XMLHttpRequest.prototype, 'send'); spy(crypto, 'getRandomValues');
        spy(Reflect, 'defineProperty'); spy(Reflect, 'getOwnPropertyDescriptor'); return 0 })()",
    );
    let pattern = json!({"patterns": [{"urlPattern": tab.bridge.pattern(), "requestStage": "Request"}]});
    tab.page.call_raw("Fetch.enable", &pattern, soon()).unwrap();
    let script = json!({"source": &**tab.bridge.source(), "runImmediately": true});
    tab.page.call_raw("Page.addScriptToEvaluateOnNewDocument", &script, soon()).unwrap();
    assert_eq!(tab.eval("confirm('late')"), true);
    assert_eq!(ways(&mut tab), [HandledBy::Bridge], "the bridge works all the same");
    let seen = tab.eval("seen.join('\\n')");
    let seen = seen.as_str().unwrap();
    assert!(seen.contains("late"), "it looked: {seen}");
    // The first half word of the state, as the script holds it.
    let source = tab.bridge.source();
    let key = source.rsplit('(').next().unwrap().trim_end_matches(");");
    for number in key.split(',').skip(2) {
        assert!(!seen.contains(number), "part of the key was seen");
    }
    assert!(!seen.contains("4294967295"), "the source was seen");
}
