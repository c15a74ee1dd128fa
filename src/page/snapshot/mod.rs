//! Snapshots: the content of a tab over all its frames, as lines of text or as a list of nodes.
//!
//! | file | contents |
//! |---|---|
//! | `collect` | reading all frames at once and joining their trees |
//! | `tree` | the answer of the page script for one frame |
//! | `closed` | finding closed shadow roots |
//! | `listeners`, `internals` | clickable elements, and roles of custom elements, that only the browser knows |
//! | `text` | the `ai` format: lines with refs |
//! | `nodes` | the `aria` format |
//! | `redact` | covering secrets before lines are written |
//! | `fold` | leaving out long runs of similar siblings, and filters |
//! | `merge` | leaving out wrappers that repeat a control |
//! | `diff` | line diffs |
//! | `changes` | changes of a page since an action |
//! | `labels` | the elements that labels of a screenshot number |
//! | `loading` | reading a tab whose server has not answered |
//!
//! - **Refs** are numbers for frame, document and node. The page script numbers nodes and holds them weakly; each new
//!   document gets a token. Numbers are never reused, so a stale ref matches nothing.
//! - **A frame that moves to another process** is waited for. If it still has no process then, it is reported as
//!   unread.
//! - **Text** of boxes that do not touch is separated, by layout, not by tag: blocks are on separate lines; boxes in a
//!   line, and parts of a line with a margin, border or padding, are separated by a space. Names follow Chromium, which
//!   separates less.
//! - **Differences** use the options of the last snapshot and ignore the focus. With other options, or in another
//!   document, every line is new and the answer contains `full`.

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
use std::fmt;
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
use crate::setters;
use crate::supervisor::{ClosedDialog, Dialog, FrameTree, Secrets};
use crate::sync::Deadline;

/// The format of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Indented lines with refs.
    #[default]
    Ai,
    /// A list of nodes.
    Aria,
}

/// What to include in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SnapshotOptions {
    /// The format. Default [`Format::Ai`].
    pub format: Format,
    /// Maximum number of nodes, `aria` only. Default 500.
    pub limit: usize,
    /// Maximum length in characters, `ai` only, cut at whole lines. Default 40,000; 0: no limit.
    pub max_chars: usize,
    /// Number of lines to skip at the start, `ai` only: to continue a truncated snapshot.
    pub offset: usize,
    /// Only elements that can be acted on. Default false.
    pub interactive: bool,
    /// Omit containers without a name. Default false.
    pub compact: bool,
    /// Maximum depth below the root.
    pub depth: Option<u32>,
    /// Only the content of the first element that matches this CSS selector.
    pub selector: Option<String>,
    /// Only this frame and its descendants: a frame id, or the ref of its `<iframe>`.
    pub frame: Option<String>,
    /// Include the URLs of links.
    pub urls: bool,
    /// Only lines that changed since the last snapshot of the tab. If no other options than size and format are given,
    /// those of that snapshot apply. A moved focus is not a change.
    pub diff: bool,
    /// Show only five of eight or more similar siblings.
    pub fold: bool,
    /// The ref of a folded run to show completely.
    pub expand: Option<String>,
    /// Secrets to cover in names, values and texts, besides texts that look like one; `None` covers nothing.
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
    /// The default options, as [`Default`] gives them.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { SnapshotOptions:
    format(Format),
    limit(usize),
    max_chars(usize),
    offset(usize),
    interactive(bool),
    compact(bool),
    depth(some u32),
    selector(some into String),
    frame(some into String),
    urls(bool),
    diff(bool),
    fold(bool),
    expand(some into String),
    redact(some Secrets),
}

impl SnapshotOptions {
    /// The options that decide on the lines: all but size, format, redaction and `diff`.
    fn view(&self) -> Self {
        let Self { format, limit, max_chars, offset, diff, redact, .. } = Self::default();
        Self { format, limit, max_chars, offset, diff, redact, ..self.clone() }
    }
}

/// The element of a ref.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RefInfo {
    /// The ARIA role of the element, such as `button`.
    pub role: String,
    /// The accessible name. Untrusted.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The frame; absent for the top frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub frame_id: Option<FrameId>,
}

/// The size of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Stats {
    /// Characters of the text.
    pub chars: usize,
    /// Lines of the text, or nodes.
    pub lines: usize,
    /// Number of elements with a ref.
    pub refs: usize,
    /// Number of frames that were read.
    pub frames: usize,
}

/// The content of a tab.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Snapshot {
    /// The format, which decides whether `snapshot` or `nodes` is filled in.
    pub format: Format,
    /// The target id of the tab.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub target_id: TargetId,
    /// The URL of the document.
    pub url: String,
    /// The title of the document. Untrusted.
    pub title: String,
    /// The lines of the `ai` format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The nodes of the `aria` format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<AriaNode>>,
    /// The refs, such as `e12`, with their elements.
    pub refs: BTreeMap<String, RefInfo>,
    /// The size of the content.
    pub stats: Stats,
    /// Whether something was left out: beyond the limits of the request, or nested deeper than 700 levels.
    pub truncated: bool,
    /// With `diff`: there was no earlier snapshot of this document with these options, so everything is reported as
    /// new.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// With `diff`: nothing has changed since the last snapshot.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// The server of the page has not answered yet: only what the browser knows is filled in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loading: bool,
    /// The document is a PDF: its content is not read. `POST /wait/download` with `document` saves it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pdf: bool,
    /// A dialog is open: the content is empty.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocked_by_dialog: bool,
    /// A script of the page was terminated to read it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rescued: bool,
    /// Frames that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadFrame>,
    /// Open dialogs of the tab.
    #[serde(rename = "pending_dialogs")]
    pub pending_dialogs: Vec<Dialog>,
    /// Closed dialogs of the tab.
    #[serde(rename = "recent_dialogs", skip_serializing_if = "Vec::is_empty")]
    pub recent_dialogs: Vec<ClosedDialog>,
    /// The frames of the tab.
    #[serde(rename = "frame_tree")]
    pub frame_tree: FrameTree,
}

/// The text of the `ai` format, or one line per node; without content, why there is none.
impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.blocked_by_dialog {
            return f.write_str("(a dialog is open)");
        }
        if self.loading {
            return f.write_str("(the page is loading)");
        }
        if let Some(nodes) = &self.nodes {
            for (index, node) in nodes.iter().enumerate() {
                let (end, indent) = (if index == 0 { "" } else { "\n" }, 2 * node.depth as usize);
                write!(f, "{end}{:indent$}- {} {:?}", "", node.role, node.name)?;
            }
            return Ok(());
        }
        f.write_str(self.snapshot.as_deref().unwrap_or_default())
    }
}

/// A frame that is missing in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UnreadFrame {
    /// Id of the frame that is missing.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub frame_id: FrameId,
    /// Why the frame could not be read.
    pub problem: String,
}

/// State kept between snapshots of a tab.
#[derive(Debug, Default)]
pub(super) struct SnapshotCache {
    /// The element that holds each frame, with its document.
    owners: HashMap<FrameId, (Doc, u32)>,
    /// Elements that listen to clicks.
    listening: HashMap<FrameId, listeners::ListenerCache>,
    /// Custom elements whose roles only the browser knows.
    internals: HashMap<FrameId, internals::InternalsCache>,
    /// Element counts of sessions.
    counted: HashMap<Arc<str>, closed::ElementCount>,
    /// The last text, and the last text with secrets covered.
    last: [Option<LastText>; 2],
    /// The text of the whole page, likewise.
    page: [Option<changes::PageText>; 2],
}

/// The last text of a snapshot.
#[derive(Debug)]
struct LastText {
    /// Its document.
    doc: Doc,
    /// The text without the focus.
    text: Arc<str>,
    /// The options of the snapshot.
    options: SnapshotOptions,
}

impl Tab {
    /// Takes a snapshot. While a dialog is open, answers at once with what is known; when the server of the page has
    /// not answered, within two seconds.
    ///
    /// # Errors
    /// [`Error::Supervisor`] when the top frame does not answer, [`Error::BadRequest`] for an invalid selector,
    /// [`Error::NoMatch`] for one without a match, [`Error::BadRef`], [`Error::StaleRef`].
    pub fn snapshot(&self, options: &SnapshotOptions, deadline: Deadline<'_>) -> Result<Snapshot, Error> {
        if self.supervisor.view().dialogs_of(self.target.as_str()).next().is_some() {
            return Ok(self.blocked(options.format));
        }
        let look = |deadline: Deadline<'_>| {
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

    /// The options of the last snapshot of the tab, without size, format and redaction: of the last one with secrets
    /// covered, or of the last one without.
    #[must_use]
    pub fn last_view(&self, redacted: bool) -> Option<SnapshotOptions> {
        self.snapshot_cache.lock().last[usize::from(redacted)].as_ref().map(|last| last.options.clone())
    }

    /// For `diff` without other options: those of the last snapshot.
    fn kept_options<'a>(&self, options: &'a SnapshotOptions, deadline: Deadline<'_>) -> Cow<'a, SnapshotOptions> {
        let view = options.view();
        let last = self.last_view(options.redact.is_some());
        let last = last.filter(|_| options.diff && view == SnapshotOptions::default());
        let Some(last) = last else { return Cow::Borrowed(options) };
        let SnapshotOptions { diff, format, limit, max_chars, offset, .. } = *options;
        let redact = options.redact.clone();
        // The ref or frame that they name may be gone with its document.
        let expand = last.expand.filter(|expand| self.resolve(expand).is_ok());
        let frame = last.frame.filter(|frame| self.frame_named(frame, deadline).is_ok());
        Cow::Owned(SnapshotOptions { diff, format, limit, max_chars, offset, redact, expand, frame, ..last })
    }

    fn look(&self, options: &SnapshotOptions, deadline: Deadline<'_>) -> Result<Snapshot, Error> {
        let expand = options.expand.as_deref().map(|text| self.resolve(text)).transpose()?.map(|(node, _)| node);
        let mut seen = self.collect(options, deadline)?;
        if seen.items.is_empty() && self.content_comes(&seen.url, options, deadline)? {
            seen = self.collect(options, deadline)?;
        }
        let mut shown = self.empty(options.format);
        (shown.url, shown.title, shown.rescued) = (seen.url, seen.title, seen.rescued);
        shown.unread = seen.unread;
        shown.stats.frames = seen.frames;
        if options.keeps_page() {
            self.keep_page(&seen.doc, seen.items.clone(), options.redact.as_ref());
        }
        (shown.truncated, shown.pdf) = (seen.cut, seen.pdf);
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
        // The focus is not compared: every action moves it.
        let (calm, shown_calm) = match text::without_focus(items) {
            Some((calm, shown)) => (self.text_of(&calm), self.text_of(&shown)),
            None => (whole.clone(), whole.clone()),
        };
        let view = options.view();
        let last = LastText { doc: doc.clone(), text: calm.as_str().into(), options: view.clone() };
        let before = self.snapshot_cache.lock().last[usize::from(options.redact.is_some())].replace(last);
        let text = if options.diff {
            let before = before.filter(|last| last.doc == *doc && last.options == view).map(|last| last.text);
            shown.full = before.is_none();
            let lines: Vec<&str> = shown_calm.lines().collect();
            Diff::between(&before.unwrap_or_default(), &calm).shown_with(&lines).to_string()
        } else {
            whole
        };
        shown.unchanged = options.diff && !shown.full && text.is_empty();
        let text = text::after(text, options.offset);
        let (text, cut) = text::cut(text, options.max_chars, options.offset);
        if cut || options.diff || options.offset > 0 {
            let shown_refs: HashSet<&str> = text::refs(&text).collect();
            shown.refs.retain(|reference, _| shown_refs.contains(reference.as_str()));
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

    /// Assigns refs to the shown elements, and lists them.
    fn number<'a>(&self, shown: &mut Snapshot, items: impl Iterator<Item = &'a collect::Item>) {
        let now = self.supervisor.view();
        let loaders =
            now.frames_of(self.target.as_str()).map(|frame| (frame.frame_id.clone(), Arc::clone(&frame.loader)));
        let mut latest = Latest { numbers: Vec::new(), loaders: loaders.collect() };
        let mut refs = self.refs.lock();
        for item in items.filter(|item| item.has_ref) {
            let Some(node) = &item.node else { continue };
            let number = refs.show(node.clone(), Shown::new(&*item.role, &*item.name));
            let frame_id = Some(node.frame.clone()).filter(|_| !item.in_top);
            let info = RefInfo { role: item.role.to_string(), name: item.name.to_string(), frame_id };
            shown.refs.insert(format!("e{number}"), info);
            latest.numbers.push(number);
        }
        refs.set_latest(latest);
    }

    /// The refs of the last snapshot whose documents are still shown, in document order. Does not query the page.
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
            unchanged: false,
            loading: false,
            pdf: false,
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

    /// A snapshot with what is known without querying the page.
    fn nothing(&self, format: Format) -> Snapshot {
        let mut shown = self.empty(format);
        match format {
            Format::Ai => shown.snapshot = Some(String::new()),
            Format::Aria => shown.nodes = Some(Vec::new()),
        }
        shown
    }

    /// A frame by its id, or by the ref of the element that holds it.
    pub(in super::super) fn frame_named(&self, text: &str, deadline: Deadline<'_>) -> Result<FrameId, Error> {
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

/// Covers secrets in the names of listed refs.
fn cover_names(shown: &mut Snapshot, secrets: &Secrets) {
    for info in shown.refs.values_mut() {
        info.name = secrets.cover(&info.name).into_owned();
    }
}
