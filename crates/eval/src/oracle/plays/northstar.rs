//! Plays in the shop of rainwear.

use super::super::hands::{Done, Hands, Want};
use super::super::screen::{Line, groups};
use super::Known;

pub(super) const PLAYS: &[Known] =
    &[("add the shell to the bag", fit_guide_and_bag), ("Mark the review of this customer as helpful", helpful_review)];

/// Words that tell that a customer sent something back.
const SENT_BACK: [&str; 3] = ["went back", "sent back", "sent it back"];

fn fit_guide_and_bag(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let (Some(section), Some(size)) = (quoted.first(), size_after(&hands.task, "choose size ")) else {
        return hands.lost("the task names no section and size");
    };
    hands.click(&Want::text("Open fit guide"))?;
    let save = Want::text("Save").has(&format!("data-section=\"{}\"", slug(section)));
    hands.bring(&Want::id("fit-guide-panel"), &save)?;
    hands.click(&save)?;
    hands.click(&Want::html("aria-label=\"Close fit guide\""))?;
    hands.click(&Want::text(&size).has("data-size="))?;
    hands.click(&Want::id("add-to-bag"))
}

/// How the page names a section: `Care & Wash` is `care-wash`.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// The size after these words.
fn size_after(task: &str, words: &str) -> Option<String> {
    let (_, rest) = task.split_once(words)?;
    rest.split(|letter: char| !letter.is_alphanumeric()).next().map(str::to_owned)
}

fn helpful_review(hands: &mut Hands) -> Done {
    let sizes = ["shell in size ", "one in size "].map(|words| size_after(&hands.task, words));
    let [Some(returned), Some(kept)] = sizes else { return hands.lost("the task names no sizes") };
    hands.click(&Want::text("Read all reviews"))?;
    let button = hands.read_for(|lines| {
        let mut reviews = groups(lines, "article");
        let review = reviews.find(|review| is_exchange(review, &returned, &kept))?;
        review.iter().find(|line| line.text.starts_with("button \"Helpful\""))?.reference.clone()
    })?;
    hands.press(&button)?;
    hands.click(&Want::html("aria-label=\"Close reviews\""))
}

/// Whether a review tells that one size was sent back, and another one is what the customer has now.
fn is_exchange(review: &[Line], returned: &str, kept: &str) -> bool {
    let has = |words: &str| review.iter().any(|line| line.text.contains(words));
    let names = |line: &Line| line.text.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == returned);
    has(&format!("size {kept}")) && review.iter().any(names) && SENT_BACK.iter().any(|words| has(words))
}
