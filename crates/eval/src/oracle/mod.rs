//! The oracle: an endpoint that plays each test without a model, from what the tools show. It proves tools, prompts, the loop,
//! sites and scoring, and shows what perfect play costs.
//!
//! It sees what a model sees: results of tools and screenshots. It does not see the events of pages. What only a picture
//! shows, it uses only when the screenshot that it received contains that picture, judged by its pixels.
//!
//! | file | contents |
//! |---|---|
//! | `endpoint` | the HTTP server: chat completions |
//! | `talk` | conversations: a thread for each, on which its play runs |
//! | `hands`, `abilities`, `want` | what a play does and sees; what it can do; what it looks for |
//! | `screen` | observations and snapshots, read from their texts |
//! | `picture`, `icon` | whether a screenshot shows a picture; whether a preview shows an icon |
//! | `plays` | one play for each test, by its instruction; models that do nothing, click at random, or open all addresses |

mod abilities;
mod endpoint;
mod hands;
mod icon;
mod picture;
mod plays;
mod screen;
mod talk;
mod want;

pub use endpoint::Oracle;
pub use talk::{is_scripted, scripted_names};
