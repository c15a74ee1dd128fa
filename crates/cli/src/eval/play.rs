//! One run: a fresh conversation, its events, its limits.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::super::chat::link::image;
use super::super::chat::link::{Item, Link};
use super::super::client::Request;
use super::super::failure::Failure;
use super::super::files::{Readers, write};
use super::super::output::one_line;
use super::inputs;
use super::origins::{Origin, Origins};
use super::plan::{Job, Plan};
use super::progress::Running;
use super::record::{CONVERSATION, EVENTS, Record, Status, TRACK, Tokens, write_json};
use super::safety::{Safety, Watch, secret_value};
use super::scripted::Scripted;
use cdpilot::code::Code;
use cdpilot::sync::{Deadline, pause};
use cdpilot_eval::dataset::Test;
use cdpilot_eval::oracle::is_scripted;
use cdpilot_eval::safety::Cases;
use cdpilot_eval::{Cost, Facts, Score};
use cdpilot_server::api::{CreateConversation, SendMessage, operations as op};
use cdpilot_server::config::{Confirm, Guard};

/// How often interruption is looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long a stopped run may take to say that it has ended.
const STOPPING: Duration = Duration::from_secs(5);
/// How long the last events of pages are waited for, at most; after a time-out less.
const FLUSH: Duration = Duration::from_secs(3);
const FLUSH_LATE: Duration = Duration::from_secs(1);
/// Without a new event for this long, there are no more.
const QUIET: Duration = Duration::from_millis(400);
/// How long after its limit a run is given up.
pub(super) const GIVEN_UP: Duration = Duration::from_secs(10);
/// How often a lost stream is opened again without a new event, and the pause before each time.
const RECONNECTS: u32 = 5;
const RECONNECT_PAUSE: Duration = Duration::from_millis(300);
/// Longest text of a cause, in characters.
const MAX_CAUSE: usize = 300;

/// What all runs of an evaluation share.
pub(super) struct Stage {
    pub(super) plan: Plan,
    pub(super) origins: Origins,
    /// Models of the program itself.
    pub(super) scripted: Option<Scripted>,
    /// The toolsets of each model.
    pub(super) toolsets: HashMap<String, Vec<String>>,
    /// The id of a registered browser.
    pub(super) browser_id: Option<String>,
    /// Of the safety track.
    pub(super) safety: Option<Safety>,
    /// Set when the evaluation is interrupted.
    pub(super) interrupted: AtomicBool,
}

impl Stage {
    /// The cases of the safety track.
    pub(super) fn cases(&self) -> Option<&Cases> {
        self.safety.as_ref().map(|safety| &safety.cases)
    }

    /// The name of a model in the settings of the server.
    fn alias(&self, model: &str) -> String {
        self.scripted.as_ref().map_or_else(|| model.to_owned(), |scripted| scripted.alias(model))
    }
}

/// What a watchdog has to know of a run that does not end.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// The conversation, once there is one.
    pub(super) conversation: Mutex<Option<String>>,
    /// While the model works: when the run is given up.
    given_up: Mutex<Option<Deadline<'static>>>,
}

impl Trail {
    /// Whether the model should have been stopped long ago.
    pub(super) fn is_late(&self) -> bool {
        self.given_up.lock().is_some_and(Deadline::passed)
    }
}

/// What was read from the stream of a conversation.
#[derive(Default)]
struct Watched {
    events: Vec<Value>,
    last: u64,
    steps: u64,
    tokens: Tokens,
    cost: Option<Cost>,
    cause: Option<String>,
    broken: bool,
    timed_out: bool,
    over_cost: bool,
    stopped: bool,
    /// What the program said last of the requests to the model, for example that it repeats one.
    notice: Option<String>,
}

/// Plays a run. `None`: it was interrupted, and has no result.
pub(super) fn play(
    stage: &Stage,
    test: &Test,
    job: &Job,
    folder: &Path,
    link: &Link<'_>,
    trail: &Trail,
    running: &Running,
) -> Result<Option<Record>, Failure> {
    let secret = stage.safety.is_some().then(secret_value);
    let origin = stage.origins.begin(job.seed(), secret.as_deref())?;
    let watch = match (&stage.safety, &secret) {
        (Some(safety), Some(secret)) => {
            if let Some(scripted) = &stage.scripted {
                scripted.look_for(secret);
            }
            let watch = Watch::begin(safety, &test.id, &origin.place, secret, folder, link);
            Some(Mutex::new(watch.inspect_err(|_| stage.origins.end(&origin))?))
        }
        _ => None,
    };
    let playing = Playing { stage, test, job, folder, link, trail, running, origin: &origin, watch };
    let played = playing.play();
    playing.let_go();
    if let Some(watch) = &playing.watch {
        watch.lock().end(link);
    }
    stage.origins.end(&origin);
    played
}

/// Ends a conversation, with its tabs.
pub(super) fn discard(link: &Link<'_>, id: &str) {
    let request = Request::at(op::DELETE_CONVERSATION, &[id]);
    // A run that is being stopped is in the way for a moment.
    for _ in 0..3 {
        match link.ask(&request) {
            Err(failure) if failure.kind() == Some(Code::Conflict) => pause(Duration::from_millis(500)),
            _ => return,
        }
    }
}

struct Playing<'a> {
    stage: &'a Stage,
    test: &'a Test,
    job: &'a Job,
    folder: &'a Path,
    link: &'a Link<'a>,
    trail: &'a Trail,
    running: &'a Running,
    origin: &'a Origin,
    /// Of the safety track.
    watch: Option<Mutex<Watch<'a>>>,
}

impl Playing<'_> {
    fn play(&self) -> Result<Option<Record>, Failure> {
        let mut watched = Watched::default();
        let mut seconds = 0.0;
        match self.converse() {
            Ok(id) => {
                let began = Instant::now();
                let limit = Duration::from_secs_f64(self.test.time_limit);
                *self.trail.given_up.lock() = Some(Deadline::after(limit + GIVEN_UP));
                self.watch(&id, &mut watched, Deadline::after(limit))?;
                *self.trail.given_up.lock() = None;
                if self.is_interrupted() {
                    return Ok(None);
                }
                seconds = if watched.timed_out { self.test.time_limit } else { began.elapsed().as_secs_f64() };
            }
            Err(failure) => {
                watched.broken = true;
                watched.cause = Some(format!("no conversation: {}", failure.error));
            }
        }
        let seen = self.watch.as_ref().map(|watch| {
            let watch = watch.lock();
            let mut seen = watch.seen(&watched.events);
            let scripted = self.stage.scripted.as_ref();
            seen.secret_received = scripted.is_some_and(|scripted| scripted.has_received(watch.secret()));
            seen
        });
        self.keep(&mut watched)?;
        // A page in the background may be slow to send its events; when its tab is closed, it sends the rest.
        self.let_go();
        let (tracked, lost_events) = self.settled(watched.timed_out)?;
        write_json(&self.folder.join(TRACK), &tracked)?;
        let Watched { steps, tokens, cost, cause, broken, timed_out, over_cost, .. } = watched;
        let mut record = Record {
            id: self.test.id.clone(),
            model: self.job.model.clone(),
            repeat: self.job.repeat,
            status: Status::Failed,
            cause: cause.map(|cause| shortened(&cause)),
            broken,
            place: self.origin.place.clone(),
            facts: Facts { seconds: (seconds * 1000.0).round() / 1000.0, cost, timed_out, over_cost },
            steps,
            tokens,
            lost_events,
            score: Score::default(),
            seen,
            verdict: None,
        };
        record.score(self.test, &tracked, &self.stage.plan.rates, self.stage.cases());
        Ok(Some(record))
    }

    fn is_interrupted(&self) -> bool {
        self.stage.interrupted.load(Ordering::Relaxed)
    }

    /// Creates the conversation.
    fn converse(&self) -> Result<String, Failure> {
        if let Some(scripted) = &self.stage.scripted {
            scripted.keep(self.link)?;
        }
        let toolsets = self.stage.toolsets.get(&self.job.model).cloned();
        let conversation = match &self.watch {
            Some(watch) => watch.lock().conversation(),
            None => CreateConversation { guard: Some(Guard::Off), ..Default::default() },
        };
        let conversation = CreateConversation {
            model: Some(self.stage.alias(&self.job.model)),
            browser_id: self.stage.browser_id.clone(),
            toolsets: toolsets.unwrap_or_default(),
            // The oracle finds icons by the pictures of previews.
            confirm: self.stage.plan.confirm.or_else(|| is_scripted(&self.job.model).then_some(Confirm::Always)),
            mode: self.test.routine_file.is_some().then(|| "routine_replay".to_owned()),
            ..conversation
        };
        let created = self.link.ask(&Request::new(op::CREATE_CONVERSATION, &conversation))?;
        let id = created["conversation_id"].as_str().unwrap_or_default().to_owned();
        // After a crash of this program, the conversation is found and ended.
        let _ = write(&self.folder.join(CONVERSATION), Readers::Usual, id.as_bytes());
        *self.trail.conversation.lock() = Some(id.clone());
        Ok(id)
    }

    /// Sends the task and follows the run to its end.
    fn watch(&self, id: &str, watched: &mut Watched, deadline: Deadline<'_>) -> Result<(), Failure> {
        let places = self.origin.place.places();
        let filled = |text: &str| places.fill(text).map_or_else(|_| text.to_owned(), |text| text.into_owned());
        let addition = self.watch.as_ref().map(|watch| watch.lock().addition()).unwrap_or_default();
        let text = match &self.test.routine_file {
            Some(file) => {
                // Other placeholders are inputs, secrets and values of the routine.
                let text = inputs::routine(self.stage.plan.dataset.as_deref(), file)?;
                ["{{a}}", "{{b}}"].iter().fold(text, |text, place| text.replace(place, &filled(place)))
            }
            None => format!("Open {}.\n\n{}{addition}", filled(&self.test.start_url), filled(&self.test.instruction)),
        };
        let stop = Request::at(op::STOP_RUN, &[id]);
        let message = Request::at(op::SEND_MESSAGE, &[id]).and(&SendMessage { text, browser_id: None });
        let mut stream = match self.link.open(&message) {
            Ok(stream) => stream,
            Err(failure) => {
                watched.broken = true;
                watched.cause = Some(failure.error);
                return Ok(());
            }
        };
        let mut reconnects = 0;
        let mut until = deadline;
        loop {
            if self.is_interrupted() {
                let _ = self.link.ask(&stop);
                return Ok(());
            }
            match next(&stream, until) {
                Some(Item::Event { id, name, data }) => {
                    if id.is_some_and(|id| id > watched.last) {
                        reconnects = 0;
                    }
                    if self.take(watched, id, &name, data) {
                        return Ok(());
                    }
                    if (watched.over_cost || watched.cause.is_some()) && !watched.stopped {
                        self.stop(watched, &stop);
                        until = Deadline::after(STOPPING);
                    }
                }
                Some(Item::Alive) => {}
                Some(Item::Closed) => {
                    // A server that was started again repeats what is over, and ends the stream.
                    reconnects += 1;
                    pause(RECONNECT_PAUSE.min(until.left()));
                    let rest = Request::at(op::CONVERSATION_STREAM, &[id]);
                    let rest = rest.header("last-event-id", watched.last);
                    let opened = if reconnects > RECONNECTS { None } else { Some(self.link.open(&rest)) };
                    match opened {
                        Some(Ok(opened)) => stream = opened,
                        Some(Err(_)) if !until.passed() => pause(Duration::from_secs(1).min(until.left())),
                        _ => {
                            watched.broken = true;
                            watched.cause = Some("the connection to the server was lost".to_owned());
                            return Ok(());
                        }
                    }
                }
                None if !until.passed() => {}
                None if watched.stopped => return Ok(()),
                None => {
                    watched.timed_out = true;
                    watched.cause = Some(format!("the time limit of {} s passed", self.test.time_limit));
                    if watched.steps == 0 && watched.tokens == Tokens::default() {
                        watched.broken = true;
                        watched.cause = Some(match &watched.notice {
                            Some(notice) => format!("the model did not answer in time: {notice}"),
                            None => "the model did not answer in time".to_owned(),
                        });
                    }
                    self.stop(watched, &stop);
                    until = Deadline::after(STOPPING);
                }
            }
        }
    }

    fn stop(&self, watched: &mut Watched, stop: &Request) {
        watched.stopped = true;
        // A run that has just ended cannot be stopped.
        let _ = self.link.ask(stop);
    }

    /// Takes an event. Whether the run is over.
    fn take(&self, watched: &mut Watched, id: Option<u64>, name: &str, data: Value) -> bool {
        let Some(id) = id else { return false };
        if id <= watched.last {
            return false;
        }
        watched.last = id;
        let kind = data["type"].as_str().unwrap_or_default();
        let mut is_over = false;
        match name {
            "agent_event" if kind == "ActionEvent" => {
                watched.steps += 1;
                self.running.says(format!("step {}", watched.steps));
            }
            "agent_event" if kind == "SystemEvent" => {
                watched.notice = data["text"].as_str().map(one_line);
            }
            "usage_metrics" => self.count(watched, &data["metrics"]),
            "help_request" if !watched.stopped && data["kind"] == "approval" && self.watch.is_some() => {
                self.decide(watched, &data);
            }
            "help_request" if !watched.stopped => {
                let question = one_line(data["message"].as_str().unwrap_or_default());
                watched.cause = Some(format!("the model asked a person: {question}"));
            }
            "error" => {
                let problem = one_line(data["error"].as_str().or(data["text"].as_str()).unwrap_or("the run failed"));
                // At the limit of steps it is the model that has not finished.
                watched.broken |= data["code"].as_str().and_then(Code::parse) != Some(Code::Conflict);
                watched.cause.get_or_insert(problem);
                is_over = true;
            }
            "complete" => {
                if data["stopped"] == true && !watched.stopped {
                    watched.broken = true;
                    watched.cause = Some("the run was stopped, but not by the evaluation".to_owned());
                }
                is_over = true;
            }
            _ => {}
        }
        watched.events.push(json!({ "id": id, "event": name, "data": data }));
        is_over
    }

    /// Answers a request for approval, in the safety track.
    fn decide(&self, watched: &mut Watched, question: &Value) {
        let Some(watch) = &self.watch else { return };
        let decision = watch.lock().decide(question);
        let answer = self.conversation().map(|id| {
            let answer = json!({ "approval_id": question["approval_id"], "decision": decision });
            self.link.ask(&Request::at(op::ANSWER_QUESTION, &[&id]).and(&answer))
        });
        if let Some(Err(failure)) = answer {
            watched.cause = Some(format!("an approval could not be answered: {}", failure.error));
            watched.broken = true;
        }
        if watch.lock().asks_too_often() {
            watched.cause = Some("a person was asked too often".to_owned());
        }
    }

    fn conversation(&self) -> Option<String> {
        self.trail.conversation.lock().clone()
    }

    fn count(&self, watched: &mut Watched, metrics: &Value) {
        let tokens = &metrics["accumulated_token_usage"];
        let count = |name: &str| tokens[name].as_u64().unwrap_or_default();
        watched.tokens = Tokens {
            prompt: count("prompt_tokens"),
            cached: count("cache_read_tokens"),
            completion: count("completion_tokens"),
        };
        watched.cost = metrics["accumulated_cost"].as_f64().and_then(|amount| {
            let currency = metrics["currency"].as_str()?.to_owned();
            Some(Cost { amount, currency })
        });
        let spent = watched.cost.as_ref().and_then(|cost| self.stage.plan.rates.of_limit(cost, self.test));
        if spent.is_some_and(|spent| spent > self.test.cost_limit) && !watched.over_cost {
            watched.over_cost = true;
            watched.cause =
                Some(format!("the cost limit of {} {} was exceeded", self.test.cost_limit, self.test.currency));
        }
    }

    /// The events of the pages, once no more arrive.
    fn settled(&self, timed_out: bool) -> Result<(Vec<Value>, u64), Failure> {
        let limit = Deadline::after(if timed_out { FLUSH_LATE } else { FLUSH });
        let mut events = self.stage.origins.events(self.origin)?;
        let mut since = Instant::now();
        while !limit.passed() && since.elapsed() < QUIET && !self.is_interrupted() {
            pause(POLL_INTERVAL);
            let now = self.stage.origins.events(self.origin)?;
            if now.0.len() != events.0.len() {
                (events, since) = (now, Instant::now());
            }
        }
        Ok(events)
    }

    /// Ends the conversation, with its tabs.
    fn let_go(&self) {
        let id = self.trail.conversation.lock().take();
        if let Some(id) = id {
            discard(self.link, &id);
        }
    }

    /// Stores events and images of the conversation.
    fn keep(&self, watched: &mut Watched) -> Result<(), Failure> {
        let mut number = 0;
        for event in &mut watched.events {
            let Some(path) = event["data"]["image"].as_str().map(str::to_owned) else { continue };
            // Only the last ones of a conversation are kept.
            let Some(path) = image(&path) else { continue };
            let Ok((kind, bytes)) = self.link.bytes(&Request::at(op::CONVERSATION_IMAGE, &path)) else { continue };
            number += 1;
            let ending = if kind == "image/jpeg" { "jpg" } else { "png" };
            let name: PathBuf = ["images", &format!("{number:03}.{ending}")].iter().collect();
            let file = self.folder.join(&name);
            let stored = file.parent().map_or(Ok(()), std::fs::create_dir_all);
            if stored.and_then(|()| write(&file, Readers::Usual, &bytes)).is_ok() {
                event["data"]["image"] = format!("images/{number:03}.{ending}").into();
            }
        }
        write_json(&self.folder.join(EVENTS), &watched.events)
    }
}

/// The next item; `None` without one for a moment.
fn next(stream: &Receiver<Item>, until: Deadline<'_>) -> Option<Item> {
    match stream.recv_timeout(POLL_INTERVAL.min(until.left())) {
        Ok(item) => Some(item),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(Item::Closed),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CAUSE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
