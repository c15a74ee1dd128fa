//! Events and requests of a page.

use super::page::Page;
use crate::page::Error;
use crate::supervisor::{EventFilter, InterceptRule, Interceptor, PageEvents};

impl Page {
    /// Subscribes to protocol events of the page, over reconnects and process swaps. See
    /// [`Supervisor::subscribe`](crate::supervisor::Supervisor::subscribe).
    ///
    /// # Errors
    /// [`Error::Supervisor`] when the page or the browser is gone.
    pub fn events(&self, filter: EventFilter) -> Result<PageEvents, Error> {
        Ok(self.within(|tab, deadline| tab.supervisor().subscribe(tab.target(), filter, deadline))?)
    }

    /// Hands the requests of the page that fit a rule to the caller, who fulfils, continues or fails each of them. One that
    /// is not answered in time, or whose interceptor is dropped, goes on as without. See
    /// [`Supervisor::intercept`](crate::supervisor::Supervisor::intercept).
    ///
    /// ```no_run
    /// # use cdpilot::supervisor::{Fulfilment, InterceptRule};
    /// # use cdpilot::sync::{Deadline, spawn};
    /// # let browser = cdpilot::Browser::launch(cdpilot::LaunchOptions::new())?;
    /// # let page = browser.page()?;
    /// let users = page.intercept(InterceptRule::new("**/api/users"))?;
    /// let mock = spawn("mock", move || {
    ///     while let Ok(request) = users.next(Deadline::after_secs(60)) {
    ///         let _ = request.fulfil(Fulfilment::new(200, Vec::new(), r#"[{"name": "Ada"}]"#));
    ///     }
    /// });
    /// page.goto("https://example.com/users")?;
    /// # drop(mock);
    /// # Ok::<(), cdpilot::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Supervisor`] with [`BadRoute`](crate::supervisor::Error::BadRoute) for a rule that makes no sense, and when
    /// the page or the browser is gone.
    pub fn intercept(&self, rule: InterceptRule) -> Result<Interceptor, Error> {
        let rule = rule.on_page(self.id().clone());
        Ok(self.within(|tab, deadline| tab.supervisor().intercept(rule, deadline))?)
    }
}
