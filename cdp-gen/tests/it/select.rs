//! What a selection pulls in, in which direction, and how types look.

use cdp_gen::items::{self, Item};
use cdp_gen::schema::{Protocol, TypeRef};
use cdp_gen::select::{Layout, Selection};
use cdp_gen::{Options, patch, pinned, render};

use crate::support::{failure, one_domain, options, synthetic};

fn patched() -> Protocol {
    let mut protocol = pinned::protocol().unwrap();
    patch::apply(&mut protocol, patch::PATCHES).unwrap();
    protocol
}

#[test]
fn an_item_pulls_in_what_it_refers_to_and_no_more() {
    let files = render(&options(synthetic(), "IO.read\n")).unwrap();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["io.rs", "protocol.rs"]);
    let files = render(&options(synthetic(), "Alpha.cleared\nAlpha.moved\n")).unwrap();
    let alpha = &files["alpha.rs"];
    assert!(alpha.contains("struct Point") && alpha.contains("struct MovedEvent"));
    assert!(!alpha.contains("struct Node") && !alpha.contains("Serialize for"));
}

#[test]
fn each_type_gets_only_the_half_it_needs() {
    let files = render(&options(synthetic(), "Alpha.configure\nAlpha.runOnDOMNodes\n")).unwrap();
    let alpha = &files["alpha.rs"];
    let has = |text: &str| alpha.contains(text);
    assert!(has("serde::Serialize for Filter") && !has("rt::record!(Filter)"));
    assert!(has("rt::record!(Node)") && !has("serde::Serialize for Node"));
    assert!(has("serde::Serialize for Echo") && has("rt::record!(Echo)"));
}

#[test]
fn a_listed_type_comes_in_both_directions() {
    let files = render(&options(synthetic(), "Alpha.Peer\n")).unwrap();
    assert!(files["alpha.rs"].contains("serde::Serialize for Peer"));
    assert!(files["alpha.rs"].contains("rt::record!(Peer)"));
    assert!(files.contains_key("io.rs"));
}

#[test]
fn a_domain_may_be_named_both_ways() {
    for name in ["DOMSnapshot", "dom_snapshot"] {
        let selection = Selection::new(&patched(), &[], &[name.to_owned()]).unwrap();
        assert!(selection.commands.contains(&("DOMSnapshot".into(), "captureSnapshot".into())));
        assert!(selection.types().any(|(name, _)| name.domain == "DOMDebugger"));
    }
}

#[test]
fn boxes_stand_where_types_close_a_cycle_and_nowhere_else() {
    let layout = Layout::new(&patched());
    let boxed: Vec<String> = layout.boxed.iter().map(|(owner, field)| format!("{owner}.{field}")).collect();
    assert_eq!(
        boxed,
        [
            "DOM.Node.contentDocument",
            "DOM.Node.importedDocument",
            "DOM.Node.templateContent",
            "Runtime.StackTrace.parent",
            "ServiceWorker.ServiceWorkerRouterCondition.not",
        ]
    );
    let layout = Layout::new(&synthetic());
    for (owner, field) in [("Node", "parent"), ("Node", "peer"), ("Peer", "node"), ("Entry", "inner")] {
        assert!(layout.boxed.contains(&(TypeRef::new("Alpha", owner), field.to_owned())), "{owner}.{field}");
    }
    assert_eq!(layout.boxed.len(), 4);
}

#[test]
fn types_look_the_same_whatever_is_selected() {
    let listed = render(&options(
        synthetic(),
        "Alpha.moved\nAlpha.entryAdded\n"
            .split('\n')
            .rev()
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join("\n")
            .as_str(),
    ))
    .unwrap();
    let whole = crate::support::whole(synthetic());
    let definition = |text: &str| {
        let start = text.find("pub struct Entry<'a> {").unwrap();
        text[start..].split("\n}\n").next().unwrap().to_owned()
    };
    assert_eq!(definition(&listed["alpha.rs"]), definition(&whole["alpha.rs"]));
}

#[test]
fn unknown_names_are_refused() {
    let unknown = |options: &Options| failure(render(options));
    let bad = options(synthetic(), "Alpha.nothing\n");
    assert_eq!(unknown(&bad), "the pinned protocol has no `Alpha.nothing`");
    let bad = Options { domains: vec!["nowhere".into()], ..options(synthetic(), "") };
    assert_eq!(unknown(&bad), "the pinned protocol has no `nowhere`");
    let dangling = one_domain(r#""types":[{"id":"T","type":"array","items":{"$ref":"B.C"}}]"#);
    assert_eq!(failure(dangling.check_refs()), "protocol, A.T[]: refers to missing `B.C`");
}

#[test]
fn the_item_list_has_to_be_sorted() {
    let items = items::parse("# why\nA.b\n\n A.c \n").unwrap();
    let item = |name: &str| Item { domain: "A".into(), name: name.into() };
    assert_eq!(items, [item("b"), item("c")]);
    assert!(failure(items::parse("A.c\nA.b\n")).starts_with("item list, line 2: "));
    assert!(failure(items::parse("A.c\nA.c\n")).contains("only once"));
    assert!(failure(items::parse("A\n")).contains("is not `Domain.name`"));
}

#[test]
fn unknown_constructs_are_refused() {
    for (inside, message) in [
        (r#""types":[{"id":"T","type":"tuple"}]"#, "protocol, A.T: type `tuple` is not known here"),
        (r#""types":[{"id":"T"}]"#, "protocol, A.T: `type` is missing"),
        (r#""types":[{"id":"T","type":"integer","enum":[1]}]"#, "protocol, A.T: enum of `integer`"),
        (r#""types":[{"id":"T","type":"any"},{"id":"T","type":"any"}]"#, "protocol, A: `T` stands twice"),
    ] {
        let text = format!(r#"{{"domains":[{{"domain":"A",{inside}}}]}}"#);
        assert_eq!(failure(Protocol::parse("test", &text)), message);
    }
}

#[test]
fn a_correction_with_nothing_to_correct_is_an_error() {
    let mut protocol = patched();
    assert!(failure(patch::apply(&mut protocol, patch::PATCHES)).contains("nothing left to correct"));
    assert!(patch::PATCHES.iter().all(|patch| patch.reason.len() > 40));
}
