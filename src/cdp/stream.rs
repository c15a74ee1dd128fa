//! A non-blocking byte stream to a browser: a TCP socket, or the two pipes of a launched browser.
//!
//! Reading and writing never wait; waiting is a separate step with a deadline. Both halves are used concurrently by
//! different threads: the reading role, and the write path.

use std::io;
use std::net::{Shutdown, TcpStream};
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
#[cfg(unix)]
use std::sync::Arc;
use std::time::Duration;

#[cfg(unix)]
use parking_lot::Mutex;

#[cfg(unix)]
use super::poller::Wake;
use crate::sync::Deadline;

/// A connected stream.
#[derive(Debug)]
pub(super) struct Stream {
    kind: Kind,
    #[cfg(feature = "tls")]
    tls: Option<super::tls::Tls>,
}

#[derive(Debug)]
enum Kind {
    /// Two handles of one socket, so that each direction can be waited for separately.
    Tcp { read: TcpStream, write: TcpStream },
    /// The write end is dropped at close: Chromium ends when its pipe is closed.
    #[cfg(unix)]
    Pipe { read: OwnedFd, write: Mutex<Option<Arc<OwnedFd>>> },
}

/// How long a blocking wait lasts before the deadline is checked again.
const SLICE: Duration = Duration::from_millis(100);

impl Stream {
    pub(super) fn tcp(socket: TcpStream) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        #[cfg(unix)]
        {
            socket.set_nonblocking(true)?;
            rustix::net::sockopt::set_socket_keepalive(&socket, true)?;
        }
        #[cfg(not(unix))]
        {
            socket.set_read_timeout(Some(SLICE))?;
            socket.set_write_timeout(Some(SLICE))?;
        }
        let write = socket.try_clone()?;
        Ok(Self::plain(Kind::Tcp { read: socket, write }))
    }

    fn plain(kind: Kind) -> Self {
        Self {
            kind,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    #[cfg(unix)]
    pub(super) fn pipe(read: OwnedFd, write: OwnedFd) -> io::Result<Self> {
        for fd in [&read, &write] {
            rustix::io::ioctl_fionbio(fd, true)?;
            rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC)?;
            // A larger pipe transfers a screenshot in fewer turns; the system may refuse.
            #[cfg(target_os = "linux")]
            let _ = rustix::pipe::fcntl_setpipe_size(fd, 1024 * 1024);
        }
        Ok(Self::plain(Kind::Pipe { read, write: Mutex::new(Some(Arc::new(write))) }))
    }

    #[cfg(feature = "tls")]
    pub(super) fn with_tls(self, tls: super::tls::Tls) -> Self {
        Self { tls: Some(tls), ..self }
    }

    #[cfg(feature = "tls")]
    pub(super) fn tls(&self) -> Option<&super::tls::Tls> {
        self.tls.as_ref()
    }

    /// Reads available bytes. `WouldBlock` if there are none, `Ok(0)` at the end. If fewer bytes are read than fit, the
    /// rest is in the system's buffers, not in memory.
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return tls.read(|bytes| self.read_raw(bytes), buffer);
        }
        self.read_raw(buffer)
    }

    /// Encrypts a frame if needed. Only the holder of the right to write may call this, and the result must be sent
    /// next.
    pub(super) fn seal(&self, frame: Vec<u8>) -> io::Result<Vec<u8>> {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return tls.seal(&frame);
        }
        Ok(frame)
    }

    /// Whether frames are encrypted: an encrypted one cannot be withdrawn.
    pub(super) fn is_sealed(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        false
    }

    /// Whether the stream itself has output pending, which an empty frame flushes.
    pub(super) fn has_output(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.as_ref().is_some_and(super::tls::Tls::has_output);
        #[cfg(not(feature = "tls"))]
        false
    }

    pub(super) fn read_raw(&self, buffer: &mut [u8]) -> io::Result<usize> {
        use std::io::Read as _;
        loop {
            let result = match &self.kind {
                Kind::Tcp { read, .. } => {
                    let mut read: &TcpStream = read;
                    read.read(buffer)
                }
                #[cfg(unix)]
                Kind::Pipe { read, .. } => rustix::io::read(read, &mut *buffer).map_err(Into::into),
            };
            match result {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::TimedOut => return Err(io::ErrorKind::WouldBlock.into()),
                other => return other,
            }
        }
    }

    /// Writes as much as the system accepts of the output of [`seal`](Self::seal).
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        use std::io::Write as _;
        loop {
            let result = match &self.kind {
                Kind::Tcp { write, .. } => {
                    let mut write: &TcpStream = write;
                    write.write(bytes)
                }
                #[cfg(unix)]
                Kind::Pipe { write, .. } => {
                    let fd = write.lock().clone().ok_or(io::ErrorKind::BrokenPipe)?;
                    rustix::io::write(&*fd, bytes).map_err(Into::into)
                }
            };
            match result {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::TimedOut => return Err(io::ErrorKind::WouldBlock.into()),
                other => return other,
            }
        }
    }

    /// Closes both directions; waiting threads wake up.
    pub(super) fn shutdown(&self) {
        match &self.kind {
            Kind::Tcp { read, .. } => {
                let _ = read.shutdown(Shutdown::Both);
            }
            #[cfg(unix)]
            Kind::Pipe { write, .. } => {
                let end = write.lock().take();
                drop(end);
            }
        }
    }

    /// Waits until data is available, the waker is called, or the deadline passes.
    #[cfg(unix)]
    pub(super) fn wait_readable(&self, wake: &Wake, deadline: Deadline<'_>) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags};
        let read = self.read_fd();
        let mut fds = [PollFd::from_borrowed_fd(read, PollFlags::IN), PollFd::new(wake, PollFlags::IN)];
        poll(&mut fds, deadline.left())?;
        if !fds[1].revents().is_empty() {
            wake.clear();
        }
        Ok(())
    }

    /// Waits until data is available; at most 100 ms, so that the caller can check its deadline.
    pub(super) fn wait_readable_until(&self, deadline: Deadline<'_>) -> io::Result<()> {
        #[cfg(unix)]
        {
            use rustix::event::{PollFd, PollFlags};
            let read = self.read_fd();
            poll(&mut [PollFd::from_borrowed_fd(read, PollFlags::IN)], deadline.left().min(SLICE))
        }
        #[cfg(not(unix))]
        {
            let _ = deadline; // the read itself waits for a slice
            Ok(())
        }
    }

    /// Waits until the system accepts more bytes; at most 100 ms, so that the caller can check its deadline and for a
    /// close.
    pub(super) fn wait_writable(&self, deadline: Deadline<'_>) -> io::Result<()> {
        #[cfg(unix)]
        {
            use rustix::event::{PollFd, PollFlags};
            let limit = deadline.left().min(SLICE);
            match &self.kind {
                Kind::Tcp { write, .. } => poll(&mut [PollFd::new(write, PollFlags::OUT)], limit),
                Kind::Pipe { write, .. } => {
                    let fd = write.lock().clone().ok_or(io::ErrorKind::BrokenPipe)?;
                    poll(&mut [PollFd::new(&*fd, PollFlags::OUT)], limit)
                }
            }
        }
        #[cfg(not(unix))]
        {
            let _ = deadline; // the write itself waits for a slice
            Ok(())
        }
    }

    #[cfg(unix)]
    pub(super) fn read_fd(&self) -> BorrowedFd<'_> {
        match &self.kind {
            Kind::Tcp { read, .. } => read.as_fd(),
            Kind::Pipe { read, .. } => read.as_fd(),
        }
    }

    /// Runs `with` on the write end, unless it is closed.
    #[cfg(unix)]
    pub(super) fn with_write_fd<T>(&self, with: impl FnOnce(BorrowedFd<'_>) -> T) -> Option<T> {
        match &self.kind {
            Kind::Tcp { write, .. } => Some(with(write.as_fd())),
            Kind::Pipe { write, .. } => {
                let fd = write.lock().clone()?;
                Some(with(fd.as_fd()))
            }
        }
    }
}

#[cfg(unix)]
fn poll(fds: &mut [rustix::event::PollFd<'_>], limit: Duration) -> io::Result<()> {
    let time = timespec(limit);
    match rustix::event::poll(fds, Some(&time)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

#[cfg(unix)]
pub(super) fn timespec(time: Duration) -> rustix::event::Timespec {
    rustix::event::Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}
