//! Snapshots: what a tab shows, as lines to read or as a list of nodes, over all its frames.
//!
//! | file | what it holds |
//! |---|---|
//! | `closed` | finding closed shadow roots |
//! | `collect` | asking all frames at once and joining their trees |
//! | `tree` | what a frame tells of itself |
//! | `text` | the `ai` format: lines with refs |
//! | `fold` | leaving out long runs of like siblings, and what filters leave out |
//! | `diff` | what changed between two texts |
//! | `nodes` | the `aria` format |
//! | `labels` | what labels in a picture stand for |

mod closed;
mod collect;
mod diff;
mod fold;
mod labels;
mod nodes;
mod text;
mod tree;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use diff::{Diff, Hunk};
pub use nodes::AriaNode;

use super::Tab;
use super::error::{Error, Shown};
use super::world::Doc;
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::supervisor::{self, ClosedDialog, Dialog, FrameTree};
use crate::sync::Deadline;

/// How a snapshot is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Indented lines with refs, for models and people.
    #[default]
    Ai,
    /// A list of nodes.
    Aria,
}

/// What a snapshot is to show.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SnapshotOptions {
    /// How it is written.
    pub format: Format,
    /// Nodes at most, `aria` only.
    pub limit: usize,
    /// Characters at most, `ai` only; 0 for no limit. Cut at whole lines.
    pub max_chars: usize,
    /// Only what can be acted on.
    pub interactive: bool,
    /// Without unnamed containers.
    pub compact: bool,
    /// So many levels below the root.
    pub depth: Option<u32>,
    /// Only what is in the first element that matches this CSS selector.
    pub selector: Option<String>,
    /// Only this frame and those in it: a frame id, or the ref of its `<iframe>`.
    pub frame: Option<String>,
    /// With the addresses of links.
    pub urls: bool,
    /// Only what changed since the last snapshot of the tab.
    pub diff: bool,
    /// Of eight or more like siblings show five.
    pub fold: bool,
    /// The ref of a folded run that is to be shown whole.
    pub expand: Option<String>,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        Self {
            format: Format::Ai,
            limit: 500,
            max_chars: 40_000,
            interactive: false,
            compact: false,
            depth: None,
            selector: None,
            frame: None,
            urls: false,
            diff: false,
            fold: false,
            expand: None,
        }
    }
}

/// What a ref in a snapshot stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RefInfo {
    /// Its role.
    pub role: String,
    /// Its accessible name: untrusted.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its frame; left out for the top frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "server", schemars(with = "Option<String>"))]
    pub frame_id: Option<FrameId>,
}

/// How large a snapshot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
pub struct Stats {
    /// Characters of its text.
    pub chars: usize,
    /// Lines of its text, or nodes.
    pub lines: usize,
    /// Refs in it.
    pub refs: usize,
    /// Frames that are in it.
    pub frames: usize,
}

/// What a tab shows.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// How it is written.
    pub format: Format,
    /// The tab.
    #[cfg_attr(feature = "server", schemars(with = "String"))]
    pub target_id: TargetId,
    /// Its address.
    pub url: String,
    /// Its title: untrusted.
    pub title: String,
    /// The lines of the `ai` format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The nodes of the `aria` format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<AriaNode>>,
    /// The refs in it.
    pub refs: BTreeMap<String, RefInfo>,
    /// How large it is.
    pub stats: Stats,
    /// Whether something was cut off.
    pub truncated: bool,
    /// An open dialog stands in the way: nothing is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocked_by_dialog: bool,
    /// A script of the page was ended to get it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rescued: bool,
    /// Frames that did not answer, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    /// Dialogs that wait.
    #[serde(rename = "pending_dialogs")]
    pub pending_dialogs: Vec<Dialog>,
    /// Dialogs that closed.
    #[serde(rename = "recent_dialogs", skip_serializing_if = "Vec::is_empty")]
    pub recent_dialogs: Vec<ClosedDialog>,
    /// The frames.
    #[serde(rename = "frame_tree")]
    pub frame_tree: FrameTree,
}

/// A frame that is not in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Unread {
    /// The frame.
    #[cfg_attr(feature = "server", schemars(with = "String"))]
    pub frame_id: FrameId,
    /// Why.
    pub problem: String,
}

/// What a tab remembers of its snapshots.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The element that holds a frame, in which document.
    owners: HashMap<FrameId, (Doc, u32)>,
    /// Sessions whose elements were counted.
    counted: HashMap<Arc<str>, closed::Counted>,
    /// What was shown last.
    last: Option<Last>,
}

/// The text that was shown last.
#[derive(Debug)]
struct Last {
    /// Of which document.
    doc: Doc,
    text: Arc<str>,
    /// How it was asked for.
    options: SnapshotOptions,
}

impl Tab {
    /// Takes a snapshot. Under a dialog it answers at once, with what is known.
    ///
    /// # Errors
    /// [`Error::Supervisor`] when the top frame does not answer, [`Error::BadRequest`] for a selector that
    /// is none, [`Error::BadRef`], [`Error::StaleRef`].
    pub fn snapshot(&self, options: &SnapshotOptions, deadline: Deadline) -> Result<Snapshot, Error> {
        if self.supervisor.snapshot().dialogs_of(self.target.as_str()).next().is_some() {
            return Ok(self.blocked(options.format));
        }
        let began = Instant::now();
        match self.look(options, deadline) {
            Err(error) if error.is_blocked_by_dialog() => Ok(self.blocked(options.format)),
            // Which of its commands was the last to get no answer says nothing.
            Err(error) if error.code() == "TIMEOUT" && self.is_on_its_way() => {
                let page = self.target.to_string();
                Err(supervisor::Error::Navigating { page, after: began.elapsed() }.into())
            }
            outcome => outcome,
        }
    }

    /// Whether the page waits for another document.
    fn is_on_its_way(&self) -> bool {
        let now = self.supervisor.snapshot();
        let top = now.page(self.target.as_str()).and_then(|page| page.top_frame.as_ref());
        top.and_then(|top| now.frame(top.as_str())).is_some_and(|frame| frame.navigating)
    }

    fn look(&self, options: &SnapshotOptions, deadline: Deadline) -> Result<Snapshot, Error> {
        let expand = options.expand.as_deref().map(|text| self.resolve(text)).transpose()?.map(|(node, _)| node);
        let seen = self.collect(options, deadline)?;
        let mut shown = self.empty(options.format);
        (shown.url, shown.title, shown.rescued) = (seen.url, seen.title, seen.rescued);
        shown.unread = seen.unread;
        shown.stats.frames = seen.frames;
        let mut items = fold::filtered(seen.items, options);
        if options.fold || expand.is_some() {
            items = fold::folded(items, expand.as_ref());
        }
        match options.format {
            Format::Aria => self.fill_nodes(&mut shown, &items, options, deadline),
            Format::Ai => self.fill_text(&mut shown, &items, &seen.doc, options),
        }
        Ok(shown)
    }

    fn fill_text(&self, shown: &mut Snapshot, items: &[collect::Item], doc: &Doc, options: &SnapshotOptions) {
        let lines = text::lines(items);
        self.number(shown, lines.iter().map(text::Line::item));
        let whole = text::written(&lines, |item| self.reference(item));
        let last = Last { doc: doc.clone(), text: whole.as_str().into(), options: options.clone() };
        let before = self.seen.lock().last.replace(last);
        let text = if options.diff {
            let before = before.filter(|last| last.doc == *doc).map(|last| last.text).unwrap_or_default();
            Diff::between(&before, &whole).to_string()
        } else {
            whole
        };
        let (text, cut) = text::cut(text, options.max_chars);
        if cut || options.diff {
            let told: HashSet<&str> = text::refs(&text).collect();
            shown.refs.retain(|reference, _| told.contains(reference.as_str()));
        }
        shown.truncated = cut;
        shown.stats =
            Stats { chars: text.chars().count(), lines: text.lines().count(), refs: shown.refs.len(), ..shown.stats };
        shown.snapshot = Some(text);
    }

    /// How the last text was asked for, when it was of this document.
    pub(super) fn shown_last(&self, doc: &Doc) -> Option<SnapshotOptions> {
        self.seen.lock().last.as_ref().filter(|last| last.doc == *doc).map(|last| last.options.clone())
    }

    /// Gives numbers to what is shown, and lists them.
    fn number<'a>(&self, shown: &mut Snapshot, items: impl Iterator<Item = &'a collect::Item>) {
        let mut refs = self.refs.lock();
        for item in items.filter(|item| item.has_ref) {
            let Some(node) = &item.node else { continue };
            let number = refs.show(node.clone(), Shown { role: item.role.to_string(), name: item.name.to_string() });
            let frame_id = Some(node.frame.clone()).filter(|_| !item.in_top);
            let info = RefInfo { role: item.role.to_string(), name: item.name.to_string(), frame_id };
            shown.refs.insert(format!("e{number}"), info);
        }
    }

    fn reference(&self, item: &collect::Item) -> Option<u32> {
        let node = item.node.as_ref().filter(|_| item.has_ref)?;
        self.refs.lock().number(node)
    }

    fn empty(&self, format: Format) -> Snapshot {
        let now = self.supervisor.snapshot();
        let target = self.target.as_str();
        let page = now.page(target);
        Snapshot {
            format,
            target_id: self.target.clone(),
            url: page.map(|page| page.url.to_string()).unwrap_or_default(),
            title: page.map(|page| page.title.to_string()).unwrap_or_default(),
            snapshot: None,
            nodes: None,
            refs: BTreeMap::new(),
            stats: Stats::default(),
            truncated: false,
            blocked_by_dialog: false,
            rescued: false,
            unread: Vec::new(),
            pending_dialogs: now.dialogs_of(target).cloned().collect(),
            recent_dialogs: now.recent.iter().filter(|c| c.dialog.target_id == self.target).cloned().collect(),
            frame_tree: now.frame_tree(target),
        }
    }

    fn blocked(&self, format: Format) -> Snapshot {
        let mut shown = self.empty(format);
        shown.blocked_by_dialog = true;
        match format {
            Format::Ai => shown.snapshot = Some(String::new()),
            Format::Aria => shown.nodes = Some(Vec::new()),
        }
        shown
    }

    /// A frame by its id, or by the ref of the element that holds it.
    pub(super) fn frame_named(&self, text: &str, deadline: Deadline) -> Result<FrameId, Error> {
        let now = self.supervisor.snapshot();
        if now.frame(text).is_some_and(|frame| frame.target_id == self.target) {
            return Ok(FrameId::from(text));
        }
        let (node, _) = match self.resolve(text) {
            Err(Error::BadRef { .. }) => {
                let known = now.frames_of(self.target.as_str()).take(10).map(|f| f.frame_id.to_string()).collect();
                return Err(supervisor::Error::FrameNotFound { frame: text.to_owned(), known }.into());
            }
            resolved => resolved?,
        };
        self.frame_in(&node, deadline)
    }
}
