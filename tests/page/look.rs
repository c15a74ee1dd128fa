//! Looking at pages: which elements are found, where their labels are, and that ids and pages stay as they are.

use std::collections::{BTreeMap, BTreeSet};

use cdpilot::page::{ElementType, Hint, Look, LookOptions, Rect, Use, VisibleElement};

use crate::support::chrome::soon;
use crate::support::pixels::Pixels;
use crate::support::share::{rounds, share};
use crate::support::test_tab::TestTab;

const PAGES: [(&str, &str); 14] = [
    ("table", include_str!("../data/pages/look/table.html")),
    ("cards", include_str!("../data/pages/look/cards.html")),
    ("sticky", include_str!("../data/pages/look/sticky.html")),
    ("modal", include_str!("../data/pages/look/modal.html")),
    ("banner", include_str!("../data/pages/look/banner.html")),
    ("carousel", include_str!("../data/pages/look/carousel.html")),
    ("frames", include_str!("../data/pages/look/frames.html")),
    ("middle", include_str!("../data/pages/look/middle.html")),
    ("inner", include_str!("../data/pages/look/inner.html")),
    ("shadow", include_str!("../data/pages/look/shadow.html")),
    ("rtl", include_str!("../data/pages/look/rtl.html")),
    ("zoomed", include_str!("../data/pages/look/zoomed.html")),
    ("many", include_str!("../data/pages/look/many.html")),
    ("feed", include_str!("../data/pages/look/feed.html")),
];

/// A share of the pages that are shown by themselves: not those in frames.
fn shown() -> Vec<&'static str> {
    share(PAGES.iter().map(|(name, _)| *name).filter(|name| !matches!(*name, "middle" | "inner")), 1)
}

fn tab(name: &str) -> Option<TestTab> {
    let page = TestTab::new(name)?;
    for (name, html) in PAGES {
        page.site.page(&format!("/{name}.html"), html);
    }
    page.resize(1280, 720);
    Some(page)
}

fn ids(elements: &[VisibleElement]) -> Vec<&str> {
    elements.iter().map(|element| &*element.id).collect()
}

fn names(elements: &[VisibleElement]) -> Vec<&str> {
    elements.iter().map(|element| &*element.shown.name).collect()
}

fn named<'a>(look: &'a Look, name: &str) -> &'a VisibleElement {
    let found = look.all.iter().find(|element| element.shown.name == name);
    found.unwrap_or_else(|| panic!("no {name:?} in {:?}", names(&look.all)))
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    let (right, bottom) = (|r: &Rect| r.x + r.width, |r: &Rect| r.y + r.height);
    a.x < right(b) - 1.0 && b.x < right(a) - 1.0 && a.y < bottom(b) - 1.0 && b.y < bottom(a) - 1.0
}

fn holds(a: &Rect, b: &Rect) -> bool {
    let (right, bottom) = (|r: &Rect| r.x + r.width + 1.0, |r: &Rect| r.y + r.height + 1.0);
    a.x <= b.x + 1.0 && a.y <= b.y + 1.0 && right(b) <= right(a) + 1.0 && bottom(b) <= bottom(a) + 1.0
}

#[test]
fn the_pages_of_a_picture_hold_every_element_once() {
    let Some(page) = tab("look-pages") else { return };
    for name in shown() {
        page.go(&format!("/{name}.html"));
        let looks = page.look_at_all();
        let all: BTreeSet<&str> = ids(&looks[0].all).into_iter().collect();
        assert!(!all.is_empty(), "{name}");
        assert_eq!(all.len(), looks[0].all.len(), "{name}: ids are unique");
        let mut seen = BTreeMap::new();
        for look in &looks {
            assert_eq!(look.pages, looks[0].pages, "{name}");
            for element in &look.elements {
                *seen.entry(&*element.id).or_insert(0) += 1;
                let valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
                assert!(element.id.len() == 6 && element.id.bytes().all(valid), "{name}: {}", element.id);
                let Rect { x, y, width, height, .. } = element.bounds;
                assert!(x >= -0.5 && y >= -0.5 && x + width <= 1280.5 && y + height <= 720.5, "{name}: {element:?}");
            }
            for (at, one) in look.elements.iter().enumerate() {
                for other in &look.elements[at + 1..] {
                    let (a, b) = (&one.bounds, &other.bounds);
                    assert!(!overlap(a, b) || holds(a, b) || holds(b, a), "{name}: {one:?} {other:?}");
                }
            }
            assert_eq!((look.picture.width, look.picture.height), (1280, 720), "{name}");
        }
        assert!(seen.values().all(|times| *times == 1), "{name}: {seen:?}");
        assert_eq!(seen.keys().copied().collect::<BTreeSet<_>>(), all, "{name}");
    }
}

#[test]
fn ids_stay_over_reloads_and_changes_of_classes() {
    let Some(page) = tab("look-ids") else { return };
    for name in shown() {
        page.go(&format!("/{name}.html"));
        let first = page.look();
        for _ in 0..rounds("CDPILOT_TEST_ROUNDS", 1, 3) {
            page.go(&format!("/{name}.html"));
            assert_eq!(ids(&page.look().all), ids(&first.all), "{name}");
        }
        page.eval(
            "for (const one of document.querySelectorAll('a, button, input')) {
                one.classList.add('is-hovered'); one.setAttribute('aria-pressed', 'true'); one.dataset.state = 'on';
             }",
        );
        assert_eq!(ids(&page.look().all), ids(&first.all), "{name} after a class was added");
    }
}

#[test]
fn a_look_changes_nothing_in_the_page() {
    let Some(page) = tab("look-quiet") else { return };
    for name in shown() {
        page.go(&format!("/{name}.html"));
        // Chromium itself sends a move to (0, 0) after a load, and may deliver it late.
        page.eval(
            "window.changes = []; const since = performance.now();
             new MutationObserver(all => changes.push(...all.map(one => one.type))).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
             for (const type of ['resize', 'mousemove', 'pointermove']) addEventListener(type, event => event.timeStamp < since || changes.push(type), true)",
        );
        let scrolled = page.eval("[scrollX, scrollY]");
        let last = page.look().pages;
        page.look_for(LookOptions::new().page(last));
        assert_eq!(page.eval("window.changes"), "[]", "{name}");
        assert_eq!(page.eval("[scrollX, scrollY]"), scrolled, "{name}");
    }
}

#[test]
fn only_what_a_person_can_use_is_listed() {
    let Some(page) = tab("look-seen") else { return };
    let found = |name: &str| {
        page.go(&format!("/{name}.html"));
        page.look()
    };
    let cards = found("cards");
    assert_eq!(
        names(&cards.all).into_iter().filter(|name| name.contains("Like")).collect::<Vec<_>>(),
        ["Like one", "Like two", "Like three"]
    );
    assert!(!cards.all.iter().any(|element| element.html.contains("id=\"under\"")), "covered");
    assert_eq!(cards.all.len(), 6, "{:?}", cards.all);
    // Only the modal dialog; a banner that is not modal hides nothing but what it covers.
    let modal = found("modal");
    let mut listed: Vec<&str> = modal.all.iter().map(|element| element.kind.name()).collect();
    listed.sort_unstable();
    assert_eq!(listed, ["clickable", "clickable", "inputable", "selectable"], "{:?}", modal.all);
    let banner = found("banner");
    assert_eq!(names(&banner.all), ["Home", "Products", "Free", "Accept", "Reject"]);
    // Frames of two sites; one button is covered by the page around them.
    let frames = found("frames");
    let mut seen = names(&frames.all);
    seen.sort_unstable();
    assert_eq!(seen, ["Deep", "Free", "Inner", "Middle", "Outer"]);
    let mut shadow = names(&found("shadow").all).into_iter().map(ToOwned::to_owned).collect::<Vec<_>>();
    shadow.sort();
    assert_eq!(shadow, ["Closed field", "Closed field", "In closed", "In closed", "In open", "Light"]);
    // A button with an icon is one element.
    let carousel = found("carousel");
    assert_eq!(carousel.all.iter().filter(|element| element.shown.name == "Next").count(), 1);
    assert!(!names(&carousel.all).contains(&"Buy green"), "outside its container");
}

#[test]
fn hints_say_what_to_know_before_an_element_is_used() {
    let Some(page) = tab("look-hints") else { return };
    page.go("/sticky.html");
    let look = page.look();
    let entry = look.all.iter().find(|element| element.hints.contains(&Hint::UnderSticky));
    assert!(entry.is_some_and(|entry| entry.shown.name.starts_with("Entry")), "{:?}", look.all);
    assert!(look.all.iter().any(|element| element.hints.contains(&Hint::PartlyVisible)), "{:?}", look.all);
    page.go("/carousel.html");
    let look = page.look();
    assert!(named(&look, "Pictures").hints.contains(&Hint::Swipable));
    assert!(named(&look, "Zoom").hints.contains(&Hint::Slidable));
    assert_eq!(named(&look, "Zoom").kind, Use::Clickable);
    assert!(named(&look, "Photo").hints.contains(&Hint::Uploadable));
    page.site.page(
        "/scroll.html",
        "<div id=box style='width:300px;height:200px;overflow:auto'><button disabled>Off</button><div style='height:900px'></div></div>",
    );
    page.go("/scroll.html");
    let look = page.look();
    let container = look.all.iter().find(|element| element.kind == Use::Scrollable).unwrap();
    let off = named(&look, "Off");
    assert!(off.hints.contains(&Hint::Disabled));
    assert!(off.hints.contains(&Hint::ScrollsIn(container.id.clone())), "{off:?}");
}

#[test]
fn types_and_keywords_select_elements() {
    let Some(page) = tab("look-types") else { return };
    page.go("/modal.html");
    let only = |kind| page.look_for(LookOptions::new().element_type(kind)).all;
    assert_eq!(names(&only(ElementType::Clickable)), ["Save", "Cancel"]);
    let others = [(ElementType::Selectable, 1), (ElementType::Inputable, 1), (ElementType::Scrollable, 0)];
    for (kind, count) in share(others, 1) {
        let found = only(kind);
        assert_eq!(found.len(), count, "{found:?}");
    }
    let with = |keyword: &str| page.look_for(LookOptions::new().keywords(vec![keyword.to_owned()])).all;
    for (keyword, name) in share([("  save ", "Save"), ("#cancel", "Cancel")], 1) {
        assert_eq!(names(&with(keyword)), [name]);
    }
    for keyword in share(["Sav", ""], 1) {
        assert!(with(keyword).is_empty(), "{keyword:?}");
    }
    page.go("/feed.html");
    assert_eq!(names(&with("data-id=post-1")), Vec::<&str>::new(), "an article is not used");
    assert_eq!(with("Reply").len(), page.look().all.iter().filter(|one| one.shown.name == "Reply").count());
    page.go("/many.html");
    assert_eq!(with("data-key=k17").len(), 1);
    let last = page.look().pages;
    assert!(last > 1);
    for none in [0, last + 1] {
        let error = page.tab.look_at(&LookOptions::new().page(none), soon()).unwrap_err();
        assert!(
            error.to_string().contains(&format!("no page {none}: these elements have the pages 1 to {last}")),
            "{error}"
        );
    }
}

#[test]
fn cells_of_a_grid_are_listed_only_if_something_says_that_they_are_used() {
    let Some(page) = tab("look-cells") else { return };
    page.site.page(
        "/cells.html",
        "<style>td { padding: 20px }</style><table role=grid><tr><td>Plain<td tabindex=0>Focusable<td style='cursor:pointer'>Pointed
         <td role=gridcell>Declared<td><button>Inside</button></table>",
    );
    page.go("/cells.html");
    assert_eq!(names(&page.look().all), ["Focusable", "Pointed", "Declared", "Inside"]);
}

#[test]
fn the_first_picture_of_a_hidden_tab_shows_its_present_state() {
    let Some(page) = tab("look-hidden") else { return };
    page.site.page("/", "<body style='margin:0'><button style='position:absolute;left:600px;top:300px'>Go</button>");
    page.go("/");
    page.supervisor().open_page("about:blank", None, soon()).unwrap();
    let hidden = "document.hidden || new Promise(done => addEventListener('visibilitychange', () => done(document.hidden), true))";
    assert_eq!(page.eval(hidden), "true");
    for round in share(0..8_u8, 3) {
        let colour = [250 - round * 10, round * 12, 90 + round];
        let [red, green, blue] = colour;
        page.eval(&format!("document.body.style.background = 'rgb({red}, {green}, {blue})'; 0"));
        let picture = if round % 2 == 0 { page.look().picture } else { page.tab.clean_picture(soon()).unwrap() };
        assert_eq!(Pixels::decode(&picture.bytes).at(20, 20), colour, "round {round}");
    }
}
