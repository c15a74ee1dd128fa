//! The routes: one table that drives both dispatch and `openapi.json`.
//!
//! | file | what it holds |
//! |---|---|
//! | `table` | all routes |
//! | `call` | a request with its profile, session, tab and deadline |
//! | `dispatch` | finds the route of a request and builds the answer |
//! | `system` | health, doctor, web UI, OpenAPI |
//! | `browser`, `tabs` | browsers, profiles, sessions, tabs, navigation |
//! | `pages` | snapshots, screenshots, text, console, requests |
//! | `act` | actions, raw CDP commands, dialogs, files |
//! | `network` | routes for network requests |
//! | `site_data` | cookies, storage, saved state, emulation |
//! | `events`, `event_schema` | the event stream; the schema of its events |
//! | `browsers`, `conversations` | browser ids and conversations (feature `agent`) |
//! | `models` | settings of models |
//! | `secrets` | secrets that conversations may type |
//! | `mcp` | tools over the Model Context Protocol |

mod act;
mod browser;
mod browsers;
mod call;
mod conversations;
mod dispatch;
mod event_schema;
mod events;
mod mcp;
mod models;
mod network;
mod pages;
mod secrets;
mod site_data;
mod system;
mod table;
mod tabs;

use std::time::Duration;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(super) use call::Call;
pub(super) use dispatch::{RouteMatch, answer, answer_locally, find};
pub(super) use event_schema::event_schema;
pub(super) use table::TABLE;

use super::error::ApiError;
use super::params::{self, ParamType};
use crate::api::Method;
use crate::http::{Answer, Lane};
use cdpilot::code::Code;

/// Maximum of `timeoutMs`; larger values are reduced to it.
pub(super) const MAX_TIMEOUT: Duration = Duration::from_secs(120);

/// Minimum of `timeoutMs`; smaller values are raised to it, since no browser responds in less.
pub(super) const MIN_TIMEOUT: Duration = Duration::from_millis(200);

/// The answer of a route.
pub(super) enum Reply {
    /// Fields beside `ok`.
    Fields(Map<String, Value>),
    /// A complete answer.
    Other(Answer),
}

type Run = Box<dyn Fn(&Call<'_>, Map<String, Value>) -> Result<Reply, ApiError> + Send + Sync>;

/// A route.
pub(super) struct Route {
    pub(super) method: Method,
    /// Path, with parameters as `:name`.
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) lane: Lane,
    /// Whether it takes `profile`.
    pub(super) of_profile: bool,
    /// Whether it takes `targetId`.
    pub(super) of_tab: bool,
    /// The default timeout, and whether it takes `timeoutMs`.
    pub(super) time: Duration,
    pub(super) takes_time: bool,
    /// Whether no token is needed.
    pub(super) open: bool,
    /// Whether it requires a ticket of the web UI instead of the token.
    pub(super) takes_ticket: bool,
    /// Whether it parses its body itself; its fields are query parameters.
    pub(super) raw: bool,
    /// Maximum size of its body in bytes, if not the default.
    pub(super) body_bytes: Option<usize>,
    /// The media type of its answer.
    pub(super) media: &'static str,
    /// Query parameters, without the common ones.
    pub(super) reads: Vec<(String, ParamType)>,
    pub(super) input: fn(&mut SchemaGenerator) -> Schema,
    pub(super) output: fn(&mut SchemaGenerator) -> Schema,
    run: Run,
}

/// Timeout of a control route, which waits only for the supervisor's thread.
const CONTROL_TIMEOUT: Duration = Duration::from_secs(5);
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(20);

/// The fields of a type as query parameters.
fn parameters<I: JsonSchema>() -> Vec<(String, ParamType)> {
    let mut inline = SchemaSettings::draft2020_12();
    inline.inline_subschemas = true;
    params::parameters(inline.into_generator().into_root_schema_for::<I>().as_value())
}

impl Route {
    fn new<I, A>(method: Method, path: &'static str, summary: &'static str, run: Run) -> Self
    where
        I: JsonSchema,
        A: JsonSchema,
    {
        let reads = if method.has_body() { Vec::new() } else { parameters::<I>() };
        Self {
            method,
            path,
            summary,
            lane: Lane::Action,
            of_profile: true,
            of_tab: false,
            time: DEFAULT_TIMEOUT,
            takes_time: true,
            open: false,
            takes_ticket: false,
            raw: false,
            body_bytes: None,
            media: "application/json",
            reads,
            input: SchemaGenerator::subschema_for::<I>,
            output: SchemaGenerator::subschema_for::<A>,
            run,
        }
    }

    /// A route that answers with fields.
    fn of<I, A>(
        method: Method,
        path: &'static str,
        summary: &'static str,
        run: fn(&Call<'_>, I) -> Result<A, ApiError>,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        A: Serialize + JsonSchema + 'static,
    {
        let run = move |call: &Call<'_>, fields: Map<String, Value>| {
            let value = serde_json::to_value(run(call, params::fields(fields)?)?);
            match value {
                Ok(Value::Object(map)) => Ok(Reply::Fields(map)),
                Ok(_) => Ok(Reply::Fields(Map::new())),
                Err(problem) => {
                    Err(ApiError::new(Code::Internal, format!("the answer cannot be serialised: {problem}")))
                }
            }
        };
        Self::new::<I, A>(method, path, summary, Box::new(run))
    }

    /// A route that builds its answer itself.
    fn other<I: DeserializeOwned + JsonSchema + 'static, A: JsonSchema>(
        method: Method,
        path: &'static str,
        summary: &'static str,
        media: &'static str,
        run: fn(&Call<'_>, I) -> Result<Reply, ApiError>,
    ) -> Self {
        let run = move |call: &Call<'_>, fields: Map<String, Value>| run(call, params::fields(fields)?);
        Self { media, ..Self::new::<I, A>(method, path, summary, Box::new(run)) }
    }

    /// Runs in the control lane, which never waits for a page.
    fn quick(self) -> Self {
        Self { lane: Lane::Control, time: CONTROL_TIMEOUT, takes_time: false, ..self }
    }

    /// Not for a profile.
    fn global(self) -> Self {
        Self { of_profile: false, ..self }
    }

    /// Takes `targetId`.
    fn tab(self) -> Self {
        Self { of_tab: true, ..self }
    }

    /// Sets the default timeout.
    fn secs(self, seconds: u64) -> Self {
        Self { time: Duration::from_secs(seconds), ..self }
    }

    /// Takes `timeoutMs` despite the control lane.
    fn timed(self) -> Self {
        Self { takes_time: true, ..self }
    }

    /// The timeout is given by its own fields.
    fn untimed(self) -> Self {
        Self { takes_time: false, time: MAX_TIMEOUT, ..self }
    }

    /// Parses its body itself.
    fn raw<I: JsonSchema>(self) -> Self {
        Self { raw: true, reads: parameters::<I>(), ..self }
    }

    /// Sets the maximum size of the body, in MiB.
    fn mebibytes(self, most: usize) -> Self {
        Self { body_bytes: Some(most << 20), ..self }
    }

    /// Requires a ticket of the web UI instead of the token.
    fn with_ticket(self) -> Self {
        Self { takes_ticket: true, ..self }
    }

    /// Requires no token.
    fn open(self) -> Self {
        Self { open: true, ..self }
    }

    /// Whether it makes sense for one running browser without a server: it is about this browser, or describes the routes.
    pub(super) fn is_local(&self) -> bool {
        let starts_or_stops = self.method == Method::Post && matches!(self.path, "/start" | "/stop");
        let of_browser = self.of_profile && !self.raw && !starts_or_stops;
        self.media == "application/json" && (of_browser || self.path == "/openapi.json")
    }

    /// Whether it changes something and streams the events of it.
    pub(super) fn is_streamed_change(&self) -> bool {
        self.method == Method::Post && self.media == "text/event-stream"
    }

    /// The names of its path parameters.
    pub(super) fn in_path(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix(':'))
    }
}
