//! Lists without a model: what was recorded is done in the entries that are there, and nothing in an entry that is not known.

use serde_json::{Value, json};

use crate::recording_capture::Stage;
use crate::replay_fast::{Made, STYLE, Task, event, statuses};
use crate::support::agent_plan::Do;
use crate::support::api::TestServer;

/// Clippings, all of which are in the document.
fn clippings(titles: &[&str]) -> String {
    let card = |title: &&str| {
        format!(
            "<li class=clip><h2>{title}</h2><button data-title='{title}' onclick=\"fetch('/file/' + encodeURIComponent('{title}')).then(() => {{ \
             this.textContent = 'Filed' }})\">File</button></li>"
        )
    };
    let cards: String = titles.iter().map(card).collect();
    format!("{STYLE}<title>Clippings</title><ul>{cards}</ul><a href=/orders>Orders</a>")
}

/// Orders in a list with its own scroll bar, which draws only the rows in view and gets more at its end.
fn orders(count: u32) -> String {
    format!(
        "{STYLE}<title>Orders</title><div id=box style='height: 200px; overflow: auto; width: 400px'><div id=all style='position: relative'>\
         </div></div><script>
         const box = document.getElementById('box'), all = document.getElementById('all'), done = new Set();
         let known = Math.min(8, {count});
         function draw() {{
           all.style.height = known * 60 + 'px';
           const first = Math.max(0, Math.floor(box.scrollTop / 60) - 1);
           all.replaceChildren(...Array.from({{ length: Math.max(0, Math.min(known - first, 6)) }}, (_, at) => {{
             const n = first + at + 1, row = document.createElement('div');
             row.setAttribute('role', 'listitem');
             row.style = 'position: absolute; margin: 0; height: 60px; top: ' + (n - 1) * 60 + 'px';
             row.innerHTML = '<b>Order ' + n + '</b> <button>' + (done.has(n) ? 'Confirmed' : 'Confirm') + '</button>';
             row.lastChild.onclick = () => fetch('/confirm/' + n).then(() => {{ done.add(n); draw() }});
             return row;
           }}));
         }}
         box.onscroll = () => {{
           draw();
           if (box.scrollTop + 210 > known * 60 && known < {count}) setTimeout(() => {{ known = {count}; draw() }}, 100);
         }};
         all.setAttribute('role', 'list');
         draw();
         </script>"
    )
}

/// What the site was asked for, behind a path.
fn asked(served: &TestServer, path: &str) -> Vec<String> {
    let all = served.site.requested();
    all.iter().filter_map(|one| Some(one.split_once(path)?.1.replace("%20", " "))).collect()
}

const TEXT: &str = "\n## Step 1: File the clippings about the ferry\nFor each clipping whose title has the word ferry, press File.\n\n\
     ## Step 2: Open the orders\nPress Orders.\n\n## Step 3: Confirm them\nFor each order, press Confirm.\n";

fn numbers(events: &[Value], part: &str) -> Vec<u64> {
    let own = events.iter().filter(|event| event["event_type"] == "click" && event["element"]["name"] == part);
    own.map(|event| event["event_index"].as_u64().unwrap()).collect()
}

#[test]
fn entries_are_worked_through_by_their_titles_and_unknown_ones_are_left_to_a_model() {
    let pages = |served: &TestServer| {
        let all = ["Ferry late", "Fairy lights", "New ferry", "Crane moves", "Gulls"];
        served.site.page("/", &clippings(&all));
        served.site.page("/orders", &orders(2));
    };
    let work = |stage: &Stage| {
        let api = &stage.served.api;
        let done = |path: &'static str, count: usize| {
            api.until("the work", &stage.path("/events?limit=5000"), |_| asked(&stage.served, path).len() == count)
        };
        stage.person.click("document.querySelectorAll('button')[0]");
        done("/file/", 1);
        stage.person.click("document.querySelectorAll('button')[2]");
        done("/file/", 2);
        stage.person.click("document.querySelector('a')");
        api.until("the orders", &stage.path("/events?limit=5000"), |_| stage.person.title() == "Orders");
        for n in 1..3 {
            stage.person.click(&format!("document.querySelectorAll('button')[{}]", n - 1));
            done("/confirm/", n);
        }
    };
    let steps = |events: &[Value]| json!({ "1": numbers(events, "File"), "2": [event(events, "click", "\"Orders\"")], "3": numbers(events, "Confirm") });
    let Some(made) = Made::new(&Task { pages: &pages, work: &work, text: TEXT, steps: &steps }) else { return };
    assert_eq!(made.routine()["fast_steps"], json!([1, 2, 3]), "{:#}", made.routine());
    let (served, requests) = (&made.stage.served, made.requests());
    let after = |path: &str, count: usize| asked(served, path).split_off(count);
    let (filed, confirmed) = (asked(served, "/file/").len(), asked(served, "/confirm/").len());
    // Other places, one entry less; many more orders, each of which is meant.
    // One was filed before.
    let filed_before = clippings(&["Ferry late"]).replace(">File<", ">Filed<");
    let filed_before = filed_before.split("<ul>").nth(1).unwrap().split("</ul>").next().unwrap();
    let rest = clippings(&["Gulls", "Crane moves", "New ferry", "Fairy lights"]);
    served.site.page("/", &rest.replacen("<ul>", &format!("<ul>{filed_before}"), 1));
    served.site.page("/orders", &orders(20));
    let report = made.fast(json!({}));
    assert_eq!(statuses(&report), ["done fast", "done fast", "done fast"], "{report:#}");
    assert_eq!(after("/file/", filed), ["New ferry"], "{report:#}");
    let mut seen: Vec<u32> = after("/confirm/", confirmed).iter().map(|n| n.parse().unwrap()).collect();
    seen.sort_unstable();
    assert_eq!(seen, (1..=20).collect::<Vec<u32>>(), "{report:#}");
    assert!(report["steps"][0]["note"].as_str().unwrap().contains("\"Ferry late\""), "{report:#}");
    let items = |n: usize| report["steps"][n]["items"].clone();
    assert_eq!((items(0), items(2)), (json!({ "done": 1, "total": 1 }), json!({ "done": 20, "total": 20 })));
    // A clipping that was not there: whether it is meant is not for the program to say.
    served.site.page("/", &clippings(&["Ferry late", "Gulls", "New ferry", "Ferry strike"]));
    let filed = asked(served, "/file/").len();
    let report = made.fast(json!({}));
    assert_eq!((&report["status"], &report["code"]), (&json!("failed"), &json!("NO_MODEL")), "{report:#}");
    assert!(report["steps"][0]["cause"]["found"].as_str().unwrap().contains("\"Ferry strike\""), "{report:#}");
    // No clipping that was recorded is there.
    served.site.page("/", &clippings(&["Gulls", "Crane moves"]));
    let report = made.fast(json!({}));
    assert_eq!((&report["status"], &report["code"]), (&json!("failed"), &json!("TARGET_NOT_FOUND")), "{report:#}");
    assert_eq!((after("/file/", filed), made.requests()), (Vec::<String>::new(), requests));
    // A model decides for the step alone.
    served.site.page("/", &clippings(&["Ferry late", "Ferry strike"]));
    served.site.page("/orders", &orders(2));
    let item = |title: &str, state: &str| {
        Do::Call("routine_step", json!({ "command": "item", "n": 1, "items": [{ "title": title }], "state": state }))
    };
    let mut plan = vec![item("Ferry late", "begun"), Do::Look, Do::Act("click", "Ferry late", "")];
    plan.extend([item("Ferry late", "done"), item("Ferry strike", "begun"), Do::Look]);
    plan.extend([Do::Act("click", "Ferry strike", ""), item("Ferry strike", "done"), item("New ferry", "skipped")]);
    plan.extend([
        Do::Call("routine_step", json!({ "command": "done", "n": 1 })),
        Do::Say("All is done."),
        Do::Say("All is done."),
    ]);
    plan.extend([Do::Say("All is done."), Do::Say("All is done."), Do::Say("All is done.")]);
    made.plan(plan);
    let report = made.run(&json!({ "login": "own" }));
    assert!(made.last_notice().contains("Ferry strike"), "{}", made.last_notice());
    assert_eq!(statuses(&report), ["done model", "done fast", "done fast"], "{report:#}");
    assert_eq!(after("/file/", filed), ["Ferry late", "Ferry strike"], "{report:#}");
}

/// Documents, two of which have the same title. The one with the number `held` is on hold.
fn documents(order: &[u32], held: u32) -> String {
    let row = |n: &u32| {
        let (title, hold) = (if *n < 3 { "Lease" } else { "Survey" }, if *n == held { "is" } else { "is not" });
        format!(
            "<tr id=d{n}><td>{title}</td><td><button onclick=\"if (confirm('Delete the {title}? It {hold} on hold.')) {{ fetch('/delete/{n}'); \
             this.closest('tr').remove() }}\">Delete</button></td></tr>"
        )
    };
    let rows: String = order.iter().map(row).collect();
    format!("{STYLE}<title>Documents</title><table>{rows}</table><a href=/one>Tasks</a>")
}

fn tasks(titles: &[&str], next: &str) -> String {
    let card = |title: &&str| {
        format!(
            "<article class=task><h3>{title}</h3><button onclick=\"fetch('/close/{title}'); this.disabled = true\">Close</button></article>"
        )
    };
    let cards: String = titles.iter().map(card).collect();
    let next = if next.is_empty() { String::new() } else { format!("<a href={next}>Next</a>") };
    format!("{STYLE}<title>Tasks {}</title><main>{cards}</main>{next}", titles.concat())
}

#[test]
fn entries_with_the_same_title_and_pages_of_a_list() {
    let pages = |served: &TestServer| {
        served.site.page("/", &documents(&[1, 2, 3], 1));
        served.site.page("/one", &tasks(&["Ash", "Birch", "Cedar"], "/two"));
        served.site.page("/two", &tasks(&["Elm", "Fir"], ""));
    };
    let work = |stage: &Stage| {
        let api = &stage.served.api;
        let events = stage.path("/events?limit=5000");
        let answered = |count: usize| {
            api.until("the answer", &events, |answer| {
                let all = answer["events"].as_array().unwrap();
                all.iter().filter(|event| event["event_type"] == "dialog").count() == count
            });
        };
        let created = api.get(&events).ok()["events"].as_array().unwrap().clone();
        let created = created.iter().find(|event| event["event_type"] == "tab_created").unwrap();
        let target = created["data"]["target_id"].as_str().unwrap().to_owned();
        for (at, accepts) in [false, true].into_iter().enumerate() {
            api.post("/hooks/dialog", &json!({ "accept": accepts, "targetId": target })).ok();
            let selector = format!("#d{} button", at + 1);
            api.post("/act", &json!({ "kind": "click", "selector": selector, "targetId": target })).ok();
            answered(at + 1);
        }
        stage.person.click("document.querySelector('a')");
        api.until("the tasks", &events, |answer| answer.to_string().contains("AshBirchCedar"));
        stage.person.click("document.querySelectorAll('button')[1]");
        stage.person.click("document.querySelector('a')");
        api.until("the next page", &events, |answer| answer.to_string().contains("Tasks ElmFir"));
        stage.person.click("document.querySelectorAll('button')[0]");
        api.until("the last task", &events, |_| asked(&stage.served, "/close/").len() == 2);
    };
    let text = "\n## Step 1: Delete the lease that is not on hold\nFor each document titled Lease, press Delete, and accept the question if it is \
         not on hold; dismiss it if it is.\n\n## Step 2: Open the tasks\nPress Tasks.\n\n## Step 3: Close Birch and Elm\nFor each task that is named \
         Birch or Elm, press Close. Press Next for more of them.\n";
    let steps = |events: &[Value]| {
        let of = |kinds: &[&str], names: &[&str]| -> Vec<u64> {
            let is = |event: &&Value| kinds.contains(&event["event_type"].as_str().unwrap());
            let is_named = |event: &&Value| names.contains(&event["element"]["name"].as_str().unwrap_or_default());
            let own = events.iter().filter(|event| is(event) && is_named(event));
            own.map(|event| event["event_index"].as_u64().unwrap()).collect()
        };
        json!({ "1": of(&["click", "dialog"], &["Delete", ""]), "2": of(&["click"], &["Tasks"]), "3": of(&["click"], &["Close", "Next"]) })
    };
    let Some(made) = Made::new(&Task { pages: &pages, work: &work, text, steps: &steps }) else { return };
    assert_eq!(made.routine()["fast_steps"], json!([1, 2, 3]), "{:#}", made.routine());
    let served = &made.stage.served;
    let (deleted, closed) = (asked(served, "/delete/").len(), asked(served, "/close/").len());
    // The other lease is on hold, and the tasks are on other pages.
    served.site.page("/", &documents(&[3, 2, 1], 2));
    served.site.page("/one", &tasks(&["Fir", "Elm"], "/two"));
    served.site.page("/two", &tasks(&["Cedar", "Birch", "Ash"], ""));
    let report = made.run(&json!({ "model": "none", "login": "own", "guard": "off" }));
    assert_eq!(report["status"], "done", "{report:#}");
    assert_eq!(asked(served, "/delete/")[deleted..], ["1"], "{report:#}");
    assert_eq!(asked(served, "/close/")[closed..], ["Elm", "Birch"], "{report:#}");
    // A third one with this title was not recorded.
    served.site.page("/", &documents(&[1, 2, 0, 3], 2));
    let report = made.run(&json!({ "model": "none", "login": "own", "guard": "off" }));
    assert_eq!(report["code"], "NO_MODEL", "{report:#}");
    assert_eq!(asked(served, "/delete/").len(), deleted + 1, "{report:#}");
}

#[test]
fn only_the_entries_of_the_recorded_list_are_worked_on_once_each() {
    let table = |titles: &[&str], then: &str| {
        let row = |title: &&str| {
            format!(
                "<tr><td>{title}</td><td><button onclick=\"fetch('/archive/{title}'); {then}\">Archive</button></td></tr>"
            )
        };
        format!("<table>{}</table>", titles.iter().map(row).collect::<String>())
    };
    let all = ["Ash", "Elm", "Oak"];
    let page = |body: String| format!("{STYLE}<title>Trees</title>{body}");
    let pages = |served: &TestServer| served.site.page("/", &page(table(&all, "")));
    let work = |stage: &Stage| {
        for n in 0..3 {
            stage.person.click(&format!("document.querySelectorAll('button')[{n}]"));
            let path = stage.path("/events?limit=5000");
            stage.served.api.until("the work", &path, |_| asked(&stage.served, "/archive/").len() == n + 1);
        }
    };
    let text = "\n## Step 1: Archive all\nFor each tree, press Archive.\n";
    let steps = |events: &[Value]| json!({ "1": numbers(events, "Archive") });
    let Some(made) = Made::new(&Task { pages: &pages, work: &work, text, steps: &steps }) else { return };
    let served = &made.stage.served;
    let marked = "this.closest('tr').cells[0].textContent += ' – sent'";
    let late = "<script>const late = document.querySelectorAll('tr')[2]; late.remove(); setTimeout(() => \
        document.querySelector('tbody').append(late), 2200)</script>";
    for (body, status) in [
        // Titles that the work changes; another list with the same buttons; an entry that comes late.
        (table(&all, marked), "done"),
        (format!("{}<h2>Staff</h2>{}", table(&all, ""), table(&["Ann", "Bob"], "")), "done"),
        (format!("{}{late}", table(&all, "")), "done"),
    ] {
        served.site.page("/", &page(body));
        let count = asked(served, "/archive/").len();
        let report = made.run(&json!({ "model": "none", "login": "own", "guard": "off" }));
        assert_eq!(report["status"], status, "{report:#}");
        assert_eq!(asked(served, "/archive/")[count..], all, "{report:#}");
    }
}
