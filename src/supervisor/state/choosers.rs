//! File choosers: intercepted before they are shown, and answered with files that were set in advance.
//!
//! Observed in Chromium 156: a chooser is reported on the session of the frame that opens it, if interception is
//! enabled there. With `cancel` the page gets a cancelled chooser at once, so it is set only while no files are armed.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;

use super::super::chooser::ChosenFiles;
use super::super::error::Error;
use super::super::log::LogEvent as Noted;
use super::pending_response::PendingResponse;
use super::requests::Response;
use super::{Now, SessionKey, State, Waiting};
use crate::cdp;
use crate::cdp::protocol::dom::{BackendNodeId, SetFileInputFiles};
use crate::cdp::protocol::page::{FrameId, SetInterceptFileChooserDialog};
use crate::cdp::protocol::target::TargetId;
use crate::cdp::rt;

/// <https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-fileChooserOpened>
pub(in crate::supervisor) const CHOOSER: &str = "Page.fileChooserOpened";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Opened {
    frame_id: FrameId,
    mode: String,
    backend_node_id: Option<BackendNodeId>,
}

impl rt::Event<'_> for Opened {
    const METHOD: &'static str = CHOOSER;
}

/// Files armed for the next chooser.
#[derive(Debug)]
struct Armed {
    files: Arc<[String]>,
    since: Instant,
    until: Instant,
    reply: Response<ChosenFiles>,
}

/// The choosers of all pages.
#[derive(Debug, Default)]
pub(super) struct Choosers {
    on: bool,
    armed: HashMap<TargetId, Armed>,
}

impl State {
    /// Starts or stops intercepting file choosers.
    pub(super) fn watch_choosers(&mut self, on: bool) {
        if self.choosers.on == on {
            return;
        }
        self.choosers.on = on;
        let sessions: Vec<SessionKey> = self.sessions.keys().map(Arc::clone).collect();
        for session in sessions {
            self.send_chooser_mode(&session);
        }
    }

    /// Enables interception in a new session.
    pub(super) fn chooser_session(&mut self, session: &SessionKey) {
        if self.choosers.on {
            self.send_chooser_mode(session);
        }
    }

    pub(super) fn send_chooser_mode(&mut self, session: &SessionKey) {
        let Some(rec) = self.sessions.get(session).filter(|rec| rec.kind.has_frames()) else { return };
        let is_armed = self.choosers.armed.contains_key(&rec.page);
        let catches = self.choosers.on && (is_armed || !self.shows_choosers(&rec.page));
        let mut catch = SetInterceptFileChooserDialog::new(catches);
        catch.cancel = catches.then_some(!is_armed);
        self.send(Some(session), 0, catch);
    }

    fn chooser_mode_of(&mut self, page: &TargetId) {
        let here = self.sessions.iter().filter(|(_, rec)| rec.page == *page);
        let sessions: Vec<SessionKey> = here.map(|(key, _)| Arc::clone(key)).collect();
        for session in sessions {
            self.send_chooser_mode(&session);
        }
    }

    /// Arms files for the next chooser of a page.
    pub(super) fn arm_chooser(
        &mut self,
        page: TargetId,
        files: Arc<[String]>,
        until: Instant,
        reply: Response<ChosenFiles>,
        now: Now,
    ) -> Result<(), Error> {
        if self.page_index(&page).is_none() {
            return Err(Error::PageNotFound { target: page.to_string() });
        }
        let armed = Armed { files, since: now.instant, until, reply };
        if let Some(old) = self.choosers.armed.insert(page.clone(), armed) {
            self.requests.respond_later(PendingResponse::Chooser(old.reply, Err(Error::ChooserReplaced)));
        }
        self.choosers.on = true;
        self.chooser_mode_of(&page);
        Ok(())
    }

    fn disarm_chooser(&mut self, page: &TargetId, error: Error) {
        if let Some(armed) = self.choosers.armed.remove(page) {
            self.requests.respond_later(PendingResponse::Chooser(armed.reply, Err(error)));
            self.chooser_mode_of(page);
        }
    }

    pub(super) fn chooser_opened(&mut self, session: &SessionKey, event: &Opened, now: Now) {
        let Some(page) = self.page_of(session) else { return };
        let several = event.mode == "selectMultiple";
        let armed = self.choosers.armed.remove(&page);
        let count = armed.as_ref().map_or(0, |armed| armed.files.len());
        let refused = match event.backend_node_id {
            _ if armed.is_none() => None,
            None => Some(Error::ChooserWithoutInput),
            Some(_) if !several && count > 1 => Some(Error::ChooserOfOne { files: count }),
            Some(_) => None,
        };
        let name = |file: &String| Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let given = armed.as_ref().filter(|_| refused.is_none()).map(|armed| &armed.files);
        let files: Vec<String> = given.into_iter().flat_map(|files| files.iter()).map(name).collect();
        let problem = refused.as_ref().map(ToString::to_string);
        let (frame_id, answered) = (event.frame_id.clone(), armed.is_some());
        self.note(Some(&page), now, Noted::FileChooser { frame_id, several, answered, files, problem });
        let Some(armed) = armed else { return };
        if let Some(error) = refused {
            self.requests.respond_later(PendingResponse::Chooser(armed.reply, Err(error)));
        } else if let Some(node) = event.backend_node_id {
            let chosen = ChosenFiles { frame_id: event.frame_id.clone(), files: armed.files.len(), several };
            let tag = self.expect(Waiting::Chooser { chosen, reply: armed.reply });
            let mut set = SetFileInputFiles::new(armed.files.to_vec());
            set.backend_node_id = Some(node);
            self.send(Some(session), tag, set);
        }
        self.chooser_mode_of(&page);
    }

    pub(super) fn files_set(&mut self, chosen: ChosenFiles, reply: Response<ChosenFiles>, error: Option<cdp::Error>) {
        self.requests
            .respond_later(PendingResponse::Chooser(reply, error.map_or(Ok(chosen), |error| Err(error.into()))));
    }

    /// A page was closed.
    pub(super) fn forget_chooser(&mut self, page: &TargetId) {
        self.disarm_chooser(page, Error::PageNotFound { target: page.to_string() });
    }

    /// The connection was lost, or the supervisor ends.
    pub(super) fn forget_choosers(&mut self, error: &Error) {
        let armed: Vec<Armed> = self.choosers.armed.drain().map(|(_, armed)| armed).collect();
        for armed in armed {
            self.requests.respond_later(PendingResponse::Chooser(armed.reply, Err(error.clone())));
        }
    }

    pub(super) fn check_choosers(&mut self, now: Now) {
        let late = self.choosers.armed.iter().filter(|(_, armed)| armed.until <= now.instant);
        let late: Vec<(TargetId, Instant)> = late.map(|(page, armed)| (page.clone(), armed.since)).collect();
        for (page, since) in late {
            self.disarm_chooser(&page, Error::NoChooser { after: now.instant.duration_since(since) });
        }
    }

    pub(super) fn next_chooser_check(&self) -> Option<Instant> {
        self.choosers.armed.values().map(|armed| armed.until).min()
    }
}
