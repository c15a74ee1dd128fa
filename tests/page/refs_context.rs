//! What belongs to the identity of a ref besides its node: role, name with its numbers, and the row, card or dialog of elements that
//! look alike.

use cdpilot::page::Error;
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::test_tab::{TestTab, ref_of, text};

/// Lists whose nodes are reused when their order changes, as frameworks do without keys.
const LISTS: &str = "<!doctype html><title>Lists</title>
    <table><thead><tr><th>Name<th>Action</thead><tbody id=rows></tbody></table>
    <section id=cards></section><ul id=items></ul><div id=invoices></div><div id=panes></div>
    <script>
        const done = [], names = ['Alpha', 'Beta', 'Gamma'];
        const act = (where, of) => done.push(where + ' ' + of());
        const make = (html, into) => { const t = document.createElement('template'); t.innerHTML = html; return into.appendChild(t.content.firstElementChild) };
        const lists = {
            row: names.map(() => make('<tr><td><time>10:15</time><td class=name><td><button>Delete</button></tr>', rows)),
            card: names.map(() => make('<div><div><img alt=\"\"><b class=name></b></div><div><span>Price</span><i>5</i></div><button>Add to cart</button></div>', cards)),
            item: names.map(() => make('<li><a href=\"#x\" class=name></a> <input type=checkbox aria-label=Done></li>', items)),
            invoice: names.map(() => make('<button class=name></button>', invoices)),
            pane: names.map(() => make('<div role=dialog><h2 class=name></h2><p>Sure?</p><button>OK</button></div>', panes)),
        };
        const draw = () => {
            for (const [kind, list] of Object.entries(lists)) list.forEach((element, at) => {
                const name = element.matches('.name') ? element : element.querySelector('.name');
                name.textContent = kind === 'invoice' ? 'Delete invoice ' + (1000 + names[at].charCodeAt(0)) : names[at];
                element.querySelectorAll('button, input').forEach(b => b.onclick = () => act(kind, () => name.textContent));
                if (kind === 'invoice') element.onclick = () => act(kind, () => name.textContent);
            });
        };
        const sort = () => { names.reverse(); draw() };
        const tick = () => document.querySelectorAll('time, i').forEach(e => e.textContent = Math.random().toFixed(9));
        draw();
    </script>";

fn click(page: &TestTab, reference: &str, force: bool) -> Result<(), Error> {
    page.act(json!({ "kind": "click", "ref": reference, "force": force })).map(|_| ())
}

#[test]
fn elements_that_look_alike_are_told_apart_by_their_row_card_or_dialog() {
    let Some(page) = TestTab::showing("refs-context", LISTS) else { return };
    for (locator, kind) in [
        ("role=button[name=\"Delete\"]", "row"),
        ("role=button[name=\"Add to cart\"]", "card"),
        ("role=checkbox[name=\"Done\"]", "item"),
        ("role=button[name=\"OK\"]", "pane"),
    ] {
        for by_snapshot in [true, false] {
            // The refs of a snapshot and those of a search have the same identity.
            if by_snapshot {
                page.snapshot();
            }
            let found = page.tab.find(locator, None, None, soon()).unwrap().matches;
            let reference = &found[0].reference;
            page.value("done.length = 0");
            // What changes beside the name, and the same order drawn anew, do not matter.
            page.value("tick(), sort(), sort()");
            click(&page, reference, false).unwrap_or_else(|error| panic!("{kind}: {error}"));
            assert_eq!(page.value("done.join()"), format!("{kind} Alpha"), "{kind}");
            page.value("sort()");
            match click(&page, reference, false) {
                Err(error @ Error::RefChanged { .. }) => {
                    let message = error.to_string();
                    assert!(message.contains("Alpha") && message.contains("Gamma"), "{message}");
                    let details = error.details().unwrap();
                    assert_eq!(
                        (&details["was"]["context"], &details["now"]["context"]),
                        (&json!("Alpha"), &json!("Gamma"))
                    );
                }
                other => panic!("{kind}: {other:?}, {}", page.value("done.join()")),
            }
            assert_eq!(page.value("done.length"), 1, "{kind}");
            click(&page, reference, true).unwrap();
            assert_eq!(page.value("done.join()"), format!("{kind} Alpha,{kind} Gamma"));
            page.value("sort()");
            click(&page, reference, false).unwrap();
        }
    }
}

#[test]
fn numbers_belong_to_a_name_and_counters_in_brackets_do_not() {
    let Some(page) = TestTab::showing("refs-digits", LISTS) else { return };
    let seen = page.snapshot();
    let invoice = ref_of(&seen, "Delete invoice 1065");
    page.value("sort()");
    let changed = click(&page, &invoice, false).unwrap_err();
    assert!(matches!(changed, Error::RefChanged { .. }), "{changed}");
    assert_eq!(page.value("done.length"), 0);
    for (before, after, is_same) in [
        ("Inbox (3)", "Inbox (12)", true),
        ("Likes [9] of Ada", "Likes [10] of Ada", true),
        ("Pay 10 €", "Pay 100 €", false),
        ("Room 2", "Room 3", false),
        ("Page 1 of 9", "Page 2 of 9", false),
        ("Pay (10 €)", "Pay (99 €)", false),
    ] {
        page.value(&format!("invoices.innerHTML = '<button>{before}</button>', 1"));
        let reference = ref_of(&page.snapshot(), before);
        page.value(&format!("invoices.firstChild.firstChild.data = '{after}', 1"));
        let clicked = click(&page, &reference, false);
        assert_eq!(clicked.is_ok(), is_same, "{before} to {after}: {clicked:?}");
    }
}

#[test]
fn rows_in_shadow_roots_and_frames_have_a_context_too() {
    let Some(page) = TestTab::new("refs-context-shadow") else { return };
    let rows = "<script>
        const names = ['Alpha', 'Beta'];
        const hosts = names.map(() => document.body.appendChild(document.createElement('x-row')));
        hosts.forEach(host => host.attachShadow({ mode: 'open' }).innerHTML = '<p><b></b></p><button>Delete</button>');
        const draw = () => hosts.forEach((host, at) => host.shadowRoot.querySelector('b').textContent = names[at]);
        draw();
        addEventListener('message', () => { names.reverse(); draw() });
    </script>";
    page.site.page("/inner", &format!("<!doctype html><title>Inner</title><body>{rows}"));
    let inner = page.site.url("b", "/inner");
    page.site.page("/", &format!("<!doctype html><title>Outer</title><body><iframe src=\"{inner}\"></iframe>{rows}"));
    page.go("/");
    let seen = page.snapshot();
    let buttons: Vec<String> =
        seen.refs.iter().filter(|(_, info)| info.name == "Delete").map(|(reference, _)| reference.clone()).collect();
    assert_eq!(buttons.len(), 4, "{}", text(&seen));
    for reference in &buttons {
        click(&page, reference, false).unwrap();
    }
    page.value("postMessage(0, '*'), frames[0].postMessage(0, '*'), new Promise(done => setTimeout(() => done(1), 0))");
    page.act(json!({ "kind": "wait", "fn": "hosts[0].shadowRoot.querySelector('b').textContent === 'Beta'" })).unwrap();
    let frame = seen.refs.iter().find_map(|(_, info)| info.frame_id.clone()).unwrap();
    let there = "hosts[0].shadowRoot.querySelector('b').textContent === 'Beta'";
    page.act(json!({ "kind": "wait", "fn": there, "frameId": frame })).unwrap();
    for reference in &buttons {
        let changed = click(&page, reference, false).unwrap_err();
        assert!(matches!(changed, Error::RefChanged { .. }), "{changed}");
    }
}

#[test]
fn what_a_preview_showed_is_bound_to_its_row() {
    let Some(page) = TestTab::showing("refs-preview", LISTS) else { return };
    let look = page.look();
    let element = look.elements.iter().find(|element| element.shown.name == "Delete").unwrap();
    let preview = page.tab.preview(&element.id, (&element.node, &element.shown), "Delete?", soon()).unwrap();
    page.tab.still_bound(&element.id, &preview.bound, soon()).unwrap();
    page.value("sort()");
    let error = page.tab.still_bound(&element.id, &preview.bound, soon()).unwrap_err();
    assert!(matches!(error, Error::RefChanged { .. }), "{error}");
    // The id of the visual tools leads to the same node, which is another row now.
    let again = page.tab.preview(&element.id, (&element.node, &element.shown), "Delete?", soon()).unwrap_err();
    assert!(matches!(again, Error::RefChanged { .. }), "{again}");
}
