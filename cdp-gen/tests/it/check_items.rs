//! Which lines of an item list count as used.

use cdp_gen::{items, pinned};

const LIST: &str = "Page.FrameId\nPage.close\nPage.frameAttached\nPage.navigate\nTarget.getTargets\n";

fn unused(sources: &[&str]) -> Vec<String> {
    items::unused(LIST, &pinned::protocol().unwrap(), sources).unwrap()
}

#[test]
fn paths_groups_and_quoted_methods_count() {
    assert_eq!(unused(&[]).len(), 5);
    let sources = [
        "let c = protocol::page::Navigate::new(url); let id: page::FrameId;",
        "use crate::cdp::protocol::{page::{self,\n  Close, // closes\n  FrameAttachedEvent}, target};",
        "fn f() -> target::GetTargetsReturns {}",
    ];
    assert_eq!(unused(&sources), Vec::<String>::new());
    assert_eq!(
        unused(&[r#"match m { "Page.navigate" => 1, "Target.getTargets" => 2 }"#]),
        ["Page.FrameId", "Page.close", "Page.frameAttached"]
    );
}

#[test]
fn lookalikes_do_not_count() {
    let sources = [
        "// page::Close and \"Page.navigate\"\n/* page::Navigate */",
        "web_page::Close; page::CloseAll; page::NavigateToHistoryEntry; page::FrameAttached; Page.close",
        "page::{self}; Close; use x::{Navigate};",
    ];
    assert_eq!(unused(&sources).len(), 5);
}

/// A quote character must not open a text that swallows the rest.
#[test]
fn text_and_comments_are_told_apart() {
    assert!(!unused(&["let q = '\"'; // x\npage::Close"]).contains(&"Page.close".to_owned()));
    assert!(!unused(&["let u = \"http://x\"; page::Close"]).contains(&"Page.close".to_owned()));
    assert!(!unused(&[r#"let u = "a \" // b"; page::Close"#]).contains(&"Page.close".to_owned()));
}

#[test]
fn a_line_without_item_is_an_error() {
    let protocol = pinned::protocol().unwrap();
    assert!(items::unused("Page.noSuch\n", &protocol, &[]).is_err());
    cdp_gen::check_items(&[]).unwrap();
}
