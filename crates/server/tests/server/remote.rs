//! A server that listens on other addresses than loopback.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};

use cdpilot_server::config::Running;

use crate::support::api::{Api, TestServer};

/// The address of this machine by which others reach it, if it has one. Nothing is sent.
fn outward() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

/// The status of an answer to `GET /tabs` with these headers.
fn status(address: SocketAddr, headers: &[&str]) -> u16 {
    let mut socket = TcpStream::connect(address).unwrap();
    let head = format!("GET /tabs HTTP/1.1\r\n{}\r\nConnection: close\r\n\r\n", headers.join("\r\n"));
    socket.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    text.split(' ').nth(1).unwrap().parse().unwrap()
}

fn exposed(bind: &str) -> TestServer {
    TestServer::with(|config, options| {
        config.server.allowed_hosts = vec!["pilot.example.com".to_owned()];
        options.bind = Some(bind.to_owned());
    })
}

#[test]
fn authentication_applies_on_every_address() {
    let outward = outward();
    let binds = ["0.0.0.0".to_owned()].into_iter().chain(outward.map(|ip| ip.to_string()));
    for bind in binds {
        let served = exposed(&bind);
        assert!(served.server().is_exposed());
        let port = served.server().addr().port();
        // On this machine it is found by a loopback address.
        let running = Running::of(&served.home).unwrap().unwrap();
        assert_eq!((running.url.as_str(), running.port), (&*format!("http://127.0.0.1:{port}"), port), "{bind}");
        let local = SocketAddr::from(([127, 0, 0, 1], port));
        assert_eq!(Api { address: local, ..served.api.clone() }.get("/tabs").ok()["running"], false);
        let token = format!("Authorization: Bearer {}", served.api.token);
        for address in [local].into_iter().chain(outward.map(|ip| SocketAddr::new(ip, port))) {
            for host in ["pilot.example.com", &format!("pilot.example.com:{port}"), &format!("127.0.0.1:{port}")] {
                let host = format!("Host: {host}");
                assert_eq!(status(address, &[&host, &token]), 200, "{address} {host}");
                assert_eq!(status(address, &[&host, &token, "Origin: https://pilot.example.com"]), 200, "{address}");
                assert_eq!(status(address, &[&host, &token, "Origin: https://evil.example"]), 403, "{address} {host}");
                assert_eq!(status(address, &[&host, &token, "Sec-Fetch-Site: cross-site"]), 403, "{address} {host}");
                assert_eq!(status(address, &[&host]), 401, "{address} {host}");
            }
            for host in [format!("{address}"), "evil.example".to_owned(), "pilot.example.com:1".to_owned()] {
                let wanted = if host == format!("127.0.0.1:{port}") { 200 } else { 403 };
                assert_eq!(status(address, &[&format!("Host: {host}"), &token]), wanted, "{address} {host}");
            }
        }
    }
}
