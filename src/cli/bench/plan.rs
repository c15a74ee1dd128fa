//! What is measured, and how much of it.

use clap::ValueEnum;
use serde::Serialize;

use super::super::args;
use super::super::failure::Failure;

/// A part of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(in crate::cli) enum Part {
    /// Memory of one browser, and ours beside it
    Memory,
    /// Tabs: time to open and close, memory
    Tabs,
    /// More browsers: time to start, memory
    Browsers,
    /// Browser contexts with a tab each: time, memory
    Contexts,
    /// The start and the end of a browser
    Startup,
    /// Calls into a page
    Calls,
    /// A flood of console messages
    Events,
    /// Dialogs, answered by the policy and by hand
    Dialogs,
}

/// How much is measured. Counts are for a whole part, or for each round where there are rounds.
#[derive(Debug, Serialize)]
pub(super) struct Plan {
    pub(super) quick: bool,
    pub(super) parts: Vec<Part>,
    pub(super) rounds: usize,
    /// A round.
    pub(super) calls: usize,
    pub(super) in_flight: usize,
    /// A round.
    pub(super) events: usize,
    /// A round.
    pub(super) dialogs: usize,
    /// All rounds together.
    pub(super) tabs: usize,
    /// All rounds together.
    pub(super) contexts: usize,
    /// All rounds together.
    pub(super) browsers: usize,
}

impl Plan {
    pub(super) fn new(args: &args::Bench) -> Result<Self, Failure> {
        let attached = args.cdp_url.is_some();
        let ours_only = |part: Part| matches!(part, Part::Browsers | Part::Startup);
        if let Some(part) = args.only.iter().find(|part| attached && ours_only(**part)) {
            let name = part.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            let why = format!("`--only {name}` starts browsers; leave --cdp-url out, or measure something else");
            return Err(Failure::usage(why));
        }
        let wanted = |part: &Part| args.only.is_empty() || args.only.contains(part);
        let parts = Part::value_variants().iter().copied();
        let parts = parts.filter(wanted).filter(|part| !(attached && ours_only(*part))).collect();
        let count = |wish: Option<u32>, usual: u32, quick: u32| {
            usize::try_from(wish.unwrap_or(if args.quick { quick } else { usual })).unwrap_or(usize::MAX)
        };
        Ok(Self {
            quick: args.quick,
            parts,
            rounds: count(args.rounds, 5, 3),
            calls: count(args.calls, 2000, 300),
            in_flight: count(args.in_flight, 64, 64),
            events: count(args.events, 50_000, 5000),
            dialogs: count(args.dialogs, 500, 60),
            tabs: count(args.tabs, 20, 6),
            contexts: count(args.contexts, 10, 3),
            browsers: count(args.browsers, 5, 2),
        })
    }

    pub(super) fn wants(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// A number of things shared out among the rounds.
    pub(super) fn shares(&self, count: usize) -> Vec<usize> {
        let rounds = self.rounds.clamp(1, count.max(1));
        (0..rounds).map(|round| count / rounds + usize::from(round < count % rounds)).collect()
    }
}
