//! Bodies of answers, without `ok`. Types of lower modules are used unchanged.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::control::{ArmedDialog, Check, ProfileInfo, SessionInfo, TabInfo};
use crate::page::{
    Annotation, ConsoleMessage, Cookie, Download, LabelCounts, PageError, PictureType, RefInfo, RequestRecord, Snapshot,
};
use crate::supervisor::{ClosedDialog, Dialog, FrameTree, NetworkRoute};

/// `GET /health`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Health {
    /// Always `ok`.
    pub(in crate::server) status: &'static str,
}

/// `GET /doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Doctor {
    pub(in crate::server) checks: Vec<Check>,
}

/// `GET /profiles`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Profiles {
    pub(in crate::server) profiles: Vec<ProfileInfo>,
}

/// An answer about one profile.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct OneProfile {
    pub(in crate::server) profile: ProfileInfo,
}

/// `GET /sessions`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Sessions {
    /// Sorted by name. The default session and sessions of MCP connections are not listed.
    pub(in crate::server) sessions: Vec<SessionInfo>,
}

/// An answer about one session.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct OneSession {
    /// The session; after `DELETE`, as it was before it ended.
    pub(in crate::server) session: SessionInfo,
}

/// `GET /tabs`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Tabs {
    /// Whether the browser is running.
    pub(in crate::server) running: bool,
    /// Oldest first.
    pub(in crate::server) tabs: Vec<TabInfo>,
}

/// `POST /tabs/open`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct TabOpened {
    #[serde(flatten)]
    pub(in crate::server) tab: TabInfo,
    /// Tab id of the tab that had the label before and lost it.
    #[serde(rename = "labelTakenFrom", skip_serializing_if = "Option::is_none")]
    pub(in crate::server) label_taken_from: Option<String>,
    /// Downloads that the URL started; the tab is then empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::server) downloads: Vec<Download>,
}

/// `GET /snapshot`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct SnapshotAnswer {
    #[serde(flatten)]
    pub(in crate::server) seen: Snapshot,
    /// With `labels`: the labelled screenshot.
    #[serde(flatten)]
    pub(in crate::server) labelled: Option<LabelledScreenshot>,
}

/// The labelled screenshot of a snapshot.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct LabelledScreenshot {
    /// Path of the screenshot file.
    pub(in crate::server) path: PathBuf,
    /// Width in pixels.
    pub(in crate::server) width: u32,
    /// Height in pixels.
    pub(in crate::server) height: u32,
    /// The labelled elements.
    pub(in crate::server) annotations: Vec<Annotation>,
}

/// `POST /screenshot`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct ScreenshotAnswer {
    /// Path of the screenshot file; omitted with `inline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) path: Option<PathBuf>,
    /// With `inline`: the image in Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) data: Option<String>,
    /// Image format.
    #[serde(rename = "type")]
    pub(in crate::server) kind: PictureType,
    /// Width in pixels.
    pub(in crate::server) width: u32,
    /// Height in pixels.
    pub(in crate::server) height: u32,
    /// Target id of the tab.
    pub(in crate::server) target_id: String,
    /// URL of the page.
    pub(in crate::server) url: String,
    /// Image pixels per CSS pixel of the page.
    pub(in crate::server) scale: f64,
    /// With `labels`: the labelled elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) annotations: Option<Vec<Annotation>>,
    /// With `labels`: numbers of labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) labels: Option<LabelCounts>,
    /// Height at which a page or element that is too tall was cut off, in CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) cut_at: Option<f64>,
    /// Remarks about the screenshot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::server) notes: Vec<String>,
}

/// `POST /pdf`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct PdfAnswer {
    /// Path of the PDF file.
    pub(in crate::server) path: PathBuf,
    /// Size in bytes.
    pub(in crate::server) bytes: usize,
    /// Target id of the tab.
    pub(in crate::server) target_id: String,
    /// URL of the page.
    pub(in crate::server) url: String,
}

/// `GET /console`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Console {
    /// Oldest first.
    pub(in crate::server) messages: Vec<ConsoleMessage>,
}

/// `GET /errors`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Errors {
    /// Oldest first.
    pub(in crate::server) errors: Vec<PageError>,
}

/// `GET /requests`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Requests {
    /// Oldest first.
    pub(in crate::server) requests: Vec<RequestRecord>,
}

/// `GET /requests/:id`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct OneRequest {
    pub(in crate::server) request: RequestRecord,
}

/// `GET /requests/har`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct HarAnswer {
    /// The archive as HAR 1.2: an object with the field `log`.
    pub(in crate::server) har: Value,
    /// Number of requests in the archive.
    pub(in crate::server) entries: usize,
    /// Number of bodies omitted because they are no longer available or too large.
    pub(in crate::server) bodies_left_out: usize,
}

/// `POST /routes`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct RouteAdded {
    pub(in crate::server) route: NetworkRoute,
}

/// `GET /routes`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Routes {
    /// Oldest first.
    pub(in crate::server) routes: Vec<NetworkRoute>,
}

/// `GET /dialogs`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Dialogs {
    /// Pending dialogs, oldest first.
    pub(in crate::server) pending_dialogs: Vec<Dialog>,
    /// Recently closed dialogs, oldest first.
    pub(in crate::server) recent_dialogs: Vec<ClosedDialog>,
    /// Answers armed for future dialogs, oldest first; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::server) armed_answers: Vec<ArmedDialog>,
}

/// `GET /frames`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Frames {
    pub(in crate::server) frame_tree: FrameTree,
    /// Target id of the tab.
    #[serde(rename = "targetId")]
    pub(in crate::server) target_id: String,
}

/// `GET /refs`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct KnownRefs {
    /// The refs by name. Empty if no snapshot of the current document was taken.
    pub(in crate::server) refs: BTreeMap<String, RefInfo>,
    /// Target id of the tab.
    #[serde(rename = "targetId")]
    pub(in crate::server) target_id: String,
}

/// `POST /cdp`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct RawResult {
    /// The result of the command.
    pub(in crate::server) result: Value,
    /// The command opened a dialog; its result is not available until the dialog is answered.
    #[serde(rename = "blockedByDialog", skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::server) blocked_by_dialog: bool,
    /// Pending dialogs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::server) pending_dialogs: Vec<Dialog>,
}

/// `POST /hooks/file-chooser`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct ChooserArmed {
    /// Whether the files are armed for the next file chooser; false with a `ref`, whose input has the files already.
    pub(in crate::server) armed: bool,
    /// How long they stay armed, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) armed_for_ms: Option<u64>,
    /// Target id of the tab.
    pub(in crate::server) target_id: String,
    /// File names, in the order given.
    pub(in crate::server) files: Vec<String>,
    /// Number of files.
    pub(in crate::server) count: usize,
    /// With a `ref`: the file input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) element: Option<Uploaded>,
}

/// The file input that received the files.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Uploaded {
    /// Ref of the element.
    #[serde(rename = "ref")]
    pub(in crate::server) reference: String,
    /// Role of the element.
    pub(in crate::server) role: String,
    /// Accessible name of the element; untrusted.
    pub(in crate::server) name: String,
}

/// `POST /hooks/dialog`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct DialogAnswered {
    /// Whether the answer is armed for a future dialog.
    pub(in crate::server) armed: bool,
    /// How long it stays armed, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) armed_for_ms: Option<u64>,
    /// The armed answer that this one replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) replaced: Option<ArmedDialog>,
    /// Whether `promptText` was not used: only an accepted prompt takes a text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::server) prompt_text_ignored: bool,
    /// The dialog that was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) dialog: Option<ClosedDialog>,
}

/// `DELETE /hooks/dialog`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Disarmed {
    /// Number of disarmed answers.
    pub(in crate::server) disarmed: usize,
}

/// `POST /wait/download`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Downloaded {
    pub(in crate::server) download: Download,
}

/// `GET /cookies`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Cookies {
    pub(in crate::server) cookies: Vec<Cookie>,
}

/// `POST /cookies`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Added {
    /// Number of cookies set.
    pub(in crate::server) added: usize,
}

/// `DELETE /cookies`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Deleted {
    /// Number of items deleted.
    pub(in crate::server) deleted: usize,
}

/// `/storage/…`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Items {
    /// Items by key.
    pub(in crate::server) items: BTreeMap<String, String>,
}

/// An answer that only names the tab.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct TabAnswer {
    /// Target id of the tab.
    pub(in crate::server) target_id: String,
}

/// `POST /ui/ticket`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct Ticket {
    /// One-time ticket for the web UI (`/?ticket=…`).
    pub(in crate::server) ticket: String,
    /// URL of the web UI with the ticket.
    pub(in crate::server) url: String,
    /// Lifetime of the ticket, in milliseconds.
    pub(in crate::server) expires_in_ms: u64,
}

/// `POST /ui/secret`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct UiSecret {
    /// Secret to send as `Authorization: Bearer …`; valid for every route except `POST /ui/ticket`.
    pub(in crate::server) secret: String,
    /// Lifetime without use, in milliseconds.
    pub(in crate::server) idle_ms: u64,
    /// Maximum lifetime, in milliseconds.
    pub(in crate::server) expires_in_ms: u64,
}

/// A body that is not described by fields, such as `openapi.json` or an event stream.
#[derive(Debug, JsonSchema)]
pub(in crate::server) struct AnyBody {}

/// Body of every error answer.
#[derive(Debug, JsonSchema)]
#[allow(dead_code)] // for its schema; produced by `ApiError`
pub(in crate::server) struct Failed {
    /// Always `false`.
    pub(in crate::server) ok: bool,
    /// What failed, why, and what to do next.
    pub(in crate::server) error: String,
    /// Stable error code, such as `TAB_NOT_FOUND`.
    pub(in crate::server) code: String,
    /// Machine-readable details of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) details: Option<serde_json::Map<String, Value>>,
}
