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
