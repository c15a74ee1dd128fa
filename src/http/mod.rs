//! HTTP/1.1: one small client for single requests, and the engine that serves requests within bounds.
//!
//! | file | what it holds |
//! |---|---|
//! | `client` | one request on a connection of its own, over TCP or a stream that the caller has made |
//! | `dial` | name look-up and TCP connections, with a deadline |
//! | `engine` | connections, requests and answers of a server (feature `http-server`) |

pub(crate) mod client;
pub(crate) mod dial;
#[cfg(feature = "http-server")]
mod engine;

#[cfg(feature = "http-server")]
pub use engine::{
    Answer, Body, Event, EventSource, Handler, Head, HttpServer, Lane, Limits, Listener, Next, Request, fuzzing,
};
