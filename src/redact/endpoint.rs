//! Secrets in the URL and headers of a CDP endpoint, which the endpoint may repeat in its errors.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Minimum length of a query value, a password or a word of a header to be treated as a secret, in bytes.
const SHORTEST: usize = 4;
/// Minimum length of the last path segment to be treated as a secret, in bytes.
const SHORTEST_PATH: usize = 8;
/// Last path segments that are not secrets.
const PLAIN_PATHS: [&str; 3] = ["devtools", "websocket", "chromium"];

/// Secrets in a URL and in the request headers.
#[derive(Default)]
pub(crate) struct Covered(Vec<String>);

impl std::fmt::Debug for Covered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Covered(…)")
    }
}

impl Covered {
    pub(crate) fn of(address: &str, headers: &[(String, String)]) -> Self {
        let mut all = Vec::new();
        let place = address.split_once("://").map_or(address, |(_, place)| place);
        let (place, query) = place.split_once('?').unwrap_or((place, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let password = |login: &str| login.split_once(':').map(|(_, password)| password.to_owned());
        all.extend(authority.rsplit_once('@').and_then(|(login, _)| password(login)));
        all.extend(query.split('&').filter_map(|pair| pair.split_once('=')).map(|(_, value)| value.to_owned()));
        all.extend(headers.iter().flat_map(|(_, value)| value.split_ascii_whitespace()).flat_map(|word| {
            let plain = BASE64_STANDARD.decode(word).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            [Some(word.to_owned()), plain.as_deref().and_then(password)].into_iter().flatten()
        }));
        all.retain(|secret| secret.len() >= SHORTEST);
        let last = path.rsplit('/').next().filter(|last| last.len() >= SHORTEST_PATH && !PLAIN_PATHS.contains(last));
        all.extend(last.map(ToOwned::to_owned));
        // Longest first: one may contain another.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(all)
    }

    /// Redacts the secrets in a text of the endpoint.
    pub(crate) fn cover(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), "…") } else { text }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_to_an_endpoint_is_covered() {
        let headers = [
            ("Authorization".to_owned(), format!("Basic {}", BASE64_STANDARD.encode("ada:lovelace"))),
            ("X-Key".to_owned(), "hunter22".to_owned()),
        ];
        let covered =
            Covered::of("wss://bob:builder@h.test:1/devtools/browser/0123-4567?token=abcdef&x=1&key=abcd", &headers);
        let message = "abcdef abcd builder lovelace hunter22 0123-4567 browser wss://h.test:1/devtools x=1";
        assert_eq!(covered.cover(message.to_owned()), "… … … … … … browser wss://h.test:1/devtools x=1");
        assert_eq!(Covered::of("ws://h:1/", &[]).cover("ws://h:1/".to_owned()), "ws://h:1/");
    }
}
