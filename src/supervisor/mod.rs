//! Watching a browser: pages, frames, dialogs, console; one supervisor per task.
//!
//! A [`Supervisor`] owns one connection. What the browser tells is folded by one thread
//! (`sup-<task>`) into a frozen [`View`] that anybody may take at any time without waiting for
//! the browser; dialogs are answered by policy, by an armed answer or on request; calls go into any
//! frame by its id. The room never opens a second connection and knows nothing of element trees.
//!
//! | file | what it holds |
//! |---|---|
//! | `options`, `policy` | what a supervisor is asked to do, and with dialogs |
//! | `navigation` | where pages may go (feature `server`) |
//! | `network_route`, `url_glob` | routes: what becomes of requests whose address fits a pattern |
//! | `interception` | requests that the embedder decides about |
//! | `redact`, `redact_forms`, `redact_labels`, `redact_json`, `redact_headers` | covering secrets in texts, by form, in form fields, in JSON, and in headers |
//! | `state` | the fold: events in, effects out; no input or output of its own |
//! | `inputs`, `worker` | what comes in, and the thread around the fold |
//! | `link`, `redial` | the connection of the moment, and making a lost one again |
//! | `snapshot`, `tree` | what is published |
//! | `log` | the numbered event log |
//! | `handle`, `frame_call`, `aimed`, `setting_out`, `travel`, `browser_call`, `dialog_call`, `served` | the public calls |
//! | `route`, `guard`, `liveness`, `value` | where a call goes, how it waits, what it comes to |
//! | `navigation_limit` | reads that do not wait for a slow server |
//! | `hidden_page` | a page that nobody sees, for what an origin stores |
//! | `standing` | what holds for a page as long as it lives |
//! | `put_away` | dialogs of a page that is to be sent elsewhere |
//! | `chooser` | files for choosers |
//! | `traffic`, `request_detail`, `kept` | network requests; the newest entries of each page |
//! | `page_events` | protocol events of a page, for embedders |
//! | `registry` | supervisors by task |
//! | `bridge` | dialogs over requests, for endpoints that answer native ones by themselves |

mod aimed;
pub mod bridge;
mod browser_call;
mod chooser;
mod dialog_call;
mod error;
mod frame_call;
mod guard;
mod handle;
mod hidden_page;
mod inputs;
mod interception;
mod kept;
mod link;
mod liveness;
mod log;
#[cfg_attr(not(feature = "server"), allow(dead_code, unreachable_pub))]
mod navigation;
#[cfg_attr(not(feature = "page"), allow(dead_code))]
mod navigation_limit;
mod network_route;
mod options;
mod page_events;
mod policy;
mod put_away;
mod redact;
mod redact_forms;
#[cfg_attr(not(feature = "page"), allow(dead_code))]
mod redact_headers;
mod redact_json;
mod redact_labels;
mod redial;
mod registry;
#[cfg_attr(not(feature = "page"), allow(dead_code))]
mod request_detail;
mod route;
mod served;
mod setting_out;
mod snapshot;
mod standing;
mod state;
mod traffic;
mod travel;
mod tree;
mod url_glob;
mod value;
mod worker;

#[cfg(feature = "page")]
pub(crate) use crate::browser::is_full;

pub use crate::cdp::protocol::page::{FrameId, NavigationEntry};
pub use crate::cdp::protocol::target::TargetId;
pub use aimed::Outcomes;
pub use chooser::{ArmedChooser, ChosenFiles};
pub use dialog_call::DialogAnswer;
pub use error::Error;
pub use handle::Supervisor;
pub use hidden_page::HiddenPage;
pub use interception::{InterceptRule, InterceptedRequest, Interceptor};
pub use log::{Action, DownloadEnded, Entry, EventKind, EventLog, FrameChange, Happened, LogEvent, LogTail};
pub use navigation::BlockedNavigation;
#[cfg(feature = "server")]
pub use navigation::{BadPattern, NavigationPolicy, Place, ProtectedPort, ProtectedPorts, Refused, Verdict};
#[cfg(feature = "page")]
pub(crate) use navigation_limit::with_navigation_limit;
pub use network_route::{
    AbortReason, Fulfilment, Header, HeaderList, NetworkRoute, RouteAction, RouteAnswer, RouteRule,
};
pub use options::{Pages, Reconnect, SupervisorOptions};
pub use page_events::{EventFilter, PageEvent, PageEvents};
pub use policy::{ArmedAnswer, BridgeMode, DialogMatch, DialogPolicy, DialogRule, UnknownPolicy};
pub use redact::Secrets;
#[cfg(feature = "page")]
pub(crate) use redact_headers::cover_header;
pub use registry::Registry;
pub use request_detail::{RawHeaders, RawTiming, RequestDetail};
pub use route::FrameRef;
#[cfg(feature = "page")]
pub(crate) use served::MovedDownload;
pub use served::{History, RawScreenshot};
pub use snapshot::{
    ArmedDialogAnswer, BridgeLife, BridgeReason, BridgeView, ClosedBy, ClosedDialog, ConsoleEntry, ConsoleLevel,
    Dialog, DialogType, DownloadProgress, DownloadView, Frame, PageState, PageView, Phase, View,
};
#[cfg(feature = "page")]
pub(crate) use standing::{CPU, OFFLINE};
pub use standing::{Login, Sessions, Standing, Throttle};
pub use traffic::{Body, FailedDocument, Loading, NetworkRequest, Traffic};
pub use tree::{FrameTree, FrameView, Limits};
pub use value::{Done, ScriptError, Value};
