//! The typed protocol: one module per domain, generated at build time by `cdp-gen`.
//!
//! The included items are selected by `cdp-gen/items.txt` (used by this crate) and by the features `domain-…` and
//! `full-protocol`. All other commands and events can be used untyped.
//!
//! - A command is a struct named after it, `page::Navigate`: required parameters are arguments of `new`, optional ones
//!   are public `Option` fields. Its result is `page::NavigateReturns`, or [`rt::Empty`](crate::cdp::rt::Empty).
//! - An event is `page::LoadEventFiredEvent`. Types used by events only borrow from the message.
//! - An enum is open: values that the pinned protocol does not list are kept in `Other`.
//! - Names are split into words: `DOM.getDocument` is `dom::GetDocument` and `AXNode` is `AxNode`.

include!(concat!(env!("OUT_DIR"), "/protocol.rs"));
