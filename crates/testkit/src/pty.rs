//! A pseudoterminal for a program, with a simulated user.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use cdpilot::sync::{Thread, pause, spawn};
use parking_lot::{Condvar, Mutex};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

type Screen = Arc<(Mutex<String>, Condvar)>;

/// A program in its own pseudoterminal. Dropping it kills the program.
pub struct Terminal {
    child: Child,
    keys: File,
    screen: Screen,
    _reader: Thread,
}

impl Terminal {
    pub fn start(mut command: Command) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        tcsetwinsize(&ours, Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let open = || File::options().read(true).write(true).open(&name).unwrap();
        let child = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
        // Held by the program alone: its end is the end of what can be read.
        drop(command);
        let screen: Screen = Arc::default();
        let (mut output, shown) = (File::from(ours.try_clone().unwrap()), Arc::clone(&screen));
        let reader = spawn("pty-reader", move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                shown.0.lock().push_str(&String::from_utf8_lossy(&bytes[..count]));
                shown.1.notify_all();
            }
        });
        Self { child, keys: File::from(ours), screen, _reader: reader.unwrap() }
    }

    /// Waits until all of these texts have been printed since the last call.
    pub fn shows(&self, parts: &[&str]) -> String {
        let until = super::soon();
        let mut screen = self.screen.0.lock();
        while !parts.iter().all(|part| screen.contains(part)) {
            let late = self.screen.1.wait_until(&mut screen, until.instant()).timed_out();
            assert!(!late, "not all of {parts:?} in:\n{}", screen.escape_debug().to_string().replace("\\n", "\n"));
        }
        std::mem::take(&mut screen)
    }

    /// Ctrl-C outside of a prompt: the terminal is not the controlling one, and sends no signals.
    pub fn interrupts(&self) {
        crate::kill(self.child.id(), "-INT");
    }

    pub fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    pub fn ends(mut self) -> ExitStatus {
        let until = super::soon();
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status,
                None => assert!(!until.passed(), "it did not end: {}", self.screen.0.lock()),
            }
            pause(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
