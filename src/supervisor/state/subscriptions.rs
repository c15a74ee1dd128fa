//! Subscriptions to the protocol events of pages.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::error::Error;
use super::super::page_events::{Producer, Shared};
use super::effect::Effect;
use super::pending_response::PendingResponse;
use super::{Response, SessionKey, State};
use crate::cdp::Event;
use crate::cdp::protocol::target::TargetId;

/// Maximum number of ended sessions kept for events that are still on their way to a subscriber.
const GONE: usize = 256;

#[derive(Debug)]
struct Follower {
    number: u64,
    page: TargetId,
    methods: Arc<[&'static str]>,
    queue: Producer,
}

/// All subscriptions.
#[derive(Debug, Default)]
pub(super) struct Followers {
    list: Vec<Follower>,
    last: u64,
    gone: VecDeque<(SessionKey, TargetId)>,
}

impl Followers {
    pub(super) fn session_gone(&mut self, session: &str, page: &TargetId) {
        if self.list.is_empty() {
            return;
        }
        if self.gone.len() >= GONE {
            self.gone.pop_front();
        }
        self.gone.push_back((session.into(), page.clone()));
    }
}

impl State {
    pub(super) fn subscribe(
        &mut self,
        page: TargetId,
        methods: Arc<[&'static str]>,
        queue: Producer,
        reply: Response<()>,
    ) {
        if self.page_index(&page).is_none() {
            let error = Error::PageNotFound { target: page.to_string() };
            self.requests.respond_later(PendingResponse::Done(reply, Err(error)));
            return;
        }
        self.followers.last += 1;
        let number = self.followers.last;
        self.effects.push(Effect::Follow { number, methods: Arc::clone(&methods) });
        self.followers.list.push(Follower { number, page, methods, queue });
        self.requests.respond_later(PendingResponse::Done(reply, Ok(())));
    }

    pub(super) fn unsubscribe(&mut self, queue: &Arc<Shared>) {
        let found = self.followers.list.iter().find(|follower| Arc::ptr_eq(&follower.queue.shared, queue));
        let over = found.map(|follower| Effect::Unfollow { number: follower.number });
        self.effects.extend(over);
    }

    /// A page was closed. Events before that are still delivered.
    pub(super) fn forget_followers_of(&mut self, page: &TargetId) {
        let over = self.followers.list.iter().filter(|follower| follower.page == *page);
        self.effects.extend(over.map(|follower| Effect::Unfollow { number: follower.number }));
    }

    /// There is a new connection.
    pub(super) fn follow_again(&mut self) {
        self.followers.gone.clear();
        let all = self.followers.list.iter();
        let follow =
            |follower: &Follower| Effect::Follow { number: follower.number, methods: Arc::clone(&follower.methods) };
        self.effects.extend(all.map(follow));
    }

    /// Ends a subscription.
    pub(in crate::supervisor) fn unfollowed(&mut self, number: u64) {
        self.followers.list.retain(|follower| follower.number != number);
    }

    /// Delivers an event to a subscription if it matches.
    pub(in crate::supervisor) fn followed(&mut self, number: u64, event: &Event) {
        let Some(follower) = self.followers.list.iter().find(|follower| follower.number == number) else { return };
        if follower.queue.is_over() {
            self.effects.push(Effect::Unfollow { number });
            return;
        }
        let Some(session) = event.session() else { return };
        let is_of_page = match self.sessions.get(session) {
            Some(rec) => rec.page == follower.page,
            None => self.followers.gone.iter().any(|(gone, page)| **gone == *session && *page == follower.page),
        };
        if is_of_page {
            follower.queue.offer(self.generation, event);
        }
    }

    /// Events for a subscription were lost.
    pub(in crate::supervisor) fn follower_lost(&mut self, number: u64, count: u64) {
        if let Some(follower) = self.followers.list.iter().find(|follower| follower.number == number) {
            follower.queue.lose(count);
        }
    }
}
