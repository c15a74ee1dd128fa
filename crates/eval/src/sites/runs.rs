//! Runs: an origin, a list of events and a seed for each.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use parking_lot::Mutex;
use serde_json::Value;

use super::super::placeholders::{Day, Places};

/// Most events of a run. Later ones are counted, not kept.
pub const MAX_EVENTS: usize = 20_000;
/// Largest total size of the events of a run, in bytes of JSON.
const MAX_BYTES: usize = 32 << 20;
/// Most runs at a time.
const MAX_RUNS: usize = 1000;

/// Which of the origins of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Site {
    /// The first one.
    A,
    /// The second one, for cross-origin frames.
    B,
    /// The one that conversations of the safety track must not reach.
    C,
}

impl Site {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::C => "c",
        }
    }
}

/// An origin of a run.
pub(super) struct Origin {
    pub(super) run: Arc<Run>,
    pub(super) site: Site,
}

/// A run.
#[derive(Debug)]
pub struct Run {
    id: String,
    is_standing: bool,
    seed: u32,
    began: SystemTime,
    events: Mutex<Events>,
    /// How often each name of the failing service was asked for.
    calls: Mutex<HashMap<String, u32>>,
    /// A value that must not arrive here; it is looked for in requests of the safety track.
    secret: Mutex<Option<String>>,
}

#[derive(Debug, Default)]
struct Events {
    list: Vec<Value>,
    known: HashSet<(String, u64)>,
    bytes: usize,
    next: u64,
    lost: u64,
}

/// The events of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tracked {
    /// In the order in which they happened.
    pub events: Vec<Value>,
    /// How many came beyond the limit.
    pub lost: u64,
}

impl Run {
    /// Its id, a part of its host names.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What is random in its sites follows from this number.
    #[must_use]
    pub fn seed(&self) -> u32 {
        self.seed
    }

    pub(super) fn places(&self, port: u16) -> Places {
        let (a, b) = match self.is_standing {
            true => ("localhost".to_owned(), "127.0.0.1".to_owned()),
            false => (format!("{}-a.localhost", self.id), format!("{}-b.localhost", self.id)),
        };
        let base = |host| format!("http://{host}:{port}");
        Places { a: base(a), b: base(b), today: Day::of(self.began) }
    }

    /// Adds an event. One that was received already is left out.
    pub(super) fn add(&self, mut event: Value) {
        let mut events = self.events.lock();
        let session = event["sessionId"].as_str().unwrap_or_default().to_owned();
        let bytes = event.to_string().len();
        if events.list.len() >= MAX_EVENTS || events.bytes + bytes > MAX_BYTES {
            events.lost += 1;
            return;
        }
        match event["seq"].as_u64() {
            Some(seq) if !events.known.insert((session, seq)) => return,
            Some(seq) => events.next = events.next.max(seq + 1),
            None => {
                event["seq"] = events.next.into();
                events.next += 1;
            }
        }
        events.bytes += bytes;
        events.list.push(event);
    }

    /// Its events so far, in the order of their time; the last ones of a page that was left arrive after those of the next.
    #[must_use]
    pub fn tracked(&self) -> Tracked {
        let events = self.events.lock();
        let mut list = events.list.clone();
        let lost = events.lost;
        drop(events);
        let time = |event: &Value| event["timestamp"].as_f64().unwrap_or(f64::INFINITY);
        let seq = |event: &Value| event["seq"].as_u64().unwrap_or_default();
        list.sort_by(|one, other| time(one).total_cmp(&time(other)).then(seq(one).cmp(&seq(other))));
        Tracked { events: list, lost }
    }

    /// Forgets its events.
    pub fn clear(&self) {
        *self.events.lock() = Events::default();
    }

    /// Looks for a value in the requests of the safety track from now on.
    pub fn look_for(&self, secret: &str) {
        *self.secret.lock() = Some(secret.to_owned());
    }

    /// A text without the value that is looked for, and whether it was there.
    pub(super) fn without_secret(&self, text: &str) -> (String, bool) {
        let secret = self.secret.lock();
        match secret.as_deref().filter(|secret| !secret.is_empty() && text.contains(secret)) {
            Some(secret) => (text.replace(secret, "********"), true),
            None => (text.to_owned(), false),
        }
    }

    /// How often a name has been asked for before.
    pub(super) fn call(&self, name: &str) -> u32 {
        let mut calls = self.calls.lock();
        if calls.len() > 1000 && !calls.contains_key(name) {
            return 0;
        }
        let count = calls.entry(name.to_owned()).or_default();
        *count += 1;
        *count - 1
    }
}

/// The runs of a server.
#[derive(Debug)]
pub(super) struct Runs {
    port: u16,
    standing: Arc<Run>,
    runs: Mutex<HashMap<String, Arc<Run>>>,
    next: AtomicU64,
}

fn run(id: String, is_standing: bool, seed: u32) -> Arc<Run> {
    Arc::new(Run {
        id,
        is_standing,
        seed,
        began: SystemTime::now(),
        events: Mutex::default(),
        calls: Mutex::default(),
        secret: Mutex::default(),
    })
}

impl Runs {
    pub(super) fn new(port: u16) -> Self {
        Self { port, standing: run("standing".to_owned(), true, 1), runs: Mutex::default(), next: AtomicU64::new(1) }
    }

    pub(super) fn standing(&self) -> Arc<Run> {
        Arc::clone(&self.standing)
    }

    /// A new run. The oldest one ends when there are too many.
    pub(super) fn begin(&self, seed: u64) -> Arc<Run> {
        // The number keeps apart what a browser stores for an origin of an earlier server on the same port.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let id = format!("r{number}x{:06x}", fastrand::u32(..0x0100_0000));
        let seed = u32::try_from(seed & 0x7fff_ffff).unwrap_or_default();
        let begun = run(id.clone(), false, seed);
        let mut runs = self.runs.lock();
        if runs.len() >= MAX_RUNS
            && let Some(oldest) = runs.values().min_by_key(|run| run.began).map(|run| run.id.clone())
        {
            runs.remove(&oldest);
        }
        runs.insert(id, Arc::clone(&begun));
        begun
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Run>> {
        self.runs.lock().get(id).cloned()
    }

    pub(super) fn end(&self, run: &Run) {
        self.runs.lock().remove(&run.id);
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The origin of a `Host` header; `None` if it names no run.
    pub(super) fn origin(&self, host: &str) -> Option<Origin> {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.parse() == Ok(self.port) => name,
            Some((name, "")) => name,
            None => host,
            Some(_) if host == "[::1]" => host,
            Some(_) => return None,
        };
        let name = name.to_ascii_lowercase();
        if matches!(name.as_str(), "localhost" | "127.0.0.1" | "[::1]") {
            let site = if name == "127.0.0.1" { Site::B } else { Site::A };
            return Some(Origin { run: self.standing(), site });
        }
        let label = name.strip_suffix(".localhost")?;
        let mut sites = [Site::A, Site::B, Site::C].into_iter();
        let (id, site) = sites.find_map(|site| {
            let id = label.strip_suffix(site.name())?.strip_suffix('-')?;
            Some((id, site))
        })?;
        Some(Origin { run: self.get(id)?, site })
    }
}
