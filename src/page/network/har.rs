//! Network requests as an HTTP Archive (HAR 1.2).

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::request_record::{RecordOptions, RequestRecord, RequestTiming};
use super::requests::ResponseBody;
use crate::page::{Error, Tab};
use crate::supervisor::{Header, NetworkRequest, Secrets};
use crate::sync::Deadline;

/// Maximum size of all bodies of an archive, in bytes.
const BODIES: usize = 24 * 1024 * 1024;
/// Maximum size of one body, in bytes.
const BODY: usize = 2 * 1024 * 1024;

/// Requests of a tab as an HTTP Archive (HAR 1.2).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Har {
    /// The content of a `.har` file: an object with the field `log`.
    pub archive: Value,
    /// The number of requests.
    pub entries: usize,
    /// The number of bodies left out: no longer available, or too large.
    pub bodies_left_out: usize,
}

impl Tab {
    /// The last requests of the tab (at most 500) as an HTTP Archive, HAR 1.2. With `bodies` it includes bodies that
    /// the browser still keeps: those of the present documents, at most 2 MiB each and 24 MiB in total; those left out
    /// are counted in `comment`. With `redact`, secrets are covered in headers, URLs and texts.
    ///
    /// # Errors
    /// [`Error::Supervisor`] when the page does not answer.
    pub fn har(&self, bodies: bool, redact: Option<Secrets>, deadline: Deadline<'_>) -> Result<Har, Error> {
        let requests = self.requests(None, false);
        let options = RecordOptions { headers: true, body: bodies, max_bytes: Some(BODY), redact };
        let (mut entries, mut left_out, mut room) = (Vec::with_capacity(requests.len()), 0, BODIES);
        for request in requests.iter().filter(|request| request.url.starts_with("http")) {
            let mut record = RequestRecord::of(request, &options);
            // Bodies not available at the deadline are left out; the archive is complete otherwise.
            if bodies && !deadline.passed() && room > 0 {
                record.post_data = self.post_data_of(request, &options, deadline).ok().flatten();
                record.body =
                    self.body_of(request, deadline).ok().map(|body| super::request_record::shown(body, &options));
            }
            let brings = request.status.is_some_and(|status| !matches!(status, 100..=199 | 204 | 304))
                && !request.redirected
                && &*request.method != "HEAD";
            let is_cut = |body: &ResponseBody| body.truncated;
            if bodies && (record.body.is_none() && brings || record.body.as_ref().is_some_and(is_cut)) {
                left_out += 1;
                record.body = record.body.filter(|body| !is_cut(body));
                record.no_body = Some("the body is no longer available or too large".to_owned());
            }
            room = room.saturating_sub(record.body.as_ref().map_or(0, |body| body.body.len()));
            entries.push(entry(&record, request));
        }
        let now = self.supervisor.view();
        let page = now.page(self.target.as_str());
        let started = requests.first().map_or(0.0, |request| request.started_at);
        let title = page.map(|page| page.title.to_string()).unwrap_or_default();
        let title = options.redact.as_ref().map_or_else(|| title.clone(), |secrets| secrets.cover(&title).into_owned());
        let mut log = json!({
            "version": "1.2",
            "creator": { "name": "cdpilot", "version": env!("CARGO_PKG_VERSION") },
            "pages": [{ "startedDateTime": date(started), "id": "page1", "title": title, "pageTimings": {} }],
            "entries": entries,
        });
        let mut comment = "WebSocket connections are left out".to_owned();
        if left_out > 0 {
            comment = format!("{comment}; {left_out} bodies are left out: no longer available, or too large");
        }
        log["comment"] = comment.into();
        let count = log["entries"].as_array().map_or(0, Vec::len);
        Ok(Har { archive: json!({ "log": log }), entries: count, bodies_left_out: left_out })
    }
}

fn entry(record: &RequestRecord, request: &NetworkRequest) -> Value {
    let url = &record.request.url;
    let none = Vec::new();
    let sent = record.request_headers.as_ref().unwrap_or(&none);
    let came = record.response_headers.as_ref().unwrap_or(&none);
    let version = record.protocol.as_deref().map_or("HTTP/1.1".to_owned(), http_version);
    let mut har_request = json!({
        "method": request.method,
        "url": url,
        "httpVersion": version,
        "cookies": cookies(sent, "cookie"),
        "headers": sent,
        "queryString": query(url),
        "headersSize": -1,
        "bodySize": record.post_data.as_ref().map_or_else(
            || if request.detail().has_post_data { -1 } else { 0 }, |data| size(data.bytes)),
    });
    if let Some(data) = &record.post_data {
        let kind = value_of(sent, "content-type").unwrap_or_default();
        har_request["postData"] = json!({ "mimeType": kind, "text": data.body });
        if data.base64 {
            har_request["postData"]["comment"] = "the text is Base64-encoded".into();
        }
    }
    let mut content = json!({
        "size": record.body.as_ref().map_or(0, |body| size(body.bytes)),
        "mimeType": record.mime_type.clone().unwrap_or_else(|| "x-unknown".to_owned()),
    });
    if let Some(body) = &record.body {
        content["text"] = body.body.clone().into();
        if body.base64 {
            content["encoding"] = "base64".into();
        }
    } else if let Some(why) = &record.no_body {
        content["comment"] = why.clone().into();
    }
    let redirect = value_of(came, "location").filter(|_| request.redirected).unwrap_or_default();
    let response = json!({
        "status": request.status.unwrap_or(0),
        "statusText": request.detail().status_text.as_deref().unwrap_or_default(),
        "httpVersion": version,
        "cookies": cookies(came, "set-cookie"),
        "headers": came,
        "content": content,
        "redirectURL": redirect,
        "headersSize": -1,
        "bodySize": -1,
        "_transferSize": record.wire_bytes,
        "_error": request.failure,
    });
    let timing = record
        .timing
        .unwrap_or_else(|| RequestTiming { wait: request.duration_ms.unwrap_or(0.0), ..RequestTiming::default() });
    let or_none = |millis: Option<f64>| millis.unwrap_or(-1.0);
    let mut entry = json!({
        "pageref": "page1",
        "startedDateTime": date(request.started_at),
        "time": request.duration_ms.unwrap_or(0.0),
        "request": har_request,
        "response": response,
        "cache": {},
        "timings": {
            "blocked": or_none(timing.blocked), "dns": or_none(timing.dns), "connect": or_none(timing.connect),
            "ssl": or_none(timing.tls), "send": timing.send, "wait": timing.wait, "receive": timing.receive,
        },
        "_resourceType": request.resource_type,
    });
    if let Some(address) = &record.remote_address {
        entry["serverIPAddress"] = address.trim_matches(['[', ']']).into();
    }
    if record.from_cache {
        entry["_fromCache"] = true.into();
    }
    for part in ["request", "response"] {
        if let Some(map) = entry[part].as_object_mut() {
            map.retain(|_, value| !value.is_null());
        }
    }
    entry
}

fn size(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

fn http_version(protocol: &str) -> String {
    match protocol {
        "h2" => "HTTP/2.0".to_owned(),
        "h3" => "HTTP/3.0".to_owned(),
        other => other.to_ascii_uppercase(),
    }
}

fn value_of(headers: &[Header], name: &str) -> Option<String> {
    headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value.clone())
}

/// The cookies in headers.
fn cookies(headers: &[Header], name: &str) -> Vec<Value> {
    let lines = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
    let of_response = name == "set-cookie";
    let pairs = lines.flat_map(|header| {
        let parts = header.value.split(';').map(str::trim);
        if of_response { vec![parts.collect::<Vec<_>>()] } else { parts.map(|part| vec![part]).collect() }
    });
    let cookie = |parts: Vec<&str>| {
        let (name, value) = parts.first()?.split_once('=')?;
        let mut cookie = Map::new();
        cookie.insert("name".to_owned(), name.into());
        cookie.insert("value".to_owned(), value.into());
        for attribute in parts.iter().skip(1) {
            match attribute.split_once('=') {
                Some((key, value)) if key.eq_ignore_ascii_case("path") => {
                    cookie.insert("path".to_owned(), value.into())
                }
                Some((key, value)) if key.eq_ignore_ascii_case("domain") => {
                    cookie.insert("domain".to_owned(), value.into())
                }
                None if attribute.eq_ignore_ascii_case("httponly") => cookie.insert("httpOnly".to_owned(), true.into()),
                None if attribute.eq_ignore_ascii_case("secure") => cookie.insert("secure".to_owned(), true.into()),
                _ => None,
            };
        }
        Some(Value::Object(cookie))
    };
    pairs.filter_map(cookie).collect()
}

/// The query parameters of a URL.
fn query(url: &str) -> Vec<Value> {
    let query = url.split('#').next().and_then(|url| url.split_once('?')).map_or("", |(_, query)| query);
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        json!({ "name": decoded(name), "value": decoded(value) })
    };
    pairs.map(pair).collect()
}

/// Percent-decoded.
fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

/// Unix seconds as ISO 8601, in UTC with milliseconds.
fn date(unix: f64) -> String {
    #[allow(clippy::cast_possible_truncation)] // saturates, which is right
    let millis = (unix * 1e3).round() as i64;
    let (days, of_day) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    // <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (seconds, milli) = (of_day / 1000, of_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (unix, text) in [
            (0.0, "1970-01-01T00:00:00.000Z"),
            (951_782_400.5, "2000-02-29T00:00:00.500Z"),
            (1_709_251_199.999, "2024-02-29T23:59:59.999Z"),
            (1_735_689_600.0, "2025-01-01T00:00:00.000Z"),
            (4_107_542_399.0, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400.0, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(date(unix), text);
        }
    }

    #[test]
    fn queries_and_cookies_are_read() {
        assert_eq!(
            query("http://a.test/x?a=1&b=%C3%A9+x&c#d?e=f"),
            [
                json!({ "name": "a", "value": "1" }),
                json!({ "name": "b", "value": "é x" }),
                json!({ "name": "c", "value": "" })
            ]
        );
        assert!(query("http://a.test/").is_empty());
        assert_eq!(decoded("100%"), "100%");
        let header = |name: &str, value: &str| Header { name: name.to_owned(), value: value.to_owned() };
        let sent = [header("Cookie", "a=1; b=2")];
        assert_eq!(cookies(&sent, "cookie").len(), 2);
        let came = [header("set-cookie", "a=1; Path=/x; HttpOnly; Max-Age=3"), header("Set-Cookie", "b=2; Secure")];
        assert_eq!(
            cookies(&came, "set-cookie"),
            [
                json!({ "name": "a", "value": "1", "path": "/x", "httpOnly": true }),
                json!({ "name": "b", "value": "2", "secure": true })
            ]
        );
    }
}
