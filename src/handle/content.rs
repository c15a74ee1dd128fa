//! What a page shows, stores and loads.

use std::sync::Arc;

use serde_json::Value;

use super::page::Page;
use crate::page::{
    ConsoleMessage, Cookie, Download, ElementProperty, Emulation, Error, Locator, Matches, NewCookie, PageError,
    PdfOptions, Screenshot, ScreenshotOptions, Snapshot, SnapshotOptions,
};
use crate::supervisor::{Frame, NetworkRequest};

impl Page {
    /// What the page shows as text, with a ref for everything that can be acted on, in all frames. Under a dialog it answers
    /// at once, with [`Snapshot::blocked_by_dialog`].
    ///
    /// # Errors
    /// [`Error::Supervisor`] when the page does not answer.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        self.snapshot_with(&SnapshotOptions::default())
    }

    /// [`snapshot`](Self::snapshot) with options.
    ///
    /// # Errors
    /// Those of [`snapshot`](Self::snapshot); [`Error::BadRequest`], [`Error::BadRef`], [`Error::StaleRef`] for what the
    /// options name.
    pub fn snapshot_with(&self, options: &SnapshotOptions) -> Result<Snapshot, Error> {
        self.within(|tab, deadline| tab.snapshot(options, deadline))
    }

    /// The visible text of the page as a person reads it, at most 40,000 characters.
    ///
    /// # Errors
    /// [`Error::Supervisor`].
    pub fn text(&self) -> Result<String, Error> {
        Ok(self.within(|tab, deadline| tab.text(None, None, deadline))?.text)
    }

    /// The elements that a locator matches now, in all frames; the first 50 are returned. Nothing is waited for.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for what is no locator, [`Error::Supervisor`].
    pub fn find(&self, locator: &str) -> Result<Matches, Error> {
        self.within(|tab, deadline| tab.find(locator, None, None, deadline))
    }

    /// The text of an element as it is rendered.
    ///
    /// # Errors
    /// [`Error::StaleRef`], [`Error::NoneLocated`], [`Error::AmbiguousLocator`], [`Error::BadRequest`],
    /// [`Error::Supervisor`].
    pub fn text_of(&self, element: impl Into<Locator>) -> Result<String, Error> {
        Ok(self.read(ElementProperty::Text, None, element)?.as_str().unwrap_or_default().to_owned())
    }

    /// The value of a form field. A password is covered.
    ///
    /// # Errors
    /// Those of [`text_of`](Self::text_of).
    pub fn value_of(&self, field: impl Into<Locator>) -> Result<String, Error> {
        Ok(match self.read(ElementProperty::Value, None, field)? {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        })
    }

    /// An attribute of an element; `None` when it has none of that name.
    ///
    /// # Errors
    /// Those of [`text_of`](Self::text_of).
    pub fn attribute(&self, element: impl Into<Locator>, name: &str) -> Result<Option<String>, Error> {
        Ok(self.read(ElementProperty::Attribute, Some(name), element)?.as_str().map(str::to_owned))
    }

    /// Whether an element is there and visible now. Nothing is waited for.
    ///
    /// # Errors
    /// [`Error::BadRequest`], [`Error::AmbiguousLocator`], [`Error::Supervisor`].
    pub fn is_visible(&self, element: impl Into<Locator>) -> Result<bool, Error> {
        let at = element.into();
        let state = self.within(|tab, deadline| tab.state_now(&at, deadline))?;
        Ok(state.value.get("visible").and_then(Value::as_bool).unwrap_or_default())
    }

    fn read(&self, what: ElementProperty, name: Option<&str>, element: impl Into<Locator>) -> Result<Value, Error> {
        let at = element.into();
        Ok(self.within(|tab, deadline| tab.get(what, name, &at, deadline))?.value)
    }

    /// A screenshot of the viewport, as PNG. The bytes are in [`Screenshot::bytes`].
    ///
    /// # Errors
    /// [`Error::NotCaptured`], and [`Error::Supervisor`], under a dialog at once.
    pub fn screenshot(&self) -> Result<Screenshot, Error> {
        self.screenshot_with(&ScreenshotOptions::default())
    }

    /// A screenshot of the whole page, of an element, with labels, as JPEG, within limits.
    ///
    /// # Errors
    /// Those of [`screenshot`](Self::screenshot); [`Error::BadRequest`], [`Error::StaleRef`], [`Error::NoMatch`],
    /// [`Error::NotActionable`] for what the options name.
    pub fn screenshot_with(&self, options: &ScreenshotOptions) -> Result<Screenshot, Error> {
        self.within(|tab, deadline| tab.screenshot(options, deadline))
    }

    /// The page as a PDF on Letter paper.
    ///
    /// # Errors
    /// [`Error::NoPdf`] when the browser makes none, as browsers with a window do; [`Error::DiskFull`],
    /// [`Error::Supervisor`].
    pub fn pdf(&self) -> Result<Vec<u8>, Error> {
        self.pdf_with(&PdfOptions::default())
    }

    /// The page as a PDF with options.
    ///
    /// # Errors
    /// Those of [`pdf`](Self::pdf), and [`Error::BadRequest`].
    pub fn pdf_with(&self, options: &PdfOptions) -> Result<Vec<u8>, Error> {
        self.within(|tab, deadline| tab.pdf(options, deadline))
    }

    /// Its frames of all depths, the top one among them. Waits for nothing.
    #[must_use]
    pub fn frames(&self) -> Vec<Frame> {
        self.supervisor().view().frames_of(self.id().as_str()).cloned().collect()
    }

    /// The cookies that the page and its frames would send. Answered also under a dialog.
    ///
    /// # Errors
    /// [`Error::Supervisor`].
    pub fn cookies(&self) -> Result<Vec<Cookie>, Error> {
        self.cookies_for(&[])
    }

    /// The cookies that would be sent to these addresses.
    ///
    /// # Errors
    /// [`Error::BadRequest`], [`Error::Supervisor`].
    pub fn cookies_for(&self, urls: &[&str]) -> Result<Vec<Cookie>, Error> {
        self.within(|tab, deadline| tab.cookies(urls, deadline))
    }

    /// Sets cookies in the page's browser context. Tells how many were set.
    ///
    /// # Errors
    /// [`Error::BadCookie`], [`Error::Supervisor`].
    pub fn set_cookies(&self, cookies: &[NewCookie]) -> Result<usize, Error> {
        self.within(|tab, deadline| tab.set_cookies(cookies, deadline))
    }

    /// Overrides screen, place, language or network for the page.
    ///
    /// # Errors
    /// [`Error::BadRequest`], [`Error::Supervisor`].
    pub fn emulate(&self, change: &Emulation) -> Result<(), Error> {
        self.within(|tab, deadline| tab.emulate(change, deadline))
    }

    /// Its last network requests, oldest first: at most 500. Waits for nothing.
    #[must_use]
    pub fn requests(&self) -> Vec<Arc<NetworkRequest>> {
        self.tab().requests(None, false)
    }

    /// Its last console messages, oldest first: at most 500. Waits for nothing.
    #[must_use]
    pub fn console(&self) -> Vec<ConsoleMessage> {
        self.tab().console(None, None, false)
    }

    /// Its last uncaught exceptions and console errors, oldest first. Waits for nothing.
    #[must_use]
    pub fn errors(&self) -> Vec<PageError> {
        self.tab().errors(None, false)
    }

    /// Its last downloads, oldest first, where [`BrowserOptions::downloads`](super::BrowserOptions::downloads) names a
    /// folder. Waits for nothing.
    #[must_use]
    pub fn downloads(&self) -> Vec<Download> {
        self.tab().downloads()
    }

    /// Waits for the end of the next download that was not waited for yet.
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::BadRequest`] without a folder for downloads.
    pub fn wait_download(&self) -> Result<Download, Error> {
        self.within(|tab, deadline| tab.wait_download(None, deadline))
    }
}
