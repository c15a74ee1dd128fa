//! Files for file choosers, set in advance.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use serde::Serialize;

use super::error::Error;
use super::handle::Supervisor;
use super::state::Request;
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::sync::Deadline;

/// A file chooser that has received files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChosenFiles {
    /// The frame that opened it.
    pub frame_id: FrameId,
    /// Number of files that were set.
    pub files: usize,
    /// Whether it accepts several files.
    pub several: bool,
}

/// Files armed for a file chooser. Dropping it does not disarm them.
#[derive(Debug)]
#[must_use = "call `wait` to learn whether the chooser took the files"]
pub struct ArmedChooser {
    answer: Receiver<Result<ChosenFiles, Error>>,
}

impl ArmedChooser {
    /// Waits until a file chooser has received the files.
    ///
    /// # Errors
    /// [`Error::ChooserReplaced`], [`Error::NoChooser`], [`Error::ChooserOfOne`], [`Error::ChooserWithoutInput`],
    /// [`Error::PageNotFound`]; [`Error::Cdp`] when Chromium rejects the files; [`Error::Timeout`] at this deadline,
    /// after which `wait` may be called again; [`Error::NotActive`].
    pub fn wait(&self, deadline: Deadline<'_>) -> Result<ChosenFiles, Error> {
        let began = Instant::now();
        loop {
            match self.answer.recv_deadline(deadline.next_check()) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Timeout) if deadline.passed() => {
                    return Err(Error::Timeout { what: "setting files for the file chooser", after: began.elapsed() }
                        .or_cancelled(deadline));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::NotActive { reason: "the supervisor has ended".to_owned() });
                }
            }
        }
    }
}

impl Supervisor {
    /// Maximum time that files stay armed.
    pub const CHOOSER_LIMIT: Duration = Duration::from_secs(120);

    /// Starts or stops intercepting the file choosers of the task's pages. While intercepted, none is shown; one
    /// without armed files is cancelled and logged.
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::NotActive`].
    pub fn watch_choosers(&self, on: bool, deadline: Deadline<'_>) -> Result<(), Error> {
        self.ask("enabling file chooser interception", deadline, |reply| Request::Choosers { on, reply })
    }

    /// Arms files for the next file chooser in any frame of a page, for at most [`CHOOSER_LIMIT`](Self::CHOOSER_LIMIT).
    /// They replace files armed earlier, whose [`ArmedChooser`] reports it. Paths are on the machine where the browser
    /// runs.
    ///
    /// # Errors
    /// [`Error::PageNotFound`], [`Error::Reconnecting`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn arm_chooser(
        &self,
        page: &TargetId,
        files: &[PathBuf],
        time: Duration,
        deadline: Deadline<'_>,
    ) -> Result<ArmedChooser, Error> {
        self.connected(deadline)?;
        let files: Arc<[String]> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let until = Instant::now() + time.min(Self::CHOOSER_LIMIT);
        let (chosen, answer) = crossbeam_channel::bounded(1);
        let page = page.clone();
        self.ask("setting files for the file chooser", deadline, |reply| Request::ArmChooser {
            page,
            files,
            until,
            chosen,
            reply,
        })?;
        Ok(ArmedChooser { answer })
    }
}
