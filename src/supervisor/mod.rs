//! Supervision of a browser: pages, frames, dialogs, console, network; one supervisor per task.
//!
//! A [`Supervisor`] owns one connection. One thread (`sup-<task>`) feeds the browser's events into a state machine and
//! publishes a frozen [`View`], which any thread can take at any time without waiting for the browser. Dialogs are
//! answered by policy, by an armed answer or on request. Calls go to any frame by its id. This module never opens a
//! second connection and knows nothing of elements.
//!
//! | file | contents |
//! |---|---|
//! | `options`, `dialog_policy` | options of a supervisor; policies for dialogs |
//! | `navigation_policy` | which URLs pages may load (feature `navigation`) |
//! | `network_route`, `url_glob` | routes: modify, answer or abort requests whose URL matches a pattern |
//! | `interception` | interception of requests by the embedder |
//! | `state` | the state machine: events in, effects out; no I/O |
//! | `inputs`, `worker` | inputs of the supervisor's thread, and the thread itself |
//! | `current_connection`, `redial` | the current connection, and reconnecting |
//! | `snapshot`, `tree` | the published state |
//! | `log` | the numbered event log |
//! | `examples` | events and pages for tests |
//! | `handle`, `evaluate`, `session_calls`, `navigate`, `browser_call`, `dialog_call`, `passive_queries` | the public calls |
//! | `route`, `call_watchdog`, `liveness`, `value` | choosing the session of a call, waiting for it, its result |
//! | `owned_pages` | which pages belong to other supervisors of this process |
//! | `hidden_page` | a hidden page for reading and writing the storage of an origin |
//! | `persistent_commands` | commands that every session of a page gets, also after a reconnect |
//! | `chooser` | files for file choosers |
//! | `traffic`, `request_detail`, `page_ring` | network requests; the newest entries of each page |
//! | `page_events` | protocol events of a page, for embedders |
//! | `recording` | the feed of a recording: reports of its script, and events of its pages |
//! | `registry` | supervisors by task |
//! | `bridge` | dialog bridge, for endpoints that dismiss native dialogs themselves |

pub mod bridge;
mod browser_call;
mod call_watchdog;
mod chooser;
mod current_connection;
mod dialog_call;
mod dialog_policy;
mod error;
mod evaluate;
mod examples;
mod handle;
mod hidden_page;
mod inputs;
mod interception;
mod liveness;
mod log;
mod navigate;
#[cfg_attr(not(feature = "navigation"), allow(dead_code, unreachable_pub))]
mod navigation_policy;
mod network_route;
mod options;
mod origin;
mod outgoing;
mod owned_pages;
mod page_events;
mod page_ring;
mod page_scripts;
mod passive_queries;
mod persistent_commands;
#[cfg_attr(not(feature = "page"), expect(dead_code, reason = "used by `page` only"))]
mod recording;
mod redial;
mod registry;
mod request_detail;
mod rescue;
mod route;
mod session_calls;
mod snapshot;
mod state;
mod traffic;
mod tree;
mod url_glob;
mod value;
mod worker;

#[cfg_attr(not(feature = "page"), expect(unused_imports, reason = "used by `page` only"))]
pub(crate) use crate::browser::is_disk_full;
pub use crate::cdp::protocol::browser::BrowserContextId;
pub use crate::cdp::protocol::network::Cookie;
pub use crate::cdp::protocol::page::{FrameId, NavigationEntry};
pub use crate::cdp::protocol::target::TargetId;
pub use crate::redact::Secrets;
pub use chooser::{ArmedChooser, ChosenFiles};
pub use dialog_call::DialogAnswer;
pub use dialog_policy::{ArmedAnswer, BridgeMode, DialogMatch, DialogPolicy, DialogRule, UnknownPolicy};
pub use error::Error;
pub use handle::Supervisor;
pub use hidden_page::HiddenPage;
pub use interception::{InterceptRule, InterceptedRequest, Interceptor};
pub use log::{Action, DownloadEnded, Entry, EventKind, EventLog, EventRecord, FrameChange, LogEvent, LogTail};
pub use navigation_policy::BlockedNavigation;
#[cfg(feature = "navigation")]
pub use navigation_policy::{BadPattern, NavigationPolicy, Place, ProtectedPort, ProtectedPorts, Refused, Verdict};
pub use network_route::{
    AbortReason, Fulfilment, Header, HeaderList, NetworkRoute, RouteAction, RouteAnswer, RouteRule,
};
pub use options::{Pages, Reconnect, SupervisorOptions};
#[cfg_attr(not(feature = "page"), expect(unused_imports, reason = "used by `page` only"))]
pub(crate) use origin::http_origin;
pub use page_events::{EventFilter, PageEvent, PageEvents};
#[cfg_attr(not(feature = "page"), expect(unused_imports, reason = "used by `page` only"))]
pub(crate) use passive_queries::MovedDownload;
pub use passive_queries::{History, RawScreenshot};
#[cfg_attr(not(feature = "page"), expect(unused_imports, reason = "used by `page` only"))]
pub(crate) use persistent_commands::{CPU, OFFLINE};
pub use persistent_commands::{Login, PersistentCommand, SessionScope, Throttle};
#[cfg_attr(not(feature = "page"), expect(unused_imports, reason = "used by `page` only"))]
pub(crate) use recording::{Evidence, Origin, RecordingFeed, RecordingSpec};
pub use registry::Registry;
pub use request_detail::{RawHeaders, RawTiming, RequestDetail};
pub use rescue::Rescue;
pub use route::FrameRef;
pub use session_calls::Outcomes;
pub use snapshot::{
    ArmedDialogAnswer, BridgeLife, BridgeReason, BridgeView, ClosedBy, ClosedDialog, ConsoleEntry, ConsoleLevel,
    Dialog, DialogType, DownloadProgress, DownloadView, Frame, PageState, PageView, Phase, View,
};
pub use traffic::{Body, FailedDocument, Loading, NetworkRequest, Traffic};
pub use tree::{FrameTree, FrameView, Limits};
pub use value::{Done, ScriptError, Value};
