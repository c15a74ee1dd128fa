//! Values of pages: a model finds where one stands, and later runs read it again without one.

use serde_json::{Value, json};

use crate::recording_capture::Stage;
use crate::replay_fast::{Made, STYLE, Task, event, statuses};
use crate::support::agent_plan::Do;
use crate::support::api::TestServer;

/// An order with its total in a table, and a field for what is to be paid.
fn order(number: u32, total: &str, also: &str) -> String {
    format!(
        "{STYLE}<title>Order</title><button onclick=\"setTimeout(() => {{ document.querySelector('#sum').hidden = false; \
         document.querySelector('#sum').innerHTML = '<tr><th>Item<th>Net<th>Total</tr><tr><td>Tea<td>{number}.00<td>{total}</tr>' }}, 80)\">\
         Add up</button><table id=sum hidden></table><p>{also}</p><label>Amount <input></label> \
         <button onclick=\"fetch('/pay/' + document.querySelector('input').value)\">Pay</button>"
    )
}

const TEXT: &str = "\n## Step 1: Add up\nPress Add up.\nRead total: the total of Tea in the table.\n\n## Step 2: Pay it\nType {{step1.total}} into \
     Amount, and press Pay.\n\n## Result\nPaid {{step1.total}}.\n\n```json\n{\"type\": \"object\", \"properties\": {\"total\": \
     {\"type\": \"number\"}}, \"required\": [\"total\"]}\n```\n";

#[test]
fn a_value_is_read_again_where_a_model_has_found_it() {
    let pages = |served: &TestServer| served.site.page("/", &order(40, "41.20", "To pay: 41.20 EUR"));
    let work = |stage: &Stage| {
        stage.person.click("document.querySelectorAll('button')[0]");
        let shown = |_: &Value| stage.person.eval("!document.querySelector('#sum').hidden") == true;
        stage.served.api.until("the sum", &stage.path("/events?limit=5000"), shown);
        stage.person.click("document.querySelector('input')");
        stage.person.write("41.20");
        stage.person.click("document.querySelectorAll('button')[1]");
        let paid = |_: &Value| stage.served.site.requested().iter().any(|path| path.ends_with("/pay/41.20"));
        stage.served.api.until("the payment", &stage.path("/events?limit=5000"), paid);
    };
    let steps = |events: &[Value]| {
        json!({
            "1": [event(events, "click", "\"Add up\"")],
            "2": [event(events, "input", "\"Amount\""), event(events, "click", "\"Pay\"")],
        })
    };
    let Some(made) = Made::new(&Task { pages: &pages, work: &work, text: TEXT, steps: &steps }) else { return };
    let site = &made.stage.served.site;
    let paid = || -> Vec<String> {
        site.requested().iter().filter_map(|path| Some(path.split_once("/pay/")?.1.to_owned())).collect()
    };
    let none = |made: &Made| made.run(&json!({ "model": "none", "login": "own", "guard": "off" }));
    assert_eq!(made.routine()["fast_steps"], json!([2]), "nobody has read the total yet");
    let report = none(&made);
    assert_eq!((&report["status"], &report["code"]), (&json!("failed"), &json!("NO_MODEL")), "{report:#}");
    // A model reads it; where it stands is proposed.
    made.plan(vec![
        Do::Look,
        Do::Call("routine_step", json!({ "command": "read", "n": 1, "name": "total", "value": "41.20" })),
        Do::Call("routine_step", json!({ "command": "done", "n": 1 })),
        Do::Look,
        Do::Look,
        Do::Look,
        Do::Say("Paid. ```json\n{\"total\": 41.2}\n```"),
    ]);
    let report = made.run(&json!({ "login": "own", "guard": "off" }));
    assert_eq!(statuses(&report), ["done model", "done fast"], "{report:#}");
    let version = report["proposed_version"].as_u64().unwrap_or_else(|| panic!("nothing is proposed: {report:#}"));
    let api = &made.stage.served.api;
    let path = format!("/routines/{}/versions/{version}", made.routine);
    let proposed = api.get(&path).ok();
    let now = proposed["found"][0]["now"].as_str().unwrap();
    assert!(now.contains("total in the text") && now.contains("under \"Total\" in row \"Tea\""), "{proposed:#}");
    api.post(&format!("{path}/approve"), &json!({})).ok();
    assert_eq!(made.routine()["fast_steps"], json!([1, 2]));
    // Another total in another place of the page.
    let count = paid().len();
    site.page("/", &order(9, "9.50", "To pay: 9.50 EUR").replace("<p>", "<p>Since May: VAT. "));
    let (requests, report) = (made.requests(), none(&made));
    assert_eq!(statuses(&report), ["done fast", "done fast"], "{report:#}");
    assert_eq!((paid()[count..].to_vec(), made.requests()), (vec!["9.50".to_owned()], requests));
    assert_eq!(
        (&report["result"]["data"], &report["result"]["text"]),
        (&json!({ "total": 9.5 }), &json!("Paid 9.50."))
    );
    // Two places that say different things, and a page without the value, stop the run before something is paid.
    for (html, code) in [
        (order(9, "9.50", "To pay: 8.00 EUR"), "TARGET_AMBIGUOUS"),
        (order(9, "9.50", "Nothing is to be paid.").replace(">Tea<", ">Milk<"), "TARGET_NOT_FOUND"),
    ] {
        site.page("/", &html);
        let report = none(&made);
        assert_eq!((&report["status"], &report["code"]), (&json!("failed"), &json!(code)), "{report:#}");
        assert!(report["steps"][0]["cause"]["sought"].as_str().unwrap().contains("the value total"), "{report:#}");
    }
    assert_eq!(paid().len(), count + 1);
}
