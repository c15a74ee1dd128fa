//! The table of attacks at the end of `docs/security.md`. `UPDATE_DOCS=1` writes it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use super::{Row, cdp_endpoint, hostile_page, llm_endpoint, local_process, mcp_server, model, search_endpoint};

type Listed = fn() -> Vec<Row>;

const ATTACKERS: [(&str, Listed); 7] = [
    ("A hostile page", hostile_page::listed),
    ("A model with all tools", model::listed),
    ("A local process without the token", local_process::listed),
    ("A hostile MCP server", mcp_server::listed),
    ("A hostile CDP endpoint", cdp_endpoint::listed),
    ("A hostile LLM endpoint", llm_endpoint::listed),
    ("A hostile search endpoint", search_endpoint::listed),
];
const START: &str = "<!-- generated: attacks -->\n";

#[test]
fn the_security_page_lists_every_attack() {
    let mut table = String::new();
    let mut names = BTreeSet::new();
    for (attacker, listed) in ATTACKERS {
        let _ = write!(table, "\n### {attacker}\n\n| attack | witness |\n|---|---|\n");
        for row in listed() {
            assert!(names.insert(row.name), "two attacks are called {:?}", row.name);
            let _ = writeln!(table, "| {} | {} |", row.name, row.witness);
        }
    }
    let path = testkit::root().join("docs/security.md");
    let page = fs::read_to_string(&path).unwrap();
    let (text, kept) = page.split_once(START).expect("the place for the table");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{text}{START}{table}")).unwrap();
        return;
    }
    assert!(
        kept == table,
        "docs/security.md is out of date: UPDATE_DOCS=1 cargo test --workspace --test program -- attacks::catalogue"
    );
}
