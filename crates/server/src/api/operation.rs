//! What an operation of the HTTP API is: its method, path, fields and answer, as a constant. The server dispatches by it,
//! `openapi.json` describes it, and clients build requests from it.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use super::Method;

/// Time limit of an operation that waits for pages or browsers.
const USUAL: Duration = Duration::from_secs(20);
/// Time limit of one that waits for the supervisor's thread only.
const QUICK: Duration = Duration::from_secs(5);
/// Time limit where the fields of the request state one, and maximum of `timeoutMs`.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(120);

/// An operation with request fields `I` and answer `A`.
pub struct Operation<I, A> {
    /// What it is, without the types.
    pub spec: Spec,
    types: PhantomData<fn(I) -> A>,
}

impl<I, A> Clone for Operation<I, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, A> Copy for Operation<I, A> {}

impl<I, A> fmt::Debug for Operation<I, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

/// An operation without the types of its request and answer.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    pub method: Method,
    /// Path, with parameters as `:name`.
    pub path: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Whether it is answered from known state, without waiting for a page.
    pub quick: bool,
    /// Whether it takes `profile`.
    pub of_profile: bool,
    /// Whether it takes `targetId`.
    pub of_tab: bool,
    /// Time limit, unless the request states one.
    pub timeout: Duration,
    /// Where a request states its time limit.
    pub time: TimeLimit,
    /// What a client must send to be admitted.
    pub access: Access,
    /// Whether the fields are in the query although the method has a body, whose content is not described here.
    pub fields_in_query: bool,
    /// Maximum size of the body in bytes, if not the default.
    pub max_body: Option<usize>,
    /// Media type of the answer.
    pub media: &'static str,
    /// Whether it is served only with `CDPILOT_TEST_ROUTES=1`.
    pub for_tests: bool,
}

/// Where a request states its time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// It does not.
    Fixed,
    /// In the common field `timeoutMs`.
    Common,
    /// In a field `timeoutMs` of its own, which may also be in parts of it.
    Own,
}

/// What a client must send to be admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Token,
    /// A ticket of the web UI.
    Ticket,
    /// Nothing.
    Open,
}

const fn new<I, A>(method: Method, path: &'static str, summary: &'static str) -> Operation<I, A> {
    Operation {
        spec: Spec {
            method,
            path,
            summary,
            quick: false,
            of_profile: true,
            of_tab: false,
            timeout: USUAL,
            time: TimeLimit::Common,
            access: Access::Token,
            fields_in_query: false,
            max_body: None,
            media: "application/json",
            for_tests: false,
        },
        types: PhantomData,
    }
}

pub(super) const fn get<I, A>(path: &'static str, summary: &'static str) -> Operation<I, A> {
    new(Method::Get, path, summary)
}

pub(super) const fn post<I, A>(path: &'static str, summary: &'static str) -> Operation<I, A> {
    new(Method::Post, path, summary)
}

pub(super) const fn patch<I, A>(path: &'static str, summary: &'static str) -> Operation<I, A> {
    new(Method::Patch, path, summary)
}

pub(super) const fn delete<I, A>(path: &'static str, summary: &'static str) -> Operation<I, A> {
    new(Method::Delete, path, summary)
}

/// Defaults: of a profile, not of a tab; 20 s or `timeoutMs`; with the token; answers JSON.
impl<I, A> Operation<I, A> {
    const fn with(spec: Spec) -> Self {
        Self { spec, types: PhantomData }
    }

    /// Answered from known state, within five seconds, without `timeoutMs`.
    pub(super) const fn quick(self) -> Self {
        Self::with(Spec { quick: true, timeout: QUICK, time: TimeLimit::Fixed, ..self.spec })
    }

    /// Not for a profile.
    pub(super) const fn global(self) -> Self {
        Self::with(Spec { of_profile: false, ..self.spec })
    }

    /// Takes `targetId`.
    pub(super) const fn tab(self) -> Self {
        Self::with(Spec { of_tab: true, ..self.spec })
    }

    /// Sets the default time limit.
    pub(super) const fn secs(self, seconds: u64) -> Self {
        Self::with(Spec { timeout: Duration::from_secs(seconds), ..self.spec })
    }

    /// Takes `timeoutMs` although it is quick.
    pub(super) const fn timed(self) -> Self {
        Self::with(Spec { time: TimeLimit::Common, ..self.spec })
    }

    /// Its fields have their own `timeoutMs`.
    pub(super) const fn own_timeout(self) -> Self {
        Self::with(Spec { timeout: MAX_TIMEOUT, time: TimeLimit::Own, ..self.spec })
    }

    /// The body is read by the handler, as JSON-RPC with its own time limits; the fields are in the query.
    pub(super) const fn messages(self) -> Self {
        Self::with(Spec { timeout: MAX_TIMEOUT, time: TimeLimit::Fixed, fields_in_query: true, ..self.spec })
    }

    /// Sets the maximum size of the body, in MiB.
    pub(super) const fn mebibytes(self, most: usize) -> Self {
        Self::with(Spec { max_body: Some(most << 20), ..self.spec })
    }

    /// Sets who is admitted.
    pub(super) const fn access(self, access: Access) -> Self {
        Self::with(Spec { access, ..self.spec })
    }

    /// Served only with `CDPILOT_TEST_ROUTES=1`.
    pub(super) const fn for_tests(self) -> Self {
        Self::with(Spec { for_tests: true, ..self.spec })
    }

    /// Sets the media type of the answer.
    pub(super) const fn media(self, media: &'static str) -> Self {
        Self::with(Spec { media, ..self.spec })
    }
}

impl Spec {
    /// Whether requests send their fields in a JSON body, else in the query.
    pub fn has_body(&self) -> bool {
        self.method.has_body() && !self.fields_in_query
    }

    /// The names of the path parameters.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix(':'))
    }
}
