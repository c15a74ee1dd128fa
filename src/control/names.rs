//! Names: of profiles, of tabs, colours.

use super::Error;

/// Longest name of a profile.
const PROFILE: usize = 40;
/// Longest label of a tab.
const LABEL: usize = 64;

/// Whether a text can be the name of a profile: it becomes the name of a folder on every system.
pub(super) fn is_profile(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=PROFILE).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('-')
}

/// Checks the name of a profile.
pub(super) fn profile(name: &str) -> Result<(), Error> {
    if is_profile(name) {
        return Ok(());
    }
    let problem = format!(
        "{name:?} is no name for a profile; lower-case letters, digits and hyphens are, at most {PROFILE}, not beginning with a hyphen"
    );
    Err(Error::BadRequest { problem })
}

/// Checks a colour.
pub(super) fn color(text: &str) -> Result<(), Error> {
    if rgb(text).is_some() {
        return Ok(());
    }
    Err(Error::BadRequest { problem: format!("{text:?} is no colour; a colour is written #RRGGBB") })
}

/// Red, green and blue of `#RRGGBB`, as one number.
pub(super) fn rgb(text: &str) -> Option<u32> {
    let hex = text.strip_prefix('#').filter(|hex| hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(hex, 16).ok()
}

/// The number of a tab id, `t1`.
pub(super) fn tab_number(text: &str) -> Option<u64> {
    text.strip_prefix('t').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
}

/// Checks the label of a tab.
pub(super) fn label(text: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-');
    let problem = if !(1..=LABEL).contains(&text.len()) || !text.chars().all(plain) {
        format!("{text:?} is no label; letters, digits and _ . : - are, at most {LABEL}")
    } else if tab_number(&text.to_ascii_lowercase()).is_some() {
        format!("{text:?} is no label: it looks like a tab id; take a word")
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
