//! The golden code at work: what it writes, and what strange messages it can read.

use serde_json::{from_str, to_string};

use crate::cdp::protocol::alpha::{self, Kind};
use crate::cdp::protocol::io::{self, StreamHandle};
use crate::cdp::rt::{Base64, Command, Empty, Event, RawValue};

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

const NODE: &str = r#"{"nodeId":1,"type":"element","ratio":1,"visible":true}"#;

#[test]
fn parameters_are_written_without_what_is_left_out() {
    assert_eq!(to_string(&alpha::Enable::new()).unwrap(), "{}");
    assert_eq!(to_string(&alpha::Configure::default()).unwrap(), "{}");
    let filter = alpha::Filter { kinds: Some(vec![Kind::N3d, "new".into()]), ..alpha::Filter::new() };
    let configure = alpha::Configure { filter: Some(filter), ..Default::default() };
    assert_eq!(to_string(&configure).unwrap(), r#"{"filter":{"kinds":["3d","new"]}}"#);
    let mut echo = alpha::Echo::new("t", vec!["n".into()]);
    echo.raw = Some(raw("[1, 2]"));
    let mut run = alpha::RunOnDomNodes::new("a \"b\"", "F".into(), vec![7], Kind::Minus0, echo, Base64::encode(b"hi"));
    run.extra = Some(raw("{}"));
    assert_eq!(
        to_string(&run).unwrap(),
        r#"{"source":"a \"b\"","frameID":"F","nodeIds":[7],"kind":"-0","echo":{"text":"t","names":["n"],"raw":[1, 2]},"payload":"aGk=","extra":{}}"#
    );
}

#[test]
#[allow(deprecated)]
fn facts_of_commands_and_events_are_constants() {
    assert_eq!(alpha::RunOnDomNodes::METHOD, "Alpha.runOnDOMNodes");
    assert_eq!(alpha::RunOnDomNodes::REDIRECT, Some("IO"));
    const { assert!(alpha::RunOnDomNodes::EXPERIMENTAL && !alpha::Enable::EXPERIMENTAL) };
    // A command is as stable as its domain.
    const { assert!(io::Read::EXPERIMENTAL) };
    assert_eq!(alpha::Match::new("x").r#type, "x");
    assert_eq!(alpha::EntryAddedEvent::METHOD, "Alpha.entryAdded");
    assert_eq!(alpha::ClearedEvent::METHOD, "Alpha.cleared");
}

#[test]
fn every_enum_value_round_trips() {
    fn check<T>(listed: &[&str])
    where
        T: for<'a> From<&'a str> + serde::de::DeserializeOwned + serde::Serialize + std::fmt::Debug,
    {
        for value in listed.iter().copied().chain(["never heard of", "Element", "ü\n\"x\""]) {
            let wire = to_string(value).unwrap();
            let read: T = from_str(&wire).unwrap();
            assert_eq!(to_string(&read).unwrap(), wire);
            assert_eq!(format!("{read:?}").starts_with("Other("), !listed.contains(&value));
        }
    }
    check::<Kind>(Kind::LISTED);
    check::<alpha::NodeType>(alpha::NodeType::LISTED);
    check::<alpha::EntryAddedCause>(alpha::EntryAddedCause::LISTED);
    assert_eq!(Kind::LISTED.len(), 11);
    assert_eq!(Kind::from("other"), Kind::OtherValue);
    assert_eq!(Kind::from("Other"), Kind::Other("Other".into()));
    assert_eq!(Kind::ConsoleApi.to_string(), "console-api");
}

#[test]
fn strange_but_harmless_messages_are_read() {
    let text = r#"{"new":{"deep":[{}]},"node":{"nodeId":9007199254740993,"type":"comment","ratio":2,
        "visible":false,"label":null,"parent":null,"grid":[[1.0,2],[]],"anything":{"a":[1]},
        "peer":{"stream":"s","extra":1},"children":[]},"outcome":"left-out","stamps":[1,2.5]}"#;
    let read: alpha::RunOnDomNodesReturns = from_str(text).unwrap();
    assert_eq!(read.node.node_id, 9_007_199_254_740_993);
    assert_eq!(read.node.r#type, alpha::NodeType::Other("comment".into()));
    assert_eq!(read.node.grid, Some(vec![vec![1, 2], vec![]]));
    assert!(read.node.label.is_none() && read.node.parent.is_none() && read.node.quad.is_none());
    assert_eq!(read.node.anything.unwrap().get(), r#"{"a":[1]}"#);
    assert_eq!(read.node.peer.unwrap().stream, StreamHandle::from("s"));
    assert_eq!(read.outcome, alpha::RunOnDomNodesReturnsOutcome::LeftOut);
    assert_eq!(read.stamps, Some(vec![1.0, 2.5]));
    for anything in ["{}", r#"{"a":1}"#, "null", "[]", "3"] {
        assert_eq!(from_str::<Empty>(anything).unwrap(), Empty);
    }
    from_str::<alpha::ClearedEvent>(r#"{"later":[1,2]}"#).unwrap();
}

#[test]
fn whole_numbers_may_be_written_as_fractions_but_not_be_some() {
    let read = |count: &str| {
        let text = format!(r#"{{"to":{{"x":1,"y":-2.5}},"count":{count}}}"#);
        from_str::<alpha::MovedEvent>(&text).map(|event| event.count).map_err(|e| e.to_string())
    };
    assert_eq!(read("1.0"), Ok(1));
    assert_eq!(read("-1e3"), Ok(-1_000));
    assert_eq!(read("5000000000"), Ok(5_000_000_000));
    assert_eq!(read("9223372036854775807"), Ok(i64::MAX));
    for bad in ["1.5", "9223372036854775808", "1e19", "\"1\"", "null"] {
        assert!(read(bad).unwrap_err().starts_with("`count`: invalid"), "{bad}");
    }
}

#[test]
fn errors_name_the_path() {
    let error = |text: &str| from_str::<alpha::RunOnDomNodesReturns>(text).unwrap_err().to_string();
    assert!(error("{}").starts_with("`node`: required, but missing"), "{}", error("{}"));
    let deep = format!(r#"{{"node":{{"children":[{NODE},{{"peer":{{"node":{{}}}}}}]}}}}"#);
    assert!(error(&deep).starts_with("`node.children[1].peer.node.nodeId`: required"), "{}", error(&deep));
    let grid = r#"{"node":{"grid":[[],[1,"x"]]}}"#;
    assert!(error(grid).starts_with("`node.grid[1][1]`: invalid type: string \"x\""), "{}", error(grid));
    assert!(error("[]").contains("expected the object Alpha.runOnDOMNodes"));
    assert!(error("{\"node\":").contains("EOF"));
}

#[test]
fn events_borrow_what_they_can() {
    let text = String::from(
        r#"{"url":"http://a","cause":"user","details":{"k": 1},"entry":{"text":"a\nb","frameId":"F",
        "names":["n"],"args":[1,"two"],"data":"aGk","at":{"x":1,"y":2},"headers":{"h":"v"},
        "inner":{"text":"in","frameId":"G"},"more":[{"text":"m","frameId":"H"}]}}"#,
    );
    let event: alpha::EntryAddedEvent<'_> = from_str(&text).unwrap();
    assert!(event.url.is_borrowed() && event.url == "http://a");
    let entry = &event.entry;
    assert!(!entry.text.is_borrowed() && entry.text == "a\nb");
    assert!(entry.names.as_ref().unwrap()[0].is_borrowed());
    assert_eq!(entry.args.as_ref().unwrap()[1].get(), "\"two\"");
    assert_eq!(entry.data.as_ref().unwrap().decode().unwrap(), b"hi");
    assert_eq!(entry.headers.unwrap().get(), r#"{"h":"v"}"#);
    assert_eq!(entry.inner.as_ref().unwrap().text, "in");
    assert_eq!(event.details.unwrap().get(), r#"{"k": 1}"#);
    assert_eq!(entry.more.as_ref().unwrap()[0].frame_id.as_str(), "H");
}

#[test]
fn ids_are_cheap_and_work_as_keys() {
    let id = StreamHandle::new("s1");
    let map = std::collections::HashMap::from([(id.clone(), 1)]);
    assert_eq!(map.get("s1"), Some(&1));
    assert_eq!(from_str::<StreamHandle>("\"s1\"").unwrap(), id);
    assert_eq!(to_string(&id).unwrap(), "\"s1\"");
    assert_eq!(format!("{id} {id:?}"), "s1 StreamHandle(\"s1\")");
    assert!(StreamHandle::from(String::from("s0")) < id);
}

/// The vectors of RFC 4648, and text without padding.
#[test]
fn base64_both_ways() {
    for (plain, wire) in [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ] {
        assert_eq!(Base64::encode(plain.as_bytes()).as_str(), wire);
        assert_eq!(Base64::from_wire(wire).decode().unwrap(), plain.as_bytes());
        assert_eq!(Base64::from_wire(wire.trim_end_matches('=')).decode().unwrap(), plain.as_bytes());
    }
    let error = Base64::from_wire("?").decode().unwrap_err().to_string();
    assert!(error.starts_with("invalid Base64"), "{error}");
    let read: io::ReadReturns = from_str(r#"{"data":"Zm8=","eof":true}"#).unwrap();
    assert_eq!((read.data.decode().unwrap(), read.eof), (b"fo".to_vec(), true));
}
