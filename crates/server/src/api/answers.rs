//! Bodies of answers, without `ok`. Types of lower modules are used unchanged.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::control::{ArmedDialog, Check, ProfileInfo, SessionInfo, TabInfo};
use cdpilot::page::{
    Annotation, ConsoleMessage, Cookie, Download, LabelCounts, PageError, PictureType, RefInfo, RequestRecord, Snapshot,
};
use cdpilot::supervisor::{ClosedDialog, Dialog, FrameTree, NetworkRoute};

/// `GET /health`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Health {
    /// Always `ok`.
    pub status: &'static str,
}

/// `GET /doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Doctor {
    pub checks: Vec<Check>,
}

/// `GET /profiles`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Profiles {
    pub profiles: Vec<ProfileInfo>,
}

/// An answer about one profile.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OneProfile {
    pub profile: ProfileInfo,
}

/// `GET /sessions`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sessions {
    /// Sorted by name. The default session and sessions of MCP connections are not listed.
    pub sessions: Vec<SessionInfo>,
}

/// An answer about one session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OneSession {
    /// The session; after `DELETE`, as it was before it ended.
    pub session: SessionInfo,
}

/// `POST /rescue`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RescueAnswer {
    /// Whether a script was ended.
    pub rescued: bool,
    /// How long the page had not paused, in milliseconds, as far as calls have seen; missing if it was not busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_ms: Option<u64>,
    pub target_id: String,
}

/// `GET /tabs`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tabs {
    /// Whether the browser is running.
    pub running: bool,
    /// Oldest first.
    pub tabs: Vec<TabInfo>,
}

/// `POST /tabs/open`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TabOpened {
    #[serde(flatten)]
    pub tab: TabInfo,
    /// Tab id of the tab that had the label before and lost it.
    #[serde(rename = "labelTakenFrom", skip_serializing_if = "Option::is_none")]
    pub label_taken_from: Option<String>,
    /// Downloads that the URL started; the tab is then empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Download>,
}

/// `GET /snapshot`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SnapshotAnswer {
    #[serde(flatten)]
    pub seen: Snapshot,
    /// With `labels`: the labelled screenshot.
    #[serde(flatten)]
    pub labelled: Option<LabelledScreenshot>,
}

/// The labelled screenshot of a snapshot.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LabelledScreenshot {
    /// Path of the screenshot file.
    pub path: PathBuf,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The labelled elements.
    pub annotations: Vec<Annotation>,
}

/// `POST /screenshot`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScreenshotAnswer {
    /// Path of the screenshot file; omitted with `inline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// With `inline`: the image in Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Image format.
    #[serde(rename = "type")]
    pub kind: PictureType,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Target id of the tab.
    pub target_id: String,
    /// URL of the page.
    pub url: String,
    /// Image pixels per CSS pixel of the page.
    pub scale: f64,
    /// With `labels`: the labelled elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Vec<Annotation>>,
    /// With `labels`: numbers of labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelCounts>,
    /// Height at which a page or element that is too tall was cut off, in CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_at: Option<f64>,
    /// Remarks about the screenshot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// `GET /screencast`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FrameAnswer {
    /// Number of the frame, for the next `after`; `null` if the page has drawn nothing newer, as while a dialog is open.
    pub frame: Option<u64>,
    /// The frame as a JPEG in Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Width of the viewport in CSS pixels. The image may be smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// Height of the viewport in CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<f64>,
    /// Target id of the tab.
    pub target_id: String,
    /// URL of the page.
    pub url: String,
}

/// `POST /pdf`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PdfAnswer {
    /// Path of the PDF file.
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: usize,
    /// Target id of the tab.
    pub target_id: String,
    /// URL of the page.
    pub url: String,
}

/// `GET /console`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Console {
    /// Oldest first.
    pub messages: Vec<ConsoleMessage>,
}

/// `GET /errors`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Errors {
    /// Oldest first.
    pub errors: Vec<PageError>,
}

/// `GET /requests`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Requests {
    /// Oldest first.
    pub requests: Vec<RequestRecord>,
}

/// `GET /requests/:id`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OneRequest {
    pub request: RequestRecord,
}

/// `GET /requests/har`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HarAnswer {
    /// The archive as HAR 1.2: an object with the field `log`.
    pub har: Value,
    /// Number of requests in the archive.
    pub entries: usize,
    /// Number of bodies omitted because they are no longer available or too large.
    pub bodies_left_out: usize,
}

/// `POST /routes`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RouteAdded {
    pub route: NetworkRoute,
}

/// `GET /routes`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Routes {
    /// Oldest first.
    pub routes: Vec<NetworkRoute>,
}

/// `GET /dialogs`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Dialogs {
    /// Pending dialogs, oldest first.
    pub pending_dialogs: Vec<Dialog>,
    /// Recently closed dialogs, oldest first.
    pub recent_dialogs: Vec<ClosedDialog>,
    /// Answers armed for future dialogs, oldest first; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub armed_answers: Vec<ArmedDialog>,
}

/// `GET /frames`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Frames {
    pub frame_tree: FrameTree,
    /// Target id of the tab.
    #[serde(rename = "targetId")]
    pub target_id: String,
}

/// `GET /refs`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KnownRefs {
    /// The refs by name. Empty if no snapshot of the current document was taken.
    pub refs: BTreeMap<String, RefInfo>,
    /// Target id of the tab.
    #[serde(rename = "targetId")]
    pub target_id: String,
}

/// `POST /cdp`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RawResult {
    /// The result of the command.
    pub result: Value,
    /// The command opened a dialog; its result is not available until the dialog is answered.
    #[serde(rename = "blockedByDialog", skip_serializing_if = "std::ops::Not::not")]
    pub blocked_by_dialog: bool,
    /// Pending dialogs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending_dialogs: Vec<Dialog>,
}

/// `POST /hooks/file-chooser`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChooserArmed {
    /// Whether the files are armed for the next file chooser; false with a `ref`, whose input has the files already.
    pub armed: bool,
    /// How long they stay armed, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub armed_for_ms: Option<u64>,
    /// Target id of the tab.
    pub target_id: String,
    /// File names, in the order given.
    pub files: Vec<String>,
    /// Number of files.
    pub count: usize,
    /// With a `ref`: the file input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<Uploaded>,
}

/// The file input that received the files, or the element that they were dropped onto.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Uploaded {
    /// Ref of the element.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Role of the element.
    pub role: String,
    /// Accessible name of the element; untrusted.
    pub name: String,
    /// How many files the page received: those of a folder included.
    pub files: usize,
    /// The field is empty again: the page has taken the files, or has refused them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cleared: bool,
}

/// `POST /hooks/dialog`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DialogAnswered {
    /// Whether the answer is armed for a future dialog.
    pub armed: bool,
    /// How long it stays armed, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub armed_for_ms: Option<u64>,
    /// The armed answer that this one replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<ArmedDialog>,
    /// Whether `promptText` was not used: only an accepted prompt takes a text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prompt_text_ignored: bool,
    /// The dialog that was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<ClosedDialog>,
}

/// `DELETE /hooks/dialog`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Disarmed {
    /// Number of disarmed answers.
    pub disarmed: usize,
}

/// `POST /wait/download`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Downloaded {
    pub download: Download,
}

/// `GET /cookies`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cookies {
    pub cookies: Vec<Cookie>,
}

/// `POST /cookies`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Added {
    /// Number of cookies set.
    pub added: usize,
}

/// `DELETE /cookies`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Deleted {
    /// Number of items deleted.
    pub deleted: usize,
}

/// `/storage/…`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Items {
    /// Items by key.
    pub items: BTreeMap<String, String>,
}

/// An answer that only names the tab.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TabAnswer {
    /// Target id of the tab.
    pub target_id: String,
}

/// `POST /ui/ticket`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ticket {
    /// One-time ticket for the web UI (`/?ticket=…`).
    pub ticket: String,
    /// URL of the web UI with the ticket.
    pub url: String,
    /// Lifetime of the ticket, in milliseconds.
    pub expires_in_ms: u64,
}

/// `POST /ui/secret`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UiSecret {
    /// Secret to send as `Authorization: Bearer …`; valid for every route except `POST /ui/ticket`.
    pub secret: String,
    /// Lifetime without use, in milliseconds.
    pub idle_ms: u64,
    /// Maximum lifetime, in milliseconds.
    pub expires_in_ms: u64,
}

/// `GET` and `POST /api/config/llm`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelSettings {
    /// The models by alias, with the fields of `llm.json`. `api_key` is `********` or null, values of headers are masked.
    pub models: Value,
    /// The alias of the default model.
    pub default: Option<String>,
}

/// `POST /api/config/llm/test`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelTested {
    /// The alias of the model.
    pub alias: String,
    /// What the model answered, at most 200 characters. Untrusted.
    pub reply: String,
    /// Time until the answer, in milliseconds.
    pub took_ms: u64,
    /// Whether the request had a picture, and the endpoint accepted it.
    pub with_picture: bool,
}

/// `GET /api/config`. A model is an object with the fields of `llm.json`, its key masked, and `alias`, `has_api_key` and
/// `is_default`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SettingsShown {
    /// The default model; null without one.
    pub llm: Option<Value>,
    /// All models, by alias.
    pub llm_configs: Vec<Value>,
    /// The alias of the default model.
    pub default_llm_alias: Option<String>,
    /// The working folder of the server.
    pub default_cwd: String,
    /// Whether there is a default model.
    pub is_configured: bool,
    /// Why llm.json cannot be used; null if it can.
    pub problem: Option<String>,
    /// `agent` of config.yaml.
    pub agent: Value,
}

/// A body that is not described by fields, such as `openapi.json` or an event stream.
#[derive(Debug, JsonSchema)]
pub struct AnyBody {}

/// Body of every error answer.
#[derive(Debug, JsonSchema)]
#[allow(dead_code)] // for its schema; produced by `ApiError`
pub struct Failed {
    /// Always `false`.
    pub ok: bool,
    /// What failed, why, and what to do next.
    pub error: String,
    /// Stable error code, such as `TAB_NOT_FOUND`.
    pub code: String,
    /// Machine-readable details of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<serde_json::Map<String, Value>>,
}

/// What a `DELETE` route removed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Removed {
    /// Always true.
    pub removed: bool,
}
