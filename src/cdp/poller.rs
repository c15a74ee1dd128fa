//! How the reader thread waits, and how callers take over the reading role without waking it.
//!
//! On Linux the thread sleeps in `epoll_wait`. A caller that takes the reading role disables the event with one
//! `epoll_ctl` and enables it again afterwards: the thread does not run in between, and a round trip costs one wake-up
//! instead of two. On other systems the thread waits with `poll` (Unix) or in the read itself (Windows), and callers
//! wait for it.

#[cfg(not(unix))]
pub(super) use blocking::{Poller, Wake};
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use linux::{Poller, Wake};
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub(super) use portable::{Poller, Wake};

/// Result of a wait.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ready {
    /// Data is available.
    pub(super) read: bool,
    /// The system accepts more bytes again.
    pub(super) write: bool,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::time::Duration;

    use rustix::event::epoll::{self, EventData, EventFlags};
    use rustix::event::{EventfdFlags, eventfd};

    use super::Ready;
    use crate::cdp::stream::{Stream, timespec};

    const READ: u64 = 0;
    const WRITE: u64 = 1;
    const WAKE: u64 = 2;

    /// Ends a wait from another thread.
    #[derive(Debug)]
    pub(in crate::cdp) struct Wake(OwnedFd);

    impl Wake {
        pub(in crate::cdp) fn new() -> io::Result<Self> {
            Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
        }

        pub(in crate::cdp) fn wake(&self) {
            let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
        }

        pub(in crate::cdp) fn clear(&self) {
            let _ = rustix::io::read(&self.0, &mut [0; 8]);
        }
    }

    impl AsFd for Wake {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }

    #[derive(Debug)]
    pub(in crate::cdp) struct Poller {
        epoll: OwnedFd,
        wake: Wake,
    }

    impl Poller {
        /// Whether a caller may take the reading role.
        pub(in crate::cdp) const CAN_LEAD: bool = true;

        pub(in crate::cdp) fn new(stream: &Stream) -> io::Result<Self> {
            let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            let wake = Wake::new()?;
            epoll::add(&epoll, &wake, EventData::new_u64(WAKE), EventFlags::IN)?;
            // One-shot: a hang-up is reported once, not in a busy loop while a caller reads.
            epoll::add(&epoll, stream.read_fd(), EventData::new_u64(READ), EventFlags::IN | EventFlags::ONESHOT)?;
            stream
                .with_write_fd(|fd| epoll::add(&epoll, fd, EventData::new_u64(WRITE), EventFlags::ONESHOT))
                .ok_or(io::ErrorKind::BrokenPipe)??;
            Ok(Self { epoll, wake })
        }

        pub(in crate::cdp) fn wait(&self, _stream: &Stream, limit: Duration) -> io::Result<Ready> {
            let mut events = [epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; 4];
            let count = match epoll::wait(&self.epoll, &mut events[..], Some(&timespec(limit))) {
                Ok(count) => count,
                Err(rustix::io::Errno::INTR) => 0,
                Err(e) => return Err(e.into()),
            };
            let mut ready = Ready::default();
            for event in &events[..count] {
                match event.data.u64() {
                    READ => ready.read = true,
                    WRITE => ready.write = true,
                    _ => self.wake.clear(),
                }
            }
            Ok(ready)
        }

        /// Enables reading by the reader thread. Called after the reading role was given back.
        pub(in crate::cdp) fn arm(&self, stream: &Stream) {
            let flags = EventFlags::IN | EventFlags::ONESHOT;
            let _ = epoll::modify(&self.epoll, stream.read_fd(), EventData::new_u64(READ), flags);
        }

        /// Disables reading by the reader thread. Only the holder of the reading role may call this.
        pub(in crate::cdp) fn disarm(&self, stream: &Stream) {
            let _ = epoll::modify(&self.epoll, stream.read_fd(), EventData::new_u64(READ), EventFlags::ONESHOT);
        }

        /// Notifies the reader thread when the system accepts more bytes.
        pub(in crate::cdp) fn arm_write(&self, stream: &Stream) {
            let flags = EventFlags::OUT | EventFlags::ONESHOT;
            stream.with_write_fd(|fd| epoll::modify(&self.epoll, fd, EventData::new_u64(WRITE), flags).ok());
        }

        pub(in crate::cdp) fn wake(&self) {
            self.wake.wake();
        }
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
mod portable {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags};

    use super::Ready;
    use crate::cdp::stream::{Stream, timespec};

    /// Ends a wait from another thread.
    #[derive(Debug)]
    pub(in crate::cdp) struct Wake {
        read: OwnedFd,
        write: OwnedFd,
    }

    impl Wake {
        pub(in crate::cdp) fn new() -> io::Result<Self> {
            let (read, write) = rustix::pipe::pipe()?;
            for fd in [&read, &write] {
                rustix::io::ioctl_fionbio(fd, true)?;
                rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC)?;
            }
            Ok(Self { read, write })
        }

        pub(in crate::cdp) fn wake(&self) {
            let _ = rustix::io::write(&self.write, &[1]);
        }

        pub(in crate::cdp) fn clear(&self) {
            let mut rest = [0; 64];
            while rustix::io::read(&self.read, &mut rest).is_ok_and(|n| n > 0) {}
        }
    }

    impl AsFd for Wake {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.read.as_fd()
        }
    }

    #[derive(Debug)]
    pub(in crate::cdp) struct Poller {
        wake: Wake,
        writing: AtomicBool,
    }

    impl Poller {
        pub(in crate::cdp) const CAN_LEAD: bool = false;

        pub(in crate::cdp) fn new(_stream: &Stream) -> io::Result<Self> {
            Ok(Self { wake: Wake::new()?, writing: AtomicBool::new(false) })
        }

        pub(in crate::cdp) fn wait(&self, stream: &Stream, limit: Duration) -> io::Result<Ready> {
            let time = timespec(limit);
            let writing = self.writing.load(Ordering::Acquire);
            let mut ready = Ready::default();
            let mut run = |write: Option<BorrowedFd<'_>>| -> io::Result<()> {
                let mut fds = vec![
                    PollFd::from_borrowed_fd(stream.read_fd(), PollFlags::IN),
                    PollFd::new(&self.wake, PollFlags::IN),
                ];
                fds.extend(write.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)));
                match rustix::event::poll(&mut fds, Some(&time)) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(e) => return Err(e.into()),
                }
                ready.read = !fds[0].revents().is_empty();
                if !fds[1].revents().is_empty() {
                    self.wake.clear();
                }
                ready.write = fds.get(2).is_some_and(|fd| !fd.revents().is_empty());
                Ok(())
            };
            if writing {
                stream.with_write_fd(|fd| run(Some(fd))).unwrap_or(Ok(()))?;
            } else {
                run(None)?;
            }
            if ready.write {
                self.writing.store(false, Ordering::Release);
            }
            Ok(ready)
        }

        pub(in crate::cdp) fn arm(&self, _stream: &Stream) {}

        pub(in crate::cdp) fn disarm(&self, _stream: &Stream) {}

        pub(in crate::cdp) fn arm_write(&self, _stream: &Stream) {
            self.writing.store(true, Ordering::Release);
            self.wake.wake();
        }

        pub(in crate::cdp) fn wake(&self) {
            self.wake.wake();
        }
    }
}

#[cfg(not(unix))]
mod blocking {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::Ready;
    use crate::cdp::stream::Stream;

    /// Nothing to wake: waits are limited to slices of 100 ms.
    #[derive(Debug)]
    pub(in crate::cdp) struct Wake;

    impl Wake {
        pub(in crate::cdp) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        pub(in crate::cdp) fn wake(&self) {}
    }

    #[derive(Debug, Default)]
    pub(in crate::cdp) struct Poller {
        writing: AtomicBool,
    }

    impl Poller {
        pub(in crate::cdp) const CAN_LEAD: bool = false;

        pub(in crate::cdp) fn new(_stream: &Stream) -> io::Result<Self> {
            Ok(Self::default())
        }

        /// The following read itself waits for a slice.
        pub(in crate::cdp) fn wait(&self, _stream: &Stream, _limit: Duration) -> io::Result<Ready> {
            Ok(Ready { read: true, write: self.writing.swap(false, Ordering::AcqRel) })
        }

        pub(in crate::cdp) fn arm(&self, _stream: &Stream) {}

        pub(in crate::cdp) fn disarm(&self, _stream: &Stream) {}

        pub(in crate::cdp) fn arm_write(&self, _stream: &Stream) {
            self.writing.store(true, Ordering::Release);
        }

        pub(in crate::cdp) fn wake(&self) {}
    }
}
