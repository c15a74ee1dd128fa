//! Responses to requests, held until the view with their effect is published: a caller that gets a response for
//! a change finds the change in the next view it takes.

use super::super::chooser::ChosenFiles;
use super::super::error::Error;
use super::super::network_route::NetworkRoute;
use super::super::snapshot::ClosedDialog;
use super::requests::Response;
use crate::cdp::protocol::target::TargetId;

/// A response that is sent after the next view is published.
#[derive(Debug)]
pub(in crate::supervisor) enum PendingResponse {
    /// To a request without a result.
    Done(Response<()>, Result<(), Error>),
    /// To a request to answer a dialog.
    Dialog(Response<ClosedDialog>, Result<ClosedDialog, Error>),
    /// Outcome of files for a chooser.
    Chooser(Response<ChosenFiles>, Result<ChosenFiles, Error>),
    /// To a request to open a page.
    Page(Response<TargetId>, Result<TargetId, Error>),
    /// To a request to add a route.
    Route(Response<NetworkRoute>, Result<NetworkRoute, Error>),
    /// To a request for routes.
    Routes(Response<Vec<NetworkRoute>>, Result<Vec<NetworkRoute>, Error>),
}

impl PendingResponse {
    /// Sends it. A caller that no longer waits is ignored.
    pub(in crate::supervisor) fn send(self) {
        match self {
            Self::Done(reply, outcome) => drop(reply.try_send(outcome)),
            Self::Dialog(reply, outcome) => drop(reply.try_send(outcome)),
            Self::Chooser(reply, outcome) => drop(reply.try_send(outcome)),
            Self::Page(reply, outcome) => drop(reply.try_send(outcome)),
            Self::Route(reply, outcome) => drop(reply.try_send(outcome)),
            Self::Routes(reply, outcome) => drop(reply.try_send(outcome)),
        }
    }
}
