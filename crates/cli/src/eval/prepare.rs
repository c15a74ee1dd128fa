//! What is decided before anything runs: the plan, its folder, and whether it can work.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::super::chat::link::Link;
use super::super::client::Request;
use super::super::failure::Failure;
use super::super::output::Out;
use super::args::Run;
use super::origins::Origins;
use super::plan::{Plan, Rates};
use super::record;
use super::run::{PLAN, REPLAY};
use super::safety;
use super::{inputs, results};
use cdpilot_eval::dataset::Dataset;
use cdpilot_eval::oracle::is_scripted;
use cdpilot_server::api::operations as op;

/// The file whose lock says that an evaluation works in its folder.
pub(super) const LOCK: &str = "lock";

/// A new evaluation.
pub(super) fn planned(args: &Run, out: &Out) -> Result<(Plan, Dataset), Failure> {
    let dataset = inputs::dataset(&args.inputs, &args.track, out)?;
    let mut tests: Vec<String> = Vec::new();
    let cases = (args.track == safety::TRACK).then(safety::cases).transpose()?;
    for id in &args.tests {
        let named = cases.as_ref().map(|cases| cases.named(id)).unwrap_or_default();
        if !named.is_empty() {
            tests.extend(named.into_iter().filter(|id| !tests.contains(id)).collect::<Vec<_>>());
            continue;
        }
        if dataset.test(id).is_none() {
            let hint = dataset.nearest(id).map_or_else(
                || format!("`cdpilot eval list --track {}` lists them", args.track),
                |near| format!("did you mean {near}?"),
            );
            return Err(Failure::usage(format!("there is no test {id:?}; {hint}")));
        }
        if !tests.contains(id) {
            tests.push(id.clone());
        }
    }
    if tests.is_empty() {
        tests = dataset.tests.iter().map(|test| test.id.clone()).collect();
    }
    let mut excluded = BTreeMap::new();
    tests.retain(|id| {
        let is_replay = dataset.test(id).is_some_and(|test| test.routine_file.is_some());
        // The tracks share their dataset: only those that were named are worth a word.
        let is_named = args.tests.contains(id);
        let belongs = args.track == safety::TRACK || is_replay == (args.track == REPLAY);
        if !belongs && is_named {
            let why =
                if is_replay { "it follows a routine: --track replay" } else { "it has no routine: --track browse" };
            excluded.insert(id.clone(), why.to_owned());
        }
        belongs
    });
    if tests.is_empty() {
        return Err(Failure::usage(
            "none of these tests belongs to the track; `cdpilot eval list` shows which follow a routine (--track replay)",
        ));
    }
    let plan = Plan {
        track: args.track.clone(),
        tests,
        models: args.model.clone(),
        repeat: args.repeat,
        toolsets: args.toolsets.clone(),
        guard: args.guard,
        confirm: args.confirm,
        registered_browser: args.browser_id.is_some(),
        rates: Rates::parse(&args.rate)?,
        excluded,
        dataset: absolute(args.inputs.dataset.as_deref()),
        sites: absolute(args.sites.as_deref()),
        stamp: String::new(),
    };
    Ok((plan, dataset))
}

/// An evaluation that was interrupted.
pub(super) fn resumed(folder: &Path, args: &Run, out: &Out) -> Result<(Plan, Dataset), Failure> {
    let (plan, dataset) = results::plan(folder, &args.inputs, out)?;
    if plan.registered_browser && args.browser_id.is_none() {
        return Err(Failure::usage(
            "the interrupted evaluation used --browser-id, which is not stored; start a new one with `cdpilot eval run --browser-id`",
        ));
    }
    let sites = absolute(args.sites.as_deref()).or_else(|| plan.sites.clone());
    Ok((Plan { sites, ..plan }, dataset))
}

fn absolute(folder: Option<&Path>) -> Option<PathBuf> {
    folder.map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()))
}

/// The folder of the results, with the plan. It belongs to this process as long as the lock is held.
pub(super) fn folder(args: &Run, plan: &mut Plan) -> Result<(PathBuf, File), Failure> {
    let failed = |what: &str, path: &Path, problem: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot {what} {}: {problem}", path.display()))
    };
    let root = match &args.resume {
        Some(folder) => folder.clone(),
        None => {
            fs::create_dir_all(&args.out).map_err(|problem| failed("create", &args.out, &problem))?;
            new_folder(&args.out, plan)?
        }
    };
    let file = root.join(LOCK);
    let lock = File::create(&file).map_err(|problem| failed("write", &file, &problem))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let problem = format!("another `cdpilot eval run` works in {}; wait until it ends", root.display());
            return Err(Failure::usage(problem));
        }
        Err(TryLockError::Error(problem)) => return Err(failed("lock", &file, &problem)),
    }
    record::write_json(&root.join(PLAN), plan)?;
    Ok((root, lock))
}

/// A folder that nobody else has: named after the time, and with a number if several begin in the same second.
fn new_folder(out: &Path, plan: &mut Plan) -> Result<PathBuf, Failure> {
    plan.stamp = record::stamp(SystemTime::now());
    let mut number = 1;
    loop {
        let name = if number == 1 { plan.stamp.clone() } else { format!("{}_{number}", plan.stamp) };
        let root = out.join(name);
        match fs::create_dir(&root) {
            Ok(()) => return Ok(root),
            Err(problem) if problem.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(problem) => return Err(Failure::usage(format!("cannot create {}: {problem}", root.display()))),
        }
    }
}

/// The toolsets that were given are known to the server.
pub(super) fn check_toolsets(link: &Link<'_>, plan: &Plan) -> Result<(), Failure> {
    for toolset in &plan.toolsets {
        let answer = link.tools_of(toolset)?;
        if let Some(problem) = answer["error"]["message"].as_str() {
            return Err(Failure::usage(format!("--toolsets {toolset}: {problem}")));
        }
    }
    Ok(())
}

/// A cost in another currency than the limit is compared only with a rate: without one, the limit has no effect.
pub(super) fn warn_of_currencies(link: &Link<'_>, plan: &Plan, dataset: &Dataset, out: &Out) -> Result<(), Failure> {
    let settings = link.ask(&Request::of(op::MODELS))?;
    for model in plan.models.iter().filter(|model| !is_scripted(model)) {
        let Some(currency) = settings["models"][model.as_str()]["price"]["currency"].as_str() else { continue };
        let cost = cdpilot_eval::Cost { amount: 1.0, currency: currency.to_owned() };
        let tests = plan.tests.iter().filter_map(|id| dataset.test(id));
        let without: Vec<&str> = tests
            .filter(|test| plan.rates.of_limit(&cost, test).is_none())
            .map(|test| test.currency.as_str())
            .collect();
        let Some(first) = without.first() else { continue };
        let others = without.iter().copied().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ");
        let wanted = if currency == "CNY" { *first } else { currency };
        out.warning(&format!(
            "warning: {model} has prices in {currency}, and the cost limits of {} tests are in {others}: they have no effect there, \
             and the usage is unknown; give a rate with --rate {wanted}=…",
            without.len()
        ));
    }
    Ok(())
}

/// Each start address names a site that is there.
pub(super) fn check_sites(plan: &Plan, dataset: &Dataset, origins: &Origins) -> Result<(), Failure> {
    let sites = origins.sites()?;
    for test in plan.tests.iter().filter_map(|id| dataset.test(id)) {
        let site = test.start_url.split('/').nth(1).unwrap_or_default();
        if !site.is_empty() && !sites.iter().any(|known| known == site) {
            return Err(Failure::usage(format!(
                "the test {} begins on the site {site:?}, which is not there; there are {}",
                test.id,
                sites.join(", ")
            )));
        }
    }
    Ok(())
}
