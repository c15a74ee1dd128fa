//! Host name resolution on separate threads; the supervisor's thread never waits for it.

use std::collections::VecDeque;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender};

use crate::sync::{Thread, spawn};

/// Maximum number of concurrent lookups. The system's resolver has no deadline, so a name whose servers do not respond
/// occupies its thread until the resolver gives up.
const AT_ONCE: usize = 8;

/// Resolves a name; blocks, and returns no addresses for an unknown name.
pub(in crate::supervisor) type Names = fn(&str) -> Vec<IpAddr>;

/// The system's resolver.
pub(super) fn system(host: &str) -> Vec<IpAddr> {
    (host, 0).to_socket_addrs().map(|all| all.map(|at| at.ip()).collect()).unwrap_or_default()
}

/// The result of a lookup.
#[derive(Debug)]
pub(in crate::supervisor) struct ResolvedName {
    pub(in crate::supervisor) host: Arc<str>,
    /// Empty if the name does not exist or cannot be resolved; the browser will fail too.
    pub(in crate::supervisor) addresses: Vec<IpAddr>,
}

/// Lookups in progress.
pub(in crate::supervisor) struct Lookups {
    running: Vec<(Arc<str>, Thread)>,
    queue: VecDeque<Arc<str>>,
    found: Sender<ResolvedName>,
    names: Names,
}

impl Lookups {
    /// Creates the lookups and the channel of their results.
    pub(in crate::supervisor) fn new(names: Names) -> (Self, Receiver<ResolvedName>) {
        // A thread counts as running until its result was received, so sending never waits for room.
        let (found, outcomes) = crossbeam_channel::bounded(AT_ONCE);
        (Self { running: Vec::new(), queue: VecDeque::new(), found, names }, outcomes)
    }

    /// Resolves a name, now or when another lookup has finished.
    pub(in crate::supervisor) fn start(&mut self, host: Arc<str>) {
        // A lookup that is no longer needed may still be running.
        if !self.running.iter().any(|(known, _)| *known == host) && !self.queue.contains(&host) {
            self.queue.push_back(host);
            self.go_on();
        }
    }

    fn go_on(&mut self) {
        // A thread that panicked has no result; requests that wait for its name are refused at their deadline.
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
                // Not reported further: requests that wait for this name are refused at their deadline.
                Err(problem) => tracing::warn!(%problem, "cannot start a thread to resolve a host name"),
            }
        }
    }

    /// A result was received.
    pub(in crate::supervisor) fn took(&mut self, found: &ResolvedName) {
        if let Some(at) = self.running.iter().position(|(host, _)| *host == found.host) {
            self.running.swap_remove(at).1.join();
        }
        self.go_on();
    }

    /// Drops queued names that are no longer needed.
    pub(in crate::supervisor) fn keep_waiting(&mut self, is_needed: impl Fn(&str) -> bool) {
        self.queue.retain(|host| is_needed(host));
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
