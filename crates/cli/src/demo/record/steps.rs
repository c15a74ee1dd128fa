//! The steps of the demo, in order.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::super::client::Request;
use super::super::super::files::{self, Readers};
use super::super::super::output::one_line;
use super::super::show::processes;
use super::super::show::steps::{StepOutput, Steps};
use super::follow::{Api, Events};
use super::{Options, Problem, Report};
use cdpilot::browser::{BrowserProcess, LaunchOptions, TransportKind};
use cdpilot::cdp::protocol::target::TargetId;
use cdpilot::code::Code;
use cdpilot::page::{Act, Locator};
use cdpilot::supervisor::Pages;
use cdpilot::sync::pause;
use cdpilot::{Browser, BrowserOptions, Page};
use cdpilot_eval::Assets;
use cdpilot_eval::sites::Sites;
use cdpilot_server::api::operations as op;
use cdpilot_server::api::{CreateRecording, ExportRecording, KeyframeQuery, RecordingFormat};
use cdpilot_server::config::{Config, Home};
use cdpilot_server::server::{Server, ServerOptions};
use tempfile::TempDir;

/// Number of steps.
pub(super) const STEPS: usize = 11;
/// Window size.
const WINDOW: (u32, u32) = (1280, 800);
/// How long the person looks at the page before each action.
const BETWEEN: Duration = Duration::from_millis(600);
/// A card number that the shop accepts. It must not be found in the recording.
const CARD: &str = "4242 4242 4242 4242";

/// Runs all steps. After a failure the remaining ones are skipped, except the cleanup.
pub(super) fn all(options: &Options, steps: &mut Steps<'_>, report: &mut Report) {
    let Some(sites) = steps.run("site", "Serve a local shop", serve) else { return };
    let Some(browser) = steps.run("browser", "Start a temporary browser", || launch(options)) else { return };
    report.browser = Some(browser.process.version().product.clone());
    let server = steps.run("server", "Start a server with a temporary home", || start(&browser));
    if let Some(server) = &server {
        recorded(&Demo { options, sites: &sites, browser: &browser, server }, steps, report);
    }
    steps.leave_out_all_but_the_last();
    steps.run("stop", "Stop server and browser and check that nothing is left", || stop(server, browser, options));
}

fn internal(problem: impl std::fmt::Display) -> Problem {
    Problem::new(Code::Internal, problem.to_string())
}

fn serve() -> Result<(Sites, StepOutput), Problem> {
    let sites = Sites::start(Assets::embedded("sites"), 0);
    let sites = sites.map_err(|problem| internal(format!("cannot serve local pages: {problem}")))?;
    let output = StepOutput::of(shop(&sites));
    Ok((sites, output))
}

fn shop(sites: &Sites) -> String {
    format!("{}/payment/", sites.places(&sites.standing()).a)
}

/// The browser that must be gone in the end.
struct Launched {
    process: BrowserProcess,
    id: u32,
    folder: PathBuf,
    url: String,
}

fn launch(options: &Options) -> Result<(Launched, StepOutput), Problem> {
    let mut launch = LaunchOptions::default();
    launch.executable = Some(options.executable.clone());
    launch.headless = options.headless;
    launch.window_size = Some(WINDOW);
    launch.transport = TransportKind::PipeAndPort(0);
    let process = BrowserProcess::launch(&launch)?;
    let has_window = process.headless().is_none_or(|headless| !headless.on);
    let detail =
        format!("{} {}", process.version().product, if has_window { "in a window" } else { "without a window" });
    let profile = process.user_data_dir().map(Path::to_owned).unwrap_or_default();
    let launched = Launched {
        id: process.pid().unwrap_or_default(),
        // The profile is inside a temporary folder.
        folder: profile.parent().map(Path::to_owned).unwrap_or_default(),
        url: process.endpoint().map(|endpoint| endpoint.url()).unwrap_or_default(),
        process,
    };
    Ok((launched, StepOutput::of(detail)))
}

/// The server and its home, which is removed with it.
struct Serving {
    server: Server,
    api: Api,
    home: TempDir,
}

fn start(browser: &Launched) -> Result<(Serving, StepOutput), Problem> {
    let home = tempfile::Builder::new().prefix("cdpilot-demo-").tempdir().map_err(internal)?;
    let mut config = Config::default();
    config.browser.cdp_url = Some(browser.url.clone());
    let mut options = ServerOptions::new(Home::at(home.path().join("home")), config);
    options.port = Some(0);
    let server = Server::start(options).map_err(internal)?;
    let api = Api::of(&server)?;
    let output = StepOutput::of(server.url().to_owned());
    Ok((Serving { server, api, home }, output))
}

fn stop(serving: Option<Serving>, browser: Launched, options: &Options) -> Result<((), StepOutput), Problem> {
    if let Some(Serving { server, api, home }) = serving {
        drop(api);
        server.stop(options.deadline());
        home.close().map_err(|problem| internal(format!("the temporary home cannot be removed: {problem}")))?;
    }
    let Launched { process, id, folder, .. } = browser;
    process.close(options.deadline())?;
    let left = processes::of(id, &folder).unwrap_or_default();
    if !left.is_empty() {
        return Err(Problem::new(Code::BrowserError, format!("processes of the browser are still running: {left:?}")));
    }
    if folder.exists() {
        let problem = format!("the temporary profile {} was not removed", folder.display());
        return Err(Problem::new(Code::BrowserError, problem));
    }
    Ok(((), StepOutput::of("0 processes left; the temporary home and profile are removed")))
}

struct Demo<'a> {
    options: &'a Options,
    sites: &'a Sites,
    browser: &'a Launched,
    server: &'a Serving,
}

/// The recording in progress, and who is recorded.
struct Shown {
    id: String,
    events: Events,
    person: Person,
}

/// A second client of the browser.
struct Person {
    page: Page,
    _browser: Browser,
}

impl Person {
    fn act(&self, act: Act) -> Result<(), Problem> {
        pause(BETWEEN);
        let done = self.page.act(act);
        done.map(drop).map_err(|problem| Problem::new(problem.kind(), problem.to_string()))
    }

    fn click(&self, element: impl Into<Locator>) -> Result<(), Problem> {
        self.act(Act::click(element))
    }

    /// Types with a key for each character.
    fn write(&self, field: &str, text: &str) -> Result<(), Problem> {
        self.act(Act::type_text(field, text).slowly())
    }
}

/// Records a purchase.
fn recorded(demo: &Demo<'_>, steps: &mut Steps<'_>, report: &mut Report) -> Option<()> {
    let mut shown = steps.run("start", "Record a new window", || demo.start())?;
    let Shown { id, events, person } = &mut shown;
    let limit = || demo.options.deadline();
    let mut step = |id, title: &str, act: &dyn Fn(&Person) -> Result<(), Problem>, expected: &[(&str, &str, Value)]| {
        steps.run(id, title, || {
            act(person)?;
            for (kind, name, data) in expected {
                events.until(&format!("{kind} {name:?}"), limit(), |event| is(event, kind, name, data))?;
            }
            let lines = events.lines();
            Ok(((), StepOutput::long(format!("{} events", lines.len()), lines)))
        })
    };
    let none = || json!({});
    step(
        "basket",
        "Put candles into the basket and open it",
        &|person| {
            person.click(Locator::from("role=button[name=\"Add to basket\"]").nth(2))?;
            person.click("css=nav a[href=\"basket.html\"]")
        },
        &[("click", "Add to basket", none()), ("click", "Basket", none()), ("page_view", "", none())],
    )?;
    step(
        "quantity",
        "Change the quantity and go to the checkout",
        &|person| {
            person.act(Act::fill("role=spinbutton[name=\"Quantity\"]", "4"))?;
            person.click("role=link[name=\"Checkout\"]")
        },
        &[("input", "Quantity", json!({ "value": "4" })), ("click", "Checkout", none()), ("page_view", "", none())],
    )?;
    step(
        "locker",
        "Select a parcel locker in a frame of another site",
        &|person| {
            person.click("text=To a parcel locker")?;
            person.click(Locator::from("role=button[name=\"Select\"]").nth(1))
        },
        &[("change", "To a parcel locker", json!({ "checked": true })), ("click", "Select", none())],
    )?;
    step(
        "card",
        "Type a card number into a frame within a frame",
        &|person| person.write("role=textbox[name=\"Card number\"]", CARD),
        &[("input", "Card number", json!({ "value": null, "source_count": CARD.len() }))],
    )?;
    report.events = steps.run("end", "Stop the recording", || demo.end(id))?;
    let results = steps.run("results", "Write draft, screenshots and exports", || demo.results(id, &report.events))?;
    (report.folder, report.draft) = (Some(results.folder), results.draft);
    (report.keyframes, report.exports) = (results.keyframes, results.exports);
    Some(())
}

/// Whether an event is of a type, about an element with a name that begins so, and has these facts.
fn is(event: &Value, kind: &str, name: &str, data: &Value) -> bool {
    let element = &event["element"];
    let is_named = ["name", "label", "text"]
        .iter()
        .any(|field| element[field].as_str().is_some_and(|text| text.starts_with(name)));
    event["event_type"] == kind
        && (name.is_empty() || is_named)
        && data.as_object().into_iter().flatten().all(|(field, value)| event["data"][field] == *value)
}

struct Results {
    folder: PathBuf,
    draft: Vec<String>,
    keyframes: Vec<PathBuf>,
    exports: Vec<PathBuf>,
}

impl Demo<'_> {
    fn start(&self) -> Result<(Shown, StepOutput), Problem> {
        let api = &self.server.api;
        let wanted = CreateRecording {
            browser_id: None,
            profile: None,
            conversation_id: None,
            name: Some("Buy candles".to_owned()),
            launch_mode: None,
            start_url: Some(shop(self.sites)),
        };
        let begun = api.ask(&Request::new(op::START_RECORDING, &wanted))?;
        let id = begun["recording_id"].as_str().unwrap_or_default().to_owned();
        let mut events = api.follow(&id)?;
        events.until("the start page", self.options.deadline(), |event| event["event_type"] == "page_view")?;
        let target = events.first("tab_created");
        let target = TargetId::from(target["data"]["target_id"].as_str().unwrap_or_default());
        let pages = BrowserOptions::new().pages(Pages::Existing(target.clone()));
        let failed = |problem: cdpilot::Error| Problem::new(problem.kind(), problem.to_string());
        let browser = Browser::attach_with(&self.browser.url, pages).map_err(failed)?;
        let page = browser.page_with_id(&target).map_err(failed)?;
        let lines = events.lines();
        let output = StepOutput::long(format!("{} events", lines.len()), lines);
        Ok((Shown { id, events, person: Person { page, _browser: browser } }, output))
    }

    /// Stops the recording; all its events.
    fn end(&self, id: &str) -> Result<(Vec<Value>, StepOutput), Problem> {
        let api = &self.server.api;
        let answer = api.ask(&Request::at(op::STOP_RECORDING, &[id]))?;
        let recording = &answer["recording"];
        let events = api.ask(&Request::at(op::RECORDING_EVENTS, &[id]))?["events"].take();
        let events: Vec<Value> = serde_json::from_value(events).map_err(internal)?;
        if events.iter().any(|event| event["by"] != "person") || recording["gaps"] != 0 {
            return Err(internal("the recording has events that nobody caused, or gaps"));
        }
        let pictures = events.iter().filter(|event| event["keyframe"].is_string()).count();
        let detail = format!("{} events, {pictures} of them with a screenshot, no gaps", events.len());
        Ok((events, StepOutput::of(detail)))
    }

    fn results(&self, id: &str, events: &[Value]) -> Result<(Results, StepOutput), Problem> {
        let api = &self.server.api;
        let folder = match &self.options.out {
            Some(folder) => std::fs::create_dir_all(folder).and_then(|()| std::path::absolute(folder)),
            None => tempfile::Builder::new().prefix("cdpilot-demo-").tempdir().map(TempDir::keep),
        };
        let folder = folder.map_err(|problem| {
            internal(format!("cannot create the folder for the results: {problem}; choose another one with --out"))
        })?;
        let write = |name: String, bytes: &[u8]| {
            let path = folder.join(name);
            let written = files::write(&path, Readers::Owner, bytes);
            written.map_err(|problem| internal(format!("cannot write {}: {problem}", path.display())))?;
            Ok::<_, Problem>(path)
        };
        let mut keyframes = Vec::new();
        for event in events {
            let index = event["event_index"].as_u64().unwrap_or_default();
            for (field, after) in [("keyframe", false), ("keyframe_after", true)] {
                if event[field].is_string() {
                    let query = KeyframeQuery { after };
                    let jpeg =
                        api.bytes(&Request::at(op::RECORDING_KEYFRAME, &[id, &index.to_string()]).and(&query))?;
                    keyframes.push(write(format!("{index:02}-{}.jpg", if after { "after" } else { "before" }), &jpeg)?);
                }
            }
        }
        let mut exports = Vec::new();
        for (name, format) in
            [("recording.json", RecordingFormat::Cdpilot), ("devtools.json", RecordingFormat::Devtools)]
        {
            let answer = api.ask(&Request::at(op::EXPORT_RECORDING, &[id]).and(&ExportRecording { format }))?;
            let text = answer["content"].to_string();
            if text.contains(CARD) {
                return Err(internal("the card number is in an export"));
            }
            exports.push(write(name.to_owned(), text.as_bytes())?);
        }
        let answer = api.ask(&Request::at(op::WORKFLOW_DRAFT, &[id]))?;
        let steps = answer["normalized_steps"].as_array().into_iter().flatten();
        let draft: Vec<String> = steps.map(|step| one_line(step["description"].as_str().unwrap_or_default())).collect();
        let numbered = draft.iter().zip(1..).map(|(line, n)| format!("{n}. {line}"));
        let mut lines: Vec<String> = std::iter::once("draft:".to_owned()).chain(numbered).collect();
        lines.push(format!("the card number is in no file; screenshots and exports: {}", folder.display()));
        let names = keyframes.iter().chain(&exports).filter_map(|path| path.file_name()?.to_str());
        lines.push(names.collect::<Vec<_>>().join("  "));
        let detail = format!("{} steps, {} screenshots, {} exports", draft.len(), keyframes.len(), exports.len());
        Ok((Results { folder, draft, keyframes, exports }, StepOutput::long(detail, lines)))
    }
}
