//! Several homes on one machine, and an occupied server port.

use std::fs;
use std::net::TcpListener;

use cdpilot_server::config::Token;

use crate::cli_browser_real::AtHome;

/// A port that nobody listens on.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A home whose server is configured for a port.
fn at_port(port: u16) -> AtHome {
    let at = AtHome::new("");
    let config = fs::read_to_string(at.home.config()).unwrap();
    fs::write(at.home.config(), config.replace("port: 0}\n", &format!("port: {port}}}\n"))).unwrap();
    at
}

#[test]
fn two_homes_with_the_same_port_work_side_by_side() {
    let port = free_port();
    let (first, second) = (at_port(port), at_port(port));
    for at in [&first, &second, &first, &second] {
        let ran = at.run(&["browser", "profiles", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let (one, other) = (first.running().unwrap(), second.running().unwrap());
    assert_eq!(one.port, port);
    assert!(other.port != port && other.url == format!("http://127.0.0.1:{}", other.port), "{other:?}");
    assert_ne!(one.pid, other.pid);
    let token = |at: &AtHome| Token::of(&at.home).unwrap().reveal().to_owned();
    assert_ne!(token(&first), token(&second));
    let ui = second.run(&["ui"]);
    assert!(ui.stdout.starts_with(&other.url), "{ui:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn serve_fails_on_an_occupied_port_and_names_its_owner() {
    let port = free_port();
    let (first, second) = (at_port(port), at_port(port));
    assert_eq!(first.run(&["browser", "profiles"]).code, Some(0));
    let pid = first.running().unwrap().pid;
    for args in [&["serve"][..], &["serve", "--json"]] {
        let ran = second.run(args);
        let response = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        for part in [&port.to_string(), &format!("process {pid}"), "cdpilot", "--port"] {
            assert!(response.contains(part), "{part}: {ran:?}");
        }
    }
    assert_eq!(second.running(), None);
    // A program that is none of ours: this one.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = second.run(&["serve", "--port", &port]);
    assert!(ran.code == Some(1) && ran.stderr.contains(&format!("process {}", std::process::id())), "{ran:?}");
}
