//! What a play can do.

/// What a play can do. One at a time is taken away to show that it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Abilities {
    /// Looking at further pages of elements.
    pub(super) paging: bool,
    /// Scrolling lists in boxes.
    pub(super) containers: bool,
    /// Reading pictures.
    pub(super) pictures: bool,
    /// Using what is in frames of other origins.
    pub(super) frames: bool,
    /// Answering dialogs.
    pub(super) dialogs: bool,
    /// Choosing in selects.
    pub(super) selects: bool,
    /// Pressing keys.
    pub(super) keys: bool,
    /// Using several tabs.
    pub(super) tabs: bool,
    /// Confirming previews.
    pub(super) phases: bool,
}

impl Abilities {
    /// The names with which one is taken away.
    pub(super) const NAMES: [&'static str; 9] =
        ["paging", "containers", "pictures", "frames", "dialogs", "selects", "keys", "tabs", "phases"];

    pub(super) fn all() -> Self {
        Self {
            paging: true,
            containers: true,
            pictures: true,
            frames: true,
            dialogs: true,
            selects: true,
            keys: true,
            tabs: true,
            phases: true,
        }
    }

    /// All but one; `None` for an unknown name.
    pub(super) fn without(name: &str) -> Option<Self> {
        let mut all = Self::all();
        let taken = match name {
            "paging" => &mut all.paging,
            "containers" => &mut all.containers,
            "pictures" => &mut all.pictures,
            "frames" => &mut all.frames,
            "dialogs" => &mut all.dialogs,
            "selects" => &mut all.selects,
            "keys" => &mut all.keys,
            "tabs" => &mut all.tabs,
            "phases" => &mut all.phases,
            _ => return None,
        };
        *taken = false;
        Some(all)
    }
}
