//! The tools that a conversation has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::prompts::{Flags, Prompts};
use super::settings::Settings;
use super::{Error, ProvideTools, compile, host_requests, routine};
use crate::config::Confirm;
use crate::control::Control;
use crate::llm::{Model, Size, ToolSpec};
use crate::secrets::SecretStore;
use crate::tools::browser::{BROWSER, BrowserTools, RECORDED};
use crate::tools::toolsets::Enabled;
use crate::tools::visual::interaction_schema;
use crate::tools::{
    AskUser, Outcome, Question, Registry, Scope, SecretSource, SecretTarget, Tool, ToolContext, ToolError,
    ToolboxOptions, TypedSecrets,
};
use cdpilot::code::Code;
use cdpilot::sync::Deadline;

/// Time limit for loading tools of MCP servers.
const LOAD: Duration = Duration::from_secs(10);
/// Name of the tool that finds elements.
const HIGHLIGHT: &str = "highlight";
const KEYWORDS: &str = "keywords";
/// Name of the tool that acts on elements.
const INTERACTION: &str = "element_interaction";

/// Questions of conversations end the turn; they are not asked while a tool runs.
struct Conversing;

impl AskUser for Conversing {
    fn ask(&self, _: &Question, _: Deadline<'_>) -> Result<String, ToolError> {
        Err(ToolError::new(Code::ToolUnavailable, "questions of a conversation are asked at the end of a turn"))
    }

    fn is_conversation(&self) -> bool {
        true
    }
}

/// The secrets that a conversation may type.
struct AllowedSecrets {
    store: SecretStore,
    names: Vec<String>,
    /// Values that a run was given, by the names under which they are kept in memory.
    lent: BTreeMap<String, String>,
    /// Fields that a person has approved for a secret, besides those for passwords and one-time codes.
    approved: Mutex<Vec<(String, SecretTarget)>>,
}

impl SecretSource for AllowedSecrets {
    fn typed(&self, name: &str, target: &SecretTarget) -> Result<String, String> {
        if let Some(kept) = self.lent.get(name) {
            return self.store.typed(kept, target, false).map_err(|problem| {
                match problem.contains("no longer stored") {
                    true => format!(
                        "the value of the input {name:?} is gone, because the server was restarted; start the run again"
                    ),
                    false => format!("the input {name:?}: {problem}"),
                }
            });
        }
        if self.names.iter().any(|allowed| allowed == name) {
            let is_approved = self.approved.lock().iter().any(|(of, approved)| of == name && approved == target);
            return self.store.typed(name, target, is_approved);
        }
        let allowed = match self.names.as_slice() {
            [] => "it may use none".to_owned(),
            names => format!("it may use: {}", names.join(", ")),
        };
        Err(format!("this conversation may not use the secret {name:?}; {allowed}"))
    }

    fn allow(&self, name: &str, target: &SecretTarget) {
        self.approved.lock().push((name.to_owned(), target.clone()));
    }
}

/// The tools of a conversation, and what they work with.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) registry: Arc<Registry>,
    pub(super) scope: Scope,
    tools: BTreeMap<String, Tool>,
    /// The tool by which the program does what was recorded.
    recorded: Option<Tool>,
}

/// Tools that the program may call while it does what was recorded, whatever toolsets the model has.
const OF_REPLAY: [&str; 5] = ["browser_dialog", "browser_navigate", "browser_back", "browser_tabs", "browser_upload"];

impl Offer {
    /// Loads the tools of the toolsets of a conversation. Returns the toolsets that could not be loaded, with the reason.
    pub(super) fn load(
        provider: &dyn ProvideTools,
        control: &Control,
        settings: &Settings,
        lent: &BTreeMap<String, String>,
        deadline: Deadline<'_>,
    ) -> Result<(Self, Vec<String>), Error> {
        let toolbox = provider.toolbox().map_err(|problem| Error::Tools { problem })?;
        let registry = Arc::clone(toolbox.registry());
        let enabled = Enabled::new(settings.toolsets.clone());
        let failed = enabled.load(toolbox.toolsets(), &registry, deadline.within(LOAD));
        let mut options = ToolboxOptions::new().ask(Arc::new(Conversing));
        (options.profile, options.workspace) = (settings.profile.clone(), settings.cwd.clone().map(PathBuf::from));
        let (store, names) = (control.secret_store().clone(), settings.secrets());
        let secrets = AllowedSecrets { store, names, lent: lent.clone(), approved: Mutex::default() };
        for name in &secrets.names {
            // Reads its value, which is redacted from now on. An error is reported when it is typed.
            let _ = secrets.store.find(name);
        }
        let scope = Scope::new(control.home(), control.config(), &options)
            .with_secrets(TypedSecrets::new(secrets), !settings.secrets().is_empty() || !lent.is_empty());
        let tools = enabled.tools(toolbox.toolsets(), &registry, &scope).into_iter();
        let mut tools: BTreeMap<String, Tool> = tools.map(|tool| (tool.name.to_string(), tool)).collect();
        if !settings.hosts().is_empty() {
            tools.insert(host_requests::TOOL.to_owned(), host_requests::tool());
        }
        let is_empty = |toolset: &&String| {
            let resolved = toolbox.toolsets().resolve_all(&[toolset], &BTreeSet::new()).tools;
            let is_reported = failed.iter().any(|(known, _)| known == *toolset);
            !is_reported && !resolved.iter().any(|name| tools.contains_key(name))
        };
        let empty = settings.toolsets.iter().filter(is_empty);
        let empty = empty.map(|toolset| {
            format!("{toolset}: none of its tools is available here; `cdpilot tools list` shows the reasons")
        });
        let empty: Vec<String> = empty.collect();
        let failed = failed.into_iter().map(|(toolset, error)| format!("{toolset}: {error}")).chain(empty).collect();
        Ok((Self { registry, scope, tools, recorded: None }, failed))
    }

    /// Adds the tool for the steps of a routine.
    pub(super) fn add_routine(&mut self) {
        self.tools.insert(routine::TOOL.to_owned(), routine::tool());
    }

    /// The tools of a compilation, and no others.
    pub(super) fn only_compile(&mut self) {
        self.tools = compile::tools().into_iter().map(|tool| (tool.name.to_string(), tool)).collect();
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Adds the tool by which the program does what was recorded.
    pub(super) fn add_recorded(&mut self, control: &Arc<Control>) {
        self.recorded = Some(BrowserTools::new(Arc::clone(control)).recorded());
    }

    /// Whether the program can call a tool while it does what was recorded.
    pub(super) fn replays(&self, name: &str) -> bool {
        self.recorded.is_some() && (name == RECORDED || OF_REPLAY.contains(&name))
    }

    /// Calls a tool.
    pub(super) fn call(
        &self,
        name: &str,
        context: &ToolContext<'_>,
        arguments: Map<String, Value>,
    ) -> Result<Outcome, ToolError> {
        match self.recorded.as_ref().filter(|_| name == RECORDED) {
            Some(tool) => self.registry.run(tool, BROWSER, context, arguments),
            None => self.registry.call(name, context, arguments),
        }
    }

    /// What the system prompt says for a model.
    pub(super) fn flags(&self, model: &Model, settings: &Settings, confirm: Confirm) -> Flags {
        Flags {
            visual: self.has("element_interaction"),
            browser: self.has("browser_snapshot"),
            vision: model.vision,
            confirm: confirm != Confirm::Never,
            auto: confirm == Confirm::Auto,
            keywords: has_keywords(model, settings),
            replay: settings.is_replay(),
            help: self.has("please_help_me"),
            todo: self.has("todo"),
        }
    }

    /// The tools as a model gets them.
    ///
    /// # Errors
    /// [`Error::Prompt`].
    pub(super) fn specs(&self, prompts: &Prompts, size: Size, flags: Flags) -> Result<Vec<ToolSpec>, Error> {
        let spec = |tool: &Tool| {
            let mut schema = Value::clone(&tool.schema);
            if &*tool.name == HIGHLIGHT
                && !flags.keywords
                && let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut)
            {
                properties.remove(KEYWORDS);
            }
            if &*tool.name == INTERACTION {
                schema = interaction_schema(flags.confirm);
            }
            let own = prompts.tool(size, &tool.name, flags)?;
            Ok(ToolSpec::new(&*tool.name, own.as_deref().unwrap_or(&tool.description), schema))
        };
        self.tools.values().map(spec).collect()
    }

    /// A text without the secrets of the home.
    pub(super) fn cover(&self, text: &str) -> String {
        self.registry.cover(text)
    }

    /// Arguments without the secrets of the home.
    pub(super) fn cover_arguments(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        let covered = arguments.iter().map(|(name, value)| (name.clone(), self.cover_value(value)));
        covered.collect()
    }

    pub(super) fn cover_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.cover(text).into(),
            Value::Array(items) => items.iter().map(|item| self.cover_value(item)).collect(),
            Value::Object(fields) => Value::Object(self.cover_arguments(fields)),
            other => other.clone(),
        }
    }
}

/// Small models get `keywords` in replays only.
fn has_keywords(model: &Model, settings: &Settings) -> bool {
    model.profile == Size::Big || settings.is_replay()
}
