//! Sessions: who acts on a profile's browser. A session owns its current tab, and knows what its client was told last.
//!
//! A session is handed down by no argument: [`Session::run`] makes it the calling thread's for a while, as
//! [`Cancel::run`](crate::sync::Cancel::run) does with a flag. Without one, the default session of the profile acts.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

use super::Profile;
use crate::supervisor::{ClosedDialog, TargetId};

/// Sessions that are kept by name; beyond that, the least recently used one is forgotten.
const MOST: usize = 256;
/// Characters of a name at most.
const LONGEST_NAME: usize = 128;

thread_local! {
    static CURRENT: RefCell<Session> = const { RefCell::new(Session(None)) };
}

/// A client of the browsers with a current tab of its own. The default session shares the one of the profile with all
/// callers that have none. Clones are the same session.
///
/// ```
/// use cdpilot::control::Session;
///
/// let session = Session::new();
/// assert!(session.run(|| Session::current() == session));
/// assert_eq!(Session::current(), Session::default());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Session(Option<Arc<Own>>);

/// A session's state. The lock is held for a map operation.
#[derive(Debug, Default)]
pub(super) struct Own {
    id: String,
    profiles: Mutex<HashMap<u64, OfProfile>>,
}

/// What a session knows of one profile.
#[derive(Debug, Default)]
struct OfProfile {
    current: Option<Current>,
    /// Closed dialogs that its client knows of.
    dialogs: Option<HashSet<DialogKey>>,
    /// Tab, address and title that its client was told last.
    place: Option<(String, String, String)>,
}

/// Ids begin anew with each start of the browser.
type DialogKey = (Arc<str>, u64);

/// The tab that is meant where none is named.
#[derive(Debug, Clone)]
pub(super) struct Current {
    pub(super) target: TargetId,
    /// Label or tab id.
    pub(super) name: String,
    /// The number of its tab id.
    pub(super) number: u64,
    /// Which start of the browser it belongs to.
    pub(super) run: u64,
}

impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(this), Some(that)) => Arc::ptr_eq(this, that),
            _ => false,
        }
    }
}

impl Eq for Session {}

impl Session {
    /// A session of its own, without a current tab yet.
    #[must_use]
    pub fn new() -> Self {
        let id = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        Self(Some(Arc::new(Own { id, profiles: Mutex::default() })))
    }

    /// Names the session in requests to a server; empty for the default session.
    #[must_use]
    pub fn id(&self) -> &str {
        self.0.as_ref().map_or("", |own| &own.id)
    }

    /// Does something for this session.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Restore(Session);
        impl Drop for Restore {
            fn drop(&mut self) {
                let before = std::mem::take(&mut self.0);
                let _ = CURRENT.try_with(|current| current.replace(before));
            }
        }
        let before = CURRENT.try_with(|current| current.replace(self.clone())).unwrap_or_default();
        let _restore = Restore(before);
        work()
    }

    /// The session that the calling thread works for.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.try_with(|current| current.borrow().clone()).unwrap_or_default()
    }

    /// Its state; that of the default session of a profile is the profile's.
    pub(super) fn state(&self, default: &Arc<Own>) -> Arc<Own> {
        Arc::clone(self.0.as_ref().unwrap_or(default))
    }

    /// Whether it is the default session.
    pub(super) fn is_default(&self) -> bool {
        self.0.is_none()
    }
}

impl Own {
    pub(super) fn tab(&self, book: u64) -> Option<Current> {
        self.profiles.lock().get(&book).and_then(|of| of.current.clone())
    }

    pub(super) fn set_tab(&self, book: u64, tab: Option<Current>) {
        self.profiles.lock().entry(book).or_default().current = tab;
    }
}

impl Profile {
    fn of_session<T>(&self, work: impl FnOnce(&mut OfProfile) -> T) -> T {
        let (state, book) = self.book.lock().acting();
        let mut profiles = state.profiles.lock();
        work(profiles.entry(book).or_default())
    }

    fn recent_dialogs(&self) -> Vec<ClosedDialog> {
        self.running().map(|running| running.view().recent.to_vec()).unwrap_or_default()
    }

    /// A result for the session's client begins. What closed before the first one is no news.
    pub(crate) fn begin_result(&self) {
        let known = || self.recent_dialogs().iter().map(key).collect();
        if self.of_session(|of| of.dialogs.is_none()) {
            let known = known();
            self.of_session(|of| of.dialogs.get_or_insert(known).len());
        }
    }

    /// The dialogs that closed since the session asked last.
    pub(crate) fn new_recent_dialogs(&self) -> Vec<ClosedDialog> {
        let recent = self.recent_dialogs();
        let now: HashSet<DialogKey> = recent.iter().map(key).collect();
        let known = self.of_session(|of| of.dialogs.replace(now)).unwrap_or_default();
        recent.into_iter().filter(|closed| !known.contains(&key(closed))).collect()
    }

    /// Whether the session's client does not know yet that a tab shows this. It does from now on.
    pub(crate) fn is_news(&self, target: &str, url: &str, title: &str) -> bool {
        let place = Some((target.to_owned(), url.to_owned(), title.to_owned()));
        self.of_session(|of| {
            of.place != place && {
                of.place = place;
                true
            }
        })
    }

    /// Whether the session has no tab to go on with: it needs a new one to go anywhere.
    pub(crate) fn needs_tab(&self) -> bool {
        let Ok(running) = self.running() else { return true };
        let now = running.view();
        let found = self.book.lock().find(None, true, &now.pages);
        let is_empty = !now.pages.iter().any(super::book::is_shown);
        is_empty || matches!(found, Err(super::Error::NoTabOpen | super::Error::NoCurrentTab))
    }
}

fn key(closed: &ClosedDialog) -> DialogKey {
    (Arc::clone(&closed.dialog.id), closed.closed_at.to_bits())
}

/// Sessions by the name that clients give.
#[derive(Debug, Default)]
pub struct Sessions {
    named: Mutex<HashMap<String, (Session, Instant)>>,
}

impl Sessions {
    /// The session of a name, made when there is none. `None` for what cannot be a name: 1 to 128 visible ASCII characters.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Session> {
        let is_name = (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_name {
            return None;
        }
        let mut named = self.named.lock();
        if !named.contains_key(name) && named.len() >= MOST {
            let oldest = named.iter().min_by_key(|(_, (_, used))| *used).map(|(name, _)| name.clone());
            oldest.map(|oldest| named.remove(&oldest));
        }
        let (session, used) = named.entry(name.to_owned()).or_insert_with(|| (Session::new(), Instant::now()));
        *used = Instant::now();
        Some(session.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_one_session_each_and_the_oldest_is_forgotten() {
        let sessions = Sessions::default();
        let first = sessions.get("a").unwrap();
        assert_eq!(sessions.get("a"), Some(first.clone()));
        assert_ne!(sessions.get("b"), Some(first.clone()));
        for bad in ["", "two words", "ü", &"x".repeat(129)] {
            assert_eq!(sessions.get(bad), None, "{bad}");
        }
        for number in 0..MOST {
            let _ = sessions.get(&number.to_string());
        }
        assert_ne!(sessions.get("a"), Some(first));
        assert!(sessions.named.lock().len() <= MOST);
    }

    #[test]
    fn the_session_before_acts_again_afterwards() {
        let (outer, inner) = (Session::new(), Session::new());
        outer.run(|| {
            inner.run(|| assert_eq!(Session::current(), inner));
            assert_eq!(Session::current(), outer);
        });
        assert!(Session::current().is_default());
    }
}
