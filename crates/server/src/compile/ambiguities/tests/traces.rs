//! Longer traces, and properties of all lists.

use std::time::{Duration, Instant};

use super::AmbiguityKind::*;
use super::*;
use crate::compile::ambiguities::words;

/// Id, kind, events, question.
fn lines(trace: &Trace) -> Vec<String> {
    trace.all().iter().map(|one| format!("{} {:?} {:?} {}", one.id, one.kind, one.events, one.question)).collect()
}

/// A purchase: consent, search, result, basket, login, delivery, order.
fn order() -> Trace {
    let mut trace = Trace::at(SHOP, "Boot shop");
    trace.click_in("button", "Accept all", "dialog", "We use cookies");
    trace.click("searchbox", "Search");
    trace.search("winter boots");
    trace.key("Enter", "searchbox", "Search");
    trace.submit();
    trace.opens("https://shop.example/search?q=winter+boots", "winter boots");
    trace.choose("Sort by", "price", "Price");
    trace.add(EventType::Click, Some(select("Size")), json!({}));
    trace.click_in("link", "Nordic boots", "card", "In stock").selectors = vec!["a[href=\"/p/nordic\"]".to_owned()];
    trace.opens("https://shop.example/p/nordic", "Nordic boots - Boot shop");
    trace.choose("Quantity", "2", "2");
    trace.click_in("button", "Add to basket", "card", "Nordic boots");
    trace.click_in("button", "Close", "dialog", "Added to your basket");
    trace.click("link", "Basket");
    trace.opens("https://shop.example/basket", "Basket");
    trace.click("link", "Checkout");
    trace.opens("https://shop.example/login", "Log in");
    trace.input("Email", "ada@example.org");
    trace.secret("Password");
    trace.click("button", "Log in");
    trace.submit();
    trace.opens("https://shop.example/checkout", "Delivery");
    trace.input("Name", "Ada Lovelace").container = within("form", "Delivery");
    trace.input("Street", "12 St James Square").container = within("form", "Delivery");
    trace.choose("Country", "gb", "United Kingdom").container = within("form", "Delivery");
    trace.check("checkbox", "Gift wrap", "form", "Delivery");
    trace.click_in("button", "Continue", "form", "Delivery");
    trace.submit();
    trace.opens("https://shop.example/pay", "Payment");
    trace.secret("Card number");
    trace.secret("CVC");
    trace.click("button", "Buy now");
    trace
}

#[test]
fn an_order_of_a_shop() {
    let expected = [
        "A1 ConditionalOverlay [2] Does \"We use cookies\" appear each time, or should \"Accept all\" be used only if it appears?",
        "A2 VaryingValue [4] Should each run search for \"winter boots\", or can the search term differ from run to run?",
        "A3 FilterTouched [10] You opened the list \"Size\" and it was left as it was: should each run make sure of that value, or ignore \
         the list?",
        "A4 PositionOrIdentity [11] Should each run use \"Nordic boots\" of \"In stock\", or whatever is at its position in the \
         list, such as the first one?",
        "A5 VaryingValue [14] Should each run enter \"2\" in \"Quantity\", or can this value differ from run to run?",
        "A6 Login [23, 24, 25, 26] Will you be logged in on \"shop.example\" already when the routine runs, or should it log in \
         with a stored password or code?",
        "A7 VaryingValue [29, 30, 31] Should each run enter \"Ada Lovelace\" in \"Name\", \"12 St James Square\" in \"Street\" \
         and \"United Kingdom\" in \"Country\", or can some of these values differ from run to run?",
    ];
    assert_eq!(lines(&order()), expected);
}

#[test]
fn a_search_with_upvotes_of_three_posts() {
    let mut trace = Trace::at("https://forum.example/", "Forum");
    trace.dialog("alert", "Welcome back");
    trace.search("AI agents");
    trace.key("Enter", "searchbox", "Search");
    trace.opens("https://forum.example/search?q=AI+agents", "Search | Forum");
    trace.click("tab", "Newest");
    for (votes, title) in [(31, "Testing agents"), (12, "What an agent remembers"), (7, "Agentic workflows")] {
        trace.click_in("button", &format!("Upvote {votes}"), "card", title);
    }
    trace.click("link", "2").selectors = vec!["nav>a:nth-of-type(2)".to_owned()];
    trace.opens("https://forum.example/search?q=AI+agents&page=2", "Search | Forum");
    trace.click_in("button", "Upvote 3", "card", "Agents in production");
    trace.click_in("link", "Agents at home", "card", "Ravi Sundqvist");
    let expected = [
        "A1 ConditionalOverlay [2] Does the message \"Welcome back\" appear in each run, or should it be answered only if it \
         appears?",
        "A2 VaryingValue [3] Should each run search for \"AI agents\", or can the search term differ from run to run?",
        "A3 Subset [8, 9, 10, 14] You chose \"Testing agents\", \"What an agent remembers\", \"Agentic workflows\" and \"Agents \
         in production\" with \"Upvote\": by which rule should each run choose the items of the list?",
        "A4 PositionOrIdentity [15] Should each run use \"Agents at home\" of \"Ravi Sundqvist\", or whatever is at its position \
         in the list, such as the first one?",
    ];
    assert_eq!(lines(&trace), expected);
}

#[test]
fn a_form_with_dates_and_names() {
    let mut trace = Trace::at("https://hr.example/apply/step-2?session=[secret]", "Leave request");
    trace.click("heading", "Employee 20417, Ada Lovelace");
    trace.input("First day", "2025-07-01");
    trace.key("Tab", "textbox", "First day");
    trace.input("Last day", "2025-07-14");
    trace.input("Employee number", "20417");
    trace.click("combobox", "Kind of leave").text = "Holiday".to_owned();
    trace.click("option", "Parental leave");
    trace.input("Deputy", "Charles").role = "combobox".to_owned();
    trace.click("option", "Charles Babbage");
    trace.check("radio", "Whole days", "form", "Leave request");
    trace.input("Note", "Back on the 15th.");
    trace.click("button", "Send");
    trace.dialog("confirm", "Send the request?");
    trace.submit();
    let expected = [
        "A1 StartAfterSubmit [1] The recording begins on \"Leave request\": how does one get there, and from which page should a \
         run start?",
        "A2 ComputedValue [2, 6] You entered \"20417\" in \"Employee number\": should each run read this value from the page, or \
         always enter the same?",
        "A3 VaryingValue [3, 5, 9, 10, 12] Should each run enter \"2025-07-01\" in \"First day\", \"2025-07-14\" in \"Last day\", \
         \"Charles Babbage\" in \"Deputy\" and \"Back on the 15th.\" in \"Note\", or can some of these values differ from run \
         to run?",
    ];
    assert_eq!(lines(&trace), expected);
}

#[test]
fn nothing_is_open() {
    assert_eq!(Trace::default().all(), []);
    let mut trace = Trace::at(SHOP, "Shop");
    trace.click("link", "Orders");
    trace.opens("https://shop.example/orders", "Orders");
    trace.click("tab", "Open orders");
    trace.click("button", "Export");
    trace.add(EventType::Download, None, json!({ "url": "https://shop.example/a.csv", "filename": "a.csv" }));
    trace.add(EventType::Gap, None, json!({ "count": null, "why": "paused" }));
    assert_eq!(trace.all(), []);

    let mut filters = Trace::at("https://stocks.example/screener", "Screener");
    filters.choose("Market cap", "largeover", "Large (over $10bln)");
    filters.choose("Country", "usa", "USA");
    filters.click("button", "Apply filters");
    filters.opens("https://stocks.example/screener?cap=largeover&geo=usa", "Screener");
    assert_eq!(filters.all(), []);
}

#[test]
fn lists_are_the_same_each_time_and_at_most_30() {
    let mut trace = order();
    for number in 0..50 {
        trace.input(&format!("Note {number}"), &format!("Value {number}"));
        trace.click("button", "Save");
        trace.submit();
    }
    let expected = trace.all();
    assert_eq!(expected.len(), 30);
    assert_eq!(expected[29].id, "A30");
    for _ in 0..3 {
        assert_eq!(trace.all(), expected);
    }
    trace.events.reverse();
    assert_eq!(trace.all(), expected, "the order of the events does not matter");
    let note = ambiguities(&trace.events, &draft("rec-1", None, &trace.events), "Always search for winter boots");
    assert_eq!(note, expected, "the intent note settles none here");
}

#[test]
fn the_ambiguities_have_the_shape_of_the_contract() {
    for one in order().all() {
        assert!(one.events.is_sorted() && !one.events.is_empty(), "{one:?}");
        assert!(one.problem.ends_with('.') && one.question.ends_with('?'), "{one:?}");
        let is_settled = matches!(one.kind, ComputedValue | ConditionalOverlay);
        assert_eq!(one.settled_by_event, is_settled, "{one:?}");
        assert!(!one.question.contains('#') && !one.problem.contains("event"), "{one:?}");
    }
}

#[test]
fn data_of_unexpected_types_is_read_leniently() {
    let types = [EventType::Click, EventType::Input, EventType::Change, EventType::Keydown, EventType::Dialog];
    for event_type in types.into_iter().chain([EventType::FileChosen, EventType::Focus, EventType::TabNavigated]) {
        for name in ["", "Größe…", "×", "\u{202e}", "Ünïcödé cookie ➜ ok"] {
            let mut trace = Trace::default();
            trace.shows(name, name);
            let data = json!({
                "button": {}, "count": "x", "modifiers": 7.5, "value": [], "values": "x", "checked": 1, "key": 3,
                "names": 1, "caused_by": "me", "type": 4, "accepted": "yes", "message": 1, "url": [],
            });
            let mut used = select(name);
            used.html = name.repeat(200);
            used.selectors = vec![name.repeat(200)];
            used.container = within("dialog", name);
            trace.add(event_type, Some(used), data.clone());
            trace.add(event_type, None, data);
            trace.all();
        }
    }
}

#[test]
fn lists_of_words_are_sorted() {
    for list in words::ALL {
        assert!(list.is_sorted(), "{list:?}");
        for entry in *list {
            assert_eq!(words::line(entry), *entry, "an entry is in the form of the lines that are compared");
            assert!(words::says(&format!("one {entry} two"), list), "{entry}");
        }
    }
}

#[test]
fn two_thousand_events_take_little_time() {
    let mut trace = Trace::default();
    let html = format!("<article class=\"post\">{}</article>", "<p>Some words of a page</p>".repeat(50));
    for round in 0..200 {
        trace.search(&format!("Term {round} of words"));
        trace.key("Enter", "searchbox", "Search");
        trace.opens(&format!("https://shop.example/all?q={round}"), &format!("Results {round}"));
        let used = trace.click_in("link", &format!("Item {round}"), "card", &format!("Card {round}"));
        used.html = html.clone();
        trace.add(EventType::Click, Some(select("Category")), json!({}));
        trace.choose("Sort by", "a", "A").html = html.clone();
        for field in ["Name", "City", "Note"] {
            trace.input(field, &format!("{field} {round}")).html = html.clone();
        }
    }
    assert_eq!(trace.events.len(), 2_000);
    let draft = draft("rec-1", None, &trace.events);
    let mut least = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        let _ = ambiguities(&trace.events, &draft, "");
        least = least.min(start.elapsed());
    }
    assert!(least < Duration::from_millis(250), "{least:?}; about 30 ms on a machine without other work");
}
