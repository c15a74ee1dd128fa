//! Addresses in texts: a CDP address is the key to a browser, and any address may carry a login.

/// Redacts every CDP address in a text: WebSocket addresses, addresses with a user, and addresses with
/// `/devtools/`, `/session/` or a query are cut to `scheme://host:port/…`.
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

/// The same for texts that are full of other addresses, as pages and files are: those stay whole, but for a user and
/// password, which `cover` stands for, and for what leads to a browser.
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

/// Whether a path names a session of WebDriver, whose ids are long.
fn has_session(path: &str) -> bool {
    let id = path.split_once("/session/").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    id.is_some_and(|id| id.len() >= 16 && id.bytes().any(|byte| byte.is_ascii_digit()))
}

/// An address in a text.
struct Address<'a> {
    /// `user:password@host:port`.
    authority: &'a str,
    /// `host:port`.
    place: &'a str,
    /// Whatever comes then.
    path: &'a str,
    is_websocket: bool,
}

/// The text with what `write` puts in the place of each address, behind its scheme.
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

/// The closing bracket of an IPv6 address is part of the address.
fn is_bracket_of_host(address: &str, c: char) -> bool {
    c == ']' && address.starts_with('[')
}
