//! Writes files from answers to the path given by `--out` or `--har`.

use cdpilot::code::Code;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::failure::Failure;
use super::super::files::{self, Readers};
use super::show::aria_lines;

/// Writes the file that the answer holds or names to `path`, and puts that path into the answer.
pub(super) fn file(value: &mut Value, path: &Path) -> Result<(), Failure> {
    let failed = |problem: &dyn std::fmt::Display| {
        Failure::new(Code::Internal, format!("cannot write {}: {problem}", path.display()))
    };
    if let Some(download) = value.get_mut("download").filter(|download| download.is_object()) {
        let Some(made) = download["path"].as_str() else {
            let state = download["state"].as_str().unwrap_or("no file");
            return Err(failed(&format!("the download has no file (state: {state})")));
        };
        files::copy(Path::new(made), path, Readers::Usual).map_err(|problem| failed(&problem))?;
        download["path"] = absolute(path).into();
        return Ok(());
    }
    let Some(map) = value.as_object_mut() else { return Ok(()) };
    if let Some(Value::String(data)) = map.remove("data") {
        let bytes = STANDARD.decode(data).map_err(|problem| failed(&problem))?;
        files::write(path, Readers::Usual, &bytes).map_err(|problem| failed(&problem))?;
    } else if let Some(archive) = map.remove("har") {
        let text = serde_json::to_string_pretty(&archive).map_err(|problem| failed(&problem))?;
        // It may hold cookies, tokens and bodies.
        files::write(path, Readers::Owner, (text + "\n").as_bytes()).map_err(|problem| failed(&problem))?;
    } else if let Some(Value::String(text)) = map.get("snapshot") {
        files::write(path, Readers::Usual, format!("{text}\n").as_bytes()).map_err(|problem| failed(&problem))?;
    } else if map.contains_key("nodes") {
        files::write(path, Readers::Usual, aria_lines(value).as_bytes()).map_err(|problem| failed(&problem))?;
        return Ok(());
    } else if let Some(Value::String(made)) = map.get("path") {
        files::copy(Path::new(made), path, Readers::Owner).map_err(|problem| failed(&problem))?;
    } else {
        return Err(failed(&"the server's answer has no file"));
    }
    map.insert("path".to_owned(), absolute(path).into());
    Ok(())
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}
