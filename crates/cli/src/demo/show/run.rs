//! The demo's steps, in order.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::dialogs::{self, Plan};
use super::site::{Sites, hosts};
use super::steps::{StepOutput, Steps};
use super::{Options, Problem, Report, Title, processes, tree};
use crate::style::Style;
use cdpilot::browser::LaunchOptions;
use cdpilot::code::Code;
use cdpilot::supervisor::{DialogAnswer, DialogType, Frame, FrameRef, Supervisor, SupervisorOptions, View};

/// Number of steps.
pub(super) const STEPS: usize = 9;
/// Time limit of a step.
const STEP_TIME: Duration = Duration::from_secs(15);
/// Window size.
const WINDOW: (u32, u32) = (1120, 765);
/// A read of the view or a refusal must be quicker than this to count as immediate.
const AT_ONCE: Duration = Duration::from_secs(1);

const IN_TOP: [Plan; 3] = [
    Plan { kind: DialogType::Alert, message: "Order 1042 is saved.", preset: "", accept: true, text: None },
    Plan { kind: DialogType::Confirm, message: "Send it today?", preset: "", accept: true, text: None },
    Plan {
        kind: DialogType::Prompt,
        message: "Your name?",
        preset: "nobody",
        accept: true,
        text: Some("Ada Lovelace"),
    },
];
const IN_INNERMOST: [Plan; 3] = [
    Plan { kind: DialogType::Alert, message: "Card declined.", preset: "", accept: true, text: None },
    Plan { kind: DialogType::Confirm, message: "Pay twice?", preset: "", accept: false, text: None },
    Plan { kind: DialogType::Prompt, message: "Voucher?", preset: "", accept: true, text: Some("grüße-2024 ☂") },
];
const IN_THE_WAY: Plan =
    Plan { kind: DialogType::Confirm, message: "Leave now?", preset: "", accept: false, text: None };

/// Runs all steps. After a failure the remaining ones are skipped, except the cleanup.
pub(super) fn all(wish: &Options<'_>, steps: &mut Steps<'_>, report: &mut Report) {
    let Some(sites) = steps.run("sites", "Serve three local web sites", || serve(wish)) else { return };
    let mut options = LaunchOptions::default();
    options.executable = Some(wish.executable.clone());
    options.headless = wish.headless;
    options.window_size = Some(WINDOW);
    options.start_timeout = wish.timeout.unwrap_or(Duration::from_secs(30));
    let started = steps.run("browser", "Start a temporary browser", || start(&options));
    let Some((supervisor, process)) = started else { return };
    report.browser = Some(process.product.clone());
    let show = Demo { supervisor: &supervisor, sites: &sites, options: wish, style: steps.style() };
    show.steps(steps, report);
    steps.leave_out_all_but_the_last();
    steps.run("stop", "Stop the browser and check that nothing is left", || stop(supervisor, &process, wish));
}

fn serve(options: &Options<'_>) -> Result<(Sites, StepOutput), Problem> {
    let failed = |problem| Problem::new(Code::Internal, format!("cannot serve local pages: {problem}"));
    let sites = (options.serve)().map_err(failed)?;
    let output = StepOutput::of(hosts().map(|host| sites.url(host)).join("  "));
    Ok((sites, output))
}

/// The browser that must be gone in the end.
struct Process {
    product: String,
    id: u32,
    folder: PathBuf,
}

fn start(options: &LaunchOptions) -> Result<((Supervisor, Process), StepOutput), Problem> {
    let supervisor = Supervisor::launch(options, SupervisorOptions::task("demo"))?;
    let details = supervisor.with_browser(|browser| {
        let profile = browser.user_data_dir().map(Path::to_owned).unwrap_or_default();
        let process = Process {
            product: browser.version().product.clone(),
            id: browser.pid().unwrap_or_default(),
            // The profile is inside a temporary folder.
            folder: profile.parent().map(Path::to_owned).unwrap_or_default(),
        };
        let window =
            if browser.headless().is_some_and(|headless| headless.on) { "without a window" } else { "in a window" };
        let path = browser.executable().map(|path| path.display().to_string()).unwrap_or_default();
        (process, format!("{} {window}, {path}", browser.version().product))
    });
    let (process, line) = details.ok_or_else(|| Problem::new(Code::Internal, "the supervisor has no browser"))?;
    Ok(((supervisor, process), StepOutput::of(line)))
}

fn stop(supervisor: Supervisor, process: &Process, options: &Options<'_>) -> Result<((), StepOutput), Problem> {
    let before = processes::of(process.id, &process.folder);
    supervisor.stop(options.deadline(STEP_TIME));
    drop(supervisor);
    let after = processes::of(process.id, &process.folder);
    if let Some(left) = after.as_ref().filter(|left| !left.is_empty()) {
        let error = format!("{} processes of the browser are still running: {left:?}", left.len());
        return Err(Problem::new(Code::BrowserError, error));
    }
    if process.folder.exists() {
        let error = format!("the temporary profile {} was not removed", process.folder.display());
        return Err(Problem::new(Code::BrowserError, error));
    }
    let counted = match (before, after) {
        (Some(before), Some(_)) => format!("{} processes before, 0 left", before.len()),
        _ => "this system does not list processes".to_owned(),
    };
    Ok(((), StepOutput::of(format!("{counted}; the temporary profile is removed"))))
}

struct Demo<'a> {
    supervisor: &'a Supervisor,
    sites: &'a Sites,
    options: &'a Options<'a>,
    style: Style,
}

impl Demo<'_> {
    fn steps(&self, steps: &mut Steps<'_>, report: &mut Report) -> Option<()> {
        let frames = steps.run("frames", "Load a page with nested frames", || self.load())?;
        report.frame_tree = Some(frames.tree());
        let innermost = frames.innermost.clone();
        let title = "Answer dialogs in the top frame";
        report.dialogs = steps.run("dialogs_top", title, || self.dialogs(("top", &FrameRef::Top), &IN_TOP))?;
        let title = "Answer dialogs in the innermost frame, two processes away";
        let inner = steps.run("dialogs_innermost", title, || self.dialogs(("innermost", &innermost), &IN_INNERMOST))?;
        report.dialogs.extend(inner);
        let title = "Keep working while a dialog is open";
        steps.run("blocked", title, || self.blocked(&innermost))?;
        let title = "Read document.title in every frame";
        report.titles = steps.run("titles", title, || self.titles(&frames.snapshot))?;
        let title = "Take a screenshot";
        report.screenshot = steps.run("screenshot", title, || self.picture(self.options.screenshot.as_deref()));
        Some(())
    }

    fn load(&self) -> Result<(Frames, StepOutput), Problem> {
        let deadline = self.options.deadline(STEP_TIME);
        let (top, deep) = (self.sites.url("a.localhost"), self.sites.url("c.localhost"));
        self.supervisor.navigate(&FrameRef::Top, &top, deadline)?;
        let there = |now: &View| now.frames.len() >= 4 && now.frames.iter().any(|frame| *frame.url == *deep);
        let missing = || {
            let known: Vec<_> = self.supervisor.view().frames.iter().map(|frame| frame.url.to_string()).collect();
            Problem::new(Code::Timeout, format!("not all frames loaded in time; loaded: {}", known.join(", ")))
        };
        let snapshot = self.supervisor.wait_until(deadline, there).ok_or_else(missing)?;
        for frame in snapshot.frames.iter() {
            self.supervisor.evaluate(&reference(frame), LOADED, deadline)?;
        }
        let snapshot = self.supervisor.view();
        let innermost = snapshot.frames.iter().find(|frame| *frame.url == *deep).ok_or_else(missing)?;
        let frames = Frames { innermost: reference(innermost), snapshot: snapshot.clone() };
        let apart = snapshot.frames.iter().filter(|frame| frame.is_oopif).count();
        if apart != 2 {
            let error =
                format!("{apart} frames run in their own process instead of 2; check that site isolation is on");
            return Err(Problem::new(Code::BrowserError, error));
        }
        let detail = format!("{} frames, {apart} of them in their own process", snapshot.frames.len());
        let lines = tree::draw(&frames.tree(), self.style);
        Ok((frames, StepOutput::long(detail, lines)))
    }

    fn dialogs(
        &self,
        frame: (&'static str, &FrameRef),
        plans: &[Plan],
    ) -> Result<(Vec<dialogs::DialogRecord>, StepOutput), Problem> {
        let mut shown = Vec::new();
        for plan in plans {
            shown.push(dialogs::ask(self.supervisor, frame, plan, self.options)?);
        }
        let lines = dialogs::lines(&shown);
        let detail = format!("{} dialogs answered, and the page received the answers", shown.len());
        Ok((shown, StepOutput::long(detail, lines)))
    }

    /// Works on the page while a dialog of the top frame is open.
    fn blocked(&self, elsewhere: &FrameRef) -> Result<((), StepOutput), Problem> {
        let deadline = self.options.deadline(STEP_TIME);
        self.supervisor.start_script(&FrameRef::Top, &IN_THE_WAY.script())?;
        self.supervisor
            .wait_until(deadline, |now| !now.dialogs.is_empty())
            .ok_or_else(|| Problem::new(Code::Timeout, "the dialog did not open"))?;

        let began = Instant::now();
        let open = self.supervisor.view().dialogs.len();
        let read = began.elapsed();
        let began = Instant::now();
        let refused = self.supervisor.evaluate(&FrameRef::Top, "1 + 1", deadline).err();
        let refusal = began.elapsed();
        let other = self.supervisor.evaluate(elsewhere, "1 + 1", deadline)?;
        self.supervisor.respond(None, DialogAnswer::Dismiss, deadline)?;
        let after = self.supervisor.evaluate(&FrameRef::Top, "1 + 1", deadline)?;

        let refused = refused.filter(|error| error.is_blocked_by_dialog() && refusal < AT_ONCE);
        let refused = refused.ok_or_else(|| {
            Problem::new(Code::BrowserError, "a script for the blocked frame was not refused immediately")
        })?;
        if open != 1 || read > AT_ONCE {
            return Err(Problem::new(Code::BrowserError, format!("{open} open dialogs were listed instead of 1")));
        }
        let lines = vec![
            format!("page state               read in {}", millis(read)),
            format!("script in the top frame  refused in {}: {}", millis(refusal), refused),
            format!("script in another frame  1 + 1 = {other}; its process is not blocked"),
            format!("after dismissing it      1 + 1 = {after} in the top frame"),
        ];
        Ok((
            (),
            StepOutput::long("scripts in the blocked frame are refused immediately, other frames keep working", lines),
        ))
    }

    fn titles(&self, snapshot: &View) -> Result<(Vec<Title>, StepOutput), Problem> {
        let mut titles = Vec::new();
        for frame in snapshot.frames.iter() {
            let deadline = self.options.deadline(STEP_TIME);
            let title = self.supervisor.evaluate(&reference(frame), "document.title", deadline)?.to_string();
            let (frame_id, url) = (frame.frame_id.to_string(), frame.url.to_string());
            titles.push(Title { frame_id, url, is_oopif: frame.is_oopif, title });
        }
        let lines = titles.iter().map(|t| format!("{:<16} {}", format!("{:?}", t.title), t.url)).collect();
        let detail = titles.iter().map(|t| t.title.as_str()).collect::<Vec<_>>().join(", ");
        Ok((titles, StepOutput::long(detail, lines)))
    }

    fn picture(&self, wish: Option<&Path>) -> Result<(PathBuf, StepOutput), Problem> {
        let picture = self.supervisor.screenshot(&FrameRef::Top, self.options.deadline(STEP_TIME))?;
        let path = save(&picture, wish).map_err(|problem| {
            let path = wish.map(|path| format!(" to {}", path.display())).unwrap_or_default();
            let why = format!("cannot write the screenshot{path}: {problem}; choose another file with --screenshot");
            Problem::new(Code::Internal, why)
        })?;
        let output = StepOutput::of(format!("{} ({} KiB)", path.display(), picture.len() >> 10));
        Ok((path, output))
    }
}

/// Resolves when the frame's document has loaded.
const LOADED: &str = "document.readyState === 'complete' || \
    new Promise(done => addEventListener('load', () => done(true), { once: true }))";

struct Frames {
    innermost: FrameRef,
    snapshot: std::sync::Arc<View>,
}

impl Frames {
    fn tree(&self) -> cdpilot::supervisor::FrameTree {
        let page = self.snapshot.pages.last().map(|page| page.target_id.to_string());
        self.snapshot.frame_tree(&page.unwrap_or_default())
    }
}

fn reference(frame: &Frame) -> FrameRef {
    FrameRef::Id(frame.frame_id.clone())
}

fn millis(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1000.0)
}

fn save(picture: &[u8], wish: Option<&Path>) -> std::io::Result<PathBuf> {
    if let Some(path) = wish {
        std::fs::write(path, picture)?;
        return std::path::absolute(path);
    }
    let mut file = tempfile::Builder::new().prefix("cdpilot-demo-").suffix(".png").tempfile()?;
    std::io::Write::write_all(&mut file, picture)?;
    let (_, path) = file.keep()?;
    Ok(path)
}
