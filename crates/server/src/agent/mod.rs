//! Conversations: a model that uses tools until a task is done, and that a person can follow, stop, answer and resume.
//!
//! | file | contents |
//! |---|---|
//! | `agents` | the conversations of a home: create, send, stop, answer, delete |
//! | `reading` | the conversations of a home: lists, history, events, images |
//! | `settings` | what a conversation is made with |
//! | `live` | a conversation in memory: its run and its session |
//! | `feed`, `follow` | following the events of a conversation |
//! | `slots` | how many conversations run at the same time |
//! | `run` | the life of a run: its thread, its end |
//! | `turn` | the state of a run, and the steps until the task is done |
//! | `step` | one request to the model |
//! | `calls` | the tool calls of an answer |
//! | `typed` | keeps text out of the database that is typed into secret fields |
//! | `dialogs` | reports the dialogs of its pages |
//! | `questions` | questions that end a turn, and their answers |
//! | `guard` | which effects a person approves, and what was approved |
//! | `wire` | requests with effects of its pages, which are held |
//! | `approvals` | questions whether something may be done, and what their answers lead to |
//! | `host_requests` | requests for hosts that a conversation may not reach |
//! | `held_up` | what holds up a run |
//! | `routine` | runs of routines: what a model is held to while it follows one |
//! | `compile` | conversations that turn a recording into a routine |
//! | `repair` | results for calls that were interrupted |
//! | `stuck` | recognises that a model makes no progress |
//! | `pictures` | which images a model still gets |
//! | `condense` | summaries in place of old messages |
//! | `usage` | tokens and costs |
//! | `offer` | the tools of a conversation |
//! | `origin` | whether untrusted text was read, and from where |
//! | `prompts` | system prompts |
//! | `messages`, `events` | shapes of what is stored |
//! | `error` | errors |
//!
//! What is reported is stored before: an answer of a model with its calls, each call before it is made, each result. After a
//! crash no call is made again by itself.

mod agents;
mod approvals;
mod calls;
mod compile;
mod condense;
mod dialogs;
mod error;
mod events;
mod feed;
mod follow;
mod guard;
mod held_up;
mod host_requests;
mod live;
mod messages;
mod offer;
mod origin;
mod pictures;
mod prompts;
mod questions;
mod reading;
mod repair;
mod routine;
mod run;
mod session;
mod settings;
mod slots;
mod step;
mod stuck;
mod trail;
mod turn;
mod typed;
mod usage;
mod wire;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use agents::{Agents, ProvideTools};
pub use approvals::Decision;
pub use compile::{CompileBegun, CompileStart};
pub use error::Error;
pub use follow::{Followed, Follower};
pub use held_up::{HoldUp, HoldUpState};
pub use reading::Overview;
pub use routine::{
    Permission, RoutineError, RoutineStart, RunCause, RunCounts, RunFacts, RunItems, RunLimits, RunMiss, RunResult,
    RunStep, RunVerification, StepHow, StepStatus, check_routine, run_facts,
};
pub use settings::{Mode, NewConversation};

/// Time limit for an operation on the database.
const WRITE: Duration = Duration::from_secs(30);

/// The current time, in seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
