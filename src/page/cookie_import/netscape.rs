//! Netscape cookie files: <https://curl.se/docs/http-cookies.html>.

use super::{NewCookie, ReadCookies, address};

/// The prefix of a line with an HttpOnly cookie.
const HTTP_ONLY: &str = "#HttpOnly_";

pub(super) fn read(text: &str, now: f64, read: &mut ReadCookies) {
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_end_matches('\r');
        let (http_only, line) = match line.strip_prefix(HTTP_ONLY) {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        match cookie(line, http_only) {
            Ok(cookie) => read.take(index + 1, cookie, now),
            Err(reason) => read.reject(index + 1, reason),
        }
    }
}

fn cookie(line: &str, http_only: bool) -> Result<NewCookie, String> {
    // Copied text often has spaces instead of tabs.
    let fields: Vec<&str> = match line.contains('\t') {
        true => line.splitn(7, '\t').collect(),
        false => line.split_whitespace().collect(),
    };
    let (domain, subdomains, path, secure, expires, name, value) = match *fields {
        [domain, subdomains, path, secure, expires, name, value] => {
            (domain, subdomains, path, secure, expires, name, value)
        }
        // An empty value at the end of a line is easily lost.
        [domain, subdomains, path, secure, expires, name] => (domain, subdomains, path, secure, expires, name, ""),
        _ => {
            let count = fields.len();
            let word = if count == 1 { "field" } else { "fields" };
            return Err(format!(
                "it has {count} {word}, not 7: domain, subdomains, path, secure, expiry, name, value, separated by tabs"
            ));
        }
    };
    let flag = |text: &str, what: &str| match text.trim().to_ascii_uppercase().as_str() {
        "TRUE" => Ok(true),
        "FALSE" => Ok(false),
        _ => Err(format!("its {what} is neither TRUE nor FALSE")),
    };
    let (subdomains, secure) = (flag(subdomains, "second field (subdomains)")?, flag(secure, "fourth field (secure)")?);
    let expires: f64 = expires.trim().parse().map_err(|_| "its expiry is not a number of Unix seconds".to_owned())?;
    let domain = domain.trim();
    if domain.trim_start_matches('.').is_empty() {
        return Err("it has no domain".to_owned());
    }
    let of_domain = subdomains || domain.starts_with('.');
    Ok(NewCookie {
        name: name.to_owned(),
        value: value.to_owned(),
        url: (!of_domain).then(|| address(secure, domain)).transpose()?,
        domain: of_domain.then(|| domain.to_owned()),
        path: Some(path.trim().to_owned()),
        // 0 means a session cookie, and so does -1 of some programs.
        expires: (expires > 0.0).then_some(expires),
        http_only: Some(http_only),
        secure: Some(secure),
        same_site: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{CookieFormat, read_cookies};

    const FILE: &str = "# Netscape HTTP Cookie File\r\n\
        # https://curl.se/docs/http-cookies.html\r\n\
        \r\n\
        .example.com\tTRUE\t/\tTRUE\t2000000000\ta\tb=c d\r\n\
        #HttpOnly_www.example.com\tFALSE\t/path\tFALSE\t0\tsession\tvalue\r\n\
        example.com\tFALSE\t/\tTRUE\t2000000000\tempty\t\r\n\
        example.com FALSE / TRUE 2000000000 spaces here\n\
        example.com\tFALSE\t/\tTRUE\t2000000000.5\t__Host-id\tx\n";

    #[test]
    fn a_file_of_curl_is_read() {
        let read = read_cookies(FILE, CookieFormat::Auto, None, 1.8e9);
        assert_eq!(read.rejected, []);
        let [(4, a), (5, session), (6, empty), (7, spaces), (8, host)] = &*read.cookies else { panic!("{read:?}") };
        assert_eq!((a.domain.as_deref(), &*a.value, a.expires), (Some(".example.com"), "b=c d", Some(2e9)));
        assert_eq!((a.secure, a.http_only, &a.url), (Some(true), Some(false), &None));
        assert_eq!((session.url.as_deref(), session.domain.as_deref()), (Some("http://www.example.com/"), None));
        assert_eq!((session.http_only, session.expires, session.path.as_deref()), (Some(true), None, Some("/path")));
        assert_eq!((&*empty.name, &*empty.value), ("empty", ""));
        assert_eq!((&*spaces.name, &*spaces.value), ("spaces", "here"));
        assert_eq!(host.url.as_deref(), Some("https://example.com/"));
    }

    #[test]
    fn faulty_lines_are_named_and_the_others_are_kept() {
        let text = "x\n\
            a.test\tTRUE\t/\tFALSE\t0\tgood\tone\n\
            a.test\tmaybe\t/\tFALSE\t0\tn\ts3cret\n\
            a.test\tTRUE\t/\tFALSE\tsoon\tn\ts3cret\n\
            .\tTRUE\t/\tFALSE\t0\tn\ts3cret\n\
            a.test\tTRUE\tpath\tFALSE\t0\tn\ts3cret\n\
            a.test\tTRUE\t/\tFALSE\t1600000000\tn\ts3cret\n\
            a.test\tTRUE\t/\tFALSE\t1900000000000\tn\ts3cret\n\
            a.test\tFALSE\t/\tFALSE\t0\t__Secure-n\ts3cret\n\
            a.test\tTRUE\t/\tFALSE\tNaN\tn\ts3cret\n\
            a.test\tTRUE\t/\tFALSE\t0\tgood\ttwo";
        let read = read_cookies(text, CookieFormat::Netscape, None, 1.8e9);
        let lines: Vec<usize> = read.cookies.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 10, 11]);
        let faulty: Vec<usize> = read.rejected.iter().map(|faulty| faulty.line).collect();
        assert_eq!(faulty, [1, 3, 4, 5, 6, 7, 8, 9]);
        for (at, words) in
            ["1 field,", "TRUE nor FALSE", "Unix seconds", "no domain", "begin with `/`", "expired", "milli", "secure"]
                .iter()
                .enumerate()
        {
            let reason = &read.rejected[at].reason;
            assert!(reason.contains(words) && !reason.contains("s3cret"), "{at}: {reason}");
        }
    }
}
