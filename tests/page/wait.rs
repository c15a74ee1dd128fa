//! Wait conditions.

use cdpilot::page::{Act, Error};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::chrome::{ACCEPT, soon};
use crate::support::input_stage::InputStage;
use crate::support::share::share;
use crate::support::site::{Answer, Held};
use crate::support::test_tab::ref_of;

fn waits(staged: &InputStage, mut wait: Value) -> Result<(), Error> {
    wait["kind"] = json!("wait");
    staged.try_act(wait).map(|_| ())
}

/// The error if it does not arrive.
fn misses(staged: &InputStage, mut wait: Value) -> String {
    wait["kind"] = json!("wait");
    let error = staged.try_by(wait, Deadline::after_secs(1)).unwrap_err();
    assert_eq!(error.code(), "TIMEOUT", "{error}");
    error.to_string()
}

#[test]
fn wait_for_text_covers_every_frame_and_shadow_root() {
    let body = "<p id=p>Loading</p><div id=host></div><script>host.attachShadow({ mode: 'open' }).innerHTML = '<p>shade</p>'</script>";
    let Some((staged, places)) = InputStage::everywhere("wait-text", body) else { return };
    waits(&staged, json!({ "text": "loading" })).unwrap();
    assert!(misses(&staged, json!({ "textGone": "Loading" })).contains("the text \"Loading\" to disappear"));
    for place in &places {
        staged.value(place, &format!("setTimeout(() => p.textContent = 'Done\\n  in {}', 300); 0", place.name));
        waits(&staged, json!({ "text": format!("done in {}", place.name) })).unwrap();
    }
    waits(&staged, json!({ "textGone": "Loading" })).unwrap();
    for place in &places {
        staged.value(
            place,
            &format!("setTimeout(() => host.shadowRoot.firstChild.textContent = 'lit {}', 100); 0", place.name),
        );
        waits(&staged, json!({ "text": format!("lit {}", place.name) })).unwrap();
    }
    waits(&staged, json!({ "textGone": "shade" })).unwrap();
    staged.eval_value("p.textContent = 'veiled'; p.style.display = 'none'; 0");
    assert!(misses(&staged, json!({ "text": "veiled" })).contains("the text \"veiled\""));
    staged.eval_value("setTimeout(() => p.style.display = '', 100); 0");
    waits(&staged, json!({ "text": "veiled" })).unwrap();
    staged.eval_value("const f = document.createElement('iframe'); f.srcdoc = '<p>newcomer</p>'; setTimeout(() => document.body.append(f), 200); 0");
    waits(&staged, json!({ "text": "newcomer" })).unwrap();
}

#[test]
fn wait_for_a_selector_ends_when_a_match_is_visible() {
    let body = "<b class=x hidden>one</b><div id=host></div><script>host.attachShadow({ mode: 'open' }).innerHTML = '<i></i>'</script>";
    let Some((staged, places)) = InputStage::everywhere("wait-selector", body) else { return };
    for place in &places {
        let mut wait = json!({ "kind": "wait", "selector": ".x" });
        staged.value(place, "setTimeout(() => host.shadowRoot.innerHTML = '<u class=x>two</u>', 200); 0");
        wait = staged.act_in(place, wait.take()).result.unwrap_or_default();
        assert_eq!(wait, Value::Null);
        assert_eq!(staged.value(place, "host.shadowRoot.querySelector('.x').textContent"), "two");
        staged.value(place, "setTimeout(() => host.remove(), 100); 0");
        staged.act_in(place, json!({ "kind": "wait", "selector": ".x", "state": "hidden" }));
    }
    assert!(misses(&staged, json!({ "selector": ".y" })).contains("a visible element that matches \".y\""));
    assert_eq!(waits(&staged, json!({ "selector": "b[" })).unwrap_err().code(), "BAD_REQUEST");
}

#[test]
fn wait_for_a_ref_ends_in_the_given_state() {
    let body = "<button id=b disabled>Send</button><input type=checkbox id=c aria-label=Box><p id=p tabindex=0 aria-label=Note>x</p>";
    let Some(staged) = InputStage::alone("wait-ref", body) else { return };
    let seen = staged.snapshot();
    let (send, check) = (ref_of(&seen, "Send"), ref_of(&seen, "Box"));
    let wait = |reference: &str, state: &str| waits(&staged, json!({ "ref": reference, "state": state }));
    wait(&send, "disabled").unwrap();
    wait(&send, "visible").unwrap();
    assert!(misses(&staged, json!({ "ref": send, "state": "enabled" })).contains("to be enabled"));
    staged.eval_value("setTimeout(() => b.disabled = false, 150); 0");
    wait(&send, "enabled").unwrap();
    wait(&check, "unchecked").unwrap();
    staged.eval_value("setTimeout(() => c.click(), 150); 0");
    wait(&check, "checked").unwrap();
    staged.eval_value("setTimeout(() => b.style.visibility = 'hidden', 150); 0");
    wait(&send, "hidden").unwrap();
    staged.eval_value("setTimeout(() => b.remove(), 150); 0");
    wait(&send, "gone").unwrap();
    wait(&send, "hidden").unwrap();
    assert_eq!(wait(&send, "visible").unwrap_err().code(), "STALE_REF");
    staged.eval_value("setTimeout(() => location = '/next', 200); 0");
    staged.site.page("/next", "<p>next</p>");
    wait(&check, "gone").unwrap();
}

#[test]
fn wait_for_a_url_follows_navigations() {
    let Some(staged) = InputStage::alone("wait-url", "<p>first</p>") else { return };
    staged.site.page("/second", "<p>second</p><script>setTimeout(() => { history.pushState(0, '', '/third?page=3'); document.body.append('third') }, 300)</script>");
    staged.eval_value("setTimeout(() => location = '/second', 200); 0");
    waits(&staged, json!({ "text": "second" })).unwrap();
    waits(&staged, json!({ "url": "http://*/third?page=?", "text": "third", "fn": "location.pathname === '/third'" }))
        .unwrap();
    waits(&staged, json!({ "url": "**/third*" })).unwrap();
    let missed = misses(&staged, json!({ "url": "*/fourth", "text": "third", "textGone": "second" }));
    assert!(missed.contains("a URL that matches \"*/fourth\" and the text \"second\" to disappear"), "{missed}");
    assert!(!missed.contains("the text \"third\""), "{missed}");
}

#[test]
fn wait_for_a_load_state() {
    let Some(staged) = InputStage::alone("wait-load", "") else { return };
    let (picture, script) = (Held::default(), Held::default());
    staged.site.put("/late.js", Answer::script("window.late = 1").held_by(&script));
    staged.site.put("/late.png", Answer::html("").held_by(&picture));
    staged.site.page("/slow", "<script src='/late.js'></script><p>there</p><img src='/late.png'>");
    staged.supervisor().navigate(&staged.top(), &staged.site.url("a", "/slow"), soon()).unwrap();
    assert!(misses(&staged, json!({ "loadState": "domcontentloaded" })).contains("load state"));
    script.release();
    waits(&staged, json!({ "loadState": "domcontentloaded" })).unwrap();
    misses(&staged, json!({ "loadState": "load" }));
    picture.release();
    waits(&staged, json!({ "loadState": "load" })).unwrap();
    waits(&staged, json!({ "loadState": "networkidle" })).unwrap();
    let fetched = Held::default();
    staged.site.put("/late.json", Answer::html("1").held_by(&fetched));
    staged.site.page("/inner", "<script>fetch('/late.json').then(() => parent.postMessage('here', '*'))</script>");
    staged.site.page("/busy", "<script>onmessage = () => window.here = true</script><iframe src='/inner'></iframe>");
    waits(&staged, json!({ "loadState": "networkidle" })).unwrap();
    staged.go("/busy");
    staged.site.wait_requested("a.localhost/late.json", 1);
    misses(&staged, json!({ "loadState": "networkidle" }));
    fetched.release();
    waits(&staged, json!({ "loadState": "networkidle" })).unwrap();
    assert_eq!(staged.eval_value("here"), true);
    let unknown = Act::parse(json!({ "kind": "wait", "loadState": "done" })).unwrap_err();
    assert!(unknown.code() == "BAD_REQUEST" && unknown.to_string().contains("networkidle"), "{unknown}");
}

#[test]
fn wait_for_a_script_ends_when_it_is_truthy() {
    let Some((staged, places)) = InputStage::everywhere("wait-fn", "") else { return };
    for place in share(&places, 1) {
        staged.value(place, "window.tries = 0; window.data = { rows: 3 }; 0");
        staged.act_in(place, json!({ "kind": "wait", "fn": "() => ++tries === data.rows" }));
        assert_eq!(staged.value(place, "tries"), 3);
        staged.act_in(place, json!({ "kind": "wait", "fn": "new Promise(done => setTimeout(() => done('yes'), 5))" }));
    }
    let missed = misses(&staged, json!({ "fn": "nowhere.value" }));
    assert!(missed.contains("nowhere is not defined"), "{missed}");
    let (staged, nevers) = (&staged, share(["0", "''", "null", "NaN", "undefined", "() => false"], 2));
    std::thread::scope(|scope| {
        for never in nevers {
            scope.spawn(move || misses(staged, json!({ "fn": never })));
        }
    });
    assert_eq!(waits(staged, json!({ "fn": "not a script" })).unwrap_err().code(), "SCRIPT_ERROR");
}

#[test]
fn all_wait_conditions_must_hold_together() {
    // One of the texts is there at a time, until both are.
    let body = "<p id=a>one</p><p id=b></p><script>
        let turns = 0;
        const timer = setInterval(() => {
            const both = ++turns > 8;
            a.textContent = both || turns % 2 ? 'one' : '';
            b.textContent = both || turns % 2 === 0 ? 'two' : '';
            window.both = both;
        }, 120);
    </script>";
    let Some(staged) = InputStage::alone("wait-all", body) else { return };
    waits(&staged, json!({ "text": "one", "selector": "#b:not(:empty)", "loadState": "load" })).unwrap();
    assert_eq!(staged.eval_value("both"), true);
}

#[test]
fn wait_for_a_time_is_ended_by_a_dialog() {
    let Some(staged) = InputStage::alone("wait-time", "") else { return };
    staged.eval_value("window.began = performance.now(); 0");
    waits(&staged, json!({ "timeMs": 300 })).unwrap();
    assert_eq!(staged.eval_value("performance.now() - began >= 300"), true);
    assert_eq!(waits(&staged, json!({ "timeMs": 30_001 })).unwrap_err().code(), "BAD_REQUEST");
    assert_eq!(waits(&staged, json!({})).unwrap_err().code(), "BAD_REQUEST");
    assert_eq!(waits(&staged, json!({ "text": "x", "frameId": "F00D" })).unwrap_err().code(), "FRAME_NOT_FOUND");
    for wait in
        [json!({ "timeMs": 20_000 }), json!({ "text": "never" }), json!({ "fn": "false" }), json!({ "url": "*never*" })]
    {
        staged.eval_value("setTimeout(() => alert('now'), 200); 0");
        // The awaited condition did not occur.
        assert_eq!(waits(&staged, wait.clone()).unwrap_err().code(), "BLOCKED_BY_DIALOG", "{wait}");
        assert_eq!(staged.supervisor().view().dialogs.len(), 1, "{wait}");
        assert_eq!(waits(&staged, wait).unwrap_err().code(), "BLOCKED_BY_DIALOG");
        staged.supervisor().respond(None, ACCEPT, soon()).unwrap();
    }
}

/// A page that replaces its frames while it works: only the frame that is waited for has to stay.
#[test]
fn frames_that_are_replaced_do_not_end_a_wait() {
    let body = "<p id=p>One moment</p><script>
        const mount = () => { for (const old of document.querySelectorAll('iframe')) old.remove();
            for (let n = 0; n < 3; n += 1) { const frame = document.createElement('iframe'); frame.srcdoc = '<p>inner'; document.body.append(frame); } };
        let rounds = 0; const work = setInterval(() => { mount(); rounds += 1; if (rounds === 30) { clearInterval(work); p.textContent = 'Done'; } }, 20);</script>";
    let Some(staged) = InputStage::alone("wait-frames", body) else { return };
    waits(&staged, json!({ "textGone": "One moment" })).unwrap();
    waits(&staged, json!({ "text": "Done" })).unwrap();
}
