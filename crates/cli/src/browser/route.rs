//! `cdpilot route`: aborts, answers, changes or delays network requests.

use std::fs;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::{ArgGroup, Args, Subcommand};

use super::super::client::Request;
use super::super::failure::Failure;
use super::super::values::{one_of, whole};
use super::call::Call;
use super::{show, upload};
use cdpilot::code::Code;
use cdpilot::supervisor::AbortReason;
use cdpilot_server::api::{self, operations as op};
use cdpilot_server::config::Home;
use cdpilot_server::control::media_type;

/// Size limit for `--fulfil`, bytes: encoded as Base64 it fits into a request body of 1 MiB.
const FILE: u64 = 750 * 1024;

#[derive(Debug, Args)]
pub(in super::super) struct Route {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Add a route for requests whose URL matches a pattern; the newest matching route applies
    Add(Box<Add>),
    /// List routes
    List,
    /// Remove a route
    #[command(alias = "delete")]
    Remove {
        /// Route id, from `route list`
        id: String,
    },
    /// Remove all routes
    Clear,
}

/// The network errors of `--abort`.
const REASONS: [&str; 14] = [
    "failed",
    "aborted",
    "timedout",
    "accessdenied",
    "connectionclosed",
    "connectionreset",
    "connectionrefused",
    "connectionaborted",
    "connectionfailed",
    "namenotresolved",
    "internetdisconnected",
    "addressunreachable",
    "blockedbyclient",
    "blockedbyresponse",
];

const PATTERN: &str = "\
In a pattern, * matches anything except /, and ** matches anything:
  '**/api/*.json'         match the whole URL
  '/api/**'               match path and query on any host
  'cdn.example.com'       match everything on a host
The navigation policy takes precedence: a route cannot make a blocked address reachable.";

#[derive(Debug, Args)]
#[command(after_help = PATTERN)]
#[command(group = ArgGroup::new("outcome").required(true).multiple(true).args(["abort", "fulfil", "status", "request_header", "delay"]))]
struct Add {
    /// URL pattern, for example '**/api/*.json'
    #[arg(value_name = "PATTERN")]
    pattern: String,
    /// Fail the request with this error, for example --abort=timedout [default: failed]
    #[arg(
        long,
        value_name = "REASON",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "failed",
        value_parser = one_of::<AbortReason>(REASONS),
        conflicts_with_all = ["fulfil", "status", "header", "request_header", "content_type"]
    )]
    abort: Option<AbortReason>,
    /// Answer the request with this file, at most 750 KiB [alias: --fulfill]
    #[arg(long, value_name = "FILE", alias = "fulfill")]
    fulfil: Option<PathBuf>,
    /// Status of the answer; without --fulfil the body is empty [default: 200]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(200..=599))]
    status: Option<u16>,
    /// Header of the answer, for example X-Name=value; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = header)]
    header: Vec<(String, String)>,
    /// Content-Type of the answer [default: from the file extension]
    #[arg(long, value_name = "TYPE", requires = "fulfil")]
    content_type: Option<String>,
    /// Header to set in the request, for example X-Name=value; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = header, conflicts_with_all = ["fulfil", "status", "header"])]
    request_header: Vec<(String, String)>,
    /// Delay the request by this many milliseconds, at most 120000
    #[arg(long, value_name = "MS", value_parser = whole::<u64>(1..=120_000))]
    delay: Option<u64>,
    /// Match only requests with this method, for example POST [default: all]
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// Match only requests of this type, for example document, script, image or xhr [default: all]
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Remove the route after this many requests
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..))]
    times: Option<u32>,
    /// Match only requests of this tab: id (t1), label, target id or unique prefix of the target id [default: all tabs]
    #[arg(long, value_name = "TAB")]
    target: Option<String>,
}

impl Route {
    pub(super) fn call(&self, home: Option<&Home>) -> Result<Call, Failure> {
        Ok(match &self.what {
            What::Add(add) => Call::new(add.request(home)?, show::route_added),
            What::List => Call::new(Request::of(op::ROUTES), show::routes),
            What::Remove { id } => Call::new(Request::at(op::DELETE_ROUTE, &[id]), show::deleted_routes),
            What::Clear => Call::new(Request::of(op::DELETE_ROUTES), show::deleted_routes),
        })
    }
}

impl Add {
    fn request(&self, home: Option<&Home>) -> Result<Request, Failure> {
        if !self.header.is_empty() && self.fulfil.is_none() && self.status.is_none() {
            let problem = "--header sets a header of the answer, but the route does not answer; add --fulfil or --status, or use --request-header";
            return Err(Failure::usage(problem));
        }
        let route = api::AddRoute {
            pattern: self.pattern.clone(),
            target_id: self.target.clone(),
            abort: self.abort.map(api::Abort::Reason),
            fulfil: self.fulfil(home)?,
            status: self.status,
            headers: self.header.iter().cloned().collect(),
            request_headers: self.request_header.iter().cloned().collect(),
            delay_ms: self.delay,
            method: self.method.clone(),
            resource_type: self.kind.clone(),
            times: self.times,
        };
        Ok(Request::new(op::ADD_ROUTE, &route))
    }

    /// Reads the file; its content is sent, so that the server may be on another machine.
    fn fulfil(&self, home: Option<&Home>) -> Result<Option<api::Fulfil>, Failure> {
        let Some(path) = &self.fulfil else { return Ok(None) };
        let failed = |why: String| Failure::new(Code::PathRefused, format!("--fulfil {}: {why}", path.display()));
        let file = match home {
            Some(home) => upload::usable(path, home).map_err(failed)?,
            None => path.clone(),
        };
        let bytes = fs::metadata(&file).map_err(|problem| failed(problem.to_string()))?.len();
        if bytes > FILE {
            return Err(failed(format!("it has {bytes} bytes, more than the limit of {FILE}; give a smaller file")));
        }
        let body = fs::read(&file).map_err(|problem| failed(problem.to_string()))?;
        let content_type = self.content_type.clone().or_else(|| media_type(path).map(str::to_owned));
        Ok(Some(api::Fulfil { body_base64: Some(STANDARD.encode(body)), content_type, ..Default::default() }))
    }
}

/// Parses `NAME=VALUE` or `NAME: VALUE`.
fn header(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once([':', '=']).map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    parts.filter(|(name, _)| !name.is_empty()).ok_or_else(|| "give NAME=VALUE, for example X-Name=value".to_owned())
}
