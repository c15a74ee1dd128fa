//! Cookies exported by other programs: Netscape cookie files, JSON of browser extensions.
//!
//! The parsers are pure. A faulty line is reported with its number and the reason; it does not affect other lines.

mod json;
mod netscape;

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::page::{Error, NewCookie, Tab};
use crate::sync::Deadline;

/// Maximum number of cookies.
const MANY: usize = 10_000;
/// Maximum number of faulty lines listed; more are counted.
const LISTED: usize = 100;
/// Maximum number of pending cookie commands.
const AT_ONCE: usize = 200;
/// Why a curl command is not used.
const CURL: &str = "curl commands are not read, only Netscape cookie files and JSON arrays of cookies (browser extensions, \
                    Puppeteer, Playwright)";

/// The format of a text with cookies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CookieFormat {
    /// Detected from the start of the text.
    #[default]
    Auto,
    /// A Netscape cookie file, as written by `curl -c`, yt-dlp and browser extensions.
    Netscape,
    /// A JSON array of cookies, as written by browser extensions, Puppeteer and Playwright.
    Json,
}

impl CookieFormat {
    /// The format of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        match text.trim_start_matches('\u{feff}').trim_start().starts_with(['[', '{']) {
            true => Self::Json,
            false => Self::Netscape,
        }
    }
}

/// A line without a usable cookie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FaultyLine {
    /// The line number, from 1.
    pub line: usize,
    /// The reason. It contains no cookie value.
    pub reason: String,
}

/// The cookies of a text.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ReadCookies {
    /// The cookies, each with its line number.
    pub cookies: Vec<(usize, NewCookie)>,
    /// The first 100 faulty lines.
    pub rejected: Vec<FaultyLine>,
    /// The number of faulty lines.
    pub rejected_count: usize,
}

impl ReadCookies {
    fn reject(&mut self, line: usize, reason: impl Into<String>) {
        self.rejected_count += 1;
        if self.rejected.len() < LISTED {
            self.rejected.push(FaultyLine { line, reason: reason.into() });
        }
    }

    /// Adds a cookie, or the reason why it is invalid.
    fn take(&mut self, line: usize, cookie: NewCookie, now: f64) {
        let expired = cookie.expires.is_some_and(|time| time >= 0.0 && time <= now);
        match cookie.problem() {
            Some(problem) => self.reject(line, problem),
            None if expired => self.reject(line, "it has expired"),
            None if self.cookies.len() >= MANY => {
                self.reject(line, format!("more than {MANY} cookies; import fewer at once"))
            }
            None => self.cookies.push((line, cookie)),
        }
    }
}

/// Reads cookies. `url` is the URL for JSON cookies without a domain; `now` is in Unix seconds.
#[must_use]
pub fn read_cookies(text: &str, format: CookieFormat, url: Option<&str>, now: f64) -> ReadCookies {
    let mut read = ReadCookies::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match if format == CookieFormat::Auto { CookieFormat::of(text) } else { format } {
        CookieFormat::Auto | CookieFormat::Netscape if is_curl_command(text) => read.reject(1, CURL),
        CookieFormat::Auto | CookieFormat::Netscape => netscape::read(text, now, &mut read),
        CookieFormat::Json => json::read(text, url, now, &mut read),
    }
    read.rejected.sort_by_key(|faulty| faulty.line);
    read
}

/// Whether a text begins with a command of "Copy as cURL", which people try to import.
fn is_curl_command(text: &str) -> bool {
    let first = text.trim_start_matches(|c: char| c.is_whitespace() || c == '$' || c == '>');
    matches!(first.split([' ', '\r', '\n', '^', '\\']).next(), Some("curl" | "curl.exe"))
}

/// The URL of a host-only cookie.
fn address(secure: bool, host: &str) -> Result<String, String> {
    if !crate::page::data::is_host(host) {
        return Err(
            "its domain is not a host name or address; give it without scheme, port, path and user name".to_owned()
        );
    }
    Ok(format!("{}://{}/", if secure { "https" } else { "http" }, host.trim_start_matches('.')))
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImportedCookies {
    /// The format that was detected in the text.
    pub format: CookieFormat,
    /// Number of cookies set.
    pub added: usize,
    /// The first 100 lines that were not used.
    pub rejected: Vec<FaultyLine>,
    /// Number of lines that were not used.
    pub rejected_count: usize,
}

impl Tab {
    /// Reads cookies from a text and sets them in the tab's browser context. Faulty lines are reported, the others are
    /// used.
    ///
    /// # Errors
    /// [`Error::BadRequest`] unless `url` is an http or https URL; [`Error::Supervisor`].
    pub fn import_cookies(
        &self,
        text: &str,
        format: CookieFormat,
        url: Option<&str>,
        deadline: Deadline<'_>,
    ) -> Result<ImportedCookies, Error> {
        if url.is_some_and(|url| !super::data::is_web(url)) {
            return Err(Error::BadRequest { problem: "url is not an http or https URL".to_owned() });
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let ReadCookies { cookies, mut rejected, mut rejected_count } = read_cookies(text, format, url, now);
        let mut added = 0;
        for some in cookies.chunks(AT_ONCE) {
            let calls = some.iter().map(|(_, cookie)| (self.page(), cookie.command())).collect();
            for ((line, _), outcome) in some.iter().zip(self.supervisor.session_calls(calls, deadline)) {
                match outcome {
                    Ok(done) if done.result.success => added += 1,
                    Ok(_) | Err(crate::supervisor::Error::Cdp(crate::cdp::Error::Protocol { .. })) => {
                        let reason = "the browser refuses it; check that host, path and `secure` match".to_owned();
                        rejected.push(FaultyLine { line: *line, reason });
                        rejected_count += 1;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        rejected.sort_by_key(|faulty| faulty.line);
        rejected.truncate(LISTED);
        let format = if format == CookieFormat::Auto { CookieFormat::of(text) } else { format };
        Ok(ImportedCookies { format, added, rejected, rejected_count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_known_by_the_beginning() {
        for (text, format) in [
            ("[{}]", CookieFormat::Json),
            ("\u{feff} {\"cookies\": []}", CookieFormat::Json),
            ("# Netscape HTTP Cookie File", CookieFormat::Netscape),
            ("", CookieFormat::Netscape),
        ] {
            assert_eq!(CookieFormat::of(text), format, "{text:?}");
        }
    }

    #[test]
    fn curl_commands_are_one_faulty_line() {
        let line = |reason: &str| FaultyLine { line: 1, reason: reason.to_owned() };
        for text in ["curl 'https://x' \\\n -b a=b", "\n$ curl.exe https://x", "curl^\r\n \"x\"", "curl"] {
            for format in [CookieFormat::Auto, CookieFormat::Netscape] {
                assert_eq!(read_cookies(text, format, None, 1.8e9).rejected, [line(CURL)], "{text:?}");
            }
        }
        for host in ["curl", "curled.test"] {
            let text = format!("{host}\tFALSE\t/\tTRUE\t0\ta\tb");
            assert_eq!(read_cookies(&text, CookieFormat::Auto, None, 1.8e9).cookies.len(), 1, "{text:?}");
        }
    }
}
