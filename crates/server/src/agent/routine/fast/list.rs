//! A step that works through a list: what the list has now, and what is done in which entry.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::super::RoutineRun;
use super::super::TARGET_NOT_FOUND;
use super::super::report::{Item, ItemState, RunCause};
use super::find::{AGAIN, LOOK, listed, lists, patience};
use super::{Fast, NO_MODEL, cause};
use crate::agent::Error;
use crate::agent::turn::Turn;
use crate::control::Profile;
use crate::record::FrameStep;
use crate::record::draft::{Anchor, DialogAnswer};
use crate::replay::{FastAction, FastList, Seen, Surveyed, What, described};
use cdpilot::page::ListEntry;
use cdpilot::sync::{Deadline, pause};

/// How long more entries are waited for at the end of a list.
const END: Duration = Duration::from_millis(1_200);
/// Longest time for going through a list.
const WHOLE: Duration = Duration::from_secs(120);
/// Most entries of a list.
const MOST: usize = 1_000;
/// Elements by which a list is looked for.
const MOST_SOUGHT: usize = 20;

/// What going through a list came to.
enum Gone {
    /// What it has.
    Through(Seen),
    /// It is not there, or cannot be read.
    Not(RunCause),
    /// The run is to be paused or stopped.
    Held,
}

impl Turn<'_> {
    /// Sees what the list of a step has, before something is done in it, and when what was there is done.
    pub(super) fn survey_fast(&mut self, n: u32, at: usize, is_closing: bool) -> Result<Fast, Error> {
        let pages = self.pages();
        let Some(step) = self.routine.as_ref().and_then(|run| run.report.fast.as_ref()?.planned(n)).cloned() else {
            return Ok(Fast::Model);
        };
        let entries = |action: &&FastAction| action.entry.is_some() && action.element.is_some();
        let first = step.actions.get(at..).unwrap_or_default().iter().find(entries);
        let Some(first) = first.or_else(|| step.actions.iter().find(entries)).cloned() else { return Ok(Fast::Model) };
        let Some(tab) = self.tab_now(first.tab).or_else(|| pages.tab_to_read(None).ok().map(|tab| tab.info.target_id))
        else {
            // The action opens the page again.
            return self.act_fast(n, at, &first);
        };
        let mut sought: Vec<Anchor> = Vec::new();
        let is_alike = step.list.as_ref().is_some_and(FastList::is_alike);
        let begins = |place: &usize| {
            let entry = |place: usize| step.actions.get(place).and_then(|action| action.entry);
            !is_alike || place.checked_sub(1).and_then(entry) != entry(*place)
        };
        let places = (at..step.actions.len()).chain(0..at).filter(begins);
        for action in places.filter_map(|place| step.actions.get(place)).filter(entries) {
            let Some(anchor) = &action.element else { continue };
            let is_known = |one: &Anchor| one.role == anchor.role && one.name == anchor.name && one.text == anchor.text;
            if action.frame == first.frame && sought.len() < MOST_SOUGHT && !sought.iter().any(is_known) {
                sought.push(anchor.clone());
            }
        }
        let list = step.list.clone().unwrap_or_default();
        let open: Vec<String> = list.open(&step.actions, at).into_iter().map(ToOwned::to_owned).collect();
        let seen = match is_closing {
            // Nothing may be left of it.
            true => Gone::Through(
                seen_now(&pages, &tab, &sought, &first.frame, (&list, &Seen::default()))
                    .ok()
                    .flatten()
                    .unwrap_or_default(),
            ),
            false => self.go_through(&pages, &tab, &sought, &first, (&list, &open)),
        };
        let seen = match seen {
            Gone::Held => return Ok(Fast::Next),
            Gone::Not(why) => return self.hand_over(why),
            Gone::Through(seen) => seen,
        };
        let Some(run) = &mut self.routine else { return Ok(Fast::Model) };
        let Some(fast) = &mut run.report.fast else { return Ok(Fast::Model) };
        let surveyed = fast.survey(n, at, &seen, is_closing);
        let (is_nothing_meant, until) = match surveyed {
            Surveyed::Unknown(titles) => {
                let titles: Vec<String> = titles.iter().map(|title| format!("{title:?}")).collect();
                let found =
                    format!("entries that were not recorded: {}; the step may or may not be for them", listed(&titles));
                let why = cause(NO_MODEL, "the entries of the list that were recorded", found);
                return self.hand_over(why);
            }
            Surveyed::Until(until) => {
                let actions = fast.planned(n).map(|step| &*step.actions).unwrap_or_default();
                let is_any = actions.get(..until).into_iter().flatten().any(|action| action.entry.is_some());
                (!is_any && actions.len() <= until, until)
            }
        };
        let is_lacking =
            fast.planned(n).and_then(|step| step.list.as_ref()).is_some_and(|list| !list.lacking.is_empty());
        fast.note_survey(until, (is_closing && until == at).then_some(at));
        run.note_entries(n);
        if is_nothing_meant {
            let count = step.list.map_or(0, |list| list.entries.len());
            let found = match is_lacking {
                true => "the recorded entries no longer have this element; they may have been done before".to_owned(),
                false => format!("the list has none of the {count} entries that were recorded"),
            };
            return self.hand_over(cause(TARGET_NOT_FOUND, described_in(&first), found));
        }
        Ok(Fast::Next)
    }

    /// Goes through a list to its end, as far as it can be scrolled.
    fn go_through(
        &self,
        pages: &Profile,
        tab: &str,
        sought: &[Anchor],
        first: &FastAction,
        (list, open): (&FastList, &[String]),
    ) -> Gone {
        let begun = Instant::now();
        let mut until = begun + patience(first.seconds);
        let mut all = Seen::default();
        let mut is_at_start = false;
        // Recorded entries may come late.
        let quiet = |all: &Seen| {
            let is_missing = |title: &String| !all.entries.keys().any(|seen| FastList::is_same_title(seen, title));
            if open.iter().any(is_missing) { patience(first.seconds) } else { END }
        };
        loop {
            if self.live.is_held() || self.cancel.is_set() {
                return Gone::Held;
            }
            let now = match seen_now(pages, tab, sought, &first.frame, (list, &all)) {
                Ok(now) => now,
                Err(problem) => return Gone::Not(cause(NO_MODEL, "the entries of its list", problem)),
            };
            let before = all.clone();
            if let Some(now) = now {
                add(&mut all.entries, now.entries);
                add(&mut all.usable, now.usable);
            }
            if all.entries.len() > MOST || begun.elapsed() > WHOLE {
                let found = format!("{} entries and more", all.entries.len());
                return Gone::Not(cause(NO_MODEL, "the end of its list", found));
            }
            if !all.entries.is_empty() && !is_at_start {
                is_at_start = true;
                until = Instant::now() + quiet(&all);
                scroll(pages, tab, sought, &first.frame, true);
                continue;
            }
            if all != before || (!all.entries.is_empty() && scroll(pages, tab, sought, &first.frame, false)) {
                until = Instant::now() + quiet(&all);
                continue;
            }
            if Instant::now() >= until {
                if all.entries.is_empty() {
                    return Gone::Not(cause(TARGET_NOT_FOUND, described_in(first), "no list with such elements"));
                }
                scroll(pages, tab, sought, &first.frame, true);
                return Gone::Through(all);
            }
            pause(AGAIN);
        }
    }

    /// The one of several alike elements that an action for an entry of a list is for: there are as many of them as recorded entries
    /// with the same title that are not done.
    pub(super) fn one_of_alike(&self, n: u32, at: usize, action: &FastAction, refs: &[String]) -> Option<String> {
        let fast = self.routine.as_ref()?.report.fast.as_ref()?;
        let step = fast.planned(n)?;
        let list = step.list.as_ref()?;
        let own = list.entries.get(action.entry?)?;
        let mut alike: Vec<usize> = step.actions.get(at..)?.iter().filter_map(|action| action.entry).collect();
        alike.retain(|entry| list.entries.get(*entry) == Some(own));
        alike.sort_unstable();
        alike.dedup();
        let left: Vec<&String> = refs.iter().filter(|one| !fast.is_used(one)).collect();
        (left.len() == alike.len()).then(|| left.first().map(|one| (*one).clone())).flatten()
    }

    /// Notes that something is done in an entry of a list.
    pub(super) fn note_entry(&mut self, n: u32, action: &FastAction, reference: &str) {
        if action.entry.is_none() {
            return;
        }
        let Some(run) = &mut self.routine else { return };
        if let Some(fast) = &mut run.report.fast {
            fast.use_once(reference);
        }
        run.note_entries(n);
    }

    /// The answers to the dialog of an action: the recorded one, or that of another entry with the same title, whose turn it may be.
    pub(super) fn answers_of(&self, n: u32, action: &FastAction, own: &DialogAnswer) -> Vec<DialogAnswer> {
        let mut all = vec![own.clone()];
        let step = self.routine.as_ref().and_then(|run| run.report.fast.as_ref()?.planned(n));
        let Some((step, list)) = step.and_then(|step| Some((step, step.list.as_ref()?))) else { return all };
        let title = |entry: Option<usize>| Some(&list.entries.get(entry?)?.title);
        let others = step.actions.iter().filter(|one| one.entry.is_some() && title(one.entry) == title(action.entry));
        all.extend(others.filter_map(|one| match &one.what {
            What::Dialog { answer } => Some(answer.clone()),
            _ => None,
        }));
        // The same question with two answers is answered as it was for this entry.
        all
    }
}

impl RoutineRun {
    /// Notes how far the list of a step is, from its actions.
    pub(super) fn note_entries(&mut self, n: u32) {
        self.set_changed();
        let Some(fast) = &self.report.fast else { return };
        let Some((step, list)) = fast.planned(n).and_then(|step| Some((step, step.list.as_ref()?))) else { return };
        let done = fast.done_of(n);
        let items = list.entries.iter().enumerate().map(|(at, entry)| {
            let own: Vec<usize> = (0..step.actions.len())
                .filter(|place| step.actions.get(*place).is_some_and(|action| action.entry == Some(at)))
                .collect();
            let count = own.iter().filter(|place| **place < done).count();
            let state = match (own.len(), count) {
                (0, _) => ItemState::Skipped,
                (all, done) if done == all => ItemState::Done,
                (_, 0) => ItemState::Found,
                _ => ItemState::Begun,
            };
            Item { title: entry.title.clone(), address: entry.href.clone(), state }
        });
        let items: Vec<Item> = items.collect();
        let lacking: Vec<String> =
            list.lacking.iter().filter_map(|at| Some(format!("{:?}", list.entries.get(*at)?.title))).collect();
        let note = (!lacking.is_empty()).then(|| {
            format!(
                "left out, because there is no such element in it (it may have been done before): {}",
                listed(&lacking)
            )
        });
        if let Some(state) = self.report.state(n) {
            state.list = items;
            state.step.note = note;
        }
    }
}

fn described_in(action: &FastAction) -> String {
    action.element.as_ref().map(described).unwrap_or_default()
}

/// Adds what was seen to what was seen before: a list may show a part at a time.
fn add(all: &mut BTreeMap<String, u32>, now: BTreeMap<String, u32>) {
    for (title, count) in now {
        let most = all.entry(title).or_default();
        *most = count.max(*most);
    }
}

/// What the list has that one of these elements is in; `None` if none of them is there. An error says why it is not known.
fn seen_now(
    pages: &Profile,
    tab: &str,
    sought: &[Anchor],
    frame: &[FrameStep],
    (list, before): (&FastList, &Seen),
) -> Result<Option<Seen>, String> {
    let mut problem = None;
    for anchor in sought {
        let found = match lists(pages, tab, anchor, frame) {
            Ok(found) => found,
            Err(error) => {
                problem = Some(error);
                continue;
            }
        };
        let mut seen = Seen::default();
        for one in found {
            for entries in one.entries {
                let entries = entries.ok_or("a list with more than 300 entries")?;
                // Another list may have the same buttons.
                let is_known =
                    |entry: &ListEntry| list.is_known(&entry.title) || before.entries.contains_key(&entry.title);
                if !entries.iter().any(is_known) {
                    continue;
                }
                for entry in entries {
                    *seen.entries.entry(entry.title).or_default() += entry.count;
                }
            }
            for title in one.usable {
                let title = FastList::short(&title);
                if seen.entries.contains_key(&title) {
                    *seen.usable.entry(title).or_default() += 1;
                }
            }
        }
        if !seen.entries.is_empty() {
            return Ok(Some(seen));
        }
    }
    problem.map_or(Ok(None), Err)
}

/// Scrolls the list whose entries were asked for last. Returns whether it moved.
fn scroll(pages: &Profile, tab: &str, sought: &[Anchor], frame: &[FrameStep], to_start: bool) -> bool {
    let Ok(handle) = pages.tab_to_read(Some(tab)) else { return false };
    let found = sought.first().and_then(|anchor| lists(pages, tab, anchor, frame).ok()).unwrap_or_default();
    let moved =
        found.iter().map(|one| handle.tab.scroll_list(&one.frame, to_start, Deadline::after(LOOK)).unwrap_or(false));
    moved.filter(|moved| *moved).count() > 0
}
