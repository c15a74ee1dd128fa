//! What the pages of a supervisor are given.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::supervisor::{TargetId, View};

/// Gives tabs the ids that people and models name them by, such as `t3`. Called under no lock; must not wait.
#[derive(Clone)]
pub struct TabNames(Arc<Name>);

type Name = dyn Fn(&TargetId, &View) -> Option<String> + Send + Sync;

impl TabNames {
    /// Names by a function of the target and of what is known of the browser.
    #[must_use]
    pub fn new(name: impl Fn(&TargetId, &View) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(name))
    }

    pub(super) fn of(&self, target: &TargetId, now: &View) -> Option<String> {
        (self.0)(target, now)
    }
}

impl fmt::Debug for TabNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TabNames")
    }
}

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
    /// What the tabs that an action opens are called. Default none: they have target ids only.
    pub tab_names: Option<TabNames>,
}

impl Default for PageOptions {
    fn default() -> Self {
        Self { network: true, downloads: None, uploads: None, tab_names: None }
    }
}
