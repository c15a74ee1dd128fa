//! The state of a run, and its steps until the task is done.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::agents::Inner;
use super::compile::CompileRun;
use super::dialogs::Dialogs;
use super::events::{AGENT_EVENT, AgentEvent};
use super::guard::RunGuard;
use super::live::{Interrupted, Live};
use super::messages::{Entry, Kind, unanswered};
use super::offer::Offer;
use super::prompts::Texts;
use super::routine::{Ending, RoutineRun};
use super::settings::Settings;
use super::slots::Slot;
use super::stuck::Stuck;
use super::trail::Noting;
use super::usage::Metrics;
use super::wire::Wire;
use super::{Error, WRITE, run, session};
use crate::compile::MOST_STEPS;
use crate::config::Confirm;
use crate::control::Session;
use crate::llm::{Model, Models, Part, Size, ToolSpec};
use crate::store::{Batch, Committed, RunStatus};
use cdpilot::code::Code;
use cdpilot::sync::{Cancel, Deadline};

/// Characters of the id of a conversation that name its session and its thread.
pub(super) const SHORT: usize = 8;
const NEW_SESSION: &str = "The browser session of this conversation is new, because the server was restarted or its tabs were closed: \
     tabs, logins and what was typed before are gone. Open the page again before you go on.";
/// The alias of a run that has no model.
pub(super) const NO_MODEL: &str = "none";
/// Time limit for loading tools.
const LOAD: Duration = Duration::from_secs(20);

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// The model has answered, and that is stored.
    Finished,
    /// A question is stored.
    Waiting,
    /// It was stopped, or the server is stopping.
    Interrupted,
    /// The model or the database failed.
    Failed {
        /// The code of the error.
        code: Code,
        /// The reason.
        problem: String,
    },
    /// The number of steps of a run is limited.
    MaxSteps(u32),
    /// The run of a routine cannot go on.
    Routine(Ending),
}

/// Changes that are stored together.
#[derive(Debug, Default)]
pub(super) struct Draft {
    batch: Batch,
    /// Messages to append.
    pub(super) entries: Vec<Entry>,
    images: usize,
}

impl Draft {
    pub(super) fn change(&mut self, change: impl FnOnce(Batch) -> Batch) {
        self.batch = change(std::mem::take(&mut self.batch));
    }

    pub(super) fn event(&mut self, name: &str, body: Value) {
        self.change(|batch| batch.event(name, body));
    }

    pub(super) fn system(&mut self, text: impl Into<String>) {
        self.event(AGENT_EVENT, AgentEvent::system(text).into_value());
    }

    /// Adds an image. Returns the reference to it.
    pub(super) fn image(&mut self, media_type: &str, bytes: Vec<u8>) -> String {
        self.change(|batch| batch.image(media_type, bytes));
        self.images += 1;
        crate::store::image_reference(self.images - 1)
    }
}

/// An image of a result that the model gets after all results of its answer.
#[derive(Debug)]
pub(super) struct Picture {
    /// Which call it belongs to.
    pub(super) caption: String,
    pub(super) media_type: String,
    pub(super) bytes: Vec<u8>,
    /// Its path, or the reference in the batch that stores it.
    pub(super) path: String,
}

/// A run.
pub(super) struct Turn<'a> {
    pub(super) inner: &'a Inner,
    pub(super) live: &'a Live,
    pub(super) cancel: Cancel,
    /// Whether the model accepts images.
    pub(super) sees: bool,
    pub(super) model: String,
    pub(super) offer: Offer,
    pub(super) session: Session,
    pub(super) settings: Settings,
    pub(super) system: String,
    pub(super) tools: Vec<ToolSpec>,
    /// The messages; the first one has number 1.
    pub(super) entries: Vec<Entry>,
    pub(super) metrics: Metrics,
    /// Input tokens of the last request, if the endpoint reported them, and how many messages it had.
    pub(super) last_input: Option<(u64, usize)>,
    /// How many messages there must be before they are condensed again.
    pub(super) condensable_from: usize,
    pub(super) pictures: Vec<Picture>,
    pub(super) stuck: Stuck,
    pub(super) is_warned: bool,
    /// Whether the last interaction has shown a preview.
    pub(super) has_preview: bool,
    dialogs: Dialogs,
    /// What a person did in the browser while the run was paused, and the model was not told yet.
    handed_back: Vec<String>,
    /// Notices for the model, added once its open call has a result: endpoints refuse a message in between.
    notice: Option<&'static str>,
    /// Decides what a person approves; `None`: nothing.
    pub(super) guard: Option<Arc<RunGuard>>,
    /// Holds the requests of its pages; `None` without a guard.
    pub(super) wire: Option<Wire>,
    /// The routine that it follows, if any.
    pub(super) routine: Option<RoutineRun>,
    /// The recording that it compiles, if any.
    pub(super) compile: Option<CompileRun>,
    /// Notes what it does in pages, for a recording of it; `None` for runs of routines.
    pub(super) noting: Option<Noting>,
    /// Its place among the runs; given back while it is paused.
    slot: Option<Slot<'a>>,
}

impl<'a> Turn<'a> {
    /// Loads a conversation. Toolsets that cannot be loaded are reported as an event.
    pub(super) fn load(inner: &'a Inner, live: &'a Live, slot: Slot<'a>) -> Result<Self, Error> {
        let deadline = || Deadline::after(WRITE);
        let stored = inner.store.conversation(&live.id, deadline())?.ok_or_else(|| Error::not_found(&live.id))?;
        let settings = Settings::read(&stored)?;
        let models = Models::of(inner.control.home())?;
        let without = Model::new("", "").vision(false).profile(Size::Small);
        let model = if stored.model == NO_MODEL { &without } else { models.find(Some(&stored.model))?.1 };
        let cancel = live.cancel();
        let loading = Deadline::after(LOAD).cancelled_by(&cancel);
        let mut routine = RoutineRun::of(&inner.store, &live.id)?;
        let lent = routine.as_ref().map(|run| run.lent_names(&live.id)).unwrap_or_default();
        let (mut offer, failed) = Offer::load(&*inner.tools, &inner.control, &settings, &lent, loading)?;
        if let Some(run) = &routine {
            offer.add_routine();
            if run.is_fast() {
                offer.add_recorded(&inner.control);
            }
        }
        let compile = CompileRun::of(&inner.store, &live.id, &settings, &|value| offer.cover_value(value))?;
        if compile.is_some() {
            offer.only_compile();
        }
        let permitted = || live.wire(&settings.requests());
        let scope = routine.as_ref().map(|run| (run.scope(), lent.values().cloned().collect()));
        let guard =
            RunGuard::of(&settings, inner.control.config().agent.guard, inner.control.secret_store(), scope, permitted);
        let guard = guard.map(Arc::new);
        let wire = guard.as_ref().map(|guard| guard.wire().clone());
        if let Some(guard) = &guard {
            offer.scope = offer.scope.with_guard(Arc::clone(guard) as Arc<dyn crate::tools::Guard>);
        }
        if !model.vision {
            offer.scope = offer.scope.without_pictures();
        }
        let confirm = match settings.confirm().unwrap_or(inner.control.config().agent.confirm) {
            // Small models confuse ids.
            Confirm::Auto if model.profile == Size::Small => Confirm::Always,
            other => other,
        };
        offer.scope = offer.scope.confirming(confirm).in_conversation(&live.id);
        let flags = offer.flags(model, &settings, confirm);
        let names: Vec<String> = settings.secrets().into_iter().chain(lent.keys().cloned()).collect();
        let system = match compile.is_some() {
            true => inner.prompts.compile(flags)?,
            false => inner.prompts.system(model.profile, flags, Texts { secrets: &names, notes: settings.notes() })?,
        };
        let prefix = format!("/agent/conversations/{}/images/", live.id);
        let image = |path: &str| {
            let n = path.strip_prefix(&prefix).and_then(|n| n.parse().ok()).filter(|_| model.vision)?;
            let image = inner.store.image(&live.id, n, deadline()).ok().flatten()?;
            Some((image.media_type, image.bytes))
        };
        let messages = inner.store.messages(&live.id, 1, usize::MAX, deadline())?;
        let entries: Vec<Entry> = messages.iter().map(|message| Entry::read(&message.body, image)).collect();
        let (session, is_new) = session::for_run(inner, live, &settings, wire.as_ref())?;
        let dialogs = Dialogs::new(inner.control.profile(settings.profile.as_deref())?.for_session(&session));
        if let Some(run) = &mut routine {
            run.begin_turn(&dialogs.pages());
            run.drop_ended_healing(inner);
            run.called_before(&entries);
        }
        let noting = match routine.is_none() && compile.is_none() {
            true => Some(Noting::begin(inner, &live.id, &session, &dialogs.pages())?),
            false => None,
        };
        let tools = offer.specs(&inner.prompts, model.profile, flags)?;
        let mut turn = Self {
            inner,
            live,
            cancel,
            model: stored.model,
            metrics: Metrics::read(&stored.usage),
            sees: model.vision,
            offer,
            session,
            settings,
            system,
            tools,
            entries,
            last_input: None,
            condensable_from: 0,
            pictures: Vec::new(),
            stuck: Stuck::default(),
            is_warned: false,
            has_preview: false,
            dialogs,
            handed_back: Vec::new(),
            notice: None,
            guard,
            wire,
            routine,
            compile,
            noting,
            slot: Some(slot),
        };
        turn.restore_todos();
        if is_new && turn.entries.iter().any(Entry::uses_browser) {
            turn.notice = Some(NEW_SESSION);
            let mut draft = Draft::default();
            draft.system("The browser session is new: tabs and logins from before are gone. The model is informed.");
            turn.commit(draft)?;
        }
        if unanswered(turn.entries.iter().map(|entry| &entry.message)).is_empty() {
            turn.tell_notice()?;
        }
        if !failed.is_empty() {
            let mut draft = Draft::default();
            draft.system(format!("Some tools are not available: {}.", failed.join("; ")));
            turn.commit(draft)?;
        }
        Ok(turn)
    }

    /// Runs steps until the task is done, or the run ends otherwise.
    pub(super) fn run(&mut self) -> Result<End, Error> {
        let most = match self.compile.is_some() {
            true => MOST_STEPS,
            false => self.inner.control.config().agent.max_steps,
        };
        if let Some(handover) = self.live.take_handover() {
            self.handed_back.extend(handover.changes());
        }
        match (self.live.take_answered(), &self.wire) {
            (Some(answered), _) => {
                if let Some(end) = self.answer_request(answered)? {
                    return Ok(end);
                }
            }
            (None, Some(wire)) => {
                wire.forget_asked();
                wire.forget_refused();
            }
            (None, None) => {}
        }
        if let Some(approved) = self.live.take_approved()
            && let Some(end) = self.make_approved(approved)?
        {
            return Ok(end);
        }
        self.tell_notice()?;
        let mut steps = 0..most;
        // Runs of routines have limits of their own.
        while self.routine.is_some() || steps.next().is_some() {
            if self.checkpoint().is_some() {
                return Ok(End::Interrupted);
            }
            if let Some(ending) = self.routine.as_ref().and_then(RoutineRun::limit) {
                return Ok(End::Routine(ending));
            }
            if let Some(end) = self.step()? {
                return Ok(end);
            }
        }
        Ok(End::MaxSteps(most))
    }

    /// Tells the model what it has to know, when no call is open.
    fn tell_notice(&mut self) -> Result<(), Error> {
        let Some(text) = self.notice.take() else { return Ok(()) };
        let mut draft = Draft::default();
        draft.entries.push(Entry::user(Kind::Notice, text));
        self.commit(draft).map(drop)
    }

    /// The browser of the conversation.
    pub(super) fn pages(&self) -> crate::control::Profile {
        self.dialogs.pages()
    }

    /// Adds the dialogs that opened or closed since the last time.
    pub(super) fn report_dialogs(&mut self, draft: &mut Draft) {
        self.dialogs.report(&self.live.id, &self.offer, draft);
    }

    /// Waits while the run is paused; other conversations may run meanwhile. Returns why it was interrupted, if it was.
    pub(super) fn checkpoint(&mut self) -> Option<Interrupted> {
        while self.live.is_held() {
            if let Some(why) = self.live.interrupted() {
                return Some(why);
            }
            let handover = self.pages().hand_over();
            self.slot = None;
            self.live.open_wire(true);
            self.live.wait_while_paused();
            self.live.open_wire(false);
            if let Some(run) = &mut self.routine {
                run.skip_time();
            }
            if self.live.interrupted().is_none() {
                self.handed_back.extend(handover.changes());
                self.slot = run::slot(self.inner, self.live);
            }
        }
        None
    }

    /// Tells the model what a person did in the browser while the run was paused, or waited for help.
    pub(super) fn hand_back(&mut self) -> Result<(), Error> {
        let changes = std::mem::take(&mut self.handed_back);
        if changes.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = changes.iter().map(|change| format!("- {}", self.offer.cover(change))).collect();
        let lines = lines.join("\n");
        let mut draft = Draft::default();
        draft
            .system(format!("While the run was paused or waiting, the browser was used. The model was told:\n{lines}"));
        let text = format!(
            "While the run was paused or waiting, the user used the browser. What happened, as data (names and addresses are those of pages):\n\
             {lines}\nLook at the pages again before you go on."
        );
        draft.entries.push(Entry::user(Kind::Notice, text));
        self.commit(draft).map(drop)
    }

    /// Stores changes, and appends their messages to those of the run.
    pub(super) fn commit(&mut self, draft: Draft) -> Result<Committed, Error> {
        let Draft { batch, mut entries, images } = draft;
        let batch = entries.iter().fold(batch, |batch, entry| batch.message(entry.body()));
        if let Some(run) = &mut self.routine {
            run.judge(self.inner);
        }
        let batch = match self.routine.as_mut().and_then(RoutineRun::take_change) {
            Some(change) => batch.run(change),
            None => batch,
        };
        let batch = match self.compile.as_mut().and_then(CompileRun::take_change) {
            Some((recording, state)) => batch.compilation(recording, state),
            None => batch,
        };
        let committed = self.live.commit(&self.inner.store, batch)?;
        if images > 0 {
            for path in entries.iter_mut().flat_map(|entry| &mut entry.images) {
                *path = self.path_of(path, &committed);
            }
        }
        self.entries.append(&mut entries);
        Ok(committed)
    }

    /// The path of an image that was stored, from its reference in the batch; other paths stay.
    pub(super) fn path_of(&self, path: &str, committed: &Committed) -> String {
        match crate::store::image_place(path) {
            Some(place) => format!("/agent/conversations/{}/images/{}", self.live.id, committed.first_image + place),
            None => path.to_owned(),
        }
    }

    /// Stores how the run of a routine ended.
    pub(super) fn end_routine(&mut self, end: &End) {
        let is_ending = self.live.interrupted() == Some(Interrupted::Ending);
        let Some(run) = &mut self.routine else { return };
        match end {
            // Stored with the answer, or with the question.
            End::Finished | End::Waiting => {}
            End::Interrupted if is_ending => run.end(RunStatus::Interrupted, Some(Code::Interrupted.as_str())),
            End::Interrupted | End::MaxSteps(_) => run.end(RunStatus::Stopped, None),
            End::Failed { code, .. } => run.end(RunStatus::Failed, Some(code.as_str())),
            End::Routine(ending) => run.end_early(ending),
        }
        if !matches!(end, End::Finished | End::Waiting) {
            run.drop_verification(self.inner);
            run.drop_healing(self.inner);
        }
        let is_over = matches!(end, End::Finished | End::Routine(_));
        if let Err(problem) = self.commit(Draft::default()) {
            tracing::warn!(conversation = %self.live.id, %problem, "the report of a run could not be stored");
        }
        if is_over {
            self.inner.control.secret_store().take_back(&format!("{}/", self.live.id));
        }
    }

    /// The message with the images of the results so far.
    pub(super) fn take_pictures(&mut self) -> Option<Entry> {
        Self::message_with(std::mem::take(&mut self.pictures))
    }

    /// Takes the images of a stored message back, to add them to those of the next results.
    pub(super) fn restore_pictures(&mut self, body: &Value) {
        if body.is_null() {
            return;
        }
        let prefix = format!("/agent/conversations/{}/images/", self.live.id);
        let image = |path: &str| {
            let n = path.strip_prefix(&prefix).and_then(|n| n.parse().ok())?;
            let image = self.inner.store.image(&self.live.id, n, Deadline::after(WRITE)).ok().flatten()?;
            Some((image.media_type, image.bytes))
        };
        let entry = Entry::read(body, image);
        let captions = "an earlier result of the same answer".to_owned();
        let images = entry.message.parts.into_iter().filter_map(|part| match part {
            Part::Image { media_type, bytes } => Some((media_type, bytes)),
            _ => None,
        });
        let restored = images.zip(entry.images).map(|((media_type, bytes), path)| Picture {
            caption: captions.clone(),
            media_type,
            bytes,
            path,
        });
        let restored: Vec<Picture> = restored.collect();
        self.pictures.splice(0..0, restored);
    }

    /// The message with images; `None` without any.
    pub(super) fn message_with(pictures: Vec<Picture>) -> Option<Entry> {
        let captions: Vec<&str> = pictures.iter().map(|picture| picture.caption.as_str()).collect();
        let text = match captions.as_slice() {
            [] => return None,
            [one] => format!("Picture of {one}."),
            many => format!("Pictures, in this order, of {}.", many.join("; ")),
        };
        let mut entry = Entry::user(Kind::Pictures, text);
        for Picture { media_type, bytes, path, .. } in pictures {
            entry.message.parts.push(Part::Image { media_type, bytes });
            entry.images.push(path);
        }
        Some(entry)
    }
}
