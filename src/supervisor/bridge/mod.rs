//! Dialog bridge: dialogs by synchronous request, for endpoints that answer native dialogs themselves.
//!
//! Some remote browsers dismiss each native dialog within milliseconds, before a client can answer. The bridge replaces
//! `alert`, `confirm` and `prompt` in every document by functions that send a synchronous request to a host that does
//! not exist. The request is intercepted by the `Fetch` domain and stays paused until the dialog is answered; the page
//! receives the answer as response.
//!
//! A [`Bridge`] is the pure part: it provides the script, reads calls and writes answers. The supervisor does four
//! things on the session of each page and each cross-process frame, before the document's own scripts run
//! (`waitForDebuggerOnStart`):
//!
//! 1. `Fetch.enable` with the single pattern [`Bridge::pattern`], stage `Request`;
//! 2. `Page.addScriptToEvaluateOnNewDocument` with [`Bridge::source`], `runImmediately: true`;
//! 3. at `Fetch.requestPaused`, [`Bridge::read`] with URL, method and body of the request. A [`Call`] is a dialog; with
//!    [`RefusedCall::Foreign`] the request is not for the bridge; with any other error it is forged and is failed with
//!    `Fetch.failRequest`;
//! 4. `Fetch.fulfillRequest` with [`Bridge::answer`].
//!
//! `Page.setBypassCSP` keeps a page's content policy from blocking the request; it also disables the policy's
//! `sandbox`. While a call is paused, the page's renderer is blocked, as under a native dialog; the call must be
//! answered before the page is navigated, since Chromium waits for it. Closing the page needs no answer, and when the
//! interception ends, the native dialog opens. `Fetch.requestPaused` contains the frame of the call; for an empty
//! document that was never loaded, it contains the frame that created it. Service workers need no handling: Chromium
//! does not pass synchronous requests to them.
//!
//! # Protection against pages
//! The host is unguessable (128 random bits) until a first call reveals it to the page in Resource Timing. From then on
//! the page may send requests there. They are refused: each call carries an authentication code over its content,
//! computed with a key that exists only in the script's closure, and a number that must increase within its document,
//! so that calls can be neither forged, nor changed, nor replayed. Each answer carries a code over itself and the
//! call's nonce, so that an intermediary can only drop it. A call without a valid answer falls back to the native
//! function.
//!
//! A page can detect that the functions were replaced: their source text has no name (`function () { [native code] }`),
//! errors thrown by arguments have an additional stack frame, and messages of conversion errors lack their prefix. It
//! can access neither the script nor the native functions.
//!
//! The code is SipHash-2-4 with a 128-bit key and a 128-bit result. It was designed for authenticating short messages,
//! at a cost of about one cycle per byte. It is a pseudo-random function without known weaknesses at full rounds; an
//! attacker can only try by sending requests, which are counted and refused; and the key lives no longer than one
//! supervisor. Nothing is encrypted: the message comes from the page, and the answer is for the page.
//!
//! # Fallback to the native function
//! - When the request fails: `Permissions-Policy: sync-xhr=()`, a content policy that is not bypassed, no interception.
//! - In sandboxed documents, since they may lack `allow-modals`: the browser then ignores dialogs, which the script can
//!   only detect by opening one. A sandboxed frame with `allow-modals` opens native dialogs.
//! - While a page is being left (`beforeunload`, `pagehide`, `unload`), when the browser rejects synchronous requests
//!   and ignores dialogs alike; and while a document is prerendered.

mod mac;
mod script;
mod seen;
mod wire;

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;

use self::mac::Key;
use self::seen::Seen;

/// Maximum length of a message or default text, in UTF-16 units; the script truncates longer ones.
pub const TEXT_LIMIT: usize = wire::TEXT_LIMIT;

/// The system provided no random bytes.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot get random bytes for the dialog bridge: {problem}")]
#[non_exhaustive]
pub struct NoRandomness {
    /// The system's error message.
    pub problem: String,
}

/// A bridge: host, key, and the calls received so far. Keep it as long as the pages: a document works only with the
/// bridge that it was loaded with.
pub struct Bridge {
    url: String,
    key: Key,
    source: Arc<str>,
    seen: Seen,
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge").finish_non_exhaustive()
    }
}

impl Bridge {
    /// Creates a bridge with a new host and key.
    ///
    /// # Errors
    /// [`NoRandomness`].
    pub fn new() -> Result<Self, NoRandomness> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|e| NoRandomness { problem: e.to_string() })?;
        let (mut host, mut key) = ([0; 16], [0; 16]);
        host.copy_from_slice(&random[..16]);
        key.copy_from_slice(&random[16..]);
        Ok(Self::with(host, key))
    }

    fn with(host: [u8; 16], key: [u8; 16]) -> Self {
        // `.invalid` never resolves: https://www.rfc-editor.org/rfc/rfc6761#section-6.4
        let url = format!("https://{}.invalid/", wire::hex(&host));
        let key = Key::new(key);
        let source = script::source(&url, key).into();
        Self { url, key, source, seen: Seen::default() }
    }

    /// The script for `Page.addScriptToEvaluateOnNewDocument`. It contains the key and must never be shown.
    ///
    /// Running it again in the same document has no effect. In a document whose own scripts have already run, functions
    /// that the page has replaced are not changed.
    #[must_use]
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// The `urlPattern` for `Fetch.enable`: one URL without wildcards.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.url
    }

    /// Reads a paused request: its URL, its method, and its body (`postData`, or the joined and decoded
    /// `postDataEntries`).
    ///
    /// # Errors
    /// [`RefusedCall`]. Only [`RefusedCall::Foreign`] means that the request is unrelated to the bridge.
    pub fn read(&mut self, url: &str, method: &str, body: Option<&[u8]>) -> Result<Call, RefusedCall> {
        if url != self.url {
            return Err(RefusedCall::Foreign);
        }
        if method != "POST" {
            return Err(RefusedCall::Method);
        }
        let call = wire::read_call(self.key, body.ok_or(RefusedCall::BadCode)?)?;
        if self.seen.take(call.nonce) { Ok(call) } else { Err(RefusedCall::Repeated) }
    }

    /// The answer to a call. `text` is used for an accepted prompt only; without one it is empty.
    #[must_use]
    pub fn answer(&self, call: &Call, accepted: bool, text: Option<&str>) -> Fulfil {
        let text = text.filter(|_| accepted && call.kind == CallKind::Prompt).unwrap_or_default();
        let verdict = if accepted { wire::ACCEPTED } else { wire::DISMISSED };
        Fulfil { body: wire::write_answer(self.key, call.nonce, verdict, text) }
    }

    /// The answer that makes the page call the native function.
    #[must_use]
    pub fn leave_to_browser(&self, call: &Call) -> Fulfil {
        Fulfil { body: wire::write_answer(self.key, call.nonce, wire::NATIVE, "") }
    }
}

/// Which dialog function the page called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// `alert`.
    Alert,
    /// `confirm`.
    Confirm,
    /// `prompt`.
    Prompt,
}

/// Identifies a call: its document, and its number within the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Nonce {
    document: u128,
    number: u64,
}

/// A call that waits for its answer. The texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    nonce: Nonce,
    /// Which dialog function the page called.
    pub kind: CallKind,
    /// The message; empty if there was none.
    pub message: String,
    /// The default text of a prompt; empty otherwise.
    pub default_prompt: String,
    /// Whether a text was longer than [`TEXT_LIMIT`] and was truncated.
    pub cut: bool,
}

/// Why a request is not a valid call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RefusedCall {
    /// It has another URL.
    #[error("the request is not for the dialog bridge")]
    Foreign,
    /// It has the bridge's URL, but is not a `POST`.
    #[error("the request method is not the one that the dialog bridge uses")]
    Method,
    /// It is longer than any call of the script.
    #[error("the request is too long for a dialog")]
    TooLong,
    /// It was not created by the script, or was modified.
    #[error("the request was not signed by the dialog bridge's script")]
    BadCode,
    /// The code is valid, but the content is malformed: another version of the script.
    #[error("the request is malformed")]
    BadForm,
    /// It is a replay.
    #[error("the call was repeated")]
    Repeated,
}

/// The answer to a call of the script, as parameters of `Fetch.fulfillRequest`.
#[derive(Clone, PartialEq, Eq)]
pub struct Fulfil {
    body: String,
}

impl Fulfil {
    /// The `responseCode`: always 200.
    pub const STATUS: u16 = 200;
    /// The `responseHeaders`, names and values. They allow the script to read the answer across origins, and forbid
    /// caching.
    pub const HEADERS: [(&'static str, &'static str); 4] = [
        ("Content-Type", "text/plain"),
        ("Access-Control-Allow-Origin", "*"),
        ("Cross-Origin-Resource-Policy", "cross-origin"),
        ("Cache-Control", "no-store"),
    ];

    /// The body as text: the answer and its code, for the script that called.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The body in Base64, as the command requires it.
    #[must_use]
    pub fn body_base64(&self) -> String {
        base64::engine::general_purpose::STANDARD.encode(&self.body)
    }
}

impl fmt::Debug for Fulfil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fulfil").finish_non_exhaustive()
    }
}

#[doc(hidden)]
pub mod fuzzing {
    //! Entry points for property tests and fuzzers; not a stable interface.

    /// Reads a request with this body. Returns whether it was accepted as a call, which would be a forgery.
    #[must_use]
    pub fn bridge_request(body: &[u8]) -> bool {
        let mut bridge = super::Bridge::with([1; 16], [2; 16]);
        let url = bridge.pattern().to_owned();
        // Both unchanged and with a valid code, so that the parser of the content is reached too.
        let code = super::wire::hex(&bridge.key.code(body));
        let signed = [code.as_bytes(), b"\n", body].concat();
        if let Ok(call) = bridge.read(&url, "POST", Some(&signed)) {
            let _ = bridge.answer(&call, true, Some(&call.message));
        }
        bridge.read(&url, "POST", Some(body)).is_ok()
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
