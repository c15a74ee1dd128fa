//! What answers are made of, beside `ok`. Elements of the other rooms are used as they are.

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
    /// `ok`.
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

/// Of one profile.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct OneProfile {
    pub(in crate::server) profile: ProfileInfo,
}

/// `GET /sessions`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Sessions {
    /// In the order of their names. The default session and those of MCP connections are not listed.
    pub(in crate::server) sessions: Vec<SessionInfo>,
}

/// One session.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct OneSession {
    /// As it is, or as it was before it ended.
    pub(in crate::server) session: SessionInfo,
}

/// `GET /tabs`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Tabs {
    /// Whether the browser runs.
    pub(in crate::server) running: bool,
    /// Oldest first.
    pub(in crate::server) tabs: Vec<TabInfo>,
}

/// `GET /snapshot`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct SnapshotAnswer {
    #[serde(flatten)]
    pub(in crate::server) seen: Snapshot,
    /// The labelled picture, with `labels`.
    #[serde(flatten)]
    pub(in crate::server) labelled: Option<LabelledScreenshot>,
}

/// The labelled picture beside a snapshot.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct LabelledScreenshot {
    /// The file.
    pub(in crate::server) path: PathBuf,
    /// In pixels.
    pub(in crate::server) width: u32,
    /// In pixels.
    pub(in crate::server) height: u32,
    /// What the labels stand for.
    pub(in crate::server) annotations: Vec<Annotation>,
}

/// `POST /screenshot`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct ScreenshotAnswer {
    /// The file, unless it was to be `inline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) path: Option<PathBuf>,
    /// The picture in Base64, with `inline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) data: Option<String>,
    /// What it is written as.
    #[serde(rename = "type")]
    pub(in crate::server) kind: PictureType,
    /// In pixels.
    pub(in crate::server) width: u32,
    /// In pixels.
    pub(in crate::server) height: u32,
    /// The tab.
    pub(in crate::server) target_id: String,
    /// What it showed.
    pub(in crate::server) url: String,
    /// Pixels of the picture for one CSS pixel of the page.
    pub(in crate::server) scale: f64,
    /// What the labels stand for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) annotations: Option<Vec<Annotation>>,
    /// How many labels there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) labels: Option<LabelCounts>,
    /// Where it was cut because the page or element is too high, in CSS pixels from its upper side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) cut_at: Option<f64>,
    /// What is to be known of the picture.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::server) notes: Vec<String>,
}

/// `POST /pdf`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct PdfAnswer {
    /// The file.
    pub(in crate::server) path: PathBuf,
    /// Its length.
    pub(in crate::server) bytes: usize,
    /// The tab.
    pub(in crate::server) target_id: String,
    /// What it showed.
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
    /// The content of a `.har` file, HAR 1.2: an object with the field `log`.
    pub(in crate::server) har: Value,
    /// How many requests are in it.
    pub(in crate::server) entries: usize,
    /// Bodies that are left out: not available any more, or too large.
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
    /// Dialogs that wait, oldest first.
    pub(in crate::server) pending_dialogs: Vec<Dialog>,
    /// Dialogs that closed, oldest first.
    pub(in crate::server) recent_dialogs: Vec<ClosedDialog>,
    /// Answers that are armed for dialogs to come, oldest first; left out when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::server) armed_answers: Vec<ArmedDialog>,
}

/// `GET /frames`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Frames {
    pub(in crate::server) frame_tree: FrameTree,
    /// The tab.
    #[serde(rename = "targetId")]
    pub(in crate::server) target_id: String,
}

/// `GET /refs`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct KnownRefs {
    /// Empty where no snapshot shows the present document.
    pub(in crate::server) refs: BTreeMap<String, RefInfo>,
    /// The tab.
    #[serde(rename = "targetId")]
    pub(in crate::server) target_id: String,
}

/// `POST /cdp`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct RawResult {
    /// What the browser answered.
    pub(in crate::server) result: Value,
    /// The command opened a dialog; its answer will not come before that is answered.
    #[serde(rename = "blockedByDialog", skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::server) blocked_by_dialog: bool,
    /// Dialogs that wait.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::server) pending_dialogs: Vec<Dialog>,
}

/// `POST /hooks/file-chooser`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct ChooserArmed {
    /// Whether the files wait for a chooser; with a `ref` the input has them already.
    pub(in crate::server) armed: bool,
    /// How long they wait, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) armed_for_ms: Option<u64>,
    /// The tab.
    pub(in crate::server) target_id: String,
    /// Names of the files, in their order.
    pub(in crate::server) files: Vec<String>,
    /// How many there are.
    pub(in crate::server) count: usize,
    /// With a `ref`: the element that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) element: Option<Uploaded>,
}

/// The element that files were given to.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Uploaded {
    /// Its ref.
    #[serde(rename = "ref")]
    pub(in crate::server) reference: String,
    /// Its role.
    pub(in crate::server) role: String,
    /// Its accessible name: untrusted.
    pub(in crate::server) name: String,
}

/// `POST /hooks/dialog`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct DialogAnswered {
    /// Whether the answer waits for a dialog to come.
    pub(in crate::server) armed: bool,
    /// How long it waits, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) armed_for_ms: Option<u64>,
    /// The dialog that was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) dialog: Option<ClosedDialog>,
}

/// `DELETE /hooks/dialog`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Disarmed {
    /// How many answers were armed.
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
    /// How many.
    pub(in crate::server) added: usize,
}

/// `DELETE /cookies`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Deleted {
    /// How many.
    pub(in crate::server) deleted: usize,
}

/// `/storage/…`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::server) struct Items {
    /// By key.
    pub(in crate::server) items: BTreeMap<String, String>,
}

/// Of what was done to a tab.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct TabAnswer {
    /// The tab.
    pub(in crate::server) target_id: String,
}

/// `POST /ui/ticket`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct Ticket {
    /// Opens the web UI once: `/?ticket=…`.
    pub(in crate::server) ticket: String,
    /// The whole address.
    pub(in crate::server) url: String,
    /// How long it opens it, milliseconds.
    pub(in crate::server) expires_in_ms: u64,
}

/// `POST /ui/secret`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct UiSecret {
    /// Sent by the page as `Authorization: Bearer …`. Opens every route but `POST /ui/ticket`.
    pub(in crate::server) secret: String,
    /// Life without being used, milliseconds.
    pub(in crate::server) idle_ms: u64,
    /// Life altogether, milliseconds.
    pub(in crate::server) expires_in_ms: u64,
}

/// A document of its own, such as `openapi.json`, or a stream.
#[derive(Debug, JsonSchema)]
pub(in crate::server) struct AnyBody {}

/// Every failure.
#[derive(Debug, JsonSchema)]
#[allow(dead_code)] // for its schema; written by `ApiError`
pub(in crate::server) struct Failed {
    /// False.
    pub(in crate::server) ok: bool,
    /// What happened, and what to do.
    pub(in crate::server) error: String,
    /// The code.
    pub(in crate::server) code: String,
    /// More of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::server) details: Option<serde_json::Map<String, Value>>,
}
