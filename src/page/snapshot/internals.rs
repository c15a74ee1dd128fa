//! Roles and states that custom elements set by `ElementInternals`, which scripts cannot read: the browser's own
//! accessibility tree is queried for those elements only.
//!
//! Custom elements with a `tabindex` or a label and without a `role` are queried: once if they have no role, with each
//! snapshot otherwise.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::Tab;
use super::super::error::Error;
use super::super::world::Doc;
use crate::cdp::protocol::accessibility::{AxNode, AxPropertyName, AxValue, GetPartialAxTree};
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::FrameRef;
use crate::sync::Deadline;

/// Maximum number of elements of a document that one snapshot queries.
const MOST: usize = 30;
/// Roles equivalent to none.
const PLAIN: [&str; 3] = ["generic", "none", "GenericContainer"];

/// Role and states of an element in the browser's accessibility tree.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Internal {
    id: u32,
    /// Empty when it has no role of its own.
    role: String,
    states: Map<String, Value>,
}

impl Internal {
    /// Whether the element has a role.
    pub(super) fn has_role(&self) -> bool {
        !self.role.is_empty()
    }
}

/// The queried elements of a document. Those without a role are not queried again.
#[derive(Debug)]
pub(super) struct InternalsCache {
    doc: Doc,
    with_role: Vec<u32>,
}

impl Tab {
    /// The present roles and states of elements that had a role of their own before.
    pub(super) fn internals(&self, frames: &[FrameId], deadline: Deadline<'_>) -> HashMap<FrameId, Vec<Internal>> {
        let known: Vec<(FrameId, Doc, Vec<u32>)> = {
            let mut seen = self.snapshot_cache.lock();
            seen.internals.retain(|frame, _| frames.contains(frame));
            let queried = seen.internals.iter().filter(|(_, queried)| !queried.with_role.is_empty());
            queried.map(|(frame, queried)| (frame.clone(), queried.doc.clone(), queried.with_role.clone())).collect()
        };
        let mut found = HashMap::new();
        for (frame, doc, ids) in known {
            match self.internals_of(&frame, &doc, &ids, deadline) {
                Ok(internals) => {
                    found.insert(frame, internals);
                }
                Err(error) => {
                    tracing::debug!(target: "cdpilot::page", %error, "cannot read roles of custom elements");
                    self.snapshot_cache.lock().internals.remove(&frame);
                }
            }
        }
        found
    }

    /// Roles and states of new elements; empty when none has a role.
    pub(super) fn new_internals(
        &self,
        frame: &FrameId,
        doc: &Doc,
        ids: &[u32],
        deadline: Deadline<'_>,
    ) -> Vec<Internal> {
        let ids = ids.get(..MOST).unwrap_or(ids);
        let internals = self.internals_of(frame, doc, ids, deadline).unwrap_or_else(|error| {
            tracing::debug!(target: "cdpilot::page", %error, "cannot read roles of custom elements");
            Vec::new()
        });
        let with_role = internals.iter().filter(|internal| !internal.role.is_empty()).map(|internal| internal.id);
        let mut seen = self.snapshot_cache.lock();
        let new = || InternalsCache { doc: doc.clone(), with_role: Vec::new() };
        let asked = seen.internals.entry(frame.clone()).or_insert_with(new);
        if asked.doc != *doc {
            *asked = new();
        }
        asked.with_role.extend(with_role);
        asked.with_role.truncate(MOST);
        internals
    }

    fn internals_of(
        &self,
        frame: &FrameId,
        doc: &Doc,
        ids: &[u32],
        deadline: Deadline<'_>,
    ) -> Result<Vec<Internal>, Error> {
        let (list, objects) = self.objects(frame, doc, ids, deadline)?;
        let ask = |object: &_| {
            let mut ask = GetPartialAxTree::new();
            ask.object_id = Some(Clone::clone(object));
            ask.fetch_relatives = Some(false);
            (FrameRef::Id(frame.clone()), ask)
        };
        let replies = self.supervisor.session_calls(objects.iter().map(|(_, object)| ask(object)).collect(), deadline);
        let mut internals = Vec::new();
        for ((id, object), reply) in objects.into_iter().zip(replies) {
            let node = reply.ok().and_then(|done| done.result.nodes.into_iter().next());
            internals.extend(node.map(|node| internal(id, &node)));
            self.release(frame, object);
        }
        self.release(frame, list);
        Ok(internals)
    }
}

fn internal(id: u32, node: &AxNode) -> Internal {
    let value = |value: &AxValue| serde_json::from_str::<Value>(value.value.as_ref()?.get()).ok();
    let role = node.role.as_ref().filter(|_| !node.ignored).and_then(value);
    let role = role.and_then(|role| role.as_str().map(ToOwned::to_owned)).unwrap_or_default();
    if role.is_empty() || PLAIN.contains(&role.as_str()) {
        return Internal { id, role: String::new(), states: Map::new() };
    }
    let mut states = Map::new();
    for property in node.properties.iter().flatten() {
        let name = match property.name {
            AxPropertyName::Checked => "checked",
            AxPropertyName::Selected => "selected",
            AxPropertyName::Pressed => "pressed",
            AxPropertyName::Expanded => "expanded",
            AxPropertyName::Disabled => "disabled",
            AxPropertyName::Required => "required",
            _ => continue,
        };
        let value = match value(&property.value) {
            // Tristates are strings.
            Some(Value::String(word)) if word == "true" || word == "false" => Value::Bool(word == "true"),
            Some(value @ Value::Bool(_)) => value,
            Some(value @ Value::String(_)) if matches!(name, "checked" | "pressed") => value,
            _ => continue,
        };
        states.insert(name.to_owned(), value);
    }
    Internal { id, role, states }
}
