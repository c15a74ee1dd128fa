//! Texts in locators are those that a person reads: rendered ones, with white space wherever the page breaks them.

use cdpilot::page::Error;
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::test_tab::TestTab;

const PAGE: &str = "<!doctype html><title>Texts</title><body>
    <script>const hint = 'Pay now, Cancel order';</script><style>/* Pay now */ .loud { text-transform: uppercase }</style>
    <noscript>Pay now</noscript><template><p>Pay now</p></template>
    <main><p>Introduction</p>
        <div>Summary <span hidden>Pay now</span><span style='visibility:hidden'>Pay now</span></div>
        <button id=pay><i></i><span><b>Pay</b> now</span></button>
        <div id=total><div>Total</div><div>42 €</div></div>
        <a href='#1' id=logo aria-label='Cancel order'><svg width=10 height=10></svg></a>
        <p>Chapter</p><div onclick='1'>Chapter</div>
        <p class=loud id=loud>Shouted words</p>
        <input id=note value='Written note'><input type=password value=s3cretword>
        <label>Size <select id=size><option>Big<option>Small</select></label>
    </main></body>";

fn role_of(page: &TestTab, locator: &str) -> Vec<(String, String)> {
    let found = page.tab.find(locator, None, None, soon()).unwrap();
    found.matches.into_iter().map(|found| (found.role, found.name)).collect()
}

#[test]
fn a_text_is_found_where_it_is_rendered_and_nowhere_else() {
    let Some(page) = TestTab::showing("find-rendered", PAGE) else { return };
    // A control is found by its label, once, however many elements make it up.
    for locator in ["text=Pay now", "text=\"Pay now\"", "text=pay NOW", "text=Paynow"] {
        assert_eq!(role_of(&page, locator), [("button".to_owned(), "Pay now".to_owned())], "{locator}");
    }
    for locator in ["text=hint", "text=.loud"] {
        assert_eq!(role_of(&page, locator), [], "{locator}");
    }
    // The breaks of lines and boxes do not matter.
    for locator in ["text=Total 42 €", "text=Total42 €", "text=\"Total 42 €\""] {
        let found = page.tab.find(locator, None, None, soon()).unwrap().matches;
        assert_eq!(found.len(), 1, "{locator}");
        let act = json!({ "kind": "evaluate", "fn": "e => e.id", "ref": found[0].reference });
        assert_eq!(page.act(act).unwrap().result, Some(json!("total")), "{locator}");
        assert_eq!(found[0].text, "Total 42 €");
    }
    // A style sheet may change the case.
    for locator in ["text=\"SHOUTED WORDS\"", "text=\"Shouted words\"", "text=shouted"] {
        assert_eq!(role_of(&page, locator).len(), 1, "{locator}");
    }
    for shown in ["Total42 €", "Written note"] {
        page.act(json!({ "kind": "wait", "text": shown })).unwrap();
    }
    let covered = page.fails_by(json!({ "kind": "wait", "text": "s3cretword" }), Deadline::after_millis(500));
    assert!(matches!(covered, Error::Timeout { .. }), "{covered}");
}

#[test]
fn a_locator_without_a_match_says_what_comes_near() {
    let Some(page) = TestTab::showing("find-near", PAGE) else { return };
    let error = |locator: &str| {
        page.fails_by(json!({ "kind": "click", "locator": locator }), Deadline::after_millis(500)).to_string()
    };
    for (locator, near) in [
        ("text=Cancel order", "(link \"Cancel order\")"),
        ("role=button[name=\"Cancel order\"]", "(link \"Cancel order\")"),
        ("role=link[name=\"Pay now\"]", "(button \"Pay now\")"),
        ("label=Pay now", "(button \"Pay now\")"),
    ] {
        let message = error(locator);
        assert!(message.contains("what comes near: e") && message.contains(near), "{message}");
    }
    let nothing = error("text=Zebra crossing");
    assert!(nothing.contains("take a snapshot") && !nothing.contains("near"), "{nothing}");
    // Candidates without a name are told apart by their text.
    let several = error("text=Chapter");
    assert!(several.contains("2 elements match") && several.contains("(paragraph \"Chapter\")"), "{several}");
}

#[test]
fn an_option_of_a_closed_list_is_selected_not_clicked() {
    let Some(page) = TestTab::showing("find-option", PAGE) else { return };
    let found = page.tab.find("role=option[name=\"Small\"]", None, None, soon()).unwrap().matches;
    assert_eq!(found.len(), 1);
    for at in [
        json!({ "ref": found[0].reference }),
        json!({ "locator": "text=Small" }),
        json!({ "locator": "role=option[name=\"Small\"]" }),
        json!({ "selector": "option:last-child" }),
    ] {
        let mut act = json!({ "kind": "click" });
        act.as_object_mut().unwrap().extend(at.as_object().unwrap().clone());
        let error = page.act(act).unwrap_err();
        assert!(matches!(error, Error::NotActionable { .. }), "{at}: {error}");
        let message = error.to_string();
        assert!(message.contains("use select on e") && message.contains("\"Small\""), "{at}: {message}");
        // The list that is named is the one to use.
        let list = message.split("select on ").nth(1).unwrap().split(' ').next().unwrap();
        page.act(json!({ "kind": "select", "ref": list, "values": ["Small"] })).unwrap();
        assert_eq!(page.value("size.value"), "Small");
        page.value("size.value = 'Big'");
    }
}

/// Names as a person reads them: a no-break space is a space, and an icon of a font is no name.
#[test]
fn names_are_those_that_a_person_can_read() {
    let html = "<meta charset=utf-8><span id=l>Age&nbsp;</span><input aria-labelledby=l>
        <a href='#debug'><i class='fa fa-bug'>\u{f188}</i></a>";
    let Some(page) = TestTab::showing("names", html) else { return };
    page.act(json!({ "kind": "type", "locator": "role=textbox[name=\"Age\"]", "text": "7" })).unwrap();
    assert_eq!(page.value("document.querySelector('input').value"), "7");
    let seen = page.snapshot();
    let shown = crate::support::test_tab::text(&seen);
    assert!(shown.contains("link [ref=") && shown.contains("[icon=bug]"), "{shown}");
}
