//! URLs in texts: a CDP URL gives full control of a browser, and any URL may contain credentials.

/// Redacts CDP URLs in a text: WebSocket URLs, URLs with user information, and URLs with `/devtools/`, `/session/` or a
/// query are cut to `scheme://host:port/…`.
///
/// ```
/// let line = "DevTools listening on ws://127.0.0.1:4000/devtools/browser/9b1c";
/// assert_eq!(cdpilot::browser::redact(line), "DevTools listening on ws://127.0.0.1:4000/…");
/// ```
#[must_use]
pub fn redact_addresses(text: &str) -> String {
    let signs = ["/devtools/", "/session/", "?"];
    each_address(text, |address, out| {
        let named = address.place.len() < address.authority.len();
        out.push_str(address.place);
        let secret = address.is_websocket || named || signs.iter().any(|sign| address.path.contains(sign));
        out.push_str(if address.path.len() > 1 && secret { "/…" } else { address.path });
    })
}

/// Like [`redact_addresses`], for texts with many other URLs, such as pages and files: only user information, replaced
/// by `cover`, and CDP URLs are redacted.
pub(super) fn redact_among_others(text: &str, cover: &str) -> String {
    each_address(text, |address, out| {
        if address.place.len() < address.authority.len() {
            out.push_str(cover);
            out.push('@');
        }
        out.push_str(address.place);
        let secret = address.is_websocket || address.path.contains("/devtools/") || has_session(address.path);
        out.push_str(if address.path.len() > 1 && secret { "/…" } else { address.path });
    })
}

/// Whether a path contains a WebDriver session id.
fn has_session(path: &str) -> bool {
    let id = path.split_once("/session/").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    id.is_some_and(|id| id.len() >= 16 && id.bytes().any(|byte| byte.is_ascii_digit()))
}

/// A URL in a text.
struct Address<'a> {
    /// `user:password@host:port`.
    authority: &'a str,
    /// `host:port`.
    place: &'a str,
    /// Path, query and fragment.
    path: &'a str,
    is_websocket: bool,
}

/// Replaces each URL by its scheme and the output of `write`.
fn each_address(text: &str, write: impl Fn(&Address<'_>, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, tail) = rest.split_at(at);
        let tail = &tail[3..];
        let end = tail.find(|c: char| c.is_whitespace() || "\"'<>`)]}".contains(c) && !is_bracket_of_host(tail, c));
        let (address, after) = tail.split_at(end.unwrap_or(tail.len()));
        let authority_end = address.find(['/', '?', '#']).unwrap_or(address.len());
        let (authority, path) = address.split_at(authority_end);
        let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
        let is_websocket = before.ends_with("ws") || before.ends_with("wss");
        out.push_str(before);
        out.push_str("://");
        write(&Address { authority, place, path, is_websocket }, &mut out);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Whether a closing bracket belongs to an IPv6 address in the URL.
fn is_bracket_of_host(address: &str, c: char) -> bool {
    c == ']' && address.starts_with('[')
}
