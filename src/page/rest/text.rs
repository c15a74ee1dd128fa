//! The text of a page, for reading.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::page::{Error, Tab};
use crate::sync::Deadline;

/// Characters given when nothing else is asked for.
const CHARS: usize = 40_000;

/// The text of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
pub struct PageText {
    /// It, as the page wrote it: untrusted.
    pub text: String,
    /// Whether it is the beginning only.
    pub truncated: bool,
}

#[derive(Deserialize)]
struct Told {
    #[serde(default)]
    text: String,
    #[serde(default)]
    truncated: bool,
    #[serde(default)]
    missing: bool,
    bad: Option<String>,
}

impl Tab {
    /// The text of the tab's top frame as a person would read it: of its article when there is one, else of
    /// its main part, else of everything; or of the first match of a selector. What is hidden is left out,
    /// and so are fields and frames. Shadow roots are read, closed ones as far as a snapshot has seen them.
    /// Blocks stand on lines of their own, list items have their mark, table cells a tab between them.
    ///
    /// `max_chars` defaults to 40,000; 0: no limit.
    ///
    /// # Errors
    /// [`Error::NoMatch`], [`Error::BadRequest`] for what is no selector, [`Error::Supervisor`].
    pub fn text(
        &self,
        selector: Option<&str>,
        max_chars: Option<usize>,
        deadline: Deadline,
    ) -> Result<PageText, Error> {
        let args = json!({ "selector": selector, "most": max_chars.unwrap_or(CHARS) });
        let (_, told) = self.call::<Told>(&self.top()?, "text", &args, deadline)?;
        let told = told.result;
        let shown = || selector.unwrap_or_default().chars().take(200).collect::<String>();
        if told.missing {
            return Err(Error::NoMatch { selector: shown(), place: "the main frame".to_owned() });
        }
        if told.bad.is_some() {
            return Err(Error::BadRequest { problem: format!("{:?} is no CSS selector", shown()) });
        }
        Ok(PageText { text: told.text, truncated: told.truncated })
    }
}
