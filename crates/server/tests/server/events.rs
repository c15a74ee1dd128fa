//! Events over HTTP.

use serde_json::json;

use crate::support::api::TestServer;

#[test]
fn an_event_id_of_an_earlier_start_gets_a_reset_and_all_kept_events() {
    let Some(mut served) = TestServer::browsing() else { return };
    served.show("<script>for (let i = 0; i < 50; i++) console.log(i)</script>");
    let old = {
        let mut all = served.api.events("/events?since=0", "");
        loop {
            let (name, id, data) = all.next();
            if name == "console" && data["text"] == "49" {
                break id;
            }
        }
    };
    let (start, number) = old.rsplit_once('-').unwrap_or_else(|| panic!("{old} is not <start>-<n>"));
    assert!(!start.is_empty() && number.parse::<u64>().is_ok_and(|number| number > 50), "{old}");
    served.restart();
    served.open("/");
    // The old id is far ahead of everything that the new server has seen.
    let mut again = served.api.events("/events", &format!("Last-Event-ID: {old}\r\n"));
    let (name, id, reset) = again.next();
    assert_eq!((name.as_str(), &reset["type"], &reset["reason"]), ("reset", &json!("reset"), &json!("other_start")));
    assert!(reset["seq"].is_u64() && reset["ts"].is_f64(), "{reset}");
    let (fresh, before) = id.rsplit_once('-').unwrap();
    assert!(fresh != start && before == "0", "{id}");
    let (_, id, first) = again.next();
    assert_eq!((id, &first["seq"]), (format!("{fresh}-1"), &json!(1)));

    // An id that was never given: another form, another profile's, one ahead of the newest. The reset has one that was.
    for bad in
        ["500", "x", "-", "-1", "1-", &format!("{fresh}-999999"), &format!("{fresh}-x"), "nobody-1", &"9".repeat(200)]
    {
        let mut stream = served.api.events("/events", &format!("Last-Event-ID: {bad}\r\n"));
        assert_eq!(stream.next().0, "reset", "{bad}");
        assert_eq!(stream.next().1, format!("{fresh}-1"), "{bad}");
    }
    let mut good = served.api.events("/events", &format!("Last-Event-ID: {fresh}-0\r\n"));
    assert_eq!(good.next().1, format!("{fresh}-1"));
    // The same as a parameter, and a number alone.
    let mut named = served.api.events(&format!("/events?since={old}"), "");
    assert_eq!(named.next().0, "reset");
    let mut ahead = served.api.events("/events?since=999999", "");
    assert_eq!(ahead.next().0, "reset");
    served.api.get("/events?since=x").fails(400, "BAD_REQUEST");
    served.api.get("/events?since=-1").fails(400, "BAD_REQUEST");
    // One tab's events: the reset is for everybody.
    let target = served.open("/");
    let mut one = served.api.events(&format!("/events?targetId={target}"), &format!("Last-Event-ID: {old}\r\n"));
    assert_eq!(one.next().0, "reset");
    assert_eq!(one.next().2["targetId"], json!(target));
    // A recreated profile has new ids.
    let make = || served.api.post("/profiles", &json!({ "name": "other" })).ok();
    let mut ids = Vec::new();
    for _ in 0..2 {
        make();
        let mut stream = served.api.events("/events?profile=other", "Last-Event-ID: x\r\n");
        ids.push(stream.next().1);
        served.api.delete("/profiles/other").ok();
    }
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn events_can_be_read_from_any_position() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    let mut all = api.events("/events", "");
    let target = served.show("<script>console.log('said')</script>");
    let (first, opened) = all.next_of("tab_opened");
    let number = |id: &str| id.rsplit_once('-').unwrap().1.parse::<u64>().unwrap();
    let start = first.rsplit_once('-').unwrap().0.to_owned();
    assert_eq!((opened["seq"].as_u64(), &opened["type"]), (Some(number(&first)), &json!("tab_opened")));
    assert!(opened["ts"].as_f64().unwrap() > 1e9 && opened["targetId"].is_string(), "{opened}");
    let (_, said) = all.next_of("console");
    assert_eq!((&said["text"], &said["level"], &said["targetId"]), (&json!("said"), &json!("log"), &json!(target)));

    let dialog = served.dialog("confirm('Sure?')");
    let (id, opened) = all.next_of("dialog_opened");
    let seq = number(&id);
    assert_eq!(
        (&opened["id"], &opened["message"], &opened["dialog"]["type"]),
        (&json!(dialog), &json!("Sure?"), &json!("confirm"))
    );
    api.post("/hooks/dialog", &json!({ "accept": true })).ok();
    let (_, closed) = all.next_of("dialog_closed");
    assert_eq!(
        (&closed["id"], &closed["closed_by"], &closed["accepted"]),
        (&json!(dialog), &json!("agent"), &json!(true))
    );

    // A reconnecting client receives missed events exactly once and in order.
    let mut again = api.events("/events", &format!("Last-Event-ID: {start}-{}\r\n", seq - 1));
    let (_, same_id, same) = again.next();
    assert_eq!((same_id, &same), (id, &opened));
    let mut since = api.events(&format!("/events?since={}", seq - 1), "");
    assert_eq!(since.next().1, format!("{start}-{seq}"));
    let mut before = 0;
    let mut from_start = api.events("/events?since=0", "");
    while before < seq {
        let now = number(&from_start.next().1);
        assert!(now > before, "{now} after {before}");
        before = now;
    }

    // Of one tab only, and over a restart of the browser.
    let other = served.open("/");
    let mut one = api.events(&format!("/events?targetId={other}&since=0"), "");
    assert_eq!(one.next().2["targetId"], json!(other));
    api.post("/stop", &json!({})).ok();
    served.open("/");
    let (again, _) = all.next_of("tab_opened");
    assert!(number(&again) > seq && again.starts_with(&start), "the browser's restart is none of the server's");
    api.get("/events?targetId=nobody").fails(404, "TAB_NOT_FOUND");
    api.get("/events?since=x").fails(400, "BAD_REQUEST");
}

#[test]
fn actions_are_logged_without_the_typed_text() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served
        .show("<button id=b onclick=\"p.textContent = 'saved'\">Save</button><input id=i aria-label=Card><p id=p></p>");
    let mut all = api.events("/events", "");
    let act = |body: serde_json::Value| api.act(&body);
    let snapshot = api.get("/snapshot").ok()["snapshot"].as_str().unwrap().to_owned();
    let save = snapshot.lines().find(|line| line.contains("\"Save\"")).unwrap();
    let save = save.split("[ref=").nth(1).unwrap().split(']').next().unwrap().to_owned();

    act(json!({ "kind": "click", "ref": save })).ok();
    let (_, started) = all.next_of("action_started");
    assert_eq!((&started["kind"], &started["ref"]), (&json!("click"), &json!(save)), "{started}");
    assert_eq!((&started["role"], &started["name"]), (&json!("button"), &json!("Save")), "{started}");
    let (_, finished) = all.next_of("action_finished");
    assert_eq!((&finished["action"], &finished["name"]), (&started["action"], &json!("Save")), "{finished}");
    assert_eq!((&finished["outcome"], &finished["settled"]), (&json!("ok"), &json!("page_settled")), "{finished}");
    assert!(finished["durationMs"].is_u64() && finished["targetId"].is_string(), "{finished}");

    // By a selector, the element is known at the end.
    act(json!({ "kind": "type", "selector": "#i", "text": "4111 1111" })).ok();
    let (_, started) = all.next_of("action_started");
    let (_, finished) = all.next_of("action_finished");
    assert_eq!((&started["kind"], &started["role"]), (&json!("type"), &json!(null)), "{started}");
    assert_eq!((&finished["role"], &finished["name"]), (&json!("textbox"), &json!("Card")), "{finished}");
    assert!(!started.to_string().contains("4111") && !finished.to_string().contains("4111"));

    // A failing one has its error; actions of a batch are logged one by one, inside of it.
    act(json!({ "kind": "click", "selector": "#none", "timeoutMs": 300 })).fails(404, "NOT_FOUND");
    assert_eq!(all.next_of("action_finished").1["outcome"], "NOT_FOUND");
    let actions = json!([{ "kind": "click", "selector": "#b" }, { "kind": "focus", "selector": "#i" }]);
    act(json!({ "kind": "batch", "actions": actions })).ok();
    let kinds: Vec<_> = (0..3).map(|_| all.next_of("action_started").1["kind"].clone()).collect();
    assert_eq!(kinds, ["batch", "click", "focus"]);
    // A batch with a failure is not ok, and a form of several fields names none of them.
    let actions = json!([{ "kind": "click", "selector": "#none", "timeoutMs": 300 }]);
    act(json!({ "kind": "batch", "actions": actions }));
    let ends = [all.next_of("action_finished").1, all.next_of("action_finished").1];
    assert!(ends.iter().all(|end| end["outcome"] == "ok"), "{ends:?}");
    for kind in ["click", "batch"] {
        let (_, finished) = all.next_of("action_finished");
        assert_eq!((&finished["kind"], &finished["outcome"]), (&json!(kind), &json!("NOT_FOUND")), "{finished}");
    }
    let field = snapshot.lines().find(|line| line.contains("\"Card\"")).unwrap();
    let field = field.split("[ref=").nth(1).unwrap().split(']').next().unwrap();
    act(json!({ "kind": "fill", "fields": [{ "ref": field, "value": "1" }, { "ref": field, "value": "2" }] })).ok();
    let (_, filled) = all.next_of("action_finished");
    assert_eq!(
        (&filled["kind"], &filled["ref"], &filled["name"]),
        (&json!("fill"), &json!(null), &json!(null)),
        "{filled}"
    );
}
