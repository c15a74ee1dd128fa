//! Printing routines, versions and reports.

use serde_json::Value;

use super::super::output::{Out, clean, one_line};

fn text(value: &Value, name: &str) -> String {
    clean(value[name].as_str().unwrap_or_default()).into_owned()
}

fn all<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value[name].as_array().into_iter().flatten()
}

pub(super) fn list(answer: &Value, out: &Out) {
    out.object(answer);
    let width = all(answer, "routines").map(|one| text(one, "name").chars().count()).max().unwrap_or_default();
    for one in all(answer, "routines") {
        let (name, trust) = (text(one, "name"), text(one, "trust"));
        let steps = one["step_count"].as_u64().unwrap_or_default();
        let proposed = if one["proposed"].is_object() { ", a new version is proposed" } else { "" };
        out.line(&format!("{name:width$}  {steps} steps, {trust}{proposed}  {}", one_line(&text(one, "goal"))));
    }
    if answer["count"] == 0 {
        out.aside("no routines; `cdpilot routine edit NAME` writes one");
    }
}

pub(super) fn routine(answer: &Value, out: &Out) {
    out.object(answer);
    let routine = &answer["routine"];
    out.text(routine["routine_markdown"].as_str().unwrap_or_default());
    let version = routine["version"].as_u64().unwrap_or_default();
    out.aside(&format!("version {version}, {}, id {}", text(routine, "trust"), text(routine, "routine_id")));
    for (index, one) in all(routine, "allowed").enumerate() {
        let (role, name, origin) = (text(one, "role"), one_line(&text(one, "name")), text(one, "origin"));
        let valid = if one["valid"] == true { "" } else { " (no longer valid)" };
        let (effect, step) = (text(one, "effect"), one["step"].as_u64().unwrap_or_default());
        out.aside(&format!("allowed {index}: step {step}, {effect} with the {role} {name:?} at {origin}{valid}"));
    }
    if let Some(version) = routine["proposed"]["version"].as_u64() {
        out.aside(&format!(
            "version {version} is proposed: `cdpilot routine show NAME --version {version} --against …`, approve or reject"
        ));
    }
}

pub(super) fn recorded(answer: &Value, out: &Out) {
    out.object(answer);
    let id = text(answer, "recording_id");
    let count = answer["recording"]["event_count"].as_u64().unwrap_or_default();
    out.line(&format!("recording {id}: {count} events"));
    out.aside(&format!(
        "`cdpilot routine compile {id}` makes a routine of it; `cdpilot record show {id} --draft` shows its steps"
    ));
}

pub(super) fn exported(answer: &Value, out: &Out) {
    out.object(answer);
    out.text(answer["content"].as_str().unwrap_or_default());
    for part in all(answer, "omitted") {
        let (step, title, why) = (part["step"].as_u64().unwrap_or_default(), text(part, "title"), text(part, "why"));
        out.aside(&format!("not exported: step {step}, {}: {}", one_line(&title), one_line(&why)));
    }
}

pub(super) fn version(answer: &Value, out: &Out) {
    out.object(answer);
    match answer["difference"].as_str() {
        Some("") => out.line("the versions are equal"),
        Some(difference) => out.text(difference),
        None => out.text(answer["version"]["routine_markdown"].as_str().unwrap_or_default()),
    }
}

pub(super) fn history(answer: &Value, out: &Out) {
    out.object(answer);
    for one in all(answer, "versions") {
        let by = match one["run_id"].as_str() {
            Some(run) => format!("by run {}", clean(run)),
            None => "by a person".to_owned(),
        };
        let version = one["version"].as_u64().unwrap_or_default();
        out.line(&format!("{version:>3}  {:<8}  {}  {by}", text(one, "state"), when(&one["created_at"])));
    }
}

pub(super) fn runs(answer: &Value, out: &Out) {
    out.object(answer);
    for one in all(answer, "runs") {
        let counts = &one["counts"];
        let count = |name: &str| counts[name].as_u64().unwrap_or_default();
        let total = count("done") + count("skipped") + count("failed") + count("pending");
        let code = one["code"].as_str().map(|code| format!(" {}", clean(code))).unwrap_or_default();
        out.line(&format!(
            "{}  {}  {}{code}  {} of {total} steps, {} requests to the model",
            text(one, "run_id"),
            when(&one["started_at"]),
            text(one, "status"),
            count("done"),
            one["model_requests"].as_u64().unwrap_or_default(),
        ));
    }
    if answer["count"] == 0 {
        out.aside("no runs yet");
    }
}

pub(super) fn run(name: &str, report: &Value, out: &Out) {
    out.object(report);
    let code = report["code"].as_str().map(|code| format!(" {}", clean(code))).unwrap_or_default();
    out.line(&format!("{}{code}, version {}", text(report, "status"), report["version"].as_u64().unwrap_or_default()));
    for step in all(report, "steps") {
        out.line(&step_line(step));
    }
    result(report, out);
    verification(report, out);
    proposal(name, report, out);
}

/// The version that a run proposes, and how to decide about it.
pub(super) fn proposal(name: &str, report: &Value, out: &Out) {
    let Some(version) = report["proposed_version"].as_u64() else { return };
    let before = report["version"].as_u64().unwrap_or_default();
    let name = clean(name);
    out.line(&format!("version {version} is proposed: it uses what the model has found"));
    out.aside(&format!(
        "`cdpilot routine show {name} --version {version} --against {before}` shows what differs; `cdpilot routine approve {name}` \
         accepts it, `reject` does not"
    ));
}

/// What the comparison with the recording has shown.
pub(super) fn verification(report: &Value, out: &Out) {
    let verification = &report["verification"];
    match (verification["verified"].as_bool(), verification["up_to"].as_u64()) {
        (Some(true), None) => out.line("verified: every step did what was recorded"),
        (Some(true), Some(n)) => {
            out.line(&format!("verified up to step {n}; the action after it cannot be undone, so it was not done"));
        }
        (Some(false), _) => out.line("not verified"),
        (None, _) => {}
    }
    for problem in all(verification, "problems") {
        let place = match problem["n"].as_u64() {
            Some(n) if n > 0 => format!("step {n}"),
            _ => "end".to_owned(),
        };
        let part = |name: &str| one_line(&text(problem, name));
        out.line(&format!("{place}: recorded {}; found {}", part("sought"), part("found")));
    }
}

/// A step in one line.
pub(super) fn step_line(step: &Value) -> String {
    let items = match (step["items"]["done"].as_u64(), step["items"]["total"].as_u64()) {
        (Some(done), Some(total)) => format!(", {done} of {total} items"),
        _ => String::new(),
    };
    let requests = step["model_requests"].as_u64().unwrap_or_default();
    let seconds = step["seconds"].as_f64().unwrap_or_default();
    let cause =
        step["cause"]["found"].as_str().map(|found| format!(" - {}", one_line(&clean(found)))).unwrap_or_default();
    let cause = if step["status"] == "failed" { cause } else { String::new() };
    let n = step["n"].as_u64().unwrap_or_default();
    format!(
        "step {n}  {:<8}  {} ({seconds:.0} s, {requests} requests{items}){cause}",
        text(step, "status"),
        one_line(&text(step, "title")),
    )
}

/// What a run returned.
pub(super) fn result(report: &Value, out: &Out) {
    let result = &report["result"];
    if result.is_null() {
        return;
    }
    out.line("");
    out.line(&text(result, "text"));
    for name in all(result, "downloads").filter_map(Value::as_str) {
        out.line(&format!("downloaded: {}", one_line(&clean(name))));
    }
}

/// A time in words.
fn when(seconds: &Value) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64());
    let ago = (now - seconds.as_f64().unwrap_or_default()).max(0.0);
    match ago {
        ago if ago < 90.0 => "just now".to_owned(),
        ago if ago < 5_400.0 => format!("{:.0} min ago", ago / 60.0),
        ago if ago < 129_600.0 => format!("{:.0} h ago", ago / 3_600.0),
        ago => format!("{:.0} days ago", ago / 86_400.0),
    }
}
