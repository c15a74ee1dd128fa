//! `cdpilot browser …`: each command sends one request to the control server.
//!
//! | file | contents |
//! |---|---|
//! | `call` | the request of a command, and arguments that several commands share |
//! | `action` | the commands of actions, from the table of actions |
//! | `act`, `forms` | those with a syntax of their own |
//! | `basics`, `read`, `find`, `page_data`, `route`, `upload`, `events` | the other commands: their arguments and requests |
//! | `address` | completes URLs that are typed without a scheme |
//! | `login` | saves and restores login states |
//! | `save` | writes files from answers |
//! | `show` | prints answers as text |

mod act;
mod action;
pub(super) mod address;
mod basics;
mod call;
mod events;
mod fields;
mod find;
mod forms;
mod login;
mod page_data;
mod read;
mod route;
mod save;
mod sessions;
mod show;
mod upload;

use std::ffi::OsString;
use std::time::Duration;

use clap::Subcommand;
use serde_json::Value;

use super::args::Global;
use super::client::{self, Request, ServerAddress};
use super::connect::{Connector, ask, reach};
use super::failure::{Exit, Failure};
use super::files;
use super::output::{Out, WaitReason, one_line};
use super::settings::Settings;
use call::Call;
use cdpilot::code::Code;
use cdpilot_server::api::{TimeLimit, operations as op};
use cdpilot_server::config::Home;

/// How much longer than the server's own limit a command waits for the answer.
const SLACK: Duration = Duration::from_secs(10);
/// The server's limit for one request.
const SERVER_LIMIT: Duration = Duration::from_secs(120);

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show browser status
    Status,
    /// Start the browser
    Start(basics::Start),
    /// Stop the browser
    Stop,
    /// List open tabs
    Tabs,
    /// Open a URL in a new tab; starts the browser if needed
    Open(basics::Open),
    /// Make a tab the current tab, or focus an element
    #[command(mut_arg("synthetic", |option| option.hide(true)))]
    Focus(find::Focus),
    /// Close a tab without a beforeunload prompt: unsaved changes are lost
    Close(basics::Close),
    /// Set the label of a tab
    Label(basics::Label),
    /// Navigate a tab to a URL; starts the browser if needed
    #[command(alias = "goto")]
    Navigate(basics::Navigate),
    /// Go back in the tab's history
    Back(basics::HistoryArgs),
    /// Go forward in the tab's history
    Forward(basics::HistoryArgs),
    /// Reload the page
    Reload(basics::HistoryArgs),
    /// End the script that keeps a page busy, at once; the document is kept
    Rescue(basics::Rescue),
    /// Print the page as an accessibility tree with refs
    Snapshot(read::Snapshot),
    /// Take a screenshot
    Screenshot(read::Screenshot),
    /// Save the page as a PDF file
    Pdf(read::Pdf),
    /// List the elements that a locator matches
    Find(find::Find),
    /// Print the text, HTML, value, attribute, position, count or state of elements
    Get(find::Get),
    /// Check the state of an element: exit status 0 if it holds, else 1
    Is(find::Is),
    /// Print the text of the page
    Text(read::Text),
    /// List the frames of the page
    Frames(read::Frames),
    /// List console messages of the page
    Console(read::Console),
    /// List uncaught exceptions of the page
    Errors(read::Errors),
    /// List network requests
    Requests(read::Requests),
    /// Show a network request: headers, timing, bodies
    Request(read::OneRequest),
    /// Highlight an element, or remove the highlight
    Highlight(read::Highlight),
    #[command(flatten)]
    Act(action::Action),
    /// Upload files to a file field or to the next file chooser
    Upload(upload::Upload),
    /// Answer the open dialog, or give the answer to the next one in advance
    Dialog(page_data::Dialog),
    /// List open and recent dialogs
    Dialogs(page_data::Dialogs),
    /// List, set, import or clear cookies
    Cookies(page_data::Cookies),
    /// Read, set or clear localStorage or sessionStorage
    Storage(page_data::Storage),
    /// Save or restore a login state: cookies and storage of all origins
    State(login::State),
    /// Override device, viewport, location, locale, network and more for a tab
    Emulate(page_data::Emulate),
    /// Add, list or remove routes that abort, answer, change or delay network requests
    Route(route::Route),
    /// Wait for a download to finish
    #[command(aliases = ["wait-download", "waitfordownload"])]
    Download(page_data::Download),
    /// Send a raw Chrome DevTools Protocol command
    Cdp(page_data::Cdp),
    /// List, create, delete or reset browser profiles
    Profiles(basics::Profiles),
    /// List, create or end sessions: clients with their own current tab and tabs
    Sessions(sessions::Sessions),
    /// Follow browser events as they happen
    Events(events::Events),
}

/// Warning for answers with `rescued: true`.
const RESCUED: &str = "the page did not respond, so its running script was terminated before it finished; \
                       browser.rescue_after_ms in config.yaml sets how long a script may block a page that calls wait for";

pub(super) fn run(command: &Command, global: &Global, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let connector = Connector::new(global)?;
    if let Command::Events(events) = command {
        let found = connector.find()?;
        let request = connector.with_session(connector.with_profile(events.request()));
        return reach(&connector, found, true, |client| {
            events.follow(client, &request, settings.millis().map(Duration::from_millis), out)
        });
    }
    let found = connector.find()?;
    let call = call(command, &found, connector.home.as_ref())?;
    if let Some(path) = &call.file {
        files::check_folder(path)?; // checked first: a finished download cannot be fetched again
    }
    check_frame(command, &call.request)?;
    let millis = settings.millis();
    let request = connector.with_profile(call.request);
    let mut request = connector.with_session(request);
    let wants_synthetic = request.body.as_ref().is_some_and(|body| body["input"] == "synthetic");
    if request.operation.time != TimeLimit::Fixed {
        request = request.common("timeoutMs", millis);
    }
    let patience = millis.map_or(SERVER_LIMIT, Duration::from_millis).min(SERVER_LIMIT) + SLACK;
    let reason =
        call.waits_for.map(|why| WaitReason::start(out, format!("{why}, at most {}", seconds(patience - SLACK))));
    let is_here = found.may_start();
    let answer = ask(&connector, found, call.starts, &request, patience, out);
    drop(reason);
    if let (Command::Stop, true, Err(failure)) = (command, is_here, &answer)
        && failure.is_without_server()
    {
        out.line("nothing to stop: no server is running");
        out.object(&serde_json::json!({ "ok": true, "running": false }));
        return Ok(Exit::Done);
    }
    let answer = answer?;
    if let Some(mut failure) = client::of_answer(&answer) {
        if out.json {
            let mut object = answer.value;
            object["error"] = failure.error.into();
            out.object(&object);
            return Ok(failure.exit);
        }
        explain(&mut failure);
        if let Some(profile) = &global.profile {
            let start = format!("`cdpilot --profile {} start`", one_line(profile));
            failure.error = failure.error.replace("`cdpilot start`", &start);
        }
        return Err(failure);
    }
    let (mut value, mut text) = (answer.value, answer.text);
    if wants_synthetic && let Some(fields) = value.as_object_mut() {
        fields.remove("input"); // only a fallback is worth a line
    }
    if let Some(path) = &call.file {
        save::file(&mut value, path)?;
        text = value.to_string();
    }
    if let Some(keep) = &call.keep {
        keep.write(&mut value)?;
        text = value.to_string();
    }
    if value["rescued"] == true && !out.json && !matches!(command, Command::Rescue(_)) {
        out.warning(RESCUED);
    }
    if is_kept(&value) {
        // The operation succeeded in asking; what was wanted has not happened.
        if out.json {
            value["ok"] = false.into();
            value["code"] = Code::BlockedByDialog.as_str().into();
            value["error"] = KEPT.into();
            out.object(&value);
        } else {
            (call.show)(&value, out);
        }
        return Ok(Exit::Dialog);
    }
    match command {
        _ if out.json => out.raw(&text),
        Command::Is(is) => out.line(if is.holds(&value) { "true" } else { "false" }),
        _ => {
            call.done.iter().filter(|_| !out.quiet).for_each(|line| out.line(line));
            (call.show)(&value, out);
        }
    }
    if let Command::Is(is) = command {
        return Ok(if is.holds(&value) { Exit::Done } else { Exit::Failed });
    }
    Ok(outcome(&value))
}

/// The error for a navigation that a `beforeunload` dialog has stopped.
const KEPT: &str = "a beforeunload dialog keeps the page; `cdpilot dialog --accept` leaves it, `--dismiss` stays";

/// Whether a navigation was asked for, and the page is kept by a `beforeunload` dialog.
fn is_kept(value: &Value) -> bool {
    let mut dialogs = value["pending_dialogs"].as_array().into_iter().flatten();
    value["navigated"] == false
        && value["blockedByDialog"] == true
        && dialogs.any(|dialog| dialog["type"] == "beforeunload")
}

/// Refuses `--frame` beside a ref, which determines the frame. Scripts and waits take both.
fn check_frame(command: &Command, request: &Request) -> Result<(), Failure> {
    let takes_both = matches!(command, Command::Act(action) if action.takes_ref_and_frame());
    if request.has("ref") && request.has("frameId") && !takes_both {
        return Err(Failure::usage(
            "--frame cannot be combined with a ref, which already determines the frame; leave --frame out, or use a \
             selector or locator",
        ));
    }
    Ok(())
}

/// `0.5 s`, `120 s`.
fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

fn call(command: &Command, found: &ServerAddress, home: Option<&Home>) -> Result<Call, Failure> {
    Ok(match command {
        Command::Status => basics::status(),
        Command::Start(start) => start.call(),
        Command::Stop => basics::stop(),
        Command::Tabs => basics::tabs(),
        Command::Open(open) => open.call()?,
        Command::Focus(focus) => focus.call(),
        Command::Back(travel) => travel.call(op::BACK),
        Command::Forward(travel) => travel.call(op::FORWARD),
        Command::Reload(travel) => travel.call(op::RELOAD),
        Command::Rescue(rescue) => rescue.call(),
        Command::Find(find) => find.call()?,
        Command::Get(get) => get.call()?,
        Command::Is(is) => is.call(),
        Command::Close(close) => close.call(),
        Command::Label(label) => label.call(),
        Command::Navigate(navigate) => navigate.call(),
        Command::Snapshot(snapshot) => snapshot.call()?,
        Command::Screenshot(screenshot) => screenshot.call()?,
        Command::Pdf(pdf) => pdf.call(),
        Command::Text(text) => text.call()?,
        Command::Frames(frames) => frames.call()?,
        Command::Console(console) => console.call()?,
        Command::Errors(errors) => errors.call()?,
        Command::Requests(requests) => requests.call()?,
        Command::Request(request) => request.call()?,
        Command::Highlight(highlight) => highlight.call(),
        Command::Act(action) => action.call()?,
        Command::Upload(upload) => upload.call(found, home)?,
        Command::Dialog(dialog) => dialog.call(),
        Command::Dialogs(dialogs) => dialogs.call(),
        Command::Cookies(cookies) => cookies.call()?,
        Command::Storage(storage) => storage.call()?,
        Command::State(state) => state.call()?,
        Command::Emulate(emulate) => emulate.call()?,
        Command::Route(route) => route.call(home)?,
        Command::Download(download) => download.call(),
        Command::Cdp(cdp) => cdp.call()?,
        Command::Profiles(profiles) => profiles.call()?,
        Command::Sessions(sessions) => sessions.call(),
        Command::Events(events) => Call::new(events.request(), show::result),
    })
}

/// Exit status of a successful answer, which may hold failures of single actions.
fn outcome(value: &Value) -> Exit {
    let results = ["results", "result"].iter().find_map(|name| match &value[*name] {
        Value::Object(inner) => inner.get("results").and_then(Value::as_array),
        other => other.as_array(),
    });
    let failed = value["failed"].as_u64().is_some_and(|failed| failed > 0) || value["failed"].is_object();
    let is_useless = value["added"] == 0 && value["rejected"].as_array().is_some_and(|rejected| !rejected.is_empty());
    let has_no_file = matches!(value["download"]["state"].as_str(), Some("canceled" | "failed"));
    if is_useless || has_no_file {
        return Exit::Failed;
    }
    if !failed {
        return Exit::Done;
    }
    let first = results.into_iter().flatten().find(|result| result["ok"] == false);
    first.and_then(|result| result["code"].as_str()).map_or(Exit::Failed, client::exit_of)
}

/// Rewrites an error about an open dialog: which dialog it is, and the command that answers it.
fn explain(failure: &mut Failure) {
    let details = failure.details.as_ref();
    let dialogs = details.and_then(|details| details["pending_dialogs"].as_array()).map_or(&[][..], Vec::as_slice);
    let word = |dialog: &Value, name: &str| dialog[name].as_str().map(one_line).unwrap_or_default();
    if let (Exit::Dialog, Some(first)) = (failure.exit, dialogs.first()) {
        let kind = word(first, "type");
        let article = if kind.starts_with('a') { "an" } else { "a" };
        let or = if failure.error.contains("--dismiss-dialogs") { ", or pass --dismiss-dialogs" } else { "" };
        failure.error = format!("the tab shows {article} {kind} dialog; answer it first{or}");
    }
    for dialog in dialogs {
        failure.error.push_str(&format!("\n  {}", show::dialog(dialog)));
    }
    if failure.exit == Exit::Dialog {
        failure.error.push_str(&format!("\n  {}", show::answer_with(dialogs)));
    }
}

/// Prepares the arguments for clap: inserts an omitted `browser`, and turns `--url GLOB` after `wait` into `--page-url`
/// unless its value is the address of a server.
pub(super) fn disambiguate(cli: &clap::Command, args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = in_full(cli, args.collect());
    let is = |arg: &OsString, word: &str| arg == word;
    let Some(browser) = args.iter().position(|arg| is(arg, "browser")) else { return args };
    let Some(wait) = args.iter().skip(browser).position(|arg| is(arg, "wait")).map(|at| at + browser) else {
        return args;
    };
    let page = |url: &str| !url.contains("://") || !client::is_server(url);
    for at in wait + 1..args.len() {
        if is(&args[at], "--") {
            break;
        }
        let next = args.get(at + 1).and_then(|next| next.to_str());
        if is(&args[at], "--url") && next.is_some_and(page) {
            args[at] = "--page-url".into();
        } else if let Some(url) = args[at].to_str().and_then(|arg| arg.strip_prefix("--url=")).filter(|url| page(url)) {
            args[at] = format!("--page-url={url}").into();
        }
    }
    args
}

/// Top-level names that never stand for a browser command.
const RESERVED: [&str; 5] = ["help", "eval", "record", "routine", "secrets"];
/// Global options that take a value.
const WITH_VALUE: [&str; 4] = ["--timeout", "--profile", "--session", "--url"];

/// Whether no top-level command has or reserves this name.
fn is_free(cli: &clap::Command, name: &str) -> bool {
    cli.find_subcommand(name).is_none() && !RESERVED.contains(&name)
}

/// Adds the browser commands at the top level, where `browser` may be omitted.
pub(super) fn with_short_forms(cli: clap::Command) -> clap::Command {
    let browser = cli.find_subcommand("browser").cloned().unwrap_or_default();
    let is_short = |command: &&clap::Command| is_free(&cli, command.get_name());
    let without_taken_aliases = |command: &clap::Command| {
        let command = command.clone();
        let is_taken = command.get_all_aliases().any(|alias| !is_free(&cli, alias));
        if is_taken { command.alias(None::<&'static str>) } else { command }
    };
    let short: Vec<_> = browser.get_subcommands().filter(is_short).map(without_taken_aliases).collect();
    cli.subcommands(short)
}

/// Inserts the omitted `browser` before a browser command.
fn in_full(cli: &clap::Command, mut args: Vec<OsString>) -> Vec<OsString> {
    let is_browsers = |name: &str| {
        is_free(cli, name)
            && cli.find_subcommand("browser").is_some_and(|browser| browser.find_subcommand(name).is_some())
    };
    let mut at = 1;
    while let Some(arg) = args.get(at).and_then(|arg| arg.to_str()) {
        if arg == "--" {
            break;
        }
        if arg.starts_with('-') {
            at += if WITH_VALUE.contains(&arg) { 2 } else { 1 };
        } else if arg == "help" {
            at += 1;
        } else {
            if is_browsers(arg) {
                args.insert(at, "browser".into());
            }
            break;
        }
    }
    args
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::args::Cli;
    use super::*;

    #[test]
    fn the_word_browser_may_be_left_out() {
        let read = |args: &str| {
            let args = disambiguate(&Cli::command(), args.split(' ').map(OsString::from));
            args.iter().map(|arg| arg.to_str().unwrap()).collect::<Vec<_>>().join(" ")
        };
        for (short, full) in [
            ("cdpilot open a.test", "cdpilot browser open a.test"),
            ("cdpilot --json --profile open click e1", "cdpilot --json --profile open browser click e1"),
            ("cdpilot --session alice open a.test", "cdpilot --session alice browser open a.test"),
            ("cdpilot --session tabs tabs", "cdpilot --session tabs browser tabs"),
            ("cdpilot help click", "cdpilot help browser click"),
            ("cdpilot evaluate 1", "cdpilot browser evaluate 1"),
            ("cdpilot wait --url **/done", "cdpilot browser wait --page-url **/done"),
        ] {
            assert_eq!(read(short), full);
        }
        for same in [
            "cdpilot doctor",
            "cdpilot tools list",
            "cdpilot browser open x",
            "cdpilot nothing",
            "cdpilot eval list",
            "cdpilot -- open",
        ] {
            assert_eq!(read(same), same);
        }
    }

    #[test]
    fn the_url_of_a_wait_is_that_of_the_page_unless_it_is_a_server() {
        let read = |args: &str| {
            let args = disambiguate(&Cli::command(), args.split(' ').map(OsString::from));
            args.iter().map(|arg| arg.to_str().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(read("x browser wait --url **/done"), "x browser wait --page-url **/done");
        assert_eq!(read("x browser wait --url=http://a/x*"), "x browser wait --page-url=http://a/x*");
        assert_eq!(read("x browser wait --url http://127.0.0.1:1"), "x browser wait --url http://127.0.0.1:1");
        assert_eq!(read("x --url a browser wait --url b"), "x --url a browser wait --page-url b");
        assert_eq!(read("x browser tabs --url b"), "x browser tabs --url b");
    }
}
