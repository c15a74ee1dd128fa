//! Finding an element, and waiting until it can be acted on.
//!
//! The waiting is done in the page, by one call that answers when the element is ready. It is cut into
//! slices, so that a script which holds the page meanwhile is not taken for ours.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::error::Shown;
use super::super::place::Places;
use super::super::world::{Doc, Node};
use super::super::{Error, Tab};
use super::{Locator, Point};
use crate::cdp;
use crate::cdp::protocol::page::FrameId;
use crate::supervisor;
use crate::sync::Deadline;

/// How long one call waits in the page.
const SLICE: Duration = Duration::from_secs(2);
/// What such a call may take beyond.
const BEYOND: Duration = Duration::from_secs(2);
/// A page that does not answer for so long is in trouble, whatever was in the way before.
const ENOUGH: Duration = Duration::from_secs(1);
/// What is kept back of a deadline for the answer to come back in.
const ANSWER: Duration = Duration::from_millis(150);

/// What an element has to be before it is acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Needs {
    /// It receives events at some point of the viewport, which is wanted.
    pub(super) point: bool,
    /// It is rendered and has a size.
    pub(super) visible: bool,
    /// It is not disabled.
    pub(super) enabled: bool,
    /// It takes text or a choice.
    pub(super) editable: bool,
    /// It does not move.
    pub(super) stable: bool,
    /// It is scrolled into view.
    pub(super) scroll: bool,
    /// Trusted events are counted in its document from now on.
    pub(super) arm: bool,
    /// So many presses are kept from the page should they go to something else.
    pub(super) presses: u8,
}

impl Needs {
    const ALL: Self = Self {
        point: true,
        visible: true,
        enabled: true,
        editable: true,
        stable: true,
        scroll: true,
        arm: true,
        presses: 0,
    };
    /// It is there.
    pub(super) const PRESENT: Self = Self {
        point: false,
        visible: false,
        enabled: false,
        editable: false,
        stable: false,
        scroll: false,
        arm: false,
        presses: 0,
    };
    /// For a mouse button.
    pub(super) const CLICK: Self = Self { editable: false, ..Self::ALL };
    /// For the mouse over it.
    pub(super) const HOVER: Self = Self { enabled: false, ..Self::CLICK };
    /// For the mouse over it, with something dragged.
    pub(super) const DROP: Self = Self { arm: false, ..Self::HOVER };
    /// For text and choices.
    pub(super) const EDIT: Self = Self { point: false, stable: false, arm: false, ..Self::ALL };
    /// For the focus.
    pub(super) const FOCUS: Self = Self { visible: true, scroll: true, ..Self::PRESENT };
    /// For being looked at.
    pub(super) const VIEW: Self = Self { stable: true, ..Self::FOCUS };
}

/// An element that can be acted on.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::page) struct Ready {
    /// Which.
    pub(in crate::page) node: Node,
    /// Where it receives events, CSS pixels of the top viewport; when one was needed.
    pub(super) point: Option<Point>,
    /// Its role and name; empty where nothing computes them.
    pub(in crate::page) shown: Shown,
    /// Its tag, lower case.
    pub(super) tag: String,
    /// Its `type` attribute, lower case.
    pub(super) kind: String,
    /// Whether it is edited in place (`contenteditable`).
    pub(super) editable: bool,
    /// Whether the browser runs on macOS.
    pub(super) mac: bool,
    /// A script of the page was ended meanwhile.
    pub(super) rescued: bool,
}

/// What is asked of the page.
#[derive(Serialize)]
struct Ask<'a> {
    id: Option<u32>,
    selector: Option<&'a str>,
    expect: Option<&'a Shown>,
    needs: Needs,
    ms: u64,
    turn: u32,
}

/// What it answers: one of these.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    ready: Option<Found>,
    none: bool,
    gone: bool,
    bad: Option<String>,
    changed: Option<ShownNow>,
    not: Option<String>,
    covered: Option<String>,
    turn: u32,
}

#[derive(Debug, Deserialize)]
struct Found {
    id: u32,
    points: Vec<(f64, f64)>,
    size: (f64, f64),
    role: String,
    name: String,
    tag: String,
    #[serde(rename = "type")]
    kind: String,
    editable: bool,
    mac: bool,
}

#[derive(Debug, Deserialize)]
struct ShownNow {
    role: String,
    name: String,
}

/// An element as it was asked for.
enum Asked<'a> {
    Ref { reference: String, node: Node, shown: Shown },
    Selector { selector: &'a str, frame: FrameId, place: String },
}

impl Asked<'_> {
    fn frame(&self) -> &FrameId {
        match self {
            Self::Ref { node, .. } => &node.frame,
            Self::Selector { frame, .. } => frame,
        }
    }

    /// How it is spoken of.
    fn what(&self) -> String {
        match self {
            Self::Ref { reference, shown, .. } => {
                let name: String = shown.name.chars().take(60).collect();
                let name = if name.is_empty() { name } else { format!(" {name:?}") };
                format!("{reference} ({}{name})", shown.role)
            }
            Self::Selector { selector, .. } => format!("the element {selector:?}"),
        }
    }

    fn stale(&self, why: &'static str) -> Error {
        match self {
            Self::Ref { reference, .. } => Error::StaleRef { reference: reference.clone(), why },
            Self::Selector { selector, place, .. } => {
                Error::NoMatch { selector: (*selector).to_owned(), place: place.clone() }
            }
        }
    }
}

impl Tab {
    /// Waits until an element can be acted on. It is found by its ref, whose role and name are read again
    /// unless `force`, or by a selector; it is scrolled into view, and where a point is needed it receives
    /// events there, through all frames around it.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for no or two ways to find it, [`Error::BadRef`], [`Error::StaleRef`],
    /// [`Error::RefChanged`], [`Error::NoMatch`], [`Error::NotActionable`] and those of the supervisor.
    pub(super) fn ready(&self, at: &Locator, needs: Needs, force: bool, deadline: Deadline) -> Result<Ready, Error> {
        let asked = self.asked(at)?;
        let (mut turn, mut rescued, mut last) = (0, false, None);
        loop {
            // None at first, and shorter ones in the end: on a slow machine the last answer may be late, so there
            // is one before that tells what is in the way.
            let slice = if turn == 0 { Duration::ZERO } else { (deadline.left() / 2).min(SLICE) };
            let ask = ask_of(&asked, needs, force, slice, turn);
            let outcome = self.inquire(&asked, &ask, deadline.within(slice + BEYOND)).and_then(|(doc, done)| {
                rescued |= done.rescued;
                turn = done.result.turn + 1;
                self.judge(&asked, needs, (doc, done.result), rescued, deadline)
            });
            match outcome {
                Ok(Ok(ready)) => return Ok(ready),
                Ok(Err(why)) => last = Some(why),
                // Cut short by the end of the deadline: what was in the way before is the better answer.
                Err(error) if deadline.passed() && slice < ENOUGH && (is_late(&error) || ended_script(&error)) => {
                    return Err(last.unwrap_or_else(|| said(&asked, error)));
                }
                Err(error) => {
                    let ended = ended_script(&error);
                    // One that is late may only be slow: it has the whole of the deadline.
                    if !(ended || is_late(&error) || passing(&asked, &error)) || deadline.left() < ANSWER {
                        return Err(said(&asked, error));
                    }
                    rescued |= ended;
                    self.wait_for_frame(&asked, deadline);
                }
            }
            if deadline.left() <= ANSWER {
                return Err(last.unwrap_or_else(|| asked.stale("it was not there any more")));
            }
        }
    }

    /// What an answer comes to: the element, or why it is not ready yet. What cannot become better is
    /// an error.
    fn judge(
        &self,
        asked: &Asked<'_>,
        needs: Needs,
        (doc, answer): (Doc, Answer),
        rescued: bool,
        deadline: Deadline,
    ) -> Result<Result<Ready, Error>, Error> {
        if answer.gone {
            return Err(asked.stale("its element is not in the document any more"));
        }
        if let Some(problem) = answer.bad {
            return Err(Error::BadRequest { problem: format!("the selector is not valid CSS: {problem}") });
        }
        if let (Some(now), Asked::Ref { reference, shown, .. }) = (answer.changed, asked) {
            let now = Shown { role: now.role, name: now.name };
            return Err(Error::RefChanged { reference: reference.clone(), was: shown.clone(), now });
        }
        let Some(found) = answer.ready else {
            let not = |reason| Error::NotActionable { what: asked.what(), reason, covered_by: answer.covered };
            return Ok(Err(answer.not.map_or_else(|| asked.stale("it is gone"), not)));
        };
        let node = Node { frame: asked.frame().clone(), doc, id: found.id };
        let point = if found.points.is_empty() {
            None
        } else {
            match self.lift(
                &node.frame,
                Places { points: found.points, size: found.size, hit: needs.point, presses: needs.presses },
                deadline,
            )? {
                Ok(point) => needs.point.then_some(point),
                Err(barred) => {
                    let (reason, covered_by) = (barred.reason, barred.covered_by);
                    return Ok(Err(Error::NotActionable { what: asked.what(), reason, covered_by }));
                }
            }
        };
        let shown = Shown { role: found.role, name: found.name };
        let (tag, kind, editable, mac) = (found.tag, found.kind, found.editable, found.mac);
        Ok(Ok(Ready { node, point, shown, tag, kind, editable, mac, rescued }))
    }

    /// An element as it is, without waiting for anything else of it.
    pub(in crate::page) fn present(&self, at: &Locator, deadline: Deadline) -> Result<Ready, Error> {
        self.ready(at, Needs::PRESENT, true, deadline)
    }

    fn asked<'a>(&self, at: &'a Locator) -> Result<Asked<'a>, Error> {
        let bad = |problem: &str| Error::BadRequest { problem: problem.to_owned() };
        match (&at.reference, &at.selector) {
            (Some(_), Some(_)) => Err(bad("a ref and a selector were given; give one of them")),
            (None, None) => Err(bad("no element was named; give a ref, a selector or a locator")),
            (Some(reference), None) => {
                let (node, shown) = self.resolve(reference)?;
                let digits = reference.trim_start_matches(['@', 'e']);
                Ok(Asked::Ref { reference: format!("e{digits}"), node, shown })
            }
            (None, Some(selector)) => {
                let frame = match &at.frame_id {
                    Some(id) => FrameId::from(id.as_str()),
                    None => self.top()?,
                };
                let place =
                    at.frame_id.as_ref().map_or_else(|| "the main frame".to_owned(), |id| format!("frame {id}"));
                Ok(Asked::Selector { selector, frame, place })
            }
        }
    }

    fn inquire(
        &self,
        asked: &Asked<'_>,
        ask: &Ask<'_>,
        deadline: Deadline,
    ) -> Result<(Doc, supervisor::Done<Answer>), Error> {
        match asked {
            Asked::Ref { node, .. } => {
                let done = self.call_in(&node.frame, &node.doc, "ready", ask, deadline)?;
                Ok((node.doc.clone(), done))
            }
            Asked::Selector { frame, .. } => {
                let doc = self.document(frame, deadline)?;
                let done = self.call_in(frame, &doc, "ready", ask, deadline)?;
                Ok((doc, done))
            }
        }
    }

    /// A frame that changes its process has no session for a moment.
    fn wait_for_frame(&self, asked: &Asked<'_>, deadline: Deadline) {
        let frame = asked.frame().as_str();
        let there = |now: &supervisor::View| now.frame(frame).is_none_or(|frame| frame.session_id.is_some());
        self.supervisor.wait_until(deadline.within(SLICE), there);
    }
}

fn ask_of<'a>(asked: &'a Asked<'_>, needs: Needs, force: bool, slice: Duration, turn: u32) -> Ask<'a> {
    let ms = u64::try_from(slice.as_millis()).unwrap_or(0);
    match asked {
        Asked::Ref { node, shown, .. } => {
            let expect = (!force).then_some(shown);
            Ask { id: Some(node.id), selector: None, expect, needs, ms, turn }
        }
        Asked::Selector { selector, .. } => Ask { id: None, selector: Some(selector), expect: None, needs, ms, turn },
    }
}

/// The page did not answer because a script of it held it, which was ended.
fn ended_script(error: &Error) -> bool {
    matches!(error, Error::Supervisor(supervisor::Error::ScriptTimeout { .. }))
}

/// The answer did not come in time.
fn is_late(error: &Error) -> bool {
    use supervisor::Error as E;
    matches!(error, Error::Supervisor(E::Unresponsive { .. } | E::Cdp(cdp::Error::Timeout { .. })))
}

/// Whether it may be otherwise in a moment: the frame goes on to another document.
fn passing(asked: &Asked<'_>, error: &Error) -> bool {
    let by_selector = matches!(asked, Asked::Selector { .. });
    match error {
        Error::DocumentGone { .. } => by_selector,
        Error::Supervisor(supervisor::Error::Cdp(cdp::Error::SessionGone { .. })) => true,
        Error::Supervisor(supervisor::Error::FrameDetached { .. } | supervisor::Error::Navigating { .. }) => true,
        _ => false,
    }
}

/// The error in the caller's words.
fn said(asked: &Asked<'_>, error: Error) -> Error {
    let by_ref = matches!(asked, Asked::Ref { .. });
    match error {
        Error::DocumentGone { .. } if by_ref => asked.stale("its frame shows another document"),
        Error::Supervisor(supervisor::Error::FrameNotFound { .. } | supervisor::Error::FrameDetached { .. })
            if by_ref =>
        {
            asked.stale("its frame is gone")
        }
        other => other,
    }
}
