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

#[cfg(feature = "agent")]
#[path = "agent/browser.rs"]
mod agent_browser;
#[cfg(all(feature = "agent", unix))]
#[path = "agent/crash.rs"]
mod agent_crash;
#[cfg(feature = "agent")]
#[path = "agent/ends.rs"]
mod agent_ends;
#[cfg(feature = "agent")]
#[path = "agent/official.rs"]
mod agent_official;
#[cfg(feature = "agent")]
#[path = "agent/turns.rs"]
mod agent_turns;
#[cfg(all(feature = "cli", unix))]
mod attacks;
#[path = "bridge/hostile.rs"]
mod bridge_hostile;
#[path = "bridge/natives.rs"]
mod bridge_natives;
#[path = "bridge/reach.rs"]
mod bridge_reach;
#[path = "bridge/workers.rs"]
mod bridge_workers;
#[path = "browser/endpoints.rs"]
mod browser_endpoints;
#[path = "browser/failures.rs"]
mod browser_failures;
#[cfg(unix)]
#[path = "browser/many.rs"]
mod browser_many;
#[cfg(unix)]
#[path = "browser/orphans.rs"]
mod browser_orphans;
#[cfg(target_os = "linux")]
#[path = "browser/proof.rs"]
mod browser_proof;
#[path = "browser/real.rs"]
mod browser_real;
#[path = "browser/units.rs"]
mod browser_units;
#[path = "browser/webdriver.rs"]
mod browser_webdriver;
#[path = "browser/webdriver_real.rs"]
mod browser_webdriver_real;
#[cfg(all(feature = "cli", unix))]
mod cancellation;
#[path = "cdp/answers.rs"]
mod cdp_answers;
#[path = "cdp/endings.rs"]
mod cdp_endings;
#[path = "cdp/events.rs"]
mod cdp_events;
#[path = "cdp/faults.rs"]
mod cdp_faults;
#[path = "cdp/leaks.rs"]
mod cdp_leaks;
#[cfg(unix)]
#[path = "cdp/pipe.rs"]
mod cdp_pipe;
#[path = "cdp/properties.rs"]
mod cdp_properties;
#[path = "cdp/sessions.rs"]
mod cdp_sessions;
#[cfg(feature = "tls")]
#[path = "cdp/tls.rs"]
mod cdp_tls;
#[path = "cdp/wire.rs"]
mod cdp_wire;
#[cfg(feature = "cli")]
#[path = "cli/attach.rs"]
mod cli_attach;
#[cfg(feature = "cli")]
#[path = "cli/bench.rs"]
mod cli_bench;
#[cfg(feature = "cli")]
#[path = "cli/browser_client.rs"]
mod cli_browser_client;
#[cfg(all(feature = "cli", unix))]
#[path = "cli/browser_real.rs"]
mod cli_browser_real;
#[cfg(feature = "cli")]
#[path = "cli/browser_requests.rs"]
mod cli_browser_requests;
#[cfg(all(feature = "cli", unix))]
#[path = "cli/chat.rs"]
mod cli_chat;
#[cfg(feature = "cli")]
#[path = "cli/commands.rs"]
mod cli_commands;
#[cfg(all(feature = "cli", unix))]
#[path = "cli/completions.rs"]
mod cli_completions;
#[cfg(all(feature = "cli", unix))]
#[path = "cli/dialogs.rs"]
mod cli_dialogs;
#[cfg(feature = "cli")]
#[path = "cli/docs.rs"]
mod cli_docs;
#[cfg(all(feature = "cli", unix))]
#[path = "cli/doctor.rs"]
mod cli_doctor;
#[cfg(feature = "cli")]
#[path = "cli/fake_server.rs"]
mod cli_fake_server;
#[cfg(all(feature = "cli", unix))]
#[path = "cli/files.rs"]
mod cli_files;
#[cfg(all(feature = "cli", unix))]
#[path = "cli/find.rs"]
mod cli_find;
#[cfg(all(feature = "cli", unix))]
#[path = "cli/homes.rs"]
mod cli_homes;
#[cfg(feature = "cli")]
#[path = "cli/run.rs"]
mod cli_run;
#[cfg(feature = "cli")]
#[path = "cli/state.rs"]
mod cli_state;
#[cfg(feature = "cli")]
#[path = "cli/supervise.rs"]
mod cli_supervise;
#[cfg(feature = "cli")]
#[path = "cli/supervise_page.rs"]
mod cli_supervise_page;
#[cfg(feature = "cli")]
#[path = "cli/tools.rs"]
mod cli_tools;
#[cfg(all(feature = "cli", unix))]
#[path = "cli/tools_screen.rs"]
mod cli_tools_screen;
#[cfg(feature = "server")]
#[path = "control/appearance.rs"]
mod control_appearance;
#[cfg(feature = "server")]
#[path = "control/dialogs.rs"]
mod control_dialogs;
#[cfg(feature = "server")]
#[path = "control/doctor.rs"]
mod control_doctor;
#[cfg(feature = "server")]
#[path = "control/egress.rs"]
mod control_egress;
#[cfg(feature = "server")]
#[path = "control/files.rs"]
mod control_files;
#[cfg(feature = "server")]
#[path = "control/life.rs"]
mod control_life;
#[cfg(feature = "server")]
#[path = "control/navigate.rs"]
mod control_navigate;
#[cfg(feature = "server")]
#[path = "control/profiles.rs"]
mod control_profiles;
#[cfg(feature = "server")]
#[path = "control/raw.rs"]
mod control_raw;
#[cfg(feature = "server")]
#[path = "control/tabs.rs"]
mod control_tabs;
#[cfg(feature = "server")]
#[path = "page/cookie_import.rs"]
mod cookie_import;
#[cfg(feature = "eval")]
#[path = "eval/dataset.rs"]
mod eval_dataset;
#[cfg(feature = "eval")]
#[path = "eval/matching.rs"]
mod eval_matching;
#[cfg(feature = "eval")]
#[path = "eval/oracle.rs"]
mod eval_oracle;
#[cfg(feature = "eval")]
#[path = "eval/run.rs"]
mod eval_run;
#[cfg(feature = "eval")]
#[path = "eval/safety.rs"]
mod eval_safety;
#[cfg(feature = "eval")]
#[path = "eval/sites.rs"]
mod eval_sites;
#[cfg(feature = "page")]
mod examples;
#[cfg(all(feature = "cli", target_os = "linux"))]
#[path = "faults/processes.rs"]
mod faults;
#[cfg(all(feature = "cli", target_os = "linux"))]
#[path = "faults/clock.rs"]
mod faults_clock;
#[cfg(all(feature = "cli", target_os = "linux"))]
#[path = "faults/disk.rs"]
mod faults_disk;
#[cfg(all(feature = "cli", target_os = "linux", not(debug_assertions)))]
#[path = "faults/memory.rs"]
mod faults_memory;
#[cfg(all(feature = "cli", unix))]
#[path = "browser/grid.rs"]
mod fleet_grid;
#[cfg(feature = "cli")]
mod fuzz_seeds;
#[cfg(all(feature = "cli", unix))]
mod guide;
#[cfg(feature = "page")]
mod handle;
#[cfg(feature = "cli")]
#[cfg(feature = "page")]
#[path = "supervisor/interception.rs"]
mod interception;
#[cfg(feature = "server")]
mod llm_client;
#[cfg(feature = "server")]
mod llm_stream;
#[cfg(feature = "server")]
#[path = "page/login_state.rs"]
mod login_state;
#[cfg(feature = "server")]
#[path = "page/login_state_limits.rs"]
mod login_state_limits;
#[cfg(feature = "server")]
#[path = "page/lone_surrogates.rs"]
mod lone_surrogates;
#[cfg(feature = "server")]
#[path = "mcp/client.rs"]
mod mcp_client;
#[cfg(feature = "server")]
#[path = "mcp/client_official.rs"]
mod mcp_client_official;
#[cfg(feature = "server")]
#[path = "mcp/http.rs"]
mod mcp_http;
#[cfg(all(feature = "cli", unix))]
#[path = "mcp/job.rs"]
mod mcp_job;
#[cfg(feature = "server")]
#[path = "mcp/offer.rs"]
mod mcp_offer;
#[cfg(all(feature = "cli", unix))]
#[path = "mcp/official.rs"]
mod mcp_official;
#[cfg(all(feature = "cli", unix))]
#[path = "mcp/program.rs"]
mod mcp_program;
#[cfg(all(feature = "cli", unix))]
#[path = "mcp/sessions.rs"]
mod mcp_sessions;
#[cfg(feature = "server")]
#[path = "mcp/stdio.rs"]
mod mcp_stdio;
#[cfg(feature = "server")]
#[path = "network/policy.rs"]
mod network_policy;
#[cfg(feature = "server")]
#[path = "network/ports.rs"]
mod network_ports;
#[cfg(feature = "server")]
#[path = "network/routes.rs"]
mod network_routes;
#[cfg(unix)]
mod never_block;
#[cfg(feature = "page")]
#[path = "page/acting.rs"]
mod page_acting;
#[cfg(feature = "page")]
#[path = "page/attaching.rs"]
mod page_attaching;
#[cfg(feature = "page")]
#[path = "page/batch.rs"]
mod page_batch;
#[cfg(feature = "page")]
#[path = "page/chooser.rs"]
mod page_chooser;
#[cfg(feature = "page")]
#[path = "page/console.rs"]
mod page_console;
#[cfg(feature = "page")]
#[path = "page/cookies.rs"]
mod page_cookies;
#[cfg(feature = "page")]
#[path = "page/downloads.rs"]
mod page_downloads;
#[cfg(feature = "page")]
#[path = "page/emulate.rs"]
mod page_emulate;
#[cfg(feature = "page")]
#[path = "page/evaluate.rs"]
mod page_evaluate;
#[path = "page/events.rs"]
mod page_events;
#[cfg(feature = "page")]
#[path = "page/find.rs"]
mod page_find;
#[cfg(feature = "page")]
#[path = "page/find_many.rs"]
mod page_find_many;
#[cfg(feature = "page")]
#[path = "page/forms.rs"]
mod page_forms;
#[cfg(feature = "page")]
#[path = "page/hidden_events.rs"]
mod page_hidden_events;
#[cfg(feature = "page")]
#[path = "page/labels.rs"]
mod page_labels;
#[cfg(feature = "page")]
#[path = "page/limits.rs"]
mod page_limits;
#[cfg(feature = "page")]
#[path = "page/live.rs"]
mod page_live;
#[cfg(feature = "page")]
#[path = "page/look.rs"]
mod page_look;
#[cfg(feature = "page")]
#[path = "page/look_ids.rs"]
mod page_look_ids;
#[cfg(feature = "page")]
#[path = "page/look_ready.rs"]
mod page_look_ready;
#[cfg(feature = "page")]
#[path = "page/look_widgets.rs"]
mod page_look_widgets;
#[cfg(feature = "page")]
#[path = "page/look_zoom.rs"]
mod page_look_zoom;
#[cfg(feature = "page")]
#[path = "page/notices.rs"]
mod page_notices;
#[cfg(feature = "page")]
#[path = "page/pdf.rs"]
mod page_pdf;
#[cfg(feature = "page")]
#[path = "page/picture.rs"]
mod page_picture;
#[cfg(feature = "page")]
#[path = "page/picture_tall.rs"]
mod page_picture_tall;
#[cfg(feature = "page")]
#[path = "page/pointer.rs"]
mod page_pointer;
#[cfg(feature = "page")]
#[path = "page/pointer_drag.rs"]
mod page_pointer_drag;
#[cfg(feature = "page")]
#[path = "page/pointer_frames.rs"]
mod page_pointer_frames;
#[cfg(feature = "page")]
#[path = "page/pointer_hidden.rs"]
mod page_pointer_hidden;
#[cfg(feature = "page")]
#[path = "page/pointer_scroll.rs"]
mod page_pointer_scroll;
#[cfg(feature = "page")]
#[path = "page/refs.rs"]
mod page_refs;
#[cfg(feature = "page")]
#[path = "page/requests.rs"]
mod page_requests;
#[cfg(feature = "page")]
#[path = "page/settle.rs"]
mod page_settle;
#[cfg(feature = "page")]
#[path = "page/settle_network.rs"]
mod page_settle_network;
#[cfg(feature = "page")]
#[path = "page/snapshot.rs"]
mod page_snapshot;
#[cfg(feature = "page")]
#[path = "page/snapshot_lines.rs"]
mod page_snapshot_lines;
#[cfg(feature = "page")]
#[path = "page/storage.rs"]
mod page_storage;
#[cfg(feature = "page")]
#[path = "page/text.rs"]
mod page_text;
#[cfg(feature = "page")]
#[path = "page/torture.rs"]
mod page_torture;
#[cfg(feature = "page")]
#[path = "page/truth.rs"]
mod page_truth;
#[cfg(feature = "page")]
#[path = "page/typing.rs"]
mod page_typing;
#[cfg(feature = "page")]
#[path = "page/wait.rs"]
mod page_wait;
#[cfg(feature = "page")]
#[path = "page/widgets.rs"]
mod page_widgets;
mod project;
mod protocol;
#[cfg(feature = "page")]
mod public_inputs;
#[cfg(feature = "cli")]
mod redaction;
#[cfg(feature = "server")]
#[path = "server/answers.rs"]
mod server_answers;
#[cfg(feature = "agent")]
#[path = "server/approvals.rs"]
mod server_approvals;
#[cfg(feature = "server")]
#[path = "server/auth.rs"]
mod server_auth;
#[cfg(feature = "agent")]
#[path = "server/browser_ids.rs"]
mod server_browser_ids;
#[cfg(feature = "agent")]
#[path = "server/conversations.rs"]
mod server_conversations;
#[cfg(feature = "server")]
#[path = "server/disabled.rs"]
mod server_disabled;
#[cfg(feature = "agent")]
#[path = "server/disguised.rs"]
mod server_disguised;
#[cfg(feature = "server")]
#[path = "server/docs.rs"]
mod server_docs;
#[cfg(feature = "server")]
#[path = "server/downloads.rs"]
mod server_downloads;
#[cfg(all(feature = "cli", unix))]
#[path = "server/ended.rs"]
mod server_ended;
#[cfg(feature = "server")]
#[path = "server/events.rs"]
mod server_events;
#[cfg(feature = "agent")]
#[path = "server/held_up.rs"]
mod server_held_up;
#[cfg(feature = "agent")]
#[path = "server/hosts_tasks.rs"]
mod server_hosts_tasks;
#[cfg(feature = "server")]
#[path = "server/http.rs"]
mod server_http;
#[cfg(feature = "server")]
#[path = "server/http_any.rs"]
mod server_http_any;
#[cfg(feature = "server")]
#[path = "server/http_bounds.rs"]
mod server_http_bounds;
#[cfg(feature = "server")]
#[path = "server/http_life.rs"]
mod server_http_life;
#[cfg(feature = "server")]
#[path = "server/leaving.rs"]
mod server_leaving;
#[cfg(feature = "server")]
#[path = "server/load.rs"]
mod server_load;
#[cfg(feature = "agent")]
#[path = "server/many_tasks.rs"]
mod server_many_tasks;
#[cfg(feature = "server")]
#[path = "server/models.rs"]
mod server_models;
#[cfg(feature = "server")]
#[path = "server/new_tabs.rs"]
mod server_new_tabs;
#[cfg(feature = "server")]
#[path = "server/openapi.rs"]
mod server_openapi;
#[cfg(all(feature = "cli", debug_assertions, target_os = "linux"))]
#[path = "server/panics.rs"]
mod server_panics;
#[cfg(feature = "server")]
#[path = "server/reading.rs"]
mod server_reading;
#[cfg(feature = "server")]
#[path = "server/remote.rs"]
mod server_remote;
#[cfg(feature = "server")]
#[path = "server/requests.rs"]
mod server_requests;
#[cfg(feature = "server")]
#[path = "server/routes.rs"]
mod server_routes;
#[cfg(feature = "server")]
#[path = "server/scope.rs"]
mod server_scope;
#[cfg(feature = "server")]
#[path = "server/screencast.rs"]
mod server_screencast;
#[cfg(feature = "agent")]
#[path = "server/secret_tasks.rs"]
mod server_secret_tasks;
#[cfg(feature = "server")]
#[path = "server/secrets.rs"]
mod server_secrets;
#[cfg(feature = "server")]
#[path = "server/session_isolation.rs"]
mod server_session_isolation;
#[cfg(feature = "server")]
#[path = "server/sessions.rs"]
mod server_sessions;
#[cfg(feature = "server")]
#[path = "server/start.rs"]
mod server_start;
#[cfg(feature = "server")]
#[path = "server/state.rs"]
mod server_state;
#[cfg(feature = "server")]
#[path = "server/stuck.rs"]
mod server_stuck;
#[cfg(feature = "server")]
#[path = "server/tabs_used.rs"]
mod server_tabs_used;
#[cfg(feature = "agent")]
#[path = "server/tasks.rs"]
mod server_tasks;
#[cfg(feature = "server")]
#[path = "server/turns.rs"]
mod server_turns;
#[cfg(feature = "server")]
#[path = "server/ui.rs"]
mod server_ui;
#[cfg(feature = "agent")]
#[path = "server/ui_agent.rs"]
mod server_ui_agent;
#[cfg(feature = "agent")]
#[path = "store/browser_ids.rs"]
mod store_browser_ids;
#[cfg(feature = "agent")]
#[path = "store/conversations.rs"]
mod store_conversations;
#[cfg(all(feature = "agent", unix))]
#[path = "store/crash.rs"]
mod store_crash;
#[cfg(feature = "agent")]
#[path = "store/files.rs"]
mod store_files;
#[cfg(feature = "agent")]
#[path = "store/load.rs"]
mod store_load;
#[path = "supervisor/answers.rs"]
mod supervisor_answers;
#[path = "supervisor/blocked.rs"]
mod supervisor_blocked;
#[path = "supervisor/bridge.rs"]
mod supervisor_bridge;
#[path = "supervisor/calls.rs"]
mod supervisor_calls;
#[cfg(feature = "page")]
#[path = "supervisor/cancel.rs"]
mod supervisor_cancel;
#[path = "supervisor/chaos.rs"]
mod supervisor_chaos;
#[path = "supervisor/closing.rs"]
mod supervisor_closing;
#[path = "supervisor/crash.rs"]
mod supervisor_crash;
#[path = "supervisor/dialogs.rs"]
mod supervisor_dialogs;
#[cfg(feature = "server")]
#[path = "supervisor/early_popups.rs"]
mod supervisor_early_popups;
#[path = "supervisor/evaluate.rs"]
mod supervisor_evaluate;
#[path = "supervisor/fake.rs"]
mod supervisor_fake;
#[path = "supervisor/fake_dialogs.rs"]
mod supervisor_fake_dialogs;
#[path = "supervisor/frames.rs"]
mod supervisor_frames;
#[path = "supervisor/ledger.rs"]
mod supervisor_ledger;
#[path = "supervisor/moves.rs"]
mod supervisor_moves;
#[cfg(feature = "server")]
#[path = "supervisor/navigation.rs"]
mod supervisor_navigation;
#[path = "supervisor/popups.rs"]
mod supervisor_popups;
#[path = "supervisor/reconnect.rs"]
mod supervisor_reconnect;
#[path = "supervisor/registry.rs"]
mod supervisor_registry;
#[cfg(unix)]
#[path = "supervisor/rescue.rs"]
mod supervisor_rescue;
#[path = "supervisor/scale.rs"]
mod supervisor_scale;
#[path = "supervisor/start.rs"]
mod supervisor_start;
#[path = "supervisor/workers.rs"]
mod supervisor_workers;
mod support;
#[cfg(feature = "cli")]
#[path = "tools/browser.rs"]
mod tools_browser;
#[cfg(feature = "cli")]
#[path = "tools/caps.rs"]
mod tools_caps;
#[cfg(feature = "server")]
#[path = "tools/files.rs"]
mod tools_files;
#[cfg(feature = "server")]
#[path = "tools/results.rs"]
mod tools_results;
#[cfg(feature = "server")]
#[path = "tools/sets.rs"]
mod tools_sets;
#[cfg(feature = "server")]
#[path = "tools/small.rs"]
mod tools_small;
#[cfg(all(feature = "server", target_os = "linux"))]
#[path = "tools/terminal.rs"]
mod tools_terminal;
#[cfg(feature = "server")]
#[path = "tools/visual.rs"]
mod tools_visual;
#[cfg(feature = "server")]
#[path = "tools/visual_answers.rs"]
mod tools_visual_answers;
#[cfg(feature = "server")]
#[path = "tools/visual_background.rs"]
mod tools_visual_background;
#[cfg(feature = "server")]
#[path = "tools/visual_changes.rs"]
mod tools_visual_changes;
#[cfg(feature = "server")]
#[path = "tools/visual_libraries.rs"]
mod tools_visual_libraries;
#[cfg(feature = "server")]
#[path = "tools/visual_states.rs"]
mod tools_visual_states;
#[cfg(feature = "cli")]
#[path = "tools/web.rs"]
mod tools_web;
