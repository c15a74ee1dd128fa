//! Trusted input: sent through the browser, like input of a person.

pub(super) mod keys;
mod layout;
mod mouse;

pub(super) use mouse::{Buttons, Mouse, Sent, UNANSWERED, modifier_bits, moved, pressed, released, wheeled};
