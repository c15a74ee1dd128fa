//! What can be done with an element, and what waits for its confirmation.

use schemars::JsonSchema;
use serde::Deserialize;

use cdpilot::page::{Bound, VisibleElement};

/// Defines the actions, each with its name.
macro_rules! actions {
    ($($variant:ident $name:ident),+ $(,)?) => {
        // Without a description: it would be one for models.
        #[derive(Deserialize, JsonSchema, Debug, Clone, Copy, PartialEq, Eq)]
        #[serde(rename_all = "snake_case")]
        pub(super) enum Action { $($variant),+ }

        impl Action {
            /// Its name.
            pub(super) fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name)),+ }
            }
        }
    };
}

actions! {
    Click click,
    ConfirmClick confirm_click,
    KeyboardInput keyboard_input,
    ConfirmKeyboardInput confirm_keyboard_input,
    Select select,
    ConfirmSelect confirm_select,
    DragAndDrop drag_and_drop,
    ConfirmDragAndDrop confirm_drag_and_drop,
    Hover hover,
    Scroll scroll,
    Swipe swipe,
    SetSlider set_slider,
    UploadFile upload_file,
    PressKey press_key,
    Wait wait,
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
        let confirmation = match self {
            Self::Click => Self::ConfirmClick,
            Self::KeyboardInput => Self::ConfirmKeyboardInput,
            Self::Select => Self::ConfirmSelect,
            Self::DragAndDrop => Self::ConfirmDragAndDrop,
            _ => return None,
        };
        Some(confirmation.name())
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
