//! Seeing and acting: what a tab shows, refs for what is in it, and actions on them.
//!
//! [`Tabs`] belongs to a supervisor and gives a [`Tab`] for each of its pages. A tab is asked for a
//! [`Snapshot`], which shows all frames with refs, and told to act on a ref. Everything goes through the
//! supervisor's connection and is bounded by a deadline; under a dialog it answers at once.
//!
//! | file | what it holds |
//! |---|---|
//! | `world`, `script` | our isolated world in each frame, and what runs in it |
//! | `refs` | numbers for DOM nodes |
//! | `see` | snapshots |
//! | `picture` | screenshots with labels, PDF, highlights |
//! | `rest` | console, requests, text, cookies, storage, emulation, downloads, file choosers |
//! | `cookie_import` | cookies of other programs |
//! | `login_state` | cookies and storage of all origins, saved and loaded |
//! | `navigation` | navigations and waiting for their documents |
//! | `options` | what the pages of a supervisor are given |
//! | `find` | locators, and what is read of one element |
//! | `act`, `input`, `place` | actions, trusted input, where things are in the top viewport |
//! | `error` | what can go wrong |

mod act;
mod cookie_import;
mod error;
mod find;
mod input;
mod login_state;
mod navigation;
mod options;
mod picture;
mod place;
mod refs;
mod rest;
mod script;
mod see;
mod world;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

pub use act::{
    Act, ActKind, Button, Direction, Field, FieldValue, Input, Locator, Modifier, MouseEvent, MouseKind, Notice,
    NoticeKind, OpenedChooser, OpenedTab, Outcome, Point, Settle, Settled, State, WaitFor,
};
pub use cookie_import::{CookieFormat, FaultyLine, ImportedCookies, ReadCookies, read_cookies};
pub use error::{Error, Shown};
pub use find::{ElementBox, ElementState, Got, Match, Matches, What};
pub use login_state::{
    LoadedState, LoginState, OriginReport, OriginState, PartitionKey, RejectedCookie, STATE_FORMAT, STATE_VERSION,
    SaveState, SavedState, SessionRestore, Skipped, StateCookie,
};
#[cfg(feature = "server")]
pub(crate) use navigation::{BeforeNavigation, Late};
pub use navigation::{Navigation, WaitUntil};
pub use options::{PageOptions, TabNames};
pub use picture::{Annotation, Fit, LabelCounts, PdfOptions, PictureType, Rect, Screenshot, ScreenshotOptions, save};
#[cfg(feature = "server")]
pub(crate) use rest::clear_incoming;
#[cfg(feature = "cli")]
pub(crate) use rest::device_names;
use rest::{Believed, Cleared, Downloads};
pub use rest::{
    Change, ConsoleMessage, Cookie, Credentials, Download, DownloadState, EmulatedNetwork, Emulation, FrameText,
    Geolocation, Given, Har, Media, NetworkPreset, NetworkSpeed, NewCookie, PageError, PageText, RecordOptions,
    RequestRecord, RequestTiming, ResponseBody, SameSite, Storage, Upload, Viewport,
};
pub use see::{AriaNode, Diff, Format, Hunk, RefInfo, Snapshot, SnapshotOptions, Stats, Unread};
pub use world::{Doc, Node};

use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::supervisor::{self, Supervisor};
use crate::sync::{Cancel, Deadline, Turn, Turns};

/// The tabs of a supervisor. Clones are the same.
#[derive(Clone)]
pub struct Tabs {
    supervisor: Arc<Supervisor>,
    options: Arc<PageOptions>,
    downloads: Option<Arc<Downloads>>,
    tabs: Arc<Mutex<HashMap<TargetId, Arc<Tab>>>>,
}

/// What turning something on in the supervisor may take; its thread is always quick.
const SETTING: Duration = Duration::from_secs(2);

impl Tabs {
    /// The pages that a supervisor watches.
    #[must_use]
    pub fn new(supervisor: Arc<Supervisor>) -> Self {
        let options = PageOptions::default();
        // Of a supervisor that has ended the next call says so.
        let _ = supervisor.watch_network(options.network, Deadline::after(SETTING));
        let _ = supervisor.watch_choosers(true, Deadline::after(SETTING));
        Self { supervisor, options: Arc::new(options), downloads: None, tabs: Arc::default() }
    }

    /// The pages that a supervisor watches, with options.
    ///
    /// # Errors
    /// [`Error::File`] when the downloads folder cannot be used, [`Error::Supervisor`].
    pub fn with_options(supervisor: Arc<Supervisor>, options: PageOptions) -> Result<Self, Error> {
        let deadline = Deadline::after(SETTING);
        let downloads = match &options.downloads {
            Some(folder) => Some(Arc::new(Downloads::begin(&supervisor, folder, deadline)?)),
            None => None,
        };
        supervisor.watch_choosers(true, deadline)?;
        if options.network {
            supervisor.watch_network(true, deadline)?;
        }
        Ok(Self { supervisor, options: Arc::new(options), downloads, tabs: Arc::default() })
    }

    /// The supervisor.
    #[must_use]
    pub fn supervisor(&self) -> &Arc<Supervisor> {
        &self.supervisor
    }

    /// Drops what is kept of pages that are gone: refs, snapshots, pictures. [`tab`](Self::tab) does so for refs and
    /// snapshots.
    pub fn forget_closed(&self) {
        let now = self.supervisor.view();
        let mut old = Vec::new();
        self.tabs.lock().retain(|target, tab| {
            let is_open = now.page(target.as_str()).is_some();
            if !is_open {
                old.push(Arc::clone(tab));
            }
            is_open
        });
        drop(old); // outside of the lock
        self.supervisor.drop_old_pictures();
    }

    /// A tab by its target id. The same one as before, with its refs.
    ///
    /// # Errors
    /// [`supervisor::Error::PageNotFound`].
    pub fn tab(&self, target: &TargetId) -> Result<Arc<Tab>, Error> {
        let now = self.supervisor.view();
        let mut tabs = self.tabs.lock();
        tabs.retain(|target, _| now.page(target.as_str()).is_some());
        if now.page(target.as_str()).is_none() {
            return Err(supervisor::Error::PageNotFound { target: target.to_string() }.into());
        }
        let tab = tabs.entry(target.clone()).or_insert_with(|| {
            let supervisor = Arc::clone(&self.supervisor);
            Arc::new(Tab {
                supervisor,
                turns: Turns::default(),
                target: target.clone(),
                worlds: world::Worlds::default(),
                refs: Mutex::default(),
                seen: Mutex::default(),
                mouse: Mutex::default(),
                acted: Mutex::default(),
                options: Arc::clone(&self.options),
                downloads: self.downloads.clone(),
                highlighted: Mutex::default(),
                cleared: Cleared::default(),
                believed: Mutex::new(Believed::default()),
            })
        });
        Ok(Arc::clone(tab))
    }
}

impl fmt::Debug for Tabs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tabs").field("supervisor", &self.supervisor).finish_non_exhaustive()
    }
}

/// One tab: its refs and what was seen of it. All methods may be called from any thread.
///
/// Locks are held for moments only, never over a call into the browser, and never two at once.
pub struct Tab {
    supervisor: Arc<Supervisor>,
    target: TargetId,
    turns: Turns,
    worlds: world::Worlds,
    refs: Mutex<refs::Refs>,
    seen: Mutex<see::Seen>,
    mouse: Mutex<input::Mouse>,
    acted: Mutex<act::Acted>,
    options: Arc<PageOptions>,
    downloads: Option<Arc<Downloads>>,
    highlighted: Mutex<Option<picture::Highlighted>>,
    cleared: Cleared,
    believed: Mutex<Believed>,
}

impl Tab {
    /// Its target.
    #[must_use]
    pub fn target(&self) -> &TargetId {
        &self.target
    }

    /// The supervisor it belongs to.
    #[must_use]
    pub fn supervisor(&self) -> &Arc<Supervisor> {
        &self.supervisor
    }

    /// What a ref was shown for: `e12`, `@e12` or `12`.
    ///
    /// # Errors
    /// [`Error::BadRef`], [`Error::StaleRef`].
    pub fn resolve(&self, reference: &str) -> Result<(Node, Shown), Error> {
        self.refs.lock().get(reference)
    }

    /// Waits for the turn to change the tab: one at a time, first come, first served. [`act`](Self::act) takes it by
    /// itself; it is for what changes a tab in another way, such as a navigation. An open dialog ends the wait unless
    /// `under_dialog`. What only reads needs no turn.
    ///
    /// # Errors
    /// [`Error::Busy`] at the deadline, [`Error::Supervisor`] when a dialog opens, when the tab closes, and for a caller
    /// that is gone.
    pub fn turn(&self, what: &'static str, under_dialog: bool, deadline: Deadline) -> Result<Turn<'_>, Error> {
        let target = self.target.as_str();
        let stop = || {
            let now = self.supervisor.view();
            let is_blocked = !under_dialog && now.dialogs_of(target).next().is_some();
            is_blocked || now.page(target).is_none() || matches!(now.phase, supervisor::Phase::Ended(_))
        };
        let turn = self.turns.take(what, deadline, stop);
        if Cancel::is_current_set() {
            return Err(supervisor::Error::Cancelled.into());
        }
        turn.map_err(|busy| {
            let now = self.supervisor.view();
            if let supervisor::Phase::Ended(reason) = &now.phase {
                return supervisor::Error::NotActive { reason: reason.to_string() }.into();
            }
            if now.page(target).is_none() {
                return supervisor::Error::PageNotFound { target: self.target.to_string() }.into();
            }
            if let Some(dialog) = now.dialogs_of(target).next().filter(|_| !under_dialog) {
                return supervisor::Error::blocked_by_dialog(what, &dialog.id).into();
            }
            let since_ms = u64::try_from(busy.since.as_millis()).unwrap_or(u64::MAX);
            Error::Busy { running: busy.running.unwrap_or("an action"), since_ms, ahead: busy.ahead }
        })
    }

    /// A frame of this tab by its id.
    fn own_frame(&self, id: &str) -> Result<FrameId, Error> {
        let now = self.supervisor.view();
        if now.frame(id).is_some_and(|frame| frame.target_id == self.target) {
            return Ok(FrameId::from(id));
        }
        let known = now.frames_of(self.target.as_str()).take(10).map(|frame| frame.frame_id.to_string()).collect();
        Err(supervisor::Error::FrameNotFound { frame: id.to_owned(), known }.into())
    }

    /// Waits until a new tab shows its first document.
    fn arrived(&self, deadline: Deadline) -> Result<(), Error> {
        Ok(self.supervisor.wait_arrived(&self.target, deadline)?)
    }

    /// The top frame.
    fn top(&self) -> Result<FrameId, Error> {
        let now = self.supervisor.view();
        let missing = || supervisor::Error::PageNotFound { target: self.target.to_string() };
        let page = now.page(self.target.as_str()).ok_or_else(missing)?;
        let detached = || supervisor::Error::FrameDetached { frame: "top".to_owned() };
        Ok(page.top_frame.clone().ok_or_else(detached)?)
    }
}

impl fmt::Debug for Tab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tab").field("target", &self.target).finish_non_exhaustive()
    }
}
