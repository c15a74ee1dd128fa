//! Name resolution and TCP connections, with a deadline.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Instant;

use crossbeam_channel::RecvTimeoutError;

use super::client::Error;
use crate::sync::{Deadline, spawn};

/// Connects to the first address of a host that accepts. An IPv6 address may have its brackets.
///
/// # Errors
/// [`Error::Connect`], [`Error::Timeout`], [`Error::Thread`].
pub fn tcp(host: &str, port: u16, deadline: Deadline<'_>) -> Result<TcpStream, Error> {
    let began = Instant::now();
    let mut problem = "the host has no address".to_owned();
    for address in resolve(host.trim_start_matches('[').trim_end_matches(']'), port, deadline)? {
        let left = deadline.left();
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(socket) => return Ok(socket),
            Err(e) if e.kind() == std::io::ErrorKind::TimedOut => {}
            Err(e) => problem = format!("no TCP connection ({})", e.kind()),
        }
    }
    if deadline.passed() {
        return Err(Error::Timeout { after: began.elapsed() });
    }
    Err(Error::Connect { problem })
}

fn resolve(host: &str, port: u16, deadline: Deadline<'_>) -> Result<Vec<SocketAddr>, Error> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    // Names below it are this machine, too, which not every resolver knows: RFC 6761, section 6.3.
    let name = host.to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        let loopback: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        return Ok(loopback.map(|ip| SocketAddr::new(ip, port)).to_vec());
    }
    // The system's resolver has no deadline, so it runs on a thread that may outlive the wait.
    let began = Instant::now();
    let host = host.to_owned();
    let (send, addresses) = crossbeam_channel::bounded(1);
    let thread = spawn("http-resolve", move || {
        let _ = send.send((host.as_str(), port).to_socket_addrs().map(Iterator::collect));
    })
    .map_err(|e| Error::Thread { problem: e.to_string() })?;
    loop {
        match addresses.recv_deadline(deadline.next_check()) {
            Ok(result) => {
                thread.join();
                return result.map_err(|_| Error::Connect { problem: "the host name has no address".to_owned() });
            }
            Err(RecvTimeoutError::Timeout) if deadline.passed() => {
                std::mem::forget(thread); // joining would wait for the resolver
                return Err(Error::Timeout { after: began.elapsed() });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::Connect { problem: "name look-up failed".to_owned() });
            }
        }
    }
}
