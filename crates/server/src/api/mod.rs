//! The HTTP API, shared by the control server, the CLI, MCP and `supervise`: each operation once, as a constant with the types
//! of its request and answer ([`operations`]). Dispatch, `openapi.json` and the requests of clients come from it.
//!
//! Error codes and their HTTP statuses are not here but in [`code`](cdpilot::code), at the bottom of the module list, because
//! `supervisor` and `page` name them too.

mod agent;
mod answers;
mod kept;
mod operation;
pub mod operations;
mod recordings;
mod requests;
mod routines;
mod secrets;

use std::fmt;

pub use agent::*;
pub use answers::*;
pub use kept::*;
pub use operation::{Access, MAX_TIMEOUT, Operation, Spec, TimeLimit};
pub use recordings::*;
pub use requests::*;
pub use routines::*;
pub use secrets::*;

/// The request header that names a session of the profile.
pub const SESSION_HEADER: &str = "X-Cdpilot-Session";

/// The request header that says in whose terms errors give advice; see [`Vocabulary`].
pub const CLIENT_HEADER: &str = "X-Cdpilot-Client";

/// The terms in which errors say what to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vocabulary {
    /// Routes and fields: without the header, or with an unknown value.
    Http,
    /// Commands and flags.
    Cli,
}

impl Vocabulary {
    /// The value of the header for commands and flags.
    pub const CLI: &str = "cli";

    /// The vocabulary for a value of the header.
    pub fn of_client(client: Option<&str>) -> Self {
        match client {
            Some(Self::CLI) => Self::Cli,
            _ => Self::Http,
        }
    }
}

/// HTTP methods of routes. `HEAD` is answered like `GET`, without the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Patch,
    Delete,
}

impl Method {
    pub const ALL: [Self; 4] = [Self::Get, Self::Post, Self::Patch, Self::Delete];

    /// The name in a request line, `GET`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// The method with this name; `None` for one that no route supports.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Whether its requests send their fields in a JSON body, else in the query.
    pub fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Patch)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_parsed_by_their_exact_names() {
        for method in Method::ALL {
            assert_eq!(Method::parse(method.name()), Some(method));
        }
        assert_eq!((Method::parse("get"), Method::parse("PUT")), (None, None));
    }
}
