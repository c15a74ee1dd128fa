//! Completes URLs that are typed without a scheme.

use std::path::Path;

use cdpilot_server::control::with_scheme;

/// Completes a URL: a path becomes a `file://` URL, anything else as in [`with_scheme`].
pub(in super::super) fn complete(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("give a URL, for example https://example.com".to_owned());
    }
    if text.starts_with(['/', '.']) {
        let path = std::path::absolute(Path::new(text)).map_err(|problem| problem.to_string())?;
        let url = url::Url::from_file_path(path).map_err(|()| "this path cannot be written as a URL".to_owned())?;
        return Ok(url.into());
    }
    with_scheme(text).map_err(|error| error.to_string())
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
            ("box:8080", "https://box:8080"),
            ("example.com:8443/", "https://example.com:8443/"),
            ("127.0.0.1", "http://127.0.0.1"),
            ("192.168.0.4/admin", "https://192.168.0.4/admin"),
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
