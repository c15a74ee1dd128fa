//! The web UI: a page, its scripts and its style sheet, none of which contains a secret. They are served as they are in
//! `ui/`; the page needs nothing from elsewhere.
//!
//! There is no build step. `api.js` sends requests and reads streams, `conversation.js` is the state of the open
//! conversation, `main.js` connects it with the views: `drawer` (list), `stage` (picture, live view, input),
//! `timeline`, `question`, `composer`, `plan`, `loop` (repeated prompts), `inspect` (snapshot, network, console),
//! `routines`, `recordings`, `compile` (a recording becomes a routine), `browser`, `settings`, `save-run` (a run as a file). A new file goes into the list below.
//!
//! - Texts become text nodes (`dom.js`); `innerHTML` is impossible by `require-trusted-types-for 'script'`, and nothing
//!   is loaded from elsewhere (`default-src 'self'`). Files below `/ui/` contain no secret and need no token; all other
//!   requests carry the secret of the page in a header.
//! - A browser has six connections to a host for all its tabs, so streams are few: one of the profile, one of the open
//!   conversation, one of the recording that is shown or of its compilation. The rest is read again at intervals. The live view asks for one frame of the screencast after the
//!   other (`GET /screencast`), so that frames never queue.
//! - A stored event is loaded as a short line; its fields are read when it is opened.

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, VARY, WWW_AUTHENTICATE, X_FRAME_OPTIONS,
};
use http::{Method, StatusCode};

use crate::http::{Answer, Head};

const PAGE: &str = include_str!("ui/index.html");
/// Allows only files of this server. Pictures are fetched with the page's secret, so they are `blob:` or `data:`.
const POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! assets {
    ($($name:literal $media:ident),+ $(,)?) => {
        /// The files below `/ui/`: name, media type and content.
        const ASSETS: &[(&str, &str, &str)] = &[$(($name, $media, include_str!(concat!("ui/", $name)))),+];
    };
}

assets! {
    "api.js" SCRIPT,
    "browser.js" SCRIPT,
    "compile-log.js" SCRIPT,
    "compile-review.js" SCRIPT,
    "compile.js" SCRIPT,
    "composer.js" SCRIPT,
    "conversation.js" SCRIPT,
    "dom.js" SCRIPT,
    "drawer.js" SCRIPT,
    "inspect.js" SCRIPT,
    "loop.js" SCRIPT,
    "main.js" SCRIPT,
    "plan.js" SCRIPT,
    "question.js" SCRIPT,
    "recording-events.js" SCRIPT,
    "recording-lines.js" SCRIPT,
    "recordings.js" SCRIPT,
    "routine-text.js" SCRIPT,
    "routines.js" SCRIPT,
    "kept.js" SCRIPT,
    "save-run.js" SCRIPT,
    "settings.js" SCRIPT,
    "stage.js" SCRIPT,
    "style.css" STYLE,
    "ticket.js" SCRIPT,
    "timeline.js" SCRIPT,
    "words.js" SCRIPT,
}

/// Whether a request is for the page: `GET /` that prefers HTML over JSON.
pub(super) fn is_wanted(head: &Head) -> bool {
    let accept = head.header("accept").unwrap_or_default().to_ascii_lowercase();
    let at = |kind: &str| accept.find(kind).unwrap_or(usize::MAX);
    is_root(head) && at("text/html") < at("application/json")
}

/// Whether a request is `GET /`.
pub(super) fn is_root(head: &Head) -> bool {
    matches!(head.method, Method::GET | Method::HEAD) && head.path == "/"
}

/// Whether a path is that of a file of the page.
pub(super) fn is_asset(head: &Head) -> bool {
    head.path.strip_prefix("/ui/").is_some_and(|name| ASSETS.iter().any(|(known, ..)| *known == name))
}

/// A file of the page.
pub(super) fn asset(name: &str) -> Option<Answer> {
    let (_, media, content) = ASSETS.iter().find(|(known, ..)| *known == name)?;
    Some(guarded(Answer::bytes(StatusCode::OK, media, content.as_bytes().to_vec())))
}

/// The page.
pub(super) fn page() -> Answer {
    guarded(Answer::html(PAGE)).with(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))
}

/// The page with status 401, for a browser without a valid ticket. It explains how to sign in; in a tab that has a
/// secret, it continues with that secret.
pub(super) fn signed_out() -> Answer {
    let page = page().with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    Answer { status: StatusCode::UNAUTHORIZED, ..page }
}

fn guarded(answer: Answer) -> Answer {
    let fixed = [
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("referrer-policy"), "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (X_FRAME_OPTIONS, "DENY"),
        (VARY, "Accept, Authorization"),
    ];
    fixed.into_iter().fold(answer, |answer, (name, value)| answer.with(name, HeaderValue::from_static(value)))
}
