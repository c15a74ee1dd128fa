//! The CDP address in the capabilities of a session.
//!
//! Selenium Grid provides `se:cdp`, `ws://HOST/session/ID/se/cdp`. HOST is the value of `--grid-url` of its node,
//! otherwise the node's own internal name: "the Node does not have a way to know what the public IP of the Grid is"
//! (SeleniumHQ/selenium#10552), and the grid forwards that path to the node (#10313). So for this path an internal name
//! is replaced by the requested host, and a public one is used as it is. chromedriver and msedgedriver provide
//! `debuggerAddress`, which is on their own machine.

use std::net::IpAddr;

use serde_json::Value;

use super::super::Error;
use super::super::endpoint::{Endpoint, Scheme};
use super::driver::base;

/// The address in the capabilities of session `id`: of the browser's WebSocket, or one to query for it. `None` when
/// there is none.
pub(super) fn find(capabilities: &Value, id: &str, requested: &Endpoint) -> Result<Option<Endpoint>, Error> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    if let Some(reported) = text(capabilities.get("se:cdp")) {
        let reported = parse(&reported, "se:cdp", requested)?;
        return Ok(Some(of_grid(reported, id, requested)));
    }
    let of = |name: &str| text(capabilities.get(name).and_then(|options| options.get("debuggerAddress")));
    let Some(reported) = of("goog:chromeOptions").or_else(|| of("ms:edgeOptions")) else { return Ok(None) };
    let reported = parse(&reported, "debuggerAddress", requested)?;
    if is_this_machine(&reported.host) && !requested.is_loopback() {
        return Err(Error::NotCdp {
            endpoint: requested.to_string(),
            problem: format!(
                "the debugger address of its session (port {}) is on the loopback of the driver's machine",
                reported.port
            ),
            advice: "let the grid's node publish se:cdp (Selenium Grid 4 does unless enable-cdp is off), or give a driver on this machine by 127.0.0.1",
        });
    }
    Ok(Some(reported))
}

fn parse(reported: &str, name: &'static str, requested: &Endpoint) -> Result<Endpoint, Error> {
    Endpoint::parse(reported).map_err(|_| Error::NotCdp {
        endpoint: requested.to_string(),
        problem: format!("the {name} of its session is not a valid address"),
        advice: "check the capabilities that the server returns",
    })
}

fn of_grid(reported: Endpoint, id: &str, requested: &Endpoint) -> Endpoint {
    let same = reported.host.eq_ignore_ascii_case(&requested.host) && reported.port == requested.port;
    let forwarded = reported.path.ends_with(&format!("/session/{id}/se/cdp"));
    let nowhere = is_this_machine(&reported.host) && !requested.is_loopback();
    if same || nowhere || (forwarded && is_inner(&reported.host)) {
        let prefix = base(requested);
        let prefix = prefix.strip_suffix("/wd/hub").unwrap_or(prefix);
        let path = if same || reported.path.starts_with(prefix) {
            reported.path
        } else {
            format!("{prefix}{}", reported.path)
        };
        return Endpoint {
            scheme: if requested.scheme().is_encrypted() { Scheme::Wss } else { Scheme::Ws },
            user: requested.user.clone().or(reported.user),
            host: requested.host.clone(),
            port: requested.port,
            path,
            query: reported.query.or_else(|| requested.query.clone()),
        };
    }
    let scheme = if reported.scheme().is_encrypted() { Scheme::Wss } else { Scheme::Ws };
    Endpoint { scheme, ..reported }
}

/// Whether the headers given for `asked` may be sent to `cdp` too.
pub(super) fn may_know(cdp: &Endpoint, requested: &Endpoint) -> bool {
    cdp.host.eq_ignore_ascii_case(&requested.host)
        && (cdp.scheme().is_encrypted() || !requested.scheme().is_encrypted())
}

/// A loopback address, or an address to listen on.
fn is_this_machine(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
}

/// A name or address that is only meaningful inside a network.
fn is_inner(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => {
            let shared = ip.octets()[0] == 100 && ip.octets()[1] & 0xc0 == 64; // RFC 6598
            ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_unspecified() || shared
        }
        Ok(IpAddr::V6(ip)) => {
            ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local() || ip.is_unicast_link_local()
        }
        Err(_) => {
            let host = host.trim_end_matches('.').to_ascii_lowercase();
            let ends = [".local", ".localhost", ".internal", ".svc", ".lan", ".localdomain", ".home.arpa"];
            !host.contains('.') || ends.iter().any(|end| host.ends_with(end))
        }
    }
}
