//! Data of a page: console, text, cookies, storage, downloads and files to upload.
//!
//! | file | contents |
//! |---|---|
//! | `console` | console messages and uncaught exceptions |
//! | `cookies`, `storage` | cookies of the browser context; local and session storage of the document |
//! | `downloads` | downloads, from their start to the finished file |
//! | `partial_downloads` | the private folder that the browser downloads into |
//! | `file_names` | file names from outside, made safe |
//! | `file_chooser` | files to upload |
//! | `text` | the readable text of a page |

mod console;
mod cookies;
mod downloads;
mod file_chooser;
mod file_names;
mod partial_downloads;
mod storage;
mod text;
mod upload_folder;

pub(super) use console::ClearMarks;
pub use console::{ConsoleMessage, PageError};
pub use cookies::{Cookie, NewCookie, SameSite};
pub(super) use cookies::{is_host, is_web};
pub(super) use downloads::Downloads;
pub use downloads::{Download, DownloadState};
pub use file_chooser::{Upload, UploadedFiles};
pub use partial_downloads::clear_incoming;
pub use storage::Storage;
pub use text::{FrameText, PageText};
pub use upload_folder::upload_folder_files;
