//! The web UI: one static page, which contains no secret.

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, VARY, WWW_AUTHENTICATE, X_FRAME_OPTIONS,
};
use http::{Method, StatusCode};

use crate::http::{Answer, Head};

/// The page. `NONCE` is replaced by a random value in each answer.
const PAGE: &str = include_str!("ui.html");
/// Allows only the page's own script and style, and no other origins.
const POLICY: &str = "default-src 'none'; script-src 'nonce-NONCE'; style-src 'nonce-NONCE'; connect-src 'self'; \
                      img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

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

/// The page.
pub(super) fn page() -> Answer {
    with_status(StatusCode::OK)
}

/// The page with status 401, for a browser without a valid ticket. It explains how to sign in; in a tab that has a
/// secret, it continues with that secret.
pub(super) fn signed_out() -> Answer {
    with_status(StatusCode::UNAUTHORIZED).with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}

fn with_status(status: StatusCode) -> Answer {
    let mut bytes = [0; 16];
    let policy = getrandom::fill(&mut bytes).ok().and_then(|()| {
        let nonce = format!("{:032x}", u128::from_be_bytes(bytes));
        let policy = HeaderValue::try_from(POLICY.replace("NONCE", &nonce)).ok()?;
        Some((nonce, policy))
    });
    let Some((nonce, policy)) = policy else {
        return Answer::failure(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", "cannot generate random numbers");
    };
    let page = Answer::html(PAGE.replace("NONCE", &nonce));
    let fixed = [
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("referrer-policy"), "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (X_FRAME_OPTIONS, "DENY"),
        (VARY, "Accept, Authorization"),
    ];
    let page = fixed.into_iter().fold(page, |page, (name, value)| page.with(name, HeaderValue::from_static(value)));
    Answer { status, ..page.with(CONTENT_SECURITY_POLICY, policy) }
}
