//! Truncation of results: long texts at whole lines, page texts by field.

use serde_json::{Map, Value, json};

/// Maximum length of page texts in characters, by suffix of the field name.
const LIMITS: [(&str, usize); 12] = [
    ("title", 300),
    ("url", 2_000),
    ("src", 2_000),
    ("href", 2_000),
    ("origin", 2_000),
    ("at", 2_000),
    ("message", 2_000),
    ("default_prompt", 1_000),
    ("name", 1_000),
    ("alt", 1_000),
    ("filename", 300),
    ("path", 2_000),
];
/// Maximum length of a field name, in characters.
const NAME: usize = 200;
/// Maximum length of an error, in characters.
const ERROR: usize = 2_000;
/// Maximum length of one field as JSON, in characters. Tools that limit their own texts stay below it.
const FIELD: usize = 25_000;

/// Limits for the texts of a result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Maximum length of a nested text whose field has no limit in `LIMITS`, in characters.
    other: usize,
    /// Maximum length of a field as JSON, in characters.
    field: usize,
}

impl Bounds {
    /// Limits for results about a page.
    pub(super) const PAGE: Self = Self { other: 4_000, field: FIELD };
    /// Limits for results whose tool limits its main text itself: only URLs, titles and the like are truncated.
    pub(super) const NAMED: Self = Self { other: usize::MAX, field: usize::MAX };
}

/// Divisors of the limits, tried in order until a field is short enough.
const TIGHTER: [usize; 3] = [1, 4, 16];
/// The return value of a script or command: only its total length is limited, since the caller requested its content.
const RESULT: &str = "result";
/// Field with the number of omitted list entries, by field name.
const OMITTED: &str = "omitted";

/// A text that may be truncated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capped {
    /// The kept whole lines.
    pub text: String,
    /// Number of omitted lines.
    pub left_out: usize,
}

impl Capped {
    /// Keeps the first lines, at most `most` characters. If the first line alone is longer, keeps its beginning.
    #[must_use]
    pub fn of(text: &str, most: usize) -> Self {
        if text.chars().count() <= most {
            return Self { text: text.to_owned(), left_out: 0 };
        }
        let total = text.lines().count();
        let (mut kept, mut lines, mut chars) = (String::new(), 0, 0);
        for line in text.lines() {
            let more = line.chars().count() + 1;
            if chars + more > most {
                break;
            }
            kept.push_str(line);
            kept.push('\n');
            chars += more;
            lines += 1;
        }
        if lines == 0 {
            kept = text.lines().next().unwrap_or_default().chars().take(most).collect();
            return Self { text: kept, left_out: total };
        }
        Self { text: kept, left_out: total - lines }
    }

    /// Like [`of`](Self::of), for the text after the first `skipped` lines.
    #[must_use]
    pub fn after(text: &str, skipped: usize, most: usize) -> Self {
        let rest = text.split_inclusive('\n').take(skipped).map(str::len).sum::<usize>();
        Self::of(text.get(rest..).unwrap_or_default(), most)
    }

    /// The text, followed by the number of omitted lines and `rest`, a hint where to find them.
    #[must_use]
    pub fn noted(self, rest: &str) -> String {
        if self.left_out == 0 {
            return self.text;
        }
        let mut text = self.text;
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let lines = if self.left_out == 1 { "line" } else { "lines" };
        text.push_str(&format!("[{} {lines} omitted: {rest}]", self.left_out));
        text
    }
}

/// Truncates all texts in fields with page content. List entries that still do not fit are dropped and counted in
/// `omitted`.
pub(super) fn cap_fields(fields: Map<String, Value>, bounds: Bounds) -> Map<String, Value> {
    let (mut capped, mut omitted) = (Map::new(), Map::new());
    for (name, value) in fields {
        let (value, left_out) = field(&name, value, bounds);
        let name = cut(&name, NAME);
        if left_out > 0 {
            omitted.insert(name.clone(), left_out.into());
        }
        capped.insert(name, value);
    }
    if !omitted.is_empty() {
        capped.insert(OMITTED.to_owned(), Value::Object(omitted));
    }
    capped
}

/// Truncates the message of an error, which may quote a page.
pub(super) fn cap_error(message: &str) -> String {
    cut(message, ERROR)
}

/// Truncates one field. Returns it with the number of dropped list entries.
fn field(name: &str, value: Value, bounds: Bounds) -> (Value, usize) {
    match value {
        Value::String(text) => {
            let most = limit(name).unwrap_or(bounds.field);
            (cut(&text, most).into(), 0)
        }
        Value::Array(_) | Value::Object(_) if name == RESULT => {
            let text = value.to_string();
            (if text.len() <= bounds.field { value } else { cut(&text, bounds.field).into() }, 0)
        }
        Value::Array(_) | Value::Object(_) => {
            let mut capped = Value::Null;
            for part in TIGHTER {
                capped = cap(name, &value, part, bounds);
                if capped.to_string().len() <= bounds.field {
                    return (capped, 0);
                }
            }
            match capped {
                Value::Array(all) => first(all, bounds.field),
                // An object with a great many fields.
                other => (cut(&other.to_string(), bounds.field).into(), 0),
            }
        }
        other => (other, 0),
    }
}

/// Keeps the first list entries that fit into `room`. Returns them with the number of dropped entries.
fn first(all: Vec<Value>, mut room: usize) -> (Value, usize) {
    let total = all.len();
    let fits = |entry: &Value| {
        let size = entry.to_string().len() + 1;
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    let kept: Vec<Value> = all.into_iter().take_while(fits).collect();
    let left_out = total - kept.len();
    (kept.into(), left_out)
}

/// Truncates all texts in a value to their limits divided by `part`.
fn cap(name: &str, value: &Value, part: usize, bounds: Bounds) -> Value {
    match value {
        Value::String(text) => cut(text, limit(name).unwrap_or(bounds.other) / part).into(),
        Value::Array(all) => all.iter().map(|value| cap(name, value, part, bounds)).collect(),
        Value::Object(fields) => {
            let capped = fields.iter().map(|(name, value)| (cut(name, NAME), cap(name, value, part, bounds)));
            Value::Object(capped.collect())
        }
        other => json!(other),
    }
}

fn limit(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    LIMITS.iter().find(|(end, _)| name == *end || (end.len() > 2 && name.ends_with(end))).map(|(_, most)| *most)
}

/// Truncates a text and marks the truncation. Never cuts through a ref.
fn cut(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let kept = text.get(..end).unwrap_or_default();
    let whole = match kept.rfind("[ref=") {
        Some(begin) if !kept[begin..].contains(']') => &kept[..begin],
        _ => kept,
    };
    format!("{whole}… [truncated: {most} of {} characters]", text.chars().count())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Bounds, Capped, FIELD, cap_error, cap_fields};

    #[test]
    fn texts_are_cut_at_whole_lines() {
        let cut = |text: &str, most| {
            let capped = Capped::of(text, most);
            (capped.text, capped.left_out)
        };
        assert_eq!(cut("one\ntwo\nthree", 100), ("one\ntwo\nthree".into(), 0));
        assert_eq!(cut("one\ntwo\nthree", 9), ("one\ntwo\n".into(), 1));
        assert_eq!(cut("one\ntwo\nthree", 5), ("one\n".into(), 2));
        assert_eq!(cut("ääää\nb", 3), ("äää".into(), 2));
        assert_eq!(Capped::of("one\ntwo", 5).noted("in a file"), "one\n[1 line omitted: in a file]");
        assert_eq!(Capped::after("one\ntwo\nthree", 1, 4), Capped { text: "two\n".into(), left_out: 1 });
        assert_eq!(Capped::after("one\ntwo", 9, 4), Capped { text: String::new(), left_out: 0 });
        assert_eq!(Capped::of("one", 5).noted("in a file"), "one");
    }

    fn capped(fields: Value) -> Value {
        let Value::Object(fields) = fields else { panic!("no object") };
        Value::Object(cap_fields(fields, Bounds::PAGE))
    }

    #[test]
    fn texts_of_pages_are_cut_by_the_field_they_are_in() {
        let long = "ä".repeat(5_000);
        let result = capped(json!({
            "title": long, "tabs": [{"url": long, "label": "one"}], "snapshot": long, "count": 5,
            "pending_dialogs": [{"message": long, "default_prompt": long, "id": "d-1"}],
            "console_messages": [{"text": long}], "new_tabs": [{"targetUrl": long}],
        }));
        let cut = |most: usize| format!("{}… [truncated: {most} of 5000 characters]", "ä".repeat(most));
        let expected = json!({
            "title": cut(300), "tabs": [{"url": cut(2_000), "label": "one"}], "snapshot": long, "count": 5,
            "pending_dialogs": [{"message": cut(2_000), "default_prompt": cut(1_000), "id": "d-1"}],
            "console_messages": [{"text": cut(4_000)}], "new_tabs": [{"targetUrl": cut(2_000)}],
        });
        assert_eq!(result, expected);
        assert_eq!(cap_error(&long), cut(2_000));
        let Value::Object(page) = json!({ "title": long, "results": [{"text": long}] }) else { panic!() };
        let result = Value::Object(cap_fields(page, Bounds::NAMED));
        assert_eq!(result, json!({ "title": cut(300), "results": [{"text": long}] }));
        // A text below its limit is not changed again.
        assert_eq!(capped(json!({ "title": "fine" })), json!({ "title": "fine" }));
    }

    #[test]
    fn many_texts_together_are_bounded_too() {
        let long = "x".repeat(5_000);
        let tabs: Vec<Value> = (0..32).map(|n| json!({"tabId": format!("t{n}"), "url": long, "title": long})).collect();
        let result = capped(json!({ "tabs": tabs }));
        assert_eq!(result["tabs"].as_array().unwrap().len(), 32, "they are cut shorter before any is left out");
        assert!(result.to_string().len() < FIELD + 100 && result.get("omitted").is_none());
        let result = capped(json!({ "images": vec![json!({"src": long, "alt": long}); 1000] }));
        let shown = result["images"].as_array().unwrap().len();
        assert!(shown > 20 && result["omitted"]["images"] == 1000 - shown, "{shown}");
        let fields: serde_json::Map<String, Value> = (0..5_000).map(|n| (format!("{n}{long}"), json!(n))).collect();
        let result = capped(json!({ "frame_tree": fields, "result": { &long: long.repeat(10) } }));
        assert!(result.to_string().len() < 2 * FIELD + 1_000, "{}", result.to_string().len());
    }

    #[test]
    fn a_ref_is_never_cut_in_two() {
        for most in 290..=300 {
            let text = format!("{} [ref=e12345] {}", "x".repeat(most - 5), "y".repeat(300));
            let title = capped(json!({ "title": text }))["title"].as_str().unwrap().to_owned();
            let refs = title.matches("[ref=").count();
            assert_eq!(refs, title.matches("[ref=e12345]").count(), "{title}");
        }
    }
}
