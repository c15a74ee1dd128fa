//! The interactive chat: messages and commands, one per line.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::client::Request;
use super::super::failure::{Exit, Failure};
use super::super::output::{Out, clean, one_line};
use super::super::tool_settings::Catalog;
use super::answers::Asked;
use super::commands::{HELP, Typed};
use super::input::{Entered, Input};
use super::link::Link;
use super::next::Next;
use super::show::Show;
use super::watch::{Followed, Interrupts, Pausing, Stop};
use super::{is_terminal, message};
use cdpilot::browser::redact;
use cdpilot::code::Code;
use cdpilot_server::api::{RegisterBrowser, RunRoutine, operations as op};
use cdpilot_server::config::{Config, Home};
use cdpilot_server::skills::Skills;
use cdpilot_server::tools::toolsets::Toolsets;

const PROMPT: &str = "you:";
/// How many conversations are suggested.
const SUGGESTED: usize = 5;

/// The interactive chat: its conversation, and what the next one is created with.
pub(super) struct Chat<'a> {
    link: &'a Link<'a>,
    interrupts: &'a Interrupts,
    out: &'a Out,
    show: Show<'a>,
    next: Next,
    current: Option<Followed>,
    asked: Option<Asked>,
    is_paused: bool,
    /// Whether the last task of the conversation that was chosen is not finished.
    is_unfinished: bool,
}

impl<'a> Chat<'a> {
    pub(super) fn new(link: &'a Link<'a>, interrupts: &'a Interrupts, out: &'a Out, next: Next) -> Self {
        let show = Show::new(out, link, false, is_terminal());
        Self { link, interrupts, out, show, next, current: None, asked: None, is_paused: false, is_unfinished: false }
    }

    /// Reads lines until the end. The exit status is 1 if the last command of a pipe failed.
    pub(super) fn run(mut self, conversation: Option<&str>) -> Result<Exit, Failure> {
        if let Some(id) = conversation {
            self.switch(id)?;
        }
        if Input::is_terminal() {
            self.out.aside("Type a task for the model, or /help.");
        }
        let (mut leaving, mut exit, mut is_empty) = (false, Exit::Done, true);
        loop {
            let typed = match Input::read(PROMPT)? {
                Entered::End if is_empty && !Input::is_terminal() => {
                    return Err(Failure::usage("no task: give TEXT, lines on standard input, or run it at a terminal"));
                }
                Entered::End => break,
                Entered::Interrupted if leaving || self.is_paused => break,
                Entered::Interrupted => {
                    leaving = true;
                    self.out.aside("Ctrl-C again leaves.");
                    continue;
                }
                Entered::Line(line) => Typed::parse(&line),
            };
            (leaving, is_empty) = (false, false);
            if typed == Typed::Quit {
                break;
            }
            match self.obey(typed) {
                Ok(()) => exit = Exit::Done,
                Err(failure) if failure.exit == Exit::NoBrowser => return Err(failure),
                Err(failure) => {
                    exit = failure.exit;
                    self.out.failure(&failure);
                }
            }
        }
        self.leave();
        Ok(if Input::is_terminal() { Exit::Done } else { exit })
    }

    /// Says how to continue what is left behind, and ends the access to a connected browser.
    fn leave(&mut self) {
        if let Some(current) = &self.current
            && (self.is_paused || self.asked.is_some())
        {
            let state = if self.is_paused { "is paused" } else { "waits for an answer" };
            self.out.aside(&format!(
                "The conversation {state}; `cdpilot chat --conversation {}` continues it.",
                current.id
            ));
        }
    }

    fn obey(&mut self, typed: Typed) -> Result<(), Failure> {
        match typed {
            Typed::Empty => Ok(()),
            Typed::Text(text) => self.say(&text),
            Typed::Help => self.print(HELP),
            Typed::Quit => Ok(()),
            Typed::New => {
                self.leave();
                (self.current, self.asked, self.is_paused) = (None, None, false);
                self.print("The next message starts a new conversation.")
            }
            Typed::Resume(Some(id)) => {
                self.switch(&id)?;
                if self.is_paused || self.is_unfinished { self.resume() } else { Ok(()) }
            }
            Typed::Resume(None) => self.resume(),
            Typed::Stop => self.stop(),
            Typed::Model(name) => self.model(name),
            Typed::Toolsets => self.toolsets(),
            Typed::ListTools => self.list_tools(),
            Typed::EnableTools(names) => self.change_tools(&names, true),
            Typed::DisableTools(names) => self.change_tools(&names, false),
            Typed::Connect(url) => self.connect(&url),
            Typed::Disconnect => self.disconnect(),
            Typed::Dialog { accept, text } => self.dialog(accept, text),
            Typed::Routine(name) => self.routine(name.as_deref()),
            Typed::Skill(name, line) => match Home::find().ok().and_then(|home| Skills::of(&home).get(&name).ok()) {
                Some(_) => self.say(&line),
                None => {
                    let name = clean(&name);
                    Err(Failure::usage(format!("there is no command or skill /{name}; /help lists the commands")))
                }
            },
            Typed::Wrong(problem) => Err(Failure::usage(problem)),
        }
    }

    fn print(&self, text: &str) -> Result<(), Failure> {
        self.out.line(text);
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), Failure> {
        let mut current = match self.current.take() {
            Some(current) => current,
            None => Followed::of(&self.next.create(self.link)?),
        };
        let pausing = self.interrupts.pause_run();
        let request = message(self.link, &mut current, text);
        // An answer that is none leaves the question open.
        if request.is_ok() {
            self.asked = None;
        }
        self.is_paused = false;
        let watched = request.and_then(|request| self.watch(&mut current, &request, &pausing));
        self.current = Some(current);
        watched
    }

    fn watch(&mut self, current: &mut Followed, request: &Request, pausing: &Pausing<'_>) -> Result<(), Failure> {
        current.takes_commands = Input::is_terminal();
        match current.watch(request, self.link, &mut self.show, pausing, None)? {
            Stop::Done => self.show.usage(&current.usage),
            Stop::Stopped => self.show.note("The run was stopped; /resume continues it."),
            Stop::Asked(asked) => {
                self.show.note(&asked.text());
                self.asked = Some(asked);
            }
            Stop::Paused => {
                self.is_paused = true;
                self.show.note("Paused. /resume continues, /stop ends the run, a message replaces it. Ctrl-C leaves.");
            }
            Stop::Failed { problem, code } => {
                return Err(Failure::of_text(code, format!("{problem}; /resume tries again")));
            }
            Stop::TimedOut => {}
        }
        Ok(())
    }

    fn current(&self) -> Result<&Followed, Failure> {
        self.current
            .as_ref()
            .ok_or_else(|| Failure::usage("there is no conversation yet; type a message, or /resume ID"))
    }

    fn resume(&mut self) -> Result<(), Failure> {
        let Some(mut current) = self.current.take() else {
            return self.suggest();
        };
        let pausing = self.interrupts.pause_run();
        let resumed = self.link.ask(&current.request(op::RESUME));
        self.is_unfinished = false;
        self.is_paused = self.is_paused && resumed.is_err();
        let watched = resumed.and_then(|_| {
            let rest = current.rest();
            self.watch(&mut current, &rest, &pausing)
        });
        self.current = Some(current);
        watched
    }

    /// Lists conversations that can be continued.
    fn suggest(&self) -> Result<(), Failure> {
        let listed = self.link.ask(&Request::of(op::CONVERSATIONS))?;
        let all = listed["conversations"].as_array().cloned().unwrap_or_default();
        if all.is_empty() {
            return self.print("There are no conversations yet.");
        }
        for one in all.iter().take(SUGGESTED) {
            let text = |field: &str| one_line(one[field].as_str().unwrap_or_default());
            let state = if one["paused"] == true { "paused".to_owned() } else { text("status") };
            self.out.line(&format!("{}  {state:7}  {}", text("id"), text("title")));
        }
        self.print("/resume ID continues one of them.")
    }

    /// Continues another conversation.
    fn switch(&mut self, id: &str) -> Result<(), Failure> {
        let shown = self.link.ask(&Request::at(op::CONVERSATION, &[id]))?;
        let conversation = &shown["conversation"];
        let mut current = Followed::of(id);
        current.last = conversation["last_event"].as_u64().unwrap_or_default();
        self.out.line(&format!("Conversation: {}", one_line(conversation["title"].as_str().unwrap_or_default())));
        self.is_paused = conversation["paused"] == true;
        self.asked = None;
        self.is_unfinished = false;
        let mut watched = Ok(());
        match conversation["status"].as_str() {
            Some("waiting") => {
                let asked = Asked::of_question(&conversation["question"]);
                self.out.line(&asked.text());
                self.asked = Some(asked);
            }
            Some("active") if !self.is_paused => {
                let rest = current.rest();
                watched = self.watch(&mut current, &rest, &self.interrupts.pause_run());
            }
            _ if self.is_paused => self.out.line("It is paused; /resume continues it."),
            _ if conversation["unfinished"] == true => {
                self.is_unfinished = true;
                self.out.line("Its last task is not finished; /resume continues it.")
            }
            _ => {}
        }
        self.current = Some(current);
        watched
    }

    fn stop(&mut self) -> Result<(), Failure> {
        self.link.ask(&self.current()?.request(op::STOP_RUN))?;
        (self.asked, self.is_paused) = (None, false);
        self.print("Stopped.")
    }

    /// What is changed applies to the next conversation.
    fn applies(&self, what: &str) -> Result<(), Failure> {
        match self.current {
            Some(_) => self.print(&format!("{what}, from the next conversation on; /new starts it.")),
            None => self.print(&format!("{what}.")),
        }
    }

    fn model(&mut self, name: Option<String>) -> Result<(), Failure> {
        let settings = self.link.ask(&Request::of(op::SETTINGS))?;
        let models = settings["llm_configs"].as_array().cloned().unwrap_or_default();
        let alias = |model: &Value| one_line(model["alias"].as_str().unwrap_or_default());
        let Some(name) = name else {
            for model in &models {
                let is_next = match &self.next.model {
                    Some(next) => alias(model) == *next,
                    None => model["is_default"] == true,
                };
                let mark = if is_next { "*" } else { " " };
                self.out.line(&format!("{mark} {}", alias(model)));
            }
            return self.print(if models.is_empty() {
                "No model is configured in llm.json."
            } else {
                "* next conversation"
            });
        };
        if !models.iter().any(|model| model["alias"] == *name) {
            let known: Vec<String> = models.iter().map(alias).collect();
            return Err(Failure::usage(format!("there is no model {name:?}; llm.json has {}", known.join(", "))));
        }
        self.next.model = Some(name.clone());
        let what = format!("The model is {name}, with the toolsets {}", self.next.toolsets(self.link)?.join(", "));
        self.applies(&what)
    }

    fn catalog(&self) -> Result<(Catalog, Config), Failure> {
        let home = self.link.home().ok_or_else(|| Failure::internal("the home folder was not found"))?;
        let config = Config::of(home)?;
        Ok((Catalog::open(home, &config)?, config))
    }

    fn toolsets(&self) -> Result<(), Failure> {
        let (catalog, _) = self.catalog()?;
        let chosen = self.next.toolsets(self.link)?;
        let is_platform = |name: &String| name.starts_with("cdpilot-");
        for name in catalog.toolsets().names().into_iter().filter(|name| !is_platform(name)) {
            let mark = if chosen.contains(&name) { "*" } else { " " };
            let about = catalog.toolsets().info(&name, false).map(|info| info.description).unwrap_or_default();
            self.out.line(&format!("{mark} {name:24} {}", self.out.style.dim(&one_line(&about))));
        }
        self.print("* next conversation")
    }

    fn list_tools(&self) -> Result<(), Failure> {
        let (catalog, _) = self.catalog()?;
        let chosen = self.next.toolsets(self.link)?;
        let tools = catalog.toolsets().resolve_all(&chosen, &BTreeSet::new()).tools;
        self.print(&format!("Tools of the next conversation: {}", tools.into_iter().collect::<Vec<_>>().join(", ")))
    }

    fn change_tools(&mut self, names: &[String], on: bool) -> Result<(), Failure> {
        let (catalog, config) = self.catalog()?;
        catalog.check(&config, names)?;
        let now = self.next.toolsets(self.link)?;
        self.next.toolsets = if on { with(now, names) } else { without(catalog.toolsets(), now, names) };
        if self.next.toolsets.is_empty() {
            self.next.toolsets = vec!["clarify".to_owned()];
            self.out.line("At least one tool is needed; clarify stays on.");
        }
        let word = if on { "on" } else { "off" };
        self.applies(&format!("{}: {word}", names.join(", ")))
    }

    fn connect(&mut self, url: &str) -> Result<(), Failure> {
        let register = RegisterBrowser { endpoint: Some(url.to_owned()), ..Default::default() };
        // The server runs, even if that browser does not.
        let registered =
            self.link.ask(&Request::new(op::REGISTER_BROWSER, &register)).map_err(|failure| match failure.kind() {
                Some(Code::BrowserNotRunning) => failure.with(Exit::Failed),
                _ => failure,
            })?;
        let id = registered["browser_id"].as_str().unwrap_or_default().to_owned();
        let shown = redact(url);
        let what = format!("The browser is the one at {}", clean(&shown));
        self.next.browser = Some((id, shown));
        self.applies(&what)
    }

    fn disconnect(&mut self) -> Result<(), Failure> {
        let Some((id, _)) = self.next.browser.take() else {
            return Err(Failure::usage("no browser is connected; the server's own one is used"));
        };
        // It may have expired.
        let _ = self.link.ask(&Request::at(op::DELETE_BROWSER_ID, &[&id]));
        self.applies("The browser is the server's own one")
    }

    fn dialog(&mut self, accept: bool, text: Option<String>) -> Result<(), Failure> {
        self.current()?;
        if let Some(current) = &mut self.current {
            current.answer_dialog(self.link, accept, text)?;
        }
        self.print(if accept { "Accepted." } else { "Dismissed." })
    }

    /// Lists the routines, or runs one: its name, then inputs as `name=value`.
    fn routine(&mut self, wanted: Option<&str>) -> Result<(), Failure> {
        let Some(wanted) = wanted else {
            let all = self.link.ask(&Request::of(op::ROUTINES))?;
            if all["count"] == 0 {
                return self.print("There are no routines yet; `cdpilot routine edit NAME` writes one.");
            }
            for one in all["routines"].as_array().into_iter().flatten() {
                let text = |name: &str| clean(one[name].as_str().unwrap_or_default()).into_owned();
                self.print(&format!("{}  {}", text("name"), one_line(&text("goal"))))?;
            }
            return Ok(());
        };
        let words: Vec<&str> = wanted.split_whitespace().collect();
        let first = words.iter().position(|word| word.contains('=')).unwrap_or(words.len());
        let (name, inputs) = words.split_at(first);
        let mut given = BTreeMap::new();
        for input in inputs {
            let Some((name, value)) = input.split_once('=') else {
                return Err(Failure::usage(format!(
                    "{input:?} is not NAME=VALUE; values with blanks need `cdpilot routine run`"
                )));
            };
            given.insert(name.to_owned(), value.to_owned());
        }
        let wanted = RunRoutine { inputs: given, model: self.next.model.clone(), ..RunRoutine::default() };
        let request = Request::at(op::RUN_ROUTINE, &[&name.join(" ")]).and(&wanted);
        self.leave();
        (self.asked, self.is_paused) = (None, false);
        let pausing = self.interrupts.pause_run();
        let mut current = Followed::default();
        let watched = self.watch(&mut current, &request, &pausing);
        if !current.id.is_empty() {
            self.current = Some(current);
        }
        watched
    }
}

/// Toolsets with more names, each once.
fn with(mut now: Vec<String>, names: &[String]) -> Vec<String> {
    for name in names {
        if !now.contains(name) {
            now.push(name.clone());
        }
    }
    now
}

/// Toolsets without some names. A toolset that contains one of them is replaced by its other tools.
fn without(toolsets: &Toolsets, now: Vec<String>, names: &[String]) -> Vec<String> {
    let resolve = |names: &[String]| toolsets.resolve_all(names, &BTreeSet::new()).tools;
    let off = resolve(names);
    let mut rest = Vec::new();
    for set in now {
        let tools = resolve(std::slice::from_ref(&set));
        if tools.is_disjoint(&off) {
            rest.push(set);
        } else {
            rest.extend(tools.into_iter().filter(|tool| !off.contains(tool)));
        }
    }
    rest
}
