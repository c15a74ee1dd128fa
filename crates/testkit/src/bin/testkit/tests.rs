//! Test binaries, and the tests in them.

use std::io::BufRead;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;

/// A test binary.
#[derive(Debug)]
pub(crate) struct Binary {
    pub(crate) path: PathBuf,
    /// Folder of its package, in which its tests run.
    pub(crate) folder: PathBuf,
    /// Group of its tests, unless they are grouped by the beginning of their names.
    group: Option<String>,
}

/// A test of a binary, by its full name.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    pub(crate) binary: Arc<Binary>,
    pub(crate) name: String,
}

impl Test {
    /// The group in the report: the package of unit tests, the part of the name before the first `_` or `:` of others.
    pub(crate) fn group(&self) -> &str {
        let by_name = || self.name.split(['_', ':']).next().unwrap_or_default();
        self.binary.group.as_deref().unwrap_or_else(by_name)
    }
}

/// The tests of the binaries that cargo's messages name.
pub(crate) fn list(messages: impl BufRead) -> Result<Vec<Test>, String> {
    let mut all = Vec::new();
    for line in messages.lines() {
        let line = line.map_err(|problem| format!("cannot read cargo's messages: {problem}"))?;
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        if let Some(binary) = binary(&message) {
            all.extend(tests_of(binary)?);
        }
    }
    match all.is_empty() {
        true => Err("cargo's messages on standard input name no test binary".to_owned()),
        false => Ok(all),
    }
}

fn binary(message: &Value) -> Option<Binary> {
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let target = &message["target"];
    let folder = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned();
    let is_main =
        target["kind"] == serde_json::json!(["test"]) && target["src_path"].as_str()?.ends_with("tests/main.rs");
    let group = format!("{} ({})", target["name"].as_str()?, target["kind"][0].as_str()?);
    Some(Binary { path: message["executable"].as_str()?.into(), folder, group: (!is_main).then_some(group) })
}

fn tests_of(binary: Binary) -> Result<Vec<Test>, String> {
    let shown = binary.path.display();
    let output = Command::new(&binary.path).args(["--list", "--format", "terse"]).current_dir(&binary.folder).output();
    let output = output.map_err(|problem| format!("cannot start {shown}: {problem}"))?;
    if !output.status.success() {
        return Err(format!("{shown} --list: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let binary = Arc::new(binary);
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(|name| Test { binary: Arc::clone(&binary), name: name.to_owned() }).collect())
}
