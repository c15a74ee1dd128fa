//! Attacks of a model that has all tools: files, a terminal, a browser and raw commands of the protocol.

mod browser;
mod files;
mod scripts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cdpilot::sync::Deadline;
use cdpilot_server::config::{Config, Home, Token};
use cdpilot_server::control::{Control, Profile};
use cdpilot_server::tools::{Registry, Scope, Toolbox, ToolboxOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Row;
use crate::support::chrome;
use crate::support::site::Site;
use crate::support::test_home::overrides;
use crate::support::tool_workspace::called;

/// In every file that a model may not read.
const CANARY: &str = "canary-7f3b0c";

/// A home, a workspace, a file outside of both, and all tools. It may start browsers.
struct Armed {
    // Field order: nothing is used any more when the folder goes.
    registry: Arc<Registry>,
    scope: Scope,
    control: Arc<Control>,
    site: Site,
    token: String,
    /// Of a model in `llm.json`.
    key: String,
    folder: TempDir,
}

impl Armed {
    /// With these settings. `None` when there is no browser here and none is required.
    fn new(settings: &str) -> Option<Self> {
        chrome::options(cdpilot::browser::TransportKind::Pipe)?;
        Some(Self::working_in("work", settings))
    }

    /// With a folder as the workspace.
    fn working_in(workspace: &str, settings: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("cdpilot-model-").tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["work", "outside", "home/uploads"] {
            std::fs::create_dir_all(path(name)).unwrap();
        }
        for name in ["outside/secret.txt", "outside/secret.html"] {
            std::fs::write(path(name), format!("<p>{CANARY}\n")).unwrap();
        }
        std::fs::write(path("work/inside.txt"), "inside\n").unwrap();
        std::fs::write(path("home/uploads/fine.txt"), "fine\n").unwrap();
        let home = Home::at(path("home"));
        std::fs::write(home.root().join("config.yaml"), format!("# {CANARY}\n")).unwrap();
        let key = ["sk-", "attack0123456789abcdef"].concat();
        let models = json!({ "models": { "m": { "model": "m", "base_url": "http://127.0.0.1:1", "api_key": key, "vision": false } } });
        std::fs::write(home.root().join("llm.json"), models.to_string()).unwrap();
        let mut config = Config::parse(settings, Path::new("config.yaml")).unwrap();
        config.browser.cdp_port = 0;
        let token = Token::of(&home).unwrap().reveal().to_owned();
        let control = Control::open(home, config, overrides(crate::support::browser_path())).unwrap();
        let control = Arc::new(control);
        let options = ToolboxOptions::new().workspace(path(workspace));
        let toolbox = Toolbox::open(&control, &options).unwrap();
        let (registry, scope) = (Arc::clone(toolbox.registry()), toolbox.scope().clone());
        Self { registry, scope, control, site: Site::start(), token, key, folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn text(&self, path: &str) -> String {
        self.path(path).display().to_string()
    }

    fn profile(&self) -> Profile {
        self.control.profile(None).unwrap()
    }

    fn call(&self, name: &str, arguments: Value) -> Value {
        called(&self.registry, &self.scope, name, arguments, crate::support::soon())
    }

    /// The same within so many seconds.
    fn call_for(&self, seconds: u64, name: &str, arguments: Value) -> Value {
        called(&self.registry, &self.scope, name, arguments, Deadline::after_secs(seconds))
    }

    fn done(&self, name: &str, arguments: Value) -> Value {
        let response = self.call(name, arguments);
        assert_eq!(response["success"], true, "{name}: {response}");
        response
    }

    fn cdp(&self, method: &str, params: Value) -> Value {
        self.call("browser_cdp", json!({ "method": method, "params": params }))
    }

    /// Makes the first tab the current one, after that was closed.
    fn focus_first(&self) {
        self.done("browser_tabs", json!({ "action": "focus", "target": self.profile().tabs()[0].target_id }));
    }

    /// Shows a page of the site in the current tab.
    fn show(&self, html: &str) -> Value {
        self.site.page("/", html);
        self.done("browser_navigate", json!({ "url": self.site.url("a", "/"), "dismiss_dialogs": true }));
        self.done("browser_snapshot", json!({ "full": true }))
    }

    fn eval(&self, script: &str) -> Value {
        crate::support::test_home::eval_value(&self.profile(), None, script)
    }
}

/// Panics if a result contains the content of a forbidden file.
fn hidden(response: &Value, what: &str) -> Result<(), String> {
    if response.to_string().contains(CANARY) { Err(format!("{what}: {response}")) } else { Ok(()) }
}

/// Fails unless a call was refused.
fn refused(response: &Value, what: &str) -> Result<(), String> {
    if response["success"] == false { Ok(()) } else { Err(format!("{what}: {response}")) }
}

pub(super) fn listed() -> Vec<Row> {
    [files::listed(), browser::listed(), scripts::listed()].into_iter().flatten().collect()
}
