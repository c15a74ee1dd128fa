//! Finding an element and waiting until it is actionable.
//!
//! The page itself waits: one call returns when the element is ready. It is cut into slices, so that a script that
//! blocks the page meanwhile is not mistaken for this one.
//!
//! The call that returns the element also compares its role and name with the snapshot, so nothing can change in
//! between. An element is stable if its position is the same as one frame earlier; an animated one if it is the same
//! over frames between which the time of the animation advances. A document that has been observed for a frame without
//! a change, a scroll or an animation needs no such wait.
//!
//! - If the centre of an element is covered, other points are tried. Hit tests follow the flat tree.
//! - A visually hidden checkbox, radio button or file input is clicked through its label; a tiny field of an editor
//!   through what is painted around it.
//! - A hidden checkbox or radio button without a label is clicked through what is painted beside it in the element with
//!   the click listener for that control alone. The same holds for a transparent field under what such an element
//!   paints over it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::super::error::{Shown, ShownNow};
use super::super::frame_geometry::FramePoints;
use super::super::input::{Buttons, moved};
use super::super::world::{Doc, Node};
use super::super::{Error, Tab};
use super::{Locator, Point};
use crate::cdp;
use crate::cdp::protocol::page::FrameId;
use crate::supervisor;
use crate::sync::Deadline;

/// How long one call waits in the page.
const WAIT_SLICE: Duration = Duration::from_secs(2);
/// How long moving the mouse over a covered element may take.
const NUDGE: Duration = Duration::from_millis(500);
/// Additional time for the answer of such a call.
const ANSWER_TIME: Duration = Duration::from_secs(2);
/// A page that does not respond for this long is reported as such, whatever was in the way before.
pub(crate) const STUCK_AFTER: Duration = Duration::from_secs(1);
/// Time reserved before the deadline for the answer to arrive.
const RESERVED: Duration = Duration::from_millis(150);

/// The requirements that an action has on its element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Needs {
    /// It receives events at a point of the viewport, and the caller needs that point.
    pub(super) point: bool,
    /// It is rendered and has a size.
    pub(super) visible: bool,
    /// It is not disabled.
    pub(super) enabled: bool,
    /// It accepts text or a choice.
    pub(super) editable: bool,
    /// It does not move.
    pub(super) stable: bool,
    /// It is scrolled into view.
    pub(super) scroll: bool,
    /// Trusted events are counted in its document from now on.
    pub(super) arm: bool,
    /// The number of presses that are blocked if they hit another element.
    pub(super) presses: u8,
    /// The caller needs its place, whether or not it receives events there.
    pub(super) place: bool,
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
        place: false,
    };
    /// No requirement but to exist.
    pub(super) const PRESENT: Self = Self {
        point: false,
        visible: false,
        enabled: false,
        editable: false,
        stable: false,
        scroll: false,
        arm: false,
        presses: 0,
        place: false,
    };
    /// To be clicked.
    pub(super) const CLICK: Self = Self { editable: false, ..Self::ALL };
    /// To be hovered.
    pub(super) const HOVER: Self = Self { enabled: false, ..Self::CLICK };
    /// To have something dropped on it.
    pub(super) const DROP: Self = Self { arm: false, ..Self::HOVER };
    /// To be where something is dropped, also if it receives no events while something is dragged.
    pub(super) const PLACE: Self = Self { visible: true, scroll: true, place: true, ..Self::PRESENT };
    /// To receive text or a choice.
    pub(super) const EDIT: Self = Self { point: false, stable: false, arm: false, ..Self::ALL };
    /// To receive the focus.
    pub(super) const FOCUS: Self = Self { visible: true, scroll: true, ..Self::PRESENT };
    /// To be visible to a person.
    pub(super) const VIEW: Self = Self { stable: true, ..Self::FOCUS };
}

/// An element that fulfils the requirements.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::page) struct Ready {
    /// The DOM node.
    pub(in crate::page) node: Node,
    /// A point where it receives events, in CSS pixels of the top viewport; only when one was required.
    pub(super) point: Option<Point>,
    /// Role and name; empty where the page script does not compute them.
    pub(in crate::page) shown: Shown,
    /// The tag name, lower case.
    pub(super) tag: String,
    /// The `type` attribute, lower case.
    pub(super) kind: String,
    /// Whether its content is edited in place (`contenteditable`).
    pub(super) editable: bool,
    /// Whether the browser runs on macOS.
    pub(super) mac: bool,
    /// If it was confirmed after a preview, the identity that it must still have.
    pub(super) bound: Option<Arc<str>>,
    /// Whether a script of the page was terminated meanwhile.
    pub(super) rescued: bool,
}

/// Arguments of the in-page call `ready`.
#[derive(Serialize)]
struct ReadyArgs<'a> {
    id: Option<u32>,
    selector: Option<&'a str>,
    expect: Option<&'a Shown>,
    identity: Option<Arc<str>>,
    needs: Needs,
    ms: u64,
    turn: u32,
}

/// The answer of the in-page call: one of these is set.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReadyReply {
    ready: Option<ReadyElement>,
    none: bool,
    gone: bool,
    bad: Option<String>,
    changed: Option<ShownNow>,
    /// It is no longer what it is bound to.
    another: bool,
    not: Option<String>,
    covered: Option<String>,
    /// A point at which it is covered, and the size of the viewport of its frame.
    at: Option<(f64, f64)>,
    size: (f64, f64),
    /// It is an option of a closed list.
    option: Option<OptionOf>,
    turn: u32,
}

/// The closed list of an option, and the label of the option.
#[derive(Debug, Deserialize)]
struct OptionOf {
    list: u32,
    role: String,
    name: String,
    value: String,
}

#[derive(Debug, Deserialize)]
struct ReadyElement {
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

/// The element as the caller addressed it.
enum Requested<'a> {
    Ref { reference: String, node: Node, shown: Shown, identity: Option<Arc<str>> },
    Selector { selector: &'a str, frame: FrameId, place: String },
}

impl Requested<'_> {
    fn frame(&self) -> &FrameId {
        match self {
            Self::Ref { node, .. } => &node.frame,
            Self::Selector { frame, .. } => frame,
        }
    }

    /// The element in error messages.
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
    /// Waits until an element fulfils `needs`. It is addressed by a ref, whose role and name are checked again unless
    /// `force`, or by a selector. It is scrolled into view; where a point is needed, it receives events there through
    /// all frames around it.
    ///
    /// # Errors
    /// [`Error::BadRequest`] unless exactly one of ref and selector is given, [`Error::BadRef`], [`Error::StaleRef`],
    /// [`Error::RefChanged`], [`Error::NoMatch`], [`Error::NotActionable`] and those of the supervisor.
    pub(super) fn ready(
        &self,
        at: &Locator,
        needs: Needs,
        force: bool,
        deadline: Deadline<'_>,
    ) -> Result<Ready, Error> {
        let asked = self.asked(at)?;
        let (mut turn, mut rescued, mut last, mut is_nudged) = (0, false, None, false);
        let began = Instant::now();
        loop {
            // The first call does not wait; later ones wait for half of the remaining time at most: on a slow machine
            // the last answer may be late, so the one before it must say what is in the way.
            let slice = if turn == 0 { Duration::ZERO } else { (deadline.left() / 2).min(WAIT_SLICE) };
            let ask = args_of(&asked, needs, force, slice, turn);
            let mut covered = None;
            let outcome =
                self.call_ready(&asked, &ask, deadline.within(slice + ANSWER_TIME)).and_then(|(doc, done)| {
                    rescued |= done.rescued;
                    turn = done.result.turn + 1;
                    covered = done.result.at.map(|at| (at, done.result.size));
                    self.evaluate_reply(&asked, needs, (doc, done.result), rescued, deadline)
                });
            match outcome {
                Ok(Ok(ready)) => return Ok(ready),
                Ok(Err(mut why)) => {
                    if let Error::NotActionable { waited, .. } = &mut why {
                        *waited = Some(began.elapsed());
                    }
                    last = Some(why);
                    // What covers it may go when the mouse moves.
                    if let Some((at, size)) = covered.filter(|_| !std::mem::replace(&mut is_nudged, true)) {
                        self.nudge(asked.frame(), at, size, deadline)?;
                    }
                }
                // Cut short by the deadline: the earlier reason is the better answer.
                Err(error) if deadline.passed() && slice < STUCK_AFTER && (is_late(&error) || ended_script(&error)) => {
                    return Err(last.unwrap_or_else(|| in_terms_of(&asked, error)));
                }
                Err(error) => {
                    let ended = ended_script(&error);
                    // A late answer may only be slow: keep trying until the deadline.
                    if !(ended || is_late(&error) || may_pass(&asked, &error)) || deadline.left() < RESERVED {
                        return Err(in_terms_of(&asked, error));
                    }
                    rescued |= ended;
                    self.wait_for_frame(&asked, deadline);
                }
            }
            if deadline.left() <= RESERVED {
                return Err(last.unwrap_or_else(|| asked.stale("it was removed from the page")));
            }
        }
    }

    /// Moves the mouse over a point of a frame.
    fn nudge(&self, frame: &FrameId, at: (f64, f64), size: (f64, f64), deadline: Deadline<'_>) -> Result<(), Error> {
        let places = FramePoints { points: vec![at], size, hit: false, presses: 0 };
        if let Ok(point) = self.lift(frame, places, deadline)? {
            // What is dragged stays where it is.
            if self.mouse.lock().buttons == Buttons::default() {
                let from = Point { x: point.x - 3.0, y: point.y - 3.0 };
                let moves = vec![moved(from, Buttons::default(), 0), moved(point, Buttons::default(), 0)];
                self.send_mouse(moves, deadline.within(NUDGE))?;
            }
        }
        Ok(())
    }

    /// Turns an answer into the element, or into the reason why it is not ready yet. What waiting cannot change is an
    /// error.
    fn evaluate_reply(
        &self,
        requested: &Requested<'_>,
        needs: Needs,
        (doc, answer): (Doc, ReadyReply),
        rescued: bool,
        deadline: Deadline<'_>,
    ) -> Result<Result<Ready, Error>, Error> {
        if answer.gone {
            return Err(requested.stale("its element was removed from the document"));
        }
        if answer.another {
            return Err(requested.stale("it has changed since the preview, or now belongs or leads to something else"));
        }
        if let Some(problem) = answer.bad {
            let shown = match requested {
                Requested::Selector { selector, .. } => selector.chars().take(200).collect(),
                Requested::Ref { .. } => problem,
            };
            return Err(Error::BadRequest { problem: format!("the selector {shown:?} is not valid CSS") });
        }
        if let (Some(now), Requested::Ref { reference, shown, .. }) = (answer.changed, requested) {
            return Err(now.of(reference, shown));
        }
        if let Some(option) = answer.option {
            let list = Node { frame: requested.frame().clone(), doc, id: option.list };
            let number = self.refs.lock().reserve(list, Shown::new(option.role, option.name));
            let value: String = option.value.chars().take(60).collect();
            let reason = format!("it is an option of a closed list; use select on e{number} with the value {value:?}");
            return Err(Error::NotActionable { what: requested.what(), reason, covered_by: None, waited: None });
        }
        let Some(found) = answer.ready else {
            let not = |reason| {
                let (what, covered_by) = (requested.what(), answer.covered);
                Error::NotActionable { what, reason, covered_by, waited: None }
            };
            return Ok(Err(answer.not.map_or_else(|| requested.stale("it was removed from the page"), not)));
        };
        let node = Node { frame: requested.frame().clone(), doc, id: found.id };
        let point = if found.points.is_empty() {
            None
        } else {
            match self.lift(
                &node.frame,
                FramePoints { points: found.points, size: found.size, hit: needs.point, presses: needs.presses },
                deadline,
            )? {
                Ok(point) => (needs.point || needs.place).then_some(point),
                Err(obstruction) => {
                    let (reason, covered_by) = (obstruction.reason, obstruction.covered_by);
                    return Ok(Err(Error::NotActionable { what: requested.what(), reason, covered_by, waited: None }));
                }
            }
        };
        let shown = Shown::new(found.role, found.name);
        let (tag, kind, editable, mac) = (found.tag, found.kind, found.editable, found.mac);
        let bound = match &requested {
            Requested::Ref { identity, .. } => identity.clone(),
            Requested::Selector { .. } => None,
        };
        Ok(Ok(Ready { node, point, shown, tag, kind, editable, mac, bound, rescued }))
    }

    /// An element as it is now, without waiting for any requirement.
    pub(in crate::page) fn present(&self, at: &Locator, deadline: Deadline<'_>) -> Result<Ready, Error> {
        self.ready(at, Needs::PRESENT, true, deadline)
    }

    fn asked<'a>(&self, at: &'a Locator) -> Result<Requested<'a>, Error> {
        let bad = |problem: &str| Error::BadRequest { problem: problem.to_owned() };
        match (&at.reference, &at.selector) {
            (Some(_), Some(_)) => Err(bad("both a ref and a selector were given; give only one of them")),
            (None, None) => Err(bad("no element was given; give a ref, a selector or a locator")),
            (Some(reference), None) => {
                let (node, shown) = self.resolve(reference)?;
                let digits = reference.trim_start_matches(['@', 'e']);
                let identity = self.refs.lock().bound(&node);
                Ok(Requested::Ref { reference: format!("e{digits}"), node, shown, identity })
            }
            (None, Some(selector)) => {
                let frame = match &at.frame_id {
                    Some(id) => FrameId::from(id.as_str()),
                    None => self.top()?,
                };
                let place =
                    at.frame_id.as_ref().map_or_else(|| "the main frame".to_owned(), |id| format!("frame {id}"));
                Ok(Requested::Selector { selector, frame, place })
            }
        }
    }

    fn call_ready(
        &self,
        asked: &Requested<'_>,
        ask: &ReadyArgs<'_>,
        deadline: Deadline<'_>,
    ) -> Result<(Doc, supervisor::Done<ReadyReply>), Error> {
        match asked {
            Requested::Ref { node, .. } => {
                let done = self.call_in(&node.frame, &node.doc, "ready", ask, deadline)?;
                Ok((node.doc.clone(), done))
            }
            Requested::Selector { frame, .. } => {
                let doc = self.document(frame, deadline)?;
                let done = self.call_in(frame, &doc, "ready", ask, deadline)?;
                Ok((doc, done))
            }
        }
    }

    /// A frame that moves to another process has no session for a moment.
    fn wait_for_frame(&self, asked: &Requested<'_>, deadline: Deadline<'_>) {
        let frame = asked.frame().as_str();
        let there = |now: &supervisor::View| now.frame(frame).is_none_or(|frame| frame.session_id.is_some());
        self.supervisor.wait_until(deadline.within(WAIT_SLICE), there);
    }
}

fn args_of<'a>(asked: &'a Requested<'_>, needs: Needs, force: bool, slice: Duration, turn: u32) -> ReadyArgs<'a> {
    let ms = u64::try_from(slice.as_millis()).unwrap_or(0);
    match asked {
        Requested::Ref { node, shown, identity, .. } => {
            let expect = (!force).then_some(shown);
            ReadyArgs { id: Some(node.id), selector: None, expect, identity: identity.clone(), needs, ms, turn }
        }
        Requested::Selector { selector, .. } => {
            ReadyArgs { id: None, selector: Some(selector), expect: None, identity: None, needs, ms, turn }
        }
    }
}

/// The page did not respond because of a script, which was terminated.
fn ended_script(error: &Error) -> bool {
    matches!(error, Error::Supervisor(supervisor::Error::ScriptTimeout { .. }))
}

/// Whether the page did not answer in time.
pub(in crate::page) fn is_late(error: &Error) -> bool {
    use supervisor::Error as E;
    matches!(error, Error::Supervisor(error) if error.is_unresponsive() || matches!(error, E::Cdp(cdp::Error::Timeout { .. })))
}

/// Whether the error may pass: the frame is loading another document.
fn may_pass(asked: &Requested<'_>, error: &Error) -> bool {
    let by_selector = matches!(asked, Requested::Selector { .. });
    match error {
        Error::DocumentGone { .. } => by_selector,
        Error::Supervisor(supervisor::Error::Cdp(cdp::Error::SessionGone { .. })) => true,
        Error::Supervisor(supervisor::Error::FrameDetached { .. } | supervisor::Error::Navigating { .. }) => true,
        _ => false,
    }
}

/// The error in terms of the caller's ref or selector.
fn in_terms_of(asked: &Requested<'_>, error: Error) -> Error {
    let by_ref = matches!(asked, Requested::Ref { .. });
    match error {
        Error::DocumentGone { .. } if by_ref => asked.stale("its frame now shows another document"),
        Error::Supervisor(supervisor::Error::FrameNotFound { .. } | supervisor::Error::FrameDetached { .. })
            if by_ref =>
        {
            asked.stale("its frame was removed")
        }
        other => other,
    }
}
