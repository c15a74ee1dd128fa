//! Requests of callers to the state machine, and how each is answered.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;

use super::super::chooser::ChosenFiles;
use super::super::dialog_policy::{ArmedAnswer, DialogMatch, DialogPolicy, DialogRule};
use super::super::error::Error;
use super::super::interception::{self, HandOver};
use super::super::log::LogEvent as Noted;
use super::super::network_route::{Encoded, NetworkRoute, RouteAction, RouteRule};
use super::super::options::Pages;
use super::super::page_events::{Producer, Shared};
use super::super::passive_queries::MovedDownload;
use super::super::persistent_commands::{Login, PersistentCommand, SessionScope, Throttle};
use super::super::recording::Order;
use super::super::snapshot::{ClosedDialog, PageState, Phase};
use super::super::url_glob::UrlGlob;
use super::pending_response::PendingResponse;
use super::{Now, SessionKey, State, Waiting};
use crate::cdp;
use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::page::{Navigate, ScriptIdentifier};
use crate::cdp::protocol::target::{CreateTarget, CreateTargetReturns, TargetId, TargetInfo};

/// Channel for the response to a request. It has room for the response, so that sending never waits.
pub(in crate::supervisor) type Response<T> = Sender<Result<T, Error>>;

/// A request.
#[derive(Debug)]
pub(in crate::supervisor) enum Request {
    /// Respond when the start is complete.
    Started { reply: Response<()> },
    /// Answer a dialog.
    Respond { id: Option<String>, accept: bool, text: Option<String>, reply: Response<ClosedDialog> },
    /// Arm an answer for future dialogs; with `anew` it replaces answers armed for the same dialogs.
    Arm { armed: ArmedAnswer, anew: bool, reply: Response<()> },
    /// Drop armed answers: for these dialogs, or all.
    Disarm { when: Option<DialogMatch>, reply: Response<()> },
    /// Set the policy and the rules for dialogs.
    Policy { policy: DialogPolicy, rules: Vec<DialogRule>, reply: Response<()> },
    /// Open a page.
    Open { url: String, context: Option<BrowserContextId>, behind: bool, reply: Response<TargetId> },
    /// Check a URL against the navigation policy.
    MayVisit { url: String, reply: Response<()> },
    /// Assign a page to a client.
    AssignPage { page: TargetId, client: Option<Arc<str>>, reply: Response<()> },
    /// A browser context is behind a proxy: disable in its pages what would not use it.
    Confine { context: BrowserContextId, reply: Response<()> },
    /// A client begins to act on a page, or has ended (`None`); the default client has no name.
    Acting { page: TargetId, client: Option<Option<Arc<str>>>, reply: Response<()> },
    /// Close a page.
    Close { target: TargetId, reply: Response<()> },
    /// Dismiss the bridged dialogs of a page before a navigation.
    DismissBridgedDialogs { target: TargetId, reply: Response<()> },
    /// Terminate the scripts that run on a page.
    EndScripts { target: TargetId, reply: Response<()> },
    /// For the log: a page's running script was terminated.
    Rescued { target: TargetId, method: String, waited: Duration, reply: Response<()> },
    /// Save downloads in a folder, or restore Chromium's default. With `moved`, the end of each is reported by
    /// [`DownloadMoved`](Self::DownloadMoved).
    Downloads { folder: Option<Arc<Path>>, moved: bool, reply: Response<()> },
    /// For the log: a download has ended, and its file was moved to its final place.
    DownloadMoved { moved: MovedDownload, reply: Response<()> },
    /// Set a persistent command of a page.
    SetPersistentCommand {
        page: TargetId,
        key: &'static str,
        sessions: SessionScope,
        now: PersistentCommand,
        keep: bool,
        reply: Response<()>,
    },
    /// Set the login for servers that request a name and password from a page.
    Login { page: TargetId, login: Option<Login>, reply: Response<()> },
    /// A client opens an address of this origin in a page.
    Opens { page: TargetId, origin: String, reply: Response<()> },
    /// Set the network throttling of a page.
    Throttle { page: TargetId, throttle: Option<Throttle>, reply: Response<()> },
    /// Add a route.
    AddRoute { rule: RouteRule, glob: UrlGlob, body: Encoded, reply: Response<NetworkRoute> },
    /// Subscribe to the protocol events of a page.
    Subscribe { page: TargetId, methods: Arc<[&'static str]>, queue: Producer, reply: Response<()> },
    /// Hand over requests of pages to an interceptor.
    Intercept { rule: RouteRule, glob: UrlGlob, hand: HandOver, reply: Response<()> },
    /// Remove an interceptor.
    EndInterception { shared: Arc<interception::Shared> },
    /// Answer a request that was handed over; `None`: it continues as without the interceptor.
    Intercepted { number: u64, answer: Option<(RouteAction, Encoded)>, reply: Option<Response<()>> },
    /// Begin, extend or end a recording.
    Recording { order: Order, reply: Option<Response<()>> },
    /// End a subscription.
    Unsubscribe { queue: Arc<Shared> },
    /// List the routes.
    Routes { reply: Response<Vec<NetworkRoute>> },
    /// Remove a route, or all.
    RemoveRoutes { id: Option<String>, reply: Response<Vec<NetworkRoute>> },
    /// Grant the geolocation permission to the origins that a page shows.
    Location { page: TargetId, allowed: bool, reply: Response<()> },
    /// Start or stop intercepting file choosers.
    Choosers { on: bool, reply: Response<()> },
    /// Arm files for the next file chooser of a page.
    ArmChooser {
        page: TargetId,
        files: Arc<[String]>,
        until: Instant,
        chosen: Response<ChosenFiles>,
        reply: Response<()>,
    },
    /// Reserve a target as hidden page, which does not belong to the task; without `reply`, release it.
    Reserve { target: TargetId, reply: Option<Response<()>> },
    /// Remove a script of a page once its top frame shows an origin.
    RemoveScript { page: TargetId, origin: String, script: ScriptIdentifier, reply: Response<()> },
    /// Enable or disable network events.
    Network { on: bool, reply: Response<()> },
    /// The protected ports have changed.
    PortsChanged { reply: Response<()> },
    /// Respond when everything received so far is in the view.
    CaughtUp { reply: Response<()> },
    /// Clean up before the end: dismiss dialogs, and close own pages if requested.
    Leave { close_pages: bool, reply: Response<()> },
}

impl Request {
    /// Whether it requires a connection.
    fn needs_browser(&self) -> bool {
        match self {
            Self::ArmChooser { .. }
            | Self::Respond { .. }
            | Self::Open { .. }
            | Self::Close { .. }
            | Self::Leave { .. } => true,
            Self::DismissBridgedDialogs { .. }
            | Self::EndScripts { .. }
            | Self::MayVisit { .. }
            | Self::Rescued { .. }
            | Self::CaughtUp { .. }
            | Self::PortsChanged { .. }
            | Self::Started { .. }
            | Self::Network { .. }
            | Self::Reserve { .. }
            | Self::RemoveScript { .. }
            | Self::SetPersistentCommand { .. }
            | Self::Login { .. }
            | Self::Opens { .. }
            | Self::Throttle { .. }
            | Self::AddRoute { .. }
            | Self::Routes { .. }
            | Self::Subscribe { .. }
            | Self::Unsubscribe { .. }
            | Self::Recording { .. }
            | Self::Intercept { .. }
            | Self::EndInterception { .. }
            | Self::Intercepted { .. }
            | Self::RemoveRoutes { .. }
            | Self::AssignPage { .. }
            | Self::Confine { .. }
            | Self::Acting { .. }
            | Self::Location { .. }
            | Self::Choosers { .. }
            | Self::Downloads { .. }
            | Self::Arm { .. }
            | Self::Disarm { .. }
            | Self::Policy { .. } => false,
            Self::DownloadMoved { .. } => false,
        }
    }
}

/// URL of an empty document.
pub(super) const BLANK: &str = "about:blank";
/// How long an unknown page is held while a page of our own is being opened.
const HOLD_LIMIT: Duration = Duration::from_secs(5);
/// Longest wait for pages to be attached again after a reconnect.
const CLOSE_GRACE: Duration = Duration::from_millis(500);
/// After this time a page that is still open is closed again.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);
/// After this time the script of a page that does not navigate to `about:blank` is terminated; after
/// as long again the page is closed, unless it has opened another dialog meanwhile.
const BLANK_LIMIT: Duration = Duration::from_secs(1);
/// How often the scripts of a page that opens further dialogs are terminated before it is closed. Closing it under a dialog may
/// crash the browser with all tabs.
const MAX_TERMINATIONS: u8 = 10;

#[derive(Debug)]
struct Held {
    session: SessionKey,
    info: TargetInfo,
    /// It waits to be resumed.
    waits: bool,
    since: Instant,
}

#[derive(Debug)]
struct Opening {
    reply: Option<Response<TargetId>>,
    target: Option<TargetId>,
    /// URL to navigate to once it is attached.
    then: Option<String>,
}

#[derive(Debug)]
struct Closing {
    target: TargetId,
    reply: Option<Response<()>>,
    /// The page navigates to `about:blank`; closing continues at this time at the latest.
    blank_until: Option<Instant>,
    /// It shows a blank document, so no subframe can open a dialog any more.
    blanked: bool,
    /// How often its scripts were terminated.
    terminations: u8,
    /// It has opened a dialog since.
    asks: bool,
    /// When closing was requested.
    requested_at: Option<Instant>,
}

impl Closing {
    fn may_ask(&self, now: Now) -> bool {
        self.requested_at.is_none_or(|requested_at| now.instant.duration_since(requested_at) >= RETRY_INTERVAL)
    }
}

/// Pending requests.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The browser has reported all existing pages.
    pub(super) listed: bool,
    pub(super) listed_at: Option<Instant>,
    started: Vec<Response<()>>,
    next: u64,
    responding: HashMap<u64, Response<ClosedDialog>>,
    opening: HashMap<u64, Opening>,
    created: HashSet<TargetId>,
    /// Hidden pages, whose sessions belong to the callers that opened them.
    reserved: HashSet<TargetId>,
    held: Vec<Held>,
    closing: Vec<Closing>,
    leaving: Option<Response<()>>,
    responses: Vec<PendingResponse>,
}

impl Requests {
    /// Number of requested pages without an id yet.
    pub(super) fn creating(&self) -> usize {
        self.opening.values().filter(|o| o.target.is_none()).count()
    }

    pub(super) fn respond_later(&mut self, response: PendingResponse) {
        self.responses.push(response);
    }

    pub(super) fn is_created(&self, target: &TargetId) -> bool {
        self.created.contains(target)
    }

    pub(super) fn is_reserved(&self, target: &TargetId) -> bool {
        self.reserved.contains(target)
    }

    pub(super) fn hold(&mut self, session: SessionKey, info: TargetInfo, waits: bool, now: Now) {
        self.held.push(Held { session, info, waits, since: now.instant });
    }

    pub(super) fn unhold(&mut self, session: &str) {
        self.held.retain(|held| *held.session != *session);
    }

    pub(super) fn held_too_long(&mut self, now: Now) -> Vec<(SessionKey, Option<TargetId>, bool)> {
        let late = |held: &Held| now.instant.duration_since(held.since) >= HOLD_LIMIT;
        let (late, held) = std::mem::take(&mut self.held).into_iter().partition(late);
        self.held = held;
        let late: Vec<Held> = late;
        late.into_iter().map(|held| (held.session, super::sessions::waiting_opener(&held.info), held.waits)).collect()
    }

    /// Time of the next check. A time that has passed is not returned: the next step then follows the end of a dialog.
    pub(super) fn next_check(&self, now: Now) -> Option<Instant> {
        let held = self.held.iter().map(|held| held.since + HOLD_LIMIT);
        let next =
            |c: &Closing| c.requested_at.map_or(c.blank_until, |requested_at| Some(requested_at + RETRY_INTERVAL));
        held.chain(self.closing.iter().filter_map(next).filter(|at| *at > now.instant)).min()
    }

    pub(super) fn responded(&mut self, request: u64, outcome: Result<ClosedDialog, Error>) {
        if let Some(reply) = self.responding.remove(&request) {
            self.responses.push(PendingResponse::Dialog(reply, outcome));
        }
    }

    pub(super) fn is_closing(&self, target: &TargetId) -> bool {
        self.closing.iter().any(|closing| closing.target == *target)
    }

    /// Navigates the page to `about:blank`. Doing so again does not delay closing.
    pub(super) fn blanking(&mut self, target: &TargetId, now: Now) {
        for closing in self.closing.iter_mut().filter(|c| c.target == *target && c.blank_until.is_none()) {
            closing.blank_until = Some(now.instant + BLANK_LIMIT);
        }
    }

    /// The page shows a blank document, or cannot: it is closed as soon as no dialog is open.
    pub(super) fn blanked(&mut self, target: &TargetId) {
        for closing in self.closing.iter_mut().filter(|c| c.target == *target && c.blank_until.is_some()) {
            closing.blanked = true;
        }
    }

    /// A page that is being closed opened a dialog.
    pub(super) fn asks_while_closing(&mut self, target: &TargetId) {
        self.closing.iter_mut().filter(|c| c.target == *target).for_each(|closing| closing.asks = true);
    }

    /// Pages that exceed the time for showing a blank document, and whose scripts are to be terminated.
    fn stubborn(&mut self, now: Now) -> Vec<TargetId> {
        let goes_on = |c: &Closing| c.terminations == 0 || (c.asks && c.terminations < MAX_TERMINATIONS);
        let late =
            |c: &&mut Closing| !c.blanked && goes_on(c) && c.blank_until.is_some_and(|until| until <= now.instant);
        let late = self.closing.iter_mut().filter(late);
        late.map(|closing| {
            (closing.terminations, closing.asks) = (closing.terminations + 1, false);
            closing.blank_until = Some(now.instant + BLANK_LIMIT);
            closing.target.clone()
        })
        .collect()
    }

    /// Whether to send the close command now; it is repeated only after [`RETRY_INTERVAL`].
    pub(super) fn take_close(&mut self, target: &TargetId, now: Now) -> bool {
        let mut waiting = self.closing.iter_mut().filter(|c| c.target == *target && c.may_ask(now)).peekable();
        let some = waiting.peek().is_some();
        waiting.for_each(|c| c.requested_at = Some(now.instant));
        some
    }

    pub(super) fn page_gone(&mut self, target: &TargetId) {
        self.created.remove(target);
        self.opening.retain(|_, opening| {
            let gone = opening.target.as_ref() == Some(target);
            if gone && let Some(reply) = opening.reply.take() {
                self.responses
                    .push(PendingResponse::Page(reply, Err(Error::PageNotFound { target: target.to_string() })));
            }
            !gone
        });
        self.closing.retain_mut(|closing| {
            let gone = closing.target == *target;
            if gone && let Some(reply) = closing.reply.take() {
                self.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            !gone
        });
    }

    /// The connection was lost: pending requests fail; nothing is sent again.
    pub(super) fn disconnect(&mut self, error: &Error) {
        let responses = &mut self.responses;
        responses.extend(self.responding.drain().map(|(_, reply)| PendingResponse::Dialog(reply, Err(error.clone()))));
        let opening = self.opening.drain().filter_map(|(_, opening)| opening.reply);
        responses.extend(opening.map(|reply| PendingResponse::Page(reply, Err(error.clone()))));
        let closing = self.closing.drain(..).filter_map(|closing| closing.reply);
        responses.extend(closing.map(|reply| PendingResponse::Done(reply, Err(error.clone()))));
        responses.extend(self.leaving.take().map(|reply| PendingResponse::Done(reply, Ok(()))));
        self.held.clear();
    }

    pub(super) fn fail_all(&mut self, reason: &str) {
        let error = || Error::NotActive { reason: reason.to_owned() };
        let responses = &mut self.responses;
        responses.extend(self.started.drain(..).map(|reply| PendingResponse::Done(reply, Err(error()))));
        responses.extend(self.responding.drain().map(|(_, reply)| PendingResponse::Dialog(reply, Err(error()))));
        let opening = self.opening.drain().filter_map(|(_, opening)| opening.reply);
        responses.extend(opening.map(|reply| PendingResponse::Page(reply, Err(error()))));
        // Closed with the browser.
        responses.extend(
            self.closing
                .drain(..)
                .filter_map(|closing| closing.reply)
                .map(|reply| PendingResponse::Done(reply, Ok(()))),
        );
        responses.extend(self.leaving.take().map(|reply| PendingResponse::Done(reply, Ok(()))));
    }
}

impl State {
    /// Handles a request.
    pub(in crate::supervisor) fn on_request(&mut self, request: Request, now: Now) {
        if let Phase::Ended(reason) = &self.phase {
            let reason = reason.to_string();
            refuse(request, Error::NotActive { reason });
            return;
        }
        if let Phase::Reconnecting(reason) = &self.phase
            && request.needs_browser()
        {
            let reason = reason.to_string();
            refuse(request, Error::Reconnecting { reason });
            return;
        }
        match request {
            Request::Started { reply } => self.requests.started.push(reply),
            Request::Arm { armed, anew, reply } => {
                if anew {
                    self.disarm(Some(&armed.when));
                }
                let outcome = self.arm(armed, now);
                self.requests.responses.push(PendingResponse::Done(reply, outcome));
            }
            Request::Disarm { when, reply } => {
                self.disarm(when.as_ref());
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::Acting { page, client, reply } => {
                if let Some(at) = self.page_index(&page) {
                    self.pages[at].acting = client;
                }
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::Confine { context, reply } => {
                self.confined.insert(context);
                let _ = reply.send(Ok(()));
            }
            Request::AssignPage { page, client, reply } => self.assign_page(&page, client, reply, now),
            Request::Policy { policy, rules, reply } => {
                self.options.policy = policy;
                self.options.rules = rules;
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::Respond { id, accept, text, reply } => {
                self.requests.next += 1;
                let number = self.requests.next;
                self.requests.responding.insert(number, reply);
                if let Err(error) = self.respond(number, id.as_deref(), accept, text, now) {
                    self.requests.responded(number, Err(error));
                }
            }
            Request::Open { url, context, behind, reply } => self.create_page(url, context, behind, Some(reply)),
            Request::MayVisit { url, reply } => self.may_visit(url, reply, now),
            Request::Close { target, reply } => {
                if self.page_index(&target).is_none() {
                    let outcome = Err(Error::PageNotFound { target: target.to_string() });
                    self.requests.responses.push(PendingResponse::Done(reply, outcome));
                } else {
                    self.begin_close(target, Some(reply), now);
                }
            }
            Request::DismissBridgedDialogs { target, reply } => {
                self.dismiss_bridged_dialogs(&target, now);
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::EndScripts { target, reply } => {
                self.end_scripts(&target);
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::Rescued { target, method, waited, reply } => {
                let millis = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
                self.note(Some(&target), now, Noted::Rescued { waiting: method.into(), waited_ms: millis });
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::DownloadMoved { moved, reply } => {
                self.download_moved(moved, now);
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::Downloads { folder, moved, reply } => {
                self.catch_downloads(folder, moved);
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::SetPersistentCommand { page, key, sessions, now, keep, reply } => {
                let outcome = self.set_persistent_command(&page, key, sessions, now, keep);
                self.requests.responses.push(PendingResponse::Done(reply, outcome));
            }
            Request::PortsChanged { reply } => {
                self.ports_changed();
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::Login { page, login, reply } => {
                let outcome = self.set_login(&page, login);
                self.requests.responses.push(PendingResponse::Done(reply, outcome));
            }
            Request::Opens { page, origin, reply } => {
                self.opens(&page, origin);
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::Throttle { page, throttle, reply } => self.set_throttle(&page, throttle, reply, now),
            Request::AddRoute { rule, glob, body, reply } => self.add_route((rule, glob, body), reply, now),
            Request::Routes { reply } => {
                let routes = self.list_routes();
                self.requests.responses.push(PendingResponse::Routes(reply, Ok(routes)));
            }
            Request::RemoveRoutes { id, reply } => self.remove_routes(id.as_deref(), reply, now),
            Request::Subscribe { page, methods, queue, reply } => self.subscribe(page, methods, queue, reply),
            Request::Unsubscribe { queue } => self.unsubscribe(&queue),
            Request::Recording { order, reply } => self.change_recording(order, reply),
            Request::Intercept { rule, glob, hand, reply } => self.intercept(rule, glob, hand, reply, now),
            Request::EndInterception { shared } => self.end_interception(&shared, now),
            Request::Intercepted { number, answer, reply } => self.intercepted(number, answer, reply, now),
            Request::Location { page, allowed, reply } => {
                let outcome = self.allow_location(&page, allowed);
                self.requests.responses.push(PendingResponse::Done(reply, outcome));
            }
            Request::Choosers { on, reply } => {
                self.watch_choosers(on);
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::ArmChooser { page, files, until, chosen, reply } => {
                let outcome = self.arm_chooser(page, files, until, chosen, now);
                self.requests.responses.push(PendingResponse::Done(reply, outcome));
            }
            Request::Reserve { target, reply: Some(reply) } => {
                self.requests.reserved.insert(target);
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::Reserve { target, reply: None } => drop(self.requests.reserved.remove(&target)),
            Request::RemoveScript { page, origin, script, reply } => {
                let outcome = self.remove_script_at(&page, origin, script);
                self.requests.responses.push(PendingResponse::Done(reply, outcome));
            }
            Request::Network { on, reply } => {
                self.watch_network(on);
                self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
            }
            Request::CaughtUp { reply } => self.requests.responses.push(PendingResponse::Done(reply, Ok(()))),
            Request::Leave { close_pages, reply } => self.leave(close_pages, reply, now),
        }
        self.settle(now);
    }

    pub(super) fn create_page(
        &mut self,
        url: String,
        context: Option<BrowserContextId>,
        behind: bool,
        reply: Option<Response<TargetId>>,
    ) {
        self.requests.next += 1;
        let request = self.requests.next;
        // Chromium 156 requests the first document of a new page before that request can be intercepted.
        let holds = self.has_navigation_policy() || self.routing.holds_for_new_pages();
        let then = (holds && url != BLANK).then(|| url.clone());
        let url = if then.is_some() { BLANK.to_owned() } else { url };
        self.requests.opening.insert(request, Opening { reply, target: None, then });
        let tag = self.expect(Waiting::Created { request });
        let mut create = CreateTarget::new(url);
        create.browser_context_id = context;
        create.background = behind.then_some(true);
        self.send(None, tag, create);
    }

    pub(super) fn page_created(&mut self, request: u64, created: Result<CreateTargetReturns, cdp::Error>, now: Now) {
        match created {
            Ok(created) => {
                self.requests.created.insert(created.target_id.clone());
                if let Some(index) = self.page_index(&created.target_id) {
                    self.pages[index].own = true;
                    self.pages[index].ends_with_task = true;
                    self.dirty.pages = true;
                }
                if let Some(opening) = self.requests.opening.get_mut(&request) {
                    opening.target = Some(created.target_id);
                }
            }
            Err(error) => {
                let opening = self.requests.opening.remove(&request);
                match opening.and_then(|o| o.reply) {
                    Some(reply) => self.requests.responses.push(PendingResponse::Page(reply, Err(error.into()))),
                    None => self.end(&error.to_string(), now), // the initial page of the task
                }
            }
        }
        self.release_held(now);
    }

    /// Decides the ownership of pages that were attached while a page was being opened.
    fn release_held(&mut self, now: Now) {
        for held in std::mem::take(&mut self.requests.held) {
            match self.belongs(&held.info) {
                super::pages::Ownership::Yes => self.adopt_page(&held.session, &held.info, now),
                super::pages::Ownership::No => {
                    self.let_go(held.session, super::sessions::waiting_opener(&held.info), held.waits);
                }
                super::pages::Ownership::NotYetKnown => self.requests.held.push(held),
            }
        }
    }

    pub(super) fn begin_close(&mut self, target: TargetId, reply: Option<Response<()>>, now: Now) {
        let closing = Closing {
            target: target.clone(),
            reply,
            blank_until: None,
            blanked: false,
            terminations: 0,
            asks: false,
            requested_at: None,
        };
        self.requests.closing.push(closing);
        self.close_page(&target, now);
    }

    pub(super) fn close_answered(&mut self, target: &TargetId, error: Option<cdp::Error>) {
        let Some(error) = error else { return }; // the detach event reports when it is closed
        self.requests.closing.retain_mut(|closing| {
            let this = closing.target == *target;
            if this && let Some(reply) = closing.reply.take() {
                self.requests.responses.push(PendingResponse::Done(reply, Err(error.clone().into())));
            }
            !this
        });
    }

    /// A client that detaches with an open dialog would wedge the tab for all other clients.
    fn leave(&mut self, close_pages: bool, reply: Response<()>, now: Now) {
        self.requests.leaving = Some(reply);
        let pages: Vec<(TargetId, bool)> = self.pages.iter().map(|p| (p.target.clone(), p.ends_with_task)).collect();
        for (target, ends) in pages {
            if ends && close_pages {
                self.begin_close(target, None, now);
            } else {
                self.dismiss_all(&target, now);
            }
        }
    }

    /// Checks which requests are complete.
    pub(super) fn settle(&mut self, now: Now) {
        self.settle_start(now);
        let pages = &self.pages;
        let is_attached =
            |target: &TargetId| pages.iter().any(|p| p.target == *target && p.state != PageState::Attaching);
        let mut go_on = Vec::new();
        self.requests.opening.retain(|_, opening| match &opening.target {
            Some(target) if is_attached(target) => {
                go_on.extend(opening.then.take().map(|url| (target.clone(), url)));
                if let Some(reply) = opening.reply.take() {
                    self.requests.responses.push(PendingResponse::Page(reply, Ok(target.clone())));
                }
                false
            }
            _ => true,
        });
        for (target, url) in go_on {
            if let Some(index) = self.page_index(&target) {
                let session = Arc::clone(&self.pages[index].session);
                self.send(Some(&session), 0, Navigate::new(url));
            }
        }
        for target in self.requests.stubborn(now) {
            self.end_scripts(&target);
        }
        let blank = |c: &Closing| c.blanked || c.blank_until.is_none_or(|until| until <= now.instant);
        let ready = |c: &&Closing| c.may_ask(now) && (c.requested_at.is_some() || blank(c));
        let resume: Vec<(TargetId, bool)> = self
            .requests
            .closing
            .iter()
            .filter(ready)
            .map(|c| (c.target.clone(), c.requested_at.is_some() || c.blank_until.is_some()))
            .collect();
        for (target, blanked) in resume {
            if self.dialogs.open_on(&target) > 0 {
                continue;
            }
            if blanked {
                self.close_now(target, now);
            } else {
                self.close_page(&target, now);
            }
        }
        if self.requests.leaving.is_some()
            && self.requests.closing.is_empty()
            && !self.dialogs.any_open()
            && let Some(reply) = self.requests.leaving.take()
        {
            self.requests.responses.push(PendingResponse::Done(reply, Ok(())));
        }
    }

    fn settle_start(&mut self, now: Now) {
        let again = matches!(self.phase, Phase::Reconnecting(_));
        if !(again || self.phase == Phase::Starting) || !self.requests.listed {
            return;
        }
        if let Pages::Existing(target) = &self.options.pages
            && !again
            && self.page_index(target).is_none()
        {
            let error = Error::PageNotFound { target: target.to_string() };
            let started = self.requests.started.drain(..);
            self.requests.responses.extend(started.map(|reply| PendingResponse::Done(reply, Err(error.clone()))));
            self.end(&error.to_string(), now);
            return;
        }
        let attaching = self.pages.iter().any(|p| p.state == PageState::Attaching);
        let awaited = !again && matches!(self.options.pages, Pages::New { .. }) && self.pages.is_empty();
        // A client that waits for the reconnect does not wait for a page that hangs.
        let patient = !again || self.requests.listed_at.is_some_and(|at| now.instant < at + CLOSE_GRACE);
        if (attaching && patient) || awaited {
            return;
        }
        self.phase = Phase::Active;
        self.dirty.phase = true;
        if again {
            self.note(None, now, Noted::Reconnected { generation: self.generation });
        }
        let started = self.requests.started.drain(..);
        self.requests.responses.extend(started.map(|reply| PendingResponse::Done(reply, Ok(()))));
    }

    /// Takes the responses to send after the view is published.
    pub(in crate::supervisor) fn take_responses(&mut self) -> Vec<PendingResponse> {
        std::mem::take(&mut self.requests.responses)
    }

    /// Performs all checks that are due.
    pub(in crate::supervisor) fn on_tick(&mut self, now: Now) {
        self.check_attaches(now);
        self.check_arrivals(now);
        self.close_refused(now);
        self.check_dialogs(now);
        self.check_choosers(now);
        self.check_lookups(now);
        self.check_routes(now);
        self.settle(now);
    }

    /// Time of the next [`on_tick`](Self::on_tick).
    pub(in crate::supervisor) fn next_tick(&self, now: Now) -> Option<Instant> {
        let again = matches!(self.phase, Phase::Reconnecting(_));
        let back = self.requests.listed_at.filter(|_| again).map(|at| at + CLOSE_GRACE);
        let soon = [self.next_attach_check(now), self.next_dialog_check(), self.next_chooser_check()];
        soon.into_iter()
            .chain([
                self.next_lookup_check(),
                self.next_arrival_check(),
                self.next_refused_check(),
                self.next_route_check(),
                back,
            ])
            .flatten()
            .min()
    }
}

fn refuse(request: Request, error: Error) {
    match request {
        Request::Reserve { reply: None, .. } | Request::Recording { reply: None, .. } | Request::Unsubscribe { .. } => {
        }
        Request::EndInterception { .. } | Request::Intercepted { reply: None, .. } => {}
        Request::DownloadMoved { reply, .. } | Request::Rescued { reply, .. } => drop(reply.try_send(Err(error))),
        Request::Started { reply }
        | Request::MayVisit { reply, .. }
        | Request::CaughtUp { reply }
        | Request::PortsChanged { reply }
        | Request::Arm { reply, .. }
        | Request::AssignPage { reply, .. }
        | Request::Confine { reply, .. }
        | Request::Acting { reply, .. }
        | Request::Disarm { reply, .. }
        | Request::Network { reply, .. }
        | Request::Reserve { reply: Some(reply), .. }
        | Request::RemoveScript { reply, .. }
        | Request::SetPersistentCommand { reply, .. }
        | Request::Login { reply, .. }
        | Request::Opens { reply, .. }
        | Request::Throttle { reply, .. }
        | Request::Location { reply, .. }
        | Request::Subscribe { reply, .. }
        | Request::Intercept { reply, .. }
        | Request::Intercepted { reply: Some(reply), .. }
        | Request::Recording { reply: Some(reply), .. }
        | Request::Choosers { reply, .. }
        | Request::ArmChooser { reply, .. }
        | Request::Downloads { reply, .. }
        | Request::DismissBridgedDialogs { reply, .. }
        | Request::EndScripts { reply, .. }
        | Request::Policy { reply, .. } => drop(reply.try_send(Err(error))),
        Request::Respond { reply, .. } => drop(reply.try_send(Err(error))),
        Request::Open { reply, .. } => drop(reply.try_send(Err(error))),
        Request::AddRoute { reply, .. } => drop(reply.try_send(Err(error))),
        Request::Routes { reply } | Request::RemoveRoutes { reply, .. } => drop(reply.try_send(Err(error))),
        Request::Close { reply, .. } => drop(reply.try_send(Err(error))),
        Request::Leave { reply, .. } => drop(reply.try_send(Ok(()))),
    }
}
