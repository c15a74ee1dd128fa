//! Cookies as server and page see them.

use cdpilot::page::{Error, NewCookie, PageOptions, SameSite};
use cdpilot::supervisor::{DialogPolicy, SupervisorOptions};
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::settle_tab::SettleTab;

fn tab(name: &str) -> Option<SettleTab> {
    let mut options = SupervisorOptions::task(name);
    options.policy = DialogPolicy::Hold;
    SettleTab::with(options, PageOptions::default())
}

fn cookies(json: serde_json::Value) -> Vec<NewCookie> {
    serde_json::from_value(json).unwrap()
}

/// The `Cookie` header of the newest request for a path of host `a`.
fn sent(tab: &SettleTab, path: &str) -> Vec<String> {
    let heads = tab.site.heads(&format!("a.localhost{path}"));
    let line = heads.last().unwrap().lines().find_map(|line| line.strip_prefix("Cookie: ").map(str::to_owned));
    let mut sent: Vec<String> = line.unwrap_or_default().split("; ").map(str::to_owned).collect();
    sent.sort();
    sent
}

#[test]
fn cookies_are_set_listed_sent_and_deleted() {
    let Some(tab) = tab("cookies") else { return };
    tab.site.page("/", "hello");
    let (a, b) = (tab.site.url("a", "/"), tab.site.url("b", "/"));
    let new = cookies(json!([
        { "name": "plain", "value": "1", "url": a },
        { "name": "wide", "value": "2", "domain": "a.localhost", "httpOnly": true, "expires": 4_000_000_000.0 },
        { "name": "strict", "value": "a=b c", "url": a, "path": "/deep", "sameSite": "strict" },
        { "name": "safe", "value": "3", "url": a, "secure": true, "sameSite": "None" },
        { "name": "other", "value": "4", "url": b },
    ]));
    assert_eq!(tab.set_cookies(&new, soon()).unwrap(), 5);
    tab.go("/");
    assert_eq!(sent(&tab, "/"), ["plain=1", "safe=3", "wide=2"], "localhost counts as secure");
    assert_eq!(tab.eval("document.cookie.split('; ').sort().join()"), "plain=1,safe=3");
    tab.site.page("/deep/x", "deep");
    tab.go("/deep/x");
    assert!(sent(&tab, "/deep/x").contains(&"strict=a=b c".to_owned()));

    assert_eq!(tab.cookies(&[], soon()).unwrap().len(), 5);
    let here = tab.cookies(&[&tab.site.url("a", "/deep/x")], soon()).unwrap();
    let find = |name: &str| here.iter().find(|cookie| cookie.name == name).unwrap();
    assert_eq!(here.len(), 4, "{here:?}");
    assert!(find("wide").http_only && find("wide").expires.is_some() && find("plain").expires.is_none());
    assert_eq!((find("strict").same_site, find("safe").same_site), (Some(SameSite::Strict), Some(SameSite::None)));
    let shown = serde_json::to_value(find("safe")).unwrap();
    assert_eq!(
        shown,
        json!({ "name": "safe", "value": "3", "domain": "a.localhost", "path": "/", "httpOnly": false, "secure": true, "sameSite": "None" })
    );
    assert!(!format!("{here:?}{new:?}").contains("a=b c"), "values are not shown");

    assert_eq!(tab.delete_cookies(Some("plain"), Some("b.localhost"), soon()).unwrap(), 0);
    assert_eq!(tab.delete_cookies(Some("plain"), None, soon()).unwrap(), 1);
    assert_eq!(tab.delete_cookies(None, Some("a.localhost"), soon()).unwrap(), 3);
    tab.go("/");
    assert_eq!(sent(&tab, "/"), [""]);

    // Under a dialog, and all that is left.
    tab.supervisor().start_script(&tab.top(), "alert(1)").unwrap();
    tab.until("a dialog", |now| !now.dialogs.is_empty());
    assert_eq!(tab.set_cookies(&cookies(json!([{ "name": "x", "value": "y", "url": a }])), soon()).unwrap(), 1);
    assert_eq!(tab.cookies(&[&a], soon()).unwrap().len(), 1);
    assert_eq!(tab.delete_cookies(None, None, soon()).unwrap(), 2);
    assert!(tab.cookies(&[], soon()).unwrap().is_empty());
}

#[test]
fn an_invalid_cookie_is_reported_with_the_reason() {
    let Some(tab) = SettleTab::new("bad-cookies") else { return };
    let good = json!({ "name": "n", "value": "v", "url": "http://a.test/" });
    for (bad, part) in [
        (json!({ "name": "n", "value": "v" }), "`url` or `domain`"),
        (json!({ "name": "n", "value": "v", "url": "file:///x" }), "http or https"),
        (json!({ "name": "n", "value": "v", "url": "https://" }), "http or https"),
        (json!({ "name": "n", "value": "v", "domain": "http://a.test" }), "host name"),
        (json!({ "name": "n", "value": "v", "domain": "a.test:80" }), "host name"),
        (json!({ "name": "n;", "value": "v", "domain": "a.test" }), "its name"),
        (json!({ "name": "n", "value": "secret;value", "domain": "a.test" }), "its value"),
        (json!({ "name": "n", "value": "v\n", "domain": "a.test" }), "its value"),
        (json!({ "name": "", "value": "", "domain": "a.test" }), "both empty"),
        (json!({ "name": "n", "value": "v".repeat(5000), "domain": "a.test" }), "4,096"),
        (json!({ "name": "n", "value": "v", "domain": "a.test", "path": "x" }), "begin with `/`"),
        (json!({ "name": "n", "value": "v", "domain": "a.test", "expires": 1_700_000_000_000.0 }), "milliseconds"),
        (json!({ "name": "n", "value": "v", "domain": "a.test", "expires": -5 }), "Unix seconds"),
        (json!({ "name": "n", "value": "v", "domain": "a.test", "sameSite": "none" }), "needs `secure"),
        (json!({ "name": "__Secure-n", "value": "v", "domain": "a.test" }), "needs `secure"),
        (json!({ "name": "__Host-n", "value": "v", "domain": "a.test", "secure": true }), "`url` instead"),
    ] {
        let error = tab.set_cookies(&cookies(json!([good, bad])), soon()).unwrap_err();
        let text = error.to_string();
        assert!(matches!(&error, Error::BadCookie { index: 1, .. }) && error.code() == "BAD_REQUEST", "{bad}: {text}");
        assert!(text.contains(part) && !text.contains("secret"), "{bad}: {text}");
    }
    for unknown in [json!({ "name": "n" }), json!({ "name": "n", "value": "v", "sameSite": "Loose" })] {
        assert!(serde_json::from_value::<NewCookie>(unknown).is_err());
    }
    assert!(matches!(tab.cookies(&["about:blank"], soon()), Err(Error::BadRequest { .. })));
}
