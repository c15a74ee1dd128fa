//! TLS under a stream (`wss://`, `https://`).
//!
//! The socket is read and written by the same code as without TLS. Received data is decrypted here, sent data is
//! encrypted ("sealed") here. Sealed bytes must be sent in the order of sealing, so only the holder of the right to
//! write may seal. TLS's own messages (alerts, new keys) are sent with the next sealed frame; urgent ones with an empty
//! frame that the reader posts.
//!
//! # Locking
//! `incoming`, then `session`. `incoming` belongs to the holder of the reading role, so it is never contended; it is
//! held during reads, which do not wait. `session` is held while bytes in memory are decrypted or encrypted.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore};

use super::error::{Error, TimeoutKind};
use super::http::Blocking;
use super::stream::Stream;
use crate::sync::Deadline;

/// Number of bytes read from the socket at once.
const CHUNK: usize = 64 * 1024;

/// The TLS side of a stream.
pub(super) struct Tls {
    incoming: Mutex<Incoming>,
    session: Mutex<ClientConnection>,
    /// Whether TLS has messages of its own to send.
    output: AtomicBool,
}

/// Received bytes that are not decrypted yet.
struct Incoming {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
    ended: bool,
    /// Whether the data is not valid TLS or not from the peer.
    broken: bool,
}

impl Tls {
    fn new(session: ClientConnection) -> Self {
        let bytes = vec![0; CHUNK].into_boxed_slice();
        let incoming = Incoming { bytes, start: 0, end: 0, ended: false, broken: false };
        Self { incoming: Mutex::new(incoming), session: Mutex::new(session), output: AtomicBool::new(false) }
    }

    /// Reads available data. If fewer bytes are read than fit into `out`, nothing is left in memory: the rest is in the
    /// socket's buffer, so that waiting for the socket is enough.
    pub(super) fn read(
        &self,
        mut raw: impl FnMut(&mut [u8]) -> io::Result<usize>,
        out: &mut [u8],
    ) -> io::Result<usize> {
        let mut incoming = self.incoming.lock();
        let mut done = 0;
        // Where a read may block briefly, a thread that has data does not read again.
        let mut more = cfg!(unix);
        loop {
            done += self.open(&mut incoming, &mut out[done..]);
            if done == out.len() || incoming.ended {
                return Ok(done);
            }
            if incoming.broken && done == 0 {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if done > 0 && (incoming.broken || !more) {
                return Ok(done);
            }
            match raw(&mut incoming.bytes) {
                Ok(0) => incoming.ended = true,
                Ok(n) => {
                    more &= n == incoming.bytes.len();
                    (incoming.start, incoming.end) = (0, n);
                }
                Err(_) if done > 0 => return Ok(done), // the next read reports the error again, or the end
                Err(e) => return Err(e),
            }
        }
    }

    /// Decrypts received data, as far as there is room.
    fn open(&self, incoming: &mut Incoming, out: &mut [u8]) -> usize {
        let mut session = self.session.lock();
        let mut done = 0;
        while done < out.len() {
            match session.reader().read(&mut out[done..]) {
                Ok(n) if n > 0 => {
                    done += n;
                    continue;
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                // The end, announced or not: the framing above knows whether a message is complete.
                Ok(_) | Err(_) => incoming.ended = true,
            }
            if incoming.start == incoming.end || incoming.ended || incoming.broken {
                break;
            }
            let mut sealed = &incoming.bytes[incoming.start..incoming.end];
            match session.read_tls(&mut sealed) {
                Ok(n) if n > 0 => incoming.start += n,
                Ok(_) | Err(_) => incoming.broken = true,
            }
            incoming.broken |= session.process_new_packets().is_err();
        }
        if session.wants_write() {
            self.output.store(true, Ordering::Release);
        }
        done
    }

    /// Encrypts `plain` together with TLS's own messages. Called by the holder of the right to write.
    pub(super) fn seal(&self, plain: &[u8]) -> io::Result<Vec<u8>> {
        let mut session = self.session.lock();
        self.output.store(false, Ordering::Release);
        session.writer().write_all(plain)?;
        let mut sealed = Vec::with_capacity(plain.len() + plain.len() / 128 + 128);
        while session.wants_write() {
            session.write_tls(&mut sealed)?;
        }
        Ok(sealed)
    }

    /// Whether an empty frame should be sent to flush TLS output.
    pub(super) fn has_output(&self) -> bool {
        self.output.load(Ordering::Acquire)
    }

    /// Describes a TLS error without naming the peer.
    fn problem(&self) -> String {
        match self.session.lock().process_new_packets() {
            Err(error) => describe(&error),
            Ok(_) => "the TLS handshake was interrupted".to_owned(),
        }
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// Performs the TLS handshake over `stream`. `extra` are additional root certificates, DER or PEM.
pub(super) fn wrap(stream: Stream, host: &str, extra: &[Vec<u8>], deadline: Deadline<'_>) -> Result<Stream, Error> {
    let began = Instant::now();
    let failed = |problem: String| Error::Connect { problem };
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| Error::Address { problem: "its host is not valid in a certificate".to_owned() })?;
    let mut session =
        ClientConnection::new(Arc::new(config(extra)?), name).map_err(|_| failed("TLS cannot be set up".to_owned()))?;
    session.set_buffer_limit(None); // frames are sealed as a whole
    let stream = stream.with_tls(Tls::new(session));
    let Some(tls) = stream.tls() else { return Ok(stream) };
    let io = Blocking { stream: &stream, deadline, kind: TimeoutKind::Handshake, began };
    while tls.session.lock().is_handshaking() {
        io.write_all(&[])?; // the prepared handshake messages
        let mut incoming = tls.incoming.lock();
        if incoming.broken || incoming.ended {
            drop(incoming);
            let _ = io.write_all(&[]); // sends the TLS alert, if any
            return Err(failed(tls.problem()));
        }
        let count = io.read_raw(&mut incoming.bytes)?;
        (incoming.start, incoming.end, incoming.ended) = (0, count, count == 0);
        // No room for plaintext: only handshake messages are decrypted.
        tls.handshake(&mut incoming);
    }
    io.write_all(&[])?;
    Ok(stream)
}

impl Tls {
    /// Processes handshake messages and leaves the data after them.
    fn handshake(&self, incoming: &mut Incoming) {
        let mut session = self.session.lock();
        while incoming.start < incoming.end && session.is_handshaking() && !incoming.broken {
            let mut sealed = &incoming.bytes[incoming.start..incoming.end];
            match session.read_tls(&mut sealed) {
                Ok(n) if n > 0 => incoming.start += n,
                Ok(_) | Err(_) => incoming.broken = true,
            }
            incoming.broken |= session.process_new_packets().is_err();
        }
    }
}

fn config(extra: &[Vec<u8>]) -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for bytes in extra {
        add_roots(&mut roots, bytes).ok_or_else(|| Error::Connect {
            problem: "a root certificate is neither valid DER nor valid PEM".to_owned(),
        })?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| Error::Connect { problem: "TLS cannot be set up".to_owned() })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // WebSocket connections begin as HTTP/1.1.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Adds one certificate in DER, or all certificates of a PEM text. `None` when there is none.
fn add_roots(roots: &mut RootCertStore, bytes: &[u8]) -> Option<()> {
    let before = roots.len();
    if memchr::memmem::find(bytes, b"-----BEGIN").is_some() {
        for certificate in CertificateDer::pem_slice_iter(bytes) {
            roots.add(certificate.ok()?).ok()?;
        }
    } else {
        roots.add(CertificateDer::from(bytes.to_vec())).ok()?;
    }
    (roots.len() > before).then_some(())
}

/// Describes common errors without the host name, which rustls' own messages may contain.
fn describe(error: &rustls::Error) -> String {
    use CertificateError as C;
    match error {
        rustls::Error::InvalidCertificate(why) => match why {
            C::UnknownIssuer => "its certificate comes from an authority that is not trusted; \
                                 if it is your own, add its root to `tls_roots`"
                .to_owned(),
            C::NotValidForName | C::NotValidForNameContext { .. } => {
                "its certificate is for a different host name".to_owned()
            }
            C::Expired | C::ExpiredContext { .. } => "its certificate has expired".to_owned(),
            C::NotValidYet | C::NotValidYetContext { .. } => "its certificate is not valid yet".to_owned(),
            C::Revoked => "its certificate was revoked".to_owned(),
            _ => "its certificate is not valid".to_owned(),
        },
        rustls::Error::AlertReceived(alert) => format!("the endpoint ended the TLS handshake ({alert:?})"),
        rustls::Error::InvalidMessage(_) => "the endpoint does not speak TLS".to_owned(),
        _ => "the TLS handshake failed".to_owned(),
    }
}
