//! Reports the dialogs of the pages of a conversation.

use serde_json::json;

use super::events::DIALOG;
use super::offer::Offer;
use super::turn::Draft;
use crate::control::Profile;

/// The dialogs of the pages that the session of a conversation sees. Each opening and each end is reported once, together
/// with the next answer of the model or result of a call.
#[derive(Debug)]
pub(super) struct Dialogs {
    profile: Profile,
    /// Number of the last event that was read.
    seen: u64,
    is_sharing_reported: bool,
}

impl Dialogs {
    /// Dialogs from now on.
    pub(super) fn new(profile: Profile) -> Self {
        let is_sharing_reported = profile.is_sharing_context();
        Self { seen: profile.events().last(), profile, is_sharing_reported }
    }

    /// Reports once that the browser has refused a browser context, so that the conversation shares its cookies.
    fn report_sharing(&mut self, draft: &mut Draft) {
        if !self.is_sharing_reported && self.profile.is_sharing_context() {
            self.is_sharing_reported = true;
            draft.system(
                "The browser refuses separate contexts: this conversation uses the cookies that are in the browser.",
            );
        }
    }

    /// The browser of the conversation.
    pub(super) fn pages(&self) -> Profile {
        self.profile.clone()
    }

    /// Adds what has happened since the last time.
    pub(super) fn report(&mut self, conversation: &str, offer: &Offer, draft: &mut Draft) {
        self.report_sharing(draft);
        for change in self.profile.dialog_changes(&mut self.seen) {
            let body = json!({
                "conversation_id": conversation,
                "timestamp": change.ts,
                "state": change.state,
                "dialog": offer.cover_value(&change.dialog),
            });
            draft.event(DIALOG, body);
        }
    }
}
