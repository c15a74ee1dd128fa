//! Model, toolsets and browser of the next conversation.

use serde_json::Value;

use super::super::client::Request;
use super::super::failure::{Exit, Failure};
use super::link::Link;
use cdpilot::code::Code;
use cdpilot_server::api::{CreateConversation, RegisterBrowser, operations as op};
use cdpilot_server::config::Guard;

/// Toolsets for a model that sees.
const SEEING: [&str; 3] = ["visual", "todo", "clarify"];
/// Toolsets for a model that does not see.
const BLIND: [&str; 3] = ["browser", "todo", "clarify"];

/// What the next conversation is created with.
#[derive(Debug, Clone)]
pub(in super::super) struct Next {
    pub(super) model: Option<String>,
    /// Empty: the default for the model.
    pub(super) toolsets: Vec<String>,
    share_login: bool,
    /// Names of the secrets that it may type.
    secrets: Vec<String>,
    /// Patterns of the hosts that its browser may reach; empty: all.
    hosts: Vec<String>,
    /// Which actions need approval.
    guard: Option<Guard>,
    /// Profile of the browser, when one was chosen.
    profile: Option<String>,
    /// The browser that was connected: its id and its address without secrets.
    pub(super) browser: Option<(String, String)>,
}

impl Next {
    pub(in super::super) fn new(
        model: Option<String>,
        toolsets: Vec<String>,
        share_login: bool,
        profile: Option<String>,
    ) -> Self {
        Self {
            model,
            toolsets,
            share_login,
            secrets: Vec::new(),
            hosts: Vec::new(),
            guard: None,
            profile,
            browser: None,
        }
    }

    /// The same with the names of secrets that it may type, the hosts that its browser may reach, and which actions need approval.
    pub(super) fn limited(self, secrets: Vec<String>, hosts: Vec<String>, guard: Option<Guard>) -> Self {
        Self { secrets, hosts, guard, ..self }
    }

    /// The toolsets, with the default for the model.
    pub(in super::super) fn toolsets(&self, link: &Link<'_>) -> Result<Vec<String>, Failure> {
        if !self.toolsets.is_empty() {
            return Ok(self.toolsets.clone());
        }
        let settings = link.ask(&Request::of(op::SETTINGS))?;
        let chosen = self.model.as_deref().or_else(|| settings["agent"]["model"].as_str()).unwrap_or("default");
        let is_chosen = |model: &&Value| match chosen {
            "default" => model["is_default"] == true,
            alias => model["alias"] == *alias,
        };
        let sees = settings["llm_configs"].as_array().and_then(|all| all.iter().find(is_chosen));
        let sees = sees.is_none_or(|model| model["vision"] != false);
        Ok((if sees { SEEING } else { BLIND }).map(str::to_owned).to_vec())
    }

    /// Creates a conversation. Returns its id. An unknown model or toolset is a usage error.
    pub(super) fn create(&self, link: &Link<'_>) -> Result<String, Failure> {
        let toolsets = self.toolsets(link)?;
        let browser = match (&self.browser, &self.profile) {
            (Some((id, _)), _) => Some(id.clone()),
            (None, Some(profile)) => {
                let register = RegisterBrowser { profile: Some(profile.clone()), ..Default::default() };
                let registered = link.ask(&Request::new(op::REGISTER_BROWSER, &register))?;
                registered["browser_id"].as_str().map(str::to_owned)
            }
            (None, None) => None,
        };
        let conversation = CreateConversation {
            model: self.model.clone(),
            browser_id: browser,
            toolsets,
            share_login: self.share_login,
            guard: self.guard,
            hosts: (!self.hosts.is_empty()).then(|| self.hosts.clone()),
            secrets: self.secrets.clone(),
            ..Default::default()
        };
        let created =
            link.ask(&Request::new(op::CREATE_CONVERSATION, &conversation)).map_err(|failure| {
                match failure.kind() {
                    Some(Code::UnknownToolset) => failure.with(Exit::Usage),
                    _ => failure,
                }
            })?;
        Ok(created["conversation_id"].as_str().unwrap_or_default().to_owned())
    }
}
