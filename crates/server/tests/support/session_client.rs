//! A client of a server that names its session.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::api::{ApiResponse, TestServer};

/// One client of the server, in a session of its own.
pub(crate) struct SessionClient<'a> {
    pub(crate) server: &'a TestServer,
    /// The header that names the session, with its line break.
    pub(crate) header: String,
}

impl<'a> SessionClient<'a> {
    pub(crate) fn new(server: &'a TestServer, name: &str) -> Self {
        Self { server, header: format!("X-Cdpilot-Session: {name}\r\n") }
    }

    /// A client whose session is created with its own browser context.
    pub(crate) fn isolated(server: &'a TestServer, name: &str) -> Self {
        server.api.post("/sessions", &json!({ "name": name, "isolated": true })).ok();
        Self::new(server, name)
    }

    pub(crate) fn get(&self, path: &str) -> ApiResponse {
        self.server.api.ask("GET", path, None, &self.header)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> ApiResponse {
        self.server.api.ask("POST", path, Some(&body.to_string()), &self.header)
    }

    pub(crate) fn delete(&self, path: &str) -> ApiResponse {
        self.server.api.ask("DELETE", path, None, &self.header)
    }

    /// Opens a tab. Returns its target id.
    pub(crate) fn open(&self, url: &str) -> String {
        self.post("/tabs/open", &json!({ "url": url })).ok()["targetId"].as_str().unwrap().to_owned()
    }

    /// The value of a script in the current tab.
    pub(crate) fn evaluate(&self, script: &str) -> Value {
        self.post("/act", &json!({ "kind": "evaluate", "fn": script })).ok()["result"].clone()
    }

    /// The target ids of the tabs that the session sees.
    pub(crate) fn targets(&self) -> BTreeSet<String> {
        let tabs = self.get("/tabs").ok();
        tabs["tabs"].as_array().unwrap().iter().map(|tab| tab["targetId"].as_str().unwrap().to_owned()).collect()
    }
}
