//! HTTP/1.1 for servers. The client is in the crate `cdpilot`.
//!
//! | file | what it holds |
//! |---|---|
//! | `engine` | the server: connections, requests and answers, within bounds |
//! | `proxy` | a forward proxy that admits only some hosts |

mod engine;
pub(crate) mod proxy;

pub use engine::{
    Answer, Body, Event, EventSource, Handler, Head, HttpServer, Lane, Limits, Listener, Next, Request, fuzzing,
};
