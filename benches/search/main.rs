//! `session_search` over 100,000 messages, compared with a scan of the same texts in the same run.
//!
//! `make bench-search`. Texts are random: words of a vocabulary in which a few are frequent and most are rare, and every tenth text is
//! written without blanks.
#![allow(clippy::print_stdout, clippy::expect_used)] // a bench prints; a run that fails has no figures

use std::time::{Duration, Instant};

use cdpilot::sync::Deadline;
use cdpilot_server::config::Home;
use cdpilot_server::store::{Batch, NewConversation, Store, TextQuery};
use rusqlite::Connection;
use serde_json::json;

const CONVERSATIONS: usize = 500;
const MESSAGES: usize = 200;
const WORDS: usize = 20_000;
const ROUNDS: usize = 15;
/// What a person waits for without noticing, in milliseconds.
const GOAL: f64 = 50.0;

fn word(rng: &mut fastrand::Rng) -> String {
    // The frequency of a word falls with its number.
    let n = (rng.f64().powi(3) * WORDS as f64) as usize;
    let mut word = String::new();
    let mut rest = n + 17;
    while rest > 0 {
        word.push(char::from(b"bdfgklmnprstvz"[rest % 14]));
        word.push(char::from(b"aeiou"[rest / 14 % 5]));
        rest /= 70;
    }
    word
}

fn text(rng: &mut fastrand::Rng, n: usize) -> String {
    if n.is_multiple_of(10) {
        let signs: Vec<char> =
            "東京駅出口傘自転車毛布羅針盤昨日私達忘大阪札幌横浜切符電車会議資料確認送信".chars().collect();
        return (0..40).map(|_| signs[rng.usize(..signs.len())]).collect();
    }
    (0..rng.usize(8..60)).map(|_| word(rng)).collect::<Vec<_>>().join(" ")
}

fn median(mut work: impl FnMut() -> usize) -> (f64, usize) {
    let mut found = 0;
    let mut all: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            found = work();
            begun.elapsed()
        })
        .collect();
    all.sort();
    (all[ROUNDS / 2].as_secs_f64() * 1000.0, found)
}

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = Home::at(folder.path());
    home.prepare().expect("a home");
    let deadline = || Deadline::after_secs(600);
    let store = Store::open(&home, deadline()).expect("a database").store;
    let mut rng = fastrand::Rng::with_seed(7);
    let begun = Instant::now();
    for conversation in 0..CONVERSATIONS {
        let id = format!("c{conversation}");
        store.create_conversation(NewConversation::new(&*id, "m", "chat"), deadline()).expect("a conversation");
        let batch = (0..MESSAGES).fold(Batch::new(), |batch, n| {
            let mut said = text(&mut rng, n);
            if conversation == 250 && n == 101 {
                said.push_str(" lighthouse keeper");
            }
            batch.message(json!({ "role": "user", "content": said }))
        });
        store.commit(&id, batch, deadline()).expect("messages");
    }
    let size = std::fs::metadata(home.database()).map_or(0, |facts| facts.len());
    println!(
        "{} messages stored in {:.1} s, {} MB",
        CONVERSATIONS * MESSAGES,
        begun.elapsed().as_secs_f64(),
        size / 1_000_000
    );
    let raw = Connection::open(home.database()).expect("a second connection");
    println!("{:<24} {:>8} {:>8} {:>7} {:>6}", "query; ms, medians", "search", "scan", "ratio", "found");
    let (frequent, rare) = (word(&mut fastrand::Rng::with_seed(3)), "lighthouse");
    let mut slowest: f64 = 0.0;
    for query in [
        rare.to_owned(),
        "lighthouse keeper".to_owned(),
        "lighth*".to_owned(),
        "ighthous".to_owned(),
        frequent.clone(),
        format!("{frequent} {}", word(&mut rng)),
        "東京".to_owned(),
        "東京駅".to_owned(),
        "nowhere at all".to_owned(),
    ] {
        let wanted = TextQuery { terms: TextQuery::terms_of(&query), ..TextQuery::default() };
        let (search, found) = median(|| store.search_texts(&wanted, 5, deadline()).expect("a search").len());
        let like = format!("%{}%", query.trim_end_matches('*').replace(' ', "%"));
        let (scan, _) = median(|| {
            let mut all =
                raw.prepare("SELECT n FROM texts WHERE body LIKE ?1 ORDER BY n DESC LIMIT 5").expect("a scan");
            let rows = all.query_map([&like], |row| row.get::<_, i64>(0)).expect("rows");
            rows.count()
        });
        slowest = slowest.max(search);
        println!("{query:<24} {search:>8.2} {scan:>8.2} {:>7.3} {found:>6}", search / scan);
    }
    println!("slowest: {slowest:.1} ms (goal: {GOAL} ms)");
}
