//! Reading all frames at once and joining their trees: the nodes of a frame go below the element that holds it.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;

use super::super::Tab;
use super::super::error::Error;
use super::super::world::{Doc, Node};
use super::internals::Internal;
use super::merge::merged;
use super::tree::{NodeDetails, Tree, TreeArgs, TreeNode};
use super::{SnapshotOptions, UnreadFrame};
use crate::cdp::protocol::dom::{DescribeNode, GetFrameOwner};
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::{self, Done, FrameRef};
use crate::sync::Deadline;

/// How long to wait for frames that are moving to another process.
const SWAP: Duration = Duration::from_millis(500);
const BETWEEN: &str = "the frame has no process at the moment; take another snapshot";
const UNPLACED: &str = "the element that holds the frame was not found; take another snapshot";

/// A node of the joined tree.
#[derive(Debug, Clone)]
pub(in super::super) struct Item {
    pub(in super::super) depth: u32,
    pub(in super::super) role: Box<str>,
    pub(in super::super) name: Box<str>,
    /// The element; `None` for text and for the placeholder of a folded run.
    pub(in super::super) node: Option<Node>,
    pub(in super::super) frame: FrameId,
    pub(in super::super) in_top: bool,
    pub(in super::super) has_ref: bool,
    pub(super) more: Option<Box<NodeDetails>>,
    /// The number of similar siblings that this placeholder stands for.
    pub(in super::super) folded: usize,
}

impl Item {
    /// Whether its role does not say how it is used.
    pub(in super::super) fn is_weak(&self) -> bool {
        !INTERACTIVE.contains(&&*self.role)
    }

    /// Whether it is an element to use, frames excepted.
    pub(in super::super) fn is_usable(&self) -> bool {
        self.has_ref && &*self.role != "iframe" && is_interactive(&self.role, self.more.as_deref())
    }

    /// Whether its content is its name only while it has the focus.
    pub(super) fn is_named_by_focus(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.by_focus)
    }
}

/// The joined tree.
pub(in super::super) struct Collected {
    pub(in super::super) url: String,
    pub(in super::super) title: String,
    pub(in super::super) doc: Doc,
    pub(in super::super) items: Vec<Item>,
    pub(in super::super) frames: usize,
    pub(super) unread: Vec<UnreadFrame>,
    pub(in super::super) rescued: bool,
    /// Whether something was left out because it is nested too deeply.
    pub(in super::super) cut: bool,
    /// Whether the document is a PDF.
    pub(in super::super) pdf: bool,
}

struct ReadFrame {
    doc: Doc,
    tree: Tree,
}

impl Tab {
    pub(in super::super) fn collect(
        &self,
        options: &SnapshotOptions,
        deadline: Deadline<'_>,
    ) -> Result<Collected, Error> {
        let root = match &options.frame {
            Some(text) => self.frame_named(text, deadline)?,
            None => self.top()?,
        };
        self.frames_arrived(deadline);
        let (frames, parents, nowhere) = self.frames_below(&root);
        let listening = self.listening(&frames, deadline);
        let internals = self.internals(&frames, deadline);
        let ask_with = |frame: &FrameId, internals: &'_ [Internal]| {
            json!(TreeArgs {
                selector: options.selector.as_deref().filter(|_| *frame == root),
                urls: options.urls,
                description: options.format == super::Format::Aria,
                listening: listening.get(frame).map(Vec::as_slice).unwrap_or_default(),
                internals,
            })
        };
        let ask = |frame: &FrameId| ask_with(frame, internals.get(frame).map(Vec::as_slice).unwrap_or_default());
        let counting = self.count_asked(&frames, deadline);
        let (answers, found) = self.call_all_beside(&frames, "tree", ask, counting.search, deadline);
        let (mut read, mut rescued) = (HashMap::new(), false);
        let mut unread: Vec<UnreadFrame> = nowhere.into_iter().map(|frame| unread_frame(frame, BETWEEN)).collect();
        let mut answers: Answers = frames.iter().cloned().zip(answers).collect();
        let found = self.find_closed(counting.sessions, found, &counts(&answers), deadline);
        if !found.is_empty() {
            let again: Vec<FrameId> = found.iter().flat_map(|found| found.frames.iter().cloned()).collect();
            let anew = self.call_all(&again, "tree", ask, deadline);
            answers.extend(again.into_iter().zip(anew));
            self.explained(&found, &counts(&answers));
        }
        for (frame, answer) in &mut answers {
            let Ok((doc, done)) = answer else { continue };
            if done.result.unknown.is_empty() {
                continue;
            }
            let new = self.new_internals(frame, doc, &done.result.unknown, deadline);
            if new.iter().any(Internal::has_role) {
                let all = [internals.get(frame).cloned().unwrap_or_default(), new].concat();
                *answer = self.call(frame, "tree", &ask_with(frame, &all), deadline);
            } else if !new.is_empty() {
                // Nothing changed; do not read it again.
                let _ = self.call::<u8>(frame, "learn", &new, deadline);
            }
        }
        for frame in &frames {
            let Some(answer) = answers.remove(frame) else { continue };
            match answer {
                Ok((doc, done)) => {
                    rescued |= done.rescued;
                    read.insert(frame.clone(), ReadFrame { doc, tree: done.result });
                }
                // Without the top frame there is no snapshot.
                Err(error) if *frame == root || error.is_blocked_by_dialog() => return Err(error),
                Err(error) => unread.push(unread_frame(frame.clone(), &error.to_string())),
            }
        }
        let mut held = self.owners(&parents, &read, deadline);
        let placed = |held: &HashMap<_, FrameId>, frame: &FrameId| held.values().any(|known| known == frame);
        if parents.keys().any(|child| read.contains_key(child) && !placed(&held, child)) {
            // It moved to another process meanwhile, and is known there now.
            let _ = self.supervisor.caught_up(deadline);
            held.extend(self.owners(&parents, &read, deadline));
        }
        let lost = parents.keys().filter(|child| read.contains_key(*child) && !placed(&held, child));
        unread.extend(lost.map(|child| unread_frame(child.clone(), UNPLACED)));
        self.forget_gone(&read, &frames);
        let Some(top) = read.get_mut(&root) else {
            return Err(supervisor::Error::FrameDetached { frame: root.to_string() }.into());
        };
        if let Some(problem) = top.tree.error.take() {
            return Err(Error::BadRequest { problem });
        }
        if top.tree.missing {
            let selector = options.selector.as_deref().unwrap_or_default().chars().take(200).collect();
            let location =
                options.frame.as_ref().map_or_else(|| "the main frame".to_owned(), |id| format!("frame {id}"));
            return Err(Error::NoMatch { selector, place: location });
        }
        let (url, title) = (std::mem::take(&mut top.tree.url), std::mem::take(&mut top.tree.title));
        let (doc, pdf) = (top.doc.clone(), top.tree.pdf);
        let mut joined = Joined { read, held, top: self.top()?, items: Vec::new(), frames: 0, cut: false };
        joined.add(&root, 0);
        let Joined { items, frames, cut, .. } = joined;
        Ok(Collected { url, title, doc, items: merged(items), frames, unread, rescued, cut, pdf })
    }

    /// Waits for frames that are moving to another process.
    fn frames_arrived(&self, deadline: Deadline<'_>) {
        let there = |now: &supervisor::View| now.frames_of(self.target.as_str()).all(|f| f.session_id.is_some());
        if !there(&self.supervisor.view()) {
            self.supervisor.wait_until(deadline.within(SWAP), there);
        }
    }

    /// A frame and its descendants that can be read, the parent of each, and those without a process at the moment.
    pub(in super::super) fn frames_below(
        &self,
        root: &FrameId,
    ) -> (Vec<FrameId>, HashMap<FrameId, FrameId>, Vec<FrameId>) {
        let now = self.supervisor.view();
        let (mut frames, mut parents, mut nowhere) = (vec![root.clone()], HashMap::new(), Vec::new());
        let mut next = 0;
        while next < frames.len() {
            let parent = frames[next].clone();
            next += 1;
            for frame in now.frames_of(self.target.as_str()) {
                if frame.parent_frame_id.as_ref() != Some(&parent) || frames.contains(&frame.frame_id) {
                    continue;
                }
                if frame.session_id.is_none() {
                    nowhere.push(frame.frame_id.clone());
                    continue;
                }
                frames.push(frame.frame_id.clone());
                parents.insert(frame.frame_id.clone(), parent.clone());
            }
        }
        (frames, parents, nowhere)
    }

    /// The elements that hold frames, requested once for each frame and enclosing document.
    fn owners(
        &self,
        parents: &HashMap<FrameId, FrameId>,
        read: &HashMap<FrameId, ReadFrame>,
        deadline: Deadline<'_>,
    ) -> HashMap<(FrameId, u32), FrameId> {
        let known = self.snapshot_cache.lock().owners.clone();
        let mut held = HashMap::new();
        let mut missing: HashMap<&FrameId, Vec<&FrameId>> = HashMap::new();
        for (child, parent) in parents.iter().filter(|(child, _)| read.contains_key(*child)) {
            match (known.get(child), read.get(parent)) {
                (Some((doc, id)), Some(around)) if *doc == around.doc => {
                    held.insert((parent.clone(), *id), child.clone());
                }
                (_, Some(_)) => missing.entry(parent).or_default().push(child),
                (_, None) => {}
            }
        }
        for (parent, children) in missing {
            let Ok(numbers) = self.owner_numbers(parent, &children, deadline) else { continue };
            let Some(around) = read.get(parent) else { continue };
            for (child, number) in children.into_iter().zip(numbers) {
                let Some(number) = number else { continue };
                held.insert((parent.clone(), number), child.clone());
                self.snapshot_cache.lock().owners.insert(child.clone(), (around.doc.clone(), number));
            }
        }
        held
    }

    fn owner_numbers(
        &self,
        parent: &FrameId,
        children: &[&FrameId],
        deadline: Deadline<'_>,
    ) -> Result<Vec<Option<u32>>, Error> {
        let ask = |child: &&FrameId| (FrameRef::Id(parent.clone()), GetFrameOwner::new((*child).clone()));
        let replies = self.supervisor.session_calls(children.iter().map(ask).collect(), deadline);
        let backends: Vec<_> =
            replies.into_iter().map(|reply| reply.ok().map(|done| done.result.backend_node_id)).collect();
        let there: Vec<_> = backends.iter().flatten().copied().collect();
        let mut numbers = self.numbers(parent, &there, deadline)?.into_iter();
        Ok(backends.into_iter().map(|backend| backend.and_then(|_| numbers.next().flatten())).collect())
    }

    /// The element that holds a frame, in the enclosing document; `None` for the top frame.
    pub(in super::super) fn owner(&self, child: &FrameId, deadline: Deadline<'_>) -> Result<Option<Node>, Error> {
        let now = self.supervisor.view();
        let Some(parent) = now.frame(child.as_str()).and_then(|frame| frame.parent_frame_id.clone()) else {
            return Ok(None);
        };
        let doc = self.document(&parent, deadline)?;
        let known = self.snapshot_cache.lock().owners.get(child).cloned().filter(|(of, _)| *of == doc);
        let id = match known {
            Some((_, id)) => id,
            None => {
                let numbers = self.owner_numbers(&parent, &[child], deadline)?;
                let detached = || supervisor::Error::FrameDetached { frame: child.to_string() };
                let id = numbers.into_iter().next().flatten().ok_or_else(detached)?;
                self.snapshot_cache.lock().owners.insert(child.clone(), (doc.clone(), id));
                id
            }
        };
        Ok(Some(Node { frame: parent, doc, id }))
    }

    /// The frame of an element.
    pub(super) fn frame_in(&self, owner: &Node, deadline: Deadline<'_>) -> Result<FrameId, Error> {
        let object = self.object(owner, deadline)?;
        let mut describe = DescribeNode::new();
        describe.object_id = Some(object.clone());
        let reply = self.supervisor.session_call(&FrameRef::Id(owner.frame.clone()), &describe, deadline);
        self.release(&owner.frame, object);
        let holds = reply?.result.node.frame_id;
        holds.ok_or_else(|| Error::BadRequest {
            problem: "this ref is not that of a frame; use the ref of an iframe".to_owned(),
        })
    }

    /// Forgets refs and worlds of replaced documents. Frames that were not read keep theirs.
    fn forget_gone(&self, read: &HashMap<FrameId, ReadFrame>, asked: &[FrameId]) {
        let now = self.supervisor.view();
        let frames: Vec<FrameId> = now.frames_of(self.target.as_str()).map(|frame| frame.frame_id.clone()).collect();
        self.worlds.keep(&frames);
        let present = |node: &Node| match read.get(&node.frame) {
            Some(read) => read.doc == node.doc,
            None => frames.contains(&node.frame) && !asked.contains(&node.frame),
        };
        self.refs.lock().keep(present);
        self.snapshot_cache.lock().owners.retain(|frame, _| frames.contains(frame));
    }
}

fn unread_frame(frame_id: FrameId, problem: &str) -> UnreadFrame {
    UnreadFrame { frame_id, problem: problem.to_owned() }
}

type Answers = HashMap<FrameId, Result<(Doc, Done<Tree>), Error>>;

/// The number of elements in the tree of each frame.
fn counts(answers: &Answers) -> HashMap<FrameId, u64> {
    let count = |(frame, answer): (&FrameId, &Result<(Doc, Done<Tree>), Error>)| {
        Some((frame.clone(), answer.as_ref().ok()?.1.count))
    };
    answers.iter().filter_map(count).collect()
}

struct Joined {
    read: HashMap<FrameId, ReadFrame>,
    held: HashMap<(FrameId, u32), FrameId>,
    top: FrameId,
    items: Vec<Item>,
    frames: usize,
    cut: bool,
}

impl Joined {
    fn add(&mut self, frame: &FrameId, depth: u32) {
        let Some(read) = self.read.remove(frame) else { return };
        self.frames += 1;
        self.cut |= read.tree.cut;
        let in_top = *frame == self.top;
        for TreeNode(below, role, name, id, more) in read.tree.nodes {
            let node = (id > 0).then(|| Node { frame: frame.clone(), doc: read.doc.clone(), id });
            let has_ref = node.is_some() && gets_ref(&role, &name, more.as_deref());
            let inner = node.as_ref().and_then(|node| self.held.remove(&(frame.clone(), node.id)));
            let depth = depth + below;
            let frame = frame.clone();
            self.items.push(Item { depth, role, name, node, frame, in_top, has_ref, more, folded: 0 });
            if let Some(inner) = inner {
                self.add(&inner, depth + 1);
            }
        }
    }
}

/// Interactive roles.
pub(super) const INTERACTIVE: [&str; 20] = [
    "button",
    "checkbox",
    "combobox",
    "disclosuretriangle",
    "gridcell",
    "link",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
    "iframe",
];

/// Whether an element is interactive.
pub(super) fn is_interactive(role: &str, more: Option<&NodeDetails>) -> bool {
    INTERACTIVE.contains(&role) || more.is_some_and(|more| more.cursor || more.place)
}

/// Interactive elements always get a ref, others when they have a name.
pub(super) fn gets_ref(role: &str, name: &str, more: Option<&NodeDetails>) -> bool {
    is_interactive(role, more) || (!name.is_empty() && role != "text") || more.is_some_and(|more| more.active)
}
