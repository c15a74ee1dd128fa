//! A tool and its handler.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::schema::schema_of;
use super::{Effects, Outcome, Scope, ToolContext, ToolError, arguments};

/// The implementation of a tool.
pub trait Handler: Send + Sync {
    /// Whether the tool is available in a scope. Called for every list and before every call; must not block.
    fn is_available(&self, _scope: &Scope) -> bool {
        true
    }

    /// Runs the tool.
    ///
    /// # Errors
    /// The error that the model receives.
    fn call(&self, call: &ToolContext<'_>, arguments: Map<String, Value>) -> Result<Outcome, ToolError>;
}

/// A tool that a model may call: its description, its schema and what it does.
#[derive(Clone)]
pub struct Tool {
    /// Name: 1 to 64 letters, digits, `_` or `-`.
    pub name: Arc<str>,
    /// What the tool does and when to use it, for models.
    pub description: Arc<str>,
    /// JSON Schema of the arguments: an object without unions at the top level.
    pub schema: Arc<Value>,
    /// Whether the tool changes nothing.
    pub read_only: bool,
    /// What it does apart from what it returns.
    pub(super) effects: Effects,
    /// What it requires while it is unavailable.
    needs: Option<Arc<str>>,
    handler: Arc<dyn Handler>,
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Tool {
    /// A tool with a given schema; the handler decodes the arguments itself.
    #[must_use]
    pub fn new(name: &str, description: &str, schema: Value, handler: Arc<dyn Handler>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            schema: Arc::new(schema),
            read_only: false,
            effects: Effects::Unknown,
            needs: None,
            handler,
        }
    }

    /// A tool with typed arguments; the schema is derived from the type.
    pub fn of<I, F>(name: &str, description: &str, run: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        F: Fn(&ToolContext<'_>, I) -> Result<Outcome, ToolError> + Send + Sync + 'static,
    {
        Self::when::<I, F>(name, description, |_| true, run)
    }

    /// A tool with typed arguments that is available only when `is_available` returns true.
    pub fn when<I, F>(
        name: &str,
        description: &str,
        is_available: impl Fn(&Scope) -> bool + Send + Sync + 'static,
        run: F,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        F: Fn(&ToolContext<'_>, I) -> Result<Outcome, ToolError> + Send + Sync + 'static,
    {
        let schema = Arc::new(schema_of::<I>());
        let run = Typed {
            is_available: Box::new(is_available),
            schema: Arc::clone(&schema),
            run,
            reads: std::marker::PhantomData::<fn(I)>,
        };
        Self {
            name: name.into(),
            description: description.into(),
            schema,
            read_only: false,
            effects: Effects::Unknown,
            needs: None,
            handler: Arc::new(run),
        }
    }

    /// Marks the tool as read-only.
    #[must_use]
    pub fn reading(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Sets what the tool does apart from what it returns. Default: not known, so that a guard asks before each call of a tool
    /// that is not read-only.
    #[must_use]
    pub fn with_effects(mut self, effects: Effects) -> Self {
        self.effects = effects;
        self
    }

    /// Sets what the tool requires while it is unavailable.
    #[must_use]
    pub(super) fn needing(mut self, what: &str) -> Self {
        self.needs = Some(what.into());
        self
    }

    /// What the tool requires while it is unavailable, if known.
    #[must_use]
    pub fn needs(&self) -> Option<&str> {
        self.needs.as_deref()
    }

    /// Adds details to errors.
    #[must_use]
    pub(super) fn failing(
        mut self,
        describe_error: impl Fn(&ToolContext<'_>, ToolError) -> ToolError + Send + Sync + 'static,
    ) -> Self {
        self.handler = Arc::new(Failing { handler: self.handler, describe_error });
        self
    }

    /// Runs `begin` before each call.
    #[must_use]
    pub(super) fn beginning(mut self, begin: impl Fn(&ToolContext<'_>) + Send + Sync + 'static) -> Self {
        self.handler = Arc::new(Beginning { handler: self.handler, begin });
        self
    }

    /// Whether name, description and schema are equal.
    pub(super) fn looks_like(&self, other: &Self) -> bool {
        let of = |tool: &Self| (Arc::clone(&tool.name), Arc::clone(&tool.description), Arc::clone(&tool.schema));
        of(self) == of(other)
    }

    /// Whether the tool is available in a scope.
    #[must_use]
    pub fn is_available(&self, scope: &Scope) -> bool {
        self.handler.is_available(scope)
    }

    /// Calls the tool.
    ///
    /// # Errors
    /// The error that the model receives.
    pub fn call(&self, call: &ToolContext<'_>, arguments: Map<String, Value>) -> Result<Outcome, ToolError> {
        self.handler.call(call, arguments)
    }
}

struct Failing<T> {
    handler: Arc<dyn Handler>,
    describe_error: T,
}

impl<T: Fn(&ToolContext<'_>, ToolError) -> ToolError + Send + Sync> Handler for Failing<T> {
    fn is_available(&self, scope: &Scope) -> bool {
        self.handler.is_available(scope)
    }

    fn call(&self, call: &ToolContext<'_>, arguments: Map<String, Value>) -> Result<Outcome, ToolError> {
        self.handler.call(call, arguments).map_err(|error| (self.describe_error)(call, error))
    }
}

struct Beginning<B> {
    handler: Arc<dyn Handler>,
    begin: B,
}

impl<B: Fn(&ToolContext<'_>) + Send + Sync> Handler for Beginning<B> {
    fn is_available(&self, scope: &Scope) -> bool {
        self.handler.is_available(scope)
    }

    fn call(&self, call: &ToolContext<'_>, arguments: Map<String, Value>) -> Result<Outcome, ToolError> {
        (self.begin)(call);
        self.handler.call(call, arguments)
    }
}

struct Typed<I, F> {
    is_available: Box<dyn Fn(&Scope) -> bool + Send + Sync>,
    schema: Arc<Value>,
    run: F,
    reads: std::marker::PhantomData<fn(I)>,
}

impl<I, F> Handler for Typed<I, F>
where
    I: DeserializeOwned,
    F: Fn(&ToolContext<'_>, I) -> Result<Outcome, ToolError> + Send + Sync,
{
    fn is_available(&self, scope: &Scope) -> bool {
        (self.is_available)(scope)
    }

    fn call(&self, call: &ToolContext<'_>, arguments: Map<String, Value>) -> Result<Outcome, ToolError> {
        let arguments = arguments::read(&self.schema, arguments)?;
        (self.run)(call, arguments)
    }
}
