//! Ids of elements that the page draws anew: an id means role, name and setting, and never something else.

use std::collections::{BTreeMap, HashMap};

use cdpilot_server::config::Confirm;
use fastrand::Rng;
use serde_json::{Value, json};

use crate::support::share::{rounds, seed};
use crate::support::tool_home::ToolHome;

/// A table that is drawn anew in many ways; each button tells its row.
const TABLE: &str = "<!doctype html><title>Queue</title><style>td { padding: 4px 14px }</style><table><tbody id=rows></tbody></table>
    <script>
        window.got = [];
        const cells = (title, age) => `<td>${age}</td><td>${title}</td><td><button>Rename</button></td><td><button>Take</button></td>`;
        const rowOf = (title, age) => { const row = document.createElement('tr'); row.innerHTML = cells(title, age); return row; };
        window.draw = (titles, age) => rows.replaceChildren(...titles.map(title => rowOf(title, age)));
        // The nodes stay where they are and get other texts; the last ones go or come.
        window.recycle = (titles, age) => {
            while (rows.children.length > titles.length) rows.lastChild.remove();
            while (rows.children.length < titles.length) rows.append(rowOf('', age));
            titles.forEach((title, at) => { const [first, second] = rows.children[at].children; first.textContent = age; second.textContent = title; });
        };
        window.move = titles => { for (const title of titles) { const row = [...rows.children].find(one => one.children[1].textContent === title); if (row) rows.append(row); } };
        document.addEventListener('click', event => {
            const button = event.target.closest('button');
            if (button) got.push(button.textContent + ' ' + button.closest('tr').children[1].textContent);
        });
    </script>";
const TITLES: [&str; 6] = ["Harbour lease", "Boat papers", "Crane permit", "Berth map", "Night shift", "Fuel list"];

fn text(response: &Value) -> &str {
    response["observation"].as_str().unwrap_or_else(|| panic!("no observation in {response}"))
}

/// Button and row of each id in a list.
fn listed(response: &Value) -> BTreeMap<String, String> {
    let line = |line: &str| {
        let (id, rest) = line.split_once('(')?;
        let (hints, html) = rest.split_once("): <button>")?;
        let title = hints.split("in row \"").nth(1)?.split('"').next()?;
        Some((id.to_owned(), format!("{} {title}", html.split('<').next()?)))
    };
    text(response).lines().filter_map(line).collect()
}

fn eval(tooled: &ToolHome, script: &str) -> Value {
    tooled.done("browser_evaluate", json!({ "script": script }))["result"].clone()
}

#[test]
fn an_id_never_becomes_that_of_another_row() {
    let Some(tooled) = ToolHome::confirming(Confirm::Auto) else { return };
    tooled.home.site.page("/", TABLE);
    tooled.done("tab", json!({ "action": "init", "url": tooled.home.site.url("a", "/") }));
    let mut rng = Rng::with_seed(seed());
    let mut titles = TITLES.to_vec();
    eval(&tooled, &format!("draw({}, 0); return 0", json!(titles)));
    // What each id has meant.
    let mut known: HashMap<String, String> = HashMap::new();
    let mut look = |tooled: &ToolHome, step: &str| {
        let seen = listed(&tooled.done("highlight", json!({})));
        for (id, row) in &seen {
            let before = known.insert(id.clone(), row.clone());
            assert!(before.as_ref().is_none_or(|before| before == row), "{step}: {id} was {before:?}, is {row}");
        }
        seen
    };
    let mut seen = look(&tooled, "first");
    assert_eq!(seen.len(), 12, "{seen:?}");
    let (mut used, mut refused, mut redrawn) = (0, 0, 0);
    for step in 0..rounds("CDPILOT_TEST_REDRAWS", 80, 600) {
        if rng.u8(..4) == 0 {
            titles = TITLES.to_vec();
            titles.truncate(4 + rng.usize(..3));
        }
        rng.shuffle(&mut titles);
        // Sometimes two rows look the same.
        let mut shown = titles.clone();
        if rng.u8(..6) == 0 {
            shown.push(titles[0]);
        }
        let how = ["draw", "draw", "recycle", "move"][rng.usize(..4)];
        eval(&tooled, &format!("{how}({}, {step}); return 0", json!(shown)));
        let case = format!("step {step}, {how} {shown:?}");
        match step % 4 {
            1 => seen = look(&tooled, &case),
            3 => {
                let Some((id, row)) = seen.iter().nth(rng.usize(..seen.len().max(1))) else { continue };
                eval(&tooled, "got.length = 0; return 0");
                let answer = tooled.call("element_interaction", json!({ "action": "click", "element_id": id }));
                let got = eval(&tooled, "got.join()");
                if answer["success"] == true && answer["pending"].is_null() {
                    used += 1;
                    redrawn += u32::from(text(&answer).contains("was redrawn by the page and found again"));
                    assert_eq!(got, json!(row), "{case}: {id}: {answer}");
                } else {
                    refused += 1;
                    assert_eq!(got, "", "{case}: {id}: {answer}");
                }
            }
            _ => {}
        }
    }
    println!("{used} used, {redrawn} of them redrawn, {refused} refused");
    assert!(used > 10 && redrawn > 2 && refused > 0, "{used} used, {redrawn} redrawn, {refused} refused");
}

#[test]
fn an_element_that_is_gone_is_answered_with_those_like_it() {
    let Some(tooled) = ToolHome::confirming(Confirm::Auto) else { return };
    tooled.home.site.page("/", TABLE);
    tooled.done("tab", json!({ "action": "init", "url": tooled.home.site.url("a", "/") }));
    eval(&tooled, "draw(['Harbour lease', 'Boat papers'], 0); return 0");
    let seen = listed(&tooled.done("highlight", json!({})));
    let id = seen.iter().find(|(_, row)| *row == "Take Harbour lease").unwrap().0;
    let click = |id: &str| tooled.call("element_interaction", json!({ "action": "click", "element_id": id }));
    // None is left.
    eval(&tooled, "draw(['Boat papers', 'Fuel list'], 1); return 0");
    let refused = click(id);
    assert_eq!(refused["code"], "STALE_REF", "{refused}");
    let error = refused["error"].as_str().unwrap();
    assert!(error.starts_with(&format!("{id} (button \"Take\") in row \"Harbour lease\"")), "{error}");
    let other = error.split(" in row \"Fuel list\"").next().unwrap().rsplit(' ').next().unwrap().to_owned();
    assert!(error.contains("in row \"Boat papers\"") && other.len() == 6, "{error}");
    // The ids of the answer can be used.
    assert_eq!(click(&other)["pending"]["element_id"], json!(other), "it has no label in the last picture");
    tooled.done("element_interaction", json!({ "action": "confirm_click", "element_id": other }));
    assert_eq!(eval(&tooled, "got.join()"), "Take Fuel list");
    // Several.
    eval(&tooled, "draw(['Fuel list', 'Fuel list'], 2); return 0");
    let refused = click(&other);
    assert_eq!((&refused["code"], eval(&tooled, "got.length")), (&json!("STALE_REF"), json!(1)), "{refused}");
    assert_eq!(refused["error"].as_str().unwrap().matches("in row \"Fuel list\"").count(), 3, "{refused}");
    // Numbers belong to names, counters in brackets do not.
    eval(&tooled, "document.body.innerHTML = '<button>Invoice 1 (4)</button>'; return 0");
    let seen = tooled.done("highlight", json!({}));
    let id = text(&seen).lines().find(|line| line.contains("<button>")).unwrap().split('(').next().unwrap();
    eval(&tooled, "document.body.innerHTML = '<button>Invoice 2 (4)</button>'; return 0");
    assert_eq!(click(id)["code"], "STALE_REF");
    eval(&tooled, "document.body.innerHTML = '<button>Invoice 1 (7)</button>'; return 0");
    let done = click(id);
    assert!(text(&done).contains("was redrawn"), "{done}");
}

#[test]
fn a_redrawn_list_can_be_used_with_preview_and_confirmation() {
    let Some(tooled) = ToolHome::new("") else { return };
    tooled.home.site.page("/", TABLE);
    tooled.done("tab", json!({ "action": "init", "url": tooled.home.site.url("a", "/") }));
    eval(&tooled, "draw(['Harbour lease', 'Boat papers', 'Fuel list'], 0); return 0");
    let seen = listed(&tooled.done("highlight", json!({})));
    let id = seen.iter().find(|(_, row)| *row == "Rename Boat papers").unwrap().0;
    eval(&tooled, "draw(['Fuel list', 'Harbour lease', 'Boat papers'], 1); return 0");
    let preview = tooled.done("element_interaction", json!({ "action": "click", "element_id": id }));
    assert!(text(&preview).contains(&format!("{id} (button \"Rename\") was redrawn")), "{preview}");
    eval(&tooled, "draw(['Boat papers', 'Fuel list', 'Harbour lease'], 2); return 0");
    let done = tooled.done("element_interaction", json!({ "action": "confirm_click", "element_id": id }));
    assert!(text(&done).contains(&format!("{id} (button \"Rename\") was redrawn")), "{done}");
    assert_eq!(eval(&tooled, "got.join()"), "Rename Boat papers");
    // What it does has changed meanwhile.
    tooled.home.site.page("/", "<title>Send</title><form id=f action=/here><button>Send</button></form>");
    let seen = tooled.done("tab", json!({ "action": "init", "url": tooled.home.site.url("a", "/") }));
    let id = text(&seen).lines().find(|line| line.contains("<button>")).unwrap().split('(').next().unwrap();
    tooled.done("element_interaction", json!({ "action": "click", "element_id": id }));
    eval(&tooled, "f.action = '/elsewhere'; f.innerHTML = '<button>Send</button>'; return 0");
    let refused = tooled.call("element_interaction", json!({ "action": "confirm_click", "element_id": id }));
    assert_eq!(refused["code"], "STALE_REF", "{refused}");
    assert!(refused["error"].as_str().unwrap().contains("leads elsewhere"), "{refused}");
}
