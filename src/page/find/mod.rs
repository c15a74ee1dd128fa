//! Locators: elements by role and name, text, label, placeholder, test id or CSS, over all frames and shadow roots.
//!
//! | file | contents |
//! |---|---|
//! | `grammar` | parsing locators |
//! | `get` | reading one element |
//!
//! Each step is searched in all frames at once, by the roles and names of snapshots. A step finds elements inside the
//! matches of the step before it, including those in frames inside them.

mod get;
mod grammar;

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;

pub use get::{ElementBox, ElementProperty, ElementState, ElementValue};
pub(super) use grammar::is_locator;
use grammar::{Matcher, Step};

use super::act::{Act, ActKind, Locator, STUCK_AFTER, State, WaitFor, is_late};
use super::error::Shown;
use super::world::{Doc, Node};
use super::{Error, Tab};
use crate::cdp::protocol::page::FrameId;
use crate::sync::{Deadline, pause};

/// Maximum number of matches reported for an ambiguous locator.
const MAX_REPORTED: usize = 10;
/// Default number of matches returned.
const DEFAULT_LIMIT: usize = 50;
/// Matches described by one in-page call.
const DESCRIBE_AT_ONCE: usize = 500;
/// How often a locator without a match is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// How long to wait for a state of a located element before it is located again.
const WAIT_SLICE: Duration = Duration::from_millis(500);
/// Time reserved before the deadline for the answer.
const RESERVED: Duration = Duration::from_millis(100);

/// Maximum number of elements that an error suggests.
const MAX_NEAR: usize = 3;
/// Time for counting the matches of a locator whose nth does not exist.
const COUNT_TIME: Duration = Duration::from_millis(500);
/// Time for finding what comes near a locator without a match.
const NEAR_TIME: Duration = Duration::from_secs(2);

/// An element that matches a locator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Match {
    /// The ref, as in a snapshot.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The ARIA role, such as `button`.
    pub role: String,
    /// The accessible name, at most 200 characters. Untrusted.
    pub name: String,
    /// The visible text of an element without a name, at most 80 characters. Untrusted.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub text: String,
    /// The frame; `None` for the top frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub frame_id: Option<FrameId>,
    /// Whether it is rendered and has a size.
    pub visible: bool,
}

/// The matches of a locator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Matches {
    /// The matches, in document order, frame by frame.
    pub matches: Vec<Match>,
    /// The number of all matches.
    pub total: usize,
}

/// An element as the page script describes it.
#[derive(Debug, Deserialize)]
struct Description {
    role: String,
    name: String,
    #[serde(default)]
    text: String,
    visible: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StepReply {
    /// Numbers of all matches.
    ids: Vec<u32>,
    /// Descriptions of the first matches.
    described: Vec<Description>,
    bad: Option<String>,
}

/// Where the next step searches in a frame.
#[derive(Debug, Clone)]
enum Scope {
    Whole,
    In(Vec<u32>),
}

struct Located {
    frame: FrameId,
    doc: Doc,
    id: u32,
    /// Role and name, where they have been read.
    found: Option<Description>,
}

impl Tab {
    /// The elements that match a locator now, in all frames, or in one frame and those inside it. At most `limit`
    /// matches are returned (default 50).
    ///
    /// # Errors
    /// [`Error::BadRequest`] for an invalid locator, [`Error::StaleRef`], and those of the supervisor when the top
    /// frame does not answer.
    pub fn find(
        &self,
        locator: &str,
        frame: Option<&str>,
        limit: Option<usize>,
        deadline: Deadline<'_>,
    ) -> Result<Matches, Error> {
        self.matches_of(locator, None, frame, limit.unwrap_or(DEFAULT_LIMIT), deadline)
    }

    fn matches_of(
        &self,
        locator: &str,
        nth: Option<i32>,
        frame: Option<&str>,
        limit: usize,
        deadline: Deadline<'_>,
    ) -> Result<Matches, Error> {
        let bad = |problem: String| Error::BadRequest { problem: format!("the locator {locator:?}: {problem}") };
        let mut steps = grammar::parse(locator).map_err(bad)?;
        steps.extend(nth.map(Step::Nth));
        let root = match frame {
            Some(frame) => self.frame_named(frame, deadline)?,
            None => {
                self.arrived(deadline)?;
                self.top()?
            }
        };
        let mut matches = self.matches_by(&steps, &root, limit, deadline).map_err(|error| match error {
            Error::BadRequest { problem } => bad(problem),
            other => other,
        })?;
        let total = matches.len();
        matches.truncate(limit);
        self.describe(&mut matches, deadline)?;
        Ok(Matches { matches: self.with_refs(matches)?, total })
    }

    /// Matches with refs, without those that were removed meanwhile.
    fn with_refs(&self, matches: Vec<Located>) -> Result<Vec<Match>, Error> {
        let top = self.top()?;
        let mut refs = self.refs.lock();
        let show = |Located { frame, doc, id, found }: Located| {
            let found = found?; // removed meanwhile
            let shown = Shown::new(&*found.role, &*found.name);
            let number = refs.show(Node { frame: frame.clone(), doc, id }, shown);
            Some(Match {
                reference: format!("e{number}"),
                role: found.role,
                name: found.name.chars().take(200).collect(),
                text: found.text,
                frame_id: Some(frame).filter(|frame| *frame != top),
                visible: found.visible,
            })
        };
        Ok(matches.into_iter().filter_map(show).collect())
    }

    /// Reads role and name of matches that have not been described yet.
    fn describe(&self, matches: &mut [Located], deadline: Deadline<'_>) -> Result<(), Error> {
        let mut unknown: Vec<&mut Located> = matches.iter_mut().filter(|located| located.found.is_none()).collect();
        for part in unknown.chunk_by_mut(|a, b| a.doc == b.doc) {
            for part in part.chunks_mut(DESCRIBE_AT_ONCE) {
                let Some((frame, doc)) = part.first().map(|first| (first.frame.clone(), first.doc.clone())) else {
                    continue;
                };
                let ids: Vec<u32> = part.iter().map(|located| located.id).collect();
                let described =
                    self.call_in::<Vec<Option<Description>>>(&frame, &doc, "describeMatches", &ids, deadline)?;
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
        deadline: Deadline<'_>,
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
                    let found = Description { role: shown.role, name: shown.name, text: String::new(), visible: true };
                    vec![Located { frame: node.frame, doc: node.doc, id: node.id, found: Some(found) }]
                }
                Step::Match(matcher) => {
                    let describe = if index + 1 == steps.len() { limit.min(DESCRIBE_AT_ONCE) } else { 0 };
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

    /// The matches of one step, frame by frame; the first `describe` of each are described.
    fn step(
        &self,
        matcher: &Matcher,
        frames: &[FrameId],
        scopes: &HashMap<FrameId, Scope>,
        describe: usize,
        deadline: Deadline<'_>,
    ) -> Result<Vec<Located>, Error> {
        let queried_frames: Vec<FrameId> = frames.iter().filter(|frame| scopes.contains_key(*frame)).cloned().collect();
        let args = |frame: &FrameId| match scopes.get(frame) {
            Some(Scope::In(ids)) => json!({ "step": matcher, "within": ids, "describe": describe }),
            _ => json!({ "step": matcher, "describe": describe }),
        };
        let answers = self.call_all::<StepReply, _>(&queried_frames, "find", args, deadline);
        let (mut matches, mut failed) = (Vec::new(), None);
        for (frame, answer) in queried_frames.iter().zip(answers) {
            match answer {
                Ok((doc, done)) => {
                    if done.result.bad.is_some() {
                        let problem = format!("the selector {:?} is not valid CSS", matcher.text);
                        return Err(Error::BadRequest { problem });
                    }
                    let mut described = done.result.described.into_iter();
                    let located = |id| Located { frame: frame.clone(), doc: doc.clone(), id, found: described.next() };
                    matches.extend(done.result.ids.into_iter().map(located));
                }
                Err(error) if error.is_blocked_by_dialog() || queried_frames.first() == Some(frame) => {
                    return Err(error);
                }
                Err(error) => failed = Some(error),
            }
        }
        // A frame that cannot be searched may hold the match.
        match failed {
            Some(error) if matches.is_empty() => Err(error),
            _ => Ok(matches),
        }
    }

    /// Where the step after some matches searches: inside them, and in the frames inside them.
    fn scopes(
        &self,
        frames: &[FrameId],
        parents: &HashMap<FrameId, FrameId>,
        matches: &[Located],
        deadline: Deadline<'_>,
    ) -> HashMap<FrameId, Scope> {
        let mut scopes: HashMap<FrameId, Scope> = HashMap::new();
        for Located { frame, id, .. } in matches {
            match scopes.entry(frame.clone()).or_insert_with(|| Scope::In(Vec::new())) {
                Scope::In(ids) => ids.push(*id),
                Scope::Whole => {}
            }
        }
        // Frames follow the frames that hold them.
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

    /// Waits until a locator matches exactly one element.
    fn locate(&self, at: &Locator, deadline: Deadline<'_>) -> Result<Match, Error> {
        let locator = at.locator.as_deref().unwrap_or_default();
        let (began, mut has_looked) = (Instant::now(), false);
        loop {
            let asked = Instant::now();
            match self.matched(at, deadline) {
                Ok(Some(one)) => return Ok(one),
                Ok(None) | Err(Error::DocumentGone { .. }) if deadline.left() > RESERVED => {
                    has_looked = true;
                    pause(RETRY_INTERVAL.min(deadline.left()));
                }
                // The last attempt had too little time: the result of earlier ones is the better answer.
                Err(error) if has_looked && is_late(&error) && asked.elapsed() < STUCK_AFTER => {
                    return Err(Error::NoneLocated {
                        locator: locator.to_owned(),
                        waited: began.elapsed(),
                        near: Vec::new(),
                    });
                }
                Ok(None) => return Err(self.none_located(at, began.elapsed(), deadline)),
                Err(error) => return Err(error),
            }
        }
    }

    /// The error for a locator without a match: an nth beyond the matches is named. Takes a moment beyond the deadline.
    fn none_located(&self, at: &Locator, waited: Duration, deadline: Deadline<'_>) -> Error {
        let locator = at.locator.clone().unwrap_or_default();
        let named = match at.nth {
            Some(nth) => Some((locator.clone(), nth)),
            None => grammar::without_nth(&locator),
        };
        if let Some((before, nth)) = named
            && let Ok(found) = self.matches_of(&before, None, at.frame_id.as_deref(), 0, deadline.renewed(COUNT_TIME))
            && found.total > 0
        {
            return Error::NoNthMatch { locator: before, nth, total: found.total };
        }
        let near = grammar::sought(&locator).map(|text| self.near(&text, at, deadline.renewed(NEAR_TIME)));
        Error::NoneLocated { locator, waited, near: near.unwrap_or_default() }
    }

    /// Elements of another role, or with another text, that come near a text that was sought.
    pub(super) fn near(&self, text: &str, at: &Locator, deadline: Deadline<'_>) -> Vec<Match> {
        let root = at.frame_id.as_deref().map_or_else(|| self.top(), |frame| self.frame_named(frame, deadline));
        let Ok(root) = root else { return Vec::new() };
        let (frames, ..) = self.frames_below(&root);
        let answers = self.call_all::<StepReply, _>(&frames, "near", |_| json!({ "text": text }), deadline);
        let mut near = Vec::new();
        for (frame, answer) in frames.into_iter().zip(answers) {
            let Ok((doc, done)) = answer else { continue };
            for (id, found) in done.result.ids.into_iter().zip(done.result.described) {
                near.push(Located { frame: frame.clone(), doc: doc.clone(), id, found: Some(found) });
            }
        }
        near.truncate(MAX_NEAR);
        self.with_refs(near).unwrap_or_default()
    }

    /// The one element that matches a locator now.
    fn matched(&self, at: &Locator, deadline: Deadline<'_>) -> Result<Option<Match>, Error> {
        let locator = at.locator.as_deref().unwrap_or_default();
        let found = self.matches_of(locator, at.nth, at.frame_id.as_deref(), MAX_REPORTED, deadline)?;
        if found.total > 1 {
            let Matches { matches, total } = found;
            let whole = grammar::whole(locator);
            return Err(Error::AmbiguousLocator { locator: locator.to_owned(), matches, total, whole });
        }
        Ok(found.matches.into_iter().next())
    }

    /// The ref of an element given by ref or locator; `None` if neither is given. Waits until the locator matches, at
    /// most until the deadline.
    ///
    /// # Errors
    /// [`Error::NoneLocated`], [`Error::AmbiguousLocator`], [`Error::BadRequest`] for both a ref and a locator and for
    /// an invalid locator, and those of [`find`](Self::find).
    pub fn ref_of(
        &self,
        reference: Option<String>,
        locator: Option<String>,
        deadline: Deadline<'_>,
    ) -> Result<Option<String>, Error> {
        let at = Locator { reference, locator, ..Locator::default() };
        Ok(self.by_ref(&at, deadline)?.into_owned().reference)
    }

    /// Replaces a locator by the ref of its element.
    pub(super) fn by_ref<'a>(&self, at: &'a Locator, deadline: Deadline<'_>) -> Result<Cow<'a, Locator>, Error> {
        let bad = |problem: &str| Err(Error::BadRequest { problem: problem.to_owned() });
        match (&at.locator, at.nth) {
            (None, None) => Ok(Cow::Borrowed(at)),
            (None, Some(_)) => bad("nth needs a locator: a ref names one element, and a selector uses its first match"),
            (Some(_), _) if at.reference.is_some() || at.selector.is_some() => {
                bad("give only one of ref, selector and locator")
            }
            (Some(_), _) => {
                let reference = Some(self.locate(at, deadline)?.reference);
                Ok(Cow::Owned(Locator { reference, ..Locator::default() }))
            }
        }
    }

    /// The action with refs in place of its locators. Fields of a form and conditions of `wait` are located later.
    pub(super) fn located<'a>(&self, act: &'a Act, deadline: Deadline<'_>) -> Result<Cow<'a, Act>, Error> {
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
                *start_locator = None; // that of the target stays: it may be needed again
            }
        }
        if let ActKind::Evaluate { locator: locator @ Some(_), frame_id, reference, .. } = &act.kind {
            if reference.is_some() {
                return Err(Error::BadRequest { problem: "give only one of ref and locator".to_owned() });
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

    /// Waits for a state of the element that matches a locator, with `wait` for its ref.
    pub(super) fn wait_located<T>(
        &self,
        condition: &WaitFor,
        deadline: Deadline<'_>,
        wait: impl Fn(&WaitFor, Deadline<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if condition.reference.is_some() {
            return Err(Error::BadRequest { problem: "give only one of ref and locator".to_owned() });
        }
        let at = Locator {
            locator: condition.locator.clone(),
            nth: condition.nth,
            frame_id: condition.frame_id.clone(),
            ..Locator::default()
        };
        let plain = WaitFor { locator: None, nth: None, state: None, ..condition.clone() };
        let state = condition.state.unwrap_or(State::Visible);
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
                match wait(&now, deadline.within(WAIT_SLICE)) {
                    Err(Error::Timeout { .. } | Error::StaleRef { .. } | Error::DocumentGone { .. })
                        if deadline.left() > RESERVED => {}
                    // The error names the last attempt only, and a ref that the caller does not know.
                    Err(Error::Timeout { what, .. }) => {
                        let after_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                        let named = format!("the element {:?} to be", at.locator.unwrap_or_default());
                        let what = match &now.reference {
                            Some(reference) => what.replace(&format!("{reference} to be"), &named),
                            None => what,
                        };
                        return Err(Error::Timeout { what, after_ms });
                    }
                    outcome => return outcome,
                }
            }
            if deadline.left() <= RESERVED {
                let what = at.locator.unwrap_or_default();
                return Err(Error::NoneLocated { locator: what, waited: began.elapsed(), near: Vec::new() });
            }
            pause(RETRY_INTERVAL.min(deadline.left()));
        }
    }
}
