//! JSON lines on stdout, written by one thread, so that no other thread blocks on stdout.

use std::io::{self, Write};

use crossbeam_channel::{Receiver, Sender, select};
use serde::Serialize;

use super::End;
use cdpilot::sync::{Thread, spawn};
use cdpilot::text::escaped_json;

/// Capacity of the queue; writers wait when it is full.
const WAITING: usize = 256;

/// Sender of output lines. Clones share the queue.
#[derive(Clone)]
pub(super) struct Lines {
    send: Sender<String>,
    /// Disconnects to release waiting writers.
    given_up: Receiver<()>,
}

impl Lines {
    /// Starts the writer thread. It ends when all clones of the `Lines` are dropped, and reports a closed stdout to `control`.
    /// Dropping the returned sender releases writers that wait for a blocked reader.
    pub(super) fn start(control: Sender<End>, alive: Sender<()>) -> io::Result<(Self, Sender<()>, Thread)> {
        let (send, receive) = crossbeam_channel::bounded::<String>(WAITING);
        let (patience, given_up) = crossbeam_channel::bounded(0);
        let thread = spawn("cli-out", move || {
            let _alive = alive;
            let mut stdout = io::stdout();
            for line in receive {
                if stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).is_err() {
                    let _ = control.try_send(End::ReaderGone);
                    return;
                }
            }
        })?;
        Ok((Self { send, given_up }, patience, thread))
    }

    /// Queues a line; waits while the queue is full.
    pub(super) fn write(&self, value: &impl Serialize) {
        let Ok(line) = serde_json::to_string(value) else { return };
        let mut line = escaped_json(&line).into_owned();
        line.push('\n');
        select! {
            send(self.send, line) -> _ => {}
            recv(self.given_up) -> _ => {}
        }
    }
}
