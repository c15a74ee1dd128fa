//! Failed requests as JSON answers.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{params, status};
use crate::api::Vocabulary;
use crate::{config, control, llm};
use cdpilot::code::Code;
use cdpilot::{page, supervisor};

/// An error answer: code, message, what to do next, and details.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ApiError {
    pub(super) code: Code,
    /// What failed and why.
    pub(super) error: String,
    /// What to do next, in terms that depend on the client.
    pub(super) advice: Option<Advice>,
    pub(super) details: Map<String, Value>,
}

/// What a client should do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Advice {
    StartBrowser,
    CreateProfile,
    ListTabs,
    OpenTab,
    ChooseOrOpenTab,
    ChooseTab,
    AnswerDialog,
    AnswerOrDismissDialog,
    ReloadPage,
    AllowMoreTime,
    Rescue,
    SetTimeout,
    StopBrowser,
    WaitForDownload,
    ArmFileChooser,
    Drag,
    NameTab,
    ListRecordings,
    StopRecording,
    VerifyRoutine,
    ExportText,
}

impl Advice {
    /// The end of the message, with its punctuation.
    fn words(self, vocabulary: Vocabulary) -> &'static str {
        let (http, cli) = match self {
            Self::StartBrowser => ("; start it with POST /start", "; start it with `cdpilot start`"),
            Self::CreateProfile => ("; POST /profiles creates one", "; `cdpilot profiles create NAME` creates one"),
            Self::ListTabs => ("; GET /tabs lists the tabs", TABS),
            Self::OpenTab => ("; open one with POST /tabs/open", TABS),
            Self::ChooseOrOpenTab => {
                ("; open one with POST /tabs/open, or send the targetId of a tab that GET /tabs lists", TABS)
            }
            Self::ChooseTab => (
                "; send the targetId of another tab (GET /tabs lists them), or open one with POST /tabs/open",
                "; choose another tab with --target (`cdpilot tabs` lists them), or open one with `cdpilot open URL`",
            ),
            Self::AnswerDialog => (
                "; answer it with POST /hooks/dialog first",
                "; answer it with `cdpilot dialog --accept` or `--dismiss` first",
            ),
            Self::AnswerOrDismissDialog => (
                "; answer it first, or navigate with dismissDialogs to dismiss it",
                "; answer it first, or navigate with --dismiss-dialogs to dismiss it",
            ),
            Self::ReloadPage => ("; load it again with POST /reload", "; load it again with `cdpilot reload`"),
            Self::AllowMoreTime => {
                (", or give this action more time (timeoutMs)", ", or give this action more time (--timeout)")
            }
            Self::Rescue => (
                "; end it with POST /rescue, or send rescue: true; the document is kept",
                "; end it with `cdpilot rescue`; the document is kept",
            ),
            Self::SetTimeout => (" (timeoutMs)", " (--timeout)"),
            Self::StopBrowser => ("stop the browser with POST /stop", "stop the browser with `cdpilot stop`"),
            Self::WaitForDownload => (", see POST /wait/download", ", see `cdpilot download`"),
            Self::ArmFileChooser => (", see POST /hooks/file-chooser", ", see `cdpilot upload`"),
            Self::Drag => ("drags are made with POST /act", "drags are made with `cdpilot drag`"),
            Self::NameTab => (
                "name the tab with targetId, or the frame with frameId",
                "name the tab with --target, or the frame with --frame",
            ),
            Self::ListRecordings => ("; GET /recordings lists them", "; `cdpilot record list` lists them"),
            Self::StopRecording => {
                ("; stop it first with POST /recordings/:id/stop", "; stop it first with `cdpilot record stop`")
            }
            Self::VerifyRoutine => (
                "; verify it with POST /routines/:id/run and verify: true",
                "; verify it with `cdpilot routine run NAME --verify`",
            ),
            Self::ExportText => (" with format: markdown", " with --format markdown"),
        };
        match vocabulary {
            Vocabulary::Http => http,
            Vocabulary::Cli => cli,
        }
    }
}

/// What to do without a tab, in commands.
const TABS: &str = "; `cdpilot tabs` lists the tabs, `cdpilot open URL` opens one";

impl ApiError {
    pub(super) fn new(code: Code, error: impl Into<String>) -> Self {
        Self { code, error: error.into(), advice: None, details: Map::new() }
    }

    pub(super) fn bad(error: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, error)
    }

    pub(super) fn with(mut self, name: &str, what: &impl Serialize) -> Self {
        self.details.insert(name.to_owned(), serde_json::to_value(what).unwrap_or_default());
        self
    }

    pub(super) fn status(&self) -> u16 {
        status::of(self.code)
    }

    pub(super) fn is_blocked_by_dialog(&self) -> bool {
        self.code == Code::BlockedByDialog
    }

    /// The same with this advice, if there is some.
    pub(super) fn advising(self, advice: impl Into<Option<Advice>>) -> Self {
        Self { advice: advice.into().or(self.advice), ..self }
    }

    /// The body of the answer.
    pub(super) fn body(&self, vocabulary: Vocabulary) -> Map<String, Value> {
        let advice = self.advice.map_or("", |advice| advice.words(vocabulary));
        // After a question, advice begins a sentence.
        let advice = match advice.strip_prefix("; ") {
            Some(advice) if self.error.ends_with('?') => format!(" {advice}"),
            _ => advice.to_owned(),
        };
        let mut map = Map::new();
        map.insert("ok".to_owned(), false.into());
        map.insert("error".to_owned(), format!("{}{advice}", self.error).into());
        map.insert("code".to_owned(), self.code.as_str().into());
        if !self.details.is_empty() {
            map.insert("details".to_owned(), self.details.clone().into());
        }
        map
    }

    fn of(code: Code, error: &dyn std::fmt::Display, details: Option<Value>) -> Self {
        let details = match details {
            Some(Value::Object(details)) => details,
            _ => Map::new(),
        };
        Self { details, ..Self::new(code, error.to_string()) }
    }

    /// The error for a page that shows a dialog. Whoever knows which one describes it.
    fn blocked() -> Self {
        Self::new(Code::BlockedByDialog, "the tab shows a dialog").advising(Advice::AnswerDialog)
    }

    /// Names the dialog that blocks the page, unless the message says more than that.
    pub(super) fn naming(&mut self, dialog: &supervisor::Dialog) {
        if self.advice == Some(Advice::AnswerDialog) {
            let (kind, message) = (dialog.kind.as_str(), params::shown(&dialog.message));
            self.error = match message.is_empty() {
                true => format!("the tab shows a dialog ({kind})"),
                false => format!("the tab shows a dialog ({kind}, {message})"),
            };
        }
    }

    /// The error for a page whose process is gone.
    fn crashed(error: &supervisor::Error) -> Self {
        Self::new(error.kind(), "the page crashed").advising(Advice::ReloadPage)
    }
}

impl From<control::Error> for ApiError {
    fn from(error: control::Error) -> Self {
        match &error {
            control::Error::Page(page::Error::Supervisor(inner)) if inner.is_crash() => Self::crashed(inner),
            control::Error::Page(error) if error.is_blocked_by_dialog() => Self::blocked(),
            control::Error::Page(busy @ page::Error::Busy { .. }) => busy.clone().into(),
            control::Error::RawRefused { method, refusal } => {
                let (why, advice) = alternative(refusal);
                Self::new(error.kind(), format!("{method} is not allowed: {why}")).advising(advice)
            }
            _ => Self::of(error.kind(), &error, error.details()).advising(advice(&error)),
        }
    }
}

/// What a client should do next.
fn advice(error: &control::Error) -> Option<Advice> {
    use control::Error;
    Some(match error {
        Error::NotRunning { .. } => Advice::StartBrowser,
        Error::NoProfile { .. } => Advice::CreateProfile,
        Error::NoTab { .. } => Advice::ListTabs,
        Error::NoTabOpen => Advice::OpenTab,
        Error::NoCurrentTab => Advice::ChooseOrOpenTab,
        Error::TabGone { .. } => Advice::ChooseTab,
        Error::DialogOpen { .. } => Advice::AnswerOrDismissDialog,
        Error::Page(error) if error.advises_rescue() => Advice::Rescue,
        Error::Page(error) if error.advises_more_time() => Advice::SetTimeout,
        _ => return None,
    })
}

/// Why a command is refused, and what to send instead.
fn alternative(refusal: &control::Refusal) -> (String, Option<Advice>) {
    use control::Refusal;
    match refusal {
        Refusal::StopsBrowser => (String::new(), Some(Advice::StopBrowser)),
        Refusal::CatchesDownloads => (refusal.to_string(), Some(Advice::WaitForDownload)),
        Refusal::CatchesFileChoosers => (refusal.to_string(), Some(Advice::ArmFileChooser)),
        Refusal::Drags => (String::new(), Some(Advice::Drag)),
        Refusal::NamesTarget => (String::new(), Some(Advice::NameTab)),
        _ => (refusal.to_string(), None),
    }
}

impl From<page::Error> for ApiError {
    fn from(error: page::Error) -> Self {
        if let page::Error::Supervisor(inner) = &error
            && inner.is_crash()
        {
            return Self::crashed(inner);
        }
        if error.is_blocked_by_dialog() {
            return Self::blocked();
        }
        let advice = match &error {
            page::Error::Busy { .. } => Some(Advice::AllowMoreTime),
            error if error.advises_rescue() => Some(Advice::Rescue),
            error => error.advises_more_time().then_some(Advice::SetTimeout),
        };
        Self::of(error.kind(), &error, error.details()).advising(advice)
    }
}

impl From<supervisor::Error> for ApiError {
    fn from(error: supervisor::Error) -> Self {
        page::Error::Supervisor(error).into()
    }
}

impl From<crate::agent::Error> for ApiError {
    fn from(error: crate::agent::Error) -> Self {
        let code = match error.kind() {
            // The toolset is an argument here.
            Code::UnknownToolset => Code::BadRequest,
            kind => kind,
        };
        let answer = Self::of(code, &error, None);
        match &error {
            crate::agent::Error::Routine { problems } => answer.with("problems", problems),
            _ => answer,
        }
    }
}

impl From<crate::record::Error> for ApiError {
    fn from(error: crate::record::Error) -> Self {
        use crate::record::Error;
        match error {
            Error::Control(error) => error.into(),
            Error::Store(error) => error.into(),
            Error::Active { ref recording } => {
                let answer = Self::of(error.kind(), &error, None).with("recording_id", recording);
                answer.advising(Advice::StopRecording)
            }
            Error::NotFound { .. } => Self::of(error.kind(), &error, None).advising(Advice::ListRecordings),
            _ => Self::of(error.kind(), &error, None),
        }
    }
}

impl From<crate::store::Error> for ApiError {
    fn from(error: crate::store::Error) -> Self {
        Self::of(error.kind(), &error, None)
    }
}

impl From<llm::Error> for ApiError {
    fn from(error: llm::Error) -> Self {
        Self::of(error.kind(), &error, None)
    }
}

impl From<crate::secrets::Error> for ApiError {
    fn from(error: crate::secrets::Error) -> Self {
        Self::of(error.kind(), &error, None)
    }
}

impl From<crate::memory::Error> for ApiError {
    fn from(error: crate::memory::Error) -> Self {
        // A file is an argument here.
        let code = if error.code() == Code::TooLarge { Code::BodyTooLarge } else { error.code() };
        Self::of(code, &error, None)
    }
}

impl From<config::Error> for ApiError {
    fn from(error: config::Error) -> Self {
        Self::of(Code::Internal, &error, None)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn advice_to_allow_more_time_names_the_field_or_flag_for_it() {
        let second = Duration::from_secs(1);
        let late = || supervisor::Error::ScriptTimeout { after: second };
        let missing = || page::Error::NotActionable {
            what: "e1".to_owned(),
            reason: "it is hidden".to_owned(),
            covered_by: None,
            waited: Some(second),
        };
        let in_field = |filled: &str| page::Error::InField {
            number: 2,
            name: "e1".to_owned(),
            error: Box::new(missing()),
            filled: filled.to_owned(),
        };
        let errors: Vec<ApiError> = vec![
            late().into(),
            supervisor::Error::StartTimeout { after: second }.into(),
            supervisor::Error::PageBusy { page: "P".to_owned(), busy: second, left: Some(second) }.into(),
            supervisor::Error::Timeout { what: "the call", after: second }.into(),
            page::Error::from(late()).into(),
            page::Error::Timeout { what: "the text".to_owned(), after_ms: 900 }.into(),
            page::Error::NotCaptured { problem: "too late".to_owned(), is_late: true }.into(),
            missing().into(),
            in_field("").into(),
            control::Error::Page(missing()).into(),
        ];
        for error in errors {
            for (vocabulary, end) in
                [(Vocabulary::Http, "allow more time (timeoutMs)"), (Vocabulary::Cli, "allow more time (--timeout)")]
            {
                let text = error.body(vocabulary)["error"].to_string();
                assert!(text.trim_end_matches('"').ends_with(end), "{text}");
            }
        }
        let busy: ApiError = supervisor::Error::PageBusy { page: "P".to_owned(), busy: second, left: None }.into();
        assert_eq!(busy.details["busyMs"], 1000);
        for (vocabulary, way) in [(Vocabulary::Http, "POST /rescue"), (Vocabulary::Cli, "`cdpilot rescue`")] {
            assert!(busy.body(vocabulary)["error"].to_string().contains(way), "{busy:?}");
        }
        let others: Vec<ApiError> = vec![
            in_field("; field 1 is filled").into(),
            supervisor::Error::NoDocument { after: second }.into(),
            supervisor::Error::NoDialog.into(),
        ];
        for error in others {
            let text = error.body(Vocabulary::Http)["error"].to_string();
            assert!(!text.contains("timeoutMs"), "{text}");
        }
    }
}
