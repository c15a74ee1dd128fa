//! HTML of an element, shortened for a line: its text matters more than long values of attributes.

/// Longest values of attributes, in characters, that are tried in turn.
const VALUES: [usize; 3] = [40, 16, 6];
/// Marks what was left out.
const ELLIPSIS: char = '\u{2026}';

/// HTML in at most `most` characters. It is unchanged if it fits; otherwise long values of attributes are shortened first, so that
/// the text stays, and then the end is left out.
pub(super) fn shortened(html: &str, most: usize) -> String {
    if html.chars().nth(most).is_none() {
        return html.to_owned();
    }
    let mut short = String::new();
    for value in VALUES {
        short = with_short_values(html, value);
        if short.chars().nth(most).is_none() {
            return short;
        }
    }
    super::observation::cut(&short, most)
}

/// HTML whose attributes have values of at most `most` characters. Serialised HTML has its values in double quotes.
fn with_short_values(html: &str, most: usize) -> String {
    let mut out = String::with_capacity(html.len());
    let (mut in_tag, mut length) = (false, None::<usize>);
    for letter in html.chars() {
        match (length, letter) {
            (Some(_), '"') => {
                length = None;
                out.push(letter);
            }
            (Some(at), _) => {
                if at < most {
                    out.push(letter);
                } else if at == most {
                    out.push(ELLIPSIS);
                }
                length = Some(at + 1);
            }
            (None, '"') if in_tag => {
                length = Some(0);
                out.push(letter);
            }
            (None, _) => {
                in_tag = match letter {
                    '<' => true,
                    '>' => false,
                    _ => in_tag,
                };
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
    fn long_attributes_are_shortened_before_the_text_is_cut() {
        let html = format!("<button class=\"{}\" title=\"a > b\">Page \"7\"</button>", "Mui ".repeat(100));
        assert_eq!(shortened(&html, 2_000), html);
        let short = shortened(&html, 120);
        assert!(
            short.starts_with("<button class=\"Mui Mui") && short.ends_with("title=\"a > b\">Page \"7\"</button>"),
            "{short}"
        );
        let cut = shortened(&html, 30);
        assert_eq!(cut.chars().count(), 31, "{cut}");
        assert_eq!(shortened("<p>", 3), "<p>");
        assert_eq!(shortened("\u{e4}\u{f6}\u{fc}", 2), "\u{e4}\u{f6}\u{2026}");
    }
}
