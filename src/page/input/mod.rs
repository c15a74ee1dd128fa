//! Trusted input: sent through the browser, like input of a person.

pub(super) mod keys;
mod layout;
mod mouse;
mod pressed_key;

pub use pressed_key::PressedKey;

pub(super) use mouse::{Buttons, Mouse, Sent, UNANSWERED, modifier_bits, moved, pressed, released, wheeled};
