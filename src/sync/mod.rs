//! Threads, deadlines, cancellation and published values.
//!
//! All other modules may use this one, and it uses none of them. It contains the only way to start a thread
//! ([`spawn`]), the only timed pause ([`pause`]), the time budget of every wait and its cancellation ([`Deadline`],
//! [`Cancel`]), the limit of delays under it, cleanup after a panic ([`on_panic`]), a fair queue for exclusive work ([`Turns`]), the event log
//! ([`Log`]) and the cell for published state ([`Published`]).

mod cancel;
mod deadline;
mod delay_limit;
mod log;
mod panics;
mod publish;
mod thread;
mod turns;

pub use cancel::Cancel;
pub use deadline::Deadline;
pub use delay_limit::DelayLimit;
pub use log::{Bytes, Log, Logged, Tail};
pub use panics::fault_point;
pub use panics::{OnPanic, on_panic};
pub use publish::{Published, Versioned};
pub use thread::{Thread, pause, spawn};
pub use turns::{NoTurn, Turn, Turns};
