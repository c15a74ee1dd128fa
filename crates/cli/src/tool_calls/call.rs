//! Calls tools through the server's MCP route. See <https://modelcontextprotocol.io/specification/2026-07-28>.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::args::Global;
use super::super::client::{Request, ServerAddress, of_answer};
use super::super::connect::{Connector, reach};
use super::super::failure::{Exit, Failure};
use super::super::output::{Out, WaitIndicator, clean};
use super::super::settings::Settings;
use super::describe::Described;
use cdpilot::code::Code;
use cdpilot_server::api::{McpQuery, operations as op};
use cdpilot_server::config::{Home, nearest};
use cdpilot_server::mcp::{Fault, MODERN};

/// The server's limit for a call.
const SERVER_LIMIT: Duration = Duration::from_secs(120);
/// How much longer than that to wait for the answer.
const SLACK: Duration = Duration::from_secs(10);

/// Client of the server's tools.
pub(super) struct ToolClient<'a> {
    connector: Connector,
    found: ServerAddress,
    toolsets: String,
    patience: Duration,
    out: &'a Out,
}

impl<'a> ToolClient<'a> {
    pub(super) fn new(
        global: &Global,
        settings: &Settings,
        toolsets: &[String],
        out: &'a Out,
    ) -> Result<Self, Failure> {
        let connector = Connector::new(global)?;
        let found = connector.find()?;
        let patience = settings.timeout(SERVER_LIMIT + SLACK);
        Ok(Self { connector, found, toolsets: toolsets.join(","), patience, out })
    }

    pub(super) fn home(&self) -> Option<&Home> {
        self.connector.home.as_ref()
    }

    /// Calls a tool; the result is in the form for models.
    pub(super) fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<Value, Failure> {
        let can_be = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(can_be) {
            return Err(unknown(name, &[], None));
        }
        match self.ask("tools/call", json!({ "name": name, "arguments": arguments }), Some(name))? {
            Ok(result) => Ok(result),
            Err(fault) if fault.code == Fault::INVALID_PARAMS => {
                let listed = self.list()?;
                match listed.iter().any(|tool| tool.name == name) {
                    true => Err(Failure::usage(clean(&fault.message))),
                    false => Err(self.missing(name, &listed)),
                }
            }
            Err(fault) => Err(failure_of(&fault)),
        }
    }

    /// The description of a tool.
    pub(super) fn find(&self, name: &str) -> Result<Described, Failure> {
        let listed = self.list()?;
        match listed.iter().position(|tool| tool.name == name) {
            Some(at) => Ok(listed.into_iter().nth(at).unwrap_or_default()),
            None => Err(self.missing(name, &listed)),
        }
    }

    fn list(&self) -> Result<Vec<Described>, Failure> {
        let result = self.ask("tools/list", json!({}), None)?.map_err(|fault| failure_of(&fault))?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let described = |tool: &Value| Described {
            name: text(&tool["name"]),
            description: text(&tool["description"]),
            schema: tool["inputSchema"].clone(),
        };
        Ok(result["tools"].as_array().into_iter().flatten().map(described).collect())
    }

    /// The error for a tool that is not offered, with the reason.
    fn missing(&self, name: &str, listed: &[Described]) -> Failure {
        let why = super::catalog().ok().and_then(|(catalog, config)| catalog.why_not(&config, name));
        let why = match self.toolsets.as_str() {
            "" => why,
            toolsets => why.map(|_| format!("it is not in the toolsets given by --toolsets ({toolsets})")),
        };
        unknown(name, listed, why)
    }

    fn ask(&self, method: &str, params: Value, name: Option<&str>) -> Result<Result<Value, Fault>, Failure> {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "cdpilot-tool", "version": env!("CARGO_PKG_VERSION") },
        });
        let toolsets = Some(self.toolsets.clone()).filter(|list| !list.is_empty());
        let query = McpQuery { toolsets, platform: Some("cli".to_owned()) };
        let mut request = Request::new(op::MCP, &query)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", method);
        if let Some(name) = name {
            request = request.header("mcp-name", name);
        }
        let request = request.message(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        let request = self.connector.with_session(self.connector.with_profile(request));
        let _waiting = WaitIndicator::start(self.out);
        let answer = reach(&self.connector, self.found.clone(), true, |client| client.call(&request, self.patience))?;
        if answer.value["jsonrpc"] != "2.0" {
            let none = || {
                Failure::internal(
                    "the server returned an invalid response; it may be of another version: restart it with `cdpilot serve --stop`",
                )
            };
            return Err(of_answer(&answer).unwrap_or_else(none));
        }
        if let Some(result) = answer.value.get("result") {
            return Ok(Ok(result.clone()));
        }
        let error = &answer.value["error"];
        let message = error["message"].as_str().unwrap_or("the server reported no reason").to_owned();
        Ok(Err(Fault { code: error["code"].as_i64().unwrap_or_default(), message, data: None }))
    }
}

/// A JSON-RPC error as a failure.
fn failure_of(fault: &Fault) -> Failure {
    let message = clean(&fault.message).into_owned();
    match fault.code {
        Fault::INVALID_PARAMS => Failure::usage(message),
        _ => Failure::internal(message),
    }
}

fn unknown(name: &str, listed: &[Described], why: Option<String>) -> Failure {
    let what = match why {
        Some(why) => format!("cannot call {name}: {why}"),
        None => {
            let near = nearest(name, listed.iter().map(|tool| tool.name.as_str()));
            let hint = near.map(|near| format!("did you mean {near}?"));
            let hint = hint.unwrap_or_else(|| "`cdpilot tool` lists the tools".to_owned());
            format!("there is no tool {name:?}; {hint}")
        }
    };
    Failure::new(Code::NotFound, what).with(Exit::Usage)
}
