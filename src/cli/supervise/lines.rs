//! stdout: JSON lines, written by one thread, so that nobody else ever waits with a lock in hand.

use std::io::{self, Write};

use crossbeam_channel::{Receiver, Sender, select};
use serde::Serialize;

use super::End;
use crate::sync::{Thread, spawn};
use crate::text::escaped_json;

/// Lines that may wait to be written. Whoever has more to say waits.
const WAITING: usize = 256;

/// The way to stdout. Clones share it.
#[derive(Clone)]
pub(super) struct Lines {
    send: Sender<String>,
    /// Ends when nobody is to wait for the reader any more.
    given_up: Receiver<()>,
}

impl Lines {
    /// Starts the writer. It ends when all clones of the `Lines` are gone, and tells when the reader went
    /// away. What is returned beside it frees, once dropped, those who wait for a reader that does not read.
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

    /// Hands a line over; waits while too many are waiting.
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
