//! Snapshots: what a tab shows, as lines to read or as a list of nodes, over all its frames.
//!
//! | file | what it holds |
//! |---|---|
//! | `closed` | finding closed shadow roots |
//! | `collect` | asking all frames at once and joining their trees |
//! | `tree` | what a frame tells of itself |
//! | `text` | the `ai` format: lines with refs |
//! | `redact` | covering secrets before lines are written |
//! | `fold` | leaving out long runs of like siblings, and what filters leave out |
//! | `diff` | what changed between two texts |
//! | `changes` | what changed on a page since an action |
//! | `nodes` | the `aria` format |
//! | `merge` | leaving out wrappers that repeat a control |
//! | `labels` | what labels in a picture stand for |
//! | `loading` | reading a tab whose server has not answered |

mod changes;
mod closed;
mod collect;
mod diff;
mod fold;
mod internals;
mod labels;
mod listeners;
mod loading;
mod merge;
mod nodes;
mod redact;
mod text;
mod tree;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use diff::{Diff, Hunk};
pub use nodes::AriaNode;

use super::Tab;
use super::error::{Error, Shown};
use super::refs::Latest;
use super::world::Doc;
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::supervisor::{ClosedDialog, Dialog, FrameTree, Secrets};
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
    /// Lines to leave out at the beginning, `ai` only: what a truncated snapshot goes on with.
    pub offset: usize,
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
    /// Only what changed since the last snapshot of the tab. Without other options than those of size and format, those of
    /// that snapshot hold. The focus alone is no change.
    pub diff: bool,
    /// Of eight or more like siblings show five.
    pub fold: bool,
    /// The ref of a folded run that is to be shown whole.
    pub expand: Option<String>,
    /// Secrets to cover in names, values and texts, together with what looks like one; `None` shows everything.
    #[serde(skip)]
    pub redact: Option<Secrets>,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        Self {
            format: Format::Ai,
            limit: 500,
            max_chars: 40_000,
            offset: 0,
            interactive: false,
            compact: false,
            depth: None,
            selector: None,
            frame: None,
            urls: false,
            diff: false,
            fold: false,
            expand: None,
            redact: None,
        }
    }
}

impl SnapshotOptions {
    /// What decides on the lines: all but size, format, redaction and whether it is a difference.
    fn view(&self) -> Self {
        let Self { format, limit, max_chars, offset, diff, redact, .. } = Self::default();
        Self { format, limit, max_chars, offset, diff, redact, ..self.clone() }
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
    /// Whether something was left out: beyond the limits of the request, or nested deeper than 700 levels.
    pub truncated: bool,
    /// With `diff`: no earlier snapshot of this document with these options exists, so all of it is shown as new.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// The server of the page has not answered yet: only what the browser knows is filled in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loading: bool,
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
    /// Elements that listen to clicks.
    listening: HashMap<FrameId, listeners::Listening>,
    /// Custom elements whose roles only the browser knows.
    internals: HashMap<FrameId, internals::Asked>,
    /// Sessions whose elements were counted.
    counted: HashMap<Arc<str>, closed::Counted>,
    /// The last text as the page has it, and the last one with secrets covered.
    last: [Option<Last>; 2],
    /// The text of the whole page, in the same way.
    page: [Option<changes::PageText>; 2],
}

/// The text that was shown last.
#[derive(Debug)]
struct Last {
    /// Of which document.
    doc: Doc,
    /// Without the focus.
    text: Arc<str>,
    /// How it was asked for.
    options: SnapshotOptions,
}

impl Tab {
    /// Takes a snapshot. Under a dialog it answers at once, and within two seconds where the server of the page has not
    /// answered, with what is known.
    ///
    /// # Errors
    /// [`Error::Supervisor`] when the top frame does not answer, [`Error::BadRequest`] for a selector that
    /// is none, [`Error::BadRef`], [`Error::StaleRef`].
    pub fn snapshot(&self, options: &SnapshotOptions, deadline: Deadline) -> Result<Snapshot, Error> {
        if self.supervisor.view().dialogs_of(self.target.as_str()).next().is_some() {
            return Ok(self.blocked(options.format));
        }
        let look = |deadline: Deadline| {
            self.arrived(deadline)?;
            self.look(&self.kept_options(options, deadline), deadline)
        };
        match self.unless_loading(deadline, look) {
            Err(error) if error.is_blocked_by_dialog() => Ok(self.blocked(options.format)),
            Ok(None) => Ok(Snapshot { loading: true, ..self.nothing(options.format) }),
            Ok(Some(seen)) => Ok(seen),
            Err(error) => Err(error),
        }
    }

    /// The options of the last snapshot of the tab, without those of size, format and redaction: of the last one with
    /// secrets covered, or of the last one without.
    #[must_use]
    pub fn last_view(&self, redacted: bool) -> Option<SnapshotOptions> {
        self.seen.lock().last[usize::from(redacted)].as_ref().map(|last| last.options.clone())
    }

    /// Where a difference is requested without more, it is that of the last snapshot, taken again in the same way.
    fn kept_options<'a>(&self, options: &'a SnapshotOptions, deadline: Deadline) -> Cow<'a, SnapshotOptions> {
        let view = options.view();
        let last = self.last_view(options.redact.is_some());
        let last = last.filter(|_| options.diff && view == SnapshotOptions::default());
        let Some(last) = last else { return Cow::Borrowed(options) };
        let SnapshotOptions { diff, format, limit, max_chars, offset, .. } = *options;
        let redact = options.redact.clone();
        // What they name may be gone with its document.
        let expand = last.expand.filter(|expand| self.resolve(expand).is_ok());
        let frame = last.frame.filter(|frame| self.frame_named(frame, deadline).is_ok());
        Cow::Owned(SnapshotOptions { diff, format, limit, max_chars, offset, redact, expand, frame, ..last })
    }

    fn look(&self, options: &SnapshotOptions, deadline: Deadline) -> Result<Snapshot, Error> {
        let expand = options.expand.as_deref().map(|text| self.resolve(text)).transpose()?.map(|(node, _)| node);
        let seen = self.collect(options, deadline)?;
        let mut shown = self.empty(options.format);
        (shown.url, shown.title, shown.rescued) = (seen.url, seen.title, seen.rescued);
        shown.unread = seen.unread;
        shown.stats.frames = seen.frames;
        if options.keeps_page() {
            self.keep_page(&seen.doc, seen.items.clone(), options.redact.as_ref());
        }
        shown.truncated = seen.cut;
        shown.full = options.diff;
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
        self.number(shown, text::lines(items).iter().map(text::Line::item));
        let covered = options.redact.as_ref().map(|secrets| redact::covered(items, secrets));
        let items = covered.as_deref().unwrap_or(items);
        let whole = self.text_of(items);
        // The focus is not compared: it moves with everything that is done.
        let (calm, shown_calm) = match text::without_focus(items) {
            Some((calm, shown)) => (self.text_of(&calm), self.text_of(&shown)),
            None => (whole.clone(), whole.clone()),
        };
        let view = options.view();
        let last = Last { doc: doc.clone(), text: calm.as_str().into(), options: view.clone() };
        let before = self.seen.lock().last[usize::from(options.redact.is_some())].replace(last);
        let text = if options.diff {
            let before = before.filter(|last| last.doc == *doc && last.options == view).map(|last| last.text);
            shown.full = before.is_none();
            let lines: Vec<&str> = shown_calm.lines().collect();
            Diff::between(&before.unwrap_or_default(), &calm).shown_with(&lines).to_string()
        } else {
            whole
        };
        let text = text::after(text, options.offset);
        let (text, cut) = text::cut(text, options.max_chars, options.offset);
        if cut || options.diff || options.offset > 0 {
            let told: HashSet<&str> = text::refs(&text).collect();
            shown.refs.retain(|reference, _| told.contains(reference.as_str()));
        }
        if let Some(secrets) = &options.redact {
            cover_names(shown, secrets);
        }
        shown.truncated |= cut;
        shown.stats =
            Stats { chars: text.chars().count(), lines: text.lines().count(), refs: shown.refs.len(), ..shown.stats };
        shown.snapshot = Some(text);
    }

    fn text_of(&self, items: &[collect::Item]) -> String {
        text::written(&text::lines(items), |item| self.reference(item))
    }

    /// Gives numbers to what is shown, and lists them.
    fn number<'a>(&self, shown: &mut Snapshot, items: impl Iterator<Item = &'a collect::Item>) {
        let now = self.supervisor.view();
        let loaders =
            now.frames_of(self.target.as_str()).map(|frame| (frame.frame_id.clone(), Arc::clone(&frame.loader)));
        let mut latest = Latest { numbers: Vec::new(), loaders: loaders.collect() };
        let mut refs = self.refs.lock();
        for item in items.filter(|item| item.has_ref) {
            let Some(node) = &item.node else { continue };
            let number = refs.show(node.clone(), Shown { role: item.role.to_string(), name: item.name.to_string() });
            let frame_id = Some(node.frame.clone()).filter(|_| !item.in_top);
            let info = RefInfo { role: item.role.to_string(), name: item.name.to_string(), frame_id };
            shown.refs.insert(format!("e{number}"), info);
            latest.numbers.push(number);
        }
        refs.set_latest(latest);
    }

    /// The refs of the last snapshot whose documents are still shown, in the order of the page. Reads only what is
    /// known: the page is not asked.
    #[must_use]
    pub fn last_refs(&self) -> Vec<(String, RefInfo)> {
        let now = self.supervisor.view();
        let is_current = |frame: &FrameId, loader: &str| now.document_of(frame).is_some_and(|now| *now == *loader);
        let top = now.page(self.target.as_str()).and_then(|page| page.top_frame.clone());
        let info = |node: &super::Node, shown: &Shown| RefInfo {
            role: shown.role.clone(),
            name: shown.name.clone(),
            frame_id: Some(node.frame.clone()).filter(|frame| Some(frame) != top.as_ref()),
        };
        let refs = self.refs.lock();
        refs.latest(is_current).map(|(number, node, shown)| (format!("e{number}"), info(node, shown))).collect()
    }

    fn reference(&self, item: &collect::Item) -> Option<u32> {
        let node = item.node.as_ref().filter(|_| item.has_ref)?;
        self.refs.lock().number(node)
    }

    fn empty(&self, format: Format) -> Snapshot {
        let now = self.supervisor.view();
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
            full: false,
            loading: false,
            blocked_by_dialog: false,
            rescued: false,
            unread: Vec::new(),
            pending_dialogs: now.dialogs_of(target).cloned().collect(),
            recent_dialogs: now.recent.iter().filter(|c| c.dialog.target_id == self.target).cloned().collect(),
            frame_tree: now.frame_tree(target),
        }
    }

    fn blocked(&self, format: Format) -> Snapshot {
        Snapshot { blocked_by_dialog: true, ..self.nothing(format) }
    }

    /// What is known without the page.
    fn nothing(&self, format: Format) -> Snapshot {
        let mut shown = self.empty(format);
        match format {
            Format::Ai => shown.snapshot = Some(String::new()),
            Format::Aria => shown.nodes = Some(Vec::new()),
        }
        shown
    }

    /// A frame by its id, or by the ref of the element that holds it.
    pub(in super::super) fn frame_named(&self, text: &str, deadline: Deadline) -> Result<FrameId, Error> {
        let not_found = match self.own_frame(text) {
            Ok(frame) => return Ok(frame),
            Err(error) => error,
        };
        match self.resolve(text) {
            Err(Error::BadRef { .. }) => Err(not_found),
            Err(error) => Err(error),
            Ok((node, _)) => self.frame_in(&node, deadline),
        }
    }
}

/// Covers secrets in the names that refs are listed with.
fn cover_names(shown: &mut Snapshot, secrets: &Secrets) {
    for info in shown.refs.values_mut() {
        info.name = secrets.cover(&info.name).into_owned();
    }
}
