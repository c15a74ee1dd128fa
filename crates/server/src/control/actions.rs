//! What a session has done in pages, noted for a recording of it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use serde_json::Value;

use super::{Profile, Running, Session, TabHandle};
use cdpilot::page::{Act, ActKind, Locator, Node, Traced};
use cdpilot::supervisor::{FrameId, TargetId, View};
use cdpilot::sync::Deadline;

/// Time limit for describing the element of an action.
const DESCRIBING: Duration = Duration::from_secs(1);
/// Most actions that are noted and not taken.
const MOST: usize = 200;
/// Most fields of an action that are described.
const MOST_ELEMENTS: usize = 100;

/// An element of an action.
#[derive(Debug, Clone)]
pub struct ActionElement {
    /// The frame that it is in.
    pub frame: FrameId,
    /// Its description before the action, as in a recording. Untrusted.
    pub element: Value,
    /// What it held after the action, as the data of an event; null if it holds nothing or is gone.
    pub held: Value,
}

/// An action that has succeeded.
#[derive(Debug, Clone)]
pub struct ActionDone {
    /// The action. Secrets are placeholders in it.
    pub act: ActKind,
    /// When it began, in seconds since 1970.
    pub at: f64,
    /// The tab.
    pub target: TargetId,
    /// The address of its page before the action.
    pub url: String,
    /// The title of its page before the action.
    pub title: String,
    /// The browser before the action.
    pub view: Arc<View>,
    /// Its elements: that of the action, the fields that it fills in, both ends of a drag.
    pub elements: Vec<ActionElement>,
}

/// Actions that are noted.
#[derive(Debug, Default)]
pub(super) struct Noted(Mutex<Vec<ActionDone>>);

/// An action that has begun.
pub(super) struct Begun {
    done: ActionDone,
    nodes: Vec<Node>,
}

impl Session {
    /// The session with its actions noted from now on. No effect on the default session, and when it is in use already.
    #[must_use]
    pub fn noting_actions(mut self) -> Self {
        if let Some(client) = self.client_mut() {
            client.noted = Some(Noted::default());
        }
        self
    }

    /// The actions that were noted since they were taken last, the oldest first.
    #[must_use]
    pub fn take_actions(&self) -> Vec<ActionDone> {
        let noted = self.client().and_then(|client| client.noted.as_ref());
        noted.map(|noted| std::mem::take(&mut *noted.0.lock())).unwrap_or_default()
    }
}

impl Profile {
    /// Describes the elements of an action that is about to be performed; `None` if the actions of the session are not noted.
    pub(super) fn begin_noting(
        &self,
        running: &Running,
        handle: &TabHandle,
        act: &Act,
        deadline: Deadline<'_>,
    ) -> Option<Begun> {
        self.session.client()?.noted.as_ref()?;
        let is_passive = matches!(act.kind, ActKind::Wait(_) | ActKind::Evaluate { .. } | ActKind::Scroll { .. });
        if is_passive || act.read_only {
            return None;
        }
        let (view, target) = (running.view(), handle.tab.target().clone());
        let page = view.page(target.as_str());
        let (url, title) = page.map(|page| (page.url.to_string(), page.title.to_string())).unwrap_or_default();
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let (mut elements, mut nodes) = (Vec::new(), Vec::new());
        let limit = deadline.within(DESCRIBING);
        for reference in references(&act.kind).into_iter().take(MOST_ELEMENTS) {
            let Ok((node, _)) = handle.tab.resolve(&reference) else { continue };
            let Ok(traced) = handle.tab.traced(&node, limit) else { continue };
            elements.push(element(node.frame.clone(), traced));
            nodes.push(node);
        }
        if nodes.is_empty()
            && matches!(act.kind, ActKind::Press { .. })
            && let Ok((frame, traced)) = handle.tab.traced_focus(limit)
            && traced.element.is_object()
        {
            elements.push(element(frame, traced));
        }
        let done = ActionDone { act: act.kind.clone(), at, target, url, title, view, elements };
        Some(Begun { done, nodes })
    }

    /// Notes an action that has succeeded, with what its elements hold now.
    pub(super) fn end_noting(&self, begun: Begun, handle: &TabHandle, deadline: Deadline<'_>) {
        let Begun { mut done, nodes } = begun;
        for element in &mut done.elements {
            element.held = Value::Null;
        }
        for (node, element) in nodes.iter().zip(&mut done.elements) {
            if let Ok(now) = handle.tab.traced(node, deadline.within(DESCRIBING)) {
                element.held = now.held;
            }
        }
        let Some(noted) = self.session.client().and_then(|client| client.noted.as_ref()) else { return };
        let mut all = noted.0.lock();
        if all.len() < MOST {
            all.push(done);
        }
    }
}

fn element(frame: FrameId, traced: Traced) -> ActionElement {
    ActionElement { frame, element: traced.element, held: traced.held }
}

/// The refs of the elements of an action.
fn references(kind: &ActKind) -> Vec<String> {
    let of = |at: Option<&Locator>| at.and_then(|at| at.reference.clone());
    match kind {
        ActKind::Fill { fields, .. } => fields.iter().filter_map(|field| of(Some(&field.at))).collect(),
        ActKind::Drag { start_ref, end_ref, .. } => [start_ref, end_ref].into_iter().flatten().cloned().collect(),
        other => of(other.locator()).into_iter().collect(),
    }
}
