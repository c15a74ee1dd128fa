//! Subscriptions to changes of the tools: `subscriptions/listen` of revision 2026-07-28.

use serde_json::{Value, json};

use super::super::message::{answer, notification};
use super::super::{Fault, Id, Request};

/// Key in `_meta`: the subscription of a message.
const WHICH: &str = "io.modelcontextprotocol/subscriptionId";

/// Notification of a change, in either protocol revision.
const CHANGED: &str = "notifications/tools/list_changed";

/// That the tools have changed, for a client of the `initialize` protocol revision.
#[must_use]
pub fn list_changed() -> Value {
    json!({ "jsonrpc": "2.0", "method": CHANGED })
}

/// A subscription of a client.
#[derive(Debug, Clone, PartialEq)]
pub struct Subscription {
    id: Id,
    tools: bool,
}

impl Subscription {
    /// The subscription of a `subscriptions/listen` request with this id.
    ///
    /// # Errors
    /// [`Fault::INVALID_PARAMS`].
    pub fn of(id: &Id, request: &Request) -> Result<Self, Fault> {
        let wanted = request.params.get("notifications").and_then(Value::as_object);
        let wanted = wanted.ok_or_else(|| Fault::new(Fault::INVALID_PARAMS, "notifications must be an object"))?;
        Ok(Self { id: id.clone(), tools: wanted.get("toolsListChanged").is_some_and(|wanted| wanted == true) })
    }

    /// The id of the subscription, which is that of its request.
    #[must_use]
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// Whether the client subscribed to changes of the tools.
    #[must_use]
    pub fn wants_tools(&self) -> bool {
        self.tools
    }

    /// The first message: which of the requested notifications are granted.
    #[must_use]
    pub fn acknowledged(&self) -> Value {
        let granted = if self.tools { json!({ "toolsListChanged": true }) } else { json!({}) };
        let params = json!({ "_meta": { WHICH: self.id }, "notifications": granted });
        notification("notifications/subscriptions/acknowledged", params)
    }

    /// The message for a change of the tools.
    #[must_use]
    pub fn changed(&self) -> Value {
        notification(CHANGED, json!({ "_meta": { WHICH: self.id } }))
    }

    /// The last message, when the server ends the subscription.
    #[must_use]
    pub fn ended(&self) -> Value {
        answer(&self.id, json!({ "resultType": "complete", "_meta": { WHICH: self.id } }))
    }
}
