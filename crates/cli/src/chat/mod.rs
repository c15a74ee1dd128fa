//! `cdpilot chat`: a task for a model that uses the browser.
//!
//! | file | contents |
//! |---|---|
//! | `link` | requests to the server, streams of events |
//! | `watch` | following a run; Ctrl-C |
//! | `show` | printing events |
//! | `answers` | questions to the person at the terminal |
//! | `commands` | the commands of the interactive chat |
//! | `input` | reading lines from the terminal or from a pipe |
//! | `interactive` | the interactive chat |
//! | `next` | model, toolsets and browser of the next conversation |

mod answers;
mod commands;
pub(super) mod input;
mod interactive;
pub(super) mod link;
pub(super) mod next;
mod show;
pub(super) mod watch;

use std::io::{IsTerminal as _, Read as _};

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use super::args::Global;
use super::client::Request;
use super::failure::{Exit, Failure};
use super::output::{Out, clean, one_line};
use super::settings::Settings;
use super::values::one_of;
use answers::Asked;
use cdpilot::code::Code;
use cdpilot::sync::Deadline;
use cdpilot_server::api::{SendMessage, operations as op};
use cdpilot_server::config::Guard;
use input::Input;
use interactive::Chat;
use link::Link;
use next::Next;
use show::Show;
use watch::{Followed, Interrupts, Stop};

const AFTER: &str = "\
With TEXT, runs that task and prints the final text of the model; progress goes to stderr. The exit status is 1 when the \
run fails or is stopped, or when the model asks something or an action needs approval and nobody is at the terminal. \
Continue with --conversation ID TEXT: TEXT answers the open question; for an approval it is once, origin (this kind of \
action at this origin, for the rest of the conversation), kind (this kind everywhere) or refuse. Without an open question, \
TEXT is a new message. --timeout limits the run. Without TEXT, messages and commands are typed; /help lists the commands.

--session cannot be used: a conversation has a session of its own.

The models are configured in llm.json in the home; see docs/configuration.md.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(super) struct ChatArgs {
    /// Toolsets or tools of the model, separated by commas [default: visual,todo,clarify; for a model with `vision: false` in
    /// llm.json browser,todo,clarify]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    toolsets: Vec<String>,
    /// Name of the model in llm.json [default: agent.model in config.yaml, else the default of llm.json]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Which actions need approval [default: agent.guard in config.yaml, else irreversible]
    #[arg(long, value_name = "WHICH", value_parser = one_of::<Guard>(["off", "irreversible", "all"]))]
    guard: Option<Guard>,
    /// Use the logins of the profile [default: none; a conversation has its own cookies]
    #[arg(long)]
    share_login: bool,
    /// Secret that the model may type, but never sees; repeatable. `cdpilot secrets` stores them
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
    /// Host that the browser may reach, for example `*.example.com`; repeatable; `*`: all [default: the hosts of all http:// and
    /// https:// addresses in TEXT, without `www.`, and their subdomains; all hosts if TEXT has none, or with --share-login]
    #[arg(long, value_name = "PATTERN")]
    host: Vec<String>,
    /// Continue this conversation: TEXT answers its open question, or is a new message
    #[arg(long, value_name = "ID", conflicts_with_all = ["toolsets", "model", "share_login", "secret", "host"])]
    conversation: Option<String>,
    /// The task; `-` reads it from stdin
    #[arg(value_name = "TEXT")]
    text: Option<String>,
}

pub(super) fn run(args: &ChatArgs, global: &Global, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    if global.session.is_some() {
        return Err(Failure::usage("a conversation has a session of its own; leave out --session"));
    }
    if args.conversation.as_deref().is_some_and(|id| id.trim().is_empty()) {
        return Err(Failure::usage("--conversation needs an id; /resume in the interactive chat lists them"));
    }
    let link = Link::new(global, settings, out)?;
    let profile = global.profile.clone().or_else(|| super::settings::env("CDPILOT_PROFILE"));
    let next = Next::new(args.model.clone(), args.toolsets.clone(), args.share_login, profile);
    let interrupts = Interrupts::register()?;
    let text = match args.text.as_deref() {
        Some("-") => Some(from_stdin()?),
        Some(text) => Some(text.to_owned()),
        None => None,
    };
    let hosts = match (args.host.as_slice(), &text) {
        ([], Some(text)) if args.conversation.is_none() && !args.share_login => sites_in(text),
        (given, _) => given.to_vec(),
    };
    if args.host.is_empty() && !hosts.is_empty() {
        let limits = format!("note: the browser may reach only {}; --host '*' lifts this", hosts.join(", "));
        out.aside(&clean(&limits));
    }
    let next = next.limited(args.secret.clone(), hosts, args.guard);
    match text {
        Some(text) if text.trim().is_empty() => Err(Failure::usage("TEXT is empty; give a task")),
        Some(text) => OneShot { args, link: &link, interrupts: &interrupts, out }.run(&text, next, settings),
        None if out.json => Err(Failure::usage("--json needs TEXT: the interactive chat has no JSON output")),
        None => Chat::new(&link, &interrupts, out, next).run(args.conversation.as_deref()),
    }
}

/// The hosts of the addresses in a text, with their subdomains.
fn sites_in(text: &str) -> Vec<String> {
    let mut hosts = Vec::new();
    let is_start = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    let words = text.split(|c: char| c.is_whitespace() || "\"'<>()[]`,;".contains(c));
    for word in words.filter(is_start) {
        // The end of a sentence.
        let word = word.trim_end_matches(['.', ':', '!']);
        let rest = word.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority
            .rsplit_once(':')
            .filter(|(_, port)| port.parse::<u16>().is_ok())
            .map_or(authority, |(host, _)| host);
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let site = host.strip_prefix("www.").unwrap_or(&host).to_owned();
        if site.is_empty() || site.contains('@') {
            continue;
        }
        let is_address = site.parse::<std::net::Ipv4Addr>().is_ok();
        for pattern in [Some(site.clone()), (!is_address).then(|| format!("*.{site}"))].into_iter().flatten() {
            if !hosts.contains(&pattern) {
                hosts.push(pattern);
            }
        }
    }
    hosts
}

fn from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().read_to_string(&mut text);
    read.map_err(|problem| Failure::usage(format!("cannot read the task from stdin: {problem}")))?;
    Ok(text)
}

/// The next request of a conversation for a text: the answer to its open question, or a message.
fn message(link: &Link<'_>, followed: &mut Followed, text: &str) -> Result<Request, Failure> {
    let shown = link.ask(&Request::at(op::CONVERSATION, &[&followed.id]))?;
    let conversation = &shown["conversation"];
    followed.last = conversation["last_event"].as_u64().unwrap_or_default();
    if conversation["status"] == "waiting" {
        let asked = Asked::of_question(&conversation["question"]);
        link.ask(&asked.answer(followed, text)?)?;
        return Ok(followed.rest());
    }
    if conversation["paused"] == true {
        // Another instruction replaces what it was doing.
        link.ask(&followed.request(op::STOP_RUN))?;
    }
    Ok(followed.request(op::SEND_MESSAGE).and(&SendMessage { text: text.to_owned(), browser_id: None }))
}

/// A task without further input, except answers at a terminal.
struct OneShot<'a> {
    args: &'a ChatArgs,
    link: &'a Link<'a>,
    interrupts: &'a Interrupts,
    out: &'a Out,
}

impl OneShot<'_> {
    fn run(&self, text: &str, next: Next, settings: &Settings) -> Result<Exit, Failure> {
        let (link, out) = (self.link, self.out);
        let id = match &self.args.conversation {
            Some(id) => id.clone(),
            None => next.create(link)?,
        };
        let mut followed = Followed::of(&id);
        let mut show = Show::new(out, link, true, false);
        let limit = settings.millis().map(Deadline::after_millis);
        let mut request = message(link, &mut followed, text)?;
        loop {
            let stop = followed.watch(&request, link, &mut show, &self.interrupts.pause_run(), limit)?;
            let again = format!("cdpilot chat --conversation {id}");
            let mut details = json!({ "conversation_id": id });
            let problem = match stop {
                Stop::Done => break,
                Stop::Paused => {
                    let can_ask = Input::is_terminal();
                    out.warning(&format!("paused; `{again}` continues it later"));
                    if can_ask && Input::ask("Enter continues, Ctrl-C leaves")?.is_some() {
                        link.ask(&followed.request(op::RESUME))?;
                        request = followed.rest();
                        continue;
                    }
                    Failure::new(Code::Cancelled, "the run was paused with Ctrl-C")
                }
                Stop::Asked(asked) => match self.answered(&asked, &followed)? {
                    Some(answer) => {
                        link.ask(&answer)?;
                        request = followed.rest();
                        continue;
                    }
                    None => {
                        details["question"] = json!({ "message": asked.message, "choices": asked.choices });
                        let message = one_line(&asked.message);
                        let text =
                            format!("the model asks: {message:?}; answer it with `{again} {}`", asked.expected());
                        Failure::new(Code::Conflict, text)
                    }
                },
                Stop::Stopped => Failure::new(Code::Cancelled, "the run was stopped"),
                Stop::Failed { problem, code } => Failure::of_text(code, format!("{problem} (conversation {id})")),
                Stop::TimedOut => {
                    link.ask(&followed.request(op::STOP_RUN))?;
                    Failure::new(
                        Code::Timeout,
                        format!(
                            "the run did not end before --timeout; it was stopped. To continue it: `{again}`, then /resume"
                        ),
                    )
                }
            };
            return Err(Failure { details: Some(details), ..problem.with(Exit::Failed) });
        }
        self.print(&followed, &mut show);
        Ok(Exit::Done)
    }

    /// The answer of the person at the terminal; `None` without one, or when nothing is answered.
    fn answered(&self, asked: &Asked, followed: &Followed) -> Result<Option<super::client::Request>, Failure> {
        if !Input::is_terminal() || self.out.json {
            return Ok(None);
        }
        self.out.warning(&asked.text());
        loop {
            let Some(typed) = Input::ask("answer")?.filter(|typed| !typed.trim().is_empty()) else { return Ok(None) };
            match asked.answer(followed, &typed) {
                Ok(request) => return Ok(Some(request)),
                Err(failure) => self.out.failure(&failure),
            }
        }
    }

    fn print(&self, followed: &Followed, show: &mut Show<'_>) {
        #[derive(Serialize)]
        struct Output<'a> {
            ok: bool,
            conversation_id: &'a str,
            text: &'a str,
            usage: &'a Value,
            pictures: &'a [String],
        }
        show.usage(&followed.usage);
        self.out.aside(&format!("conversation {}", followed.id));
        self.out.line(&clean(followed.text.trim_end()));
        self.out.object(&Output {
            ok: true,
            conversation_id: &followed.id,
            text: &followed.text,
            usage: &followed.usage,
            pictures: &show.pictures,
        });
    }
}

/// Whether output goes to a terminal.
fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::sites_in;

    #[test]
    fn a_task_is_limited_to_the_sites_that_it_names() {
        for (text, hosts) in [
            ("Say hello", &[][..]),
            ("Open https://www.Shop.example/a?b, then log in", &["shop.example", "*.shop.example"]),
            ("(http://127.0.0.1:8080/x) and http://localhost:3000.", &["127.0.0.1", "localhost", "*.localhost"]),
            ("https://a.test https://a.test/b 'https://b.test'", &["a.test", "*.a.test", "b.test", "*.b.test"]),
            ("https:// and https://ada:pw@a.test", &[]),
        ] {
            assert_eq!(sites_in(text), hosts, "{text}");
        }
    }
}
