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
}

impl Dialogs {
    /// Dialogs from now on.
    pub(super) fn new(profile: Profile) -> Self {
        Self { seen: profile.events().last(), profile }
    }

    /// Adds what has happened since the last time.
    pub(super) fn report(&mut self, conversation: &str, offer: &Offer, draft: &mut Draft) {
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
