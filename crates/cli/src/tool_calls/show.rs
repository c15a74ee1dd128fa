//! Prints the result of a tool call.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::super::client::exit_of;
use super::super::failure::{Exit, Failure};
use super::super::output::{Out, clean};
use cdpilot::code::Code;
use cdpilot_server::config::Home;

/// Prints a result and saves its images.
pub(super) fn result(name: &str, result: Value, home: Option<&Home>, out: &Out) -> Result<Exit, Failure> {
    let mut fields = object(&result);
    let pictures = pictures(name, &result, home)?;
    let success = fields.get("success").and_then(Value::as_bool).unwrap_or(result["isError"] != true);
    fields.insert("success".to_owned(), success.into());
    let exit = match fields.get("code").and_then(Value::as_str) {
        _ if success => Exit::Done,
        Some(code) => exit_of(code),
        None => Exit::Failed,
    };
    if out.json {
        if !pictures.is_empty() {
            fields.insert("pictures".to_owned(), pictures.iter().map(|path| path.display().to_string()).collect());
        }
        out.object(&fields);
        return Ok(exit);
    }
    if success {
        print(&fields, out);
        pictures.iter().for_each(|path| out.line(&format!("image: {}", path.display())));
        return Ok(exit);
    }
    let mut text = |name: &str| match fields.remove(name) {
        Some(Value::String(text)) => Some(clean(&text).into_owned()),
        _ => None,
    };
    let code = text("code").unwrap_or_else(|| Code::Internal.to_string());
    let error = text("error").unwrap_or_else(|| "the tool failed without a message".to_owned());
    Err(Failure { exit, ..Failure::of_text(code, error) })
}

/// The structured result, else the text content as an object.
fn object(result: &Value) -> Map<String, Value> {
    if let Value::Object(fields) = &result["structuredContent"] {
        return fields.clone();
    }
    let parts = result["content"].as_array().into_iter().flatten();
    let text: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    let text = text.join("\n");
    match serde_json::from_str(&text) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::from_iter([("text".to_owned(), Value::String(text))]),
    }
}

/// Prints a result as JSON; multi-line strings follow as text.
fn print(fields: &Map<String, Value>, out: &Out) {
    let is_long = |value: &Value| value.as_str().is_some_and(|text| text.trim_end().contains('\n'));
    let (long, short): (Vec<_>, Vec<_>) = fields.iter().partition(|(_, value)| is_long(value));
    let short: Map<String, Value> = short.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let short = serde_json::to_string_pretty(&short).unwrap_or_default();
    out.line(&clean(&short));
    for (name, value) in long {
        let text = value.as_str().unwrap_or_default().trim_end();
        out.line(&format!("\n{}\n{}", out.style.bold(&format!("{name}:")), clean(text)));
    }
}

/// Saves the images of a result to `media/` of the home; returns their paths.
fn pictures(name: &str, result: &Value, home: Option<&Home>) -> Result<Vec<PathBuf>, Failure> {
    let parts = result["content"].as_array().into_iter().flatten();
    let pictures: Vec<&Value> = parts.filter(|part| part["type"] == "image").collect();
    let Some(home) = home.filter(|_| !pictures.is_empty()) else { return Ok(Vec::new()) };
    home.prepare()?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let save = |(number, part): (usize, &&Value)| {
        let ending = if part["mimeType"] == "image/png" { "png" } else { "jpg" };
        let path = home.media().join(format!("{name}-{now}-{number}.{ending}"));
        let failed =
            |problem: &dyn std::fmt::Display| Failure::internal(format!("cannot write {}: {problem}", path.display()));
        let bytes = STANDARD.decode(part["data"].as_str().unwrap_or_default()).map_err(|problem| failed(&problem))?;
        new(&path).and_then(|mut file| file.write_all(&bytes)).map_err(|problem| failed(&problem))?;
        Ok(path)
    };
    pictures.iter().enumerate().map(save).collect()
}

/// Creates a file that only its owner can read.
fn new(path: &std::path::Path) -> io::Result<fs::File> {
    let mut options = fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}
