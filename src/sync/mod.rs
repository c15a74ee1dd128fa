//! Threads, deadlines and published values.
//!
//! This room stands below every other one. It owns the only way to start a thread ([`spawn`]), the
//! only timed pause ([`pause`]), the time budget every wait carries ([`Deadline`]), the flag that ends
//! waits nobody wants any more ([`Cancel`]), cleanup after a panic ([`on_panic`]), a fair queue for exclusive work
//! ([`Turns`]) and the cell that frozen snapshots are published through ([`Published`]). It knows nothing of browsers.

mod cancel;
mod deadline;
mod log;
mod panics;
mod publish;
mod thread;
mod turns;

pub use cancel::Cancel;
pub use deadline::Deadline;
pub use log::{Bytes, Log, Logged, Tail};
pub(crate) use panics::fault_point;
pub use panics::{OnPanic, on_panic};
pub use publish::{Published, Versioned};
pub use thread::{Thread, pause, spawn};
pub use turns::{NoTurn, Turn, Turns};
