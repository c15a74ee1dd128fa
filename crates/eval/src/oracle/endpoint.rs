//! The HTTP server of the oracle: `/v1/chat/completions` and `/v1/models`, on this machine only.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::super::assets::Assets;
use super::talk::{Talks, scripted_names, stream, whole};
use cdpilot::code::Code;
use cdpilot_server::http::{Answer, Handler, Head, HttpServer, Lane, Limits, Listener, Request};

/// Largest request, in bytes: it contains the screenshots of a conversation.
const MAX_BODY: usize = 64 << 20;

/// The running endpoint. Dropping it stops it.
pub struct Oracle {
    server: HttpServer,
    shared: Arc<Shared>,
}

struct Shared {
    talks: Talks,
    number: AtomicUsize,
    /// Values that no request may contain, and whether one did.
    secrets: Mutex<HashMap<String, bool>>,
}

impl Oracle {
    /// Starts it on a free port. `sites`: the files of the sites, to recognise their pictures.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn start(sites: Assets) -> io::Result<Self> {
        let listener = Listener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let limits = Limits { body_bytes: MAX_BODY, bodies_bytes: 8 * MAX_BODY, ..Limits::default() };
        let (talks, number) = (Talks::new(sites), AtomicUsize::new(1));
        let shared = Arc::new(Shared { talks, number, secrets: Mutex::default() });
        Ok(Self { server: HttpServer::start(listener, limits, Arc::clone(&shared) as Arc<dyn Handler>)?, shared })
    }

    /// Looks for a value in the requests from now on.
    pub fn look_for(&self, secret: &str) {
        self.shared.secrets.lock().insert(secret.to_owned(), false);
    }

    /// Whether a request contained a value. It is not looked for any more.
    #[must_use]
    pub fn has_received(&self, secret: &str) -> bool {
        self.shared.secrets.lock().remove(secret).unwrap_or_default()
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.server.address().port()
    }

    /// Its `base_url`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.server.address())
    }
}

impl fmt::Debug for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Oracle({})", self.server.address())
    }
}

impl Handler for Shared {
    fn admit(&self, _: &Head) -> Result<(), Answer> {
        Ok(())
    }

    fn lane(&self, _: &Head) -> Lane {
        Lane::Action
    }

    fn handle(&self, request: Request) -> Answer {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/v1/models") => {
                let models: Vec<Value> =
                    scripted_names().iter().map(|id| json!({ "id": id, "object": "model" })).collect();
                Answer::json(StatusCode::OK, &json!({ "object": "list", "data": models }))
            }
            ("POST", "/v1/chat/completions") => self.complete(&request.body),
            _ => {
                Answer::failure(StatusCode::NOT_FOUND, Code::NotFound, "only /v1/models and /v1/chat/completions exist")
            }
        }
    }
}

impl Shared {
    fn complete(&self, body: &[u8]) -> Answer {
        let bad = |problem: String| Answer::failure(StatusCode::BAD_REQUEST, Code::BadRequest, problem);
        let text = String::from_utf8_lossy(body);
        for (secret, found) in self.secrets.lock().iter_mut() {
            *found |= text.contains(secret.as_str());
        }
        let request: Value = match serde_json::from_slice(body) {
            Ok(request) => request,
            Err(problem) => return bad(problem.to_string()),
        };
        let (reply, tokens_in, tokens_out) = match self.talks.answer(&request) {
            Ok(answered) => answered,
            Err(problem) => return bad(problem),
        };
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        if request["stream"] == true {
            let text = stream(&reply, number, tokens_in, tokens_out);
            return Answer::bytes(StatusCode::OK, "text/event-stream", text.into_bytes());
        }
        Answer::json(StatusCode::OK, &whole(&reply, number, tokens_in, tokens_out))
    }
}
