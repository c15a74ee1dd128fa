//! `GET /screencast`: the frames of a tab's live picture.

use std::thread;

use serde_json::{Value, json};

use crate::support::api::TestServer;

const RED: [u64; 3] = [255, 0, 0];
const BLUE: [u64; 3] = [0, 0, 255];

fn browsing() -> Option<TestServer> {
    TestServer::browsing_with(|config, _| config.secrets.store = cdpilot_server::config::SecretsIn::File)
}

fn frame(served: &TestServer, target: &str, after: u64) -> Value {
    served.api.get(&format!("/screencast?targetId={target}&after={after}&waitMs=5000")).ok()
}

/// The colours at a point in CSS pixels; the browser decodes the JPEG, in a tab of its own.
fn colour(served: &TestServer, frame: &Value, (x, y): (u32, u32)) -> [u64; 3] {
    let (data, width) = (frame["data"].as_str().unwrap(), frame["width"].as_f64().unwrap());
    let script = format!(
        "(async () => {{ const image = new Image(); image.src = 'data:image/jpeg;base64,{data}'; await image.decode();
         const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d'); canvas.drawImage(image, 0, 0);
         const scale = image.width / {width}; return [...canvas.getImageData({x} * scale, {y} * scale, 1, 1).data].slice(0, 3); }})()"
    );
    let got = served.api.eval(&script);
    std::array::from_fn(|at| got[at].as_u64().unwrap())
}

fn is_near(one: [u64; 3], other: [u64; 3]) -> bool {
    one.iter().zip(other).all(|(a, b)| a.abs_diff(b) < 40)
}

/// Reads frames until one has this colour at a point; returns its number.
fn until(served: &TestServer, target: &str, mut after: u64, at: (u32, u32), wanted: [u64; 3]) -> u64 {
    for _ in 0..50 {
        let next = frame(served, target, after);
        let Some(number) = next["frame"].as_u64() else { continue };
        assert!(number > after, "{number} after {after}");
        after = number;
        if is_near(colour(served, &next, at), wanted) {
            return after;
        }
    }
    panic!("no frame shows {wanted:?} at {at:?}");
}

const PAGE: &str =
    "<style>body { margin: 0; background: #f00 } #a { position: fixed; left: 100px; top: 100px; width: 200px;
    height: 100px } body.on { background: #00f }</style>
    <button id=a onclick=\"document.body.classList.toggle('on')\">Change</button>";

/// A tab with the page, behind another one, which stays the current one.
fn behind(served: &TestServer) -> String {
    let target = served.show(PAGE);
    served.api.post("/tabs/open", &json!({ "url": "about:blank" })).ok();
    target
}

#[test]
fn frames_show_what_a_tab_in_the_background_shows_now() {
    let Some(served) = browsing() else { return };
    let target = behind(&served);
    let first = frame(&served, &target, 0);
    assert_eq!((first["width"].as_f64(), first["height"].as_f64()), (Some(1280.0), Some(720.0)), "{first}");
    assert_eq!(first["targetId"], target.as_str());
    let mut seen = until(&served, &target, 0, (20, 20), RED);
    for (round, wanted) in [BLUE, RED, BLUE, RED].into_iter().enumerate() {
        // An action restarts the screencast, by which Chromium draws a tab in the background.
        served.api.act(&json!({ "kind": "click", "locator": "css=#a", "targetId": target })).ok();
        seen = until(&served, &target, seen, (20, 20), wanted);
        let shot = served.api.post("/screenshot", &json!({ "targetId": target, "inline": true })).ok();
        assert_eq!(shot["width"], 1280, "round {round}");
    }
    served.site.page("/blue", "<body style='background: #00f'>");
    served.api.post("/navigate", &json!({ "url": served.site.url("a", "/blue"), "targetId": target })).ok();
    until(&served, &target, seen, (20, 20), BLUE);
}

#[test]
fn all_watchers_see_each_change() {
    let Some(served) = browsing() else { return };
    let target = behind(&served);
    let seen = until(&served, &target, 0, (20, 20), RED);
    thread::scope(|scope| {
        let watchers: Vec<_> = (0..3).map(|_| scope.spawn(|| until(&served, &target, seen, (20, 20), BLUE))).collect();
        served.api.act(&json!({ "kind": "click", "locator": "css=#a", "targetId": target })).ok();
        for watcher in watchers {
            assert!(watcher.join().unwrap() > seen);
        }
    });
}

#[test]
fn stored_secrets_are_painted_over() {
    let Some(served) = browsing() else { return };
    let target = served.show(
        "<style>body { margin: 0 } p { margin: 0; width: 400px; font: 40px monospace; background: #f00; color: #f00 }</style>
         <p>hunter22-horse</p>",
    );
    let seen = until(&served, &target, 0, (10, 20), RED);
    let secret = json!({ "name": "pass", "origin": "https://shop.example", "value": "hunter22-horse" });
    served.api.post("/secrets", &secret).ok();
    let hidden = frame(&served, &target, seen);
    assert!(hidden["frame"].as_u64().unwrap() > seen, "{hidden}");
    assert!(
        is_near(colour(&served, &hidden, (10, 20)), [0x20, 0x20, 0x20]),
        "{:?}",
        colour(&served, &hidden, (10, 20))
    );
    assert_eq!((hidden["width"].as_f64(), hidden["height"].as_f64()), (Some(1280.0), Some(720.0)));
    served.api.delete("/secrets/pass").ok();
}

#[test]
fn a_page_that_draws_nothing_has_no_new_frame() {
    let Some(served) = browsing() else { return };
    let target = served.show(PAGE);
    let seen = until(&served, &target, 0, (20, 20), RED);
    let dialog = served.dialog("alert('hold')");
    // What was drawn before the dialog may still arrive.
    let blocked =
        || served.api.get(&format!("/screencast?targetId={target}&after={seen}&waitMs=300")).ok()["frame"].is_null();
    assert!((0..20).any(|_| blocked()), "a page that is blocked by a dialog draws frames");
    served.api.post("/hooks/dialog", &json!({ "accept": true, "dialogId": dialog })).ok();
    assert!(frame(&served, &target, 0)["frame"].as_u64().is_some());
    served.api.get("/screencast?waitMs=10001").fails(400, "BAD_REQUEST");
    served.api.delete(&format!("/tabs/{target}")).ok();
    served.api.get(&format!("/screencast?targetId={target}")).fails(404, "TAB_NOT_FOUND");
}

/// A secret that is stored while a watcher waits: the frame that ends its wait shows nothing of it.
#[test]
fn a_secret_that_is_stored_during_a_wait_is_painted_over() {
    let Some(served) = browsing() else { return };
    let target = served.show(
        "<style>body { margin: 0; background: #fff } p { margin: 0; width: 400px; font: 40px monospace; background: #f00; color: #f00 }</style>",
    );
    let first = frame(&served, &target, 0)["frame"].as_u64().unwrap();
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let (mut after, mut seen) = (first, Vec::new());
            while seen.len() < 6 {
                let next = frame(&served, &target, after);
                after = next["frame"].as_u64().unwrap_or(after);
                seen.push(next);
            }
            seen
        });
        let secret = json!({ "name": "late", "origin": "https://shop.example", "value": "hunter22-horse" });
        served.api.post("/secrets", &secret).ok();
        served.run("const p = document.createElement('p'); p.textContent = 'hunter22-horse'; document.body.append(p)");
        for shown in watching.join().unwrap().iter().filter(|shown| shown["data"].is_string()) {
            assert!(!is_near(colour(&served, shown, (10, 20)), RED), "a frame shows a stored secret");
        }
    });
    served.api.delete("/secrets/late").ok();
}
