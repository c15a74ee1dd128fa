//! The rest of a page: what it says, asks for, stores and downloads, and what it is made to believe.
//!
//! | file | what it holds |
//! |---|---|
//! | `console` | messages and uncaught exceptions |
//! | `chooser` | files to upload |
//! | `cookies`, `storage` | what sites have stored |
//! | `downloads`, `names` | downloads and where they go; safe names for files |
//! | `incoming` | the folder that downloads are caught in |
//! | `emulate`, `devices`, `throttle` | what a tab is made to believe; well-known devices; slower processors and networks |
//! | `requests`, `request_record`, `har` | network requests and what they brought; each in detail; as an HTTP Archive |
//! | `text` | the text of a page |

mod chooser;
mod console;
mod cookies;
mod devices;
mod downloads;
mod emulate;
mod har;
mod incoming;
mod names;
mod request_record;
mod requests;
mod storage;
mod text;
mod throttle;

pub use chooser::{Given, Upload};
pub(super) use console::Cleared;
pub use console::{ConsoleMessage, PageError};
pub use cookies::{Cookie, NewCookie, SameSite};
pub(in crate::page) use cookies::{is_host, is_web};
#[cfg(feature = "cli")]
pub(crate) use devices::device_names;
pub(super) use downloads::Downloads;
pub use downloads::{Download, DownloadState};
pub(super) use emulate::Believed;
pub use emulate::{Change, Credentials, Emulation, Geolocation, Media, Viewport};
pub use har::Har;
#[cfg(feature = "server")]
pub(crate) use incoming::clear_incoming;
pub use request_record::{RecordOptions, RequestRecord, RequestTiming};
pub use requests::ResponseBody;
pub use storage::Storage;
pub use text::{FrameText, PageText};
pub use throttle::{EmulatedNetwork, NetworkPreset, NetworkSpeed};
