//! Cookies of other programs, set in a browser and seen by its server.

use std::fs;

use cdpilot::page::{CookieFormat, ImportedCookies};
use serde_json::json;

use crate::support::api::Served;
use crate::support::chrome::soon;
use crate::support::resting::Resting;

#[test]
fn imported_cookies_are_sent_and_faulty_lines_named() {
    let Some(tab) = Resting::new("import") else { return };
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
fn the_route_and_the_command_import_too() {
    let Some(served) = Served::browsing() else { return };
    let api = &served.api;
    api.post("/tabs/open", &json!({ "url": served.site.url("a", "/") })).ok();
    let told =
        api.post("/cookies/import", &json!({ "text": "curl -b 'n=v; s3cret'", "url": served.site.url("a", "/") })).ok();
    assert_eq!((&told["format"], &told["added"], &told["rejected"][0]["line"]), (&json!("curl"), &json!(1), &json!(1)));
    assert!(!told.to_string().contains("s3cret"), "{told}");
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
        assert!(ran.stdout.contains("line 2: it has 1 fields") && ran.stdout.contains("set 1 cookies"), "{ran:?}");
        fs::write(&file, "[{\"name\": 1}]").unwrap();
        let mut command = program.command(&["browser", "cookies", "import", "-", "--format", "json"]);
        let ran = command.stdin(fs::File::open(&file).unwrap()).output().unwrap();
        assert_eq!(ran.status.code(), Some(1), "nothing of it was set: {ran:?}");
        assert!(api.get("/cookies").ok().to_string().contains("fromfile"));
    }
}
