//! Handles with default deadlines over a supervised browser and its pages.
//!
//! [`BrowserProcess`] owns the supervisor and ends with it; [`Page`] is one of its tabs. Every call has a default deadline, which
//! [`Page::timeout`] and [`Page::until`] change for the calls of one handle. What takes an explicit
//! [`Deadline`](crate::sync::Deadline) with each call is one step below: [`Tab`](crate::page::Tab) and
//! [`Supervisor`](crate::supervisor::Supervisor).
//!
//! | file | what it holds |
//! |---|---|
//! | `browser`, `options` | starting and attaching, the pages there are |
//! | `page` | navigations, scripts, waits, deadlines |
//! | `actions` | what a person does to a page |
//! | `content` | what a page shows and stores |
//! | `dialogs` | dialogs of a page |
//! | `network` | protocol events, and requests to decide about |

mod actions;
mod browser;
mod content;
mod dialogs;
mod network;
mod options;
mod page;

pub use browser::Browser;
pub use options::BrowserOptions;
pub use page::Page;
