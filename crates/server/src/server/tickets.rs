//! One-time tickets for the web UI, and the secrets for which they are exchanged.
//!
//! A ticket is part of a URL, so it is short-lived and valid once. The secret is never part of a URL: the page keeps it in
//! its `sessionStorage` and sends it in a header, so that no other server receives it.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::config::Token;

/// Lifetime of a ticket.
pub(super) const TICKET_LIFE: Duration = Duration::from_secs(60);
/// Lifetime of an unused secret.
pub(super) const IDLE_LIFE: Duration = Duration::from_secs(60 * 60);
/// Maximum lifetime of a secret.
pub(super) const SECRET_LIFE: Duration = Duration::from_secs(12 * 60 * 60);
/// Maximum number of tickets, and of secrets. Beyond it, the oldest ticket and the least recently used secret are dropped.
const MAX_SECRETS: usize = 32;

/// The tickets and secrets of a server. They are not persisted.
#[derive(Debug, Default)]
pub struct Tickets {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    tickets: VecDeque<Ticket>,
    /// Least recently used first.
    secrets: VecDeque<Secret>,
}

#[derive(Debug)]
struct Ticket {
    text: Token,
    until: Instant,
}

#[derive(Debug)]
struct Secret {
    text: Token,
    until: Instant,
    used: Instant,
}

impl Tickets {
    /// A new ticket: 64 hex digits, valid once and for 60 seconds.
    ///
    /// # Errors
    /// If no random numbers are available.
    pub fn issue(&self) -> io::Result<String> {
        self.issue_at(Instant::now())
    }

    /// Whether a ticket is valid. Does not use it up.
    pub(super) fn is_valid(&self, shown: &str) -> bool {
        let now = Instant::now();
        self.kept.lock().tickets.iter().any(|ticket| ticket.until > now && ticket.text.is(shown))
    }

    /// Exchanges a ticket for a secret, 64 hex digits. `None` when the ticket is not valid.
    ///
    /// # Errors
    /// If no random numbers are available.
    pub fn exchange(&self, shown: &str) -> io::Result<Option<String>> {
        self.exchange_at(shown, Instant::now())
    }

    /// Whether a secret is valid. Counts as use of it.
    pub(super) fn admit(&self, shown: &str) -> bool {
        self.admit_at(shown, Instant::now())
    }

    fn issue_at(&self, now: Instant) -> io::Result<String> {
        let text = random()?;
        let mut kept = self.kept.lock();
        if kept.tickets.len() >= MAX_SECRETS {
            kept.tickets.pop_front();
        }
        kept.tickets.push_back(Ticket { text: Token::given(text.as_str()), until: now + TICKET_LIFE });
        Ok(text)
    }

    fn exchange_at(&self, shown: &str, now: Instant) -> io::Result<Option<String>> {
        let secret = random()?;
        let mut kept = self.kept.lock();
        kept.tickets.retain(|ticket| ticket.until > now);
        let Some(at) = kept.tickets.iter().position(|ticket| ticket.text.is(shown)) else { return Ok(None) };
        kept.tickets.remove(at);
        if kept.secrets.len() >= MAX_SECRETS {
            kept.secrets.pop_front();
        }
        kept.secrets.push_back(Secret { text: Token::given(secret.as_str()), until: now + SECRET_LIFE, used: now });
        Ok(Some(secret))
    }

    fn admit_at(&self, shown: &str, now: Instant) -> bool {
        let mut kept = self.kept.lock();
        kept.secrets.retain(|secret| secret.until > now && now.duration_since(secret.used) < IDLE_LIFE);
        let found = kept.secrets.iter().position(|secret| secret.text.is(shown));
        let Some(secret) = found.and_then(|at| kept.secrets.remove(at)) else { return false };
        kept.secrets.push_back(Secret { used: now, ..secret });
        true
    }
}

/// 32 random bytes in hex.
fn random() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|problem| io::Error::other(problem.to_string()))?;
    Ok(bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_ticket_is_valid_once_and_for_a_minute() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let late = tickets.issue_at(now).unwrap();
        assert_eq!(tickets.exchange_at(&late, now + TICKET_LIFE).unwrap(), None);
        let ticket = tickets.issue_at(now).unwrap();
        assert!(tickets.is_valid(&ticket) && !tickets.is_valid("x"));
        let secret = tickets.exchange_at(&ticket, now + TICKET_LIFE - SECOND).unwrap().unwrap();
        assert!(secret.len() == 64 && secret != ticket);
        assert_eq!(tickets.exchange_at(&ticket, now).unwrap(), None, "twice");
        assert!(!tickets.is_valid(&ticket) && !tickets.admit_at(&ticket, now));
    }

    #[test]
    fn secrets_are_bounded_in_life_and_number() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let secret = |now| tickets.exchange_at(&tickets.issue_at(now).unwrap(), now).unwrap().unwrap();
        let idle = secret(now);
        assert!(tickets.admit_at(&idle, now + IDLE_LIFE - SECOND));
        assert!(!tickets.admit_at(&idle, now + IDLE_LIFE * 2), "not used for too long");
        let busy = secret(now);
        let (step, mut at) = (IDLE_LIFE / 2, now);
        while at + step < now + SECRET_LIFE {
            at += step;
            assert!(tickets.admit_at(&busy, at));
        }
        assert!(!tickets.admit_at(&busy, now + SECRET_LIFE), "used all the time, for too long");
        let many: Vec<String> = (0..=MAX_SECRETS).map(|_| secret(now)).collect();
        assert!(!tickets.admit_at(&many[0], now) && many[1..].iter().all(|one| tickets.admit_at(one, now)));
        let issued: Vec<String> = (0..=MAX_SECRETS).map(|_| tickets.issue_at(now).unwrap()).collect();
        assert!(!tickets.is_valid(&issued[0]) && issued[1..].iter().all(|one| tickets.is_valid(one)));
    }
}
