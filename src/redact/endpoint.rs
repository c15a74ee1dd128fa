//! Secrets in the address and the headers of a CDP endpoint, which the endpoint may repeat in its errors.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Bytes of a value of the query, of a password and of a word of a header that counts as a secret.
const SHORTEST: usize = 4;
/// Bytes of the last part of a path that counts as one.
const SHORTEST_PATH: usize = 8;
/// Last parts of paths that are none.
const PLAIN_PATHS: [&str; 3] = ["devtools", "websocket", "chromium"];

/// Secrets of an address and of the headers that are sent to it.
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
        // The longest first: one may be part of another.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(all)
    }

    /// A text of the endpoint without them.
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
        let told = "abcdef abcd builder lovelace hunter22 0123-4567 browser wss://h.test:1/devtools x=1";
        assert_eq!(covered.cover(told.to_owned()), "… … … … … … browser wss://h.test:1/devtools x=1");
        assert_eq!(Covered::of("ws://h:1/", &[]).cover("ws://h:1/".to_owned()), "ws://h:1/");
    }
}
