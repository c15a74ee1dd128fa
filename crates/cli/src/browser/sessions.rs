//! `sessions`: clients of one browser that do not disturb each other.

use clap::{Args, Subcommand};
use serde_json::Value;

use super::super::client::Request;
use super::super::output::Out;
use super::call::Call;
use super::show::{list, note, table, word};
use cdpilot_server::api::{self, operations as op};

#[derive(Debug, Args)]
pub(in super::super) struct Sessions {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the sessions and their tabs
    List,
    /// Create a session; `--session NAME` with any command creates one too
    Create {
        /// Name of the session: 1 to 128 visible ASCII characters
        name: String,
        /// Give it its own cookies, storage and cache
        #[arg(long)]
        isolated: bool,
    },
    /// End a session: close its tabs and stop its background commands
    End {
        /// Name of the session
        name: String,
    },
}

impl Sessions {
    pub(super) fn call(&self) -> Call {
        match &self.what {
            None | Some(What::List) => Call::new(Request::of(op::SESSIONS), listed).never_starts(),
            Some(What::Create { name, isolated }) => {
                let body = api::NewSession { name: name.clone(), isolated: *isolated };
                Call::new(Request::new(op::CREATE_SESSION, &body), created)
            }
            Some(What::End { name }) => Call::new(Request::at(op::END_SESSION, &[name]), ended).never_starts(),
        }
    }
}

fn tabs(session: &Value) -> String {
    list(session, "tabs").iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
}

fn listed(value: &Value, out: &Out) {
    let row = |session: &Value| {
        let isolated = if session["isolated"] == true { "isolated" } else { "" };
        let idle = format!("{} s", session["idleS"].as_u64().unwrap_or_default());
        vec![word(session, "name"), isolated.to_owned(), idle, tabs(session)]
    };
    let rows: Vec<Vec<String>> = list(value, "sessions").iter().map(row).collect();
    if rows.is_empty() {
        note("no named sessions; `--session NAME` with any command creates one", out);
    } else {
        table(&["session", "", "idle", "tabs"], &rows, out);
    }
}

fn created(value: &Value, out: &Out) {
    let name = word(&value["session"], "name");
    note(&format!("created session {name}; use it with `--session {name}`"), out);
}

fn ended(value: &Value, out: &Out) {
    let session = &value["session"];
    let closed = match list(session, "tabs").len() {
        0 => "it had no tabs".to_owned(),
        _ => format!("closed {}", tabs(session)),
    };
    note(&format!("ended session {}; {closed}", word(session, "name")), out);
}
