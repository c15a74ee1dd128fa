//! What happens in the tabs of a session while somebody else uses them.

use std::time::Duration;

use super::Profile;
use cdpilot::page::FieldStates;
use cdpilot::supervisor::LogEvent;
use cdpilot::sync::Deadline;

/// Time limit for reading the fields of a tab.
const READ: Duration = Duration::from_millis(800);
/// Within which time the owner of a page has to be known.
const OWNER: Duration = Duration::from_millis(50);
/// How many events are read at once.
const AT_ONCE: usize = 500;
/// How many tabs are compared, the newest first.
const MOST_TABS: usize = 4;
/// How many changes are told, and how long each may be, in characters.
const MOST_CHANGES: usize = 25;
const MOST_CHARS: usize = 160;

/// The tabs of a session as they were when they were handed over.
#[derive(Debug)]
pub struct Handover {
    pages: Profile,
    /// Its tabs: those that were closed since are no longer known as its own.
    own: Vec<String>,
    /// Number of the last event.
    seen: u64,
    fields: Vec<(String, FieldStates)>,
}

impl Profile {
    /// Hands the tabs of the session over: from now on, their changes are those of somebody else.
    #[must_use]
    pub fn hand_over(&self) -> Handover {
        let (seen, fields) = (self.events().last(), fields_of(self));
        Handover { pages: self.clone(), own: self.targets(), seen, fields }
    }
}

impl Handover {
    /// What has changed since then, a line each: addresses, fields by name without their content, dialogs, tabs, downloads.
    /// At most 26 lines of at most 160 characters. Untrusted: they contain names and addresses of pages.
    #[must_use]
    pub fn changes(&self) -> Vec<String> {
        let mut all = Vec::new();
        let mut seen = self.seen;
        loop {
            let tail = self.pages.events().since(seen, AT_ONCE);
            let Some(last) = tail.entries.last() else { break };
            seen = last.seq;
            for entry in &tail.entries {
                let is_seen = entry.target_id.as_ref().is_some_and(|target| {
                    self.own.iter().any(|own| *own == target.as_str())
                        || self.pages.sees(target, Deadline::after(OWNER)) == Some(true)
                });
                all.extend(is_seen.then(|| told(&entry.event)).flatten());
            }
        }
        for (target, now) in fields_of(&self.pages) {
            let Some((_, before)) = self.fields.iter().find(|(other, _)| *other == target) else { continue };
            for label in now.changed_since(before) {
                let label = if label.is_empty() { "a field without a name".to_owned() } else { format!("{label:?}") };
                all.push(format!("the field {label} was changed"));
            }
        }
        all.dedup();
        let more = all.len().saturating_sub(MOST_CHANGES);
        all.truncate(MOST_CHANGES);
        let mut all: Vec<String> = all.into_iter().map(|change| change.chars().take(MOST_CHARS).collect()).collect();
        all.extend((more > 0).then(|| format!("and {more} more changes")));
        all
    }
}

fn fields_of(pages: &Profile) -> Vec<(String, FieldStates)> {
    let tabs = pages.targets().into_iter().take(MOST_TABS);
    let tabs = tabs.filter_map(|target| pages.tab_to_read(Some(&target)).ok());
    tabs.map(|handle| (handle.tab.target().to_string(), handle.tab.field_states(Deadline::after(READ)))).collect()
}

/// An event in words; `None` for those that say nothing to a model.
fn told(event: &LogEvent) -> Option<String> {
    Some(match event {
        LogEvent::TabOpened { url, .. } => format!("a tab was opened: {url}"),
        LogEvent::TabClosed { .. } => "a tab was closed".to_owned(),
        LogEvent::Navigated { url, main: true, .. } => format!("a tab went to {url}"),
        LogEvent::DialogOpened(dialog) => format!("a {} dialog opened: {:?}", dialog.kind.as_str(), dialog.message),
        LogEvent::DialogClosed(closed) => {
            let how = if closed.accepted { "accepted" } else { "dismissed" };
            format!("a {} dialog was {how}", closed.dialog.kind.as_str())
        }
        LogEvent::Download(download) => format!("a download: {:?}", download.suggested_filename),
        _ => return None,
    })
}
