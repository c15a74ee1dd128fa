//! Entries of the event log as events: tabs, navigations, dialogs, downloads.

use std::time::Duration;

use serde_json::{Map, json};

use super::super::{EventType, PageShown};
use super::Scope;
use super::film::now;
use super::rows::{self, object};
use super::tabs::Moved;
use super::worker::{BLANK, Worker};
use cdpilot::page;
use cdpilot::supervisor::{EventRecord, FrameRef, LogEvent, TargetId};
use cdpilot::sync::Deadline;

/// Time limit for finding the window of a new tab.
const WINDOW: Duration = Duration::from_millis(500);

impl Worker {
    pub(super) fn joined(&mut self, page: &TargetId, opener: Option<&TargetId>) {
        let Some(_) = self.tabs.add(page) else { return };
        let at = now();
        let view = self.running.supervisor().view();
        let known = view.page(page.as_str());
        let url = known.map(|page| rows::address(&page.url)).unwrap_or_default();
        let title = known.map(|page| rows::text(&page.title)).unwrap_or_default();
        if let Some(tab) = self.tabs.get_mut(page) {
            tab.shown = PageShown { url: url.clone(), title };
        }
        let by_tab = opener.and_then(|opener| self.tabs.get(opener));
        let cause = by_tab.and_then(|tab| tab.cause(at));
        let mut data = object(json!({ "url": url, "target_id": page }));
        data.extend(by_tab.map(|tab| ("opener".to_owned(), json!(tab.number))));
        data.extend(cause.map(|cause| ("caused_by".to_owned(), json!(cause))));
        self.tab_event(page, EventType::TabCreated, at, data);
        self.film.watch(page);
    }

    pub(super) fn log_entry(&mut self, at: f64, record: &EventRecord) {
        let page = record.target_id.as_ref();
        match (&*record.event, page) {
            (LogEvent::TabOpened { .. }, Some(page)) if self.tabs.get(page).is_none() => self.new_page(page),
            (LogEvent::TabClosed { .. }, Some(page)) => {
                if self.tabs.get(page).is_some_and(|tab| !tab.is_closed) {
                    self.tab_event(page, EventType::TabClosed, at, Map::new());
                }
                if let Some(tab) = self.tabs.get_mut(page) {
                    tab.is_closed = true;
                }
            }
            (LogEvent::Navigated { url, main: true, .. }, Some(page)) => self.navigated(page, url, at),
            (LogEvent::DialogClosed(closed), Some(page)) => {
                let prompt = self.tabs.get_mut(page).and_then(|tab| tab.prompt.take());
                let (data, by) = rows::dialog(closed, prompt);
                let index = self.tab_event(page, EventType::Dialog, at, data);
                if let Some(event) = self.waiting.iter_mut().find(|event| Some(event.event_index) == index) {
                    event.by = by;
                }
            }
            (LogEvent::Download(download), Some(page)) => {
                let data = json!({
                    "url": rows::address(&download.url), "filename": rows::text(&download.suggested_filename),
                });
                let mut data = object(data);
                let cause = self.tabs.get(page).and_then(|tab| tab.cause(at));
                data.extend(cause.map(|cause| ("caused_by".to_owned(), json!(cause))));
                let key = (format!("download {}", download.number), 0);
                if !self.rows.contains_key(&key)
                    && let Some(index) = self.tab_event(page, EventType::Download, at, data)
                {
                    self.rows.insert(key, index);
                }
            }
            (LogEvent::Crashed { .. }, Some(page)) if self.tabs.get(page).is_some() => {
                self.gap(None, "a page crashed; what was done in it since its last report is not known");
            }
            (LogEvent::Disconnected { .. }, _) => self.was_cut = true,
            _ => {}
        }
    }

    /// Whether a page that appeared joins the recording: those that a recorded page opened do already.
    fn new_page(&mut self, page: &TargetId) {
        let joins = match self.pages.scope {
            Scope::Session => self.pages.profile.sees(page, Deadline::after(WINDOW)) == Some(true),
            Scope::DedicatedWindow | Scope::CurrentWindow => {
                let window = page::window_of(self.running.supervisor(), page, Deadline::after(WINDOW));
                window.is_some() && window == self.pages.window
            }
        };
        if joins {
            self.join(page);
        }
    }

    /// Records a page from now on.
    pub(super) fn join(&mut self, page: &TargetId) {
        match self.recorder.join(page, Deadline::after(WINDOW)) {
            // The answer says that the script is in the document that the tab has by now.
            Ok(()) => {
                let supervisor = self.running.supervisor();
                drop(supervisor.evaluate(&FrameRef::TopOf(page.clone()), "1", Deadline::after(WINDOW)));
            }
            Err(error) => tracing::debug!(%error, "a new tab cannot be recorded"),
        }
    }

    fn navigated(&mut self, page: &TargetId, url: &str, at: f64) {
        let address = rows::address(url);
        let Some(tab) = self.tabs.get_mut(page) else { return };
        let was = std::mem::replace(&mut tab.shown, PageShown { url: address.clone(), title: String::new() });
        let moved = tab.moved(self.running.supervisor(), page);
        if address == BLANK && (was.url == BLANK || was.url.is_empty()) {
            return;
        }
        let kind = match moved {
            Moved::Back => EventType::TabBack,
            Moved::Forward => EventType::TabForward,
            Moved::Onwards | Moved::Reloaded | Moved::ByAddress => EventType::TabNavigated,
        };
        let cause = match moved {
            Moved::Onwards => tab.cause(at).or_else(|| tab.redirected(at)),
            Moved::Reloaded => tab.cause(at),
            Moved::Back | Moved::Forward => tab.traversed(at),
            Moved::ByAddress => None,
        };
        let mut data = object(json!({ "url": address }));
        data.extend(cause.map(|cause| ("caused_by".to_owned(), json!(cause))));
        let index = self.tab_event(page, kind, at, data);
        if let Some(tab) = self.tabs.get_mut(page) {
            tab.last_navigation = index.map(|index| (index, at));
            tab.last_traversal = None;
        }
    }
}
