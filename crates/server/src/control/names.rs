//! Validation of profile names, tab labels and colours.

use super::Error;

/// Maximum length of a profile name.
const PROFILE: usize = 40;
/// Maximum length of a tab label.
const LABEL: usize = 64;

/// Whether a text is a valid profile name, usable as a folder name on every system.
pub(super) fn is_profile(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=PROFILE).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('-')
}

/// Checks a profile name.
pub(super) fn profile(name: &str) -> Result<(), Error> {
    if is_profile(name) {
        return Ok(());
    }
    let problem = format!(
        "{name:?} is not a profile name; use at most {PROFILE} lower-case letters, digits and hyphens, not starting with a hyphen"
    );
    Err(Error::BadRequest { problem })
}

/// Checks a colour.
pub(super) fn color(text: &str) -> Result<(), Error> {
    if rgb(text).is_some() {
        return Ok(());
    }
    Err(Error::BadRequest { problem: format!("{text:?} is not a colour; use #RRGGBB") })
}

/// `#RRGGBB` as a number.
pub(super) fn rgb(text: &str) -> Option<u32> {
    let hex = text.strip_prefix('#').filter(|hex| hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(hex, 16).ok()
}

/// The number in a tab id such as `t1`.
pub(super) fn tab_number(text: &str) -> Option<u64> {
    text.strip_prefix('t').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
}

/// Checks a tab label.
pub(super) fn label(text: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-');
    let problem = if !(1..=LABEL).contains(&text.len()) || !text.chars().all(plain) {
        format!("{text:?} is not a tab label; use 1 to {LABEL} letters, digits and _ . : -")
    } else if tab_number(&text.to_ascii_lowercase()).is_some() {
        format!("{text:?} is not a tab label: it looks like a tab id; choose another label")
    } else {
        return Ok(());
    };
    Err(Error::BadRequest { problem })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_can_be_a_folder() {
        for good in ["cdpilot", "a", "work-2", "0"] {
            assert!(is_profile(good), "{good}");
        }
        for bad in ["", "Work", "a b", "..", "a/b", "-a", "ä", "a_b", &"x".repeat(41)] {
            assert!(!is_profile(bad), "{bad}");
        }
    }

    #[test]
    fn labels_are_no_tab_ids() {
        for good in ["main", "a.b:c_d-1", "T", "t1x", "t-1", &"x".repeat(64)] {
            label(good).unwrap();
        }
        for bad in ["", "t1", "T22", "a b", "ä", &"x".repeat(65)] {
            assert!(label(bad).is_err(), "{bad}");
        }
        assert_eq!(tab_number("t12"), Some(12));
        assert_eq!(tab_number("t"), None);
        assert_eq!(rgb("#FF4500"), Some(0xff_4500));
        assert_eq!(rgb("#+F4500"), None);
    }
}
