//! Names of inputs, values and secrets, and the nearest known one to a misspelled name.

/// The longest name, in bytes.
const MAX_NAME: usize = 64;

/// A letter, then letters, digits, `_` and `-`.
pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && text.len() <= MAX_NAME
}

/// Letters, digits, `_`, `-` and `.`.
pub(super) fn is_secret_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        && text.len() <= MAX_NAME
}

/// A name made of what somebody wrote, to be shown as a suggestion.
pub(super) fn name_from(text: &str) -> Option<String> {
    let joined = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let joined = joined.map(|part| part.trim_matches('-')).filter(|part| !part.is_empty());
    let name = joined.collect::<Vec<_>>().join("_").to_ascii_lowercase();
    let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    is_name(name).then(|| name.to_owned())
}

/// The most names that a misspelled one is compared with.
const MAX_COMPARED: usize = 100;

/// The known name that a misspelled one most likely means.
pub(super) fn nearest<'k>(wanted: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '_', ' '], "");
    let wanted = plain(wanted);
    let best = known
        .into_iter()
        .take(MAX_COMPARED)
        .map(|name| (distance(&wanted, &plain(name)), name))
        .min_by_key(|(far, _)| *far);
    best.filter(|(far, name)| *far <= 2 && far * 3 <= name.len().max(wanted.len())).map(|(_, name)| name)
}

/// Edits between two words: characters inserted, removed, replaced, or swapped with their neighbour. Long words are far
/// from everything.
pub(super) fn distance(a: &str, b: &str) -> usize {
    if a == b {
        return 0;
    }
    if a.len().max(b.len()) > 4 * MAX_NAME {
        return usize::MAX / 4;
    }
    let b: Vec<char> = b.chars().collect();
    let at = |row: &[usize], i: usize| row.get(i).copied().unwrap_or(0);
    let mut earlier: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut previous: Option<char> = None;
    for (i, from) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let replaced = at(&above, j) + usize::from(from != *to);
            let mut least = replaced.min(at(&above, j + 1) + 1).min(at(&row, j) + 1);
            let is_swapped = j > 0 && previous == Some(*to) && b.get(j - 1) == Some(&from);
            if is_swapped {
                least = least.min(at(&earlier, j - 1) + 1);
            }
            row.push(least);
        }
        earlier = std::mem::replace(&mut above, row);
        previous = Some(from);
    }
    at(&above, b.len())
}
