//! The routes: one table that drives both dispatch and `openapi.json`.
//!
//! | file | what it holds |
//! |---|---|
//! | `table` | all operations with their handlers |
//! | `call` | a request with its profile, session, tab and deadline |
//! | `common` | the fields that many operations have |
//! | `dispatch` | finds the route of a request and builds the answer |
//! | `system` | health, doctor, web UI, OpenAPI |
//! | `browser`, `tabs` | browsers, profiles, sessions, tabs, navigation |
//! | `pages` | snapshots, screenshots, text, console, requests |
//! | `act` | actions, raw CDP commands, dialogs, files |
//! | `network` | routes for network requests |
//! | `site_data` | cookies, storage, saved state, emulation |
//! | `events`, `event_schema` | the event stream; the schema of its events |
//! | `browsers`, `conversations` | browser ids and conversations (feature `agent`) |
//! | `routines`, `routine_export`, `recordings` | routines and their runs; recordings |
//! | `models` | settings of models |
//! | `secrets` | secrets that conversations may type |
//! | `mcp` | tools over the Model Context Protocol |

mod act;
mod browser;
mod browsers;
mod call;
mod common;
mod compile;
mod conversations;
mod dispatch;
mod event_schema;
mod events;
mod kept;
mod mcp;
mod models;
mod network;
mod pages;
mod recordings;
mod routine_export;
mod routines;
mod secrets;
mod site_data;
mod system;
mod table;
mod tabs;

use std::sync::LazyLock;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub(super) use call::Call;
pub(super) use common::{common_schema, of_spec as common_fields};
pub(super) use dispatch::{RouteMatch, answer, answer_locally, find};
pub(super) use event_schema::event_schema;
pub(super) use table::TABLE;

use super::error::ApiError;
use super::params;
pub(super) use crate::api::MAX_TIMEOUT;
use crate::api::{Method, Operation, Spec};
use crate::http::{Answer, Lane};
use cdpilot::code::Code;
use cdpilot::fields::schema_of;

/// Minimum of `timeoutMs`; smaller values are raised to it, since no browser responds in less.
pub(super) const MIN_TIMEOUT: Duration = Duration::from_millis(200);

/// The answer of a route.
pub(super) enum Reply {
    /// Fields beside `ok`.
    Fields(Map<String, Value>),
    /// A complete answer.
    Other(Answer),
}

impl Reply {
    /// The fields of an answer.
    fn of(answer: &impl Serialize) -> Result<Self, ApiError> {
        match serde_json::to_value(answer) {
            Ok(Value::Object(map)) => Ok(Self::Fields(map)),
            Ok(_) => Ok(Self::Fields(Map::new())),
            Err(problem) => Err(ApiError::new(Code::Internal, format!("the answer cannot be serialised: {problem}"))),
        }
    }
}

/// Runs a request with its fields, and the schema that they have fitted.
type Run = Box<dyn Fn(&Call<'_>, Map<String, Value>, &Value) -> Result<Reply, ApiError> + Send + Sync>;

/// An operation with its handler.
pub(super) struct Route {
    pub(super) spec: Spec,
    /// The schema of a request: its fields, unless a lower module reads them, and the common ones.
    pub(super) schema: LazyLock<Value, Box<dyn FnOnce() -> Value + Send>>,
    pub(super) input: fn(&mut SchemaGenerator) -> Schema,
    pub(super) output: fn(&mut SchemaGenerator) -> Schema,
    run: Run,
}

impl Route {
    fn new<I: JsonSchema, A: JsonSchema>(operation: Operation<I, A>, fields: fn() -> Value, run: Run) -> Self {
        let spec = operation.spec;
        Self {
            spec,
            schema: LazyLock::new(Box::new(move || common::with_common(&spec, fields()))),
            input: SchemaGenerator::subschema_for::<I>,
            output: SchemaGenerator::subschema_for::<A>,
            run,
        }
    }

    /// A route that answers with fields.
    fn of<I, A>(operation: Operation<I, A>, run: fn(&Call<'_>, I) -> Result<A, ApiError>) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        A: Serialize + JsonSchema + 'static,
    {
        let run = move |call: &Call<'_>, fields: Map<String, Value>, schema: &Value| {
            Reply::of(&run(call, params::decode(fields, schema)?)?)
        };
        Self::new(operation, schema_of::<I>, Box::new(run))
    }

    /// As [`of`](Self::of), for fields that a lower module reads.
    fn unread<I, A>(operation: Operation<I, A>, run: fn(&Call<'_>, Value) -> Result<A, ApiError>) -> Self
    where
        I: JsonSchema,
        A: Serialize + JsonSchema + 'static,
    {
        let run = move |call: &Call<'_>, fields: Map<String, Value>, _: &Value| Reply::of(&run(call, fields.into())?);
        Self::new(operation, || json!({ "type": "object" }), Box::new(run))
    }

    /// A route that builds its answer itself.
    fn replying<I, A>(operation: Operation<I, A>, run: fn(&Call<'_>, I) -> Result<Reply, ApiError>) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        A: JsonSchema,
    {
        let run = move |call: &Call<'_>, fields: Map<String, Value>, schema: &Value| {
            run(call, params::decode(fields, schema)?)
        };
        Self::new(operation, schema_of::<I>, Box::new(run))
    }

    /// The threads that handle it.
    pub(super) fn lane(&self) -> Lane {
        if self.spec.quick { Lane::Control } else { Lane::Action }
    }

    /// Whether it makes sense for one running browser without a server: it is about this browser, or describes the routes.
    pub(super) fn is_local(&self) -> bool {
        let spec = &self.spec;
        let starts_or_stops = spec.method == Method::Post && matches!(spec.path, "/start" | "/stop");
        let of_browser = spec.of_profile && !spec.fields_in_query && !starts_or_stops;
        spec.media == "application/json" && (of_browser || spec.path == "/openapi.json")
    }

    /// Whether it changes something and streams the events of it.
    pub(super) fn is_streamed_change(&self) -> bool {
        self.spec.method == Method::Post && self.spec.media == "text/event-stream"
    }
}
