//! What changes between a preview and its confirmation: nothing but what the preview showed is ever used.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Value, json};

use crate::support::share::{rounds, seed, share};
use crate::support::stage::{KINDS, LAYOUTS, PLACES, Stage};

/// What must become of a confirmation.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    /// It is refused.
    Refused,
    /// It is carried out.
    Done,
    /// Either, but nothing else.
    Either,
}
use Verdict::{Done, Either, Refused};

/// The change after which another node is the same element.
const REDRAW: &str = "replaceByCopy";
const ALL: &[&str] = &KINDS;
/// All but fields, which are typed into and not clicked.
const CLICKED: &[&str] = &["button", "link", "submit", "div"];
const SENDING: &[&str] = &["submit", "input"];

/// The changes, what must become of a confirmation after them, and the elements that they are for.
const CHANGES: &[(&str, Verdict, &[&str])] = &[
    ("swapPlaces", Refused, ALL),
    ("swapPositions", Refused, ALL),
    ("swapRows", Either, ALL),
    ("recycleRows", Refused, ALL),
    ("rename", Refused, ALL),
    ("renumber", Refused, ALL),
    ("relabel", Refused, ALL),
    ("changeRole", Refused, ALL),
    // Drawn anew as it was: found again by role, name and row, and the answer says so.
    (REDRAW, Either, ALL),
    ("remove", Refused, ALL),
    ("insertCopyBefore", Either, ALL),
    ("copyOver", Refused, ALL),
    ("moveToOtherRow", Refused, ALL),
    ("moveOutOfForm", Refused, ALL),
    ("moveToOtherFrame", Refused, ALL),
    ("cover", Refused, ALL),
    ("coverUnseen", Refused, ALL),
    ("openModal", Refused, ALL),
    ("disable", Refused, ALL),
    ("makeInert", Refused, ALL),
    ("undisplay", Refused, ALL),
    ("hide", Refused, ALL),
    ("letThrough", Refused, CLICKED),
    ("letThrough", Either, &["input"]),
    ("moveAway", Refused, ALL),
    ("changeAction", Refused, SENDING),
    ("changeMethod", Refused, SENDING),
    ("changeFormAction", Refused, &["submit"]),
    ("changeFormMethod", Refused, &["submit"]),
    ("changeForm", Refused, SENDING),
    ("changeBase", Refused, &["submit", "input", "link"]),
    ("changeLink", Refused, &["link"]),
    ("changeValue", Refused, &["submit"]),
    ("makeSubmit", Refused, &["button"]),
    ("makeButton", Refused, &["submit"]),
    ("around.cover", Refused, ALL),
    ("around.move", Refused, ALL),
    ("around.hide", Refused, ALL),
    ("around.scroll", Refused, ALL),
    ("addClass", Done, ALL),
    ("count", Done, CLICKED),
    ("addState", Done, ALL),
    ("renameOther", Done, ALL),
    ("moveLittle", Done, ALL),
    ("paint", Done, ALL),
    ("addRow", Done, ALL),
    ("writeAgain", Done, ALL),
    ("coverName", Done, SENDING),
    ("changeOtherForm", Done, ALL),
    ("around.moveLittle", Done, ALL),
    ("around.scrollLittle", Done, ALL),
];

/// How many changes are tried. With 400, as in `make soak`, every moment of [`MOMENTS`] is, else every eighth one.
fn cases() -> usize {
    rounds("CDPILOT_TEST_CHANGES", 20, 400)
}

/// Whether a change is possible in a place.
fn is_possible(change: &str, place: &str) -> bool {
    match change {
        // A script cannot move elements to another site.
        "moveToOtherFrame" => place != "far",
        "around.move" | "around.hide" | "around.moveLittle" => matches!(place, "near" | "far"),
        _ => true,
    }
}

#[test]
fn nothing_but_what_a_preview_showed_is_used_after_generated_changes() {
    let cases = cases();
    let Some(mut stage) = Stage::new() else { return };
    let mut rng = Rng::with_seed(seed());
    let changes = share(CHANGES, cases.min(CHANGES.len()));
    let (mut refusals, mut done) = (BTreeMap::<String, usize>::new(), 0);
    let mut problems = Vec::new();
    for number in 0..cases {
        let (change, verdict, kinds) = &changes[number % changes.len()];
        let kind = kinds[rng.usize(..kinds.len())];
        let places: Vec<&str> = PLACES.into_iter().filter(|place| is_possible(change, place)).collect();
        let place = places[rng.usize(..places.len())];
        let layout = LAYOUTS[rng.usize(..LAYOUTS.len())];
        let case = format!("{number}: {change} of the {kind} in {place}, {layout}");
        // In the top document an element in a shadow root looks the same.
        let verdict = if *change == REDRAW && matches!(place, "near" | "far") { Done } else { *verdict };

        let was = stage.begin(place, kind, layout);
        let confirm = stage.preview(place, kind, &case);
        match change.strip_prefix("around.") {
            Some(change) => stage.eval("light", &format!("around.{change}({place:?}); 0")),
            None => stage.eval(place, &format!("stage.change({change:?}); 0")),
        };
        let answer = stage.act(json!({ "action": confirm }));
        let got = stage.got(place);
        let mut wrong = |why: String| problems.push(format!("{case}: {why}\n    {}\n    {got:?}", brief(&answer)));
        let used: Vec<&Value> = got.iter().filter(|one| is_use(one)).collect();
        if answer["success"] == true {
            done += 1;
            if verdict == Refused || used.is_empty() {
                wrong("was not refused, or did nothing".to_owned());
            }
            let is_redrawn = is_redrawn(&answer);
            if is_redrawn != (*change == REDRAW) {
                wrong("is not what the answer says".to_owned());
            }
            used.iter().filter_map(|one| difference(one, &was, is_redrawn)).for_each(wrong);
            continue;
        }
        let code = answer["code"].as_str().unwrap().to_owned();
        let is_known = ["STALE_REF", "REF_CHANGED", "NOT_ACTIONABLE"].contains(&&*code);
        if verdict == Done || !is_known || !answer["error"].as_str().unwrap().contains("Nothing was done") {
            wrong("was refused".to_owned());
        } else if !used.is_empty() {
            wrong("was refused, but something was used".to_owned());
        }
        *refusals.entry(code).or_default() += 1;
    }
    println!("{done} done, refused: {refusals:?}");
    assert!(problems.is_empty(), "{} of {cases} cases:\n{}", problems.len(), problems.join("\n"));
    let is_share = changes.len() < CHANGES.len();
    assert!(is_share || refusals.len() == 3 && done > cases / 7, "{done} done, refused: {refusals:?}");
}

/// Whether an event uses an element, rather than passing over it.
fn is_use(event: &Value) -> bool {
    matches!(event["type"].as_str(), Some("pointerdown" | "mousedown" | "click" | "input" | "submit"))
}

/// Whether an answer says that the element was drawn anew.
fn is_redrawn(answer: &Value) -> bool {
    answer["observation"].as_str().is_some_and(|text| text.contains("was redrawn by the page"))
}

/// How what was used differs from what the preview showed. An element that was drawn anew is another node.
fn difference(event: &Value, was: &Value, is_redrawn: bool) -> Option<String> {
    if event["type"] == "submit" {
        let is_same = was["to"].as_str().unwrap().starts_with(event["to"].as_str().unwrap());
        return (!is_same).then(|| format!("{event} instead of {was}"));
    }
    let is_other =
        |fact: &str| event[fact] != was[fact] && !(is_redrawn && fact == "who" && event[fact] == "another element");
    ["who", "row", "to"].iter().any(|fact| is_other(fact)).then(|| format!("{event} instead of {was}"))
}

/// An answer in a failure.
fn brief(answer: &Value) -> String {
    let text = answer["error"].as_str().or(answer["observation"].as_str()).unwrap_or_default();
    format!("{} {}", answer["code"], text.lines().next().unwrap_or_default())
}

/// Events and times at which a page changes something while a confirmation is carried out.
const MOMENTS: [(&str, u32); 14] = [
    ("pointerover", 0),
    ("mousemove", 0),
    ("window mousemove", 0),
    ("pointerdown", 0),
    ("window pointerdown", 0),
    ("mousedown", 0),
    ("window mousedown", 0),
    ("mouseup", 0),
    ("focusin", 0),
    ("timer", 1),
    ("timer", 5),
    ("timer", 12),
    ("timer", 25),
    ("timer", 50),
];
/// Changes for these moments. After a change that stays in the way, a click waits for its end: few of them.
const AT_ONCE: &[(&str, Verdict)] = &[
    ("swapPlaces", Either),
    ("swapPositions", Either),
    (REDRAW, Either),
    ("moveToOtherRow", Either),
    ("rename", Either),
    ("changeAction", Either),
    ("changeForm", Either),
    ("changeLink", Either),
    ("recycleRows", Either),
    ("coverByFrame", Either),
    ("focusOther", Either),
    ("addClass", Done),
    ("moveLittle", Done),
    ("renameOther", Done),
];

#[test]
fn nothing_else_is_used_when_the_page_changes_at_the_moment_of_a_confirmation() {
    let Some(mut stage) = Stage::new() else { return };
    let mut rng = Rng::with_seed(seed());
    let (mut done, mut refused, mut fired, mut problems) = (0, 0, 0, Vec::new());
    let every = if cases() < 400 { 8 } else { 1 };
    for (index, (change, verdict)) in AT_ONCE.iter().enumerate() {
        for (moment, delay) in MOMENTS.into_iter().skip(index % every).step_by(every) {
            let kinds: &[&str] = match *change {
                "changeAction" | "changeForm" => SENDING,
                "changeLink" => &["link"],
                "coverByFrame" | "focusOther" => CLICKED,
                _ => ALL,
            };
            let places = if *change == "coverByFrame" { &PLACES[..2] } else { &PLACES[..] };
            let (kind, place) = (kinds[rng.usize(..kinds.len())], places[rng.usize(..places.len())]);
            let layout = LAYOUTS[rng.usize(..LAYOUTS.len())];
            let case = format!("{change} of the {kind} in {place}, {layout}, on {moment} {delay}");
            let was = stage.begin(place, kind, layout);
            let confirm = stage.preview(place, kind, &case);
            let before = stage.eval(place, &format!("stage.changeOn({change:?}, {moment:?}, {delay}); stage.fired()"));
            let answer = stage.act(json!({ "action": confirm }));
            let got = stage.got(place);
            let mut wrong = |why: String| problems.push(format!("{case}: {why}\n    {}\n    {got:?}", brief(&answer)));
            // Only before the press: afterwards the page may change what has received it.
            let is_redrawn = *change == REDRAW && is_redrawn(&answer);
            for one in got.iter().filter(|one| is_use(one)) {
                // The page may change what has received a press. But what receives it first is what was shown.
                let problem = match one["type"].as_str() {
                    Some("pointerdown" | "input") => difference(one, &was, is_redrawn),
                    Some("submit") => None,
                    _ if is_redrawn => difference(one, &was, true),
                    _ => (one["who"] != was["who"]).then(|| format!("{one} instead of {was}")),
                };
                problem.into_iter().for_each(&mut wrong);
            }
            fired += u32::from(stage.eval(place, "stage.fired()") != before);
            match answer["success"] == true {
                true => done += 1,
                false => refused += 1,
            }
            if answer["success"] != true && *verdict == Done {
                wrong("was refused".to_owned());
            }
        }
    }
    println!("{done} done, {refused} refused, {fired} changes");
    assert!(problems.is_empty(), "{} cases:\n{}", problems.len(), problems.join("\n"));
    assert!(
        done * every > 40 && refused * every > 15 && usize::try_from(fired).unwrap() * every > 80,
        "{done} done, {refused} refused, {fired} changes"
    );
}
