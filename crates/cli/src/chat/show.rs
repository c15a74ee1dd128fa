//! What is printed of a run.

use serde_json::Value;

use super::super::client::Request;
use super::super::files::{self, Readers};
use super::super::output::{Out, clean, one_line};
use super::link::Link;
use super::link::image;
use cdpilot_server::api::operations as op;

/// Maximum length of a line about a call, in characters.
const LINE: usize = 160;

/// Prints events. One-shot: everything but the last text goes to stderr.
pub(super) struct Show<'a> {
    out: &'a Out,
    link: &'a Link<'a>,
    /// Whether the texts of the model are printed as they are written.
    is_live: bool,
    is_one_shot: bool,
    /// What was printed of the text that the model is writing.
    written: String,
    /// Paths of the pictures that were saved.
    pub(super) pictures: Vec<String>,
}

impl<'a> Show<'a> {
    pub(super) fn new(out: &'a Out, link: &'a Link<'a>, is_one_shot: bool, is_terminal: bool) -> Self {
        let is_live = is_terminal && !is_one_shot;
        Self { out, link, is_live, is_one_shot, written: String::new(), pictures: Vec::new() }
    }

    /// Prints a line about the run.
    pub(super) fn note(&mut self, line: &str) {
        self.end_line();
        if self.is_one_shot {
            self.out.aside(line);
        } else if !self.out.quiet {
            self.out.line(line);
        }
    }

    fn end_line(&mut self) {
        if !self.written.is_empty() {
            self.written.clear();
            self.out.text("\n");
        }
    }

    /// Prints an event.
    pub(super) fn event(&mut self, name: &str, data: &Value) {
        let text = |field: &str| data[field].as_str().unwrap_or_default();
        match (name, text("type")) {
            ("agent_event", "TextDelta") => self.delta(data),
            // The last one is the result, which a one-shot run prints at its end.
            ("agent_event", "MessageEvent") if data["source"] == "agent" && !self.is_one_shot => {
                self.said(text("text"))
            }
            ("agent_event", "ActionEvent") => {
                self.said(text("text"));
                let call = format!("{} {}", text("tool_name"), data["action"]);
                let arrow = self.out.style.pick("→", "->");
                self.note(&self.out.style.dim(&format!("{arrow} {}", clip(&call))));
            }
            ("agent_event", "ObservationEvent") => {
                if data["success"] == true {
                    let first = text("text").lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                    // Results of other tools are JSON.
                    if !first.is_empty() && !first.starts_with('{') {
                        self.note(&self.out.style.dim(&format!("  {}", clip(first))));
                    }
                } else {
                    self.note(&self.out.style.yellow(&format!("  failed: {}", clip(text("error")))));
                }
                self.pictures_of(data);
            }
            ("agent_event", "SystemEvent") => self.note(&self.out.style.dim(&clip(text("text")))),
            ("dialog", _) => self.dialog(data),
            _ => {}
        }
    }

    fn delta(&mut self, data: &Value) {
        if data["reset"] == true {
            self.end_line();
        }
        if let Some(part) = data["text"].as_str().filter(|_| self.is_live) {
            let part = clean(part);
            self.written.push_str(&part);
            self.out.text(&part);
        }
    }

    /// Prints a text of the model, unless it was printed while it was written.
    fn said(&mut self, text: &str) {
        let text = clean(text);
        let is_printed = !self.written.is_empty() && self.written.trim() == text.trim();
        self.end_line();
        if !is_printed && !text.trim().is_empty() {
            if self.is_one_shot { self.out.aside(&text) } else { self.out.line(&text) }
        }
    }

    fn dialog(&mut self, data: &Value) {
        let dialog = &data["dialog"];
        let text = |field: &str| one_line(dialog[field].as_str().unwrap_or_default());
        let what = format!("{} dialog {:?}", text("type"), text("message"));
        let line = match data["state"].as_str() {
            Some("opened") if self.is_one_shot => format!("! {what}"),
            Some("opened") => format!("! {what}; /dialog accept|dismiss answers it"),
            _ => {
                let answer = if dialog["accepted"] == true { "accepted" } else { "dismissed" };
                format!("! {what}: {answer}")
            }
        };
        self.note(&self.out.style.yellow(&clip(&line)));
    }

    /// Saves the pictures of a result, and prints their paths.
    fn pictures_of(&mut self, data: &Value) {
        let paths = data["images"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for path in paths.map(str::to_owned).collect::<Vec<_>>() {
            match self.save(&path) {
                Ok(Some(saved)) => {
                    self.note(&self.out.style.dim(&format!("  picture: {saved}")));
                    self.pictures.push(saved);
                }
                Ok(None) => {}
                Err(problem) => self.note(&format!("  the picture was not saved: {problem}")),
            }
        }
    }

    fn save(&self, path: &str) -> Result<Option<String>, String> {
        let Some(home) = self.link.home() else { return Ok(None) };
        let Some([id, number]) = image(path) else { return Ok(None) };
        let (kind, bytes) =
            self.link.bytes(&Request::at(op::CONVERSATION_IMAGE, &[id, number])).map_err(|failure| failure.error)?;
        let ending = if kind == "image/jpeg" { "jpg" } else { "png" };
        let short: String = id.chars().take(8).collect();
        let file = home.media().join(format!("chat-{short}-{number}.{ending}"));
        files::write(&file, Readers::Owner, &bytes).map_err(|problem| problem.to_string())?;
        Ok(Some(file.display().to_string()))
    }

    /// Prints the tokens and the cost of a conversation.
    pub(super) fn usage(&mut self, usage: &Value) {
        if let Some(line) = usage_line(usage) {
            self.note(&self.out.style.dim(&line));
        }
    }
}

/// Tokens and cost in a few words.
fn usage_line(usage: &Value) -> Option<String> {
    let metrics = &usage["metrics"];
    let tokens = |name: &str| metrics["accumulated_token_usage"][name].as_u64();
    let (input, output) = (tokens("prompt_tokens")?, tokens("completion_tokens")?);
    if input == 0 {
        return None;
    }
    let cached = tokens("cache_read_tokens").filter(|cached| *cached > 0);
    let cached = cached.map_or_else(String::new, |cached| format!(" ({} % cached)", cached * 100 / input));
    let cost = metrics["accumulated_cost"].as_f64();
    let currency = metrics["currency"].as_str().unwrap_or_default();
    let cost = cost.map_or_else(String::new, |cost| format!(", {cost:.4} {currency}"));
    Some(format!("{input} tokens in{cached}, {output} out{cost}"))
}

/// One line of limited length, safe for a terminal.
fn clip(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(LINE) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
