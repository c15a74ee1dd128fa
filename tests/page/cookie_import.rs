//! Cookies exported by other programs, imported into a browser and verified by the server.

#[cfg(feature = "cli")]
use std::fs;

use cdpilot::page::{CookieFormat, ImportedCookies, read_cookies};
use serde_json::json;

use crate::support::api::TestServer;
use crate::support::chrome::soon;
use crate::support::settle_tab::SettleTab;

#[test]
fn imported_cookies_are_sent_and_invalid_lines_reported() {
    let Some(tab) = SettleTab::new("import") else { return };
    tab.site.page("/", "home");
    tab.site.page("/below/", "below");
    let host = "import.localhost";
    let import = |text: &str, url: Option<&str>| tab.import_cookies(text, CookieFormat::Auto, url, soon()).unwrap();
    let lines = |imported: &ImportedCookies| imported.rejected.iter().map(|faulty| faulty.line).collect::<Vec<_>>();
    let file = format!(
        "# Netscape HTTP Cookie File\n{host}\tFALSE\t/\tFALSE\t0\tsession\tone\n#HttpOnly_{host}\tFALSE\t/below\tFALSE\t4000000000\tlate\ttwo\n\
         broken line\n"
    );
    let imported = import(&file, None);
    assert_eq!((imported.format, imported.added, lines(&imported)), (CookieFormat::Netscape, 2, vec![4]));
    let address = tab.site.url("import", "/");
    let curl = format!("curl '{address}' -H 'Cookie: fromcurl=three; quoted=\"four\"'");
    let imported = import(&curl, None);
    assert_eq!((imported.format, imported.added, lines(&imported)), (CookieFormat::Curl, 2, vec![]));
    let list = json!([{ "name": "fromjson", "value": "five", "domain": host, "hostOnly": true }, { "name": "x" }]);
    let imported = import(&list.to_string(), None);
    assert_eq!((imported.format, imported.added, lines(&imported)), (CookieFormat::Json, 1, vec![1]));

    tab.go_to(&address);
    let head = tab.site.heads(&format!("{host}/")).pop().unwrap();
    for cookie in ["session=one", "fromcurl=three", "quoted=\"four\"", "fromjson=five"] {
        assert!(head.contains(cookie), "{cookie}: {head}");
    }
    assert!(!head.contains("late=two"), "{head}");
    assert_eq!(tab.eval("document.cookie.includes('late')"), false);
    tab.go_to(&tab.site.url("import", "/below/"));
    let head = tab.site.heads(&format!("{host}/below/")).pop().unwrap();
    assert!(head.contains("late=two"), "{head}");
    assert_eq!(tab.eval("document.cookie.includes('late')"), false, "it is out of reach of scripts");
    let bad = tab.import_cookies("curl x -b a=b", CookieFormat::Auto, Some("ftp://x"), soon()).unwrap_err();
    assert_eq!(bad.code(), "BAD_REQUEST");
    for name in ["session", "late", "fromcurl", "quoted", "fromjson"] {
        assert_eq!(tab.delete_cookies(Some(name), Some(host), soon()).unwrap(), 1, "{name}");
    }
}

#[test]
fn cookies_can_be_imported_by_route_and_command() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    api.post("/tabs/open", &json!({ "url": served.site.url("a", "/") })).ok();
    let response =
        api.post("/cookies/import", &json!({ "text": "curl -b 'n=v; s3cret'", "url": served.site.url("a", "/") })).ok();
    assert_eq!(
        (&response["format"], &response["added"], &response["rejected"][0]["line"]),
        (&json!("curl"), &json!(1), &json!(1))
    );
    assert!(!response.to_string().contains("s3cret"), "{response}");
    assert_eq!(api.get("/cookies").ok()["cookies"][0]["value"], "v");
    api.post("/cookies/import", &json!({ "text": "", "format": "yaml" })).fails(400, "BAD_REQUEST");

    #[cfg(feature = "cli")]
    {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cookies.txt");
        fs::write(&file, "a.localhost\tFALSE\t/\tFALSE\t0\tfromfile\tyes\nbroken\n").unwrap();
        let program = crate::cli_run::Program::new()
            .env("CDPILOT_URL", &format!("http://{}", api.address))
            .env("CDPILOT_TOKEN", &api.token);
        let ran = program.run(&["browser", "cookies", "import", file.to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains("line 2: it has 1 field,") && ran.stdout.contains("set 1 cookie,"), "{ran:?}");
        fs::write(&file, "[{\"name\": 1}]").unwrap();
        let mut command = program.command(&["browser", "cookies", "import", "-", "--format", "json"]);
        let ran = command.stdin(fs::File::open(&file).unwrap()).output().unwrap();
        assert_eq!(ran.status.code(), Some(1), "nothing of it was set: {ran:?}");
        assert!(api.get("/cookies").ok().to_string().contains("fromfile"));
    }
}

#[test]
fn invalid_lines_are_listed_up_to_a_limit_and_counted() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    api.post("/tabs/open", &json!({ "url": served.site.url("a", "/") })).ok();
    let import =
        |text: &str| api.post("/cookies/import", &json!({ "text": text, "url": served.site.url("a", "/") })).ok();
    for (text, count) in [
        ("x\n".repeat(20_000), 20_000),
        (format!("curl{}", "\nx".repeat(9_000)), 9_001),
        (format!("[{}1]", "1,".repeat(9_000)), 9_001),
    ] {
        let response = import(&text);
        let size = response.to_string().len();
        assert!(size < 20_000, "{size}");
        assert_eq!((response["rejected"].as_array().unwrap().len(), &response["rejectedCount"]), (100, &json!(count)));
    }
    // A text that is mostly separators is refused before its words fill the memory.
    let response = import(&format!("curl x {}", ";x".repeat(400_000)));
    assert!(response.to_string().contains("words"), "{response}");

    #[cfg(feature = "cli")]
    {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cookies.txt");
        fs::write(&file, "x\n".repeat(300)).unwrap();
        let program = crate::cli_run::Program::new()
            .env("CDPILOT_URL", &format!("http://{}", api.address))
            .env("CDPILOT_TOKEN", &api.token);
        let ran = program.run(&["browser", "cookies", "import", file.to_str().unwrap()]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let first = "no cookie was found; give a cookie file (Netscape), a curl command or JSON; line 1:";
        assert!(ran.stderr.contains(first) && !ran.stderr.contains("line 2:"), "{ran:?}");
        // With one cookie among them, the lines that were skipped are listed.
        let cookie = format!("a.localhost\tFALSE\t/\tFALSE\t0\tname\tvalue\n{}", "x\n".repeat(300));
        fs::write(&file, cookie).unwrap();
        let ran = program.run(&["browser", "cookies", "import", file.to_str().unwrap()]);
        assert!(ran.stdout.contains("line 101:") && !ran.stdout.contains("line 102:"), "{ran:?}");
        assert!(ran.stdout.contains("skipped 300 lines, of which 100 are listed"), "{ran:?}");
    }
}

#[test]
fn an_invalid_domain_is_an_invalid_line() {
    for domain in ["127.0.0.1@evil.com", "127.0.0.1:99/zz", "[::1]@evil.com]", "0x7f.1", "a.test\\b", "a.test#"] {
        let lines =
            ["FALSE", "TRUE"].map(|below| (CookieFormat::Netscape, format!("{domain}\t{below}\t/\tFALSE\t0\tn\tv")));
        let lists = [true, false].map(|host_only| {
            let cookie = json!([{ "name": "n", "value": "v", "domain": domain, "hostOnly": host_only }]);
            (CookieFormat::Json, cookie.to_string())
        });
        for (format, text) in lines.into_iter().chain(lists) {
            let read = read_cookies(&text, format, None, 1.8e9);
            assert!(read.cookies.is_empty() && read.rejected.len() == 1, "{text}: {read:?}");
            assert!(read.rejected[0].reason.contains("domain"), "{text}: {read:?}");
        }
    }
    for domain in ["127.0.0.1", "[::1]", "a_b.test", "münchen.test", ".a.test"] {
        let text = format!("{domain}\tFALSE\t/\tFALSE\t0\tn\tv");
        assert_eq!(read_cookies(&text, CookieFormat::Netscape, None, 1.8e9).rejected, [], "{domain}");
    }
}

#[test]
fn escapes_of_copied_curl_commands_are_decoded_exactly_or_rejected() {
    let value = |escaped: &str| {
        let read = read_cookies(&format!("curl https://a.test -b $'n={escaped}'"), CookieFormat::Curl, None, 1.8e9);
        match (&*read.cookies, &*read.rejected) {
            ([(_, cookie)], []) => Ok(cookie.value.clone()),
            ([], [faulty]) => Err(faulty.reason.clone()),
            _ => panic!("{escaped}: {read:?}"),
        }
    };
    for (escaped, wanted) in
        [(r"a\ud83d\ude00b", "a😀b"), (r"\U0001f600", "😀"), (r"\u0021\x41\041\'\\", "!A!'\\"), (r"\u00e4", "ä")]
    {
        assert_eq!(value(escaped).as_deref(), Ok(wanted), "{escaped}");
    }
    for escaped in [r"\ud83d", r"\ud83dx", r"\ud83d\u0041", r"\ude00", r"\uzz", r"\x", r"\q", r"\U00110000"] {
        let reason = value(escaped).unwrap_err();
        assert!(reason.contains("escape"), "{escaped}: {reason}");
    }
    // An escape that is not in a cookie does not matter.
    let read = read_cookies(r"curl https://a.test --data-raw $'\ud83d' -b a=b", CookieFormat::Curl, None, 1.8e9);
    assert!(read.rejected.is_empty() && read.cookies.len() == 1, "{read:?}");
}

#[test]
fn a_long_url_is_not_stored_with_each_cookie() {
    let long = "x".repeat(1 << 16);
    let pairs = "a=b;".repeat(500);
    let read = |text: &str, url: Option<&str>| read_cookies(text, CookieFormat::Auto, url, 1.8e9);
    for got in [
        read(&format!("curl 'https://user@a.test:8/{long}' -b '{pairs}'"), None),
        read(&format!("curl 'https://user@a.test:8?{long}' -b '{pairs}'"), None),
        read(&format!("curl x -b '{pairs}'"), Some(&format!("https://user@a.test:8/{long}"))),
    ] {
        assert_eq!(got.cookies.len(), 500, "{:?}", got.rejected);
        assert!(got.cookies.iter().all(|(_, cookie)| cookie.url.as_deref() == Some("https://user@a.test:8")));
    }
    let list = format!("[{}{{\"name\": \"n\", \"value\": \"v\"}}]", "{\"name\": \"n\", \"value\": \"v\"},".repeat(499));
    for (text, url) in [
        (format!("curl 'https://{long}' -b '{pairs}'"), None),
        (format!("curl x -b '{pairs}'"), Some(format!("https://{long}/"))),
        (list.clone(), Some(format!("https://a.test/{long}"))),
    ] {
        let got = read(&text, url.as_deref());
        assert!(got.cookies.is_empty() && got.rejected_count > 0, "{:?}", got.rejected);
    }
    let got = read(&list, Some("https://a.test/path"));
    assert_eq!(got.cookies[0].1.url.as_deref(), Some("https://a.test/path"));
}
