//! Answers to requests, kept until the view they speak of is published: a caller that was told of
//! something finds it in the next snapshot it takes.

use super::super::chooser::ChosenFiles;
use super::super::error::Error;
use super::super::network_route::NetworkRoute;
use super::super::snapshot::ClosedDialog;
use super::requests::Response;
use crate::cdp::protocol::target::TargetId;

/// An answer that is due.
#[derive(Debug)]
pub(in crate::supervisor) enum PendingResponse {
    /// To a request without a result.
    Done(Response<()>, Result<(), Error>),
    /// To a request to answer a dialog.
    Dialog(Response<ClosedDialog>, Result<ClosedDialog, Error>),
    /// What became of files for a chooser.
    Chooser(Response<ChosenFiles>, Result<ChosenFiles, Error>),
    /// To a request to open a page.
    Page(Response<TargetId>, Result<TargetId, Error>),
    /// To a request to add a route.
    Route(Response<NetworkRoute>, Result<NetworkRoute, Error>),
    /// To a request for routes.
    Routes(Response<Vec<NetworkRoute>>, Result<Vec<NetworkRoute>, Error>),
}

impl PendingResponse {
    /// Gives it. A caller that waits no longer does not mind.
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
