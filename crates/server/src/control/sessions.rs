//! The sessions of a home by name.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Control, Error, Session};
use crate::config::Home;
use cdpilot::sync::Deadline;

/// Sessions that are kept.
const MAX_SESSIONS: usize = 256;
/// A session that was not used for this long makes room for a new one.
const IDLE: Duration = Duration::from_secs(3600);
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

/// Sessions by name. A session is created when its name is first used. Beyond 256 sessions a new one replaces the least
/// recently used session that has no state (no current tab, to-do list or background command), else the least recently used one
/// that was idle for an hour and is not isolated; the tabs of that one stay open without an owner. Otherwise it is refused.
///
/// Names of isolated sessions are kept in a folder, so that a name is isolated again after a restart of the server.
#[derive(Debug, Default)]
pub struct Sessions {
    kept: Mutex<HashMap<Name, Kept>>,
    /// Folder with a file for each isolated session; none outside of a home.
    folder: Option<PathBuf>,
}

/// A session as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    /// Name of the session, as given in `X-Cdpilot-Session`.
    pub name: String,
    /// Whether it has its own browser context.
    pub isolated: bool,
    /// Seconds since it was last used.
    pub idle_s: u64,
    /// Open tabs that belong to it, in all profiles, as tab ids.
    pub tabs: Vec<String>,
}

impl Sessions {
    pub(super) fn of_home(home: &Home) -> Self {
        Self { kept: Mutex::default(), folder: Some(home.root().join("sessions")) }
    }

    /// The session with a name that a user chose.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for what cannot be a name: 1 to 128 visible ASCII characters; [`Error::Conflict`] when there are too
    /// many sessions.
    pub fn named(&self, name: &str) -> Result<Session, Error> {
        let key = Name::Chosen(name.to_owned());
        if let Some(known) = self.known(&key) {
            return Ok(known);
        }
        let isolated = is_name(name) && self.file(name).is_some_and(|file| file.exists());
        self.get(key, || Session::named(name, isolated))
    }

    /// The session of an MCP connection by its id.
    ///
    /// # Errors
    /// As [`named`](Self::named).
    pub fn of_connection(&self, id: &str) -> Result<Session, Error> {
        self.get(Name::Connection(id.to_owned()), || Session::connection(id))
    }

    fn known(&self, name: &Name) -> Option<Session> {
        let mut kept = self.kept.lock();
        let known = kept.get_mut(name)?;
        known.used = Instant::now();
        Some(known.session.clone())
    }

    fn get(&self, name: Name, make: impl FnOnce() -> Session) -> Result<Session, Error> {
        let (Name::Chosen(text) | Name::Connection(text)) = &name;
        if !is_name(text) {
            return Err(Error::BadRequest { problem: bad_name(text) });
        }
        if let Some(known) = self.known(&name) {
            return Ok(known);
        }
        let mut kept = self.kept.lock();
        if let Some(known) = kept.get(&name) {
            return Ok(known.session.clone());
        }
        let dropped = match kept.len() < MAX_SESSIONS {
            true => None,
            false => {
                let oldest = |may_go: &dyn Fn(&Kept) -> bool| {
                    let all = kept.iter().filter(|(_, known)| may_go(known));
                    all.min_by_key(|(_, known)| known.used).map(|(name, _)| name.clone())
                };
                let is_idle = |known: &Kept| {
                    known.used.elapsed() >= IDLE && !known.session.is_isolated() && !known.session.is_in_use(1)
                };
                let oldest = oldest(&|known| known.session.is_unused(1)).or_else(|| oldest(&is_idle));
                let Some(oldest) = oldest else {
                    let problem =
                        format!("{MAX_SESSIONS} sessions exist and were used within the last hour; end one first");
                    return Err(Error::Conflict { problem });
                };
                kept.remove(&oldest)
            }
        };
        let session = make();
        kept.insert(name, Kept { session: session.clone(), used: Instant::now() });
        drop(kept);
        drop(dropped); // outside of the lock: its commands end
        Ok(session)
    }

    /// The file that marks a name as isolated.
    fn file(&self, name: &str) -> Option<PathBuf> {
        // FNV-1a: a name may have more characters than a file name, and any visible ones.
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, hash);
        self.folder.as_ref().map(|folder| folder.join(format!("{hash:016x}")))
    }

    /// Marks a name as isolated.
    fn mark(&self, name: &str) -> Result<(), Error> {
        let (Some(folder), Some(file)) = (&self.folder, self.file(name)) else { return Ok(()) };
        let failed = |problem: &std::io::Error| Error::Conflict {
            problem: format!("cannot record the isolated session in {}: {problem}", folder.display()),
        };
        std::fs::create_dir_all(folder).and_then(|()| std::fs::write(file, name)).map_err(|problem| failed(&problem))
    }

    fn unmark(&self, name: &str) {
        if let Some(file) = self.file(name)
            && let Err(problem) = std::fs::remove_file(&file)
            && problem.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%problem, file = %file.display(), "the ended session is still recorded as isolated");
        }
    }

    /// Creates a named session.
    fn create(&self, name: &str, isolated: bool) -> Result<(), Error> {
        if !is_name(name) {
            return Err(Error::BadRequest { problem: bad_name(name) });
        }
        if self.known(&Name::Chosen(name.to_owned())).is_none() {
            match isolated {
                true => self.mark(name)?,
                false => self.unmark(name),
            }
        }
        let mut is_new = false;
        self.get(Name::Chosen(name.to_owned()), || {
            is_new = true;
            Session::named(name, isolated)
        })?;
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
        if is_name(name) {
            self.unmark(name);
        }
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

impl Session {
    /// A session that no request can select and no list shows: for work inside the server. Its name is for the event log;
    /// an isolated one has its own browser context in each profile. [`Control::close_session`] ends it.
    #[must_use]
    pub fn unlisted(name: &str, is_isolated: bool) -> Self {
        Self::named(name, is_isolated)
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
    /// Those of [`Sessions::named`].
    pub fn session(&self, name: Option<&str>) -> Result<Session, Error> {
        let Some(name) = name else { return Ok(Session::default()) };
        self.sessions.named(name)
    }

    /// The sessions with names that users chose, in the order of their names.
    #[must_use]
    pub fn list_sessions(&self) -> Vec<SessionInfo> {
        self.sessions.list().into_iter().map(|(session, idle_s)| self.session_info(&session, idle_s)).collect()
    }

    /// Creates a session. An isolated one has its own browser context in each profile, with its own cookies, storage
    /// and cache.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for what cannot be a name, [`Error::Conflict`] when there is one of that name.
    pub fn create_session(&self, name: &str, isolated: bool) -> Result<SessionInfo, Error> {
        self.sessions.create(name, isolated)?;
        Ok(self.session_info(&self.session(Some(name))?, 0))
    }

    /// Ends a session: closes its tabs in all profiles, disposes of its browser contexts, and ends its background
    /// commands.
    ///
    /// # Errors
    /// [`Error::NoSession`]; [`Error::BadRequest`] for `default`, unless a session has that name.
    pub fn end_session(&self, name: &str, deadline: Deadline<'_>) -> Result<SessionInfo, Error> {
        if name == "default" && self.sessions.known(&Name::Chosen(name.to_owned())).is_none() {
            let problem = "the default session cannot be ended: commands and requests that name no session use it; close its \
                           tabs instead, or stop the browser";
            return Err(Error::BadRequest { problem: problem.to_owned() });
        }
        let session = self.sessions.take(name).ok_or_else(|| Error::NoSession {
            name: name.chars().take(80).collect(),
            known: self.sessions.list().iter().map(|(known, _)| known.id()).collect::<Vec<_>>().join(", "),
        })?;
        let info = self.session_info(&session, 0);
        self.close_session(&session, deadline);
        Ok(info)
    }

    /// Closes the tabs of a session in all profiles, and disposes of its browser contexts. Returns how many tabs it closed.
    pub fn close_session(&self, session: &Session, deadline: Deadline<'_>) -> usize {
        let profiles = self.profiles.all().into_iter();
        profiles.map(|profile| profile.for_session(session).end_session(deadline)).sum()
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
    fn a_name_selects_one_session_and_unused_ones_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = || Sessions { kept: Mutex::default(), folder: Some(folder.path().join("sessions")) };
        let known = sessions();
        let first = known.named("a").unwrap();
        assert_eq!(known.named("a").unwrap(), first);
        assert_ne!(known.named("b").unwrap(), first);
        assert_ne!(known.of_connection("a").unwrap(), first);
        for bad in ["", "two words", "ü", &"x".repeat(129)] {
            assert_eq!(known.named(bad).unwrap_err().code(), "BAD_REQUEST", "{bad}");
        }
        // One that is in use stays, whatever comes.
        for number in 0..2 * MAX_SESSIONS {
            known.named(&number.to_string()).unwrap();
        }
        assert_eq!(known.named("a").unwrap(), first);
        assert!(known.kept.lock().len() <= MAX_SESSIONS);
        let all: Vec<Session> =
            (0..MAX_SESSIONS - 1).map(|number| known.named(&format!("used{number}")).unwrap()).collect();
        assert_eq!(known.named("one more").unwrap_err().code(), "BAD_REQUEST");
        assert_eq!(known.named("one-more").unwrap_err().code(), "CONFLICT");
        drop(all);
        known.named("one-more").unwrap();
        // An isolated name stays isolated until it is ended, over a restart too.
        known.create("alone", true).unwrap();
        assert_eq!(known.create("alone", true).unwrap_err().code(), "CONFLICT");
        let later = sessions();
        assert!(later.named("alone").unwrap().is_isolated() && !later.named("other").unwrap().is_isolated());
        later.take("alone");
        assert!(!later.named("alone").unwrap().is_isolated());
    }
}
