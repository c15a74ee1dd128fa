//! All routes.

use std::sync::LazyLock;

use super::Method::{Delete, Get, Post};
use super::Route;
use super::{act, browser, events, mcp, network, pages, site_data, system, tabs};
use crate::control::Status;
use crate::server::types::{AnyBody, McpQuery, NoFields, RootQuery};

/// All routes, in the order they are described in.
pub(in crate::server) static TABLE: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let mut all = of_the_server();
    all.extend(of_browsers());
    all.extend(of_pages());
    all.extend(of_actions());
    all.extend(of_sites());
    all.extend(of_the_network());
    all
});

fn of_the_server() -> Vec<Route> {
    vec![
        Route::of(Get, "/health", "Whether the server answers", system::health).quick().global().open(),
        Route::of(Get, "/doctor", "Check this machine and home", system::doctor).quick().global().secs(30),
        Route::other::<NoFields, AnyBody>(
            Get,
            "/openapi.json",
            "This description",
            "application/json",
            system::openapi,
        )
        .quick()
        .global(),
        Route::of(Post, "/ui/ticket", "Issue a ticket that opens the web UI once", system::ticket).quick().global(),
        Route::of(
            Post,
            "/ui/secret",
            "Exchange the ticket (`Authorization: Ticket …`) for the secret of one page of the web UI",
            system::secret,
        )
        .quick()
        .global()
        .with_ticket(),
        Route::other::<_, AnyBody>(
            Get,
            "/events",
            "What happens, as Server-Sent Events",
            "text/event-stream",
            events::stream,
        )
        .quick()
        .tab(),
        Route::other::<McpQuery, AnyBody>(
            Post,
            "/mcp",
            "The tools for models, over the Model Context Protocol; see docs/tools.md",
            "application/json",
            mcp::post,
        )
        .raw::<McpQuery>()
        .untimed(),
        Route::of(Delete, "/mcp", "End the session of an MCP connection (`Mcp-Session-Id`)", mcp::end).quick().global(),
    ]
}

fn of_browsers() -> Vec<Route> {
    vec![
        Route::other::<RootQuery, Status>(
            Get,
            "/",
            "Show browser status; with `Accept: text/html` the web UI",
            "application/json",
            browser::root,
        )
        .quick(),
        Route::of(Post, "/start", "Starts the browser, if it does not run", browser::start).secs(30),
        Route::of(Post, "/stop", "Stops the browser", browser::stop).quick(),
        Route::of(Get, "/profiles", "All profiles", browser::profiles).quick().global(),
        Route::of(Post, "/profiles", "Adds a profile", browser::create_profile).global(),
        Route::of(Delete, "/profiles/:name", "Removes a profile and what it holds", browser::delete_profile).global(),
        Route::of(Post, "/profiles/:name/reset", "Empties a profile", browser::reset_profile).global(),
        Route::of(Get, "/sessions", "List the named sessions and their tabs", browser::sessions).quick().global(),
        Route::of(Post, "/sessions", "Create a session, isolated if wished", browser::create_session).quick().global(),
        Route::of(Delete, "/sessions/:name", "End a session and close its tabs", browser::end_session).global(),
        Route::of(Get, "/tabs", "The open tabs", tabs::list).quick(),
        Route::of(Post, "/tabs/open", "Opens a tab; starts the browser", tabs::open).secs(30),
        Route::of(Post, "/tabs/focus", "Makes a tab the one that is used when none is named", tabs::focus),
        Route::of(Post, "/tabs/label", "Gives a tab a name", tabs::label),
        Route::of(Delete, "/tabs/:targetId", "Closes a tab", tabs::close),
        Route::of(Post, "/navigate", "Goes to an address; starts the browser", tabs::navigate).tab().secs(30),
        Route::of(Post, "/back", "Go back to the previous page", tabs::back).tab().secs(30),
        Route::of(Post, "/forward", "Go forward again after going back", tabs::forward).tab().secs(30),
        Route::of(Post, "/reload", "Reload the page", tabs::reload).tab().secs(30),
    ]
}

fn of_pages() -> Vec<Route> {
    vec![
        Route::of(Get, "/snapshot", "What a tab shows, with refs", pages::snapshot).tab(),
        Route::of(Get, "/refs", "List the refs of the last snapshot of a tab, without asking the page", pages::refs)
            .quick()
            .tab(),
        Route::of(Post, "/screenshot", "A picture", pages::screenshot).tab(),
        Route::of(Post, "/pdf", "The page on paper", pages::pdf).tab().secs(30),
        Route::of(Post, "/find", "Find elements by role, text, label, placeholder, test id or CSS", pages::find).tab(),
        Route::of(Post, "/get", "Read text, HTML, value, attribute, box, count or state of an element", pages::get)
            .tab(),
        Route::of(Get, "/text", "The text that a reader would read", pages::text).tab(),
        Route::of(Get, "/console", "Console messages", pages::console).quick().tab(),
        Route::of(Get, "/errors", "Exceptions that nobody caught", pages::errors).quick().tab(),
        Route::of(Get, "/requests", "Network requests", pages::requests).quick().tab(),
        Route::of(Get, "/requests/har", "Export network requests as an HTTP HarAnswer (HAR 1.2)", pages::har)
            .tab()
            .secs(30),
        Route::of(Get, "/requests/:id", "Report one network request: headers, timing, bodies", pages::request).tab(),
        Route::of(Get, "/requests/:id/body", "What a request brought", pages::body).tab(),
        Route::of(
            Get,
            "/dialogs",
            "Dialogs that wait, the last ones that closed, and answers that are armed",
            pages::dialogs,
        )
        .quick()
        .tab(),
        Route::of(Get, "/frames", "The frames", pages::frames).quick().tab(),
        Route::of(Post, "/highlight", "Shows an element to a person", pages::highlight).tab().secs(8),
    ]
}

fn of_actions() -> Vec<Route> {
    vec![
        Route::of(Post, "/act", "Acts on a tab", act::act).tab().untimed(),
        Route::of(Post, "/cdp", "A raw CDP command", act::raw).tab().secs(30),
        Route::of(Post, "/hooks/dialog", "Answers a dialog: the one that waits, or the next", act::dialog)
            .quick()
            .tab()
            .secs(120)
            .timed(),
        Route::of(
            Delete,
            "/hooks/dialog",
            "Take back the answer that is armed for the next dialog",
            act::disarm_dialog,
        )
        .quick()
        .tab(),
        Route::of(Post, "/hooks/file-chooser", "Files for the next file chooser, or for an input", act::chooser)
            .tab()
            .secs(120),
        Route::of(Post, "/wait/download", "Waits until a download has ended", act::download).tab().secs(120),
    ]
}

fn of_sites() -> Vec<Route> {
    vec![
        Route::of(Get, "/cookies", "Cookies", site_data::cookies).tab().secs(8),
        Route::of(Post, "/cookies", "Sets cookies; starts the browser", site_data::add_cookies).tab().secs(30),
        Route::of(
            Post,
            "/cookies/import",
            "Set cookies from a cookie file, curl commands or JSON",
            site_data::import_cookies,
        )
        .tab()
        .mebibytes(8),
        Route::of(Delete, "/cookies", "Deletes cookies", site_data::delete_cookies).tab().secs(8),
        Route::of(Get, "/storage/local", "Items of localStorage", site_data::local).tab().secs(8),
        Route::of(Post, "/storage/local", "Sets items of localStorage", site_data::set_local).tab().secs(8),
        Route::of(Delete, "/storage/local", "Deletes items of localStorage", site_data::delete_local).tab().secs(8),
        Route::of(Get, "/storage/session", "Items of sessionStorage", site_data::session).tab().secs(8),
        Route::of(Post, "/storage/session", "Sets items of sessionStorage", site_data::set_session).tab().secs(8),
        Route::of(Delete, "/storage/session", "Deletes items of sessionStorage", site_data::delete_session)
            .tab()
            .secs(8),
        Route::of(
            Post,
            "/state/save",
            "Save cookies and storage of all origins; the answer holds secrets",
            site_data::save_state,
        )
        .tab()
        .secs(60),
        Route::of(Post, "/state/load", "Restore saved cookies and storage; starts the browser", site_data::load_state)
            .tab()
            .secs(60)
            .mebibytes(48),
        Route::of(Post, "/emulate", "What the tab is made to believe", site_data::emulate).tab().secs(8),
    ]
}

fn of_the_network() -> Vec<Route> {
    vec![
        Route::of(Get, "/routes", "List the routes of network requests", network::routes).secs(8),
        Route::of(Post, "/routes", "Add a route: fail, answer, change or delay matching requests", network::add_route)
            .secs(8),
        Route::of(Delete, "/routes", "Remove all routes", network::clear_routes).secs(8),
        Route::of(Delete, "/routes/:id", "Remove a route", network::remove_route).secs(8),
    ]
}
