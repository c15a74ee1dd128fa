//! Memory of a process that works for days: what pages needed goes back to the system as soon as it is freed.

use std::process::Command;

/// How many milliseconds mimalloc, the program's allocator, keeps pages that were freed. It looks at the time only when
/// something is allocated or freed, so a process at rest keeps them for ever. It reads the variable as the process starts.
const PURGE_DELAY: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "0");

/// Has a process that is started give memory back at once.
pub(super) fn frugal(command: &mut Command) -> &mut Command {
    command.env(PURGE_DELAY.0, PURGE_DELAY.1)
}

/// Replaces this process by one of the same arguments that gives memory back at once, unless it is such a one. Called
/// before anything is begun or read. Where that fails, the process goes on as it is.
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
    tracing::debug!("memory is given back late: {problem}");
}

/// The program uses the allocator of the system on Windows, which needs no such thing.
#[cfg(not(unix))]
pub(super) fn become_frugal() {}
