//! Looking for the element of a recorded action, as long as its page may take.

use std::time::{Duration, Instant};

use super::super::TARGET_NOT_FOUND;
use super::super::report::RunCause;
use super::{NOT_ACTIONABLE, TARGET_AMBIGUOUS, cause};
use crate::agent::turn::Turn;
use crate::control::Profile;
use crate::record::draft::Anchor;
use crate::record::{Container, Element, FrameStep, frame_path, stored_address};
use crate::replay::{Candidate, FastAction, Strictness, Target, What, described, is_same_frame, query, target};
use cdpilot::page::ListEntry;
use cdpilot::supervisor::FrameId;
use cdpilot::sync::{Deadline, pause};

/// Shortest and longest time for which an element is waited for.
pub(super) const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(120);
/// It is waited for so many times as long as the recorded page took.
const PATIENCE: f64 = 5.0;
/// How often it is looked for.
pub(super) const AGAIN: Duration = Duration::from_millis(60);
/// Time limit of one look.
pub(super) const LOOK: Duration = Duration::from_secs(5);
/// How much longer it is waited for after its list was scrolled on.
const SCROLLED: Duration = Duration::from_secs(2);
/// Elements that a cause lists.
const MOST_LISTED: usize = 4;

/// What looking for an element came to.
pub(super) enum Found {
    /// Its ref.
    One(String),
    /// It is in the state already that using it would lead away from.
    Already,
    /// It is not there.
    Not(RunCause),
    /// The run is to be paused or stopped.
    Held,
    /// The step does not apply: what comes after it is there.
    LeftOut,
}

/// How far the list of an element was scrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reveal {
    /// On from where it was.
    On,
    /// From its start.
    FromStart,
    /// To its end.
    Done,
}

/// How long an element is waited for.
pub(super) fn patience(seconds: f64) -> Duration {
    let wanted = Duration::try_from_secs_f64(seconds * PATIENCE).unwrap_or(SHORTEST);
    wanted.clamp(SHORTEST, LONGEST)
}

impl Turn<'_> {
    /// Looks for the element of an action, as long as its page may take. An entry of a list is scrolled to.
    pub(super) fn find_fast(
        &mut self,
        pages: &Profile,
        tab: &str,
        n: u32,
        at: usize,
        action: &FastAction,
        anchor: &Anchor,
    ) -> Found {
        let begun = Instant::now();
        let mut until = begun + patience(action.seconds);
        let planned = self.routine.as_ref().and_then(|run| run.report.fast.as_ref()?.planned(n));
        let is_optional = at == 0 && planned.is_some_and(|step| step.if_shown);
        let is_entry = anchor.container.as_ref().is_some_and(Container::is_entry);
        let mut reveal = if is_entry && !is_optional { Reveal::On } else { Reveal::Done };
        loop {
            if self.live.is_held() || self.cancel.is_set() {
                return Found::Held;
            }
            let how = Strictness { anywhere: false, strict: is_optional };
            let found = look(pages, tab, anchor, &action.frame, how);
            let elsewhere = self.is_elsewhere(pages, tab, n, action);
            let why = match found {
                Ok(_) if elsewhere.is_some() => {
                    let found = format!("the page {}", elsewhere.unwrap_or_default());
                    cause(TARGET_NOT_FOUND, format!("{} in the page {}", described(anchor), action.page), found)
                }
                Ok(Target::One(reference)) => return Found::One(reference),
                Ok(Target::InState(reference, _)) => match action.what {
                    What::Click { double: false, .. } => return Found::Already,
                    _ => return Found::One(reference),
                },
                Ok(Target::Several(refs, texts)) => match self.one_of_alike(n, at, action, &refs) {
                    Some(reference) => return Found::One(reference),
                    None => missed(anchor, &Target::Several(refs, texts)),
                },
                Ok(other) => {
                    if reveal != Reveal::Done {
                        let moved = scroll_on(pages, tab, anchor, &action.frame, false);
                        match (moved, reveal) {
                            (true, _) => until = until.max(Instant::now() + SCROLLED).min(begun + LONGEST),
                            (false, Reveal::On) if scroll_on(pages, tab, anchor, &action.frame, true) => {
                                reveal = Reveal::FromStart;
                            }
                            _ => reveal = Reveal::Done,
                        }
                        if reveal != Reveal::Done {
                            continue;
                        }
                    }
                    missed(anchor, &other)
                }
                Err(problem) => cause(NOT_ACTIONABLE, described(anchor), problem),
            };
            let is_late = Instant::now() >= until;
            if is_optional && (is_late || self.is_later_there(pages, tab, n)) {
                return Found::LeftOut;
            }
            if is_late {
                return Found::Not(self.with_similar(pages, tab, anchor, why));
            }
            pause(AGAIN);
        }
    }

    /// The address of the page, if it is not that of the recording but for numbers and tokens.
    fn is_elsewhere(&self, pages: &Profile, tab: &str, n: u32, action: &FastAction) -> Option<String> {
        let address = super::act::current_address(pages, Some(tab))?;
        let address = address.split(['?', '#']).next().unwrap_or_default().to_owned();
        let replaced = self.replaced();
        let is_of = |action: &FastAction| action.page.is_empty() || replaced.is_same_address(&action.page, &address);
        // An entry may be on another page of its list now.
        let planned = self.routine.as_ref().and_then(|run| run.report.fast.as_ref()?.planned(n));
        let alike = planned.into_iter().flat_map(|step| &step.actions).filter(|_| action.entry.is_some());
        let is_same = is_of(action) || alike.into_iter().any(is_of);
        (!is_same).then_some(address)
    }

    /// Whether the element of a later step is there, up to the first that is not optional.
    fn is_later_there(&self, pages: &Profile, tab: &str, n: u32) -> bool {
        let Some(fast) = self.routine.as_ref().and_then(|run| run.report.fast.as_ref()) else { return false };
        for (_, step) in fast.plan.steps.range(n + 1..) {
            let Some(action) = step.actions.first() else { return false };
            if let Some(anchor) = &action.element
                && matches!(
                    look(pages, tab, anchor, &action.frame, Strictness::default()),
                    Ok(Target::One(_) | Target::InState(..))
                )
            {
                return true;
            }
            if !step.if_shown {
                return false;
            }
        }
        false
    }

    /// Adds what there is under a similar name to a cause.
    fn with_similar(&self, pages: &Profile, tab: &str, anchor: &Anchor, mut why: RunCause) -> RunCause {
        let name = [&anchor.name, &anchor.label, &anchor.text].into_iter().find(|text| !text.trim().is_empty());
        if why.code == TARGET_NOT_FOUND
            && let (Ok(handle), Some(name)) = (pages.tab_to_read(Some(tab)), name)
        {
            let near = handle.tab.similar(name, Deadline::after(LOOK));
            let near: Vec<String> = near.iter().map(|one| format!("{} {:?}", one.role, one.name)).collect();
            if !near.is_empty() && why.found == NOTHING {
                why.found = format!("nothing of this kind; with a similar name: {}", near.join(", "));
            }
        }
        (why.sought, why.found) = (self.offer.cover(&why.sought), self.offer.cover(&why.found));
        why
    }
}

/// The first of some texts, and how many more there are.
pub(super) fn listed(all: &[String]) -> String {
    let shown: Vec<&str> = all.iter().take(MOST_LISTED).map(String::as_str).collect();
    let more = all.len().saturating_sub(MOST_LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// What a cause says when nothing was found.
const NOTHING: &str = "nothing of this kind";

pub(super) fn missed(anchor: &Anchor, found: &Target) -> RunCause {
    match found {
        Target::Several(_, all) => {
            cause(TARGET_AMBIGUOUS, described(anchor), format!("{} of them: {}", all.len(), listed(all)))
        }
        Target::Absent(elsewhere) if !elsewhere.is_empty() => {
            cause(TARGET_NOT_FOUND, described(anchor), format!("only elsewhere: {}", listed(elsewhere)))
        }
        _ => cause(TARGET_NOT_FOUND, described(anchor), NOTHING),
    }
}

/// Looks for a recorded element once. An error says why the page cannot be looked at.
pub(super) fn look(
    pages: &Profile,
    tab: &str,
    anchor: &Anchor,
    frame: &[FrameStep],
    how: Strictness,
) -> Result<Target, String> {
    let handle = pages.tab_to_read(Some(tab)).map_err(|error| error.to_string())?;
    let found = handle.tab.anchors(&query(anchor), Deadline::after(LOOK)).map_err(|error| error.to_string())?;
    let view = handle.tab.supervisor().view();
    let path = |frame: &_| frame_path(&view, frame);
    if found.crowded.iter().any(|crowded| is_same_frame(frame, &path(crowded))) {
        return Err("too many elements with this role and name".to_owned());
    }
    if found.unread.iter().any(|unread| is_same_frame(frame, &path(unread))) {
        return Err("its frame does not answer".to_owned());
    }
    let candidates = found.matches.into_iter().filter_map(|one| {
        let mut element: Element = serde_json::from_value(one.element).ok()?;
        if let Some(container) = &mut element.container {
            container.href = stored_address(&container.href);
        }
        Some(Candidate { reference: one.reference, frame: path(&one.frame), element })
    });
    let candidates: Vec<Candidate> = candidates.collect();
    Ok(target(anchor, frame, &candidates, how))
}

/// The lists of a frame.
pub(super) struct Lists {
    pub(super) frame: FrameId,
    /// The entries of each; `None` for one that is too long.
    pub(super) entries: Vec<Option<Vec<ListEntry>>>,
    /// Titles of the entries with an element of the kind that was asked for.
    pub(super) usable: Vec<String>,
}

/// The lists that elements of this kind are in, in frames like the recorded one.
pub(super) fn lists(pages: &Profile, tab: &str, anchor: &Anchor, frame: &[FrameStep]) -> Result<Vec<Lists>, String> {
    let handle = pages.tab_to_read(Some(tab)).map_err(|error| error.to_string())?;
    let query = cdpilot::page::AnchorQuery { lists: true, ..query(anchor) };
    let found = handle.tab.anchors(&query, Deadline::after(LOOK)).map_err(|error| error.to_string())?;
    let view = handle.tab.supervisor().view();
    let all = found.entries.into_iter().filter(|(own, _)| is_same_frame(frame, &frame_path(&view, own)));
    let all = all.map(|(own, entries)| {
        let usable = found.matches.iter().filter(|one| one.frame == own);
        let usable = usable.filter_map(|one| Some(one.element["container"]["title"].as_str()?.to_owned())).collect();
        Lists { frame: own, entries, usable }
    });
    Ok(all.collect())
}

/// Scrolls the list on that elements of this kind are in, or to its start. Returns whether it moved.
fn scroll_on(pages: &Profile, tab: &str, anchor: &Anchor, frame: &[FrameStep], to_start: bool) -> bool {
    let Ok(lists) = lists(pages, tab, anchor, frame) else { return false };
    let Ok(handle) = pages.tab_to_read(Some(tab)) else { return false };
    lists.iter().any(|one| handle.tab.scroll_list(&one.frame, to_start, Deadline::after(LOOK)).unwrap_or(false))
}
