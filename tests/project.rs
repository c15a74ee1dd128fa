//! The rules of the house: what stands where, who uses whom, how large things may get.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The rooms, and which others each may use.
const ROOMS: [(&str, &[&str]); 14] = [
    ("sync", &[]),
    ("text", &[]),
    ("cdp", &["sync", "text"]),
    ("browser", &["cdp", "sync", "text"]),
    ("supervisor", &["browser", "cdp", "sync", "text"]),
    ("page", &["supervisor", "cdp", "sync", "text"]),
    ("handle", &["page", "supervisor", "browser", "sync"]),
    ("config", &["sync", "text"]),
    ("control", &["page", "supervisor", "browser", "config", "sync", "text"]),
    ("llm", &["config", "sync", "text"]),
    ("tools", &["control", "page", "supervisor", "llm", "config", "sync", "text"]),
    ("mcp", &["tools", "config", "sync", "text"]),
    // Front doors: what they need of the protocol, the rooms between them offer.
    ("server", &["mcp", "tools", "llm", "control", "page", "supervisor", "config", "sync", "text"]),
    ("cli", &["server", "mcp", "tools", "llm", "control", "page", "supervisor", "browser", "config", "sync", "text"]),
];
const LONGEST_FILE: usize = 800;
const MOST_GENERATED_LINES: usize = 8_000;
const MOST_CRATES: usize = 40;
const ASYNC_RUNTIMES: [&str; 5] = ["tokio", "async-std", "smol", "async-executor", "futures-executor"];
/// Split, so that this file does not hold them itself.
const FORBIDDEN: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("todo", "!("),
    concat!("dbg", "!("),
    concat!("#[ign", "ore"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a folder of the repository, without what is built or not ours.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let skipped = ["target", ".git", "node_modules"].iter().any(|skipped| name == *skipped);
            // In a worktree `.git` is a file.
            if skipped {
                continue;
            } else if path.is_dir() {
                open.push(path);
            } else if path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn sources(folder: &str) -> Vec<PathBuf> {
    files(folder).into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Modules at the root of the crate that a text names: `crate::name`, `crate::{name, …}`, and, from a
/// module `depth` levels down, `super::` so often that it gets there.
fn named(text: &str, depth: usize) -> BTreeSet<String> {
    let code: String =
        text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let mut found = BTreeSet::new();
    let to_root = "super::".repeat(depth);
    for start in ["crate::", "cdpilot::", to_root.as_str()] {
        for (at, _) in code.match_indices(start) {
            let rest = &code[at + start.len()..];
            found.extend(if rest.starts_with('{') { group(rest) } else { vec![ident(rest)] });
        }
    }
    found
}

fn ident(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The first names of the parts of `{a, b::c, d::{e}}`.
fn group(text: &str) -> Vec<String> {
    let (mut depth, mut names, mut part) = (0, Vec::new(), String::new());
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(std::mem::take(&mut part)),
            _ if depth == 1 => part.push(c),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names.push(part);
    names.iter().map(|part| ident(part.trim())).collect()
}

#[test]
fn names_are_found_in_every_form() {
    let text =
        "use crate::{a, b::{c, d}, e::f};\nlet x = crate::g::h(); // crate::i\nuse super::super::j;\nuse super::k;";
    let found: Vec<_> = named(text, 2).into_iter().collect();
    assert_eq!(found, ["a", "b", "e", "g", "j"]);
}

#[test]
fn rooms_use_only_what_stands_below_them() {
    let mut wrong = Vec::new();
    for (room, may) in ROOMS {
        for path in sources(&format!("src/{room}")) {
            let inside = path.strip_prefix(root().join("src")).unwrap();
            let depth = inside.components().count() - usize::from(inside.ends_with("mod.rs"));
            let others = named(&read(&path), depth);
            let others = others.iter().filter(|name| ROOMS.iter().any(|(other, _)| other == name));
            let bad = others.filter(|name| *name != room && !may.contains(&name.as_str()));
            wrong.extend(bad.map(|name| format!("{}: {room} must not use {name}", shown(&path))));
        }
    }
    let main = named(&read(&root().join("src/main.rs")), 99);
    assert_eq!(main, BTreeSet::from(["cli".to_owned()]), "src/main.rs only calls the command line");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_room_is_known() {
    let folders = fs::read_dir(root().join("src")).unwrap().flatten().filter(|entry| entry.path().is_dir());
    let with_files = folders.filter(|entry| fs::read_dir(entry.path()).unwrap().next().is_some());
    let names: BTreeSet<String> = with_files.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert_eq!(names, ROOMS.iter().map(|(room, _)| (*room).to_owned()).collect());
}

/// Modules whose types are part of the supported interface.
const SUPPORTED: [&str; 6] = ["sync", "cdp", "browser", "supervisor", "page", "handle"];
/// Every module has an `Error`; `cdp::rt` mirrors the generated types, whose events are `Event`s; where there is no navigation
/// policy another one takes its name.
const SHARED_NAMES: [&str; 3] = ["Error", "Event", "NavigationPolicy"];

#[test]
fn every_public_type_has_a_name_of_its_own() {
    let mut places: std::collections::BTreeMap<String, Vec<String>> = std::collections::BTreeMap::new();
    for path in SUPPORTED.iter().flat_map(|room| sources(&format!("src/{room}"))) {
        for line in read(&path).lines() {
            let declared = ["pub struct ", "pub enum ", "pub type ", "pub trait "].iter();
            let name = declared.filter_map(|start| line.strip_prefix(start)).map(ident).next();
            places.entry(name.unwrap_or_default()).or_default().push(shown(&path));
        }
    }
    let single = |name: &str| name.is_empty() || SHARED_NAMES.contains(&name);
    let wrong: Vec<_> = places.iter().filter(|(name, at)| at.len() > 1 && !single(name)).collect();
    assert!(places.contains_key("Snapshot") && places.contains_key("View"), "types are found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_file_is_too_long() {
    let all = ["src", "cdp-gen/src", "tests", "benches", "examples"].into_iter().flat_map(sources);
    let long: Vec<String> = all
        .map(|path| (read(&path).lines().count(), path))
        .filter(|(lines, _)| *lines > LONGEST_FILE)
        .map(|(lines, path)| format!("{}: {lines} lines, at most {LONGEST_FILE}", shown(&path)))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
    for short in ["src/main.rs", "src/lib.rs"] {
        assert!(read(&root().join(short)).lines().count() < 100, "{short} stays under 100 lines");
    }
}

#[test]
fn every_listed_protocol_item_is_used() {
    // Tests and benches count: what only they use must be generated all the same.
    let all = ["src", "tests", "benches", "examples"].into_iter().flat_map(sources);
    let texts: Vec<String> = all.map(|path| read(&path)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let unused = cdp_gen::check_items(&texts).unwrap();
    assert!(unused.is_empty(), "cdp-gen/items.txt has lines that nothing uses: {}", unused.join(", "));
}

#[test]
fn the_generated_protocol_stays_small() {
    let rendered = cdp_gen::render(&cdp_gen::Options::default()).unwrap();
    let lines: usize = rendered.values().map(|text| text.lines().count()).sum();
    assert!(lines < MOST_GENERATED_LINES, "{lines} lines are generated by default, at most {MOST_GENERATED_LINES}");
}

#[test]
fn no_async_runtime_is_locked() {
    let lock = read(&root().join("Cargo.lock"));
    let names: BTreeSet<&str> =
        lock.lines().filter_map(|line| line.strip_prefix("name = ")).map(|name| name.trim_matches('"')).collect();
    assert!(names.contains("cdpilot"), "Cargo.lock reads as expected");
    let found: Vec<_> = ASYNC_RUNTIMES.iter().filter(|name| names.contains(**name)).collect();
    assert!(found.is_empty(), "async runtimes in Cargo.lock: {found:?}");
}

#[test]
#[allow(clippy::print_stderr)] // a skipped check must not go unseen
fn embedding_stays_light() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut tree = Command::new(cargo);
    tree.current_dir(root()).args([
        "tree",
        "-p",
        "cdpilot",
        "-e",
        "normal",
        "--no-default-features",
        "--prefix",
        "none",
        "--locked",
    ]);
    let listed = match tree.output() {
        Ok(listed) => listed,
        Err(problem) => return eprintln!("SKIPPED: there is no cargo to ask for the dependency tree: {problem}"),
    };
    assert!(listed.status.success(), "cargo tree: {}", String::from_utf8_lossy(&listed.stderr));
    let text = String::from_utf8_lossy(&listed.stdout);
    let crates: BTreeSet<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(crates.contains("serde_json"), "the tree reads as expected:\n{text}");
    assert!(
        crates.len() < MOST_CRATES,
        "{} crates without default features, {MOST_CRATES} are too many: {crates:?}",
        crates.len()
    );
}

#[test]
fn no_test_file_is_forgotten() {
    let mut forgotten = Vec::new();
    for (folder, main) in
        [("tests", "main.rs"), ("tests/support", "mod.rs"), ("cdp-gen/tests/it", "main.rs"), ("benches/cdp", "main.rs")]
    {
        let text = read(&root().join(folder).join(main));
        let declared: BTreeSet<&str> = text
            .lines()
            .filter_map(|line| {
                line.trim().trim_start_matches("pub(crate) ").trim_start_matches("pub ").strip_prefix("mod ")
            })
            .map(|name| name.trim_end_matches([';', ' ', '{']))
            .collect();
        let here = sources(folder).into_iter().filter(|path| path.parent() == Some(&root().join(folder)));
        for path in here.filter(|path| !path.ends_with(main)) {
            let name = path.file_stem().unwrap().to_str().unwrap();
            if !declared.contains(name) {
                forgotten.push(format!("{} is not declared in {folder}/{main}", shown(&path)));
            }
        }
    }
    assert!(forgotten.is_empty(), "{}", forgotten.join("\n"));
}

#[test]
fn nothing_is_left_over_in_any_file() {
    let mut wrong = Vec::new();
    for path in files(".") {
        // Pictures and other data are no text.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (index, line) in text.lines().enumerate() {
            let found = FORBIDDEN.iter().filter(|word| line.contains(**word));
            wrong.extend(found.map(|word| format!("{}:{}: `{word}`", shown(&path), index + 1)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
