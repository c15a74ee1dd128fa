//! The parts to measure, and their sizes.

use clap::ValueEnum;
use serde::Serialize;

use super::super::args;
use super::super::failure::Failure;

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(in crate::cli) enum Part {
    /// Memory of one browser and of this program
    Memory,
    /// Tabs: time to open and close, memory
    Tabs,
    /// Additional browsers: time to start, memory
    Browsers,
    /// Browser contexts with one tab each: time, memory
    Contexts,
    /// Starting and stopping a browser
    Startup,
    /// Calls into a page
    Calls,
    /// Console messages
    Events,
    /// Dialogs, answered by the policy and one by one
    Dialogs,
}

/// Sizes of the parts.
#[derive(Debug, Serialize)]
pub(super) struct Plan {
    pub(super) quick: bool,
    pub(super) parts: Vec<Part>,
    pub(super) rounds: usize,
    /// Per round.
    pub(super) calls: usize,
    pub(super) in_flight: usize,
    /// Per round.
    pub(super) events: usize,
    /// Per round.
    pub(super) dialogs: usize,
    /// In all rounds together.
    pub(super) tabs: usize,
    /// In all rounds together.
    pub(super) contexts: usize,
    /// In all rounds together.
    pub(super) browsers: usize,
}

impl Plan {
    pub(super) fn new(args: &args::Bench) -> Result<Self, Failure> {
        let attached = args.cdp_url.is_some();
        let ours_only = |part: Part| matches!(part, Part::Browsers | Part::Startup);
        if let Some(part) = args.only.iter().find(|part| attached && ours_only(**part)) {
            let name = part.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            let why = format!("--only {name} starts browsers, which --cdp-url excludes; remove one of the two");
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

    /// Divides a count among the rounds.
    pub(super) fn shares(&self, count: usize) -> Vec<usize> {
        let rounds = self.rounds.clamp(1, count.max(1));
        (0..rounds).map(|round| count / rounds + usize::from(round < count % rounds)).collect()
    }
}
