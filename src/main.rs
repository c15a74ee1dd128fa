//! The `cdpilot` program; everything is in [`cdpilot::cli`].

/// Gives memory back to the system when a page that needed much of it is gone. The allocator of glibc keeps it: one small
/// value that lives on in an arena is enough.
#[cfg(not(windows))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cdpilot::cli::main()
}
