//! Refs for parts of widgets that have no role: visible, usable elements can be acted on.

use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::test_tab::{TestTab, ref_of, text};

const GOT: &str = "<script>window.got = []; const add = (id, type = 'click') => document.getElementById(id).addEventListener(type, (event) => got.push(event.target.id || event.target.textContent))</script>";
const ICON: &str = "<svg width=20 height=20><path d='M0 0h20v20z'/></svg>";

fn showing(name: &str, body: &str) -> Option<TestTab> {
    TestTab::showing(name, &format!("{GOT}{}", body.replace("@icon", ICON)))
}

fn click(page: &TestTab, reference: &str) {
    page.act(json!({ "kind": "click", "ref": reference })).unwrap();
}

/// The code of the error of an action that fails.
fn refused(page: &TestTab, act: Value) -> &'static str {
    page.tab.act(&serde_json::from_value(act).unwrap(), Deadline::after_secs(4)).unwrap_err().code()
}

/// The refs of all lines that contain a text.
fn refs(shown: &str, containing: &str) -> Vec<String> {
    let lines = shown.lines().filter(|line| line.contains(containing));
    lines.filter_map(|line| Some(line.split_once("[ref=")?.1.split_once(']')?.0.to_owned())).collect()
}

#[test]
fn a_clickable_presentational_element_has_a_ref() {
    let body = "<style>.fold { display: inline-block; width: 20px; height: 20px; background: #ccc; cursor: pointer }</style>
         <div role=tree><ul role=presentation><li role=none><i class=fold role=presentation id=twisty></i><a href='#a' role=treeitem>src</a></li>
         <li role=none><i role=presentation></i><a href='#b' role=treeitem>docs</a></li></ul></div>
         <p><span role=none id=own>Own</span> <span role=none>Plain</span></p><script>add('twisty'); add('own')</script>";
    let Some(page) = showing("widget-none", body) else { return };
    let seen = page.snapshot();
    let shown = text(&seen);
    let found = refs(shown, "- generic");
    assert_eq!(found.len(), 2, "{shown}");
    for reference in &found {
        click(&page, reference);
    }
    assert_eq!(page.value("got"), json!(["twisty", "own"]));
    assert!(!shown.contains("Plain [ref") && shown.contains("treeitem \"docs\""), "{shown}");
}

#[test]
fn an_option_below_an_item_without_a_role_is_an_option() {
    let body = "<span role=combobox tabindex=0 aria-owns=menu aria-expanded=true>Fruit</span>
         <ul role=listbox id=menu><li style='cursor:pointer'><div role=option tabindex=-1 id=apple>Apple</div></li>
         <li style='cursor:pointer'><div role=option tabindex=-1 id=pear>Pear</div></li></ul><script>add('pear')</script>";
    let Some(page) = showing("widget-option", body) else { return };
    let seen = page.snapshot();
    assert!(text(&seen).contains("option \"Apple\""), "{}", text(&seen));
    click(&page, &ref_of(&seen, "option \"Pear\""));
    assert_eq!(page.value("got"), json!(["pear"]));
}

#[test]
fn an_aria_hidden_but_visible_clickable_element_has_a_ref() {
    let body = "<style>.arrow { display: inline-block; padding: 4px } .arrow:hover { color: red } .still:hover + b { color: red }</style>
         <div><input aria-label=Fruit><span aria-hidden=true class=arrow id=arrow>@icon</span></div>
         <span aria-hidden=true id=close>x</span>
         <span aria-hidden=true><span style='cursor:pointer' id=inner>inner</span></span>
         <span aria-hidden=true class=still>decoration</span>
         <div style='overflow:hidden;width:50px;height:20px'><span aria-hidden=true id=cut style='display:block;margin-left:90px;width:20px'>cut</span></div>
         <a href='#one'>One</a> <a href='#one' aria-hidden=true style='cursor:pointer'>picture</a>
         <script>for (const id of ['close', 'cut', 'inner']) add(id); document.getElementById('arrow').onmousedown = () => 1; add('arrow')</script>";
    let Some(page) = showing("widget-unread", body) else { return };
    let seen = page.snapshot();
    let shown = text(&seen);
    let found = refs(shown, "- generic");
    assert_eq!(found.len(), 3, "{shown}");
    assert!(
        shown.contains("[cursor=pointer]: x") && !shown.contains("decoration") && !shown.contains("cut"),
        "{shown}"
    );
    for reference in &found[1..] {
        click(&page, reference);
    }
    assert_eq!(page.value("got"), json!(["close", "inner"]));
    click(&page, &found[0]);
    assert_eq!(page.value("got.length"), 3);
    // Alone, by a selector.
    let options = cdpilot::page::SnapshotOptions::new().selector("#arrow");
    assert_eq!(refs(text(&page.snapshot_with(options)), "- generic"), found[..1]);
}

#[test]
fn an_aria_hidden_element_with_a_pointer_cursor_has_a_ref() {
    let body = "<style>.arrow { display: inline-block; padding: 4px } .arrow:hover { color: red } .row:hover .part { color: red }</style>
         <div id=control><input aria-label=Fruit><span aria-hidden=true class=arrow id=arrow>@icon</span></div>
         <div class=row><span aria-hidden=true class=part>@icon</span></div>";
    let Some(page) = showing("widget-hover", body) else { return };
    assert_eq!(refs(text(&page.snapshot()), "- generic").len(), 1, "{}", text(&page.snapshot()));
}

#[test]
fn aria_hidden_content_behind_a_modal_is_omitted() {
    let body = "<main aria-hidden=true><button id=under>Under</button><div id=also style='width:90px'>Also</div></main>
         <div role=dialog aria-modal=true aria-label=Ask style='position:fixed;inset:0;background:#fff'><button>Yes</button></div>
         <script>add('also'); add('under')</script>";
    let Some(page) = showing("widget-behind", body) else { return };
    let shown = page.snapshot();
    assert!(text(&shown).contains("Yes") && !text(&shown).contains("Under"), "{}", text(&shown));
    assert!(!text(&shown).contains("Also"), "{}", text(&shown));
}

#[test]
fn items_of_a_menu_with_a_delegated_listener_have_refs() {
    let body =
        "<style>.item { width: 100px } @media (min-width: 1px) { .item:hover:not(.off) { background: #eee } }</style>
         <div id=menu><div><div class=item><i>@icon</i><div>Text</div></div><div class=item>Heading</div></div></div>
         <div class=item>Elsewhere</div><script>add('menu')</script>";
    let Some(page) = showing("widget-items", body) else { return };
    let seen = page.snapshot();
    let shown = text(&seen);
    click(&page, &ref_of(&seen, ": Heading"));
    assert_eq!(page.value("got"), json!(["Heading"]));
    assert!(!shown.lines().any(|line| line.contains("Elsewhere") && line.contains("ref=")), "{shown}");
}

#[test]
fn an_empty_drop_list_has_a_ref() {
    let body = "<style>.item { cursor: grab } .list { min-height: 40px; width: 200px; border: 1px solid }</style>
         <div class=list id=one><div class=item>One</div><div class=item>Two</div></div><div class=list id=two></div>
         <div class=list id=three>Target</div><div class=other style='height:20px'></div>";
    let Some(page) = showing("widget-places", body) else { return };
    page.value("for (const type of ['mousedown', 'mouseup']) document.documentElement.addEventListener(type, (event) => got.push(type + event.target.id)), 1");
    let seen = page.snapshot();
    let shown = text(&seen);
    let places: Vec<String> =
        shown.lines().filter(|line| line.contains("generic") && !line.contains("cursor")).map(str::to_owned).collect();
    assert!(places.len() == 2 && places[1].ends_with("]: Target"), "{shown}");
    let end = refs(&places[0], "ref").remove(0);
    page.act(json!({ "kind": "drag", "startRef": ref_of(&seen, ": Two"), "endRef": end })).unwrap();
    assert_eq!(page.value("got"), json!(["mousedown", "mouseuptwo"]));
}

#[test]
fn a_hidden_switch_is_clicked_through_its_visible_part() {
    let body = "<style>input { position: absolute; width: 0; height: 0; opacity: 0 } .core { display: inline-block; width: 40px; height: 20px; background: #ccc }</style>
         <div id=widget style='width:300px'><input type=checkbox role=switch aria-label=Notify id=box><span class=core id=core></span></div>
         <div id=other><input type=checkbox aria-label=Other><span class=core id=delete></span></div>
         <script>widget.addEventListener('click', (event) => { event.preventDefault(); got.push(event.target.id); setTimeout(() => box.checked = !box.checked) });
            document.getElementById('delete').addEventListener('click', () => got.push('deleted'))</script>";
    let Some(page) = showing("widget-switch", body) else { return };
    let seen = page.snapshot();
    click(&page, &ref_of(&seen, "switch \"Notify\""));
    assert_eq!(page.value("[got, box.checked]"), json!([["core"], true]));
    page.act(json!({ "kind": "uncheck", "ref": ref_of(&seen, "switch \"Notify\"") })).unwrap();
    assert_eq!(page.value("box.checked"), false);
    // What does something else is not clicked for it.
    let act = json!({ "kind": "click", "ref": ref_of(&seen, "checkbox \"Other\""), "timeoutMs": 500 });
    assert_eq!(refused(&page, act), "NOT_ACTIONABLE");
    assert_eq!(page.value("got"), json!(["core", "core"]));
}

#[test]
fn a_transparent_field_is_clicked_through_its_visible_part() {
    let widget = |name: &str, clear: &str, inside: &str| {
        format!(
            "<div id={name} style='position:relative;width:200px;height:30px'><div style='position:absolute;inset:0;{clear}'><input role=combobox readonly aria-label={name} style='width:200px;height:30px;border:0;padding:0'></div>
             <div style='position:absolute;inset:0;background:#fff'>{inside}</div></div><script>add('{name}')</script>"
        )
    };
    let inner = "<i id=x style='position:absolute;inset:0'>x</i>";
    let body =
        [widget("clear", "opacity:0", "Select"), widget("shown", "", "Select"), widget("busy", "opacity:0", inner)]
            .concat();
    let Some(page) = showing("widget-clear", &format!("{body}<script>add('x')</script>")) else { return };
    let seen = page.snapshot();
    click(&page, &ref_of(&seen, "combobox \"clear\""));
    assert_eq!(page.value("got"), json!(["Select"]));
    for name in ["shown", "busy"] {
        let act = json!({ "kind": "click", "ref": ref_of(&seen, &format!("combobox \"{name}\"")), "timeoutMs": 500 });
        assert_eq!(refused(&page, act), "NOT_ACTIONABLE", "{name}");
    }
    assert_eq!(page.value("got"), json!(["Select"]));
}

#[test]
fn custom_elements_have_the_computed_roles_and_states() {
    let body = "<x-radio tabindex=0 aria-label=Small></x-radio><x-radio tabindex=0 aria-label=Large id=large></x-radio><x-plain tabindex=0 aria-label=Plain></x-plain>
         <script>customElements.define('x-plain', class extends HTMLElement {});
         customElements.define('x-radio', class extends HTMLElement {
            constructor() {
                super();
                const internals = this.attachInternals();
                [internals.role, internals.ariaChecked] = ['radio', 'false'];
                this.attachShadow({ mode: 'open' }).innerHTML = '<span aria-hidden=true style=\"cursor:pointer\">( )</span>';
                this.onclick = () => { internals.ariaChecked = 'true'; got.push(this.id) };
            }
         })</script>";
    let Some(page) = showing("widget-internals", body) else { return };
    let seen = page.snapshot();
    let shown = text(&seen).to_owned();
    assert_eq!(refs(&shown, "radio \"").len(), 2, "{shown}");
    assert!(shown.contains("generic \"Plain\"") && !shown.contains("checked"), "{shown}");
    let large = ref_of(&seen, "radio \"Large\"");
    click(&page, &large);
    assert_eq!(page.value("got"), json!(["large"]));
    let seen = page.snapshot();
    assert_eq!(refs(text(&seen), "[checked]"), [large], "{}", text(&seen));
}

#[test]
fn a_field_that_loses_focus_during_fill_is_filled_again() {
    let body = "<div role=dialog tabindex=-1 id=box>Dialog <input id=field aria-label=Name><input id=next aria-label=Next></div>
         <script>field.addEventListener('keydown', () => box.focus(), { once: true }); next.addEventListener('keydown', () => field.focus())</script>";
    let Some(page) = showing("widget-focus", body) else { return };
    let fill = |name: &str| json!({ "kind": "fill", "fields": [{ "selector": name, "value": "Ada" }] });
    page.act(fill("#field")).unwrap();
    assert_eq!(page.value("field.value"), "Ada");
    // Another field takes nothing of it.
    page.value("field.value = '', 1");
    assert_eq!(refused(&page, fill("#next")), "NOT_ACTIONABLE");
    assert_eq!(page.value("[field.value, next.value]"), json!(["", ""]));
}
