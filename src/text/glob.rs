//! Matching with wildcards.

/// One step of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GlobPart {
    /// This byte.
    Byte(u8),
    /// Any number of bytes other than `/`.
    Segment,
    /// Any number of bytes.
    Anything,
}

/// Whether a pattern matches the whole text. Takes time in proportion to the length of the text times the number of
/// wildcards that may match at once.
pub(crate) fn glob_matches(parts: &[GlobPart], text: &str) -> bool {
    let (mut now, mut next) = (Vec::new(), Vec::new());
    reach(parts, 0, &mut now);
    for byte in text.bytes() {
        for at in &now {
            match parts.get(*at) {
                Some(GlobPart::Byte(wanted)) if *wanted == byte => reach(parts, at + 1, &mut next),
                Some(GlobPart::Segment) if byte != b'/' => reach(parts, *at, &mut next),
                Some(GlobPart::Anything) => reach(parts, *at, &mut next),
                _ => {}
            }
        }
        std::mem::swap(&mut now, &mut next);
        next.clear();
        if now.is_empty() {
            return false;
        }
    }
    now.last() == Some(&parts.len())
}

/// Adds a position in the pattern, and those after it that need no further byte. They stay in order.
fn reach(parts: &[GlobPart], at: usize, positions: &mut Vec<usize>) {
    for at in at..=parts.len() {
        if positions.last().is_none_or(|last| *last < at) {
            positions.push(at);
        } else if let Err(place) = positions.binary_search(&at) {
            positions.insert(place, at);
        }
        if !matches!(parts.get(at), Some(GlobPart::Segment | GlobPart::Anything)) {
            return;
        }
    }
}
