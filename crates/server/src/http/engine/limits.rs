//! Limits of the engine.

use std::time::Duration;

/// Limits of the engine. The defaults are those of the control server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum number of connections. Beyond it, the one that has been idle longest is closed, else the one whose head has
    /// been arriving longest; otherwise the new one is refused.
    pub connections: usize,
    /// Maximum size of a head (request line and headers), in bytes.
    pub head_bytes: usize,
    /// Maximum size of a body, in bytes.
    pub body_bytes: usize,
    /// Maximum size of all bodies in memory, in bytes.
    pub bodies_bytes: usize,
    /// Maximum size of all unsent answers, in bytes; beyond it, connections of slow clients are closed.
    pub unsent_bytes: usize,
    /// Time limit for a head from its first byte, and for a body from its head.
    pub reading: Duration,
    /// How long a connection may be idle between requests.
    pub idle: Duration,
    /// How long a client may accept no byte of its answer.
    pub writing: Duration,
    /// How long a request continues after its client closed its sending side. Some clients close it after their last request,
    /// and this cannot be distinguished from a disconnect.
    pub hang_up: Duration,
    /// Number of threads of the control lane.
    pub control_threads: usize,
    /// Maximum number of threads of the action lane, started on demand.
    pub action_threads: usize,
    /// Maximum number of queued requests in each lane.
    pub queue: usize,
    /// Maximum number of event streams.
    pub streams: usize,
    /// Interval of keepalive comments on an idle event stream.
    pub comment_every: Duration,
    /// Whether bodies of any media type are accepted. The control server accepts JSON only: pages of other origins can send
    /// the other ones without being asked.
    pub any_media_type: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            head_bytes: 16 * 1024,
            body_bytes: 1024 * 1024,
            bodies_bytes: 64 * 1024 * 1024,
            unsent_bytes: 64 * 1024 * 1024,
            reading: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            writing: Duration::from_secs(30),
            hang_up: Duration::from_millis(250),
            control_threads: 2,
            action_threads: 16,
            queue: 64,
            streams: 32,
            comment_every: Duration::from_secs(15),
            any_media_type: false,
        }
    }
}

/// Maximum number of headers.
pub(super) const MAX_HEADERS: usize = 64;
