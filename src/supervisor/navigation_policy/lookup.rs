//! Host name resolution on threads of its own; the supervisor's thread never waits for it.

use std::collections::VecDeque;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender};

use crate::sync::{Thread, spawn};

/// Names that are looked up at once. The system's resolver knows no deadline, so a name whose servers are
/// silent holds its thread for as long as that one tries.
const AT_ONCE: usize = 8;

/// What looks names up: blocks as long as it takes, and gives nothing for a name that is not there.
pub(in crate::supervisor) type Names = fn(&str) -> Vec<IpAddr>;

/// The system's resolver.
pub(super) fn system(host: &str) -> Vec<IpAddr> {
    (host, 0).to_socket_addrs().map(|all| all.map(|at| at.ip()).collect()).unwrap_or_default()
}

/// What a name leads to.
#[derive(Debug)]
pub(in crate::supervisor) struct ResolvedName {
    pub(in crate::supervisor) host: Arc<str>,
    /// None when there is no such name, or it cannot be found out: the browser will not get far either.
    pub(in crate::supervisor) addresses: Vec<IpAddr>,
}

/// Look-ups under way.
pub(in crate::supervisor) struct Lookups {
    running: Vec<(Arc<str>, Thread)>,
    queue: VecDeque<Arc<str>>,
    found: Sender<ResolvedName>,
    names: Names,
}

impl Lookups {
    /// None yet, and where their outcomes will come.
    pub(in crate::supervisor) fn new(names: Names) -> (Self, Receiver<ResolvedName>) {
        // A thread counts as running until its outcome was taken, so none ever waits for room.
        let (found, outcomes) = crossbeam_channel::bounded(AT_ONCE);
        (Self { running: Vec::new(), queue: VecDeque::new(), found, names }, outcomes)
    }

    /// Looks a name up, now or when another one is done.
    pub(in crate::supervisor) fn start(&mut self, host: Arc<str>) {
        // A lookup that is no longer awaited may still be running.
        if !self.running.iter().any(|(known, _)| *known == host) && !self.queue.contains(&host) {
            self.queue.push_back(host);
            self.go_on();
        }
    }

    fn go_on(&mut self) {
        // One that panicked has no outcome; who waits for its name is refused at its deadline.
        self.running.retain(|(_, thread)| !thread.is_finished());
        while self.running.len() < AT_ONCE
            && let Some(host) = self.queue.pop_front()
        {
            let (name, found, names) = (Arc::clone(&host), self.found.clone(), self.names);
            let thread = spawn("nav-lookup", move || {
                let addresses = names(&name);
                let _ = found.send(ResolvedName { host: name, addresses });
            });
            match thread {
                Ok(thread) => self.running.push((host, thread)),
                // Not reported: requests that wait for this name are refused at their deadline.
                Err(problem) => tracing::warn!(%problem, "cannot start a thread to resolve a host name"),
            }
        }
    }

    /// An outcome was taken.
    pub(in crate::supervisor) fn took(&mut self, found: &ResolvedName) {
        if let Some(at) = self.running.iter().position(|(host, _)| *host == found.host) {
            self.running.swap_remove(at).1.join();
        }
        self.go_on();
    }

    /// Names that are no longer awaited are not looked up.
    pub(in crate::supervisor) fn keep_waiting(&mut self, wanted: impl Fn(&str) -> bool) {
        self.queue.retain(|host| wanted(host));
    }
}

impl Drop for Lookups {
    fn drop(&mut self) {
        for (_, thread) in self.running.drain(..) {
            if !thread.is_finished() {
                std::mem::forget(thread); // joining would wait for the resolver
            }
        }
    }
}
