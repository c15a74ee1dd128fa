//! What the pages of a supervisor are given.

use std::path::PathBuf;

/// Options of [`Tabs`](super::Tabs).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PageOptions {
    /// Whether network requests are watched, for [`Tab::requests`](super::Tab::requests) and for actions
    /// that wait until what they caused has settled. Default true.
    pub network: bool,
    /// The folder for downloads, made when there is none. Default none: downloads are left to the browser.
    pub downloads: Option<PathBuf>,
    /// Folders that files to upload must lie in, links resolved. Default none: any file of this machine may
    /// be uploaded, which is for callers who are the person themselves.
    pub uploads: Option<Vec<PathBuf>>,
}

impl Default for PageOptions {
    fn default() -> Self {
        Self { network: true, downloads: None, uploads: None }
    }
}
