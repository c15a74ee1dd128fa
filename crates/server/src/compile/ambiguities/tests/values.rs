//! Values that were entered.

use super::AmbiguityKind::{ComputedValue, PositionOrIdentity, VaryingValue};
use super::*;

#[test]
fn values_that_may_differ() {
    check(
        VaryingValue,
        &[1],
        &[
            ("date", |t| _ = t.input("Date", "2025-03-14")),
            ("name", |t| _ = t.input("Name", "Ada Lovelace")),
            ("number", |t| _ = t.input("Quantity", "3")),
            ("text", |t| _ = t.input("Message", "Hello, see you on Friday.")),
            ("search term", |t| t.search("boots")),
            ("number of guests", |t| _ = t.choose("Guests", "2", "2 guests")),
            ("date picker", |t| {
                t.add(EventType::Change, Some(element("Date", "Arrival")), json!({ "value": "2025-03-14" }));
            }),
            ("file", |t| {
                t.add(EventType::FileChosen, Some(element("button", "Upload")), json!({ "names": ["march.pdf"] }));
            }),
        ],
    );
}

#[test]
fn the_text_of_a_prompt_is_a_value() {
    let mut trace = Trace::default();
    trace.click("button", "New folder");
    trace.dialog("prompt", "Name of the folder").data.insert("prompt_text".to_owned(), "March".into());
    assert_eq!(trace.found(), [(VaryingValue, vec![2])]);
}

#[test]
fn values_that_are_no_question() {
    check(
        VaryingValue,
        &[],
        &[
            ("secret", |t| _ = t.secret("Card number")),
            ("checkbox", |t| t.check("checkbox", "Terms", "form", "Order")),
            ("plain filter", |t| _ = t.choose("Category", "b", "Books")),
            ("place as a filter", |t| _ = t.choose("Country", "de", "Germany")),
            ("values of a filter", |t| {
                t.choose("Market cap", "l", "Large");
                t.choose("Year", "2025", "2025");
                t.click("button", "Apply filters");
            }),
            ("sorting by date", |t| _ = t.choose("Sort by date", "d", "Newest")),
            ("items of a page", |t| _ = t.choose("Number of rows", "50", "50")),
            ("field that was cleared", |t| _ = t.input("Name", "")),
            ("slider", |t| {
                t.add(EventType::Change, Some(element("slider", "Volume")), json!({ "value": "40" }));
            }),
        ],
    );
}

#[test]
fn a_form_is_one_question() {
    let mut trace = Trace::default();
    trace.input("Name", "Ada Lovelace");
    trace.click("textbox", "Email");
    trace.input("Email", "ada@example.org");
    trace.check("checkbox", "Terms", "form", "Order");
    trace.input("Name", "Ada King");
    trace.add(EventType::FileChosen, Some(element("button", "Upload")), json!({ "names": ["a.pdf"] }));
    trace.click("button", "Save");
    trace.submit();
    let found = trace.all();
    assert_eq!(trace.found(), [(VaryingValue, vec![1, 3, 5, 6])], "{found:#?}");
    let expected = "Should each run enter \"Ada King\" in \"Name\", \"ada@example.org\" in \"Email\" and \"a.pdf\" in \
                    \"Upload\", or can some of these values differ from run to run?";
    assert_eq!(found[0].question, expected);
}

#[test]
fn forms_and_searches_are_apart() {
    let mut trace = Trace::default();
    trace.search("boots");
    trace.input("Name", "Ada");
    trace.click("button", "Next");
    trace.input("City", "Berlin");
    trace.submit();
    trace.input("Comment", "Thank you");
    assert_eq!(trace.of(VaryingValue), [[1], [2], [4], [6]]);
    let question = &trace.all()[0].question;
    assert_eq!(question, "Should each run search for \"boots\", or can the search term differ from run to run?");
}

#[test]
fn a_known_form_stays_one_over_buttons() {
    let mut trace = Trace::default();
    trace.input("Name", "Ada").container = within("form", "Order");
    trace.click_in("button", "Add an address", "form", "Order");
    trace.input("City", "Berlin").container = within("form", "Order");
    trace.input("City", "Rome").container = within("form", "Other");
    assert_eq!(trace.of(VaryingValue), [vec![1, 3], vec![4]]);
}

#[test]
fn the_same_values_once_more_are_the_same_question() {
    let mut trace = Trace::default();
    for _ in 0..3 {
        trace.search("boots");
        trace.key("Enter", "searchbox", "Search");
        trace.opens("https://shop.example/all?q=boots", "Shop");
    }
    assert_eq!(trace.of(VaryingValue), [[1, 5, 9]]);
}

#[test]
fn suggestions_and_days_are_values() {
    let mut trace = Trace::default();
    trace.input("City", "Ber").role = "combobox".to_owned();
    trace.click("option", "Berlin, Germany");
    trace.click("textbox", "Departure");
    trace.click_in("gridcell", "15", "row", "12 13 14");
    let found = trace.all();
    assert_eq!(trace.found(), [(VaryingValue, vec![1, 2, 4])], "{found:#?}");
    assert!(found[0].question.contains("\"Berlin, Germany\" in \"City\" and \"15\" in \"Departure\""), "{found:#?}");
}

#[test]
fn many_fields_and_long_values_are_cut() {
    let mut trace = Trace::default();
    trace.input("Note", &format!("A \"quoted\"\u{7}\u{202e}\n{}", "x".repeat(500)));
    for number in 0..20 {
        trace.input(&format!("Field {number}"), "value");
    }
    let found = trace.all();
    assert_eq!(found.len(), 1);
    let question = &found[0].question;
    assert!(question.contains("\"A 'quoted' xxx") && question.contains("…\" in \"Note\""), "{question}");
    assert!(question.contains(" and 15 more") && question.chars().count() < 400, "{question}");
    assert!(!question.chars().any(|c| c.is_control() || c == '\u{202e}'), "{question}");
}

#[test]
fn values_that_the_page_had_shown() {
    let cases: [Expecting<&[u64]>; 7] = [
        ("name of an element", &[1, 2], |t| {
            t.click("heading", "Order ORD-4711");
            t.input("Reference", "ORD-4711");
        }),
        ("text", &[1, 2], |t| {
            t.click("generic", "").text = "Your balance is 1,250.00 EUR".to_owned();
            t.input("Amount", "1,250.00");
        }),
        ("long text in HTML", &[1, 2], |t| {
            t.click("article", "").html = "<article><p>Deliver to <b>Ada Lovelace</b> today</p></article>".to_owned();
            t.input("Recipient", "Ada Lovelace");
        }),
        ("title", &[1, 2], |t| {
            t.shows("https://shop.example/o/1", "Order 4711");
            t.click("button", "Copy");
            t.input("Reference", "4711");
        }),
        ("row", &[1, 2], |t| {
            t.click_in("textbox", "Note", "row", "Harbour lease");
            t.input("Subject", "Harbour lease");
        }),
        ("field that cannot be edited", &[1, 2], |t| {
            let used = t.click("textbox", "Code");
            (used.tag, used.html) = ("input".to_owned(), "<input readonly value=\"AB-17\">".to_owned());
            t.input("Coupon", "AB-17");
        }),
        ("dialog", &[2, 3], |t| {
            t.click("button", "Create");
            t.dialog("alert", "Created as number 815");
            t.input("Number", "815");
        }),
    ];
    for (name, events, build) in cases {
        let mut trace = Trace::default();
        build(&mut trace);
        assert_eq!(trace.of(ComputedValue), [events], "{name}: {:#?}", trace.all());
        assert_eq!(trace.of(VaryingValue), Vec::<Vec<u64>>::new(), "{name}");
        assert!(
            trace
                .all()
                .iter()
                .all(|one| one.settled_by_event == (one.kind == ComputedValue) || one.kind == PositionOrIdentity)
        );
    }
}

#[test]
fn values_that_the_page_had_not_shown() {
    check(
        ComputedValue,
        &[],
        &[
            ("typed before", |t| {
                t.input("Title", "Harbour lease");
                t.click("link", "Harbour lease");
                t.input("Title", "Harbour lease");
            }),
            ("part of what was typed before", |t| {
                t.input("Title", "Harbour lease 2025");
                t.click("link", "Harbour lease 2025");
                t.input("Subject", "Harbour lease");
            }),
            ("short", |t| {
                t.click("link", "Ada 17");
                t.input("Name", "Ada");
                t.input("Age", "17");
            }),
            ("part of a word", |t| {
                t.click("link", "Bootstrapping");
                t.input("Product", "Boots");
            }),
            ("part of a number", |t| {
                t.click("link", "Total 1,450.00");
                t.input("Amount", "450");
            }),
            ("shown afterwards", |t| {
                t.input("Product", "Red boots");
                t.click("link", "Red boots");
            }),
            ("attribute of HTML", |t| {
                t.click("generic", "").html = "<div width=\"4711\"><img src=\"/4711.png\"></div>".to_owned();
                t.input("Number", "4711");
            }),
            ("word of a title", |t| {
                t.shows("https://shop.example/", "Boots and more");
                t.click("button", "Go");
                t.input("Product", "Boots");
            }),
            ("options of a list", |t| {
                let html = "<select><option>Germany</option></select>";
                t.choose("Country", "de", "Germany").html = html.to_owned();
                t.input("Nationality", "Germany");
            }),
            ("secret", |t| {
                t.click("heading", "Code 4711");
                t.secret("Code");
            }),
        ],
    );
}

#[test]
fn computed_values_of_a_form_are_one_question() {
    let mut trace = Trace::default();
    trace.click_in("button", "Details", "row", "ORD-4711, Ada Lovelace");
    trace.input("Order", "ORD-4711");
    trace.input("Customer", "Ada Lovelace");
    trace.input("Comment", "Please hurry");
    assert_eq!(trace.of(ComputedValue), [[1, 2, 3]]);
    assert_eq!(trace.of(VaryingValue), [[4]]);
}
