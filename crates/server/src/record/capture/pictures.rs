//! Screenshots of events, made of frames of the live picture.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::film::{Film, Part, Shot};
use super::{Keyframe, Sink, Written};
use crate::control::Running;
use cdpilot::page::keyframe;
use cdpilot::supervisor::{FrameId, TargetId};
use cdpilot::sync::Deadline;

/// Most screenshots that wait to be made; further ones are left out.
pub(super) const MOST_WAITING: usize = 256;
/// Time limit for finding where a frame is in the viewport.
const PLACING: Duration = Duration::from_millis(500);
/// How often the end of the recording is checked while no screenshot is requested.
const TURN: Duration = Duration::from_millis(500);

/// A screenshot to make.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) event_index: u64,
    pub(super) after: bool,
    pub(super) page: TargetId,
    /// The frame of the element; `None` for the top frame.
    pub(super) frame: Option<FrameId>,
    /// The frame of the live picture.
    pub(super) shot: Shot,
    /// The element, in CSS pixels of the viewport of its frame.
    pub(super) part: Option<Part>,
    /// Sensitive fields of that frame, in the same pixels.
    pub(super) areas: Vec<Part>,
    /// What was done, in words.
    pub(super) text: String,
}

/// Makes screenshots until there are no more to come. Runs in a thread of its own.
pub(super) fn run(jobs: &Receiver<Job>, running: &Running, film: &Film, sink: &Arc<dyn Sink>) {
    loop {
        match jobs.recv_timeout(TURN) {
            Ok(job) => {
                let index = job.event_index;
                match made(job, running) {
                    Some(picture) => {
                        let written = sink.write(Written { events: Vec::new(), pictures: vec![picture] });
                        if let Err(error) = written {
                            tracing::debug!(%error, event = index, "the screenshot of an event cannot be stored");
                        }
                    }
                    None => tracing::debug!(event = index, "an event has no screenshot"),
                }
            }
            Err(RecvTimeoutError::Timeout) if film.is_over() && jobs.is_empty() => return,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn made(job: Job, running: &Running) -> Option<Keyframe> {
    let mut covered = job.shot.covered.clone();
    let mut marked = job.part;
    match &job.frame {
        None => covered.extend(&job.areas),
        Some(frame) => {
            let tab = running.tabs.tab(&job.page).ok()?;
            let lift = |parts: &[Part]| tab.in_top_viewport(frame, parts, Deadline::after(PLACING));
            // Sensitive fields of a frame whose place is not known cannot be painted over.
            match lift(&job.areas) {
                Ok(areas) => covered.extend(areas),
                Err(_) if !job.areas.is_empty() => return None,
                Err(_) => {}
            }
            marked = marked.and_then(|part| lift(&[part]).ok()?.first().copied());
        }
    }
    match keyframe(&job.shot.frame, marked.filter(|_| !job.after), &covered, &job.text) {
        Ok(jpeg) => Some(Keyframe { event_index: job.event_index, after: job.after, jpeg }),
        Err(error) => {
            tracing::debug!(%error, "a frame of the live picture cannot be drawn on");
            None
        }
    }
}
