//! Lone surrogates in JSON.
//!
//! A JavaScript string may contain half of a surrogate pair. JSON can express that (`"\ud800"`), a Rust string cannot,
//! so `serde_json` refuses the whole document.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

/// U+FFFD, with the same length as the escape that it replaces.
const REPLACEMENT: &[u8; ESCAPE] = b"\\ufffd";
/// Length of an escape, in bytes.
const ESCAPE: usize = 6;
/// The first bytes of surrogate escapes.
static BEGINNINGS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| [Finder::new(b"\\ud"), Finder::new(b"\\uD")]);

/// A JSON text with each escape of a lone surrogate replaced by that of U+FFFD. The length stays; a text without such
/// escapes is not copied.
pub fn replace_lone_surrogates(json: &[u8]) -> Cow<'_, [u8]> {
    if BEGINNINGS.iter().all(|beginning| beginning.find(json).is_none()) {
        return Cow::Borrowed(json);
    }
    let mut replaced = Cow::Borrowed(json);
    let mut at = 0;
    while let Some(next) = json.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += next;
        match (unit(json, at), unit(json, at + ESCAPE)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 2 * ESCAPE,
            (Some(0xd800..=0xdfff), _) => {
                if let Some(escape) = replaced.to_mut().get_mut(at..at + ESCAPE) {
                    escape.copy_from_slice(REPLACEMENT);
                }
                at += ESCAPE;
            }
            _ => at += 2, // the backslash and the escaped character
        }
    }
    replaced
}

/// The UTF-16 unit of an escape at this position.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn replaced(json: &str) -> String {
        String::from_utf8(replace_lone_surrogates(json.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn only_lone_ones_are_replaced() {
        for (json, expected) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\uD83D""#, r#""\ufffd""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            // An escaped backslash, and letters behind it.
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#"{"\udfff": "\ud7ff\ue000"}"#, r#"{"\ufffd": "\ud7ff\ue000"}"#),
            (r#""\ud83"#, r#""\ud83"#),
            (r#""\ud83d\"#, r#""\ufffd\"#),
        ] {
            assert_eq!(replaced(json), expected);
        }
        let plain = br#"{"a": "\u003c\\ue"}"#;
        assert!(matches!(replace_lone_surrogates(plain), Cow::Borrowed(_)));
    }

    /// Any UTF-16, with many surrogates.
    fn units() -> impl Strategy<Value = Vec<u16>> {
        vec(prop_oneof![any::<u16>(), 0xd7f0_u16..0xe010, Just(u16::from(b'\\')), Just(u16::from(b'u'))], 0..40)
    }

    proptest! {
        #[test]
        fn any_script_string_is_read_as_its_well_formed_one(units in units(), upper in any::<bool>()) {
            let write = |unit: &u16| match *unit {
                0x5c => "\\\\".to_owned(),
                plain @ 0x61..=0x7a => char::from(plain as u8).to_string(),
                other if upper => format!("\\u{other:04X}"),
                other => format!("\\u{other:04x}"),
            };
            let json = format!("\"{}\"", units.iter().map(write).collect::<String>());
            let read: String = serde_json::from_str(&replaced(&json)).unwrap();
            prop_assert_eq!(read, String::from_utf16_lossy(&units));
        }
    }
}
