//! Locators: elements by role and name, text, label, placeholder, test id or CSS, over all frames and shadow roots.
//!
//! | file | what it holds |
//! |---|---|
//! | `grammar` | from the text of a locator to its steps |
//! | `get` | what is read of one element |
//!
//! Each step is looked for in all frames at once, by the roles and names that snapshots show. A step finds elements inside of
//! the matches of the step before it, those in frames inside of them included.

mod get;
mod grammar;

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;

pub use get::{ElementBox, ElementState, Got, What};
pub(super) use grammar::is_locator;
use grammar::{Matcher, Step};

use super::act::{Act, ActKind, Locator, State, WaitFor};
use super::error::Shown;
use super::world::{Doc, Node};
use super::{Error, Tab};
use crate::cdp::protocol::page::FrameId;
use crate::supervisor;
use crate::sync::{Deadline, pause};

/// Matches that are reported when a locator is ambiguous.
const REPORTED: usize = 10;
/// Matches that are returned unless another number is given.
const LIMIT: usize = 50;
/// Matches that are described by one call.
const DESCRIBED: usize = 500;
/// How often a locator without a match is tried again.
const AGAIN: Duration = Duration::from_millis(50);
/// How long a state of a located element is waited for before it is located anew.
const SLICE: Duration = Duration::from_millis(500);
/// What is kept back of a deadline for the answer.
const ANSWER: Duration = Duration::from_millis(100);

/// An element that a locator matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Match {
    /// Its ref, as in a snapshot.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its role.
    pub role: String,
    /// Its accessible name, at most 200 characters: untrusted.
    pub name: String,
    /// The frame; `None` for the main frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "server", schemars(with = "Option<String>"))]
    pub frame_id: Option<FrameId>,
    /// Whether it is rendered and has a size.
    pub visible: bool,
}

/// What a locator matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Matches {
    /// In document order, frame by frame.
    pub matches: Vec<Match>,
    /// How many there are altogether.
    pub total: usize,
}

/// An element as the page script describes it.
#[derive(Debug, Deserialize)]
struct Found {
    role: String,
    name: String,
    visible: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    /// The numbers of all matches.
    ids: Vec<u32>,
    /// The first of them.
    described: Vec<Found>,
    bad: Option<String>,
}

/// Where the next step looks in a frame.
#[derive(Debug, Clone)]
enum Scope {
    Whole,
    In(Vec<u32>),
}

struct Located {
    frame: FrameId,
    doc: Doc,
    id: u32,
    /// What it is, where that has been read.
    found: Option<Found>,
}

impl Tab {
    /// The elements that a locator matches now, in all frames or in one and those inside it; at most `limit` (50 by default) are
    /// returned.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for what is no locator, [`Error::StaleRef`], and those of the supervisor when the main frame does
    /// not answer.
    pub fn find(
        &self,
        locator: &str,
        frame: Option<&str>,
        limit: Option<usize>,
        deadline: Deadline,
    ) -> Result<Matches, Error> {
        self.matches_of(locator, None, frame, limit.unwrap_or(LIMIT), deadline)
    }

    fn matches_of(
        &self,
        locator: &str,
        nth: Option<i32>,
        frame: Option<&str>,
        limit: usize,
        deadline: Deadline,
    ) -> Result<Matches, Error> {
        let bad = |problem: String| Error::BadRequest { problem: format!("the locator {locator:?}: {problem}") };
        let mut steps = grammar::parse(locator).map_err(bad)?;
        steps.extend(nth.map(Step::Nth));
        let root = match frame {
            Some(frame) => self.frame_named(frame, deadline)?,
            None => self.top()?,
        };
        let mut matches = self.matches_by(&steps, &root, limit, deadline).map_err(|error| match error {
            Error::BadRequest { problem } => bad(problem),
            other => other,
        })?;
        let total = matches.len();
        matches.truncate(limit);
        self.describe(&mut matches, deadline)?;
        let top = self.top()?;
        let mut refs = self.refs.lock();
        let show = |Located { frame, doc, id, found }: Located| {
            let found = found?; // gone meanwhile
            let shown = Shown { role: found.role.clone(), name: found.name.clone() };
            let number = refs.show(Node { frame: frame.clone(), doc, id }, shown);
            Some(Match {
                reference: format!("e{number}"),
                role: found.role,
                name: found.name.chars().take(200).collect(),
                frame_id: Some(frame).filter(|frame| *frame != top),
                visible: found.visible,
            })
        };
        Ok(Matches { matches: matches.into_iter().filter_map(show).collect(), total })
    }

    /// Reads what matches are, of those that it is not known of.
    fn describe(&self, matches: &mut [Located], deadline: Deadline) -> Result<(), Error> {
        let mut unknown: Vec<&mut Located> = matches.iter_mut().filter(|located| located.found.is_none()).collect();
        for part in unknown.chunk_by_mut(|a, b| a.doc == b.doc) {
            for part in part.chunks_mut(DESCRIBED) {
                let Some((frame, doc)) = part.first().map(|first| (first.frame.clone(), first.doc.clone())) else {
                    continue;
                };
                let ids: Vec<u32> = part.iter().map(|located| located.id).collect();
                let described = self.call_in::<Vec<Option<Found>>>(&frame, &doc, "describeMatches", &ids, deadline)?;
                for (located, found) in part.iter_mut().zip(described.result) {
                    located.found = found;
                }
            }
        }
        Ok(())
    }

    fn matches_by(
        &self,
        steps: &[Step],
        root: &FrameId,
        limit: usize,
        deadline: Deadline,
    ) -> Result<Vec<Located>, Error> {
        let (frames, parents, _) = self.frames_below(root);
        let mut scopes: HashMap<FrameId, Scope> = frames.iter().map(|frame| (frame.clone(), Scope::Whole)).collect();
        let mut matches: Vec<Located> = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            matches = match step {
                Step::Nth(nth) => {
                    let count = i64::try_from(matches.len()).unwrap_or(i64::MAX);
                    let at = if *nth < 0 { count + i64::from(*nth) } else { i64::from(*nth) };
                    usize::try_from(at).ok().and_then(|at| matches.into_iter().nth(at)).into_iter().collect()
                }
                Step::Ref(reference) => {
                    let (node, shown) = self.resolve(reference)?;
                    let found = Found { role: shown.role, name: shown.name, visible: true };
                    vec![Located { frame: node.frame, doc: node.doc, id: node.id, found: Some(found) }]
                }
                Step::Match(matcher) => {
                    let describe = if index + 1 == steps.len() { limit.min(DESCRIBED) } else { 0 };
                    self.step(matcher, &frames, &scopes, describe, deadline)?
                }
            };
            if matches.is_empty() {
                break;
            }
            if index + 1 < steps.len() {
                scopes = self.scopes(&frames, &parents, &matches, deadline);
            }
        }
        Ok(matches)
    }

    /// The matches of one step, frame by frame; the first so many of each are described.
    fn step(
        &self,
        matcher: &Matcher,
        frames: &[FrameId],
        scopes: &HashMap<FrameId, Scope>,
        describe: usize,
        deadline: Deadline,
    ) -> Result<Vec<Located>, Error> {
        let asked: Vec<FrameId> = frames.iter().filter(|frame| scopes.contains_key(*frame)).cloned().collect();
        let args = |frame: &FrameId| match scopes.get(frame) {
            Some(Scope::In(ids)) => json!({ "step": matcher, "within": ids, "describe": describe }),
            _ => json!({ "step": matcher, "describe": describe }),
        };
        let answers = self.call_all::<Answer, _>(&asked, "find", args, deadline);
        let (mut matches, mut failed) = (Vec::new(), None);
        for (frame, answer) in asked.iter().zip(answers) {
            match answer {
                Ok((doc, done)) => {
                    if let Some(problem) = done.result.bad {
                        return Err(Error::BadRequest { problem });
                    }
                    let mut described = done.result.described.into_iter();
                    let located = |id| Located { frame: frame.clone(), doc: doc.clone(), id, found: described.next() };
                    matches.extend(done.result.ids.into_iter().map(located));
                }
                Err(error) if error.is_blocked_by_dialog() || asked.first() == Some(frame) => return Err(error),
                Err(error) => failed = Some(error),
            }
        }
        // What cannot be looked into may hold what is looked for.
        match failed {
            Some(error) if matches.is_empty() => Err(error),
            _ => Ok(matches),
        }
    }

    /// Where the step after some matches looks: inside of them, and in the frames inside of them.
    fn scopes(
        &self,
        frames: &[FrameId],
        parents: &HashMap<FrameId, FrameId>,
        matches: &[Located],
        deadline: Deadline,
    ) -> HashMap<FrameId, Scope> {
        let mut scopes: HashMap<FrameId, Scope> = HashMap::new();
        for Located { frame, id, .. } in matches {
            match scopes.entry(frame.clone()).or_insert_with(|| Scope::In(Vec::new())) {
                Scope::In(ids) => ids.push(*id),
                Scope::Whole => {}
            }
        }
        // Frames come after those that hold them.
        for frame in frames {
            let Some(parent) = parents.get(frame) else { continue };
            let is_inside = match scopes.get(parent) {
                None => false,
                Some(Scope::Whole) => true,
                Some(Scope::In(ids)) => self.owner(frame, deadline).ok().flatten().is_some_and(|owner| {
                    let args = json!({ "inner": owner.id, "within": ids });
                    self.call_in::<bool>(&owner.frame, &owner.doc, "isWithin", &args, deadline)
                        .is_ok_and(|done| done.result)
                }),
            };
            if is_inside {
                scopes.insert(frame.clone(), Scope::Whole);
            }
        }
        scopes
    }

    /// Waits until a locator matches, and gives the ref of the element.
    fn locate(&self, at: &Locator, deadline: Deadline) -> Result<Match, Error> {
        let locator = at.locator.as_deref().unwrap_or_default();
        let (began, mut has_looked) = (Instant::now(), false);
        loop {
            match self.matched(at, deadline) {
                Ok(Some(one)) => return Ok(one),
                Ok(None) | Err(Error::DocumentGone { .. }) if deadline.left() > ANSWER => {
                    has_looked = true;
                    pause(AGAIN.min(deadline.left()));
                }
                // The last look had too little time: what those before it saw is the better answer.
                Err(Error::Supervisor(supervisor::Error::Unresponsive { .. })) if has_looked => {
                    return Err(Error::NoneLocated { locator: locator.to_owned(), waited: began.elapsed() });
                }
                Ok(None) => return Err(Error::NoneLocated { locator: locator.to_owned(), waited: began.elapsed() }),
                Err(error) => return Err(error),
            }
        }
    }

    /// The one element that a locator matches now.
    fn matched(&self, at: &Locator, deadline: Deadline) -> Result<Option<Match>, Error> {
        let locator = at.locator.as_deref().unwrap_or_default();
        let found = self.matches_of(locator, at.nth, at.frame_id.as_deref(), REPORTED, deadline)?;
        if found.total > 1 {
            let Matches { matches, total } = found;
            let whole = grammar::whole(locator);
            return Err(Error::AmbiguousLocator { locator: locator.to_owned(), matches, total, whole });
        }
        Ok(found.matches.into_iter().next())
    }

    /// The ref of the element that is named by a ref, or by a locator, which is waited for until the deadline. `None` where
    /// neither is given.
    ///
    /// # Errors
    /// [`Error::NoneLocated`], [`Error::AmbiguousLocator`], [`Error::BadRequest`] for both a ref and a locator and for text that is
    /// not a locator, and those of [`find`](Self::find).
    pub fn ref_of(
        &self,
        reference: Option<String>,
        locator: Option<String>,
        deadline: Deadline,
    ) -> Result<Option<String>, Error> {
        let at = Locator { reference, locator, ..Locator::default() };
        Ok(self.by_ref(&at, deadline)?.into_owned().reference)
    }

    /// The ref that stands for a locator, in its place.
    pub(super) fn by_ref<'a>(&self, at: &'a Locator, deadline: Deadline) -> Result<Cow<'a, Locator>, Error> {
        let bad = |problem: &str| Err(Error::BadRequest { problem: problem.to_owned() });
        match (&at.locator, at.nth) {
            (None, None) => Ok(Cow::Borrowed(at)),
            (None, Some(_)) => bad("nth is for a locator; a selector stands for its first match"),
            (Some(_), _) if at.reference.is_some() || at.selector.is_some() => {
                bad("give one of ref, selector and locator")
            }
            (Some(_), _) => {
                let reference = Some(self.locate(at, deadline)?.reference);
                Ok(Cow::Owned(Locator { reference, ..Locator::default() }))
            }
        }
    }

    /// The action with refs in the place of its locators. Fields of a form, and what is waited for, are located later.
    pub(super) fn located<'a>(&self, act: &'a Act, deadline: Deadline) -> Result<Cow<'a, Act>, Error> {
        let mut kind = Cow::Borrowed(&act.kind);
        if let Some(at) = act.kind.locator().filter(|_| !matches!(act.kind, ActKind::Fill { .. }))
            && (at.locator.is_some() || at.nth.is_some())
        {
            let found = self.by_ref(at, deadline)?.into_owned();
            if let Some(at) = kind.to_mut().locator_mut() {
                *at = found;
            }
        }
        let one = |locator: &Option<String>, frame_id: &Option<String>| match locator {
            None => Ok(None),
            Some(_) => {
                let at = Locator { locator: locator.clone(), frame_id: frame_id.clone(), ..Locator::default() };
                self.locate(&at, deadline).map(|found| Some(found.reference))
            }
        };
        if let ActKind::Drag { start_locator, end_locator, frame_id, .. } = &act.kind
            && (start_locator.is_some() || end_locator.is_some())
        {
            let (from, to) = (one(start_locator, frame_id)?, one(end_locator, frame_id)?);
            if let ActKind::Drag { start_ref, end_ref, start_locator, .. } = kind.to_mut() {
                *start_ref = from.or(start_ref.take());
                *end_ref = to.or(end_ref.take());
                *start_locator = None; // that of the end stays: it may be needed once more
            }
        }
        if let ActKind::Evaluate { locator: locator @ Some(_), frame_id, reference, .. } = &act.kind {
            if reference.is_some() {
                return Err(Error::BadRequest { problem: "give one of ref and locator".to_owned() });
            }
            let found = one(locator, frame_id)?;
            if let ActKind::Evaluate { reference, locator, frame_id, .. } = kind.to_mut() {
                (*reference, *locator, *frame_id) = (found, None, None);
            }
        }
        Ok(match kind {
            Cow::Borrowed(_) => Cow::Borrowed(act),
            Cow::Owned(kind) => Cow::Owned(Act { kind, ..act.clone() }),
        })
    }

    /// Waits for the state of the element that a locator matches, by `wait` for its ref.
    pub(super) fn wait_located<T>(
        &self,
        wanted: &WaitFor,
        deadline: Deadline,
        wait: impl Fn(&WaitFor, Deadline) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if wanted.reference.is_some() {
            return Err(Error::BadRequest { problem: "give one of ref and locator".to_owned() });
        }
        let at = Locator {
            locator: wanted.locator.clone(),
            nth: wanted.nth,
            frame_id: wanted.frame_id.clone(),
            ..Locator::default()
        };
        let plain = WaitFor { locator: None, nth: None, state: None, ..wanted.clone() };
        let state = wanted.state.unwrap_or(State::Visible);
        let began = Instant::now();
        loop {
            let found = self.matched(&at, deadline)?;
            let is_gone = found.is_none() && matches!(state, State::Hidden | State::Gone);
            if is_gone && plain == WaitFor::default() {
                return wait(&WaitFor { time_ms: Some(0), ..plain }, deadline);
            }
            if is_gone || found.is_some() {
                let reference = found.map(|found| found.reference);
                let state = reference.as_ref().map(|_| state);
                let now = WaitFor { reference, state, ..plain.clone() };
                match wait(&now, deadline.within(SLICE)) {
                    Err(Error::Timeout { .. } | Error::StaleRef { .. } | Error::DocumentGone { .. })
                        if deadline.left() > ANSWER => {}
                    // It knows of the last attempt only, and of a ref that nobody gave.
                    Err(Error::Timeout { what, .. }) => {
                        let after_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                        let named = format!("the element {:?} in the state", at.locator.unwrap_or_default());
                        let what = match &now.reference {
                            Some(reference) => what.replace(&format!("{reference} in the state"), &named),
                            None => what,
                        };
                        return Err(Error::Timeout { what, after_ms });
                    }
                    outcome => return outcome,
                }
            }
            if deadline.left() <= ANSWER {
                let what = at.locator.unwrap_or_default();
                return Err(Error::NoneLocated { locator: what, waited: began.elapsed() });
            }
            pause(AGAIN.min(deadline.left()));
        }
    }
}
