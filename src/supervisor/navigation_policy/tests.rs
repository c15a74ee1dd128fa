//! Tables of URLs: allowed, refused, and the reasons.

use super::*;

const NONE: [&str; 0] = [];

fn policy(allow: &[&str], block: &[&str], private_addresses: bool) -> NavigationPolicy {
    NavigationPolicy::new(allow, block, private_addresses, false).unwrap()
}

fn reason(policy: &NavigationPolicy, url: &str) -> String {
    match policy.check(url) {
        Err(refused) => refused.reason,
        Ok(verdict) => panic!("{url:?} passes: {verdict:?}"),
    }
}

fn passes(policy: &NavigationPolicy, url: &str) {
    if let Err(refused) = policy.check(url) {
        panic!("{url:?}: {refused}");
    }
}

fn looked_up(policy: &NavigationPolicy, url: &str) -> String {
    match policy.check(url) {
        Ok(Verdict::Look(place)) => place.host().to_owned(),
        other => panic!("{url:?}: {other:?}"),
    }
}

#[test]
fn schemes() {
    let default = NavigationPolicy::default();
    for url in [
        "about:blank",
        "about:blank#part",
        "about:blank?x",
        "data:text/html,<p>hello",
        "DATA:,x",
        "http://example.com/a?b#c",
        "HTTPS://example.com",
        "blob:https://example.com/6f2c",
        "blob:null/6f2c",
        "http://localhost:8080/",
        "http://127.0.0.1/",
        "http://[::1]/",
    ] {
        passes(&default, url);
    }
    for url in [
        "javascript:alert(1)",
        "  JavaScript:alert(1)",
        "java\nscript:alert(1)",
        "\u{1}javascript:alert(1)",
        "chrome://settings",
        "chrome:settings",
        "about:settings",
        "about:srcdoc",
        "about:",
        "devtools://devtools/bundled/inspector.html",
        "view-source:http://example.com/",
        "ftp://example.com/",
        "filesystem:http://example.com/temporary/x",
        "chrome-extension://abcdefghijklmnop/page.html",
        "ws://example.com/",
        "mailto:a@example.com",
        "intent://example.com/",
        "file2:///etc/passwd",
        "blob:chrome://settings/6f2c",
        "blob:data:text/html,x",
        "blob:",
    ] {
        let reason = reason(&default, url);
        assert!(reason.contains("not allowed") || reason.contains("blob:"), "{url:?}: {reason}");
    }
    for url in [
        "",
        "example.com",
        "/path",
        "//example.com/",
        "http://",
        "http:///",
        "http://a b/",
        "http://[::1/",
        "1http://x",
    ] {
        let reason = reason(&default, url);
        assert!(reason.contains("not a valid address") || reason.contains("no host"), "{url:?}: {reason}");
    }
}

#[test]
fn files_are_opened_when_that_is_switched_on() {
    let default = NavigationPolicy::default();
    let with_files = NavigationPolicy::new(&NONE, &NONE, true, true).unwrap();
    for url in ["file:///etc/passwd", "FILE:///etc/passwd", "file:/etc/passwd", "blob:file:///6f2c"] {
        assert!(reason(&default, url).contains("browser.navigation.file_urls"), "{url}");
        passes(&with_files, url);
    }
    // A file on another machine would be requested over the network.
    assert!(reason(&with_files, "file://server/share/x").contains("another machine"));
    assert!(reason(&with_files, "javascript:1").contains("not allowed"));
}

#[test]
fn names_and_passwords_are_refused() {
    for url in [
        "http://user@example.com/",
        "http://user:secret@example.com/",
        "http://:secret@example.com/",
        "https://example.com%2f@evil.test/",
        "http:\\\\user@example.com\\",
        "blob:https://user@example.com/6f2c",
    ] {
        let reason = reason(&NavigationPolicy::default(), url);
        assert!(reason.contains("user name or password"), "{url}: {reason}");
        assert!(!reason.contains("secret"), "{reason}");
    }
}

/// In any notation, and whatever the policy allows.
#[test]
fn metadata_is_never_opened() {
    let everything = [
        NavigationPolicy::default(),
        policy(&["*", "169.254.169.254", "metadata.google.internal", "[fd00:ec2::254]", "169.254.*"], &[], true),
    ];
    for url in [
        "http://169.254.169.254/latest/meta-data/",
        "https://169.254.169.254:8080/",
        "http://169.254.169.254./",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0XA9.0376.43518/",
        "http://0251.0376.0251.0376/",
        "http://0000251.254.169.254/",
        "http://169.254.43518/",
        "http://169.16689662/",
        "http://%31%36%39.254.169.254/",
        "http://169%2e254.169.254/",
        "http://169。254。169。254/",
        "http://①⑥⑨.254.169.254/",
        "http://１６９.254.169.254/",
        "http:169.254.169.254",
        "http:/169.254.169.254",
        "http:////169.254.169.254",
        "http:\\\\169.254.169.254\\latest",
        "ht\ntp://169.254.169.\t254/",
        "http://169.254.1.1/",
        "http://169.254.170.2/v2/credentials",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[0:0:0:0:0:ffff:169.254.169.254]/",
        "http://[::169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:a9fe:a9fe::]/",
        "http://[fd00:ec2::254]/",
        "http://[FD00:0EC2:0::254]/",
        "http://[fe80::1]/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://METADATA.Google.Internal./",
        "http://metadata。google。internal/",
        "http://metadata/",
        "http://instance-data/latest",
        "blob:http://169.254.169.254/6f2c",
    ] {
        for policy in &everything {
            let reason = reason(policy, url);
            assert!(reason.contains("always blocked"), "{url}: {reason}");
        }
    }
}

#[test]
fn private_addresses_are_opened_by_switch_or_by_name() {
    let public = policy(&[], &[], false);
    let private = [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://0/",
        "http://0.0.0.0:8080/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://017700000001/",
        "http://127.0.0.1./",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://a.localhost:3000/",
        "http://ｌocalhost/",
        "http://10.0.0.1/",
        "http://172.16.5.5/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[fc00::1]/",
        "http://[64:ff9b::10.0.0.1]/",
        "blob:http://127.0.0.1/6f2c",
    ];
    for url in private {
        let reason = reason(&public, url);
        assert!(reason.contains("browser.navigation.private_addresses"), "{url}: {reason}");
        passes(&NavigationPolicy::default(), url);
    }
    passes(&public, "http://8.8.8.8/");
    passes(&public, "data:,x");

    let named = policy(&["127.0.0.1", "intranet.test:8080", "[::1]", "a.localhost", "*.wide.test"], &[], false);
    for url in
        ["http://127.0.0.1:99/", "http://127.1/", "http://[::ffff:127.0.0.1]/", "http://[::1]/", "http://a.localhost/"]
    {
        passes(&named, url);
    }
    assert!(reason(&named, "http://10.0.0.1/").contains("browser.navigation.allow"));
    assert!(reason(&named, "http://b.localhost/").contains("browser.navigation.allow"));
    // A glob allows names, but not the private networks that they may lead to.
    let globbed = policy(&["*"], &[], false);
    assert!(reason(&globbed, "http://10.0.0.1/").contains("private_addresses"));
    assert!(reason(&globbed, "http://localhost/").contains("private_addresses"));
}

#[test]
fn names_are_judged_by_their_addresses() {
    let (default, public) = (NavigationPolicy::default(), policy(&[], &[], false));
    let named = policy(&["intranet.test"], &[], false);
    let place = |policy: &NavigationPolicy, url: &str| match policy.check(url) {
        Ok(Verdict::Look(place)) => place,
        other => panic!("{url}: {other:?}"),
    };
    assert_eq!(looked_up(&default, "http://WWW.Example.COM./x"), "www.example.com");
    assert_eq!(looked_up(&default, "http://bücher.example/"), "xn--bcher-kva.example");
    assert_eq!(looked_up(&default, "http://169.254.169.254.example/"), "169.254.169.254.example");
    let ips = |all: &[&str]| all.iter().map(|ip| ip.parse().unwrap()).collect::<Vec<IpAddr>>();
    let (metadata, private, open) = (ips(&["8.8.8.8", "169.254.169.254"]), ips(&["10.0.0.1"]), ips(&["8.8.8.8"]));
    for policy in [&default, &public, &named] {
        let at = place(policy, "http://intranet.test/");
        let reason = policy.check_addresses(&at, &metadata).unwrap_err().reason;
        assert!(reason.contains("intranet.test resolves to 169.254.169.254"), "{reason}");
        assert!(policy.check_addresses(&at, &open).is_ok());
        assert!(policy.check_addresses(&at, &[]).is_ok());
        assert_eq!(policy.check_addresses(&at, &private).is_err(), std::ptr::eq(policy, &public));
    }
    let blocked = policy(&[], &["10.*", "8.8.8.8"], true);
    let at = place(&blocked, "http://intranet.test/");
    assert!(blocked.check_addresses(&at, &private).unwrap_err().reason.contains("`10.*`"));
    assert!(blocked.check_addresses(&at, &open).unwrap_err().reason.contains("`8.8.8.8`"));
    assert!(blocked.check_addresses(&at, &ips(&["::ffff:8.8.8.8"])).is_err());
    assert!(blocked.check_addresses(&at, &ips(&["9.9.9.9"])).is_ok());
}

#[test]
fn block_wins_and_allow_admits_nothing_else() {
    let policy = policy(
        &["*.example.com", "https://shop.test", "dev.test:8080"],
        &["bad.example.com", "*.evil.test", "[::1]"],
        true,
    );
    for url in [
        "http://www.example.com/",
        "https://a.b.example.com:99/",
        "https://shop.test/",
        "http://dev.test:8080/",
        "about:blank",
        "data:,x",
        "blob:https://shop.test/6f2c",
    ] {
        passes(&policy, url);
    }
    for url in [
        "http://example.com/",
        "http://shop.test/",
        "http://dev.test/",
        "http://other.test/",
        "http://8.8.8.8/",
        "http://localhost/",
    ] {
        let reason = reason(&policy, url);
        assert!(reason.contains("browser.navigation.allow"), "{url}: {reason}");
    }
    for url in [
        "http://bad.example.com/",
        "http://BAD.example.com./",
        "http://x.evil.test/",
        "http://[0:0::1]/",
        "blob:http://x.evil.test/1",
    ] {
        let reason = reason(&policy, url);
        assert!(reason.contains("browser.navigation.block"), "{url}: {reason}");
    }
}

#[test]
fn frames_may_show_what_browsers_show_by_themselves() {
    let policy = policy(&[], &["bad.test"], true);
    for (url, main) in [
        ("chrome-error://chromewebdata/", true),
        ("chrome-error://chromewebdata/", false),
        ("about:blank", true),
        ("about:srcdoc", false),
        ("", true),
        (":", true),
        ("chrome://newtab/", true),
        ("chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/index.html", false),
        ("http://good.test/", true),
    ] {
        assert!(policy.check_frame(url, main).is_ok(), "{url} {main}");
    }
    for (url, main) in [
        ("chrome://settings/", true),
        ("chrome://newtab.evil/", true),
        ("view-source:http://good.test/", true),
        ("file:///etc/passwd", true),
        ("file:///etc/passwd", false),
        ("http://bad.test/", true),
        ("http://bad.test/", false),
        ("blob:http://bad.test/1", false),
    ] {
        assert!(policy.check_frame(url, main).is_err(), "{url} {main}");
    }
}

#[test]
fn what_answered_is_judged_too() {
    let public = policy(&["named.test"], &["9.9.9.9"], false);
    for (url, address) in [
        ("http://rebound.test/", "169.254.169.254"),
        ("http://named.test/", "169.254.169.254"),
        ("http://rebound.test/", "[::1]"),
        ("http://rebound.test/", "10.0.0.1"),
        ("http://rebound.test/", "9.9.9.9"),
    ] {
        assert!(public.check_reached(url, address).is_err(), "{url} {address}");
    }
    for (url, address) in [
        ("http://named.test/", "10.0.0.1"),
        ("http://rebound.test/", "8.8.8.8"),
        ("http://rebound.test/", ""),
        ("data:,x", ""),
    ] {
        assert!(public.check_reached(url, address).is_ok(), "{url} {address}");
    }
}

#[test]
fn addresses_are_shown_without_secrets() {
    for (url, text) in [
        ("http://user:secret@Example.com:8080/a/b?token=1#part", "http://example.com:8080/a/b"),
        ("https://example.com:443/", "https://example.com/"),
        ("javascript:steal('secret')", "javascript:…"),
        ("data:text/html,secret", "data:…"),
        ("file:///home/a", "file:///home/a"),
        ("about:settings", "about:settings"),
        ("chrome://settings/passwords", "chrome://settings/passwords"),
        ("view-source:http://user:secret@a.test/", "view-source:…"),
        ("http://user:secret@[bad", "an invalid address"),
    ] {
        assert_eq!(shown(url), text);
    }
    let long = shown(&format!("http://a.test/{}", "%C3%A9".repeat(1000)));
    assert!(long.len() < 2100 && long.ends_with('…'));
    assert_eq!(shown("blob:https://user:secret@a.test/1?x"), "blob:…");
}
