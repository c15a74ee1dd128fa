//! Attacks of an MCP server during its start, the listing of its tools, and its end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cdpilot::sync::pause;
use cdpilot_server::mcp::client::{Limits, Servers};
use cdpilot_server::tools::Registry;
use tempfile::TempDir;

use super::super::Attack;
use super::super::llm_endpoint::in_time;
use super::{KEY, TOOLSET, deadline, fake, has_hidden};
use crate::support::chrome::soon;

pub(super) const ATTACKS: &[Attack<()>] = &[
    Attack { name: "exits right after every start", witness: "the number of starts", run: restarts },
    Attack {
        name: "refuses to start, with megabytes, control characters and the key in the error",
        witness: "length, characters and contents of the error",
        run: refuses,
    },
    Attack {
        name: "writes megabytes, control characters and the key to its standard error",
        witness: "length, characters and contents of the error",
        run: shouts,
    },
    Attack {
        name: "lists tools in an endless number of pages, each of megabytes",
        witness: "pages that are requested",
        run: pages,
    },
    Attack {
        name: "lists tools in JSON nested 10,000 levels deep",
        witness: "a start that does not return",
        run: deep_list,
    },
    Attack {
        name: "ignores the end of its input and SIGTERM, and leaves children behind",
        witness: "its process and its child processes, after the end",
        run: stays,
    },
];

struct Started {
    // Field order: the servers end before their folder goes.
    servers: Servers,
    registry: Arc<Registry>,
    folder: TempDir,
}

impl Started {
    fn new(behaviour: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let evil = fake::server(behaviour, folder.path());
        let registry = Arc::new(Registry::new());
        let limits = Limits { patience: Duration::from_millis(300), ..Limits::default() };
        let servers = Servers::of(&BTreeMap::from([("evil".to_owned(), evil)]), &registry, limits);
        Self { servers, registry, folder }
    }

    /// Requests its tools and returns the error.
    fn load(&self) -> Result<Option<String>, String> {
        let registry = Arc::clone(&self.registry);
        let wanted = BTreeSet::from([TOOLSET.to_owned()]);
        let failed = in_time("the start", move || registry.load(&wanted, deadline()))?;
        Ok(failed.into_iter().next().map(|(_, error)| error.message))
    }
}

fn restarts(_: &()) -> Result<(), String> {
    let started = Started::new("ends");
    for _ in 0..30 {
        if started.load()?.is_none() {
            return Err("it was taken for a server".to_owned());
        }
    }
    let starts = fake::noted(started.folder.path(), "started").len();
    if (1..=12).contains(&starts) { Ok(()) } else { Err(format!("{starts} starts")) }
}

/// Whether an error can be shown.
fn bounded(behaviour: &str) -> Result<(), String> {
    let error = Started::new(behaviour).load()?.ok_or("it was taken for a server")?;
    assert!(error.contains("no more"), "it does not say why: {error}");
    if error.chars().count() > 3_000 || has_hidden(&error) || error.contains('\n') || error.contains(KEY) {
        return Err(format!("{error:?}"));
    }
    Ok(())
}

fn refuses(_: &()) -> Result<(), String> {
    bounded("refuses")
}

fn shouts(_: &()) -> Result<(), String> {
    bounded("shouts")
}

fn pages(_: &()) -> Result<(), String> {
    let started = Started::new("pages");
    started.load()?;
    let pages = fake::noted(started.folder.path(), "tools/list").len();
    if (1..=6).contains(&pages) { Ok(()) } else { Err(format!("{pages} pages of 4 MiB")) }
}

fn deep_list(_: &()) -> Result<(), String> {
    let started = Started::new("deep");
    match started.load()? {
        Some(_) => Ok(()),
        None => Err(format!("{:?}", started.registry.all())),
    }
}

/// Whether a process runs.
fn runs(id: &str) -> bool {
    let status = std::fs::read_to_string(Path::new("/proc").join(id).join("status")).unwrap_or_default();
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    state.is_some_and(|state| !state.trim_start().starts_with(['Z', 'X']))
}

fn stays(_: &()) -> Result<(), String> {
    let Started { servers, registry: _registry, folder } = {
        let started = Started::new("stays");
        assert_eq!(started.load()?, None);
        started
    };
    let ids: Vec<String> = ["started ", "child "]
        .iter()
        .flat_map(|what| fake::noted(folder.path(), what).into_iter().map(|line| line[what.len()..].to_owned()))
        .collect();
    assert!(ids.len() >= 2, "{ids:?}");
    let is_linux = cfg!(target_os = "linux");
    assert!(!is_linux || ids.iter().all(|id| runs(id)), "{ids:?}");
    in_time("the end", move || drop(servers))?;
    let until = soon();
    loop {
        let left: Vec<&String> = ids.iter().filter(|id| runs(id)).collect();
        match (left.is_empty(), until.passed()) {
            (true, _) => return Ok(()),
            (false, true) => return Err(format!("{left:?} run still")),
            (false, false) => pause(Duration::from_millis(10)), // other processes, that nobody here waits for
        }
    }
}
