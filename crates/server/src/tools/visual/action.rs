//! What can be done with an element, and what waits for its confirmation.

use schemars::JsonSchema;
use serde::Deserialize;

use cdpilot::page::{Bound, VisibleElement};

// Without a description: it would be one for models.
#[derive(Deserialize, JsonSchema, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    Click,
    ConfirmClick,
    KeyboardInput,
    ConfirmKeyboardInput,
    Select,
    ConfirmSelect,
    DragAndDrop,
    ConfirmDragAndDrop,
    Hover,
    Scroll,
    Swipe,
    SetSlider,
    UploadFile,
    PressKey,
    Wait,
}

impl Action {
    /// The action that a confirmation is for.
    pub(super) fn confirmed(self) -> Option<Self> {
        Some(match self {
            Self::ConfirmClick => Self::Click,
            Self::ConfirmKeyboardInput => Self::KeyboardInput,
            Self::ConfirmSelect => Self::Select,
            Self::ConfirmDragAndDrop => Self::DragAndDrop,
            _ => return None,
        })
    }

    /// The name of the call that confirms it; `None` for an action that runs at once.
    pub(super) fn confirmation(self) -> Option<&'static str> {
        Some(match self {
            Self::Click => "confirm_click",
            Self::KeyboardInput => "confirm_keyboard_input",
            Self::Select => "confirm_select",
            Self::DragAndDrop => "confirm_drag_and_drop",
            _ => return None,
        })
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Click => "click",
            Self::ConfirmClick => "confirm_click",
            Self::KeyboardInput => "keyboard_input",
            Self::ConfirmKeyboardInput => "confirm_keyboard_input",
            Self::Select => "select",
            Self::ConfirmSelect => "confirm_select",
            Self::DragAndDrop => "drag_and_drop",
            Self::ConfirmDragAndDrop => "confirm_drag_and_drop",
            Self::Hover => "hover",
            Self::Scroll => "scroll",
            Self::Swipe => "swipe",
            Self::SetSlider => "set_slider",
            Self::UploadFile => "upload_file",
            Self::PressKey => "press_key",
            Self::Wait => "wait",
        }
    }

    /// The question of its preview. ASCII only: it is drawn into the picture.
    pub(super) fn question(self) -> &'static str {
        match self {
            Self::KeyboardInput => "Is this the field to type into?",
            Self::Select => "Is this the list to choose from?",
            Self::DragAndDrop => "Is this the element to drag?",
            _ => "Is this the element to click?",
        }
    }
}

/// What an action is done with.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Given {
    pub(super) text: String,
    /// Whether the text is added to what the field holds.
    pub(super) append: bool,
    pub(super) submit: bool,
    pub(super) values: Vec<String>,
}

/// An action that waits for its confirmation.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) action: Action,
    /// The target id of its tab.
    pub(super) tab: String,
    pub(super) element: VisibleElement,
    pub(super) bound: Bound,
    /// What it is dropped on.
    pub(super) target: Option<(VisibleElement, Bound)>,
    pub(super) given: Given,
}
