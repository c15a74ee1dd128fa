//! Begins and ends of steps that the program does, and the end of the run.

use serde_json::{Value, json};

use super::super::report::{RunResult, StepHow, StepStatus};
use super::super::{RoutineRun, TOOL, ends};
use super::{Fast, NO_MODEL, cause};
use crate::agent::events::{AGENT_EVENT, AgentEvent, COMPLETE, Source, complete};
use crate::agent::turn::{Draft, End, Picture, Turn};
use crate::agent::{Error, WRITE};
use crate::store::{ConversationState, RunStatus};
use cdpilot::fields::{self, Style};
use cdpilot::page::{PictureType, ScreenshotOptions};
use cdpilot::sync::Deadline;
use std::time::Duration;

/// Time limit for the picture of a page, and for its text.
const PICTURE: Duration = Duration::from_secs(3);
/// Longest text of the last page in a result, in characters.
const MOST_TEXT: usize = 4_000;

impl Turn<'_> {
    /// Begins a step.
    pub(super) fn begin_fast(&mut self, n: u32) -> Result<Fast, Error> {
        let Some(run) = &mut self.routine else { return Ok(Fast::Model) };
        run.pin(n);
        run.set_changed();
        let title = run.step(n).map(|step| step.title.clone()).unwrap_or_default();
        self.tell_step(&json!({ "success": true, "step": n, "title": title }))
    }

    /// Ends a step, all of whose actions were done.
    pub(super) fn end_fast(&mut self, n: u32) -> Result<Fast, Error> {
        self.keep_picture();
        self.end_step(n, None)
    }

    /// Leaves a step out: what it is for is not shown.
    pub(super) fn leave_out_fast(&mut self, n: u32) -> Result<Fast, Error> {
        if let Some(fast) = self.routine.as_mut().and_then(|run| run.report.fast.as_mut()) {
            fast.leave_out(n);
        }
        self.end_step(n, Some(StepStatus::Skipped))
    }

    fn end_step(&mut self, n: u32, status: Option<StepStatus>) -> Result<Fast, Error> {
        let Some(run) = &mut self.routine else { return Ok(Fast::Model) };
        run.count_time();
        let Some(fast) = &mut run.report.fast else { return Ok(Fast::Model) };
        let status = status.unwrap_or_else(|| fast.status_of(n));
        let back = fast.take_back();
        let title = run.step(n).map(|step| step.title.clone()).unwrap_or_default();
        if let Some(state) = run.report.state(n) {
            state.step.status = status;
            state.step.how = Some(if state.has_help { StepHow::Person } else { StepHow::Fast });
            (state.step.cause, state.failed) = (None, None);
        }
        run.unpin();
        if let Some(back) = back {
            run.pin(back);
            if let Some(state) = run.report.state(back) {
                state.failed = None;
            }
        }
        let body = json!({ "success": true, "step": n, "title": title, "status": status, "how": "fast" });
        self.tell_step(&body)
    }

    /// Reports a step as the tool of the model does.
    pub(super) fn tell_step(&mut self, body: &Value) -> Result<Fast, Error> {
        let mut draft = Draft::default();
        let event = AgentEvent::observation(TOOL, "", body).with("by", "program");
        draft.event(AGENT_EVENT, event.into_value());
        self.commit(draft)?;
        Ok(Fast::Next)
    }

    /// Keeps a picture of the page for the report.
    pub(super) fn keep_picture(&mut self) -> Option<(&'static str, Vec<u8>)> {
        let handle = self.pages().tab_to_read(None).ok()?;
        let shot = handle.tab.screenshot(&ScreenshotOptions::for_model(), Deadline::after(PICTURE)).ok()?;
        let media_type = if shot.kind == PictureType::Png { "image/png" } else { "image/jpeg" };
        if let Some(run) = &mut self.routine {
            run.pictured(media_type, &shot.bytes);
        }
        Some((media_type, shot.bytes))
    }

    /// What a model gets to see of a step that it is given: the recorded page, and the page now.
    pub(super) fn pictures_of(&mut self, event: Option<u64>, draft: &mut Draft) -> Vec<Picture> {
        let now = self.keep_picture();
        if !self.sees {
            return Vec::new();
        }
        let recording = self.routine.as_ref().and_then(|run| Some(run.report.fast.as_ref()?.recording.clone()));
        let recorded = event.zip(recording).and_then(|(event, recording)| {
            self.inner.store.recording_picture(&recording, event, false, Deadline::after(WRITE)).ok().flatten()
        });
        let recorded = recorded.map(|image| {
            let media_type = if image.media_type == "image/png" { "image/png" } else { "image/jpeg" };
            ("the page when this was recorded, with the element in a yellow box", media_type, image.bytes)
        });
        let now = now.map(|(media_type, bytes)| ("the page now", media_type, bytes));
        let pictures = recorded.into_iter().chain(now).map(|(caption, media_type, bytes)| {
            let path = draft.image(media_type, bytes.clone());
            Picture { caption: caption.to_owned(), media_type: media_type.to_owned(), bytes, path }
        });
        pictures.collect()
    }

    /// Ends a run whose steps have ended. A result with a schema, and the result of a run in which a model took part, is that of the
    /// model.
    pub(super) fn finish_fast(&mut self) -> Result<Fast, Error> {
        let Some(run) = &mut self.routine else { return Ok(Fast::Model) };
        let only = run.report.fast.as_ref().is_some_and(|fast| fast.only);
        let data = run.data_of_values();
        let has_schema = data.is_none() && run.routine.result.as_ref().is_some_and(|result| result.schema.is_some());
        if has_schema && only {
            let found = "its data are not among the values that steps have read, so a model gives them";
            let why = cause(NO_MODEL, "the result of the routine", found);
            let problem = format!("the steps are done; sought: {}; found: {}", why.sought, why.found);
            return Ok(Fast::End(End::Routine(super::Ending { code: ends::known_code(NO_MODEL), problem })));
        }
        if has_schema || (!only && run.report.model_requests > 0) {
            return Ok(Fast::Model);
        }
        let pages = self.pages();
        let text = self.result_text();
        let text = self.offer.cover(&text);
        let Some(run) = &mut self.routine else { return Ok(Fast::Model) };
        let final_url = pages.tab_to_read(None).map(|handle| ends::address_of(&handle.info.url)).unwrap_or_default();
        let downloads = run.downloads(&pages);
        run.report.result = Some(RunResult { text: text.clone(), data, downloads, final_url });
        run.end(RunStatus::Done, None);
        let mut draft = Draft::default();
        draft.event(AGENT_EVENT, AgentEvent::message(Source::Agent, text).with("by", "program").into_value());
        draft.event(COMPLETE, complete(&self.live.id, true, false));
        draft.change(|batch| batch.state(ConversationState::Idle).unfinished(false));
        self.commit(draft)?;
        Ok(Fast::End(End::Finished))
    }

    /// What a run without a model returns: its result, if that is made of values that steps have read; else what was done, and the
    /// text of the last page.
    fn result_text(&self) -> String {
        let Some(run) = &self.routine else { return String::new() };
        if let Some(text) = run.text_of_values() {
            return text;
        }
        let count = |status| run.report.steps.iter().filter(|state| state.step.status == status).count();
        let (skipped, all) = (count(StepStatus::Skipped), run.report.steps.len());
        let mut text = match skipped {
            0 if all == 1 => "The step was done without a model.".to_owned(),
            0 => format!("All {all} steps were done without a model."),
            _ => format!("{} of {all} steps were done without a model; {skipped} did not apply.", all - skipped),
        };
        let Ok(handle) = self.pages().tab_to_read(None) else { return text };
        if let Ok(found) = handle.tab.text(None, Some(MOST_TEXT), Deadline::after(PICTURE)) {
            text.push_str(&format!("\n\nThe last page, {:?}:\n{}", handle.info.title, found.text.trim()));
        }
        text
    }
}

impl RoutineRun {
    /// The text of the result, if it names values that steps have read, and nothing else is to be found out.
    fn text_of_values(&self) -> Option<String> {
        let written = &self.routine.result.as_ref()?.text;
        let text = self.with_values(written);
        (text != *written && !text.contains("{{")).then_some(text)
    }

    /// The data of the result, if each of its fields has the name of a value that a step has read.
    fn data_of_values(&self) -> Option<Value> {
        let schema = self.routine.result.as_ref()?.schema.as_ref()?;
        let mut data = serde_json::Map::new();
        for (name, kind) in schema["properties"].as_object()? {
            let mut own =
                self.report.values.iter().filter(|(key, _)| key.split_once('.').is_some_and(|(_, end)| end == name));
            let (Some((_, value)), None) = (own.next(), own.next()) else { return None };
            let value = match kind["type"].as_str()? {
                "string" => Value::from(value.as_str()),
                "integer" => Value::from(value.parse::<i64>().ok()?),
                "number" => Value::from(value.parse::<f64>().ok()?),
                _ => return None,
            };
            data.insert(name.clone(), value);
        }
        fields::fit(Value::Object(data), schema, Style::Exact).ok()
    }
}
