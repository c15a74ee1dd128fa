//! Limits of files of recordings.

use serde_json::json;

use super::tests::{jpeg, picture, png, refusal_with, refused};
use super::*;

#[test]
fn texts_and_lists_have_limits() {
    let long = "x".repeat(2 << 20);
    for (pointer, value) in [
        ("/events/0/element/name", json!(long)),
        ("/events/0/element/text", json!(long)),
        ("/events/0/element/html", json!(long)),
        ("/events/0/element/selectors/0", json!(long)),
        ("/events/0/element/container/title", json!(long)),
        ("/events/0/page/title", json!(long)),
        ("/events/0/page/url", json!(format!("https://a.example/{long}"))),
        ("/events/0/frame/0/url", json!(long)),
        ("/events/0/data", json!({ "value": long })),
        ("/events/0/data", json!({ "values": [{ "value": long }] })),
    ] {
        let message = refusal_with(pointer, value);
        assert!(message.starts_with("events[0]."), "{message}");
        assert!(message.contains("the limit is") && message.ends_with(" it") | message.ends_with(" them"), "{message}");
        assert!(message.len() < 200, "the text is not repeated");
    }
    let many = json!(vec!["#a"; 65]);
    let expected = "events[0].element.selectors: the list has 65 items, the limit is 64; write at most 64";
    assert_eq!(refusal_with("/events/0/element/selectors", many), expected);
}

#[test]
fn the_number_of_events_and_screenshots_is_limited() {
    let events = format!("{{\"format\":\"{FORMAT}\",\"events\":[{}{{}}]}}", "{},".repeat(MAX_EVENTS));
    let message = import(&events).unwrap_err().to_string();
    assert_eq!(message, "events: the list has 20001 items, the limit is 20000; write at most 20000");
    let pictures = "{},".repeat(MAX_PICTURES);
    let pictures = format!("{{\"format\":\"{FORMAT}\",\"events\":[],\"keyframes\":[{pictures}{{}}]}}");
    let message = import(&pictures).unwrap_err().to_string();
    assert_eq!(message, "keyframes: the list has 4001 items, the limit is 4000; write at most 4000");
}

#[test]
fn the_size_the_depth_and_the_values_of_a_file_are_limited() {
    let large = " ".repeat(raw::MAX_FILE + 1);
    assert!(import(&large).unwrap_err().to_string().starts_with("the file has 67108865 bytes, the limit is 67108864"));
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let expected = "lists and objects are nested more than 32 deep; import the file as it was exported";
    assert_eq!(import(&deep).unwrap_err().to_string(), expected);
    let mut nested = json!(1);
    for _ in 0..40 {
        nested = json!([nested]);
    }
    assert_eq!(read(json!({ "format": FORMAT, "events": nested })).unwrap_err().to_string(), expected);
    let many = format!("[{}0]", "0,".repeat(3_000_001));
    let message = import(&many).unwrap_err().to_string();
    assert!(message.starts_with("the file has more than 3000000 values"), "{message}");
    let brackets = json!({ "format": FORMAT, "recording": { "name": "[".repeat(100) }, "events": [] });
    import(&brackets.to_string()).unwrap();
}

#[test]
fn screenshots_are_images_with_sides() {
    let cases: [(&str, Vec<u8>, &str); 8] = [
        ("image/jpeg", b"<svg onload=alert(1)>".to_vec(), "neither a JPEG nor a PNG"),
        ("image/jpeg", b"GIF89a".to_vec(), "neither a JPEG nor a PNG"),
        ("image/jpeg", png(1, 1), "media_type: the image is image/png; write image/png"),
        ("image/svg+xml", jpeg(1, 1), "media_type: the image is image/jpeg; write image/jpeg"),
        ("image/jpeg", jpeg(1, 1)[..8].to_vec(), "does not say its width and height"),
        ("image/png", png(1, 1)[..12].to_vec(), "does not say its width and height"),
        ("image/png", png(0, 1), "has 0 x 1 pixels"),
        ("image/png", png(1, 1_000_000), "has 1 x 1000000 pixels"),
    ];
    for (media_type, bytes, expected) in cases {
        let message = refusal_with("/keyframes/0", picture(1, false, media_type, &bytes));
        assert!(message.starts_with("keyframes[0].") && message.contains(expected), "{message}");
    }
    let not_base64 = json!({ "event_index": 1, "media_type": "image/png", "base64": "%%%" });
    assert!(refusal_with("/keyframes/0", not_base64).starts_with("keyframes[0].base64: not valid base64"));
    let mut large = jpeg(1, 1);
    large.resize((2 << 20) + 1, 0);
    for length in [(2 << 20) + 1, 3 << 20] {
        large.resize(length, 0);
        let message = refusal_with("/keyframes/0", picture(1, false, "image/jpeg", &large));
        assert_eq!(message, "keyframes[0].base64: the screenshot has more than 2097152 bytes; scale it down");
    }
    large.truncate(2 << 20);
    import(&refused("/keyframes/0", picture(1, false, "image/jpeg", &large))).unwrap();
}
