//! The server side of TLS, with a certificate for `localhost` that no browser trusts.

use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const SERVER: &[u8] = include_bytes!("../data/tls/server.pem");
const KEY: &[u8] = include_bytes!("../data/tls/server.key");

/// TLS on an accepted socket.
pub fn server(socket: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = CertificateDer::pem_slice_iter(SERVER).collect::<Result<_, _>>().unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_slice(KEY).unwrap())
        .unwrap();
    StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), socket)
}
