//! The one integration test crate: behaviour through public interfaces.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]
// Tests fail by panicking and print figures; that is what these are for here.

#[cfg(all(feature = "cli", unix))]
mod attacks;
mod bridge_hostile;
mod bridge_natives;
mod bridge_reach;
mod bridge_workers;
mod browser_endpoints;
mod browser_failures;
#[cfg(unix)]
mod browser_many;
#[cfg(unix)]
mod browser_orphans;
#[cfg(target_os = "linux")]
mod browser_proof;
mod browser_real;
mod browser_units;
mod browser_webdriver;
mod browser_webdriver_real;
mod cdp_answers;
mod cdp_endings;
mod cdp_events;
mod cdp_faults;
mod cdp_leaks;
#[cfg(unix)]
mod cdp_pipe;
mod cdp_properties;
mod cdp_sessions;
#[cfg(feature = "tls")]
mod cdp_tls;
mod cdp_wire;
#[cfg(feature = "cli")]
mod cli_attach;
#[cfg(feature = "cli")]
mod cli_bench;
#[cfg(feature = "cli")]
mod cli_browser_client;
#[cfg(all(feature = "cli", unix))]
mod cli_browser_real;
#[cfg(feature = "cli")]
mod cli_browser_requests;
#[cfg(feature = "cli")]
mod cli_commands;
#[cfg(all(feature = "cli", unix))]
mod cli_completions;
#[cfg(all(feature = "cli", unix))]
mod cli_dialogs;
#[cfg(feature = "cli")]
mod cli_docs;
#[cfg(all(feature = "cli", unix))]
mod cli_doctor;
#[cfg(feature = "cli")]
mod cli_fake_server;
#[cfg(all(feature = "cli", unix))]
mod cli_files;
#[cfg(all(feature = "cli", unix))]
mod cli_find;
#[cfg(all(feature = "cli", unix))]
mod cli_homes;
#[cfg(feature = "cli")]
mod cli_run;
#[cfg(feature = "cli")]
mod cli_state;
#[cfg(feature = "cli")]
mod cli_supervise;
#[cfg(feature = "cli")]
mod cli_supervise_page;
#[cfg(feature = "cli")]
mod cli_tools;
#[cfg(all(feature = "cli", unix))]
mod cli_tools_screen;
#[cfg(feature = "server")]
mod control_appearance;
#[cfg(feature = "server")]
mod control_dialogs;
#[cfg(feature = "server")]
mod control_doctor;
#[cfg(feature = "server")]
mod control_files;
#[cfg(feature = "server")]
mod control_life;
#[cfg(feature = "server")]
mod control_navigate;
#[cfg(feature = "server")]
mod control_profiles;
#[cfg(feature = "server")]
mod control_raw;
#[cfg(feature = "server")]
mod control_tabs;
#[cfg(feature = "server")]
mod cookie_import;
#[cfg(feature = "page")]
mod examples;
#[cfg(all(feature = "cli", target_os = "linux"))]
mod faults;
#[cfg(all(feature = "cli", target_os = "linux"))]
mod faults_clock;
#[cfg(all(feature = "cli", target_os = "linux"))]
mod faults_disk;
#[cfg(all(feature = "cli", target_os = "linux", not(debug_assertions)))]
mod faults_memory;
#[cfg(all(feature = "cli", unix))]
mod fleet_grid;
#[cfg(feature = "cli")]
mod fuzz_seeds;
#[cfg(all(feature = "cli", unix))]
mod guide;
#[cfg(feature = "page")]
mod handle;
#[cfg(feature = "cli")]
#[cfg(feature = "page")]
mod interception;
mod llm_client;
#[cfg(feature = "server")]
mod login_state;
#[cfg(feature = "server")]
mod login_state_limits;
#[cfg(feature = "server")]
mod lone_surrogates;
#[cfg(feature = "server")]
mod mcp_client;
#[cfg(feature = "server")]
mod mcp_client_official;
#[cfg(feature = "server")]
mod mcp_http;
#[cfg(all(feature = "cli", unix))]
mod mcp_job;
#[cfg(feature = "server")]
mod mcp_offer;
#[cfg(all(feature = "cli", unix))]
mod mcp_official;
#[cfg(all(feature = "cli", unix))]
mod mcp_program;
#[cfg(all(feature = "cli", unix))]
mod mcp_sessions;
#[cfg(feature = "server")]
mod mcp_stdio;
#[cfg(feature = "server")]
mod network_policy;
#[cfg(feature = "server")]
mod network_ports;
#[cfg(feature = "server")]
mod network_routes;
#[cfg(unix)]
mod never_block;
#[cfg(feature = "page")]
mod page_acting;
#[cfg(feature = "page")]
mod page_batch;
#[cfg(feature = "page")]
mod page_chooser;
#[cfg(feature = "page")]
mod page_console;
#[cfg(feature = "page")]
mod page_cookies;
#[cfg(feature = "page")]
mod page_downloads;
#[cfg(feature = "page")]
mod page_emulate;
#[cfg(feature = "page")]
mod page_evaluate;
mod page_events;
#[cfg(feature = "page")]
mod page_find;
#[cfg(feature = "page")]
mod page_find_many;
#[cfg(feature = "page")]
mod page_forms;
#[cfg(feature = "page")]
mod page_hidden_events;
#[cfg(feature = "page")]
mod page_labels;
#[cfg(feature = "page")]
mod page_limits;
#[cfg(feature = "page")]
mod page_notices;
#[cfg(feature = "page")]
mod page_pdf;
#[cfg(feature = "page")]
mod page_picture;
#[cfg(feature = "page")]
mod page_picture_tall;
#[cfg(feature = "page")]
mod page_pointer;
#[cfg(feature = "page")]
mod page_pointer_drag;
#[cfg(feature = "page")]
mod page_pointer_frames;
#[cfg(feature = "page")]
mod page_pointer_hidden;
#[cfg(feature = "page")]
mod page_pointer_scroll;
#[cfg(feature = "page")]
mod page_refs;
#[cfg(feature = "page")]
mod page_requests;
#[cfg(feature = "page")]
mod page_settle;
#[cfg(feature = "page")]
mod page_settle_network;
#[cfg(feature = "page")]
mod page_snapshot;
#[cfg(feature = "page")]
mod page_snapshot_lines;
#[cfg(feature = "page")]
mod page_storage;
#[cfg(feature = "page")]
mod page_text;
#[cfg(feature = "page")]
mod page_torture;
#[cfg(feature = "page")]
mod page_truth;
#[cfg(feature = "page")]
mod page_typing;
#[cfg(feature = "page")]
mod page_wait;
#[cfg(feature = "page")]
mod page_widgets;
mod project;
mod protocol;
#[cfg(feature = "cli")]
mod redaction;
#[cfg(feature = "server")]
mod server_answers;
#[cfg(feature = "server")]
mod server_auth;
#[cfg(feature = "server")]
mod server_disabled;
#[cfg(feature = "server")]
mod server_docs;
#[cfg(feature = "server")]
mod server_downloads;
#[cfg(all(feature = "server", unix))]
mod server_ended;
#[cfg(feature = "server")]
mod server_events;
#[cfg(feature = "server")]
mod server_http;
#[cfg(feature = "server")]
mod server_http_any;
#[cfg(feature = "server")]
mod server_http_bounds;
#[cfg(feature = "server")]
mod server_http_life;
#[cfg(feature = "server")]
mod server_leaving;
#[cfg(feature = "server")]
mod server_load;
#[cfg(feature = "server")]
mod server_new_tabs;
#[cfg(feature = "server")]
mod server_openapi;
#[cfg(all(feature = "cli", debug_assertions, target_os = "linux"))]
mod server_panics;
#[cfg(feature = "server")]
mod server_reading;
#[cfg(feature = "server")]
mod server_remote;
#[cfg(feature = "server")]
mod server_requests;
#[cfg(feature = "server")]
mod server_routes;
#[cfg(feature = "server")]
mod server_scope;
#[cfg(feature = "server")]
mod server_sessions;
#[cfg(feature = "server")]
mod server_start;
#[cfg(feature = "server")]
mod server_state;
#[cfg(feature = "server")]
mod server_stuck;
#[cfg(feature = "server")]
mod server_tabs_used;
#[cfg(feature = "server")]
mod server_turns;
#[cfg(feature = "server")]
mod server_ui;
mod supervisor_answers;
mod supervisor_blocked;
mod supervisor_bridge;
mod supervisor_calls;
#[cfg(feature = "page")]
mod supervisor_cancel;
mod supervisor_chaos;
mod supervisor_closing;
mod supervisor_crash;
mod supervisor_dialogs;
mod supervisor_fake;
mod supervisor_fake_dialogs;
mod supervisor_frames;
mod supervisor_ledger;
mod supervisor_moves;
#[cfg(feature = "server")]
mod supervisor_navigation;
mod supervisor_popups;
mod supervisor_reconnect;
mod supervisor_registry;
#[cfg(unix)]
mod supervisor_rescue;
mod supervisor_scale;
mod supervisor_start;
mod supervisor_workers;
mod support;
#[cfg(feature = "cli")]
mod tools_browser;
#[cfg(feature = "cli")]
mod tools_caps;
#[cfg(feature = "server")]
mod tools_files;
#[cfg(feature = "server")]
mod tools_results;
#[cfg(feature = "server")]
mod tools_sets;
#[cfg(feature = "server")]
mod tools_small;
#[cfg(all(feature = "server", target_os = "linux"))]
mod tools_terminal;
#[cfg(feature = "cli")]
mod tools_web;
