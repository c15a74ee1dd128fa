//! The tools of a home with a workspace, in a temporary folder; no browser.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cdpilot::sync::Deadline;
use cdpilot_server::config::{Config, Home};
use cdpilot_server::control::Control;
use cdpilot_server::tools::{Registry, Scope, Session, ToolContext, Toolbox, ToolboxOptions};
use serde_json::{Map, Value};
use tempfile::TempDir;

use super::test_home::overrides;

/// A home at `home` and a workspace at `work` of a temporary folder.
pub(crate) struct ToolWorkspace {
    // Field order: nothing is used any more when the folder goes.
    pub(crate) registry: Arc<Registry>,
    pub(crate) scope: Scope,
    folder: TempDir,
}

impl ToolWorkspace {
    /// With these settings of `tools`, as in `{…}`.
    pub(crate) fn new(tools: &str) -> Self {
        Self::with(tools, |_, options| options)
    }

    /// The same, with other options, and what is to be in the temporary folder before.
    pub(crate) fn with(tools: &str, more: impl FnOnce(&Path, ToolboxOptions) -> ToolboxOptions) -> Self {
        let folder = tempfile::Builder::new().prefix("cdpilot-work-").tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        let options = more(folder.path(), ToolboxOptions::new().workspace("work"));
        let workspace = options.workspace.as_ref().map(|path| folder.path().join(path));
        let options = {
            let mut options = options;
            options.workspace = workspace;
            options
        };
        let config = Config::parse(&format!("tools: {{{tools}}}"), Path::new("config.yaml")).unwrap();
        let control = Control::open(Home::at(folder.path().join("home")), config, overrides(None)).unwrap();
        let toolbox = Toolbox::open(&Arc::new(control), &options).unwrap();
        Self { registry: Arc::clone(toolbox.registry()), scope: toolbox.scope().clone(), folder }
    }

    /// A path in the temporary folder.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a file of the workspace.
    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path("work").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads one.
    pub(crate) fn get(&self, path: &str) -> String {
        std::fs::read_to_string(self.path("work").join(path)).unwrap()
    }

    /// Whether a tool can be called at the moment.
    pub(crate) fn offers(&self, name: &str) -> bool {
        self.registry.get(name).is_some_and(|tool| tool.is_available(&self.scope))
    }

    pub(crate) fn call(&self, name: &str, arguments: Value) -> Value {
        self.call_by(name, arguments, super::soon())
    }

    pub(crate) fn call_by(&self, name: &str, arguments: Value, deadline: Deadline<'_>) -> Value {
        called(&self.registry, &self.scope, name, arguments, deadline)
    }

    /// The same; panics unless it succeeds.
    pub(crate) fn done(&self, name: &str, arguments: Value) -> Value {
        let response = self.call(name, arguments);
        assert_eq!(response["success"], true, "{name}: {response}");
        response
    }

    /// The same, which has to fail: its code and its sentence.
    pub(crate) fn refused(&self, name: &str, arguments: Value) -> (String, String) {
        let response = self.call(name, arguments);
        assert_eq!(response["success"], false, "{name}: {response}");
        let text = |key: &str| response[key].as_str().unwrap().to_owned();
        (text("code"), text("error"))
    }
}

/// A scope for tools that need neither a browser nor a folder.
pub(crate) fn no_scope() -> Scope {
    Scope::new(&Home::at("nowhere"), &Config::default(), &ToolboxOptions::default())
}

/// Calls a tool and returns its result as JSON.
pub(crate) fn called(
    registry: &Registry,
    scope: &Scope,
    name: &str,
    arguments: Value,
    deadline: Deadline<'_>,
) -> Value {
    let session = Session::default();
    let call = ToolContext::new(&session, scope, deadline);
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    match registry.call(name, &call, arguments) {
        Ok(outcome) => outcome.to_value(),
        Err(error) => error.to_value(),
    }
}
