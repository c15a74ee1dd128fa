//! Which element of a page is the recorded one.
//!
//! Frame, role, name and container have to be those of the recording; a test id or a lasting selector chooses among several that
//! are left, and never brings one back. Places in a list choose nothing: lists change their order.

use cdpilot::page::AnchorQuery;

use super::same::{Replaced, folded, is_same_column, is_telling, key};
use super::verify::quoted;
use crate::record::draft::{Anchor, DialogAnswer};
use crate::record::{Container, Element, FrameStep};

/// An element of a page that has the role and name of a recorded one.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Its ref.
    pub reference: String,
    /// The frames from the top document to its own.
    pub frame: Vec<FrameStep>,
    /// Its description, as a recording has it.
    pub element: Element,
}

/// What became of looking for a recorded element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// It is this one: its ref.
    One(String),
    /// It is this one, and in another state than it was before it was recorded, such as pressed already: its ref, and the state.
    InState(String, String),
    /// It is not there. Elements with its role and name that are elsewhere, described.
    Absent(Vec<String>),
    /// Several may be it: their refs, and what they are.
    Several(Vec<String>, Vec<String>),
}

/// What the page is asked about a recorded element.
#[must_use]
pub fn query(anchor: &Anchor) -> AnchorQuery {
    AnchorQuery {
        role: role(anchor).to_owned(),
        key: key(name(anchor)),
        selectors: anchor.selectors.clone(),
        test_id: anchor.test_id.clone(),
        lists: false,
    }
}

/// How strictly an element is looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Strictness {
    /// What is around it is not known.
    pub anywhere: bool,
    /// Its name is not enough where nothing is around it: something of the recorded page may not be there at all.
    pub strict: bool,
}

/// The recorded element among those that have its role and name.
#[must_use]
pub fn target(anchor: &Anchor, frame: &[FrameStep], candidates: &[Candidate], how: Strictness) -> Target {
    let Strictness { anywhere, strict } = how;
    let wanted = key(name(anchor));
    let is_partial = is_partial(anchor);
    let is_called = |one: &&Candidate| {
        let (own, seen) = (role(anchor), Anchor::from(&one.element));
        (own == role(&seen) || (is_partial && own.is_empty())) && key(name(&seen)) == wanted
    };
    let named: Vec<&Candidate> = candidates.iter().filter(is_called).collect();
    let is_there = |one: &&&Candidate| {
        is_same_frame(frame, &one.frame)
            && (anywhere || is_partial || is_same_container(anchor.container.as_ref(), one.element.container.as_ref()))
    };
    let mut left: Vec<&Candidate> = named.iter().filter(is_there).copied().collect();
    // That it is the only one proves nothing where it has no name.
    let is_nameless = name(anchor).trim().is_empty() && !is_partial;
    if is_nameless || (strict && anchor.container.is_none()) {
        left.retain(|one| {
            let is_marked = !anchor.test_id.is_empty() && one.element.test_id == anchor.test_id;
            let is_near = |selector: &str| !is_nameless && selector.contains('#');
            let mut telling = anchor.selectors.iter().filter(|one| is_telling(one) || is_near(one));
            is_marked || telling.any(|selector| one.element.selectors.contains(selector))
        });
    }
    narrow(&mut left, |one| frame.iter().map(|step| step.index).eq(one.frame.iter().map(|step| step.index)));
    // A number in an id may be a place in a list.
    let has_number = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    let test_id = Some(&anchor.test_id).filter(|id| !id.is_empty() && !has_number(id));
    narrow(&mut left, |one| test_id.is_some_and(|id| one.element.test_id == *id));
    let lasting = |selector: &&String| !selector.contains(":nth-") && !has_number(selector);
    narrow(&mut left, |one| {
        anchor.selectors.iter().filter(lasting).any(|selector| one.element.selectors.contains(selector))
    });
    match left.as_slice() {
        [one] if !anchor.state.is_empty() && !one.element.state.is_empty() && anchor.state != one.element.state => {
            Target::InState(one.reference.clone(), one.element.state.clone())
        }
        [one] => Target::One(one.reference.clone()),
        [] => Target::Absent(texts(&named)),
        _ => Target::Several(left.iter().map(|one| one.reference.clone()).collect(), texts(&left)),
    }
}

/// Whether a recording of another program says only name and selectors of an element, and nothing of what is around it.
pub(super) fn is_partial(anchor: &Anchor) -> bool {
    anchor.tag.is_empty()
}

/// Keeps the elements for which something holds, if it holds for some, and there are several.
fn narrow(left: &mut Vec<&Candidate>, holds: impl Fn(&Candidate) -> bool) {
    if left.len() > 1 && left.iter().any(|one| holds(one)) {
        left.retain(|one| holds(one));
    }
}

/// Whether a path of frames is the recorded one, wherever the frames are in their parents.
#[must_use]
pub fn is_same_frame(recorded: &[FrameStep], seen: &[FrameStep]) -> bool {
    let is_same = |(own, other): (&FrameStep, &FrameStep)| {
        // Other programs record places only.
        let is_place = own.name.is_empty() && own.url.is_empty();
        (is_place && own.index == other.index)
            || (own.name == other.name && Replaced::default().is_same_frame(&own.url, &other.url))
    };
    recorded.len() == seen.len() && recorded.iter().zip(seen).all(is_same)
}

/// Whether two titles are the same. Rows and cards may differ in a counter alone; of a section it is how much is in it.
fn is_same_title(own: &Container, other: &Container) -> bool {
    match own.is_entry() {
        true => folded(&own.title) == folded(&other.title),
        false => key(&own.title) == key(&other.title),
    }
}

fn is_same_container(recorded: Option<&Container>, seen: Option<&Container>) -> bool {
    match (recorded, seen) {
        (None, None) => true,
        (Some(own), Some(other)) => {
            let is_same_link = own.href.is_empty() || other.href.is_empty() || own.href == other.href;
            own.kind == other.kind && is_same_title(own, other) && is_same_column(own, other) && is_same_link
        }
        _ => false,
    }
}

/// Whether two elements have the same role, name, container and frame.
pub(super) fn is_same_place(
    (own, frame): (&Anchor, &[FrameStep]),
    (other, other_frame): (&Anchor, &[FrameStep]),
) -> bool {
    role(own) == role(other)
        && key(name(own)) == key(name(other))
        && is_same_container(own.container.as_ref(), other.container.as_ref())
        && is_same_frame(frame, other_frame)
}

/// An element as a part of a sentence.
#[must_use]
pub fn described(anchor: &Anchor) -> String {
    let mut out = if role(anchor).is_empty() { "element" } else { role(anchor) }.to_owned();
    let name = name(anchor);
    if !name.is_empty() {
        out.push(' ');
        out.push_str(&quoted(name));
    }
    if let Some(container) = &anchor.container {
        out.push_str(&format!(" in {} {}", container.kind, quoted(&container.title)));
    }
    out
}

fn texts(all: &[&Candidate]) -> Vec<String> {
    all.iter().map(|one| described(&Anchor::from(&one.element))).collect()
}

/// What a recorded element is called: its name, its label or its text.
pub(super) fn name(anchor: &Anchor) -> &str {
    let all = [&anchor.name, &anchor.label, &anchor.text];
    all.into_iter().find(|text| !text.trim().is_empty()).map_or("", String::as_str)
}

fn role(anchor: &Anchor) -> &str {
    if anchor.role.is_empty() { &anchor.tag } else { &anchor.role }
}

/// Whether an open dialog is the recorded one.
#[must_use]
pub fn is_same_dialog(recorded: &DialogAnswer, kind: &str, message: &str) -> bool {
    recorded.dialog == kind && key(&recorded.message) == key(message)
}
