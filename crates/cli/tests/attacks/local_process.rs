//! Attacks of a local process without the token.

mod files;
mod impostor;
mod requests;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use super::{Row, rows, run_all};
use crate::support::api::TestServer;

/// A server that holds little, so that little is needed to fill it.
struct Target {
    served: TestServer,
}

pub(super) fn listed() -> Vec<Row> {
    let all = [rows(requests::ATTACKS), rows(files::ATTACKS), rows(impostor::ATTACKS)];
    all.into_iter().flatten().collect()
}

#[test]
fn attacks_of_a_local_process() {
    let served = TestServer::with(|_, options| {
        options.limits.connections = 64;
        options.limits.bodies_bytes = 4 << 20;
    });
    let target = Target { served };
    // With the token the same requests are answered: what fails below fails for the attack.
    assert_eq!(target.status("GET", "/profiles", &target.bearer(), ""), 200);
    assert_eq!(target.status("POST", "/ui/ticket", &target.bearer(), "{}"), 200);
    run_all(&target, requests::ATTACKS);
    run_all(&(), files::ATTACKS);
    run_all(&(), impostor::ATTACKS);
}

impl Target {
    fn token(&self) -> &str {
        &self.served.api.token
    }

    fn bearer(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.token())
    }

    fn host(&self) -> String {
        self.served.api.address.to_string()
    }

    fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(self.served.api.address).unwrap();
        socket.set_read_timeout(Some(crate::support::LIMIT)).unwrap();
        socket.set_write_timeout(Some(crate::support::LIMIT)).unwrap();
        socket
    }

    /// Everything that is answered to these bytes.
    fn exchange(&self, bytes: &[u8]) -> String {
        let mut socket = self.connect();
        // It may be refused before it is all sent.
        let _ = socket.write_all(bytes);
        let _ = socket.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The status of the answer to a request with further header lines; 0 for none.
    fn status(&self, method: &str, path: &str, headers: &str, body: &str) -> u16 {
        let of_body = match body {
            "" => String::new(),
            body => format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()),
        };
        let host = self.host();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{of_body}{headers}\r\n");
        status(&self.exchange((head + body).as_bytes()))
    }
}

/// The status of an answer; 0 for none.
fn status(answer: &str) -> u16 {
    answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok()).unwrap_or(0)
}
