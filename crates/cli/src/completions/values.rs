//! Completion candidates from a running server; without a server there are none.
//!
//! Pages choose some of the values, and a shell inserts them into the command line. So values with characters that are special
//! in a shell are dropped, and descriptions are reduced to letters, digits, spaces and harmless punctuation.

use std::ffi::OsString;
use std::time::Duration;

use clap_complete::CompletionCandidate;
use serde_json::Value;

use super::super::client::{self, Client, Request, Source};
use super::super::settings::env;
use cdpilot::page::device_names;
use cdpilot::sync::Deadline;
use cdpilot_server::api::operations as op;
use cdpilot_server::config::Home;

/// Time limit for all requests together, unless [`PATIENCE_MS`] is set.
const PATIENCE: Duration = Duration::from_millis(700);
/// Environment variable with another limit, in milliseconds.
const PATIENCE_MS: &str = "CDPILOT_COMPLETE_MS";
/// Maximum number of candidates of one kind.
const MOST: usize = 500;
/// Longest value, in characters.
const VALUE: usize = 64;
/// Longest description, in characters.
const DESCRIPTION: usize = 60;

/// What an argument refers to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Tab,
    Ref,
    Profile,
    Device,
}

/// Source of candidates for one command line.
#[derive(Debug, Clone)]
pub(super) struct Values {
    url: Option<String>,
    profile: Option<String>,
    target: Option<String>,
    deadline: Deadline<'static>,
}

impl Values {
    /// Reads the options of an unfinished command line.
    pub(super) fn of(words: &[OsString]) -> Self {
        let option = |name: &str| {
            let word = |at: usize| words.get(at).and_then(|word| word.to_str());
            let at = (0..words.len()).find(|at| word(*at).is_some_and(|word| word.starts_with(name)))?;
            match word(at)?.strip_prefix(name)? {
                "" => word(at + 1).map(str::to_owned),
                value => value.strip_prefix('=').map(str::to_owned),
            }
        };
        let option = |name: &str| option(name).filter(|value| !value.is_empty());
        let millis = env(PATIENCE_MS).and_then(|text| text.parse().ok()).map(Duration::from_millis);
        Self {
            url: option("--url"),
            profile: option("--profile").or_else(|| env("CDPILOT_PROFILE")),
            target: option("--target"),
            deadline: Deadline::after(millis.unwrap_or(PATIENCE)),
        }
    }

    pub(super) fn candidates(&self, kind: Kind) -> Vec<CompletionCandidate> {
        let all: Vec<(String, String)> = match kind {
            Kind::Device => device_names().map(|name| (name.to_owned(), String::new())).collect(),
            Kind::Tab => self.tabs(),
            Kind::Ref => self.refs(),
            Kind::Profile => self.profiles(),
        };
        let harmless = all.into_iter().filter(|(value, _)| is_harmless(value)).take(MOST);
        harmless.map(|(value, about)| candidate(value, &about)).collect()
    }

    fn tabs(&self) -> Vec<(String, String)> {
        let answer = self.ask(Request::of(op::TABS));
        let mut all = Vec::new();
        for tab in list(&answer, "tabs") {
            let title =
                [&tab["title"], &tab["url"]].into_iter().filter_map(Value::as_str).find(|text| !text.is_empty());
            for id in [&tab["tabId"], &tab["label"]].into_iter().filter_map(Value::as_str) {
                all.push((id.to_owned(), title.unwrap_or_default().to_owned()));
            }
        }
        all
    }

    fn refs(&self) -> Vec<(String, String)> {
        let answer = self.ask(Request::of(op::REFS).tab(self.target.as_deref()));
        let refs = answer["refs"].as_object().into_iter().flatten();
        let number = |reference: &str| reference.strip_prefix('e').and_then(|digits| digits.parse::<u32>().ok());
        let text = |info: &Value, name: &str| info[name].as_str().unwrap_or_default().to_owned();
        let mut all: Vec<_> = refs
            .filter_map(|(reference, info)| {
                Some((number(reference)?, format!("{} {}", text(info, "role"), text(info, "name"))))
            })
            .collect();
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(number, about)| (format!("e{number}"), about)).collect()
    }

    fn profiles(&self) -> Vec<(String, String)> {
        let answer = self.ask(Request::of(op::PROFILES));
        let profile = |profile: &Value| {
            let state = if profile["running"] == true { "running" } else { "" };
            Some((profile["name"].as_str()?.to_owned(), state.to_owned()))
        };
        list(&answer, "profiles").iter().filter_map(profile).collect()
    }

    /// The answer of a running server; `null` without one, or after the time limit.
    fn ask(&self, request: Request) -> Value {
        let request = request.profile(self.profile.as_deref());
        let ask = || {
            let home = Home::find().ok();
            let found = client::find(self.url.as_deref(), home.as_ref()).ok()?;
            // A program on the default port is not trusted with the token.
            if found.source == Source::Default || self.deadline.passed() {
                return None;
            }
            let answer = Client::new(&found, home.as_ref()).ok()?.send(&request, self.deadline.left()).ok()?;
            Some(answer.value)
        };
        ask().unwrap_or_default()
    }
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Whether a value has no special meaning in any shell and is not an option. Shells quote spaces themselves.
fn is_harmless(value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | ' ');
    (1..=VALUE).contains(&value.len()) && value.chars().all(plain) && !value.starts_with(['-', ' ', '.'])
}

fn candidate(value: String, about: &str) -> CompletionCandidate {
    let kept = |c: char| if c.is_alphanumeric() || "-_.,/+()?!".contains(c) { c } else { ' ' };
    let about: String = about.chars().take(4 * DESCRIPTION).map(kept).collect();
    let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
    let about: String = about.chars().take(DESCRIPTION).collect();
    CompletionCandidate::new(value).help(Some(about).filter(|about| !about.is_empty()).map(Into::into))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_values_pass() {
        for good in ["t1", "login", "my.tab_2", "iPhone 15 Pro", "a-b"] {
            assert!(is_harmless(good), "{good}");
        }
        for bad in
            ["", "$(id)", "`id`", "a;b", "a|b", "-x", "--json", "*", "~", "a\nb", "\u{1b}[2J", "a\tb", "'", "é", " a"]
        {
            assert!(!is_harmless(bad), "{bad:?}");
        }
    }

    #[test]
    fn descriptions_lose_what_a_terminal_or_shell_could_obey() {
        let made = candidate("t1".into(), "Hi\u{1b}[31m $(id)\n`x`\u{202e} — Grüße\t%F{red}");
        assert_eq!(made.get_help().unwrap().to_string(), "Hi 31m (id) x Grüße F red");
        assert_eq!(candidate("t1".into(), "\n").get_help(), None);
    }

    #[test]
    fn options_of_the_command_line_are_read() {
        let words: Vec<OsString> =
            "cdpilot --url=http://h:1 click --target t2 --profile".split(' ').map(Into::into).collect();
        let values = Values::of(&words);
        assert_eq!((values.url.as_deref(), values.target.as_deref()), (Some("http://h:1"), Some("t2")));
    }
}
