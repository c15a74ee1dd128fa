//! Raw HTTP: a test defines every byte that is sent.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;

use cdpilot_server::http::{Answer, Handler, Head, HttpServer, Lane, Limits, Listener, Request};

/// Longer than anything here takes.
use super::LIMIT as PATIENCE;

type Admit = Box<dyn Fn(&Head) -> Result<(), Answer> + Send + Sync>;
type Handle = Box<dyn Fn(Request) -> Answer + Send + Sync>;

/// A handler of closures. Paths below `/ctl` go to the control lane.
struct Desk {
    admit: Admit,
    handle: Handle,
}

impl Handler for Desk {
    fn admit(&self, head: &Head) -> Result<(), Answer> {
        (self.admit)(head)
    }

    fn lane(&self, head: &Head) -> Lane {
        if head.path.starts_with("/ctl") { Lane::Control } else { Lane::Action }
    }

    fn handle(&self, request: Request) -> Answer {
        (self.handle)(request)
    }
}

/// Serves on a free port; everybody is let in.
pub(crate) fn serve(limits: Limits, handle: impl Fn(Request) -> Answer + Send + Sync + 'static) -> HttpServer {
    serve_behind(limits, |_| Ok(()), handle)
}

/// Serves on a free port, behind a gate.
pub(crate) fn serve_behind(
    limits: Limits,
    admit: impl Fn(&Head) -> Result<(), Answer> + Send + Sync + 'static,
    handle: impl Fn(Request) -> Answer + Send + Sync + 'static,
) -> HttpServer {
    let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let desk = Desk { admit: Box::new(admit), handle: Box::new(handle) };
    HttpServer::start(listener, limits, Arc::new(desk)).unwrap()
}

/// An answer as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The code of a failure, which is whole.
    #[track_caller]
    pub(crate) fn code(&self) -> String {
        let json = self.json();
        assert_eq!(json["ok"], false, "{json}");
        assert!(json["error"].as_str().is_some_and(|error| error.len() > 10), "{json}");
        json["code"].as_str().unwrap().to_owned()
    }

    pub(crate) fn closes(&self) -> bool {
        self.header("connection") == Some("close")
    }
}

/// A connection of a client that does what it is told.
pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
    buffer: Vec<u8>,
}

impl Raw {
    pub(crate) fn to(server: &HttpServer) -> Self {
        Self::at(server.address())
    }

    pub(crate) fn at(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self
    }

    /// `GET` of a path.
    pub(crate) fn get(&mut self, path: &str) -> &mut Self {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"))
    }

    /// `POST` of a JSON body.
    pub(crate) fn post(&mut self, path: &str, body: &str) -> &mut Self {
        let length = body.len();
        self.send(format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    /// Sends nothing more.
    pub(crate) fn end(&mut self) -> &mut Self {
        self.stream.shutdown(Shutdown::Write).unwrap();
        self
    }

    fn more(&mut self) -> io::Result<bool> {
        let mut piece = [0; 64 * 1024];
        let count = self.stream.read(&mut piece)?;
        self.buffer.extend_from_slice(&piece[..count]);
        Ok(count > 0)
    }

    /// Reads until a text has come, and gives everything up to its end.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = memchr::memmem::find(&self.buffer, text.as_bytes()) {
                let rest = self.buffer.split_off(at + text.len());
                return String::from_utf8(std::mem::replace(&mut self.buffer, rest)).unwrap();
            }
            let more = self.more().unwrap_or_else(|e| panic!("no {text:?}: {e}; there is {:?}", self.shown()));
            assert!(more, "no {text:?} before the end; there is {:?}", self.shown());
        }
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.buffer).chars().take(500).collect()
    }

    /// The head of an answer.
    #[track_caller]
    pub(crate) fn head(&mut self) -> Got {
        let head = self.until("\r\n\r\n");
        let mut lines = head.trim_end().lines();
        let first = lines.next().unwrap();
        let status =
            first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).unwrap_or_else(|| panic!("{first}"));
        let pair = |line: &str| line.split_once(": ").map(|(k, v)| (k.to_ascii_lowercase(), v.to_owned())).unwrap();
        Got { status: status.parse().unwrap(), headers: lines.map(pair).collect(), body: Vec::new() }
    }

    /// A whole answer to anything but HEAD.
    #[track_caller]
    pub(crate) fn answer(&mut self) -> Got {
        let mut got = self.head();
        let length = got.header("content-length").map_or(0, |length| length.parse().unwrap());
        while self.buffer.len() < length {
            assert!(self.more().unwrap(), "the body ended at {} of {length}", self.buffer.len());
        }
        let rest = self.buffer.split_off(length);
        got.body = std::mem::replace(&mut self.buffer, rest);
        got
    }

    /// Reads to the end; whatever still comes is given.
    #[track_caller]
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        loop {
            match self.more() {
                Ok(true) => {}
                Ok(false) => break,
                Err(e) if e.kind() == io::ErrorKind::ConnectionReset => break,
                Err(e) => panic!("no end: {e}; there is {:?}", self.shown()),
            }
        }
        std::mem::take(&mut self.buffer)
    }

    /// The connection ends, and nothing more comes.
    #[track_caller]
    pub(crate) fn assert_over(&mut self) {
        let rest = self.rest();
        assert!(rest.is_empty(), "there is more: {:?}", String::from_utf8_lossy(&rest));
    }
}
