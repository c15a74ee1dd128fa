//! The text written for the synthetic protocol, compared with what is checked in.
//!
//! `UPDATE_EXPECT=1` rewrites it. If the checked-in text does not even compile any more:
//! `cargo run -p cdp-gen -- emit --protocol cdp-gen/tests/it/synthetic.json --items /dev/null
//! --full --out cdp-gen/tests/it/golden`.

use std::collections::BTreeMap;
use std::fs;

use crate::support::{file, synthetic, whole};

#[test]
fn synthetic_protocol_gives_the_expected_text() {
    let dir = file("tests/it/golden");
    let files = whole(synthetic());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        for (name, text) in &files {
            fs::write(dir.join(name), text).unwrap();
        }
    }
    let read = |entry: Result<fs::DirEntry, std::io::Error>| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read_to_string(entry.path()).unwrap())
    };
    let expected: BTreeMap<String, String> = fs::read_dir(&dir).unwrap().map(read).collect();
    assert_eq!(files.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, text) in &files {
        let mut lines = text.lines().zip(expected[name].lines()).enumerate();
        if let Some((at, (new, old))) = lines.find(|(_, (new, old))| new != old) {
            panic!("golden/{name}:{}\n  was: {old}\n  now: {new}\nUPDATE_EXPECT=1 accepts", at + 1);
        }
        assert_eq!(text, &expected[name], "golden/{name} has another length");
    }
}

#[test]
fn same_input_gives_the_same_bytes() {
    assert_eq!(whole(synthetic()), whole(synthetic()));
    let full = || cdp_gen::render(&cdp_gen::Options { full: true, ..Default::default() }).unwrap();
    assert_eq!(full(), full());
}

/// Reviewers read this file; keep it short enough for that.
#[test]
fn synthetic_protocol_stays_small() {
    assert!(include_str!("synthetic.json").lines().count() <= 130);
}
