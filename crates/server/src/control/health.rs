//! Whether the pages that a session sees can be used.

use std::time::Duration;

use super::Profile;
use cdpilot::supervisor::{PageState, Phase};
use cdpilot::sync::Deadline;

/// Within which time a page answers that is not busy.
const ANSWER: Duration = Duration::from_millis(900);
/// Within which time the owner of a page has to be known.
const OWNER: Duration = Duration::from_millis(50);
/// How many pages are asked.
const MOST_ASKED: usize = 2;

/// Why pages cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TabHealth {
    /// A page has crashed.
    Crashed,
    /// A page does not answer: a script keeps it busy.
    Busy,
    /// The connection to the browser is lost.
    Gone,
}

impl Profile {
    /// The ids of the tabs that belong to this session and those that it may use, newest first; none if the browser is not running.
    #[must_use]
    pub fn targets(&self) -> Vec<String> {
        let Ok(running) = self.running() else { return Vec::new() };
        let now = running.view();
        let own = now.pages.iter().rev().map(|page| page.target_id.clone());
        let own = own.filter(|target| self.sees(target, Deadline::after(OWNER)) == Some(true));
        own.map(|target| target.to_string()).collect()
    }

    /// Why a page that this session sees cannot be used; `None` if all answer, also if the browser is not running. Waits for less
    /// than two seconds.
    #[must_use]
    pub fn health(&self) -> Option<TabHealth> {
        let running = self.running().ok()?;
        let now = running.view();
        if !matches!(now.phase, Phase::Active | Phase::Starting) {
            return Some(TabHealth::Gone);
        }
        let pages: Vec<_> =
            now.pages.iter().filter(|page| self.sees(&page.target_id, Deadline::after(OWNER)) == Some(true)).collect();
        if pages.iter().any(|page| page.state == PageState::Crashed) {
            return Some(TabHealth::Crashed);
        }
        let is_busy = |state: PageState| matches!(state, PageState::Unresponsive | PageState::Wedged);
        if pages.iter().any(|page| is_busy(page.state)) {
            return Some(TabHealth::Busy);
        }
        // The newest ones are those in use.
        let asked = pages.iter().rev().filter(|page| page.state == PageState::Ready).take(MOST_ASKED);
        let answers = |target: &str| {
            self.tab_to_read(Some(target)).map_or(true, |handle| handle.tab.answers(Deadline::after(ANSWER)))
        };
        let silent = asked.into_iter().any(|page| !answers(page.target_id.as_str()));
        silent.then_some(TabHealth::Busy)
    }
}
