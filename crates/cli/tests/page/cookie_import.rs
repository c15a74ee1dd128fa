//! Cookies exported by other programs, imported into a browser and verified by the server.

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
    let imported = import(&format!("curl '{address}' \\\n -H 'Cookie: a=b'"), None);
    assert_eq!((imported.added, lines(&imported)), (0, vec![1]));
    assert!(imported.rejected[0].reason.contains("only Netscape cookie files and JSON"), "{imported:?}");
    let list = json!([{ "name": "fromjson", "value": "five", "domain": host, "hostOnly": true }, { "name": "x" }]);
    let imported = import(&list.to_string(), None);
    assert_eq!((imported.format, imported.added, lines(&imported)), (CookieFormat::Json, 1, vec![1]));

    tab.go_to(&address);
    let head = tab.site.heads(&format!("{host}/")).pop().unwrap();
    for cookie in ["session=one", "fromjson=five"] {
        assert!(head.contains(cookie), "{cookie}: {head}");
    }
    assert!(!head.contains("late=two"), "{head}");
    assert_eq!(tab.eval("document.cookie.includes('late')"), false);
    tab.go_to(&tab.site.url("import", "/below/"));
    let head = tab.site.heads(&format!("{host}/below/")).pop().unwrap();
    assert!(head.contains("late=two"), "{head}");
    assert_eq!(tab.eval("document.cookie.includes('late')"), false, "it is out of reach of scripts");
    let bad = tab.import_cookies(&file, CookieFormat::Auto, Some("ftp://x"), soon()).unwrap_err();
    assert_eq!(bad.code(), "BAD_REQUEST");
    for name in ["session", "late", "fromjson"] {
        assert_eq!(tab.delete_cookies(Some(name), Some(host), soon()).unwrap(), 1, "{name}");
    }
}

#[test]
fn cookies_can_be_imported_by_route_and_command() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    api.post("/tabs/open", &json!({ "url": served.site.url("a", "/") })).ok();
    let list = json!([{ "name": "n", "value": "v" }, { "name": "m", "value": "s3cret;" }]).to_string();
    let response = api.post("/cookies/import", &json!({ "text": list, "url": served.site.url("a", "/") })).ok();
    assert_eq!(
        (&response["format"], &response["added"], &response["rejected"][0]["line"]),
        (&json!("json"), &json!(1), &json!(1))
    );
    assert!(!response.to_string().contains("s3cret"), "{response}");
    assert_eq!(api.get("/cookies").ok()["cookies"][0]["value"], "v");
    for format in ["yaml", "curl"] {
        api.post("/cookies/import", &json!({ "text": "", "format": format })).fails(400, "BAD_REQUEST");
    }

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
    for (text, count) in [("x\n".repeat(20_000), 20_000), (format!("[{}1]", "1,".repeat(9_000)), 9_001)] {
        let response = import(&text);
        let size = response.to_string().len();
        assert!(size < 20_000, "{size}");
        assert_eq!((response["rejected"].as_array().unwrap().len(), &response["rejectedCount"]), (100, &json!(count)));
    }

    {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cookies.txt");
        fs::write(&file, "x\n".repeat(300)).unwrap();
        let program = crate::cli_run::Program::new()
            .env("CDPILOT_URL", &format!("http://{}", api.address))
            .env("CDPILOT_TOKEN", &api.token);
        let ran = program.run(&["browser", "cookies", "import", file.to_str().unwrap()]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let first = "no cookie was found; give a cookie file (Netscape) or JSON; line 1:";
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
fn a_long_url_is_not_stored_with_each_cookie() {
    let list = format!("[{}{{\"name\": \"n\", \"value\": \"v\"}}]", "{\"name\": \"n\", \"value\": \"v\"},".repeat(499));
    let read = |url: &str| read_cookies(&list, CookieFormat::Auto, Some(url), 1.8e9);
    let got = read(&format!("https://a.test/{}", "x".repeat(1 << 16)));
    assert!(got.cookies.is_empty() && got.rejected_count == 500, "{:?}", got.rejected);
    assert_eq!(read("https://a.test/path").cookies[0].1.url.as_deref(), Some("https://a.test/path"));
}
