//! `docs/cli.md` is generated from the definition of the command line.

use std::fs;

use crate::cli_run::Program;

#[test]
fn cli_md_is_up_to_date() {
    let path = testkit::root().join("docs/cli.md");
    let ran = Program::new().run(&["man", "--markdown"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &ran.stdout).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let mut differing = ran.stdout.lines().zip(written.lines()).filter(|(response, written)| response != written);
    let first = differing
        .next()
        .map(|(response, written)| format!("\n  is: {written}\n  should be: {response}"))
        .unwrap_or_default();
    assert!(
        ran.stdout == written,
        "docs/cli.md is out of date; `UPDATE_DOCS=1 cargo test --workspace --test program -- cli_docs` regenerates it{first}"
    );
    for command in ["browser snapshot", "browser events", "serve", "ui", "doctor", "supervise"] {
        assert!(written.contains(&format!("`cdpilot {command}`")), "{command}");
    }
}

#[test]
fn manual_pages_are_generated() {
    let program = Program::new();
    let page = program.run(&["man"]);
    assert!(page.code == Some(0) && page.stdout.contains(".TH cdpilot"), "{page:?}");
    let folder = program.temp.path().join("man");
    let ran = program.run(&["man", folder.to_str().unwrap(), "--json"]);
    assert_eq!((ran.code, ran.json()["ok"].as_bool()), (Some(0), Some(true)), "{ran:?}");
    let pages: Vec<String> =
        fs::read_dir(&folder).unwrap().flatten().map(|page| page.file_name().into_string().unwrap()).collect();
    for page in ["cdpilot.1", "cdpilot-browser-click.1", "cdpilot-serve.1"] {
        assert!(pages.iter().any(|made| made == page), "{page} in {pages:?}");
    }
}
