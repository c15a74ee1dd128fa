//! Locators with more matches than are described.

use cdpilot::page::{ElementProperty, Locator};
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::share::share;
use crate::support::test_tab::TestTab;

#[test]
fn all_matches_are_counted_and_can_be_selected_by_index() {
    let html = "<script>
        for (let n = 0; n < 2500; n++)
            document.write(`<div class=row><button onclick='window.hit = ${n}'>Row ${n}</button></div>`);
        </script>";
    let Some(page) = TestTab::showing("many", html) else { return };
    let found = page.tab.find("role=button", None, Some(3), soon()).unwrap();
    assert_eq!((found.total, found.matches.len()), (2500, 3));
    let count = |locator: &str| {
        let at = Locator { locator: Some(locator.to_owned()), ..Locator::default() };
        page.tab.get(ElementProperty::Count, None, &at, soon()).unwrap().value
    };
    assert_eq!(count("role=button"), 2500);
    assert_eq!(count("css=.row >> role=button"), 2500);
    assert_eq!(count("css=.row >> nth=2499 >> role=button"), 1);
    assert_eq!(count("css=.row >> nth=2500 >> role=button"), 0);
    for (nth, hit) in share([(-1, 2499), (1500, 1500), (-2500, 0)], 1) {
        page.act(json!({ "kind": "click", "locator": "role=button", "nth": nth })).unwrap();
        assert_eq!(page.value("hit"), hit, "{nth}");
    }
    let last = page.tab.find("css=.row >> role=button >> nth=2400", None, None, soon()).unwrap();
    assert_eq!(last.matches[0].name, "Row 2400");
    let many = page.tab.find("role=button", None, Some(2000), soon()).unwrap();
    assert_eq!((many.total, many.matches.len(), &*many.matches[1999].name), (2500, 2000, "Row 1999"));
}

#[test]
fn an_index_counts_through_all_frames() {
    let Some(page) = TestTab::new("many-frames") else { return };
    let rows = |from: u32| {
        format!(
            "<script>for (let n = {from}; n < {}; n++) document.write(`<p class=row>${{n}}</p>`)</script>",
            from + 1200
        )
    };
    page.put("/in", &rows(1200));
    page.put("/", &format!("{}<iframe src='@b/in'></iframe>", rows(0)));
    page.go("/");
    page.frame("/in");
    let read = |nth| {
        let at = Locator { locator: Some("css=p.row".to_owned()), nth: Some(nth), ..Locator::default() };
        page.tab.get(ElementProperty::Text, None, &at, soon()).unwrap().value
    };
    assert_eq!([read(1199), read(1200), read(2399), read(-1), read(-2400)], ["1199", "1200", "2399", "2399", "0"]);
    assert_eq!(page.tab.find("css=p.row", None, Some(0), soon()).unwrap().total, 2400);
}
