//! A person at a browser: a client of its own that sends trusted input.

use cdpilot::cdp::protocol::target::{AttachToTarget, TargetId};
use cdpilot::cdp::{ConnectOptions, Connection, Session};
use serde_json::{Value, json};

use super::chrome::soon;

/// A person who uses one tab.
pub struct Person {
    session: Session,
    /// Ends with the person.
    _connection: Connection,
}

impl Person {
    /// A person at a tab of the browser with this CDP endpoint.
    pub fn at(url: &str, target: &str) -> Self {
        let connection = Connection::connect(url, &ConnectOptions::default()).unwrap();
        let mut attach = AttachToTarget::new(TargetId::from(target));
        attach.flatten = Some(true);
        let id = connection.call(&attach, soon()).unwrap().session_id;
        let person = Self { session: connection.session(id.as_str()), _connection: connection };
        // The window of a person has the focus.
        person.send("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }));
        person
    }

    /// Sends a command to the tab.
    pub fn send(&self, method: &'static str, params: &Value) -> Value {
        let sent = self.session.call_raw(method, params, soon());
        sent.unwrap_or_else(|error| panic!("{method} {params}: {error}")).value().unwrap()
    }

    /// The value of an expression in the top document.
    pub fn eval(&self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let done = self.send("Runtime.evaluate", &params);
        assert!(done["exceptionDetails"].is_null(), "{expression}: {done}");
        done["result"]["value"].clone()
    }

    /// The title of the document; empty while it is being replaced.
    pub fn title(&self) -> String {
        let params =
            json!({ "expression": "document.readyState === 'complete' ? document.title : ''", "returnByValue": true });
        let done = self.session.call_raw("Runtime.evaluate", &params, soon()).ok().and_then(|done| done.value().ok());
        done.and_then(|done| done["result"]["value"].as_str().map(ToOwned::to_owned)).unwrap_or_default()
    }

    /// The middle of an element of the top document, given by an expression; it is scrolled into view.
    pub fn middle(&self, element: &str) -> (f64, f64) {
        let script = format!(
            "(() => {{ const element = {element}; element.scrollIntoViewIfNeeded(); \
             const box = element.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2] }})()"
        );
        serde_json::from_value(self.eval(&script)).unwrap()
    }

    fn mouse(&self, kind: &str, (x, y): (f64, f64), count: u32, button: &str) {
        let buttons = u32::from(kind != "mouseReleased" && button == "left");
        let params = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": count, "buttons": buttons });
        self.send("Input.dispatchMouseEvent", &params);
    }

    /// Moves the mouse. What is under it counts as hovered afterwards, also if the page has just scrolled.
    pub fn move_to(&self, (x, y): (f64, f64)) {
        self.mouse("mouseMoved", (x - 2.0, y), 0, "none");
        self.eval("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(1))))");
        self.mouse("mouseMoved", (x, y), 0, "none");
    }

    /// Clicks at a point of the viewport.
    pub fn click_at(&self, at: (f64, f64)) {
        self.move_to(at);
        self.press_at(at);
    }

    /// Presses and releases the button where the mouse is, which must be `at` this point.
    pub fn press_at(&self, at: (f64, f64)) {
        self.mouse("mousePressed", at, 1, "left");
        self.mouse("mouseReleased", at, 1, "left");
    }

    /// Clicks at a point that closes the tab, which may come before the answer to the release of the button.
    pub fn close_by_click_at(&self, at: (f64, f64)) {
        self.move_to(at);
        self.mouse("mousePressed", at, 1, "left");
        let (x, y) = at;
        let release = json!({ "type": "mouseReleased", "x": x, "y": y, "button": "left", "clickCount": 1 });
        drop(self.session.call_raw("Input.dispatchMouseEvent", &release, soon()));
    }

    /// Clicks an element of the top document.
    pub fn click(&self, element: &str) {
        self.click_at(self.middle(element));
    }

    /// Clicks with another button.
    pub fn click_with(&self, element: &str, button: &str) {
        let at = self.middle(element);
        self.move_to(at);
        self.mouse("mousePressed", at, 1, button);
        self.mouse("mouseReleased", at, 1, button);
    }

    /// Clicks twice.
    pub fn double_click(&self, element: &str) {
        let at = self.middle(element);
        self.click_at(at);
        self.mouse("mousePressed", at, 2, "left");
        self.mouse("mouseReleased", at, 2, "left");
    }

    /// Presses at one point and releases at another.
    pub fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        self.move_to(from);
        self.mouse("mousePressed", from, 1, "left");
        for step in 1..=4 {
            let part = f64::from(step) / 4.0;
            let at = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            self.mouse("mouseMoved", at, 0, "left");
        }
        self.mouse("mouseReleased", to, 1, "left");
    }

    /// Turns the wheel.
    pub fn wheel(&self, (x, y): (f64, f64), down: f64) {
        let params = json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": down });
        self.send("Input.dispatchMouseEvent", &params);
    }

    /// Types text, a key for each character.
    pub fn write(&self, text: &str) {
        for letter in text.chars() {
            let letter = letter.to_string();
            self.send("Input.dispatchKeyEvent", &json!({ "type": "keyDown", "text": letter, "key": letter }));
            self.send("Input.dispatchKeyEvent", &json!({ "type": "keyUp", "key": letter }));
        }
    }

    /// Inserts text as an input method or the clipboard does.
    pub fn insert(&self, text: &str) {
        self.send("Input.insertText", &json!({ "text": text }));
    }

    /// Presses a key: `Enter`, `Tab`, `Escape`, `ArrowDown` or a letter, with modifiers (1: Alt, 2: Control, 4: Meta, 8: Shift).
    pub fn press(&self, key: &str, modifiers: u32) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Tab" => (9, ""),
            "Escape" => (27, ""),
            "ArrowDown" => (40, ""),
            "ArrowUp" => (38, ""),
            " " => (32, " "),
            letter => (u32::from(letter.to_ascii_uppercase().chars().next().unwrap_or_default()), ""),
        };
        let params = json!({ "type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text, "modifiers": modifiers });
        self.send("Input.dispatchKeyEvent", &params);
        let params =
            json!({ "type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers });
        self.send("Input.dispatchKeyEvent", &params);
    }

    /// Answers the dialogs that a click opens, one after the other.
    pub fn click_and_answer(&self, element: &str, answers: &[(bool, &str)]) {
        self.send("Page.enable", &json!({}));
        let at = self.middle(element);
        self.move_to(at);
        self.mouse("mousePressed", at, 1, "left");
        std::thread::scope(|scope| {
            let (session, limit) = (&self.session, soon());
            scope.spawn(move || self.mouse("mouseReleased", at, 1, "left"));
            for (accept, text) in answers {
                let params = json!({ "accept": accept, "promptText": text });
                while let Err(problem) = session.call_raw("Page.handleJavaScriptDialog", &params, soon()) {
                    assert!(!limit.passed(), "no dialog is open: {problem}");
                }
            }
        });
    }
}
