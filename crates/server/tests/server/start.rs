//! Starting and stopping a server.

use std::net::TcpStream;

use cdpilot_server::config::{Config, Home, Running};
use cdpilot_server::server::{Error, Server, ServerOptions};

use crate::support::api::{Api, TestServer};
use crate::support::chrome::soon;

#[test]
fn a_second_server_of_a_home_is_refused_with_the_address_of_the_first() {
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
fn without_allowed_hosts_only_loopback_is_bound() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    for bind in ["0.0.0.0", "::", "192.0.2.1"] {
        let mut options = ServerOptions { port: Some(0), ..ServerOptions::new(home.clone(), Config::default()) };
        options.bind = Some(bind.to_owned());
        let refused = Server::start(options).unwrap_err();
        assert!(matches!(refused, Error::NotLoopback { .. }), "{bind}");
        let text = refused.to_string();
        assert!(text.contains("server.bind") && text.contains("server.allowed_hosts"), "{text}");
    }
    let mut options = ServerOptions { port: Some(0), ..ServerOptions::new(home.clone(), Config::default()) };
    options.bind = Some("example.com".to_owned());
    assert!(matches!(Server::start(options).unwrap_err(), Error::NotAnAddress { .. }));
    assert!(!home.root().exists(), "nothing is made for a server that is none");
}

#[cfg(target_os = "linux")]
#[test]
fn every_loopback_address_can_be_used() {
    let served = TestServer::with(|_, options| options.bind = Some("127.0.0.9".to_owned()));
    assert_eq!(served.server().url(), format!("http://{}", served.api.address));
    assert_eq!(served.api.get("/").ok()["running"], false);
    assert!(!served.server().is_exposed());
}

#[test]
fn an_occupied_port_is_reported() {
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
fn the_ui_is_complete_and_loads_nothing_external() {
    let served = TestServer::start();
    let response = served.api.ask("GET", "/", None, "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n");
    let head = response.head.to_ascii_lowercase();
    assert!(head.contains("content-type: text/html; charset=utf-8"), "{head}");
    assert!(head.contains("content-security-policy: default-src 'self';"), "{head}");
    assert!(!head.contains("unsafe") && !head.contains("set-cookie"), "{head}");
    assert!(!response.text.contains(&served.api.token), "{}", response.text);
    // The page and all that it loads, from file to file.
    let (mut known, mut next) = (vec!["/".to_owned()], vec![response.text]);
    while let Some(text) = next.pop() {
        for file in text.split("/ui/").skip(1) {
            let name: String = file.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
            let path = format!("/ui/{name}");
            if !name.contains('.') || known.contains(&path) {
                continue;
            }
            let file = served.api.ask_as("", "GET", &path, None, "");
            assert!(file.status == 200 && !file.text.contains(&served.api.token), "{path}: {}", file.status);
            for foreign in ["https://", "http://", "//cdn", "@import"] {
                let own = file.text.replace("https://example.com", "").replace("https://api.example.com", "");
                let own = own
                    .replace("http://www.w3.org/1999/xhtml", "")
                    .replace("\"http://\"", "")
                    .replace("\"https://\"", "");
                assert!(!own.contains(foreign), "{path}: {foreign}");
            }
            next.push(file.text);
            known.push(path);
        }
    }
    assert!(known.len() > 15, "{known:?}");
    // Programs get JSON, also those that take anything.
    let response = served.api.ask("GET", "/", None, "Accept: */*\r\n");
    assert_eq!(response.json()["ok"], true);
}

#[test]
fn a_ticket_is_exchanged_only_once() {
    let served = TestServer::start();
    let ticket = served.api.post("/ui/ticket", &serde_json::json!({})).ok();
    let url = ticket["url"].as_str().unwrap();
    assert_eq!(url, format!("{}/?ticket={}", served.server().url(), ticket["ticket"].as_str().unwrap()));
    assert!(served.server().ui_url().unwrap().starts_with(&format!("{}/?ticket=", served.server().url())));
    let as_page = Api { token: String::new(), ..served.api.clone() };
    let ask = |path: &str, method: &str, header: String| {
        let body = (method == "POST").then_some("{}");
        as_page.ask_as(&header, method, path, body, "Sec-Fetch-Site: same-origin\r\nAccept: application/json\r\n")
    };
    let shown = format!("Ticket {}", ticket["ticket"].as_str().unwrap());
    let session = ask("/ui/secret", "POST", shown.clone()).ok();
    let secret = format!("Bearer {}", session["secret"].as_str().unwrap());
    assert!(session["idleMs"].as_u64() < session["expiresInMs"].as_u64(), "{session}");
    ask("/ui/secret", "POST", shown).fails(401, "UNAUTHORIZED");
    assert_eq!(ask("/", "GET", secret.clone()).ok()["running"], false);
    ask("/ui/ticket", "POST", secret).fails(401, "UNAUTHORIZED");
    // Who has the token needs none of this.
    served.api.post("/ui/secret", &serde_json::json!({})).fails(401, "UNAUTHORIZED");
}
