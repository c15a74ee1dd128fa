//! The session of a conversation: its tabs, their size, and what watches their requests.

use std::sync::Arc;

use super::agents::Inner;
use super::guard;
use super::live::Live;
use super::run;
use super::settings::{Mode, Settings};
use super::turn::SHORT;
use super::wire::Wire;
use super::{Agents, Error};
use crate::config::Guard;
use crate::control::{Profile, Session};

/// Size of the tabs of conversations in browsers without a window, in CSS pixels.
const WIDTH: u32 = 1280;
const HEIGHT: u32 = 720;

/// The session for a run, and whether no run has used it. `wire` watches its requests.
pub(super) fn for_run(
    inner: &Inner,
    live: &Live,
    settings: &Settings,
    wire: Option<&Wire>,
) -> Result<(Session, bool), Error> {
    let session = get_or_make(inner, live, settings, wire)?;
    Ok((session, live.take_session_is_new()))
}

fn get_or_make(inner: &Inner, live: &Live, settings: &Settings, wire: Option<&Wire>) -> Result<Session, Error> {
    let short: String = live.id.chars().take(SHORT).collect();
    let mut new = Session::unlisted(&format!("agent-{short}"), !settings.share_login);
    let (width, height) = settings.viewport().unwrap_or((WIDTH, HEIGHT));
    new = new.with_viewport(width, height).may_share_context();
    if settings.mode == Mode::Chat {
        new = new.noting_actions();
    }
    if let Some(wire) = wire {
        new = new.watched_by(Arc::new(wire.clone()));
    }
    let hosts = settings.hosts();
    if !hosts.is_empty() {
        new = new.with_hosts(inner.control.hosts(&hosts)?)?;
    }
    let session = live.session(|| new);
    if let Some(of_session) = session.hosts().filter(|_| !hosts.is_empty()) {
        // A person may have admitted more since the session was made.
        of_session.set(&hosts)?;
    }
    session.keep_tabs(true);
    Ok(session)
}

impl Agents {
    /// The profile of a conversation, for its session, which is created if no run has used one: for recording its tabs.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`], [`Error::Control`] for a profile that no longer exists.
    pub fn profile_of(&self, id: &str) -> Result<Profile, Error> {
        let inner = self.inner();
        let (conversation, live) = inner.find(id)?;
        let settings = Settings::read(&conversation)?;
        let profile = inner.control.profile(settings.profile.as_deref())?;
        let is_guarded = guard::level(&settings, inner.control.config().agent.guard) != Guard::Off;
        let wire = is_guarded.then(|| live.wire(&settings.requests()));
        run::make_room(inner, &live);
        Ok(profile.for_session(&get_or_make(inner, &live, &settings, wire.as_ref())?))
    }
}
