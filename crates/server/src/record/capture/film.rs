//! The newest frames of the live picture of the tab in use.
//!
//! A screenshot that is requested when a person presses the button shows what the press has caused as often as what was pressed.
//! The last frame before the press was drawn before it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::{Condvar, Mutex};

use crate::control::Running;
use cdpilot::page::{LiveFrame, SnapshotOptions};
use cdpilot::supervisor::TargetId;
use cdpilot::sync::{Deadline, pause};

/// A rectangle in CSS pixels of the top viewport: left, top, width, height.
pub(super) type Part = (f64, f64, f64, f64);

/// How many frames are kept.
const KEPT: usize = 24;
/// Shortest time between two frames.
const PACE: Duration = Duration::from_millis(80);
/// Longest wait for a frame.
const WAIT: Duration = Duration::from_millis(400);
/// Time limit for finding closed shadow roots.
const SEARCH: Duration = Duration::from_secs(3);
/// Time limit for finding sensitive fields.
const COVERING: Duration = Duration::from_millis(500);

/// A frame, as it may be shown.
#[derive(Debug, Clone)]
pub(super) struct Shot {
    pub(super) page: TargetId,
    /// When it arrived, in Unix seconds.
    pub(super) at: f64,
    /// The address that the tab showed.
    pub(super) url: Arc<str>,
    pub(super) frame: LiveFrame,
    /// Where sensitive fields are: painted over in screenshots.
    pub(super) covered: Vec<Part>,
}

/// The newest frames of the tab in use, oldest first. Locked for list operations only.
#[derive(Default)]
pub(super) struct Film {
    state: Mutex<State>,
    changed: Condvar,
    is_over: AtomicBool,
}

#[derive(Default)]
struct State {
    page: Option<TargetId>,
    shots: VecDeque<Shot>,
    /// A tab with shadow roots that are not known.
    unknown_roots: Option<TargetId>,
}

impl Film {
    /// From now on, the frames of this tab are kept.
    pub(super) fn watch(&self, page: &TargetId) {
        let mut state = self.state.lock();
        if state.page.as_ref() != Some(page) {
            state.page = Some(page.clone());
            self.changed.notify_all();
        }
    }

    /// Finds the closed shadow roots of a tab: its recorder has seen an element that may have one.
    pub(super) fn find_closed_roots(&self, page: &TargetId) {
        self.state.lock().unknown_roots = Some(page.clone());
        self.changed.notify_all();
    }

    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// The newest frame of a tab from before a time in Unix seconds.
    pub(super) fn before(&self, page: &TargetId, at: f64) -> Option<Shot> {
        let state = self.state.lock();
        state.shots.iter().rev().find(|shot| shot.page == *page && shot.at <= at).cloned()
    }

    /// The newest frame of a tab.
    pub(super) fn newest(&self, page: &TargetId) -> Option<Shot> {
        self.state.lock().shots.iter().rev().find(|shot| shot.page == *page).cloned()
    }

    /// Keeps frames until the end. Runs in a thread of its own.
    pub(super) fn run(&self, running: &Running) {
        let mut after = 0;
        let mut watched: Option<TargetId> = None;
        // The newest frame, and the address with which it was kept.
        let mut newest: Option<(LiveFrame, Option<Arc<str>>)> = None;
        while !self.is_over() {
            let page = {
                let mut state = self.state.lock();
                if state.page.is_none() {
                    self.changed.wait_for(&mut state, WAIT);
                }
                state.page.clone()
            };
            let unknown = self.state.lock().unknown_roots.take();
            if let Some(tab) = unknown.and_then(|page| running.tabs.tab(&page).ok()) {
                drop(tab.snapshot(&SnapshotOptions::default(), Deadline::after(SEARCH)));
            }
            let Some(page) = page else { continue };
            if watched.as_ref() != Some(&page) {
                (after, newest) = (0, None);
                watched = Some(page.clone());
            }
            let Ok(tab) = running.tabs.tab(&page) else {
                pause(WAIT);
                continue;
            };
            let url = |tab: &cdpilot::page::Tab| {
                tab.supervisor().view().page(page.as_str()).map(|page| Arc::clone(&page.url)).unwrap_or_default()
            };
            let earlier = url(&tab);
            let frame = match tab.live_frame(after, Deadline::after(WAIT)) {
                Ok(Some(frame)) => frame,
                // Nothing was drawn since: the tab shows the newest frame, whatever its address is by now.
                Ok(None) => match newest.take() {
                    Some((frame, kept)) if kept.as_ref() != Some(&earlier) => frame,
                    same => {
                        newest = same;
                        continue;
                    }
                },
                Err(_) => {
                    pause(PACE);
                    continue;
                }
            };
            after = frame.number;
            let at = now();
            // A frame whose sensitive fields are not known is not kept, nor one from around a navigation.
            let covered = tab.sensitive_parts(Deadline::after(COVERING));
            let url = url(&tab);
            newest = Some((frame.clone(), None));
            if let (Ok(covered), true) = (covered, url == earlier) {
                newest = Some((frame.clone(), Some(Arc::clone(&url))));
                self.keep(Shot { page: page.clone(), at, url, frame, covered });
            }
            pause(PACE);
        }
    }

    fn keep(&self, shot: Shot) {
        let mut state = self.state.lock();
        state.shots.push_back(shot);
        while state.shots.len() > KEPT {
            state.shots.pop_front();
        }
    }
}

/// The current time, in Unix seconds.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
