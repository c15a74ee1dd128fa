//! Bodies and queries. What several routes take (`profile`, `targetId`, `timeoutMs`) is read before these.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::control::WaitUntil;
use crate::page::{Act, CookieFormat, Format, NewCookie, PictureType, ScreenshotOptions, SnapshotOptions, What};
use crate::supervisor::{AbortReason, ConsoleLevel};

/// No fields.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::server) struct NoFields {}

/// `POST /mcp`, beside its body.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::server) struct McpQuery {
    /// Toolsets and tools instead of those that the settings give, separated by commas.
    pub(in crate::server) toolsets: Option<String>,
    /// The platform whose tools are offered: cli, acp, … By default mcp.
    pub(in crate::server) platform: Option<String>,
}

/// `POST /start`.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct Start {
    /// Without a window; by default as the settings say. `CONFLICT` when the browser runs the other way.
    pub(in crate::server) headless: Option<bool>,
    /// WebDriver capabilities (`browserName`, `platformName`, options of a vendor), for profiles on a WebDriver server or
    /// Selenium Grid. Each replaces the profile's of that name. `CONFLICT` when the browser runs.
    pub(in crate::server) capabilities: Option<Map<String, Value>>,
}

/// `POST /tabs/open`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct OpenTab {
    /// Where to.
    pub(in crate::server) url: String,
    /// A name to call the tab by: 1 to 64 letters, digits, `_ . : -`.
    #[schemars(regex(pattern = "^[A-Za-z0-9_.:-]{1,64}$"))]
    pub(in crate::server) label: Option<String>,
    /// Without becoming the tab that is used when none is named.
    #[serde(default)]
    pub(in crate::server) background: bool,
}

/// `POST /tabs/focus`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct FocusTab {
    /// Target id, tab id (`t1`), label, or a unique prefix of the target id.
    pub(in crate::server) target_id: String,
}

/// `POST /tabs/label`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct LabelTab {
    /// Target id, tab id (`t1`), label, or a unique prefix of the target id.
    pub(in crate::server) target_id: String,
    /// 1 to 64 letters, digits, `_ . : -`.
    #[schemars(regex(pattern = "^[A-Za-z0-9_.:-]{1,64}$"))]
    pub(in crate::server) label: String,
}

/// `POST /navigate`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct NavigateTo {
    /// Where to.
    pub(in crate::server) url: String,
    /// Until when it is waited for.
    #[serde(default)]
    pub(in crate::server) wait_until: WaitUntil,
    /// Dismiss the dialogs that the tab shows, and report them as `dismissed_dialogs`. A page that then asks whether it may be
    /// left (`beforeunload`) stays until that is answered. Without it, a tab that shows a dialog is not navigated (`BLOCKED_BY_DIALOG`).
    #[serde(default)]
    pub(in crate::server) dismiss_dialogs: bool,
}

/// `POST /back`, `/forward`, `/reload`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct HistoryNavigation {
    /// What is waited for.
    pub(in crate::server) wait_until: WaitUntil,
    /// Dismiss the dialogs that the tab shows, and report them as `dismissed_dialogs`. A page that then asks whether it may be
    /// left (`beforeunload`) stays until that is answered.
    pub(in crate::server) dismiss_dialogs: bool,
}

/// `POST /find`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct FindQuery {
    /// `role=button[name="Save"]`, `text=…`, `label=…`, `placeholder=…`, `testid=…`, `css=…`, chained by ` >> `.
    #[schemars(length(min = 1, max = 2000))]
    pub(in crate::server) locator: String,
    /// Only in this frame and those inside it: a frame id, or the ref of its `<iframe>`.
    pub(in crate::server) frame: Option<String>,
    /// Matches to return. Default 50.
    #[schemars(range(min = 1, max = 1000))]
    pub(in crate::server) limit: Option<usize>,
}

/// `POST /get`: the element by `ref`, `selector` or `locator`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct GetQuery {
    /// What is read.
    pub(in crate::server) what: What,
    /// The attribute, for `what: attribute`.
    pub(in crate::server) name: Option<String>,
    /// A ref of a snapshot.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    pub(in crate::server) reference: Option<String>,
    /// The first match of a CSS selector.
    pub(in crate::server) selector: Option<String>,
    /// A locator, as with `POST /find`.
    #[schemars(length(min = 1, max = 2000))]
    pub(in crate::server) locator: Option<String>,
    /// Which match of the locator: from 0, or from the end for a negative number.
    pub(in crate::server) nth: Option<i32>,
    /// The frame that a selector or locator is looked for in.
    pub(in crate::server) frame_id: Option<String>,
    /// Return texts as they are, without covering what looks like a secret.
    #[serde(default)]
    pub(in crate::server) raw: bool,
    /// With `what: state`: return `{"visible": false}` at once when no element matches, instead of waiting for one.
    #[serde(default)]
    pub(in crate::server) absent: bool,
}

/// `GET /snapshot`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct SnapshotQuery {
    /// How it is written.
    format: Format,
    /// Nodes at most, `aria` only. Default 500.
    limit: Option<usize>,
    /// Characters at most, `ai` only; 0 for no limit. Default 40,000.
    max_chars: Option<usize>,
    /// Lines to leave out at the beginning, `ai` only.
    offset: Option<usize>,
    /// Only what can be acted on.
    interactive: bool,
    /// Without unnamed containers.
    compact: bool,
    /// So many levels below the root.
    depth: Option<u32>,
    /// Only what is in the first element that matches this CSS selector.
    selector: Option<String>,
    /// Only this frame and those in it: a frame id, or the ref of its `<iframe>`.
    #[schemars(length(min = 1))]
    frame: Option<String>,
    /// With a labelled picture beside it.
    pub(in crate::server) labels: bool,
    /// With the addresses of links.
    urls: bool,
    /// Only what changed since the last snapshot of the tab, with its options unless others are given. `full` in the answer
    /// says that there was none to compare with.
    diff: bool,
    /// Of eight or more like siblings show five.
    fold: bool,
    /// The ref of a folded run that is to be shown whole.
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    expand: Option<String>,
}

impl SnapshotQuery {
    pub(in crate::server) fn options(self) -> SnapshotOptions {
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
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct TakeScreenshot {
    /// The whole page, not the viewport only.
    full_page: bool,
    /// Only the element of this ref.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    pub(in crate::server) reference: Option<String>,
    /// A locator in the place of a ref, as in actions.
    pub(in crate::server) locator: Option<String>,
    /// Only the first element that matches this CSS selector.
    element: Option<String>,
    /// The frame that `element` is looked for in, by its id or the ref of its element. Default: the main frame.
    frame: Option<String>,
    /// PNG or JPEG.
    #[serde(rename = "type")]
    kind: PictureType,
    /// Quality of a JPEG, 1 to 100. Default 80.
    #[schemars(range(min = 1, max = 100))]
    quality: Option<u8>,
    /// With boxes around what can be acted on and the numbers of their refs beside them.
    labels: bool,
    /// Made smaller, in proportion, to be at most so many pixels wide.
    #[schemars(range(min = 1))]
    max_width: Option<u32>,
    /// Made smaller, in proportion, to be at most so many pixels high.
    #[schemars(range(min = 1))]
    max_height: Option<u32>,
    /// The picture itself in the answer, not a file.
    pub(in crate::server) inline: bool,
}

impl TakeScreenshot {
    pub(in crate::server) fn options(self) -> ScreenshotOptions {
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

/// How serious a console message is, in the words that browsers and tools use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::server) enum Level {
    /// Everything.
    Log,
    /// The same as `log`.
    Debug,
    /// The same as `log`.
    Info,
    /// Warnings and worse.
    Warning,
    /// The same as `warning`.
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
pub(in crate::server) struct ConsoleQuery {
    /// Messages that are at least so serious.
    pub(in crate::server) level: Option<Level>,
    /// The last so many.
    pub(in crate::server) limit: Option<usize>,
    /// Later calls begin behind what is there now.
    pub(in crate::server) clear: bool,
}

/// `GET /errors`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct ErrorsQuery {
    /// The last so many.
    pub(in crate::server) limit: Option<usize>,
    /// Later calls begin behind what is there now.
    pub(in crate::server) clear: bool,
}

/// `GET /requests`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct RequestsQuery {
    /// A part of the address, or with `*` in it a pattern for all of it.
    pub(in crate::server) filter: Option<String>,
    /// The last so many.
    pub(in crate::server) limit: Option<usize>,
    /// Forgets everything that was there.
    pub(in crate::server) clear: bool,
    /// Report headers, protocol, address and timing of each request too.
    pub(in crate::server) headers: bool,
    /// With `headers`: report values as they are, without secrets replaced by `[secret]`.
    pub(in crate::server) raw: bool,
}

/// `GET /requests/:id`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct RequestQuery {
    /// Report the body of the response too.
    pub(in crate::server) body: bool,
    /// Bytes of a body at most. Default and most 1 MiB.
    pub(in crate::server) max_bytes: Option<usize>,
    /// Report values as they are, without secrets replaced by `[secret]`.
    pub(in crate::server) raw: bool,
}

/// `GET /requests/har`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct HarQuery {
    /// With the bodies that are still available, at most 2 MiB each and 24 MiB together.
    pub(in crate::server) bodies: bool,
    /// Report values as they are, without secrets replaced by `[secret]`.
    pub(in crate::server) raw: bool,
}

/// `GET /requests/:id/body`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct BodyQuery {
    /// Bytes at most. Default and most 1 MiB.
    pub(in crate::server) max_bytes: Option<usize>,
}

/// `GET /text`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct TextQuery {
    /// Only the first element that matches this CSS selector.
    pub(in crate::server) selector: Option<String>,
    /// The frame to read: a frame id, or the ref of its `<iframe>`. Default: the main frame.
    pub(in crate::server) frame: Option<String>,
    /// Characters at most; 0 for no limit. Default 40,000.
    pub(in crate::server) max_chars: Option<usize>,
    /// Characters to leave out at the beginning.
    pub(in crate::server) offset: Option<usize>,
    /// The text as the page has it, without secrets replaced by `[secret]`.
    pub(in crate::server) raw: bool,
}

/// `GET /frames`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct FramesQuery {
    /// All of them, without the usual limits.
    pub(in crate::server) full: bool,
}

/// `POST /cdp`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct RawCommand {
    /// `Domain.command`.
    #[schemars(regex(pattern = "^[A-Za-z]+\\.[A-Za-z]+$"))]
    pub(in crate::server) method: String,
    /// Its parameters.
    pub(in crate::server) params: Option<Map<String, Value>>,
    /// The frame it is for.
    pub(in crate::server) frame_id: Option<String>,
}

/// `POST /hooks/file-chooser`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct ArmChooser {
    /// Files below `uploads/`, by name or whole path, or in a folder of `upload_roots`.
    #[schemars(length(min = 1, max = 100))]
    pub(in crate::server) paths: Vec<String>,
    /// The file input that gets them at once.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    pub(in crate::server) reference: Option<String>,
    /// A locator in the place of a ref, as in actions.
    pub(in crate::server) locator: Option<String>,
}

/// `POST /hooks/dialog`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct AnswerDialog {
    /// OK or Cancel.
    pub(in crate::server) accept: bool,
    /// Text for a prompt. Default: the prompt's own default text.
    pub(in crate::server) prompt_text: Option<String>,
    /// The dialog, when several are open.
    pub(in crate::server) dialog_id: Option<String>,
}

/// `POST /wait/download`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct WaitDownload {
    /// The name it gets below `downloads/`.
    pub(in crate::server) path: Option<String>,
}

/// `GET /cookies`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct CookiesQuery {
    /// Those that would be sent to this address.
    #[schemars(regex(pattern = "^https?://[^/?#\\s]+"))]
    pub(in crate::server) url: Option<String>,
}

/// `POST /cookies`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct AddCookies {
    /// Each with `url` or `domain`.
    #[schemars(length(max = 1000))]
    pub(in crate::server) cookies: Vec<NewCookie>,
}

/// `POST /cookies/import`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct ImportCookies {
    /// A Netscape cookie file, curl commands, or a JSON array of cookies.
    pub(in crate::server) text: String,
    /// Its format. Default: known by how it begins.
    pub(in crate::server) format: Option<CookieFormat>,
    /// The address that cookies without one are for; of curl commands it replaces theirs.
    pub(in crate::server) url: Option<String>,
}

/// `DELETE /cookies`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct DeleteCookies {
    /// Those of this name.
    pub(in crate::server) name: Option<String>,
    /// Those of this host.
    pub(in crate::server) domain: Option<String>,
}

/// `GET` and `DELETE /storage/…`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct StorageQuery {
    /// This item only.
    pub(in crate::server) key: Option<String>,
}

/// `POST /storage/…`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct SetStorage {
    /// Items to set.
    pub(in crate::server) items: BTreeMap<String, String>,
}

/// `POST /state/save`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct SaveStateBody {
    /// These origins only (`https://example.com`), and the cookies that are sent to them. Default: all that are known from
    /// tabs, their histories and cookies.
    #[schemars(length(max = 300))]
    pub(in crate::server) origins: Option<Vec<String>>,
}

/// `POST /state/load`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct LoadStateBody {
    /// What `POST /state/save` gave, or a `storageState` of Playwright.
    pub(in crate::server) state: Map<String, Value>,
}

/// `POST /highlight`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct Highlight {
    /// The element; without one the highlight goes.
    #[serde(rename = "ref")]
    #[schemars(regex(pattern = "^@?e?[0-9]{1,9}$"))]
    pub(in crate::server) reference: Option<String>,
    /// A locator in the place of a ref, as in actions.
    pub(in crate::server) locator: Option<String>,
}

/// `GET /`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct RootQuery {
    /// A ticket of `POST /ui/ticket`, for the web UI's page; programs send the token instead.
    #[allow(dead_code)] // read by the gate
    pub(in crate::server) ticket: Option<String>,
}

/// `POST /sessions`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct NewSession {
    /// Its name: 1 to 128 visible ASCII characters. Requests select it by the header `X-Cdpilot-Session`.
    pub(in crate::server) name: String,
    /// Whether it has its own browser context: cookies, storage and cache of its own.
    #[serde(default)]
    pub(in crate::server) isolated: bool,
}

/// `GET /events`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(in crate::server) struct EventsQuery {
    /// Begin after this event: its `id`, or its number in the running server (`seq`); 0 for everything that is kept.
    /// Default: what happens from now on.
    #[schemars(regex(pattern = "^([0-9a-f]{1,32}-)?[0-9]{1,15}$"))]
    pub(in crate::server) since: Option<String>,
}

/// `POST /act`: read by the page layer, which names what is wrong with an action.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(in crate::server) struct Action(pub(in crate::server) Value);

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
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct AddRoute {
    /// A glob: `*` matches anything but `/`, `**` anything, every other character itself. With `://`, or beginning with
    /// `**`, it is matched against the whole URL without its fragment, query included (`**/api/*.json`); beginning with
    /// `/` against path and query on any host; otherwise against host, path and query (`*.example.com/api/**`).
    #[schemars(length(min = 1, max = 2048))]
    pub(in crate::server) pattern: String,
    /// Only requests of this tab, its frames and workers: target id, tab id (`t1`), label, or a unique prefix of the target
    /// id. Default: all tabs, later ones included.
    pub(in crate::server) target_id: Option<String>,
    /// Fail the request: true, or the reason (`failed`, `timedout`, `connectionrefused`, …, as in `NetworkRoute`).
    pub(in crate::server) abort: Option<Abort>,
    /// Answer the request instead of sending it.
    pub(in crate::server) fulfil: Option<Fulfil>,
    /// The status of the answer. Without `fulfil`: answer with this status and an empty body. Default 200.
    #[schemars(range(min = 200, max = 599))]
    pub(in crate::server) status: Option<u16>,
    /// Headers of the answer, with `fulfil` or `status`.
    #[serde(default)]
    pub(in crate::server) headers: BTreeMap<String, String>,
    /// Headers of a request that is sent, in place of its own headers of the same names. They do not follow a redirect.
    #[serde(default)]
    pub(in crate::server) request_headers: BTreeMap<String, String>,
    /// How long the request is held first, milliseconds. At most 120,000.
    #[schemars(range(max = 120_000))]
    pub(in crate::server) delay_ms: Option<u64>,
    /// Only requests with this method.
    pub(in crate::server) method: Option<String>,
    /// Only requests of this type: `document`, `stylesheet`, `image`, `media`, `font`, `script`, `texttrack`, `xhr` (also
    /// `fetch`), `eventsource`, `manifest`, `ping`, `cspviolationreport`, `prefetch`, `other`.
    pub(in crate::server) resource_type: Option<String>,
    /// Remove the route after this many requests. Default: never.
    #[schemars(range(min = 1))]
    pub(in crate::server) times: Option<u32>,
}

/// Whether and why a request fails.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "true, or a reason such as failed, timedout, connectionrefused or internetdisconnected")]
pub(in crate::server) enum Abort {
    /// True: `failed`.
    Switch(bool),
    /// The network error that the page sees.
    Reason(AbortReason),
}

/// An answer that takes the place of a server's.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::server) struct Fulfil {
    /// The body from a file below `uploads/`, by name or whole path, or in a folder of `upload_roots`; read now, at most
    /// 16 MiB.
    pub(in crate::server) path: Option<String>,
    /// The body as text.
    pub(in crate::server) body: Option<String>,
    /// The body in Base64.
    pub(in crate::server) body_base64: Option<String>,
    /// As `status` beside `fulfil`.
    #[schemars(range(min = 200, max = 599))]
    pub(in crate::server) status: Option<u16>,
    /// As `headers` beside `fulfil`.
    #[serde(default)]
    pub(in crate::server) headers: BTreeMap<String, String>,
    /// The `Content-Type`. Default: by the extension of `path`, `text/plain` for `body` (`application/json` where it is
    /// JSON), else `application/octet-stream`.
    pub(in crate::server) content_type: Option<String>,
}
