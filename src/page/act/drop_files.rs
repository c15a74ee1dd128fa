//! Dropping files onto an element, as from a file manager.
//!
//! A page that takes files cancels `dragover`. Elsewhere the browser would open a dropped file in place of the page, so nothing is
//! dropped there.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;

use super::super::{Error, Tab};
use super::Locator;
use super::actionability::Needs;
use super::typing::named;
use crate::cdp::protocol::input::{DispatchDragEvent, DispatchDragEventType as Kind, DragData};
use crate::supervisor::FrameRef;
use crate::sync::Deadline;

/// Drag operations: copy.
const COPY: i64 = 1;

/// The answer of the in-page call `fileDrop`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FileDrop {
    /// Whether the page takes what is dragged over the element.
    takes: bool,
    /// How many files the `drop` event had, if there was one.
    files: Option<usize>,
}

impl Tab {
    /// Drops files onto the element of a ref. Returns how many the page received.
    pub(in crate::page) fn drop_files(
        &self,
        reference: &str,
        files: &[PathBuf],
        deadline: Deadline<'_>,
    ) -> Result<usize, Error> {
        let at = Locator::by_ref(reference);
        self.emulate_focus();
        let ready = self.ready(&at, Needs::DROP, false, deadline)?;
        let point = self.point_of(&ready)?;
        let state = || self.call_on_node::<FileDrop>(&ready.node, "fileDrop", &json!({}), deadline);
        self.call_on_node::<FileDrop>(&ready.node, "fileDrop", &json!({ "watch": true }), deadline)?;
        let send = |kind: Kind| {
            let mut data = DragData::new(Vec::new(), COPY);
            data.files = Some(files.iter().map(|file| file.to_string_lossy().into_owned()).collect());
            let event = DispatchDragEvent::new(kind, point.x, point.y, data);
            self.supervisor.session_call(&FrameRef::TopOf(self.target.clone()), &event, deadline).map(drop)
        };
        for kind in [Kind::DragEnter, Kind::DragOver, Kind::DragOver] {
            send(kind)?;
        }
        if !state()?.takes {
            send(Kind::DragCancel)?;
            let reason = format!(
                "<{}> is no file input, and takes no dropped files; give the files without a ref, then click the element that \
                 opens the file chooser",
                ready.tag
            );
            return Err(Error::not_actionable(named(&at), reason));
        }
        send(Kind::Drop)?;
        match state()?.files {
            Some(count) if count == files.len() => Ok(count),
            count => {
                let count = count.unwrap_or(0);
                let reason = format!("the page received {count} of {} dropped files", files.len());
                Err(Error::not_actionable(named(&at), reason))
            }
        }
    }
}
