//! Bodies and queries of requests. The common fields `profile`, `targetId` and `timeoutMs` are parsed before these.
//!
//! Clients serialise bodies: without fields that have their default, which the schema states nevertheless.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::AutoSwitch;
use crate::control::WaitUntil;
use cdpilot::described_field;
use cdpilot::page::spec::{Described, Fields};
use cdpilot::page::{
    CookieFormat, ElementProperty, Format, NewCookie, PictureType, ScreenshotOptions, SnapshotOptions,
};
use cdpilot::page::{FieldSpec, FieldType};
use cdpilot::supervisor::{AbortReason, ConsoleLevel};

/// A request, with its fields as [`FIELDS`](Fields::FIELDS): the options of its command are made of them. A field is
///
/// ```text
/// /// What it means.
/// name as "nameInRequests": Type = default [attribute of schemars]; cli option(…),
/// ```
///
/// with `= default` if it may be omitted, and `cli` if the command takes it as it is.
macro_rules! request {
    (
        $(#[$meta:meta])*
        $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(as $json:literal)? : $ty:ty $(= $default:ident)? $([$schema:meta])? $(; cli $argument:expr)?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $(
            $(#[doc = $doc])+
            $(#[serde(rename = $json)])?
            $(#[serde($default, skip_serializing_if = "is_default")] #[schemars(!skip_serializing_if)])?
            $(#[schemars($schema)])?
            pub $field: $ty,
        )* }

        impl Fields for $name {
            const FIELDS: &'static [FieldSpec] = &[$(
                described_field!([$($doc)+] $field [$($json)?] [$ty] [$($default)?] [$($argument)?] []),
            )*];
        }
    };
}

/// Whether a client leaves a field out of a body.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// No fields.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoFields {}

/// `POST /mcp`: the query.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpQuery {
    /// Comma-separated toolsets and tools to offer instead of the configured ones.
    pub toolsets: Option<String>,
    /// The platform whose configured tools are offered: cli, acp, … Default: mcp.
    pub platform: Option<String>,
}

/// `POST /start`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Start {
    /// Start without a window; `auto`: when there is no display. Default: as configured. `CONFLICT` if the browser is
    /// running in the other mode.
    pub headless: Option<AutoSwitch>,
    /// WebDriver capabilities (`browserName`, `platformName`, vendor options), for profiles on a WebDriver server or
    /// Selenium Grid. They override the profile's capabilities of the same names. `CONFLICT` if the browser is running.
    pub capabilities: Option<Map<String, Value>>,
}

request! {
    /// `POST /tabs/open`.
    OpenTab {
        /// The URL to open.
        url: String,
        /// Label by which requests can name the tab: 1 to 64 letters, digits, `_ . : -`.
        label: Option<String> = default [regex(pattern = "^[A-Za-z0-9_.:-]{1,64}$")];
            cli option("Label for the tab; commands take it instead of the tab id").value("NAME"),
        /// Open behind the other tabs; the current tab stays the same.
        background: bool = default; cli option("Open the tab in the background; the current tab stays the same"),
    }
}

/// `POST /tabs/focus`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FocusTab {
    /// Target id, tab id (`t1`), label, or a unique prefix of the target id.
    pub target_id: String,
}

/// `POST /tabs/label`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelTab {
    /// Target id, tab id (`t1`), label, or a unique prefix of the target id.
    pub target_id: String,
    /// The label: 1 to 64 letters, digits, `_ . : -`.
    #[schemars(regex(pattern = "^[A-Za-z0-9_.:-]{1,64}$"))]
    pub label: String,
}

/// `POST /navigate`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NavigateTo {
    /// The URL to open.
    pub url: String,
    /// What to wait for.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "load"))]
    pub wait_until: WaitUntil,
    /// Dismiss the dialogs of the tab and report them as `dismissed_dialogs`. A `beforeunload` dialog that opens then keeps
    /// the page until it is answered. If false, a tab that shows a dialog is not navigated (`BLOCKED_BY_DIALOG`).
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub dismiss_dialogs: bool,
}

/// `POST /back`, `/forward`, `/reload`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct HistoryNavigation {
    /// What to wait for.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "load"))]
    pub wait_until: WaitUntil,
    /// Dismiss the dialogs of the tab and report them as `dismissed_dialogs`. A `beforeunload` dialog that opens then keeps
    /// the page until it is answered.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub dismiss_dialogs: bool,
}

request! {
    /// `POST /find`.
    FindQuery {
        /// `role=button[name="Save"]`, `text=…`, `label=…`, `placeholder=…`, `testid=…`, `css=…`, chained by ` >> `.
        locator: String [length(min = 1, max = 2000)]; cli positional("Locator; see below"),
        /// Search this frame and its descendants only: a frame id, or the ref of its `<iframe>`.
        frame: Option<String> = default;
            cli option("Search only this frame and its child frames: frame id, or ref of the iframe [default: all frames]"),
        /// Maximum number of matches. Default 50.
        limit: Option<usize> = default [range(min = 1, max = 1000)];
            cli option("Show at most N matches [default: 50]").value("N").within(1, 1000),
    }
}

/// `POST /get`: the element by `ref`, `selector` or `locator`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GetQuery {
    /// What to read.
    pub what: ElementProperty,
    /// Name of the attribute, for `what: attribute`.
    pub name: Option<String>,
    /// Ref from a snapshot.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    pub reference: Option<String>,
    /// CSS selector; the first match is used.
    pub selector: Option<String>,
    /// Locator, as in `POST /find`.
    #[schemars(length(min = 1, max = 2000))]
    pub locator: Option<String>,
    /// Index of the match of the locator, from 0; negative numbers count from the end.
    pub nth: Option<i32>,
    /// Frame in which a selector or locator is resolved.
    pub frame_id: Option<String>,
    /// Return texts without masking secrets.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub raw: bool,
    /// With `what: state`: return `{"visible": false}` immediately if no element matches, instead of waiting.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub absent: bool,
}

request! {
    /// `GET /snapshot`.
    #[derive(Default)]
    SnapshotQuery {
        /// Output format.
        format: Format = default; cli option("Output format [default: ai]"),
        /// Maximum number of nodes, `aria` only. Default 500.
        limit: Option<usize> = default; cli option("Show at most N nodes, with --format aria [default: 500]").value("N"),
        /// Maximum number of characters, `ai` only; 0: no limit. Default 40,000.
        max_chars as "maxChars": Option<usize> = default;
            cli option("Show at most N characters; 0: no limit [default: 40000]").value("N"),
        /// Lines to skip at the beginning, `ai` only.
        offset: Option<usize> = default; cli option("Skip the first N lines, to continue a truncated snapshot").value("N"),
        /// Only interactive elements.
        interactive: bool = default; cli option("Show only interactive elements"),
        /// Omit unnamed containers.
        compact: bool = default; cli option("Omit unnamed containers"),
        /// Maximum depth below the root.
        depth: Option<u32> = default; cli option("Show at most N levels below the root").value("N").within(0, 4_294_967_295),
        /// Only the subtree of the first element that matches this CSS selector.
        selector: Option<String> = default;
            cli option("Show only the subtree of the first element that matches this CSS selector").value("CSS"),
        /// Only this frame and its descendants: a frame id, or the ref of its `<iframe>`.
        frame: Option<String> = default [length(min = 1)]; cli option("Show only this frame: frame id, or ref of the iframe"),
        /// Also take a screenshot with labelled elements.
        labels: bool = default; cli option("Also save a screenshot with the refs drawn on it"),
        /// Include the URLs of links.
        urls: bool = default; cli option("Show link URLs"),
        /// Only the changes since the last snapshot of the tab, with its options unless others are given. `full` in the answer
        /// means that there was no snapshot to compare with.
        diff: bool = default;
            cli option("Show only changes since the last snapshot of the tab; options that are not given are taken from it"),
        /// Show five of eight or more similar siblings.
        fold: bool = default; cli option("Fold long runs of similar siblings"),
        /// Ref of a folded group to show completely.
        expand: Option<String> = default [regex(pattern = "^@?e?[0-9]{1,9}$")];
            cli option("Show the siblings folded at this ref").value("REF"),
    }
}

impl SnapshotQuery {
    pub fn options(self) -> SnapshotOptions {
        let mut options = SnapshotOptions::default();
        options.format = self.format;
        options.limit = self.limit.unwrap_or(options.limit);
        options.max_chars = self.max_chars.unwrap_or(options.max_chars);
        options.offset = self.offset.unwrap_or(0);
        options.interactive = self.interactive;
        options.compact = self.compact;
        options.depth = self.depth;
        options.selector = self.selector;
        options.frame = self.frame;
        options.urls = self.urls;
        options.diff = self.diff;
        options.fold = self.fold;
        options.expand = self.expand;
        options
    }
}

request! {
    /// `POST /screenshot`.
    #[derive(Default)]
    TakeScreenshot {
        /// The full page instead of the viewport.
        full_page as "fullPage": bool = default; cli option("Capture the whole page instead of the viewport"),
        /// Only the element with this ref.
        reference as "ref": Option<String> = default [regex(pattern = "^@?e?[0-9]{1,9}$")],
        /// Locator instead of a ref, as in actions.
        locator: Option<String> = default,
        /// Only the first element that matches this CSS selector.
        element: Option<String> = default;
            cli option("Capture only the first element that matches this CSS selector").value("CSS").or("selector"),
        /// Frame in which `element` is resolved: a frame id, or the ref of its `<iframe>`. Default: the main frame.
        frame: Option<String> = default;
            cli option("Frame to search for --element: frame id, or ref of the iframe [default: the main frame]"),
        /// Image format.
        kind as "type": PictureType = default,
        /// JPEG quality, 1 to 100. Default 80.
        quality: Option<u8> = default [range(min = 1, max = 100)];
            cli option("JPEG quality, 1 to 100 [default: 80]").value("N").within(1, 100),
        /// Draw boxes around interactive elements, labelled with the numbers of their refs.
        labels: bool = default; cli option("Draw numbered boxes around interactive elements"),
        /// Maximum width in pixels; a larger image is scaled down.
        max_width as "maxWidth": Option<u32> = default [range(min = 1)];
            cli option("Scale a larger image down to this width, pixels").value("N"),
        /// Maximum height in pixels; a larger image is scaled down.
        max_height as "maxHeight": Option<u32> = default [range(min = 1)];
            cli option("Scale a larger image down to this height, pixels").value("N"),
        /// Return the image in the answer instead of a file.
        inline: bool = default,
    }
}

impl TakeScreenshot {
    pub fn options(self) -> ScreenshotOptions {
        let mut options = ScreenshotOptions::default();
        options.full_page = self.full_page;
        options.reference = self.reference;
        options.element = self.element;
        options.frame = self.frame;
        options.kind = self.kind;
        options.quality = self.quality;
        options.labels = self.labels;
        options.max_width = self.max_width;
        options.max_height = self.max_height;
        options
    }
}

/// `GET /screencast`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct FrameQuery {
    /// Wait for a frame that is newer than this `frame`. Default: the newest one.
    pub after: u64,
    /// Maximum time to wait for it, in ms. Default 2,000, at most 10,000.
    #[schemars(range(min = 0, max = 10000))]
    pub wait_ms: Option<u32>,
}

/// Minimum severity of console messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
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

impl Described for Level {
    const TYPE: FieldType = FieldType::Choice(&["log", "debug", "info", "warning", "warn", "error", "exception"]);
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

request! {
    /// `GET /console`.
    #[derive(Default)]
    ConsoleQuery {
        /// Minimum severity.
        level: Option<Level> = default;
            cli option(
                "Show only messages of this level or above: log (same as debug and info), warning (same as warn), error, or \
                 exception"
            ),
        /// Return the last N entries.
        limit: Option<usize> = default; cli option("Show the last N messages [default: all]").value("N").within(1, u64::MAX),
        /// Clear the entries: later calls return newer ones only.
        clear: bool = default; cli option("Clear the messages afterwards"),
    }
}

request! {
    /// `GET /errors`.
    #[derive(Default)]
    ErrorsQuery {
        /// Return the last N entries.
        limit: Option<usize> = default; cli option("Show the last N exceptions [default: all]").value("N").within(1, u64::MAX),
        /// Clear the entries: later calls return newer ones only.
        clear: bool = default; cli option("Clear the exceptions afterwards"),
    }
}

request! {
    /// `GET /requests`.
    #[derive(Default)]
    RequestsQuery {
        /// Substring of the URL, or, with `*`, a pattern for the whole URL.
        filter: Option<String> = default;
            cli option("Show only requests whose URL contains this text; with *, those whose whole URL matches this pattern")
                .value("TEXT"),
        /// Return the last N entries.
        limit: Option<usize> = default; cli option("Show the last N requests [default: all]").value("N").within(1, u64::MAX),
        /// Clear the recorded requests.
        clear: bool = default; cli option("Clear the requests afterwards"),
        /// Include headers, protocol, remote address and timing.
        headers: bool = default; cli option("Show request and response headers"),
        /// With `headers`: do not replace secrets by `[secret]`.
        raw: bool = default;
            cli option(
                "Show header values as they are, with --headers or --har; without --raw, secrets are replaced by [secret]"
            ),
    }
}

request! {
    /// `GET /requests/:id`.
    #[derive(Default)]
    RequestQuery {
        /// Include the response body.
        body: bool = default; cli option("Show the response body, at most 1 MiB"),
        /// Maximum size of a body in bytes. Default and maximum: 1 MiB.
        max_bytes as "maxBytes": Option<usize> = default,
        /// Do not replace secrets by `[secret]`.
        raw: bool = default; cli option("Show values as they are; without --raw, secrets are replaced by [secret]"),
    }
}

/// `GET /requests/har`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct HarQuery {
    /// Include bodies that are still available, up to 2 MiB each and 24 MiB in total.
    pub bodies: bool,
    /// Do not replace secrets by `[secret]`.
    pub raw: bool,
}

/// `GET /requests/:id/body`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct BodyQuery {
    /// Maximum size in bytes. Default and maximum: 1 MiB.
    pub max_bytes: Option<usize>,
}

request! {
    /// `GET /text`.
    #[derive(Default)]
    TextQuery {
        /// Only the first element that matches this CSS selector.
        selector: Option<String> = default;
            cli option("Print only the text of the first element that matches this CSS selector").value("CSS"),
        /// Frame to read: a frame id, or the ref of its `<iframe>`. Default: the main frame.
        frame: Option<String> = default;
            cli option("Read this frame: frame id, or ref of the iframe [default: the main frame]"),
        /// Only the main content: the article if there is only one, else the main part. Default: all visible text.
        main: bool = default;
            cli option("Print only the article or main part; without --main, all visible text"),
        /// Maximum number of characters; 0: no limit. Default 40,000.
        max_chars as "maxChars": Option<usize> = default;
            cli option("Print at most N characters; 0: no limit [default: 40000]").value("N"),
        /// Characters to skip at the beginning.
        offset: Option<usize> = default; cli option("Skip the first N characters").value("N"),
        /// Do not replace secrets by `[secret]`.
        raw: bool = default; cli option("Print the text as it is; without --raw, secrets are replaced by [secret]"),
    }
}

request! {
    /// `GET /frames`.
    #[derive(Default)]
    FramesQuery {
        /// Return all frames, without the usual limits.
        full: bool = default; cli option("List all frames; without --full at most 30 child frames are listed"),
    }
}

/// `POST /cdp`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawCommand {
    /// Command, `Domain.command`.
    #[schemars(regex(pattern = "^[A-Za-z]+\\.[A-Za-z]+$"))]
    pub method: String,
    /// Parameters of the command.
    pub params: Option<Map<String, Value>>,
    /// Frame to send the command to.
    pub frame_id: Option<String>,
}

/// `POST /hooks/file-chooser`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ArmChooser {
    /// Files below `uploads/`, by name or absolute path, or in a folder of `browser.upload_roots`.
    #[schemars(length(min = 1, max = 100))]
    pub paths: Vec<String>,
    /// File input that receives the files immediately.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    pub reference: Option<String>,
    /// Locator instead of a ref, as in actions.
    pub locator: Option<String>,
}

/// `POST /hooks/dialog`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerDialog {
    /// True: OK. False: Cancel.
    pub accept: bool,
    /// Text for a prompt. Default: the default text of the prompt.
    pub prompt_text: Option<String>,
    /// Id of the dialog, if several are open.
    pub dialog_id: Option<String>,
}

request! {
    /// `POST /wait/download`.
    #[derive(Default)]
    WaitDownload {
        /// File name below `downloads/`. Default: the suggested name.
        path: Option<String> = default,
        /// Download the document that the tab shows, such as a PDF, first.
        document: bool = default,
    }
}

/// `POST /api/config/llm/test`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct TestModel {
    /// The alias of the model. Default: the default model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The fields of `llm.json` of a model that need not be stored; a masked key is that of the stored model `alias`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<serde_json::Map<String, serde_json::Value>>,
}

/// `GET /cookies`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct CookiesQuery {
    /// Only cookies that would be sent to this URL.
    #[schemars(regex(pattern = "^https?://[^/?#\\s]+"))]
    pub url: Option<String>,
}

/// `POST /cookies`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddCookies {
    /// Cookies to set, each with `url` or `domain`.
    #[schemars(length(max = 1000))]
    pub cookies: Vec<NewCookie>,
}

/// `POST /cookies/import`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportCookies {
    /// A Netscape cookie file or a JSON array of cookies.
    pub text: String,
    /// Format of `text`. Default: detected.
    pub format: Option<CookieFormat>,
    /// URL for cookies without a domain.
    pub url: Option<String>,
}

/// `DELETE /cookies`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DeleteCookies {
    /// Only cookies with this name.
    pub name: Option<String>,
    /// Only cookies of this host.
    pub domain: Option<String>,
}

/// `GET` and `DELETE /storage/…`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct StorageQuery {
    /// Only the item with this key.
    pub key: Option<String>,
}

/// `POST /storage/…`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetStorage {
    /// Items to set.
    pub items: BTreeMap<String, String>,
}

/// `POST /state/save`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SaveStateBody {
    /// Save these origins only (`https://example.com`), and the cookies sent to them. Default: all origins known from
    /// tabs, their histories and cookies.
    #[schemars(length(max = 300))]
    pub origins: Option<Vec<String>>,
}

/// `POST /state/load`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoadStateBody {
    /// Answer of `POST /state/save`, or a Playwright `storageState`.
    pub state: Map<String, Value>,
}

/// `POST /highlight`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Highlight {
    /// Element to highlight. Without an element the highlight is removed.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    pub reference: Option<String>,
    /// Locator instead of a ref, as in actions.
    pub locator: Option<String>,
}

/// `GET /`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct RootQuery {
    /// Ticket of `POST /ui/ticket` for the page of the web UI; programs send the token instead.
    #[allow(dead_code)] // read by `auth`
    pub ticket: Option<String>,
}

/// `POST /sessions`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSession {
    /// Name of the session: 1 to 128 visible ASCII characters. Requests select it with the header `X-Cdpilot-Session`.
    pub name: String,
    /// Give the session its own browser context: separate cookies, storage and cache.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub isolated: bool,
}

/// `GET /events`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct EventsQuery {
    /// Start after this event: its `id`, or its number (`seq`) in the running server; 0: all retained events.
    /// Default: new events only.
    #[schemars(regex(pattern = "^([0-9a-f]{1,32}-)?[0-9]{1,15}$"))]
    pub since: Option<String>,
}

/// `POST /routes`. Does not implement `Debug`: headers may hold secrets.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddRoute {
    /// A glob: `*` matches anything except `/`, `**` matches anything, every other character matches itself. With `://`, or beginning with
    /// `**`, it is matched against the whole URL without its fragment, query included (`**/api/*.json`); beginning with
    /// `/` against path and query on any host; otherwise against host, path and query (`*.example.com/api/**`).
    #[schemars(length(min = 1, max = 2048))]
    pub pattern: String,
    /// Only requests of this tab, its frames and workers, by target id, tab id (`t1`), label, or a unique prefix of the target
    /// id. Default: all tabs of the session, later ones included; for the default session, the tabs of all sessions.
    pub target_id: Option<String>,
    /// Fail the request: true, or the reason (`failed`, `timedout`, `connectionrefused`, …, as in `NetworkRoute`).
    pub abort: Option<Abort>,
    /// Respond to the request instead of sending it.
    pub fulfil: Option<Fulfil>,
    /// Status of the response. Without `fulfil`: respond with this status and an empty body. Default 200.
    #[schemars(range(min = 200, max = 599))]
    pub status: Option<u16>,
    /// Response headers, with `fulfil` or `status`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = {}))]
    pub headers: BTreeMap<String, String>,
    /// Request headers to set on requests that are sent, replacing headers of the same names. Not applied to redirects.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = {}))]
    pub request_headers: BTreeMap<String, String>,
    /// Delay before the request is handled, in milliseconds. At most 120,000.
    #[schemars(range(max = 120_000))]
    pub delay_ms: Option<u64>,
    /// Only requests with this method.
    pub method: Option<String>,
    /// Only requests of this type: `document`, `stylesheet`, `image`, `media`, `font`, `script`, `texttrack`, `xhr` (also
    /// `fetch`), `eventsource`, `manifest`, `ping`, `cspviolationreport`, `prefetch`, `other`.
    pub resource_type: Option<String>,
    /// Remove the route after this many requests. Default: never.
    #[schemars(range(min = 1))]
    pub times: Option<u32>,
}

/// Whether a request fails, and with which error.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "true, or a reason such as failed, timedout, connectionrefused or internetdisconnected")]
pub enum Abort {
    /// True: fail with `failed`.
    Switch(bool),
    /// The network error reported to the page.
    Reason(AbortReason),
}

/// A response that replaces the one of the server.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fulfil {
    /// The body from a file below `uploads/`, by name or absolute path, or in a folder of `browser.upload_roots`; read immediately, at most
    /// 16 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The body as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The body in Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
    /// Same as `status` outside of `fulfil`.
    #[schemars(range(min = 200, max = 599))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Same as `headers` outside of `fulfil`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = {}))]
    pub headers: BTreeMap<String, String>,
    /// The `Content-Type`. Default: by the extension of `path`, `text/plain` for `body` (`application/json` if it is
    /// JSON), else `application/octet-stream`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}
