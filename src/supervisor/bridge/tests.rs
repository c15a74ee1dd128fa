//! Calls and answers, without a browser.

use proptest::prelude::*;

use super::wire::tests::write_call;
use super::*;

fn bridge() -> (Bridge, String) {
    let bridge = Bridge::with([3; 16], [4; 16]);
    let url = bridge.pattern().to_owned();
    (bridge, url)
}

fn call(bridge: &Bridge, number: u64, kind: &str) -> String {
    write_call(bridge.key, 9, number, kind, ["hé\n%", "🦀"])
}

#[test]
fn a_call_is_read_once() {
    let (mut bridge, url) = bridge();
    for (number, (name, kind)) in
        (1..).zip([("alert", CallKind::Alert), ("confirm", CallKind::Confirm), ("prompt", CallKind::Prompt)])
    {
        let body = call(&bridge, number, name);
        let call = bridge.read(&url, "POST", Some(body.as_bytes())).unwrap();
        assert_eq!((call.kind, &*call.message, &*call.default_prompt, call.cut), (kind, "hé\n%", "🦀", false));
        assert_eq!(bridge.read(&url, "POST", Some(body.as_bytes())), Err(RefusedCall::Repeated));
    }
}

#[test]
fn address_and_method_must_be_exact() {
    let (mut bridge, url) = bridge();
    let body = call(&bridge, 1, "alert");
    let host = url.trim_end_matches('/').trim_start_matches("https://");
    for other in [
        format!("{url}?"),
        format!("{url}x"),
        url.replace("https", "http"),
        url.to_uppercase(),
        format!("https://x{host}/"),
        format!("https://{host}.x/"),
        format!("https://{host}:444/"),
        format!("https://evil.example/{url}"),
        format!("https://u@{host}/"),
        String::new(),
    ] {
        assert_eq!(bridge.read(&other, "POST", Some(body.as_bytes())), Err(RefusedCall::Foreign), "{other}");
    }
    for other in ["GET", "OPTIONS", "PUT", "post", ""] {
        assert_eq!(bridge.read(&url, other, Some(body.as_bytes())), Err(RefusedCall::Method), "{other}");
    }
    assert_eq!(bridge.read(&url, "POST", None), Err(RefusedCall::BadCode));
    assert!(bridge.read(&url, "POST", Some(body.as_bytes())).is_ok());
}

#[test]
fn an_answer_is_no_call_and_another_key_is_none() {
    let (mut bridge, url) = bridge();
    let body = call(&bridge, 1, "prompt");
    let read = bridge.read(&url, "POST", Some(body.as_bytes())).unwrap();
    let answer = bridge.answer(&read, true, Some("yes"));
    assert!(answer.body().ends_with("\n1\n1\nyes"), "{}", answer.body());
    assert_eq!(bridge.read(&url, "POST", Some(answer.body().as_bytes())), Err(RefusedCall::BadForm));
    let mut other = Bridge::with([3; 16], [5; 16]);
    assert_eq!(other.read(&url, "POST", Some(body.as_bytes())), Err(RefusedCall::BadCode));
}

#[test]
fn answers_say_what_the_kind_allows() {
    let (mut bridge, url) = bridge();
    for (number, kind, accepted, expected) in [
        (1, "alert", true, "\n1\n"),
        (2, "confirm", true, "\n1\n"),
        (3, "confirm", false, "\n0\n"),
        (4, "prompt", false, "\n0\n"),
        (5, "prompt", true, "\n1\nte%00e4xt%000a"),
    ] {
        let body = call(&bridge, number, kind);
        let call = bridge.read(&url, "POST", Some(body.as_bytes())).unwrap();
        let answer = bridge.answer(&call, accepted, Some("teäxt\n"));
        assert!(answer.body().ends_with(expected), "{kind}: {}", answer.body());
        assert!(bridge.leave_to_browser(&call).body().ends_with("\nn\n"));
        let decoded = base64::engine::general_purpose::STANDARD.decode(answer.body_base64()).unwrap();
        assert_eq!(decoded, answer.body().as_bytes());
    }
}

#[test]
fn two_bridges_have_nothing_in_common_and_show_nothing() {
    let (one, two) = (Bridge::new().unwrap(), Bridge::new().unwrap());
    assert_ne!(one.pattern(), two.pattern());
    assert_ne!(one.key.start(), two.key.start());
    assert_eq!(one.pattern().len(), "https://".len() + 32 + ".invalid/".len());
    assert_eq!(format!("{one:?}"), "Bridge { .. }");
    assert!(one.source().starts_with("'use strict';((url"), "{}", one.source());
    assert!(!one.source().contains("//") || one.source().matches("//").count() == 1, "only the address has `//`");
    assert!(one.source().len() < 8_000, "{} bytes go into every document", one.source().len());
}

proptest! {
    #[test]
    fn any_bytes_are_refused(body in prop::collection::vec(any::<u8>(), 0..600), url in ".{0,40}", method in ".{0,8}") {
        prop_assert!(!fuzzing::bridge_request(&body));
        let (mut bridge, _) = bridge();
        prop_assert!(bridge.read(&url, &method, Some(&body)).is_err());
    }

    #[test]
    fn any_change_is_refused(at in any::<prop::sample::Index>(), flip in 1..=255_u8, message in any::<String>()) {
        let (mut bridge, url) = bridge();
        let mut body = write_call(bridge.key, 1, 1, "confirm", [&message, ""]).into_bytes();
        let at = at.index(body.len());
        body[at] ^= flip;
        prop_assert_eq!(bridge.read(&url, "POST", Some(&body)), Err(RefusedCall::BadCode));
        body[at] ^= flip;
        prop_assert_eq!(bridge.read(&url, "POST", Some(&body)).map(|call| call.message), Ok(message));
    }

    #[test]
    fn any_cut_or_tail_is_refused(length in any::<prop::sample::Index>(), tail in prop::collection::vec(any::<u8>(), 1..20)) {
        let (mut bridge, url) = bridge();
        let body = write_call(bridge.key, 1, 1, "confirm", ["message", ""]).into_bytes();
        let cut = &body[..length.index(body.len())];
        prop_assert_eq!(bridge.read(&url, "POST", Some(cut)), Err(RefusedCall::BadCode));
        prop_assert_eq!(bridge.read(&url, "POST", Some(&[&body[..], &tail].concat())), Err(RefusedCall::BadCode));
    }
}

#[test]
fn what_is_refused_leaves_no_trace() {
    let (mut bridge, url) = bridge();
    let shown = format!("{bridge:?}");
    for number in 0..1_000 {
        let forged = write_call(Key::new([9; 16]), number, 1, "alert", ["forged", ""]);
        assert_eq!(bridge.read(&url, "POST", Some(forged.as_bytes())), Err(RefusedCall::BadCode));
    }
    assert_eq!(bridge.seen.documents(), 0);
    assert_eq!(format!("{bridge:?}"), shown);
}

#[test]
fn what_is_too_long_is_not_looked_at() {
    let (mut bridge, url) = bridge();
    let long = write_call(bridge.key, 1, 1, "alert", [&"é".repeat(3 * TEXT_LIMIT), ""]);
    assert_eq!(bridge.read(&url, "POST", Some(long.as_bytes())), Err(RefusedCall::TooLong));
    let longest = write_call(bridge.key, 1, 1, "alert", [&"é".repeat(TEXT_LIMIT), &"é".repeat(TEXT_LIMIT)]);
    assert!(bridge.read(&url, "POST", Some(longest.as_bytes())).is_ok());
}
