//! Integration tests of the server, in the process of the tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]
// Tests fail by panicking and print figures; that is what these are for here.

#[path = "agent/browser.rs"]
mod agent_browser;
#[cfg(unix)]
#[path = "agent/crash.rs"]
mod agent_crash;
#[path = "agent/ends.rs"]
mod agent_ends;
#[path = "agent/official.rs"]
mod agent_official;
#[path = "agent/turns.rs"]
mod agent_turns;
#[cfg(unix)]
mod cancellation;
#[path = "control/appearance.rs"]
mod control_appearance;
#[path = "control/dialogs.rs"]
mod control_dialogs;
#[path = "control/doctor.rs"]
mod control_doctor;
#[path = "control/egress.rs"]
mod control_egress;
#[path = "control/files.rs"]
mod control_files;
#[path = "control/life.rs"]
mod control_life;
#[path = "control/navigate.rs"]
mod control_navigate;
#[path = "control/profiles.rs"]
mod control_profiles;
#[path = "control/raw.rs"]
mod control_raw;
#[path = "control/tabs.rs"]
mod control_tabs;
mod examples;
#[cfg(unix)]
#[path = "browser/grid.rs"]
mod fleet_grid;
mod llm_client;
mod llm_stream;
#[path = "page/lone_surrogates.rs"]
mod lone_surrogates;
#[path = "mcp/client.rs"]
mod mcp_client;
#[path = "mcp/client_official.rs"]
mod mcp_client_official;
#[path = "mcp/http.rs"]
mod mcp_http;
#[path = "mcp/offer.rs"]
mod mcp_offer;
#[path = "mcp/stdio.rs"]
mod mcp_stdio;
#[path = "network/policy.rs"]
mod network_policy;
#[path = "network/ports.rs"]
mod network_ports;
#[path = "network/routes.rs"]
mod network_routes;
mod public_inputs;
#[path = "record/capture.rs"]
mod recording_capture;
#[path = "record/compile.rs"]
mod recording_compile;
#[path = "record/compile_kinds.rs"]
mod recording_compile_kinds;
#[path = "record/compile_states.rs"]
mod recording_compile_states;
#[path = "record/failures.rs"]
mod recording_failures;
#[path = "record/gestures.rs"]
mod recording_gestures;
#[path = "record/libraries.rs"]
mod recording_libraries;
#[path = "record/routes.rs"]
mod recording_routes;
#[path = "record/service.rs"]
mod recording_service;
mod redaction;
#[path = "routine/alike.rs"]
mod replay_alike;
#[path = "routine/export.rs"]
mod replay_export;
#[path = "routine/fast.rs"]
mod replay_fast;
#[path = "routine/imported.rs"]
mod replay_imported;
#[path = "routine/killed.rs"]
mod replay_killed;
#[path = "routine/lists.rs"]
mod replay_lists;
#[path = "routine/places.rs"]
mod replay_places;
#[path = "routine/unattended.rs"]
mod replay_unattended;
#[path = "routine/values.rs"]
mod replay_values;
#[path = "routine/from_conversation.rs"]
mod routine_from_conversation;
#[path = "routine/grammar.rs"]
mod routine_grammar;
#[path = "routine/grammar_steps.rs"]
mod routine_grammar_steps;
#[path = "routine/model.rs"]
mod routine_model;
#[path = "routine/properties.rs"]
mod routine_properties;
#[path = "routine/runs.rs"]
mod routine_runs;
#[path = "routine/stored.rs"]
mod routine_stored;
#[path = "routine/texts.rs"]
mod routine_texts;
#[path = "routine/verify.rs"]
mod routine_verify;
#[path = "server/answers.rs"]
mod server_answers;
#[path = "server/approvals.rs"]
mod server_approvals;
#[path = "server/auth.rs"]
mod server_auth;
#[path = "server/browser_ids.rs"]
mod server_browser_ids;
#[path = "server/conversations.rs"]
mod server_conversations;
#[path = "server/disabled.rs"]
mod server_disabled;
#[path = "server/disguised.rs"]
mod server_disguised;
#[path = "server/docs.rs"]
mod server_docs;
#[path = "server/downloads.rs"]
mod server_downloads;
#[path = "server/events.rs"]
mod server_events;
#[path = "server/held_up.rs"]
mod server_held_up;
#[path = "server/hosts_tasks.rs"]
mod server_hosts_tasks;
#[path = "server/http.rs"]
mod server_http;
#[path = "server/http_any.rs"]
mod server_http_any;
#[path = "server/http_bounds.rs"]
mod server_http_bounds;
#[path = "server/http_life.rs"]
mod server_http_life;
#[path = "server/leaving.rs"]
mod server_leaving;
#[path = "server/load.rs"]
mod server_load;
#[path = "server/many_tasks.rs"]
mod server_many_tasks;
#[path = "server/models.rs"]
mod server_models;
#[path = "server/new_tabs.rs"]
mod server_new_tabs;
#[path = "server/openapi.rs"]
mod server_openapi;
#[path = "server/reading.rs"]
mod server_reading;
#[path = "server/remote.rs"]
mod server_remote;
#[path = "server/requests.rs"]
mod server_requests;
#[path = "server/routes.rs"]
mod server_routes;
#[path = "server/scope.rs"]
mod server_scope;
#[path = "server/screencast.rs"]
mod server_screencast;
#[path = "server/secret_tasks.rs"]
mod server_secret_tasks;
#[path = "server/secrets.rs"]
mod server_secrets;
#[path = "server/session_isolation.rs"]
mod server_session_isolation;
#[path = "server/sessions.rs"]
mod server_sessions;
#[path = "server/start.rs"]
mod server_start;
#[path = "server/state.rs"]
mod server_state;
#[path = "server/stuck.rs"]
mod server_stuck;
#[path = "server/tabs_used.rs"]
mod server_tabs_used;
#[path = "server/tasks.rs"]
mod server_tasks;
#[path = "server/turns.rs"]
mod server_turns;
#[path = "server/ui.rs"]
mod server_ui;
#[path = "server/ui_agent.rs"]
mod server_ui_agent;
#[path = "server/ui_compile.rs"]
mod server_ui_compile;
#[path = "server/ui_recordings.rs"]
mod server_ui_recordings;
#[path = "server/ui_routines.rs"]
mod server_ui_routines;
#[path = "server/wire.rs"]
mod server_wire;
#[path = "store/browser_ids.rs"]
mod store_browser_ids;
#[path = "store/conversations.rs"]
mod store_conversations;
#[cfg(unix)]
#[path = "store/crash.rs"]
mod store_crash;
#[path = "store/files.rs"]
mod store_files;
#[path = "store/load.rs"]
mod store_load;
#[path = "store/recordings.rs"]
mod store_recordings;
#[path = "store/search.rs"]
mod store_search;
mod support;
#[path = "tools/browser.rs"]
mod tools_browser;
#[path = "tools/caps.rs"]
mod tools_caps;
#[path = "tools/files.rs"]
mod tools_files;
#[path = "tools/guard.rs"]
mod tools_guard;
#[path = "tools/results.rs"]
mod tools_results;
#[path = "tools/sets.rs"]
mod tools_sets;
#[path = "tools/small.rs"]
mod tools_small;
#[cfg(target_os = "linux")]
#[path = "tools/terminal.rs"]
mod tools_terminal;
#[path = "tools/visual.rs"]
mod tools_visual;
#[path = "tools/visual_answers.rs"]
mod tools_visual_answers;
#[path = "tools/visual_background.rs"]
mod tools_visual_background;
#[path = "tools/visual_changes.rs"]
mod tools_visual_changes;
#[path = "tools/visual_libraries.rs"]
mod tools_visual_libraries;
#[path = "tools/visual_redraws.rs"]
mod tools_visual_redraws;
#[path = "tools/visual_states.rs"]
mod tools_visual_states;
#[path = "tools/visual_steps.rs"]
mod tools_visual_steps;
#[path = "tools/web.rs"]
mod tools_web;
#[path = "toolset/memory.rs"]
mod toolset_memory;
#[path = "toolset/page.rs"]
mod toolset_page;
#[path = "toolset/search.rs"]
mod toolset_search;
#[path = "toolset/skills.rs"]
mod toolset_skills;
