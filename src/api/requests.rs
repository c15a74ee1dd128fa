//! Bodies and queries of requests. The common fields `profile`, `targetId` and `timeoutMs` are parsed before these.
//!
//! Clients serialise bodies: without fields that have their default, which the schema states nevertheless.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::AutoSwitch;
use crate::control::WaitUntil;
use crate::page::{
    Act, CookieFormat, ElementProperty, Format, NewCookie, PictureType, ScreenshotOptions, SnapshotOptions,
};
use crate::supervisor::{AbortReason, ConsoleLevel};

/// Whether a client leaves a field out of a body.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// No fields.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFields {}

/// `POST /mcp`: the query.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct McpQuery {
    /// Comma-separated toolsets and tools to offer instead of the configured ones.
    pub(crate) toolsets: Option<String>,
    /// The platform whose configured tools are offered: cli, acp, … Default: mcp.
    pub(crate) platform: Option<String>,
}

/// `POST /start`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Start {
    /// Start without a window; `auto`: when there is no display. Default: as configured. `CONFLICT` if the browser is
    /// running in the other mode.
    pub(crate) headless: Option<AutoSwitch>,
    /// WebDriver capabilities (`browserName`, `platformName`, vendor options), for profiles on a WebDriver server or
    /// Selenium Grid. They override the profile's capabilities of the same names. `CONFLICT` if the browser is running.
    pub(crate) capabilities: Option<Map<String, Value>>,
}

/// `POST /tabs/open`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OpenTab {
    /// The URL to open.
    pub(crate) url: String,
    /// Label by which requests can name the tab: 1 to 64 letters, digits, `_ . : -`.
    #[schemars(regex(pattern = "^[A-Za-z0-9_.:-]{1,64}$"))]
    pub(crate) label: Option<String>,
    /// Open behind the other tabs; the current tab stays the same.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub(crate) background: bool,
}

/// `POST /tabs/focus`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FocusTab {
    /// Target id, tab id (`t1`), label, or a unique prefix of the target id.
    pub(crate) target_id: String,
}

/// `POST /tabs/label`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LabelTab {
    /// Target id, tab id (`t1`), label, or a unique prefix of the target id.
    pub(crate) target_id: String,
    /// The label: 1 to 64 letters, digits, `_ . : -`.
    #[schemars(regex(pattern = "^[A-Za-z0-9_.:-]{1,64}$"))]
    pub(crate) label: String,
}

/// `POST /navigate`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NavigateTo {
    /// The URL to open.
    pub(crate) url: String,
    /// What to wait for.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "load"))]
    pub(crate) wait_until: WaitUntil,
    /// Dismiss the dialogs of the tab and report them as `dismissed_dialogs`. A `beforeunload` dialog that opens then keeps
    /// the page until it is answered. If false, a tab that shows a dialog is not navigated (`BLOCKED_BY_DIALOG`).
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub(crate) dismiss_dialogs: bool,
}

/// `POST /back`, `/forward`, `/reload`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct HistoryNavigation {
    /// What to wait for.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "load"))]
    pub(crate) wait_until: WaitUntil,
    /// Dismiss the dialogs of the tab and report them as `dismissed_dialogs`. A `beforeunload` dialog that opens then keeps
    /// the page until it is answered.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub(crate) dismiss_dialogs: bool,
}

/// `POST /find`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FindQuery {
    /// `role=button[name="Save"]`, `text=…`, `label=…`, `placeholder=…`, `testid=…`, `css=…`, chained by ` >> `.
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) locator: String,
    /// Search this frame and its descendants only: a frame id, or the ref of its `<iframe>`.
    pub(crate) frame: Option<String>,
    /// Maximum number of matches. Default 50.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) limit: Option<usize>,
}

/// `POST /get`: the element by `ref`, `selector` or `locator`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GetQuery {
    /// What to read.
    pub(crate) what: ElementProperty,
    /// Name of the attribute, for `what: attribute`.
    pub(crate) name: Option<String>,
    /// Ref from a snapshot.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    pub(crate) reference: Option<String>,
    /// CSS selector; the first match is used.
    pub(crate) selector: Option<String>,
    /// Locator, as in `POST /find`.
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) locator: Option<String>,
    /// Index of the match of the locator, from 0; negative numbers count from the end.
    pub(crate) nth: Option<i32>,
    /// Frame in which a selector or locator is resolved.
    pub(crate) frame_id: Option<String>,
    /// Return texts without masking secrets.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub(crate) raw: bool,
    /// With `what: state`: return `{"visible": false}` immediately if no element matches, instead of waiting.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub(crate) absent: bool,
}

/// `GET /snapshot`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct SnapshotQuery {
    /// Output format.
    pub(crate) format: Format,
    /// Maximum number of nodes, `aria` only. Default 500.
    pub(crate) limit: Option<usize>,
    /// Maximum number of characters, `ai` only; 0: no limit. Default 40,000.
    pub(crate) max_chars: Option<usize>,
    /// Lines to skip at the beginning, `ai` only.
    pub(crate) offset: Option<usize>,
    /// Only interactive elements.
    pub(crate) interactive: bool,
    /// Omit unnamed containers.
    pub(crate) compact: bool,
    /// Maximum depth below the root.
    pub(crate) depth: Option<u32>,
    /// Only the subtree of the first element that matches this CSS selector.
    pub(crate) selector: Option<String>,
    /// Only this frame and its descendants: a frame id, or the ref of its `<iframe>`.
    #[schemars(length(min = 1))]
    pub(crate) frame: Option<String>,
    /// Also take a screenshot with labelled elements.
    pub(crate) labels: bool,
    /// Include the URLs of links.
    pub(crate) urls: bool,
    /// Only the changes since the last snapshot of the tab, with its options unless others are given. `full` in the answer
    /// means that there was no snapshot to compare with.
    pub(crate) diff: bool,
    /// Show five of eight or more similar siblings.
    pub(crate) fold: bool,
    /// Ref of a folded group to show completely.
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    pub(crate) expand: Option<String>,
}

impl SnapshotQuery {
    pub(crate) fn options(self) -> SnapshotOptions {
        let usual = SnapshotOptions::default();
        SnapshotOptions {
            format: self.format,
            limit: self.limit.unwrap_or(usual.limit),
            max_chars: self.max_chars.unwrap_or(usual.max_chars),
            offset: self.offset.unwrap_or(0),
            interactive: self.interactive,
            compact: self.compact,
            depth: self.depth,
            selector: self.selector,
            frame: self.frame,
            urls: self.urls,
            diff: self.diff,
            fold: self.fold,
            expand: self.expand,
            redact: None,
        }
    }
}

/// `POST /screenshot`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct TakeScreenshot {
    /// The full page instead of the viewport.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub(crate) full_page: bool,
    /// Only the element with this ref.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    pub(crate) reference: Option<String>,
    /// Locator instead of a ref, as in actions.
    pub(crate) locator: Option<String>,
    /// Only the first element that matches this CSS selector.
    pub(crate) element: Option<String>,
    /// Frame in which `element` is resolved: a frame id, or the ref of its `<iframe>`. Default: the main frame.
    pub(crate) frame: Option<String>,
    /// Image format.
    #[serde(rename = "type", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "png"))]
    pub(crate) kind: PictureType,
    /// JPEG quality, 1 to 100. Default 80.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) quality: Option<u8>,
    /// Draw boxes around interactive elements, labelled with the numbers of their refs.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub(crate) labels: bool,
    /// Maximum width in pixels; a larger image is scaled down.
    #[schemars(range(min = 1))]
    pub(crate) max_width: Option<u32>,
    /// Maximum height in pixels; a larger image is scaled down.
    #[schemars(range(min = 1))]
    pub(crate) max_height: Option<u32>,
    /// Return the image in the answer instead of a file.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub(crate) inline: bool,
}

impl TakeScreenshot {
    pub(crate) fn options(self) -> ScreenshotOptions {
        ScreenshotOptions {
            full_page: self.full_page,
            reference: self.reference,
            element: self.element,
            frame: self.frame,
            kind: self.kind,
            quality: self.quality,
            labels: self.labels,
            max_width: self.max_width,
            max_height: self.max_height,
            ..ScreenshotOptions::default()
        }
    }
}

/// `GET /screencast`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct FrameQuery {
    /// Wait for a frame that is newer than this `frame`. Default: the newest one.
    pub(crate) after: u64,
    /// Maximum time to wait for it, in ms. Default 2,000, at most 10,000.
    #[schemars(range(min = 0, max = 10000))]
    pub(crate) wait_ms: Option<u32>,
}

/// Minimum severity of console messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// All messages.
    Log,
    /// Same as `log`.
    Debug,
    /// Same as `log`.
    Info,
    /// Warnings and worse.
    Warning,
    /// Same as `warning`.
    Warn,
    /// Errors and uncaught exceptions.
    Error,
    /// Uncaught exceptions.
    Exception,
}

impl From<Level> for ConsoleLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Log | Level::Debug | Level::Info => Self::Log,
            Level::Warning | Level::Warn => Self::Warning,
            Level::Error => Self::Error,
            Level::Exception => Self::Exception,
        }
    }
}

/// `GET /console`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct ConsoleQuery {
    /// Minimum severity.
    pub(crate) level: Option<Level>,
    /// Return the last N entries.
    pub(crate) limit: Option<usize>,
    /// Clear the entries: later calls return newer ones only.
    pub(crate) clear: bool,
}

/// `GET /errors`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct ErrorsQuery {
    /// Return the last N entries.
    pub(crate) limit: Option<usize>,
    /// Clear the entries: later calls return newer ones only.
    pub(crate) clear: bool,
}

/// `GET /requests`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RequestsQuery {
    /// Substring of the URL, or, with `*`, a pattern for the whole URL.
    pub(crate) filter: Option<String>,
    /// Return the last N entries.
    pub(crate) limit: Option<usize>,
    /// Clear the recorded requests.
    pub(crate) clear: bool,
    /// Include headers, protocol, remote address and timing.
    pub(crate) headers: bool,
    /// With `headers`: do not replace secrets by `[secret]`.
    pub(crate) raw: bool,
}

/// `GET /requests/:id`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RequestQuery {
    /// Include the response body.
    pub(crate) body: bool,
    /// Maximum size of a body in bytes. Default and maximum: 1 MiB.
    pub(crate) max_bytes: Option<usize>,
    /// Do not replace secrets by `[secret]`.
    pub(crate) raw: bool,
}

/// `GET /requests/har`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct HarQuery {
    /// Include bodies that are still available, up to 2 MiB each and 24 MiB in total.
    pub(crate) bodies: bool,
    /// Do not replace secrets by `[secret]`.
    pub(crate) raw: bool,
}

/// `GET /requests/:id/body`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct BodyQuery {
    /// Maximum size in bytes. Default and maximum: 1 MiB.
    pub(crate) max_bytes: Option<usize>,
}

/// `GET /text`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct TextQuery {
    /// Only the first element that matches this CSS selector.
    pub(crate) selector: Option<String>,
    /// Frame to read: a frame id, or the ref of its `<iframe>`. Default: the main frame.
    pub(crate) frame: Option<String>,
    /// Maximum number of characters; 0: no limit. Default 40,000.
    pub(crate) max_chars: Option<usize>,
    /// Characters to skip at the beginning.
    pub(crate) offset: Option<usize>,
    /// Do not replace secrets by `[secret]`.
    pub(crate) raw: bool,
}

/// `GET /frames`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct FramesQuery {
    /// Return all frames, without the usual limits.
    pub(crate) full: bool,
}

/// `POST /cdp`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RawCommand {
    /// Command, `Domain.command`.
    #[schemars(regex(pattern = "^[A-Za-z]+\\.[A-Za-z]+$"))]
    pub(crate) method: String,
    /// Parameters of the command.
    pub(crate) params: Option<Map<String, Value>>,
    /// Frame to send the command to.
    pub(crate) frame_id: Option<String>,
}

/// `POST /hooks/file-chooser`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ArmChooser {
    /// Files below `uploads/`, by name or absolute path, or in a folder of `browser.upload_roots`.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) paths: Vec<String>,
    /// File input that receives the files immediately.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    pub(crate) reference: Option<String>,
    /// Locator instead of a ref, as in actions.
    pub(crate) locator: Option<String>,
}

/// `POST /hooks/dialog`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AnswerDialog {
    /// True: OK. False: Cancel.
    pub(crate) accept: bool,
    /// Text for a prompt. Default: the default text of the prompt.
    pub(crate) prompt_text: Option<String>,
    /// Id of the dialog, if several are open.
    pub(crate) dialog_id: Option<String>,
}

/// `POST /wait/download`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct WaitDownload {
    /// File name below `downloads/`. Default: the suggested name.
    pub(crate) path: Option<String>,
}

/// `GET /cookies`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct CookiesQuery {
    /// Only cookies that would be sent to this URL.
    #[schemars(regex(pattern = "^https?://[^/?#\\s]+"))]
    pub(crate) url: Option<String>,
}

/// `POST /cookies`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AddCookies {
    /// Cookies to set, each with `url` or `domain`.
    #[schemars(length(max = 1000))]
    pub(crate) cookies: Vec<NewCookie>,
}

/// `POST /cookies/import`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ImportCookies {
    /// A Netscape cookie file or a JSON array of cookies.
    pub(crate) text: String,
    /// Format of `text`. Default: detected.
    pub(crate) format: Option<CookieFormat>,
    /// URL for cookies without a domain.
    pub(crate) url: Option<String>,
}

/// `DELETE /cookies`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct DeleteCookies {
    /// Only cookies with this name.
    pub(crate) name: Option<String>,
    /// Only cookies of this host.
    pub(crate) domain: Option<String>,
}

/// `GET` and `DELETE /storage/…`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct StorageQuery {
    /// Only the item with this key.
    pub(crate) key: Option<String>,
}

/// `POST /storage/…`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SetStorage {
    /// Items to set.
    pub(crate) items: BTreeMap<String, String>,
}

/// `POST /state/save`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct SaveStateBody {
    /// Save these origins only (`https://example.com`), and the cookies sent to them. Default: all origins known from
    /// tabs, their histories and cookies.
    #[schemars(length(max = 300))]
    pub(crate) origins: Option<Vec<String>>,
}

/// `POST /state/load`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LoadStateBody {
    /// Answer of `POST /state/save`, or a Playwright `storageState`.
    pub(crate) state: Map<String, Value>,
}

/// `POST /highlight`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Highlight {
    /// Element to highlight. Without an element the highlight is removed.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    pub(crate) reference: Option<String>,
    /// Locator instead of a ref, as in actions.
    pub(crate) locator: Option<String>,
}

/// `GET /`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RootQuery {
    /// Ticket of `POST /ui/ticket` for the page of the web UI; programs send the token instead.
    #[allow(dead_code)] // read by `auth`
    pub(crate) ticket: Option<String>,
}

/// `POST /sessions`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewSession {
    /// Name of the session: 1 to 128 visible ASCII characters. Requests select it with the header `X-Cdpilot-Session`.
    pub(crate) name: String,
    /// Give the session its own browser context: separate cookies, storage and cache.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub(crate) isolated: bool,
}

/// `GET /events`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct EventsQuery {
    /// Start after this event: its `id`, or its number (`seq`) in the running server; 0: all retained events.
    /// Default: new events only.
    #[schemars(regex(pattern = "^([0-9a-f]{1,32}-)?[0-9]{1,15}$"))]
    pub(crate) since: Option<String>,
}

/// `POST /act`: parsed by the `page` module, whose errors name the wrong field of an action.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Action(pub(crate) Value);

impl JsonSchema for Action {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Act::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Act::json_schema(generator)
    }
}

/// `POST /routes`. Does not implement `Debug`: headers may hold secrets.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AddRoute {
    /// A glob: `*` matches anything except `/`, `**` matches anything, every other character matches itself. With `://`, or beginning with
    /// `**`, it is matched against the whole URL without its fragment, query included (`**/api/*.json`); beginning with
    /// `/` against path and query on any host; otherwise against host, path and query (`*.example.com/api/**`).
    #[schemars(length(min = 1, max = 2048))]
    pub(crate) pattern: String,
    /// Only requests of this tab, its frames and workers, by target id, tab id (`t1`), label, or a unique prefix of the target
    /// id. Default: all tabs of the session, later ones included; for the default session, the tabs of all sessions.
    pub(crate) target_id: Option<String>,
    /// Fail the request: true, or the reason (`failed`, `timedout`, `connectionrefused`, …, as in `NetworkRoute`).
    pub(crate) abort: Option<Abort>,
    /// Respond to the request instead of sending it.
    pub(crate) fulfil: Option<Fulfil>,
    /// Status of the response. Without `fulfil`: respond with this status and an empty body. Default 200.
    #[schemars(range(min = 200, max = 599))]
    pub(crate) status: Option<u16>,
    /// Response headers, with `fulfil` or `status`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = {}))]
    pub(crate) headers: BTreeMap<String, String>,
    /// Request headers to set on requests that are sent, replacing headers of the same names. Not applied to redirects.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = {}))]
    pub(crate) request_headers: BTreeMap<String, String>,
    /// Delay before the request is handled, in milliseconds. At most 120,000.
    #[schemars(range(max = 120_000))]
    pub(crate) delay_ms: Option<u64>,
    /// Only requests with this method.
    pub(crate) method: Option<String>,
    /// Only requests of this type: `document`, `stylesheet`, `image`, `media`, `font`, `script`, `texttrack`, `xhr` (also
    /// `fetch`), `eventsource`, `manifest`, `ping`, `cspviolationreport`, `prefetch`, `other`.
    pub(crate) resource_type: Option<String>,
    /// Remove the route after this many requests. Default: never.
    #[schemars(range(min = 1))]
    pub(crate) times: Option<u32>,
}

/// Whether a request fails, and with which error.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "true, or a reason such as failed, timedout, connectionrefused or internetdisconnected")]
pub(crate) enum Abort {
    /// True: fail with `failed`.
    Switch(bool),
    /// The network error reported to the page.
    Reason(AbortReason),
}

/// A response that replaces the one of the server.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Fulfil {
    /// The body from a file below `uploads/`, by name or absolute path, or in a folder of `browser.upload_roots`; read immediately, at most
    /// 16 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// The body as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<String>,
    /// The body in Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body_base64: Option<String>,
    /// Same as `status` outside of `fulfil`.
    #[schemars(range(min = 200, max = 599))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// Same as `headers` outside of `fulfil`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = {}))]
    pub(crate) headers: BTreeMap<String, String>,
    /// The `Content-Type`. Default: by the extension of `path`, `text/plain` for `body` (`application/json` if it is
    /// JSON), else `application/octet-stream`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_type: Option<String>,
}

/// `POST /api/config/llm`: the content of `llm.json`. Checked by `llm`, which names the place of an error.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct NewModelSettings(pub(crate) Value);

impl JsonSchema for NewModelSettings {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NewModelSettings".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        crate::llm::Models::json_schema(generator)
    }
}
