//! The text of `config.yaml` changed so that whatever a person wrote stays: comments, order, empty lines, quotes.

use std::collections::BTreeMap;
use std::path::Path;

use yaml_edit::path::YamlPath as _;
use yaml_edit::{Mapping, YamlFile};

use crate::config::{Config, Error, Platform};

/// One key with the value that it gets.
#[derive(Debug, Clone, PartialEq)]
enum Edit {
    /// A list of names.
    Names(Vec<String>, Vec<String>),
    /// A switch.
    Switch(Vec<String>, bool),
}

/// The text of settings, changed from one state of them to another. Only lists of tools and toolsets are changed, and
/// `tools.terminal.enabled`.
///
/// # Errors
/// The sentence that says why the text cannot be changed without losing something.
pub(super) fn changed(text: &str, from: &Config, to: &Config, path: &Path) -> Result<String, String> {
    let mut now = text.to_owned();
    for edit in edits(from, to) {
        now = match &edit {
            Edit::Names(key, names) => with_names(&now, key, names)?,
            Edit::Switch(key, on) => with_value(&now, key, |map, key| map.set(key, *on))?,
        };
    }
    // Whatever the editing has done: it is the wanted change, or none at all.
    match Config::parse(&now, path) {
        Ok(read) if read == *to => {}
        Ok(_) => return Err("its YAML is written in a way that cannot be changed safely".to_owned()),
        Err(Error::Wrong { at, problem, .. }) => return Err(format!("the change would break it at {at}: {problem}")),
        Err(problem) => return Err(format!("the change would break it: {problem}")),
    }
    match missing(text, &now).first() {
        Some(comment) => Err(format!("the change would lose the comment {comment:?}")),
        None => Ok(now),
    }
}

/// What differs, key by key.
fn edits(from: &Config, to: &Config) -> Vec<Edit> {
    let key = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
    let mut edits = Vec::new();
    let mut names = |key: Vec<String>, from: &[String], to: &[String]| {
        if from != to {
            edits.push(Edit::Names(key, to.to_vec()));
        }
    };
    names(key(&["toolsets"]), &from.toolsets, &to.toolsets);
    names(key(&["tools", "disabled"]), &from.tools.disabled, &to.tools.disabled);
    let none = Platform::default();
    for (name, platform) in &to.tools.platforms {
        let before = from.tools.platforms.get(name).unwrap_or(&none);
        if let Some(toolsets) = &platform.toolsets
            && before.toolsets.as_ref() != Some(toolsets)
        {
            // An empty list says something else than none.
            let nothing = vec![String::new()];
            names(
                key(&["tools", "platforms", name, "toolsets"]),
                before.toolsets.as_deref().unwrap_or(&nothing),
                toolsets,
            );
        }
        names(key(&["tools", "platforms", name, "disabled"]), &before.disabled, &platform.disabled);
    }
    if from.tools.terminal.enabled != to.tools.terminal.enabled {
        edits.push(Edit::Switch(key(&["tools", "terminal", "enabled"]), to.tools.terminal.enabled));
    }
    edits
}

/// The text with a list that holds just these names. Those that are there stay where they are.
fn with_names(text: &str, key: &[String], names: &[String]) -> Result<String, String> {
    let mut now = text.to_owned();
    while let Some((without, at)) = less_one(&now, key, names)? {
        now = with_lost(&now, &without, at);
    }
    let (held, file) = (held(&now, key)?, read(&now)?);
    let is_list = held.is_some();
    let held = held.unwrap_or_default();
    let new: Vec<&String> = names.iter().filter(|name| !held.contains(name)).collect();
    if !is_list && new.is_empty() {
        return with_value(&now, key, |map, key| map.set(key, &yaml_edit::Sequence::new_flow()));
    }
    let mut new = new.into_iter();
    if !is_list {
        let Some(first) = new.next() else { return Ok(now) };
        now = match there(&file, key) {
            // The key is there, without a list behind it.
            true => with_value(&now, key, |map, key| {
                let list = yaml_edit::Sequence::new();
                list.push(first.as_str());
                map.set(key, &list);
            })?,
            false => with_first(&now, &file, key, first)?,
        };
    }
    let file = read(&now)?;
    let list = parent(&file, key).zip(key.last()).and_then(|(map, last)| map.get_sequence(last.as_str()));
    for name in new {
        let Some(list) = &list else { return Err(cannot(key)) };
        list.push(name.as_str());
    }
    Ok(file.to_string())
}

/// A new list with one name in it.
fn with_first(text: &str, file: &YamlFile, key: &[String], name: &str) -> Result<String, String> {
    let Some(document) = file.document() else {
        // Nothing but comments, or nothing at all.
        let mut text = text.to_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for (depth, part) in key.iter().enumerate() {
            text.push_str(&format!("{}{part}:\n", "  ".repeat(depth)));
        }
        text.push_str(&format!("{}- {name}\n", "  ".repeat(key.len())));
        return Ok(text);
    };
    if document.as_mapping().is_none() {
        return Err(cannot(key));
    }
    document.try_set_path(&format!("{}[0]", key.join(".")), name).map_err(|problem| problem.to_string())?;
    Ok(file.to_string())
}

/// The text with another value under a key that need not be there.
fn with_value(text: &str, key: &[String], set: impl Fn(&Mapping, &str)) -> Result<String, String> {
    let Some(last) = key.last() else { return Ok(text.to_owned()) };
    let mut file = read(text)?;
    if parent(&file, key).is_none() {
        // A value that stands for the one to come makes the mappings above it.
        file = read(&with_first(text, &file, key, "new")?)?;
    }
    let map = parent(&file, key).ok_or_else(|| cannot(key))?;
    let at = map.find_entry_by_key(last.as_str()).and_then(|entry| entry.key_node()).and_then(|node| start(&node));
    let before = file.to_string();
    let line = before.get(..at.unwrap_or(before.len())).map_or(0, |above| above.matches('\n').count());
    set(&map, last);
    Ok(with_lost(&before, &file.to_string(), line))
}

/// The text without one name that is not wanted, and the line that it was on. `None` when there is no such name.
fn less_one(text: &str, key: &[String], wanted: &[String]) -> Result<Option<(String, usize)>, String> {
    let file = read(text)?;
    let list = parent(&file, key).zip(key.last()).and_then(|(map, last)| map.get_sequence(last.as_str()));
    let Some(list) = list else { return Ok(None) };
    for (index, value) in list.values().enumerate() {
        let Some(scalar) = value.as_scalar() else { return Err(cannot(key)) };
        if wanted.contains(&scalar.as_string()) {
            continue;
        }
        let above = usize::try_from(scalar.byte_range().start).ok().and_then(|at| text.get(..at));
        let line = above.map_or(0, |above| above.matches('\n').count());
        list.remove(index).ok_or_else(|| cannot(key))?;
        return Ok(Some((file.to_string(), line)));
    }
    Ok(None)
}

/// The names in a list, if there is one.
fn held(text: &str, key: &[String]) -> Result<Option<Vec<String>>, String> {
    let file = read(text)?;
    let list = parent(&file, key).zip(key.last()).and_then(|(map, last)| map.get_sequence(last.as_str()));
    let Some(list) = list else { return Ok(None) };
    Ok(Some(list.values().filter_map(|value| value.as_scalar().map(yaml_edit::Scalar::as_string)).collect()))
}

fn read(text: &str) -> Result<YamlFile, String> {
    text.parse::<YamlFile>().map_err(|problem| problem.to_string())
}

/// The mapping that a key stands in.
fn parent(file: &YamlFile, key: &[String]) -> Option<Mapping> {
    let (_, above) = key.split_last()?;
    let root = file.document()?.as_mapping()?;
    above.iter().try_fold(root, |map, part| map.get_mapping(part.as_str()))
}

fn there(file: &YamlFile, key: &[String]) -> bool {
    parent(file, key).zip(key.last()).is_some_and(|(map, last)| map.contains_key(last.as_str()))
}

fn start(node: &yaml_edit::YamlNode) -> Option<usize> {
    usize::try_from(node.as_scalar()?.byte_range().start).ok()
}

fn cannot(key: &[String]) -> String {
    format!("{} is written in a way that cannot be changed safely; change it by hand", key.join("."))
}

/// The text after a change, with comments that went with what was taken away, on a line of their own where that was.
fn with_lost(before: &str, after: &str, line: usize) -> String {
    let lost = missing(before, after);
    if lost.is_empty() {
        return after.to_owned();
    }
    let ending = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let taken = before.lines().nth(line).unwrap_or_default();
    let indent: String = taken.chars().take_while(|c| *c == ' ').collect();
    let mut lines: Vec<String> = after.split_inclusive('\n').map(str::to_owned).collect();
    let at = line.min(lines.len());
    lines.splice(at..at, lost.into_iter().map(|comment| format!("{indent}{comment}{ending}")));
    lines.concat()
}

/// Comments of a text that another does not have as often.
fn missing(before: &str, after: &str) -> Vec<String> {
    let mut there: BTreeMap<&str, usize> = BTreeMap::new();
    for comment in after.lines().filter_map(comment) {
        *there.entry(comment).or_default() += 1;
    }
    let gone = |comment: &&str| match there.get_mut(*comment) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    before.lines().filter_map(comment).filter(gone).map(str::to_owned).collect()
}

/// The comment on a line: from a `#` outside of quotes that stands at the beginning or behind white space.
fn comment(line: &str) -> Option<&str> {
    let (mut quote, mut previous) = (None, ' ');
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') if previous.is_whitespace() => return line.get(at..).map(str::trim_end),
            // A quote in the middle of a word is a letter.
            (None, '"' | '\'') if !previous.is_alphanumeric() => quote = Some(c),
            (Some('"'), '"') if previous != '\\' => quote = None,
            (Some('\''), '\'') => quote = None,
            _ => {}
        }
        previous = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        Config::parse(text, Path::new("config.yaml")).unwrap()
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// The text after a change of its settings.
    fn edited(text: &str, change: impl FnOnce(&mut Config)) -> Result<String, String> {
        let from = config(text);
        let mut to = from.clone();
        change(&mut to);
        changed(text, &from, &to, Path::new("config.yaml"))
    }

    fn off(config: &mut Config, name: &str) {
        config.tools.disabled.push(name.to_owned());
    }

    #[test]
    fn a_name_more_changes_one_line() {
        let cases = [
            (
                "# head\ntoolsets:\n  # why\n  - cdpilot-cli  # all\n\n  # second\n  - \"web\"\n# tail\nserver:\n  port: 0  # free\n",
                "# head\ntoolsets:\n  # why\n  - cdpilot-cli  # all\n\n  # second\n  - \"web\"\n  - todo\n# tail\nserver:\n  port: 0  # free\n",
            ),
            ("toolsets:\n- a # x\n\n\nserver: {port: 0}\n", "toolsets:\n- a # x\n- todo\n\n\nserver: {port: 0}\n"),
            ("toolsets: [a, 'b']  # flow\n", "toolsets: [a, 'b', todo]  # flow\n"),
            ("toolsets: [] # none\n", "toolsets: [todo] # none\n"),
            (
                "toolsets:\r\n  - a # x\r\nserver:\r\n  port: 0\r\n",
                "toolsets:\r\n  - a # x\r\n  - todo\r\nserver:\r\n  port: 0\r\n",
            ),
        ];
        for (text, wanted) in cases {
            assert_eq!(edited(text, |config| config.toolsets.push("todo".to_owned())).as_deref(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn keys_that_are_not_there_come_to_be() {
        let cases = [
            ("", "tools:\n  disabled:\n    - todo\n"),
            ("# mine", "# mine\ntools:\n  disabled:\n    - todo\n"),
            (
                "server: {port: 0} # free\n# tail\n",
                "server: {port: 0} # free\n# tail\ntools:\n  disabled:\n    - todo\n",
            ),
            ("tools:\n  # none yet\n\nserver: {port: 0}\n", ""),
            (
                "tools:\n    workspace: x # w\n\nserver: {port: 0}\n",
                "tools:\n    workspace: x # w\n    disabled:\n      - todo\n\nserver: {port: 0}\n",
            ),
            ("tools: {workspace: x} # w\n", "tools: {workspace: x, disabled: [todo]} # w\n"),
            ("tools:\n  disabled: # nothing is\n  workspace: x\n", ""),
            (
                "---\n# doc\nserver: {port: 0}\n...\n",
                "---\n# doc\nserver: {port: 0}\ntools:\n  disabled:\n    - todo\n...\n",
            ),
        ];
        for (text, wanted) in cases {
            // Nothing behind a key is wrong for some of them; then there is nothing to change.
            if Config::parse(text, Path::new("x")).is_err() {
                assert_eq!(wanted, "", "{text}");
                continue;
            }
            assert_eq!(edited(text, |config| off(config, "todo")).as_deref(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn a_remark_stays_when_its_name_goes() {
        let cases = [
            (
                "toolsets:\n  # why\n  - a  # all\n  # second\n  - b # too\n# tail\n",
                "toolsets:\n  # why\n  # all\n  # second\n  - b # too\n# tail\n",
            ),
            ("toolsets: [a, b] # x\n", "toolsets: [b] # x\n"),
            ("toolsets: [\n  a, # one\n  b, # two\n] # end\n", "toolsets: [\n  # one\n  b, # two\n] # end\n"),
            ("toolsets:\r\n  - a # x\r\n  - b\r\n", "toolsets:\r\n  # x\r\n  - b\r\n"),
        ];
        for (text, wanted) in cases {
            assert_eq!(
                edited(text, |config| config.toolsets.retain(|name| name != "a")).as_deref(),
                Ok(wanted),
                "{text}"
            );
        }
    }

    #[test]
    fn an_empty_list_is_written_as_one() {
        for text in [
            "tools:\n  disabled:\n    # why\n    - a # x\n    # behind\n  workspace: ws # z\n",
            "tools:\n  disabled: [a] # x\n  workspace: ws\n",
            "tools:\n  disabled:\n  - a\n",
        ] {
            let now = edited(text, |config| config.tools.disabled.clear()).unwrap();
            assert!(config(&now).tools.disabled.is_empty() && missing(text, &now).is_empty(), "{now}");
        }
    }

    #[test]
    fn several_keys_change_at_once() {
        let text = "# mine\ntools:\n  disabled: [a, b]   # off\n  terminal:\n    enabled: false # no\n# end\nserver: {port: 0}\n";
        let now = edited(text, |config| {
            config.tools.disabled = names(&["b", "c"]);
            config.tools.terminal.enabled = true;
            let mcp = config.tools.platforms.entry("mcp".to_owned()).or_default();
            mcp.toolsets = Some(names(&["cdpilot-mcp", "todo"]));
            mcp.disabled = names(&["browser_evaluate"]);
            config.tools.platforms.entry("acp".to_owned()).or_default().toolsets = Some(Vec::new());
        });
        let wanted = "# mine\ntools:\n  disabled: [b, c]   # off\n  terminal:\n    enabled: true # no\n  platforms:\n    acp:\n      toolsets: []\n    mcp:\n      toolsets:\n        - cdpilot-mcp\n        - todo\n      disabled:\n        - browser_evaluate\n# end\nserver: {port: 0}\n";
        assert_eq!(now.as_deref(), Ok(wanted));
        let now = edited("# none\n", |config| config.tools.terminal.enabled = true);
        assert_eq!(now.as_deref(), Ok("# none\ntools:\n  terminal:\n    enabled: true\n"));
    }

    #[test]
    fn what_cannot_be_changed_safely_is_left_alone() {
        for text in ["x: &a [q]\ntoolsets: *a\n", "null\n"] {
            let from = config(if text == "null\n" { "" } else { "toolsets: [q]\n" });
            let mut to = from.clone();
            to.toolsets.push("todo".to_owned());
            let told = changed(text, &from, &to, Path::new("config.yaml"));
            assert!(told.is_err(), "{told:?}");
        }
    }

    #[test]
    fn comments_are_found_and_nothing_else() {
        assert_eq!(comment("a: b # c"), Some("# c"));
        assert_eq!(comment("# c  "), Some("# c"));
        assert_eq!(comment("a: \"b # c\" # d"), Some("# d"));
        assert_eq!(comment("a: 'b # c'"), None);
        assert_eq!(comment("color: \"#FF4500\""), None);
        assert_eq!(comment("a: it's # c"), Some("# c"));
        assert_eq!(comment("a: b#c"), None);
    }

    proptest::proptest! {
        /// Whatever remarks and empty lines stand around, they stay, and the list is what it is to be.
        #[test]
        fn remarks_anywhere_survive(
            between in proptest::collection::vec(0_usize..6, 12),
            flow: bool,
            indent in 2_usize..5,
            keep in proptest::collection::vec(proptest::bool::ANY, 3),
            add in 0_usize..3,
        ) {
            let mut number = 0;
            let mut gap = |at: usize, depth: usize| -> String {
                let pad = " ".repeat(depth);
                (0..between[at] % 3).map(|_| { number += 1; if number % 3 == 0 { "\n".to_owned() } else { format!("{pad}# remark {number}\n") } }).collect()
            };
            let pad = " ".repeat(indent);
            let deep = " ".repeat(2 * indent);
            let tail = |at: usize| if between[at] > 2 { format!("  # tail {at}") } else { String::new() };
            let list = if flow {
                format!("{pad}disabled: [todo, 'web', file]{}\n", tail(9))
            } else {
                format!("{pad}disabled:{}\n{}{deep}- todo{}\n{}{deep}- 'web'{}\n{}{deep}- file{}\n", tail(6), gap(1, 2 * indent), tail(7), gap(2, 2 * indent), tail(8), gap(3, 2 * indent), tail(9))
            };
            let text = format!("{}server: {{port: 0}}{}\n{}tools:{}\n{}{list}{}{pad}workspace: x{}\n{}", gap(0, 0), tail(3), gap(4, 0), tail(4), gap(5, indent), gap(10, indent), tail(5), gap(11, 0));
            let all = ["todo", "web", "file"];
            let mut wanted: Vec<String> = all.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(name, _)| (*name).to_owned()).collect();
            wanted.extend((0..add).map(|n| format!("new{n}")));
            let now = edited(&text, |config| config.tools.disabled.clone_from(&wanted));
            let now = now.unwrap_or_else(|why| panic!("{why}\n{text}"));
            proptest::prop_assert_eq!(&config(&now).tools.disabled, &wanted, "{}\n{}", text, now);
            proptest::prop_assert!(missing(&text, &now).is_empty(), "{}\n{}", text, now);
            // What was not touched is where it was.
            let lines = |text: &str| text.lines().filter(|line| !line.contains("disabled") && !line.trim_start().starts_with("- ")).map(str::to_owned).collect::<Vec<_>>();
            let (before, after) = (lines(&text), lines(&now));
            let kept: Vec<&String> = after.iter().filter(|line| before.contains(line)).collect();
            proptest::prop_assert!(kept.len() >= before.iter().filter(|line| !line.trim().is_empty()).count(), "{}\n{}", text, now);
        }
    }
}
