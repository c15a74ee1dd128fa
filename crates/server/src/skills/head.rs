//! The head of a skill: a block of YAML between two lines of `---`.

use serde::Serialize;
use serde_json::Value;

const LINE: &str = "---";

/// What a skill says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Head {
    /// Its name, which is that of its folder.
    pub name: String,
    /// What it is for, in one line.
    pub description: String,
    /// What has to be there: names of tools or toolsets, or programs as `command:NAME`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// Who wrote it: empty for a person, else `agent`, `from https://…` or `elsewhere`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub origin: String,
}

/// The head and the text behind it.
///
/// # Errors
/// What is wrong, as a sentence.
pub(super) fn split(text: &str) -> Result<(Head, &str), String> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let rest =
        text.strip_prefix(LINE).map(|rest| rest.trim_start_matches(['\r', ' '])).filter(|rest| rest.starts_with('\n'));
    let rest = rest.ok_or("it does not begin with a line ---, then name: and description:, then a line ---")?;
    let end = rest.find("\n---").ok_or("the line --- after name and description is missing")?;
    let (head, body) = rest.split_at(end);
    let body = body.get(4..).unwrap_or_default();
    if !body.is_empty() && !body.starts_with(['\n', '\r']) {
        return Err("the line --- after name and description has more on it".to_owned());
    }
    let head: Value = serde_saphyr::from_str(head).map_err(|problem| {
        format!("its head is not valid YAML: {}", problem.to_string().lines().next().unwrap_or_default())
    })?;
    let text = |name: &str| head[name].as_str().unwrap_or_default().trim().to_owned();
    let requires = match &head["requires"] {
        Value::String(one) => vec![one.trim().to_owned()],
        Value::Array(all) => all.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
        Value::Null => Vec::new(),
        _ => return Err("requires in its head is no list of names".to_owned()),
    };
    let head = Head { name: text("name"), description: text("description"), requires, origin: text("origin") };
    Ok((head, body.trim_start()))
}

/// A skill as it is stored.
pub(super) fn joined(head: &Head, body: &str) -> String {
    let line = |name: &str, value: &str| format!("{name}: {}\n", Value::from(value));
    let mut out = format!("{LINE}\n{}{}", line("name", &head.name), line("description", &head.description));
    if !head.requires.is_empty() {
        out.push_str(&format!("requires: {}\n", serde_json::json!(head.requires)));
    }
    if !head.origin.is_empty() {
        out.push_str(&line("origin", &head.origin));
    }
    out + LINE + "\n\n" + body.trim() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_and_written() {
        let head = Head {
            name: "book-trains".to_owned(),
            description: "Book \"trains\": how".to_owned(),
            requires: vec!["browser".to_owned()],
            origin: "from https://a.example".to_owned(),
        };
        let text = joined(&head, "# Steps\n\n---\n\nOpen it.\n");
        assert_eq!(split(&text), Ok((head, "# Steps\n\n---\n\nOpen it.\n")));
        let plain = "---\r\nname: a\ndescription: b\n---\nText";
        assert_eq!(split(plain).unwrap().0.description, "b");
        for wrong in ["", "name: a", "---\nname: a\n", "---\nname: [\n---\n", "--- x\nname: a\n---\n"] {
            assert!(split(wrong).is_err(), "{wrong:?}");
        }
    }
}
