//! The tools of a home, called as a model calls them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cdpilot::sync::Deadline;

use cdpilot_server::config::Confirm;
use cdpilot_server::tools::browser::BrowserTools;
use cdpilot_server::tools::toolsets::{Enabled, Toolsets};
use cdpilot_server::tools::visual::VisualTools;
use cdpilot_server::tools::{Registry, Session, ToolContext};
use serde_json::{Map, Value};

use super::soon;
use super::test_home::TestHome;
use super::tool_workspace::no_scope;

/// A home and its tools.
pub(crate) struct ToolHome {
    // Field order: nothing holds the browsers when the home goes.
    pub(crate) registry: Arc<Registry>,
    pub(crate) home: TestHome,
}

impl ToolHome {
    /// `None` if no browser is installed and none is required.
    pub(crate) fn new(browser: &str) -> Option<Self> {
        // As large as a picture for models may be: debug builds take 0.4 s to make a picture smaller.
        let viewport = if browser.contains("viewport") { "" } else { "viewport: {width: 1280, height: 720}" };
        let separator = if browser.is_empty() || viewport.is_empty() { "" } else { ", " };
        Some(Self::of(TestHome::new(&format!("{browser}{separator}{viewport}"))?))
    }

    /// As [`new`](Self::new), with another setting of confirmations than `always`.
    pub(crate) fn confirming(confirm: Confirm) -> Option<Self> {
        Some(Self::of(TestHome::confirming("viewport: {width: 1280, height: 720}", confirm)?))
    }

    pub(crate) fn of(home: TestHome) -> Self {
        Self::with(home, |browser| browser)
    }

    /// The same with further options of the browser tools.
    pub(crate) fn with(home: TestHome, more: impl FnOnce(BrowserTools) -> BrowserTools) -> Self {
        let registry = Arc::new(Registry::new());
        more(BrowserTools::new(Arc::clone(&home.control))).register(&registry).unwrap();
        VisualTools::new(Arc::clone(&home.control)).register(&registry).unwrap();
        Self { registry, home }
    }

    /// Calls a tool and returns its result as JSON.
    pub(crate) fn call(&self, name: &str, arguments: Value) -> Value {
        self.call_by(name, arguments, soon())
    }

    /// The same with another deadline.
    pub(crate) fn call_by(&self, name: &str, arguments: Value, deadline: Deadline<'_>) -> Value {
        let (session, scope) = (Session::default(), no_scope());
        let call = ToolContext::new(&session, &scope, deadline);
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        match self.registry.call(name, &call, arguments) {
            Ok(outcome) => outcome.to_value(),
            Err(error) => error.to_value(),
        }
    }

    /// The same with its picture, as PNG; panics unless it succeeds and answers with one.
    pub(crate) fn pictured(&self, name: &str, arguments: Value) -> (Value, Vec<u8>) {
        let (session, scope) = (Session::default(), no_scope());
        let call = ToolContext::new(&session, &scope, soon());
        let outcome = self.registry.call(name, &call, arguments.as_object().cloned().unwrap_or_default()).unwrap();
        let image = outcome.images.first().unwrap_or_else(|| panic!("no picture: {}", outcome.to_value()));
        assert_eq!(image.media_type, "image/png");
        (outcome.to_value(), image.bytes.clone())
    }

    /// The same; panics unless it succeeds.
    pub(crate) fn done(&self, name: &str, arguments: Value) -> Value {
        let response = self.call(name, arguments);
        assert_eq!(response["success"], true, "{name}: {response}");
        response
    }

    pub(crate) fn toolsets(&self) -> Toolsets {
        Toolsets::new(Arc::clone(&self.registry), BTreeMap::new())
    }

    /// Names of the currently available tools of a toolset.
    pub(crate) fn offered(&self, toolset: &str) -> BTreeSet<String> {
        let enabled = Enabled::new(vec![toolset.to_owned()]);
        enabled.tools(&self.toolsets(), &self.registry, &no_scope()).iter().map(|tool| tool.name.to_string()).collect()
    }
}

/// The ref in the line of a snapshot that holds `part`.
pub(crate) fn ref_in(response: &Value, part: &str) -> String {
    let text = response["snapshot"].as_str().unwrap();
    let line = text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part:?} in {text}"));
    line.split("[ref=").nth(1).unwrap().split(']').next().unwrap().to_owned()
}
