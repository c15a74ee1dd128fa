//! Server-Sent Events, from their lines.

use serde_json::Value;

/// Parser state: the fields of the current event.
#[derive(Debug, Default)]
pub(in super::super) struct EventLines {
    name: String,
    data: String,
    /// Id of the last event that had one.
    pub(in super::super) id: Option<String>,
}

impl EventLines {
    /// Takes a line; an empty line completes an event, and returns its name and data.
    pub(in super::super) fn line(&mut self, line: &str) -> Option<(String, Value)> {
        let line = line.trim_end_matches('\r');
        if line.is_empty() {
            let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
            let value: Value = serde_json::from_str(&data).ok()?;
            let name = if name.is_empty() { value["type"].as_str().unwrap_or("message").to_owned() } else { name };
            return Some((name, value));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "id" => self.id = Some(value.to_owned()),
            "data" => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_from_their_lines() {
        let mut reading = EventLines::default();
        let text = ": a remark\n\nevent: console\r\nid: 4\ndata: {\"seq\":4,\ndata: \"type\":\"console\"}\n\ndata: {\"type\":\"x\"}\n\n";
        let all: Vec<_> = text.split('\n').filter_map(|line| reading.line(line)).collect();
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].0.as_str(), &all[0].1["seq"]), ("console", &Value::from(4)));
        assert_eq!(all[1].0, "x");
    }
}
