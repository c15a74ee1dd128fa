//! Reports of the pages as events with screenshots.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::super::{Actor, Event, EventType, PageShown};
use super::film::Part;
use super::pictures::Job;
use super::rows;
use super::worker::{Afterwards, BLANK, Worker};
use cdpilot::page::Reported;
use cdpilot::supervisor::{FrameId, TargetId};

/// How long after an action its second screenshot is taken, unless something else happens before.
const AFTERWARDS: Duration = Duration::from_millis(700);
/// Most names of sensitive fields that are kept.
const MOST_PARAMETERS: usize = 200;

impl Worker {
    pub(super) fn report(&mut self, reported: Reported) {
        let page = reported.page().clone();
        if self.tabs.get(&page).is_none() {
            self.joined(&page, None);
        }
        let top = self.running.supervisor().view().page(page.as_str()).and_then(|page| page.top_frame.clone());
        let is_top = reported.frame().is_none_or(|frame| Some(frame) == top.as_ref());
        if is_top {
            self.shown(&page, &reported);
        }
        let report = &reported.report;
        let is_empty = report.url == BLANK && report.kind == "page_view" || rows::is_new_tab(&report.url);
        if !self.was_paused && !is_empty && !self.is_own(&reported.report.url) {
            self.report_event(&reported, &page, is_top);
        }
        self.reports.push(reported);
    }

    /// What a report says of the page that a tab shows.
    fn shown(&mut self, page: &TargetId, reported: &Reported) {
        let report = &reported.report;
        let url = rows::address(&report.url);
        let is_late = report.kind == "hello" && report.data.get("existed") == Some(&Value::Bool(true));
        if is_late && std::mem::take(&mut self.was_cut) {
            self.gap(None, "the connection to the browser was lost, and a tab went to another page meanwhile");
        }
        let Some(tab) = self.tabs.get_mut(page) else { return };
        if url == BLANK {
            return; // a new tab
        }
        tab.shown = PageShown { url, title: rows::text(&report.title) };
        match report.kind.as_str() {
            "hidden" => tab.was_hidden = true,
            // What the browser does next is not the consequence of an action in the page.
            "browser_key" => tab.last_action = None,
            "traversal" => tab.last_traversal = Some(report.at / 1000.0),
            "shown" if std::mem::take(&mut tab.was_hidden) => {
                self.film.watch(page);
                self.tab_event(page, EventType::TabActivated, report.at / 1000.0, Map::new());
            }
            "ready" if !std::mem::replace(&mut tab.is_ready, true) => {
                self.film.watch(page);
                self.tab_event(page, EventType::TabReady, report.at / 1000.0, Map::new());
            }
            "closed" => self.find_closed_roots(page),
            _ => {}
        }
    }

    /// A snapshot finds closed shadow roots. It is taken by the thread that follows the live picture.
    fn find_closed_roots(&self, page: &TargetId) {
        self.film.find_closed_roots(page);
    }

    fn report_event(&mut self, reported: &Reported, page: &TargetId, is_top: bool) {
        let report = &reported.report;
        if report.kind == "closed" {
            self.find_closed_roots(page);
        }
        let Some(kind) = rows::event_type(report) else { return };
        let Some(tab) = self.tabs.get(page) else { return };
        let key = (report.doc.clone(), report.of);
        let known = self.rows.get(&key).copied();
        let mut event = rows::reported(report, known.unwrap_or(self.next), kind, tab.number, tab.shown.clone());
        let parameter =
            event.element.as_mut().map(|element| std::mem::take(&mut element.parameter)).unwrap_or_default();
        if !parameter.is_empty() && self.parameters.len() < MOST_PARAMETERS {
            self.parameters.insert(parameter);
        }
        if let Some(frame) = reported.frame().filter(|_| !is_top) {
            event.frame = rows::path(&self.running.supervisor().view(), frame);
        }
        if report.cause > 0
            && let Some(cause) = self.rows.get(&(report.doc.clone(), report.cause))
        {
            event.data.insert("caused_by".to_owned(), json!(cause));
        }
        let at = event.timestamp;
        event.by = match kind {
            EventType::PageView | EventType::Gap => Actor::Person,
            _ => self.actor(page, at),
        };
        if rows::is_action(kind) && known.is_none() {
            // What is shown now is what the action before has led to.
            while !self.afterwards.is_empty() {
                self.picture_afterwards();
            }
        }
        let picture = rows::has_pictures(kind).then(|| (event.clone(), reported.report.areas.clone()));
        let index = match known {
            Some(_) => self.push(event),
            None => self.add(event),
        };
        self.rows.insert(key, index);
        if rows::is_action(kind)
            && let Some(tab) = self.tabs.get_mut(page)
        {
            tab.last_action = Some((index, at));
        }
        self.film.watch(page);
        if let Some((mut event, areas)) = picture {
            event.event_index = index;
            let pressed = if report.pressed > 0.0 { report.pressed / 1000.0 } else { at };
            let frame = reported.frame().filter(|_| !is_top).cloned();
            self.picture(&event, page, (frame, areas), pressed);
        }
    }

    fn picture(&mut self, event: &Event, page: &TargetId, (frame, areas): (Option<FrameId>, Vec<Part>), pressed: f64) {
        let Some(shot) = self.film.before(page, pressed) else { return };
        // It shows another page: the press came right after a navigation.
        if rows::address(&shot.url) != event.page.url {
            return;
        }
        let part = event.element.as_ref().and_then(|element| element.area);
        let part = part.map(|area| (area.x, area.y, area.width, area.height));
        let (event_index, text) = (event.event_index, rows::in_words(event));
        let url = Arc::clone(&shot.url);
        let job = Job { event_index, after: false, page: page.clone(), frame, shot, part, areas, text: text.clone() };
        if self.jobs.try_send(job).is_ok() {
            let job = (event_index, page.clone(), url);
            self.afterwards.push_back(Afterwards { due: Instant::now() + AFTERWARDS, job, text });
        }
    }

    pub(super) fn picture_afterwards(&mut self) {
        let Some(Afterwards { job: (event_index, page, url), text, .. }) = self.afterwards.pop_front() else { return };
        let Some(shot) = self.film.newest(&page) else { return };
        if shot.url != url {
            return; // another page
        }
        let text = format!("after: {text}");
        let (frame, part, areas) = (None, None, Vec::new());
        drop(self.jobs.try_send(Job { event_index, after: true, page, frame, shot, part, areas, text }));
    }
}
