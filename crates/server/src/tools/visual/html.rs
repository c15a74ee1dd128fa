//! HTML of an element, shortened for a line: its text and its names matter more than classes and styles.

/// Attributes whose values say little to a reader.
const NOISE: [&str; 14] = [
    "class",
    "style",
    "d",
    "points",
    "path",
    "transform",
    "viewbox",
    "xmlns",
    "src",
    "srcset",
    "sizes",
    "integrity",
    "jsaction",
    "jslog",
];
/// Longest values of such attributes, in characters, that are tried in turn.
const NOISE_VALUES: [usize; 2] = [24, 0];
/// Longest values of the others, where that is not enough.
const VALUES: usize = 48;
/// Marks what was left out.
const ELLIPSIS: char = '\u{2026}';

/// HTML in at most `most` characters. It is unchanged if it fits; otherwise the values of classes, styles and the like are shortened
/// first, then other long values, so that the text stays, and then the end is left out.
pub(super) fn shortened(html: &str, most: usize) -> String {
    let fits = |text: &str| text.chars().nth(most).is_none();
    if fits(html) {
        return html.to_owned();
    }
    for noise in NOISE_VALUES {
        let short = with_values(html, noise, usize::MAX);
        if fits(&short) {
            return short;
        }
    }
    super::observation::cut(&with_values(html, 0, VALUES), most)
}

/// HTML whose attributes have values of limited length. Serialised HTML has its values in double quotes.
fn with_values(html: &str, noise: usize, other: usize) -> String {
    let mut out = String::with_capacity(html.len());
    let (mut in_tag, mut name) = (false, String::new());
    // The length of the present value so far, and its limit.
    let mut value: Option<(usize, usize)> = None;
    for letter in html.chars() {
        match value {
            Some(_) if letter == '"' => {
                (value, name) = (None, String::new());
                out.push(letter);
            }
            Some((length, most)) => {
                if length < most {
                    out.push(letter);
                } else if length == most {
                    out.push(ELLIPSIS);
                }
                value = Some((length + 1, most));
            }
            None => {
                match letter {
                    '"' if in_tag => {
                        let is_noise = NOISE.contains(&name.as_str()) || name.starts_with("on");
                        value = Some((0, if is_noise { noise } else { other }));
                    }
                    '<' => in_tag = true,
                    '>' => in_tag = false,
                    ' ' => name.clear(),
                    '=' => {}
                    letter if in_tag => name.push(letter.to_ascii_lowercase()),
                    _ => {}
                }
                out.push(letter);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_shortened_before_names_and_texts() {
        let html = format!("<button class=\"{}\" title=\"a > b\">Page \"7\"</button>", "Mui ".repeat(100));
        assert_eq!(shortened(&html, 2_000), html);
        let short = shortened(&html, 120);
        let expected = "<button class=\"Mui Mui Mui Mui Mui Mui \u{2026}\" title=\"a > b\">Page \"7\"</button>";
        assert_eq!(short, expected);
        assert_eq!(shortened(&html, 60), "<button class=\"\u{2026}\" title=\"a > b\">Page \"7\"</button>");
        let named = format!("<a style=\"{0}\" aria-label=\"{0}\">x</a>", "word ".repeat(20));
        assert!(shortened(&named, 150).contains(&format!("aria-label=\"{}\"", "word ".repeat(20))));
        assert!(shortened(&named, 100).ends_with("\u{2026}\">x</a>"));
        assert_eq!(shortened(&html, 30).chars().count(), 31);
        assert_eq!(shortened("<p>", 3), "<p>");
        assert_eq!(shortened("\u{e4}\u{f6}\u{fc}", 2), "\u{e4}\u{f6}\u{2026}");
    }
}
