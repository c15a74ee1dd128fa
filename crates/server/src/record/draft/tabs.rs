//! Tabs of a recording: which one is used, and why.

use std::collections::HashMap;

use super::super::event::{Event, EventType};
use super::describe;
use super::facts;
use super::types::{Action, Effect, Postcondition, StepType, StepValue, TabReason, Target};
use super::walk::{Builder, New};

/// A tab of the recording.
#[derive(Debug, Default)]
struct Tab {
    url: String,
    title: String,
    /// The address of the last navigation, which distinguishes a reload from another navigation.
    address: String,
    /// Events of a tab that no action opened, until the tab is used: created, activated.
    unused: Vec<u64>,
    /// Position of the step that opened it.
    opened_by: Option<usize>,
    /// Whether its first address is still to come.
    is_new: bool,
    was_used: bool,
    is_closed: bool,
    last_step: Option<usize>,
    /// Scroll positions by frame and container, until the tab shows another page.
    scrolled: HashMap<String, (f64, f64)>,
}

/// The tabs of the recording, and the one in use.
#[derive(Debug, Default)]
pub(super) struct Tabs {
    all: HashMap<u64, Tab>,
    by_target: HashMap<String, u64>,
    /// The tab in use; 0 before the first one.
    current: u64,
    open: usize,
}

impl Tabs {
    fn of(&mut self, number: u64) -> &mut Tab {
        let open = &mut self.open;
        self.all.entry(number).or_insert_with(|| {
            *open += 1;
            Tab::default()
        })
    }

    /// Notes what an event says about its page.
    pub(super) fn shows(&mut self, event: &Event) {
        // These set the address from their data; `page` may still be the one before.
        let sets_address = matches!(
            event.event_type,
            EventType::TabCreated | EventType::TabNavigated | EventType::TabBack | EventType::TabForward
        );
        if event.tab == 0 || event.page.url.is_empty() || sets_address {
            return;
        }
        let tab = self.of(event.tab);
        tab.url.clone_from(&event.page.url);
        tab.title.clone_from(&event.page.title);
    }

    pub(super) fn did(&mut self, number: u64, step: usize) {
        if number != 0 {
            let tab = self.of(number);
            tab.last_step = Some(step);
            tab.was_used = true;
            tab.is_new = false;
        }
    }

    pub(super) fn last_step(&self, number: u64) -> Option<usize> {
        self.all.get(&number)?.last_step
    }

    /// Notes that a tab shows another address, and returns the one before.
    fn goes_to(&mut self, event: &Event, url: &str) -> String {
        let tab = self.of(event.tab);
        tab.scrolled.clear();
        let title = if event.page.url == url { event.page.title.clone() } else { String::new() };
        tab.title = title;
        let before = std::mem::replace(&mut tab.url, url.to_owned());
        let address = std::mem::replace(&mut tab.address, url.to_owned());
        if address.is_empty() { before } else { address }
    }

    /// Keeps a scroll position and returns the one before.
    pub(super) fn scrolled(&mut self, number: u64, place: &str, to: (f64, f64)) -> (f64, f64) {
        self.of(number).scrolled.insert(place.to_owned(), to).unwrap_or_default()
    }

    /// The tab that a `tab_created` event names as its opener: its number, or its target.
    fn opener(&self, event: &Event) -> Option<u64> {
        let opener = event.data.get("opener")?;
        opener.as_u64().or_else(|| self.by_target.get(opener.as_str()?).copied())
    }
}

/// Whether an address shows nothing, as that of a new tab.
fn is_blank(url: &str) -> bool {
    url.is_empty() || url == "about:blank" || url.starts_with("chrome://new")
}

impl Builder<'_> {
    pub(super) fn tab_created(&mut self, event: &Event) {
        if let Some(target) = facts::text(event, "target_id") {
            self.tabs.by_target.insert(target.to_owned(), event.tab);
        }
        let opener = self.tabs.opener(event);
        if opener.is_some() || facts::cause(event).is_some() {
            self.close_form();
        }
        let cause = self.cause(event).or_else(|| opener.and_then(|opener| self.tabs.last_step(opener)));
        let url = facts::url(event).to_owned();
        let tab = self.tabs.of(event.tab);
        tab.url.clone_from(&url);
        tab.address.clone_from(&url);
        tab.is_new = true;
        tab.opened_by = cause;
        match cause {
            Some(step) => self.follows(step, event, Effect::Tab { tab: event.tab, url }),
            None => tab.unused.push(event.event_index),
        }
    }

    pub(super) fn tab_activated(&mut self, event: &Event) {
        let current = self.tabs.current;
        let tab = self.tabs.of(event.tab);
        if !tab.unused.is_empty() {
            return tab.unused.push(event.event_index);
        }
        if current != event.tab {
            self.close_form();
            self.tabs.shows(event);
            self.use_tab(event);
        }
    }

    /// Adds a step to the tab of an event, if another one was used before.
    pub(super) fn use_tab(&mut self, event: &Event) {
        let (number, current) = (event.tab, self.tabs.current);
        if number == 0 {
            return;
        }
        let is_current_closed = self.tabs.all.get(&current).is_some_and(|tab| tab.is_closed);
        let tab = self.tabs.of(number);
        let unused = std::mem::take(&mut tab.unused);
        if !unused.is_empty() {
            let url = if is_blank(&tab.url) { event.page.url.clone() } else { tab.url.clone() };
            tab.is_new = false;
            return self.opened(number, &url, unused);
        }
        self.tabs.current = number;
        if current == 0 || current == number {
            return;
        }
        let tab = self.tabs.of(number);
        let title = if tab.title.is_empty() { &event.page.title } else { &tab.title };
        let shown = describe::tab(number, title);
        let opened_by = tab.opened_by.filter(|_| !tab.was_used);
        let (why, description) = match opened_by {
            Some(step) => (TabReason::OpenedByStep, format!("Switch to {shown}, which step {} opened", step + 1)),
            None if is_current_closed => {
                (TabReason::PreviousClosed, format!("Switch to {shown}, because tab {current} was closed"))
            }
            None if tab.was_used => (TabReason::Returned, format!("Switch back to {shown}")),
            None => (TabReason::FirstUse, format!("Switch to {shown}")),
        };
        let page_url = if tab.url.is_empty() { event.page.url.clone() } else { tab.url.clone() };
        let opened_by = opened_by.and_then(|step| self.steps.get(step)).map(|step| step.id.clone());
        let is_switch = event.event_type == EventType::TabActivated;
        let new = New {
            kind: StepType::Tab,
            action: Action::SwitchTab,
            description,
            // An action in another tab is a step of its own, which has the event.
            sources: if is_switch { vec![event.event_index] } else { Vec::new() },
            target: Some(Target { tab: number, page_url, ..Target::default() }),
            value: Some(StepValue::Tab { tab: number, why, opened_by }),
            postcondition: None,
        };
        self.push(new, number);
    }

    /// Adds the step that opens a tab by hand, or the first address of the recording.
    fn opened(&mut self, number: u64, url: &str, sources: Vec<u64>) {
        let is_first = self.tabs.current == 0;
        self.tabs.current = number;
        if is_first && is_blank(url) {
            return;
        }
        let target = Some(Target { tab: number, page_url: url.to_owned(), ..Target::default() });
        let new = if is_first {
            New {
                kind: StepType::Navigate,
                action: Action::Open,
                description: format!("Open {}", describe::address(url)),
                sources,
                target,
                value: Some(StepValue::Url { url: url.to_owned() }),
                postcondition: Some(Postcondition::One(Effect::Url { url: url.to_owned() })),
            }
        } else {
            let description = match is_blank(url) {
                true => format!("Open a new tab, tab {number}"),
                false => format!("Open {} in a new tab, tab {number}", describe::address(url)),
            };
            New {
                kind: StepType::Tab,
                action: Action::OpenTab,
                description,
                sources,
                target,
                value: Some(StepValue::Tab { tab: number, why: TabReason::OpenedByHand, opened_by: None }),
                postcondition: (!is_blank(url)).then(|| Postcondition::One(Effect::Url { url: url.to_owned() })),
            }
        };
        self.push(new, number);
    }

    pub(super) fn navigated(&mut self, event: &Event) {
        self.close_form();
        let url = facts::url(event).to_owned();
        let cause = self.cause(event);
        let before = self.tabs.goes_to(event, &url);
        let tab = self.tabs.of(event.tab);
        let is_new = std::mem::take(&mut tab.is_new);
        let unused = std::mem::take(&mut tab.unused);
        if let Some(step) = cause.or(tab.opened_by.filter(|_| is_new)) {
            // A tab that was opened for the first address is part of the same effect.
            let is_opened = is_new || !unused.is_empty();
            if is_opened {
                tab.opened_by = Some(step);
            }
            let effect = if is_opened { Effect::Tab { tab: event.tab, url } } else { Effect::Url { url } };
            return self.follows(step, event, effect);
        }
        if !unused.is_empty() {
            return self.opened(event.tab, &url, unused.into_iter().chain([event.event_index]).collect());
        }
        self.use_tab(event);
        let (action, verb) =
            if before == url && !is_blank(&url) { (Action::Reload, "Reload") } else { (Action::Open, "Open") };
        let new = New {
            kind: StepType::Navigate,
            action,
            description: format!("{verb} {}", describe::address(&url)),
            sources: vec![event.event_index],
            target: Some(Target { tab: event.tab, page_url: before, ..Target::default() }),
            value: Some(StepValue::Url { url: url.clone() }),
            postcondition: Some(Postcondition::One(Effect::Url { url })),
        };
        self.push(new, event.tab);
    }

    pub(super) fn moved_in_history(&mut self, event: &Event, action: Action, direction: &str) {
        self.close_form();
        let url = facts::url(event).to_owned();
        let cause = self.cause(event);
        if cause.is_none() {
            self.use_tab(event);
        }
        let before = self.tabs.goes_to(event, &url);
        if let Some(step) = cause {
            return self.follows(step, event, Effect::Url { url });
        }
        let new = New {
            kind: StepType::Navigate,
            action,
            description: format!("Go {direction} to {}", describe::address(&url)),
            sources: vec![event.event_index],
            target: Some(Target { tab: event.tab, page_url: before, ..Target::default() }),
            value: None,
            postcondition: Some(Postcondition::One(Effect::Url { url })),
        };
        self.push(new, event.tab);
    }

    pub(super) fn tab_closed(&mut self, event: &Event) {
        self.close_form();
        let cause = self.cause(event);
        let tab = self.tabs.of(event.tab);
        if std::mem::replace(&mut tab.is_closed, true) {
            return;
        }
        let is_unused = !tab.unused.is_empty();
        let (shown, page_url) = (describe::tab(event.tab, &tab.title), tab.url.clone());
        self.tabs.open -= 1;
        if let Some(step) = cause {
            return self.follows(step, event, Effect::TabClosed { tab: event.tab });
        }
        if is_unused {
            return;
        }
        let new = New {
            kind: StepType::Tab,
            action: Action::CloseTab,
            description: format!("Close {shown}"),
            sources: vec![event.event_index],
            target: Some(Target { tab: event.tab, page_url, ..Target::default() }),
            value: None,
            postcondition: Some(Postcondition::One(Effect::TabClosed { tab: event.tab })),
        };
        self.push(new, event.tab);
    }

    /// Closing all tabs ends a recording and is no part of the task.
    pub(super) fn drop_final_closes(&mut self) {
        while self.tabs.open == 0 && self.steps.last().is_some_and(|step| step.action == Action::CloseTab) {
            self.steps.pop();
        }
    }
}
