//! HTTP/1.1: one small client for single requests, and the engine that serves requests within bounds.
//!
//! | file | what it holds |
//! |---|---|
//! | `client` | one request per connection, over TCP or a stream given by the caller |
//! | `dial` | name resolution and TCP connections, with a deadline |
//! | `proxy` | a forward proxy that admits only some hosts (feature `http-server`) |
//! | `engine` | the server: connections, requests and answers (feature `http-server`) |

pub(crate) mod client;
pub(crate) mod dial;
#[cfg(feature = "http-server")]
mod engine;
#[cfg(feature = "http-server")]
pub(crate) mod proxy;

#[cfg(feature = "http-server")]
pub use engine::{
    Answer, Body, Event, EventSource, Handler, Head, HttpServer, Lane, Limits, Listener, Next, Request, fuzzing,
};
