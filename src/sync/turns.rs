//! Turns: exclusive work, first come, first served.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::Deadline;

/// How often a waiting caller evaluates `stop`.
const CHECK: Duration = Duration::from_millis(50);

/// A caller that had to wait gets no turn with less time left than this.
const LEAST: Duration = Duration::from_millis(100);

/// A fair queue for exclusive work. The lock inside is held for a queue operation, never while a caller works.
#[derive(Debug, Default)]
pub struct Turns {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    next: u64,
    /// Tickets of waiting callers, in order of arrival.
    waiting: VecDeque<u64>,
    /// The present turn: its ticket, its work, and when it began.
    current: Option<(u64, &'static str, Instant)>,
}

/// A turn. Dropping it gives the turn to the next caller.
#[derive(Debug)]
pub struct Turn<'a> {
    turns: &'a Turns,
    ticket: u64,
}

/// Why the caller got no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoTurn {
    /// The work of the present turn, or of the last one; `None` if there was none.
    pub running: Option<&'static str>,
    /// How long that turn has lasted.
    pub since: Duration,
    /// Callers ahead in the queue.
    pub ahead: usize,
}

impl Turns {
    /// Waits for a turn until the deadline, also when it is cancelled, or until `stop` returns true, which is evaluated
    /// every 50 ms. A caller that stops waiting leaves the queue.
    ///
    /// # Errors
    /// [`NoTurn`], which names the present turn.
    pub fn take(
        &self,
        what: &'static str,
        deadline: Deadline<'_>,
        mut stop: impl FnMut() -> bool,
    ) -> Result<Turn<'_>, NoTurn> {
        let place = Place::join(self);
        let mut queue = self.queue.lock();
        let mut blocked_by = None;
        loop {
            let is_next = queue.current.is_none() && queue.waiting.front() == Some(&place.ticket);
            // A turn that comes too late is useless.
            let is_late = blocked_by.is_some() && deadline.left() < LEAST;
            if is_next && !is_late {
                queue.current = Some((place.ticket, what, Instant::now()));
                return Ok(Turn { turns: self, ticket: place.ticket });
            }
            if let Some((_, what, since)) = queue.current {
                blocked_by = Some((what, since));
            }
            // `stop` takes locks of its own.
            if MutexGuard::unlocked(&mut queue, || is_late || deadline.passed() || stop()) {
                let ahead = queue.waiting.iter().take_while(|ticket| **ticket != place.ticket).count();
                let (running, since) = blocked_by.map(|(what, since)| (what, since.elapsed())).unzip();
                return Err(NoTurn { running, since: since.unwrap_or_default(), ahead });
            }
            if queue.current.is_some() || queue.waiting.front() != Some(&place.ticket) {
                self.changed.wait_until(&mut queue, deadline.within(CHECK).instant());
            }
        }
    }
}

/// A place in the queue. Dropping it leaves the queue: with a turn, without one, or after a panic of `stop`.
struct Place<'a> {
    turns: &'a Turns,
    ticket: u64,
}

impl<'a> Place<'a> {
    fn join(turns: &'a Turns) -> Self {
        let mut queue = turns.queue.lock();
        let ticket = queue.next;
        queue.next += 1;
        queue.waiting.push_back(ticket);
        Self { turns, ticket }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.turns.queue.lock().waiting.retain(|ticket| *ticket != self.ticket);
        self.turns.changed.notify_all();
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut queue = self.turns.queue.lock();
        if queue.current.is_some_and(|(ticket, ..)| ticket == self.ticket) {
            queue.current = None;
        }
        drop(queue);
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Cancel, Thread, spawn};
    use super::*;

    fn never() -> bool {
        false
    }

    fn waiting(turns: &Turns, number: usize) {
        let deadline = Deadline::after_secs(30);
        while turns.queue.lock().waiting.len() != number {
            assert!(!deadline.passed(), "{:?}", turns.queue.lock());
            std::thread::yield_now();
        }
    }

    #[test]
    fn turns_come_in_the_order_of_asking() {
        let turns = Arc::new(Turns::default());
        let order = Arc::new(Mutex::new(Vec::new()));
        let first = turns.take("first", Deadline::after_secs(30), never).unwrap();
        let threads: Vec<Thread> = (0..8)
            .map(|number| {
                let (queue, order) = (Arc::clone(&turns), Arc::clone(&order));
                let thread = spawn(format!("turn-{number}"), move || {
                    let turn = queue.take("next", Deadline::after_secs(30), never).unwrap();
                    order.lock().push(number);
                    drop(turn);
                });
                waiting(&turns, number + 1);
                thread.unwrap()
            })
            .collect();
        drop(first);
        threads.into_iter().for_each(Thread::join);
        assert_eq!(*order.lock(), (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn who_stops_waiting_leaves_the_queue_and_learns_what_runs() {
        let turns = Turns::default();
        let turn = turns.take("typing", Deadline::after_secs(30), never).unwrap();
        let late = turns.take("click", Deadline::after_millis(5), never).unwrap_err();
        assert_eq!((late.running, late.ahead), (Some("typing"), 0));
        let soon = turns.take("click", Deadline::after_millis(150), never).unwrap_err();
        assert_eq!(soon.running, Some("typing"));
        let stopped = turns.take("click", Deadline::after_secs(30), || true).unwrap_err();
        assert_eq!(stopped.running, Some("typing"));
        let cancel = Cancel::new();
        cancel.set();
        assert!(turns.take("click", Deadline::after_secs(30).cancelled_by(&cancel), never).is_err());
        waiting(&turns, 0);
        drop(turn);
        // A turn that is free is given whatever the time.
        assert!(turns.take("click", Deadline::after_millis(0), never).is_ok());
    }
}
