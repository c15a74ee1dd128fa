//! Resolves a frame to the session and execution context of its calls.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

use super::call_watchdog::{DIALOG_GRACE, open_for};
use super::error::Error;
use super::handle::Supervisor;
use super::snapshot::{Dialog, Frame, PageState, PageView, Phase, View};
use super::state::origin_of;
use crate::cdp::Connection;
use crate::cdp::protocol::page::{FrameId, GetFrameTree};
use crate::cdp::protocol::target::TargetId;
use crate::cdp::rt::Command as _;
use crate::sync::Deadline;

/// The frame of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FrameRef {
    /// The top frame of the task's first page that is not a popup.
    Top,
    /// The top frame of a page.
    TopOf(TargetId),
    /// A frame by its id.
    Id(FrameId),
}

impl FromStr for FrameRef {
    type Err = std::convert::Infallible;

    /// `top` or a frame id.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(if text == "top" { Self::Top } else { Self::Id(FrameId::from(text)) })
    }
}

impl From<FrameId> for FrameRef {
    fn from(id: FrameId) -> Self {
        Self::Id(id)
    }
}

/// Whose script a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ScriptOf {
    /// A client's: it is ended at the deadline of its call.
    #[default]
    Client,
    /// Our own, which does not block the page for long. It is not ended: what blocks the page then is a script of the page.
    Ours,
    /// The same, of which the page need not answer a probe first if it has just answered.
    OursBrief,
}

/// Connection, session and execution context of a call.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// The connection that the session belongs to.
    pub(super) connection: Connection,
    pub(super) target: TargetId,
    pub(super) session: Arc<str>,
    pub(super) frame: Option<FrameId>,
    /// The execution context, when the frame shares its session with others.
    pub(super) context: Option<i64>,
    /// Whose script the call runs, if it is one.
    pub(super) script: ScriptOf,
}

impl Supervisor {
    /// The route to a frame. Waits for a reconnect in progress, and for the first document of a new page.
    pub(super) fn route(&self, frame: &FrameRef, deadline: Deadline<'_>) -> Result<Route, Error> {
        loop {
            let route = self.route_at_once(frame, deadline)?;
            let now = self.view();
            let is_top = route
                .frame
                .as_ref()
                .is_none_or(|frame| now.frame(frame.as_str()).is_none_or(|frame| frame.parent_frame_id.is_none()));
            if !is_top || now.page(route.target.as_str()).is_none_or(|page| !page.is_arriving) {
                return Ok(route);
            }
            self.wait_arrived(&route.target, deadline)?;
            // The frames may have become known just now.
            if self.view().dialogs_of(route.target.as_str()).next().is_some() {
                return Ok(route);
            }
        }
    }

    /// Like [`route`](Self::route), without waiting for the first document of a new page: for navigations.
    pub(super) fn route_at_once(&self, frame: &FrameRef, deadline: Deadline<'_>) -> Result<Route, Error> {
        self.find_route(frame, deadline).map_err(|error| error.or_cancelled(deadline))
    }

    /// Waits until a new page is attached and shows its first document, or turns out to have none. A dialog ends the wait,
    /// since the page waits for its answer.
    ///
    /// # Errors
    /// At the deadline [`Error::Navigating`], or [`Error::Unresponsive`] while it is still being attached;
    /// [`Error::BlockedByDialog`] if it is a popup and its opener shows a dialog; [`Error::Reconnecting`];
    /// [`Error::Cancelled`].
    pub fn wait_arrived(&self, page: &TargetId, deadline: Deadline<'_>) -> Result<(), Error> {
        let (began, page) = (Instant::now(), page.as_str());
        let arriving = |s: &View| s.page(page).is_some_and(|page| page.is_arriving || page.awaits_frames());
        let over = |s: &View| !arriving(s) || !s.is_active() || s.dialogs_of(page).next().is_some();
        loop {
            let now = self.connected(deadline)?;
            if over(&now) || self.wait_until(deadline.within(DIALOG_GRACE), over).is_some() {
                let now = self.view();
                if matches!(now.phase, Phase::Reconnecting(_)) {
                    continue;
                }
                return Ok(());
            }
            let now = self.view();
            let Some(waiting) = now.page(page).filter(|_| arriving(&now)) else { return Ok(()) };
            if let Some(dialog) = dialog_of_opener(&now, waiting, deadline.passed()) {
                let error = Error::blocked_by_dialog(GetFrameTree::METHOD, &dialog.id);
                return Err(error.or_cancelled(deadline));
            }
            if deadline.passed() {
                let after = began.elapsed();
                let error = match waiting.state {
                    PageState::Attaching | PageState::Unresponsive if !waiting.is_under_way => {
                        waiting.not_attached(after)
                    }
                    _ => Error::Navigating { page: page.to_owned(), after },
                };
                return Err(error.or_cancelled(deadline));
            }
        }
    }

    fn find_route(&self, frame: &FrameRef, deadline: Deadline<'_>) -> Result<Route, Error> {
        loop {
            let snapshot = self.connected(deadline)?;
            if let Phase::Ended(_) = snapshot.phase {
                return Err(self.not_active());
            }
            let (generation, connection) = self.current_connection.current();
            if generation != snapshot.generation {
                continue; // read on both sides of a reconnect
            }
            if connection.is_closed() {
                // The connection ended before the supervisor's thread noticed: nothing is sent.
                let changed = |s: &View| !s.is_active() || s.generation != generation;
                if snapshot.is_active() && self.wait_until(deadline, changed).is_some() {
                    continue;
                }
                return Err(self.not_active());
            }
            return match route_in(&snapshot, frame, connection) {
                Err(Error::FrameDetached { frame }) if snapshot.is_attaching(&frame) => {
                    let began = Instant::now();
                    let before = snapshot.page_of_detached(&frame);
                    let state = |s: &View| s.page_of_detached(&frame).map(|page| page.state);
                    // A page is attached within the deadline or becomes unresponsive; a frame changes its process soon.
                    let attaching = before.filter(|page| page.state == PageState::Attaching);
                    let dialog = |s: &View| {
                        let dialog = attaching.and_then(|page| s.dialogs_of(page.target_id.as_str()).next())?;
                        Some(Error::blocked_by_dialog(GetFrameTree::METHOD, &dialog.id))
                    };
                    if let Some(error) = dialog(&snapshot) {
                        return Err(error);
                    }
                    let limit = if attaching.is_some() { deadline } else { deadline.within(DIALOG_GRACE) };
                    let changed = |s: &View| state(s) != before.map(|page| page.state) || dialog(s).is_some();
                    if self.wait_until(limit, |s| !s.is_active() || changed(s)).is_some() {
                        continue;
                    }
                    let after = began.elapsed();
                    let error = attaching.map_or(Error::FrameDetached { frame }, |page| page.not_attached(after));
                    Err(error.or_cancelled(deadline))
                }
                // When a browser ends, its pages go before the connection does.
                Err(error @ (Error::FrameNotFound { .. } | Error::PageNotFound { .. }))
                    if snapshot.pages.is_empty() =>
                {
                    let changed = |s: &View| !s.is_active() || !s.pages.is_empty();
                    if self.wait_until(deadline.within(DIALOG_GRACE), changed).is_some() {
                        continue;
                    }
                    Err(error.or_cancelled(deadline))
                }
                Err(Error::FrameDetached { frame }) => Err(snapshot
                    .page_of_detached(&frame)
                    .and_then(PageView::not_usable)
                    .unwrap_or(Error::FrameDetached { frame })),
                route => route,
            };
        }
    }

    /// The execution context of the call; waits briefly for one that is being created. `None` for the session's default
    /// context.
    pub(super) fn context(&self, route: &Route, deadline: Deadline<'_>) -> Result<Option<i64>, Error> {
        let (Some(known), Some(id)) = (route.context, &route.frame) else { return Ok(None) };
        if known != NO_CONTEXT {
            return Ok(Some(known));
        }
        let found = self.wait_until(deadline.within(DIALOG_GRACE), |s| {
            s.frame(id.as_str()).is_none_or(|frame| frame.context.is_some())
        });
        let context = found.and_then(|s| s.frame(id.as_str()).and_then(|frame| frame.context));
        context.map(Some).ok_or_else(|| Error::NoContext { frame: id.to_string() }.or_cancelled(deadline))
    }

    pub(super) fn not_a_frame_command(&self, method: &str, frame: &FrameId) -> Error {
        let snapshot = self.view();
        let owner = snapshot.frame(frame.as_str()).and_then(|f| f.session_frame.as_ref());
        Error::NotAFrameCommand {
            method: method.to_owned(),
            frame: frame.to_string(),
            owner: owner.map_or_else(|| "top".to_owned(), ToString::to_string),
        }
    }
}

/// The dialog of its opener that blocks a new page: a page that can access its opener is created in the opener's process, and
/// stays there if it shows a document of the same origin. Another one only waits for its server, as long as there is time.
fn dialog_of_opener<'a>(now: &'a View, page: &PageView, is_late: bool) -> Option<&'a Dialog> {
    let opener = page.opener.as_ref().filter(|_| page.shares_process).and_then(|opener| now.page(opener.as_str()))?;
    let stays = !page.is_under_way || origin_of(&page.url) == origin_of(&opener.url);
    let dialog = now.dialogs_of(opener.target_id.as_str()).next()?;
    (is_late || (stays && open_for(dialog) >= DIALOG_GRACE)).then_some(dialog)
}

/// Placeholder for the frame's own context while it is unknown.
const NO_CONTEXT: i64 = i64::MIN;

fn route_in(snapshot: &View, frame: &FrameRef, connection: Connection) -> Result<Route, Error> {
    let target = match frame {
        FrameRef::Top => &snapshot.pages.first().ok_or(Error::NoPage)?.target_id,
        FrameRef::TopOf(target) => target,
        FrameRef::Id(id) => {
            let frame = snapshot.frame(id.as_str()).ok_or_else(|| unknown(id, snapshot))?;
            return route_to(frame, connection);
        }
    };
    let page = snapshot.page(target.as_str()).ok_or_else(|| Error::PageNotFound { target: target.to_string() })?;
    Ok(Route {
        connection,
        target: page.target_id.clone(),
        session: Arc::clone(&page.session),
        frame: page.top_frame.clone(),
        context: None,
        script: ScriptOf::default(),
    })
}

fn route_to(frame: &Frame, connection: Connection) -> Result<Route, Error> {
    let detached = || Error::FrameDetached { frame: frame.frame_id.to_string() };
    let session = frame.session_id.clone().ok_or_else(detached)?;
    let own = frame.session_frame.as_ref() == Some(&frame.frame_id) || frame.parent_frame_id.is_none();
    Ok(Route {
        connection,
        target: frame.target_id.clone(),
        session,
        frame: Some(frame.frame_id.clone()),
        context: (!own).then(|| frame.context.unwrap_or(NO_CONTEXT)),
        script: ScriptOf::default(),
    })
}

fn unknown(id: &FrameId, snapshot: &View) -> Error {
    let known = snapshot.frames.iter().take(10).map(|f| f.frame_id.to_string()).collect();
    Error::FrameNotFound { frame: id.to_string(), known }
}
