//! The official clients and example servers of the Model Context Protocol, as `scripts/ensure-mcp-peers.sh` installs them.

use std::path::PathBuf;
use std::process::Command;

/// Their location.
#[derive(Debug, Clone)]
pub struct Peers {
    place: PathBuf,
}

impl Peers {
    /// `None` if they are not installed; `CDPILOT_REQUIRE_PEERS=1` turns that into a failure.
    pub fn find() -> Option<Self> {
        let named = std::env::var_os("CDPILOT_PEERS").map(PathBuf::from);
        let place = named.unwrap_or_else(|| crate::root().join("target/mcp-peers"));
        if place.join("stamp").is_file() {
            return Some(Self { place });
        }
        let required = std::env::var_os("CDPILOT_REQUIRE_PEERS").is_some_and(|value| value == "1");
        assert!(!required, "no MCP peers in {}; run scripts/ensure-mcp-peers.sh", place.display());
        println!("left out: no MCP peers in {}; run scripts/ensure-mcp-peers.sh", place.display());
        None
    }

    /// A Python with the official SDK that supports 2026-07-28 and earlier revisions.
    pub fn python(&self) -> PathBuf {
        self.place.join("python/bin/python")
    }

    /// A Python with the last official SDK before that.
    pub fn legacy_python(&self) -> PathBuf {
        self.place.join("python-legacy/bin/python")
    }

    /// The Node for the npm packages.
    pub fn node(&self) -> PathBuf {
        self.place.join("python/bin/node")
    }

    /// The script of a package from npm, by what `node_modules/.bin` calls it: `mcp-inspector`,
    /// `mcp-server-everything`, `mcp-server-filesystem`. To be run by [`node`](Self::node).
    pub fn script(&self, name: &str) -> PathBuf {
        self.place.join("node/node_modules/.bin").join(name)
    }

    /// A command that runs such a script. Node is in its `PATH`, since some start others.
    pub fn run(&self, script: &str) -> Command {
        let mut command = Command::new(self.node());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(self.place.join("python/bin")).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(all).unwrap()).arg(self.script(script));
        command
    }
}
