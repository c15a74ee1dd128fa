//! Plays on the news site.

use super::super::hands::{Done, Hands, Want};
use super::Known;

pub(super) const PLAYS: &[Known] =
    &[("The task is done when the results page is shown", look_up), ("a summary of the three articles", read_all)];

/// Most times that an article is scrolled.
const MOST_SCROLLS: usize = 20;

fn look_up(hands: &mut Hands) -> Done {
    let words = words(hands)?;
    search(hands, &words, false)
}

fn read_all(hands: &mut Hands) -> Done {
    let words = words(hands)?;
    search(hands, &words, true)?;
    for headline in headlines(hands)? {
        open(hands, &headline)?;
        read_to_the_end(hands)?;
        hands.back()?;
    }
    Ok(())
}

/// The words that the task says to search for.
fn words(hands: &Hands) -> Done<String> {
    match hands.quoted().into_iter().next() {
        Some(words) => Ok(words),
        None => hands.lost("the task quotes no words to search for"),
    }
}

/// Searches with the form in the header of a page, which is sent with Enter or with its button.
pub(super) fn search(hands: &mut Hands, words: &str, with_enter: bool) -> Done {
    hands.click(&Want::id("search-toggle"))?;
    hands.write(&Want::id("search-input"), words, with_enter)?;
    if !with_enter {
        hands.click(&Want::id("search-submit"))?;
    }
    if hands.wait_for(&format!("Results for “{words}”"))? { Ok(()) } else { hands.lost("no results page") }
}

/// The headlines of the results page that is shown.
pub(super) fn headlines(hands: &mut Hands) -> Done<Vec<String>> {
    let lines = hands.read()?;
    let linked = lines.windows(2).filter_map(|pair| match pair {
        [heading, link] if heading.text.starts_with("heading ") && link.text.starts_with("link ") => Some(link),
        _ => None,
    });
    Ok(linked.map(|link| link.name().to_owned()).collect())
}

/// Opens the article with this headline from the results page.
pub(super) fn open(hands: &mut Hands, headline: &str) -> Done {
    hands.click(&Want::text(headline))
}

fn read_to_the_end(hands: &mut Hands) -> Done {
    for _ in 0..MOST_SCROLLS {
        hands.scroll_page("down", 1.0)?;
        if hands.at_end() {
            return Ok(());
        }
    }
    hands.lost("the article does not end")
}
