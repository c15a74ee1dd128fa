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
pub(crate) struct Health {
    /// Always `ok`.
    pub(crate) status: &'static str,
}

/// `GET /doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Doctor {
    pub(crate) checks: Vec<Check>,
}

/// `GET /profiles`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Profiles {
    pub(crate) profiles: Vec<ProfileInfo>,
}

/// An answer about one profile.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OneProfile {
    pub(crate) profile: ProfileInfo,
}

/// `GET /sessions`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Sessions {
    /// Sorted by name. The default session and sessions of MCP connections are not listed.
    pub(crate) sessions: Vec<SessionInfo>,
}

/// An answer about one session.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OneSession {
    /// The session; after `DELETE`, as it was before it ended.
    pub(crate) session: SessionInfo,
}

/// `GET /tabs`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tabs {
    /// Whether the browser is running.
    pub(crate) running: bool,
    /// Oldest first.
    pub(crate) tabs: Vec<TabInfo>,
}

/// `POST /tabs/open`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TabOpened {
    #[serde(flatten)]
    pub(crate) tab: TabInfo,
    /// Tab id of the tab that had the label before and lost it.
    #[serde(rename = "labelTakenFrom", skip_serializing_if = "Option::is_none")]
    pub(crate) label_taken_from: Option<String>,
    /// Downloads that the URL started; the tab is then empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) downloads: Vec<Download>,
}

/// `GET /snapshot`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SnapshotAnswer {
    #[serde(flatten)]
    pub(crate) seen: Snapshot,
    /// With `labels`: the labelled screenshot.
    #[serde(flatten)]
    pub(crate) labelled: Option<LabelledScreenshot>,
}

/// The labelled screenshot of a snapshot.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LabelledScreenshot {
    /// Path of the screenshot file.
    pub(crate) path: PathBuf,
    /// Width in pixels.
    pub(crate) width: u32,
    /// Height in pixels.
    pub(crate) height: u32,
    /// The labelled elements.
    pub(crate) annotations: Vec<Annotation>,
}

/// `POST /screenshot`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScreenshotAnswer {
    /// Path of the screenshot file; omitted with `inline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<PathBuf>,
    /// With `inline`: the image in Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<String>,
    /// Image format.
    #[serde(rename = "type")]
    pub(crate) kind: PictureType,
    /// Width in pixels.
    pub(crate) width: u32,
    /// Height in pixels.
    pub(crate) height: u32,
    /// Target id of the tab.
    pub(crate) target_id: String,
    /// URL of the page.
    pub(crate) url: String,
    /// Image pixels per CSS pixel of the page.
    pub(crate) scale: f64,
    /// With `labels`: the labelled elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) annotations: Option<Vec<Annotation>>,
    /// With `labels`: numbers of labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) labels: Option<LabelCounts>,
    /// Height at which a page or element that is too tall was cut off, in CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cut_at: Option<f64>,
    /// Remarks about the screenshot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// `GET /screencast`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameAnswer {
    /// Number of the frame, for the next `after`; `null` if the page has drawn nothing newer, as while a dialog is open.
    pub(crate) frame: Option<u64>,
    /// The frame as a JPEG in Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<String>,
    /// Width of the viewport in CSS pixels. The image may be smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) width: Option<f64>,
    /// Height of the viewport in CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) height: Option<f64>,
    /// Target id of the tab.
    pub(crate) target_id: String,
    /// URL of the page.
    pub(crate) url: String,
}

/// `POST /pdf`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PdfAnswer {
    /// Path of the PDF file.
    pub(crate) path: PathBuf,
    /// Size in bytes.
    pub(crate) bytes: usize,
    /// Target id of the tab.
    pub(crate) target_id: String,
    /// URL of the page.
    pub(crate) url: String,
}

/// `GET /console`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Console {
    /// Oldest first.
    pub(crate) messages: Vec<ConsoleMessage>,
}

/// `GET /errors`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Errors {
    /// Oldest first.
    pub(crate) errors: Vec<PageError>,
}

/// `GET /requests`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Requests {
    /// Oldest first.
    pub(crate) requests: Vec<RequestRecord>,
}

/// `GET /requests/:id`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OneRequest {
    pub(crate) request: RequestRecord,
}

/// `GET /requests/har`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HarAnswer {
    /// The archive as HAR 1.2: an object with the field `log`.
    pub(crate) har: Value,
    /// Number of requests in the archive.
    pub(crate) entries: usize,
    /// Number of bodies omitted because they are no longer available or too large.
    pub(crate) bodies_left_out: usize,
}

/// `POST /routes`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RouteAdded {
    pub(crate) route: NetworkRoute,
}

/// `GET /routes`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Routes {
    /// Oldest first.
    pub(crate) routes: Vec<NetworkRoute>,
}

/// `GET /dialogs`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Dialogs {
    /// Pending dialogs, oldest first.
    pub(crate) pending_dialogs: Vec<Dialog>,
    /// Recently closed dialogs, oldest first.
    pub(crate) recent_dialogs: Vec<ClosedDialog>,
    /// Answers armed for future dialogs, oldest first; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) armed_answers: Vec<ArmedDialog>,
}

/// `GET /frames`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Frames {
    pub(crate) frame_tree: FrameTree,
    /// Target id of the tab.
    #[serde(rename = "targetId")]
    pub(crate) target_id: String,
}

/// `GET /refs`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KnownRefs {
    /// The refs by name. Empty if no snapshot of the current document was taken.
    pub(crate) refs: BTreeMap<String, RefInfo>,
    /// Target id of the tab.
    #[serde(rename = "targetId")]
    pub(crate) target_id: String,
}

/// `POST /cdp`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RawResult {
    /// The result of the command.
    pub(crate) result: Value,
    /// The command opened a dialog; its result is not available until the dialog is answered.
    #[serde(rename = "blockedByDialog", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) blocked_by_dialog: bool,
    /// Pending dialogs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) pending_dialogs: Vec<Dialog>,
}

/// `POST /hooks/file-chooser`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChooserArmed {
    /// Whether the files are armed for the next file chooser; false with a `ref`, whose input has the files already.
    pub(crate) armed: bool,
    /// How long they stay armed, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) armed_for_ms: Option<u64>,
    /// Target id of the tab.
    pub(crate) target_id: String,
    /// File names, in the order given.
    pub(crate) files: Vec<String>,
    /// Number of files.
    pub(crate) count: usize,
    /// With a `ref`: the file input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) element: Option<Uploaded>,
}

/// The file input that received the files.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Uploaded {
    /// Ref of the element.
    #[serde(rename = "ref")]
    pub(crate) reference: String,
    /// Role of the element.
    pub(crate) role: String,
    /// Accessible name of the element; untrusted.
    pub(crate) name: String,
}

/// `POST /hooks/dialog`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DialogAnswered {
    /// Whether the answer is armed for a future dialog.
    pub(crate) armed: bool,
    /// How long it stays armed, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) armed_for_ms: Option<u64>,
    /// The armed answer that this one replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replaced: Option<ArmedDialog>,
    /// Whether `promptText` was not used: only an accepted prompt takes a text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) prompt_text_ignored: bool,
    /// The dialog that was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dialog: Option<ClosedDialog>,
}

/// `DELETE /hooks/dialog`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Disarmed {
    /// Number of disarmed answers.
    pub(crate) disarmed: usize,
}

/// `POST /wait/download`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Downloaded {
    pub(crate) download: Download,
}

/// `GET /cookies`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Cookies {
    pub(crate) cookies: Vec<Cookie>,
}

/// `POST /cookies`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Added {
    /// Number of cookies set.
    pub(crate) added: usize,
}

/// `DELETE /cookies`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Deleted {
    /// Number of items deleted.
    pub(crate) deleted: usize,
}

/// `/storage/…`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Items {
    /// Items by key.
    pub(crate) items: BTreeMap<String, String>,
}

/// An answer that only names the tab.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TabAnswer {
    /// Target id of the tab.
    pub(crate) target_id: String,
}

/// `POST /ui/ticket`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ticket {
    /// One-time ticket for the web UI (`/?ticket=…`).
    pub(crate) ticket: String,
    /// URL of the web UI with the ticket.
    pub(crate) url: String,
    /// Lifetime of the ticket, in milliseconds.
    pub(crate) expires_in_ms: u64,
}

/// `POST /ui/secret`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UiSecret {
    /// Secret to send as `Authorization: Bearer …`; valid for every route except `POST /ui/ticket`.
    pub(crate) secret: String,
    /// Lifetime without use, in milliseconds.
    pub(crate) idle_ms: u64,
    /// Maximum lifetime, in milliseconds.
    pub(crate) expires_in_ms: u64,
}

/// `GET` and `POST /api/config/llm`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ModelSettings {
    /// The models by alias, with the fields of `llm.json`. `api_key` is `********` or null, values of headers are masked.
    pub(crate) models: Value,
    /// The alias of the default model.
    pub(crate) default: Option<String>,
}

/// `GET /api/config`. A model is an object with the fields of `llm.json`, its key masked, and `alias`, `has_api_key` and
/// `is_default`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SettingsShown {
    /// The default model; null without one.
    pub(crate) llm: Option<Value>,
    /// All models, by alias.
    pub(crate) llm_configs: Vec<Value>,
    /// The alias of the default model.
    pub(crate) default_llm_alias: Option<String>,
    /// The working folder of the server.
    pub(crate) default_cwd: String,
    /// Whether there is a default model.
    pub(crate) is_configured: bool,
    /// Why llm.json cannot be used; null if it can.
    pub(crate) problem: Option<String>,
    /// `agent` of config.yaml.
    pub(crate) agent: Value,
}

/// A body that is not described by fields, such as `openapi.json` or an event stream.
#[derive(Debug, JsonSchema)]
pub(crate) struct AnyBody {}

/// Body of every error answer.
#[derive(Debug, JsonSchema)]
#[allow(dead_code)] // for its schema; produced by `ApiError`
pub(crate) struct Failed {
    /// Always `false`.
    pub(crate) ok: bool,
    /// What failed, why, and what to do next.
    pub(crate) error: String,
    /// Stable error code, such as `TAB_NOT_FOUND`.
    pub(crate) code: String,
    /// Machine-readable details of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<serde_json::Map<String, Value>>,
}

/// What a `DELETE` route removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Removed {
    /// Always true.
    pub(crate) removed: bool,
}
