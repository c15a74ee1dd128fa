//! Models: any endpoint that implements OpenAI's chat completions.
//!
//! | file | contents |
//! |---|---|
//! | `settings` | `llm.json`: the configured models |
//! | `masked` | the settings as the API shows and replaces them |
//! | `types` | requests and answers |
//! | `client` | requests with deadline and retries |
//! | `patience` | how often and after which pauses they are sent again |
//! | `attempt` | one attempt, on a thread of its own |
//! | `stream` | answers that arrive in parts |
//! | `accepted` | the forms of a request that an endpoint accepts |
//! | `leaked` | tool calls that a model wrote as text |
//! | `error` | errors |
//!
//! See <https://platform.openai.com/docs/api-reference/chat>. Keys are only sent to the endpoint of their model.

mod accepted;
mod attempt;
mod client;
mod error;
mod leaked;
mod masked;
mod patience;
mod settings;
mod stream;
mod types;

pub use accepted::Refusal;
pub use client::{Client, Progress};
pub use error::Error;
pub use masked::MASK;
pub use patience::Patience;
pub use settings::{Model, Models, Price, Size};
pub use types::{Answer, ChatRequest, FunctionCall, Message, Part, Role, ToolCall, ToolChoice, ToolSpec, Usage};
