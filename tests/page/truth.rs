//! What we say of a page against what Chromium's own accessibility tree says: role and name of every node of a
//! snapshot, of pages that are full of what is easy to get wrong.
//!
//! Each page lists elements that a person would use, with the role and name they must have (`#expected`). Where we
//! differ on purpose, or where only the browser can know, the element says so in `data-differs`.

use std::collections::HashMap;

use cdpilot::cdp::protocol::accessibility::{AxNode, AxValue, Enable, GetPartialAxTree};
use cdpilot::cdp::protocol::dom::DescribeNode;
use cdpilot::cdp::protocol::runtime::{Evaluate, GetProperties, RemoteObjectId};
use cdpilot::page::{AriaNode, Format, SnapshotOptions};
use cdpilot::supervisor::FrameRef;
use serde::Deserialize;

use crate::support::chrome::soon;
use crate::support::share::share;
use crate::support::test_tab::TestTab;

/// The names that Chromium gives roles ARIA has no name for, from the one place where they are kept.
fn words() -> HashMap<&'static str, &'static str> {
    let source = include_str!("../../src/page/script/role.js");
    let (_, table) = source.split_once("const CHROME_NAMES = {").unwrap();
    let (table, _) = table.split_once("};").unwrap();
    let entry = |line: &'static str| line.trim().trim_end_matches(',').split_once(": ");
    table.lines().filter_map(entry).map(|(chrome, ours)| (chrome, ours.trim_matches('"'))).collect()
}

/// Two frames are drawn.
const FRAME: &str = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))";

/// White space as the browser folds it: a no-break space is none.
fn fold(text: &str) -> String {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}');
    text.split(is_space).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn said(value: Option<&AxValue>) -> String {
    let text = |value: &AxValue| serde_json::from_str::<String>(value.value.as_ref()?.get()).ok();
    value.and_then(text).map(|text| fold(&text)).unwrap_or_default()
}

#[derive(Deserialize)]
struct Expected {
    selector: String,
    role: String,
    name: String,
}

/// The list in a page, some of which have elements named as `document`'s own properties.
const LISTED: &str = "Document.prototype.querySelector.call(document, '#expected').textContent";

/// Until no video and no sound of the page is on its way any more.
const MEDIA: &str = "Promise.all([...Document.prototype.querySelectorAll.call(document, 'video, audio')]
    .filter(media => media.networkState === HTMLMediaElement.NETWORK_LOADING)
    .map(media => new Promise(done => ['error', 'loadeddata', 'suspend', 'stalled'].forEach(name => media.addEventListener(name, done)))))";

struct Truth {
    paged: TestTab,
    nodes: Vec<AriaNode>,
}

impl Truth {
    fn of(page: &str, html: &str) -> Option<Self> {
        let paged = TestTab::new(&format!("truth-{page}"))?;
        paged.site.page("/frames-inner.html", include_str!("../data/pages/frames-inner.html"));
        paged.site.page("/", html);
        paged.go("/");
        // A video that cannot be played is called so from when that has turned out.
        let settled = Evaluate { await_promise: Some(true), ..Evaluate::new(MEDIA) };
        paged.supervisor().session_call(&paged.top(), &settled, soon()).unwrap();
        let seen = paged.snapshot_with(SnapshotOptions::new().format(Format::Aria).limit(usize::MAX));
        assert_eq!(seen.unread, []);
        let nodes = seen.nodes.unwrap();
        Some(Self { paged, nodes })
    }

    /// The browser's own data of some nodes.
    fn requested(&self, nodes: &[&AriaNode]) -> Vec<AxNode> {
        let mut enabled = Vec::new();
        let mut calls = Vec::new();
        for node in nodes {
            let frame = FrameRef::Id(node.frame_id.clone());
            if !enabled.contains(&node.frame_id) {
                self.paged.supervisor().session_call(&frame, &Enable::new(), soon()).unwrap();
                enabled.push(node.frame_id.clone());
            }
            let mut ask = GetPartialAxTree::new();
            ask.backend_node_id = node.backend_node_id;
            ask.fetch_relatives = Some(false);
            calls.push((frame, ask));
        }
        let response = self.paged.supervisor().session_calls(calls, soon());
        response.into_iter().map(|response| response.unwrap().result.nodes.swap_remove(0)).collect()
    }

    /// Whether the page says that this element differs.
    fn differs(&self, node: &AriaNode) -> bool {
        let mut describe = DescribeNode::new();
        describe.backend_node_id = node.backend_node_id;
        let frame = FrameRef::Id(node.frame_id.clone());
        let response = self.paged.supervisor().session_call(&frame, &describe, soon()).unwrap();
        response.result.node.attributes.is_some_and(|all| all.iter().any(|name| name == "data-differs"))
    }

    /// Where the browser says something else.
    fn differences(&self, nodes: &[&AriaNode], words: &HashMap<&'static str, &'static str>) -> Vec<String> {
        let mut wrong = Vec::new();
        for (ours, theirs) in nodes.iter().zip(self.requested(nodes)) {
            let chrome = said(theirs.role.as_ref());
            let role = words.get(chrome.as_str()).copied().unwrap_or(&chrome);
            let role = if role.starts_with("MathML") { "generic" } else { role };
            let is_same = match theirs.ignored {
                // Shown because it can be clicked.
                true => ours.role == "generic" || ours.role == "label",
                false => ours.role == role && ours.name == said(theirs.name.as_ref()),
            };
            if !is_same && !self.differs(ours) {
                let name = said(theirs.name.as_ref());
                let chrome = if theirs.ignored { "nothing".to_owned() } else { format!("{chrome} {name:?}") };
                wrong.push(format!("{} {:?} is {chrome} to Chromium", ours.role, ours.name));
            }
        }
        wrong
    }

    /// Compares nodes that have a ref; there are at least so many.
    fn matches_browser(&self, least: usize) {
        let words = words();
        let all: Vec<&AriaNode> = self.nodes.iter().filter(|node| node.backend_node_id.is_some()).collect();
        assert!(all.len() >= least, "{} nodes", all.len());
        // Of thousands that are alike, some: Chromium takes a while for each.
        let nodes: Vec<&AriaNode> = share(all.iter().copied().step_by(1 + all.len() / 1000), 250);
        // Content drawn on demand (`content-visibility: auto`) exists for Chromium only one frame later.
        let mut wrong = self.differences(&nodes, &words);
        for _ in 0..3 {
            if wrong.is_empty() {
                break;
            }
            let frame = Evaluate { await_promise: Some(true), ..Evaluate::new(FRAME) };
            self.paged.supervisor().session_call(&self.paged.top(), &frame, soon()).unwrap();
            wrong = self.differences(&nodes, &words);
        }
        assert_eq!(wrong, Vec::<String>::new(), "{} nodes", nodes.len());
    }

    /// The content according to the page.
    fn has_what_is_expected(&self) {
        let evaluate = |script: &str| {
            let response =
                self.paged.supervisor().session_call(&self.paged.top(), &Evaluate::new(script), soon()).unwrap();
            response.result.result
        };
        let listed = evaluate(LISTED).value.unwrap();
        let listed: String = serde_json::from_str(listed.get()).unwrap();
        let expected: Vec<Expected> = serde_json::from_str(&listed).unwrap();
        assert!(!expected.is_empty());
        let all = format!("JSON.parse({LISTED}).map(e => Document.prototype.querySelector.call(document, e.selector))");
        let elements = self.objects(evaluate(&all).object_id.unwrap());
        assert_eq!(elements.len(), expected.len(), "a selector matches nothing");
        for (expected, element) in expected.iter().zip(elements) {
            let mut describe = DescribeNode::new();
            describe.object_id = Some(element);
            let response = self.paged.supervisor().session_call(&self.paged.top(), &describe, soon()).unwrap();
            let id = response.result.node.backend_node_id;
            let node = self.nodes.iter().find(|node| node.backend_node_id == Some(id));
            let response = node.map(|node| (node.role.as_str(), node.name.as_str()));
            assert_eq!(response, Some((expected.role.as_str(), expected.name.as_str())), "{}", expected.selector);
        }
    }

    fn objects(&self, list: RemoteObjectId) -> Vec<RemoteObjectId> {
        let mut ask = GetProperties::new(list);
        ask.own_properties = Some(true);
        let response = self.paged.supervisor().session_call(&self.paged.top(), &ask, soon()).unwrap();
        let items = response.result.result.into_iter().filter(|item| item.name.parse::<usize>().is_ok());
        items.filter_map(|item| item.value?.object_id).collect()
    }
}

macro_rules! truths {
    ($($name:ident, $file:literal, $least:literal;)*) => {
        $(#[test]
        fn $name() {
            let Some(truth) = Truth::of($file, include_str!(concat!("../data/pages/", $file, ".html"))) else { return };
            truth.matches_browser($least);
            truth.has_what_is_expected();
        })*
    };
}

truths! {
    forms_are_told_as_the_browser_does, "forms", 150;
    tables_are_told_as_the_browser_does, "tables", 200;
    widgets_are_told_as_the_browser_does, "widgets", 170;
    shadow_roots_are_told_as_the_browser_does, "shadow", 35;
    frames_are_told_as_the_browser_does, "frames", 20;
    drawings_are_told_as_the_browser_does, "svg", 50;
    tabs_are_told_as_the_browser_does, "tabs", 20;
    menus_are_told_as_the_browser_does, "menus", 40;
    right_to_left_is_told_as_the_browser_does, "rtl", 35;
    long_text_is_told_as_the_browser_does, "longtext", 150;
    hidden_content_is_told_as_the_browser_does, "hidden", 45;
    a_modal_dialog_is_told_as_the_browser_does, "modal", 5;
    names_are_told_as_the_browser_does, "names", 90;
    media_and_text_are_told_as_the_browser_does, "media", 100;
    two_thousand_links_are_told_as_the_browser_does, "links", 2200;
}
