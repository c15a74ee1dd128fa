//! Pages that log the events they receive, and actions on them.

use cdpilot::page::{Act, Error, Outcome};
use cdpilot::supervisor::FrameRef;
use serde_json::{Value, json};

use super::chrome::{soon, until};
use super::test_tab::TestTab;

/// Logs events: `type#id` and, for some, more. `!` follows an event that is not trusted.
pub const LOG: &str = "<!doctype html><script>
    const log = [];
    const skip = new Set(['pointermove', 'mousemove', 'pointerrawupdate']);
    const note = (e, more) => log.push(e.type + (e.isTrusted ? '' : '!') + '#' + (e.composedPath()[0].id || '') + (more || ''));
    const kinds = ['pointerover', 'pointerdown', 'pointerup', 'mousedown', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu', 'focusin', 'mouseover'];
    for (const kind of kinds) addEventListener(kind, e => note(e), true);
    const last = {};
    for (const kind of ['mousemove', ...kinds]) addEventListener(kind, e => {
        last[e.type] = { x: e.clientX, y: e.clientY, detail: e.detail, button: e.button, buttons: e.buttons, trusted: e.isTrusted,
            keys: [e.altKey && 'Alt', e.ctrlKey && 'Control', e.metaKey && 'Meta', e.shiftKey && 'Shift'].filter(Boolean).join('+') };
    }, true);
    const count = (kind) => log.filter(line => line.startsWith(kind)).length;
</script><style>body { margin: 0 }</style>";

impl TestTab {
    /// Shows a page that logs its events.
    pub fn logging(name: &str, html: &str) -> Option<Self> {
        Self::showing(name, &format!("{LOG}{html}"))
    }

    /// Puts a page that logs its events at a path.
    pub fn put(&self, path: &str, html: &str) {
        self.site.page(path, &format!("{LOG}{html}"));
    }

    pub fn act(&self, act: Value) -> Result<Outcome, Error> {
        let act: Act = serde_json::from_value(act).unwrap();
        self.tab.act(&act, soon())
    }

    /// The same for actions that fail only at their deadline.
    pub fn fails(&self, act: Value) -> Error {
        self.fails_by(act, cdpilot::sync::Deadline::after_millis(3000))
    }

    pub fn fails_by(&self, act: Value, deadline: cdpilot::sync::Deadline<'_>) -> Error {
        let act: Act = serde_json::from_value(act).unwrap();
        let outcome = self.tab.act(&act, deadline);
        outcome.map(|done| panic!("{act:?} was done: {done:?}, {}", self.value("document.body.innerHTML"))).unwrap_err()
    }

    pub fn click(&self, selector: &str) -> Outcome {
        self.act(json!({ "kind": "click", "selector": selector })).unwrap()
    }

    /// Waits for the frame whose URL ends with this text, and until it has loaded.
    pub fn frame(&self, path: &str) -> FrameRef {
        let frame = |now: &cdpilot::supervisor::View| {
            let here = |f: &&cdpilot::supervisor::Frame| f.url.ends_with(path) && f.session_id.is_some();
            now.frames_of(self.tab.target().as_str()).find(here).map(|f| f.frame_id.clone())
        };
        let now = until(self.supervisor(), path, |now| frame(now).is_some());
        let frame = FrameRef::Id(frame(&now).unwrap());
        self.value_in(
            &frame,
            "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(1)))",
        );
        frame
    }

    pub fn id_of(&self, path: &str) -> String {
        match self.frame(path) {
            FrameRef::Id(id) => id.to_string(),
            other => panic!("{other:?}"),
        }
    }

    pub fn value(&self, script: &str) -> Value {
        self.value_in(&self.top(), script)
    }

    pub fn value_in(&self, frame: &FrameRef, script: &str) -> Value {
        let outcome = self.supervisor().evaluate(frame, script, soon());
        outcome.unwrap_or_else(|error| panic!("{script}: {error}")).result.value
    }

    /// The logged events, joined, without those of mouse moves.
    pub fn log(&self) -> String {
        self.log_of(&self.top())
    }

    pub fn log_of(&self, frame: &FrameRef) -> String {
        self.value_in(frame, "log.splice(0).join(' ')").as_str().unwrap().to_owned()
    }
}
