//! Reading tabs and acting on them: snapshots with refs, screenshots, actions.
//!
//! [`Tabs`] belongs to a supervisor and provides a [`Tab`] for each of its pages. [`Tab::snapshot`] returns the content of all
//! frames with refs, and [`Tab::act`] acts on a ref. Everything uses the supervisor's connection and has a deadline; while a
//! dialog is open, calls return at once.
//!
//! | file | contents |
//! |---|---|
//! | `world`, `script` | the isolated world in each frame, and the script that runs in it |
//! | `refs` | refs: numbers of DOM nodes |
//! | `snapshot` | accessibility snapshots |
//! | `screenshot` | screenshots with labels, PDF, highlights |
//! | `live` | the live picture of a tab: its screencast |
//! | `recording` | what a person does in pages, as reports in one order |
//! | `data` | console, text, cookies, storage, downloads, file choosers |
//! | `network` | network requests and HTTP Archives |
//! | `emulation` | overrides of device, location, locale and network |
//! | `cookie_import` | cookies exported by other programs |
//! | `login_state` | cookies and storage of all origins, saved and loaded |
//! | `highlight` | looking: the usable elements of the viewport, with labels and ids |
//! | `navigation` | navigations and waiting for their documents |
//! | `find` | locators, and reading one element |
//! | `act`, `input`, `frame_geometry` | actions, trusted input, positions in the top viewport |
//! | `options` | options of all tabs of a supervisor |
//! | `error` | errors |

mod act;
mod anchor;
mod cookie_import;
mod data;
mod effect;
mod emulation;
mod error;
mod find;
mod frame_geometry;
mod highlight;
mod input;
mod live;
mod login_state;
mod navigation;
mod network;
mod options;
mod recording;
mod refs;
mod screenshot;
mod script;
mod snapshot;
mod value_place;
mod world;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

#[doc(hidden)]
pub use act::spec;
pub use act::{
    ACTIONS, Act, ActKind, ActionSpec, ArgumentSpec, Button, CommandSpec, Direction, Field, FieldSpec, FieldType,
    FieldValue, Input, LoadState, Locator, Modifier, MouseEvent, MouseKind, Notice, NoticeKind, OpenedChooser,
    OpenedTab, Outcome, Point, SecretSource, SecretTarget, Settle, Settled, State, ToolArgumentSpec, ToolSpec,
    TypedSecrets, WaitFor, is_only_secrets, secrets_in,
};
pub use anchor::{AnchorMatch, AnchorMatches, AnchorQuery, ListEntry, Traced};
pub use cookie_import::{CookieFormat, FaultyLine, ImportedCookies, ReadCookies, read_cookies};
pub use data::clear_incoming;
use data::{ClearMarks, Downloads};
pub use data::{
    ConsoleMessage, Cookie, Download, DownloadState, FrameText, NewCookie, PageError, PageText, SameSite, Storage,
    Upload, UploadedFiles, upload_folder_files,
};
pub use effect::{Effect, FieldStates, SentField, SetOff, Using};
use emulation::Overrides;
pub use emulation::device_names;
pub use emulation::{
    Change, ColorScheme, Credentials, EmulatedNetwork, Emulation, Geolocation, Media, MediaType, NetworkPreset,
    NetworkSpeed, ReducedMotion, Viewport,
};
pub use error::{Error, Shown};
pub use find::{ElementBox, ElementProperty, ElementState, ElementValue, Match, Matches};
pub use highlight::{
    Binding, Bound, ElementType, Hint, IdMatch, Look, LookOptions, Picture, Presence, Preview, Readiness, Setting, Use,
    VisibleElement, matching as matching_id,
};
pub use input::PressedKey;
pub use live::LiveFrame;
pub use login_state::{
    LoadedState, LoginState, OriginReport, OriginState, PartitionKey, RejectedCookie, STATE_FORMAT, STATE_VERSION,
    SaveState, SavedState, SessionRestore, Skipped, StateCookie,
};
pub use navigation::{BeforeNavigation, Late};
pub use navigation::{Navigation, WaitUntil};
pub use network::{Har, RecordOptions, RequestRecord, RequestTiming, ResponseBody};
pub use options::HiddenTexts;
pub use options::{PageOptions, TabNames};
pub use recording::{KEYFRAME, Recorded, Recorder, RecorderOptions, Report, Reported, keyframe, window_of};
pub use screenshot::{
    Annotation, Fit, LabelCounts, PdfOptions, PictureType, Rect, Screenshot, ScreenshotOptions, save,
};
pub use snapshot::{AriaNode, Diff, Format, Hunk, RefInfo, Snapshot, SnapshotOptions, Stats, UnreadFrame};
pub use value_place::{ValueContainer, ValuePlace, ValuesAt};
pub use world::{Doc, Node};

use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::runtime::Evaluate;
use crate::cdp::protocol::target::TargetId;
use crate::supervisor::{self, FrameRef, Supervisor};
use crate::sync::{Deadline, Turn, Turns};

/// The tabs of a supervisor. Clones share all state.
#[derive(Clone)]
pub struct Tabs {
    supervisor: Arc<Supervisor>,
    options: Arc<PageOptions>,
    downloads: Option<Arc<Downloads>>,
    tabs: Arc<Mutex<HashMap<TargetId, Arc<Tab>>>>,
}

/// How long the supervisor's thread may take to change a setting.
const SETTING: Duration = Duration::from_secs(2);

impl Tabs {
    /// The pages of a supervisor, with default options.
    #[must_use]
    pub fn new(supervisor: Arc<Supervisor>) -> Self {
        let options = PageOptions::default();
        // If the supervisor has ended, the next call reports it.
        let _ = supervisor.watch_network(options.network, Deadline::after(SETTING));
        let _ = supervisor.watch_choosers(true, Deadline::after(SETTING));
        Self { supervisor, options: Arc::new(options), downloads: None, tabs: Arc::default() }
    }

    /// The pages of a supervisor, with options.
    ///
    /// # Errors
    /// [`Error::File`] when the downloads folder cannot be used, [`Error::Supervisor`].
    pub fn with_options(supervisor: Arc<Supervisor>, options: PageOptions) -> Result<Self, Error> {
        Self::with_options_until(supervisor, options, Deadline::after(SETTING))
    }

    /// As [`with_options`](Self::with_options), with a deadline of at most two seconds.
    ///
    /// # Errors
    /// Those of [`with_options`](Self::with_options).
    pub fn with_options_until(
        supervisor: Arc<Supervisor>,
        options: PageOptions,
        deadline: Deadline<'_>,
    ) -> Result<Self, Error> {
        let deadline = deadline.within(SETTING);
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

    /// The supervisor whose pages these tabs are.
    #[must_use]
    pub fn supervisor(&self) -> &Arc<Supervisor> {
        &self.supervisor
    }

    /// Drops refs, snapshots and screenshots of closed pages. [`tab`](Self::tab) also drops refs and snapshots.
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

    /// A tab by its target id. Later calls return the same tab, with its refs.
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
                snapshot_cache: Mutex::default(),
                mouse: Mutex::default(),
                action_requests: Mutex::default(),
                options: Arc::clone(&self.options),
                downloads: self.downloads.clone(),
                highlighted: Mutex::default(),
                highlight_ids: Mutex::default(),
                cleared: ClearMarks::default(),
                live: live::Live::default(),
                overrides: Mutex::new(Overrides::default()),
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

/// A tab, with its refs and snapshots. All methods may be called from any thread.
///
/// Locks are held briefly, never during a call into the browser, and never two at once.
pub struct Tab {
    supervisor: Arc<Supervisor>,
    target: TargetId,
    turns: Turns,
    worlds: world::Worlds,
    refs: Mutex<refs::Refs>,
    snapshot_cache: Mutex<snapshot::SnapshotCache>,
    mouse: Mutex<input::Mouse>,
    action_requests: Mutex<act::ActionRequests>,
    options: Arc<PageOptions>,
    downloads: Option<Arc<Downloads>>,
    highlighted: Mutex<Option<screenshot::Highlighted>>,
    highlight_ids: Mutex<highlight::Ids>,
    cleared: ClearMarks,
    live: live::Live,
    overrides: Mutex<Overrides>,
}

impl Tab {
    /// The target id that the browser gave the tab; it stays the same while the tab is open.
    #[must_use]
    pub fn target(&self) -> &TargetId {
        &self.target
    }

    /// The supervisor of the tab.
    #[must_use]
    pub fn supervisor(&self) -> &Arc<Supervisor> {
        &self.supervisor
    }

    /// The node of a ref (`e12`, `@e12` or `12`), with the role and name it was shown with.
    ///
    /// # Errors
    /// [`Error::BadRef`], [`Error::StaleRef`].
    pub fn resolve(&self, reference: &str) -> Result<(Node, Shown), Error> {
        self.refs.lock().get(reference)
    }

    /// Waits for a turn to change the tab: one at a time, first come, first served. [`act`](Self::act) takes turns by itself;
    /// call this before other changes, such as a navigation. Reading needs no turn. An open dialog ends the wait unless
    /// `under_dialog` is set. `what` names the change in the error of other callers.
    ///
    /// # Errors
    /// [`Error::Busy`] at the deadline, [`Error::Supervisor`] when a dialog opens, when the tab closes, and on cancellation.
    pub fn turn(&self, what: &'static str, under_dialog: bool, deadline: Deadline<'_>) -> Result<Turn<'_>, Error> {
        let target = self.target.as_str();
        let stop = || {
            let now = self.supervisor.view();
            let is_blocked = !under_dialog && now.dialogs_of(target).next().is_some();
            is_blocked || now.page(target).is_none() || matches!(now.phase, supervisor::Phase::Ended(_))
        };
        let turn = self.turns.take(what, deadline, stop);
        if deadline.is_cancelled() {
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
    fn arrived(&self, deadline: Deadline<'_>) -> Result<(), Error> {
        Ok(self.supervisor.wait_arrived(&self.target, deadline)?)
    }

    /// Whether the tab's top document runs a script by the deadline.
    #[must_use]
    pub fn answers(&self, deadline: Deadline<'_>) -> bool {
        let mut nothing = Evaluate::new("0");
        nothing.silent = Some(true);
        let at = FrameRef::TopOf(self.target.clone());
        self.supervisor.own_call(&at, &nothing, deadline).is_ok()
    }

    /// Checks that the tab's top document runs scripts. Returns whether a script of the page was terminated for this.
    ///
    /// # Errors
    /// Those of the supervisor: a crash, a server that has not responded, a script that keeps the page busy, a lost connection.
    pub fn responds(&self, deadline: Deadline<'_>) -> Result<bool, Error> {
        self.arrived(deadline)?;
        let mut nothing = Evaluate::new("0");
        nothing.silent = Some(true);
        Ok(self.supervisor.own_call(&FrameRef::Id(self.top()?), &nothing, deadline)?.rescued)
    }

    /// The top frame.
    fn top(&self) -> Result<FrameId, Error> {
        let now = self.supervisor.view();
        let missing = || supervisor::Error::PageNotFound { target: self.target.to_string() };
        let page = now.page(self.target.as_str()).ok_or_else(missing)?;
        if let Some(top) = &page.top_frame {
            return Ok(top.clone());
        }
        let dialog = now.dialogs_of(self.target.as_str()).next();
        Err(dialog
            .map_or_else(|| page.no_frame(), |open| supervisor::Error::blocked_by_dialog("Page.getFrameTree", &open.id))
            .into())
    }
}

impl fmt::Debug for Tab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tab").field("target", &self.target).finish_non_exhaustive()
    }
}
