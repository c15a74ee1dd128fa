//! Threads, deadlines and published values.
//!
//! This room stands below every other one. It owns the only way to start a thread ([`spawn`]), the
//! only timed pause ([`pause`]), the time budget every wait carries ([`Deadline`]), the flag that ends
//! waits nobody wants any more ([`Cancel`]) and the cell that frozen snapshots are published through
//! ([`Published`]). It knows nothing of browsers.

mod cancel;
mod deadline;
mod publish;
mod thread;

pub use cancel::Cancel;
pub use deadline::Deadline;
pub use publish::{Published, Versioned};
pub use thread::{Thread, pause, spawn};
