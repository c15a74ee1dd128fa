//! A stored secret in all forms in which pages repeat it, and fingerprints to find it in a page that must not learn it.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Covered;

/// Length from which a secret is redacted within longer words too, in characters.
const LONG: usize = 8;
/// What `encodeURIComponent` leaves.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');
/// What forms leave when they encode fields.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'*').remove(b' ');

/// The forms of a secret to redact: as it is, in upper and lower case, encoded for URLs, forms, HTML, JSON and as Base64.
pub(crate) fn forms_of(secret: &str) -> impl Iterator<Item = Covered> + use<> {
    let folded = secret.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = [secret.to_owned(), folded, secret.to_uppercase(), secret.to_lowercase()];
    let mut unique: BTreeSet<String> = [STANDARD_NO_PAD.encode(secret), URL_SAFE_NO_PAD.encode(secret)].into();
    for text in plain {
        let json = serde_json::to_string(&text).unwrap_or_default();
        unique.extend([
            utf8_percent_encode(&text, COMPONENT).to_string(),
            utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string(),
            utf8_percent_encode(&text, FORM).to_string().replace(' ', "+"),
            in_html(&text),
            in_html(&text).replace('"', "&quot;"),
            in_html(&text).replace('"', "&quot;").replace('\'', "&#39;"),
            in_html(&text).replace('"', "&quot;").replace('\'', "&#x27;"),
            json.trim_matches('"').to_owned(),
            text,
        ]);
    }
    let is_short = secret.chars().count() < LONG;
    unique.into_iter().map(move |form| if is_short { Covered::alone(form) } else { Covered::anywhere(form) })
}

/// A text as browsers write it in HTML.
fn in_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\u{a0}', "&nbsp;")
}

/// A fingerprint of a text: a page can find the text by it, but cannot read it from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Fingerprint {
    /// UTF-16 code units.
    pub(crate) length: usize,
    pub(crate) hash: u32,
}

impl Fingerprint {
    /// The fingerprint of a text: a polynomial of its UTF-16 code units at `base`, modulo 2^32.
    pub(crate) fn of(text: &str, base: u32) -> Self {
        let step = |(length, hash): (usize, u32), unit: u16| {
            (length + 1, hash.wrapping_mul(base).wrapping_add(u32::from(unit)))
        };
        let (length, hash) = text.encode_utf16().fold((0, 0), step);
        Self { length, hash }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::ChangingSecrets;

    #[test]
    fn a_secret_is_covered_in_all_its_forms() {
        let secret = "Tr0ub4 dor&3\"<é'/+";
        let changing = ChangingSecrets::default();
        changing.replace_covered(forms_of(secret));
        for text in [
            secret.to_owned(),
            secret.to_uppercase(),
            "tr0ub4 dor&3\"<é'/+".to_owned(),
            "Tr0ub4%20dor%263%22%3C%C3%A9'%2F%2B".to_owned(),
            "Tr0ub4+dor%263%22%3C%C3%A9%27%2F%2B".to_owned(),
            "Tr0ub4 dor&amp;3&quot;&lt;é&#39;/+".to_owned(),
            "Tr0ub4 dor&amp;3&quot;&lt;é'/+".to_owned(),
            "TR0UB4 DOR&amp;3\"&lt;É'/+".to_owned(),
            "tr0ub4%20dor%263%22%3C%C3%A9'%2F%2B".to_owned(),
            "Tr0ub4 dor&3\\\"<é'/+".to_owned(),
            base64::engine::general_purpose::STANDARD.encode(secret),
        ] {
            let covered = changing.cover(&format!("x {text} y")).into_owned();
            assert!(covered.starts_with("x [secret]") && covered.ends_with(" y"), "{text}: {covered}");
        }
        assert_eq!(changing.cover("Tr0ub4 dor"), "Tr0ub4 dor");
    }

    #[test]
    fn fingerprints_tell_texts_apart() {
        let of = |text: &str| Fingerprint::of(text, 0x9E37_79B1);
        assert_eq!(of("kestrel"), of("kestrel"));
        assert_ne!(of("kestrel"), of("kestrle"));
        assert_ne!(Fingerprint::of("kestrel", 31), of("kestrel"));
        assert_eq!(of("a😀").length, 3);
        // 31 * 'a' + 'b'
        assert_eq!(Fingerprint::of("ab", 31).hash, 31 * 97 + 98);
    }
}
