//! Browser contexts behind a proxy: what would not use the proxy is disabled in their pages.
//!
//! Measured with Chromium 156: requests of documents, workers of all kinds, WebSockets, EventSources, pings, reports, prefetches and
//! downloads use the proxy of their context, and QUIC is not used behind one. WebRTC sends UDP packets and resolves names by
//! itself. No command confines it, so its constructors are removed before scripts run.
//!
//! That works in all documents except sandboxed `srcdoc` frames, which get a process of their own and sometimes run
//! first; launched browsers therefore keep them in the process of their page (`IsolateSandboxedIframes` is disabled).
//! Chromium's own switch against UDP (`--webrtc-ip-handling-policy`) would stop the packets, but not the names, and in
//! all contexts. Announcements by multicast DNS remain.

use super::sessions::SessionKind;
use super::{SessionKey, State};
use crate::cdp::protocol::page::{AddScriptToEvaluateOnNewDocument, SetPrerenderingAllowed};
use crate::cdp::protocol::target::TargetId;

/// Removes what connects without the proxy.
const SCRIPT: &str = "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCIceTransport', 'WebTransport', \
     'TCPSocket', 'UDPSocket', 'TCPServerSocket']) delete globalThis[name];";
/// Removes what sends requests that are not held: Chromium 156 does not always pause a shared worker at its start.
const UNHELD: &str = "for (const name of ['SharedWorker', 'WebTransport']) delete globalThis[name];";
/// The isolated world in which this program reads pages.
const WORLD: &str = "cdpilot";

impl State {
    /// Whether a page belongs to a context behind a proxy.
    pub(super) fn is_confined(&self, page: &TargetId) -> bool {
        let page = self.pages.iter().find(|known| known.target == *page);
        page.and_then(|page| page.context.as_ref()).is_some_and(|context| self.confined.contains(context))
    }

    /// Prepares a session of a page whose requests are held if they may change something.
    pub(super) fn hold_session(&mut self, session: &SessionKey, kind: SessionKind, page: &TargetId) {
        let client = self.pages.iter().find(|known| known.target == *page).and_then(|page| page.client.as_ref());
        if !kind.has_frames() || !self.routing.holds_changes_of(client) {
            return;
        }
        let mut script = AddScriptToEvaluateOnNewDocument::new(UNHELD);
        script.run_immediately = Some(true);
        self.send(Some(session), 0, script);
    }

    /// Prepares a session of a page before any script runs in it.
    pub(super) fn confine_session(&mut self, session: &SessionKey, kind: SessionKind, page: &TargetId) {
        if !kind.has_frames() || !self.is_confined(page) {
            return;
        }
        for world in [None, Some(WORLD)] {
            let mut script = AddScriptToEvaluateOnNewDocument::new(SCRIPT);
            script.run_immediately = Some(true);
            script.world_name = world.map(str::to_owned);
            self.send(Some(session), 0, script);
        }
        if kind == SessionKind::Page {
            self.send(Some(session), 0, SetPrerenderingAllowed::new(false));
        }
    }
}
