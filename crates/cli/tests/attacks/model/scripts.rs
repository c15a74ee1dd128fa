//! Scripts of the model, where the settings allow none.

use serde_json::{Value, json};

use super::super::{Attack, Row, rows, run_all};
use super::{Armed, refused};

const RAN: &str = "a mark that the script leaves in the page; the page's own script leaves it";
/// Leaves the mark.
const MARK: &str = "document.documentElement.dataset.ran = 1";

/// What may not have run: the tools themselves say so, without a script.
fn has_run(on: &Armed) -> bool {
    let response = on.cdp("DOM.getDocument", json!({ "depth": 1 }));
    assert_eq!(response["success"], true, "{response}");
    let html = on.cdp("DOM.getOuterHTML", json!({ "nodeId": response["result"]["root"]["nodeId"] }));
    let html = html["result"]["outerHTML"].as_str().unwrap_or_else(|| panic!("{html}"));
    html.contains("data-ran")
}

fn node(on: &Armed, selector: &str) -> Value {
    let root = on.cdp("DOM.getDocument", json!({}))["result"]["root"]["nodeId"].clone();
    on.cdp("DOM.querySelector", json!({ "nodeId": root, "selector": selector }))["result"]["nodeId"].clone()
}

fn unmarked(on: &Armed, what: &str) -> Result<(), String> {
    if has_run(on) { Err(what.to_owned()) } else { Ok(()) }
}

const ATTACKS: [Attack<Armed>; 4] = [
    Attack {
        name: "runs scripts with the tools for scripts, addresses and waiting, although scripts are disabled",
        witness: RAN,
        run: |on| {
            on.show(&format!("<button onclick='{MARK}'>Run</button>"));
            let url = format!("javascript:{MARK}");
            for (tool, arguments) in [
                ("browser_evaluate", json!({ "script": MARK })),
                ("browser_console", json!({ "expression": MARK })),
                ("browser_navigate", json!({ "url": url })),
                ("browser_navigate", json!({ "url": format!(" JavaScript\t:{MARK}") })),
                ("browser_tabs", json!({ "action": "open", "url": url })),
                ("browser_wait", json!({ "fn": MARK, "time_ms": 1 })),
                ("browser_wait", json!({ "selector": format!("x\"]'+({MARK})+'"), "timeout_ms": 50 })),
                ("browser_get_images", json!({})),
                ("web_extract", json!({ "url": url })),
            ] {
                let response = on.call(tool, arguments.clone());
                refused(&response, &format!("{tool} {arguments}"))?;
                unmarked(on, &format!("{tool} {arguments}"))?;
            }
            let seen = on.done("browser_snapshot", json!({}));
            on.done("browser_click", json!({ "ref": crate::support::tool_home::ref_in(&seen, "Run") }));
            assert!(has_run(on), "the mark is not seen");
            Ok(())
        },
    },
    Attack {
        name: "runs scripts with raw commands of Runtime, Page, Debugger and DOM",
        witness: RAN,
        run: |on| {
            on.show("<p id=p>text</p><button onclick='1'>x</button>");
            let p = node(on, "#p");
            let object = on.cdp("DOM.resolveNode", json!({ "nodeId": p }))["result"]["object"]["objectId"].clone();
            assert!(object.is_string(), "{object}");
            let frame = on.cdp("Page.getFrameTree", json!({}))["result"]["frameTree"]["frame"]["id"].clone();
            for (method, params) in [
                ("Runtime.evaluate", json!({ "expression": MARK })),
                (
                    "Runtime.callFunctionOn",
                    json!({ "objectId": object, "functionDeclaration": format!("() => {{ {MARK} }}") }),
                ),
                ("Runtime.compileScript", json!({ "expression": MARK, "sourceURL": "x", "persistScript": true })),
                ("Runtime.addBinding", json!({ "name": "x" })),
                ("Runtime.setCustomObjectFormatterEnabled", json!({ "enabled": true })),
                ("Runtime.awaitPromise", json!({ "promiseObjectId": object })),
                ("Page.addScriptToEvaluateOnNewDocument", json!({ "source": MARK, "runImmediately": true })),
                ("Page.addScriptToEvaluateOnLoad", json!({ "scriptSource": MARK })),
                ("Page.reload", json!({ "scriptToEvaluateOnLoad": MARK })),
                ("Page.setDocumentContent", json!({ "frameId": frame, "html": format!("<script>{MARK}</script>") })),
                ("Page.createIsolatedWorld", json!({ "frameId": frame, "grantUniveralAccess": true })),
                ("Page.addCompilationCache", json!({ "url": "x", "data": "eA==" })),
                ("Page.navigate", json!({ "url": format!("javascript:{MARK}") })),
                ("Page.navigate", json!({ "url": format!("javascript:{MARK}"), "frameId": frame })),
                ("Page.setBypassCSP", json!({ "enabled": true })),
                ("Target.createTarget", json!({ "url": format!("javascript:{MARK}") })),
                ("Debugger.enable", json!({})),
                ("Debugger.setBreakpointByUrl", json!({ "lineNumber": 0, "urlRegex": ".*", "condition": MARK })),
                ("Debugger.evaluateOnCallFrame", json!({ "callFrameId": "x", "expression": MARK })),
                ("DOM.setOuterHTML", json!({ "nodeId": p, "outerHTML": format!("<img src=x onerror='{MARK}'>") })),
                ("DOM.setAttributeValue", json!({ "nodeId": p, "name": "onclick", "value": MARK })),
                ("DOM.setAttributesAsText", json!({ "nodeId": p, "text": format!("onclick='{MARK}'") })),
                ("DOM.setNodeName", json!({ "nodeId": p, "name": "script" })),
                ("DOM.setNodeValue", json!({ "nodeId": p, "value": MARK })),
                ("DOM.copyTo", json!({ "nodeId": p, "targetNodeId": p })),
                ("Emulation.setVirtualTimePolicyX", json!({})),
                ("runtime.evaluate", json!({ "expression": MARK })),
                ("Runtime.evaluate\n", json!({ "expression": MARK })),
                (" Runtime.evaluate", json!({ "expression": MARK })),
                ("Runtime.Evaluate", json!({ "expression": MARK })),
                (
                    "Target.sendMessageToTarget",
                    json!({ "message": json!({ "id": 1, "method": "Runtime.evaluate" }).to_string() }),
                ),
            ] {
                refused(&on.cdp(method, params), method)?;
                unmarked(on, method)?;
            }
            Ok(())
        },
    },
    Attack {
        name: "turns text of the page into a script with commands that only move, undo or style nodes",
        witness: RAN,
        run: |on| {
            on.show(&format!("<script id=s type=text/plain>{MARK}</script><style id=y></style><svg><style id=z></style></svg><p id=p>x</p><textarea id=t></textarea>"));
            let (script, p) = (node(on, "#s"), node(on, "#p"));
            let field = on.done("browser_snapshot", json!({}));
            on.done("browser_type", json!({ "ref": crate::support::tool_home::ref_in(&field, "textbox"), "text": format!("<script>{MARK}</script>") }));
            for (method, params) in [
                ("DOM.removeAttribute", json!({ "nodeId": script, "name": "type" })),
                ("DOM.moveTo", json!({ "nodeId": script, "targetNodeId": p })),
                ("DOM.undo", json!({})),
                ("DOM.redo", json!({})),
                ("CSS.enable", json!({})),
                ("Input.insertText", json!({ "text": format!("<img src=x onerror='{MARK}'>") })),
                (
                    "Input.dispatchDragEvent",
                    json!({ "type": "drop", "x": 5, "y": 5, "data": { "dragOperationsMask": 1,
                    "items": [{ "mimeType": "text/html", "data": format!("<img src=x onerror='{MARK}'>") }, { "mimeType": "text/uri-list", "data": format!("javascript:{MARK}") }] } }),
                ),
                ("Input.imeSetComposition", json!({ "text": "<script>", "selectionStart": 0, "selectionEnd": 0 })),
                (
                    "Input.dispatchKeyEvent",
                    json!({ "type": "keyDown", "commands": ["paste", "insertHTML:<img src=x onerror=1>", "javascript:1"] }),
                ),
            ] {
                on.cdp(method, params);
                on.cdp("Page.getLayoutMetrics", json!({}));
                unmarked(on, method)?;
            }
            Ok(())
        },
    },
    Attack {
        name: "reads variables of the page by read-only commands that run getters",
        witness: "a mark that the getter leaves in the page; it is left when the page itself reads the variable",
        run: |on| {
            on.show(&format!(
                "<p id=p>x</p><script>const p = document.getElementById('p');
                Object.defineProperty(p, 'trap', {{ enumerable: true, get() {{ {MARK}; return 1 }} }});</script>
                <button onclick='p.trap'>Read</button>"
            ));
            let object =
                on.cdp("DOM.resolveNode", json!({ "nodeId": node(on, "#p") }))["result"]["object"]["objectId"].clone();
            for params in [
                json!({ "objectId": object, "generatePreview": true, "ownProperties": true }),
                json!({ "objectId": object, "accessorPropertiesOnly": true, "generatePreview": true }),
            ] {
                on.cdp("Runtime.getProperties", params);
                unmarked(on, "Runtime.getProperties")?;
            }
            on.cdp("DOM.describeNode", json!({ "objectId": object, "depth": -1, "pierce": true }));
            unmarked(on, "DOM.describeNode")?;
            let seen = on.done("browser_snapshot", json!({}));
            on.done("browser_click", json!({ "ref": crate::support::tool_home::ref_in(&seen, "Read") }));
            assert!(has_run(on), "the getter leaves no mark");
            Ok(())
        },
    },
];

pub(super) fn listed() -> Vec<Row> {
    rows(&ATTACKS)
}

#[test]
fn no_model_runs_a_script_where_scripts_are_disabled() {
    let Some(armed) = Armed::new("browser: {evaluate_enabled: false}") else { return };
    run_all(&armed, &ATTACKS);
}
