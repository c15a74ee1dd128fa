//! The rest of a page: what it says, asks for, stores and downloads, and what it is made to believe.
//!
//! | file | what it holds |
//! |---|---|
//! | `console` | messages and uncaught exceptions |
//! | `downloads`, `names` | downloads and where they go; safe names for files |
//! | `requests` | network requests and what they brought |

mod downloads;
mod names;
mod requests;

pub(super) use downloads::Downloads;
pub use downloads::{Download, DownloadState};
pub use requests::ResponseBody;
