//! Makes long-running processes return freed memory to the system immediately.
//!
//! Hostile pages cause allocations of hundreds of MiB for a moment. The program uses mimalloc (`src/main.rs`): with
//! glibc, freed memory stays in the arenas of the threads. The library leaves the choice to its user. Data that is kept
//! per page is bounded, see `supervisor/page_ring.rs` and `supervisor/log.rs`.

use std::process::Command;

/// How many milliseconds mimalloc, the program's allocator, keeps freed memory. It checks the time only when something is
/// allocated or freed, so an idle process would keep it forever. mimalloc reads the variable when the process starts.
const PURGE_DELAY: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "0");

/// Configures a child process to return memory immediately.
pub(super) fn frugal(command: &mut Command) -> &mut Command {
    command.env(PURGE_DELAY.0, PURGE_DELAY.1)
}

/// Executes this process again with the same arguments and the variable set, unless it is set already. Must be called before
/// anything is started or read. If that fails, the process continues as it is.
#[cfg(unix)]
pub(super) fn become_frugal() {
    use std::os::unix::process::CommandExt as _;
    if std::env::var_os(PURGE_DELAY.0).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut args = std::env::args_os();
    let mut again = Command::new(program);
    if let Some(name) = args.next() {
        again.arg0(name);
    }
    let problem = frugal(again.args(args)).exec();
    tracing::debug!("freed memory is returned late: {problem}");
}

/// Windows uses the system's allocator, which needs no configuration.
#[cfg(not(unix))]
pub(super) fn become_frugal() {}
