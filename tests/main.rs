//! Integration tests of the library: behaviour through public interfaces.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]
// Tests fail by panicking and print figures; that is what these are for here.

use testkit as support;

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
#[path = "browser/real.rs"]
mod browser_real;
#[path = "browser/units.rs"]
mod browser_units;
#[path = "browser/webdriver.rs"]
mod browser_webdriver;
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
mod examples;
mod handle;
#[path = "supervisor/interception.rs"]
mod interception;
#[path = "page/login_state.rs"]
mod login_state;
#[path = "page/login_state_limits.rs"]
mod login_state_limits;
#[cfg(unix)]
mod never_block;
#[path = "page/acting.rs"]
mod page_acting;
#[path = "page/attaching.rs"]
mod page_attaching;
#[path = "page/batch.rs"]
mod page_batch;
#[path = "page/chooser.rs"]
mod page_chooser;
#[path = "page/console.rs"]
mod page_console;
#[path = "page/cookies.rs"]
mod page_cookies;
#[path = "page/downloads.rs"]
mod page_downloads;
#[path = "page/emulate.rs"]
mod page_emulate;
#[path = "page/evaluate.rs"]
mod page_evaluate;
#[path = "page/events.rs"]
mod page_events;
#[path = "page/find.rs"]
mod page_find;
#[path = "page/find_many.rs"]
mod page_find_many;
#[path = "page/find_rendered.rs"]
mod page_find_rendered;
#[path = "page/forms.rs"]
mod page_forms;
#[path = "page/hidden_events.rs"]
mod page_hidden_events;
#[path = "page/labels.rs"]
mod page_labels;
#[path = "page/limits.rs"]
mod page_limits;
#[path = "page/live.rs"]
mod page_live;
#[path = "page/look.rs"]
mod page_look;
#[path = "page/look_ids.rs"]
mod page_look_ids;
#[path = "page/look_ready.rs"]
mod page_look_ready;
#[path = "page/look_widgets.rs"]
mod page_look_widgets;
#[path = "page/look_zoom.rs"]
mod page_look_zoom;
#[path = "page/notices.rs"]
mod page_notices;
#[path = "page/pdf.rs"]
mod page_pdf;
#[path = "page/picture.rs"]
mod page_picture;
#[path = "page/picture_tall.rs"]
mod page_picture_tall;
#[path = "page/pointer.rs"]
mod page_pointer;
#[path = "page/pointer_drag.rs"]
mod page_pointer_drag;
#[path = "page/pointer_frames.rs"]
mod page_pointer_frames;
#[path = "page/pointer_hidden.rs"]
mod page_pointer_hidden;
#[path = "page/pointer_scroll.rs"]
mod page_pointer_scroll;
#[path = "page/recording.rs"]
mod page_recording;
#[path = "page/refs.rs"]
mod page_refs;
#[path = "page/refs_context.rs"]
mod page_refs_context;
#[path = "page/requests.rs"]
mod page_requests;
#[path = "page/settle.rs"]
mod page_settle;
#[path = "page/settle_network.rs"]
mod page_settle_network;
#[path = "page/snapshot.rs"]
mod page_snapshot;
#[path = "page/snapshot_lines.rs"]
mod page_snapshot_lines;
#[path = "page/storage.rs"]
mod page_storage;
#[path = "page/text.rs"]
mod page_text;
#[path = "page/torture.rs"]
mod page_torture;
#[path = "page/truth.rs"]
mod page_truth;
#[path = "page/typing.rs"]
mod page_typing;
#[path = "page/typing_taken.rs"]
mod page_typing_taken;
#[path = "page/wait.rs"]
mod page_wait;
#[path = "page/widgets.rs"]
mod page_widgets;
mod project;
mod protocol;
#[path = "supervisor/answers.rs"]
mod supervisor_answers;
#[path = "supervisor/blocked.rs"]
mod supervisor_blocked;
#[path = "supervisor/bridge.rs"]
mod supervisor_bridge;
#[path = "supervisor/calls.rs"]
mod supervisor_calls;
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
