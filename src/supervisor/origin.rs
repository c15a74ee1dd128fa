//! Origins of HTTP addresses.

/// The origin of an HTTP address as Chromium writes it: scheme and host in lower case, the port unless it is the default
/// one. `None` for any other address.
pub(crate) fn http_origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let usual = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rsplit('@').next()?.to_ascii_lowercase();
    let host = host.strip_suffix(usual).unwrap_or(&host);
    let plain = |c: char| c.is_alphanumeric() || "-._~:[]%".contains(c);
    let is_host = !host.is_empty() && !host.starts_with(':') && host.chars().all(plain);
    is_host.then(|| format!("{scheme}://{host}"))
}

/// Whether an origin is another one, or that of the same host over TLS (both on their default ports).
pub(super) fn is_same_or_secure(origin: &str, other: &str) -> bool {
    let secure = || other.strip_prefix("http://").map(|host| format!("https://{host}"));
    origin == other
        || !other.trim_start_matches("http://").contains(':') && secure().is_some_and(|secure| secure == origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_have_one_form() {
        for (url, origin) in [
            ("HTTPS://Example.com:443/a?b#c", Some("https://example.com")),
            ("http://user:pw@h:8080", Some("http://h:8080")),
            ("http://h:80/", Some("http://h")),
            ("https://h:80/", Some("https://h:80")),
            ("http://[::1]:9/x", Some("http://[::1]:9")),
            ("about:blank", None),
            ("file:///x", None),
            ("https://", None),
            ("https://:1", None),
            ("https://a b", None),
        ] {
            assert_eq!(http_origin(url).as_deref(), origin, "{url}");
        }
    }

    #[test]
    fn only_the_host_itself_is_the_same_over_tls() {
        assert!(is_same_or_secure("http://a:8080", "http://a:8080"));
        assert!(is_same_or_secure("https://a", "http://a"));
        for (origin, other) in [
            ("http://a", "https://a"),
            ("https://b", "http://a"),
            ("https://a:8443", "http://a"),
            ("https://a:8080", "http://a:8080"),
            ("http://a:8080", "http://a"),
        ] {
            assert!(!is_same_or_secure(origin, other), "{origin} {other}");
        }
    }
}
