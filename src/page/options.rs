//! What the pages of a supervisor are given.

/// Options of [`Pages`](super::Pages).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PageOptions {
    /// Whether network requests are watched, for [`Tab::requests`](super::Tab::requests) and for actions
    /// that wait until what they caused has settled. Default true.
    pub network: bool,
}

impl Default for PageOptions {
    fn default() -> Self {
        Self { network: true }
    }
}
