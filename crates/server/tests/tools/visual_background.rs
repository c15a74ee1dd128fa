//! The visual tools in a tab behind another one: everything works there, and it stays there.

use cdpilot::cdp::protocol::emulation::SetFocusEmulationEnabled;
use cdpilot::cdp::protocol::page::StopScreencast;
use cdpilot::supervisor::FrameRef;
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::pixels::Pixels;
use crate::support::share::share;
use crate::support::test_home::eval_value;
use crate::support::tool_home::ToolHome;

const WORK: &str = "<!doctype html><title>Work</title><style>body { margin: 0; padding: 60px 40px; height: 2000px } button, input, select { margin: 20px }
     #menu { width: 100px; height: 30px; background: #9cf } #box { width: 300px; height: 100px; overflow: auto }</style>
     <button onclick='did(\"clicked\")'>Press</button><input aria-label=Note oninput='did(\"typed \" + value)'>
     <select aria-label=Size onchange='did(\"chose \" + value)'><option value=s>Small<option value=l>Large</select>
     <div id=menu onmouseover='did(\"hovered\")'>Menu</div>
     <div id=box aria-label=List onscroll='did(\"scrolled\")'><div style='height:900px'>long</div></div><iframe src='@b/inner' height=80></iframe>
     <script>const done = []; let shade = 0; const did = what => {
        if (done.at(-1) !== what) done.push(what);
        // Each action has a colour of its own.
        document.body.style.background = `rgb(${240 - ++shade}, 250, 220)`;
     }</script>";
const INNER: &str = "<button onclick='this.textContent = \"Pressed\"'>Inner</button>";
const FRONT: &str = "<!doctype html><title>Front</title><button>Front</button><script>const seen = [];
     for (const type of ['visibilitychange', 'pagehide', 'freeze']) document.addEventListener(type, () => seen.push(type));
     addEventListener('blur', () => seen.push('blur')); addEventListener('mousemove', () => seen.push('mouse'));</script>";
const HIDDEN: &str =
    "document.hidden || new Promise(done => addEventListener('visibilitychange', () => done(document.hidden), true))";

#[test]
fn everything_works_in_a_background_tab_which_stays_there() {
    let Some(tooled) = ToolHome::new("") else { return };
    let site = &tooled.home.site;
    for (path, html) in [("/", WORK), ("/inner", INNER), ("/front", FRONT)] {
        site.page(path, html);
    }
    tooled.done("tab", json!({ "action": "init", "url": site.url("a", "/") }));
    tooled.done("tab", json!({ "action": "open", "url": site.url("a", "/front") }));
    let profile = tooled.home.main();
    let in_tab = |tab: &str, script: &str| eval_value(&profile, Some(tab), script);
    assert_eq!(in_tab("t1", HIDDEN), true);
    assert_eq!(in_tab("t2", "seen.length = 0; document.hidden"), false);
    tooled.done("tab", json!({ "action": "switch", "tab_id": "t1" }));

    let mut seen = String::new();
    let first = tooled.done("highlight", json!({}));
    for page in 1..=first["pages"].as_u64().unwrap() {
        seen += tooled.done("highlight", json!({ "page": page }))["observation"].as_str().unwrap();
    }
    let id = |part: &str| {
        let line = seen.lines().find(|line| line.contains("): <") && line.contains(part));
        line.unwrap_or_else(|| panic!("no {part:?} in {seen}")).split('(').next().unwrap().to_owned()
    };
    // The picture of an answer shows the colour that the page has after the action.
    let shows_now = |picture: &[u8], what: &str| {
        let colour = in_tab("t1", "(getComputedStyle(document.body).backgroundColor.match(/\\d+/g) || []).map(Number)");
        let [red, green, blue] = serde_json::from_value::<[u8; 4]>(colour.clone())
            .map(|[red, green, blue, _]| [red, green, blue])
            .or_else(|_| serde_json::from_value::<[u8; 3]>(colour.clone()))
            .unwrap();
        let colour = if (red, green, blue) == (0, 0, 0) { [255; 3] } else { [red, green, blue] };
        assert!(Pixels::decode(picture).count(colour) > 20_000, "{what}: {colour:?}");
    };
    let acts: [(&str, &str, Value, &str); 5] = [
        ("click", ">Press<", json!({}), "clicked"),
        ("keyboard_input", "aria-label=\"Note\"", json!({ "text": "hello" }), "typed hello"),
        ("select", "aria-label=\"Size\"", json!({ "value": "Large" }), "chose l"),
        ("hover", "id=\"menu\"", json!({}), "hovered"),
        ("scroll", "id=\"box\"", json!({ "scroll_amount": 0.5 }), "scrolled"),
    ];
    let last = ("click", ">Inner<", json!({}), "");
    for (action, part, more, did) in share(acts, 2).into_iter().chain([last]) {
        let mut call = json!({ "action": action, "element_id": id(part) });
        for (name, value) in more.as_object().unwrap() {
            call[name] = value.clone();
        }
        let (mut answer, mut picture) = tooled.pictured("element_interaction", call);
        shows_now(&picture, &format!("{action} {part}"));
        if answer.get("pending").is_some() {
            let confirm = json!({ "action": format!("confirm_{action}") });
            (answer, picture) = tooled.pictured("element_interaction", confirm);
            shows_now(&picture, &format!("confirmed {action} {part}"));
        }
        assert_eq!(answer["success"], true, "{answer}");
        if !did.is_empty() {
            assert_eq!(in_tab("t1", "done.at(-1)"), did, "{answer}");
        }
    }
    let (answer, picture) = tooled.pictured("tab", json!({ "action": "view" }));
    shows_now(&picture, &answer.to_string());
    let inner = tooled.done("highlight", json!({ "keywords": ["Pressed"] }));
    assert_eq!(inner["total"], 1, "the frame of another site was clicked: {inner}");
    tooled.done("element_interaction", json!({ "action": "scroll", "direction": "down" }));
    assert!(in_tab("t1", "scrollY").as_f64().unwrap() > 50.0);

    // The other tab was in front all the time, and is.
    assert_eq!(in_tab("t2", "[document.hidden, seen.join()]"), json!([false, ""]));
    let tab = profile.tab(Some("t1")).unwrap().tab;
    let (supervisor, top) = (tab.supervisor(), FrameRef::TopOf(tab.target().clone()));
    // Input needs an emulated focus, with which a page takes itself for visible. Without it, in every process:
    supervisor.call(&top, &StopScreencast::new(), soon()).unwrap();
    let inner =
        supervisor.view().frames_of(tab.target().as_str()).find(|frame| frame.is_oopif).unwrap().frame_id.clone();
    for frame in [&top, &FrameRef::Id(inner)] {
        supervisor.call(frame, &SetFocusEmulationEnabled::new(false), soon()).unwrap();
    }
    assert_eq!(in_tab("t1", HIDDEN), true);
}
