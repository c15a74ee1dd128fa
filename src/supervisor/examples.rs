//! Events and pages for tests of what is made of them.

use std::sync::Arc;

use super::log::{Action, FrameChange, LogEvent};
use super::snapshot::{
    ClosedBy, ClosedDialog, ConsoleEntry, ConsoleLevel, Dialog, DialogType, DownloadProgress, DownloadView, PageState,
    PageView,
};
use crate::cdp::protocol::target::TargetId;

impl LogEvent {
    /// One event of each kind.
    #[doc(hidden)]
    #[must_use]
    pub fn examples() -> Vec<Self> {
        let dialog = Dialog {
            id: "d-1".into(),
            kind: DialogType::Alert,
            message: "m".into(),
            default_prompt: "".into(),
            opened_at: 1.0,
            frame_id: None,
            target_id: "T".into(),
            origin: "http://a.test".into(),
            bridged: false,
        };
        let console = ConsoleEntry {
            level: ConsoleLevel::Log,
            text: "t".into(),
            timestamp: 1.0,
            target_id: "T".into(),
            frame_id: Some("F".into()),
            url: None,
            line: Some(0),
            column: Some(3),
            number: 1,
        };
        let download = DownloadView {
            number: 1,
            target_id: "T".into(),
            opener: None,
            url: "http://a.test/f".into(),
            suggested_filename: "a".into(),
            state: DownloadProgress::InProgress,
            bytes: 0,
            total: None,
            file: None,
            started_at: 1.0,
        };
        let closed =
            ClosedDialog { dialog: dialog.clone(), closed_at: 2.0, closed_by: ClosedBy::Agent, accepted: true };
        let (url, reason): (Arc<str>, Arc<str>) = ("http://a.test/".into(), "why".into());
        vec![
            Self::TabOpened { url: Arc::clone(&url), opener: Some("O".into()) },
            Self::TabClosed { reason: Some(Arc::clone(&reason)) },
            Self::PopupBlocked { limit: Some(3) },
            Self::Frame { frame_id: "F".into(), change: FrameChange::Attached, parent: Some("P".into()) },
            Self::Navigated { frame_id: "F".into(), url: Arc::clone(&url), main: true, same_document: true },
            Self::NavigationBlocked { url, reason: Arc::clone(&reason), frame_id: "F".into(), main: true },
            Self::DialogOpened(dialog),
            Self::DialogClosed(closed),
            Self::Console(Arc::new(console)),
            Self::FileChooser {
                frame_id: "F".into(),
                several: false,
                answered: true,
                files: vec!["a".to_owned()],
                problem: None,
            },
            Self::Download(download),
            Self::Crashed { crashed: "T".into() },
            Self::Responsiveness { state: PageState::Unresponsive },
            Self::Resync { lost: 1 },
            Self::Bridge { on: None, failed: Some(Arc::clone(&reason)) },
            Self::Rescued { waiting: "A.b".into(), waited_ms: 1000 },
            Self::Disconnected { reason: Arc::clone(&reason) },
            Self::Reconnected { generation: 2 },
            Self::ActionStarted(Action::new(1, "click")),
            Self::ActionFinished {
                action: Action::new(1, "click"),
                outcome: "ok".into(),
                settled: None,
                duration_ms: 3,
            },
            Self::Ended { reason },
        ]
    }
}

impl PageView {
    /// A page that is ready.
    #[doc(hidden)]
    #[must_use]
    pub fn example(target_id: &str, url: &str) -> Self {
        Self {
            target_id: TargetId::from(target_id),
            url: url.into(),
            title: "".into(),
            state: PageState::Ready,
            opener: None,
            top_frame: None,
            own: false,
            lost_dialog: None,
            blocked: None,
            context: None,
            is_arriving: false,
            is_under_way: false,
            shares_process: false,
            session: "".into(),
        }
    }
}
