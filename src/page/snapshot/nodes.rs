//! The `aria` format: a list of nodes with their backend ids.

use std::collections::HashMap;

use serde::Serialize;

use super::super::Tab;
use super::super::world::{Doc, Node};
use super::collect::Item;
use super::{Snapshot, SnapshotOptions, Stats, cover_names, redact};
use crate::cdp::protocol::dom::{BackendNodeId, DescribeNode};
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::FrameRef;
use crate::sync::Deadline;

/// A node of the `aria` format.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AriaNode {
    /// The ref; absent for text.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The ARIA role, such as `button`.
    pub role: String,
    /// The accessible name, or the text. Untrusted.
    pub name: String,
    /// The current value of a field or slider. Untrusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The accessible description, beside the name. Untrusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Depth below the root, from 0.
    pub depth: u32,
    /// Id of the frame that contains the node.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub frame_id: FrameId,
    /// The backend node id of the protocol; absent for text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<i64>,
}

impl Tab {
    pub(super) fn fill_nodes(
        &self,
        shown: &mut Snapshot,
        items: &[Item],
        options: &SnapshotOptions,
        deadline: Deadline<'_>,
    ) {
        let kept: Vec<Item> = items.iter().take(options.limit).cloned().collect();
        let kept: Vec<Item> = kept.into_iter().map(|item| Item { has_ref: item.node.is_some(), ..item }).collect();
        shown.truncated = kept.len() < items.len();
        self.number(shown, kept.iter());
        let mut backends = self.backends(kept.iter().filter_map(|item| item.node.as_ref()), deadline);
        let kept = match &options.redact {
            Some(secrets) => redact::covered(&kept, secrets),
            None => kept,
        };
        if let Some(secrets) = &options.redact {
            cover_names(shown, secrets);
        }
        let node = |item: &Item| {
            let more = item.more.as_deref();
            AriaNode {
                reference: self.reference(item).map(|number| format!("e{number}")),
                role: item.role.to_string(),
                name: item.name.to_string(),
                value: more.and_then(|more| more.value.clone()),
                description: more.and_then(|more| more.description.clone()),
                depth: item.depth,
                frame_id: item.frame.clone(),
                backend_node_id: item.node.as_ref().and_then(|node| backends.remove(node)),
            }
        };
        let nodes: Vec<AriaNode> = kept.iter().map(node).collect();
        shown.stats = Stats { lines: nodes.len(), refs: shown.refs.len(), ..shown.stats };
        shown.nodes = Some(nodes);
    }

    /// The backend ids of nodes. Removed nodes are left out.
    fn backends<'a>(&self, nodes: impl Iterator<Item = &'a Node>, deadline: Deadline<'_>) -> HashMap<Node, i64> {
        let mut by_doc: HashMap<(FrameId, Doc), Vec<u32>> = HashMap::new();
        for node in nodes {
            by_doc.entry((node.frame.clone(), node.doc.clone())).or_default().push(node.id);
        }
        let mut found = HashMap::new();
        for ((frame, doc), ids) in by_doc {
            let Ok((list, objects)) = self.objects(&frame, &doc, &ids, deadline) else { continue };
            let describe = |object: &_| {
                let mut describe = DescribeNode::new();
                describe.object_id = Some(Clone::clone(object));
                (FrameRef::Id(frame.clone()), describe)
            };
            let replies = self.supervisor.session_calls(objects.iter().map(|(_, o)| describe(o)).collect(), deadline);
            for ((id, _), reply) in objects.iter().zip(replies) {
                let backend: Option<BackendNodeId> = reply.ok().map(|done| done.result.node.backend_node_id);
                if let Some(backend) = backend {
                    let node = Node { frame: frame.clone(), doc: doc.clone(), id: *id };
                    found.insert(node, backend);
                }
            }
            for (_, object) in objects {
                self.release(&frame, object);
            }
            self.release(&frame, list);
        }
        found
    }
}
