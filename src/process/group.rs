//! Process groups. The id of a group is the process id of its leader; it cannot be reused while the leader is not
//! reaped or the group has members.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::process::Child;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

#[cfg(target_os = "linux")]
use super::list;
use crate::sync::{Deadline, pause};

/// A process group led by a child of this process. Send no signal once the leader is reaped and the group may be empty:
/// its id may then belong to another process group.
#[derive(Debug)]
pub struct Group {
    leader: Pid,
    /// `None` on old kernels and under strict system call filters, where the leader is polled instead.
    #[cfg(target_os = "linux")]
    handle: Option<OwnedFd>,
}

impl Group {
    /// The group of a child that was started as its leader.
    pub fn led_by(child: &Child) -> io::Result<Self> {
        let raw = i32::try_from(child.id()).map_err(io::Error::other)?;
        let leader = Pid::from_raw(raw).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self {
            leader,
            #[cfg(target_os = "linux")]
            handle: rustix::process::pidfd_open(leader, rustix::process::PidfdFlags::empty()).ok(),
        })
    }

    /// Its id: the process id of the leader.
    pub fn id(&self) -> i32 {
        self.leader.as_raw_nonzero().get()
    }

    /// Sends a signal to all processes of the group.
    pub fn signal(&self, signal: Signal) {
        let _ = rustix::process::kill_process_group(self.leader, signal);
    }

    /// Sends a signal to its leader.
    pub(crate) fn signal_leader(&self, signal: Signal) {
        let _ = rustix::process::kill_process(self.leader, signal);
    }

    /// Waits until the leader has ended, without reaping it. Returns whether it has.
    pub fn wait_leader(&self, deadline: Deadline<'_>) -> bool {
        #[cfg(target_os = "linux")]
        if let Some(handle) = &self.handle {
            use std::os::fd::AsFd as _;
            return super::stdio::wait_readable(handle.as_fd(), deadline).unwrap_or(false);
        }
        poll_until(deadline, || self.has_leader_ended())
    }

    fn has_leader_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(self.leader), options) {
            Ok(status) => status.is_some(),
            Err(Errno::INTR) => false,
            Err(_) => true, // not a child any more: the system has reaped it
        }
    }

    /// Whether no process of the group is running.
    pub(crate) fn is_empty(&self) -> bool {
        match rustix::process::test_kill_process_group(self.leader) {
            Err(Errno::SRCH) => true,
            // Orphans wait as zombies for the first process to reap them, which in a container may
            // never happen. They run nothing and hold nothing, so they do not count.
            #[cfg(target_os = "linux")]
            _ => !list::any_alive_in_group(self.leader),
            #[cfg(not(target_os = "linux"))]
            answer => answer.is_err(), // macOS refuses a group of zombies with EPERM
        }
    }
}

/// Polls a condition that the system does not signal: after 1 ms, then less often, up to every 20 ms.
pub fn poll_until(deadline: Deadline<'_>, holds: impl Fn() -> bool) -> bool {
    let mut step = Duration::from_millis(1);
    loop {
        if holds() {
            return true;
        }
        if deadline.passed() {
            return false;
        }
        pause(step.min(deadline.left()));
        step = (step * 2).min(Duration::from_millis(20));
    }
}
