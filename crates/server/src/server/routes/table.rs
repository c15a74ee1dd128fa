//! All routes.

use std::sync::LazyLock;

use super::Route;
use super::{act, browser, events, mcp, models, network, pages, secrets, site_data, system, tabs};
use crate::api::Method::{Delete, Get, Post};
use crate::api::SendMessage;
use crate::api::{AnyBody, McpQuery, NoFields, RootQuery};
use crate::control::Status;

/// All routes, in the order of `openapi.json`.
pub(in crate::server) static TABLE: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let mut all = server_routes();
    all.extend(browser_routes());
    all.extend(page_routes());
    all.extend(action_routes());
    all.extend(site_routes());
    all.extend(network_routes());
    all.extend(agent_routes());
    all
});

fn server_routes() -> Vec<Route> {
    vec![
        Route::of(Get, "/health", "Check that the server responds; needs no token", system::health)
            .quick()
            .global()
            .open(),
        Route::of(Get, "/doctor", "Check the machine, the home and the browser", system::doctor)
            .quick()
            .global()
            .secs(30),
        Route::other::<NoFields, AnyBody>(
            Get,
            "/openapi.json",
            "Return this OpenAPI description",
            "application/json",
            system::openapi,
        )
        .quick()
        .global(),
        Route::other::<NoFields, AnyBody>(
            Get,
            "/ui/:file",
            "Return a script or style sheet of the web UI; needs no token",
            "text/javascript",
            system::asset,
        )
        .quick()
        .global()
        .open(),
        Route::of(Post, "/ui/ticket", "Issue a one-time ticket for the web UI", system::ticket).quick().global(),
        Route::of(
            Post,
            "/ui/secret",
            "Exchange a ticket (`Authorization: Ticket …`) for the secret of one web UI page",
            system::secret,
        )
        .quick()
        .global()
        .with_ticket(),
        Route::other::<_, AnyBody>(
            Get,
            "/events",
            "Stream events as Server-Sent Events",
            "text/event-stream",
            events::stream,
        )
        .quick()
        .tab(),
        Route::other::<McpQuery, AnyBody>(
            Post,
            "/mcp",
            "Serve tools over the Model Context Protocol; see docs/tools.md",
            "application/json",
            mcp::post,
        )
        .raw::<McpQuery>()
        .untimed(),
        Route::of(Get, "/api/config", "Show the settings that clients of conversations need", models::settings)
            .quick()
            .global(),
        Route::of(Get, "/api/config/llm", "List the models in `llm.json`, with masked keys", models::models)
            .quick()
            .global(),
        Route::of(
            Post,
            "/api/config/llm",
            "Replace all models in `llm.json`; a masked key keeps the stored one",
            models::set_models,
        )
        .quick()
        .global(),
        Route::of(Get, "/secrets", "List the secrets that conversations may type, without their values", secrets::list)
            .quick()
            .global(),
        Route::of(Post, "/secrets", "Store a secret for one origin; one with the same name is replaced", secrets::set)
            .global(),
        Route::of(Delete, "/secrets/:name", "Remove a secret", secrets::remove).global(),
        Route::of(Delete, "/mcp", "End an MCP session (`Mcp-Session-Id`)", mcp::end).quick().global(),
    ]
}

fn agent_routes() -> Vec<Route> {
    use super::{browsers, conversations};
    vec![
        Route::of(
            Post,
            "/browsers/register",
            "Register a browser for conversations; returns its secret id",
            browsers::register,
        )
        .global()
        .secs(30),
        Route::of(Get, "/browsers/:id/valid", "Check a browser id", browsers::is_valid).quick().global(),
        Route::of(Delete, "/browsers/:id", "Remove a browser id", browsers::remove).quick().global(),
        Route::of(Post, "/agent/conversations", "Create a conversation", conversations::create).quick().global(),
        Route::of(Get, "/agent/conversations", "List conversations", conversations::list).quick().global(),
        Route::of(Get, "/agent/conversations/:id", "Show a conversation", conversations::show).quick().global(),
        Route::of(Delete, "/agent/conversations/:id", "Stop and delete a conversation", conversations::delete)
            .global()
            .secs(20),
        Route::other::<SendMessage, AnyBody>(
            Post,
            "/agent/conversations/:id/messages",
            "Send a message; stream the events of the run as Server-Sent Events",
            "text/event-stream",
            conversations::send,
        )
        .quick()
        .global(),
        Route::other::<NoFields, AnyBody>(
            Get,
            "/agent/conversations/:id/stream",
            "Stream the events of a conversation as Server-Sent Events, after `Last-Event-ID` or from the first one",
            "text/event-stream",
            conversations::stream,
        )
        .quick()
        .global(),
        Route::of(
            Get,
            "/agent/conversations/:id/events",
            "List the stored events of a conversation",
            conversations::events,
        )
        .global(),
        Route::of(
            Get,
            "/agent/conversations/:id/history",
            "List the messages of a conversation",
            conversations::history,
        )
        .global(),
        Route::other::<NoFields, AnyBody>(
            Get,
            "/agent/conversations/:id/images/:n",
            "Return a picture of a conversation",
            "image/png",
            conversations::image,
        )
        .global(),
        Route::of(Post, "/agent/conversations/:id/pause", "Pause a run before its next step", conversations::pause)
            .quick()
            .global(),
        Route::of(
            Post,
            "/agent/conversations/:id/resume",
            "Continue a paused run, or the unfinished turn of an idle conversation",
            conversations::resume,
        )
        .quick()
        .global(),
        Route::of(Post, "/agent/conversations/:id/stop", "Stop a run", conversations::stop).quick().global(),
        Route::of(
            Post,
            "/agent/conversations/:id/answer",
            "Answer the open question of a conversation, which continues it",
            conversations::answer,
        )
        .quick()
        .global(),
    ]
}

fn browser_routes() -> Vec<Route> {
    vec![
        Route::other::<RootQuery, Status>(
            Get,
            "/",
            "Show browser status; with `Accept: text/html`, the web UI",
            "application/json",
            browser::root,
        )
        .quick(),
        Route::of(Post, "/start", "Start the browser if it is not running", browser::start).secs(30),
        Route::of(Post, "/stop", "Stop the browser", browser::stop).quick(),
        Route::of(Get, "/profiles", "List profiles", browser::profiles).quick().global(),
        Route::of(Post, "/profiles", "Create a profile", browser::create_profile).global(),
        Route::of(Delete, "/profiles/:name", "Delete a profile and its data", browser::delete_profile).global(),
        Route::of(Post, "/profiles/:name/reset", "Delete the data of a profile", browser::reset_profile).global(),
        Route::of(Get, "/sessions", "List named sessions and their tabs", browser::sessions).quick().global(),
        Route::of(
            Post,
            "/sessions",
            "Create a named session, optionally with its own browser context",
            browser::create_session,
        )
        .quick()
        .global(),
        Route::of(Delete, "/sessions/:name", "End a session and close its tabs", browser::end_session).global(),
        Route::of(Get, "/tabs", "List open tabs", tabs::list).quick(),
        Route::of(Post, "/tabs/open", "Open a tab; start the browser if needed", tabs::open).secs(30),
        Route::of(Post, "/tabs/focus", "Bring a tab to the front and make it the current tab", tabs::focus),
        Route::of(Post, "/tabs/label", "Label a tab", tabs::label),
        Route::of(Delete, "/tabs/:targetId", "Close a tab", tabs::close),
        Route::of(Post, "/navigate", "Navigate to a URL; start the browser if needed", tabs::navigate).tab().secs(30),
        Route::of(Post, "/back", "Go back in the history", tabs::back).tab().secs(30),
        Route::of(Post, "/forward", "Go forward in the history", tabs::forward).tab().secs(30),
        Route::of(Post, "/reload", "Reload the page", tabs::reload).tab().secs(30),
    ]
}

fn page_routes() -> Vec<Route> {
    vec![
        Route::of(Get, "/snapshot", "Take an accessibility snapshot of a page, with refs", pages::snapshot).tab(),
        Route::of(Get, "/refs", "List the refs of the last snapshot of a tab, without querying the page", pages::refs)
            .quick()
            .tab(),
        Route::of(Post, "/screenshot", "Take a screenshot", pages::screenshot).tab(),
        Route::of(Get, "/screencast", "Get the next frame of a tab's live picture", pages::frame).tab().secs(15),
        Route::of(Post, "/pdf", "Print the page to PDF", pages::pdf).tab().secs(30),
        Route::of(Post, "/find", "Find elements by role, text, label, placeholder, test id or CSS", pages::find).tab(),
        Route::of(Post, "/get", "Read text, HTML, value, attribute, box, count or state of an element", pages::get)
            .tab(),
        Route::of(Get, "/text", "Read the visible text of a page", pages::text).tab(),
        Route::of(Get, "/console", "List console messages", pages::console).quick().tab(),
        Route::of(Get, "/errors", "List uncaught exceptions", pages::errors).quick().tab(),
        Route::of(Get, "/requests", "List network requests", pages::requests).quick().tab(),
        Route::of(Get, "/requests/har", "Export network requests as an HTTP Archive (HAR 1.2)", pages::har)
            .tab()
            .secs(30),
        Route::of(Get, "/requests/:id", "Get one network request: headers, timing, bodies", pages::request).tab(),
        Route::of(Get, "/requests/:id/body", "Get the response body of a network request", pages::body).tab(),
        Route::of(Get, "/dialogs", "List pending dialogs, recently closed ones and armed answers", pages::dialogs)
            .quick()
            .tab(),
        Route::of(Get, "/frames", "List the frames of a page", pages::frames).quick().tab(),
        Route::of(Post, "/highlight", "Highlight an element, or remove the highlight", pages::highlight).tab().secs(8),
    ]
}

fn action_routes() -> Vec<Route> {
    vec![
        Route::of(Post, "/act", "Perform an action on a tab", act::act).tab().untimed(),
        Route::of(Post, "/cdp", "Send a raw CDP command", act::raw).tab().secs(30),
        Route::of(Post, "/hooks/dialog", "Answer the pending dialog, or arm an answer for the next one", act::dialog)
            .quick()
            .tab()
            .secs(120)
            .timed(),
        Route::of(Delete, "/hooks/dialog", "Disarm the answer for the next dialog", act::disarm_dialog).quick().tab(),
        Route::of(
            Post,
            "/hooks/file-chooser",
            "Provide files for the next file chooser, or for a file input",
            act::chooser,
        )
        .tab()
        .secs(120),
        Route::of(Post, "/wait/download", "Wait for a download to finish", act::download).tab().secs(120),
    ]
}

fn site_routes() -> Vec<Route> {
    vec![
        Route::of(Get, "/cookies", "List cookies", site_data::cookies).tab().secs(8),
        Route::of(Post, "/cookies", "Set cookies; start the browser if needed", site_data::add_cookies).tab().secs(30),
        Route::of(Post, "/cookies/import", "Set cookies from a cookie file or JSON", site_data::import_cookies)
            .tab()
            .mebibytes(8),
        Route::of(Delete, "/cookies", "Delete cookies", site_data::delete_cookies).tab().secs(8),
        Route::of(Get, "/storage/local", "Read localStorage items", site_data::local).tab().secs(8),
        Route::of(Post, "/storage/local", "Set localStorage items", site_data::set_local).tab().secs(8),
        Route::of(Delete, "/storage/local", "Delete localStorage items", site_data::delete_local).tab().secs(8),
        Route::of(Get, "/storage/session", "Read sessionStorage items", site_data::session).tab().secs(8),
        Route::of(Post, "/storage/session", "Set sessionStorage items", site_data::set_session).tab().secs(8),
        Route::of(Delete, "/storage/session", "Delete sessionStorage items", site_data::delete_session).tab().secs(8),
        Route::of(
            Post,
            "/state/save",
            "Save cookies and storage of all origins; the answer contains secrets",
            site_data::save_state,
        )
        .tab()
        .secs(60),
        Route::of(
            Post,
            "/state/load",
            "Restore saved cookies and storage; start the browser if needed",
            site_data::load_state,
        )
        .tab()
        .secs(60)
        .mebibytes(48),
        Route::of(
            Post,
            "/emulate",
            "Override device, location, locale and network conditions of a tab",
            site_data::emulate,
        )
        .tab()
        .secs(8),
    ]
}

fn network_routes() -> Vec<Route> {
    vec![
        Route::of(Get, "/routes", "List the routes for network requests", network::routes).secs(8),
        Route::of(
            Post,
            "/routes",
            "Add a route that fails, answers, changes or delays matching requests",
            network::add_route,
        )
        .secs(8),
        Route::of(Delete, "/routes", "Remove all routes", network::clear_routes).secs(8),
        Route::of(Delete, "/routes/:id", "Remove a route", network::remove_route).secs(8),
    ]
}
