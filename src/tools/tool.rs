//! A tool and its handler.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::schema::schema_of;
use super::{Outcome, Scope, ToolContext, ToolError, arguments};

/// What a tool does.
pub trait Handler: Send + Sync {
    /// Whether it can be called in a scope at the moment. Asked whenever tools are listed and before each call, so it must
    /// not block.
    fn is_available(&self, _scope: &Scope) -> bool {
        true
    }

    /// Does it.
    ///
    /// # Errors
    /// Whatever it is told as to the model.
    fn call(&self, call: &ToolContext<'_>, arguments: Map<String, Value>) -> Result<Outcome, ToolError>;
}

/// A tool.
#[derive(Clone)]
pub struct Tool {
    /// What it is called by: letters, digits, `_` and `-`, at most 64.
    pub name: Arc<str>,
    /// What it does, for a model.
    pub description: Arc<str>,
    /// What it takes: a JSON Schema of an object, without unions at the top.
    pub schema: Arc<Value>,
    /// Whether it only looks.
    pub read_only: bool,
    /// What it waits for while it cannot be called.
    needs: Option<Arc<str>>,
    handler: Arc<dyn Handler>,
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Tool {
    /// A tool whose arguments are described by a schema from elsewhere.
    #[must_use]
    pub fn new(name: &str, description: &str, schema: Value, handler: Arc<dyn Handler>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            schema: Arc::new(schema),
            read_only: false,
            needs: None,
            handler,
        }
    }

    /// A tool that reads its arguments into a type, which its schema is made from.
    pub fn of<I, F>(name: &str, description: &str, run: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        F: Fn(&ToolContext<'_>, I) -> Result<Outcome, ToolError> + Send + Sync + 'static,
    {
        Self::when::<I, F>(name, description, |_| true, run)
    }

    /// The same for one that is not always there.
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
            needs: None,
            handler: Arc::new(run),
        }
    }

    /// The same, which only looks.
    #[must_use]
    pub fn reading(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// The same, which says what it waits for while it cannot be called.
    #[must_use]
    pub(super) fn needing(mut self, what: &str) -> Self {
        self.needs = Some(what.into());
        self
    }

    /// What it waits for while it cannot be called, where it is known.
    #[must_use]
    pub fn needs(&self) -> Option<&str> {
        self.needs.as_deref()
    }

    /// The same, whose errors are told with something more.
    #[must_use]
    pub(super) fn failing(
        mut self,
        tell: impl Fn(&ToolContext<'_>, ToolError) -> ToolError + Send + Sync + 'static,
    ) -> Self {
        self.handler = Arc::new(Failing { handler: self.handler, tell });
        self
    }

    /// The same, with something done before each call.
    #[must_use]
    pub(super) fn beginning(mut self, begin: impl Fn(&ToolContext<'_>) + Send + Sync + 'static) -> Self {
        self.handler = Arc::new(Beginning { handler: self.handler, begin });
        self
    }

    /// Whether a list shows it as it shows another.
    pub(super) fn looks_like(&self, other: &Self) -> bool {
        let of = |tool: &Self| (Arc::clone(&tool.name), Arc::clone(&tool.description), Arc::clone(&tool.schema));
        of(self) == of(other)
    }

    /// Whether it can be called at the moment.
    #[must_use]
    pub fn is_available(&self, scope: &Scope) -> bool {
        self.handler.is_available(scope)
    }

    /// Calls it.
    ///
    /// # Errors
    /// Whatever it is told as to the model.
    pub fn call(&self, call: &ToolContext<'_>, arguments: Map<String, Value>) -> Result<Outcome, ToolError> {
        call.cancel.run(|| self.handler.call(call, arguments))
    }
}

struct Failing<T> {
    handler: Arc<dyn Handler>,
    tell: T,
}

impl<T: Fn(&ToolContext<'_>, ToolError) -> ToolError + Send + Sync> Handler for Failing<T> {
    fn is_available(&self, scope: &Scope) -> bool {
        self.handler.is_available(scope)
    }

    fn call(&self, call: &ToolContext<'_>, arguments: Map<String, Value>) -> Result<Outcome, ToolError> {
        self.handler.call(call, arguments).map_err(|error| (self.tell)(call, error))
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
