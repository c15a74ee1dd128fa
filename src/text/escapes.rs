//! Escaping characters that are invisible or change how others are displayed.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character is invisible or changes the direction of text, so that a text with it does not mean what it
/// shows. Excludes line breaks, tabs, and the variation selectors of emoji.
pub fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A text with hidden characters written as `\u{202e}`.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// A JSON text with hidden characters, and all other control characters of Unicode, escaped like `\u202e`: the same
/// value, and safe on a terminal. White space between values stays.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_hidden) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 32);
    for c in json.chars() {
        // Between values an escape would be an error. Inside strings there cannot be any.
        if c == '\r' || !is_hidden(c) {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_seen_is_shown() {
        assert_eq!(shown("read\u{202e}elif\u{200b}\u{7}\u{e0041}"), r"read\u{202e}elif\u{200b}\u{7}\u{e0041}");
        for plain in ["plain\n\ttext", "Grüße 你好 🦀 ⚠\u{fe0f}", "e\u{301}"] {
            assert!(matches!(shown(plain), Cow::Borrowed(_)), "{plain}");
        }
        assert_eq!(
            escaped_json("{\"a\":\r\n \"\u{9b}\u{202e}\u{e0041}\"}"),
            "{\"a\":\r\n \"\\u009b\\u202e\\udb40\\udc41\"}"
        );
    }

    proptest! {
        #[test]
        fn escaped_json_is_the_same_value(text in any::<String>(), hidden in "[\u{0}-\u{1f}\u{7f}-\u{9f}\u{200b}-\u{206f}]{0,9}") {
            let value = serde_json::json!({ format!("{hidden}{text}"): [format!("{text}{hidden}")] });
            for json in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                let escaped = escaped_json(&json);
                prop_assert!(!escaped.contains(|c| is_hidden(c) && c != '\r'), "{escaped:?}");
                prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), &value);
            }
        }
    }
}
