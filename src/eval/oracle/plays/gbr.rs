//! Plays on the news site.

use super::super::hands::{Done, Hands, Want};
use super::Known;

pub(super) const PLAYS: &[Known] = &[("The task is done when the results page is shown", search)];

fn search(hands: &mut Hands) -> Done {
    let words = hands.quoted();
    let Some(words) = words.first() else { return hands.lost("the task quotes no words to search for") };
    hands.click(&Want::id("search-toggle"))?;
    hands.write(&Want::id("search-input"), words, false)?;
    hands.click(&Want::id("search-submit"))
}
