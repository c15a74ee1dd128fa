//! Frames: one record per frame id, kept while the frame moves between processes.
//!
//! Observed in Chromium 156:
//! - A subframe is attached on its parent's session. When it becomes cross-process, its target is attached first, and
//!   the parent's session reports `frameDetached` with reason `swap` later.
//! - When it returns to its parent's process, its target is detached and the parent's session reports `frameAttached`.
//! - When it is removed, the parent's session reports `frameDetached` with reason `remove`, then the target is
//!   detached. When the parent shows another document, only the target is detached.
//! - A document from the back/forward cache restores its frames: cross-process ones are attached before the navigation
//!   is reported, others are not reported at all.
//! - Attaching to a loaded page sends no frame events, so every session reads its frame tree.
//!
//! A frame whose target is detached is kept until its document is gone, because it may return in its parent's process.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::log::{FrameChange, LogEvent as Noted};
use super::super::snapshot::{Frame, Load};
use super::sessions::SessionRec;
use super::{Now, SessionKey, State};
use crate::cdp::protocol::page::{
    self, FrameAttachedEvent, FrameDetachedEvent, FrameDetachedReason, FrameId, FrameNavigatedEvent,
    NavigatedWithinDocumentEvent, NavigationType,
};
use crate::cdp::protocol::runtime::ExecutionContextCreatedEvent;
use crate::cdp::protocol::target::{TargetId, TargetInfo};

/// Maximum depth of a frame. Chromium allows at most 1000 frames in a page.
const DEEPEST: usize = 1000;

#[derive(Debug)]
pub(super) struct FrameRec {
    page: TargetId,
    parent: Option<FrameId>,
    url: Arc<str>,
    origin: Arc<str>,
    name: Arc<str>,
    loader: Arc<str>,
    /// The parent's document that contains the frame: when the parent shows another, the frame is gone.
    parent_loader: Arc<str>,
    session: Option<SessionKey>,
    oopif: bool,
    context: Option<i64>,
    order: u64,
    /// Removed from its parent's document; dropped with its session. What its own session answers after that does not
    /// change it; a new target, a navigation, or its parent's session does.
    removed: bool,
    /// Navigating to another document. Chromium 156 delays all commands to its session until the document is committed,
    /// however long the server takes.
    navigating: bool,
    load: Load,
    /// Known from a lost connection, and not reported since.
    forgotten: bool,
}

/// All frames of the task.
#[derive(Debug, Default)]
pub(super) struct Frames {
    by_id: HashMap<FrameId, FrameRec>,
    next_order: u64,
}

impl Frames {
    pub(super) fn get(&self, id: &FrameId) -> Option<&FrameRec> {
        self.by_id.get(id)
    }

    pub(super) fn origin(&self, id: &FrameId) -> Option<Arc<str>> {
        self.by_id.get(id).map(|f| Arc::clone(&f.origin)).filter(|o| !o.is_empty())
    }

    pub(super) fn url(&self, id: &FrameId) -> Option<Arc<str>> {
        self.by_id.get(id).map(|f| Arc::clone(&f.url))
    }

    pub(super) fn session(&self, id: &FrameId) -> Option<SessionKey> {
        self.by_id.get(id).and_then(|f| f.session.clone())
    }

    /// The loader id of the document that a frame shows.
    pub(super) fn loader(&self, id: &FrameId) -> Option<Arc<str>> {
        self.by_id.get(id).map(|f| Arc::clone(&f.loader))
    }

    /// The page that a frame belongs to.
    pub(super) fn page(&self, id: &FrameId) -> Option<TargetId> {
        self.by_id.get(id).map(|f| f.page.clone())
    }

    pub(super) fn count_on(&self, page: &TargetId) -> usize {
        self.by_id.values().filter(|f| f.page == *page).count()
    }

    pub(super) fn on_session(&self, session: &SessionKey) -> Vec<FrameId> {
        let here = self.by_id.iter().filter(|(_, f)| f.session.as_ref() == Some(session));
        here.map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn on_page(&self, page: &TargetId) -> Vec<FrameId> {
        self.by_id.iter().filter(|(_, f)| f.page == *page).map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn any_navigating(&self, page: &TargetId) -> bool {
        self.by_id.values().any(|f| f.page == *page && f.navigating)
    }

    pub(super) fn by_context(&self, session: &SessionKey, context: i64) -> Option<FrameId> {
        let mut all = self.by_id.iter();
        all.find(|(_, f)| f.context == Some(context) && f.session.as_ref() == Some(session)).map(|(id, _)| id.clone())
    }

    /// The connection was lost: the frames stay known.
    pub(super) fn detach_all(&mut self) {
        for rec in self.by_id.values_mut() {
            rec.session = None;
            rec.context = None;
            rec.forgotten = true;
            rec.navigating = false;
        }
    }

    pub(super) fn remove_page(&mut self, page: &TargetId) -> bool {
        let before = self.by_id.len();
        self.by_id.retain(|_, f| f.page != *page);
        self.by_id.len() != before
    }

    pub(super) fn views<'a>(&self, session: impl Fn(&str) -> Option<&'a SessionRec>) -> Arc<[Frame]> {
        let mut all: Vec<(&FrameId, &FrameRec)> = self.by_id.iter().collect();
        all.sort_unstable_by_key(|(_, f)| f.order);
        let session = |f: &FrameRec| f.session.as_deref().and_then(&session);
        let view = |(id, f): (&FrameId, &FrameRec)| Frame {
            frame_id: id.clone(),
            target_id: f.page.clone(),
            parent_frame_id: f.parent.clone(),
            url: Arc::clone(&f.url),
            origin: Arc::clone(&f.origin),
            name: Arc::clone(&f.name),
            is_oopif: f.oopif,
            session_id: f.session.clone(),
            session_frame: session(f).and_then(SessionRec::frame),
            bridge: session(f).map(|s| s.bridge.clone()).unwrap_or_default(),
            context: f.context,
            loader: Arc::clone(&f.loader),
            navigating: f.navigating,
            load: f.load,
        };
        all.into_iter().map(view).collect()
    }

    /// The record of a frame; created if missing.
    fn entry(&mut self, id: &FrameId, page: &TargetId, parent: Option<&FrameId>) -> &mut FrameRec {
        let parent_loader = parent.and_then(|p| self.by_id.get(p)).map(|p| Arc::clone(&p.loader)).unwrap_or_default();
        let in_circle = parent.is_some_and(|parent| self.is_in_circle(id, parent));
        let next_order = &mut self.next_order;
        let rec = self.by_id.entry(id.clone()).or_insert_with(|| {
            *next_order += 1;
            FrameRec {
                page: page.clone(),
                parent: None,
                url: Arc::default(),
                origin: Arc::default(),
                name: Arc::default(),
                loader: Arc::default(),
                parent_loader: Arc::default(),
                session: None,
                oopif: false,
                context: None,
                order: *next_order,
                removed: false,
                forgotten: false,
                navigating: false,
                load: Load::default(),
            }
        });
        if parent.is_some() && !in_circle {
            rec.parent = parent.cloned();
            rec.parent_loader = parent_loader;
        }
        rec.forgotten = false;
        rec
    }

    /// Whether attaching a frame below this parent would create a cycle, or exceed the maximum depth. Untrusted
    /// endpoints may report such frames; traversals would not terminate.
    fn is_in_circle(&self, id: &FrameId, parent: &FrameId) -> bool {
        let mut around = Some(parent);
        for _ in 0..DEEPEST {
            match around {
                None => return false,
                Some(at) if at == id => return true,
                Some(at) => around = self.by_id.get(at).and_then(|rec| rec.parent.as_ref()),
            }
        }
        true
    }

    /// Removes a frame and everything below it. Returns what was removed.
    fn remove_tree(&mut self, id: &FrameId) -> Vec<FrameId> {
        let mut removed = vec![id.clone()];
        let mut next = 0;
        while next < removed.len() {
            let below = self.by_id.iter().filter(|(_, f)| f.parent.as_ref() == Some(&removed[next]));
            let below: Vec<FrameId> = below.map(|(id, _)| id.clone()).filter(|id| !removed.contains(id)).collect();
            removed.extend(below);
            next += 1;
        }
        removed.retain(|id| self.by_id.remove(id).is_some());
        removed
    }
}

impl State {
    /// Whether a session's target is this frame, which then runs in its own process.
    fn is_oopif_root(&self, session: &SessionKey, frame: &FrameId) -> bool {
        self.sessions
            .get(session)
            .is_some_and(|s| s.kind == super::sessions::SessionKind::Iframe && s.target.as_str() == frame.as_str())
    }

    pub(super) fn frame_attached(&mut self, session: &SessionKey, event: &FrameAttachedEvent, now: Now) {
        let Some(page) = self.page_of(session) else { return };
        let rec = self.frames.entry(&event.frame_id, &page, Some(&event.parent_frame_id));
        rec.removed = false;
        rec.session = Some(Arc::clone(session));
        rec.oopif = false;
        rec.context = None;
        self.dirty.frames = true;
        let (frame_id, parent) = (event.frame_id.clone(), Some(event.parent_frame_id.clone()));
        self.note(Some(&page), now, Noted::Frame { frame_id, change: FrameChange::Attached, parent });
    }

    pub(super) fn frame_navigated(&mut self, session: &SessionKey, event: &FrameNavigatedEvent, now: Now) {
        let Some(page) = self.page_of(session) else { return };
        let frame = &event.frame;
        let cached = event.r#type == Some(NavigationType::BackForwardCacheRestore);
        self.drop_children(&frame.id);
        self.take_frame(session, frame, &page);
        if let Some(rec) = self.frames.by_id.get_mut(&frame.id) {
            rec.removed = false;
            rec.load = if cached { Load::Loaded(now.instant) } else { Load::Loading };
        }
        if frame.parent_id.is_none() {
            self.document_committed(session, &frame.id, &frame.url, now);
        }
        self.lose_calls(&page, Some(&frame.id), now);
        if frame.parent_id.is_none() {
            self.locate(&page, &frame.url); // a redirect may have changed the origin
            self.once_shown(&page, &frame.url);
        }
        self.left_document(&page, &frame.id, frame.loader_id.as_str(), frame.parent_id.is_none());
        if cached {
            self.reseed(session);
        }
        if let Some(index) = self.page_index(&page).filter(|_| frame.parent_id.is_none()) {
            self.pages[index].was_there = false;
            self.pages[index].is_first = false;
        }
        self.guard_frame(session, &frame.id, &frame.url, now);
        if frame.parent_id.is_none() && frame.url == "about:blank" {
            self.requests.blanked(&page);
        }
        let (frame_id, url, main) = (frame.id.clone(), frame.url.as_str().into(), frame.parent_id.is_none());
        self.note(Some(&page), now, Noted::Navigated { frame_id, url, main, same_document: false });
    }

    /// A new document begins without frames. Frames of the old one with a session are dropped with the session; in a
    /// document from the back/forward cache these are its own frames.
    pub(super) fn drop_children(&mut self, parent: &FrameId) {
        let alive = |session: &Option<SessionKey>| session.as_ref().is_some_and(|s| self.sessions.contains_key(s));
        let below = self.frames.by_id.iter().filter(|(_, f)| f.parent.as_ref() == Some(parent));
        let gone: Vec<FrameId> =
            below.filter(|(_, f)| !(f.oopif && alive(&f.session))).map(|(id, _)| id.clone()).collect();
        for id in gone {
            self.frames.remove_tree(&id);
            self.dirty.frames = true;
        }
    }

    /// Updates the record of a frame from a session's report.
    fn take_frame(&mut self, session: &SessionKey, frame: &page::Frame, page: &TargetId) {
        let oopif = self.is_oopif_root(session, &frame.id);
        let url: Arc<str> = match &frame.url_fragment {
            Some(fragment) => format!("{}{fragment}", frame.url).into(),
            None => frame.url.as_str().into(),
        };
        let rec = self.frames.entry(&frame.id, page, frame.parent_id.as_ref());
        if rec.session.as_ref() != Some(session) {
            rec.context = None;
        }
        rec.session = Some(Arc::clone(session));
        rec.oopif = oopif;
        rec.removed &= oopif;
        rec.url = Arc::clone(&url);
        if rec.context.is_none() {
            // Derived from the URL only; the document's execution context reports the exact origin.
            rec.origin = origin(&frame.security_origin);
        }
        if let Some(name) = &frame.name {
            rec.name = name.as_str().into();
        }
        rec.loader = frame.loader_id.as_str().into();
        rec.navigating = false;
        self.dirty.frames = true;
        if frame.parent_id.is_none()
            && let Some(rec) = self.page_mut(page)
            && rec.session == *session
        {
            rec.top = Some(frame.id.clone());
            // The URL of an initial empty document is empty: that of the target is the one to be loaded.
            if !url.is_empty() {
                rec.url = url;
            }
        }
    }

    /// The top frame of a page starts a navigation.
    pub(super) fn sets_out(&mut self, session: &SessionKey, event: &page::FrameStartedNavigatingEvent<'_>) {
        let page =
            self.pages.iter().find(|page| page.session == *session && page.top.as_ref() == Some(&event.frame_id));
        if let Some(page) = page.map(|page| page.target.clone()) {
            self.locate(&page, &event.url);
        }
    }

    /// A frame has loaded its document, or a navigation came to nothing.
    pub(super) fn stopped_loading(&mut self, session: &SessionKey, frame: &FrameId, now: Now) {
        self.navigating(session, frame, false);
        if let Some(rec) = self.frames.by_id.get_mut(frame).filter(|rec| rec.session.as_ref() == Some(session)) {
            rec.load = Load::Loaded(now.instant);
            self.dirty.frames = true;
        }
    }

    pub(super) fn navigating(&mut self, session: &SessionKey, frame: &FrameId, begins: bool) {
        if let Some(rec) = self.frames.by_id.get_mut(frame)
            && rec.session.as_ref() == Some(session)
            && rec.navigating != begins
        {
            rec.navigating = begins;
            self.dirty.frames = true;
        }
    }

    pub(super) fn moved_within(&mut self, session: &SessionKey, event: &NavigatedWithinDocumentEvent<'_>, now: Now) {
        let Some(page) = self.page_of(session) else { return };
        let Some(rec) = self.frames.by_id.get_mut(&event.frame_id) else { return };
        let url: Arc<str> = (*event.url).into();
        let main = rec.parent.is_none();
        rec.url = Arc::clone(&url);
        rec.navigating = false;
        self.dirty.frames = true;
        if main && let Some(page) = self.page_mut(&page) {
            page.url = Arc::clone(&url);
            self.ask_info(session);
        }
        let frame_id = event.frame_id.clone();
        self.note(Some(&page), now, Noted::Navigated { frame_id, url, main, same_document: true });
    }

    pub(super) fn frame_detached(&mut self, session: &SessionKey, event: &FrameDetachedEvent, now: Now) {
        let Some(page) = self.page_of(session) else { return };
        let swap = event.reason == Some(FrameDetachedReason::Swap);
        let Some(rec) = self.frames.by_id.get_mut(&event.frame_id) else { return };
        if swap {
            // It continues in another process; its target is attached already or will be.
            if rec.session.as_ref() == Some(session) {
                rec.session = None;
                rec.context = None;
                self.dirty.frames = true;
            }
            return;
        }
        let elsewhere = rec.session.as_ref().is_some_and(|s| s != session);
        if elsewhere {
            // Some proxies report this for a frame that only moved. It is dropped with its session.
            rec.removed = true;
            return;
        }
        self.frame_gone(&event.frame_id, &page, now);
    }

    pub(super) fn frame_gone(&mut self, id: &FrameId, page: &TargetId, now: Now) {
        let gone = self.frames.remove_tree(id);
        self.dirty.frames |= !gone.is_empty();
        self.lose_dialogs(|d| d.frame_id.as_ref().is_some_and(|f| gone.contains(f)), now);
        let gone = Noted::Frame { frame_id: id.clone(), change: FrameChange::Detached, parent: None };
        self.note(Some(page), now, gone);
    }

    pub(super) fn frame_target_attached(
        &mut self,
        session: &SessionKey,
        info: &TargetInfo,
        parent: &SessionKey,
        page: &TargetId,
        now: Now,
    ) {
        let id = FrameId::from(info.target_id.as_str());
        let above = info
            .parent_frame_id
            .clone()
            .or_else(|| self.frames.get(&id).and_then(|f| f.parent.clone()))
            .or_else(|| self.sessions.get(parent).and_then(super::sessions::SessionRec::frame));
        let rec = self.frames.entry(&id, page, above.as_ref());
        rec.removed = false;
        rec.session = Some(Arc::clone(session));
        rec.oopif = true;
        rec.context = None;
        if !info.url.is_empty() {
            rec.url = info.url.as_str().into();
        }
        self.dirty.frames = true;
        let moved = Noted::Frame { frame_id: id, change: FrameChange::OwnProcess, parent: above };
        self.note(Some(page), now, moved);
    }

    pub(super) fn frame_target_detached(&mut self, session: &str, target: &TargetId, now: Now) {
        let id = FrameId::from(target.as_str());
        // Sessions attached through this one end with it, without an event.
        let below = self.frames.by_id.iter().filter(|(_, f)| f.parent.as_ref() == Some(&id));
        let below: Vec<SessionKey> = below.filter_map(|(_, f)| f.session.clone()).filter(|s| **s != *session).collect();
        for child in below {
            self.detached(&child, now);
        }
        let Some(rec) = self.frames.by_id.get_mut(&id) else { return };
        if rec.session.as_deref() != Some(session) {
            return; // already on another session
        }
        rec.session = None;
        rec.context = None;
        self.dirty.frames = true;
        let (page, removed, seen_in) = (rec.page.clone(), rec.removed, Arc::clone(&rec.parent_loader));
        let parent = rec.parent.clone();
        // Keep it otherwise: the frame may return in its parent's process, or a proxy may have detached it briefly. It
        // is dropped with its document.
        let document_gone = match parent.as_ref().map(|p| self.frames.get(p)) {
            Some(Some(parent)) => *parent.loader != *seen_in && !seen_in.is_empty(),
            Some(None) => true,
            None => false,
        };
        if removed || document_gone {
            self.frame_gone(&id, &page, now);
        }
    }

    /// Updates the frames from a session's frame tree. `again` also drops frames that the tree no longer has.
    pub(super) fn seed(&mut self, session: &SessionKey, tree: &page::FrameTree, again: bool, now: Now) {
        let Some(page) = self.page_of(session) else { return };
        let mut seen = Vec::new();
        let mut queue = vec![tree];
        while let Some(node) = queue.pop() {
            self.take_frame(session, &node.frame, &page);
            let shows =
                node.frame.parent_id.is_none() && !matches!(node.frame.url.as_str(), "" | super::requests::BLANK);
            if let Some(index) = self.page_index(&page).filter(|_| shows) {
                self.pages[index].is_first = false;
            }
            if !self.was_there(&page) {
                self.guard_frame(session, &node.frame.id, &node.frame.url, now);
            }
            seen.push(node.frame.id.clone());
            queue.extend(node.child_frames.iter().flatten().rev());
        }
        if again {
            for id in self.frames.on_session(session) {
                if !seen.contains(&id) {
                    self.frame_gone(&id, &page, now);
                }
            }
        }
    }

    /// Drops the frames of a page that disappeared during a lost connection. Frames below a cross-process frame are
    /// reported again with its session.
    pub(super) fn drop_forgotten(&mut self, page: &TargetId, now: Now) {
        let gone = self.frames.by_id.iter().filter(|(_, f)| f.page == *page && f.forgotten);
        let gone: Vec<FrameId> = gone.map(|(id, _)| id.clone()).collect();
        for id in gone {
            self.frame_gone(&id, page, now);
        }
    }

    pub(super) fn context_created(&mut self, session: &SessionKey, event: &ExecutionContextCreatedEvent<'_>) {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Aux {
            is_default: Option<bool>,
            frame_id: Option<String>,
        }
        let Some(aux) = event.context.aux_data.and_then(|raw| serde_json::from_str::<Aux>(raw.get()).ok()) else {
            return; // belongs to a worker
        };
        let (Some(true), Some(frame)) = (aux.is_default, aux.frame_id) else { return };
        let Some(page) = self.page_of(session) else { return };
        let rec = self.frames.entry(&FrameId::from(frame), &page, None);
        if rec.session.is_none() {
            rec.session = Some(Arc::clone(session));
        }
        if rec.session.as_ref() == Some(session) {
            rec.context = Some(event.context.id);
            rec.origin = origin(&event.context.origin);
            self.dirty.frames = true;
        }
    }

    pub(super) fn context_destroyed(&mut self, session: &SessionKey, context: i64) {
        for rec in self.frames.by_id.values_mut() {
            if rec.context == Some(context) && rec.session.as_ref() == Some(session) {
                rec.context = None;
                self.dirty.frames = true;
            }
        }
    }

    pub(super) fn contexts_cleared(&mut self, session: &SessionKey) {
        for rec in self.frames.by_id.values_mut() {
            if rec.context.is_some() && rec.session.as_ref() == Some(session) {
                rec.context = None;
                self.dirty.frames = true;
            }
        }
    }
}

/// Chromium reports `://` for an opaque origin.
fn origin(security_origin: &str) -> Arc<str> {
    match security_origin {
        "://" | "" => "null".into(),
        other => other.into(),
    }
}
