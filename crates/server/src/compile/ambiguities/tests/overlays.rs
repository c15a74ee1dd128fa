//! Banners and dialogs.

use super::AmbiguityKind::ConditionalOverlay;
use super::*;

#[test]
fn overlays_that_pages_show() {
    check(
        ConditionalOverlay,
        &[1],
        &[
            ("consent dialog", |t| _ = t.click_in("button", "Accept all", "dialog", "We value your privacy")),
            ("German", |t| _ = t.click_in("button", "Alle akzeptieren", "dialog", "Cookies und Datenschutz")),
            ("French", |t| _ = t.click_in("button", "Tout refuser", "section", "Gestion des cookies")),
            ("Spanish", |t| _ = t.click_in("button", "Aceptar todo", "dialog", "Usamos cookies")),
            ("consent without a container", |t| _ = t.click("button", "Accept cookies")),
            ("known by its selector", |t| {
                t.click("button", "I agree").selectors = vec!["#onetrust-accept-btn-handler".to_owned()];
            }),
            ("bare consent button", |t| _ = t.click("button", "Reject all")),
            ("newsletter", |t| _ = t.click_in("button", "No thanks", "dialog", "Join our newsletter")),
            ("dialog at the load", |t| _ = t.click_in("button", "Not now", "dialog", "Choose your store")),
            ("closed by Escape", |t| {
                t.key("Escape", "button", "Close").container = within("dialog", "Choose your store");
            }),
            ("native dialog at the load", |t| _ = t.dialog("alert", "Your session has expired")),
        ],
    );
}

#[test]
fn overlays_after_other_actions() {
    check(
        ConditionalOverlay,
        &[2],
        &[
            ("consent after a click", |t| {
                t.click("link", "Orders");
                t.click_in("button", "Accept all cookies", "section", "This site uses cookies");
            }),
            ("newsletter after typing", |t| {
                t.search("boots");
                t.click_in("button", "Close", "dialog", "Choose your store");
            }),
            ("newsletter after a click", |t| {
                t.click("link", "Orders");
                t.click_in("button", "×", "dialog", "Subscribe to our newsletter");
            }),
        ],
    );
    let mut trace = Trace::default();
    trace.click_in("button", "Settings", "dialog", "Cookies");
    trace.check("checkbox", "Statistics", "dialog", "Cookies");
    trace.click_in("button", "Save", "dialog", "Cookies");
    trace.click_in("button", "Close", "dialog", "Choose your store");
    assert_eq!(trace.of(ConditionalOverlay), [vec![1, 2, 3], vec![4]], "one for each overlay");
}

#[test]
fn dialogs_of_the_person_are_no_overlays() {
    check(
        ConditionalOverlay,
        &[],
        &[
            ("dialog after a click", |t| {
                t.click("button", "Delete");
                t.click_in("button", "Close", "dialog", "Delete the order?");
            }),
            ("dialog after a submission", |t| {
                t.submit();
                t.click_in("button", "Got it", "dialog", "Saved");
            }),
            ("dialog with an address of its own", |t| {
                t.click("button", "Open the card");
                t.shows("https://shop.example/cards/7", "Card");
                t.add(EventType::TabNavigated, None, json!({ "url": "https://shop.example/cards/7", "caused_by": 1 }));
                t.click_in("button", "Close", "dialog", "Write tests");
            }),
            ("dialog that was filled in", |t| {
                t.click("button", "New");
                t.input("Name", "Ada").container = within("dialog", "New customer");
                t.click_in("button", "Close", "dialog", "New customer");
            }),
            ("newsletter that was ordered", |t| {
                t.input("Email", "ada@example.org").container = within("dialog", "Newsletter");
                t.click_in("button", "Close", "dialog", "Newsletter");
            }),
            ("cookie settings that were opened", |t| {
                t.click("link", "Cookie settings");
                t.click_in("button", "Save", "dialog", "Cookie settings");
            }),
            ("cookies in a basket", |t| {
                t.click("button", "Add to basket");
                t.click_in("button", "Close", "dialog", "Oat cookies are in your basket");
            }),
            ("policy of cookies", |t| _ = t.click("link", "Cookie policy")),
            ("save in privacy settings", |t| _ = t.click_in("button", "Save", "form", "Privacy settings")),
            ("close without a dialog", |t| _ = t.click("button", "Close")),
            ("accept an item", |t| _ = t.click_in("button", "Accept", "row", "Invitation of Ada")),
            ("native dialog of a click", |t| {
                t.click("button", "Delete");
                t.dialog("confirm", "Delete?");
            }),
            ("native dialog with a cause", |t| {
                t.click("button", "Delete");
                t.opens(SHOP, "Shop");
                t.dialog("alert", "Deleted").data.insert("caused_by".to_owned(), 1.into());
            }),
            ("leaving a page", |t| _ = t.dialog("beforeunload", "")),
        ],
    );
}
