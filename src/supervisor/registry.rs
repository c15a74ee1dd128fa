//! Supervisors by task: at most one per task, created on demand.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::error::Error;
use super::handle::Supervisor;
use super::options::SupervisorOptions;
use crate::cdp::ConnectOptions;
use crate::sync::Deadline;

/// The supervisors of a process.
///
/// # Locking
/// The map's lock is held for map operations only. Each task has its own lock, held while its supervisor starts or
/// stops, so that concurrent callers of a task get the same supervisor and other tasks are not delayed.
#[derive(Debug, Default)]
pub struct Registry {
    tasks: Mutex<HashMap<String, Arc<Task>>>,
}

#[derive(Debug, Default)]
struct Task {
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    supervisor: Arc<Supervisor>,
    /// The URL it was started with; contains secrets, so it is never printed.
    url: Secret,
}

struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl Registry {
    /// A registry without supervisors.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The supervisor of a task, if it exists and is active.
    #[must_use]
    pub fn get(&self, task: &str) -> Option<Arc<Supervisor>> {
        let task = self.tasks.lock().get(task).cloned()?;
        let running = task.running.lock();
        running.as_ref().map(|r| Arc::clone(&r.supervisor)).filter(|s| s.is_active())
    }

    /// The supervisor of a task on this endpoint: the existing one if it is active and has the same URL; otherwise that
    /// one is stopped and a new one started. State is never carried over from one endpoint to another.
    ///
    /// # Errors
    /// Those of [`Supervisor::attach`].
    pub fn get_or_start(
        &self,
        url: &str,
        connect: &ConnectOptions,
        options: SupervisorOptions,
    ) -> Result<Arc<Supervisor>, Error> {
        let task = Arc::clone(self.tasks.lock().entry(options.task.clone()).or_default());
        let mut running = task.running.lock();
        if let Some(now) = running.as_ref() {
            if now.url.0 == url && now.supervisor.is_active() {
                return Ok(Arc::clone(&now.supervisor));
            }
            now.supervisor.stop(Deadline::after_secs(5));
            *running = None;
        }
        let supervisor = Arc::new(Supervisor::attach(url, connect, options)?);
        *running = Some(Running { supervisor: Arc::clone(&supervisor), url: Secret(url.to_owned()) });
        Ok(supervisor)
    }

    /// Stops the supervisor of a task. Returns whether there was one.
    pub fn stop(&self, task: &str, deadline: Deadline<'_>) -> bool {
        let removed = self.tasks.lock().remove(task);
        let Some(task) = removed else { return false };
        let running = task.running.lock().take();
        running.is_some_and(|running| {
            running.supervisor.stop(deadline);
            true
        })
    }

    /// Stops all supervisors within the deadline.
    pub fn stop_all(&self, deadline: Deadline<'_>) {
        let tasks: Vec<String> = self.tasks.lock().keys().cloned().collect();
        for task in tasks {
            self.stop(&task, deadline);
        }
    }

    /// Names of the tasks that have a supervisor.
    #[must_use]
    pub fn tasks(&self) -> Vec<String> {
        let mut names: Vec<String> = self.tasks.lock().keys().cloned().collect();
        names.sort_unstable();
        names
    }
}
