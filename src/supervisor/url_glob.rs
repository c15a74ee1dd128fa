//! URL globs: `*` matches anything but a slash, `**` matches anything.

use percent_encoding::percent_encode_byte;

use crate::text::{GlobPart, glob_matches};

/// Maximum length of a pattern, in bytes.
const MAX_LENGTH: usize = 2048;

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UrlGlob {
    parts: Vec<GlobPart>,
}

impl UrlGlob {
    /// Compiles a pattern. One that contains `://` or begins with `**` matches the whole URL; one that begins with `/`
    /// matches path and query on any host; any other matches host, path and query with any scheme. A pattern without a
    /// path matches any path.
    ///
    /// # Errors
    /// A message about the problem.
    pub(super) fn parse(pattern: &str) -> Result<Self, String> {
        if pattern.is_empty() || pattern.len() > MAX_LENGTH {
            return Err(format!("expected a pattern of 1 to {MAX_LENGTH} bytes such as **/api/*.json"));
        }
        if pattern.contains('#') {
            return Err(
                "a pattern must not contain a fragment (#…), it is never sent to a server; remove it".to_owned()
            );
        }
        if pattern.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err("the pattern contains a space or control character; percent-encode it (%20)".to_owned());
        }
        let has_scheme = pattern.find("://").is_some_and(|at| !pattern[..at].contains(['/', '?']));
        let mut text = match pattern {
            _ if has_scheme || pattern.starts_with("**") => pattern.to_owned(),
            _ if pattern.starts_with('/') => format!("*://*{pattern}"),
            _ => format!("*://{pattern}"),
        };
        let after_scheme = text.find("://").map(|at| at + 3).filter(|_| !text.starts_with("**"));
        let mut path = after_scheme.map(|from| text[from..].find(['/', '?']).map_or(text.len(), |at| from + at));
        if let (Some(from), Some(end)) = (after_scheme, path) {
            check_host(&text[..from], &text[from..end])?;
            if text[end..].starts_with('?') {
                text.insert(end, '/'); // as browsers normalise it
            }
        } else if text.starts_with("**.") {
            path = Some(text.find('/').unwrap_or(text.len())); // the end of the host
        }
        let whole_host = after_scheme.and(path);
        let mut parts = Vec::with_capacity(text.len());
        for (at, byte) in text.bytes().enumerate() {
            match (byte, parts.last()) {
                (b'*', Some(GlobPart::Anything)) => {}
                (b'*', Some(GlobPart::Segment)) => {
                    parts.pop();
                    parts.push(GlobPart::Anything);
                }
                (b'*', _) => parts.push(GlobPart::Segment),
                // Browsers write scheme and host in lower case, and encode non-ASCII characters.
                (byte, _) if path.is_some_and(|path| at < path) => {
                    parts.push(GlobPart::Byte(byte.to_ascii_lowercase()))
                }
                (byte, _) if byte.is_ascii() => parts.push(GlobPart::Byte(byte)),
                (byte, _) => parts.extend(percent_encode_byte(byte).bytes().map(GlobPart::Byte)),
            }
        }
        if whole_host == Some(text.len()) && parts.last() != Some(&GlobPart::Anything) {
            parts.extend([GlobPart::Byte(b'/'), GlobPart::Anything]);
        }
        Ok(Self { parts })
    }

    /// Whether a URL matches.
    pub(super) fn matches(&self, url: &str) -> bool {
        glob_matches(&self.parts, url)
    }

    /// The pattern for `Fetch`, which may match more, since `*` matches anything there.
    pub(super) fn for_fetch(&self) -> String {
        let mut text = String::with_capacity(self.parts.len());
        for part in &self.parts {
            match part {
                GlobPart::Byte(byte) => {
                    if matches!(byte, b'*' | b'?' | b'\\') {
                        text.push('\\');
                    }
                    text.push(char::from(*byte));
                }
                GlobPart::Segment | GlobPart::Anything => text.push('*'),
            }
        }
        text
    }
}

/// Rejects a host that no URL has in the form that browsers write it.
fn check_host(scheme: &str, host: &str) -> Result<(), String> {
    if !host.is_ascii() {
        return Err("the host contains non-ASCII characters; write it in Punycode (xn--…)".to_owned());
    }
    if host.contains('@') {
        return Err("request addresses have no user name; remove the part before @".to_owned());
    }
    let usual: &[&str] = match scheme {
        "http://" => &[":80"],
        "https://" => &[":443"],
        _ => &[":80", ":443"],
    };
    match usual.iter().find(|port| host.ends_with(**port)) {
        Some(port) => Err(format!("browsers omit the default port of a scheme; remove {port}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, url: &str) -> bool {
        UrlGlob::parse(pattern).unwrap().matches(url)
    }

    #[test]
    fn patterns_are_for_whole_addresses() {
        for (pattern, url, holds) in [
            ("**/api/*.json", "https://a.test/api/x.json", true),
            ("**/api/*.json", "https://a.test/v1/api/x.json", true),
            ("**/api/*.json", "https://a.test/api/y/x.json", false),
            ("**/api/*.json", "https://a.test/api/x.json?q=1", false),
            ("**/api/*.json*", "https://a.test/api/x.json?q=1", true),
            ("**/api/**", "https://a.test/api/y/x?u=/z", true),
            ("**", "http://a.test/", true),
            ("/api/*", "http://a.test:81/api/x", true),
            ("/api/*", "http://a.test/v1/api/x", false),
            ("/a?b=*", "http://a.test/a?b=1", true),
            ("/a?b=*", "http://a.test/axb=1", false),
            ("a.test/x", "https://a.test/x", true),
            ("A.Test/x", "https://a.test/x", true),
            ("a.test/X", "https://a.test/x", false),
            ("**.A.test/X", "https://b.a.test/X", true),
            ("a.test?x=1", "http://a.test/?x=1", true),
            ("/x?u=http://b.test/**", "http://a.test/x?u=http://b.test/y", true),
            ("http://a.test:443/", "http://a.test:443/", true),
            ("a.test", "http://a.test/any/thing?x", true),
            ("a.test", "http://b.test/http://a.test/", false),
            ("a.test", "http://a.test.evil/", false),
            ("*.a.test", "https://b.a.test/", true),
            ("localhost:8080/*", "http://localhost:8080/x", true),
            ("https://a.test", "https://a.test/x", true),
            ("https://a.test/", "https://a.test/x", false),
            ("https://a.test/*/c", "https://a.test/b/c", true),
            ("https://a.test/*/c", "https://a.test/b/b/c", false),
            ("*://*/x", "ws://a.test/x", true),
            ("/é", "http://a.test/%C3%A9", true),
            ("**/x*y*z", "http://a.test/xaybz", true),
            ("**/x*y*z", "http://a.test/xayb", false),
        ] {
            assert_eq!(is_match(pattern, url), holds, "{pattern} {url}");
        }
        for pattern in [
            "",
            "a b",
            "a#b",
            &"x".repeat(3000),
            "münchen.test/**",
            "https://a.test:443/**",
            "http://a.test:80/",
            "a.test:443/x",
            "me@a.test/",
        ] {
            assert!(UrlGlob::parse(pattern).is_err(), "{pattern:?}");
        }
    }

    #[test]
    fn what_fetch_is_given_catches_at_least_as_much() {
        for (pattern, of_fetch) in
            [("**/api/*.json", "*/api/*.json"), ("/a?b=*", "*://*/a\\?b=*"), ("a.test", "*://a.test/*"), ("**", "*")]
        {
            assert_eq!(UrlGlob::parse(pattern).unwrap().for_fetch(), of_fetch);
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = format!("**{}", "a*".repeat(500));
        assert!(!is_match(&pattern, &format!("{}/b", "a".repeat(2000))));
    }
}
