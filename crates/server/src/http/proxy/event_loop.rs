//! The thread of the proxy: connections, and bytes in both directions.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};

use super::head::{self, Read};
use super::{Admission, Destination, MOST_CONNECTIONS, MOST_DIALS};
use cdpilot::http::dial;
use cdpilot::sync::{Deadline, spawn};

pub(super) const WAKER: Token = Token(1);
const LISTENER: Token = Token(0);
/// The first token of a connection; each has two.
const FIRST: usize = 2;
/// Bytes that are kept for a side that does not read.
const WINDOW: usize = 64 * 1024;
/// Time limit for a request's head, and for connecting.
const HEAD: Duration = Duration::from_secs(30);
const DIAL: Duration = Duration::from_secs(30);
/// How often time limits are checked.
const CHECK: Duration = Duration::from_secs(5);

const ADMITTED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";
const REFUSED: &[u8] = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const UNREACHABLE: &[u8] = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Bytes on their way to a side.
#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    /// Number of bytes at the start that were written.
    written: usize,
}

impl Pending {
    fn len(&self) -> usize {
        self.bytes.len() - self.written
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes what the other side takes. Whether anything was written.
    fn write(&mut self, to: &mut TcpStream) -> io::Result<bool> {
        let before = self.written;
        while !self.is_empty() {
            match to.write(&self.bytes[self.written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.written += count,
                Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
                Err(problem) if problem.kind() == io::ErrorKind::WouldBlock => break,
                Err(problem) => return Err(problem),
            }
        }
        let has_written = self.written > before;
        if self.is_empty() {
            self.bytes.clear();
            self.written = 0;
        }
        Ok(has_written)
    }
}

/// What a connection does.
enum Stage {
    /// It receives the head of a request.
    Head { received: Vec<u8>, since: Instant },
    /// Its destination is being connected to.
    Dialling,
    /// Bytes pass in both directions. `head`: the head of the response, until it is complete.
    Open { upstream: TcpStream, response: Option<Vec<u8>> },
    /// It is closed when everything is written.
    Closing,
}

struct Connection {
    client: TcpStream,
    stage: Stage,
    to_client: Pending,
    to_upstream: Pending,
    /// Whether a side has sent its last byte, and whether that end was passed on to the other one.
    client_ended: (bool, bool),
    upstream_ended: (bool, bool),
}

/// The outcome of connecting to a destination.
struct Dialled {
    number: usize,
    to: Destination,
    stream: Option<std::net::TcpStream>,
}

pub(super) struct EventLoop {
    poll: Poll,
    listener: TcpListener,
    admission: Arc<dyn Admission>,
    waker: Arc<Waker>,
    is_ending: Arc<AtomicBool>,
    connections: HashMap<usize, Connection>,
    next: usize,
    dials: Arc<AtomicUsize>,
    dialled: (Sender<Dialled>, Receiver<Dialled>),
    buffer: Vec<u8>,
}

impl EventLoop {
    pub(super) fn new(
        poll: Poll,
        mut listener: TcpListener,
        admission: Arc<dyn Admission>,
        waker: Arc<Waker>,
        is_ending: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            poll,
            listener,
            admission,
            waker,
            is_ending,
            connections: HashMap::new(),
            next: 0,
            dials: Arc::default(),
            dialled: bounded(MOST_DIALS),
            buffer: vec![0; WINDOW],
        })
    }

    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(256);
        let mut checked = Instant::now();
        loop {
            match self.poll.poll(&mut events, Some(CHECK)) {
                Ok(()) => {}
                Err(problem) if problem.kind() == io::ErrorKind::Interrupted => continue,
                Err(problem) => {
                    tracing::warn!(%problem, "the proxy of a conversation has ended");
                    return;
                }
            }
            if self.is_ending.load(Ordering::SeqCst) {
                return;
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(),
                    WAKER => {}
                    Token(token) => self.advance((token - FIRST) / 2),
                }
            }
            while let Ok(dialled) = self.dialled.1.try_recv() {
                self.connected(dialled);
            }
            if checked.elapsed() >= CHECK {
                checked = Instant::now();
                self.connections.retain(|_, connection| match &connection.stage {
                    Stage::Head { since, .. } => since.elapsed() < HEAD,
                    _ => true,
                });
            }
        }
    }

    fn accept(&mut self) {
        loop {
            let mut client = match self.listener.accept() {
                Ok((client, _)) => client,
                Err(problem) if problem.kind() == io::ErrorKind::Interrupted => continue,
                // Without descriptors, the next connection brings it here again.
                Err(_) => return,
            };
            if self.connections.len() >= MOST_CONNECTIONS {
                continue; // closed at once; the browser reports it
            }
            let number = self.next;
            self.next += 1;
            let _ = client.set_nodelay(true);
            let both = Interest::READABLE | Interest::WRITABLE;
            if self.poll.registry().register(&mut client, Token(FIRST + number * 2), both).is_err() {
                continue;
            }
            let stage = Stage::Head { received: Vec::new(), since: Instant::now() };
            let (to_client, to_upstream) = (Pending::default(), Pending::default());
            let (client_ended, upstream_ended) = ((false, false), (false, false));
            let connection = Connection { client, stage, to_client, to_upstream, client_ended, upstream_ended };
            self.connections.insert(number, connection);
            self.advance(number);
        }
    }

    /// Does what a connection can do now.
    fn advance(&mut self, number: usize) {
        let Some(mut connection) = self.connections.remove(&number) else { return };
        if let Stage::Head { .. } = connection.stage {
            match connection.read_request(&mut self.buffer) {
                Ok(None) => {}
                Ok(Some(to)) => self.dial(number, to, &mut connection),
                Err(_) => return,
            }
        }
        if connection.pump(&mut self.buffer).is_ok_and(|goes_on| goes_on) {
            self.connections.insert(number, connection);
        }
    }

    /// Connects to the destination of a request, if it is admitted.
    fn dial(&self, number: usize, to: Destination, connection: &mut Connection) {
        if !self.admission.admits(&to) {
            self.refuse(&to, connection);
            return;
        }
        connection.stage = Stage::Dialling;
        if self.dials.fetch_add(1, Ordering::SeqCst) >= MOST_DIALS {
            self.dials.fetch_sub(1, Ordering::SeqCst);
            connection.fail(&to, UNREACHABLE);
            return;
        }
        let (send, waker, dials) = (self.dialled.0.clone(), Arc::clone(&self.waker), Arc::clone(&self.dials));
        let is_tunnel = to.is_tunnel;
        let dialling = spawn(format!("egress-dial-{number}"), move || {
            let stream = dial::tcp(&to.host, to.port, Deadline::after(DIAL)).ok();
            dials.fetch_sub(1, Ordering::SeqCst);
            // The proxy has ended if nobody receives it.
            if send.send(Dialled { number, to, stream }).is_ok() {
                let _ = waker.wake();
            }
        });
        match dialling {
            // It ends by its deadline, and holds nothing of the proxy but its channel.
            Ok(thread) => std::mem::forget(thread),
            Err(_) => {
                self.dials.fetch_sub(1, Ordering::SeqCst);
                connection.close(if is_tunnel { UNREACHABLE } else { b"" });
            }
        }
    }

    fn refuse(&self, to: &Destination, connection: &mut Connection) {
        self.admission.refused(to);
        connection.fail(to, REFUSED);
    }

    fn connected(&mut self, dialled: Dialled) {
        let Dialled { number, to, stream } = dialled;
        let Some(mut connection) = self.connections.remove(&number) else { return };
        match stream {
            None => connection.fail(&to, UNREACHABLE),
            Some(stream) => {
                let is_admitted = stream.peer_addr().is_ok_and(|address| self.admission.admits_address(&to, address));
                if is_admitted {
                    if self.open(number, &to, stream, &mut connection).is_err() {
                        connection.fail(&to, UNREACHABLE);
                    }
                } else {
                    self.refuse(&to, &mut connection);
                }
            }
        }
        self.connections.insert(number, connection);
        self.advance(number);
    }

    fn open(
        &self,
        number: usize,
        to: &Destination,
        stream: std::net::TcpStream,
        connection: &mut Connection,
    ) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let mut upstream = TcpStream::from_std(stream);
        let both = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(&mut upstream, Token(FIRST + number * 2 + 1), both)?;
        let response = if to.is_tunnel {
            connection.to_client.add(ADMITTED);
            None
        } else {
            Some(Vec::new())
        };
        connection.stage = Stage::Open { upstream, response };
        Ok(())
    }
}

impl Connection {
    /// Closes it after these bytes.
    fn close(&mut self, last: &[u8]) {
        self.to_client.add(last);
        self.stage = Stage::Closing;
    }

    /// Answers `CONNECT`, and closes without an answer otherwise: a page would be attributed to the destination.
    fn fail(&mut self, to: &Destination, answer: &[u8]) {
        self.close(if to.is_tunnel { answer } else { b"" });
    }

    /// Receives the head of its request. Returns its destination when it is complete.
    fn read_request(&mut self, buffer: &mut [u8]) -> io::Result<Option<Destination>> {
        let Stage::Head { received, .. } = &mut self.stage else { return Ok(None) };
        loop {
            match self.client.read(buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => received.extend_from_slice(&buffer[..count]),
                Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
                Err(problem) if problem.kind() == io::ErrorKind::WouldBlock => break,
                Err(problem) => return Err(problem),
            }
            if received.len() > head::LONGEST + WINDOW {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        if received.is_empty() {
            return Ok(None);
        }
        match head::request(received) {
            Read::Partial => Ok(None),
            Read::Invalid => Err(io::ErrorKind::InvalidData.into()),
            Read::Whole(request, length) => {
                self.to_upstream.add(&request.sent);
                let body = received.split_off(length);
                self.to_upstream.add(&body);
                Ok(Some(request.to))
            }
        }
    }

    /// Passes bytes in both directions as long as any move. False when it is over.
    fn pump(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        let Stage::Open { upstream, response } = &mut self.stage else {
            self.to_client.write(&mut self.client)?;
            return Ok(!matches!(self.stage, Stage::Closing) || !self.to_client.is_empty());
        };
        loop {
            let mut has_moved = false;
            if !self.client_ended.0 && self.to_upstream.len() < WINDOW {
                match read(&mut self.client, buffer)? {
                    Some(0) => self.client_ended.0 = true,
                    Some(count) => {
                        self.to_upstream.add(&buffer[..count]);
                        has_moved = true;
                    }
                    None => {}
                }
            }
            has_moved |= self.to_upstream.write(upstream)?;
            if self.client_ended == (true, false) && self.to_upstream.is_empty() {
                let _ = upstream.shutdown(Shutdown::Write);
                self.client_ended.1 = true;
            }
            if !self.upstream_ended.0 && self.to_client.len() < WINDOW {
                match read(upstream, buffer)? {
                    Some(0) => self.upstream_ended.0 = true,
                    Some(count) => {
                        received(response, &mut self.to_client, &buffer[..count])?;
                        has_moved = true;
                    }
                    None => {}
                }
            }
            has_moved |= self.to_client.write(&mut self.client)?;
            if self.upstream_ended == (true, false) && self.to_client.is_empty() {
                let _ = self.client.shutdown(Shutdown::Write);
                self.upstream_ended.1 = true;
            }
            if self.client_ended.1 && self.upstream_ended.1 {
                return Ok(false);
            }
            if !has_moved {
                return Ok(true);
            }
        }
    }
}

/// Passes on bytes of the destination. The head of a response is changed first.
fn received(response: &mut Option<Vec<u8>>, to_client: &mut Pending, bytes: &[u8]) -> io::Result<()> {
    let Some(head) = response else {
        to_client.add(bytes);
        return Ok(());
    };
    head.extend_from_slice(bytes);
    loop {
        match head::response(head) {
            Read::Partial => return Ok(()),
            Read::Invalid => return Err(io::ErrorKind::InvalidData.into()),
            Read::Whole((sent, is_interim), length) => {
                to_client.add(&sent);
                let rest = head.split_off(length);
                *head = rest;
                if !is_interim {
                    to_client.add(head);
                    *response = None;
                    return Ok(());
                }
                if head.is_empty() {
                    return Ok(());
                }
            }
        }
    }
}

/// Reads once; `None` if nothing has arrived.
fn read(from: &mut TcpStream, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    loop {
        match from.read(buffer) {
            Ok(count) => return Ok(Some(count)),
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
            Err(problem) if problem.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(problem) => return Err(problem),
        }
    }
}
