//! Commands on stdin: a word and its arguments, or a JSON object: a request of the HTTP API, or the fields of a word.

use super::page::{self, OnTab};
use crate::api::Method;
use crate::server::LocalRequest;
use crate::supervisor::{DialogMatch, DialogPolicy, DialogRule, UnknownPolicy};
use crate::text::serde_in_words;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A command. Words as JSON: `{"cmd": "eval", "frame": "top", "script": "1 + 1", "id": 7}`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "cmd", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Command {
    Accept {
        dialog: Option<String>,
        text: Option<String>,
    },
    Dismiss {
        dialog: Option<String>,
    },
    Arm {
        action: Action,
        text: Option<String>,
        /// Which dialogs get the answer; all by default.
        #[serde(default)]
        when: DialogMatch,
        times: Option<u32>,
    },
    Disarm {},
    Policy {
        policy: DialogPolicy,
        #[serde(default)]
        rules: Vec<DialogRule>,
    },
    Eval {
        frame: String,
        script: String,
    },
    Navigate {
        url: String,
        target: Option<String>,
    },
    Reload {
        target: Option<String>,
    },
    Revive {
        target: Option<String>,
    },
    History {
        target: Option<String>,
    },
    Open {
        url: String,
    },
    Close {
        target: Option<String>,
    },
    Snapshot {},
    Frames {
        target: Option<String>,
    },
    Downloads {
        target: Option<String>,
    },
    Help {},
    Quit {},
    /// A word for a route of the HTTP API.
    #[serde(skip)]
    OnTab {
        command: OnTab,
        target: Option<String>,
    },
    /// A request of the HTTP API: `{"POST": "/act", "body": {"kind": "click", "ref": "e12"}, "id": 7}`.
    #[serde(skip)]
    Api {
        /// Method and path.
        name: String,
        request: LocalRequest,
    },
}

/// The action of an armed answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    Accept,
    Dismiss,
}

/// Usage and description of each command, for `help`.
pub(super) const HELP: [(&str, &str); 17] = [
    ("accept [DIALOG] [TEXT]", "accept a dialog; TEXT answers a prompt, whose default text is used otherwise"),
    ("dismiss [DIALOG]", "dismiss a dialog"),
    ("arm accept|dismiss [TEXT]", "arm an answer for the next dialog; JSON adds `when` and `times`"),
    ("disarm", "remove all armed answers"),
    ("policy NAME", "set the dialog policy; JSON adds `rules`, a list of {when, policy}"),
    ("eval FRAME|top SCRIPT", "run a script in a frame, and wait for its promise"),
    ("navigate URL", "navigate the newest page"),
    ("reload [TARGET]", "reload a page, also a crashed one [default: the newest]"),
    ("revive [TARGET]", "crash and reload an unresponsive page; its unsaved data is lost"),
    ("history [TARGET]", "show the history of a page, even while it is blocked"),
    ("open URL", "open a new page"),
    ("close [TARGET]", "close a page [default: the newest]"),
    ("snapshot", "show pages with frames, open and recent dialogs, console; see shows the elements of a page"),
    ("frames [TARGET]", "show all frames of a page, without the limits of snapshot"),
    ("downloads", "list downloads of the newest page; needs --files"),
    ("help", "list the commands"),
    ("quit", "finish earlier commands and end the session, as closing stdin does"),
];

/// A parsed line: the command and the common fields of JSON commands.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) command: Command,
    /// Repeated in the result line.
    pub(super) id: Option<Value>,
    pub(super) timeout_ms: Option<u64>,
    /// Whether it was a JSON object; such commands run in parallel.
    pub(super) json: bool,
}

/// An invalid line, which gets a result line too.
#[derive(Debug, PartialEq)]
pub(super) struct InvalidLine {
    /// Whether it was a JSON object without `cmd`, and so meant as a request.
    pub(super) is_request: bool,
    pub(super) command: String,
    pub(super) id: Option<Value>,
    pub(super) problem: String,
}

/// Parses a line. `None` for an empty one.
pub(super) fn parse(line: &str) -> Option<Result<Request, InvalidLine>> {
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    if line.starts_with('{') {
        return Some(from_json(line));
    }
    let (word, rest) = split(line);
    let command = from_words(word, rest).map_err(|problem| InvalidLine {
        is_request: false,
        command: word.to_owned(),
        id: None,
        problem,
    });
    Some(command.map(|command| Request { command, id: None, timeout_ms: None, json: false }))
}

fn from_json(line: &str) -> Result<Request, InvalidLine> {
    let misread = |command: &str, id, problem: String| InvalidLine {
        is_request: false,
        command: command.to_owned(),
        id,
        problem,
    };
    let mut map: Map<String, Value> =
        serde_json::from_str(line).map_err(|e| misread("", None, format!("not a JSON object: {e}")))?;
    let id = map.remove("id");
    if !map.contains_key("cmd") {
        let made = from_request(map).map(|command| Request { command, id: id.clone(), timeout_ms: None, json: true });
        return made.map_err(|problem| InvalidLine { is_request: true, ..misread("", id, problem) });
    }
    let timeout_ms = map.remove("timeoutMs");
    let name = map.get("cmd").and_then(Value::as_str).unwrap_or_default().to_owned();
    let timeout_ms = match timeout_ms {
        None => None,
        Some(value) => match value.as_u64().filter(|millis| *millis > 0) {
            Some(millis) => Some(millis),
            None => return Err(misread(&name, id, "timeoutMs must be a number of milliseconds above 0".to_owned())),
        },
    };
    if page::knows(&name) || page::is_see(&map) {
        map.remove("cmd");
        let word = if page::knows(&name) { &name } else { "see" };
        return match page::from_json(word, map) {
            Ok((command, target)) => {
                Ok(Request { command: Command::OnTab { command, target }, id, timeout_ms, json: true })
            }
            Err(problem) => Err(misread(&name, id, problem)),
        };
    }
    match serde_json::from_value(Value::Object(map)) {
        Ok(command) => Ok(Request { command, id, timeout_ms, json: true }),
        Err(problem) => Err(misread(&name, id, serde_in_words("", &problem.to_string()))),
    }
}

/// Parses a request of the HTTP API: the path under its method, and the body.
fn from_request(mut map: Map<String, Value>) -> Result<Command, String> {
    let mut targets = Method::ALL.into_iter().filter_map(|method| Some((method, map.remove(method.name())?)));
    let (first, second) = (targets.next(), targets.next());
    let (method, target) = match (first, second) {
        (Some((method, Value::String(target))), None) => (method, target),
        (Some((method, _)), None) => return Err(format!("{method} must be a path, such as \"/snapshot\"")),
        (Some((one, _)), Some((other, _))) => return Err(format!("{one} and {other}: send one request per line")),
        (None, _) => {
            let known = r#"expected a request, {"POST": "/act", "body": {…}}, or a word, {"cmd": "eval", …}"#;
            return Err(match map.keys().next() {
                Some(field) => format!("unknown field `{}`; {known}", shown(field)),
                None => known.to_owned(),
            });
        }
    };
    let body = match map.remove("body") {
        None | Some(Value::Null) => None,
        Some(Value::Object(body)) => Some(body),
        Some(_) => return Err("body must be a JSON object".to_owned()),
    };
    if let Some(field) = map.keys().next() {
        let known = "a request has id, body and one of GET, POST, PATCH, DELETE; all other fields belong into the body, or \
                     into the query of the path";
        return Err(format!("unknown field `{}`; {known}", shown(field)));
    }
    let path = target.split('?').next().unwrap_or_default();
    let name = format!("{method} {}", shown(path));
    Ok(Command::Api { name, request: LocalRequest::new(method, &target, body.as_ref())? })
}

/// The beginning of a text, to be quoted.
fn shown(text: &str) -> String {
    text.chars().take(100).collect()
}

fn from_words(word: &str, rest: &str) -> Result<Command, String> {
    let optional = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    if let Some(command) = page::from_words(word, rest) {
        return command.map(|command| Command::OnTab { command, target: None });
    }
    let needed = |text: &str, usage: &str| optional(text).ok_or_else(|| format!("usage: {usage}"));
    Ok(match word {
        "accept" => {
            let (dialog, text) = dialog_first(rest);
            Command::Accept { dialog, text }
        }
        "dismiss" => Command::Dismiss { dialog: optional(rest) },
        "arm" => {
            let (action, text) = split(rest);
            let action = match action {
                "accept" => Action::Accept,
                "dismiss" => Action::Dismiss,
                _ => return Err("usage: arm accept|dismiss [TEXT]".to_owned()),
            };
            Command::Arm { action, text: optional(text), when: DialogMatch::any(), times: None }
        }
        "disarm" => Command::Disarm {},
        "policy" => {
            let policy = rest.parse().map_err(|problem: UnknownPolicy| problem.to_string())?;
            Command::Policy { policy, rules: Vec::new() }
        }
        "eval" => {
            let (frame, script) = split(rest);
            Command::Eval { frame: frame.to_owned(), script: needed(script, "eval FRAME|top SCRIPT")? }
        }
        "navigate" => Command::Navigate { url: needed(rest, "navigate URL")?, target: None },
        "reload" => Command::Reload { target: optional(rest) },
        "revive" => Command::Revive { target: optional(rest) },
        "history" => Command::History { target: optional(rest) },
        "open" => Command::Open { url: needed(rest, "open URL")? },
        "close" => Command::Close { target: optional(rest) },
        "snapshot" => Command::Snapshot {},
        "frames" => Command::Frames { target: optional(rest) },
        "downloads" if rest.is_empty() => Command::Downloads { target: None },
        "downloads" => return Err("usage: downloads".to_owned()),
        "help" => Command::Help {},
        "quit" => Command::Quit {},
        _ => return Err(format!("unknown command `{word}`; `help` lists the commands")),
    })
}

/// Splits off a leading dialog id such as `d-3`; the rest is the text.
fn dialog_first(rest: &str) -> (Option<String>, Option<String>) {
    let (first, text) = split(rest);
    let is_id = first.strip_prefix("d-").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let (dialog, text) = if is_id { (Some(first.to_owned()), text) } else { (None, rest) };
    (dialog, (!text.is_empty()).then(|| text.to_owned()))
}

/// The first word and the rest.
fn split(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).map_or((text, ""), |(first, rest)| (first, rest.trim_start()))
}

impl Command {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Accept { .. } => "accept",
            Self::Dismiss { .. } => "dismiss",
            Self::Arm { .. } => "arm",
            Self::Disarm {} => "disarm",
            Self::Policy { .. } => "policy",
            Self::Reload { .. } => "reload",
            Self::Revive { .. } => "revive",
            Self::History { .. } => "history",
            Self::Eval { .. } => "eval",
            Self::Navigate { .. } => "navigate",
            Self::Open { .. } => "open",
            Self::Close { .. } => "close",
            Self::Snapshot {} => "snapshot",
            Self::Frames { .. } => "frames",
            Self::Help {} => "help",
            Self::Quit {} => "quit",
            Self::Downloads { .. } => "downloads",
            Self::OnTab { command, .. } => command.word,
            Self::Api { name, .. } => name,
        }
    }

    /// Whether the command may have to wait for a page.
    pub(super) fn waits_for_page(&self) -> bool {
        match self {
            Self::Eval { .. }
            | Self::Navigate { .. }
            | Self::Reload { .. }
            | Self::Revive { .. }
            | Self::Open { .. }
            | Self::Close { .. }
            | Self::OnTab { .. } => true,
            Self::Api { request, .. } => !request.is_quick(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervisor::DialogType;
    use serde_json::json;

    fn words(line: &str) -> Command {
        parse(line).unwrap().unwrap().command
    }

    fn problem(line: &str) -> String {
        parse(line).unwrap().unwrap_err().problem
    }

    #[test]
    fn words_become_commands() {
        let some = |text: &str| Some(text.to_owned());
        assert!(parse("  \t").is_none());
        assert_eq!(words("accept"), Command::Accept { dialog: None, text: None });
        assert_eq!(words("accept Ada Lovelace"), Command::Accept { dialog: None, text: some("Ada Lovelace") });
        assert_eq!(words("accept d-12 Ada"), Command::Accept { dialog: some("d-12"), text: some("Ada") });
        assert_eq!(words("accept d-x"), Command::Accept { dialog: None, text: some("d-x") });
        assert_eq!(words("dismiss d-1"), Command::Dismiss { dialog: some("d-1") });
        let arm = |action, text| Command::Arm { action, text, when: DialogMatch::any(), times: None };
        assert_eq!(words("arm accept yes"), arm(Action::Accept, some("yes")));
        assert_eq!(words("policy hold"), Command::Policy { policy: DialogPolicy::Hold, rules: Vec::new() });
        let script = "a  +  'b c'".to_owned();
        assert_eq!(words("eval top a  +  'b c'"), Command::Eval { frame: "top".to_owned(), script });
        assert_eq!(words("close"), Command::Close { target: None });
        // The words of the command line.
        assert_eq!(words("snapshot --interactive diff"), words("see interactive diff"));
        assert_eq!(words(r#"{"cmd":"snapshot","interactive":true}"#), words(r#"{"cmd":"see","interactive":true}"#));
        let asks = |line: &str| format!("{:?}", words(line)).replace("select", "choose");
        assert_eq!(asks("select e1 two"), asks("choose e1 two"));
    }

    #[test]
    fn objects_become_commands_and_keep_their_id() {
        let line = r#"{"cmd":"eval","frame":"top","script":"1+1","id":{"a":7},"timeoutMs":50}"#;
        let command = Command::Eval { frame: "top".to_owned(), script: "1+1".to_owned() };
        let asked = Request { command, id: Some(json!({"a": 7})), timeout_ms: Some(50), json: true };
        assert_eq!(parse(line), Some(Ok(asked)));
        assert_eq!(words(r#"{"cmd":"snapshot"}"#), Command::Snapshot {});
        let armed = r#"{"cmd":"arm","action":"dismiss","when":{"type":"confirm","origin":"*.test"},"times":3}"#;
        let when = DialogMatch::of(DialogType::Confirm).from_origin("*.test");
        let expected = Command::Arm { action: Action::Dismiss, text: None, when, times: Some(3) };
        assert_eq!(words(armed), expected);
        let rules = r#"{"cmd":"policy","policy":"hold","rules":[{"when":{"text":"sure"},"policy":"auto_accept"}]}"#;
        let rule = DialogRule::new(DialogMatch::any().with_text("sure"), DialogPolicy::AutoAccept);
        assert_eq!(words(rules), Command::Policy { policy: DialogPolicy::Hold, rules: vec![rule] });
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(problem("frobnicate now").contains("`frobnicate`"));
        assert!(problem("eval top").contains("usage: eval"));
        assert!(problem("arm maybe").contains("usage: arm"));
        assert!(problem("policy maybe").contains("auto_dismiss"));
        assert!(problem(r#"{"cmd":"arm","action":"accept","when":{"kind":"alert"}}"#).contains("kind"));
        assert!(problem("{nonsense").contains("not a JSON object"));
        assert!(problem(r#"{"cmd":"eval","frame":"top"}"#).contains("script"));
        assert!(problem(r#"{"cmd":"snapshot","verbose":true}"#).contains("verbose"));
        assert!(problem(r#"{"cmd":"help","timeoutMs":"soon"}"#).contains("timeoutMs"));
        assert!(problem(r#"{"cmd":"storage","area":"cloud"}"#).contains("session"));
        let misread = parse(r#"{"cmd":"fly","id":3}"#).unwrap().unwrap_err();
        assert_eq!((misread.command.as_str(), misread.id), ("fly", Some(json!(3))));
    }

    #[test]
    fn requests_become_commands() {
        let line = r#"{"id":7,"POST":"/act","body":{"kind":"click","ref":"e1"}}"#;
        let read = parse(line).unwrap().unwrap();
        assert_eq!((read.command.name(), read.id.clone(), read.json), ("POST /act", Some(json!(7)), true));
        assert!(read.command.waits_for_page());
        assert_eq!(format!("{:?}", read.command), r#"Api { name: "POST /act", request: POST /act }"#);
        let quick = words(r#"{"GET":"/dialogs?targetId=t1"}"#);
        assert_eq!((quick.name(), quick.waits_for_page()), ("GET /dialogs", false));
        assert_eq!(words(r#"{"PATCH":"/act","body":{}}"#).name(), "PATCH /act");
        for (line, wanted) in [
            (r#"{"POST":"/act","kind":"click"}"#, "`kind`"),
            (r#"{"POST":"/act","body":[]}"#, "body"),
            (r#"{"POST":7}"#, "POST must be a path"),
            (r#"{"GET":"/tabs","POST":"/act"}"#, "one request per line"),
            (r#"{"PUT":"/act"}"#, "`PUT`"),
            (r#"{"GET":"/text?selector=a b"}"#, "percent-encode"),
            (r#"{"GET":"/tabs\r\nX: y"}"#, "percent-encode"),
            (r#"{"GET":"tabs"}"#, "path"),
            ("{}", "expected a request"),
        ] {
            assert!(problem(line).contains(wanted), "{line}: {}", problem(line));
        }
        let read = parse(r#"{"id":[1],"GET":1}"#).unwrap().unwrap_err();
        assert_eq!(read.id, Some(json!([1])), "a malformed request keeps its id");
    }

    #[test]
    fn every_command_has_its_help() {
        for (usage, _) in page::HELP {
            let name = split(usage).0;
            let line = match name {
                "act" => r#"act {"kind": "close"}"#.to_owned(),
                "set_cookies" => r#"set_cookies {"cookies": []}"#.to_owned(),
                "set_storage" => r#"set_storage {"area": "session", "items": {}}"#.to_owned(),
                "emulate" => r#"emulate {"offline": null}"#.to_owned(),
                "storage" | "delete_storage" => format!("{name} local"),
                "click" | "hover" | "type" | "press" | "choose" | "select" | "body" | "upload" => {
                    format!("{name} e1 x")
                }
                _ => name.to_owned(),
            };
            let command = words(&line);
            assert!(matches!(command, Command::OnTab { .. }), "{line}");
            assert_eq!(command.name(), name);
        }
        for (usage, _) in HELP {
            let name = split(usage).0;
            let line = match name {
                "policy" => "policy hold".to_owned(),
                "downloads" | "snapshot" => name.to_owned(),
                _ => format!("{name} accept x"),
            };
            assert_eq!(words(&line).name(), name);
        }
    }
}
