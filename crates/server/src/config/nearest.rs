//! Suggestions for unknown names.

/// Minimum similarity of a suggestion, from 0 to 1 (Jaro-Winkler).
const MIN_SIMILARITY: f64 = 0.75;

/// The known word most similar to `word`, if any is similar enough. Case, dashes and underscores are ignored.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_'], "");
    let wanted = plain(word);
    let alike = |candidate: &'a str| (strsim::jaro_winkler(&wanted, &plain(candidate)), candidate);
    let best = known.into_iter().map(alike).max_by(|a, b| a.0.total_cmp(&b.0));
    // Long names share many characters with any word: at least half of the characters must be in place too.
    let is_near = |candidate: &str| {
        let candidate = plain(candidate);
        strsim::osa_distance(&wanted, &candidate) * 2 <= wanted.chars().count().max(candidate.chars().count())
    };
    best.filter(|(alike, candidate)| *alike >= MIN_SIMILARITY && is_near(candidate)).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_most_alike_is_found_and_nothing_else() {
        assert_eq!(nearest("headles", ["headless", "color"]), Some("headless"));
        assert_eq!(nearest("CdpPort", ["cdp_url", "cdp_port"]), Some("cdp_port"));
        assert_eq!(nearest("/nope", ["/tabs/open", "/console"]), None);
        assert_eq!(nearest("zzz", ["headless", "color"]), None);
        assert_eq!(nearest("x", []), None);
    }
}
