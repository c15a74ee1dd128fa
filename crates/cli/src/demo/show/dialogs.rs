//! The demo's dialogs: opened by the page, answered through the supervisor, verified by the value that the page received.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use super::{Options, Problem};
use cdpilot::code::Code;
use cdpilot::supervisor::{ClosedBy, DialogAnswer, DialogType, FrameRef, Supervisor};

/// Time limit for opening and closing a dialog.
const DIALOG_TIME: Duration = Duration::from_secs(10);

/// A dialog to open, and its answer.
pub(super) struct Plan {
    pub(super) kind: DialogType,
    pub(super) message: &'static str,
    pub(super) preset: &'static str,
    pub(super) accept: bool,
    pub(super) text: Option<&'static str>,
}

impl Plan {
    fn answer(&self) -> DialogAnswer {
        if self.accept { DialogAnswer::Accept(self.text.map(str::to_owned)) } else { DialogAnswer::Dismiss }
    }

    /// The value that the page must receive.
    fn due(&self) -> Value {
        let kind = self.kind.as_str();
        match self.kind {
            DialogType::Confirm => json!({ "kind": kind, "type": "boolean", "value": self.accept }),
            DialogType::Prompt if self.accept => json!({ "kind": kind, "type": "string", "value": self.text }),
            DialogType::Prompt => json!({ "kind": kind, "type": "object", "value": null }),
            // JSON has no `undefined`.
            _ => json!({ "kind": kind, "type": "undefined" }),
        }
    }

    /// The script that opens the dialog.
    pub(super) fn script(&self) -> String {
        format!(
            "demo.ask({})",
            [self.kind.as_str(), self.message, self.preset].map(|text| json!(text).to_string()).join(", ")
        )
    }
}

/// A dialog in the report.
#[derive(Debug, Serialize)]
pub(super) struct DialogRecord {
    id: String,
    /// `top` or `innermost`.
    frame: &'static str,
    frame_id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    message: &'static str,
    accepted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'static str>,
    /// The value that the page received; `null` also for `undefined`.
    page_got: Value,
    ms: f64,
}

/// Describes each dialog on one line.
pub(super) fn lines(shown: &[DialogRecord]) -> Vec<String> {
    let columns = |dialog: &DialogRecord| {
        let done = match (dialog.accepted, dialog.text) {
            (true, Some(text)) => format!("accepted with {text:?}"),
            (true, None) => "accepted".to_owned(),
            (false, _) => "dismissed".to_owned(),
        };
        let got = if dialog.kind == "alert" { "undefined".to_owned() } else { dialog.page_got.to_string() };
        (format!("{:<7} {:?}", dialog.kind, dialog.message), done, got)
    };
    let rows: Vec<_> = shown.iter().map(columns).collect();
    let width = |column: fn(&(String, String, String)) -> &String| {
        rows.iter().map(|row| column(row).chars().count()).max().unwrap_or(0)
    };
    let (first, second) = (width(|row| &row.0), width(|row| &row.1));
    rows.iter().map(|(call, done, got)| format!("{call:<first$}   {done:<second$}   page received {got}")).collect()
}

/// Opens a dialog in a frame, answers it, and checks the value that the page received.
pub(super) fn ask(
    supervisor: &Supervisor,
    (name, frame): (&'static str, &FrameRef),
    plan: &Plan,
    options: &Options<'_>,
) -> Result<DialogRecord, Problem> {
    let began = Instant::now();
    let deadline = options.deadline(DIALOG_TIME);
    supervisor.start_script(frame, &plan.script())?;
    let wrong = |what: String| {
        Problem::new(Code::BrowserError, format!("the {} in the {name} frame: {what}", plan.kind.as_str()))
    };
    let open = supervisor.wait_until(deadline, |now| !now.dialogs.is_empty()).ok_or_else(|| {
        Problem::new(Code::Timeout, format!("the {} in the {name} frame did not open", plan.kind.as_str()))
    })?;
    let dialog = &open.dialogs[0];
    if dialog.kind != plan.kind || &*dialog.message != plan.message {
        return Err(wrong(format!("another dialog opened instead: {} {:?}", dialog.kind.as_str(), dialog.message)));
    }
    let closed = supervisor.respond(Some(&dialog.id), plan.answer(), deadline)?;
    if closed.closed_by != ClosedBy::Agent || closed.accepted != plan.accept {
        return Err(wrong(format!("it was closed by {:?} (accepted: {})", closed.closed_by, closed.accepted)));
    }
    let got = supervisor.evaluate(frame, "demo.answers.at(-1)", deadline)?.result.value;
    if got != plan.due() {
        return Err(wrong(format!("the page received {got} instead of {}", plan.due())));
    }
    Ok(DialogRecord {
        id: dialog.id.to_string(),
        frame: name,
        frame_id: dialog.frame_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        kind: plan.kind.as_str(),
        message: plan.message,
        accepted: plan.accept,
        text: plan.text,
        page_got: got.get("value").cloned().unwrap_or_default(),
        ms: began.elapsed().as_micros() as f64 / 1000.0,
    })
}
