//! Name resolution for the client.

use std::net::{IpAddr, SocketAddr};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Uses numeric addresses directly; ureq resolves names on a thread, which takes longer than a short request.
#[derive(Debug, Default)]
pub(super) struct Addresses(DefaultResolver);

impl Resolver for Addresses {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let Some(address) = numeric(uri) else { return self.0.resolve(uri, config, timeout) };
        let mut found = self.empty();
        found.push(address);
        Ok(found)
    }
}

/// The address of a URL whose host is an IP address.
fn numeric(uri: &Uri) -> Option<SocketAddr> {
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']');
    Some(SocketAddr::new(host.parse::<IpAddr>().ok()?, uri.port_u16()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_numbers_need_no_look_up() {
        let read = |url: &str| numeric(&url.parse().unwrap()).map(|address| address.to_string());
        assert_eq!(read("http://127.0.0.1:18791/tabs").as_deref(), Some("127.0.0.1:18791"));
        assert_eq!(read("http://[::1]:5/"), Some("[::1]:5".to_owned()));
        for other in ["http://localhost:1/", "http://box.example/", "http://127.0.0.1/"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
