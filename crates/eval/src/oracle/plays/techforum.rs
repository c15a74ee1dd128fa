//! Plays on the forum.

use std::collections::BTreeSet;

use super::super::hands::{Done, Hands, Want};
use super::super::screen::Line;
use super::{Known, gbr};

pub(super) const PLAYS: &[Known] = &[
    ("the first question on the TechForum home page", upvote_first),
    ("who asks for papers to read", recommend),
    ("tidy up your reactions", tidy),
    ("with the difference only, to two decimals", work_out),
];

/// What both figures of an answer are counted in.
const UNIT: &str = " million litres";
/// Most articles that are read for an answer.
const MOST_ARTICLES: usize = 5;

fn upvote_first(hands: &mut Hands) -> Done {
    let topic = hands.told("is about ", ",")?;
    let lines = hands.read()?;
    let card = parts(&lines, "article ").find(|card| is_about(card, &topic));
    match card.and_then(|card| button(card, "Upvote")) {
        Some(upvote) => hands.click(&labelled(upvote)),
        None => hands.lost(format!("no question about {topic}")),
    }
}

fn recommend(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let [title, _, author, paper, ..] = quoted.as_slice() else { return hands.lost("the task quotes too little") };
    let lines = hands.read()?;
    let upvote = labelled(found(hands, question(&lines, title).and_then(|card| button(card, "Upvote")), "Upvote")?);
    hands.click(&upvote)?;
    open_comments(hands, title)?;
    view_all(hands)?;
    reply(hands, &[author], &format!("I recommend “{paper}”."))
}

/// Searches with the button beside the field.
pub(super) fn search_by_button(hands: &mut Hands, words: &str) -> Done {
    search(hands, words, false)
}

/// Titles of the questions whose title or text contains one of these words.
pub(super) fn about(hands: &mut Hands, topics: &[&str]) -> Done<Vec<String>> {
    let lines = hands.read()?;
    let is_about = |card: &&[Line]| {
        let text = format!("{} {}", title_of(card), text_of(card));
        words(&text).any(|word| topics.contains(&word.as_str()))
    };
    Ok(parts(&lines, "article ").filter(is_about).map(|card| title_of(card).to_owned()).collect())
}

/// Presses a toggle of a question, unless it is pressed.
pub(super) fn set_toggle(hands: &mut Hands, title: &str, action: &str) -> Done {
    let lines = hands.read()?;
    let card = found(hands, question(&lines, title), title)?;
    let toggle = found(hands, button(card, action), action)?;
    if is_pressed(toggle) { Ok(()) } else { press(hands, toggle) }
}

/// Opens the comments below a question.
pub(super) fn comments_below(hands: &mut Hands, title: &str) -> Done {
    open_comments(hands, title)
}

fn tidy(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let [words, tag, open, _, author, answerer, text, ..] = quoted.as_slice() else {
        return hands.lost("the task quotes too little");
    };
    search(hands, words, false)?;
    let mut lines = hands.read()?;
    let tagged: Vec<String> =
        parts(&lines, "article ").filter(|card| says(card, tag)).map(|card| title_of(card).to_owned()).collect();
    for title in &tagged {
        for action in ["Upvote", "Collect"] {
            let card = found(hands, question(&lines, title), title)?;
            let toggle = found(hands, button(card, action), action)?;
            if is_pressed(toggle) != says(card, open) {
                press(hands, toggle)?;
                lines = hands.read()?;
            }
        }
    }
    let open = parts(&lines, "article ").filter(|card| says(card, tag) && says(card, open));
    let busiest = found(hands, open.max_by_key(|card| card.iter().find_map(comments_of)), "an open question")?;
    open_comments(hands, title_of(busiest))?;
    view_all(hands)?;
    show_replies(hands, author)?;
    reply(hands, &[author, answerer], text)
}

fn work_out(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let [title, author, .., form] = quoted.as_slice() else { return hands.lost("the task quotes too little") };
    search(hands, title, true)?;
    open_comments(hands, title)?;
    view_all(hands)?;
    let lines = hands.read()?;
    let asked = text_of(found(hands, comment(&lines, &[author]), author)?);
    let card = found(hands, question(&lines, title), title)?;
    let paper = found(hands, card.iter().find(|line| line.text.starts_with("link ")), "a link to the newspaper")?;
    let mut body = card.iter().skip_while(|line| !line.text.starts_with("heading "));
    let place = found(hands, body.find_map(|line| place_in(value_of(line))), "a place to search for")?;

    close_dialog(hands)?;
    hands.click(&Want::text(paper.name()))?;
    let paper = paper.name().split(" (").next().unwrap_or_default();
    hands.switch(paper)?;
    let difference = difference(hands, &place, &asked)?;
    hands.switch("| TechForum")?;

    view_all(hands)?;
    let (_, unit) = form.split_once(' ').unwrap_or_default();
    reply(hands, &[author], &format!("{difference:.2} {unit}"))?;
    like(hands, author)?;
    close_dialog(hands)?;
    let lines = hands.read()?;
    let collect = found(hands, question(&lines, title).and_then(|card| button(card, "Collect")), "Collect")?;
    press(hands, collect)
}

/// Searches the newspaper, reads the articles found, and subtracts the two figures that a comment asks for.
fn difference(hands: &mut Hands, words: &str, asked: &str) -> Done<f64> {
    let both = asked.split(". ").next().and_then(|sentence| sentence.split_once(", and "));
    let (first, second) = found(hands, both, "two figures in the question")?;
    gbr::search(hands, words, false)?;
    let mut sentences = Vec::new();
    for headline in gbr::headlines(hands)?.into_iter().take(MOST_ARTICLES) {
        gbr::open(hands, &headline)?;
        let text = text_of(&hands.read()?);
        sentences.extend(text.split(". ").map(str::to_owned));
        hands.back()?;
    }
    let first = found(hands, figure(&sentences, first), "the first figure")?;
    let second = found(hands, figure(&sentences, second), "the second figure")?;
    Ok(first - second)
}

/// The figure in the sentence that shares the most words with a description.
fn figure(sentences: &[String], description: &str) -> Option<f64> {
    let wanted: BTreeSet<String> = words(description).collect();
    let figures = sentences.iter().filter_map(|sentence| {
        let (before, _) = sentence.split_once(UNIT)?;
        let number = before.rsplit(' ').next()?.parse::<f64>().ok()?;
        let shared = words(sentence).collect::<BTreeSet<_>>().intersection(&wanted).count();
        Some((shared, number))
    });
    figures.max_by_key(|(shared, _)| *shared).map(|(_, number)| number)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// The first name of two words in a text: `Lake Orrin`.
fn place_in(text: &str) -> Option<String> {
    let is_name = |word: &str| word.starts_with(char::is_uppercase) && word.chars().all(char::is_alphabetic);
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(2).find(|pair| pair.iter().all(|word| is_name(word))).map(|pair| pair.join(" "))
}

/// Searches with the field in the header, which is sent with Enter or with its button.
fn search(hands: &mut Hands, words: &str, with_enter: bool) -> Done {
    hands.write(&Want::id("main-search"), words, with_enter)?;
    if !with_enter {
        hands.click(&Want::id("search-button"))?;
    }
    if hands.wait_for(&format!("for “{words}”"))? { Ok(()) } else { hands.lost("no results page") }
}

/// Opens the comments below a question.
fn open_comments(hands: &mut Hands, title: &str) -> Done {
    let lines = hands.read()?;
    let card = found(hands, question(&lines, title), title)?;
    let toggle = card.iter().find(|line| comments_of(line).is_some());
    press(hands, found(hands, toggle, "comments")?)
}

/// Opens the dialog with all comments.
fn view_all(hands: &mut Hands) -> Done {
    hands.click(&Want::text("View all comments"))
}

fn close_dialog(hands: &mut Hands) -> Done {
    hands.click(&Want::html("aria-label=\"Close\""))
}

fn show_replies(hands: &mut Hands, author: &str) -> Done {
    let lines = hands.read()?;
    let toggle = comment(&lines, &[author]).and_then(|comment| button(comment, "Show "));
    press(hands, found(hands, toggle, "replies")?)
}

/// Replies to a comment in the dialog; `path`: its author, after those of the comments that contain it.
fn reply(hands: &mut Hands, path: &[&str], text: &str) -> Done {
    let lines = hands.read()?;
    let comment = found(hands, comment(&lines, path), "comment to reply to")?;
    bring(hands, &labelled(found(hands, button(comment, "Like"), "Like")?))?;
    press(hands, found(hands, button(comment, "Reply"), "Reply")?)?;
    let field = Want::html("id=\"reply-input-");
    bring(hands, &field)?;
    hands.write(&field, text, false)?;
    let send = Want::text("Send reply");
    bring(hands, &send)?;
    hands.click(&send)
}

fn like(hands: &mut Hands, author: &str) -> Done {
    let lines = hands.read()?;
    let like = comment(&lines, &[author]).and_then(|comment| button(comment, "Like"));
    let like = labelled(found(hands, like, "Like")?);
    bring(hands, &like)?;
    hands.click(&like)
}

/// Scrolls the list of the dialog until an element is in view.
fn bring(hands: &mut Hands, want: &Want) -> Done {
    hands.bring(&Want::html("data-comment=").of("scrollable"), want)
}

/// Clicks an element of a snapshot.
fn press(hands: &mut Hands, line: &Line) -> Done {
    let reference = found(hands, line.reference.as_deref(), "ref")?;
    hands.press(reference)?;
    if hands.ok() { Ok(()) } else { hands.lost(format!("cannot press {}: {}", line.text, hands.last)) }
}

fn found<T>(hands: &Hands, thing: Option<T>, name: &str) -> Done<T> {
    match thing {
        Some(thing) => Ok(thing),
        None => hands.lost(format!("not found: {name}")),
    }
}

/// The parts of a snapshot that begin with a line with this start, each with what is inside.
fn parts<'a>(lines: &'a [Line], start: &'a str) -> impl Iterator<Item = &'a [Line]> {
    let begins = move |(at, line): (usize, &Line)| line.text.starts_with(start).then_some(at);
    lines.iter().enumerate().filter_map(begins).filter_map(|at| {
        let rest = lines.get(at..)?;
        let depth = rest.first()?.depth;
        let end = rest.iter().skip(1).position(|line| line.depth <= depth).map_or(rest.len(), |inner| inner + 1);
        rest.get(..end)
    })
}

fn question<'a>(lines: &'a [Line], title: &str) -> Option<&'a [Line]> {
    parts(lines, "article ").find(|card| title_of(card) == title)
}

/// A comment in the dialog, by the authors of the comments that contain it and its own.
fn comment<'a>(lines: &'a [Line], path: &[&str]) -> Option<&'a [Line]> {
    path.iter().try_fold(parts(lines, "dialog ").next()?, |outer, author| {
        let by_author = |item: &&[Line]| item.get(1).is_some_and(|line| value_of(line) == *author);
        parts(outer.get(1..)?, "listitem").find(by_author)
    })
}

/// The first button of a part whose name begins with this.
fn button<'a>(part: &'a [Line], start: &str) -> Option<&'a Line> {
    part.iter().find(|line| line.text.starts_with("button ") && line.name().starts_with(start))
}

fn is_pressed(button: &Line) -> bool {
    button.text.contains("[pressed]")
}

/// Number of comments that a button stands for: `button "7 comments"`.
fn comments_of(line: &Line) -> Option<u32> {
    let (number, noun) = line.name().split_once(' ')?;
    number.parse().ok().filter(|_| line.text.starts_with("button ") && noun.starts_with("comment"))
}

fn labelled(button: &Line) -> Want {
    Want::html(&format!("aria-label=\"{}\"", button.name()))
}

/// Whether a line of a part is exactly this text.
fn says(part: &[Line], text: &str) -> bool {
    part.iter().any(|line| value_of(line) == text)
}

/// Whether the title or a tag of a question has a topic as a word.
fn is_about(card: &[Line], topic: &str) -> bool {
    let topic = topic.to_lowercase();
    let tags = card.iter().filter(|line| line.text.starts_with("listitem")).map(value_of);
    tags.chain([title_of(card)]).any(|text| words(text).any(|word| word == topic))
}

fn title_of(card: &[Line]) -> &str {
    card.first().map(Line::name).unwrap_or_default()
}

/// The text behind the colon of a line: `paragraph: text`.
fn value_of(line: &Line) -> &str {
    line.text.split_once(": ").map(|(_, value)| value).unwrap_or_default()
}

fn text_of(lines: &[Line]) -> String {
    lines.iter().map(value_of).filter(|value| !value.is_empty()).collect::<Vec<_>>().join(" ")
}
