//! The conversations of a home.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::approvals::{self, Decision, MOST_NOTE};
use super::events::{AGENT_EVENT, AgentEvent, COMPLETE, ERROR, Source, complete, error};
use super::live::{Interrupted, Live};
use super::messages::{Entry, Kind};
use super::prompts::Prompts;
use super::repair;
use super::settings::{Mode, NOTES, NewConversation, REFUSED_HOSTS, Settings};
use super::slots::Slots;
use super::turn::NO_MODEL;
use super::{Error, Follower, Permission, WRITE, compile, held_up, questions, routine, run};
use crate::control::Control;
use crate::llm::Models;
use crate::memory::Memory;
use crate::record::Recordings;
use crate::skills::Skills;
use crate::store::{self, Batch, Conversation, ConversationState, Store};
use crate::tools::Toolbox;
use cdpilot::sync::{Deadline, Thread, spawn};

/// How long runs may take to end when all conversations are dropped.
const ENDING: Duration = Duration::from_secs(5);
/// How many conversations are kept in memory before those that are not in use are dropped.
const MOST_LIVES: usize = 256;
/// How long the end of a thread is waited for once the end of its run is stored.
const SETTLING: Duration = Duration::from_secs(1);
/// How long the end of a run is waited for before its conversation is deleted.
const STOPPING: Duration = Duration::from_secs(10);

/// Provides the tools of the home. Called at the start of each run.
pub trait ProvideTools: Send + Sync {
    /// The toolbox of the home.
    ///
    /// # Errors
    /// The reason why there is none, as part of a sentence.
    fn toolbox(&self) -> Result<Toolbox, String>;
}

impl ProvideTools for Toolbox {
    fn toolbox(&self) -> Result<Toolbox, String> {
        Ok(self.clone())
    }
}

impl<F: Fn() -> Result<Toolbox, String> + Send + Sync> ProvideTools for F {
    fn toolbox(&self) -> Result<Toolbox, String> {
        self()
    }
}

/// The conversations of a home. Clones are the same; dropping the last one interrupts all runs.
#[derive(Debug, Clone)]
pub struct Agents {
    owner: Arc<Owner>,
}

/// Ends all runs when it is dropped. Runs themselves hold [`Inner`] only.
#[derive(Debug)]
struct Owner {
    inner: Arc<Inner>,
    /// Dropping it ends the thread that watches runs.
    end: Option<Sender<()>>,
    watch: Option<Thread>,
    /// Tells people that a run waits; ends once `Inner::waiting` is gone.
    waits: Option<Thread>,
}

/// What all conversations share.
pub(super) struct Inner {
    pub(super) control: Arc<Control>,
    pub(super) tools: Box<dyn ProvideTools>,
    pub(super) store: Store,
    pub(super) prompts: Prompts,
    pub(super) slots: Slots,
    /// Records the runs that are compared with a recording.
    pub(super) recordings: OnceLock<Arc<Recordings>>,
    /// Takes the runs that begin to wait for a person; `None` once the server ends.
    waiting: Mutex<Option<Sender<String>>>,
    /// Locked for map operations only.
    lives: Mutex<HashMap<String, Arc<Live>>>,
    is_ending: AtomicBool,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("lives", &self.lives.lock().len()).finish_non_exhaustive()
    }
}

impl Agents {
    /// The conversations of a home, with its browsers, the source of its tools, and its database. Runs that a crash
    /// interrupted become idle and can be resumed.
    ///
    /// # Errors
    /// [`Error::Store`]; [`Error::Prompt`] when a prompt template of the home does not render.
    pub fn new(control: Arc<Control>, tools: impl ProvideTools + 'static, store: Store) -> Result<Self, Error> {
        let prompts = Prompts::of(control.home())?;
        store.recover(Deadline::after(WRITE))?;
        compile::recover(&store)?;
        let (waiting, begun) = routine::waits();
        let inner = Inner {
            control,
            tools: Box::new(tools),
            store,
            prompts,
            slots: Slots::default(),
            recordings: OnceLock::new(),
            waiting: Mutex::new(Some(waiting)),
            lives: Mutex::default(),
            is_ending: AtomicBool::new(false),
        };
        let inner = Arc::new(inner);
        let (end, ended) = bounded(0);
        let watched = Arc::clone(&inner);
        let watch = spawn("agent-watch", move || held_up::watch(&watched, &ended));
        let watch = watch.map_err(|problem| Error::Thread { problem: problem.to_string() })?;
        let watched = Arc::clone(&inner);
        let waits = spawn("agent-waits", move || routine::watch_waits(&watched, &begun));
        let waits = waits.map_err(|problem| Error::Thread { problem: problem.to_string() })?;
        Ok(Self { owner: Arc::new(Owner { inner, end: Some(end), watch: Some(watch), waits: Some(waits) }) })
    }

    /// Sets the recordings of the home, which runs with `verify` need. Without effect the second time.
    pub fn set_recordings(&self, recordings: Arc<Recordings>) {
        let _ = self.inner().recordings.set(recordings);
    }

    /// The database of the home, for routes that list or change routines and read reports.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner().store
    }

    pub(super) fn inner(&self) -> &Arc<Inner> {
        &self.owner.inner
    }

    /// Creates a conversation. Returns its id, a random UUID.
    ///
    /// # Errors
    /// Nothing is stored after an error. [`Error::Model`], [`Error::Toolset`], [`Error::Control`] for an unknown profile,
    /// [`Error::Tools`], [`Error::Store`].
    pub fn create(&self, new: NewConversation) -> Result<String, Error> {
        let inner = self.inner();
        let models = Models::of(inner.control.home())?;
        let alias = new.model.as_deref().unwrap_or(&inner.control.config().agent.model);
        let mode = new.mode;
        let model = match mode == Mode::RoutineReplay && alias == NO_MODEL {
            true => alias.to_owned(),
            false => models.find(Some(alias))?.0.to_owned(),
        };
        inner.control.profile(new.profile.as_deref())?;
        let mut settings = Settings::of(new);
        settings.more.remove(NOTES);
        let toolbox = inner.tools.toolbox().map_err(|problem| Error::Tools { problem })?;
        let resolved = toolbox.toolsets().resolve_all(&settings.toolsets, &std::collections::BTreeSet::new());
        if let Some(problem) = resolved.problems.into_iter().next() {
            return Err(problem.into());
        }
        if mode == Mode::Chat && resolved.tools.iter().any(|tool| tool == "memory") {
            let notes = Memory::of(inner.control.home()).for_prompt();
            if !notes.is_empty() {
                settings.more.insert(NOTES.to_owned(), inner.cover(&notes)?.into());
            }
        }
        if !settings.hosts().is_empty() {
            inner.control.hosts(&settings.hosts())?;
            if settings.share_login {
                let problem = "hosts: the cookies of the profile belong to a browser context without limits; leave out share_login, or hosts";
                return Err(Error::BadRequest { problem: problem.to_owned() });
            }
        }
        for name in settings.secrets() {
            let found = inner.control.secret_store().find(&name);
            found.map_err(|problem| Error::BadRequest { problem: format!("secrets: {problem}") })?;
        }
        let id = store::new_id()?;
        let settings = serde_json::to_value(&settings)
            .map_err(|problem| Error::BadRequest { problem: format!("the settings cannot be stored: {problem}") })?;
        let new = store::NewConversation::new(&*id, model, mode.as_str()).settings(settings);
        inner.store.create_conversation(new, Deadline::after(WRITE))?;
        Ok(id)
    }

    /// Sends a message of the user, which starts a run. Returns the id of the last event before it: following from there
    /// gives all events of the run.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for an empty text, [`Error::NotFound`], [`Error::Conflict`] while the conversation runs or
    /// waits for an answer, [`Error::Ending`], [`Error::Store`].
    pub fn send(&self, id: &str, text: &str) -> Result<u64, Error> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::BadRequest { problem: "the message is empty; send a text".to_owned() });
        }
        let inner = self.inner();
        let (conversation, live) = inner.find(id)?;
        compile::check_inputs_of_compilation(&conversation.mode)?;
        let text = inner.cover(text)?;
        inner.settle(&conversation, &live);
        run::begin(inner, &live, |live| {
            // As it is now that no other run can begin.
            if inner.stored(&live.id)?.state == ConversationState::Waiting {
                return Err(Error::conflict("the conversation waits for an answer; answer its question, or stop it"));
            }
            let (batch, entries) = repair::repaired(inner, live, Batch::new())?;
            let text = inner.begin_routine(&live.id, text.clone())?;
            // People see what was typed; the model gets the skill, too.
            let with_skill = inner.with_skill(&text);
            let entry = Entry::user(Kind::Plain, with_skill.as_deref().unwrap_or(&text));
            let batch = entries.iter().chain([&entry]).fold(batch, |batch, entry| batch.message(entry.body()));
            let event = AgentEvent::message(Source::User, &*text).into_value();
            let batch = batch
                .title(text.strip_prefix("# Workflow: ").and_then(|goal| goal.lines().next()).unwrap_or(&text))
                .event(AGENT_EVENT, event);
            let batch = match forget_refused_hosts(&inner.stored(&live.id)?) {
                Some(settings) => batch.settings(settings),
                None => batch,
            };
            Ok(batch.state(ConversationState::Active).unfinished(true))
        })
    }

    /// Answers the open question of a conversation, which continues it: the answer is the result of the call that asked.
    /// Returns the id of the last event before, as [`send`](Self::send).
    ///
    /// # Errors
    /// [`Error::BadRequest`] for an empty text, [`Error::NotFound`], [`Error::Conflict`] without an open question,
    /// [`Error::Ending`], [`Error::Store`].
    pub fn answer(&self, id: &str, text: &str) -> Result<u64, Error> {
        self.answer_question(id, None, text)
    }

    /// Like [`answer`](Self::answer), for the question with an id; [`Error::Conflict`] if another one or none is open.
    ///
    /// # Errors
    /// Those of [`answer`](Self::answer).
    pub fn answer_question(&self, id: &str, question_id: Option<&str>, text: &str) -> Result<u64, Error> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::BadRequest { problem: "the answer is empty; send a text".to_owned() });
        }
        let inner = self.inner();
        let (conversation, live) = inner.find(id)?;
        compile::check_inputs_of_compilation(&conversation.mode)?;
        let text = inner.cover(text)?;
        inner.settle(&conversation, &live);
        run::begin(inner, &live, |live| {
            let question = inner.store.open_question(&live.id, Deadline::after(WRITE))?;
            let question = question.ok_or_else(|| Error::conflict("the conversation has asked no question"))?;
            if question.kind == store::QuestionKind::Approval {
                return Err(Error::conflict(
                    "the conversation waits for an approval; answer it with approval_id and decision (once, origin, kind or refuse)",
                ));
            }
            if question_id.is_some_and(|wanted| *wanted != *question.id) {
                return Err(Error::conflict(
                    "another question is open than the one with this question_id; read it first",
                ));
            }
            let batch = questions::answered(&question, Some(&text));
            Ok(batch.state(ConversationState::Active).unfinished(true))
        })
    }

    /// Answers the question whether something may be done, which continues the conversation. Returns the id of the last event
    /// before, as [`send`](Self::send). What was approved is done only if it is still what was shown.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for a note that is too long, [`Error::NotFound`], [`Error::Conflict`] if no such question is open,
    /// [`Error::Ending`], [`Error::Store`].
    pub fn decide(&self, id: &str, approval_id: &str, decision: Decision, note: &str) -> Result<u64, Error> {
        let note = note.trim();
        if note.chars().count() > MOST_NOTE {
            return Err(Error::BadRequest { problem: format!("note: at most {MOST_NOTE} characters") });
        }
        let inner = self.inner();
        let (conversation, live) = inner.find(id)?;
        let note = inner.cover(note)?;
        inner.settle(&conversation, &live);
        run::begin(inner, &live, |live| {
            let question = inner.store.open_question(&live.id, Deadline::after(WRITE))?;
            let question = question.filter(|open| open.kind == store::QuestionKind::Approval && open.id == approval_id);
            let question = question.ok_or_else(|| {
                Error::conflict("no question with this approval_id is open; it may have been answered already")
            })?;
            let decided = approvals::decided(&inner.stored(&live.id)?, &question, decision, &note)?;
            live.set_approved(decided.approved);
            live.set_answered(decided.answered);
            if decision == Decision::Routine {
                inner.allow_in_routine(&live.id, &question.body)?;
            }
            let batch = decided.batch;
            Ok(batch.state(ConversationState::Active).unfinished(true))
        })
    }

    /// Pauses the run of a conversation before its next call or request to the model.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when it is not running or paused already.
    pub fn pause(&self, id: &str) -> Result<(), Error> {
        let (_, live) = self.inner().find(id)?;
        match live.set_paused(true) {
            true => Ok(()),
            false => Err(Error::conflict("the conversation is not running, or paused already")),
        }
    }

    /// Continues a paused run, or the unfinished turn of a conversation that is not running. Returns the id of the last
    /// event before, as [`send`](Self::send).
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when there is nothing to continue; [`Error::Ending`], [`Error::Store`].
    pub fn resume(&self, id: &str) -> Result<u64, Error> {
        let inner = self.inner();
        let (conversation, live) = inner.find(id)?;
        if live.set_paused(false) {
            return Ok(conversation.last_event);
        }
        compile::check_inputs_of_compilation(&conversation.mode)?;
        inner.settle(&conversation, &live);
        let nothing = || Error::conflict("the conversation is not paused and has no unfinished turn; send a message");
        if live.is_running() {
            return Err(nothing());
        }
        inner.check_inputs(id)?;
        run::begin(inner, &live, |live| {
            // As it is now that no other run can begin.
            let now = inner.stored(&live.id)?;
            if now.state == ConversationState::Waiting {
                return Err(Error::conflict("the conversation waits for an answer; answer its question"));
            }
            if !now.unfinished {
                return Err(nothing());
            }
            let (batch, entries) = repair::repaired(inner, live, Batch::new())?;
            let batch = entries.iter().fold(batch, |batch, entry| batch.message(entry.body()));
            Ok(batch.state(ConversationState::Active).event(AGENT_EVENT, AgentEvent::system("Resumed.").into_value()))
        })
    }

    /// Stops the run of a conversation, or withdraws its open question, and waits for the end until the deadline. The turn
    /// stays unfinished and can be resumed.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when there is nothing to stop; [`Error::Store`].
    pub fn stop_run(&self, id: &str, deadline: Deadline<'_>) -> Result<(), Error> {
        let inner = self.inner();
        let (_, live) = inner.find(id)?;
        let was_running = live.interrupt(Interrupted::Stopped);
        if was_running && !live.wait_for_end(deadline) {
            return Ok(());
        }
        // It may have asked a question as its last step.
        let (conversation, _) = inner.find(id)?;
        if was_running && conversation.state != ConversationState::Waiting {
            return Ok(());
        }
        if conversation.state != ConversationState::Waiting {
            return Err(Error::conflict("the conversation is not running"));
        }
        inner.end_waiting(id, None)
    }

    /// Deletes a conversation with all that belongs to it, after stopping its run. Its tabs are closed until the deadline.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when its run does not end; [`Error::Store`].
    pub fn delete(&self, id: &str, deadline: Deadline<'_>) -> Result<(), Error> {
        let inner = self.inner();
        let (_, live) = inner.find(id)?;
        live.interrupt(Interrupted::Stopped);
        if !live.wait_for_end(deadline.within(STOPPING)) {
            return Err(Error::conflict("the run of the conversation does not end; try again"));
        }
        // No other run can begin meanwhile.
        let was_at_rest = live.begin()?;
        if let Some((recording, state)) = compile::cancelled(inner, &live) {
            let cancelled = inner.store.commit(id, Batch::new().compilation(recording, state), Deadline::after(WRITE));
            let _ = cancelled.inspect_err(|problem| tracing::warn!(%problem, "the end of a compilation is not stored"));
        }
        let deleted = inner.store.delete_conversation(id, Deadline::after(WRITE));
        if matches!(deleted, Ok(true)) {
            inner.lives.lock().remove(id);
        }
        live.end(was_at_rest || deleted.is_ok());
        if !deleted? {
            return Err(Error::not_found(id));
        }
        inner.control.secret_store().take_back(&format!("{id}/"));
        if let Some(session) = live.take_session() {
            inner.control.close_session(&session, deadline);
        }
        Ok(())
    }

    /// Follows a conversation from the event behind `after`; 0 is before the first one.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub fn follow(&self, id: &str, after: u64) -> Result<Follower, Error> {
        let (_, live) = self.inner().find(id)?;
        Ok(Follower::new(self.inner().store.clone(), live, after))
    }

    /// Interrupts all runs and waits for their ends until the deadline. They are stored as unfinished. No run can be started
    /// afterwards.
    pub fn stop(&self, deadline: Deadline<'_>) {
        self.inner().end(deadline);
    }
}

impl Inner {
    /// A conversation, and what is kept of it in memory.
    pub(super) fn find(&self, id: &str) -> Result<(Conversation, Arc<Live>), Error> {
        let found = self.store.conversation(id, Deadline::after(WRITE))?;
        let found = found.ok_or_else(|| Error::not_found(id))?;
        let is_at_rest = found.state != ConversationState::Waiting;
        let mut lives = self.lives.lock();
        if lives.len() >= MOST_LIVES {
            // Those that nobody uses and that have no tabs.
            lives.retain(|_, live| Arc::strong_count(live) > 1 || live.is_running() || live.has_session());
        }
        let live = lives.entry(id.to_owned()).or_insert_with(|| Arc::new(Live::new(id, is_at_rest)));
        let live = Arc::clone(live);
        drop(lives);
        Ok((found, live))
    }

    /// Ends a conversation that waits for an answer. `why`: the reason, for the run of a routine; else it was stopped.
    pub(super) fn end_waiting(&self, id: &str, why: Option<&routine::Ending>) -> Result<(), Error> {
        let (_, live) = self.find(id)?;
        let was_at_rest = live.begin()?;
        let ended = self.store.open_question(id, Deadline::after(WRITE)).map_err(Error::from).and_then(|question| {
            // Answered in the meantime.
            let question = question.ok_or_else(|| Error::conflict("the conversation is not running"))?;
            let batch = questions::answered(&question, None);
            let batch = batch.unfinished(true);
            let batch = match compile::cancelled(self, &live) {
                Some((recording, state)) => batch.compilation(recording, state),
                None => batch,
            };
            let batch = match routine::ended_waiting(self, id, why)? {
                Some(change) => batch.run(change),
                None => batch,
            };
            let batch = match why {
                Some(ending) => {
                    let event = error(id, ending.code, &ending.problem);
                    batch.state(ConversationState::Error).event(ERROR, event)
                }
                None => batch.state(ConversationState::Idle).event(COMPLETE, complete(id, false, true)),
            };
            live.commit(&self.store, batch)
        });
        live.end(was_at_rest || ended.is_ok());
        if why.is_some() && ended.is_ok() {
            self.control.secret_store().take_back(&format!("{id}/"));
        }
        ended.map(drop)
    }

    /// Fails for a run whose sensitive inputs are gone: they were in the memory of a server that has ended.
    fn check_inputs(&self, id: &str) -> Result<(), Error> {
        let Some(run) = routine::RoutineRun::of(&self.store, id)? else { return Ok(()) };
        let lent = run.lent_names(id);
        let lost = lent.iter().find(|(_, kept)| !self.control.secret_store().has_lent(kept));
        lost.map_or(Ok(()), |(name, _)| {
            Err(Error::conflict(format!(
                "the value of the input {name:?} is gone, because the server was restarted; start the run again"
            )))
        })
    }

    /// Allows the effect of a question in all later runs of the routine that a conversation runs, in the step in progress.
    fn allow_in_routine(&self, id: &str, question: &Value) -> Result<(), Error> {
        let no_routine =
            || Error::conflict("decision routine is for runs of stored routines; decide once, origin, kind or refuse");
        let run = self.store.run(id, Deadline::after(WRITE))?.ok_or_else(no_routine)?;
        let (Some(of), Some(parsed)) = (run.routine.clone(), routine::version_of(&self.store, &run)?) else {
            return Err(no_routine());
        };
        if question["role"].as_str().is_none_or(str::is_empty) {
            let problem = "decision routine needs an element or a request that can be recognised in later runs, and this effect has none; decide once";
            return Err(Error::conflict(problem));
        }
        let step = routine::step_of(&run).and_then(|n| parsed.steps.iter().find(|step| step.n == n));
        let step = step.ok_or_else(|| Error::conflict("decision routine needs a step in progress; decide once"))?;
        let permission = json!(Permission::of(step.n, step.digest(), question));
        let change = move |mut allowed: Value| {
            let same = |one: &Value| {
                ["step", "effect", "origin", "destination", "role", "name"]
                    .iter()
                    .all(|field| one[*field] == permission[*field])
            };
            if let Some(all) = allowed.as_array_mut() {
                all.retain(|one| !same(one));
                all.push(permission.clone());
            }
            Ok(allowed)
        };
        Ok(self.store.change_allowed(&of, change, Deadline::after(WRITE)).map(drop)?)
    }

    /// Creates the run of a conversation whose first message is a routine, unless it exists.
    /// Returns the message as the model gets it: with the defaults of its inputs.
    fn begin_routine(&self, id: &str, text: String) -> Result<String, Error> {
        let stored = self.stored(id)?;
        let is_replay = Mode::parse(&stored.mode) == Some(Mode::RoutineReplay);
        if !is_replay || stored.message_count > 0 || self.store.run(id, Deadline::after(WRITE))?.is_some() {
            return Ok(text);
        }
        let (filled, report) = routine::first_message(&self.control, &text)?;
        let kept = &self.control.config().routines;
        self.store.create_run(id, None, &report, (kept.keep_runs, kept.keep_days), Deadline::after(WRITE))?;
        Ok(filled)
    }

    /// A conversation as it is stored.
    fn stored(&self, id: &str) -> Result<Conversation, Error> {
        self.store.conversation(id, Deadline::after(WRITE))?.ok_or_else(|| Error::not_found(id))
    }

    /// Waits for the thread of a run whose end is stored already.
    pub(super) fn settle(&self, conversation: &Conversation, live: &Live) {
        if conversation.state != ConversationState::Active {
            live.wait_for_end(Deadline::after(SETTLING));
        }
    }

    /// What is kept of a conversation in memory, if anything is.
    pub(super) fn live(&self, id: &str) -> Option<Arc<Live>> {
        self.lives.lock().get(id).cloned()
    }

    /// The conversation that has been idle for the longest time and has a session.
    pub(super) fn longest_idle(&self) -> Option<Arc<Live>> {
        let lives: Vec<Arc<Live>> = self.lives.lock().values().cloned().collect();
        let idle = lives.into_iter().filter_map(|live| live.idle_since().map(|since| (since, live)));
        idle.min_by_key(|(since, _)| *since).map(|(_, live)| live)
    }

    /// The conversations that run.
    pub(super) fn running(&self) -> Vec<Arc<Live>> {
        self.lives.lock().values().filter(|live| live.is_running()).cloned().collect()
    }

    pub(super) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }

    /// A conversation has begun to wait for an answer.
    pub(super) fn waits(&self, id: &str) {
        // A full queue: the person has been told of other runs that wait.
        let _ = self.waiting.lock().as_ref().map(|waiting| waiting.try_send(id.to_owned()));
    }

    /// A text of the user without the secrets of the home. Passwords that the user gives to the model stay.
    pub(super) fn cover(&self, text: &str) -> Result<String, Error> {
        let toolbox = self.tools.toolbox().map_err(|problem| Error::Tools { problem })?;
        Ok(toolbox.registry().secrets().cover_own(text).into_owned())
    }

    /// A message `/NAME TASK` with the text of the skill; `None` for others.
    fn with_skill(&self, text: &str) -> Option<String> {
        let command = text.strip_prefix('/')?;
        let (name, task) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let skill = Skills::of(self.control.home()).get(name).ok()?;
        let task = if task.trim().is_empty() { "Do what it says." } else { task.trim() };
        Some(format!("Follow the skill {name} ({}):\n\n{}\n\nTask: {task}", skill.head.description, skill.body.trim()))
    }

    fn end(&self, deadline: Deadline<'_>) {
        self.is_ending.store(true, Ordering::Release);
        let lives: Vec<Arc<Live>> = self.lives.lock().values().cloned().collect();
        for live in &lives {
            live.interrupt(Interrupted::Ending);
        }
        for live in &lives {
            if !live.wait_for_end(deadline) {
                tracing::warn!(conversation = %live.id, "the run did not end in time");
            }
            live.feed.set_at_rest(true);
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.inner.end(Deadline::after(ENDING));
        drop(self.end.take());
        drop(self.watch.take());
        drop(self.inner.waiting.lock().take());
        drop(self.waits.take());
    }
}

/// The settings without the hosts that the person has refused, if any: with a new message, the model may ask for them again.
fn forget_refused_hosts(stored: &Conversation) -> Option<Value> {
    let mut settings = stored.settings.clone();
    settings.as_object_mut()?.remove(REFUSED_HOSTS)?;
    Some(settings)
}
