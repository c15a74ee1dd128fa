//! Addresses as people type them.

use std::path::Path;

use super::super::client::is_loopback;

/// The whole address: `https://` before a host with a dot, `http://` before this machine, a number or a host
/// with a port, `file://` before a path. What has a scheme stays as it is.
pub(super) fn complete(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("an address is wanted, as in https://example.com".to_owned());
    }
    if text.starts_with(['/', '.']) {
        let path = std::path::absolute(Path::new(text)).map_err(|problem| problem.to_string())?;
        let url = url::Url::from_file_path(path).map_err(|()| "this path is no address".to_owned())?;
        return Ok(url.into());
    }
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let (authority, rest) = (&text[..end], &text[end..]);
    // A colon before digits is a port, before anything else it ends a scheme; `[::1]` has colons of its own.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    if port.is_some_and(|port| !is_port(port)) {
        return Ok(text.to_owned());
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let near = is_loopback(host) || host.ends_with(".localhost") || bare.parse::<std::net::IpAddr>().is_ok();
    if near || port.is_some() {
        return Ok(format!("http://{authority}{rest}"));
    }
    if host.contains('.') && !host.contains(char::is_whitespace) {
        return Ok(format!("https://{authority}{rest}"));
    }
    Err(format!("{text:?} is no address; give it with its scheme, as in https://example.com"))
}

#[cfg(test)]
mod tests {
    use super::complete;

    #[test]
    fn what_people_type_becomes_an_address() {
        for (typed, whole) in [
            ("example.com", "https://example.com"),
            (" example.com/a?b#c ", "https://example.com/a?b#c"),
            ("example.com?next=x:y", "https://example.com?next=x:y"),
            ("localhost", "http://localhost"),
            ("localhost:3000/app", "http://localhost:3000/app"),
            ("app.localhost/x", "http://app.localhost/x"),
            ("box:8080", "http://box:8080"),
            ("example.com:8443/", "http://example.com:8443/"),
            ("127.0.0.1", "http://127.0.0.1"),
            ("192.168.0.4/admin", "http://192.168.0.4/admin"),
            ("[::1]:80/", "http://[::1]:80/"),
            ("[::1]", "http://[::1]"),
            ("https://example.com", "https://example.com"),
            ("HTTP://example.com:1", "HTTP://example.com:1"),
            ("about:blank", "about:blank"),
            ("data:text/html,<p>1</p>", "data:text/html,<p>1</p>"),
            ("blob:https://a/b", "blob:https://a/b"),
            ("javascript:alert(1)", "javascript:alert(1)"),
            ("view-source:https://a", "view-source:https://a"),
            ("/tmp/a b.html", "file:///tmp/a%20b.html"),
        ] {
            assert_eq!(complete(typed).as_deref(), Ok(whole), "{typed}");
        }
        for nothing in ["", "  ", "word", "two words.com"] {
            assert!(complete(nothing).is_err(), "{nothing}");
        }
    }
}
