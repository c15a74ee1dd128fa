//! Finding the usable elements in the viewport, in all frames at once.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::super::error::{Error, Shown};
use super::super::screenshot::{BoxOptions, Layout, NodePosition, Rect, View};
use super::super::snapshot::SnapshotOptions;
use super::super::world::{Doc, Node};
use super::super::{Tab, supervisor};
use super::element::{Hint, Setting, Use, VisibleElement};
use super::ids::Redrawn;
use super::paging::TextLine;
use crate::cdp::protocol::page::FrameId;
use crate::sync::Deadline;

/// How often a look begins anew because a document was replaced meanwhile.
const MAX_TRIES: u32 = 3;
/// An element closer than this to an edge of the viewport is hard to use, in CSS pixels.
const NEAR: f64 = 8.0;
/// An element is partly visible when less than this part of it is.
const WHOLE: f64 = 0.97;
/// The part of the elements that are too many when they are removed while they are measured.
const MANY_LOST: f64 = 0.25;

/// The usable elements in the viewport.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) view: View,
    pub(super) elements: Vec<VisibleElement>,
    pub(super) url: String,
    pub(super) title: String,
    /// The document of the top frame.
    pub(super) doc: Doc,
    pub(super) rescued: bool,
    /// Whether many elements were removed while they were measured.
    pub(super) lost: bool,
    /// The lines of text in the viewport.
    pub(super) lines: Vec<TextLine>,
    /// The present status texts and alerts. Untrusted.
    pub(super) status: Vec<String>,
}

#[derive(Serialize)]
struct Asked<'a> {
    /// Node ids, and whether the role says nothing of their use.
    ids: &'a [(u32, bool)],
    /// Node ids of elements that listen to the mouse above them.
    hovers: &'a [u32],
    owners: &'a [u32],
    keywords: Option<&'a [String]>,
}

#[derive(Deserialize)]
struct Reply {
    elements: Vec<FoundElement>,
    /// The keys of the elements that hold frames.
    keys: Vec<String>,
    /// Position and size of each line of text, and whether it is vital: 1 or 0.
    lines: Vec<(f64, f64, f64, f64, u8)>,
    status: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FoundElement {
    id: u32,
    #[serde(rename = "use")]
    kind: Use,
    role: String,
    name: String,
    html: String,
    key: String,
    #[serde(default)]
    setting: Option<Setting>,
    /// The number of the node that it replaces: gone, with the same role, name and setting.
    #[serde(default)]
    was: Option<u32>,
    /// Whether its node was shown as something else in another setting before.
    #[serde(default)]
    recycled: bool,
    #[serde(default)]
    also: Option<Use>,
    /// The node that is drawn in its place.
    #[serde(default)]
    place: Option<u32>,
    #[serde(default)]
    held: Option<String>,
    #[serde(default)]
    checked: bool,
    #[serde(default)]
    disabled: bool,
    #[serde(default)]
    scroller: Option<Scroller>,
    #[serde(default)]
    sticky: bool,
    #[serde(default)]
    swipable: bool,
    #[serde(default)]
    droppable: bool,
    #[serde(default)]
    slidable: bool,
    #[serde(default)]
    uploadable: bool,
}

/// The nearest element around another one that scrolls.
#[derive(Deserialize)]
struct Scroller {
    id: u32,
    key: String,
}

impl FoundElement {
    /// What it means: role, name and setting.
    fn meaning(&self) -> String {
        let setting = self.setting.as_ref().map(Setting::described).unwrap_or_default();
        format!("{}\n{}\n{setting}", self.role, self.name)
    }

    fn hints(&self, place: &NodePosition, part: &Rect, view: &View, scroller: Option<String>) -> Vec<Hint> {
        let area = |rect: &Rect| rect.width * rect.height;
        let scale = view.pinch.2;
        let is_partly = place.all.is_some_and(|all| area(part) < area(&all) * scale * scale * WHOLE);
        let is_near = part.x < NEAR
            || part.y < NEAR
            || part.right() > view.width - view.bars - NEAR
            || part.bottom() > view.height - NEAR;
        let scrolls = self.kind == Use::Scrollable;
        let hints = [
            (self.disabled, Hint::Disabled),
            (self.checked, Hint::Checked),
            (is_partly, Hint::PartlyVisible),
            (is_near && !is_partly && !scrolls, Hint::NearEdge),
            (self.sticky, Hint::UnderSticky),
            (self.swipable, Hint::Swipable),
            (self.droppable, Hint::Droppable),
            (self.slidable, Hint::Slidable),
            (self.uploadable, Hint::Uploadable),
        ];
        let hints = hints.into_iter().filter_map(|(is_set, hint)| is_set.then_some(hint));
        hints.chain(scroller.map(Hint::ScrollsIn)).collect()
    }
}

/// The answers of all frames.
#[derive(Default)]
struct Answers {
    docs: HashMap<FrameId, Doc>,
    found: Vec<(Node, FoundElement)>,
    /// The keys of frames: those of the elements that hold them, from the top.
    paths: HashMap<FrameId, String>,
    lines: Vec<(FrameId, Vec<(Rect, bool)>)>,
    status: Vec<String>,
}

impl Tab {
    /// The usable elements in the viewport that keywords select, or all; in document order.
    pub(super) fn discover(&self, keywords: Option<&[String]>, deadline: Deadline<'_>) -> Result<Found, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.discover_once(keywords, deadline) {
                Err(Error::DocumentGone { .. }) if tries < MAX_TRIES && !deadline.passed() => {}
                outcome => return outcome,
            }
        }
    }

    fn discover_once(&self, keywords: Option<&[String]>, deadline: Deadline<'_>) -> Result<Found, Error> {
        let seen = self.collect(&SnapshotOptions::default(), deadline)?;
        let mut candidates: HashMap<FrameId, Vec<(u32, bool)>> = HashMap::new();
        for item in &seen.items {
            let Some(node) = item.node.as_ref().filter(|_| item.is_usable()) else { continue };
            candidates.entry(node.frame.clone()).or_default().push((node.id, item.is_weak()));
        }
        let Answers { docs, found, paths, lines: texts, status } = self.ask_frames(&candidates, keywords, deadline)?;
        let top = self.top()?;
        if docs.get(&top) != Some(&seen.doc) {
            return Err(Error::DocumentGone { frame: top.to_string() });
        }
        let drawn = |node: &Node, element: &FoundElement| Node { id: element.place.unwrap_or(node.id), ..node.clone() };
        let nodes: Vec<Node> = found.iter().map(|(node, element)| drawn(node, element)).collect();
        let layout = self.layout(&nodes, BoxOptions { whole: false, uncovered: true }, deadline)?;
        let mut placed: Vec<(Node, FoundElement, NodePosition, Rect)> = Vec::new();
        let (total, mut lost) = (found.len(), 0_usize);
        for ((node, element), drawn) in found.into_iter().zip(&nodes) {
            let Some(place) = layout.position(drawn) else {
                lost += 1; // removed meanwhile
                continue;
            };
            if let Some(part) = place.part {
                placed.push((node, element, place, part));
            }
        }
        let parts: Vec<(&Node, &Rect)> = placed.iter().map(|(node, _, _, part)| (node, part)).collect();
        let covered = self.covered_in_frames(&top, &layout, &parts, deadline)?;
        let mut ids = self.highlight_ids.lock();
        let redrawn = placed.iter().map(|(node, element, ..)| Redrawn {
            node,
            was: element.was.map(|id| Node { id, ..node.clone() }),
            recycled: element.recycled,
        });
        ids.begin(redrawn);
        let mut refs = self.refs.lock();
        let mut elements = Vec::new();
        for ((node, element, place, part), covered) in placed.into_iter().zip(covered) {
            let Some(part) = layout.view.shown(&part).filter(|_| !covered) else { continue };
            let path = paths.get(&node.frame).map_or("", String::as_str);
            let mut id_of = |node: &Node, key: &str, meaning: &str| ids.assign(node, &format!("{path}|{key}"), meaning);
            let around = element.scroller.as_ref();
            let scroller = around.map(|around| id_of(&Node { id: around.id, ..node.clone() }, &around.key, ""));
            let id = id_of(&node, &element.key, &element.meaning());
            let hints = element.hints(&place, &part, &layout.view, scroller);
            let shown = Shown::new(element.role, element.name);
            let reference = format!("e{}", refs.show(node.clone(), shown.clone()));
            let place = element.place.map(|id| Node { id, ..node.clone() });
            let FoundElement { kind, also, html, held, setting, .. } = element;
            elements.push(VisibleElement {
                id,
                kind,
                also,
                hints,
                html,
                held,
                shown,
                setting,
                reference,
                node,
                place,
                bounds: part,
            });
        }
        let mut lines = Vec::new();
        for (frame, texts) in texts {
            let (rects, vital): (Vec<Rect>, Vec<bool>) = texts.into_iter().unzip();
            for (part, vital) in layout.shown_parts(&frame, &rects).into_iter().zip(vital) {
                lines.extend(part.and_then(|part| layout.view.shown(&part)).map(|rect| TextLine { rect, vital }));
            }
        }
        let (url, title, doc, rescued) = (seen.url, seen.title, seen.doc, seen.rescued);
        let lost = total > 0 && ratio(lost, total) >= MANY_LOST;
        Ok(Found { view: layout.view, elements, url, title, doc, rescued, lost, lines, status })
    }

    fn ask_frames(
        &self,
        candidates: &HashMap<FrameId, Vec<(u32, bool)>>,
        keywords: Option<&[String]>,
        deadline: Deadline<'_>,
    ) -> Result<Answers, Error> {
        let top = self.top()?;
        let (frames, parents, _) = self.frames_below(&top);
        let mut owners: HashMap<FrameId, Vec<(u32, FrameId)>> = HashMap::new();
        for child in parents.keys() {
            if let Ok(Some(owner)) = self.owner(child, deadline) {
                owners.entry(owner.frame).or_default().push((owner.id, child.clone()));
            }
        }
        let owner_ids: HashMap<&FrameId, Vec<u32>> =
            owners.iter().map(|(frame, held)| (frame, held.iter().map(|(id, _)| *id).collect())).collect();
        let hovers: HashMap<&FrameId, Vec<u32>> = frames.iter().map(|frame| (frame, self.hovered_in(frame))).collect();
        let ask = |frame: &FrameId| Asked {
            hovers: hovers.get(frame).map(Vec::as_slice).unwrap_or_default(),
            ids: candidates.get(frame).map(Vec::as_slice).unwrap_or_default(),
            owners: owner_ids.get(frame).map(Vec::as_slice).unwrap_or_default(),
            keywords,
        };
        let mut answers = Answers::default();
        let mut own_keys: HashMap<FrameId, String> = HashMap::new();
        for (frame, answer) in frames.iter().zip(self.call_all::<Reply, _>(&frames, "highlight", ask, deadline)) {
            let (doc, reply) = match answer {
                Ok((doc, done)) => (doc, done.result),
                Err(error) if *frame == top || error.is_blocked_by_dialog() => return Err(error),
                // It was removed, or its process does not answer: the snapshot says so.
                Err(_) => continue,
            };
            for ((_, child), key) in owners.get(frame).into_iter().flatten().zip(reply.keys) {
                own_keys.insert(child.clone(), key);
            }
            let node = |id: u32| Node { frame: frame.clone(), doc: doc.clone(), id };
            answers.found.extend(reply.elements.into_iter().map(|element| (node(element.id), element)));
            let line = |(x, y, width, height, vital)| (Rect { x, y, width, height }, vital > 0);
            answers.lines.push((frame.clone(), reply.lines.into_iter().map(line).collect()));
            answers.status.extend(reply.status);
            answers.docs.insert(frame.clone(), doc);
        }
        for frame in frames {
            let mut path = String::new();
            let mut at = Some(&frame);
            while let Some(inner) = at.filter(|inner| **inner != top) {
                path = format!("{}|{path}", own_keys.get(inner).map_or("", String::as_str));
                at = parents.get(inner);
            }
            answers.paths.insert(frame, path);
        }
        Ok(answers)
    }

    /// For each element, whether documents around its frame cover it at all of five points.
    pub(super) fn covered_in_frames(
        &self,
        top: &FrameId,
        layout: &Layout,
        placed: &[(&Node, &Rect)],
        deadline: Deadline<'_>,
    ) -> Result<Vec<bool>, Error> {
        #[derive(Serialize, Default, Clone)]
        struct Hole {
            id: u32,
            points: Vec<(f64, f64)>,
        }
        #[derive(Serialize)]
        struct Holes {
            holes: Vec<Hole>,
        }
        // For each document around a frame: the frame element and the points to test, and whose points they are.
        let mut asked: HashMap<FrameId, Vec<Hole>> = HashMap::new();
        let mut whose: HashMap<FrameId, Vec<usize>> = HashMap::new();
        for (index, (node, part)) in placed.iter().enumerate() {
            let mut frame = node.frame.clone();
            while frame != *top {
                let points: Option<Vec<_>> = five_points(part)
                    .into_iter()
                    .map(|point| layout.around(&frame, point).map(|(owner, point)| (owner.clone(), point)))
                    .collect();
                let Some(points) = points else { break };
                let Some((owner, _)) = points.first() else { break };
                let (around, id) = (owner.frame.clone(), owner.id);
                let points = points.iter().map(|(_, point)| *point).collect();
                asked.entry(around.clone()).or_default().push(Hole { id, points });
                whose.entry(around.clone()).or_default().push(index);
                frame = around;
            }
        }
        let mut clear = vec![[true; 5]; placed.len()];
        let frames: Vec<FrameId> = asked.keys().cloned().collect();
        let args = |frame: &FrameId| Holes { holes: asked.get(frame).cloned().unwrap_or_default() };
        for (frame, answer) in frames.iter().zip(self.call_all::<Vec<Vec<bool>>, _>(&frames, "passes", args, deadline))
        {
            let passes = match answer {
                Ok((_, done)) => done.result,
                Err(Error::Supervisor(supervisor::Error::FrameDetached { .. })) => continue,
                Err(error) => return Err(error),
            };
            for (index, passes) in whose.get(frame).into_iter().flatten().zip(passes) {
                let Some(clear) = clear.get_mut(*index) else { continue };
                clear.iter_mut().zip(passes).for_each(|(clear, passes)| *clear &= passes);
            }
        }
        Ok(clear.into_iter().map(|clear| !clear.contains(&true)).collect())
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of elements")]
fn ratio(part: usize, all: usize) -> f64 {
    part as f64 / all as f64
}

/// The centre of a box, and a point near each corner.
fn five_points(part: &Rect) -> [(f64, f64); 5] {
    let inset = |length: f64| (length * 0.2).max(2.0).min(length / 2.0);
    let (dx, dy) = (inset(part.width), inset(part.height));
    let (left, right) = (part.x + dx, part.right() - dx);
    let (top, bottom) = (part.y + dy, part.bottom() - dy);
    let centre = (part.x + part.width / 2.0, part.y + part.height / 2.0);
    [centre, (left, top), (right, top), (left, bottom), (right, bottom)]
}
