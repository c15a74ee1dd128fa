//! Logins and first pages.

use super::AmbiguityKind::{Login, StartAfterSubmit, VaryingValue};
use super::*;

#[test]
fn a_login() {
    let mut trace = Trace::at("https://shop.example/login", "Log in");
    trace.input("Email", "ada@example.org");
    trace.secret("Password");
    trace.click("button", "Log in");
    trace.submit();
    trace.opens(SHOP, "Shop");
    trace.click("link", "Orders");
    assert_eq!(trace.found(), [(Login, vec![2, 3, 4, 5])], "{:#?}", trace.all());
    let one = &trace.all()[0];
    assert!(one.question.contains("\"shop.example\"") && !one.settled_by_event, "{}", one.question);
}

#[test]
fn pages_and_codes_of_a_login_belong_together() {
    let mut trace = Trace::at("https://id.example/", "Welcome");
    trace.input("Email or phone", "ada@example.org");
    trace.click("button", "Next");
    trace.opens("https://id.example/2", "Welcome");
    trace.secret("Password");
    trace.click("button", "Next");
    trace.opens("https://id.example/3", "Welcome");
    trace.secret("Verification code");
    trace.click("button", "Next");
    assert_eq!(trace.found(), [(Login, vec![2, 3, 6, 7, 10, 11])], "{:#?}", trace.all());
}

#[test]
fn logins_of_two_sites_are_two() {
    let mut trace = Trace::at("https://a.example/login", "A");
    trace.secret("Password");
    trace.click("button", "Log in");
    trace.opens("https://a.example/", "A");
    trace.input("Amount", "12");
    trace.click("button", "Save");
    trace.shows("https://b.example/login", "B");
    trace.add(EventType::TabNavigated, None, json!({ "url": "https://b.example/login" }));
    trace.secret("Passwort");
    assert_eq!(trace.of(Login), [vec![2, 3], vec![9]], "{:#?}", trace.all());
}

#[test]
fn other_secrets_are_no_login() {
    check(
        Login,
        &[],
        &[
            ("change of a password", |t| {
                t.secret("Current password");
                t.secret("New password");
            }),
            ("a new account", |t| {
                t.input("Email", "ada@example.org");
                t.secret("Password").container = within("form", "Create account");
            }),
            ("a password on a page of settings", |t| {
                t.shows("https://shop.example/account/settings", "Settings");
                t.secret("Password");
            }),
            ("a repeated password", |t| _ = t.secret("Repeat password")),
            ("a card", |t| {
                t.secret("Card number");
                t.secret("CVC");
            }),
            ("a masked field", |t| _ = t.secret("Salary")),
            ("the code of a card", |t| {
                t.secret("Kartennummer");
                t.secret("Sicherheitscode");
            }),
            ("a key", |t| _ = t.secret("API key")),
            ("no secret", |t| _ = t.input("Password hint", "my dog")),
        ],
    );
}

#[test]
fn addresses_of_a_first_page() {
    let cases = [
        ("https://shop.example/checkout", true),
        ("https://shop.example/en/checkout/payment", true),
        ("https://checkout.shop.example/pay", true),
        ("https://shop.example/order/confirm", true),
        ("https://shop.example/order/confirmation", true),
        ("https://forms.example/apply/step-2", true),
        ("https://forms.example/apply/step/3", true),
        ("https://forms.example/apply?step=2", true),
        ("https://forms.example/setup/wizard/billing", true),
        ("https://forms.example/apply/review", true),
        ("https://flights.example/results", true),
        ("https://forms.example/a?session=81ab", true),
        ("https://forms.example/a;jsessionid=81ab", true),
        ("https://forms.example/a?token=[secret]", true),
        ("https://forms.example/join/[secret]", true),
        ("https://shop.example/", false),
        ("https://shop.example/search?q=boots&page=2", false),
        ("https://shop.example/results?q=boots", false),
        ("https://shop.example/checkout/cart", false),
        ("https://git.example/actions/checkout", false),
        ("https://shop.example/product/7/review", false),
        ("https://shop.example/reviews", false),
        ("https://forms.example/apply/step-1", false),
        ("https://forms.example/apply?step=1", false),
        ("https://forms.example/setup/wizard/start", false),
        ("https://forms.example/setup/wizard", false),
        ("https://blog.example/2024/sessions", false),
        ("https://blog.example/?token=", false),
        ("https://blog.example/guide/next-steps", false),
        ("file:///tmp/a.html", false),
    ];
    for (url, expected) in cases {
        let mut trace = Trace::at(url, "Page");
        trace.click("button", "Go");
        assert_eq!(trace.of(StartAfterSubmit), if expected { vec![vec![1]] } else { vec![] }, "{url}");
    }
}

#[test]
fn the_first_page_that_counts() {
    let mut blank = Trace::default();
    blank.shows("about:blank", "");
    blank.add(EventType::TabCreated, None, json!({ "url": "about:blank" }));
    blank.click("button", "Go");
    assert_eq!(blank.of(StartAfterSubmit), [[2]], "something was done on an empty page");

    let mut opened = Trace::default();
    opened.shows("about:blank", "");
    opened.add(EventType::TabCreated, None, json!({ "url": "about:blank" }));
    opened.shows(SHOP, "Shop");
    opened.add(EventType::TabNavigated, None, json!({ "url": SHOP }));
    opened.click("button", "Go");
    assert_eq!(opened.found(), [], "an address was opened in a new tab");

    let mut redirected = Trace::at(SHOP, "Shop");
    redirected.shows("https://id.example/?session=1", "Log in");
    redirected.add(EventType::TabNavigated, None, json!({ "url": "https://id.example/?session=1" }));
    redirected.click("button", "Go");
    assert_eq!(redirected.found(), [], "the first address leads there");

    let mut later = Trace::at(SHOP, "Shop");
    later.click_in("button", "Continue", "form", "Step 2 of 4");
    assert_eq!(later.of(StartAfterSubmit), [[1]], "a later step of a form without an address of its own");

    let mut first = Trace::at(SHOP, "Step 1 of 4");
    first.click_in("button", "Continue", "form", "Step 1 of 4");
    assert_eq!(first.of(StartAfterSubmit), Vec::<Vec<u64>>::new(), "the first step of a form");
}

#[test]
fn what_was_entered_in_a_login_is_no_other_question() {
    let mut trace = Trace::at("https://shop.example/login", "Log in");
    trace.input("Email", "ada@example.org");
    trace.secret("Password");
    assert_eq!(trace.of(VaryingValue), Vec::<Vec<u64>>::new());
}
