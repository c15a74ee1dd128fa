//! Status of a profile. Nothing here waits or inspects processes.

use super::{Profile, ProfileInfo, Status, tab_index};
use crate::config::Transport;
use cdpilot::browser::{Surroundings, find};

impl Profile {
    /// The current status. Does not wait.
    #[must_use]
    pub fn status(&self) -> Status {
        let (settings, browser) = (self.settings(), &self.core.shared.config.browser);
        let last = self.last_started();
        let ended = last.as_ref().and_then(|running| running.ended());
        let running = last.filter(|_| ended.is_none());
        let remote = settings.is_remote(browser.attach_only);
        let mut status = Status {
            enabled: browser.enabled,
            running: running.is_some(),
            profile: settings.name.clone(),
            pid: None,
            cdp_port: None,
            cdp_url: None,
            browser: None,
            executable_path: None,
            user_data_dir: (!remote).then(|| settings.user_data_dir.display().to_string()),
            headless: None,
            color: settings.color.clone(),
            attach_only: browser.attach_only,
            transport: if remote { "remote" } else { word(settings.transport) }.to_owned(),
            no_sandbox: false,
            tabs: 0,
            pending_dialogs: 0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            notes: ended.map(|reason| format!("the last browser ended: {reason}")).into_iter().collect(),
        };
        if let Some(running) = running {
            let (facts, now) = (running.facts.clone(), running.view());
            status.pid = facts.pid;
            status.cdp_port = facts.cdp_port;
            status.cdp_url = facts.cdp_url;
            status.browser = Some(facts.product);
            status.executable_path = facts.executable;
            status.user_data_dir = facts.user_data_dir;
            status.headless = facts.headless;
            status.no_sandbox = facts.no_sandbox.unwrap_or(false);
            facts.transport.clone_into(&mut status.transport);
            (status.tabs, status.pending_dialogs) = match self.session.is_default() {
                true => (now.pages.iter().filter(|page| tab_index::is_shown(page)).count(), now.dialogs.len()),
                false => {
                    let tabs = self.core.tab_index.lock().list(&self.session, &now.pages).len();
                    (tabs, self.dialogs(None).map_or(0, |(pending, _)| pending.len()))
                }
            };
            status.notes.extend(facts.notes);
        } else if !remote {
            let around = Surroundings::read();
            let no_sandbox = settings.no_sandbox(&around, &browser.extra_args);
            status.headless = Some(settings.headless(&around, &browser.extra_args).on);
            status.no_sandbox = no_sandbox.on;
            let found = find::find(settings.executable.as_deref());
            status.executable_path = found.ok().map(|found| found.path.display().to_string());
        }
        status
    }

    /// The profile as lists show it.
    pub(super) fn info(&self) -> ProfileInfo {
        let settings = self.settings();
        let running = self.running().ok();
        let set = settings.cdp_port.filter(|port| *port != 0 && settings.opens_port());
        ProfileInfo {
            name: settings.name.clone(),
            running: running.is_some(),
            cdp_port: running.map_or(set, |running| running.facts.cdp_port),
            user_data_dir: settings.user_data_dir.display().to_string(),
            color: settings.color.clone(),
            is_default: settings.is_default,
            is_remote: settings.is_remote(self.core.shared.config.browser.attach_only),
        }
    }
}

fn word(transport: Transport) -> &'static str {
    match transport {
        Transport::Auto => "auto",
        Transport::Port => "port",
        Transport::Pipe => "pipe",
    }
}
