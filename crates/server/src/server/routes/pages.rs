//! Reading pages: snapshots, screenshots, text, console, requests, dialogs, frames.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::super::error::ApiError;
use super::{Call, MAX_TIMEOUT};
use crate::api::{
    BodyQuery, Console, ConsoleQuery, Dialogs, Errors, ErrorsQuery, FindQuery, FrameAnswer, FrameQuery, Frames,
    FramesQuery, GetQuery, HarAnswer, HarQuery, Highlight, KnownRefs, LabelledScreenshot, NoFields, OneRequest,
    PdfAnswer, RequestQuery, Requests, RequestsQuery, ScreenshotAnswer, SnapshotAnswer, SnapshotQuery, TabAnswer,
    TakeScreenshot, TextQuery,
};
use crate::control::FileKind;
use cdpilot::page::{
    ElementProperty, ElementValue, Error as PageError, Locator, Matches, PageText, PdfOptions, PictureType,
    RecordOptions, RefInfo, ResponseBody, ScreenshotOptions, Tab,
};
use cdpilot::supervisor::ConsoleLevel;

/// The colour of a highlight: red, green, blue.
const ORANGE: [u8; 3] = [255, 69, 0];
/// Characters read beyond the end of a text, so that a secret at the end is recognised.
const SECRET: usize = 4096;
/// Maximum size of a body, in bytes.
const BODY: usize = 1024 * 1024;
/// How long `GET /screencast` waits for a frame by default, in milliseconds, and at most.
const FRAME_WAIT_MS: u64 = 2000;
const MAX_FRAME_WAIT: Duration = Duration::from_secs(10);
/// How long `POST /get` waits for its element by default: the same as an action.
const ELEMENT_WAIT: Duration = Duration::from_secs(8);

pub(super) fn snapshot(call: &Call<'_>, query: SnapshotQuery) -> Result<SnapshotAnswer, ApiError> {
    let tab = call.tab_to_read()?.tab;
    let labels = query.labels;
    let seen = tab.snapshot(&query.options(), call.deadline)?;
    if !labels || seen.blocked_by_dialog || seen.loading {
        return Ok(SnapshotAnswer { seen, labelled: None });
    }
    let mut options = ScreenshotOptions::default();
    options.labels = true;
    let picture = match tab.screenshot(&options, call.deadline) {
        Ok(picture) => picture,
        // The dialog opened after the snapshot, which is still valid.
        Err(error) if error.is_blocked_by_dialog() => return Ok(SnapshotAnswer { seen, labelled: None }),
        Err(error) => return Err(error.into()),
    };
    let path = call.context.control.files().save(FileKind::Media, picture.kind.ending(), &picture.bytes)?;
    let annotations = picture.annotations.unwrap_or_default();
    Ok(SnapshotAnswer {
        seen,
        labelled: Some(LabelledScreenshot { path, width: picture.width, height: picture.height, annotations }),
    })
}

pub(super) fn screenshot(call: &Call<'_>, mut take: TakeScreenshot) -> Result<ScreenshotAnswer, ApiError> {
    let tab = call.tab_to_read()?.tab;
    take.reference = tab.ref_of(take.reference.take(), take.locator.take(), call.deadline)?;
    let inline = take.inline;
    let picture = tab.screenshot(&take.options(), call.deadline).map_err(|error| {
        let blocked = error.is_blocked_by_dialog();
        let failure = ApiError::from(error);
        if blocked { failure.with("lastScreenshot", &last_picture(call, &tab, inline)) } else { failure }
    })?;
    let (path, data) = if inline {
        (None, Some(STANDARD.encode(&picture.bytes)))
    } else {
        let files = call.context.control.files();
        (Some(files.save(FileKind::Media, picture.kind.ending(), &picture.bytes)?), None)
    };
    Ok(ScreenshotAnswer {
        path,
        data,
        kind: picture.kind,
        width: picture.width,
        height: picture.height,
        target_id: picture.target_id.to_string(),
        url: picture.url,
        scale: picture.scale,
        annotations: picture.annotations,
        labels: picture.labels,
        cut_at: picture.cut_at,
        notes: picture.notes,
    })
}

/// The next frame of the live picture.
pub(super) fn frame(call: &Call<'_>, query: FrameQuery) -> Result<FrameAnswer, ApiError> {
    let wait = Duration::from_millis(query.wait_ms.map_or(FRAME_WAIT_MS, u64::from));
    if wait > MAX_FRAME_WAIT {
        return Err(ApiError::bad("waitMs is at most 10000"));
    }
    let handle = call.tab_to_read()?;
    let frame = handle.tab.live_frame(query.after, call.deadline.within(wait))?;
    let (number, size) =
        (frame.as_ref().map(|frame| frame.number), frame.as_ref().map(|frame| (frame.width, frame.height)));
    Ok(FrameAnswer {
        frame: number,
        data: frame.map(|frame| frame.jpeg.to_string()),
        width: size.map(|(width, _)| width),
        height: size.map(|(_, height)| height),
        target_id: handle.info.target_id,
        url: handle.info.url,
    })
}

/// The last screenshot of a tab, inline or as a file; `null` if there is none.
fn last_picture(call: &Call<'_>, tab: &Tab, inline: bool) -> serde_json::Value {
    let Some(kept) = tab.supervisor().last_picture(tab.target()) else { return serde_json::Value::Null };
    let mut json = json!({ "takenAt": kept.taken_at, "url": kept.url, "type": PictureType::Png });
    if inline {
        json["data"] = STANDARD.encode(&kept.png).into();
    } else {
        match call.context.control.files().save(FileKind::Media, "png", &kept.png) {
            Ok(path) => json["path"] = json!(path),
            Err(_) => return serde_json::Value::Null,
        }
    }
    json
}

pub(super) fn pdf(call: &Call<'_>, options: PdfOptions) -> Result<PdfAnswer, ApiError> {
    let handle = call.tab_to_read()?;
    let bytes = handle.tab.pdf(&options, call.deadline)?;
    let path = call.context.control.files().save(FileKind::Media, "pdf", &bytes)?;
    Ok(PdfAnswer { path, bytes: bytes.len(), target_id: handle.info.target_id, url: handle.info.url })
}

pub(super) fn text(call: &Call<'_>, query: TextQuery) -> Result<PageText, ApiError> {
    let tab = call.tab_to_read()?.tab;
    // Reads more than is returned, so that a secret at the end is read completely.
    let (most, offset) = (query.max_chars.unwrap_or(PageText::CHARS), query.offset.unwrap_or(0));
    // 0: no limit, as for snapshots.
    let read = if most == 0 { 0 } else { most.saturating_add(offset).saturating_add(SECRET) };
    let frame = query.frame.as_deref();
    let mut page = match (query.main, query.selector.as_deref()) {
        (true, Some(_)) => return Err(ApiError::bad("main and selector were both sent; send one")),
        (true, None) => tab.main_text(frame, Some(read), call.deadline)?,
        (false, selector) => tab.text_in(frame, selector, Some(read), call.deadline)?,
    };
    if !query.raw {
        page.text = call.context.secrets.cover(&page.text).into_owned();
    }
    if offset > 0 && !page.loading && page.text.chars().nth(offset).is_none() {
        let all = page.text.chars().count();
        return Err(ApiError::bad(format!("offset: {offset} is beyond the end of the text ({all} characters)")));
    }
    if offset > 0 {
        page.text = page.text.chars().skip(offset).collect();
    }
    if most > 0
        && let Some((end, _)) = page.text.char_indices().nth(most)
    {
        page.text.truncate(end);
        page.truncated = true;
    }
    Ok(page)
}

pub(super) fn find(call: &Call<'_>, query: FindQuery) -> Result<Matches, ApiError> {
    let tab = call.tab_to_read()?.tab;
    Ok(tab.find(&query.locator, query.frame.as_deref(), query.limit, call.deadline)?)
}

pub(super) fn get(call: &Call<'_>, query: GetQuery) -> Result<ElementValue, ApiError> {
    let GetQuery { what, name, reference, selector, locator, nth, frame_id, raw, absent } = query;
    let at = Locator { reference, selector, locator, nth, frame_id };
    let tab = call.tab_to_read()?.tab;
    let mut got = if absent {
        if what != ElementProperty::State {
            return Err(PageError::BadRequest { problem: "absent requires what: state".to_owned() }.into());
        }
        tab.state_now(&at, call.deadline)?
    } else {
        tab.get(what, name.as_deref(), &at, call.deadline.renewed(call.within(ELEMENT_WAIT, MAX_TIMEOUT)))?
    };
    if !raw {
        let secrets = &call.context.secrets;
        got.value = secrets.cover_json(got.value);
        if let Some(element) = &mut got.element {
            element.name = secrets.cover(&element.name).into_owned();
        }
    }
    Ok(got)
}

pub(super) fn console(call: &Call<'_>, query: ConsoleQuery) -> Result<Console, ApiError> {
    let level = query.level.map(ConsoleLevel::from);
    Ok(Console { messages: call.tab_to_read()?.tab.console(level, query.limit, query.clear) })
}

pub(super) fn errors(call: &Call<'_>, query: ErrorsQuery) -> Result<Errors, ApiError> {
    Ok(Errors { errors: call.tab_to_read()?.tab.errors(query.limit, query.clear) })
}

pub(super) fn requests(call: &Call<'_>, query: RequestsQuery) -> Result<Requests, ApiError> {
    let redact = (query.headers && !query.raw).then(|| call.context.secrets.clone());
    let mut options = RecordOptions::default();
    options.headers = query.headers;
    options.redact = redact;
    let mut requests = call.tab_to_read()?.tab.request_records(query.filter.as_deref(), query.clear, &options);
    let skip = query.limit.map_or(0, |limit| requests.len().saturating_sub(limit));
    requests.drain(..skip);
    Ok(Requests { requests })
}

pub(super) fn request(call: &Call<'_>, query: RequestQuery) -> Result<OneRequest, ApiError> {
    let max_bytes = Some(query.max_bytes.unwrap_or(BODY).min(BODY));
    let redact = (!query.raw).then(|| call.context.secrets.clone());
    let mut options = RecordOptions::default();
    (options.headers, options.body) = (true, query.body);
    (options.max_bytes, options.redact) = (max_bytes, redact);
    Ok(OneRequest { request: call.tab_to_read()?.tab.request_record(call.path_param(0), &options, call.deadline)? })
}

pub(super) fn har(call: &Call<'_>, query: HarQuery) -> Result<HarAnswer, ApiError> {
    let redact = (!query.raw).then(|| call.context.secrets.clone());
    let made = call.tab_to_read()?.tab.har(query.bodies, redact, call.deadline)?;
    Ok(HarAnswer { har: made.archive, entries: made.entries, bodies_left_out: made.bodies_left_out })
}

pub(super) fn body(call: &Call<'_>, query: BodyQuery) -> Result<ResponseBody, ApiError> {
    let most = query.max_bytes.unwrap_or(BODY).min(BODY);
    Ok(call.tab_to_read()?.tab.response_body(call.path_param(0), Some(most), call.deadline)?)
}

pub(super) fn dialogs(call: &Call<'_>, _: NoFields) -> Result<Dialogs, ApiError> {
    let (pending_dialogs, recent_dialogs) = call.profile()?.dialogs(call.target.as_deref())?;
    let armed_answers = call.profile()?.armed_dialogs(call.target.as_deref())?;
    Ok(Dialogs { pending_dialogs, recent_dialogs, armed_answers })
}

pub(super) fn frames(call: &Call<'_>, query: FramesQuery) -> Result<Frames, ApiError> {
    let tab = call.tab_to_read()?.tab;
    let now = tab.supervisor().view();
    let target_id = tab.target().to_string();
    let frame_tree = if query.full { now.full_frame_tree(&target_id) } else { now.frame_tree(&target_id) };
    Ok(Frames { frame_tree, target_id })
}

pub(super) fn refs(call: &Call<'_>, _: NoFields) -> Result<KnownRefs, ApiError> {
    let tab = call.tab_to_read()?.tab;
    let covered = |(reference, mut info): (String, RefInfo)| {
        info.name = call.context.secrets.cover(&info.name).into_owned();
        (reference, info)
    };
    let refs = tab.last_refs().into_iter().map(covered).collect();
    Ok(KnownRefs { refs, target_id: tab.target().to_string() })
}

pub(super) fn highlight(call: &Call<'_>, options: Highlight) -> Result<TabAnswer, ApiError> {
    let tab = call.tab()?.tab;
    match tab.ref_of(options.reference, options.locator, call.deadline)? {
        Some(reference) => tab.highlight(&reference, ORANGE, call.deadline)?,
        None => tab.clear_highlight(call.deadline)?,
    }
    Ok(TabAnswer { target_id: tab.target().to_string() })
}
