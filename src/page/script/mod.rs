//! The script that runs in our isolated world in each frame, put together from the files beside this one.
//!
//! It is one function scope, evaluated once a document. What the rest of this room calls is in its
//! `calls`; see [`world`](super::world). It writes nothing into the page and calls nothing of it.

/// The function. It gives the token of the document, and takes the token to use when there is
/// none yet.
pub(super) const SOURCE: &str = concat!(
    "(token => {\n\"use strict\";\nif (globalThis.__cdpilot) return globalThis.__cdpilot.token;\n",
    "const calls = Object.create(null);\n",
    include_str!("node.js"),
    include_str!("node-cache.js"),
    include_str!("kinds.js"),
    include_str!("role.js"),
    include_str!("drawing.js"),
    include_str!("table.js"),
    include_str!("state.js"),
    include_str!("value.js"),
    include_str!("name.js"),
    include_str!("native.js"),
    include_str!("content.js"),
    include_str!("style.js"),
    include_str!("describe.js"),
    include_str!("tree.js"),
    include_str!("act.js"),
    include_str!("input-probe.js"),
    include_str!("frame-geometry.js"),
    include_str!("synthetic-pointer.js"),
    include_str!("synthetic-drag.js"),
    include_str!("scroll.js"),
    include_str!("box.js"),
    include_str!("text.js"),
    include_str!("storage.js"),
    include_str!("upload.js"),
    include_str!("settle.js"),
    include_str!("forms.js"),
    include_str!("synthetic-keys.js"),
    include_str!("wait.js"),
    include_str!("find.js"),
    include_str!("notices.js"),
    "globalThis.__cdpilot = {token, calls, idOf, nodeOf, adopt};\nreturn token;\n})",
);

/// What is called in the world: finds the script of one document and nothing else, and calls in it.
/// Gives `{"g": 1}` when that document is gone, else `{"v": …}` or, for an exception, `{"e": …}`.
pub(super) const CALL: &str = "async function(token, name, args) {
    const world = globalThis.__cdpilot;
    if (!world || world.token !== token) return {g: 1};
    try {
        const value = await world.calls[name](args);
        return {v: value === undefined ? null : value};
    } catch (error) {
        return {e: String(error && error.stack || error)};
    }
}";

/// Gives the number of the node it is called on.
pub(super) const NUMBER: &str = "function() { return globalThis.__cdpilot ? globalThis.__cdpilot.idOf(this) : 0; }";
/// Gives the node with a number, the document for 0.
pub(super) const NODE: &str = "function(token, id) {
    const world = globalThis.__cdpilot;
    return world && world.token === token ? (id ? world.nodeOf(id) : document) : null;
}";
/// Gives the nodes with some numbers, in a list; `null` for those that are gone.
pub(super) const NODES: &str = "function(token, ids) {
    const world = globalThis.__cdpilot;
    return world && world.token === token ? ids.map(id => world.nodeOf(id)) : null;
}";
/// Hands over a closed shadow root, which it is called on; one of another document is left.
pub(super) const ADOPT: &str = "function() {
    const world = globalThis.__cdpilot;
    if (world && this.ownerDocument === document) world.adopt(this.host, this);
}";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::SOURCE;

    /// A second definition would silently replace the first.
    #[test]
    fn nothing_is_defined_twice() {
        let defined = SOURCE.lines().filter_map(|line| {
            let name = line.strip_prefix("calls.").and_then(|rest| rest.split_once(" =")).map(|(name, _)| name);
            let start = line.strip_prefix("async ").unwrap_or(line);
            let function = start.strip_prefix("function ").and_then(|rest| rest.split_once('(')).map(|(name, _)| name);
            name.map(|name| format!("calls.{name}")).or_else(|| function.map(ToOwned::to_owned))
        });
        let mut names = BTreeSet::new();
        let twice: Vec<String> = defined.filter(|name| !names.insert(name.clone())).collect();
        assert!(names.len() > 100 && twice.is_empty(), "{twice:?} of {}", names.len());
    }
}
