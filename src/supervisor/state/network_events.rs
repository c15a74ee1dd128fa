//! The used fields of network events; whole events are kilobytes long.
//! <https://chromedevtools.github.io/devtools-protocol/tot/Network/>

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::request_detail::RawTiming;

use crate::cdp::protocol::page::FrameId;
use crate::cdp::rt;

pub(in crate::supervisor) const SENT: &str = "Network.requestWillBeSent";
pub(in crate::supervisor) const RESPONSE: &str = "Network.responseReceived";
pub(in crate::supervisor) const SENT_MORE: &str = "Network.requestWillBeSentExtraInfo";
pub(in crate::supervisor) const RESPONSE_MORE: &str = "Network.responseReceivedExtraInfo";
pub(in crate::supervisor) const CACHED: &str = "Network.requestServedFromCache";
pub(in crate::supervisor) const FINISHED: &str = "Network.loadingFinished";
pub(in crate::supervisor) const FAILED: &str = "Network.loadingFailed";
pub(in crate::supervisor) const SOCKET: &str = "Network.webSocketCreated";
pub(in crate::supervisor) const SOCKET_OPEN: &str = "Network.webSocketHandshakeResponseReceived";
pub(in crate::supervisor) const SOCKET_CLOSED: &str = "Network.webSocketClosed";

/// The handled events.
pub(in crate::supervisor) const NETWORK: [&str; 10] =
    [SENT, SENT_MORE, RESPONSE, RESPONSE_MORE, CACHED, FINISHED, FAILED, SOCKET, SOCKET_OPEN, SOCKET_CLOSED];

/// A text of an event, borrowed if it has no escapes.
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
    #[serde(borrow)]
    pub(super) redirect_response: Option<Head<'a>>,
    #[serde(default)]
    pub(super) redirect_has_extra_info: bool,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Text<'a>>,
    pub(super) frame_id: Option<FrameId>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SentRequest<'a> {
    #[serde(borrow)]
    pub(super) url: Text<'a>,
    #[serde(borrow)]
    pub(super) method: Text<'a>,
    #[serde(borrow)]
    pub(super) headers: Option<&'a RawValue>,
    pub(super) has_post_data: Option<bool>,
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
    #[serde(default)]
    pub(super) has_extra_info: bool,
}

/// Headers as sent over the network.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct More<'a> {
    #[serde(borrow)]
    pub(super) request_id: Text<'a>,
    #[serde(borrow)]
    pub(super) headers: &'a RawValue,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::supervisor) struct Head<'a> {
    pub(in crate::supervisor) status: f64,
    #[serde(borrow)]
    pub(in crate::supervisor) url: Option<Text<'a>>,
    #[serde(borrow, rename = "remoteIPAddress")]
    pub(in crate::supervisor) remote_ip_address: Option<Text<'a>>,
    #[serde(borrow)]
    pub(in crate::supervisor) headers: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::supervisor) status_text: Option<Text<'a>>,
    #[serde(borrow)]
    pub(in crate::supervisor) mime_type: Option<Text<'a>>,
    #[serde(borrow)]
    pub(in crate::supervisor) protocol: Option<Text<'a>>,
    #[serde(default)]
    pub(in crate::supervisor) from_disk_cache: bool,
    #[serde(default)]
    pub(in crate::supervisor) from_service_worker: bool,
    pub(in crate::supervisor) timing: Option<RawTiming>,
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

/// Headers sent with a request.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct SentMore<'a>(#[serde(borrow)] pub(super) More<'a>);

/// Headers received with a response.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct ResponseMore<'a>(#[serde(borrow)] pub(super) More<'a>);

/// A response from the memory cache.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cached<'a> {
    #[serde(borrow)]
    pub(super) request_id: Text<'a>,
}

/// The end of a socket. Its `timestamp` has another origin than that of requests, and is not read.
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
    SentMore = SENT_MORE;
    ResponseMore = RESPONSE_MORE;
    Cached = CACHED;
    Finished = FINISHED;
    Failed = FAILED;
    Socket = SOCKET;
    SocketClosed = SOCKET_CLOSED;
}
