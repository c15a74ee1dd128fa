//! URLs without a scheme, as people and models write them.

use std::net::IpAddr;

use super::Error;

/// Schemes: words before a colon that are not a host.
const SCHEMES: [&str; 12] =
    ["about", "blob", "chrome", "data", "devtools", "file", "ftp", "javascript", "mailto", "sms", "tel", "view-source"];
/// Characters of a URL that an error quotes.
const QUOTED: usize = 80;

/// Adds a missing scheme to a URL: `http://` for a loopback host (`localhost:3000`), `https://` for any other. A URL with a
/// scheme is returned unchanged. A single word is not a host unless a port follows.
///
/// # Errors
/// [`Error::BadRequest`] if the text cannot be a URL.
pub fn with_scheme(text: &str) -> Result<String, Error> {
    let text = text.trim();
    let bare = text.strip_prefix("//").unwrap_or(text);
    let end = bare.find(['/', '?', '#']).unwrap_or(bare.len());
    let (authority, rest) = bare.split_at(end);
    // A colon before digits starts a port, any other colon ends a scheme; `[::1]` contains colons.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_port = |port: &str| (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_scheme = SCHEMES.iter().any(|scheme| scheme.eq_ignore_ascii_case(host));
    if port.is_some_and(|port| !is_port(port) || is_scheme) {
        return Ok(text.to_owned());
    }
    let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    let lower = host.trim_end_matches('.').to_ascii_lowercase();
    let is_loopback = lower == "localhost"
        || lower.ends_with(".localhost")
        || number.is_some_and(|number| number.is_loopback() || number.is_unspecified());
    let is_dotted = host.contains('.') && host.trim_end_matches('.').split('.').all(|label| !label.is_empty());
    let is_host =
        !host.contains(char::is_whitespace) && (is_loopback || number.is_some() || is_dotted || port.is_some());
    let whole = format!("{}://{authority}{rest}", if is_loopback { "http" } else { "https" });
    if !is_host || host.is_empty() || url::Url::parse(&whole).is_err() {
        // A URL with a user name may contain a password.
        let quoted: String = if text.contains('@') { "url".to_owned() } else { format!("{:?}", cut(text)) };
        let problem =
            format!("{quoted} is not an address; give a URL such as https://example.com/page or localhost:3000");
        return Err(Error::BadRequest { problem });
    }
    Ok(whole)
}

fn cut(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}

#[cfg(test)]
mod tests {
    use super::with_scheme;

    #[test]
    fn an_address_without_a_scheme_gets_one() {
        for (written, whole) in [
            ("example.com", "https://example.com"),
            (" example.com/a?b#c ", "https://example.com/a?b#c"),
            ("example.com?next=x:y", "https://example.com?next=x:y"),
            ("//example.com/a", "https://example.com/a"),
            ("example.com:8443/", "https://example.com:8443/"),
            ("box:8080", "https://box:8080"),
            ("bücher.example", "https://bücher.example"),
            ("192.168.0.4/admin", "https://192.168.0.4/admin"),
            ("localhost", "http://localhost"),
            ("LOCALHOST:3000/app", "http://LOCALHOST:3000/app"),
            ("app.localhost/x", "http://app.localhost/x"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("[::1]:80", "http://[::1]:80"),
            ("[::1]", "http://[::1]"),
            ("0.0.0.0:5000", "http://0.0.0.0:5000"),
            ("https://example.com", "https://example.com"),
            ("HTTP://example.com:1", "HTTP://example.com:1"),
            ("about:blank", "about:blank"),
            ("data:text/html,<p>1</p>", "data:text/html,<p>1</p>"),
            ("javascript:1", "javascript:1"),
            ("view-source:https://a", "view-source:https://a"),
            ("mailto:a@b.c", "mailto:a@b.c"),
        ] {
            assert_eq!(with_scheme(written).unwrap(), whole, "{written}");
        }
        for nonsense in
            ["", "  ", "word", "two words", "two words.com", "/path", "?q", "a..b", ".", "[::1", "box:99999"]
        {
            let error = with_scheme(nonsense).unwrap_err();
            assert!(
                error.code() == "BAD_REQUEST" && error.to_string().contains("is not an address"),
                "{nonsense}: {error}"
            );
        }
    }
}
