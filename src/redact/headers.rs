//! Secrets in HTTP headers: credentials are redacted; names and attributes stay.

use std::borrow::Cow;

use super::Secrets;
use super::forms::is_secret_word;

/// Headers whose values are secrets as a whole.
const CREDENTIALS: [&str; 4] = ["authorization", "proxy-authorization", "x-csrf-token", "x-xsrf-token"];
/// Suffixes of other headers whose values are secrets.
const ENDINGS: [&str; 4] = ["-key", "-auth", "_key", "-signature"];

/// Redacts the value of a header: in `Cookie` and `Set-Cookie` the values of the cookies, in `Authorization`,
/// `X-Api-Key` and similar headers all but the scheme, in others what looks like a secret.
#[must_use]
pub(crate) fn cover_header<'a>(secrets: &Secrets, name: &str, value: &'a str) -> Cow<'a, str> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "cookie" => value.split(';').map(cookie).collect::<Vec<_>>().join(";").into(),
        "set-cookie" => {
            let line = |line: &str| match line.split_once(';') {
                Some((pair, attributes)) => format!("{};{attributes}", cookie(pair)),
                None => cookie(line),
            };
            value.lines().map(line).collect::<Vec<_>>().join("\n").into()
        }
        _ if CREDENTIALS.contains(&name.as_str())
            || is_secret_word(&name)
            || ENDINGS.iter().any(|end| name.ends_with(end)) =>
        {
            match value.split_once(' ') {
                Some((scheme, _))
                    if scheme.chars().all(|c| c.is_ascii_alphabetic()) && name.ends_with("authorization") =>
                {
                    format!("{scheme} {}", Secrets::COVER).into()
                }
                _ => Secrets::COVER.into(),
            }
        }
        _ => secrets.cover(value),
    }
}

/// A `name=value` pair without its value.
fn cookie(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() => format!("{name}={}", Secrets::COVER),
        Some(_) => pair.to_owned(),
        None => pair.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_logs_somebody_in_is_covered() {
        let secrets = Secrets::new(["hunter22"]);
        for (name, value, covered) in [
            ("Authorization", "Bearer abc", "Bearer [secret]"),
            ("authorization", "abc", "[secret]"),
            ("Proxy-Authorization", "Basic YTpi", "Basic [secret]"),
            ("X-Api-Key", "abc", "[secret]"),
            ("X-Auth-Token", "a b", "[secret]"),
            ("Cookie", "a=1; b=2", "a=[secret]; b=[secret]"),
            ("Set-Cookie", "a=1; Path=/; HttpOnly", "a=[secret]; Path=/; HttpOnly"),
            ("set-cookie", "a=1\nb=2; Secure", "a=[secret]\nb=[secret]; Secure"),
            ("Referer", "https://a.test/?token=abc123def", "https://a.test/?token=[secret]"),
            ("X-Note", "hunter22 here", "[secret] here"),
            ("Accept", "text/html", "text/html"),
            ("Content-Type", "application/json", "application/json"),
        ] {
            assert_eq!(cover_header(&secrets, name, value), covered, "{name}");
        }
    }
}
