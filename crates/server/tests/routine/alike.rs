//! Elements that are alike and are not the recorded ones: nothing else is used, and no toggle is turned back.

use serde_json::{Value, json};

use crate::recording_capture::Stage;
use crate::replay_fast::{Made, STYLE, Task, event, statuses};
use crate::support::api::TestServer;
use crate::support::site::Answer;

/// The parts of a page: an icon without a name, offers under headings, rows that differ in a counter, columns of people, a toggle.
struct Parts {
    icon: &'static str,
    offers: &'static [&'static str],
    files: &'static [&'static str],
    people: &'static [[&'static str; 2]],
    heads: [&'static str; 2],
    pressed: bool,
}

const AS_RECORDED: Parts = Parts {
    icon: "Archive all",
    offers: &["Basic", "Pro"],
    files: &["Letter", "Report (2)", "Report (1)"],
    people: &[["Ann", "Cleo"], ["Ben", "Ann"], ["Cleo", "Dan"]],
    heads: ["Name", "Manager"],
    pressed: false,
};

fn page(parts: &Parts) -> String {
    let ask = |what: &str| format!("onclick=\"fetch('/did/' + encodeURIComponent('{what}'))\"");
    let offers: String = parts
        .offers
        .iter()
        .map(|one| format!("<div><h3>{one}</h3><p>For some</p><button {}>Choose</button></div>", ask(one)))
        .collect();
    let files: String =
        parts.files.iter().map(|one| format!("<tr><td>{one}<td><button {}>Remove</button>", ask(one))).collect();
    let person = |[one, other]: &[&str; 2]| {
        let name = if parts.heads[0] == "Name" { one } else { other };
        format!("<tr><td>{one}<td>{other}<td><button {}>Dismiss</button>", ask(name))
    };
    let people: String = parts.people.iter().map(person).collect();
    let [first, second] = parts.heads;
    format!(
        "{STYLE}<title>Alike</title><style>i::before {{ content: '\\f1f8' }}</style><button title='{}' {}><i></i></button>{offers}\
         <table>{files}</table><table><tr><th>{first}<th>{second}<th>{people}</table><button aria-pressed={} onclick=\"fetch('/did/mute'); \
         this.setAttribute('aria-pressed', this.getAttribute('aria-pressed') !== 'true')\">Mute</button>",
        parts.icon,
        ask(parts.icon),
        parts.pressed
    )
}

const TEXT: &str = "\n## Step 1: Archive\nPress the icon Archive all.\n\n## Step 2: Choose\nPress Choose of Pro.\n\n## Step 3: Remove\nPress \
     Remove in the row Report (2).\n\n## Step 4: Dismiss\nPress Dismiss in the row of Ann.\n\n## Step 5: Mute\nPress Mute.\n";

#[test]
fn what_looks_alike_is_not_used() {
    let pages = |served: &TestServer| served.site.page("/", &page(&AS_RECORDED));
    let did = |served: &TestServer| -> Vec<String> {
        let all = served.site.requested();
        all.iter().filter_map(|path| Some(path.split_once("/did/")?.1.replace("%20", " "))).collect()
    };
    let work = |stage: &Stage| {
        for (done, button) in [0, 2, 4, 6, 9].into_iter().enumerate() {
            stage.person.click(&format!("document.querySelectorAll('button')[{button}]"));
            stage
                .served
                .api
                .until("the work", &stage.path("/events?limit=5000"), |_| did(&stage.served).len() == done + 1);
        }
    };
    let steps = |events: &[Value]| {
        json!({
            "1": [event(events, "click", "Archive all")], "2": [event(events, "click", "\"Choose\"")],
            "3": [event(events, "click", "\"Remove\"")], "4": [event(events, "click", "\"Dismiss\"")],
            "5": [event(events, "click", "\"Mute\"")],
        })
    };
    let Some(made) = Made::new(&Task { pages: &pages, work: &work, text: TEXT, steps: &steps }) else { return };
    assert_eq!(made.routine()["fast_steps"], json!([1, 2, 3, 4, 5]), "{:#}", made.routine());
    let served = &made.stage.served;
    let all = ["Archive all", "Pro", "Report (2)", "Ann", "mute"];
    assert_eq!(did(served), all);
    // The toggle is as it should be: nothing turns it back.
    served.site.page("/", &page(&Parts { pressed: true, ..AS_RECORDED }));
    let run = || made.run(&json!({ "model": "none", "login": "own", "guard": "off" }));
    let report = run();
    assert_eq!(
        (&report["status"], &report["steps"][4]["status"]),
        (&json!("done"), &json!("unverified")),
        "{report:#}"
    );
    assert_eq!(did(served)[5..], all[..4], "{report:#}");
    let mut count = 9;
    for (parts, done) in [
        (Parts { icon: "Delete all", ..AS_RECORDED }, 0),
        (Parts { offers: &["Basic"], ..AS_RECORDED }, 1),
        (Parts { offers: &["Basic", "Professional"], ..AS_RECORDED }, 1),
        (Parts { files: &["Letter", "Report (1)"], ..AS_RECORDED }, 2),
        (Parts { heads: ["Manager", "Name"], people: &[["Ann", "Ben"], ["Dan", "Cleo"]], ..AS_RECORDED }, 3),
    ] {
        served.site.page("/", &page(&parts));
        let report = run();
        assert_eq!((&report["status"], &report["code"]), (&json!("failed"), &json!("TARGET_NOT_FOUND")), "{report:#}");
        assert_eq!(did(served)[count..], all[..done], "{report:#}");
        count += done;
    }
}

#[test]
fn an_overlay_that_is_not_shown_is_not_closed_elsewhere() {
    let shop = |overlay: bool| {
        let overlay = match overlay {
            true => {
                "<div id=ov style='position: fixed; inset: 0; background: #0008'><p>News! <button onclick=\"fetch('/closed').then(() => \
                ov.remove())\">Close</button></p></div>"
            }
            false => "<button onclick=\"fetch('/account')\">Close</button>",
        };
        format!(
            "{STYLE}<title>Shop</title><h1>Shop</h1><button id=buy onclick=\"fetch('/bought')\">Buy</button>{overlay}"
        )
    };
    let pages = |served: &TestServer| served.site.page("/", &shop(true));
    let count =
        |served: &TestServer, path: &str| served.site.requested().iter().filter(|one| one.ends_with(path)).count();
    let work = |stage: &Stage| {
        for (element, path) in [("#ov button", "/closed"), ("#buy", "/bought")] {
            stage.person.click(&format!("document.querySelector('{element}')"));
            stage.served.api.until(path, &stage.path("/events?limit=5000"), |_| count(&stage.served, path) == 1);
        }
    };
    let text =
        "\n## Step 1: Close the news\nIf shown: press Close in the overlay News.\n\n## Step 2: Buy\nPress Buy.\n";
    let steps = |events: &[Value]| json!({ "1": [event(events, "click", "\"Close\"")], "2": [event(events, "click", "\"Buy\"")] });
    let Some(made) = Made::new(&Task { pages: &pages, work: &work, text, steps: &steps }) else { return };
    let served = &made.stage.served;
    let run = || made.run(&json!({ "model": "none", "login": "own", "guard": "off" }));
    assert_eq!(run()["status"], "done");
    served.site.page("/", &shop(false));
    assert_eq!(statuses(&run())[0], "skipped fast");
    assert_eq!((count(served, "/closed"), count(served, "/bought"), count(served, "/account")), (2, 3, 0));
}

#[test]
fn what_was_done_without_its_effect_is_not_done_again() {
    let order = |then: &str| {
        format!(
            "{STYLE}<title>Shop</title><button onclick=\"fetch('/ordered').then(() => {{ {then} }})\">Order</button>"
        )
    };
    let pages = |served: &TestServer| {
        served.site.page("/", &order("location.href = '/thanks'"));
        served.site.page("/thanks", "<title>Thanks</title>");
    };
    let ordered =
        |served: &TestServer| served.site.requested().iter().filter(|path| path.ends_with("/ordered")).count();
    let work = |stage: &Stage| {
        stage.person.click("document.querySelector('button')");
        stage
            .served
            .api
            .until("the thanks", &stage.path("/events?limit=5000"), |answer| answer.to_string().contains("\"Thanks\""));
    };
    let text = "\n## Step 1: Order\nPress Order.\n";
    let steps = |events: &[Value]| json!({ "1": [event(events, "click", "\"Order\"")] });
    let Some(made) = Made::new(&Task { pages: &pages, work: &work, text, steps: &steps }) else { return };
    let served = &made.stage.served;
    // The order is taken, and the page stays.
    served.site.page("/", &order(""));
    let report = made.run(&json!({ "model": "none", "login": "own", "guard": "off" }));
    assert_eq!((&report["code"], ordered(served)), (&json!("POSTCONDITION_FAILED"), 2), "{report:#}");
    let resumed = |report: &Value| {
        let run = report["run_id"].as_str().unwrap();
        served.api.post(&format!("/agent/conversations/{run}/resume"), &json!({})).ok();
        served.api.until("the end", &format!("/routines/{}/runs/{run}", made.routine), |again| {
            again["status"] == "failed" && again["ended_at"] != report["ended_at"]
        });
    };
    resumed(&report);
    assert_eq!(ordered(served), 2, "it is not ordered again");
    // A server that refuses what was done is no success either.
    served.site.page("/", &order("location.href = '/thanks'"));
    let refused = Answer::html("<title>Thanks</title>Nothing was saved").status("500 Internal Server Error");
    served.site.put("/thanks", refused);
    let report = made.run(&json!({ "model": "none", "login": "own", "guard": "off" }));
    assert_eq!((&report["code"], ordered(served)), (&json!("POSTCONDITION_FAILED"), 3), "{report:#}");
    resumed(&report);
    assert_eq!(ordered(served), 3, "it is not ordered again");
}

#[test]
fn a_button_that_is_another_one_under_the_pointer_is_not_pressed() {
    let shop = |script: &str| {
        format!(
            "{STYLE}<title>Shop</title><button style='margin: 90px' onmouseover='{script}' onclick=\"fetch('/pressed/' + this.textContent)\">Save\
             </button>"
        )
    };
    let pages = |served: &TestServer| served.site.page("/", &shop(""));
    let pressed = |served: &TestServer| -> Vec<String> {
        let all = served.site.requested();
        all.iter().filter_map(|path| Some(path.split_once("/pressed/")?.1.to_owned())).collect()
    };
    let work = |stage: &Stage| {
        stage.person.click("document.querySelector('button')");
        stage.served.api.until("the press", &stage.path("/events?limit=5000"), |_| pressed(&stage.served).len() == 1);
    };
    let text = "\n## Step 1: Save\nPress Save.\n";
    let steps = |events: &[Value]| json!({ "1": [event(events, "click", "\"Save\"")] });
    let Some(made) = Made::new(&Task { pages: &pages, work: &work, text, steps: &steps }) else { return };
    let served = &made.stage.served;
    for guard in ["off", "irreversible"] {
        served.site.page("/", &shop("this.textContent = \"Destroy\""));
        let report = made.run(&json!({ "model": "none", "login": "own", "guard": guard }));
        assert_eq!((&report["status"], pressed(served)), (&json!("failed"), vec!["Save".to_owned()]), "{report:#}");
    }
    // A style is no other button.
    served.site.page("/", &shop("this.style.color = \"red\""));
    let report = made.run(&json!({ "model": "none", "login": "own", "guard": "off" }));
    assert_eq!((&report["status"], pressed(served).len()), (&json!("done"), 2), "{report:#}");
}

#[test]
fn a_form_whose_fields_were_emptied_meanwhile_is_not_sent() {
    let form = |script: &str| {
        format!(
            "{STYLE}<title>Form</title><label>Name <input></label><button onclick=\"fetch('/sent/' + document.querySelector('input').value)\">Send\
             </button><script>{script}</script>"
        )
    };
    let pages = |served: &TestServer| served.site.page("/", &form(""));
    let sent = |served: &TestServer| served.site.requested().iter().filter(|path| path.contains("/sent/")).count();
    let work = |stage: &Stage| {
        stage.person.click("document.querySelector('input')");
        stage.person.write("Ada");
        stage.person.click("document.querySelector('button')");
        stage.served.api.until("the form", &stage.path("/events?limit=5000"), |_| sent(&stage.served) == 1);
    };
    let text = "\n## Step 1: Fill it in\nType Ada into Name.\n\n## Step 2: Send\nPress Send.\n";
    let steps =
        |events: &[Value]| json!({ "1": [event(events, "input", "Name")], "2": [event(events, "click", "\"Send\"")] });
    let Some(made) = Made::new(&Task { pages: &pages, work: &work, text, steps: &steps }) else { return };
    let served = &made.stage.served;
    let run = || made.run(&json!({ "model": "none", "login": "own", "guard": "off" }));
    assert_eq!((&run()["status"], sent(served)), (&json!("done"), 2));
    // The page sets its fields when it has loaded, and shows the button then.
    let late = "const field = document.querySelector('input'), button = document.querySelector('button'); button.hidden = true; \
        field.addEventListener('input', () => setTimeout(() => { field.value = ''; button.hidden = false }, 600))";
    served.site.page("/", &form(late));
    let report = run();
    // The button is looked for until it is there: by then the field is empty.
    assert_eq!((&report["code"], sent(served)), (&json!("NOT_ACTIONABLE"), 2), "{report:#}");
}
