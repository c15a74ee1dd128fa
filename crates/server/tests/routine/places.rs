//! Runs without a model in frames, shadow roots, popups and dialogs, with secrets, and two at once.

use cdpilot_server::config::Confirm;
use serde_json::{Value, json};

use crate::recording_capture::Stage;
use crate::replay_fast::{Made, STYLE, Task, event, statuses};
use crate::replay_unattended::decide;
use crate::support::api::TestServer;
use crate::support::person::Person;

fn counted(made: &Made, path: &str) -> usize {
    made.stage
        .served
        .site
        .requested()
        .iter()
        .filter(|requested| requested.split_once('/').is_some_and(|(_, own)| own == path))
        .count()
}

fn desk(served: &TestServer) {
    let style =
        |top: u32| format!("position: absolute; left: 10px; top: {top}px; width: 400px; height: 160px; border: 0");
    let (outer, inner) = (served.site.url("b", "/outer"), served.site.url("a", "/inner"));
    let home = format!(
        "<title>Desk</title><body style='margin: 0'><closed-box style='position: absolute; left: 10px; top: 10px'></closed-box>
         <a href=/popup target=_blank rel=opener style='position: absolute; left: 10px; top: 50px'>Edit</a>
         <iframe name=outer src='{outer}' style='{}'></iframe>
         <script>customElements.define('closed-box', class extends HTMLElement {{ constructor() {{
         super(); this.attachShadow({{mode: 'closed'}}).innerHTML = '<button onclick=\"fetch(`/hidden`)\">Save</button>'; }} }})</script>",
        style(100)
    );
    served.site.page("/", &home);
    served.site.page(
        "/outer",
        &format!("<body style='margin: 0'><iframe name=inner src='{inner}' style='{}'></iframe>", style(10)),
    );
    let button = "<body style='margin: 0'><button onclick=\"fetch('/deep')\" style='position: absolute; left: 0; top: 0; width: 90px'>Save</button>";
    served.site.page("/inner", button);
    let popup = "<title>Editor</title><button onclick=\"if (confirm('Sure?')) fetch('/named/' + prompt('Which name?')).then(() => window.close())\">Rename</button>";
    served.site.page("/popup", &format!("{STYLE}{popup}"));
}

/// Three buttons in three places, of which two have the same name.
#[test]
fn elements_are_used_where_they_were_recorded() {
    let work = |stage: &Stage| {
        let (person, api) = (&stage.person, &stage.served.api);
        let asked = |path: &str| {
            let found = |_: &Value| stage.served.site.requested().iter().any(|requested| requested.ends_with(path));
            api.until(path, &stage.path("/events?limit=5000"), found)
        };
        api.until("the frames", &stage.path("/events"), |_| {
            asked("/inner");
            person.eval("document.readyState") == "complete"
        });
        // The button of the innermost frame, then the one in the closed shadow root.
        person.click_at((50.0, 122.0));
        asked("/deep");
        person.click_at((30.0, 22.0));
        asked("/hidden");
        person.click("document.querySelector('a')");
        let of_type = |answer: &Value, wanted: &str| {
            let all = answer["events"].as_array().unwrap().clone();
            all.into_iter().filter(|event| event["event_type"] == wanted).collect::<Vec<_>>()
        };
        let opened = api.until("the popup", &stage.path("/events"), |answer| of_type(answer, "page_view").len() == 2);
        let popup = of_type(&opened, "tab_created").pop().unwrap()["data"]["target_id"].clone();
        let second = Person::at(stage.served.cdp_url(), popup.as_str().unwrap());
        second.click_and_answer("document.querySelector('button')", &[(true, ""), (true, "Ada")]);
        api.until("its end", &stage.path("/events"), |answer| !of_type(answer, "tab_closed").is_empty());
    };
    let text = "\n## Inputs\n- name (default Ada)\n\n## Step 1: Save in the frame\nPress Save in the innermost frame.\n\n## Step 2: Save on the desk\nPress Save on the desk.\n\n\
        ## Step 3: Rename\nOpen the editor with Edit, press Rename there, accept both dialogs and give {{name}} as the name.\n";
    let steps = |events: &[Value]| {
        let saves: Vec<u64> = events
            .iter()
            .filter(|event| event["event_type"] == "click" && event["element"]["name"] == "Save")
            .map(|event| event["event_index"].as_u64().unwrap())
            .collect();
        json!({ "1": [saves[0]], "2": [saves[1]], "3": [event(events, "click", "\"Edit\""), event(events, "click", "\"Rename\"")] })
    };
    let Some(made) = Made::new(&Task { pages: &desk, work: &work, text, steps: &steps }) else { return };
    assert_eq!(made.routine()["fast_steps"], json!([1, 2, 3]));
    let before = ["deep", "hidden"].map(|path| counted(&made, path));
    let report = made.run(&json!({ "model": "none", "login": "own", "guard": "off", "inputs": { "name": "Bo" } }));
    assert_eq!(statuses(&report)[2], "done fast", "{report:#}");
    assert_eq!(report["status"], "done", "{report:#}");
    assert_eq!(["deep", "hidden"].map(|path| counted(&made, path)), before.map(|count| count + 1), "{report:#}");
    assert_eq!(counted(&made, "named/Bo"), 1, "{report:#}");
    // The same button in a frame of another address is not the recorded one.
    let site = &made.stage.served.site;
    site.page(
        "/outer",
        &format!("<body style='margin: 0'><iframe name=inner src='{}'></iframe>", site.url("a", "/other")),
    );
    site.page("/other", "<button onclick=\"fetch('/wrong')\">Save</button>");
    let report = made.fast(json!({}));
    assert_eq!((&report["status"], &report["code"]), (&json!("failed"), &json!("TARGET_NOT_FOUND")), "{report:#}");
    assert!(report["steps"][0]["cause"]["found"].as_str().unwrap().starts_with("only elsewhere"), "{report:#}");
    assert_eq!(counted(&made, "wrong"), 0);
}

fn door(served: &TestServer) {
    let form = "<form action=/in onsubmit=\"fetch('/knock', { headers: { word: word.value } }); return true\"><label>Name <input name=name></label> \
        <label>Password <input type=password id=word></label> <button>Log in</button></form>";
    served.site.page("/", &format!("{STYLE}<title>Door</title>{form}"));
    served.site.page("/in", &format!("{STYLE}<title>In</title><p>Welcome.</p>"));
}

#[test]
fn a_password_is_typed_and_two_runs_at_once_do_not_disturb_each_other() {
    let work = |stage: &Stage| {
        stage.person.click("document.querySelector('[name=name]')");
        stage.person.write("ada");
        stage.person.click("document.querySelector('[type=password]')");
        stage.person.write("recorded-word");
        stage.person.click("document.querySelector('button')");
        let path = stage.path("/events?limit=5000");
        stage.served.api.until("the room", &path, |answer| answer.to_string().contains("\"In\""));
    };
    let text = "\n## Inputs\n- name (default ada)\n- word (sensitive)\n\n## Step 1: Log in\nType {{name}} into Name and {{word}} into Password, and press Log in.\n";
    let steps = |events: &[Value]| {
        let typed: Vec<u64> = events
            .iter()
            .filter(|event| event["event_type"] == "input")
            .map(|event| event["event_index"].as_u64().unwrap())
            .collect();
        json!({ "1": [typed[0], typed[1], event(events, "click", "\"Log in\"")] })
    };
    let Some(served) = TestServer::browsing_with(|config, _| config.agent.confirm = Confirm::Never) else { return };
    let made = Made::on(served, &Task { pages: &door, work: &work, text, steps: &steps });
    assert_eq!(made.routine()["fast_steps"], json!([1]));
    // Without the password nothing is opened.
    let path = format!("/routines/{}/run", made.routine);
    made.stage.served.api.post(&path, &json!({ "model": "none", "login": "own" })).fails(400, "BAD_REQUEST");
    // Typing it is approved once, for all later runs.
    let (run, question) =
        made.waiting(&json!({ "model": "none", "login": "own", "inputs": { "word": "birch-55120" } }));
    assert!(!question.to_string().contains("birch-55120"), "{question:#}");
    assert_eq!(decide(&made, &run, &question, "routine")["status"], "done");
    let both = ["lilac-67431", "maple-90318"];
    let reports: Vec<Value> = std::thread::scope(|scope| {
        let runs: Vec<_> = both
            .iter()
            .enumerate()
            .map(|(n, word)| {
                let made = &made;
                scope.spawn(move || made.fast(json!({ "name": format!("person {n}"), "word": word })))
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for report in &reports {
        assert_eq!(statuses(report), ["done fast"], "{report:#}");
        assert!(!both.iter().any(|word| report.to_string().contains(word)), "{report:#}");
    }
    let heads = made.stage.served.site.heads("a.localhost/knock");
    for word in both {
        let times = heads.iter().filter(|head| head.contains(word)).count();
        assert_eq!(times, 1, "{word}: {heads:#?}");
    }
    let names = made.stage.served.site.heads("a.localhost/in");
    for n in 0..2 {
        assert_eq!(names.iter().filter(|head| head.contains(&format!("?name=person+{n} "))).count(), 1, "{names:#?}");
    }
}
