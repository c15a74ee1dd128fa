//! What a script does: actions, their elements, and what follows from them.

use super::words::Parts;
use crate::record::FrameStep;
use crate::record::draft::Anchor;

/// An action with the dialogs that it opens and what follows from it.
#[derive(Debug)]
pub(super) struct Act {
    pub(super) what: ActWhat,
    pub(super) tab: u64,
    pub(super) element: Option<Target>,
    pub(super) dialogs: Vec<Dialog>,
    pub(super) effects: Vec<Follows>,
}

/// What an action does.
#[derive(Debug)]
pub(super) enum ActWhat {
    Click {
        button: String,
        double: bool,
        modifiers: Vec<String>,
    },
    Fill(Parts),
    Check(bool),
    Select(Vec<Parts>),
    Press {
        key: String,
        times: u32,
    },
    Hover,
    Drag(Box<Target>),
    Upload(Vec<Parts>),
    Open(Parts),
    OpenTab {
        url: Parts,
        tab: u64,
    },
    Back,
    Forward,
    Reload,
    CloseTab,
    /// Nothing but the dialogs: an action of an earlier step opens them.
    Dialogs,
}

/// An element.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) anchor: Anchor,
    pub(super) frame: Vec<FrameStep>,
    /// Its name, its label or its text.
    pub(super) name: Parts,
    /// Title of what is around it.
    pub(super) title: Parts,
}

/// A dialog and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dialog {
    pub(super) kind: String,
    pub(super) message: Parts,
    pub(super) accept: bool,
    pub(super) text: Option<Parts>,
}

/// What follows from an action.
#[derive(Debug)]
pub(super) enum Follows {
    Address(Address),
    Tab { tab: u64, address: Option<Address> },
    TabClosed(u64),
    Download(String),
}

/// An address: origin and path, and parameters that it has among others.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) base: Parts,
    pub(super) query: Vec<(String, Parts)>,
}
