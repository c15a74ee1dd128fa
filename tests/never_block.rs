//! Every operation in every state that blocks others: each ends by its deadline, with a typed reason.
//!
//! The table of `docs/never-block.md` is what these tests saw: `make never-block` runs them and writes
//! it. In each cell the state is made anew, since many operations end it.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use cdpilot::browser::{BrowserProcess, TransportKind};
use cdpilot::cdp::{self, ConnectOptions, GoneReason};
use cdpilot::supervisor::{BridgeMode, Error, FrameRef, PageState, Pages, Phase, Supervisor, SupervisorOptions, View};
use cdpilot::sync::Deadline;
use rustix::process::Signal;
use serde_json::json;

use crate::support::chrome::{ACCEPT, launch, soon, until};
use crate::support::proxy::Proxy;
use crate::support::share::{is_whole, seed};
use crate::support::site::Site;

/// What each operation is given; less when no table is written, where most of a run is spent at deadlines.
fn time() -> Duration {
    Duration::from_millis(if publishing().is_some() { 2000 } else { 800 })
}

/// When a page that leaves a probe unanswered counts as stuck.
fn rescue_after() -> Duration {
    time() / 4
}

/// What a loaded machine may add. The promise is 250 ms, and the published table is held to it.
const SLACK: Duration = Duration::from_secs(120);
const PROMISE: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Nothing,
    Dialog { kind: &'static str, place: Place },
    LoopInPage,
    LoopInEvaluate,
    LoopInFrame(Place),
    Crash,
    RendererStopped,
    BrowserStopped,
    SocketCut,
    SocketSilent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Main,
    SameProcess,
    OwnProcess,
    Loading,
    Bridge,
}

const OPERATIONS: [&str; 14] = [
    "view",
    "evaluate",
    "evaluate in the frame",
    "raw command",
    "screenshot",
    "last screenshot",
    "cookies",
    "history",
    "target info",
    "answer",
    "navigate",
    "reload",
    "open a page",
    "close",
];

impl State {
    fn name(self) -> String {
        match self {
            Self::Nothing => "no fault".to_owned(),
            Self::Dialog { kind, place } => {
                let place = match place {
                    Place::Main => "main frame",
                    Place::SameProcess => "frame of the same process",
                    Place::OwnProcess => "cross-process frame",
                    Place::Loading => "during load",
                    Place::Bridge => "main frame, dialog bridge",
                };
                format!("`{kind}`, {place}")
            }
            Self::LoopInPage => "`while(true)` in page script".to_owned(),
            Self::LoopInEvaluate => "`while(true)` in another caller's evaluate".to_owned(),
            Self::LoopInFrame(Place::OwnProcess) => "`while(true)` in a cross-process frame".to_owned(),
            Self::LoopInFrame(_) => "`while(true)` in a frame of the same process".to_owned(),
            Self::Crash => "renderer crashed".to_owned(),
            Self::RendererStopped => "renderers stopped (`SIGSTOP`)".to_owned(),
            Self::BrowserStopped => "browser stopped (`SIGSTOP`)".to_owned(),
            Self::SocketCut => "connection cut".to_owned(),
            Self::SocketSilent => "connection half-open".to_owned(),
        }
    }

    fn bridged(self) -> bool {
        matches!(self, Self::Dialog { place: Place::Bridge, .. })
    }
}

/// A browser behind a proxy and who watches it.
struct World {
    supervisor: Supervisor,
    proxy: Proxy,
    site: Site,
    browser: BrowserProcess,
    bridged: bool,
}

/// One page in one state.
struct Scene<'a> {
    world: &'a World,
    state: State,
    page: FrameRef,
    target: cdp::protocol::target::TargetId,
    frame: FrameRef,
}

impl World {
    fn new(bridged: bool) -> Option<Self> {
        let browser = launch(TransportKind::Port(0))?;
        let proxy = Proxy::of(&browser.endpoint().unwrap().url());
        let connect = ConnectOptions::new().keepalive(Some(Duration::from_secs(1)));
        let options = SupervisorOptions::task("matrix")
            .pages(Pages::None)
            .rescue_after(rescue_after())
            .rescue_after_load(Duration::ZERO)
            .start_timeout(soon().left())
            .bridge(if bridged { BridgeMode::Always } else { BridgeMode::Never });
        let supervisor = Supervisor::attach(&proxy.url(), &connect, options).unwrap();
        let site = Site::start();
        site.page("/", "<title>matrix</title><iframe src='@b/inner'></iframe><iframe src='/local'></iframe>");
        site.page("/inner", "inner");
        site.page("/local", "local");
        for kind in ["alert", "confirm", "prompt"] {
            site.page(&format!("/loading-{kind}"), &format!("<script>{kind}('while loading')</script>"));
        }
        Some(Self { supervisor, proxy, site, browser, bridged })
    }

    fn enter(&self, state: State, wants_picture: bool) -> Scene<'_> {
        let supervisor = &self.supervisor;
        // A connection that was held up may be given up only now.
        let given_up = soon();
        let target = loop {
            until(supervisor, "a connection", View::is_active);
            match supervisor.open_page("about:blank", None, soon()) {
                Err(Error::Reconnecting { .. }) if !given_up.passed() => {}
                opened => break opened.unwrap(),
            }
        };
        let page = FrameRef::TopOf(target.clone());
        supervisor.navigate(&page, &self.site.url("a", "/"), soon()).unwrap();
        let here = |now: &View, path: &str| {
            let mut frames = now.frames_of(target.as_str());
            let found = frames.find(|f| f.url.ends_with(path) && f.session_id.is_some() && !f.origin.is_empty());
            found.map(|frame| FrameRef::Id(frame.frame_id.clone()))
        };
        let now = until(supervisor, "its frames", |now| here(now, "/inner").is_some() && here(now, "/local").is_some());
        let (own, local) = (here(&now, "/inner").unwrap(), here(&now, "/local").unwrap());
        for frame in [&page, &own, &local] {
            let loaded = "document.readyState === 'complete' || new Promise(done => addEventListener('load', done))";
            supervisor.evaluate(frame, loaded, soon()).unwrap();
        }
        if wants_picture {
            supervisor.screenshot(&page, soon()).unwrap();
        }
        let frame = match state {
            State::Dialog { place: Place::SameProcess, .. } | State::LoopInFrame(Place::SameProcess) => local,
            _ => own,
        };
        let scene = Scene { world: self, state, page, target, frame };
        scene.begin();
        scene
    }
}

impl Scene<'_> {
    fn begin(&self) {
        let supervisor = &self.world.supervisor;
        match self.state {
            State::Nothing | State::LoopInEvaluate => {}
            State::Dialog { kind: "beforeunload", .. } => {
                let prevent = "onbeforeunload = event => event.preventDefault(); 1";
                supervisor.evaluate(&self.page, prevent, soon()).unwrap();
                supervisor.start_script(&self.page, "location.href = '/?next'").unwrap();
            }
            State::Dialog { kind, place: Place::Loading } => {
                let path = format!("location.href = '/loading-{kind}'");
                supervisor.start_script(&self.page, &path).unwrap();
            }
            State::Dialog { kind, place } => {
                let frame = if matches!(place, Place::Main | Place::Bridge) { &self.page } else { &self.frame };
                supervisor.start_script(frame, &format!("{kind}('what now?')")).unwrap();
            }
            State::LoopInPage => self.run_loop(&self.page),
            State::LoopInFrame(_) => self.run_loop(&self.frame),
            State::Crash => {
                let _ = supervisor.call_raw(&self.page, "Page.crash", &json!({}), soon());
                self.until_page("the crash", |state| state == PageState::Crashed);
            }
            State::RendererStopped => self.signal_renderers(Signal::STOP),
            State::BrowserStopped => signal(self.world.browser.pid().unwrap(), Signal::STOP),
            State::SocketCut => {
                self.world.proxy.refuse(true);
                self.world.proxy.cut();
                until(supervisor, "the loss", |now| matches!(now.phase, Phase::Reconnecting(_)));
                self.world.proxy.refuse(false);
            }
            State::SocketSilent => self.world.proxy.silence(true),
        }
        if let State::Dialog { .. } = self.state {
            until(supervisor, "the dialog", |now| now.dialogs_of(self.target.as_str()).next().is_some());
        }
    }

    fn run_loop(&self, frame: &FrameRef) {
        let supervisor = &self.world.supervisor;
        let mark = format!("loop on {}", self.target);
        let script = format!("setTimeout(() => {{ console.log('{mark}'); while (true); }})");
        supervisor.start_script(frame, &script).unwrap();
        until(supervisor, "the loop", |now| now.console.iter().any(|entry| *entry.text == *mark));
    }

    fn until_page(&self, what: &str, accept: impl Fn(PageState) -> bool) {
        until(&self.world.supervisor, what, |now| {
            now.page(self.target.as_str()).is_some_and(|page| accept(page.state))
        });
    }

    /// Runs an operation. What came of it, and how long it took.
    fn run(&self, operation: &str) -> (String, Duration) {
        if self.state != State::LoopInEvaluate {
            return self.measured(operation);
        }
        let supervisor = &self.world.supervisor;
        let mark = format!("evaluate on {}", self.target);
        let script = format!("console.log('{mark}'); while (true);");
        std::thread::scope(|scope| {
            let other = scope.spawn(|| supervisor.evaluate(&self.page, &script, Deadline::after(2 * time())));
            until(supervisor, "the loop", |now| now.console.iter().any(|entry| *entry.text == *mark));
            let seen = self.measured(operation);
            let ended = other.join().unwrap().unwrap_err();
            assert!(
                matches!(ended, Error::ScriptTimeout { .. } | Error::Cdp(_) | Error::Unresponsive { .. }),
                "{operation}: {ended}"
            );
            seen
        })
    }

    fn measured(&self, operation: &str) -> (String, Duration) {
        let began = Instant::now();
        let outcome = self.operate(operation, Deadline::after(time()));
        let took = began.elapsed();
        let text = match outcome {
            Ok(true) => "ok, rescued".to_owned(),
            Ok(false) => "ok".to_owned(),
            Err(error) => reason(&error).unwrap_or_else(|| panic!("{:?}, {operation}: {error}", self.state)).to_owned(),
        };
        (text, took)
    }

    /// Whether it took a rescue.
    fn operate(&self, operation: &str, deadline: Deadline<'_>) -> Result<bool, Error> {
        let (supervisor, page) = (&self.world.supervisor, &self.page);
        let url = self.world.site.url("a", "/?elsewhere");
        Ok(match operation {
            "view" => {
                let now = supervisor.view();
                let known = now.page(self.target.as_str()).unwrap();
                assert!(!known.url.is_empty() && now.frames_of(self.target.as_str()).count() > 0, "{now:#?}");
                false
            }
            "evaluate" => supervisor.evaluate(page, "1 + 1", deadline)?.rescued,
            "evaluate in the frame" => supervisor.evaluate(&self.frame, "1 + 1", deadline)?.rescued,
            "raw command" => supervisor.call_raw(page, "DOM.getDocument", &json!({}), deadline)?.rescued,
            "screenshot" => supervisor.screenshot(page, deadline)?.rescued,
            "last screenshot" => {
                assert!(supervisor.last_picture(&self.target).is_some());
                false
            }
            "cookies" => supervisor.cookies(page, &[], deadline).map(|_| false)?,
            "history" => supervisor.history(page, deadline).map(|_| false)?,
            "target info" => supervisor.target_info(page, deadline).map(|_| false)?,
            "answer" => supervisor.respond(None, ACCEPT, deadline).map(|_| false)?,
            "navigate" => supervisor.navigate(page, &url, deadline)?.rescued,
            "reload" => supervisor.reload(page, deadline)?.rescued,
            "open a page" => {
                let opened = supervisor.open_page("about:blank", None, deadline)?;
                let _ = supervisor.close_page(&opened, soon());
                false
            }
            "close" => supervisor.close_page(&self.target, deadline).map(|()| false)?,
            other => panic!("{other}?"),
        })
    }

    /// Puts everything back, so that the next cell begins as this one did.
    fn end(self) {
        match self.state {
            State::RendererStopped => self.signal_renderers(Signal::CONT),
            State::BrowserStopped => signal(self.world.browser.pid().unwrap(), Signal::CONT),
            State::SocketSilent => {
                self.world.proxy.cut();
                self.world.proxy.silence(false);
            }
            _ => {}
        }
        let supervisor = &self.world.supervisor;
        until(supervisor, "a connection", View::is_active);
        for page in supervisor.view().pages.iter() {
            let _ = supervisor.close_page(&page.target_id, soon());
        }
    }

    fn signal_renderers(&self, what: Signal) {
        for renderer in renderers_of(self.world.browser.pid().unwrap()) {
            signal(renderer, what);
        }
    }
}

/// The typed reason in words; `None` for what should not come.
fn reason(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::BlockedByDialog { .. } => "blocked by dialog",
        Error::Cdp(cdp::Error::SessionGone { reason: GoneReason::Crashed, .. }) => "crashed",
        Error::Cdp(cdp::Error::SessionGone { .. }) => "session gone",
        Error::Cdp(cdp::Error::Timeout { .. }) | Error::Timeout { .. } | Error::NoDocument { .. } => "timeout",
        Error::Cdp(cdp::Error::Closed { .. }) => "connection lost",
        Error::Reconnecting { .. } => "reconnecting",
        Error::Unresponsive { .. } => "unresponsive",
        Error::PageBusy { .. } => "page busy",
        Error::Wedged { .. } => "lost dialog",
        Error::NoDialog => "no dialog",
        Error::FrameDetached { .. } => "frame detached",
        Error::FrameNotFound { .. } => "no such frame",
        _ => return None,
    })
}

/// The operations of a row: a share where no table is written, others in each row and in each run.
fn operations(row: usize) -> Vec<&'static str> {
    if publishing().is_some() || is_whole() {
        return OPERATIONS.to_vec();
    }
    let first = row * FEW + usize::try_from(seed() % OPERATIONS.len() as u64).unwrap();
    OPERATIONS.into_iter().cycle().skip(first).take(FEW).collect()
}

/// How many operations of a row are a share.
const FEW: usize = 1;

/// One row of the table.
fn row(world: &World, number: usize, state: State, seen: &mut String) -> Vec<String> {
    let mut problems = Vec::new();
    let _ = write!(seen, "| {} |", state.name());
    for operation in operations(number) {
        let scene = world.enter(state, operation == "last screenshot");
        let (outcome, took) = scene.run(operation);
        scene.end();
        let millis = took.as_secs_f64() * 1000.0;
        let _ = if millis < 10.0 {
            write!(seen, " {outcome}, {millis:.1} |")
        } else {
            write!(seen, " {outcome}, {millis:.0} |")
        };
        let limit = if publishing().is_some() { PROMISE } else { SLACK };
        if took > time() + limit {
            problems.push(format!("{state:?}, {operation}: {took:?}"));
        }
        if outcome.ends_with("rescued") && publishing().is_some() && took > Duration::from_secs(1) {
            problems.push(format!("{state:?}, {operation}: rescued after {took:?}"));
        }
    }
    seen.push('\n');
    problems
}

/// Where the rows go when the table is to be written.
fn publishing() -> Option<std::ffi::OsString> {
    std::env::var_os("CDPILOT_NEVER_BLOCK")
}

fn rows(part: &str, states: &[State]) {
    let (mut seen, mut problems, mut world) = (String::new(), Vec::new(), None::<World>);
    for (number, state) in states.iter().enumerate() {
        // The bridge is on or off for all pages.
        if world.as_ref().is_none_or(|world| world.bridged != state.bridged()) {
            drop(world.take());
            world = World::new(state.bridged());
        }
        let Some(world) = &world else { return };
        problems.extend(row(world, number, *state, &mut seen));
    }
    println!("{seen}");
    if let Some(folder) = publishing() {
        std::fs::write(Path::new(&folder).join(part), &seen).unwrap();
    }
    assert!(problems.is_empty(), "too late:\n{}", problems.join("\n"));
}

const fn dialog(kind: &'static str, place: Place) -> State {
    State::Dialog { kind, place }
}

/// The dialogs of a place. One of them when no table is written: every operation meets all of them in the main frame.
fn dialogs(place: Place) -> Vec<State> {
    let kinds = ["alert", "confirm", "prompt"];
    let kinds = if publishing().is_some() { &kinds[..] } else { &kinds[1..2] };
    kinds.iter().map(|kind| dialog(kind, place)).collect()
}

#[test]
fn under_a_dialog_of_the_page() {
    let in_page = ["alert", "confirm", "prompt", "beforeunload"].map(|kind| dialog(kind, Place::Main));
    rows("1", &[[State::Nothing].as_slice(), &in_page, &dialogs(Place::Loading)].concat());
}

#[test]
fn under_a_dialog_of_a_frame_or_of_the_bridge() {
    let others = [dialog("confirm", Place::SameProcess), dialog("confirm", Place::Bridge)];
    rows("2", &[dialogs(Place::OwnProcess).as_slice(), &others].concat());
}

#[test]
fn while_a_script_runs_without_end() {
    let frames = [State::LoopInFrame(Place::SameProcess), State::LoopInFrame(Place::OwnProcess)];
    rows("3", &[[State::LoopInPage, State::LoopInEvaluate].as_slice(), &frames].concat());
}

#[test]
fn when_processes_or_connections_fail() {
    use State::{BrowserStopped, Crash, RendererStopped, SocketCut, SocketSilent};
    rows("4", &[Crash, RendererStopped, BrowserStopped, SocketCut, SocketSilent]);
}

/// The process ids of a browser's renderers.
fn renderers_of(browser: u32) -> Vec<u32> {
    crate::support::renderers::of(browser)
}

fn signal(pid: u32, what: Signal) {
    crate::support::renderers::signal(pid, what);
}
