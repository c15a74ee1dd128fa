//! Integration tests of the program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]
// Tests fail by panicking and print figures; that is what these are for here.

#[cfg(unix)]
mod attacks;
#[cfg(unix)]
#[path = "browser/orphans.rs"]
mod browser_orphans;
#[cfg(target_os = "linux")]
#[path = "browser/proof.rs"]
mod browser_proof;
#[path = "browser/webdriver_real.rs"]
mod browser_webdriver_real;
#[path = "cli/attach.rs"]
mod cli_attach;
#[path = "cli/bench.rs"]
mod cli_bench;
#[path = "cli/browser_client.rs"]
mod cli_browser_client;
#[cfg(unix)]
#[path = "cli/browser_real.rs"]
mod cli_browser_real;
#[path = "cli/browser_requests.rs"]
mod cli_browser_requests;
#[cfg(unix)]
#[path = "cli/chat.rs"]
mod cli_chat;
#[path = "cli/commands.rs"]
mod cli_commands;
#[cfg(unix)]
#[path = "cli/completions.rs"]
mod cli_completions;
#[cfg(unix)]
#[path = "cli/dialogs.rs"]
mod cli_dialogs;
#[path = "cli/docs.rs"]
mod cli_docs;
#[cfg(unix)]
#[path = "cli/doctor.rs"]
mod cli_doctor;
#[path = "cli/fake_server.rs"]
mod cli_fake_server;
#[cfg(unix)]
#[path = "cli/files.rs"]
mod cli_files;
#[cfg(unix)]
#[path = "cli/find.rs"]
mod cli_find;
#[cfg(unix)]
#[path = "cli/homes.rs"]
mod cli_homes;
#[cfg(unix)]
#[path = "cli/memory.rs"]
mod cli_memory;
#[path = "cli/models.rs"]
mod cli_models;
#[path = "cli/record.rs"]
mod cli_record;
#[path = "cli/routine.rs"]
mod cli_routine;
#[path = "cli/run.rs"]
mod cli_run;
#[path = "cli/skills.rs"]
mod cli_skills;
#[path = "cli/state.rs"]
mod cli_state;
#[path = "cli/supervise.rs"]
mod cli_supervise;
#[path = "cli/supervise_page.rs"]
mod cli_supervise_page;
#[path = "cli/tools.rs"]
mod cli_tools;
#[cfg(unix)]
#[path = "cli/tools_screen.rs"]
mod cli_tools_screen;
#[path = "page/cookie_import.rs"]
mod cookie_import;
#[path = "eval/oracle.rs"]
mod eval_oracle;
#[path = "eval/run.rs"]
mod eval_run;
#[path = "eval/safety.rs"]
mod eval_safety;
#[cfg(target_os = "linux")]
#[path = "faults/processes.rs"]
mod faults;
#[cfg(target_os = "linux")]
#[path = "faults/clock.rs"]
mod faults_clock;
#[cfg(target_os = "linux")]
#[path = "faults/disk.rs"]
mod faults_disk;
#[cfg(all(target_os = "linux", not(debug_assertions)))]
#[path = "faults/memory.rs"]
mod faults_memory;
mod fuzz_seeds;
#[cfg(unix)]
mod guide;
#[cfg(unix)]
#[path = "mcp/job.rs"]
mod mcp_job;
#[cfg(unix)]
#[path = "mcp/official.rs"]
mod mcp_official;
#[cfg(unix)]
#[path = "mcp/program.rs"]
mod mcp_program;
#[cfg(unix)]
#[path = "mcp/sessions.rs"]
mod mcp_sessions;
#[path = "eval/replay.rs"]
mod replay_eval;
#[cfg(unix)]
#[path = "server/ended.rs"]
mod server_ended;
#[cfg(all(debug_assertions, target_os = "linux"))]
#[path = "server/panics.rs"]
mod server_panics;
#[allow(dead_code, unused_imports)] // Most of it is for the tests of the server.
#[path = "../../server/tests/support/mod.rs"]
mod support;
