//! Trusted input: what goes through the browser, as a person's.

pub(super) mod keys;
mod layout;
mod mouse;

pub(super) use mouse::{Buttons, Mouse, Sent, UNANSWERED, modifier_bits, moved, pressed, released, wheeled};
