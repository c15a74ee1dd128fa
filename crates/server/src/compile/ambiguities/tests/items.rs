//! Items of lists.

use super::AmbiguityKind::PositionOrIdentity;
use super::*;

#[test]
fn an_item_of_a_list_was_used() {
    check(
        PositionOrIdentity,
        &[1],
        &[
            ("link in a row", |t| _ = t.click_in("link", "Harbour lease", "row", "Ada, 12 March")),
            ("button in a card", |t| _ = t.click_in("button", "Add to basket", "card", "Red boots")),
            ("button of a list item", |t| _ = t.click_in("button", "Reply", "item", "Mira Halloran")),
            ("kind of another recorder", |t| _ = t.click_in("link", "Red boots", "listitem", "Red boots")),
            ("cell", |t| _ = t.click_in("gridcell", "Open", "row", "Invoice 4711")),
            ("word of menus in the address", |t| {
                let used = t.click_in("link", "Pizza", "card", "With basil");
                used.selectors = vec!["a[href=\"/menu/pizza\"]".to_owned()];
                used.html = "<a class=\"dish\" href=\"/menu/pizza\">Pizza</a>".to_owned();
            }),
            ("image in a card", |t| _ = t.click_in("image", "", "card", "Red boots")),
            ("record number in a row", |t| _ = t.click_in("link", "271", "row", "Printer is on fire")),
            ("in the header of a card", |t| {
                t.click_in("link", "Why Rust", "card", "by Ada").selectors =
                    vec!["main>article:nth-of-type(2)>header>a".to_owned()];
            }),
            ("the row itself", |t| _ = t.click("row", "Harbour lease, Ada")),
            ("a date in a table", |t| _ = t.click_in("cell", "12 March 2025", "row", "Harbour lease")),
            ("dragged", |t| {
                let mut used = element("generic", "Write tests");
                used.container = within("card", "Write tests");
                t.add(EventType::Drag, Some(used), json!({ "from": {}, "to": {} }));
            }),
            ("by its place only", |t| {
                t.click("link", "Why Rust").selectors = vec!["main>ol>li:nth-of-type(3)>a".to_owned()];
            }),
        ],
    );
}

#[test]
fn no_item_of_a_list_was_used() {
    check(
        PositionOrIdentity,
        &[],
        &[
            ("link of a menu", |t| {
                t.click_in("link", "Products", "item", "Phones").selectors =
                    vec!["nav>ul>li:nth-of-type(2)>a".to_owned()];
            }),
            ("class of menus", |t| {
                let used = t.click_in("link", "Products", "item", "Phones");
                used.html = "<a href=\"/products\" class=\"nav-link\">Products</a>".to_owned();
            }),
            ("link of a page header", |t| {
                t.click("link", "Orders").selectors = vec!["header>ul>li:nth-of-type(2)>a".to_owned()];
            }),
            ("link elsewhere", |t| _ = t.click("link", "Orders")),
            ("tab", |t| _ = t.click_in("tab", "Details", "item", "Details of the order")),
            ("menu item", |t| _ = t.click_in("menuitem", "Archive", "item", "Archive this")),
            ("next page", |t| _ = t.click_in("link", "Next", "item", "Page 1 of 4")),
            ("page number", |t| _ = t.click_in("link", "2", "item", "Pages")),
            ("head of a table", |t| {
                t.click_in("link", "Price", "row", "Name").selectors =
                    vec!["table>thead>tr>th:nth-of-type(3)>a".to_owned()];
            }),
            ("sorting link in the head of a table", |t| {
                t.shows("https://shop.example/list", "Shop");
                t.click_in("link", "Price", "row", "Name").html = "<a href=\"/list?o=price\">Price</a>".to_owned();
            }),
            ("named page number", |t| _ = t.click_in("button", "Go to page 2", "item", "Pages")),
            ("submit button", |t| _ = t.click_in("button", "Save", "form", "Order")),
            ("button of a dialog", |t| _ = t.click_in("button", "Delete", "dialog", "Delete the item?")),
            ("column header", |t| _ = t.click_in("columnheader", "Name", "row", "Name Date")),
            ("field in a row", |t| _ = t.click_in("textbox", "Quantity", "row", "Red boots")),
            ("day of a calendar", |t| _ = t.click_in("button", "15", "row", "12 13 14")),
            ("setting", |t| t.check("checkbox", "Newsletter", "item", "Newsletter")),
            ("the subject of the page", |t| {
                t.shows("https://shop.example/p/7", "Red boots | Shop");
                t.click_in("button", "Add to basket", "card", "Red boots");
            }),
            ("the subject of the page by its address", |t| {
                t.shows("https://shop.example/p/7", "Shop");
                let used = t.click_in("button", "Add to basket", "card", "Red boots");
                used.container.as_mut().unwrap().href = "https://shop.example/p/7".to_owned();
            }),
            ("an item that the person has made", |t| {
                t.input("New task", "Buy milk");
                t.click_in("button", "Edit", "item", "Buy milk");
            }),
            ("a choice of a menu", |t| {
                t.click("button", "Actions").html = "<button aria-haspopup=\"menu\">".to_owned();
                t.click_in("link", "Archive", "item", "Archive, delete");
            }),
        ],
    );
}

#[test]
fn a_result_needs_no_container() {
    let cases: [Expecting<u64>; 5] = [
        ("search by Enter", 5, |t| {
            t.search("boots");
            t.key("Enter", "searchbox", "Search");
            t.opens("https://shop.example/list", "Shop");
            t.click("link", "Red boots");
        }),
        ("search on the same page", 3, |t| {
            t.search("boots");
            t.click("button", "Go");
            t.click("link", "Red boots");
        }),
        ("sorted by a list", 2, |t| {
            t.choose("Sort by", "price", "Price");
            t.click("link", "Red boots");
        }),
        ("sorted by a column", 2, |t| {
            t.click("columnheader", "Price");
            t.click("cell", "Red boots");
        }),
        ("address of a search", 1, |t| {
            t.shows("https://shop.example/all?sort=price", "Shop");
            t.click("link", "Red boots");
        }),
    ];
    for (name, event, build) in cases {
        let mut trace = Trace::default();
        build(&mut trace);
        assert_eq!(trace.of(PositionOrIdentity), [[event]], "{name}: {:#?}", trace.all());
    }
}

#[test]
fn other_links_of_a_list_are_no_results() {
    check(
        PositionOrIdentity,
        &[],
        &[
            ("link of the site", |t| {
                t.shows("https://shop.example/all?q=boots", "Shop");
                t.click("link", "Basket");
            }),
            ("another sorting", |t| {
                t.shows("https://shop.example/all?q=boots", "Shop");
                t.click("link", "Sort by price");
            }),
            ("next page", |t| {
                t.shows("https://shop.example/all?q=boots", "Shop");
                t.click("link", "Next page");
            }),
            ("a page without a list", |t| {
                t.shows("https://shop.example/about?lang=en", "Shop");
                t.click("link", "Our history");
            }),
            ("another filter", |t| {
                t.shows("https://shop.example/all?q=boots", "Shop");
                t.click("link", "Red 12").html = "<a href=\"/all?q=boots&amp;colour=red\">Red 12</a>".to_owned();
            }),
            ("logo", |t| {
                t.shows("https://shop.example/all?q=boots", "Shop");
                t.click("link", "Boot shop").html = "<a href=\"/\">Boot shop</a>".to_owned();
            }),
            ("an empty search", |t| {
                t.shows("https://shop.example/all?q=", "Shop");
                t.click("link", "Our history");
            }),
            ("a button", |t| {
                t.shows("https://shop.example/all?q=boots", "Shop");
                t.click("button", "Save this view");
            }),
        ],
    );
}
