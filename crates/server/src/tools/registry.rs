//! All tools by name, and external sources of tools.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use serde_json::{Map, Value};

use super::outcome::SECRET_FIELD;
use super::truncate::{Bounds, cap_error, cap_fields};
use super::{Effect, EffectKind, Effects, KEEPING, Origins, Outcome, Tool, ToolContext, ToolError};
use crate::control::PerSession;
use cdpilot::code::Code;
use cdpilot::redact::Secrets;
use cdpilot::sync::{Deadline, spawn};

/// Maximum length of a tool name, in characters.
const MAX_NAME_CHARS: usize = 64;

/// Why a tool cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Another toolset has a tool of this name.
    #[error("tool name {name} is already used in toolset {toolset}; choose another name")]
    Taken {
        /// Name of the tool that was to be registered.
        name: String,
        /// The toolset that has a tool of this name.
        toolset: String,
    },
    /// The name is invalid.
    #[error("{name:?} is not a valid tool name; use 1 to {MAX_NAME_CHARS} letters, digits, _ or -")]
    BadName {
        /// Name of the tool that was to be registered.
        name: String,
    },
}

/// An external source of tools, such as an MCP server. It is started when its toolset is first requested.
pub trait Source: Send + Sync {
    /// The toolset of its tools: `mcp-<server>`.
    fn toolset(&self) -> &str;

    /// Registers the tools if they are not registered yet. Called on every use of the toolset.
    ///
    /// # Errors
    /// Why the tools could not be loaded, for models.
    fn load(&self, deadline: Deadline<'_>) -> Result<(), ToolError>;
}

#[derive(Debug, Clone)]
struct Entry {
    tool: Tool,
    toolset: Arc<str>,
}

/// All tools by name. Tools may be added and removed while it is in use.
#[derive(Default)]
pub struct Registry {
    tools: RwLock<BTreeMap<Arc<str>, Entry>>,
    sources: RwLock<BTreeMap<Arc<str>, Arc<dyn Source>>>,
    changes: AtomicU64,
    secrets: Secrets,
    read: Read,
}

/// What callers that are no conversations have read. A conversation is asked for it by its messages.
struct Read(PerSession<Mutex<Origins>>);

impl Default for Read {
    fn default() -> Self {
        Self(PerSession::new(Mutex::default))
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("tools", &self.tools.read().len()).finish_non_exhaustive()
    }
}

impl Registry {
    /// Creates an empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty registry that redacts these secrets in results.
    #[must_use]
    pub fn covering(secrets: Secrets) -> Self {
        Self { secrets, ..Self::default() }
    }

    /// Adds a source of tools; replaces a source of the same toolset.
    pub fn add_source(&self, source: Arc<dyn Source>) {
        let toolset = Arc::from(source.toolset());
        self.sources.write().insert(toolset, source);
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// Removes the source of a toolset. Its tools stay.
    pub fn remove_source(&self, toolset: &str) {
        if self.sources.write().remove(toolset).is_some() {
            self.changes.fetch_add(1, Ordering::Release);
        }
    }

    /// The toolsets of all sources.
    #[must_use]
    pub fn sources(&self) -> Vec<Arc<str>> {
        self.sources.read().keys().cloned().collect()
    }

    /// Loads the tools of these toolsets from their sources, in parallel. Returns failures by toolset.
    #[must_use]
    pub fn load(&self, toolsets: &BTreeSet<String>, deadline: Deadline<'_>) -> Vec<(String, ToolError)> {
        let requested_sources: Vec<Arc<dyn Source>> = {
            let sources = self.sources.read();
            toolsets.iter().filter_map(|name| sources.get(name.as_str()).cloned()).collect()
        };
        let load = |source: &dyn Source, deadline: Deadline<'_>| {
            let loaded = source.load(deadline);
            loaded.err().map(|error| (source.toolset().to_owned(), error))
        };
        if let [only] = requested_sources.as_slice() {
            return load(&**only, deadline).into_iter().collect();
        }
        let (at, cancel) = (deadline.instant(), deadline.cancel().cloned().unwrap_or_default());
        let threads: Vec<_> = requested_sources
            .into_iter()
            .enumerate()
            .map(|(number, source)| {
                let (send, failed) = crossbeam_channel::bounded(1);
                let (named, cancel) = (Arc::clone(&source), cancel.clone());
                let thread = spawn(format!("tools-load-{number}"), move || {
                    let _ = send.send(load(&*source, Deadline::at(at).cancelled_by(&cancel)));
                });
                (named, failed, thread)
            })
            .collect();
        let late = |source: &Arc<dyn Source>| {
            let message = format!("the tools of {} did not load in time; try again", source.toolset());
            Some((source.toolset().to_owned(), ToolError::new(Code::Timeout, message)))
        };
        threads
            .iter()
            .filter_map(|(source, failed, _)| failed.recv_deadline(at).unwrap_or_else(|_| late(source)))
            .collect()
    }

    /// Adds a tool to a toolset; replaces a tool of the same toolset and name.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub fn register(&self, toolset: &str, tool: Tool) -> Result<(), RegistryError> {
        let mut tools = self.tools.write();
        Self::admit(&tools, toolset, &tool)?;
        tools.insert(Arc::clone(&tool.name), Entry { tool, toolset: toolset.into() });
        drop(tools);
        self.changes.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Replaces all tools of a toolset atomically. Returns the tools that could not be registered.
    pub fn replace(&self, toolset: &str, all: Vec<Tool>) -> Vec<RegistryError> {
        let (mut refused, mut fresh) = (Vec::new(), BTreeMap::new());
        let mut tools = self.tools.write();
        for tool in all {
            match Self::admit(&tools, toolset, &tool) {
                Ok(()) => drop(fresh.insert(Arc::clone(&tool.name), tool)),
                Err(problem) => refused.push(problem),
            }
        }
        let old: Vec<Tool> = tools.values().filter(|e| *e.toolset == *toolset).map(|e| e.tool.clone()).collect();
        let same = old.len() == fresh.len() && old.iter().zip(fresh.values()).all(|(old, new)| old.looks_like(new));
        tools.retain(|_, entry| *entry.toolset != *toolset);
        let toolset: Arc<str> = toolset.into();
        tools.extend(fresh.into_iter().map(|(name, tool)| (name, Entry { tool, toolset: Arc::clone(&toolset) })));
        drop(tools);
        if !same {
            self.changes.fetch_add(1, Ordering::Release);
        }
        refused
    }

    fn admit(tools: &BTreeMap<Arc<str>, Entry>, toolset: &str, tool: &Tool) -> Result<(), RegistryError> {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if tool.name.is_empty() || tool.name.len() > MAX_NAME_CHARS || !tool.name.chars().all(is_fine) {
            return Err(RegistryError::BadName { name: tool.name.to_string() });
        }
        match tools.get(&tool.name) {
            Some(existing) if *existing.toolset != *toolset => {
                Err(RegistryError::Taken { name: tool.name.to_string(), toolset: existing.toolset.to_string() })
            }
            _ => Ok(()),
        }
    }

    /// Removes all tools of a toolset. Returns their number.
    pub fn deregister(&self, toolset: &str) -> usize {
        let mut tools = self.tools.write();
        let before = tools.len();
        tools.retain(|_, entry| *entry.toolset != *toolset);
        let removed = before - tools.len();
        drop(tools);
        if removed > 0 {
            self.changes.fetch_add(1, Ordering::Release);
        }
        removed
    }

    /// Increases whenever tools are added or removed.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// The tool of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Tool> {
        self.tools.read().get(name).map(|entry| entry.tool.clone())
    }

    /// Names of all tools and their toolsets, by name.
    #[must_use]
    pub fn all(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let tools = self.tools.read();
        tools.iter().map(|(name, entry)| (Arc::clone(name), Arc::clone(&entry.toolset))).collect()
    }

    /// Calls a tool by name. Redacts secrets and truncates page texts in the result.
    ///
    /// # Errors
    /// `UNKNOWN_TOOL`, `TOOL_UNAVAILABLE`, and errors of the tool.
    pub fn call(
        &self,
        name: &str,
        call: &ToolContext<'_>,
        arguments: Map<String, Value>,
    ) -> Result<Outcome, ToolError> {
        let Some(Entry { tool, toolset }) = self.tools.read().get(name).cloned() else {
            return Err(ToolError::new(
                Code::UnknownTool,
                format!("unknown tool {name:?}; list the tools for valid names"),
            ));
        };
        self.run(&tool, &toolset, call, arguments)
    }

    /// Calls a tool of a toolset that may not be registered. Redacts and truncates like [`call`](Self::call).
    ///
    /// # Errors
    /// `TOOL_UNAVAILABLE`, and errors of the tool.
    pub fn run(
        &self,
        tool: &Tool,
        toolset: &str,
        call: &ToolContext<'_>,
        arguments: Map<String, Value>,
    ) -> Result<Outcome, ToolError> {
        let name = &tool.name;
        if !tool.is_available(call.scope) {
            let message = match tool.needs() {
                Some(what) => format!("{name} is unavailable; it requires {what}"),
                None => format!("{name} is unavailable; list the tools again"),
            };
            return Err(ToolError::new(Code::ToolUnavailable, message));
        }
        if tool.effects == Effects::Unknown && !tool.read_only {
            check_unknown(tool, toolset, call, &arguments)?;
        }
        let called = if KEEPING.contains(&&**name) && call.scope.conversation().is_none() {
            let read = self.read.0.of(call.session).lock().stamp();
            let scope = read.map_or_else(|| call.scope.clone(), |read| call.scope.having_read(&read));
            tool.call(&ToolContext { scope: &scope, ..*call }, arguments)
        } else {
            tool.call(call, arguments)
        };
        if call.scope.conversation().is_none() {
            let result = called
                .as_ref()
                .map_or_else(|error| Value::Object(error.details.clone()), |done| Value::Object(done.fields.clone()));
            self.read.0.of(call.session).lock().add(name, &result);
        }
        match called {
            Ok(outcome) => {
                let (done, rest): (Map<_, _>, Map<_, _>) = outcome
                    .fields
                    .into_iter()
                    .partition(|(name, _)| name == SECRET_FIELD || outcome.covered.contains(name.as_str()));
                let fields = self.covered(rest).into_iter().chain(done).collect();
                // Redact before truncating: the rest of a truncated secret would not be recognised.
                let fields = match bounds(toolset) {
                    Some(bounds) => cap_fields(fields, bounds),
                    None => fields,
                };
                Ok(Outcome { fields, ..outcome })
            }
            Err(error) => {
                let message = self.secrets.cover(&error.message).into_owned();
                // The name of the mark may contain a part of a secret.
                let mut details = error.details;
                let mark = details.remove(SECRET_FIELD);
                let mut details = self.covered(details);
                details.extend(mark.map(|mark| (SECRET_FIELD.to_owned(), mark)));
                let (message, details) = match bounds(toolset) {
                    Some(bounds) => (cap_error(&message), cap_fields(details, bounds)),
                    None => (message, details),
                };
                Err(ToolError { code: error.code, message, details })
            }
        }
    }

    /// Redacts secrets in a text, as in results.
    #[must_use]
    pub fn cover(&self, text: &str) -> String {
        self.secrets.cover(text).into_owned()
    }

    /// The secrets that are redacted in results.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    fn covered(&self, fields: Map<String, Value>) -> Map<String, Value> {
        match self.secrets.cover_json(Value::Object(fields)) {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}

/// Asks the guard of a call about a tool whose effects are not known.
fn check_unknown(
    tool: &Tool,
    toolset: &str,
    call: &ToolContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<(), ToolError> {
    let Some(guard) = call.scope.guard() else { return Ok(()) };
    let why = "it is not known what the tool does";
    let given = Value::Object(arguments.clone()).to_string();
    let mut effect = Effect::new(EffectKind::Tool, format!("call {} of {toolset}", tool.name), why, &[toolset, &given]);
    for (name, value) in arguments {
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        effect = effect.value(name.as_str(), &text);
    }
    guard.permit(effect, &|| None).map(drop)
}

/// The limits for results of a toolset; `None` for toolsets that return no page content and limit their results
/// themselves.
fn bounds(toolset: &str) -> Option<Bounds> {
    match toolset {
        super::browser::BROWSER => Some(Bounds::PAGE),
        super::web::WEB | super::search::SEARCH | super::vision::VISION => Some(Bounds::NAMED),
        _ => None,
    }
}
