//! Many conversations in one browser, and long ones.

use serde_json::{Value, json};

use crate::server_tasks::{Tasks, results};
use crate::support::agent_plan::Do;
use crate::support::agent_wire::check;
use crate::support::api::Events;
use crate::support::leaks::{Baseline, alone};
use crate::support::share::rounds;
use crate::support::site::{Answer, Site};

/// Far apart: labels that would overlap are on later pages of a picture.
const STYLE: &str = "<style>button, a { display: block; width: 200px; margin: 40px }</style>";

/// The last text of results.
fn last_text(events: &[(String, Value)]) -> String {
    results(events).last().unwrap()["text"].as_str().unwrap().to_owned()
}

/// Each user is asked something, opens a popup and downloads a file.
fn site() -> Site {
    let site = Site::start();
    let login = "<script>document.cookie = 'user=' + location.search.slice(1)</script><a href=/me>Enter</a>";
    site.page("/login", &format!("{STYLE}{login}"));
    site.page(
        "/me",
        &format!(
            "{STYLE}<button onclick=\"if (confirm('I am ' + document.cookie)) this.textContent = 'Yes ' + document.cookie\">
             Ask</button><a href=/popup target=_blank>Popup</a> <a href=/file download>File</a>"
        ),
    );
    site.page(
        "/popup",
        &format!(
            "{STYLE}<button></button><script>document.querySelector('button').textContent = document.cookie</script>"
        ),
    );
    site.put("/file", Answer::bytes("application/octet-stream", *b"data"));
    site
}

fn plan_of(user: usize, site: &Site) -> Vec<Do> {
    vec![
        Do::Tab("init", site.url("a", &format!("/login?u{user}.")).replace("%3F", "?")),
        Do::Act("click", ">Enter<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Act("click", ">File<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Act("click", "Ask", ""),
        Do::Act("confirm_click", "", ""),
        Do::Dialog("accept", ""),
        Do::Act("click", ">Popup<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Tab("list", String::new()),
        Do::Look,
        Do::Say("Done."),
    ]
}

#[test]
fn conversations_with_different_logins_do_not_meet() {
    alone(module_path!(), "conversations_with_different_logins_do_not_meet", || {
        let many = rounds("CDPILOT_TEST_CONVERSATIONS", 3, 16);
        let site = site();
        let plans = (0..many).map(|user| plan_of(user, &site)).chain([vec![Do::Say("Ready.")]]).collect();
        let Some(tasks) = Tasks::with_tabs(plans, 64) else { return };
        let api = &tasks.served.api;
        api.post("/start", &json!({})).ok();
        let contexts = || {
            let contexts = api.post("/cdp", &json!({ "method": "Target.getBrowserContexts" })).ok();
            contexts["result"]["browserContextIds"].as_array().unwrap().len()
        };
        // The first one starts what stays.
        let first = tasks.create(&json!({}));
        let mut stream = tasks.send(&first, many);
        while stream.try_next().is_some() {}
        let (before, contexts_before) = (Baseline::now(), contexts());

        let ids: Vec<String> = (0..many).map(|_| tasks.create(&json!({}))).collect();
        let streams: Vec<Events> = ids.iter().enumerate().map(|(user, id)| tasks.send(id, user)).collect();
        for mut stream in streams {
            while stream.try_next().is_some() {}
        }
        assert_eq!(contexts(), contexts_before + many);
        for (user, id) in ids.iter().enumerate() {
            let events = tasks.events(id);
            assert_eq!(events.last().unwrap().0, "complete", "{user}: {:#?}", events.last());
            let failed: Vec<&Value> = results(&events).into_iter().filter(|data| data["success"] != true).collect();
            assert!(failed.is_empty(), "{user}: {failed:#?}");
            // What it saw, in all events: nobody but itself.
            let all = json!(events.iter().map(|(_, data)| data).collect::<Vec<_>>()).to_string();
            let own = format!("user=u{user}.");
            assert!(all.contains(&format!("Yes {own}")) && last_text(&events).contains(&own), "{user}: {all}");
            for other in (0..many).filter(|other| *other != user) {
                assert!(!all.contains(&format!("user=u{other}.")), "{user} saw {other}");
            }
            let dialogs = events.iter().filter(|(name, _)| name == "dialog").count();
            assert_eq!(dialogs, 2, "{user}: its own dialog opened and closed");
            let downloads = results(&events).into_iter().filter(|data| data.to_string().contains("download:")).count();
            assert_eq!(downloads, 1, "{user}: its own download");
            let list = results(&events)[10]["text"].as_str().unwrap();
            assert_eq!(list.matches("http://a.localhost").count(), 2, "{user}: its own tabs: {list}");
        }
        for id in ids.iter().chain([&first]) {
            api.delete(&format!("/agent/conversations/{id}")).ok();
        }
        assert_eq!(contexts(), contexts_before);
        // The HTTP engine keeps workers, up to a limit.
        let left = || before.left_over().into_iter().filter(|one| !one.contains(": http-")).collect::<Vec<_>>();
        let deadline = crate::support::soon();
        while !left().is_empty() {
            assert!(!deadline.passed(), "{:#?}", left());
            cdpilot::sync::pause(std::time::Duration::from_millis(20));
        }
    });
}

/// Estimated tokens of messages.
fn tokens(messages: &[Value]) -> usize {
    let images = |message: &Value| message.to_string().matches("\"image_url\":{").count();
    let texts = |message: &Value| match &message["content"] {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).map(str::len).sum(),
        _ => message.to_string().len(),
    };
    messages.iter().map(|message| texts(message) / 3 + images(message) * 1_200).sum()
}

#[test]
fn most_of_the_input_of_a_long_run_is_a_stable_prefix() {
    let site = Site::start();
    // As much HTML as buttons of real pages have.
    let row = |row: usize| {
        format!(
            "<button class='btn btn-default list-item__action list-item__action--primary' type=button data-testid=row-{row} \
             data-track='list:open:{row}' aria-label='Open the details of row {row}' aria-describedby=hint-{row}>Row {row}</button>"
        )
    };
    let rows: String = (0..60).map(row).collect();
    site.page("/", &format!("{STYLE}{rows}"));
    let mut plan = vec![Do::Tab("init", site.url("a", "/"))];
    // Not the same again and again: that would count as no progress.
    let all = [">Row 0<", ">Row 1<", ">Row 2<", ">Row 3<", ">Row 4<"];
    for row in all.into_iter().cycle().take(10) {
        plan.push(Do::Act("click", row, ""));
        plan.push(Do::Act("confirm_click", "", ""));
        plan.push(Do::Look);
    }
    plan.push(Do::Say("Done."));
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let id = tasks.create(&json!({}));
    let mut stream = tasks.send(&id, 0);
    while stream.try_next().is_some() {}
    let events = tasks.events(&id);
    let requests = tasks.model.requests();
    check(&requests);
    assert_eq!((requests.len(), events.last().unwrap().0.as_str()), (32, "complete"));
    let failed: Vec<&Value> = results(&events).into_iter().filter(|data| data["success"] != true).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let (mut all, mut stable) = (0, 0);
    for (at, request) in requests.iter().enumerate() {
        let messages = request["messages"].as_array().unwrap();
        let tools = request["tools"].to_string().len() / 3;
        all += tokens(messages) + tools;
        let Some(before) = at.checked_sub(1).map(|before| requests[before]["messages"].as_array().unwrap()) else {
            continue;
        };
        let equal = before.iter().zip(messages).take_while(|(old, new)| old == new).count();
        stable += tokens(&messages[..equal]) + tools;
    }
    let percent = stable * 100 / all;
    let mut times: Vec<f64> = Vec::new();
    let mut begun = 0.0;
    for (_, data) in &events {
        match data["type"].as_str() {
            Some("ActionEvent") => begun = data["timestamp"].as_f64().unwrap(),
            Some("ObservationEvent") => times.push(data["timestamp"].as_f64().unwrap() - begun),
            _ => {}
        }
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{percent} % of {all} estimated input tokens stable; median step {:.0} ms",
        times[times.len() / 2] * 1000.0
    );
    assert!(percent >= 80, "{percent} % of {all} tokens");
}
