//! The script that runs in the isolated world of each frame, assembled in `source.rs` from the files beside this one.
//!
//! It is one function scope, evaluated once per document, so all files share their definitions. Each file names the files
//! that it uses in its line `// Uses:`; `make lint` checks that, and the types. Functions called from Rust are in `calls`;
//! see [`world`](super::world). The script writes nothing into the page and calls none of its functions.
//!
//! Scripts of the page cannot see it. It reads properties through saved prototypes only, because a form may have a
//! field named `id`. Its walker computes role, name, states and values by ARIA, HTML-AAM and accname as Chromium does
//! (`role.js`, `name.js`, `state.js`); a test compares them with `Accessibility.getPartialAXTree`.

/// The function, minified by `build.rs`. Returns the token of the document, and takes the token to use if there is none yet.
pub(super) const SOURCE: &str = include_str!(concat!(env!("OUT_DIR"), "/page-script.js"));

/// Calls a function of the script in one document. Returns a JSON text: `{"g": 1}` when that document is gone, otherwise
/// `{"v": …}` or, for an exception, `{"e": …}`. As a value, V8's inspector would copy a large result property by property,
/// which takes ten times as long. Lone surrogates, which no Rust text can hold, become U+FFFD.
pub(super) const CALL: &str = r#"async function(token, name, args) {
    const world = globalThis.__cdpilot;
    if (!world || world.token !== token) return '{"g":1}';
    let text;
    try {
        const value = await world.calls[name](args);
        text = JSON.stringify({v: value === undefined ? null : value});
    } catch (error) {
        text = JSON.stringify({e: String(error && error.stack || error)});
    }
    if (!text.includes("\\ud")) return text;
    return text.replace(/\\(?:\\|ud[89a-f][0-9a-f]{2})/g, (found) => found === "\\\\" ? found : "\ufffd");
}"#;

/// Returns the number of the node it is called on.
pub(super) const NUMBER: &str = "function() { return globalThis.__cdpilot ? globalThis.__cdpilot.idOf(this) : 0; }";
/// Returns the node with a number; the document for 0.
pub(super) const NODE: &str = "function(token, id) {
    const world = globalThis.__cdpilot;
    return world && world.token === token ? (id ? world.nodeOf(id) : document) : null;
}";
/// Returns a list of the nodes with some numbers; `null` for removed nodes.
pub(super) const NODES: &str = "function(token, ids) {
    const world = globalThis.__cdpilot;
    return world && world.token === token ? ids.map(id => world.nodeOf(id)) : null;
}";
/// Passes a closed shadow root, which it is called on, to the script; one of another document is ignored.
pub(super) const ADOPT: &str = "function() {
    const world = globalThis.__cdpilot;
    if (world && this.ownerDocument === document) world.adopt(this.host, this);
}";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    const WHOLE: &str = include!("source.rs");

    /// A second definition would silently replace the first.
    #[test]
    fn nothing_is_defined_twice() {
        let defined = WHOLE.lines().filter_map(|line| {
            let name = line.strip_prefix("calls.").and_then(|rest| rest.split_once(" =")).map(|(name, _)| name);
            let start = line.strip_prefix("async ").unwrap_or(line);
            let function = start.strip_prefix("function ").and_then(|rest| rest.split_once('(')).map(|(name, _)| name);
            name.map(|name| format!("calls.{name}")).or_else(|| function.map(ToOwned::to_owned))
        });
        let mut names = BTreeSet::new();
        let twice: Vec<String> = defined.filter(|name| !names.insert(name.clone())).collect();
        assert!(names.len() > 100 && twice.is_empty(), "{twice:?} of {}", names.len());
    }

    /// A file that is not listed would be missing in the page.
    #[test]
    fn every_file_is_part_of_the_script() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/page/script");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "js")).collect();
        assert!(files.len() > 20);
        for file in &files {
            let text = std::fs::read_to_string(file).unwrap();
            assert!(WHOLE.contains(&text), "{} is missing in source.rs", file.display());
            let uses = text.lines().find_map(|line| line.strip_prefix("// Uses: ")?.strip_suffix('.'));
            let uses = uses.unwrap_or_else(|| panic!("{} has no line `// Uses: …`", file.display()));
            for name in uses.split(", ").filter(|name| *name != "nothing") {
                assert!(files.iter().any(|other| other.file_stem().is_some_and(|stem| stem == name)), "{name}");
            }
        }
    }
}
