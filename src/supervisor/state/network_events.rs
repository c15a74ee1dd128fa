//! What is read of the network's events: a small part, since the whole of one is kilobytes long.
//! <https://chromedevtools.github.io/devtools-protocol/tot/Network/>

use std::borrow::Cow;

use serde::Deserialize;

use crate::cdp::protocol::page::FrameId;
use crate::cdp::rt;

pub(in crate::supervisor) const SENT: &str = "Network.requestWillBeSent";
pub(in crate::supervisor) const RESPONSE: &str = "Network.responseReceived";
pub(in crate::supervisor) const FINISHED: &str = "Network.loadingFinished";
pub(in crate::supervisor) const FAILED: &str = "Network.loadingFailed";
pub(in crate::supervisor) const SOCKET: &str = "Network.webSocketCreated";
pub(in crate::supervisor) const SOCKET_OPEN: &str = "Network.webSocketHandshakeResponseReceived";
pub(in crate::supervisor) const SOCKET_CLOSED: &str = "Network.webSocketClosed";

/// All of them.
pub(in crate::supervisor) const NETWORK: [&str; 7] =
    [SENT, RESPONSE, FINISHED, FAILED, SOCKET, SOCKET_OPEN, SOCKET_CLOSED];

/// A text of an event, borrowed where it has no escapes.
type Text<'a> = Cow<'a, str>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sent<'a> {
    #[serde(borrow)]
    pub(super) request_id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) loader_id: Text<'a>,
    #[serde(borrow)]
    pub(super) request: SentRequest<'a>,
    pub(super) timestamp: f64,
    pub(super) wall_time: f64,
    pub(super) redirect_response: Option<Answered>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Text<'a>>,
    pub(super) frame_id: Option<FrameId>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SentRequest<'a> {
    #[serde(borrow)]
    pub(super) url: Text<'a>,
    #[serde(borrow)]
    pub(super) method: Text<'a>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Answered {
    pub(super) status: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    pub(super) request_id: Text<'a>,
    #[serde(borrow)]
    pub(super) response: Head<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Text<'a>>,
    pub(super) frame_id: Option<FrameId>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head<'a> {
    pub(super) status: f64,
    #[serde(borrow)]
    pub(super) url: Option<Text<'a>>,
    #[serde(borrow, rename = "remoteIPAddress")]
    pub(super) remote_ip_address: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Finished<'a> {
    #[serde(borrow)]
    pub(super) request_id: Text<'a>,
    pub(super) timestamp: f64,
    pub(super) encoded_data_length: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Failed<'a> {
    #[serde(borrow)]
    pub(super) request_id: Text<'a>,
    pub(super) timestamp: f64,
    #[serde(borrow, default)]
    pub(super) error_text: Text<'a>,
    #[serde(borrow)]
    pub(super) blocked_reason: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) cors_error_status: Option<CorsError<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CorsError<'a> {
    #[serde(borrow)]
    pub(super) cors_error: Text<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Socket<'a> {
    #[serde(borrow)]
    pub(super) request_id: Text<'a>,
    #[serde(borrow)]
    pub(super) url: Text<'a>,
}

/// The end of a socket. Its `timestamp` has another beginning than that of a request, which it has not.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SocketClosed<'a> {
    #[serde(borrow)]
    pub(super) request_id: Text<'a>,
}

macro_rules! events {
    ($($event:ident = $method:expr;)*) => {
        $(impl<'a> rt::Event<'a> for $event<'a> {
            const METHOD: &'static str = $method;
        })*
    };
}

events! {
    Sent = SENT;
    Response = RESPONSE;
    Finished = FINISHED;
    Failed = FAILED;
    Socket = SOCKET;
    SocketClosed = SOCKET_CLOSED;
}
