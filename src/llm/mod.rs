//! Models: any endpoint that speaks OpenAI's chat completions.
//!
//! | file | what it holds |
//! |---|---|
//! | `settings` | `llm.json`: which models there are, and how they are reached |
//! | `types` | what is sent and what comes back |
//! | `client` | one request, with its deadline and its retries |
//! | `error` | what can go wrong |
//!
//! See <https://platform.openai.com/docs/api-reference/chat>. Keys are sent to the model's endpoint and go nowhere else.

mod client;
mod error;
mod settings;
mod types;

pub use client::Client;
pub use error::Error;
pub use settings::{Model, Models, Price, Size};
pub use types::{Answer, Ask, FunctionCall, Message, Part, Role, ToolCall, ToolSpec, Usage};
