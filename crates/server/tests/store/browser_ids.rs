//! Ids of browsers: valid, expired, replaced, removed; the ids themselves are not stored.

use cdpilot::code::Code;
use cdpilot_server::store::{BrowserBinding, BrowserLookup};

use crate::store_files::{Database, soon};

const DAY: f64 = 86_400.0;
const ID: &str = "6f1c9b8e-94a1-4c55-9f6e-0a3b5b8f0c11";
const OTHER: &str = "0b0de3f2-5a4e-4f3c-8f0e-6a2f5f6d7e22";

fn profile(name: &str) -> BrowserBinding {
    BrowserBinding::Profile(name.to_owned())
}

#[test]
fn an_id_is_valid_until_it_expires_and_is_reported_as_expired_for_a_day() {
    let at = Database::new();
    let lookup = |id: &str, now: f64| at.store().find_browser_id(id, now, soon()).unwrap();
    assert_eq!(lookup(ID, 0.0), BrowserLookup::Unknown);
    at.store().register_browser_id(ID, profile("work"), 1000.0, 1000.0 + DAY, soon()).unwrap();
    let browser = lookup(&format!(" {} ", ID.to_uppercase()), 1500.0).valid().unwrap();
    assert_eq!((browser.binding, browser.created_at, browser.expires_at), (profile("work"), 1000.0, 1000.0 + DAY));
    assert!(matches!(lookup(ID, 1000.0 + DAY), BrowserLookup::Expired(_)));
    let sweep = |now: f64| at.store().sweep_browser_ids(now, soon()).unwrap();
    assert_eq!(sweep(1000.0 + 2.0 * DAY), 0);
    assert!(matches!(lookup(ID, 1000.0 + 2.0 * DAY), BrowserLookup::Expired(_)));
    assert_eq!(sweep(1001.0 + 2.0 * DAY), 1);
    assert_eq!(lookup(ID, 1001.0 + 2.0 * DAY), BrowserLookup::Unknown);
}

#[test]
fn a_browser_has_one_id() {
    let at = Database::new();
    let register = |id: &str, binding| at.store().register_browser_id(id, binding, 0.0, DAY, soon());
    let endpoint = |address: &str| BrowserBinding::Endpoint(address.to_owned());
    let valid = |id: &str| at.store().find_browser_id(id, 1.0, soon()).unwrap().valid().map(|browser| browser.binding);
    register(ID, endpoint("ws://a/?token=x")).unwrap();
    register(OTHER, profile("ws://a/?token=x")).unwrap();
    assert_eq!((valid(ID), valid(OTHER)), (Some(endpoint("ws://a/?token=x")), Some(profile("ws://a/?token=x"))));
    let taken = register(ID, profile("other")).unwrap_err();
    assert_eq!((taken.kind(), taken.to_string().contains(ID)), (Code::Conflict, false), "{taken}");
    assert!(valid(ID).is_some(), "nothing was replaced");
    // The same browser again.
    let new = "aaaaaaaa-94a1-4c55-9f6e-0a3b5b8f0c11";
    register(new, endpoint("ws://a/?token=x")).unwrap();
    assert_eq!((valid(ID), valid(new)), (None, Some(endpoint("ws://a/?token=x"))));
    assert!(at.store().remove_browser_id(new, soon()).unwrap());
    assert!(!at.store().remove_browser_id(new, soon()).unwrap());
    assert_eq!(valid(new), None);
}

#[test]
fn the_id_itself_is_in_none_of_the_files() {
    let at = Database::new();
    at.store().register_browser_id(ID, profile("a-profile-name"), 0.0, DAY, soon()).unwrap();
    let mut has_name = false;
    for name in ["cdpilot.db", "cdpilot.db-wal"] {
        let bytes = std::fs::read(at.home().root().join(name)).unwrap();
        let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(!has(ID) && !has(&ID.replace('-', "")), "{name}");
        has_name |= has("a-profile-name");
    }
    assert!(has_name, "the files are those that were written");
}
