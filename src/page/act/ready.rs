//! Finding an element, and waiting until it can be acted on.
