//! Resolves a given URL to the WebSocket URL of the browser.
//!
//! `ws` and `wss` addresses are used as they are. For `http` and `https` the browser is queried (`GET /json/version`,
//! <https://chromedevtools.github.io/devtools-protocol/#endpoints>). A Chrome whose user allowed debugging in its
//! settings answers 404 there; its address is in the file `DevToolsActivePort` of its profile.

use std::io;
use std::net::ToSocketAddrs;
use std::path::PathBuf;

use serde::Deserialize;

use super::endpoint::{Endpoint, Scheme};
use super::{Error, port_file};
use crate::cdp::{self, http};
use crate::redact::redact_addresses;
use crate::setters;
use crate::sync::Deadline;

/// Options of a resolution.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Resolve<'a> {
    /// Headers to send, such as a token for a proxy.
    pub headers: &'a [(String, String)],
    /// Additional root certificates, see [`ConnectOptions::tls_roots`](cdp::ConnectOptions::tls_roots).
    pub roots: &'a [Vec<u8>],
    /// Profile folders to search for `DevToolsActivePort`.
    pub profiles: Vec<PathBuf>,
    /// When to give up.
    pub deadline: Deadline<'a>,
}

impl<'a> Resolve<'a> {
    /// No extra headers, root certificates or profile folders.
    #[must_use]
    pub fn new(deadline: Deadline<'a>) -> Self {
        Self { headers: &[], roots: &[], profiles: Vec::new(), deadline }
    }
}

setters! { <'a> Resolve<'a>:
    headers(&'a [(String, String)]),
    roots(&'a [Vec<u8>]),
    profiles(Vec<PathBuf>),
}

/// Finds the WebSocket address of the browser at `endpoint`.
///
/// Keeps the given host and port, since proxies and containers report internal names; also keeps the query (a token)
/// and the user.
///
/// # Errors
/// [`Error::Unreachable`] when there is no answer, [`Error::NotCdp`] when the answer is not that of a browser.
pub fn resolve(endpoint: &Endpoint, how: &Resolve<'_>) -> Result<Endpoint, Error> {
    if endpoint.scheme().is_websocket() {
        return Ok(endpoint.clone());
    }
    if endpoint.scheme().is_encrypted() && !cfg!(feature = "tls") {
        return Err(Error::BadUrl { problem: "https needs a build with the feature `tls`".to_owned() });
    }
    let (status, body) = version_of(endpoint, how)?;
    match status {
        200 => websocket(endpoint, &body),
        404 if endpoint.is_loopback() => from_profiles(endpoint, how),
        500 if body.contains("Host header") => by_address(endpoint, how),
        _ => Err(not_cdp(endpoint, format!("/json/version answers with status {status}"))),
    }
}

/// Requests `/json/version`. Returns status and body.
fn version_of(endpoint: &Endpoint, how: &Resolve<'_>) -> Result<(u16, String), Error> {
    let unreachable = |problem: &dyn std::fmt::Display| Error::Unreachable {
        endpoint: endpoint.to_string(),
        problem: redact_addresses(&problem.to_string()),
    };
    let mut requested = endpoint.clone();
    requested.path = format!("{}/json/version", prefix(endpoint));
    let headers = endpoint.headers(how.headers);
    let (status, body) =
        http::get_trusting(&requested.url(), &headers, how.roots, how.deadline).map_err(|error| match error {
            cdp::Error::Connect { problem } if problem.contains("does not speak HTTP") => not_cdp(endpoint, problem),
            cdp::Error::Connect { problem } => unreachable(&problem),
            other => unreachable(&other),
        })?;
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

/// The path of the address without trailing slash and `/json/version`.
fn prefix(endpoint: &Endpoint) -> &str {
    let path = endpoint.path.trim_end_matches('/');
    path.strip_suffix("/json/version").or_else(|| path.strip_suffix("/json")).unwrap_or(path)
}

#[derive(Deserialize)]
struct Version {
    #[serde(rename = "webSocketDebuggerUrl")]
    url: Option<String>,
}

/// The address in the answer, with the requested host and port.
fn websocket(requested: &Endpoint, body: &str) -> Result<Endpoint, Error> {
    let version: Version = serde_json::from_str(body)
        .map_err(|_| not_cdp(requested, "its /json/version is not the JSON of a browser".to_owned()))?;
    let url =
        version.url.ok_or_else(|| not_cdp(requested, "its /json/version has no webSocketDebuggerUrl".to_owned()))?;
    let reported = Endpoint::parse(&url).map_err(|_| {
        not_cdp(requested, "the webSocketDebuggerUrl in its /json/version is not a valid URL".to_owned())
    })?;
    // A server that reports the requested host knows its proxy; one that reports an internal name does not know the
    // path prefix of the proxy either.
    let inner = reported.host != requested.host || reported.port != requested.port;
    let prefix = prefix(requested);
    let path =
        if inner && !reported.path.starts_with(prefix) { format!("{prefix}{}", reported.path) } else { reported.path };
    Ok(Endpoint {
        scheme: if requested.scheme.is_encrypted() { Scheme::Wss } else { Scheme::Ws },
        user: requested.user.clone(),
        host: requested.host.clone(),
        port: requested.port,
        path,
        query: reported.query.or_else(|| requested.query.clone()),
    })
}

/// Chrome refuses names other than `localhost` as a protection against DNS rebinding. Its IP address works.
fn by_address(endpoint: &Endpoint, how: &Resolve<'_>) -> Result<Endpoint, Error> {
    let refused = || Error::NotCdp {
        endpoint: endpoint.to_string(),
        problem: "it refuses the name in the address".to_owned(),
        advice: "give its IP address instead of a name",
    };
    let mut requested = endpoint.clone();
    requested.host = address_of(endpoint).ok().filter(|host| *host != endpoint.host).ok_or_else(refused)?;
    let (status, body) = version_of(&requested, how)?;
    if status == 200 { websocket(&requested, &body) } else { Err(refused()) }
}

fn address_of(endpoint: &Endpoint) -> io::Result<String> {
    let mut found = (endpoint.host.as_str(), endpoint.port).to_socket_addrs()?;
    found.next().map(|address| address.ip().to_string()).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Finds the profile whose browser listens on the port.
fn from_profiles(endpoint: &Endpoint, how: &Resolve<'_>) -> Result<Endpoint, Error> {
    how.profiles
        .iter()
        .filter_map(|profile| port_file::read(profile))
        .find(|(port, _)| *port == endpoint.port)
        .map(|(port, path)| Endpoint { host: endpoint.host.clone(), ..Endpoint::local(port, &path) })
        .ok_or_else(|| Error::NotCdp {
            endpoint: endpoint.to_string(),
            problem: "/json/version answers with status 404, and no profile's DevToolsActivePort names this port".to_owned(),
            advice: "if it is a Chrome with debugging allowed in its settings, give its ws:// address; the path is the second line of DevToolsActivePort in its profile folder",
        })
}

fn not_cdp(endpoint: &Endpoint, problem: String) -> Error {
    let advice = "check that the port is the remote debugging port of a browser";
    Error::NotCdp { endpoint: endpoint.to_string(), problem, advice }
}

/// Profile folders of common browsers.
#[must_use]
pub fn default_profiles() -> Vec<PathBuf> {
    const LINUX: [&str; 8] = [
        ".config/google-chrome",
        ".config/chromium",
        ".config/google-chrome-beta",
        ".config/google-chrome-unstable",
        ".config/BraveSoftware/Brave-Browser",
        ".config/microsoft-edge",
        "snap/chromium/common/chromium",
        ".var/app/org.chromium.Chromium/config/chromium",
    ];
    const MAC: [&str; 5] = [
        "Library/Application Support/Google/Chrome",
        "Library/Application Support/Google/Chrome Canary",
        "Library/Application Support/Chromium",
        "Library/Application Support/BraveSoftware/Brave-Browser",
        "Library/Application Support/Microsoft Edge",
    ];
    const WINDOWS: [&str; 5] = [
        r"Google\Chrome\User Data",
        r"Google\Chrome SxS\User Data",
        r"Chromium\User Data",
        r"BraveSoftware\Brave-Browser\User Data",
        r"Microsoft\Edge\User Data",
    ];
    let (root, tails): (_, &[&str]) = if cfg!(windows) {
        (std::env::var_os("LOCALAPPDATA").map(PathBuf::from), &WINDOWS)
    } else if cfg!(target_os = "macos") {
        (std::env::home_dir(), &MAC)
    } else {
        (std::env::home_dir(), &LINUX)
    };
    root.map(|root| tails.iter().map(|tail| root.join(tail)).collect()).unwrap_or_default()
}
