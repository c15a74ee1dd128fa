//! The typed protocol: a module per domain, written at build time by `cdp-gen`.
//!
//! Which items are here is decided by `cdp-gen/items.txt` (what this crate itself uses) and by the
//! features `domain-…` and `full-protocol`. Anything else can still be sent and received untyped.
//!
//! - A command is a struct named after it, `page::Navigate`: required parameters go into `new`,
//!   optional ones are public `Option` fields. Its answer is `page::NavigateReturns`, or
//!   [`rt::Empty`](crate::cdp::rt::Empty).
//! - An event is `page::LoadEventFiredEvent`. Types that only events use borrow from the message.
//! - An enum is open: values that the pinned protocol does not list are kept in `Other`.
//! - Names are cut into words, so `DOM.getDocument` is `dom::GetDocument` and `AXNode` is `AxNode`.

include!(concat!(env!("OUT_DIR"), "/protocol.rs"));
