//! Pages whose elements change between a preview and its confirmation, in every kind of place: the top document, a closed
//! shadow root, a frame of the same site and one of another site.

use std::collections::HashMap;

use cdpilot::supervisor::{FrameRef, View};
use serde_json::{Value, json};

use super::chrome::{soon, until};
use super::tool_home::ToolHome;

/// Where elements are.
pub(crate) const PLACES: [&str; 4] = ["light", "shadow", "near", "far"];
/// What elements there are.
pub(crate) const KINDS: [&str; 5] = ["button", "link", "submit", "div", "input"];
pub(crate) const LAYOUTS: [&str; 5] = ["plain", "flex", "grid", "scaled", "scrolled"];

/// The page, and the ids of its elements.
pub(crate) struct Stage {
    pub(crate) tooled: ToolHome,
    frames: HashMap<&'static str, FrameRef>,
    ids: HashMap<String, String>,
}

impl Stage {
    /// `None` without a browser.
    pub(crate) fn new() -> Option<Self> {
        let tooled = ToolHome::new("")?;
        let site = &tooled.home.site;
        site.page("/", include_str!("../data/pages/changes/index.html"));
        let script = include_str!("../data/pages/changes/stage.js");
        site.put("/stage.js", super::site::Answer::script(script));
        for frame in ["/near", "/far"] {
            site.page(frame, include_str!("../data/pages/changes/frame.html"));
        }
        tooled.done("tab", json!({ "action": "init", "url": site.url("a", "/") }));
        let tab = tooled.home.main().tab(None).unwrap().tab;
        tab.emulate(&serde_json::from_value(json!({ "viewport": { "width": 1000, "height": 400 } })).unwrap(), soon())
            .unwrap();
        let supervisor = tab.supervisor();
        let mut frames = HashMap::new();
        for place in PLACES {
            let inner = |now: &View| {
                let here = |url: &str| url.ends_with(&format!("/{place}"));
                now.frames.iter().find(|frame| here(&frame.url) && frame.session_id.is_some()).cloned()
            };
            let frame = match place {
                "light" | "shadow" => FrameRef::TopOf(tab.target().clone()),
                _ => FrameRef::Id(inner(&until(supervisor, place, |now| inner(now).is_some())).unwrap().frame_id),
            };
            let loaded =
                "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(1)))";
            supervisor.evaluate(&frame, loaded, soon()).unwrap();
            frames.insert(place, frame);
        }
        let mut stage = Self { tooled, frames, ids: HashMap::new() };
        stage.find_ids();
        Some(stage)
    }

    fn find_ids(&mut self) {
        let keys: Vec<String> =
            PLACES.iter().flat_map(|place| KINDS.map(|kind| format!("{place}/alice/{kind}"))).collect();
        let seen = self.tooled.done("highlight", json!({ "keywords": keys }));
        assert_eq!(seen["total"], keys.len(), "{seen}");
        for page in 1..=seen["pages"].as_u64().unwrap() {
            let seen = self.tooled.done("highlight", json!({ "keywords": keys, "page": page }));
            for line in seen["observation"].as_str().unwrap().lines().filter(|line| line.contains("): <")) {
                let key = line.split("data-who=\"").nth(1).unwrap().split('"').next().unwrap();
                self.ids.insert(key.to_owned(), line.split('(').next().unwrap().to_owned());
            }
        }
        assert_eq!(self.ids.len(), keys.len(), "{:?}", self.ids);
    }

    /// The id of an element.
    fn id(&self, place: &str, kind: &str) -> &str {
        &self.ids[&format!("{place}/alice/{kind}")]
    }

    /// Evaluates a script in the document of a place, where `stage` is the place.
    pub(crate) fn eval(&self, place: &str, script: &str) -> Value {
        let tab = self.tooled.home.main().tab(None).unwrap().tab;
        let script = format!("{{ const stage = stages[{place:?}]; {script} }}");
        let done = tab.supervisor().evaluate(&self.frames[place], &script, soon());
        done.unwrap_or_else(|error| panic!("{place}: {script}: {error}")).result.value
    }

    /// Restores everything; returns what is known of an element.
    pub(crate) fn begin(&self, place: &str, kind: &str, layout: &str) -> Value {
        // Elements may have been moved to other documents.
        let all = "around.begin(); const near = document.getElementById('near').contentWindow;
             for (const one of [...Object.values(stages), near.stages.near]) one.begin('button', 'plain'); 0";
        self.eval("light", all);
        self.eval("far", "stage.begin('button', 'plain'); 0");
        self.eval(place, &format!("stage.begin({kind:?}, {layout:?})"))
    }

    /// What elements have received since `begin`.
    pub(crate) fn got(&self, place: &str) -> Vec<Value> {
        let mut got = self.eval("light", "window.got || []").as_array().unwrap().clone();
        if place == "far" {
            got.extend(self.eval("far", "window.got || []").as_array().unwrap().iter().cloned());
        }
        got
    }

    /// Previews an element that `begin` has selected. Returns the action that confirms it.
    pub(crate) fn preview(&mut self, place: &str, kind: &str, case: &str) -> &'static str {
        let (confirm, arguments) = self.arguments(place, kind);
        let mut shown = self.act(arguments);
        if shown["success"] != true {
            // An element that was out of its document for a while may be a new one for the tools, and the last picture may
            // have shown it with another name.
            self.find_ids();
            shown = self.act(self.arguments(place, kind).1);
        }
        assert_eq!(shown["success"], true, "{case}: {shown}");
        confirm
    }

    fn arguments(&self, place: &str, kind: &str) -> (&'static str, Value) {
        let id = self.id(place, kind);
        match kind {
            "input" => (
                "confirm_keyboard_input",
                json!({ "action": "keyboard_input", "element_id": id, "text": "x", "submit": true }),
            ),
            _ => ("confirm_click", json!({ "action": "click", "element_id": id })),
        }
    }

    pub(crate) fn act(&self, arguments: Value) -> Value {
        self.tooled.call("element_interaction", arguments)
    }
}
