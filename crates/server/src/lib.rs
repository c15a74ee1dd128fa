//! The control server of cdpilot, which gives agents browsers of their own, and what it consists of. **Unstable:** everything here may
//! change in any release. What programs embed is the crate [`cdpilot`]; from outside, the server is used over HTTP, MCP or the shell.
//!
//! | module | contents |
//! |---|---|
//! | [`config`], [`secrets`] | settings and the folder that holds them; secrets that models may use and not read |
//! | [`control`] | profiles, their browsers, sessions and tabs |
//! | [`llm`] | models behind OpenAI-compatible endpoints |
//! | [`store`] | the database of conversations, routines and recordings |
//! | [`record`] | what a person does in a browser, as events |
//! | [`compile`] | what a model gets of a recording that it turns into a routine, and what it may submit |
//! | [`replay`] | compares a run of a routine with its recording |
//! | [`memory`], [`skills`] | notes for later conversations; texts that say how something is done |
//! | [`tools`] | tools for models |
//! | [`agent`] | conversations of a model that uses the browser |
//! | [`mcp`] | clients and servers of the Model Context Protocol |
//! | [`http`] | the HTTP engine, and the proxy of sessions whose hosts are restricted |
//! | [`api`], [`server`] | types of the HTTP API; its routes |
//!
//! A module uses only the ones below it: `server` → `agent`, `mcp` → `tools` → `control`, `server` → `agent` → `compile` → `record` → `control`; `config`, `secrets`, `llm`, `memory`, `skills`, `store` and
//! `http` stand beside `control`.

#[doc(hidden)]
pub mod agent;
#[doc(hidden)]
pub mod api;
#[doc(hidden)]
pub mod compile;
pub mod config;
pub mod control;
#[doc(hidden)]
pub mod http;
pub mod llm;
#[doc(hidden)]
pub mod mcp;
pub mod memory;
#[doc(hidden)]
pub mod record;
#[doc(hidden)]
pub mod replay;
#[doc(hidden)]
pub mod routine;
pub mod secrets;
#[doc(hidden)]
pub mod server;
pub mod skills;
#[doc(hidden)]
pub mod store;
pub mod tools;
