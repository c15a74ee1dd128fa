//! Requests of the HTTP API without HTTP: for `cdpilot supervise`.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::ServerContext;
use super::home_tools::HomeTools;
use super::routes::{RouteMatch, answer_locally, find};
use super::tickets::Tickets;
use crate::api::{Method, Vocabulary};
use crate::control::Control;
use crate::http::Request;
use cdpilot::code::Code;

/// A request of the HTTP API. `Debug` shows the method and the path only.
pub struct LocalRequest(Request);

impl LocalRequest {
    /// A request from its method, its path with the query as in a request line, and its body. The error says what is
    /// malformed; whether there is such a route is only known by [`LocalApi::answer`].
    pub fn new(method: Method, target: &str, body: Option<&Map<String, Value>>) -> Result<Self, String> {
        let body = body.map(serde_json::to_vec).transpose().map_err(|problem| problem.to_string())?;
        Ok(Self(Request::local(method.name(), target, body.unwrap_or_default())?))
    }

    /// Whether it is answered at once, without waiting for a page.
    pub fn is_quick(&self) -> bool {
        match find(&self.0) {
            RouteMatch::Route(route, _) => route.spec.quick,
            RouteMatch::OtherMethods(..) | RouteMatch::NotFound(_) => true,
        }
    }
}

impl fmt::Debug for LocalRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.method, self.0.path)
    }
}

/// The routes of the HTTP API for the browser of a [`Control`].
pub struct LocalApi {
    context: ServerContext,
}

impl LocalApi {
    pub fn new(control: Arc<Control>) -> Self {
        let tools = Arc::new(HomeTools::new(&control));
        let secrets = control.secrets().clone();
        let tickets = Arc::new(Tickets::default());
        // Routes that need the database are not local.
        let agent = Err(super::error::ApiError::new(Code::Internal, "there is no database without a server"));
        let url = String::new();
        let context = ServerContext { control, tools, tickets, secrets, agent, url, has_test_routes: false };
        Self { context }
    }

    /// Answers a request: the status and the body of the HTTP answer. Waits as long as the route allows.
    pub fn answer(&self, request: &LocalRequest) -> (u16, Map<String, Value>) {
        match answer_locally(&self.context, &request.0) {
            Ok(body) => (200, body),
            Err(failure) => (failure.status(), failure.body(Vocabulary::Http)),
        }
    }
}
