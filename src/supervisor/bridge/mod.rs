//! Dialog bridge: dialogs by synchronous request, for endpoints that answer native ones by themselves.
//!
//! Some remote browsers dismiss each native dialog within milliseconds, before a client can
//! answer. The bridge replaces `alert`, `confirm` and `prompt` in every document by functions that
//! send a synchronous request to a host that does not exist. The request is caught by the `Fetch`
//! domain and stays paused until the dialog is answered; the page gets its response.
//!
//! A [`Bridge`] is the pure part: the script, the reading of calls, the writing of answers. Whoever
//! drives the browser does four things on the session of each page and each cross-process frame, before
//! the document's own scripts run (`waitForDebuggerOnStart`):
//!
//! 1. `Fetch.enable` with the one pattern [`Bridge::pattern`], stage `Request`;
//! 2. `Page.addScriptToEvaluateOnNewDocument` with [`Bridge::source`], `runImmediately: true`;
//! 3. at `Fetch.requestPaused`, [`Bridge::read`] of the request's address, method and body. A [`Call`]
//!    is a dialog; on [`RefusedCall::Foreign`] the request is somebody else's; on anything else
//!    it is forged and belongs into `Fetch.failRequest`;
//! 4. `Fetch.fulfillRequest` with [`Bridge::answer`].
//!
//! `Page.setBypassCSP` keeps a page's content policy from refusing the request; note that it takes the
//! policy's `sandbox` away as well. While a call is paused the page's renderer stands still, as it does
//! under a native dialog; answer it before the page is navigated, since Chromium waits with that. Closing
//! the page needs no answer, and when the interception ends, the browser's own dialog opens. Chromium names
//! the frame of the call in `Fetch.requestPaused`, but for an empty
//! document that was never loaded it names the frame that made it. Service workers need nothing:
//! Chromium does not ask them about synchronous requests.
//!
//! # What a page can do about it
//! The host is unguessable (128 random bits) until a first call shows it to the page in Resource
//! Timing. From then on the page may send requests there. They are refused: each call carries a code
//! over everything it says, made with a key that lives in the script's closure and nowhere else in the
//! page, and a number that must grow within its document, so that neither new calls can be made up nor
//! old ones repeated or changed. Each answer carries a code over itself and the call's nonce, so that
//! whatever stands between can only lose it. A call that brings no such answer ends in the native
//! function.
//!
//! A page can find out that the functions were replaced: their text has no name (`function () {
//! [native code] }`), errors that arguments throw have a frame more in their stack, and messages of
//! conversion errors lack their prefix. It finds neither the script nor the native functions.
//!
//! The code is SipHash-2-4 with a 128-bit key and a 128-bit result. It was made for this: telling short
//! messages of a fellow process from those of an attacker, at a cost of about a cycle a byte. It is a
//! pseudo-random function without known weakness at full rounds, the attacker can try only by sending
//! requests that are counted and refused, and the key lives no longer than one supervisor. Nothing is
//! encrypted: the message is the page's own, and the answer is for it.
//!
//! # Where the native function is called
//! - When the request fails: `Permissions-Policy: sync-xhr=()`, a content policy that is not bypassed,
//!   no interception.
//! - In sandboxed documents, since they might lack `allow-modals`: the browser then ignores dialogs,
//!   which the script cannot find out without opening one. A sandboxed frame with `allow-modals` opens
//!   native dialogs.
//! - While a page is being left (`beforeunload`, `pagehide`, `unload`), where the browser refuses
//!   synchronous requests and ignores dialogs alike; and while a document is prerendered.

mod mac;
mod script;
mod seen;
mod wire;

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;

use self::mac::Key;
use self::seen::Seen;

/// Longest message or default text of a call, in UTF-16 units; the script cuts what is longer.
pub const TEXT_LIMIT: usize = wire::TEXT_LIMIT;

/// The system gave no random bytes.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot get random bytes for the dialog bridge: {problem}")]
#[non_exhaustive]
pub struct NoRandomness {
    /// What the system said.
    pub problem: String,
}

/// One bridge: a host, a key, and what came so far. Keep it as long as the pages: a document knows the
/// bridge it was loaded with and no other.
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
    /// A bridge with a host and a key of its own.
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

    /// The script for `Page.addScriptToEvaluateOnNewDocument`. It holds the key: never show it.
    ///
    /// Running it again in the same document changes nothing. In a document whose own scripts ran
    /// before, a function that the page has replaced is left alone.
    #[must_use]
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// The `urlPattern` for `Fetch.enable`: one address, no wildcards.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.url
    }

    /// Reads a paused request: its address, its method, and its body (`postData`, or the decoded
    /// `postDataEntries` one after the other).
    ///
    /// # Errors
    /// [`RefusedCall`]. Only [`RefusedCall::Foreign`] means a request that has nothing to do with the bridge.
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

    /// The answer to a call. The text counts for an accepted prompt only; without one it is empty.
    #[must_use]
    pub fn answer(&self, call: &Call, accepted: bool, text: Option<&str>) -> Fulfil {
        let text = text.filter(|_| accepted && call.kind == CallKind::Prompt).unwrap_or_default();
        let verdict = if accepted { wire::ACCEPTED } else { wire::DISMISSED };
        Fulfil { body: wire::write_answer(self.key, call.nonce, verdict, text) }
    }

    /// The answer that makes the page call the native function instead.
    #[must_use]
    pub fn leave_to_browser(&self, call: &Call) -> Fulfil {
        Fulfil { body: wire::write_answer(self.key, call.nonce, wire::NATIVE, "") }
    }
}

/// Which function was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// `alert`.
    Alert,
    /// `confirm`.
    Confirm,
    /// `prompt`.
    Prompt,
}

/// Which call of which document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Nonce {
    document: u128,
    number: u64,
}

/// A call that waits for its answer. The texts are the page's: untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    nonce: Nonce,
    /// Which function was called.
    pub kind: CallKind,
    /// The message, empty when there was none.
    pub message: String,
    /// The default text of a prompt, else empty.
    pub default_prompt: String,
    /// Whether a text was longer than [`TEXT_LIMIT`] and lost its end.
    pub cut: bool,
}

/// Why a request is no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RefusedCall {
    /// It goes elsewhere.
    #[error("the request is not for the dialog bridge")]
    Foreign,
    /// It is for the bridge's address, but no `POST`.
    #[error("the request method is not the one that the dialog bridge uses")]
    Method,
    /// It is longer than anything the script sends.
    #[error("the request is too long for a dialog")]
    TooLong,
    /// It was not made by the script, or changed on the way.
    #[error("the request was not signed by the dialog bridge's script")]
    BadCode,
    /// The code is right and the rest is not understood: another version of the script.
    #[error("the request is malformed")]
    BadForm,
    /// It came before.
    #[error("the call was repeated")]
    Repeated,
}

/// What `Fetch.fulfillRequest` is to send.
#[derive(Clone, PartialEq, Eq)]
pub struct Fulfil {
    body: String,
}

impl Fulfil {
    /// The `responseCode`.
    pub const STATUS: u16 = 200;
    /// The `responseHeaders`, names and values. The page's script reads the answer across origins, and
    /// nobody keeps it.
    pub const HEADERS: [(&'static str, &'static str); 4] = [
        ("Content-Type", "text/plain"),
        ("Access-Control-Allow-Origin", "*"),
        ("Cross-Origin-Resource-Policy", "cross-origin"),
        ("Cache-Control", "no-store"),
    ];

    /// The body as it is.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The body as the command wants it.
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

    /// Reads a request of these bytes. Returns whether it was taken for a call, which would be a forgery.
    #[must_use]
    pub fn bridge_request(body: &[u8]) -> bool {
        let mut bridge = super::Bridge::with([1; 16], [2; 16]);
        let url = bridge.pattern().to_owned();
        // Both as it is and behind a right code, so that the reader of the rest is reached as well.
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
