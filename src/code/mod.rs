//! Error codes, shared by HTTP answers, tool results and CLI output. Compared as values; converted to text only when
//! serialised or parsed.

use std::fmt;

/// Kind of an error. Its text (`STALE_REF`) is stable; messages are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)] // named after their texts, which docs/api.md describes
pub enum Code {
    BadRequest,
    UnknownField,
    UnknownKind,
    Unauthorized,
    ForbiddenHost,
    ForbiddenOrigin,
    NavigationBlocked,
    EvaluateDisabled,
    RawCdpDisabled,
    PathRefused,
    NotFound,
    TabNotFound,
    ProfileNotFound,
    FrameNotFound,
    DialogNotFound,
    MethodNotAllowed,
    AmbiguousTarget,
    TabGone,
    TabLimit,
    StaleRef,
    RefChanged,
    NotActionable,
    BlockedByDialog,
    NoDialog,
    SeveralDialogs,
    PageBusy,
    AmbiguousLocator,
    Conflict,
    BodyTooLarge,
    UnsupportedMediaType,
    ScriptError,
    Cancelled,
    Internal,
    BrowserError,
    ModelError,
    BrowserNotRunning,
    BrowserDisabled,
    Busy,
    Timeout,
    TooLarge,
    UnknownTool,
    UnknownToolset,
    ToolUnavailable,
    SearchError,
    McpServerDown,
    McpServerGone,
    McpToolError,
    Interrupted,
    ApprovalNeeded,
    ApprovalVoid,
    ApprovalRefused,
}

/// Each code with its text and its HTTP status; `None` where only results of tools or the program carry it.
/// In the order of statuses.
const TABLE: [(Code, &str, Option<u16>); 51] = [
    (Code::BadRequest, "BAD_REQUEST", Some(400)),
    (Code::UnknownField, "UNKNOWN_FIELD", Some(400)),
    (Code::UnknownKind, "UNKNOWN_KIND", Some(400)),
    (Code::Unauthorized, "UNAUTHORIZED", Some(401)),
    (Code::ForbiddenHost, "FORBIDDEN_HOST", Some(403)),
    (Code::ForbiddenOrigin, "FORBIDDEN_ORIGIN", Some(403)),
    (Code::NavigationBlocked, "NAVIGATION_BLOCKED", Some(403)),
    (Code::EvaluateDisabled, "EVALUATE_DISABLED", Some(403)),
    (Code::RawCdpDisabled, "RAW_CDP_DISABLED", Some(403)),
    (Code::PathRefused, "PATH_REFUSED", Some(403)),
    (Code::NotFound, "NOT_FOUND", Some(404)),
    (Code::TabNotFound, "TAB_NOT_FOUND", Some(404)),
    (Code::ProfileNotFound, "PROFILE_NOT_FOUND", Some(404)),
    (Code::FrameNotFound, "FRAME_NOT_FOUND", Some(404)),
    (Code::DialogNotFound, "DIALOG_NOT_FOUND", Some(404)),
    (Code::MethodNotAllowed, "METHOD_NOT_ALLOWED", Some(405)),
    (Code::AmbiguousTarget, "AMBIGUOUS_TARGET", Some(409)),
    (Code::TabGone, "TAB_GONE", Some(409)),
    (Code::TabLimit, "TAB_LIMIT", Some(409)),
    (Code::StaleRef, "STALE_REF", Some(409)),
    (Code::RefChanged, "REF_CHANGED", Some(409)),
    (Code::NotActionable, "NOT_ACTIONABLE", Some(409)),
    (Code::BlockedByDialog, "BLOCKED_BY_DIALOG", Some(409)),
    (Code::NoDialog, "NO_DIALOG", Some(409)),
    (Code::SeveralDialogs, "SEVERAL_DIALOGS", Some(409)),
    (Code::PageBusy, "PAGE_BUSY", Some(409)),
    (Code::AmbiguousLocator, "AMBIGUOUS_LOCATOR", Some(409)),
    (Code::Conflict, "CONFLICT", Some(409)),
    (Code::BodyTooLarge, "BODY_TOO_LARGE", Some(413)),
    (Code::UnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", Some(415)),
    (Code::ScriptError, "SCRIPT_ERROR", Some(422)),
    // Never received: the client has disconnected.
    (Code::Cancelled, "CANCELLED", Some(499)),
    (Code::Internal, "INTERNAL", Some(500)),
    (Code::BrowserError, "BROWSER_ERROR", Some(502)),
    (Code::ModelError, "MODEL_ERROR", Some(502)),
    (Code::BrowserNotRunning, "BROWSER_NOT_RUNNING", Some(503)),
    (Code::BrowserDisabled, "BROWSER_DISABLED", Some(503)),
    (Code::Busy, "BUSY", Some(503)),
    (Code::Timeout, "TIMEOUT", Some(504)),
    (Code::TooLarge, "TOO_LARGE", None),
    (Code::UnknownTool, "UNKNOWN_TOOL", None),
    (Code::UnknownToolset, "UNKNOWN_TOOLSET", None),
    (Code::ToolUnavailable, "TOOL_UNAVAILABLE", None),
    (Code::SearchError, "SEARCH_ERROR", None),
    (Code::McpServerDown, "MCP_SERVER_DOWN", None),
    (Code::McpServerGone, "MCP_SERVER_GONE", None),
    (Code::McpToolError, "MCP_TOOL_ERROR", None),
    (Code::Interrupted, "INTERRUPTED", None),
    (Code::ApprovalNeeded, "APPROVAL_NEEDED", None),
    (Code::ApprovalVoid, "APPROVAL_VOID", None),
    (Code::ApprovalRefused, "APPROVAL_REFUSED", None),
];

impl Code {
    /// All codes, in the order of their HTTP statuses.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(code, ..)| *code)
    }

    /// The code as answers carry it, such as `STALE_REF`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    /// The code of a text; `None` when there is no such code.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        TABLE.iter().find(|(_, known, _)| *known == text).map(|(code, ..)| *code)
    }

    /// The status of HTTP answers with it; `None` where no answer of a route carries it.
    #[must_use]
    pub fn status(self) -> Option<u16> {
        self.row().2
    }

    fn row(self) -> &'static (Self, &'static str, Option<u16>) {
        // In the order of the enum, which a test checks.
        &TABLE[self as usize]
    }
}

impl serde::Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_row_and_one_text() {
        for (index, (code, text, status)) in TABLE.iter().enumerate() {
            assert_eq!(*code as usize, index, "{text} stands in the place of its code");
            assert_eq!(Code::parse(text), Some(*code));
            assert_eq!((code.as_str(), code.status()), (*text, *status));
            let variant = format!("{code:?}").to_uppercase();
            assert_eq!(variant, text.replace('_', ""), "the variant is named after the text");
        }
        assert_eq!(Code::parse("NO_SUCH_CODE"), None);
        let statuses: Vec<u16> = Code::all().filter_map(Code::status).collect();
        assert!(statuses.is_sorted(), "codes stand in the order of statuses");
    }
}
