//! The rest of a page: what it says, asks for, stores and downloads, and what it is made to believe.
//!
//! | file | what it holds |
//! |---|---|
//! | `console` | messages and uncaught exceptions |
//! | `chooser` | files to upload |
//! | `downloads`, `names` | downloads and where they go; safe names for files |
//! | `requests` | network requests and what they brought |

mod chooser;
mod downloads;
mod names;
mod requests;

pub use chooser::Upload;
pub(super) use downloads::Downloads;
pub use downloads::{Download, DownloadState};
pub use requests::ResponseBody;
