//! The `cdpilot` program; everything is in [`cdpilot_cli`].

/// Returns freed memory to the system. The allocator of glibc keeps an arena while one small value in it is in use.
#[cfg(not(windows))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cdpilot_cli::main()
}
