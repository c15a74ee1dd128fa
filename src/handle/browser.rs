//! A browser and the pages of it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::options::BrowserOptions;
use super::page::Page;
use crate::browser::LaunchOptions;
use crate::page::{Error, Tabs};
use crate::supervisor::{Dialog, Pages, Supervisor, SupervisorOptions, TargetId};
use crate::sync::Deadline;

/// What closing a browser may take.
const CLOSING: Duration = Duration::from_secs(5);
/// What a page shows that was opened without an address.
const BLANK: &str = "about:blank";

/// A browser that is watched while it is worked with.
///
/// Dropping it closes a browser that it launched, leaves one that it attached to as it is but for the pages it opened, and
/// ends its threads, within about five seconds. Calls on its pages fail from then on. It is shared between threads by
/// reference: all methods take `&self`.
///
/// ```no_run
/// use cdpilot::{Browser, LaunchOptions};
/// let browser = Browser::launch(LaunchOptions::new())?;
/// let page = browser.page()?;
/// page.goto("https://example.com")?;
/// println!("{}", page.text()?);
/// # Ok::<(), cdpilot::Error>(())
/// ```
pub struct Browser {
    tabs: Tabs,
    timeout: Duration,
}

impl Browser {
    /// Launches a browser, found on this machine unless the options name one.
    ///
    /// # Errors
    /// [`Error::Supervisor`] with [`Browser`](crate::supervisor::Error::Browser) when there is none or it does not start.
    #[expect(clippy::needless_pass_by_value, reason = "options are built where they are given away")]
    pub fn launch(options: LaunchOptions) -> Result<Self, Error> {
        Self::launch_with(&options, BrowserOptions::default())
    }

    /// Launches a browser and says how its pages are watched.
    ///
    /// # Errors
    /// As [`launch`](Self::launch), and [`Error::File`] when the folder for downloads cannot be used.
    pub fn launch_with(launch: &LaunchOptions, options: BrowserOptions) -> Result<Self, Error> {
        let (watch, rest) = split(options, Pages::All);
        Self::over(Supervisor::launch(launch, watch)?, rest)
    }

    /// Attaches to a browser that somebody else started: `ws://…`, `wss://…`, `http://host:port`, `host:port`, or a WebDriver
    /// server as `webdriver+http://…`. Pages that are there already belong to somebody else and are not touched;
    /// [`attach_with`](Self::attach_with) takes them on.
    ///
    /// # Errors
    /// [`Error::Supervisor`] when the browser cannot be reached. No error shows the secret parts of the address.
    pub fn attach(url: &str) -> Result<Self, Error> {
        Self::attach_with(url, BrowserOptions::default())
    }

    /// Attaches to a browser and says how its pages are watched, and which of them.
    ///
    /// ```no_run
    /// use cdpilot::{Browser, BrowserOptions, supervisor::Pages};
    /// let browser = Browser::attach_with("127.0.0.1:9333", BrowserOptions::new().pages(Pages::All))?;
    /// # Ok::<(), cdpilot::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`attach`](Self::attach), and [`Error::File`] when the folder for downloads cannot be used.
    pub fn attach_with(url: &str, options: BrowserOptions) -> Result<Self, Error> {
        let (watch, rest) = split(options, Pages::None);
        Self::over(Supervisor::attach(url, &rest.connect, watch)?, rest)
    }

    fn over(supervisor: Supervisor, options: BrowserOptions) -> Result<Self, Error> {
        let tabs = Tabs::with_options(Arc::new(supervisor), options.page)?;
        Ok(Self { tabs, timeout: options.timeout })
    }

    /// Its first page. One is opened when there is none.
    ///
    /// # Errors
    /// Those of [`new_page`](Self::new_page).
    pub fn page(&self) -> Result<Page, Error> {
        match self.pages().into_iter().next() {
            Some(page) => Ok(page),
            None => self.new_page(),
        }
    }

    /// Its pages, oldest first. Popups are among them.
    #[must_use]
    pub fn pages(&self) -> Vec<Page> {
        let now = self.supervisor().view();
        now.pages.iter().filter_map(|page| self.page_with_id(&page.target_id).ok()).collect()
    }

    /// Opens a page in front of the others. It shows `about:blank`.
    ///
    /// # Errors
    /// [`Error::Supervisor`] when the browser refuses or has ended.
    pub fn new_page(&self) -> Result<Page, Error> {
        let target = self.supervisor().open_page(BLANK, None, Deadline::after(self.timeout))?;
        self.page_with_id(&target)
    }

    /// A page by its target id, such as that of a tab in [`Outcome::new_tabs`](crate::page::Outcome::new_tabs).
    ///
    /// # Errors
    /// [`Error::Supervisor`] with [`PageNotFound`](crate::supervisor::Error::PageNotFound).
    pub fn page_with_id(&self, id: &TargetId) -> Result<Page, Error> {
        Ok(Page::new(self.tabs.tab(id)?, self.timeout))
    }

    /// The dialogs that wait for an answer on any of its pages, oldest first.
    #[must_use]
    pub fn dialogs(&self) -> Vec<Dialog> {
        self.supervisor().view().dialogs.to_vec()
    }

    /// Waits until a page shows that was not among `known`, such as a popup.
    ///
    /// # Errors
    /// [`Error::Timeout`] when none came within the default deadline.
    pub fn wait_for_page(&self, known: &[Page]) -> Result<Page, Error> {
        let is_new = |id: &TargetId| known.iter().all(|page| page.id() != id);
        let deadline = Deadline::after(self.timeout);
        let now = self.supervisor().wait_until(deadline, |now| now.pages.iter().any(|page| is_new(&page.target_id)));
        let found = now.and_then(|now| now.pages.iter().map(|page| page.target_id.clone()).find(|id| is_new(id)));
        let after_ms = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        match found {
            Some(id) => self.page_with_id(&id),
            None => Err(Error::Timeout { what: "a new page".to_owned(), after_ms }),
        }
    }

    /// What watches its pages: the state, the event log, calls with explicit deadlines.
    #[must_use]
    pub fn supervisor(&self) -> &Supervisor {
        self.tabs.supervisor()
    }

    /// Its tabs, whose calls have explicit deadlines.
    #[must_use]
    pub fn tabs(&self) -> &Tabs {
        &self.tabs
    }

    /// Closes it, as dropping it does.
    pub fn close(self) {}
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.supervisor().stop(Deadline::after(CLOSING));
    }
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser").field("supervisor", self.supervisor()).finish_non_exhaustive()
    }
}

/// The options of the supervisor, and the others.
fn split(mut options: BrowserOptions, pages: Pages) -> (SupervisorOptions, BrowserOptions) {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let mut watch = std::mem::take(&mut options.supervisor);
    watch.pages = options.pages.take().unwrap_or(pages);
    if watch.task == SupervisorOptions::default().task {
        watch.task = format!("browser-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    }
    (watch, options)
}
