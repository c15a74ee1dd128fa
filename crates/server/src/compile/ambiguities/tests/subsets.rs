//! Several uses of items, and lists of choices.

use super::AmbiguityKind::{FilterTouched, PositionOrIdentity, Subset};
use super::*;

#[test]
fn several_uses_of_one_item_are_one_ambiguity() {
    let mut trace = Trace::default();
    trace.click_in("button", "More", "card", "Red boots");
    trace.click_in("button", "Add to basket", "card", "Red boots");
    trace.click_in("button", "Details", "card", "Blue shoes");
    assert_eq!(trace.of(PositionOrIdentity), [vec![1, 2], vec![3]]);
}

#[test]
fn the_same_action_on_several_items_is_a_subset() {
    let cases: [Case; 5] = [
        ("same name", |t| {
            for title in ["Why Rust", "Typed errors", "Why Go"] {
                t.click_in("button", "Upvote", "card", title);
            }
        }),
        ("counts in the names", |t| {
            for (name, title) in [("Upvote 12", "Why Rust"), ("Upvote 7", "Typed errors"), ("Upvote 1", "Why Go")] {
                t.click_in("button", name, "item", title);
            }
        }),
        ("titles in the names", |t| {
            for title in ["Red boots", "Blue shoes", "Socks"] {
                t.click_in("button", &format!("Add {title} to the basket"), "card", title);
            }
        }),
        ("icons", |t| {
            for (id, title) in [("vote-1", "Why Rust"), ("vote-17", "Typed errors"), ("vote-3", "Why Go")] {
                t.click_in("button", "", "card", title).test_id = id.to_owned();
            }
        }),
        ("checkboxes of rows", |t| {
            for title in ["Invoice 1", "Invoice 2", "Invoice 3"] {
                t.check("checkbox", "Select", "row", title);
            }
        }),
    ];
    for (name, build) in cases {
        let mut trace = Trace::default();
        build(&mut trace);
        assert_eq!(trace.found(), [(Subset, vec![1, 2, 3])], "{name}: {:#?}", trace.all());
    }
}

#[test]
fn opening_several_items_is_a_subset() {
    let mut trace = Trace::default();
    for (id, name) in [(7, "Why Rust"), (12, "Typed errors")] {
        trace.click_in("link", name, "card", &format!("{id} votes")).selectors =
            vec![format!("a[href=\"/q?id={id}\"]")];
        trace.opens(&format!("https://shop.example/q?id={id}"), name);
        trace.shows(SHOP, "Shop");
        trace.add(EventType::TabBack, None, json!({ "url": SHOP }));
    }
    let found = trace.all();
    assert_eq!(trace.found(), [(Subset, vec![1, 5])], "{found:#?}");
    let expected =
        "You chose \"Why Rust\" and \"Typed errors\": by which rule should each run choose the items of the list?";
    assert_eq!(found[0].question, expected);
}

#[test]
fn several_actions_on_the_same_items_are_one_subset() {
    let mut trace = Trace::default();
    for title in ["Why Rust", "Typed errors"] {
        trace.click_in("button", "Upvote", "card", title);
        trace.click_in("button", "Save", "card", title);
    }
    let found = trace.all();
    assert_eq!(trace.found(), [(Subset, vec![1, 2, 3, 4])], "{found:#?}");
    let expected = "You chose \"Why Rust\" and \"Typed errors\" with \"Upvote\" and \"Save\": by which rule should each run \
                    choose the items of the list?";
    assert_eq!(found[0].question, expected);
}

#[test]
fn no_subset() {
    check(
        Subset,
        &[],
        &[
            ("one item twice", |t| {
                t.click_in("button", "Upvote", "card", "Why Rust");
                t.click_in("button", "Upvote", "card", "Why Rust");
            }),
            ("different actions", |t| {
                t.click_in("button", "Upvote", "card", "Why Rust");
                t.click_in("button", "Report", "card", "Typed errors");
            }),
            ("different lists", |t| {
                t.click_in("button", "Open", "card", "Why Rust");
                t.shows("https://shop.example/users", "Users");
                t.click_in("button", "Open", "card", "Ada");
            }),
            ("forms", |t| {
                t.click_in("button", "Save", "form", "Address");
                t.click_in("button", "Save", "form", "Payment");
            }),
            ("filters", |t| {
                t.check("checkbox", "Red", "item", "Red");
                t.check("checkbox", "Blue", "item", "Blue");
            }),
            ("unnamed settings", |t| {
                t.check("switch", "", "item", "Sounds");
                t.check("switch", "", "item", "Wi-Fi");
            }),
            ("settings in a table", |t| {
                t.shows("https://shop.example/settings", "Settings");
                t.check("switch", "Enable", "row", "Email");
                t.check("switch", "Enable", "row", "SMS");
            }),
            ("pages", |t| {
                t.click_in("link", "Next", "item", "Page 1 of 3");
                t.click_in("link", "Next", "item", "Page 2 of 3");
            }),
        ],
    );
}

#[test]
fn a_filter_was_opened_and_left() {
    check(
        FilterTouched,
        &[1],
        &[
            ("list clicked", |t| {
                t.add(EventType::Click, Some(select("Category")), json!({}));
            }),
            ("list focused", |t| {
                t.add(EventType::Focus, Some(select("Category")), json!({}));
            }),
            ("combobox left", |t| {
                t.click("combobox", "Category");
                t.click("link", "Home");
            }),
            ("combobox closed by Escape", |t| {
                t.click("combobox", "Category");
                t.key("Escape", "combobox", "Category");
            }),
            ("menu button closed by Escape", |t| {
                t.click("button", "Price").html = "<button aria-haspopup=\"listbox\">Price</button>".to_owned();
                t.key("Escape", "button", "Price");
            }),
        ],
    );
    check(
        FilterTouched,
        &[1, 2],
        &[
            ("opened and closed by two clicks", |t| {
                t.click("combobox", "Category");
                t.click("combobox", "Category");
            }),
            ("the same option once more", |t| {
                t.click("combobox", "Sort").text = "Sort: Newest".to_owned();
                t.click("option", "Newest");
            }),
            ("set back", |t| {
                let html =
                    "<select><option value=\"a\" selected=\"\">All</option><option value=\"b\">Books</option></select>";
                t.choose("Category", "b", "Books").html = html.to_owned();
                t.choose("Category", "a", "All").html = html.to_owned();
            }),
            ("set back to the first option", |t| {
                let html = "<select><option value=\"a\">All</option><option value=\"b\">Books</option></select>";
                t.choose("Category", "b", "Books").html = html.to_owned();
                t.choose("Category", "a", "All").html = html.to_owned();
            }),
        ],
    );
}

#[test]
fn no_filter_was_left() {
    check(
        FilterTouched,
        &[],
        &[
            ("list changed", |t| _ = t.choose("Category", "b", "Books")),
            ("list clicked and changed", |t| {
                t.add(EventType::Click, Some(select("Category")), json!({}));
                t.choose("Category", "b", "Books");
            }),
            ("option chosen", |t| {
                t.click("combobox", "Category").text = "All".to_owned();
                t.click("option", "Books");
            }),
            ("option without a role chosen", |t| {
                t.click("combobox", "Category");
                t.click("generic", "Books");
            }),
            ("text typed", |t| {
                t.click("combobox", "City");
                t.input("City", "Berlin").role = "combobox".to_owned();
            }),
            ("menu used", |t| {
                t.click("button", "Actions").html = "<button aria-haspopup=\"menu\">".to_owned();
                t.click("menuitem", "Archive");
            }),
            ("links of a menu used", |t| {
                t.click("button", "Menu").html = "<button aria-haspopup=\"true\">".to_owned();
                t.click("link", "Orders");
            }),
            ("the focus passes", |t| {
                t.input("Name", "Ada");
                t.key("Tab", "textbox", "Name");
                t.add(EventType::Focus, Some(select("Country")), json!({}));
                t.key("Tab", "combobox", "Country");
                t.input("City", "Berlin");
            }),
            ("used before it was set back", |t| {
                let html =
                    "<select><option value=\"a\" selected>All</option><option value=\"b\">Books</option></select>";
                t.choose("Category", "b", "Books").html = html.to_owned();
                t.click("link", "Typed errors");
                t.choose("Category", "a", "All").html = html.to_owned();
            }),
            ("search field with suggestions", |t| _ = t.click("combobox", "Search")),
            ("checkbox", |t| t.check("checkbox", "In stock", "section", "Filters")),
            ("plain button", |t| _ = t.click("button", "Filter")),
        ],
    );
}
