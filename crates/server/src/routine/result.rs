//! The section `## Result`.

use serde_json::Value;

use super::lines::{Line, LineKind};
use super::model::{Place, ResultSection, SourceLine};
use super::problem::{Problems, quoted};
use super::schema;

const EXAMPLE: &str = "`{\"type\": \"object\", \"properties\": {…}}`";

pub(super) fn result(
    heading_line: usize,
    lines: &[Line<'_>],
    source: &mut [SourceLine],
    problems: &mut Problems,
) -> ResultSection {
    let mut texts: Vec<&str> = Vec::new();
    let mut schema: Option<(Option<Value>, usize)> = None;
    let mut block: Vec<&str> = Vec::new();
    // First line of the schema that the loop is in.
    let mut inside: Option<usize> = None;
    for (i, (line, source)) in lines.iter().zip(source).enumerate() {
        if line.kind == LineKind::FenceOpen && is_schema(lines.get(i..).unwrap_or_default(), problems) {
            inside = Some(line.number);
            block.clear();
        }
        let Some(begin) = inside else {
            if line.kind != LineKind::Skipped {
                texts.push(line.text);
                source.place = if line.is_blank() { Place::Other } else { Place::Result };
            }
            continue;
        };
        source.place = Place::Schema;
        match line.kind {
            LineKind::FenceClose => {
                inside = None;
                if let Some((_, first)) = &schema {
                    let message = format!(
                        "the result has one JSON schema, and line {first} begins it already; write one schema, and \
                         examples in blocks without `json`"
                    );
                    problems.add(begin, "RESULT_SCHEMA", message);
                } else {
                    schema = Some((parse(&block, begin, problems), begin));
                }
            }
            LineKind::FenceInside => block.push(line.text),
            _ => {}
        }
    }
    let text = texts.join("\n").trim_matches('\n').to_owned();
    if text.trim().is_empty() && schema.is_none() {
        let message = "the section says nothing; write what the run returns, or remove the heading";
        problems.add(heading_line, "EMPTY_SECTION", message);
    }
    ResultSection { text, schema: schema.and_then(|(value, _)| value) }
}

/// Whether the code block is the schema. A block without a language that begins like an object is reported.
fn is_schema(block: &[Line<'_>], problems: &mut Problems) -> bool {
    let Some(first) = block.first() else { return false };
    let language = first.info().split_whitespace().next().unwrap_or_default();
    if language.eq_ignore_ascii_case("json") {
        return true;
    }
    let begins_object = block.get(1).is_some_and(|line| line.text.trim_start().starts_with('{'));
    let nearly = matches!(language.to_ascii_lowercase().as_str(), "jsonc" | "json5" | "jsonschema" | "json-schema");
    if nearly || (language.is_empty() && begins_object) {
        let message = "the block looks like the schema of the result; write ```json as its first line";
        problems.add(first.number, "RESULT_SCHEMA", message);
    }
    false
}

fn parse(block: &[&str], begin: usize, problems: &mut Problems) -> Option<Value> {
    match serde_json::from_str::<Value>(&block.join("\n")) {
        Ok(Value::Object(schema)) => {
            if let Some(fault) = schema::fault(&schema) {
                problems.add(begin, "RESULT_SCHEMA", fault);
            }
            Some(Value::Object(schema))
        }
        Ok(value) => {
            let found = quoted(&value.to_string());
            let message = format!("the schema is {found} and must be a JSON object; write {EXAMPLE}");
            problems.add(begin, "RESULT_SCHEMA", message);
            None
        }
        Err(error) => {
            let line = begin + error.line().max(1);
            let reason = error.to_string();
            let reason = reason.split(" at line ").next().unwrap_or_default();
            let message = format!("the schema is not valid JSON ({reason}); write a JSON object such as {EXAMPLE}");
            problems.add(line, "RESULT_SCHEMA", message);
            None
        }
    }
}
