//! Builds the published view from the records of the state machine.

use super::super::snapshot::View;
use super::{Dirty, State};

impl State {
    /// The next view, if anything changed since `last`. Unchanged parts are shared with it.
    pub(in crate::supervisor) fn view(&mut self, last: &View) -> Option<View> {
        let Dirty { phase, pages, frames, dialogs, recent, console, bridge, downloads } =
            std::mem::take(&mut self.dirty);
        if !(phase || pages || frames || dialogs || recent || console || bridge || downloads) {
            return None;
        }
        let mut next = last.clone();
        if phase {
            next.phase = self.phase.clone();
            next.generation = self.generation;
        }
        if pages {
            let shown = self.pages.iter().filter(|page| page.refused.is_none());
            next.pages = shown.map(super::pages::PageRec::view).collect();
        }
        if frames || bridge {
            next.frames = self.frames.views(|session| self.sessions.get(session));
        }
        if bridge {
            next.bridge = self.bridging.view();
        }
        if dialogs {
            next.dialogs = self.dialogs.pending();
            next.armed = self.dialogs.armed();
        }
        if recent {
            next.recent = self.dialogs.recent();
        }
        if downloads {
            next.downloads = self.downloads.view();
        }
        if console {
            next.console = self.console.view();
        }
        Some(next)
    }
}
