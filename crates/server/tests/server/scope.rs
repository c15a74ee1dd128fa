//! Requests for one tab never reach a frame of another one.

use serde_json::{Value, json};

use crate::support::api::TestServer;

#[test]
fn a_frame_of_another_tab_is_not_found() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.site.page(
        "/other",
        "<title>other</title><input id=i value=kept><button id=b>b</button><iframe src='@b/in'></iframe>",
    );
    served.site.page("/in", "<input id=i value=kept><button id=b>b</button>");
    let other = served.open("/other");
    let frames = api.until("its frame", &format!("/frames?targetId={other}"), |response| {
        response["frame_tree"]["children"][0]["origin"].as_str().is_some_and(|origin| origin.contains("b.localhost"))
    });
    let tree = &frames["frame_tree"];
    let (top, inner) = (tree["top"]["frame_id"].clone(), tree["children"][0]["frame_id"].clone());
    let mine = served.show("<title>mine</title><input id=i><button id=b>b</button>");
    let acts = |frame: &Value| {
        vec![
            json!({ "kind": "click", "selector": "#b", "frameId": frame }),
            json!({ "kind": "hover", "selector": "#b", "frameId": frame }),
            json!({ "kind": "type", "selector": "#i", "text": "x", "frameId": frame }),
            json!({ "kind": "press", "key": "a", "selector": "#i", "frameId": frame }),
            json!({ "kind": "fill", "fields": [{ "selector": "#i", "value": "x", "frameId": frame }] }),
            json!({ "kind": "drag", "startSelector": "#b", "endSelector": "#i", "frameId": frame }),
            json!({ "kind": "scroll", "direction": "down", "frameId": frame }),
            json!({ "kind": "scrollIntoView", "selector": "#b", "frameId": frame }),
            json!({ "kind": "wait", "selector": "#b", "frameId": frame }),
            json!({ "kind": "wait", "fn": "document.title = 'run'", "frameId": frame }),
            json!({ "kind": "evaluate", "fn": "document.title = 'run'", "frameId": frame }),
        ]
    };
    for frame in [&top, &inner] {
        for act in acts(frame) {
            for target in [json!(mine), Value::Null] {
                let mut act = act.clone();
                act["targetId"] = target;
                act["timeoutMs"] = 3_000.into();
                api.act(&act).fails(404, "FRAME_NOT_FOUND");
            }
            let batch = json!({ "kind": "batch", "actions": [act], "targetId": mine, "timeoutMs": 3_000 });
            let response = api.act(&batch).ok();
            assert_eq!(response["results"][0]["code"], "FRAME_NOT_FOUND", "{response}");
        }
        let params = json!({ "expression": "document.title = 'run'" });
        for target in [json!(mine), Value::Null] {
            let raw = json!({ "method": "Runtime.evaluate", "params": params, "frameId": frame, "targetId": target });
            api.post("/cdp", &raw).fails(404, "FRAME_NOT_FOUND");
        }
        let frame = frame.as_str().unwrap();
        api.get(&format!("/snapshot?frame={frame}&targetId={mine}")).fails(404, "FRAME_NOT_FOUND");
        api.get(&format!("/snapshot?frame={frame}")).fails(404, "FRAME_NOT_FOUND");
        api.post("/screenshot", &json!({ "element": "#b", "frame": frame })).fails(404, "FRAME_NOT_FOUND");
    }
    assert_eq!(
        api.act(&json!({ "kind": "evaluate", "fn": "i.value + document.title", "targetId": other })).ok()["result"],
        "keptother"
    );
    // With its tab named, each of them is reached.
    for frame in [&top, &inner] {
        let evaluate = json!({ "kind": "evaluate", "fn": "i.value", "frameId": frame, "targetId": other });
        assert_eq!(api.act(&evaluate).ok()["result"], "kept");
    }
}
