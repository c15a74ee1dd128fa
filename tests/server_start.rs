//! A server's beginning and end.

use std::net::TcpStream;

use cdpilot::config::{Config, Home, Running};
use cdpilot::server::{Error, Server, ServerOptions};

use crate::support::api::Served;
use crate::support::chrome::soon;

#[test]
fn a_home_has_one_server_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    let options = || ServerOptions { port: Some(0), ..ServerOptions::new(home.clone(), Config::default()) };
    let server = Server::start(options()).unwrap();
    let running = Running::of(&home).unwrap().unwrap();
    assert_eq!((running.port, running.pid), (server.addr().port(), std::process::id()));
    assert_eq!(running.url, server.url());
    let second = Server::start(options()).unwrap_err();
    assert!(second.to_string().contains(&running.url), "{second}");
    assert!(matches!(second, Error::Taken { running: Some(other) } if other == running));
    assert_eq!(Running::of(&home).unwrap(), Some(running), "the first is where it was");
    let address = server.addr();
    server.stop(soon());
    assert_eq!(Running::of(&home).unwrap(), None);
    assert!(!home.run().join("server.json").exists());
    assert!(TcpStream::connect(address).is_err());
    // Its place is free.
    Server::start(options()).unwrap().stop(soon());
}

#[test]
fn only_loopback_is_listened_on() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    for bind in ["0.0.0.0", "::", "192.0.2.1", "example.com"] {
        let mut options = ServerOptions { port: Some(0), ..ServerOptions::new(home.clone(), Config::default()) };
        options.bind = Some(bind.to_owned());
        assert!(matches!(Server::start(options), Err(Error::NotLoopback { .. })), "{bind}");
    }
    assert!(!home.root().exists(), "nothing is made for a server that is none");
}

#[test]
fn a_taken_port_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = Some(taken.local_addr().unwrap().port());
    let options = || ServerOptions { port, ..ServerOptions::new(home.clone(), Config::default()) };
    let problem = Server::start(options()).unwrap_err();
    assert!(matches!(problem, Error::Bind { .. }), "{problem}");
    assert_eq!(Running::of(&home).unwrap(), None, "the home is free");
}

#[test]
fn the_page_for_people_is_whole_and_asks_nobody_else() {
    let served = Served::start();
    let told = served.api.ask("GET", "/", None, "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n");
    let head = told.head.to_ascii_lowercase();
    assert!(head.contains("content-type: text/html; charset=utf-8"), "{head}");
    assert!(head.contains("content-security-policy: default-src 'none';"), "{head}");
    for foreign in ["http://", "src=", "@import", "href="] {
        let own = told.text.replace("https://example.com", "");
        assert!(!own.contains(foreign), "{foreign}");
    }
    // Programs get JSON, also those that take anything.
    let told = served.api.ask("GET", "/", None, "Accept: */*\r\n");
    assert_eq!(told.json()["ok"], true);
}

#[test]
fn a_ticket_opens_the_page_once() {
    let served = Served::start();
    let ticket = served.api.post("/ui/ticket", &serde_json::json!({})).ok();
    let url = ticket["url"].as_str().unwrap();
    assert_eq!(url, format!("{}/?ticket={}", served.server().url(), ticket["ticket"].as_str().unwrap()));
    assert!(served.server().ui_url().unwrap().starts_with(&format!("{}/?ticket=", served.server().url())));
}
