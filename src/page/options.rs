//! Options of [`Tabs`](super::Tabs).

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::redact::Fingerprint;
use crate::setters;
use crate::supervisor::{TargetId, View};

/// Names tabs, such as `t3`, in answers. Called without a lock; must not block.
#[derive(Clone)]
pub struct TabNames(Arc<Name>);

type Name = dyn Fn(&TargetId, &View) -> Option<String> + Send + Sync;

impl TabNames {
    /// Names tabs by a function of the target id and the state of the browser.
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

/// Texts that no picture may show, found in pages by their fingerprints.
#[derive(Clone)]
pub struct HiddenTexts(Arc<Fingerprints>);

type Fingerprints = dyn Fn(u32) -> Vec<Fingerprint> + Send + Sync;

impl HiddenTexts {
    /// Texts whose fingerprints a function computes for a base. Called without a lock; must not block.
    pub fn new(fingerprints: impl Fn(u32) -> Vec<Fingerprint> + Send + Sync + 'static) -> Self {
        Self(Arc::new(fingerprints))
    }

    pub(super) fn fingerprints(&self, base: u32) -> Vec<Fingerprint> {
        (self.0)(base)
    }
}

impl fmt::Debug for HiddenTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HiddenTexts")
    }
}

/// What [`Tabs`](super::Tabs) records, and which files pages may give and take.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PageOptions {
    /// Whether to watch network requests, for [`Tab::requests`](super::Tab::requests) and for actions that wait until
    /// their effects have settled. Default true.
    pub network: bool,
    /// The downloads folder, created if missing. Default `None`: the browser handles downloads by itself.
    pub downloads: Option<PathBuf>,
    /// Folders that uploaded files must be in, links resolved. Default `None`: any file of this machine may be
    /// uploaded; only for callers with the user's own rights.
    pub uploads: Option<Vec<PathBuf>>,
    /// Names of the tabs that an action opens. Default `None`: they only have target ids.
    pub tab_names: Option<TabNames>,
    /// Texts that are painted over in pictures. Default `None`.
    #[doc(hidden)]
    pub hidden: Option<HiddenTexts>,
}

impl Default for PageOptions {
    fn default() -> Self {
        Self { network: true, downloads: None, uploads: None, tab_names: None, hidden: None }
    }
}

impl PageOptions {
    /// The default options, as [`Default`] gives them.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { PageOptions:
    network(bool),
    downloads(some into PathBuf),
    uploads(some Vec<PathBuf>),
    tab_names(some TabNames),
}
