//! Background processes of a session.

use cdpilot::code::Code;
use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::super::ToolError;
use super::job::Job;

/// Maximum number of ended processes kept for later queries.
const REMEMBERED: usize = 16;

/// A background process.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) number: u64,
    pub(super) job: Arc<Job>,
    /// Index of the next line that `poll` reports, from 0.
    pub(super) seen: Arc<Mutex<usize>>,
}

impl Known {
    /// Id for models: `p1`.
    pub(super) fn id(&self) -> String {
        format!("p{}", self.number)
    }
}

/// Background processes. Dropping the table ends them.
#[derive(Debug)]
pub(super) struct Table {
    most: usize,
    rows: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    /// The last number assigned; numbers are not reused.
    given: u64,
    /// Number of processes being started.
    starting: usize,
    known: BTreeMap<u64, Known>,
}

impl Table {
    /// Creates a table for at most `most` running processes.
    pub(super) fn of(most: usize) -> Self {
        Self { most, rows: Mutex::default() }
    }

    /// Starts a background process.
    ///
    /// # Errors
    /// `BUSY` at the limit of running processes; errors of `start`.
    pub(super) fn add(&self, start: impl FnOnce() -> Result<Job, ToolError>) -> Result<Known, ToolError> {
        {
            let mut rows = self.rows.lock();
            let running = rows.known.values().filter(|known| known.job.ended().is_none()).count();
            if running + rows.starting >= self.most {
                let message = format!(
                    "{running} background processes are running, the limit; end one with process (action kill), or wait"
                );
                return Err(ToolError::new(Code::Busy, message));
            }
            rows.starting += 1;
        }
        let started = start();
        let mut rows = self.rows.lock();
        rows.starting -= 1;
        let job = Arc::new(started?);
        rows.given += 1;
        let known = Known { number: rows.given, job, seen: Arc::default() };
        rows.known.insert(known.number, known.clone());
        let ended = rows.known.values().filter(|known| known.job.ended().is_some());
        let too_many: Vec<u64> = ended.map(|known| known.number).collect();
        let forgotten: Vec<Known> = too_many
            .iter()
            .take(too_many.len().saturating_sub(REMEMBERED))
            .filter_map(|number| rows.known.remove(number))
            .collect();
        drop(rows);
        // Dropping joins threads; the lock must not be held.
        drop(forgotten);
        Ok(known)
    }

    /// All known processes, in the order of their start.
    pub(super) fn all(&self) -> Vec<Known> {
        self.rows.lock().known.values().cloned().collect()
    }

    /// The process with this id.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub(super) fn find(&self, id: &str) -> Result<Known, ToolError> {
        let number = id.trim().trim_start_matches('p').parse().unwrap_or(0);
        let found = self.rows.lock().known.get(&number).cloned();
        found.ok_or_else(|| {
            let known: Vec<String> = self.all().iter().map(Known::id).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            ToolError::new(Code::NotFound, format!("process {id:?} does not exist; known processes: {known}"))
        })
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let all = std::mem::take(&mut self.rows.get_mut().known);
        // Terminate all first, so that ending them takes no longer than the slowest one.
        all.values().for_each(|known| known.job.terminate());
        drop(all);
    }
}
