//! The tab index of a profile: tab ids that are never reused, labels, the owner of each tab, and the current tab of
//! each session.
//!
//! A tab belongs to the session that opened it, and a popup to the session of its opener. The default session sees all
//! tabs; another session sees its own ones and those that belong to no other session.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::session::{Client, CurrentTab, Session};
use super::{Error, TabInfo, names};
use crate::config;
use cdpilot::supervisor::{BrowserContextId, PageView, TargetId};

/// Schemes of internal pages of the browser, which are not tabs.
const INTERNAL: [&str; 8] =
    ["chrome:", "chrome-untrusted:", "chrome-search:", "devtools:", "edge:", "brave:", "vivaldi:", "opera:"];
/// Length of target ids in lists of several tabs, in characters.
const SHOWN: usize = 8;
/// Number of closed tabs that are remembered, for events that are read later and for outdated page lists.
const REMEMBERED: usize = 1024;

/// Whether a page is a tab.
pub(super) fn is_shown(page: &PageView) -> bool {
    !INTERNAL.iter().any(|scheme| page.url.starts_with(scheme))
}

/// A known tab.
#[derive(Debug, Clone)]
struct Known {
    target: TargetId,
    number: u64,
    label: Option<String>,
    /// Whether a client opened it.
    requested: bool,
    owner: Owner,
    used: Instant,
}

/// The session that a tab belongs to.
#[derive(Debug, Clone, Default)]
enum Owner {
    /// No session: opened by a person, the default session, or a session that has ended.
    #[default]
    Nobody,
    /// Unknown: a session is opening a tab, and this may be it.
    Unknown,
    /// A session.
    Session(Weak<Client>),
}

impl Owner {
    fn of(session: &Session) -> Self {
        session.client().map_or(Self::Nobody, |client| Self::Session(Arc::downgrade(client)))
    }

    /// The session, if it has not ended.
    fn client(&self) -> Option<Arc<Client>> {
        match self {
            Self::Session(client) => client.upgrade(),
            Self::Nobody | Self::Unknown => None,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self.client(), other.client()) {
            (None, None) => true,
            (Some(this), Some(that)) => Arc::ptr_eq(&this, &that),
            _ => false,
        }
    }

    /// Whether a session sees a tab of this owner.
    fn is_visible_to(&self, session: &Session) -> bool {
        let Some(client) = session.client() else { return true };
        match self.client() {
            Some(owner) => Arc::ptr_eq(&owner, client),
            None => !matches!(self, Self::Unknown) && !client.is_isolated(),
        }
    }
}

/// The tab index of a profile.
#[derive(Debug)]
pub(super) struct TabIndex {
    /// Key under which sessions store their state of this profile.
    id: u64,
    /// State of the default session.
    default: Arc<Client>,
    /// Number of the last tab id.
    numbers: u64,
    known: Vec<Known>,
    /// Tabs that have closed, oldest first.
    closed: VecDeque<Known>,
    /// Tabs being opened at the moment.
    opening: usize,
    /// Number of these that are opened by a session other than the default one.
    opening_owned: usize,
    /// Pages being closed at the moment.
    closing: Vec<TargetId>,
    /// The browser contexts of isolated sessions: their pages belong to the session, with or without an opener.
    contexts: Vec<(BrowserContextId, Weak<Client>)>,
    /// Counts starts of the browser.
    run: u64,
    /// The start of the browser whose current tabs were dropped last, when it was stopped on request.
    forgotten: u64,
}

impl Default for TabIndex {
    fn default() -> Self {
        static IDS: AtomicU64 = AtomicU64::new(0);
        Self {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            default: Arc::default(),
            numbers: 0,
            known: Vec::new(),
            closed: VecDeque::new(),
            opening: 0,
            opening_owned: 0,
            closing: Vec::new(),
            contexts: Vec::new(),
            run: 1,
            forgotten: 0,
        }
    }
}

impl Known {
    fn id(&self) -> String {
        format!("t{}", self.number)
    }

    /// The label, else the tab id.
    fn name(&self) -> String {
        self.label.clone().unwrap_or_else(|| self.id())
    }

    /// This tab as the current tab of a session, for a start of the browser.
    fn current(&self, run: u64) -> CurrentTab {
        CurrentTab { target: self.target.clone(), name: self.name(), run }
    }
}

impl TabIndex {
    /// Records a start of the browser.
    pub(super) fn begin(&mut self) {
        self.run += 1;
    }

    /// Records a stop of the browser on request: drops all tabs and current tabs.
    pub(super) fn forget(&mut self) {
        self.known = Vec::new();
        self.closed = VecDeque::new();
        self.forgotten = self.run;
        self.run += 1;
    }

    /// The state of a session in this profile: the client, and the key under which it stores the profile's state.
    pub(super) fn client(&self, session: &Session) -> (Arc<Client>, u64) {
        (Arc::clone(session.client().unwrap_or(&self.default)), self.id)
    }

    /// The current tab of a session.
    fn last(&self, session: &Session) -> Option<CurrentTab> {
        self.client(session).0.tab(self.id).filter(|last| last.run > self.forgotten)
    }

    fn set_last(&self, session: &Session, last: Option<CurrentTab>) {
        self.client(session).0.set_tab(self.id, last);
    }

    /// Updates the index to the pages that exist.
    fn sync(&mut self, pages: &[PageView]) {
        let (kept, gone): (Vec<Known>, Vec<Known>) = std::mem::take(&mut self.known)
            .into_iter()
            .partition(|known| pages.iter().any(|page| page.target_id == known.target));
        self.known = kept;
        self.closed.extend(gone);
        while self.closed.len() > REMEMBERED {
            self.closed.pop_front();
        }
        for page in pages.iter().filter(|page| is_shown(page)) {
            if self.known.iter().all(|known| known.target != page.target_id) {
                // Concurrent callers may pass page lists out of order: a tab that is missing from an older list was not
                // closed.
                if let Some(at) = self.closed.iter().position(|known| known.target == page.target_id)
                    && let Some(mut known) = self.closed.remove(at)
                {
                    if matches!(known.owner, Owner::Unknown) && self.opening_owned == 0 {
                        known.owner = Owner::Nobody;
                    }
                    self.known.push(known);
                    continue;
                }
                self.numbers += 1;
                let opener = page.opener.as_ref().map(|opener| self.owner_of(opener));
                let of_context = || {
                    let (_, owner) =
                        self.contexts.iter().find(|(context, _)| page.context.as_ref() == Some(context))?;
                    Some(Owner::Session(Weak::clone(owner)))
                };
                let owner = match opener.filter(|owner| matches!(owner, Owner::Session(_))).or_else(of_context) {
                    Some(owner) => owner,
                    _ if self.opening_owned > 0 => Owner::Unknown,
                    _ => Owner::Nobody,
                };
                let (target, number) = (page.target_id.clone(), self.numbers);
                let used = Instant::now();
                self.known.push(Known { target, number, label: None, requested: false, owner, used });
            }
        }
    }

    /// The owner of a tab, or of a recently closed one.
    fn owner_of(&self, target: &TargetId) -> Owner {
        if let Some(known) = self.known.iter().find(|known| known.target == *target) {
            return known.owner.clone();
        }
        let closed = self.closed.iter().rev().find(|known| known.target == *target);
        closed.map_or(Owner::Nobody, |known| known.owner.clone())
    }

    /// Records the browser context of an isolated session.
    pub(super) fn context_of(&mut self, session: &Session, context: BrowserContextId) {
        self.contexts.retain(|(_, owner)| owner.strong_count() > 0);
        if let Some(client) = session.client() {
            self.contexts.push((context, Arc::downgrade(client)));
        }
    }

    /// Makes a session the owner of a tab that an action of it opened and that nobody owns.
    pub(super) fn adopt(&mut self, session: &Session, target: &TargetId, pages: &[PageView]) -> bool {
        self.sync(pages);
        let known = self.known.iter_mut().find(|known| known.target == *target);
        let Some(known) = known.filter(|known| known.owner.client().is_none()) else { return false };
        known.owner = Owner::of(session);
        true
    }

    /// Whether a session sees a tab, or the events of a recently closed one. `None` while its owner is unknown. Of a closed
    /// tab whose session has ended, and of one that is not remembered, only the default session sees the events.
    pub(super) fn is_visible(
        &mut self,
        session: &Session,
        target: &TargetId,
        pages: Option<&[PageView]>,
    ) -> Option<bool> {
        if let Some(pages) = pages {
            self.sync(pages);
        }
        let is_open = self.known.iter().any(|known| known.target == *target);
        let was_open = self.closed.iter().any(|known| known.target == *target);
        match self.owner_of(target) {
            Owner::Unknown => None,
            Owner::Session(owner) if !is_open && owner.strong_count() == 0 => Some(session.is_default()),
            Owner::Nobody if !is_open && !was_open => Some(session.is_default()),
            owner => Some(owner.is_visible_to(session)),
        }
    }

    /// The tabs that belong to a session.
    pub(super) fn owned_by(&mut self, session: &Session, pages: &[PageView]) -> Vec<TargetId> {
        self.sync(pages);
        let wanted = Owner::of(session);
        let is_owned = |known: &&Known| known.owner.client().is_some() && known.owner.is_same(&wanted);
        self.known.iter().filter(is_owned).map(|known| known.target.clone()).collect()
    }

    /// Sets the owner of a tab; the default session owns no tabs.
    pub(super) fn give(&mut self, session: &Session, target: &TargetId, pages: &[PageView]) {
        self.sync(pages);
        if let Some(known) = self.known.iter_mut().find(|known| known.target == *target) {
            known.owner = Owner::of(session);
        }
    }

    /// All tabs, with their pages.
    fn shown<'a>(&'a self, pages: &'a [PageView]) -> impl Iterator<Item = (&'a Known, &'a PageView)> {
        let page = |known: &Known| pages.iter().find(|page| page.target_id == known.target && is_shown(page));
        self.known.iter().filter_map(move |known| Some((known, page(known)?)))
    }

    /// The tabs that a session sees, with their pages.
    fn visible<'a>(
        &'a self,
        session: &'a Session,
        pages: &'a [PageView],
    ) -> impl Iterator<Item = (&'a Known, &'a PageView)> {
        self.shown(pages).filter(move |(known, _)| known.owner.is_visible_to(session))
    }

    /// The tabs that a session sees, in the order they were opened.
    pub(super) fn list(&mut self, session: &Session, pages: &[PageView]) -> Vec<TabInfo> {
        self.sync(pages);
        let active = self.current(session, pages, false).ok();
        self.visible(session, pages).map(|(known, page)| info(known, page, active.as_ref())).collect()
    }

    /// One tab by its target, as a session sees it.
    pub(super) fn info(&mut self, session: &Session, target: &TargetId, pages: &[PageView]) -> Option<TabInfo> {
        self.list(session, pages).into_iter().find(|tab| tab.target_id == target.as_str())
    }

    /// The tab id of a target, whoever owns the tab.
    pub(super) fn tab_id(&mut self, target: &TargetId, pages: &[PageView]) -> Option<String> {
        self.sync(pages);
        self.known.iter().find(|known| known.target == *target).map(Known::id)
    }

    /// The tab used when none is named: the current tab of the session, or, for the default session without one, the
    /// first tab. With `anew`, a current tab of an earlier start of the browser is ignored.
    fn current(&self, session: &Session, pages: &[PageView], anew: bool) -> Result<TargetId, Error> {
        match self.last(session).filter(|last| !anew || last.run == self.run) {
            Some(last) if pages.iter().any(|page| page.target_id == last.target) => Ok(last.target),
            Some(last) => Err(Error::TabGone { tab: last.name }),
            None if !session.is_default() => Err(Error::NoCurrentTab),
            None => self.shown(pages).next().map(|(first, _)| first.target.clone()).ok_or(Error::NoTabOpen),
        }
    }

    /// Finds a tab that the session sees: by its exact target id, tab id or label, else by a unique prefix of its
    /// target id; without a name the [current](Self::current) tab.
    pub(super) fn find(
        &mut self,
        session: &Session,
        wanted: Option<&str>,
        anew: bool,
        pages: &[PageView],
    ) -> Result<TargetId, Error> {
        self.sync(pages);
        let Some(wanted) = wanted else { return self.current(session, pages, anew) };
        let all: Vec<&Known> = self.visible(session, pages).map(|(known, _)| known).collect();
        let number = names::tab_number(wanted);
        let exact = |known: &&&Known| {
            known.target.as_str() == wanted || number == Some(known.number) || known.label.as_deref() == Some(wanted)
        };
        let mut found: Vec<&Known> = all.iter().filter(exact).copied().collect();
        if found.is_empty() && !wanted.is_empty() {
            let begins = |known: &&&Known| {
                known.target.as_str().get(..wanted.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(wanted))
            };
            found = all.iter().filter(begins).copied().collect();
        }
        let shown = || wanted.chars().take(80).collect();
        match found.as_slice() {
            [one] => Ok(one.target.clone()),
            [] => {
                let known: Vec<String> =
                    all.iter().flat_map(|known| [Some(known.id()), known.label.clone()]).flatten().collect();
                let nearest = config::nearest(wanted, known.iter().map(String::as_str)).map(str::to_owned);
                Err(Error::NoTab { wanted: shown(), nearest })
            }
            several => {
                let name = |known: &&Known| {
                    let target: String = known.target.as_str().chars().take(wanted.len().max(SHOWN) + 2).collect();
                    format!("{} ({target}…)", known.name())
                };
                Err(Error::Ambiguous {
                    wanted: shown(),
                    candidates: several.iter().map(name).collect::<Vec<_>>().join(", "),
                })
            }
        }
    }

    /// Records that a session used a tab; with `is_current`, the tab becomes its current one.
    pub(super) fn used(&mut self, session: &Session, target: &TargetId, is_current: bool) {
        let run = self.run;
        let Some(known) = self.known.iter_mut().find(|known| known.target == *target) else { return };
        known.used = Instant::now();
        let current = known.current(run);
        if is_current {
            self.set_last(session, Some(current));
        }
    }

    /// Records that a client opened a tab.
    pub(super) fn requested(&mut self, target: &TargetId) {
        if let Some(known) = self.known.iter_mut().find(|known| known.target == *target) {
            known.requested = true;
        }
    }

    /// Labels a tab. The label is removed from other tabs of the same owner; returns the tab id of such a tab.
    pub(super) fn label(&mut self, session: &Session, target: &TargetId, label: &str) -> Option<String> {
        let (owner, mut taken_from) = (self.owner_of(target), None);
        for known in &mut self.known {
            if known.target == *target {
                known.label = Some(label.to_owned());
            } else if known.label.as_deref() == Some(label) && known.owner.is_same(&owner) {
                known.label = None;
                taken_from = Some(known.id());
            }
        }
        if let Some(last) = self.last(session).filter(|last| last.target == *target) {
            self.set_last(session, Some(CurrentTab { name: label.to_owned(), ..last }));
        }
        taken_from
    }

    /// Counts one more tab as being opened, until [`opened`](Self::opened).
    ///
    /// # Errors
    /// [`Error::TabLimit`] when the profile has `max` tabs.
    pub(super) fn open_one(&mut self, session: &Session, max: usize, pages: &[PageView]) -> Result<(), Error> {
        self.sync(pages);
        if self.shown(pages).count() + self.opening < max {
            self.opening += 1;
            self.opening_owned += usize::from(!session.is_default());
            return Ok(());
        }
        let oldest = self.visible(session, pages).map(|(known, _)| known).min_by_key(|known| known.used);
        Err(Error::TabLimit { max, oldest: oldest.map(Known::name) })
    }

    /// Whether [`open_one`](Self::open_one) would refuse another tab.
    pub(super) fn is_full(&mut self, max: usize, pages: &[PageView]) -> bool {
        self.sync(pages);
        self.shown(pages).count() + self.opening >= max
    }

    /// Ends the count of [`open_one`](Self::open_one), whether or not the tab was opened.
    pub(super) fn opened(&mut self, session: &Session) {
        self.opening = self.opening.saturating_sub(1);
        self.opening_owned = self.opening_owned.saturating_sub(usize::from(!session.is_default()));
        if self.opening_owned == 0 {
            for known in &mut self.known {
                if matches!(known.owner, Owner::Unknown) {
                    known.owner = Owner::Nobody;
                }
            }
        }
    }

    /// Records that a page is being closed. Returns whether no other page stays open.
    pub(super) fn close_one(&mut self, target: &TargetId, pages: &[PageView]) -> bool {
        self.closing.retain(|one| pages.iter().any(|page| page.target_id == *one));
        if !self.closing.contains(target) {
            self.closing.push(target.clone());
        }
        pages.iter().all(|page| self.closing.contains(&page.target_id))
    }

    /// Records that a page was not closed after all.
    pub(super) fn keep_one(&mut self, target: &TargetId) {
        self.closing.retain(|one| one != target);
    }

    /// Tabs that a client opened and that were not used for `limit`, as if `ahead` had passed.
    pub(super) fn idle(&mut self, pages: &[PageView], limit: Duration, ahead: Duration) -> Vec<TargetId> {
        self.sync(pages);
        let is_kept = |known: &Known| match &known.owner {
            Owner::Session(client) => client.upgrade().is_some_and(|client| client.is_kept()),
            Owner::Nobody | Owner::Unknown => false,
        };
        let idle = |known: &Known| known.requested && known.used.elapsed() + ahead >= limit && !is_kept(known);
        self.shown(pages).filter(|(known, _)| idle(known)).map(|(known, _)| known.target.clone()).collect()
    }
}

fn info(known: &Known, page: &PageView, active: Option<&TargetId>) -> TabInfo {
    TabInfo {
        target_id: known.target.as_str().to_owned(),
        tab_id: known.id(),
        label: known.label.clone(),
        title: page.title.to_string(),
        url: page.url.to_string(),
        kind: "page".to_owned(),
        active: active == Some(&known.target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The default session.
    fn any() -> Session {
        Session::default()
    }

    fn pages(targets: &[&str]) -> Vec<PageView> {
        targets.iter().map(|target| PageView::example(target, "https://a.test/")).collect()
    }

    #[test]
    fn a_tab_is_found_exactly_or_by_a_beginning_that_fits_one() {
        let mut index = TabIndex::default();
        let mut all = pages(&["AB01", "AB02", "CD"]);
        all.push(PageView::example("EF", "chrome://settings/"));
        let find = |index: &mut TabIndex, wanted: &str| {
            index.find(&any(), Some(wanted), false, &all).map(|t| t.as_str().to_owned())
        };
        for (wanted, found) in [("AB01", "AB01"), ("t2", "AB02"), ("cd", "CD"), ("ab02", "AB02"), ("c", "CD")] {
            assert_eq!(find(&mut index, wanted).unwrap(), found);
        }
        assert_eq!(find(&mut index, "ab").unwrap_err().code(), "AMBIGUOUS_TARGET");
        for none in ["t4", "EF", "x", "", "AB011", "é"] {
            assert_eq!(find(&mut index, none).unwrap_err().code(), "TAB_NOT_FOUND", "{none}");
        }
        // A label may equal a prefix of a target id: exact matches take precedence.
        index.label(&any(), &TargetId::from("CD"), "AB");
        assert_eq!(find(&mut index, "AB").unwrap(), "CD");
        index.label(&any(), &TargetId::from("AB01"), "AB");
        assert_eq!(find(&mut index, "AB").unwrap(), "AB01");
        index.label(&any(), &TargetId::from("AB01"), "CD");
        assert_eq!(find(&mut index, "CD").unwrap_err().code(), "AMBIGUOUS_TARGET");
        let near = find(&mut index, "t11").unwrap_err().to_string();
        assert!(near.contains("did you mean t1?"), "{near}");
    }

    #[test]
    fn the_last_used_tab_is_meant_and_never_another_one() {
        let mut index = TabIndex::default();
        let all = pages(&["A", "B", "C"]);
        let resolve = |index: &mut TabIndex, pages: &[PageView]| {
            index.find(&any(), None, false, pages).map(|t| t.as_str().to_owned())
        };
        assert_eq!(resolve(&mut index, &[]).unwrap_err().code(), "TAB_NOT_FOUND");
        assert_eq!(resolve(&mut index, &all).unwrap(), "A");
        index.used(&any(), &TargetId::from("B"), true);
        index.used(&any(), &TargetId::from("C"), false);
        assert_eq!(resolve(&mut index, &all).unwrap(), "B");
        let without = pages(&["A", "C"]);
        let gone = resolve(&mut index, &without).unwrap_err();
        assert!(gone.code() == "TAB_GONE" && gone.to_string().contains("t2"), "{gone}");
        assert!(index.list(&any(), &without).iter().all(|tab| !tab.active));
        // After a restart of the browser it is gone too; only navigations ignore that.
        index.begin();
        let other = pages(&["D"]);
        assert_eq!(resolve(&mut index, &other).unwrap_err().code(), "TAB_GONE");
        assert_eq!(index.find(&any(), None, true, &other).unwrap().as_str(), "D");
        assert_eq!(index.list(&any(), &other)[0].tab_id, "t4");
        index.forget();
        assert_eq!(resolve(&mut index, &other).unwrap(), "D");
        assert_eq!(index.list(&any(), &other)[0].tab_id, "t5");
    }

    #[test]
    fn each_session_has_its_own_current_tab() {
        let mut index = TabIndex::default();
        let all = pages(&["A", "B"]);
        let current = |index: &mut TabIndex, session: &Session, pages: &[PageView]| {
            index.find(session, None, false, pages).map(|target| target.as_str().to_owned())
        };
        index.list(&any(), &all);
        index.used(&any(), &TargetId::from("A"), true);
        let (first, second) = (Session::new(), Session::new());
        let none = current(&mut index, &first, &all).unwrap_err();
        assert!(none.code() == "TAB_NOT_FOUND" && none.to_string().contains("no current tab"), "{none}");
        assert!(index.list(&first, &all).iter().all(|tab| !tab.active));
        index.used(&first, &TargetId::from("B"), true);
        assert_eq!(current(&mut index, &first, &all).unwrap(), "B");
        assert_eq!(current(&mut index, &any(), &all).unwrap(), "A");
        assert!(current(&mut index, &second, &all).is_err());
        assert_eq!(current(&mut index, &first, &pages(&["A"])).unwrap_err().code(), "TAB_GONE");
        index.forget();
        assert_eq!(current(&mut index, &first, &all).unwrap_err().code(), "TAB_NOT_FOUND");
    }

    #[test]
    fn a_session_sees_its_own_tabs_and_those_of_nobody() {
        let mut index = TabIndex::default();
        let (first, second) = (Session::new(), Session::new());
        let targets = |index: &mut TabIndex, session: &Session, pages: &[PageView]| -> Vec<String> {
            index.list(session, pages).into_iter().map(|tab| tab.target_id).collect()
        };
        let before = pages(&["A"]);
        assert_eq!(targets(&mut index, &first, &before), ["A"]);
        // While a session opens a tab, no other session sees the new page.
        index.open_one(&first, 9, &before).unwrap();
        let all = pages(&["A", "B"]);
        assert_eq!(targets(&mut index, &second, &all), ["A"]);
        index.give(&first, &TargetId::from("B"), &all);
        index.opened(&first);
        assert_eq!(targets(&mut index, &first, &all), ["A", "B"]);
        assert_eq!(targets(&mut index, &second, &all), ["A"]);
        assert_eq!(targets(&mut index, &any(), &all), ["A", "B"]);
        assert_eq!(index.find(&second, Some("B"), false, &all).unwrap_err().code(), "TAB_NOT_FOUND");
        // Its popup belongs to the same session.
        let mut all = pages(&["A", "B", "C"]);
        all[2].opener = Some(TargetId::from("B"));
        assert_eq!(targets(&mut index, &second, &all), ["A"]);
        assert_eq!(targets(&mut index, &first, &all), ["A", "B", "C"]);
        // Labels of different sessions do not conflict.
        index.give(&second, &TargetId::from("A"), &all);
        index.label(&first, &TargetId::from("B"), "main");
        index.label(&second, &TargetId::from("A"), "main");
        assert_eq!(index.find(&first, Some("main"), false, &all).unwrap().as_str(), "B");
        assert_eq!(index.find(&second, Some("main"), false, &all).unwrap().as_str(), "A");
        // Events of a closed tab stay with its session; tabs of an ended session are visible to all.
        let left = pages(&["A", "C"]);
        assert_eq!(index.is_visible(&first, &TargetId::from("B"), Some(&left)), Some(true));
        assert_eq!(index.is_visible(&second, &TargetId::from("B"), Some(&left)), Some(false));
        drop(first);
        assert_eq!(targets(&mut index, &second, &left), ["A", "C"]);
    }

    #[test]
    fn pages_in_the_wrong_order_take_nothing_from_a_tab() {
        let mut index = TabIndex::default();
        let (first, second) = (Session::new(), Session::new());
        let (older, newer) = (pages(&["A"]), pages(&["A", "B"]));
        index.list(&any(), &older);
        index.open_one(&first, 9, &older).unwrap();
        index.give(&first, &TargetId::from("B"), &newer);
        index.opened(&first);
        index.label(&first, &TargetId::from("B"), "main");
        let before = index.info(&first, &TargetId::from("B"), &newer);
        // Another caller took its view before the tab existed.
        index.list(&second, &older);
        assert_eq!(index.info(&first, &TargetId::from("B"), &newer), before);
        assert!(index.info(&second, &TargetId::from("B"), &newer).is_none());
    }

    #[test]
    fn a_tab_that_is_gone_is_no_other_tab() {
        let mut index = TabIndex::default();
        let all = pages(&["A", "B", "C"]);
        let resolve = |index: &mut TabIndex, pages: &[PageView]| {
            index.find(&any(), None, false, pages).map(|t| t.as_str().to_owned())
        };
        index.list(&any(), &all);
        index.used(&any(), &TargetId::from("B"), true);
        let left = pages(&["A", "C"]);
        assert_eq!(resolve(&mut index, &left).unwrap_err().code(), "TAB_GONE");
        index.used(&any(), &TargetId::from("C"), true);
        assert_eq!(resolve(&mut index, &left).unwrap(), "C");
    }

    #[test]
    fn tabs_being_opened_count_and_idle_ones_are_those_that_were_asked_for() {
        let mut index = TabIndex::default();
        let all = pages(&["A", "B"]);
        index.open_one(&any(), 3, &all).unwrap();
        index.used(&any(), &TargetId::from("A"), false);
        let full = index.open_one(&any(), 3, &all).unwrap_err();
        assert!(full.code() == "TAB_LIMIT" && full.to_string().contains("t2"), "{full}");
        index.opened(&any());
        index.open_one(&any(), 3, &all).unwrap();
        let hour = Duration::from_secs(3600);
        assert!(index.idle(&all, hour, hour).is_empty());
        index.requested(&TargetId::from("B"));
        assert!(index.idle(&all, hour, hour / 2).is_empty());
        assert_eq!(index.idle(&all, hour, hour).len(), 1);
    }
}
