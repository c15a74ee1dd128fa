//! Recordings of the Recorder panel of Chrome DevTools, in its JSON format (`@puppeteer/replay`).
//!
//! | step | event |
//! |---|---|
//! | `setViewport` | `viewport` of `recording_started` |
//! | `navigate` | `tab_navigated` |
//! | `click`, `doubleClick` | `click` |
//! | `change` | `input`; `change` for lists |
//! | `keyDown`, `keyUp` | `keydown`; keys that are held become modifiers |
//! | `hover`, `scroll` | `hover`, `scroll` |
//! | `close` | `tab_closed` |
//! | `assertedEvents` | `tab_navigated` with `caused_by` |
//! | `target` | the tab, with `tab_created` where it is used first |
//! | `customStep` named `cdpilot/…` | the event in its parameters |
//! | other `customStep`, `emulateNetworkConditions`, `waitForElement`, `waitForExpression`, `waitForURL` | a note |
//!
//! Events that the format has no step for are exported as `customStep`, which other programs skip.

mod export;
mod import;
mod selectors;
#[cfg(test)]
mod tests;

pub use super::interchange::ImportError;
pub use export::export;
pub use import::{Imported, import, read};

/// Name of custom steps that hold an event: `cdpilot/dialog`.
const CUSTOM: &str = "cdpilot/";
/// The target of steps of the first tab.
const MAIN: &str = "main";
/// Keys that are held while others are pressed.
const MODIFIERS: [&str; 4] = ["Control", "Alt", "Shift", "Meta"];
