//! The thread of a supervisor: passes inputs to the state machine, carries out its effects, and publishes the view.
//!
//! It never waits for an answer: answers arrive as messages. It publishes once per batch of events, so that a flood
//! does not burden readers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crossbeam_channel::TryRecvError;

use super::bridge::Fulfil;
use super::current_connection::CurrentConnection;
use super::inputs::{FOLLOWED, Inputs, NextInput, WakeReason};
use super::log::EventLog;
use super::navigation_policy::Lookups;
use super::network_route::{FulfilRequest, HeaderList};
use super::page_ring::PageRing;
use super::persistent_commands::Throttle;
use super::redial::{RedialAttempt, RedialOutcome};
use super::snapshot::{ConsoleEntry, View};
use super::state::{Effect, LoginAnswer, Now, Outgoing, Request, SessionKey, State};
use super::traffic::{NetworkRequest, Traffic};
use crate::browser::BrowserProcess;
use crate::cdp::protocol::{browser, dom, fetch, network, page, runtime, target};
use crate::cdp::rt::{Base64, Command};
use crate::cdp::{CloseReason, Connection, Error};
use crate::sync::{Deadline, Published, fault_point};

/// Maximum number of events processed before the view is published.
const BATCH: usize = 256;
/// Maximum size of the response bodies that Chromium keeps per process, in total and each, in bytes.
const BODIES: i64 = 20 * 1024 * 1024;
const BODY: i64 = 5 * 1024 * 1024;
/// Matches every URL.
const EVERYTHING: &str = "*";
/// Maximum sleep when nothing is due.
const IDLE: Duration = Duration::from_secs(60);

/// State of the thread.
pub(super) struct Worker {
    pub(super) connection: Connection,
    pub(super) current_connection: Arc<CurrentConnection>,
    pub(super) task: String,
    /// A reconnect in progress.
    pub(super) dialing: Option<RedialAttempt>,
    /// Failed attempts since the supervisor was last active.
    pub(super) tried: u32,
    pub(super) inputs: Inputs,
    pub(super) lookups: Lookups,
    pub(super) state: State,
    pub(super) published: Arc<Published<View>>,
    pub(super) log: Arc<EventLog>,
    /// Set when the thread ends.
    pub(super) done: Arc<AtomicBool>,
    pub(super) traffic: Arc<Published<Traffic>>,
    pub(super) request_ring: Arc<PageRing<NetworkRequest>>,
    pub(super) console_ring: Arc<PageRing<ConsoleEntry>>,
}

pub(super) fn now() -> Now {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    Now { instant: Instant::now(), unix }
}

impl Worker {
    pub(super) fn run(mut self) {
        // First the request for the result of the start: a fast browser would complete the start before it is read.
        if let Ok(request) = self.inputs.requests.try_recv() {
            self.state.on_request(request, now());
        }
        self.state.begin(now());
        loop {
            self.carry_out();
            self.publish();
            if self.state.has_ended() {
                break;
            }
            let woken = self.wait();
            fault_point(format_args!("sup-{}", self.task));
            match woken {
                WakeReason::BrowserMessage => self.fold_messages(),
                WakeReason::Console => self.fold_console(),
                WakeReason::Call => self.fold_calls(),
                WakeReason::Network => self.fold_network(),
                WakeReason::Followed => self.fold_followed(),
                WakeReason::Request => {
                    if let Ok(request) = self.inputs.requests.try_recv() {
                        self.catch_up(&request);
                        self.state.on_request(request, now());
                    }
                }
                WakeReason::NameResolved => self.found(),
                WakeReason::Redialed => self.dialed(),
                WakeReason::Close => self.state.end("stopped", now()),
                WakeReason::Time => {}
            }
            self.state.on_tick(now());
            if self.state.is_active() {
                self.tried = 0;
            }
        }
        drop(self.dialing.take());
        // Late requests are answered with an error instead of being left unanswered.
        while let Ok(request) = self.inputs.requests.try_recv() {
            self.state.on_request(request, now());
        }
        self.done.store(true, Ordering::Release);
        if !self.state.shares_log() {
            self.log.end();
        }
    }

    fn wait(&self) -> WakeReason {
        let now = now();
        let idle = now.instant + IDLE;
        let until = self.state.next_tick(now).map_or(idle, |next| next.min(idle));
        self.inputs.wait(Deadline::at(until))
    }

    /// Processes the messages of the browser, in order.
    fn fold_messages(&mut self) {
        let lost = self.inputs.lost();
        if lost > 0 {
            self.state.on_lag(lost, now());
        }
        for _ in 0..BATCH {
            match self.inputs.next() {
                NextInput::Event(event) => self.state.on_event(&event, now()),
                NextInput::Answer(answer) => self.state.on_answer(answer.tag, answer.into_result(), now()),
                NextInput::Nothing => return,
                NextInput::Ended => {
                    self.disconnected();
                    return;
                }
            }
        }
    }

    /// The connection was lost: reconnects if possible.
    fn disconnected(&mut self) {
        self.hand_on_followed(FOLLOWED);
        let reason = self.connection.close_reason().map(|r| r.to_string());
        let reason = reason.unwrap_or_else(|| "the connection ended".to_owned());
        // The URL of an ended WebDriver session cannot be used again.
        let local = matches!(self.connection.close_reason(), Some(CloseReason::Local | CloseReason::SessionEnded));
        let redial = self.current_connection.browser.lock().as_ref().and_then(BrowserProcess::redial).cloned();
        let Some(redial) = redial.filter(|_| self.state.may_reconnect() && !local) else {
            self.state.end(&reason, now());
            return;
        };
        tracing::warn!(task = %self.task, %reason, "connection lost, reconnecting");
        self.inputs.part();
        self.state.disconnected(&reason, now());
        let how = self.state.options().reconnect;
        match RedialAttempt::start(&self.task, redial, how, self.tried, self.state.targets()) {
            Ok(dialing) => {
                self.inputs.dialed = dialing.outcome.clone();
                self.dialing = Some(dialing);
            }
            Err(problem) => self.state.end(&format!("{reason}; cannot reconnect: {problem}"), now()),
        }
        self.tried += 1;
    }

    fn dialed(&mut self) {
        let dialed = match self.inputs.dialed.try_recv() {
            Ok(dialed) => dialed,
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Disconnected) => {
                RedialOutcome::GaveUp("internal error: the reconnecting thread panicked".to_owned())
            }
        };
        self.inputs.dialed = crossbeam_channel::never();
        drop(self.dialing.take());
        match dialed {
            RedialOutcome::GaveUp(problem) => self.state.end(&format!("the connection was lost: {problem}"), now()),
            RedialOutcome::Connected(connection) => {
                // Subscribe before anything is sent, and replace the connection before it is published.
                self.inputs.join(&connection);
                self.current_connection.replace(&connection);
                self.connection = connection;
                self.state.reconnected();
            }
        }
    }

    /// Processes calls of the dialog bridge, after all other events, so that their frames are known.
    fn fold_calls(&mut self) {
        self.fold_messages();
        if self.inputs.lost_calls() > 0 {
            self.state.calls_lost(now());
        }
        for _ in 0..BATCH {
            let Some(event) = self.inputs.next_call() else { return };
            self.state.on_event(&event, now());
        }
    }

    fn found(&mut self) {
        let Ok(found) = self.inputs.found.try_recv() else { return };
        let state = &self.state;
        self.lookups.keep_waiting(|host| state.awaits_name(host));
        self.lookups.took(&found);
        self.state.found(found, now());
    }

    fn fold_console(&mut self) {
        for _ in 0..BATCH {
            let Some(event) = self.inputs.next_console() else { return };
            self.fold_messages(); // the execution context that it refers to may have been created just before
            self.state.on_event(&event, now());
        }
    }

    /// Delivers events to followers, after the events that assign sessions to pages.
    fn fold_followed(&mut self) {
        self.fold_messages();
        self.hand_on_followed(BATCH);
    }

    fn hand_on_followed(&mut self, most: usize) {
        for number in self.inputs.followers() {
            for _ in 0..most {
                let Some((lost, event)) = self.inputs.next_followed(number) else { break };
                if lost > 0 {
                    self.state.follower_lost(number, lost);
                }
                self.state.followed(number, &event);
            }
        }
    }

    fn fold_network(&mut self) {
        let lost = self.inputs.lost_network();
        if lost > 0 {
            self.state.network_lost(lost);
        }
        self.fold_messages(); // the documents that they belong to
        for _ in 0..BATCH {
            let Some(event) = self.inputs.next_network() else { return };
            self.state.on_event(&event, now());
        }
    }

    /// Processes all pending events before a request that asks for it.
    fn catch_up(&mut self, request: &Request) {
        if !matches!(request, Request::CaughtUp { .. }) {
            return;
        }
        let waiting = self.inputs.waiting();
        for _ in 0..=waiting / BATCH {
            self.fold_messages();
            self.fold_network();
            self.fold_console();
        }
        self.hand_on_followed(FOLLOWED);
    }

    /// Publishes before interrupting: a call sent afterwards sees the dialog in the view, and a call sent before is
    /// interrupted. Responses are sent last, so that their receivers find the effect in the view.
    fn publish(&mut self) {
        let lines = self.state.take_log();
        if !lines.is_empty() {
            self.log.append(lines);
        }
        self.console_ring.change(self.state.take_console());
        self.request_ring.change(self.state.take_requests());
        if let Some(traffic) = self.state.take_traffic() {
            self.traffic.publish(Arc::new(traffic));
        }
        if let Some(view) = self.state.view(&self.published.get()) {
            self.published.publish(Arc::new(view));
        }
        for response in self.state.take_responses() {
            response.send();
        }
    }

    fn carry_out(&mut self) {
        loop {
            let effects = self.state.take_effects();
            if effects.is_empty() {
                return;
            }
            for effect in effects {
                if matches!(effect, Effect::Send { command: Outgoing::EnableNetwork, .. }) {
                    self.inputs.hear_network(&self.connection);
                }
                match effect {
                    Effect::Send { session, tag, command } => {
                        if let Err(error) = self.send(session.as_ref(), tag, command) {
                            self.state.on_answer(tag, Err(error), now());
                        }
                    }
                    Effect::LookUp { host } => self.lookups.start(host),
                    Effect::Follow { number, methods } => self.inputs.follow(&self.connection, number, &methods),
                    Effect::Unfollow { number } => {
                        self.hand_on_followed(FOLLOWED);
                        self.inputs.unfollow(number);
                        self.state.unfollowed(number);
                    }
                    Effect::Interrupt { session, dialog } => {
                        self.publish();
                        self.connection.interrupt(&[session], &[dialog.to_string()]);
                    }
                }
            }
        }
    }

    fn send(&self, session: Option<&SessionKey>, tag: u64, command: Outgoing) -> Result<(), Error> {
        match command {
            Outgoing::AttachPages { shared_workers } => {
                let only = |kind: &str| target::FilterEntry { exclude: None, r#type: Some(kind.to_owned()) };
                let workers = shared_workers.then(|| only("shared_worker"));
                let others = target::FilterEntry { exclude: Some(true), r#type: None };
                let mut attach = auto_attach();
                attach.filter = Some([only("page")].into_iter().chain(workers).chain([others]).collect());
                self.post(session, tag, &attach)
            }
            Outgoing::Info { target } => {
                let mut info = target::GetTargetInfo::new();
                info.target_id = Some(target);
                self.post(session, tag, &info)
            }
            Outgoing::AttachChildren => self.post(session, tag, &auto_attach()),
            Outgoing::Detach { session: gone } => {
                let mut detach = target::DetachFromTarget::new();
                detach.session_id = Some(target::SessionId::from(&*gone));
                self.post(session, tag, &detach)
            }
            Outgoing::Resume => self.post(session, tag, &runtime::RunIfWaitingForDebugger::new()),
            Outgoing::EnableNetwork => {
                let mut enable = network::Enable::new();
                enable.max_total_buffer_size = Some(BODIES);
                enable.max_resource_buffer_size = Some(BODY);
                enable.max_post_data_size = Some(1); // request bodies are not used
                self.post(session, tag, &enable)
            }
            Outgoing::EnableConditions => {
                let mut enable = network::Enable::new();
                (enable.max_total_buffer_size, enable.max_resource_buffer_size) = (Some(1), Some(1));
                enable.max_post_data_size = Some(1);
                self.post(session, tag, &enable)
            }
            Outgoing::DisableNetwork => self.post(session, tag, &network::Disable::new()),
            Outgoing::CatchDownloads { context, folder } => {
                let mut set = browser::SetDownloadBehavior::new(browser::SetDownloadBehaviorBehavior::AllowAndName);
                set.browser_context_id = context;
                set.download_path = Some(folder.to_string_lossy().into_owned());
                set.events_enabled = Some(true);
                self.post(session, tag, &set)
            }
            Outgoing::LeaveDownloads { context } => {
                let mut set = browser::SetDownloadBehavior::new(browser::SetDownloadBehaviorBehavior::Default);
                set.browser_context_id = context;
                self.post(session, tag, &set)
            }
            Outgoing::CatchChoosers { on, cancel } => {
                let mut catch = page::SetInterceptFileChooserDialog::new(on);
                catch.cancel = on.then_some(cancel);
                self.post(session, tag, &catch)
            }
            Outgoing::SetFiles { node, files } => {
                let mut set = dom::SetFileInputFiles::new(files.to_vec());
                set.backend_node_id = Some(node);
                self.post(session, tag, &set)
            }
            Outgoing::EnablePage => self.post(session, tag, &page::Enable::new()),
            Outgoing::EnableRuntime => self.post(session, tag, &runtime::Enable::new()),
            Outgoing::FrameTree => self.post(session, tag, &page::GetFrameTree::new()),
            Outgoing::AnswerDialog { accept, text } => {
                let mut answer = page::HandleJavaScriptDialog::new(accept);
                answer.prompt_text = text;
                self.post(session, tag, &answer)
            }
            Outgoing::BypassCsp => self.post(session, tag, &page::SetBypassCsp::new(true)),
            Outgoing::CatchCalls(catch) => {
                let of = |url: &str| fetch::RequestPattern { url_pattern: Some(url.to_owned()), ..Default::default() };
                let mut enable = fetch::Enable::new();
                // With logins, every URL: Chromium 156 cancels authentication for requests that match no pattern,
                // without an event.
                enable.patterns = Some(if catch.logins || catch.all {
                    vec![of(EVERYTHING)]
                } else {
                    let mut documents = catch.documents.then(|| of(EVERYTHING));
                    if let Some(documents) = &mut documents {
                        documents.resource_type = Some(network::ResourceType::Document);
                    }
                    let patterns = catch.bridge.as_deref().into_iter().chain(catch.patterns.iter().map(|url| &**url));
                    let routes = catch.routes.iter().map(|route| {
                        let mut pattern = of(&route.url);
                        pattern.resource_type = route.resource_type.as_deref().map(resource_type);
                        pattern
                    });
                    patterns.map(of).chain(documents).chain(routes).collect()
                });
                enable.handle_auth_requests = catch.logins.then_some(true);
                self.post(session, tag, &enable)
            }
            Outgoing::CutOff { patterns, throttle } => {
                let cut = |url: &String| {
                    // Only blocked: no latency, no throughput limit.
                    let mut rule = network::NetworkConditions::new(&**url, 0.0, -1.0, -1.0);
                    rule.offline = Some(true);
                    rule
                };
                let rest = throttle.map(|throttle| {
                    let (down, up) = (Throttle::wire(throttle.download_kbps), Throttle::wire(throttle.upload_kbps));
                    network::NetworkConditions::new("", throttle.latency_ms, down, up)
                });
                let rules = patterns.iter().map(cut).chain(rest).collect::<Vec<_>>();
                let mut cut_off = network::EmulateNetworkConditionsByRule::new(rules);
                // Deprecated. With it all rules block, without it Chromium 156 reads `offline` of each rule.
                cut_off.offline = throttle.is_none().then_some(!patterns.is_empty());
                self.post(session, tag, &cut_off)
            }
            Outgoing::Throttle(throttle) => {
                let (down, up) = throttle.map_or((None, None), |limits| (limits.download_kbps, limits.upload_kbps));
                let latency = throttle.map_or(0.0, |limits| limits.latency_ms);
                #[expect(deprecated, reason = "older browsers have nothing else")]
                let set =
                    network::EmulateNetworkConditions::new(false, latency, Throttle::wire(down), Throttle::wire(up));
                self.post(session, tag, &set)
            }
            Outgoing::ForbidPrerendering => self.post(session, tag, &page::SetPrerenderingAllowed::new(false)),
            Outgoing::PersistentCommand(command) => match self.inputs.answers_in() {
                Some(answers) => command.start(&self.connection, session, answers, tag),
                None => Ok(()), // sent to the sessions of the next connection
            },
            Outgoing::AnswerLogin { request, answer } => {
                use fetch::AuthChallengeResponseResponse as Choice;
                let response = match answer {
                    LoginAnswer::With(login) => {
                        let mut with = fetch::AuthChallengeResponse::new(Choice::ProvideCredentials);
                        (with.username, with.password) = (Some(login.username), Some(login.password));
                        with
                    }
                    LoginAnswer::Refused => fetch::AuthChallengeResponse::new(Choice::CancelAuth),
                    LoginAnswer::OfProxy => fetch::AuthChallengeResponse::new(Choice::Default),
                };
                let request = fetch::RequestId::from(&*request);
                self.post(session, tag, &fetch::ContinueWithAuth::new(request, response))
            }
            Outgoing::AllowLocation { origin, context, allowed } => {
                let what = browser::PermissionDescriptor::new("geolocation");
                let setting =
                    if allowed { browser::PermissionSetting::Granted } else { browser::PermissionSetting::Prompt };
                let mut set = browser::SetPermission::new(what, setting);
                set.origin = Some(origin);
                set.browser_context_id = context;
                self.post(session, tag, &set)
            }
            Outgoing::ReleaseCalls => self.post(session, tag, &fetch::Disable::new()),
            Outgoing::AddScript { source } => {
                let mut add = page::AddScriptToEvaluateOnNewDocument::new(&*source.0);
                add.run_immediately = Some(true);
                self.post(session, tag, &add)
            }
            Outgoing::RemoveScript { script } => {
                self.post(session, tag, &page::RemoveScriptToEvaluateOnNewDocument::new(script))
            }
            Outgoing::AnswerCall { request, answer } => {
                let mut fulfil =
                    fetch::FulfillRequest::new(fetch::RequestId::from(&*request), i64::from(Fulfil::STATUS));
                let header = |(name, value): &(&str, &str)| fetch::HeaderEntry::new(*name, *value);
                fulfil.response_headers = Some(Fulfil::HEADERS.iter().map(header).collect());
                fulfil.body = Some(Base64::encode(answer.body().as_bytes()));
                self.post(session, tag, &fulfil)
            }
            Outgoing::LetPass { request } => {
                self.post(session, tag, &fetch::ContinueRequest::new(fetch::RequestId::from(&*request)))
            }
            Outgoing::LetPassWith { request, headers } => {
                let mut go_on = fetch::ContinueRequest::new(fetch::RequestId::from(&*request));
                go_on.headers = Some(entries(&headers).collect());
                self.post(session, tag, &go_on)
            }
            Outgoing::FulfilRequest { request, answer, more, body } => {
                let headers = entries(&answer.headers).chain(entries(&more)).collect();
                self.post(session, tag, &FulfilRequest::new(request, answer.status, headers, body))
            }
            Outgoing::FailRequest { request, reason } => {
                let request = fetch::RequestId::from(&*request);
                self.post(session, tag, &fetch::FailRequest::new(request, reason.wire()))
            }
            Outgoing::RefuseCall { request } => {
                let reason = network::ErrorReason::AccessDenied;
                self.post(session, tag, &fetch::FailRequest::new(fetch::RequestId::from(&*request), reason))
            }
            Outgoing::RefuseDocument { request, main } => {
                // A top frame stays on its document; a child frame shows an error page.
                let reason = if main { network::ErrorReason::Aborted } else { network::ErrorReason::BlockedByClient };
                self.post(session, tag, &fetch::FailRequest::new(fetch::RequestId::from(&*request), reason))
            }
            Outgoing::CreatePage { url, context, behind } => {
                let mut create = target::CreateTarget::new(url);
                create.browser_context_id = context;
                create.background = behind.then_some(true);
                self.post(session, tag, &create)
            }
            Outgoing::Blank { frame } => {
                let mut blank = page::Navigate::new("about:blank");
                blank.frame_id = frame;
                self.post(session, tag, &blank)
            }
            Outgoing::Navigate { url } => self.post(session, tag, &page::Navigate::new(url)),
            Outgoing::StopLoading => self.post(session, tag, &page::StopLoading::new()),
            Outgoing::EndScript => self.post(session, tag, &runtime::TerminateExecution::new()),
            Outgoing::ClosePage { target } => self.post(session, tag, &target::CloseTarget::new(target)),
        }
    }

    fn post<C: Command>(&self, session: Option<&SessionKey>, tag: u64, command: &C) -> Result<(), Error> {
        match self.inputs.answers_in() {
            Some(answers) => self.connection.start_to_inbox(command, session, answers, tag),
            None => Err(Error::Closed {
                method: C::METHOD.into(),
                reason: self.connection.close_reason().unwrap_or(CloseReason::Local),
            }),
        }
    }
}

fn entries(headers: &HeaderList) -> impl Iterator<Item = fetch::HeaderEntry> + '_ {
    headers.iter().map(|(name, value)| fetch::HeaderEntry::new(&**name, &**value))
}

/// The resource type of `Fetch` for a lower-case name.
fn resource_type(kind: &str) -> network::ResourceType {
    use network::ResourceType as Type;
    match kind {
        "document" => Type::Document,
        "stylesheet" => Type::Stylesheet,
        "image" => Type::Image,
        "media" => Type::Media,
        "font" => Type::Font,
        "script" => Type::Script,
        "texttrack" => Type::TextTrack,
        // Chromium 156 reports requests of `fetch()` as XHR.
        "fetch" | "xhr" => Type::Xhr,
        "eventsource" => Type::EventSource,
        "manifest" => Type::Manifest,
        "ping" => Type::Ping,
        "cspviolationreport" => Type::CspViolationReport,
        "prefetch" => Type::Prefetch,
        _ => Type::OtherValue,
    }
}

/// Pauses new targets: only a paused page cannot open a dialog before we observe it. Without the pause, a click that
/// calls `window.open` hangs for seconds (Chromium 156).
fn auto_attach() -> target::SetAutoAttach {
    let mut attach = target::SetAutoAttach::new(true, true);
    attach.flatten = Some(true);
    attach
}
