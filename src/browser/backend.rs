//! Kinds of browser addresses, and the features missing without a CDP endpoint.

use std::fmt;

use super::Error;
use super::endpoint::Endpoint;

/// The protocol of the browser behind a URL, distinguished only by the URL.
///
/// ```
/// use cdpilot::browser::Backend;
/// let grid = Backend::parse("webdriver+https://me:pw@grid.example/wd/hub")?;
/// assert!(matches!(grid, Backend::WebDriver(_)) && grid.has_cdp());
/// assert_eq!(grid.to_string(), "webdriver+https://grid.example:443/…");
/// assert!(!Backend::parse("rest+http://127.0.0.1:8080")?.has_cdp());
/// # Ok::<(), cdpilot::browser::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// A CDP endpoint: `ws://`, `wss://`, `http://`, `https://`, `host:port`, or a port.
    Cdp(Endpoint),
    /// A W3C WebDriver server, such as a Selenium Grid: `webdriver+http://`, `webdriver+https://`. Its sessions provide
    /// a CDP address; one that does not results in [`Error::NoCdp`].
    WebDriver(Endpoint),
    /// A service with its own HTTP interface and without CDP: `rest+http://`, `rest+https://`.
    RestOnly(Endpoint),
}

impl Backend {
    /// Parses an address.
    ///
    /// # Errors
    /// [`Error::BadUrl`], which does not contain the address.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        for (name, make) in [("webdriver+", Self::WebDriver as fn(Endpoint) -> Self), ("rest+", Self::RestOnly)] {
            let Some(rest) = text.get(name.len()..).filter(|_| starts_with(text, name)) else { continue };
            let endpoint = Endpoint::parse(rest)?;
            if !rest.contains("://") || endpoint.scheme().is_websocket() {
                let problem = format!("`{name}` must be followed by http:// or https://");
                return Err(Error::BadUrl { problem });
            }
            return Ok(make(endpoint));
        }
        Endpoint::parse(text).map(Self::Cdp)
    }

    /// Whether there is a CDP endpoint to supervise. Expected of a WebDriver server; only its session shows it for
    /// certain.
    #[must_use]
    pub fn has_cdp(&self) -> bool {
        !matches!(self, Self::RestOnly(_))
    }

    /// The unavailable features. Entry points hide them.
    #[must_use]
    pub fn hidden(&self) -> &'static [Surface] {
        if self.has_cdp() { &[] } else { &Surface::ALL }
    }

    /// Where the backend is reached.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        match self {
            Self::Cdp(endpoint) | Self::WebDriver(endpoint) | Self::RestOnly(endpoint) => endpoint,
        }
    }
}

/// Without user name, password and secret path.
impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = match self {
            Self::Cdp(_) => "",
            Self::WebDriver(_) => "webdriver+",
            Self::RestOnly(_) => "rest+",
        };
        write!(f, "{prefix}{}", self.endpoint())
    }
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// A feature that needs a CDP endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Surface {
    /// Dialogs: detection, answers, policies, history.
    Dialogs,
    /// The frame tree, and scripts in single frames.
    Frames,
    /// Console messages and exceptions.
    Console,
    /// The event log of dialogs, navigations, console messages and requests.
    Events,
    /// CDP commands that the caller sends by name.
    RawCdp,
}

impl Surface {
    /// All features, in the order of the variants.
    pub const ALL: [Self; 5] = [Self::Dialogs, Self::Frames, Self::Console, Self::Events, Self::RawCdp];
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dialogs => "dialogs",
            Self::Frames => "frames",
            Self::Console => "console",
            Self::Events => "event log",
            Self::RawCdp => "raw CDP",
        })
    }
}
