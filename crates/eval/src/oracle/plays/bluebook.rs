//! Plays in the feed of notes.

use super::super::hands::{Done, Hands, Want};
use super::super::screen::{Line, groups};
use super::Known;

pub(super) const PLAYS: &[Known] = &[
    ("this must be the only note", like),
    ("leave a quick comment on the note", comment_on_pictures),
    ("press the round refresh button exactly once", reply_and_follow),
    ("add it to your collection with its star button", collect_by_picture),
];

/// What the picture of the skills shows: their names, and how often they ran.
const SKILLS: &str = "bluebook/img/p-0412.png";
const RUNS: [(&str, u32); 5] =
    [("inbox-sorter", 38), ("browser-scout", 12), ("calendar-buddy", 21), ("browser-courier", 96), ("pdf-clipper", 54)];

/// What the picture of the loaves shows: numbers of field notes, per cent of water, and stars.
const LOAVES: &str = "bluebook/img/p-0388.png";
const BAKED: [(u32, u32, u32); 8] =
    [(1, 70, 3), (2, 75, 2), (3, 80, 5), (4, 75, 3), (5, 70, 4), (6, 70, 5), (7, 75, 4), (8, 80, 4)];

/// Most pictures of a note.
const MOST_PICTURES: usize = 12;

fn like(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let ([query, title, ..], Some(author)) = (quoted.as_slice(), name_after(&hands.task, "\" by ")) else {
        return hands.lost("the task names no search and no note");
    };
    hands.write(&Want::id("search-input"), query, false)?;
    hands.click(&Want::id("search-go"))?;
    let heart = hands.read_for(|lines| button_of(card(lines, title, &author)?, "♡"))?;
    hands.press(&heart)
}

fn comment_on_pictures(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let [query, title, ..] = quoted.as_slice() else { return hands.lost("the task names no search and no note") };
    search(hands, query)?;
    open(hands, title)?;
    turn_to(hands, SKILLS, Turn::Swipe)?;
    let Some((skill, _)) = RUNS.iter().max_by_key(|(_, runs)| runs) else { return hands.lost("no skill ran") };
    hands.write(&Want::id("quick-input"), &format!("So {skill} it is."), false)?;
    hands.click(&Want::id("quick-send"))
}

fn reply_and_follow(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let names = ["\" by ", "in one of them "].map(|words| name_after(&hands.task, words));
    let ([channel, title, more, ..], [Some(author), Some(asking)]) = (quoted.as_slice(), names) else {
        return hands.lost("the task names no note and nobody who asks");
    };
    hands.click(&Want::text(channel).has("data-channel="))?;
    hands.click(&Want::id("refresh"))?;
    let note = hands.read_for(|lines| button_of(card(lines, title, &author)?, "Open note"))?;
    hands.press(&note)?;
    let comments = Want::id("detail-scroll");
    hands.bring(&comments, &Want::text(more))?;
    hands.click(&Want::text(more))?;
    let (coach, reply) = hands.read_for(|lines| {
        let asks = |comment: &&[Line]| is_by(comment, &asking) && text_of(comment).contains("coach");
        let question = groups(lines, "listitem").find(asks)?;
        Some((coach_of(lines, text_of(question))?, button_of(question, "Reply")?))
    })?;
    hands.press(&reply)?;
    hands.bring(&comments, &Want::id("reply-input"))?;
    hands.write(&Want::id("reply-input"), &format!("They are in coach {coach}."), false)?;
    hands.bring(&comments, &Want::text("Send reply"))?;
    hands.click(&Want::text("Send reply"))?;
    hands.click(&Want::id("follow").has(">Follow<"))
}

fn collect_by_picture(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let ([title, first, ..], Some(water)) = (quoted.as_slice(), number_after(&hands.task, "Among those with ")) else {
        return hands.lost("the task names no note and no water");
    };
    search(hands, title)?;
    open(hands, title)?;
    turn_to(hands, LOAVES, Turn::Button)?;
    let wet = BAKED.iter().filter(|(_, per_cent, _)| *per_cent == water);
    let Some((number, ..)) = wet.max_by_key(|(_, _, stars)| stars) else { return hands.lost("no such loaf") };
    let best = format!("{} {number}", first.trim_end_matches([' ', '1']));
    hands.click(&Want::id("detail-close"))?;
    search(hands, &best)?;
    open(hands, &best)?;
    hands.click(&Want::html("☆"))
}

/// First and last name after these words.
fn name_after(task: &str, words: &str) -> Option<String> {
    let (_, rest) = task.split_once(words)?;
    let names: Vec<&str> = rest.split(|letter: char| !letter.is_alphanumeric()).take(2).collect();
    Some(names.join(" "))
}

/// The number after these words.
fn number_after(text: &str, words: &str) -> Option<u32> {
    let (_, rest) = text.split_once(words)?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

fn search(hands: &mut Hands, query: &str) -> Done {
    hands.write(&Want::id("search-input"), query, true)
}

fn open(hands: &mut Hands, title: &str) -> Done {
    hands.click(&Want::html(&format!("\"Open note: {title}\"")))
}

/// The card of a note by its title and author.
fn card<'a>(lines: &'a [Line], title: &'a str, author: &'a str) -> Option<&'a [Line]> {
    let mut cards = groups(lines, "article");
    cards.find(|card| card.iter().any(|line| line.name() == format!("Open note: {title}")) && is_by(card, author))
}

fn is_by(lines: &[Line], author: &str) -> bool {
    lines.iter().any(|line| line.text == format!("text: {author}"))
}

/// The ref of the first button whose name begins with this.
fn button_of(lines: &[Line], name: &str) -> Option<String> {
    let mut buttons = lines.iter().filter(|line| line.text.starts_with("button "));
    buttons.find(|button| button.name().starts_with(name))?.reference.clone()
}

/// The text of a comment, without those of its replies.
fn text_of(comment: &[Line]) -> &str {
    comment.iter().find_map(|line| line.text.strip_prefix("paragraph: ")).unwrap_or_default()
}

/// The coach that the note gives for what a question is about: `which coach has the bicycle hooks?`
fn coach_of(lines: &[Line], question: &str) -> Option<u32> {
    let (_, thing) = question.split_once("coach has the ")?;
    let thing = thing.trim_end_matches('?');
    lines.iter().find_map(|line| {
        let (_, rest) = line.text.split_once(thing)?;
        number_after(rest, " in coach ")
    })
}

/// How the next picture is shown.
#[derive(Clone, Copy)]
enum Turn {
    Swipe,
    Button,
}

/// Looks at the pictures of a note until it sees this one.
fn turn_to(hands: &mut Hands, picture: &str, turn: Turn) -> Done {
    for _ in 0..MOST_PICTURES {
        if hands.sees(picture)? {
            return Ok(());
        }
        let next = Want::html("aria-label=\"Next picture\"");
        match turn {
            // The frame of the pictures is not among the elements; its buttons swipe it, too.
            Turn::Swipe => hands.swipe(&next, "next")?,
            Turn::Button => hands.click(&next)?,
        }
    }
    hands.lost(format!("{picture} is not among the pictures"))
}
