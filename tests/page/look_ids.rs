//! Ids of elements: they stay with their element while the document does, and are the same after a reload.

use std::collections::BTreeSet;

use cdpilot::page::{Look, LookOptions, VisibleElement};

use crate::support::chrome::soon;
use crate::support::share::{rounds, share};
use crate::support::test_tab::TestTab;

fn look(page: &TestTab) -> Look {
    page.tab.look_at(&LookOptions::new(), soon()).unwrap()
}

/// Ids and names of all elements.
fn ids(look: &Look) -> Vec<(&str, &str)> {
    look.all.iter().map(|element| (&*element.id, &*element.shown.name)).collect()
}

fn id_of<'a>(look: &'a Look, part: &str) -> &'a str {
    let found: Vec<&VisibleElement> = look.all.iter().filter(|element| element.html.contains(part)).collect();
    assert_eq!(found.len(), 1, "{part}: {:?}", ids(look));
    &found[0].id
}

const LIST: &str = "<!doctype html><title>List</title><ul>\
    <li><button title=alice>Remove</button></li><li><button title=bob>Remove</button></li><li><button title=carol>Remove</button></li></ul>\
    <ul id=keyed><li data-id=x1><button title=dora>Remove</button></li><li data-id=x2><button title=emil>Remove</button></li></ul>";

#[test]
fn ids_stay_when_the_mouse_is_over_elements_and_counters_change() {
    let Some(page) = TestTab::showing(
        "ids-hover",
        "<!doctype html><style>.on { background: #ffc } a, button { margin: 8px }</style>
         <nav><a class=item href='/a'>Inbox <b>(3)</b></a><a class=item href='/b'>Sent</a></nav><button class=item>Likes 12</button>
         <div class=item tabindex=0>Card</div><input class=item placeholder=Find>
         <script>for (const one of document.querySelectorAll('.item')) {
            one.addEventListener('mouseover', () => { one.classList.add('on', 'css-' + Math.random().toString(36).slice(2)); one.dataset.state = 'hovered'; });
            one.addEventListener('mouseout', () => one.classList.remove('on'));
         }</script>",
    ) else {
        return;
    };
    let first = look(&page);
    assert_eq!(first.all.len(), 5, "{:?}", ids(&first));
    let only = |look: &Look| look.all.iter().map(|element| element.id.clone()).collect::<Vec<_>>();
    for element in share(&first.all, 2) {
        page.act(serde_json::json!({ "kind": "hover", "ref": element.reference })).unwrap();
        let now = look(&page);
        assert_eq!(only(&now), only(&first));
        assert!(now.all.iter().any(|one| one.html.contains("hovered") && one.id == element.id), "{:?}", now.all);
    }
    page.eval(
        "document.querySelector('b').textContent = '(4)'; document.querySelector('button').textContent = 'Likes 13';
         document.querySelector('.item[tabindex]').textContent = 'Card, opened'",
    );
    let now = look(&page);
    assert_eq!(only(&now), only(&first));
    assert!(ids(&now).iter().any(|(_, name)| *name == "Likes 13"), "{:?}", ids(&now));
    for _ in 0..rounds("CDPILOT_TEST_ROUNDS", 1, 3) {
        page.go("/");
        assert_eq!(only(&look(&page)), only(&first));
    }
}

#[test]
fn ids_stay_with_their_elements_when_others_are_inserted_before() {
    let Some(page) = TestTab::showing("ids-inserted", LIST) else { return };
    let first = look(&page);
    let people = ["alice", "bob", "carol", "dora", "emil"];
    let before: Vec<String> = people.iter().map(|who| id_of(&first, who).to_owned()).collect();
    assert_eq!(before.iter().collect::<BTreeSet<_>>().len(), people.len());
    page.eval(
        "for (const list of document.querySelectorAll('ul')) {
            const row = document.createElement('li');
            row.innerHTML = `<button title=new-${list.id}>Remove</button>`;
            list.prepend(row);
         }",
    );
    let inserted = look(&page);
    for (who, id) in people.iter().zip(&before) {
        assert_eq!(id_of(&inserted, who), id, "{who}: {:?}", ids(&inserted));
    }
    let new = ["new- ", "new-keyed"].map(|part| {
        let part = part.trim_end();
        let found = inserted.all.iter().find(|one| one.html.contains(&format!("\"{part}\"")));
        found.unwrap_or_else(|| panic!("{part}: {:?}", inserted.all)).id.clone()
    });
    let all: BTreeSet<&str> = inserted.all.iter().map(|one| &*one.id).collect();
    assert_eq!(all.len(), inserted.all.len(), "unique: {:?}", ids(&inserted));
    assert!(new.iter().all(|id| !before.contains(id)));
    // They stay as they are, also when the list is sorted.
    assert_eq!(ids(&look(&page)), ids(&inserted));
    page.eval("const list = document.querySelector('ul'); list.append(...[...list.children].reverse())");
    let sorted = look(&page);
    for (who, id) in people.iter().zip(&before) {
        assert_eq!(id_of(&sorted, who), id, "{who}: {:?}", ids(&sorted));
    }
    // An element that a page renders anew in the same place is the same one.
    page.eval("const row = document.querySelector('[data-id=x1]'); row.innerHTML = row.innerHTML");
    assert_eq!(id_of(&look(&page), "dora"), before[3]);
}

#[test]
fn duplicates_have_ids_of_their_own_that_are_the_same_after_reloads() {
    let Some(page) = TestTab::showing(
        "ids-duplicates",
        "<!doctype html><title>Twice</title><div><button id=go name=go data-testid=go>Go</button><button id=go name=go data-testid=go>Go</button></div>
         <div><button id=go name=go data-testid=go>Go</button></div><a href='/x'>More</a> <a href='/x'>More</a> <a href='/x'>More</a>
         <p><input name=size type=radio value=s><input name=size type=radio value=s></p>",
    ) else {
        return;
    };
    let first = look(&page);
    let all: BTreeSet<&str> = first.all.iter().map(|one| &*one.id).collect();
    assert_eq!((first.all.len(), all.len()), (8, 8), "{:?}", ids(&first));
    for _ in 0..rounds("CDPILOT_TEST_ROUNDS", 1, 3) {
        page.go("/");
        assert_eq!(ids(&look(&page)), ids(&first));
    }
    page.eval("document.querySelectorAll('#go')[1].classList.add('hot'); document.querySelectorAll('a')[2].focus()");
    assert_eq!(ids(&look(&page)), ids(&first));
    // One more of them leaves the others as they are.
    page.eval("const one = document.querySelector('#go'); one.before(one.cloneNode(true))");
    let more = look(&page);
    let kept: Vec<&str> = more.all.iter().map(|one| &*one.id).filter(|id| all.contains(id)).collect();
    assert_eq!((more.all.len(), kept.len()), (9, 8), "{:?}", ids(&more));
}
