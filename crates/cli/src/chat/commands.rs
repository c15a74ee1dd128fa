//! The commands that are typed between messages.

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    /// An empty line.
    Empty,
    /// Text for the model.
    Text(String),
    Help,
    Quit,
    New,
    /// Continue the paused or unfinished run, or another conversation.
    Resume(Option<String>),
    Stop,
    Model(Option<String>),
    Toolsets,
    ListTools,
    EnableTools(Vec<String>),
    DisableTools(Vec<String>),
    Connect(String),
    Disconnect,
    Dialog {
        accept: bool,
        text: Option<String>,
    },
    Routine(Option<String>),
    /// Perhaps a skill: its name, and the whole line.
    Skill(String, String),
    /// Not valid; the text says why.
    Wrong(String),
}

/// What `/help` prints.
pub(super) const HELP: &str = "\
/new                               start a new conversation with the next message
/resume [ID]                       continue the paused or unfinished run, or conversation ID
/stop                              end the run, or withdraw the model's question; /resume continues the task
/dialog accept|dismiss [TEXT]      answer the open dialog of the page; TEXT is for prompts
/model [NAME]                      show the models; use NAME from the next conversation on
/toolsets                          list the toolsets
/tools list|enable|disable [NAME…] tools of the next conversation; NAME is a tool or toolset
/browser connect URL|disconnect    use the browser at a CDP address from the next conversation on
/routine [NAME [INPUT=VALUE]…]     list the routines, or run one
/SKILL [TASK]                      follow a skill; `cdpilot skill list` lists them
/quit                              leave; Ctrl-D too
Anything else is a message to the model, or the answer to its question; once, origin, kind or refuse [WHY] answers an approval. During a run, /dialog and /stop work. Ctrl-C pauses a run; a second one leaves, and the run stays paused on the server.";

const TOOLS: &str = "/tools list, /tools enable NAME… or /tools disable NAME…";
const BROWSER: &str = "/browser connect URL or /browser disconnect";
const DIALOG: &str = "/dialog accept [TEXT] or /dialog dismiss";

impl Typed {
    pub(super) fn parse(line: &str) -> Self {
        let line = line.trim();
        let Some(command) = line.strip_prefix('/') else {
            return if line.is_empty() { Self::Empty } else { Self::Text(line.to_owned()) };
        };
        let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        let given = (!rest.is_empty()).then(|| rest.to_owned());
        let (second, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let more = more.trim();
        let names =
            || more.split([',', ' ', '\t']).filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let only = |typed: Self| match &given {
            None => typed,
            Some(_) => Self::Wrong(format!("/{word} takes no argument")),
        };
        match (word, second) {
            ("help" | "?", _) => only(Self::Help),
            ("quit" | "exit" | "q", _) => only(Self::Quit),
            ("new", _) => only(Self::New),
            ("stop", _) => only(Self::Stop),
            ("resume", _) => Self::Resume(given),
            ("model", _) => Self::Model(given),
            ("toolsets", _) => only(Self::Toolsets),
            ("tools", "" | "list") if more.is_empty() => Self::ListTools,
            ("tools", "enable") if !more.is_empty() => Self::EnableTools(names()),
            ("tools", "disable") if !more.is_empty() => Self::DisableTools(names()),
            ("tools", _) => Self::Wrong(format!("type {TOOLS}")),
            ("browser", "connect") if !more.is_empty() => Self::Connect(more.to_owned()),
            ("browser", "disconnect") if more.is_empty() => Self::Disconnect,
            ("browser", _) => Self::Wrong(format!("type {BROWSER}")),
            ("dialog", "accept") => Self::Dialog { accept: true, text: (!more.is_empty()).then(|| more.to_owned()) },
            ("dialog", "dismiss") if more.is_empty() => Self::Dialog { accept: false, text: None },
            ("dialog", _) => Self::Wrong(format!("type {DIALOG}")),
            ("routine" | "routines", _) => Self::Routine(given),
            ("", _) => Self::Wrong("type /help for the commands".to_owned()),
            _ => Self::Skill(word.to_owned(), line.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_a_command_or_a_message() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (typed, read) in [
            ("", Typed::Empty),
            ("  ", Typed::Empty),
            (" open example.com ", Typed::Text("open example.com".to_owned())),
            ("/help", Typed::Help),
            ("/quit", Typed::Quit),
            ("/resume", Typed::Resume(None)),
            ("/resume 12-34", Typed::Resume(Some("12-34".to_owned()))),
            ("/model", Typed::Model(None)),
            ("/model big one", Typed::Model(Some("big one".to_owned()))),
            ("/tools", Typed::ListTools),
            ("/tools list", Typed::ListTools),
            ("/tools enable a, b c", Typed::EnableTools(names(&["a", "b", "c"]))),
            ("/tools disable web", Typed::DisableTools(names(&["web"]))),
            ("/browser connect ws://h/1", Typed::Connect("ws://h/1".to_owned())),
            ("/browser disconnect", Typed::Disconnect),
            ("/dialog accept my  name ", Typed::Dialog { accept: true, text: Some("my  name".to_owned()) }),
            ("/dialog accept", Typed::Dialog { accept: true, text: None }),
            ("/dialog dismiss", Typed::Dialog { accept: false, text: None }),
            ("/routine", Typed::Routine(None)),
            ("/book trains to Dover", Typed::Skill("book".to_owned(), "/book trains to Dover".to_owned())),
        ] {
            assert_eq!(Typed::parse(typed), read, "{typed}");
        }
        for wrong in ["/tools enable", "/tools x", "/browser", "/dialog", "/dialog dismiss x", "/new x", "/"] {
            assert!(matches!(Typed::parse(wrong), Typed::Wrong(_)), "{wrong}");
        }
    }
}
