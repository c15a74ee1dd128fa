//! The routes: one table that drives both dispatch and `openapi.json`.
//!
//! | file | what it holds |
//! |---|---|
//! | `table` | all routes |
//! | `call` | one request on its way: whose browser, which tab, until when |
//! | `dispatch` | from a request to its route, and to its answer |
//! | `own` | the server itself: health, doctor, web UI, description |
//! | `browser`, `tabs` | life of browsers, profiles, tabs, navigation |
//! | `see` | snapshots, pictures, text, console, requests |
//! | `act` | actions, raw commands, dialogs, files |
//! | `network` | routes of requests, requests in detail |
//! | `site` | cookies, storage, emulation |
//! | `events` | the stream of events |
//! | `mcp` | the tools for models, over the Model Context Protocol |

mod act;
mod browser;
mod call;
mod dispatch;
mod events;
mod mcp;
mod network;
mod pages;
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
pub(super) use dispatch::{RouteMatch, answer, find};
pub(super) use table::TABLE;

use super::error::ApiError;
use super::params::{self, ParamType};
use crate::http::{Answer, Lane};

/// Greatest time that may be asked for; more is cut to it.
pub(super) const MAX_TIMEOUT: Duration = Duration::from_secs(120);

/// Least time that an operation has, whatever was asked for: in less no browser answers anything.
pub(super) const MIN_TIMEOUT: Duration = Duration::from_millis(200);

/// The methods that routes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
    Delete,
}

impl Method {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// What a route answers with.
pub(super) enum Reply {
    /// Fields beside `ok`.
    Fields(Map<String, Value>),
    /// Something else.
    Other(Answer),
}

type Run = Box<dyn Fn(&Call<'_>, Map<String, Value>) -> Result<Reply, ApiError> + Send + Sync>;

/// A route.
pub(super) struct Route {
    pub(super) method: Method,
    /// With parameters as `:name`.
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) lane: Lane,
    /// Whether it takes `profile`.
    pub(super) of_profile: bool,
    /// Whether it takes `targetId`.
    pub(super) of_tab: bool,
    /// Whether it takes `timeoutMs`, and the time it has without.
    pub(super) time: Duration,
    pub(super) takes_time: bool,
    /// Whether no token is needed.
    pub(super) open: bool,
    /// Whether a ticket of the web UI is what it takes instead of the token.
    pub(super) takes_ticket: bool,
    /// Whether it reads its body itself; what it takes beside that is in the query.
    pub(super) raw: bool,
    /// Bytes that its body may have, where they are not the usual ones.
    pub(super) body_bytes: Option<usize>,
    /// The media type of its answer.
    pub(super) media: &'static str,
    /// Parameters of the query, without the common ones.
    pub(super) reads: Vec<(String, ParamType)>,
    pub(super) input: fn(&mut SchemaGenerator) -> Schema,
    pub(super) output: fn(&mut SchemaGenerator) -> Schema,
    run: Run,
}

/// What a control route may take: it waits for nothing but the supervisor's own thread.
const CONTROL_TIMEOUT: Duration = Duration::from_secs(5);
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(20);

/// What a type takes, as parameters of a query.
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
        let reads = if method == Method::Post { Vec::new() } else { parameters::<I>() };
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

    /// A route whose answer is made of fields.
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
            let told = serde_json::to_value(run(call, params::fields(fields)?)?);
            match told {
                Ok(Value::Object(map)) => Ok(Reply::Fields(map)),
                Ok(_) => Ok(Reply::Fields(Map::new())),
                Err(problem) => Err(ApiError::new("INTERNAL", format!("the answer cannot be written: {problem}"))),
            }
        };
        Self::new::<I, A>(method, path, summary, Box::new(run))
    }

    /// A route that answers with something else.
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

    /// Answered whatever the browser does.
    fn quick(self) -> Self {
        Self { lane: Lane::Control, time: CONTROL_TIMEOUT, takes_time: false, ..self }
    }

    /// For the server as a whole.
    fn global(self) -> Self {
        Self { of_profile: false, ..self }
    }

    /// For one tab.
    fn tab(self) -> Self {
        Self { of_tab: true, ..self }
    }

    /// With another usual time.
    fn secs(self, seconds: u64) -> Self {
        Self { time: Duration::from_secs(seconds), ..self }
    }

    /// With a time that can be asked for, though it is quick.
    fn timed(self) -> Self {
        Self { takes_time: true, ..self }
    }

    /// With a time that its own fields say.
    fn untimed(self) -> Self {
        Self { takes_time: false, time: MAX_TIMEOUT, ..self }
    }

    /// With a body of its own kind, which it reads itself.
    fn raw<I: JsonSchema>(self) -> Self {
        Self { raw: true, reads: parameters::<I>(), ..self }
    }

    /// With a body of up to so many MiB.
    fn mebibytes(self, most: usize) -> Self {
        Self { body_bytes: Some(most << 20), ..self }
    }

    /// With a ticket of the web UI instead of the token.
    fn with_ticket(self) -> Self {
        Self { takes_ticket: true, ..self }
    }

    /// For everybody who is here.
    fn open(self) -> Self {
        Self { open: true, ..self }
    }

    /// The names of what stands in its path.
    pub(super) fn in_path(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix(':'))
    }
}
