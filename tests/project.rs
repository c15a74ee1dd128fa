//! Rules of the source tree: which module uses which, how large files and dependencies may get.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cdpilot::code::Code;

/// A module and the others of its crate that it may use: only those above it in its list.
type Module = (&'static str, &'static [&'static str]);

/// The modules of the crates that have layers. Between crates the compiler keeps the order.
const LAYERS: [(&str, &[Module]); 2] = [
    (
        "src",
        &[
            ("sync", &[]),
            ("code", &[]),
            ("text", &[]),
            ("redact", &[]),
            ("fields", &[]),
            ("http", &["code", "sync"]),
            ("process", &["sync"]),
            ("cdp", &["http", "redact", "code", "text", "sync"]),
            ("browser", &["cdp", "process", "redact", "code", "text", "sync"]),
            ("supervisor", &["browser", "cdp", "redact", "code", "text", "sync"]),
            ("page", &["supervisor", "cdp", "fields", "redact", "code", "text", "sync"]),
            ("handle", &["page", "supervisor", "browser", "code", "text", "sync"]),
        ],
    ),
    (
        "crates/server/src",
        &[
            ("http", &[]),
            ("config", &[]),
            ("secrets", &["config"]),
            ("control", &["http", "secrets", "config"]),
            ("llm", &["config"]),
            ("store", &["config"]),
            ("memory", &["config"]),
            ("skills", &["memory", "config"]),
            ("routine", &[]),
            ("record", &["store", "control", "secrets", "config"]),
            ("compile", &["record", "routine"]),
            ("replay", &["record", "routine"]),
            ("tools", &["store", "skills", "memory", "control", "secrets", "llm", "config"]),
            (
                "agent",
                &[
                    "tools", "compile", "replay", "record", "store", "skills", "memory", "routine", "llm", "control",
                    "secrets", "config",
                ],
            ),
            ("mcp", &["tools", "config"]),
            ("api", &["agent", "compile", "record", "memory", "llm", "control", "secrets", "config"]),
            (
                "server",
                &[
                    "api", "mcp", "agent", "compile", "replay", "record", "tools", "store", "skills", "memory",
                    "routine", "llm", "control", "secrets", "config", "http",
                ],
            ),
        ],
    ),
];
/// Folders with the code of the product.
const PRODUCT: [&str; 4] = ["src", "crates/server/src", "crates/eval/src", "crates/cli/src"];
const LONGEST_FILE: usize = 800;
const MOST_GENERATED_LINES: usize = 8_000;
/// Crates that are built for a program that embeds it, without and with the feature `page`.
const MOST_CRATES: [(&str, usize); 2] = [("", 60), ("page", 80)];
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

/// The files of the product.
fn product() -> Vec<PathBuf> {
    PRODUCT.into_iter().flat_map(sources).collect()
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
    for start in ["crate::", to_root.as_str()] {
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
fn module_names_are_found_in_every_use_syntax() {
    let text =
        "use crate::{a, b::{c, d}, e::f};\nlet x = crate::g::h(); // crate::i\nuse super::super::j;\nuse super::k;";
    let found: Vec<_> = named(text, 2).into_iter().collect();
    assert_eq!(found, ["a", "b", "e", "g", "j"]);
}

#[test]
fn modules_use_only_lower_modules() {
    let mut wrong = Vec::new();
    for (folder, modules) in LAYERS {
        for (module, may) in modules {
            for path in sources(&format!("{folder}/{module}")) {
                let inside = path.strip_prefix(root().join(folder)).unwrap();
                let depth = inside.components().count() - usize::from(inside.ends_with("mod.rs"));
                let others = named(&read(&path), depth);
                let others = others.iter().filter(|name| modules.iter().any(|(other, _)| other == name));
                let bad = others.filter(|name| name != module && !may.contains(&name.as_str()));
                wrong.extend(bad.map(|name| format!("{}: {module} must not use {name}", shown(&path))));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_module_lists_are_ordered_bottom_up() {
    for (_, modules) in LAYERS {
        for (index, (module, may)) in modules.iter().enumerate() {
            let below = |name: &&str| modules[..index].iter().any(|(other, _)| other == name);
            assert!(may.iter().all(below), "{module} lists a module that does not stand above it");
        }
    }
}

/// The code of a file: without its tests, without comments.
fn code_of(path: &Path) -> Vec<(usize, String)> {
    let text = read(path);
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    lines.map(|(index, line)| (index + 1, line.to_owned())).collect()
}

/// Lines of the code of some files that are wrong.
fn wrong_lines(paths: impl IntoIterator<Item = PathBuf>, is_wrong: impl Fn(&str) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for path in paths.into_iter().filter(|path| !path.to_string_lossy().ends_with("tests.rs")) {
        let lines = code_of(&path).into_iter().filter(|(_, line)| is_wrong(line));
        wrong.extend(lines.map(|(number, line)| format!("{}:{number}: {}", shown(&path), line.trim())));
    }
    wrong
}

#[test]
fn modules_of_the_library_do_not_ask_for_the_feature_page() {
    let modules = LAYERS[0].1.iter().flat_map(|(module, _)| sources(&format!("src/{module}")));
    let is_wrong = |line: &str| {
        // What only `page` uses is compiled without it too.
        let is_expected = line.contains("expect(dead_code") || line.contains("expect(unused_imports");
        !is_expected && ["page", "default"].iter().any(|flag| line.contains(&format!("feature = \"{flag}\"")))
    };
    let wrong = wrong_lines(modules, is_wrong);
    assert!(wrong.is_empty(), "features of lower modules name capabilities:\n{}", wrong.join("\n"));
}

/// Whether a line compares the text of a code.
fn compares_a_code(line: &str) -> bool {
    let codes: Vec<String> = Code::all().map(|code| format!("\"{code}\"")).collect();
    codes.iter().any(|code| {
        line.match_indices(code.as_str()).any(|(at, _)| {
            let (before, after) = (line[..at].trim_end(), line[at + code.len()..].trim_start());
            // `== "X"`, `Some("X")` of a pattern, `"X" =>`, `"X" | "Y"`, `"X" == …`.
            let is_arm = after.starts_with("=>") || after.starts_with("| \"") || before.ends_with("\" |");
            is_arm
                || ["==", "!=", "matches!("].iter().any(|sign| before.ends_with(sign))
                || ["==", "!="].iter().any(|sign| after.starts_with(sign))
                || before.ends_with("Some(")
                    && (line.contains("=>") || line.contains("==") || line.contains("let Some"))
        })
    })
}

#[test]
fn codes_are_compared_as_values() {
    for line in [
        r#"if error.code() == "STALE_REF" {"#,
        r#""TIMEOUT" => Exit::Failed,"#,
        r#""TIMEOUT" | "BUSY" => true,"#,
        r#"Some("TIMEOUT") => true,"#,
        r#"if body["code"] != "BUSY" {"#,
    ] {
        assert!(compares_a_code(line), "{line}");
    }
    for line in
        [r#"ToolError::new("TIMEOUT", message)"#, r#"Self::Late => "TIMEOUT","#, r#"Code::Busy, "BUSY", Some(503)"#]
    {
        assert!(!compares_a_code(line), "{line}");
    }
    let wrong = wrong_lines(product(), compares_a_code);
    assert!(wrong.is_empty(), "compare `kind()` or `Code::parse(…)`:\n{}", wrong.join("\n"));
}

/// How many names of actions a file may have as texts without being a list of them.
const MOST_NAMES_OF_ACTIONS: usize = 4;

#[test]
fn an_action_is_described_once() {
    let names = |path: &PathBuf| {
        let lines = code_of(path);
        let is_named = |kind: &str| lines.iter().any(|(_, line)| line.contains(&format!("\"{kind}\"")));
        cdpilot::page::ACTIONS.iter().filter(|action| is_named(action.kind)).count()
    };
    // Types of events of recordings are names of their own; some are those of actions.
    let is_of_recordings = |path: &PathBuf| shown(path).starts_with("crates/server/src/record/");
    let product = product().into_iter().filter(|path| !is_of_recordings(path));
    let lists: Vec<_> = product.filter(|path| names(path) > MOST_NAMES_OF_ACTIONS).collect();
    let lists: Vec<String> = lists.iter().map(|path| shown(path)).collect();
    assert_eq!(lists, ["src/page/act/kinds.rs"], "derive kinds, fields and arguments from `page::ACTIONS`");
}

#[test]
fn every_error_code_in_use_is_listed() {
    let mut unknown = Vec::new();
    for path in product() {
        for (number, line) in code_of(&path) {
            for start in ["Failure::new(", "ToolError::new(", "failed(", "named("] {
                let written = line.match_indices(start).filter_map(|(at, _)| {
                    let (text, _) = line[at + start.len()..].strip_prefix('"')?.split_once('"')?;
                    text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_').then_some(text)
                });
                let none = written.filter(|text| Code::parse(text).is_none());
                unknown.extend(none.map(|text| format!("{}:{number}: {text}", shown(&path))));
            }
        }
    }
    assert!(unknown.is_empty(), "add them to src/code:\n{}", unknown.join("\n"));
}

#[test]
fn there_is_one_http_client_of_our_own() {
    let writes = |line: &str| {
        line.contains("HTTP/1.1\\r\\n") && !line.contains("HTTP/1.1 100") && !line.contains("Authorization: local")
    };
    let connects = |line: &str| line.contains("TcpStream::connect");
    // The proxy passes requests on.
    let others = |path: &PathBuf| path.ends_with("src/cdp/ws.rs") || path.ends_with("server/src/http/proxy/head.rs");
    let all = || product().into_iter().filter(move |path| !others(path));
    let clients = wrong_lines(all(), writes);
    assert_eq!(clients.len(), 1, "requests are written by src/http/client.rs alone:\n{}", clients.join("\n"));
    assert!(clients[0].starts_with("src/http/client.rs"), "{}", clients[0]);
    let connections = wrong_lines(all(), connects);
    assert_eq!(connections.len(), 1, "connections are made by src/http/dial.rs alone:\n{}", connections.join("\n"));
    assert!(connections[0].starts_with("src/http/dial.rs"), "{}", connections[0]);
}

/// What ends a wait is an argument: a value of a thread is lost wherever work is handed to another one.
#[test]
fn nothing_is_kept_by_threads() {
    let kept = wrong_lines(product(), |line| line.contains("thread_local!"));
    assert!(kept.is_empty(), "pass it as an argument, a cancellation with the deadline: {kept:?}");
}

#[test]
fn the_cdp_module_has_no_dialogs() {
    let is_wrong = |line: &str| line.to_lowercase().replace("handlejavascriptdialog", "").contains("dialog");
    let wrong = wrong_lines(sources("src/cdp"), is_wrong);
    assert!(wrong.is_empty(), "dialogs belong to supervisor:\n{}", wrong.join("\n"));
}

#[test]
fn every_module_is_listed() {
    for (folder, modules) in LAYERS {
        let folders = fs::read_dir(root().join(folder)).unwrap().flatten().filter(|entry| entry.path().is_dir());
        let with_files = folders.filter(|entry| fs::read_dir(entry.path()).unwrap().next().is_some());
        let names: BTreeSet<String> = with_files.map(|entry| entry.file_name().into_string().unwrap()).collect();
        assert_eq!(names, modules.iter().map(|(module, _)| (*module).to_owned()).collect(), "{folder}");
    }
}

#[test]
fn no_file_is_too_long() {
    let all = ["src", "crates", "cdp-gen/src", "tests", "benches", "examples"].into_iter().flat_map(sources);
    let long: Vec<String> = all
        .map(|path| (read(&path).lines().count(), path))
        .filter(|(lines, _)| *lines > LONGEST_FILE)
        .map(|(lines, path)| format!("{}: {lines} lines, at most {LONGEST_FILE}", shown(&path)))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
    for short in ["src/lib.rs", "crates/cli/src/main.rs", "crates/server/src/lib.rs"] {
        assert!(read(&root().join(short)).lines().count() < 100, "{short} stays under 100 lines");
    }
}

#[test]
fn every_listed_protocol_item_is_used() {
    // Tests and benches count: what only they use must be generated all the same.
    let all = ["src", "crates", "tests", "benches", "examples"].into_iter().flat_map(sources);
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
fn the_number_of_crates_for_embedding_is_limited() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for (feature, most) in MOST_CRATES {
        let mut tree = Command::new(&cargo);
        tree.current_dir(root()).args(["tree", "-p", "cdpilot", "-e", "normal,build", "--prefix", "none", "--locked"]);
        let listed = match tree.args(["--no-default-features", "--features", feature]).output() {
            Ok(listed) => listed,
            Err(problem) => return eprintln!("SKIPPED: there is no cargo to ask for the dependency tree: {problem}"),
        };
        assert!(listed.status.success(), "cargo tree: {}", String::from_utf8_lossy(&listed.stderr));
        let text = String::from_utf8_lossy(&listed.stdout);
        let crates: BTreeSet<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert!(crates.contains("serde_json"), "the tree reads as expected:\n{text}");
        assert!(
            crates.len() < most,
            "{} crates with features {feature:?}, {most} are too many: {crates:?}",
            crates.len()
        );
    }
}

#[test]
fn every_test_file_is_declared() {
    let mut forgotten = Vec::new();
    for (folder, main) in [
        ("tests", "main.rs"),
        ("crates/server/tests", "main.rs"),
        ("crates/server/tests/support", "mod.rs"),
        ("crates/eval/tests", "main.rs"),
        ("crates/cli/tests", "main.rs"),
        ("cdp-gen/tests/it", "main.rs"),
        ("benches/cdp", "main.rs"),
    ] {
        let text = read(&root().join(folder).join(main));
        let lines = || text.lines().map(str::trim);
        let mut declared: BTreeSet<PathBuf> = lines()
            .filter_map(|line| line.trim_start_matches("pub(crate) ").trim_start_matches("pub ").strip_prefix("mod "))
            .map(|name| PathBuf::from(name.trim_end_matches([';', ' ', '{'])).with_extension("rs"))
            .collect();
        declared.extend(
            lines().filter_map(|line| line.strip_prefix("#[path = \"")?.strip_suffix("\"]")).map(PathBuf::from),
        );
        // The folders `support` and `attacks` have lists of their own; `data`, `har` and `peers` have no tests.
        let others = ["support", "attacks", "data", "har", "peers"];
        for path in sources(folder) {
            let name = path.strip_prefix(root().join(folder)).unwrap();
            let is_elsewhere = !folder.ends_with("tests") && name.components().count() > 1;
            if is_elsewhere || name == Path::new(main) || others.iter().any(|other| name.starts_with(other)) {
                continue;
            }
            if !declared.contains(name) {
                forgotten.push(format!("{} is not declared in {folder}/{main}", shown(&path)));
            }
        }
    }
    assert!(forgotten.is_empty(), "{}", forgotten.join("\n"));
}

#[test]
fn no_file_contains_forbidden_text() {
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
