//! The tabs of a profile by name: tab ids that are never used again, labels, and which one is meant by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::session::{Current, Own, Session};
use super::{Error, TabInfo, names};
use crate::config;
use crate::supervisor::{PageView, TargetId};

/// Pages of the browser itself, which are not shown.
const INTERNAL: [&str; 8] =
    ["chrome:", "chrome-untrusted:", "chrome-search:", "devtools:", "edge:", "brave:", "vivaldi:", "opera:"];
/// Target ids are long; so much of them is shown where several are named.
const SHOWN: usize = 8;

/// Whether a page is shown as a tab.
pub(super) fn is_shown(page: &PageView) -> bool {
    !INTERNAL.iter().any(|scheme| page.url.starts_with(scheme))
}

/// A tab that has been seen.
#[derive(Debug, Clone)]
struct Known {
    target: TargetId,
    number: u64,
    label: Option<String>,
    /// Whether it was opened on request.
    asked: bool,
    used: Instant,
}

/// The tabs of a profile by name.
#[derive(Debug)]
pub(super) struct Book {
    /// What sessions know the profile by.
    id: u64,
    /// The default session.
    default: Arc<Own>,
    /// Tabs that were given a number so far.
    numbers: u64,
    known: Vec<Known>,
    /// Tabs that are being opened at the moment.
    opening: usize,
    /// Pages that are being closed at the moment.
    closing: Vec<TargetId>,
    run: u64,
    /// The last start of the browser whose tabs no session goes on with.
    forgotten: u64,
}

impl Default for Book {
    fn default() -> Self {
        static IDS: AtomicU64 = AtomicU64::new(0);
        Self {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            default: Arc::default(),
            numbers: 0,
            known: Vec::new(),
            opening: 0,
            closing: Vec::new(),
            run: 1,
            forgotten: 0,
        }
    }
}

impl Known {
    fn id(&self) -> String {
        format!("t{}", self.number)
    }

    /// Label or id, whatever somebody would call it.
    fn name(&self) -> String {
        self.label.clone().unwrap_or_else(|| self.id())
    }

    /// As the current tab of a session, in a start of the browser.
    fn current(&self, run: u64) -> Current {
        Current { target: self.target.clone(), name: self.name(), number: self.number, run }
    }
}

impl Book {
    /// The browser was started.
    pub(super) fn begin(&mut self) {
        self.run += 1;
    }

    /// The browser was stopped on request: no tab was used yet.
    pub(super) fn forget(&mut self) {
        self.known = Vec::new();
        self.forgotten = self.run;
        self.run += 1;
    }

    /// The session that acts, and what it knows this profile by.
    pub(super) fn acting(&self) -> (Arc<Own>, u64) {
        (Session::current().state(&self.default), self.id)
    }

    /// The current tab of the session that acts.
    fn last(&self) -> Option<Current> {
        self.acting().0.tab(self.id).filter(|last| last.run > self.forgotten)
    }

    fn set_last(&self, last: Option<Current>) {
        self.acting().0.set_tab(self.id, last);
    }

    /// Takes in which pages there are.
    fn sync(&mut self, pages: &[PageView]) {
        self.known.retain(|known| pages.iter().any(|page| page.target_id == known.target));
        for page in pages.iter().filter(|page| is_shown(page)) {
            if self.known.iter().all(|known| known.target != page.target_id) {
                self.numbers += 1;
                let (target, number) = (page.target_id.clone(), self.numbers);
                self.known.push(Known { target, number, label: None, asked: false, used: Instant::now() });
            }
        }
    }

    /// The tabs that are shown, with their pages.
    fn shown<'a>(&'a self, pages: &'a [PageView]) -> impl Iterator<Item = (&'a Known, &'a PageView)> {
        let page = |known: &Known| pages.iter().find(|page| page.target_id == known.target && is_shown(page));
        self.known.iter().filter_map(move |known| Some((known, page(known)?)))
    }

    /// All tabs that are shown, in the order they came.
    pub(super) fn list(&mut self, pages: &[PageView]) -> Vec<TabInfo> {
        self.sync(pages);
        let active = self.meant(pages, false).ok();
        self.shown(pages).map(|(known, page)| info(known, page, active.as_ref())).collect()
    }

    /// One tab by its target.
    pub(super) fn info(&mut self, target: &TargetId, pages: &[PageView]) -> Option<TabInfo> {
        self.list(pages).into_iter().find(|tab| tab.target_id == target.as_str())
    }

    /// The tab that is meant where none is named: the one used last, else the first. With `anew`, one that went with
    /// an earlier browser does not count as used.
    fn meant(&self, pages: &[PageView], anew: bool) -> Result<TargetId, Error> {
        match self.last().filter(|last| !anew || last.run == self.run) {
            Some(last) if pages.iter().any(|page| page.target_id == last.target) => Ok(last.target),
            Some(last) => Err(Error::TabGone { tab: last.name }),
            None => match self.shown(pages).next() {
                None => Err(Error::NoTabOpen),
                Some((first, _)) if Session::current().is_default() => Ok(first.target.clone()),
                Some(_) => Err(Error::NoCurrentTab),
            },
        }
    }

    /// The tab that is meant: exactly by its target id, id or label, else by the beginning of its target id.
    pub(super) fn find(&mut self, wanted: Option<&str>, anew: bool, pages: &[PageView]) -> Result<TargetId, Error> {
        self.sync(pages);
        let Some(wanted) = wanted else { return self.meant(pages, anew) };
        let all: Vec<&Known> = self.shown(pages).map(|(known, _)| known).collect();
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

    /// A tab was used. With `last`, it is the one that is meant by itself from now on.
    pub(super) fn used(&mut self, target: &TargetId, last: bool) {
        let run = self.run;
        let Some(known) = self.known.iter_mut().find(|known| known.target == *target) else { return };
        known.used = Instant::now();
        let current = known.current(run);
        if last {
            self.set_last(Some(current));
        }
    }

    /// A client closed a tab. If it was the current one, the next one in the list becomes current, else the one before.
    pub(super) fn closed(&mut self, target: &TargetId, pages: &[PageView]) {
        self.sync(pages);
        let Some(number) = self.last().filter(|last| last.target == *target).map(|last| last.number) else { return };
        let left = || self.shown(pages).map(|(known, _)| known).filter(|known| known.target != *target);
        let next = left().find(|known| known.number > number).or_else(|| left().last());
        self.set_last(next.map(|known| known.current(self.run)));
    }

    /// A tab was opened on request.
    pub(super) fn asked(&mut self, target: &TargetId) {
        if let Some(known) = self.known.iter_mut().find(|known| known.target == *target) {
            known.asked = true;
        }
    }

    /// Gives a tab a label. Another one that has it loses it.
    pub(super) fn label(&mut self, target: &TargetId, label: &str) {
        for known in &mut self.known {
            if known.target == *target {
                known.label = Some(label.to_owned());
            } else if known.label.as_deref() == Some(label) {
                known.label = None;
            }
        }
        if let Some(last) = self.last().filter(|last| last.target == *target) {
            self.set_last(Some(Current { name: label.to_owned(), ..last }));
        }
    }

    /// Whether one more tab may be opened; it is counted from now on, until [`opened`](Self::opened).
    pub(super) fn open_one(&mut self, max: usize, pages: &[PageView]) -> Result<(), Error> {
        self.sync(pages);
        if self.shown(pages).count() + self.opening < max {
            self.opening += 1;
            return Ok(());
        }
        let oldest = self.shown(pages).map(|(known, _)| known).min_by_key(|known| known.used);
        Err(Error::TabLimit { max, oldest: oldest.map(Known::name).unwrap_or_default() })
    }

    /// It is there, or will not come.
    pub(super) fn opened(&mut self) {
        self.opening = self.opening.saturating_sub(1);
    }

    /// A page is being closed from now on. Whether no other one stays.
    pub(super) fn close_one(&mut self, target: &TargetId, pages: &[PageView]) -> bool {
        self.closing.retain(|one| pages.iter().any(|page| page.target_id == *one));
        if !self.closing.contains(target) {
            self.closing.push(target.clone());
        }
        pages.iter().all(|page| self.closing.contains(&page.target_id))
    }

    /// It was not closed after all.
    pub(super) fn keep_one(&mut self, target: &TargetId) {
        self.closing.retain(|one| one != target);
    }

    /// Tabs that were opened on request and not used for so long, as if `ahead` had passed since now.
    pub(super) fn idle(&mut self, pages: &[PageView], limit: Duration, ahead: Duration) -> Vec<TargetId> {
        self.sync(pages);
        let idle = |known: &Known| known.asked && known.used.elapsed() + ahead >= limit;
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
    use crate::supervisor::PageState;

    fn page(target: &str, url: &str) -> PageView {
        PageView {
            target_id: TargetId::from(target),
            url: url.into(),
            title: "".into(),
            state: PageState::Ready,
            opener: None,
            top_frame: None,
            own: false,
            lost_dialog: None,
            blocked: None,
            context: None,
            is_arriving: false,
            session: "".into(),
        }
    }

    fn pages(targets: &[&str]) -> Vec<PageView> {
        targets.iter().map(|target| page(target, "https://a.test/")).collect()
    }

    #[test]
    fn a_tab_is_found_exactly_or_by_a_beginning_that_fits_one() {
        let mut book = Book::default();
        let mut all = pages(&["AB01", "AB02", "CD"]);
        all.push(page("EF", "chrome://settings/"));
        let find = |book: &mut Book, wanted: &str| book.find(Some(wanted), false, &all).map(|t| t.as_str().to_owned());
        for (wanted, found) in [("AB01", "AB01"), ("t2", "AB02"), ("cd", "CD"), ("ab02", "AB02"), ("c", "CD")] {
            assert_eq!(find(&mut book, wanted).unwrap(), found);
        }
        assert_eq!(find(&mut book, "ab").unwrap_err().code(), "AMBIGUOUS_TARGET");
        for none in ["t4", "EF", "x", "", "AB011", "é"] {
            assert_eq!(find(&mut book, none).unwrap_err().code(), "TAB_NOT_FOUND", "{none}");
        }
        // A label may be the beginning of a target id: what fits exactly comes first.
        book.label(&TargetId::from("CD"), "AB");
        assert_eq!(find(&mut book, "AB").unwrap(), "CD");
        book.label(&TargetId::from("AB01"), "AB");
        assert_eq!(find(&mut book, "AB").unwrap(), "AB01");
        book.label(&TargetId::from("AB01"), "CD");
        assert_eq!(find(&mut book, "CD").unwrap_err().code(), "AMBIGUOUS_TARGET");
        let near = find(&mut book, "t11").unwrap_err().to_string();
        assert!(near.contains("did you mean t1?"), "{near}");
    }

    #[test]
    fn the_last_used_tab_is_meant_and_never_another_one() {
        let mut book = Book::default();
        let all = pages(&["A", "B", "C"]);
        let meant = |book: &mut Book, pages: &[PageView]| book.find(None, false, pages).map(|t| t.as_str().to_owned());
        assert_eq!(meant(&mut book, &[]).unwrap_err().code(), "TAB_NOT_FOUND");
        assert_eq!(meant(&mut book, &all).unwrap(), "A");
        book.used(&TargetId::from("B"), true);
        book.used(&TargetId::from("C"), false);
        assert_eq!(meant(&mut book, &all).unwrap(), "B");
        let without = pages(&["A", "C"]);
        let gone = meant(&mut book, &without).unwrap_err();
        assert!(gone.code() == "TAB_GONE" && gone.to_string().contains("t2"), "{gone}");
        assert!(book.list(&without).iter().all(|tab| !tab.active));
        // With another browser it is gone all the same, only who says where to go may begin anew.
        book.begin();
        let other = pages(&["D"]);
        assert_eq!(meant(&mut book, &other).unwrap_err().code(), "TAB_GONE");
        assert_eq!(book.find(None, true, &other).unwrap().as_str(), "D");
        assert_eq!(book.list(&other)[0].tab_id, "t4");
        book.forget();
        assert_eq!(meant(&mut book, &other).unwrap(), "D");
        assert_eq!(book.list(&other)[0].tab_id, "t5");
    }

    #[test]
    fn each_session_has_its_own_current_tab() {
        let mut book = Book::default();
        let all = pages(&["A", "B"]);
        let meant = |book: &mut Book| book.find(None, false, &all).map(|t| t.as_str().to_owned());
        book.list(&all);
        book.used(&TargetId::from("A"), true);
        let (first, second) = (Session::new(), Session::new());
        let none = first.run(|| meant(&mut book)).unwrap_err();
        assert!(none.code() == "TAB_NOT_FOUND" && none.to_string().contains("no current tab"), "{none}");
        assert!(first.run(|| book.list(&all)).iter().all(|tab| !tab.active));
        first.run(|| book.used(&TargetId::from("B"), true));
        assert_eq!(first.run(|| meant(&mut book)).unwrap(), "B");
        assert_eq!(meant(&mut book).unwrap(), "A");
        assert!(second.run(|| meant(&mut book)).is_err());
        let without = pages(&["A"]);
        let gone = first.run(|| book.find(None, false, &without)).unwrap_err();
        assert_eq!(gone.code(), "TAB_GONE");
        book.forget();
        assert_eq!(first.run(|| meant(&mut book)).unwrap_err().code(), "TAB_NOT_FOUND");
    }

    #[test]
    fn after_a_close_on_request_the_next_tab_is_current() {
        let mut book = Book::default();
        let all = pages(&["A", "B", "C"]);
        let meant = |book: &mut Book, pages: &[PageView]| book.find(None, false, pages).map(|t| t.as_str().to_owned());
        book.list(&all);
        book.used(&TargetId::from("B"), true);
        // The browser may report the end of the tab first.
        let left = pages(&["A", "C"]);
        assert_eq!(meant(&mut book, &left).unwrap_err().code(), "TAB_GONE");
        book.closed(&TargetId::from("B"), &left);
        assert_eq!(meant(&mut book, &left).unwrap(), "C");
        // Or still list it.
        book.closed(&TargetId::from("C"), &left);
        assert_eq!(meant(&mut book, &left).unwrap(), "A");
        // A tab that is not the current one makes no difference.
        book.closed(&TargetId::from("C"), &pages(&["A"]));
        assert_eq!(meant(&mut book, &pages(&["A"])).unwrap(), "A");
        book.closed(&TargetId::from("A"), &[]);
        assert_eq!(meant(&mut book, &[]).unwrap_err().code(), "TAB_NOT_FOUND");
    }

    #[test]
    fn tabs_being_opened_count_and_idle_ones_are_those_that_were_asked_for() {
        let mut book = Book::default();
        let all = pages(&["A", "B"]);
        book.open_one(3, &all).unwrap();
        book.used(&TargetId::from("A"), false);
        let full = book.open_one(3, &all).unwrap_err();
        assert!(full.code() == "TAB_LIMIT" && full.to_string().contains("t2"), "{full}");
        book.opened();
        book.open_one(3, &all).unwrap();
        let hour = Duration::from_secs(3600);
        assert!(book.idle(&all, hour, hour).is_empty());
        book.asked(&TargetId::from("B"));
        assert!(book.idle(&all, hour, hour / 2).is_empty());
        assert_eq!(book.idle(&all, hour, hour).len(), 1);
    }
}
