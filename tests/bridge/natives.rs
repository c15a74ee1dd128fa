//! The dialog bridge: its functions behave as the browser's own, and where those are ignored, so are
//! they. Every script runs in a page with the bridge and in one without.

use serde_json::{Value, json};

use crate::support::bridged::{ALL, Bridged, HandledBy, Setup};
use crate::support::share::share;
use crate::support::site::Answer;

const WITHOUT: Setup = Setup { bridge: false, ..ALL };

/// What the page sees, and what was asked.
type Outcome = (Value, Vec<String>);

/// What is asked and what the page sees, in a page with and in one without the bridge.
fn both(scripts: &[String], site: impl Fn(&mut Bridged) -> String) -> Option<Vec<[Outcome; 2]>> {
    let run = |setup| {
        let mut tab = Bridged::start(setup)?;
        let url = site(&mut tab);
        tab.go(&url);
        let mut outcomes = Vec::new();
        for script in scripts {
            tab.taken();
            let value = tab.eval(script);
            let met = tab.taken();
            let way = if setup.bridge { HandledBy::Bridge } else { HandledBy::Native };
            assert!(met.iter().all(|met| met.way == way), "{script}: {met:#?}");
            outcomes.push((value, met.iter().map(|m| format!("{}:{}:{}", m.kind, m.message, m.default)).collect()));
        }
        Some(outcomes)
    };
    let (with, without) = (run(ALL)?, run(WITHOUT)?);
    Some(with.into_iter().zip(without).map(Into::into).collect())
}

fn page(tab: &mut Bridged) -> String {
    tab.site.page("/", "<iframe></iframe>");
    tab.site.url("a", "/")
}

/// What a function does with these arguments: its result or what it throws, and in which order it looks
/// at them.
fn called(call: &str) -> String {
    format!(
        "(() => {{ const log = []; const o = (name) => ({{ [Symbol.toPrimitive](hint) {{ log.push(name + hint); return name }} }});
        const bad = {{ toString() {{ log.push('bad'); throw new RangeError('mine') }} }};
        const fresh = document.body.appendChild(document.createElement('iframe')).contentWindow;
        try {{ const got = {call}; return [String(got), typeof got, log] }}
        catch (e) {{ return [e.name, e.message.replace(/^Failed to execute '\\w+' on 'Window': /, ''), e.constructor === TypeError || e.constructor === RangeError, log] }} }})()"
    )
}

#[test]
fn arguments_results_and_errors_match_the_native_functions() {
    let mut calls: Vec<String> = Vec::new();
    for name in ["alert", "confirm", "prompt"] {
        // `prompt` has all arguments there are; the others show with some that they go the same way.
        let some = if name == "prompt" { 1 } else { 3 };
        for given in [
            "",
            "undefined",
            "null",
            "'text'",
            "1.50",
            "-0",
            "10n",
            "true",
            "[1,[2,3]]",
            "{}",
            "o('x')",
            "Symbol('s')",
            "bad",
            "document.all",
            "new Proxy({}, {})",
            "Object.create(null)",
            "'a', 'b'",
            "undefined, undefined",
            "null, null",
            "o('x'), o('y')",
            "o('x'), Symbol()",
            "Symbol(), o('y')",
            "o('x'), bad",
            "bad, o('y')",
            "'a', o('y'), o('z')",
            "new Date(0).getTime(), /x/g",
            "'\\0', '\\ud83e\\udd80'",
        ]
        .iter()
        .step_by(some)
        {
            calls.push(called(&format!("{name}({given})")));
        }
        for form in [
            "new NAME('x')",
            "Reflect.construct(NAME, ['x'])",
            "NAME.call(undefined, 'x')",
            "NAME.call(null, 'x')",
            "NAME.call(window, 'x')",
            "NAME.call({}, o('x'))",
            "NAME.call(1, o('x'))",
            "NAME.call('s', 'x')",
            "NAME.call(document, 'x')",
            "NAME.call(new Proxy(window, {}), 'x')",
            "NAME.call(Object.create(window), 'x')",
            "NAME.call(fresh, 'x')",
            "fresh.NAME('x')",
            "fresh.NAME.call(window, 'x')",
            "fresh.NAME.call({}, 'x')",
            "NAME.apply(null, {length: 1, 0: 'x'})",
            "NAME.bind(window, 'x')()",
            "window?.['NAME']('x')",
            "(0, NAME)('x')",
            "['x'].map(NAME)",
            "NAME`x`",
            "class extends NAME {}",
            "NAME instanceof Function",
            "'x' instanceof NAME",
            "Reflect.apply(NAME, window, [])",
            "fresh.frameElement.remove() || fresh.NAME('x')",
        ]
        .iter()
        .step_by(some)
        {
            calls.push(called(&form.replace("NAME", name)));
        }
    }
    let calls = share(calls, 25);
    let Some(outcomes) = both(&calls, page) else { return };
    for (call, [with, without]) in calls.iter().zip(outcomes) {
        assert_eq!(with, without, "with the bridge, and without: {call}");
    }
}

#[test]
fn bridged_functions_look_native() {
    let mut looks: Vec<String> = vec!["Object.getOwnPropertyNames(window).join() ".into(), "typeof cdpilot".into()];
    for name in ["alert", "confirm", "prompt"] {
        for look in [
            "NAME.name",
            "NAME.length",
            "typeof NAME",
            "String(Reflect.ownKeys(NAME))",
            "Object.getOwnPropertyDescriptors(NAME)",
            "String(NAME.prototype)",
            "Object.prototype.toString.call(NAME)",
            "Object.getPrototypeOf(NAME) === Function.prototype",
            "NAME === window.NAME",
            "Object.isExtensible(NAME)",
            "(d => [typeof d.value, d.writable, d.enumerable, d.configurable])(Object.getOwnPropertyDescriptor(window, 'NAME'))",
            "Object.getOwnPropertyNames(window).indexOf('NAME')",
            "'NAME' in Window.prototype",
            "(() => { try { return String(NAME.arguments) } catch (e) { return e.name } })()",
            "(() => { NAME.mine = 1; const got = NAME.mine; delete NAME.mine; return [got, NAME.mine === undefined] })()",
            "(() => { const old = NAME; window.NAME = () => 'own'; const got = NAME(); window.NAME = old; return got })()",
            "(() => { const old = NAME; const gone = delete window.NAME; const now = typeof NAME; window.NAME = old; return [gone, now] })()",
            "/\\[native code\\]/.test(NAME.toString()) && Function.prototype.toString.call(NAME).length < 40",
            "frames[0].NAME !== NAME && frames[0].NAME.name",
        ] {
            looks.push(look.replace("NAME", name));
        }
    }
    let looks = share(looks, 20);
    let Some(outcomes) = both(&looks, page) else { return };
    for (look, [with, without]) in looks.iter().zip(outcomes) {
        assert_eq!(with, without, "with the bridge, and without: {look}");
    }
}

#[test]
fn a_second_injection_keeps_functions_that_the_page_replaced() {
    let Some(mut tab) = Bridged::start(ALL) else { return };
    let url = page(&mut tab);
    tab.go(&url);
    tab.eval("window.before = [alert, confirm, prompt]; window.confirm = () => 'own'; 0");
    let script = json!({"expression": &**tab.bridge.source()});
    tab.page.call_raw("Runtime.evaluate", &script, crate::support::chrome::soon()).unwrap();
    assert_eq!(tab.eval("[alert === before[0], confirm(), prompt === before[2]]"), json!([true, "own", true]));
    assert_eq!(tab.eval("alert('x'), (0, before[1])('y')"), true);
    let met = tab.taken();
    assert_eq!(
        met.iter().map(|met| met.short()).collect::<Vec<_>>(),
        [(HandledBy::Bridge, "alert", "x"), (HandledBy::Bridge, "confirm", "y")]
    );
}

/// Everything a page may be told apart by while it is left.
const LEAVING: &str = "<script>
    const say = (name) => { try { localStorage.said += name + ':' + [String(alert(name)), confirm(name), prompt(name, 'd')] + ';' }
        catch (e) { localStorage.said += name + '!' + e.name + ';' } };
    localStorage.said = '';
    addEventListener('beforeunload', () => say('beforeunload'));
    addEventListener('pagehide', () => say('pagehide'));
    addEventListener('unload', () => say('unload'));
    document.addEventListener('visibilitychange', () => say('visibilitychange'));
    </script>";

#[test]
fn an_unloading_page_makes_no_bridge_call() {
    let run = |setup| {
        let mut tab = Bridged::start(setup)?;
        tab.site.page("/leaving", LEAVING);
        tab.site.page("/next", "next");
        let [leaving, next] = ["/leaving", "/next"].map(|path| tab.site.url("a", path));
        tab.go(&leaving);
        tab.eval("document.body?.click()");
        tab.go(&next);
        let said = tab.eval("localStorage.said");
        assert!(tab.taken().is_empty(), "nobody is asked");
        Some(said)
    };
    let (Some(with), Some(without)) = (run(ALL), run(WITHOUT)) else { return };
    assert_eq!(with, without);
    assert!(without.as_str().unwrap().contains("pagehide:undefined,false,;"), "{without}");
}

#[test]
fn sandboxed_documents_use_native_dialogs() {
    let run = |setup| {
        let mut tab = Bridged::start(setup)?;
        let script = "<script>parent.postMessage(String([location.search, String(alert('A')), confirm('C'), prompt('P')]), '*')</script>";
        tab.site.page("/asks", script);
        tab.site.put("/policy", Answer::html(script).header("Content-Security-Policy", "sandbox allow-scripts"));
        tab.site.page("/", "<script>window.said = []; addEventListener('message', e => said.push(e.data))</script>");
        let url = tab.site.url("a", "/");
        tab.go(&url);
        let mut outcomes = Vec::new();
        for (sandbox, path) in [
            ("allow-scripts", "/asks"),
            ("allow-scripts allow-same-origin", "/asks"),
            ("allow-scripts allow-modals", "/asks"),
            ("allow-scripts allow-modals allow-same-origin", "/asks"),
            ("allow-scripts", "@b/asks"),
            ("allow-scripts allow-modals", "@b/asks"),
            ("", "/policy"),
            ("allow-scripts", "data:"),
            ("allow-scripts", "srcdoc"),
        ] {
            let path = path.replace("@b", tab.site.url("b", "").as_str());
            let address = match &*path {
                "data:" => format!("src=\"data:text/html,{script}\""),
                "srcdoc" => format!("srcdoc=\"{script}\""),
                path => format!("src=\"{path}\""),
            };
            let sandbox = if sandbox.is_empty() { String::new() } else { format!("sandbox='{sandbox}'") };
            let html = json!(format!("<iframe {sandbox} {address}></iframe>"));
            let got = tab.eval(&format!(
                "new Promise(done => {{ document.body.innerHTML = {html}; const look = () => said.length ? done(said.pop()) : addEventListener('message', look, {{once: true}}); look() }})"
            ));
            let met = tab.taken();
            // A policy that is bypassed does not sandbox either.
            let bridged = path == "/policy" && setup.bridge && setup.bypass_csp;
            let way = if bridged { HandledBy::Bridge } else { HandledBy::Native };
            assert!(met.iter().all(|met| met.way == way), "{sandbox} {address}: {met:?}");
            outcomes.push((sandbox, address.replace(char::is_numeric, ""), got, met.len()));
        }
        Some(outcomes)
    };
    for (bypass_csp, in_policy) in share([(true, 3), (false, 0)], 1) {
        let with = run(Setup { bypass_csp, ..ALL });
        let without = run(Setup { bypass_csp, ..WITHOUT });
        let (Some(with), Some(without)) = (with, without) else { return };
        assert_eq!(with, without);
        let requested: Vec<usize> = without.iter().map(|(.., requested)| *requested).collect();
        assert_eq!(requested, [0, 0, 3, 3, 0, 3, in_policy, 0, 0]);
    }
}
