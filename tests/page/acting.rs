//! Actions on the building blocks of widgets: the press reaches the shown element, whatever surrounds it.

use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::share::share;
use crate::support::test_tab::{TestTab, ref_of, text};

/// A list that the page writes what happens into.
const GOT: &str = "<script>window.got = []</script>";

fn click(page: &TestTab, reference: &str) {
    page.act(json!({ "kind": "click", "ref": reference })).unwrap();
}

fn refused(page: &TestTab, act: Value) -> String {
    let act = serde_json::from_value(act).unwrap();
    let error = page.tab.act(&act, Deadline::after_secs(4)).unwrap_err();
    assert_eq!(error.code(), "NOT_ACTIONABLE", "{error}");
    error.to_string()
}

#[test]
fn an_element_that_appears_under_the_mouse_is_not_clicked() {
    let Some(page) = TestTab::showing(
        "press-moves",
        "<script>window.got = []</script>
         <button id=a style='display:none;width:300px' onclick='got.push(\"wrong\")'>Delete</button>
         <button id=b style='width:300px' onclick='got.push(\"right\")' ondblclick='got.push(\"twice\")'>Cancel</button>
         <script>
            for (const type of ['pointerdown', 'mousedown', 'mouseup', 'focus']) a.addEventListener(type, () => got.push(type));
            b.onmouseenter = () => { a.style.display = 'block' };
         </script>",
    ) else {
        return;
    };
    let cancel = ref_of(&page.snapshot(), "Cancel");
    // The page does not hear of the first press, and the button is followed to where it is then.
    click(&page, &cancel);
    assert_eq!(page.value("got"), json!(["right"]));
    page.go("/");
    let cancel = ref_of(&page.snapshot(), "Cancel");
    page.act(json!({ "kind": "click", "ref": cancel, "double": true })).unwrap();
    assert_eq!(page.value("got"), json!(["right", "right", "twice"]));
}

#[test]
fn a_second_press_that_hits_another_element_is_reported() {
    let Some(page) = TestTab::showing(
        "press-twice",
        "<script>window.got = []</script>
         <button id=a style='display:none;width:300px' onclick='got.push(\"wrong\")'>Delete</button>
         <button id=b style='width:300px' onclick='got.push(\"first\"); a.style.display = \"block\"'>Open</button>",
    ) else {
        return;
    };
    let text = refused(&page, json!({ "kind": "click", "selector": "#b", "double": true }));
    assert!(text.contains("the first press reached it") && text.contains("Delete"), "{text}");
    assert_eq!(page.value("got"), json!(["first"]));
}

#[test]
fn an_overlay_that_appears_over_a_frame_gets_no_press() {
    for host in share(["a", "b"], 1) {
        let Some(page) = TestTab::new("press-frame") else { return };
        page.put(
            "/in",
            "<button id=b style='width:200px;height:80px' onclick='parent.postMessage(\"in\", \"*\")'>Go</button>",
        );
        page.put(
            "/",
            &format!(
                "<script>window.got = []; onmessage = event => got.push(event.data)</script>
                 <div id=cover style='display:none;position:absolute;inset:0;background:red;z-index:9' onclick='got.push(\"cover\")'></div>
                 <iframe src='@{host}/in'></iframe>
                 <script>
                    document.querySelector('iframe').onmouseenter = () => {{ cover.style.display = 'block' }};
                    cover.onpointerdown = () => got.push('down');
                 </script>"
            ),
        );
        page.go("/");
        let button = ref_of(&page.snapshot(), "\"Go\"");
        let act = serde_json::from_value(json!({ "kind": "click", "ref": button })).unwrap();
        let got = match page.tab.act(&act, Deadline::after_secs(4)) {
            // The press came into the frame before the cover was there.
            Ok(_) => json!(["in"]),
            Err(error) => {
                assert!(error.to_string().contains("cover"), "{error}");
                json!([])
            }
        };
        assert_eq!(page.value("got"), got, "{host}");
    }
}

#[test]
fn a_drag_starts_at_the_shown_element() {
    let Some(page) = TestTab::showing(
        "press-drag",
        "<script>window.got = []</script>
         <div id=a style='display:none;width:200px;height:50px' onpointerdown='got.push(\"wrong\")'>Other</div>
         <div id=b style='width:200px;height:50px' onpointerdown='got.push(\"right\")'>This</div>
         <div id=c style='margin-top:100px'>There</div>
         <script>b.onmouseenter = () => { a.style.display = 'block' }</script>",
    ) else {
        return;
    };
    let text = refused(&page, json!({ "kind": "drag", "startSelector": "#b", "endSelector": "#c" }));
    assert!(text.contains("Other") || text.contains("#a"), "{text}");
    assert_eq!(page.value("got"), json!([]));
}

#[test]
fn a_drag_that_does_not_start_is_an_error() {
    let Some(page) = TestTab::showing(
        "drag-none",
        &format!(
            "{GOT}<style>div {{ width: 100px; height: 50px }}</style>
             <div id=a draggable=true>A</div><div id=b ondragover='event.preventDefault()' ondrop='got.push(\"drop\")'>B</div>
             <div id=own draggable=true onmousedown='event.preventDefault()' onmousemove='got.push(\"own\")'>C</div>"
        ),
    ) else {
        return;
    };
    let drag = |from: &str| json!({ "kind": "drag", "startSelector": from, "endSelector": "#b" });
    page.act(drag("#a")).unwrap();
    assert_eq!(page.value("got"), json!(["drop"]));
    // One that the page does itself.
    page.act(drag("#own")).unwrap();
    page.value("a.style.webkitUserDrag = 'none', 1");
    let text = refused(&page, drag("#a"));
    assert!(text.contains("no drag began"), "{text}");
}

#[test]
fn the_target_of_a_drag_is_scrolled_into_view() {
    let Some(page) = TestTab::new("drag-far") else { return };
    for (gap, scrolls) in [(150, false), (1500, true)] {
        page.put(
            "/",
            &format!(
                "{GOT}<div style='height:900px'></div><div id=a draggable=true style='width:80px;height:40px'>A</div>
                 <div style='height:{gap}px'></div>
                 <div id=b ondragover='event.preventDefault()' ondrop='got.push(scrollY)' style='width:80px;height:40px'>B</div>
                 <div style='height:2000px'></div><script>addEventListener('pointerdown', () => got.push(scrollY), true)</script>"
            ),
        );
        page.go("/");
        page.act(json!({ "kind": "drag", "startSelector": "#a", "endSelector": "#b" })).unwrap();
        let got = page.value("got");
        // Where both fit into the viewport nothing scrolls while the button is down.
        assert!(got.as_array().unwrap().len() == 2 && (got[0] != got[1]) == scrolls, "{gap}: {got}");
    }
}

#[test]
fn slotted_text_belongs_to_the_element_around_the_slot() {
    let body = |mode: &str| {
        format!(
            "{GOT}<x-b>Send</x-b><script>customElements.define('x-b', class extends HTMLElement {{
                constructor() {{
                    super();
                    const root = this.attachShadow({{ mode: '{mode}' }});
                    root.innerHTML = '<button><span><slot></slot></span></button>';
                    root.firstChild.onclick = () => got.push('sent');
                }}
            }})</script>"
        )
    };
    for mode in ["open", "closed"] {
        let Some(page) = TestTab::showing("slotted", &body(mode)) else { return };
        click(&page, &ref_of(&page.snapshot(), "button \"Send\""));
        assert_eq!(page.value("got"), json!(["sent"]), "{mode}");
    }
}

#[test]
fn elements_with_click_listeners_have_refs() {
    let tags =
        ["li", "p", "article", "section", "strong", "em", "figure", "time", "mark", "code", "dd", "span", "div", "td"];
    let wrapped = |tag: &str, attributes: &str| match tag {
        "td" => format!("<table><tr><td {attributes}>{tag}</td></tr></table>"),
        "li" => format!("<ul><li {attributes}>{tag}</li></ul>"),
        "dd" => format!("<dl><dt>t</dt><dd {attributes}>{tag}</dd></dl>"),
        tag => format!("<{tag} {attributes}>{tag}</{tag}>"),
    };
    let Some(page) = TestTab::new("clickable") else { return };
    for how in share(["listener", "onclick", "tabindex", "pointer"], 1) {
        let attributes = |tag: &str| match how {
            "onclick" => format!("class=x onclick=\"got.push('{tag}')\""),
            "tabindex" => "class=x tabindex=0".to_owned(),
            "pointer" => "class=x style='cursor:pointer'".to_owned(),
            _ => "class=x".to_owned(),
        };
        let body: String = tags.iter().map(|tag| wrapped(tag, &attributes(tag))).collect();
        page.put(
            "/",
            &format!(
                "{GOT}{body}<svg class=x width=20 height=20><rect width=20 height=20></rect></svg>
                 <img class=x alt='' width=20 height=20 src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>\">
                 <p>plain</p><script>
                    for (const one of document.querySelectorAll('.x')) {{
                        if ('{how}' === 'listener') one.addEventListener('click', () => got.push(one.localName));
                        if (one.localName !== 'svg' && one.localName !== 'img') continue;
                        if ('{how}' === 'onclick') one.setAttribute('onclick', 'got.push(this.localName)');
                        if ('{how}' === 'tabindex') one.setAttribute('tabindex', '0');
                        if ('{how}' === 'pointer') one.style.cursor = 'pointer';
                    }}
                 </script>"
            ),
        );
        page.go("/");
        let seen = page.snapshot();
        let shown = text(&seen);
        let count = shown.matches("[cursor=pointer]").count();
        assert_eq!(count, tags.len() + 2, "{how}:\n{shown}");
        assert!(!shown.lines().any(|line| line.contains("plain") && line.contains("ref=")), "{shown}");
        if how == "listener" || how == "onclick" {
            for line in shown.lines().filter(|line| line.contains("[cursor=pointer]")) {
                let reference = line.split("[ref=").nth(1).unwrap().split(']').next().unwrap();
                click(&page, reference);
            }
            let mut expected: Vec<&str> = tags.to_vec();
            expected.extend(["svg", "img"]);
            assert_eq!(page.value("got"), json!(expected), "{how}");
        }
    }
}

#[test]
fn click_listeners_are_tracked_across_changes() {
    let Some(page) = TestTab::showing("listeners", "<ul><li id=a>One</li></ul><p>last</p>") else { return };
    assert!(!text(&page.snapshot()).contains("cursor"));
    page.value("window.on = () => 1, a.addEventListener('click', on), 1");
    assert!(text(&page.snapshot()).contains("listitem [ref=e1] [cursor=pointer]: One"), "{}", text(&page.snapshot()));
    page.value("a.removeEventListener('click', on), 1");
    assert!(!text(&page.snapshot()).contains("cursor"));
    // Frameworks listen to everything on the element that holds an application.
    page.value("for (const type of ['click','mousedown','mouseup','keydown','keyup','input','change','focusin','focusout','pointerdown','pointerup','wheel','drop']) document.querySelector('ul').addEventListener(type, on)");
    assert!(!text(&page.snapshot()).contains("cursor"));
}

#[test]
fn hidden_inputs_are_clicked_through_their_labels() {
    let Some(page) = TestTab::showing(
        "stand-ins",
        "<style>.hide { position: absolute; opacity: 0; width: 0; height: 0 } .box { display: inline-block; width: 16px; height: 16px; background: #ccc }</style>
         <label><input type=checkbox class=hide id=terms><span class=box></span>Terms</label>
         <input id=news type=checkbox style='display:none'><label for=news>News</label>
         <input id=file type=file style='display:none'><label for=file>Photo</label>
         <span><input id=lone type=checkbox style='display:none' aria-label=Lone><i class=box id=paint></i></span>",
    ) else {
        return;
    };
    let seen = page.snapshot();
    click(&page, &ref_of(&seen, "checkbox \"Terms\""));
    click(&page, &ref_of(&seen, "News"));
    assert_eq!(page.value("[terms.checked, news.checked]"), json!([true, true]));
    page.act(json!({ "kind": "uncheck", "selector": "#news" })).unwrap();
    assert_eq!(page.value("news.checked"), false);
    assert!(text(&seen).lines().any(|line| line.contains("Photo") && line.contains("ref=")), "{}", text(&seen));
    // A hidden field is not clicked through its container.
    page.value(
        "document.body.insertAdjacentHTML('beforeend', '<div><input id=gone style=\"display:none\"> form</div>'), 1",
    );
    assert!(refused(&page, json!({ "kind": "click", "selector": "#gone" })).contains("display: none"));
    let text = refused(&page, json!({ "kind": "click", "selector": "#lone" }));
    assert!(text.contains("i#paint"), "{text}");
}

#[test]
fn image_map_areas_are_clicked_inside_their_shape() {
    let Some(page) = TestTab::showing(
        "areas",
        "<img usemap=#m width=200 height=100 alt=Plan src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>\">
         <map name=m><area shape=poly coords='0,0,100,0,100,20,20,20,20,100,0,100' href='#hall' alt=Hall>
         <area shape=circle coords='150,50,30' href='#round' alt=Round></map>",
    ) else {
        return;
    };
    let seen = page.snapshot();
    assert_eq!(text(&seen).matches("link \"Hall\"").count(), 1, "{}", text(&seen));
    for (name, hash) in [("Hall", "#hall"), ("Round", "#round")] {
        click(&page, &ref_of(&seen, name));
        assert_eq!(page.value("location.hash"), hash);
    }
}

#[test]
fn a_snapping_carousel_stays_in_place_for_a_click() {
    let panel = |n: u32| {
        format!(
            "<div style='flex:0 0 400px;scroll-snap-align:start'>{n}<button onclick='got.push({n})'>Buy {n}</button></div>"
        )
    };
    let panels: String = (1..=5).map(panel).collect();
    let body = format!(
        "{GOT}<div style='display:flex;overflow-x:auto;scroll-snap-type:x mandatory;width:400px;scroll-behavior:smooth'>{panels}</div>"
    );
    let Some(page) = TestTab::showing("carousel", &body) else { return };
    let seen = page.snapshot();
    for n in [4, 1, 5, 2] {
        click(&page, &ref_of(&seen, &format!("Buy {n}")));
    }
    assert_eq!(page.value("got"), json!([4, 1, 5, 2]));
}

#[test]
fn another_point_is_clicked_when_the_middle_is_covered() {
    let Some(page) = TestTab::showing(
        "points",
        &format!(
            "{GOT}<button id=b style='position:absolute;left:10px;top:10px;width:300px;height:100px' onclick='got.push(1)'>Go</button>
             <div style='position:absolute;left:100px;top:30px;width:120px;height:60px;background:red'>Over</div>"
        ),
    ) else {
        return;
    };
    page.click("#b");
    assert_eq!(page.value("got"), json!([1]));
}

#[test]
fn fill_keeps_the_focus_in_the_field() {
    let Some(page) = TestTab::showing(
        "fill-focus",
        &format!(
            "{GOT}<form onsubmit='got.push(`submit ${{q.value}}`); return false'><input id=first><input id=q><button hidden>Go</button></form>
             <ul id=list hidden><li onmousedown='got.push(\"chosen\")'>Map of Rome</li></ul>
             <script>q.oninput = () => {{ list.hidden = false }}; q.onblur = () => {{ list.hidden = true }}</script>"
        ),
    ) else {
        return;
    };
    let fields = json!([{ "selector": "#first", "value": "a" }, { "selector": "#q", "value": "maps" }]);
    page.act(json!({ "kind": "fill", "fields": fields })).unwrap();
    assert_eq!(page.value("document.activeElement.id"), "q");
    click(&page, &ref_of(&page.snapshot(), "Map of Rome"));
    page.value("q.focus(), 1");
    page.act(json!({ "kind": "press", "key": "Enter" })).unwrap();
    assert_eq!(page.value("got"), json!(["chosen", "submit maps"]));
}

#[test]
fn fill_submits_from_the_last_text_field() {
    let Some(page) = TestTab::showing(
        "fill-submit",
        &format!(
            "{GOT}<form onsubmit='got.push(`${{q.value}} ${{s.value}} ${{c.checked}}`); return false'><input id=q>
             <select id=s><option>a<option>b</select><input type=checkbox id=c><button hidden>Go</button></form>"
        ),
    ) else {
        return;
    };
    let fields = json!([
        { "selector": "#q", "value": "maps" }, { "selector": "#s", "value": "b" }, { "selector": "#c", "value": true },
    ]);
    page.act(json!({ "kind": "fill", "fields": fields, "submit": true })).unwrap();
    assert_eq!(page.value("got"), json!(["maps b true"]));
}

#[test]
fn select_waits_for_its_options() {
    let Some(page) = TestTab::showing(
        "select-late",
        "<select id=s><option>Loading</option></select><script>
            s.onfocus = () => 0;
            window.fill = () => { s.innerHTML = '<option>One<option>Two' };
            let frames = 0;
            (function later() { if (++frames < 10) requestAnimationFrame(later); else fill() })();
        </script>",
    ) else {
        return;
    };
    page.act(json!({ "kind": "select", "selector": "#s", "values": ["Two"] })).unwrap();
    assert_eq!(page.value("s.value"), "Two");
}

#[test]
fn an_editable_frame_is_a_textbox() {
    let kinds = ["<body contenteditable id=e>Rich", "<body id=e>Rich<script>document.designMode = 'on'</script>"];
    for body in share(kinds, 1) {
        let Some(page) = TestTab::new("editor-frame") else { return };
        page.put("/in", body);
        page.put("/", "<iframe src='@a/in'></iframe>");
        page.go("/");
        let seen = page.snapshot();
        let reference = ref_of(&seen, "textbox");
        page.act(json!({ "kind": "fill", "fields": [{ "ref": reference, "value": "Better" }] })).unwrap();
        page.act(json!({ "kind": "press", "key": "Control+a" })).unwrap();
        page.act(json!({ "kind": "type", "text": "Best" })).unwrap();
        assert_eq!(page.value("frames[0].document.body.innerText.trim()"), "Best", "{body}");
    }
}

#[test]
fn controls_with_aria_roles_and_items_of_listening_lists_have_refs() {
    let Some(page) = TestTab::showing(
        "authored",
        &format!(
            "{GOT}<ul role=listbox tabindex=0><li><div role=option tabindex=-1 onclick='got.push(1)'>Apple</div></li></ul>
             <ul id=list><li>One</li><li>Two</li></ul><ul><li style='cursor:grab'>Grab</li></ul>
             <div ondragover='0' ondrop='0'>Bin</div><ul><li>Plain</li></ul>
             <script>list.addEventListener('mousedown', event => got.push(event.target.textContent))</script>"
        ),
    ) else {
        return;
    };
    let seen = page.snapshot();
    click(&page, &ref_of(&seen, "Apple"));
    click(&page, &ref_of(&seen, "Two"));
    assert_eq!(page.value("got"), json!([1, "Two"]));
    let has_ref = |part: &str| text(&seen).lines().any(|line| line.contains(part) && line.contains("[ref="));
    assert!(has_ref("Grab") && has_ref("Bin") && !has_ref("Plain"), "{}", text(&seen));
}

#[test]
fn clipped_inputs_and_editors_without_size_can_be_used() {
    let Some(page) = TestTab::showing(
        "clipped",
        "<style>.check { position: absolute; clip: rect(0,0,0,0); pointer-events: none } .btn { padding: 5px; cursor: pointer }</style>
         <input type=radio class=check name=r id=r1 checked><label class=btn for=r1>Left</label>
         <input type=radio class=check name=r id=r2><label class=btn for=r2>Right</label>
         <div id=mon style='position:relative;height:60px'><div style='position:absolute;inset:0'>let a</div>
         <textarea id=ta aria-label=Editor style='position:absolute;width:0;height:0;padding:0;border:0;opacity:0'></textarea></div>
         <script>mon.addEventListener('mousedown', event => { event.preventDefault(); ta.focus() })</script>",
    ) else {
        return;
    };
    let seen = page.snapshot();
    // The labels say nothing that the radio buttons do not.
    assert!(!text(&seen).contains("label"), "{}", text(&seen));
    click(&page, &ref_of(&seen, "radio \"Right\""));
    page.act(json!({ "kind": "type", "ref": ref_of(&seen, "Editor"), "text": "one" })).unwrap();
    page.value("document.activeElement.blur(), 1");
    click(&page, &ref_of(&seen, "Editor"));
    page.act(json!({ "kind": "press", "key": "x" })).unwrap();
    assert_eq!(page.value("[r2.checked, ta.value]"), json!([true, "onex"]));
}

#[test]
fn an_editor_with_its_own_input_handling_can_be_typed_into() {
    let Some(page) = TestTab::showing(
        "edit-context",
        "<div id=view style='height:40px;border:1px solid'></div>
         <div id=e tabindex=0 role=textbox aria-label=Code aria-multiline=true style='position:absolute;width:0;height:0'></div>
         <script>
            const context = e.editContext = new EditContext();
            context.addEventListener('textupdate', event => { view.textContent = context.text });
            e.addEventListener('keydown', event => { if (event.key === 'Enter') window.entered = context.text });
         </script>",
    ) else {
        return;
    };
    let code = ref_of(&page.snapshot(), "Code");
    page.act(json!({ "kind": "type", "ref": code, "text": "let a", "append": true })).unwrap();
    page.act(json!({ "kind": "press", "ref": code, "key": "Enter" })).unwrap();
    assert_eq!(page.value("[view.textContent, entered]"), json!(["let a", "let a"]));
}

#[test]
fn selecting_an_option_keeps_the_popup_open() {
    let Some(page) = TestTab::showing(
        "select-popup",
        &format!(
            "{GOT}<input id=f onblur='p.remove()'><div id=p onmousedown='event.preventDefault()'>
             <select id=s onchange='got.push(this.value)'><option>a<option>b</select></div>"
        ),
    ) else {
        return;
    };
    page.act(json!({ "kind": "focus", "selector": "#f" })).unwrap();
    page.act(json!({ "kind": "select", "selector": "#s", "values": ["b"] })).unwrap();
    assert_eq!(page.value("[got, document.contains(s)]"), json!([["b"], true]));
}

#[test]
fn a_hover_reaches_the_shown_element() {
    let Some(page) = TestTab::showing(
        "hover-moves",
        &format!(
            "{GOT}<div id=a style='display:none;position:absolute;left:0;top:0;width:300px;height:60px;background:red'>Over</div>
             <button id=b style='position:absolute;left:0;top:0;width:300px;height:60px' onmouseover='got.push(\"over\"); a.style.display = \"block\"'>Menu</button>"
        ),
    ) else {
        return;
    };
    // It reaches the button before the page covers it.
    page.act(json!({ "kind": "hover", "selector": "#b" })).unwrap();
    assert_eq!(page.value("got"), json!(["over"]));
}

#[test]
fn focus_moves_to_the_element_itself_or_says_why_not() {
    let Some(page) = TestTab::showing(
        "focus",
        "<input id=i aria-label=First><p id=p>Plain</p><button id=c onclick='window.clicked = 1'>On</button>
         <div id=d>Box <input id=k aria-label=Inner></div><div id=t tabindex=0>Tab <input id=q></div>
         <div id=g tabindex=-1 onfocus='h.focus()'><input id=h></div><input id=r onfocus='i.focus()'><button id=b disabled>Off</button>
         <x-host id=s></x-host>
         <script>
            const root = s.attachShadow({ mode: 'open', delegatesFocus: true });
            root.innerHTML = '<input aria-label=Deep>';
         </script>",
    ) else {
        return;
    };
    let focus = |id: &str| json!({ "kind": "focus", "selector": format!("#{id}") });
    let focused = || page.value("document.activeElement.id");
    let fails = |id: &str, reason: &str| {
        let error = refused(&page, focus(id));
        assert!(error.contains(reason), "{id}: {error}");
    };
    fails("p", "it cannot be focused");
    assert_eq!(focused(), "");
    for id in ["i", "c", "k", "q", "t", "s"] {
        page.act(focus(id)).unwrap();
        assert_eq!(focused(), id);
    }
    // A group that passes the focus on to one of its fields.
    page.act(focus("g")).unwrap();
    assert_eq!(focused(), "h");
    let button = ref_of(&page.snapshot(), "On");
    page.act(json!({ "kind": "focus", "ref": button })).unwrap();
    assert_eq!(page.value("[document.activeElement.id, window.clicked ?? null]"), json!(["c", null]));
    fails("r", "the focus moved to textbox \"First\"");
    page.act(focus("k")).unwrap();
    // What has the focus already is not where the focus moved to, and not the element around it.
    for id in ["p", "d"] {
        fails(id, "it does not take the focus, which stays on textbox \"Inner\"");
    }
    fails("b", "it is disabled");
    assert_eq!(focused(), "k");
}
