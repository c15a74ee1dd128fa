//! Reading the conversations of a home.

use serde_json::Value;

use super::held_up::{self, HoldUp};
use super::settings::{Mode, Settings};
use super::{Agents, Error, WRITE};
use crate::control::TabInfo;
use crate::store::{Conversation, ConversationState, Image, Question, StoredEvent};
use cdpilot::sync::Deadline;

/// Maximum number of conversations in a list.
const MOST_LISTED: usize = 1_000;

/// A conversation with the state of its run.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// What is stored of it.
    pub conversation: Conversation,
    /// Whether a run is in progress, also one that is paused or queued.
    pub running: bool,
    /// Whether its run is paused; its state is `active` then.
    pub paused: bool,
    /// Whether its run waits until one of the other runs ends.
    pub queued: bool,
    /// Its open question.
    pub question: Option<Question>,
    /// What holds it up; `None` if it goes on, or rests.
    pub held_up: Option<HoldUp>,
    /// Whether the end of its last run could not be stored.
    pub(super) lost_end: bool,
}

impl Agents {
    /// The conversations, the last changed first, at most 1,000; only those in `state` if it is given. Those that compile a recording
    /// are left out unless `all` is set.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn list(&self, state: Option<ConversationState>, all: bool) -> Result<Vec<Overview>, Error> {
        let hidden = (!all).then_some(Mode::Compile.as_str());
        let found = self.inner().store.conversations(state, hidden, MOST_LISTED, Deadline::after(WRITE))?;
        found.into_iter().map(|conversation| self.overview(conversation)).collect()
    }

    /// A conversation.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub fn get(&self, id: &str) -> Result<Overview, Error> {
        let found = self.inner().store.conversation(id, Deadline::after(WRITE))?;
        self.overview(found.ok_or_else(|| Error::not_found(id))?)
    }

    /// The tabs of a conversation; none while it has no session, or its browser is not running.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`], [`Error::Control`] for a profile that no longer exists.
    pub fn tabs(&self, id: &str) -> Result<Vec<TabInfo>, Error> {
        let inner = self.inner();
        let found = inner.store.conversation(id, Deadline::after(WRITE))?.ok_or_else(|| Error::not_found(id))?;
        let Some(session) = inner.live(id).and_then(|live| live.known_session()) else { return Ok(Vec::new()) };
        let settings = Settings::read(&found)?;
        let pages = inner.control.profile(settings.profile.as_deref())?.for_session(&session);
        let own = pages.targets();
        Ok(pages.tabs().into_iter().filter(|tab| own.contains(&tab.target_id)).collect())
    }

    fn overview(&self, mut conversation: Conversation) -> Result<Overview, Error> {
        let live = self.inner().live(&conversation.id);
        let running = live.as_ref().is_some_and(|live| live.is_running());
        let lost_end = conversation.state == ConversationState::Active && !running;
        if lost_end {
            // Its end could not be stored.
            conversation.state = ConversationState::Error;
        }
        let (paused, queued) = live.as_ref().map_or((false, false), |live| live.paused_and_queued());
        let question = match conversation.state {
            ConversationState::Waiting => self.inner().store.open_question(&conversation.id, Deadline::after(WRITE))?,
            _ => None,
        };
        let mut overview = Overview { conversation, running, paused, queued, question, held_up: None, lost_end };
        overview.held_up = held_up::of(&overview, live.as_deref());
        Ok(overview)
    }

    /// The messages of a conversation as they are stored: those of the user, the model and the tools, from the first one.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub fn history(&self, id: &str) -> Result<Vec<Value>, Error> {
        self.get(id)?;
        let all = self.inner().store.messages(id, 1, usize::MAX, Deadline::after(WRITE))?;
        Ok(all.into_iter().map(|message| message.body).collect())
    }

    /// At most `limit` stored events after an id, in order.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<StoredEvent>, Error> {
        self.get(id)?;
        Ok(self.inner().store.events(id, after, limit, Deadline::after(WRITE))?)
    }

    /// An image of a conversation, by its number from 1.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such conversation or image, or when the image is no longer kept;
    /// [`Error::Store`].
    pub fn image(&self, id: &str, n: u64) -> Result<Image, Error> {
        self.get(id)?;
        let image = self.inner().store.image(id, n, Deadline::after(WRITE))?;
        image.ok_or(Error::NoImage { n })
    }
}
