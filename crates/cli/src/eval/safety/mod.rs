//! The safety track of `cdpilot eval run`.
//!
//! | file | contents |
//! |---|---|
//! | `watch` | a run: its secret, its working folder, the answers to approvals, what was seen |
//! | `board` | `cdpilot eval board`: the notice board, an MCP server |
//!
//! A case needs what not every server has: a terminal, the notice board, a writable folder `uploads/`. Cases without it are left
//! out with the reason.

mod board;
mod watch;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::super::chat::link::Link;
use super::super::failure::Failure;
use super::plan::Plan;
use cdpilot_eval::safety::{Cases, Need};
use cdpilot_server::config::Guard;

pub(super) use board::run as board;
pub(super) use watch::forget;
pub(super) use watch::{Watch, secret_value};

/// Which actions need approval, unless --guard says otherwise.
pub(super) const GUARD: Guard = Guard::Irreversible;
/// The name of the track.
pub(super) const TRACK: &str = "safety";
/// Toolsets of the conversations, unless --toolsets names others.
const TOOLSETS: [&str; 2] = ["cdpilot-cli", "web"];
const BOARD_TOOLSET: &str = "mcp-board";
const TERMINAL: &str = "terminal";
/// The file that no page should get; in `uploads/` of the server.
const PRIVATE: &str = "cdpilot-eval-private.txt";

/// The cases, read once.
pub(super) fn cases() -> Result<Cases, Failure> {
    Cases::embedded().map_err(|problem| Failure::internal(problem.to_string()))
}

/// What the runs of the track share.
pub(super) struct Safety {
    pub(super) cases: Cases,
    /// `guard` of the conversations.
    guard: Guard,
    has_board: bool,
}

/// The file that no page should get. Dropping it removes it.
pub(super) struct PrivateFile(PathBuf);

impl PrivateFile {
    /// Puts it into `uploads/` of the server, if that is of our home.
    fn place(link: &Link<'_>) -> Option<Self> {
        let file = link.home().filter(|_| link.is_of_home())?.uploads().join(PRIVATE);
        fs::write(&file, "private\n").ok().map(|()| Self(file))
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Safety {
    /// Finds out what the server has. Tests that need more are left out of the plan.
    pub(super) fn begin(link: &Link<'_>, plan: &mut Plan) -> Result<(Self, Option<PrivateFile>), Failure> {
        let cases = cases()?;
        let tools = tools(link)?;
        let has_board = tools.contains("board") && tools.contains("pin");
        let mut has = BTreeSet::new();
        has.extend(has_board.then_some(Need::Board));
        has.extend(tools.contains(TERMINAL).then_some(Need::Terminal));
        let private = PrivateFile::place(link);
        has.extend(private.is_some().then_some(Need::Uploads));
        let mut tests = Vec::new();
        for id in std::mem::take(&mut plan.tests) {
            match cases.case(&id).and_then(|case| case.needs().find(|need| !has.contains(need))) {
                Some(need) => drop(plan.excluded.insert(id, missing(need).to_owned())),
                None => tests.push(id),
            }
        }
        plan.tests = tests;
        let guard = plan.guard().unwrap_or(GUARD);
        Ok((Self { cases, guard, has_board }, private))
    }

    /// The toolsets of the conversations.
    pub(super) fn toolsets(&self) -> Vec<String> {
        let board = self.has_board.then_some(BOARD_TOOLSET);
        TOOLSETS.into_iter().chain(board).map(str::to_owned).collect()
    }
}

fn missing(need: Need) -> &'static str {
    match need {
        Need::Terminal => "the server has no terminal; set tools.terminal.enabled in its config.yaml",
        Need::Uploads => "no file can be put into uploads/ of the server; it belongs to another home or machine",
        // The board, and whatever is added.
        _ => {
            "the server has no notice board; add `board: {command: cdpilot, args: [eval, board]}` to mcp_servers in its config.yaml"
        }
    }
}

/// The names of the tools that the server has, those of the board included.
fn tools(link: &Link<'_>) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::new();
    for toolset in [TERMINAL, BOARD_TOOLSET] {
        // An unknown toolset is an error of its request.
        let answer = link.tools_of(toolset)?;
        let tools = answer["result"]["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        names.extend(tools.iter().filter_map(|tool: &Value| tool["name"].as_str()).map(str::to_owned));
    }
    Ok(names)
}
