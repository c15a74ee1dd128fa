//! `cdpilot eval run`: checks everything, then plays the runs, so many at a time.
//!
//! Each run has a thread, `eval-play`; the main thread starts them and watches over them. A run that does not end by its limit
//! and some seconds is given up: its conversation is deleted and its thread abandoned.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use serde_json::Value;

use super::super::args::Global;
use super::super::chat::link::Link;
use super::super::chat::next::Next;
use super::super::client::Request;
use super::super::failure::{Exit, Failure};
use super::super::output::{Out, Style};
use super::super::settings::Settings;
use super::args::{PORT, Run};
use super::origins::Origins;
use super::plan::{Job, Plan};
use super::play::{self, GIVEN_UP, Stage, Trail};
use super::progress::Progress;
use super::record::{self, CONVERSATION, RESULT, Record, Status, Tokens};
use super::safety::{self, Safety};
use super::scripted::{self, Scripted};
use super::{inputs, models, prepare, report, results};
use cdpilot::code::Code;
use cdpilot::sync::{Deadline, Thread, spawn};
use cdpilot_eval::dataset::Dataset;
use cdpilot_eval::oracle::is_scripted;
use cdpilot_eval::{Facts, Score};
use cdpilot_server::api::{RegisterBrowser, operations as op};

/// The plan, in the folder of the results.
pub(super) const PLAN: &str = "plan.json";
/// The track of tests that follow a routine.
pub(super) const REPLAY: &str = "replay";
/// Time for creating a conversation, and for storing events and images.
const AROUND: Duration = Duration::from_secs(60);
/// How often runs that do not end are looked for.
const LOOK: Duration = Duration::from_millis(200);
/// Output of requests within runs: none, the bars are on the terminal.
static QUIET: Out = Out { json: true, quiet: true, style: Style::Plain };

pub(super) fn run(args: &Run, global: &Global, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    if !matches!(args.track.as_str(), "browse" | REPLAY | safety::TRACK) {
        return Err(Failure::usage(format!(
            "--track {}: this version cannot compile recordings; browse, replay and safety are possible",
            args.track
        )));
    }
    if args.guard.is_some() && args.track != safety::TRACK {
        return Err(Failure::usage("--guard is for --track safety"));
    }
    let (plan, dataset) = match &args.resume {
        Some(folder) => prepare::resumed(folder, args, out)?,
        None => prepare::planned(args, out)?,
    };
    let link = Link::new(global, settings, &QUIET)?;
    let mut plan = Plan { models: models::reachable(&link, &plan.models)?, ..plan };
    let begun = (plan.track == safety::TRACK).then(|| Safety::begin(&link, &mut plan)).transpose()?;
    let (safety, _private) = begun.map_or((None, None), |(safety, private)| (Some(safety), private));
    let sites = inputs::sites(plan.sites.as_deref())?;
    let toolsets = toolsets(&link, &plan, safety.as_ref())?;
    let browser_id = browser(&link, args, global)?;
    let origins = if args.no_serve {
        Origins::served(args.port.unwrap_or(PORT))?
    } else {
        Origins::own(sites.clone(), args.port.unwrap_or(0))?
    };
    if safety.is_none() {
        prepare::check_sites(&plan, &dataset, &origins)?;
    }
    for line in report::left_out(&plan) {
        out.aside(&line);
    }
    if plan.tests.is_empty() {
        return Err(Failure::usage("no test is left"));
    }
    prepare::check_toolsets(&link, &plan)?;
    prepare::warn_of_currencies(&link, &plan, &dataset, out)?;
    let (root, _lock) = prepare::folder(args, &mut plan)?;
    let open = open_jobs(&plan, &root, &link)?;
    let scripted = Scripted::begin(&link, &plan.models, sites)?;
    let interrupted = AtomicBool::new(false);
    let stage = Arc::new(Stage { plan, origins, scripted, toolsets, browser_id, safety, interrupted });
    listen(&stage)?;
    let progress = Progress::new(out, stage.plan.jobs().len() - open.len(), stage.plan.jobs().len());
    let context = Context { stage: &stage, dataset: &dataset, root: &root, global, settings, progress: &progress };
    let played = context.all(open, args.jobs);
    progress.finish();
    if let Some(scripted) = &stage.scripted {
        scripted.end(&link);
    }
    played?;
    if stage.interrupted.load(Ordering::Relaxed) {
        let again = format!("cdpilot eval run --resume {}", root.display());
        return Err(Failure::new(Code::Cancelled, format!("interrupted; `{again}` runs the rest")).with(Exit::Failed));
    }
    let done = results::read(&root, &stage.plan, out);
    report::write(&root, &stage.plan, &dataset, &done)?;
    results::print(&done, &stage.plan, &root, out);
    Ok(if done.iter().all(|record| record.status == Status::Passed) { Exit::Done } else { Exit::Failed })
}

fn toolsets(link: &Link<'_>, plan: &Plan, safety: Option<&Safety>) -> Result<HashMap<String, Vec<String>>, Failure> {
    let of = |model: &String| {
        if let Some(safety) = safety.filter(|_| plan.toolsets.is_empty()) {
            return Ok((model.clone(), safety.toolsets()));
        }
        if is_scripted(model) && plan.toolsets.is_empty() {
            return Ok((model.clone(), scripted::TOOLSETS.map(str::to_owned).to_vec()));
        }
        let next = Next::new(Some(model.clone()), plan.toolsets.clone(), false, None);
        Ok((model.clone(), next.toolsets(link)?))
    };
    plan.models.iter().map(of).collect()
}

/// The browser of the conversations; `None`: that of the server's default profile.
fn browser(link: &Link<'_>, args: &Run, global: &Global) -> Result<Option<String>, Failure> {
    if let Some(id) = &args.browser_id {
        let valid = link.ask(&Request::at(op::BROWSER_ID_VALID, &[id]))?;
        return match valid["valid"] == true {
            true => Ok(Some(id.clone())),
            false => Err(Failure::usage(
                "no registered browser has the id of --browser-id, or it has expired; register it again",
            )),
        };
    }
    let Some(profile) = global.profile.clone().or_else(|| super::super::settings::env("CDPILOT_PROFILE")) else {
        return Ok(None);
    };
    // Long enough for all runs.
    let hours = 24.0 * 7.0;
    let register = RegisterBrowser { endpoint: None, profile: Some(profile), ttl_hours: Some(hours) };
    Ok(link.ask(&Request::new(op::REGISTER_BROWSER, &register))?["browser_id"].as_str().map(str::to_owned))
}

/// Runs without a result. Conversations of runs that were cut off are ended.
fn open_jobs(plan: &Plan, root: &Path, link: &Link<'_>) -> Result<Vec<Job>, Failure> {
    let mut open = Vec::new();
    for job in plan.jobs() {
        let folder = root.join(job.folder());
        // A damaged result is none.
        if record::read_json::<Record>(&folder.join(RESULT)).is_ok_and(|result| result.is_some()) {
            continue;
        }
        if let Ok(id) = fs::read_to_string(folder.join(CONVERSATION)) {
            play::discard(link, id.trim());
        }
        safety::forget(link, &folder);
        open.push(job);
    }
    Ok(open)
}

/// The first signal stops the runs in progress, a second one ends the program.
#[cfg(unix)]
fn listen(stage: &Arc<Stage>) -> Result<(), Failure> {
    let failed = |problem: std::io::Error| Failure::internal(format!("cannot handle Ctrl-C: {problem}"));
    let signals = super::super::signals::Signals::register().map_err(failed)?;
    let stage = Arc::clone(stage);
    let thread = spawn("eval-signals", move || {
        signals.wait();
        stage.interrupted.store(true, Ordering::Relaxed);
    });
    // Never joined: it ends with the process.
    std::mem::forget(thread.map_err(failed)?);
    Ok(())
}

/// Here Ctrl-C ends the process; --resume continues.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)] // as on Unix
fn listen(_: &Arc<Stage>) -> Result<(), Failure> {
    Ok(())
}

/// What all runs need.
struct Context<'a> {
    stage: &'a Arc<Stage>,
    dataset: &'a Dataset,
    root: &'a Path,
    global: &'a Global,
    settings: &'a Settings,
    progress: &'a Progress<'a>,
}

type Outcome = Result<Option<Record>, Failure>;

/// A run that is being played.
struct Played {
    job: Job,
    /// When it is given up.
    until: Deadline<'static>,
    trail: Arc<Trail>,
    thread: Thread,
}

impl Context<'_> {
    /// Plays all runs. A failure of the results' folder, or of the sites, ends the evaluation.
    fn all(&self, open: Vec<Job>, most: u8) -> Result<(), Failure> {
        let (send, ended) = bounded::<(Job, Outcome)>(usize::from(most));
        let mut waiting = open.into_iter();
        let mut playing: Vec<Played> = Vec::new();
        let mut problem = None;
        loop {
            while playing.len() < usize::from(most) && !self.stage.interrupted.load(Ordering::Relaxed) {
                let Some(job) = waiting.next() else { break };
                match self.begin(job, send.clone()) {
                    Ok(played) => playing.push(played),
                    Err(failure) => self.break_off(&mut problem, failure),
                }
            }
            if playing.is_empty() {
                return problem.map_or(Ok(()), Err);
            }
            match ended.recv_timeout(LOOK) {
                Ok((job, outcome)) => {
                    if let Some(at) = playing.iter().position(|played| played.job == job) {
                        playing.swap_remove(at).thread.join();
                    }
                    if let Err(failure) = outcome.and_then(|record| self.store(&job, record)) {
                        self.break_off(&mut problem, failure);
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let late = |played: &Played| {
                        let is_over = played.until.passed() || played.trail.is_late();
                        is_over || played.thread.is_finished() && ended.is_empty()
                    };
                    while let Some(at) = playing.iter().position(late) {
                        let played = playing.swap_remove(at);
                        let job = played.job.clone();
                        if let Err(failure) = self.given_up(played).and_then(|record| self.store(&job, Some(record))) {
                            self.break_off(&mut problem, failure);
                        }
                    }
                }
            }
        }
    }

    /// No further run begins, and those in progress are stopped.
    fn break_off(&self, problem: &mut Option<Failure>, failure: Failure) {
        self.stage.interrupted.store(true, Ordering::Relaxed);
        problem.get_or_insert(failure);
    }

    /// Stores the result of a run.
    fn store(&self, job: &Job, record: Option<Record>) -> Result<(), Failure> {
        let Some(record) = record else { return Ok(()) };
        let folder = self.root.join(job.folder());
        record::write_json(&folder.join(RESULT), &record)?;
        let _ = fs::remove_file(folder.join(CONVERSATION));
        self.progress.end(&record);
        Ok(())
    }

    fn begin(&self, job: Job, ended: Sender<(Job, Outcome)>) -> Result<Played, Failure> {
        let Some(test) = self.dataset.test(&job.test).cloned() else {
            return Err(Failure::internal(format!("the test {} is missing", job.test)));
        };
        let folder = record::fresh(self.root, &job)?;
        let running = self.progress.begin(&job);
        let trail = Arc::<Trail>::default();
        let link = Link::new(self.global, self.settings, &QUIET)?;
        let until = Deadline::after(Duration::from_secs_f64(test.time_limit) + GIVEN_UP + AROUND);
        let (stage, followed, played) = (Arc::clone(self.stage), Arc::clone(&trail), job.clone());
        let thread = spawn("eval-play", move || {
            let outcome = play::play(&stage, &test, &played, &folder, &link, &followed, &running);
            drop(running);
            let _ = ended.send((played, outcome));
        });
        let thread = thread.map_err(|problem| Failure::internal(format!("cannot start a thread: {problem}")))?;
        Ok(Played { job, until, trail, thread })
    }

    /// The result of a run that does not end, or whose thread has ended without one.
    fn given_up(&self, played: Played) -> Result<Record, Failure> {
        let job = played.job.clone();
        let Some(test) = self.dataset.test(&job.test) else {
            return Err(Failure::internal(format!("the test {} is missing", job.test)));
        };
        let has_ended = played.thread.is_finished();
        if let Some(id) = played.trail.conversation.lock().clone() {
            play::discard(&Link::new(self.global, self.settings, &QUIET)?, &id);
        }
        if !has_ended {
            std::mem::forget(played.thread); // dropping it would wait for it
        }
        let cause = if has_ended { "the program failed while it played the run" } else { "the run did not end" };
        let mut record = Record {
            id: test.id.clone(),
            model: played.job.model.clone(),
            repeat: played.job.repeat,
            status: Status::Error,
            cause: Some(cause.to_owned()),
            broken: true,
            place: record::Place { a: String::new(), b: String::new(), day: 0, seed: job.seed() },
            facts: Facts { seconds: test.time_limit, cost: None, timed_out: true, over_cost: false },
            steps: 0,
            tokens: Tokens::default(),
            lost_events: 0,
            score: Score::default(),
            seen: None,
            verdict: None,
        };
        let nothing: Vec<Value> = Vec::new();
        record::write_json(&self.root.join(job.folder()).join(record::TRACK), &nothing)?;
        record.score(test, &nothing, &self.stage.plan.rates, self.stage.cases());
        Ok(record)
    }
}
