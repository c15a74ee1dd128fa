//! cURL commands, as written by "Copy as cURL" of developer tools.

use super::shell::{MANY_WORDS, Word, words};
use super::{NewCookie, ReadCookies};

/// Options whose next word is their value, except those of headers and cookies.
const VALUED: [&str; 46] = [
    "-X",
    "-d",
    "-o",
    "-A",
    "-e",
    "-u",
    "-x",
    "-m",
    "-F",
    "-T",
    "-E",
    "-c",
    "-w",
    "-r",
    "-C",
    "-D",
    "-K",
    "-U",
    "-y",
    "-Y",
    "-z",
    "--request",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--data-ascii",
    "--json",
    "--output",
    "--user-agent",
    "--referer",
    "--user",
    "--proxy",
    "--max-time",
    "--connect-timeout",
    "--form",
    "--upload-file",
    "--cacert",
    "--cert",
    "--key",
    "--cookie-jar",
    "--write-out",
    "--range",
    "--resolve",
    "--connect-to",
    "--retry",
];

/// Maximum length of scheme, host and port of a URL, in bytes.
const LONG_SITE: usize = 1024;
/// Why the cookies of a line are not used.
const ESCAPE: &str = "its cookies contain an invalid escape in $'…'";

pub(super) fn read(text: &str, url: Option<&str>, now: f64, read: &mut ReadCookies) {
    let mut words = words(text);
    if let Some(last) = words.get(MANY_WORDS) {
        // The command that contains it is incomplete.
        let (line, whole) = (last.line, words[..MANY_WORDS].iter().rposition(|word| word.ends));
        read.reject(line, format!("the text has more than {MANY_WORDS} words up to here; import the rest separately"));
        words.truncate(whole.unwrap_or_default());
    }
    let mut found = false;
    for command in words.split(|word| word.ends) {
        let Some((first, rest)) = command.split_first() else { continue };
        let (first, rest) = match first.text.as_str() {
            "$" | ">" => match rest.split_first() {
                Some(split) => split,
                None => continue,
            },
            _ => (first, rest),
        };
        if !matches!(first.text.as_str(), "curl" | "curl.exe") {
            read.reject(first.line, "it does not start with curl; give commands as \"Copy as cURL\" writes them");
            continue;
        }
        found = true;
        of_command(first.line, rest, url, now, read);
    }
    if !found && read.rejected.is_empty() {
        read.reject(1, "there is no curl command in it");
    }
}

/// A URL without its path, which each cookie would otherwise carry.
fn site(address: &str) -> &str {
    let start = address.find("://").map_or(0, |at| at + 3);
    address[start..].find(['/', '?', '#']).map_or(address, |end| &address[..start + end])
}

/// The value of an option: attached, after `=`, or the next word.
fn value<'a>(word: &'a str, short: &str, long: &str) -> Option<Option<&'a str>> {
    if word == long || word == short {
        return Some(None);
    }
    let attached = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
    attached.or_else(|| word.strip_prefix(short).filter(|_| !word.starts_with("--"))).map(Some)
}

fn of_command(line: usize, words: &[Word], url: Option<&str>, now: f64, read: &mut ReadCookies) {
    let mut address: Option<&str> = None;
    let mut given: Vec<(usize, &str)> = Vec::new();
    let before = read.rejected_count;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        let mut faulty = word.faulty;
        let mut next = || {
            let next = rest.next()?;
            faulty |= next.faulty;
            Some(next.text.as_str())
        };
        if let Some(header) = value(text, "-H", "--header") {
            let header = header.or_else(&mut next).unwrap_or_default();
            if let Some((name, cookies)) = header.split_once(':')
                && name.trim().eq_ignore_ascii_case("cookie")
            {
                match faulty {
                    true => read.reject(word.line, ESCAPE),
                    false => given.push((word.line, cookies)),
                }
            }
        } else if let Some(cookies) = value(text, "-b", "--cookie") {
            let cookies = cookies.or_else(&mut next).unwrap_or_default();
            if faulty {
                read.reject(word.line, ESCAPE);
            } else if cookies.contains('=') {
                given.push((word.line, cookies));
            } else if !cookies.is_empty() {
                read.reject(word.line, "its -b names a file; import that file instead");
            }
        } else if let Some(value) = value(text, "--url", "--url") {
            address = value.or_else(next).or(address);
        } else if VALUED.contains(&text) {
            rest.next();
        } else if !text.starts_with('-') && !address.is_some_and(|address| address.contains("://")) {
            // An unknown option may have a value; a URL is recognised by its form.
            address = if text.contains("://") { Some(text) } else { address.or(Some(text)) };
        }
    }
    if given.is_empty() && read.rejected_count > before {
        return;
    }
    if given.is_empty() {
        return read.reject(line, "the command sends no cookies (no -b and no Cookie header)");
    }
    let address = url.or(address).map(|address| match address.contains("://") {
        true => address.to_owned(),
        false => format!("http://{address}"),
    });
    let address =
        address.as_deref().map(site).filter(|site| site.len() <= LONG_SITE && crate::page::data::is_web(site));
    let Some(address) = address else {
        return read.reject(line, "the command has no http or https URL; give the URL that its cookies are for");
    };
    let secure = address.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    for (line, cookies) in given {
        for pair in cookies.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
            let Some((name, value)) = pair.split_once('=') else {
                read.reject(line, "a cookie without `=`");
                continue;
            };
            let cookie = NewCookie {
                name: name.trim().to_owned(),
                value: value.trim().to_owned(),
                url: Some(address.to_owned()),
                domain: None,
                path: Some("/".to_owned()),
                expires: None,
                http_only: None,
                secure: Some(secure),
                same_site: None,
            };
            read.take(line, cookie, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CookieFormat, ReadCookies, read_cookies};

    fn read(text: &str, url: Option<&str>) -> ReadCookies {
        read_cookies(text, CookieFormat::Curl, url, 1.8e9)
    }

    fn pairs(read: &ReadCookies) -> Vec<String> {
        let shown = |(line, cookie): &(usize, super::NewCookie)| {
            format!("{line} {} {}={}", cookie.url.as_deref().unwrap_or_default(), cookie.name, cookie.value)
        };
        read.cookies.iter().map(shown).collect()
    }

    #[test]
    fn commands_of_developer_tools_are_read() {
        let bash = "curl 'https://a.test/x?y=1' \\\n  -H 'accept: */*' \\\n  -b 'sid=1; theme=\"dark\"; t=a=b' \\\n  --data-raw $'{\"x\":1}' \\\n  --compressed ;\ncurl 'http://b.test/' -H 'Cookie: c=d'";
        let got = read(bash, None);
        assert_eq!(got.rejected, []);
        let a = "https://a.test";
        assert_eq!(
            pairs(&got),
            [
                format!("3 {a} sid=1"),
                format!("3 {a} theme=\"dark\""),
                format!("3 {a} t=a=b"),
                "6 http://b.test c=d".to_owned()
            ]
        );
        assert_eq!((got.cookies[0].1.secure, got.cookies[3].1.secure), (Some(true), Some(false)));
        let cmd = "curl ^\"https://a.test/?a=1^&b=2^\" ^\r\n  -H ^\"accept: */*^\" ^\r\n  -b ^\"sid=^%^7B^\\^\"x^\\^\"^%^7D^\" &\r\n";
        let got = read(cmd, None);
        assert_eq!(pairs(&got), ["3 https://a.test sid=%7B\"x\"%7D"]);
        assert_eq!(got.rejected, []);
    }

    #[test]
    fn options_are_read_in_every_form() {
        for text in [
            "curl -X POST -d x=y -b a=b https://h.test",
            "curl --unknown thing https://h.test --cookie=a=b",
            "curl h.test --url https://h.test -ba=b",
            "$ curl https://h.test '-HCOOKIE: a=b'",
            "curl.exe https://h.test --header='cookie:a=b'",
        ] {
            assert_eq!(pairs(&read(text, None)), ["1 https://h.test a=b"], "{text}");
        }
        assert_eq!(pairs(&read("curl x -b a=b", Some("https://other.test"))), ["1 https://other.test a=b"]);
        assert_eq!(pairs(&read("curl h.test -b a=b", None)), ["1 http://h.test a=b"]);
    }

    #[test]
    fn what_is_missing_is_named_with_its_line() {
        for (text, line, words) in [
            ("wget x", 1, "start with curl"),
            ("curl https://x.test", 1, "no cookies"),
            ("curl https://x.test -b cookies.txt", 1, "names a file"),
            ("curl -b a=b", 1, "no http or https URL"),
            ("curl ftp://x -b a=b", 1, "no http or https URL"),
            ("curl https://x.test \\\n -b 'a=b; s3cret'", 2, "without `=`"),
            ("curl https://x.test -b $'a=s3cret\\x01'", 1, "control character"),
            ("  \n ", 1, "no curl command"),
        ] {
            let got = read(text, None);
            let first = &got.rejected[0];
            assert!(first.line == line && first.reason.contains(words), "{text}: {got:?}");
            assert!(!first.reason.contains("s3cret"));
        }
        assert_eq!(read("curl https://x.test -b 'a=b; s3cret'", None).cookies.len(), 1);
    }
}
