//! Values that steps read: where a model has found them, and reading them again without one.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::super::TARGET_NOT_FOUND;
use super::super::report::RunCause;
use super::find::{AGAIN, LOOK, patience};
use super::{Fast, TARGET_AMBIGUOUS, cause};
use crate::agent::Error;
use crate::agent::turn::Turn;
use crate::control::Profile;
use crate::record::frame_path;
use crate::replay::{ReadNow, ReadPlace, described_place, read_now, value_key};
use cdpilot::sync::{Deadline, pause};

/// Most places of a value that are kept.
const MOST_PLACES: usize = 3;
/// How long a value has to stay the same: pages show a value of their own until theirs has come.
const STEADY: Duration = Duration::from_secs(1);
/// Time limit for looking where a value stands.
const LEARN: Duration = Duration::from_secs(3);

impl Turn<'_> {
    /// Keeps where a value stands that a model has just read, so that a later run can read it without one.
    pub(in crate::agent) fn learn_value(&mut self, arguments: &Map<String, Value>) {
        if arguments.get("command").and_then(Value::as_str) != Some("read") {
            return;
        }
        let n = arguments.get("n").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        let name = arguments.get("name").and_then(Value::as_str);
        let Some((run, n, name)) = self.routine.as_ref().zip(n).zip(name).map(|((run, n), name)| (run, n, name.trim()))
        else {
            return;
        };
        let key = value_key(n, name);
        if !run.report.is_recorded || !run.is_as_recorded() {
            return;
        }
        let Some(value) = run.report.values.get(&key) else { return };
        let Ok(handle) = self.pages().tab_to_read(None) else { return };
        let Ok(found) = handle.tab.value_places(value, Deadline::after(LEARN)) else { return };
        let view = handle.tab.supervisor().view();
        let places = found.into_iter().filter(|(_, place)| {
            // A secret that the page shows is kept nowhere.
            let text = described_place(place);
            self.offer.cover(&text) == text
        });
        let id = run.ids.1.clone();
        let places =
            places.map(|(frame, place)| ReadPlace { frame: frame_path(&view, &frame), place, run: id.clone() });
        let places: Vec<ReadPlace> = places.take(MOST_PLACES).collect();
        if let Some(run) = &mut self.routine
            && !places.is_empty()
        {
            run.report.reads.insert(key, places);
        }
    }

    /// Reads a value without a model.
    pub(super) fn read_fast(&mut self, n: u32, name: &str, places: &[ReadPlace]) -> Result<Fast, Error> {
        let pages = self.pages();
        let until = Instant::now() + patience(0.0);
        let mut last: Option<ReadNow> = None;
        let mut since = Instant::now();
        loop {
            if self.live.is_held() || self.cancel.is_set() {
                return Ok(Fast::Next);
            }
            let now = read(&pages, places);
            if last != now.as_ref().ok().cloned() {
                since = Instant::now();
            }
            if let (Ok(ReadNow::Value(value)), true) = (&now, last.is_some() && since.elapsed() >= STEADY) {
                let value = value.clone();
                let Some(run) = &mut self.routine else { return Ok(Fast::Model) };
                run.keep_value(n, name, &value);
                if let Some(fast) = &mut run.report.fast {
                    fast.note_seen(n);
                }
                let shown = self.offer.cover(&value);
                return self.tell_step(&json!({ "success": true, "step": n, "name": name, "value": shown }));
            }
            if Instant::now() >= until {
                let why = why_not(name, places, now);
                let why = RunCause { found: self.offer.cover(&why.found), ..why };
                return self.hand_over(why);
            }
            // A page that is still changing says something else in a moment.
            last = now.ok();
            pause(AGAIN);
        }
    }
}

fn why_not(name: &str, places: &[ReadPlace], now: Result<ReadNow, String>) -> RunCause {
    let place = places.first().map(|one| described_place(&one.place)).unwrap_or_default();
    let sought = format!("the value {name}, in the text {place}");
    match now {
        Ok(ReadNow::Several(all)) => {
            let all: Vec<String> = all.iter().map(|one| format!("{one:?}")).collect();
            cause(TARGET_AMBIGUOUS, sought, format!("different values: {}", all.join(", ")))
        }
        Ok(_) => cause(TARGET_NOT_FOUND, sought, "no such text"),
        Err(problem) => cause(TARGET_NOT_FOUND, sought, problem),
    }
}

/// What stands at the places of a value now.
fn read(pages: &Profile, places: &[ReadPlace]) -> Result<ReadNow, String> {
    let handle = pages.tab_to_read(None).map_err(|error| error.to_string())?;
    let sought: Vec<_> = places.iter().map(|one| one.place.clone()).collect();
    let found = handle.tab.values_at(&sought, Deadline::after(LOOK)).map_err(|error| error.to_string())?;
    let view = handle.tab.supervisor().view();
    let frames: Vec<_> = found.into_iter().map(|(frame, values)| (frame_path(&view, &frame), values)).collect();
    Ok(read_now(places, &frames))
}
