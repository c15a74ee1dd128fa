//! The `cdpilot` program; everything is in [`cdpilot::cli`].

fn main() -> std::process::ExitCode {
    cdpilot::cli::main()
}
