//! Conversations of a home without a browser, with a model that follows a script and tools of its own.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cdpilot::ErrorKind;
use cdpilot_server::agent::{Agents, Followed, Follower, NewConversation};
use cdpilot_server::config::{Config, Home};
use cdpilot_server::control::Control;
use cdpilot_server::store::{ConversationState, Store};
use cdpilot_server::tools::{Effects, Image, Outcome, Tool, ToolError, Toolbox, ToolboxOptions};
use parking_lot::{Condvar, Mutex};
use schemars::JsonSchema;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::streaming_model::{Script, StreamingModel};
use super::test_home::overrides;

/// What the tools did and wait for.
#[derive(Default)]
pub(crate) struct Bench {
    /// Calls of `note`.
    pub(crate) notes: Mutex<Vec<String>>,
    /// Whether `wait` returns.
    open: Mutex<bool>,
    changed: Condvar,
    /// Calls of `wait` in progress.
    pub(crate) waiting: AtomicU32,
    pictures: AtomicU32,
}

impl Bench {
    pub(crate) fn open_gate(&self) {
        *self.open.lock() = true;
        self.changed.notify_all();
    }

    pub(crate) fn close_gate(&self) {
        *self.open.lock() = false;
    }

    /// Waits until so many calls of `wait` are in progress.
    pub(crate) fn wait_for(&self, count: u32) {
        let deadline = soon();
        let mut open = self.open.lock();
        while self.waiting.load(Ordering::SeqCst) != count {
            assert!(!deadline.passed(), "{} calls wait", self.waiting.load(Ordering::SeqCst));
            self.changed.wait_until(&mut open, deadline.instant());
        }
    }
}

pub(crate) use super::soon;

#[derive(serde::Deserialize, JsonSchema)]
struct Text {
    #[serde(default)]
    text: String,
}

/// The home. The conversations can be closed and opened again, as a restart of the server does.
pub(crate) struct AgentHome {
    // Field order: runs end before what they use.
    agents: Option<Agents>,
    pub(crate) bench: Arc<Bench>,
    pub(crate) model: StreamingModel,
    pub(crate) toolbox: Toolbox,
    control: Arc<Control>,
    home: Home,
    _folder: Option<TempDir>,
}

/// An event: its id, its name, its data.
pub(crate) type Event = (u64, String, Value);

impl AgentHome {
    pub(crate) fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        Self::with("", json!({}), scripts)
    }

    /// With settings of `agent`, as in `{…}`, and further fields of the model.
    pub(crate) fn with(agent: &str, model: Value, scripts: impl IntoIterator<Item = Script>) -> Self {
        let folder = tempfile::Builder::new().prefix("cdpilot-agent-").tempdir().unwrap();
        let home = Home::at(folder.path());
        let endpoint = StreamingModel::new(scripts);
        let mut made = Self::at(&home, agent, model, endpoint);
        made._folder = Some(folder);
        made
    }

    /// In a folder that may have been used before.
    pub(crate) fn at(home: &Home, agent: &str, model: Value, endpoint: StreamingModel) -> Self {
        home.prepare().unwrap();
        let mut one = json!({ "model": "m", "base_url": endpoint.url(), "api_key": "sk-1234567890abcdef" });
        one.as_object_mut().unwrap().extend(model.as_object().unwrap().clone());
        let models = json!({ "models": { "one": one }, "default": "one" });
        std::fs::write(home.root().join("llm.json"), models.to_string()).unwrap();
        let confirm = if agent.contains("confirm:") { "" } else { "confirm: always, " };
        let config = Config::parse(&format!("agent: {{{confirm}{agent}}}"), Path::new("config.yaml")).unwrap();
        let control = Arc::new(Control::open(home.clone(), config, overrides(None)).unwrap());
        let toolbox = Toolbox::open(&control, &ToolboxOptions::new()).unwrap();
        let bench = Arc::new(Bench::default());
        register(&toolbox, &bench);
        let home = home.clone();
        let mut made = Self { agents: None, bench, model: endpoint, toolbox, control, home, _folder: None };
        made.reopen();
        made
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    pub(crate) fn agents(&self) -> &Agents {
        self.agents.as_ref().unwrap()
    }

    /// Drops the conversations and the database.
    pub(crate) fn close(&mut self) {
        self.agents = None;
    }

    pub(crate) fn reopen(&mut self) {
        self.close();
        let opened = Store::open(&self.home, soon()).unwrap();
        assert_eq!(opened.damaged, None);
        let agents = Agents::new(Arc::clone(&self.control), self.toolbox.clone(), opened.store).unwrap();
        self.agents = Some(agents);
    }

    /// Another model for the next turn.
    pub(crate) fn create(&self) -> String {
        let new = NewConversation::new().toolsets(["bench", "clarify", "todo"]);
        self.agents().create(new).unwrap()
    }

    /// Sends a message and waits for the end of the run. Returns its events.
    pub(crate) fn turn(&self, id: &str, text: &str) -> Vec<Event> {
        let after = self.agents().send(id, text).unwrap();
        self.to_end(id, after)
    }

    /// The events after an id, until the run is finished.
    pub(crate) fn to_end(&self, id: &str, after: u64) -> Vec<Event> {
        let mut follower = self.agents().follow(id, after).unwrap();
        let mut all = Vec::new();
        loop {
            match follower.next(soon()).unwrap() {
                Followed::Event { id, event, data } => all.push((id, event, serde_json::from_str(&data).unwrap())),
                Followed::Delta { .. } => {}
                Followed::End => return all,
                other => panic!("{other:?} after {all:#?}"),
            }
        }
    }

    /// The next event that fits.
    pub(crate) fn until(&self, follower: &mut Follower, fits: impl Fn(&str, &Value) -> bool) -> Event {
        let deadline = soon();
        loop {
            match follower.next(deadline).unwrap() {
                Followed::Event { id, event, data } => {
                    let data = serde_json::from_str(&data).unwrap();
                    if fits(&event, &data) {
                        return (id, event, data);
                    }
                }
                Followed::Delta { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }

    pub(crate) fn state(&self, id: &str) -> (ConversationState, bool) {
        let found = self.agents().get(id).unwrap();
        (found.conversation.state, found.conversation.unfinished)
    }

    /// All stored text of a conversation.
    pub(crate) fn stored(&self, id: &str) -> String {
        let events = self.agents().events(id, 0, usize::MAX).unwrap();
        let events: Vec<String> = events.into_iter().map(|event| event.data).collect();
        format!("{}\n{}", events.join("\n"), json!(self.agents().history(id).unwrap()))
    }
}

/// The names of events, those of the agent by their type.
pub(crate) fn names(events: &[Event]) -> Vec<String> {
    let ids: Vec<u64> = events.iter().map(|(id, ..)| *id).collect();
    assert!(ids.windows(2).all(|two| two[1] == two[0] + 1), "{ids:?}");
    let name = |(_, event, data): &Event| data["type"].as_str().unwrap_or(event).to_owned();
    events.iter().map(name).collect()
}

/// The events with this name or type.
pub(crate) fn of<'e>(events: &'e [Event], name: &str) -> Vec<&'e Value> {
    let fits = |(_, event, data): &&Event| event == name || data["type"] == name;
    events.iter().filter(fits).map(|(_, _, data)| data).collect()
}

fn register(toolbox: &Toolbox, bench: &Arc<Bench>) {
    let add = |tool: Tool| toolbox.registry().register("bench", tool.with_effects(Effects::None)).unwrap();
    let of = Arc::clone(bench);
    add(Tool::of("note", "Note a text.", move |_, Text { text }| {
        of.notes.lock().push(text.clone());
        Ok(Outcome::default().with("noted", text))
    }));
    add(Tool::of("fail", "Fail.", |_, Text { text }| Err(ToolError::new(ErrorKind::Conflict, text))));
    add(Tool::of("boom", "Panic.", |_, _: Text| -> Result<Outcome, ToolError> { panic!("on purpose") }));
    let of = Arc::clone(bench);
    add(Tool::of("picture", "Take a picture.", move |_, _: Text| {
        let number = of.pictures.fetch_add(1, Ordering::SeqCst);
        let bytes = format!("png {number}").into_bytes();
        let mut outcome = Outcome::default().with("number", number);
        outcome.images.push(Image::new("image/png", bytes));
        Ok(outcome)
    }));
    let of = Arc::clone(bench);
    add(Tool::of("wait", "Wait.", move |call, _: Text| {
        let mut open = of.open.lock();
        of.waiting.fetch_add(1, Ordering::SeqCst);
        of.changed.notify_all();
        while !*open && !call.deadline.passed() {
            of.changed.wait_for(&mut open, std::time::Duration::from_millis(20));
        }
        of.waiting.fetch_sub(1, Ordering::SeqCst);
        of.changed.notify_all();
        match call.deadline.is_cancelled() {
            true => Err(ToolError::new(ErrorKind::Cancelled, "cancelled")),
            false => Ok(Outcome::default().with("waited", true)),
        }
    }));
    // Types into a field; the label says whether it is a secret one.
    let of = Arc::clone(bench);
    let type_text = Tool::of("browser_type", "Type.", move |_, Text { text }| {
        of.notes.lock().push(text.clone());
        let is_secret = text.starts_with("hunter") || text.starts_with("4829");
        let outcome = Outcome::default().with("typed", text.chars().count());
        Ok(outcome.with("secret_field", is_secret))
    });
    toolbox.registry().deregister("browser");
    add(type_text);
}

/// A call of a tool with the argument `text`.
pub(crate) fn call(id: &str, name: &str, text: &str) -> Script {
    Script::stream().call(id, name, &json!({ "text": text })).done()
}

/// A final answer.
pub(crate) fn say(text: &str) -> Script {
    Script::stream().text(text).done()
}
