//! How much of everything there may be.

use std::time::Duration;

/// Bounds of the engine. The defaults are those of the control server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections at once. Above it the one that was idle longest makes room, else the one whose head has been arriving
    /// longest, or the new one is refused.
    pub connections: usize,
    /// Bytes of a head (request line and headers).
    pub head_bytes: usize,
    /// Bytes of a body.
    pub body_bytes: usize,
    /// Bytes of all bodies that are being read or worked on.
    pub bodies_bytes: usize,
    /// Bytes of all answers that clients have not taken yet, above which a slow client's connection is closed.
    pub unsent_bytes: usize,
    /// How long a head may take from its first byte, and a body from its head.
    pub reading: Duration,
    /// How long a connection may be idle between requests.
    pub idle: Duration,
    /// How long a client may take none of its answer.
    pub writing: Duration,
    /// How long a client that closed its way goes on being worked for. Some close it when they have asked everything,
    /// and nothing tells them from those that hung up.
    pub hang_up: Duration,
    /// Threads of the control lane.
    pub control_threads: usize,
    /// Threads of the action lane, started as they are needed.
    pub action_threads: usize,
    /// Requests that may wait in each lane.
    pub queue: usize,
    /// Event streams at once.
    pub streams: usize,
    /// How often a quiet event stream sends a comment.
    pub comment_every: Duration,
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
        }
    }
}

/// Headers of a head at most.
pub(super) const MAX_HEADERS: usize = 64;
