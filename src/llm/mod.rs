//! Models: any endpoint that implements OpenAI's chat completions.
//!
//! | file | contents |
//! |---|---|
//! | `settings` | `llm.json`: the configured models |
//! | `types` | requests and answers |
//! | `client` | sending requests, with deadline and retries |
//! | `error` | errors |
//!
//! See <https://platform.openai.com/docs/api-reference/chat>. Keys are only sent to the endpoint of their model.

mod client;
mod error;
mod settings;
mod types;

pub use client::Client;
pub use error::Error;
pub use settings::{Model, Models, Price, Size};
pub use types::{Answer, ChatRequest, FunctionCall, Message, Part, Role, ToolCall, ToolSpec, Usage};
