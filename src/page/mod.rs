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
//! | `options` | what the pages of a supervisor are given |
//! | `act`, `input`, `place` | actions, trusted input, where things are in the top viewport |
//! | `error` | what can go wrong |

mod act;
mod error;
mod input;
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
    Act, Button, Direction, Field, FieldValue, Input, Kind, Locator, Modifier, MouseEvent, MouseKind, Outcome, Point,
    State, WaitFor,
};
pub use error::{Error, Shown};
pub use options::PageOptions;
pub use picture::{Annotation, Fit, LabelCounts, PdfOptions, Picture, PictureType, Rect, ScreenshotOptions, save};
use rest::{Believed, Cleared, Downloads};
pub use rest::{
    Change, ConsoleMessage, Cookie, Credentials, Download, DownloadState, Emulation, FrameText, Geolocation, Media,
    NewCookie, PageError, PageText, ResponseBody, SameSite, Storage, Upload, Viewport,
};
pub use see::{AriaNode, Diff, Format, Hunk, RefInfo, Snapshot, SnapshotOptions, Stats, Unread};
pub use world::{Doc, Node};

use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::supervisor::{self, FrameRef, Supervisor};
use crate::sync::Deadline;

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

    /// A tab by its target id. The same one as before, with its refs.
    ///
    /// # Errors
    /// [`supervisor::Error::PageNotFound`].
    pub fn tab(&self, target: &TargetId) -> Result<Arc<Tab>, Error> {
        let now = self.supervisor.snapshot();
        let mut tabs = self.tabs.lock();
        tabs.retain(|target, _| now.page(target.as_str()).is_some());
        if now.page(target.as_str()).is_none() {
            return Err(supervisor::Error::PageNotFound { target: target.to_string() }.into());
        }
        let tab = tabs.entry(target.clone()).or_insert_with(|| {
            let supervisor = Arc::clone(&self.supervisor);
            Arc::new(Tab {
                supervisor,
                target: target.clone(),
                worlds: world::Worlds::default(),
                refs: Mutex::default(),
                seen: Mutex::default(),
                mouse: Mutex::default(),
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
    worlds: world::Worlds,
    refs: Mutex<refs::Refs>,
    seen: Mutex<see::Seen>,
    mouse: Mutex<input::Mouse>,
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

    /// Where commands to the whole tab go.
    fn page(&self) -> FrameRef {
        FrameRef::TopOf(self.target.clone())
    }

    /// The top frame.
    fn top(&self) -> Result<FrameId, Error> {
        let now = self.supervisor.snapshot();
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
