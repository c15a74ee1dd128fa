//! The sessions of a home by name.

use std::collections::HashMap;
use std::time::Instant;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Control, Error, Session};
use crate::sync::Deadline;

/// Sessions that are kept; the least recently used one makes room for a further one.
const MAX_SESSIONS: usize = 256;
/// Maximum length of a name.
const MAX_NAME_LENGTH: usize = 128;

/// How clients name their sessions. The two kinds of names do not collide.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    /// A name that a user chose.
    Chosen(String),
    /// The id of an MCP connection.
    Connection(String),
}

#[derive(Debug)]
struct Kept {
    session: Session,
    used: Instant,
}

/// Sessions by name. A session is created when its name is first used. Beyond 256 sessions the least
/// recently used one ends: its commands are ended, its tabs stay open without an owner.
#[derive(Debug, Default)]
pub struct Sessions {
    kept: Mutex<HashMap<Name, Kept>>,
}

/// A session as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionInfo {
    /// Its name.
    pub name: String,
    /// Whether it has its own browser context.
    pub isolated: bool,
    /// Seconds since it was last used.
    pub idle_s: u64,
    /// Open tabs that belong to it, in all profiles, as tab ids.
    pub tabs: Vec<String>,
}

impl Sessions {
    /// The session with a name that a user chose. `None` when it cannot be a name: 1 to 128 visible ASCII characters.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Session> {
        self.get(Name::Chosen(name.to_owned()), || Session::named(name, false))
    }

    /// The session of an MCP connection by its id. `None` when it cannot be an id: 1 to 128 visible ASCII characters.
    #[must_use]
    pub fn of_connection(&self, id: &str) -> Option<Session> {
        self.get(Name::Connection(id.to_owned()), || Session::connection(id))
    }

    fn get(&self, name: Name, make: impl FnOnce() -> Session) -> Option<Session> {
        let (Name::Chosen(text) | Name::Connection(text)) = &name;
        if !is_name(text) {
            return None;
        }
        let mut kept = self.kept.lock();
        if let Some(known) = kept.get_mut(&name) {
            known.used = Instant::now();
            return Some(known.session.clone());
        }
        let oldest = kept.iter().min_by_key(|(_, known)| known.used).map(|(name, _)| name.clone());
        let dropped = oldest.filter(|_| kept.len() >= MAX_SESSIONS).and_then(|oldest| kept.remove(&oldest));
        let session = make();
        kept.insert(name, Kept { session: session.clone(), used: Instant::now() });
        drop(kept);
        drop(dropped); // outside of the lock: its commands end
        Some(session)
    }

    /// Creates a named session.
    fn create(&self, name: &str, isolated: bool) -> Result<(), Error> {
        if !is_name(name) {
            return Err(Error::BadRequest { problem: bad_name(name) });
        }
        let mut is_new = false;
        self.get(Name::Chosen(name.to_owned()), || {
            is_new = true;
            Session::named(name, isolated)
        });
        if is_new {
            return Ok(());
        }
        let problem = format!("session {name} exists already; end it first, or choose another name");
        Err(Error::Conflict { problem })
    }

    /// Ends the session of a connection. Its state is dropped when no request uses it any more.
    pub fn end_connection(&self, id: &str) -> bool {
        let dropped = self.kept.lock().remove(&Name::Connection(id.to_owned()));
        dropped.is_some()
    }

    fn take(&self, name: &str) -> Option<Session> {
        self.kept.lock().remove(&Name::Chosen(name.to_owned())).map(|kept| kept.session)
    }

    /// The sessions that users named, with the seconds since each was used.
    fn list(&self) -> Vec<(Session, u64)> {
        let kept = self.kept.lock();
        let named = kept.iter().filter(|(name, _)| matches!(name, Name::Chosen(_)));
        let mut list: Vec<(Session, u64)> =
            named.map(|(_, kept)| (kept.session.clone(), kept.used.elapsed().as_secs())).collect();
        list.sort_by(|(a, _), (b, _)| a.id().cmp(b.id()));
        list
    }
}

fn is_name(text: &str) -> bool {
    (1..=MAX_NAME_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn bad_name(name: &str) -> String {
    let shown: String = name.chars().take(40).collect();
    format!("{shown:?} is not a session name; use 1 to {MAX_NAME_LENGTH} visible ASCII characters without spaces")
}

impl Control {
    /// The sessions of the home.
    #[must_use]
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The session with this name; the default session without one.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for what cannot be a name.
    pub fn session(&self, name: Option<&str>) -> Result<Session, Error> {
        let Some(name) = name else { return Ok(Session::default()) };
        self.sessions.named(name).ok_or_else(|| Error::BadRequest { problem: bad_name(name) })
    }

    /// The sessions with names that users chose, in the order of their names.
    #[must_use]
    pub fn list_sessions(&self) -> Vec<SessionInfo> {
        self.sessions.list().into_iter().map(|(session, idle_s)| self.session_info(&session, idle_s)).collect()
    }

    /// Makes a session. An isolated one has its own browser context in each profile: cookies, storage and cache of its own.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for what cannot be a name, [`Error::Conflict`] when there is one of that name.
    pub fn create_session(&self, name: &str, isolated: bool) -> Result<SessionInfo, Error> {
        self.sessions.create(name, isolated)?;
        Ok(self.session_info(&self.session(Some(name))?, 0))
    }

    /// Ends a session: closes its tabs in all profiles, disposes of its browser contexts, and ends its background commands.
    ///
    /// # Errors
    /// [`Error::NoSession`].
    pub fn end_session(&self, name: &str, deadline: Deadline) -> Result<SessionInfo, Error> {
        let session = self.sessions.take(name).ok_or_else(|| Error::NoSession {
            name: name.chars().take(80).collect(),
            known: self.sessions.list().iter().map(|(known, _)| known.id()).collect::<Vec<_>>().join(", "),
        })?;
        let info = self.session_info(&session, 0);
        for profile in self.profiles.all() {
            profile.for_session(&session).end_session(deadline);
        }
        Ok(info)
    }

    fn session_info(&self, session: &Session, idle_s: u64) -> SessionInfo {
        let owned = |profile: super::Profile| profile.for_session(session).owned_tabs();
        let tabs = self.profiles.all().into_iter().flat_map(owned).collect();
        SessionInfo { name: session.id().to_owned(), isolated: session.is_isolated(), idle_s, tabs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_session_and_the_least_recently_used_one_makes_room() {
        let sessions = Sessions::default();
        let first = sessions.named("a").unwrap();
        assert_eq!(sessions.named("a"), Some(first.clone()));
        assert_ne!(sessions.named("b"), Some(first.clone()));
        assert_ne!(sessions.of_connection("a"), Some(first.clone()));
        for bad in ["", "two words", "ü", &"x".repeat(129)] {
            assert_eq!(sessions.named(bad), None, "{bad}");
        }
        for number in 0..MAX_SESSIONS {
            let _ = sessions.named(&number.to_string());
        }
        assert_ne!(sessions.named("a"), Some(first));
        assert!(sessions.kept.lock().len() <= MAX_SESSIONS);
    }
}
