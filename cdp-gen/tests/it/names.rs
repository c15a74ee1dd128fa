//! Names, and what happens when two of them meet.

use cdp_gen::{names, render};

use crate::support::{failure, one_domain, options};

#[test]
fn words_are_cut_where_people_cut_them() {
    for (wire, pascal, snake) in [
        ("navigate", "Navigate", "navigate"),
        ("getDOMCounters", "GetDomCounters", "get_dom_counters"),
        ("consoleAPICalled", "ConsoleApiCalled", "console_api_called"),
        ("AXNode", "AxNode", "ax_node"),
        ("TargetID", "TargetId", "target_id"),
        ("documentURL", "DocumentUrl", "document_url"),
        ("IndexedDB", "IndexedDb", "indexed_db"),
        ("DOMSnapshot", "DomSnapshot", "dom_snapshot"),
        ("IO", "Io", "io"),
        ("nodeIDs", "NodeIds", "node_ids"),
        ("console-api", "ConsoleApi", "console_api"),
        ("with_underscore", "WithUnderscore", "with_underscore"),
        ("cellular2g", "Cellular2g", "cellular2g"),
        ("sha256Digest", "Sha256Digest", "sha256_digest"),
    ] {
        assert_eq!(names::pascal(wire), pascal);
        assert_eq!(names::snake(wire), snake);
    }
}

#[test]
fn keywords_and_odd_values_get_names() {
    assert_eq!(names::field("A", "type").unwrap(), "r#type");
    assert_eq!(names::field("A", "self").unwrap(), "self_");
    assert_eq!(names::module("Match").unwrap(), "r#match");
    for (value, variant) in
        [("-0", "Minus0"), ("-Infinity", "MinusInfinity"), ("3g", "N3g"), ("", "Empty"), ("other", "OtherValue")]
    {
        assert_eq!(names::variant("A", value).unwrap(), variant);
    }
    assert!(names::variant("A", "*").is_err());
    assert!(names::variant("A", "größe").is_err());
    assert!(names::field("A", "3d").is_err());
}

#[test]
fn colliding_names_are_an_error() {
    for (inside, message) in [
        (r#""commands":[{"name":"getURL"},{"name":"getUrl"}]"#, "A: two names become `GetUrl`"),
        (r#""types":[{"id":"Open","type":"string"}],"commands":[{"name":"open"}]"#, "A: two names become `Open`"),
        (
            r#""commands":[{"name":"x","parameters":[{"name":"aB","type":"any"},{"name":"a_b","type":"any"}]}]"#,
            "A.x: two names become `a_b`",
        ),
        (r#""types":[{"id":"E","type":"string","enum":["a-b","aB"]}]"#, "E: two names become `AB`"),
        (r#""types":[{"id":"E","type":"string","enum":["other","OtherValue"]}]"#, "E: two names become `OtherValue`"),
        (r#""types":[{"id":"Vec","type":"string"}]"#, "A: two names become `Vec`"),
        (
            r#""types":[{"id":"RunMode","type":"string"}],"commands":[{"name":"run","parameters":[{"name":"mode","type":"string","enum":["x"]}]}]"#,
            "A: two names become `RunMode`",
        ),
    ] {
        // A type that only a field uses still counts, so everything is written.
        let all = cdp_gen::Options { full: true, ..options(one_domain(inside), "") };
        assert_eq!(failure(render(&all)), message);
    }
}
