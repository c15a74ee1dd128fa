//! Child processes: groups that end as a whole, reaper processes that end them if this process is killed, and pipes
//! that are read and written until stopped. Used for browsers, MCP servers and terminal commands.
//!
//! | file | contents |
//! |---|---|
//! | `group` | process groups (Unix) |
//! | `reaper` | shell process that ends a group after this process has ended (Unix) |
//! | `job` | job objects, closed when this process ends (Windows) |
//! | `stdio_unix`, `stdio_windows` | reading and writing the pipes of a process until a stop |
//! | `list_linux`, `list_ps` | running processes, by `/proc` or `ps` (Unix) |

#[cfg(unix)]
mod group;
#[cfg(windows)]
pub(crate) mod job;
#[cfg(target_os = "linux")]
#[path = "list_linux.rs"]
pub mod list;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "list_ps.rs"]
pub(crate) mod list;
#[cfg(unix)]
mod reaper;
#[cfg(unix)]
#[path = "stdio_unix.rs"]
pub mod stdio;
#[cfg(windows)]
#[path = "stdio_windows.rs"]
pub(crate) mod stdio;

#[cfg(unix)]
pub use group::{Group, poll_until};
#[cfg(unix)]
pub use reaper::Reaper;
