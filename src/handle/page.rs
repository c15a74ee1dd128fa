//! A page: navigations, scripts, waits and how long each call may take.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::page::{Act, Error, Navigation, Outcome, Tab, WaitFor, WaitUntil};
use crate::supervisor::{FrameRef, Supervisor, TargetId, Value};
use crate::sync::{Cancel, Deadline};

/// A page of a [`Browser`](super::Browser). Clones are the same page.
///
/// Elements are named by a ref of a [snapshot](Self::snapshot) (`e12`), by a locator (`role=button[name="Save"]`, `text=…`,
/// `label=…`) or by a CSS selector; see [`Locator`](crate::page::Locator). Locators and selectors wait for their element.
///
/// Every call ends by its deadline, whatever the page does: 8 s for actions, 20 s for [waits](Self::wait_for), and the
/// browser's [default](super::BrowserOptions::timeout) (30 s) for the rest. [`timeout`](Self::timeout) and
/// [`until`](Self::until) give a handle with other deadlines. An open dialog ends calls at once, with an error that names it.
///
/// ```no_run
/// # use std::time::Duration;
/// # use cdpilot::{Act, Browser, LaunchOptions};
/// # let browser = Browser::launch(LaunchOptions::new())?;
/// let page = browser.page()?;
/// page.goto("https://example.com")?;
/// page.click("role=link[name=\"More information...\"]")?;
/// let title: String = page.evaluate("document.title")?;
/// page.timeout(Duration::from_secs(2)).wait_for("text=Done")?;
/// page.act(Act::fill("label=Name", "Ada").submit())?;
/// # Ok::<(), cdpilot::Error>(())
/// ```
#[derive(Clone)]
pub struct Page {
    tab: Arc<Tab>,
    scope: Scope,
}

/// How long the calls of a handle may take, and who may end them.
#[derive(Debug, Clone)]
struct Scope {
    /// Of each call.
    usual: Duration,
    /// Of each call, also in the place of the shorter time that actions have.
    timeout: Option<Duration>,
    /// Of all calls.
    deadline: Option<Deadline<'static>>,
    cancel: Option<Cancel>,
}

impl Scope {
    fn deadline(&self) -> Deadline<'_> {
        let own = Deadline::after(self.timeout.unwrap_or(self.usual));
        let deadline = self.deadline.map_or(own, |deadline| deadline.min(own));
        self.cancel.as_ref().map_or(deadline, |cancel| deadline.cancelled_by(cancel))
    }
}

impl Page {
    pub(super) fn new(tab: Arc<Tab>, usual: Duration) -> Self {
        Self { tab, scope: Scope { usual, timeout: None, deadline: None, cancel: None } }
    }

    /// The same page with another time limit for each call.
    #[must_use]
    pub fn timeout(&self, timeout: Duration) -> Self {
        let mut page = self.clone();
        page.scope.timeout = Some(timeout);
        page
    }

    /// The same page with one deadline for all calls together. A later deadline than the handle's own changes nothing. If
    /// the deadline is bound to a flag, it also ends the calls, as with [`cancelled_by`](Self::cancelled_by).
    #[must_use]
    pub fn until(&self, deadline: Deadline<'_>) -> Self {
        let mut page = self.clone();
        let new = deadline.uncancelled();
        page.scope.deadline = Some(self.scope.deadline.map_or(new, |own| own.min(new)));
        if let Some(cancel) = deadline.cancel() {
            page.scope.cancel = Some(cancel.clone());
        }
        page.scope.timeout = Some(deadline.left());
        page
    }

    /// The same page whose calls end, within 100 ms, when the flag is set. It replaces another flag of the handle.
    ///
    /// ```no_run
    /// # use cdpilot::{Browser, LaunchOptions, sync::Cancel};
    /// # let page = Browser::launch(LaunchOptions::new())?.page()?;
    /// let cancel = Cancel::new();
    /// let waiting = page.cancelled_by(&cancel); // another thread calls cancel.set()
    /// waiting.wait_for("text=Done")?;
    /// # Ok::<(), cdpilot::Error>(())
    /// ```
    #[must_use]
    pub fn cancelled_by(&self, cancel: &Cancel) -> Self {
        let mut page = self.clone();
        page.scope.cancel = Some(cancel.clone());
        page
    }

    /// Does something within the deadline and cancellation of this handle.
    pub(super) fn within<T>(&self, work: impl FnOnce(&Tab, Deadline<'_>) -> T) -> T {
        work(&self.tab, self.scope.deadline())
    }

    /// The target id that the browser gave the page; it stays the same while the page is open.
    #[must_use]
    pub fn id(&self) -> &TargetId {
        self.tab.target()
    }

    /// The tab, whose calls have explicit deadlines.
    #[must_use]
    pub fn tab(&self) -> &Arc<Tab> {
        &self.tab
    }

    /// What watches the page.
    #[must_use]
    pub fn supervisor(&self) -> &Supervisor {
        self.tab.supervisor()
    }

    /// Its address as last reported; empty once the page is closed. Waits for nothing.
    #[must_use]
    pub fn url(&self) -> String {
        let now = self.supervisor().view();
        now.page(self.id().as_str()).map(|page| page.url.to_string()).unwrap_or_default()
    }

    /// Its title. Answered also while a dialog is open.
    ///
    /// # Errors
    /// [`Error::Supervisor`] when the page or the browser is gone.
    pub fn title(&self) -> Result<String, Error> {
        let top = FrameRef::TopOf(self.id().clone());
        Ok(self.within(|tab, deadline| tab.supervisor().target_info(&top, deadline))?.title)
    }

    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let now = self.supervisor().view();
        now.is_active() && now.page(self.id().as_str()).is_some()
    }

    /// Navigates to an address and waits until it has loaded. Open dialogs are dismissed; one that opens meanwhile is a
    /// success with [`Navigation::blocked_by_dialog`].
    ///
    /// # Errors
    /// [`Error::Timeout`] when the page was not complete in time, [`Error::Supervisor`] when it cannot be reached, is blocked
    /// by the navigation policy or the browser is gone; [`Error::Busy`].
    pub fn goto(&self, url: &str) -> Result<Navigation, Error> {
        self.goto_until(url, WaitUntil::Load)
    }

    /// Navigates to an address and waits as `until` says.
    ///
    /// # Errors
    /// Those of [`goto`](Self::goto).
    pub fn goto_until(&self, url: &str, until: WaitUntil) -> Result<Navigation, Error> {
        self.within(|tab, deadline| tab.goto(url, until, deadline))
    }

    /// Loads the page again and waits until it has loaded. It revives a crashed page.
    ///
    /// # Errors
    /// Those of [`goto`](Self::goto).
    pub fn reload(&self) -> Result<Navigation, Error> {
        self.within(|tab, deadline| tab.reload(WaitUntil::Load, deadline))
    }

    /// Goes back in the history and waits until that page has loaded. `None` when there is nothing to go back to.
    ///
    /// # Errors
    /// Those of [`goto`](Self::goto).
    pub fn back(&self) -> Result<Option<Navigation>, Error> {
        self.within(|tab, deadline| tab.go_in_history(-1, WaitUntil::Load, deadline))
    }

    /// Goes forward in the history and waits until that page has loaded. `None` when there is nothing to go forward to.
    ///
    /// # Errors
    /// Those of [`goto`](Self::goto).
    pub fn forward(&self) -> Result<Option<Navigation>, Error> {
        self.within(|tab, deadline| tab.go_in_history(1, WaitUntil::Load, deadline))
    }

    /// Runs a script in the top frame and reads its value: an expression, a function that is called, or the body of an async
    /// function. Promises are awaited. The effects of the script are not waited for; [`act`](Self::act) with
    /// [`Act::evaluate`] does.
    ///
    /// ```no_run
    /// # let page = cdpilot::Browser::launch(cdpilot::LaunchOptions::new())?.page()?;
    /// #[derive(serde::Deserialize)]
    /// struct Item { name: String, price: f64 }
    /// let items: Vec<Item> =
    ///     page.evaluate("[...document.querySelectorAll('li')].map(li => ({ name: li.innerText, price: 1.5 }))")?;
    /// # Ok::<(), cdpilot::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnexpectedValue`] when the value is not a `T`; [`Error::Supervisor`] with
    /// [`Script`](crate::supervisor::Error::Script) when the script throws, with
    /// [`BlockedByDialog`](crate::supervisor::Error::BlockedByDialog) under a dialog; [`Error::BadRequest`] for a script that does not parse.
    pub fn evaluate<T: DeserializeOwned>(&self, script: &str) -> Result<T, Error> {
        typed(self.within(|tab, deadline| tab.evaluate(script, None, deadline))?.result)
    }

    /// [`evaluate`](Self::evaluate) in a frame: its id, or the ref of its `<iframe>`.
    ///
    /// # Errors
    /// Those of [`evaluate`](Self::evaluate), and [`Error::Supervisor`] with `FrameNotFound`.
    pub fn evaluate_in<T: DeserializeOwned>(&self, frame: &str, script: &str) -> Result<T, Error> {
        typed(self.within(|tab, deadline| tab.evaluate(script, Some(frame), deadline))?.result)
    }

    /// Waits until an element is visible, or until the conditions of a [`WaitFor`] hold.
    ///
    /// ```no_run
    /// # use cdpilot::{WaitFor, State};
    /// # let page = cdpilot::Browser::launch(cdpilot::LaunchOptions::new())?.page()?;
    /// page.wait_for("text=Done")?;
    /// page.wait_for(WaitFor::new().url("*/cart*").network_idle())?;
    /// page.wait_for(WaitFor::new().element("testid=spinner", State::Hidden))?;
    /// # Ok::<(), cdpilot::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Timeout`] or [`Error::NoneLocated`] when they did not hold in time, [`Error::AmbiguousLocator`],
    /// [`Error::BadRequest`], and [`Error::Supervisor`] when a dialog opens.
    pub fn wait_for(&self, condition: impl Into<WaitFor>) -> Result<Outcome, Error> {
        self.act(Act::wait(condition))
    }

    /// Acts on the page, and returns when what the action caused has ended. A dialog that it opens is a success with
    /// [`Outcome::blocked_by_dialog`].
    ///
    /// # Errors
    /// [`Error::StaleRef`], [`Error::RefChanged`], [`Error::NotActionable`], [`Error::NoneLocated`],
    /// [`Error::AmbiguousLocator`], [`Error::BadRequest`], [`Error::Busy`], [`Error::Timeout`], [`Error::Supervisor`].
    #[expect(clippy::needless_pass_by_value, reason = "actions are built where they are given away")]
    pub fn act(&self, act: Act) -> Result<Outcome, Error> {
        let has_own = act.timeout_ms.is_some() || self.scope.timeout.is_none();
        self.within(|tab, deadline| tab.act(&act, if has_own { act.deadline(deadline) } else { deadline }))
    }

    /// Brings it in front of the browser's other pages.
    ///
    /// # Errors
    /// [`Error::Supervisor`] when the page or the browser is gone.
    pub fn bring_to_front(&self) -> Result<(), Error> {
        Ok(self.within(|tab, deadline| tab.supervisor().bring_to_front(tab.target(), deadline))?)
    }

    /// Closes it. Open dialogs are dismissed first.
    ///
    /// # Errors
    /// [`Error::Supervisor`] when the page or the browser is gone.
    pub fn close(self) -> Result<(), Error> {
        Ok(self.within(|tab, deadline| tab.supervisor().close_page(tab.target(), deadline))?)
    }
}

impl PartialEq for Page {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tab, &other.tab)
    }
}

impl Eq for Page {}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("id", self.id()).finish_non_exhaustive()
    }
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, Error> {
    serde_path_to_error::deserialize(value.value)
        .map_err(|error| Error::UnexpectedValue { path: error.path().to_string(), problem: error.inner().to_string() })
}
