//! Which pages are recorded, and the start.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::{Error, StopReason};
use super::film::{Film, now};
use super::worker::{Pages, Signals, Worker};
use super::{Capture, CaptureRequest, Scope, Sink, Started, pictures};
use crate::control::{Profile, Running};
use cdpilot::page::{self, Late, Recorder, RecorderOptions, WaitUntil};
use cdpilot::supervisor::{FrameRef, PageState, TargetId, View};
use cdpilot::sync::{Deadline, on_panic, spawn};

/// Time limit for the start.
const START: Duration = Duration::from_secs(20);
/// Time limit for one command.
const COMMAND: Duration = Duration::from_secs(5);

/// Begins to record.
///
/// # Errors
/// [`Error::Control`] when the browser is not running or the address cannot be opened; [`Error::Unavailable`] when there is no
/// window or tab to record, or the browser is recorded already.
pub(in super::super) fn begin(request: CaptureRequest, sink: Arc<dyn Sink>) -> Result<Capture, Error> {
    let deadline = Deadline::after(START);
    let running = request.profile.running()?;
    let supervisor = running.supervisor();
    let (pages, window) = match request.scope {
        Scope::DedicatedWindow => {
            let page = new_window(&running, deadline)?;
            let window = page::window_of(supervisor, &page, Deadline::after(COMMAND));
            (vec![page], window)
        }
        Scope::CurrentWindow => of_current_window(&request.profile, &running)?,
        Scope::Session => {
            let pages = request.profile.targets();
            (pages.iter().map(|page| TargetId::from(page.as_str())).collect(), None)
        }
    };
    if pages.is_empty() {
        return Err(Error::conflict("the conversation has no open tab; start the recording when it has opened one"));
    }
    let seen = request.profile.events().last();
    let options = RecorderOptions::of(pages.clone()).keeps_choosers(request.scope == Scope::Session);
    let recorder = Recorder::begin(supervisor, options, deadline).map_err(|error| unavailable(&error))?;
    let first = &pages[0];
    // When a renderer is replaced, Chromium 156 restores only what the old one has confirmed: the first navigation comes after that.
    drop(supervisor.evaluate(&FrameRef::TopOf(first.clone()), "1", Deadline::after(COMMAND)));
    let film = Arc::new(Film::default());
    film.watch(first);
    let url = request.start_url.as_deref().map(|url| request.profile.address(url)).transpose()?;
    if let Some(url) = &url {
        request.profile.may_go(&running, url, deadline)?;
    }
    let (orders, to_worker) = crossbeam_channel::bounded(1);
    let (jobs, to_pictures) = crossbeam_channel::bounded(pictures::MOST_WAITING);
    let (is_paused, pauses) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let begun = Arc::new(AtomicU64::new(0));
    let name = request.profile.name().to_owned();
    let filming = {
        let (film, running) = (Arc::clone(&film), Arc::clone(&running));
        spawn(format!("film-{name}"), move || film.run(&running)).map_err(|error| system(&error))?
    };
    let picturing = {
        let (film, running, sink) = (Arc::clone(&film), Arc::clone(&running), Arc::clone(&sink));
        spawn(format!("pics-{name}"), move || pictures::run(&to_pictures, &running, &film, &sink))
            .map_err(|error| system(&error))?
    };
    let pages = Pages { profile: request.profile, scope: request.scope, window, own_addresses: request.own_addresses };
    let browser = Arc::clone(&running);
    let ending = Arc::clone(&sink);
    let worker = Worker::new(recorder, running, pages, sink, (film, jobs), request.first_index, seen);
    let signals = Signals { is_paused: Arc::clone(&is_paused), pauses: Arc::clone(&pauses), begun: Arc::clone(&begun) };
    let worker = spawn(format!("rec-{name}"), move || {
        // Without this thread, nothing would be recorded any more.
        let on_panic = on_panic(|| ending.ended(StopReason::ServerEnded));
        worker.run(&to_worker, &signals);
        drop(on_panic);
        drop((filming, picturing));
    });
    let worker = parking_lot::Mutex::new(Some(worker.map_err(|error| system(&error))?));
    let has_url = url.is_some();
    if let Some(url) = url {
        let tab = browser.tabs.tab(first).map_err(|error| unavailable(&error))?;
        tab.go(&url, WaitUntil::DomContentLoaded, Late::IsReported, deadline).map_err(crate::control::Error::from)?;
    }
    // What follows from opening it may still be on its way.
    let margin = if has_url { 200 } else { 0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time in milliseconds")]
    begun.store((now() * 1000.0) as u64 + margin, Ordering::Release);
    let started = started(&browser, first);
    Ok(Capture { started, is_paused, pauses, orders, worker })
}

fn unavailable(error: &page::Error) -> Error {
    Error::Unavailable { problem: error.to_string() }
}

fn system(error: &std::io::Error) -> Error {
    Error::Unavailable { problem: format!("a thread cannot be started: {error}") }
}

/// Opens an empty window, or a tab where the browser has no windows.
fn new_window(running: &Running, deadline: Deadline<'_>) -> Result<TargetId, Error> {
    let supervisor = running.supervisor();
    let params = json!({ "url": "about:blank", "newWindow": true });
    let made = supervisor.browser_raw("Target.createTarget", &params, deadline.within(COMMAND));
    let made = made.map_err(|error| Error::Unavailable { problem: format!("no window can be opened: {error}") })?;
    let page = TargetId::from(made["targetId"].as_str().unwrap_or_default());
    let is_ready = |now: &View| now.page(page.as_str()).is_some_and(|page| page.state == PageState::Ready);
    let is_there = supervisor.wait_until(deadline, is_ready).is_some();
    if is_there { Ok(page) } else { Err(Error::Unavailable { problem: "the new window did not appear".to_owned() }) }
}

/// The tabs of the window that shows the current tab.
fn of_current_window(profile: &Profile, running: &Running) -> Result<(Vec<TargetId>, Option<i64>), Error> {
    let current = profile.tab_to_read(None)?.tab.target().clone();
    let supervisor = running.supervisor();
    let window = page::window_of(supervisor, &current, Deadline::after(COMMAND));
    let others: Vec<TargetId> = supervisor.view().pages.iter().map(|page| page.target_id.clone()).collect();
    let began = Instant::now();
    let is_here = |page: &TargetId| {
        *page != current
            && began.elapsed() < COMMAND
            && window.is_some()
            && page::window_of(supervisor, page, Deadline::after(COMMAND)) == window
    };
    let mut pages = vec![current.clone()];
    pages.extend(others.into_iter().filter(is_here));
    Ok((pages, window))
}

fn started(running: &Running, page: &TargetId) -> Started {
    let supervisor = running.supervisor();
    let size =
        supervisor.evaluate(&FrameRef::TopOf(page.clone()), "[innerWidth, innerHeight]", Deadline::after(COMMAND));
    let side = |of: usize| {
        let length = size.as_ref().ok().and_then(|done| done.result.value[of].as_u64()).unwrap_or_default();
        u32::try_from(length).unwrap_or_default()
    };
    let url = supervisor.view().page(page.as_str()).map(|page| super::rows::address(&page.url)).unwrap_or_default();
    Started { start_url: url, viewport: (side(0), side(1)) }
}
