//! Comparisons of runs with recordings.

use serde_json::{Value, json};

use super::{Replaced, StepTrace, verify_end, verify_steps, with_effects};
use crate::record::{Event, PageShown};

const SHOP: &str = "https://shop.example/orders";

fn event(index: u64, kind: &str, element: Value, data: Value) -> Event {
    let mut event = json!({ "event_index": index, "event_type": kind, "timestamp": index, "tab": 1, "data": data,
                            "page": { "url": SHOP, "title": "Orders" } });
    if !element.is_null() {
        event["element"] = element;
    }
    serde_json::from_value(event).unwrap()
}

fn button(name: &str) -> Value {
    json!({ "tag": "button", "role": "button", "name": name })
}

fn of_row(name: &str, row: &str) -> Value {
    let mut element = button(name);
    element["container"] = json!({ "kind": "row", "title": row, "href": "" });
    element
}

fn field(name: &str) -> Value {
    json!({ "tag": "input", "role": "textbox", "name": name })
}

/// The first miss of a step: what was sought and what was found.
fn miss(recorded: &[Event], seen: &[Event], replaced: &[(&str, &str)]) -> Option<(String, String)> {
    let replaced = Replaced(replaced.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect());
    let step = StepTrace {
        n: 1,
        recorded: recorded.iter().collect(),
        seen: seen.iter().collect(),
        is_skipped: false,
        has_read_value: false,
    };
    verify_steps(&[step], &replaced).pop().map(|miss| (miss.sought, miss.found))
}

fn is_seen(recorded: &[Event], seen: &[Event]) -> bool {
    miss(recorded, seen, &[]).is_none()
}

#[test]
fn the_row_is_part_of_a_target() {
    let delete = |row: &str| event(1, "click", of_row("Delete", row), json!({ "button": "left" }));
    assert!(is_seen(&[delete("Invoice 1002")], &[delete("Invoice 1002")]));
    assert!(!is_seen(&[delete("Inbox (3)")], &[delete("Inbox (12)")]));
    let (sought, found) = miss(&[delete("Invoice 1002")], &[delete("Invoice 1001")], &[]).unwrap();
    assert_eq!(sought, "click on button \"Delete\" in row \"Invoice 1002\"");
    assert_eq!(found, "click on button \"Delete\" in row \"Invoice 1001\"");
    assert!(!is_seen(&[delete("A")], &[event(1, "click", button("Delete"), json!({ "button": "left" }))]));
    // The same dialog does not make it the same row.
    let dialog = |cause: u64| {
        event(
            cause + 1,
            "dialog",
            Value::Null,
            json!({ "type": "confirm", "message": "Sure?", "accepted": true, "caused_by": cause }),
        )
    };
    assert!(!is_seen(&[delete("A"), dialog(1)], &[delete("B"), dialog(1)]));
}

#[test]
fn the_same_elsewhere_or_more_often_is_not_what_was_recorded() {
    let delete = |row: &str| event(1, "click", of_row("Delete", row), json!({ "button": "left" }));
    let (sought, found) = miss(&[delete("A")], &[delete("A"), delete("B")], &[]).unwrap();
    assert_eq!(sought, "only click on button \"Delete\" in row \"A\"");
    assert_eq!(found, "click on button \"Delete\" in row \"B\"");
    assert!(!is_seen(&[delete("A")], &[delete("A"), delete("A")]));
    assert!(is_seen(&[delete("A"), delete("B")], &[delete("B"), delete("A")]));
    let press = |name: &str| event(1, "click", button(name), json!({ "button": "left" }));
    // Looking for the way is no other target.
    assert!(is_seen(&[press("Send")], &[press("More"), press("Send")]));
    assert!(!is_seen(&[press("Send")], &[press("Send"), press("Send")]));
    // A step that was not recorded does nothing.
    assert!(is_seen(&[], &[event(1, "scroll", Value::Null, json!({}))]));
    assert!(!is_seen(&[], &[press("Send")]));
}

#[test]
fn untitled_items_and_other_values_are_told_apart() {
    let icon = |selector: &str| {
        let mut element = button("Delete");
        element["selectors"] = json!([selector]);
        event(1, "click", element, json!({ "button": "left" }))
    };
    assert!(is_seen(&[icon("tr:nth-child(2) > button")], &[icon("tr:nth-child(2) > button")]));
    assert!(!is_seen(&[icon("tr:nth-child(2) > button")], &[icon("tr:nth-child(3) > button")]));
    let product = |href: &str| {
        let mut element = json!({ "tag": "a", "role": "link", "name": "Open" });
        element["container"] = json!({ "kind": "item", "title": "Product", "href": href });
        event(1, "click", element, json!({ "button": "left" }))
    };
    assert!(!is_seen(&[product("https://shop.example/p/2")], &[product("https://shop.example/p/3")]));
    // A form that is sent by another way than submitting it, or twice, is another effect.
    let send = event(1, "click", button("Send"), json!({ "button": "left" }));
    let submit = event(2, "submit", Value::Null, json!({ "caused_by": 1 }));
    let navigated = event(3, "tab_navigated", Value::Null, json!({ "url": SHOP, "caused_by": 2 }));
    let recorded = [send.clone(), submit.clone(), navigated.clone()];
    let enter = event(1, "keydown", field("Query"), json!({ "key": "Enter" }));
    assert!(is_seen(&recorded, &[enter.clone(), submit.clone(), navigated.clone()]));
    assert!(!is_seen(&recorded, std::slice::from_ref(&navigated)));
    assert!(!is_seen(&recorded, &[enter.clone(), submit.clone(), navigated.clone(), enter, submit]));
    // A field that was not filled in.
    let typed = |name: &str, value: &str| event(1, "input", field(name), json!({ "value": value }));
    assert!(!is_seen(&[typed("Name", "Ada")], &[typed("Name", "Ada"), typed("Note", "x")]));
}

#[test]
fn values_are_those_of_the_recording_or_of_the_inputs() {
    let typed = |value: &str| event(2, "input", field("City"), json!({ "value": value }));
    assert!(is_seen(&[typed("Berlin")], &[typed("Berlin ")]));
    assert!(!is_seen(&[typed("Berlin")], &[typed("Bern")]));
    assert!(miss(&[typed("Berlin")], &[typed("Bern")], &[("Berlin", "Bern")]).is_none());
    assert!(miss(&[typed("Berlin")], &[typed("Berlin")], &[("Berlin", "Bern")]).is_some());
    // The last value of a field counts, and the click into it does not.
    let click = event(1, "click", field("City"), json!({ "button": "left" }));
    assert!(is_seen(&[click, typed("Ber"), typed("Berlin")], &[typed("Berlin")]));
    let chosen = |value: &str, label: &str| {
        event(
            3,
            "change",
            json!({ "role": "combobox", "name": "Size" }),
            json!({ "values": [{ "value": value, "label": label }] }),
        )
    };
    assert!(is_seen(&[chosen("l", "Large")], &[chosen("l", "large")]));
    // The last value of the run counts.
    assert!(is_seen(&[chosen("l", "Large")], &[chosen("s", "Small"), chosen("l", "Large")]));
    assert!(!is_seen(&[chosen("l", "Large")], &[chosen("l", "Large"), chosen("s", "Small")]));
    assert!(!is_seen(&[typed("Berlin")], &[typed("Berlin"), typed("Bern")]));
    assert!(!is_seen(&[chosen("l", "Large")], &[chosen("s", "Small")]));
    let checked =
        |on: bool| event(4, "change", json!({ "role": "checkbox", "name": "Gift" }), json!({ "checked": on }));
    assert!(is_seen(&[checked(true)], &[checked(true)]));
    assert!(!is_seen(&[checked(true)], &[checked(false)]));
}

#[test]
fn another_way_to_the_same_effect_is_the_same() {
    let navigated =
        |cause: u64, url: &str| event(9, "tab_navigated", Value::Null, json!({ "url": url, "caused_by": cause }));
    let press = event(1, "click", button("Search"), json!({ "button": "left" }));
    let enter = event(1, "keydown", field("Query"), json!({ "key": "Enter" }));
    let found = "https://shop.example/found?q=lamp";
    assert!(is_seen(&[press.clone(), navigated(1, found)], &[enter.clone(), navigated(1, found)]));
    assert!(is_seen(&[enter, navigated(1, found)], &[press.clone(), navigated(1, found)]));
    let other = "https://shop.example/found?q=lamps";
    assert!(!is_seen(&[press.clone(), navigated(1, found)], &[press.clone(), navigated(1, other)]));
    // The effect is missing although the button was pressed.
    let (sought, _) = miss(&[press.clone(), navigated(1, found)], std::slice::from_ref(&press), &[]).unwrap();
    assert_eq!(sought, format!("page {found}"));
    // A button without an effect has to be pressed itself.
    assert!(!is_seen(&[press], &[event(1, "click", button("Other"), json!({ "button": "left" }))]));
}

#[test]
fn addresses_may_differ_in_numbers_and_tokens_only() {
    let same = |one: &str, other: &str| Replaced::default().is_same_address(one, other);
    assert!(same("https://a.test/orders/1001", "https://a.test/orders/1002"));
    assert!(same("https://a.test/o?id=0123456789abcdef0", "https://a.test/o?id=fedcba9876543210f"));
    assert!(same("https://a.test/o?b=2&a=1", "https://a.test/o?a=1&b=2&c=3"));
    assert!(!same("https://a.test/orders/1001", "https://a.test/orders/new"));
    assert!(!same("https://a.test/orders", "https://a.test/orders/1"));
    assert!(!same("https://a.test/o?sort=price", "https://a.test/o?sort=name"));
    assert!(!same("https://a.test/", "https://b.test/"));
    assert!(!same("about:blank", "about:srcdoc"));
}

#[test]
fn dialogs_and_navigations_belong_to_the_action_before() {
    let events = [
        event(1, "click", button("Delete"), json!({})),
        event(2, "dialog", Value::Null, json!({ "type": "confirm", "accepted": true })),
        event(3, "tab_navigated", Value::Null, json!({ "url": "https://shop.example/", "caused_by": 1 })),
        event(4, "click", button("Next"), json!({})),
        event(5, "tab_created", Value::Null, json!({ "url": "https://shop.example/p", "caused_by": 4 })),
    ];
    let indexes = |events: Vec<&Event>| events.iter().map(|event| event.event_index).collect::<Vec<_>>();
    assert_eq!(indexes(with_effects(&events, &[1])), [1, 2, 3]);
    assert_eq!(indexes(with_effects(&events, &[4])), [4, 5]);
}

#[test]
fn the_end_is_a_page_and_its_title() {
    let page = |url: &str, title: &str| PageShown { url: url.to_owned(), title: title.to_owned() };
    let end = |one: PageShown, other: PageShown| verify_end(&one, &other, &Replaced::default());
    assert_eq!(end(page(SHOP, "Orders (3)"), page(SHOP, "Orders (4)")), None);
    let miss = end(page(SHOP, "Thank you"), page(SHOP, "Your cart")).unwrap();
    assert_eq!((miss.n, miss.code), (0, "POSTCONDITION_FAILED"));
    assert_eq!(end(page("", ""), page(SHOP, "")), None);
}
