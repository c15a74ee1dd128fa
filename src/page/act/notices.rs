//! Notices: messages of the page after an action. Status texts, alerts, dialogs of the page, fields that validation
//! refused, other text that appeared.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::Tab;
use super::Settled;
use super::settle::{Before, Observed};
use crate::cdp::protocol::page::FrameId;
use crate::sync::Deadline;

/// Maximum number of notices in an answer; the page script limits their texts.
const MAX_NOTICES: usize = 5;
/// Time for reading notices of the document that an action navigated to.
const READ_TIME: Duration = Duration::from_millis(500);

/// The kind of a [`Notice`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NoticeKind {
    /// An assertive live region (`role=alert`) appeared or changed.
    Alert,
    /// A dialog of the page (`<dialog>`, `role=dialog`, `role=alertdialog`) opened.
    Dialog,
    /// Validation refused a field.
    Invalid,
    /// A polite live region (`role=status`, `role=log`, `<output>`) appeared or changed.
    Status,
    /// A line of text in other elements that appeared, such as a popup without a role.
    Text,
}

impl NoticeKind {
    /// The token in JSON answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Dialog => "dialog",
            Self::Invalid => "invalid",
            Self::Status => "status",
            Self::Text => "text",
        }
    }
}

/// A message that the page shows since the action. An answer has at most five.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Notice {
    /// The kind of message.
    pub kind: NoticeKind,
    /// The text, at most 300 characters; for a field its validation message. Untrusted.
    pub text: String,
    /// The accessible name of the dialog or field, at most 80 characters. Untrusted.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The frame; absent for the top frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub frame_id: Option<FrameId>,
}

/// A notice as the page script reports it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Reported {
    kind: NoticeKind,
    text: String,
    #[serde(default)]
    name: String,
}

impl Tab {
    /// The notices of the documents that were acted on, or of the one that the action navigated to.
    pub(super) fn notices(
        &self,
        before: &Before,
        seen: &mut Observed,
        settled: Settled,
        deadline: Deadline<'_>,
    ) -> Vec<Notice> {
        let leads_elsewhere = matches!(settled, Settled::Navigated | Settled::NavigationPending);
        if leads_elsewhere || settled == Settled::RequestsPending {
            let frames: Vec<FrameId> = match &before.top {
                Some(top) if leads_elsewhere => vec![top.clone()],
                _ => seen.notices.keys().cloned().collect(),
            };
            if leads_elsewhere {
                seen.notices.clear();
            }
            let reported = self.call_all::<Vec<Reported>, ()>(&frames, "notices", |_| (), deadline.within(READ_TIME));
            for (frame, reported) in frames.into_iter().zip(reported) {
                if let Ok((_, done)) = reported {
                    seen.notices.insert(frame, done.result);
                }
            }
        }
        let mut all: Vec<Notice> = Vec::new();
        for (frame, reported) in std::mem::take(&mut seen.notices) {
            let frame_id = Some(frame).filter(|frame| Some(frame) != before.top.as_ref());
            all.extend(reported.into_iter().map(|Reported { kind, text, name }| Notice {
                kind,
                text,
                name,
                frame_id: frame_id.clone(),
            }));
        }
        all.sort_by_key(|notice| notice.kind);
        all.truncate(MAX_NOTICES);
        all
    }
}

/// Adds the notices of a later action of a batch.
pub(super) fn absorb(all: &mut Vec<Notice>, more: &[Notice]) {
    for notice in more {
        if all.len() < MAX_NOTICES && !all.contains(notice) {
            all.push(notice.clone());
        }
    }
}
