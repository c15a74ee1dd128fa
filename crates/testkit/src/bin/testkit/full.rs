//! Tests that need the full browser, because the headless shell lacks something or does it in another way.

/// By the reason, the beginnings of their names.
const FULL: &[(&str, &[&str])] = &[
    (
        "it opens no hidden page",
        &[
            "cli_state::a_login_state_is_saved",
            "guide::log_in",
            "login_state",
            "server_session_isolation::cookies_and_saved_state",
            "server_state::login_state_secrets",
        ],
    ),
    (
        "a tab in the background is as visible as the one in front",
        &[
            "page_look::the_first_picture_of_a_hidden_tab",
            "page_picture::a_background_tab",
            "page_pointer_hidden",
            "server_screencast::frames_show_what_a_tab_in_the_background",
            "tools_visual_answers::a_tab_that_the_limit_closes",
            "tools_visual_background::everything_works_in_a_background_tab",
        ],
    ),
    (
        "the mouse is over the page from the beginning",
        &[
            "page_batch",
            "page_hidden_events",
            "page_pointer::a_synthetic_click",
            "page_pointer_drag::a_drag_needs_one_source",
        ],
    ),
    ("it draws no highlights", &["page_pdf::a_highlight_is_not_in_screenshots"]),
    ("it requests no icons of sites", &["control_egress"]),
    ("it has no viewer for PDFs", &["page_downloads::a_pdf_is_named"]),
    (
        "its own pages, such as chrome://version, differ",
        &["recording_gestures::the_page_of_new_tabs", "supervisor_navigation::blocked_documents"],
    ),
    (
        "aborted navigations, crashed frames, and dialogs during closing, unloading and reconnection end in another way",
        &[
            "attacks::hostile_page::flood",
            "eval_safety",
            "server_leaving::a_navigation_aborted_by_the_page",
            "supervisor_closing::a_tab_is_closed_safely",
            "supervisor_crash::a_crashed_frame",
            "supervisor_reconnect::a_dialog_lost_by_a_reconnect",
            "tools_browser::a_dialog_of_an_unloading_page",
        ],
    ),
];

/// Whether a test needs the full browser.
pub(crate) fn needs_full(test: &str) -> bool {
    FULL.iter().flat_map(|(_, names)| *names).any(|name| test.starts_with(name))
}
