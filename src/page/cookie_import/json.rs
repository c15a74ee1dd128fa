//! JSON arrays of cookies: browser extensions (EditThisCookie, Cookie-Editor), Puppeteer, Playwright, and the own
//! format.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{NewCookie, ReadCookies, address};
use crate::page::SameSite;

/// Maximum length of the URL of a cookie, in bytes.
const LONG_URL: usize = 8192;

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow)]
    cookies: Vec<&'a RawValue>,
}

pub(super) fn read(text: &str, url: Option<&str>, now: f64, read: &mut ReadCookies) {
    let is_object = text.trim_start().starts_with('{');
    let all = match is_object {
        true => serde_json::from_str::<Whole<'_>>(text).map(|whole| whole.cookies),
        false => serde_json::from_str::<Vec<&RawValue>>(text),
    };
    let all = match all {
        Ok(all) => all,
        Err(problem) => {
            // The message may contain values.
            let why = if problem.is_data() { "it is not a list of cookies" } else { "it is not valid JSON" };
            return read.reject(problem.line().max(1), format!("{why} (column {})", problem.column()));
        }
    };
    let (mut line, mut at) = (1, 0);
    for raw in all {
        let start = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        line += text.as_bytes().get(at..start).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count();
        at = start.max(at);
        match cookie(raw.get(), url) {
            Ok(cookie) => read.take(line, cookie, now),
            Err(reason) => read.reject(line, reason),
        }
    }
}

fn cookie(text: &str, url: Option<&str>) -> Result<NewCookie, String> {
    let json: Value = serde_json::from_str(text).map_err(|_| "it is not valid JSON".to_owned())?;
    if !json.is_object() {
        return Err("it is not an object".to_owned());
    }
    let text = |field: &str| match &json[field] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.as_str())),
        _ => Err(format!("its `{field}` is not a string")),
    };
    let flag = |field: &str| match &json[field] {
        Value::Null => Ok(None),
        Value::Bool(flag) => Ok(Some(*flag)),
        _ => Err(format!("its `{field}` is not true or false")),
    };
    let name = text("name")?.ok_or("it has no `name`")?;
    let value = text("value")?.ok_or("it has no `value`")?;
    if !json["partitionKey"].is_null() {
        return Err("it is partitioned (CHIPS); only a login state can restore it (`state load`)".to_owned());
    }
    let secure = flag("secure")?;
    let same_site = match text("sameSite")?.map(str::to_ascii_lowercase).as_deref() {
        None | Some("" | "unspecified") => None,
        Some("lax") => Some(SameSite::Lax),
        Some("strict") => Some(SameSite::Strict),
        // Extensions also write it for cookies without `SameSite`.
        Some("no_restriction") => (secure == Some(true)).then_some(SameSite::None),
        Some("none") => Some(SameSite::None),
        Some(_) => return Err("its `sameSite` is not Strict, Lax or None".to_owned()),
    };
    let field = if json["expirationDate"].is_null() { "expires" } else { "expirationDate" };
    let expires = match &json[field] {
        Value::Null => None,
        Value::Number(number) => number.as_f64().filter(|time| *time > 0.0),
        _ => return Err(format!("its `{field}` is not a number of Unix seconds")),
    };
    let expires = expires.filter(|_| json["session"] != true);
    let (domain, host_only) = (text("domain")?, flag("hostOnly")?);
    let of_domain = domain.is_some_and(|domain| host_only.map_or(domain.starts_with('.'), |host_only| !host_only));
    let is_url_secure = secure == Some(true);
    let address = match (domain, text("url")?.or(url)) {
        (Some(domain), _) => address(is_url_secure, domain)?,
        (None, Some(url)) if url.len() > LONG_URL => {
            return Err(format!("its URL is longer than {LONG_URL} bytes"));
        }
        (None, Some(url)) => url.to_owned(),
        (None, None) => return Err("it has neither `domain` nor `url`".to_owned()),
    };
    Ok(NewCookie {
        name: name.to_owned(),
        value: value.to_owned(),
        url: (!of_domain).then_some(address),
        domain: domain.filter(|_| of_domain).map(str::to_owned),
        path: text("path")?.map(str::to_owned),
        expires,
        http_only: flag("httpOnly")?,
        secure,
        same_site,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{CookieFormat, ReadCookies, read_cookies};
    use crate::page::SameSite;

    fn read(text: &str) -> ReadCookies {
        read_cookies(text, CookieFormat::Auto, None, 1.8e9)
    }

    #[test]
    fn lists_of_extensions_and_tools_are_read() {
        let got = read(
            r#"[
  {"domain": ".a.test", "expirationDate": 2000000000.5, "hostOnly": false, "httpOnly": true, "name": "n", "path": "/",
   "sameSite": "no_restriction", "secure": true, "session": false, "storeId": "0", "value": "v", "id": 1},
  {"domain": "a.test", "hostOnly": true, "name": "h", "value": "", "sameSite": "unspecified", "session": true,
   "expirationDate": 5},
  {"name": "p", "value": "v", "domain": "a.test", "expires": -1, "sameSite": "Lax", "secure": true},
  {"name": "u", "value": "v", "url": "https://u.test/x"}
]"#,
        );
        assert_eq!(got.rejected, []);
        let [(2, n), (4, h), (6, p), (7, u)] = &*got.cookies else { panic!("{got:?}") };
        assert_eq!(
            (n.domain.as_deref(), n.expires, n.same_site),
            (Some(".a.test"), Some(2_000_000_000.5), Some(SameSite::None))
        );
        assert_eq!((h.url.as_deref(), h.expires, h.same_site), (Some("http://a.test/"), None, None));
        assert_eq!((p.url.as_deref(), p.expires, p.same_site), (Some("https://a.test/"), None, Some(SameSite::Lax)));
        assert_eq!(u.url.as_deref(), Some("https://u.test/x"));
        assert_eq!(
            read(r#"{"cookies": [{"name": "a", "value": "b", "domain": "x"}], "origins": []}"#).cookies.len(),
            1
        );
    }

    #[test]
    fn faulty_cookies_are_named_and_the_others_are_kept() {
        let got = read(
            r#"[{"name": "good", "value": "s3cret", "domain": "x"},
1,
{"value": "s3cret", "domain": "x"},
{"name": "a", "value": {"s3cret": 1}, "domain": "x"},
{"name": "a", "value": "s3cret"},
{"name": "a", "value": "s3cret", "domain": "x", "sameSite": "s3cret"},
{"name": "a", "value": "s3cret", "domain": "x", "expires": "s3cret"},
{"name": "a", "value": "s3cret", "domain": "x", "partitionKey": "https://y"},
{"name": "a", "value": "s3cret;", "domain": "x"},
{"name": "a", "value": "s3cret", "domain": "x", "secure": 1},
{"name": "good", "value": "s3cret", "domain": "y"}]"#,
        );
        assert_eq!(got.cookies.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 11]);
        assert_eq!(got.rejected.iter().map(|faulty| faulty.line).collect::<Vec<_>>(), (2..=10).collect::<Vec<_>>());
        assert!(got.rejected.iter().all(|faulty| !faulty.reason.contains("s3cret")), "{:?}", got.rejected);
        for (text, line) in [("[\n{\"s3cret\"", 2), ("{\"cookies\":\n 1}", 2), ("{}", 1), ("[", 1)] {
            let got = read(text);
            assert_eq!((got.rejected.len(), got.rejected[0].line), (1, line), "{text}");
            assert!(!got.rejected[0].reason.contains("s3cret"));
        }
    }
}
