//! The navigation policy applied to requests of pages: a blocked site reports what reached it.

use cdpilot::supervisor::EventKind;
use cdpilot_server::control::Navigate;

use crate::support::chrome::soon;
use crate::support::lease::Lease;
use crate::support::port_attempts::{KINDS, arrived, attempt};
use crate::support::share::share;
use crate::support::site::Site;
use crate::support::test_home::{TestHome, eval_value, event};

#[test]
fn requests_to_a_blocked_host_are_not_sent() {
    let Some(home) = TestHome::new("navigation: {block: [b.localhost]}") else { return };
    let (profile, witness) = (home.main(), Site::start());
    attempt(&profile, &home.site, &format!("b.localhost:{}", witness.port()));
    assert_eq!(arrived(&witness), [""; 0]);
    attempt(&profile, &home.site, &format!("c.localhost:{}", witness.port()));
    assert_eq!(arrived(&witness), KINDS);
}

#[test]
fn requests_outside_the_allow_list_are_not_sent() {
    let Some(home) = TestHome::launching("navigation: {allow: [a.localhost], private_addresses: false}") else {
        return;
    };
    let (profile, witness) = (home.main(), Site::start());
    for host in share(["127.0.0.1", "b.localhost", "[::ffff:127.0.0.1]"], 1) {
        attempt(&profile, &home.site, &format!("{host}:{}", witness.port()));
        assert_eq!(arrived(&witness), [""; 0], "{host}");
    }
}

#[test]
fn an_entry_with_a_port_applies_to_that_port_only() {
    let (Some(browser), site) = (crate::support::browser_path(), Site::start()) else { return };
    let witness = Site::start();
    let allow = format!("navigation: {{allow: ['a.localhost:{}', '127.0.0.1:{}']}}", site.port(), site.port());
    let overrides = crate::support::test_home::overrides(Some(browser));
    let home = TestHome::without_browser(&allow, overrides);
    attempt(&home.main(), &site, &format!("127.0.0.1:{}", witness.port()));
    assert_eq!(arrived(&witness), [""; 0]);
    // A WebSocket to the port that is allowed.
    let socket = format!(
        "new Promise(done => {{ const socket = new WebSocket('ws://127.0.0.1:{}/ws'); socket.onopen = socket.onerror = () => done(1) }})",
        site.port()
    );
    eval_value(&home.main(), None, &socket);
    site.wait_requested("127.0.0.1/ws", 1);
}

#[test]
fn requests_can_be_exempted_by_the_settings() {
    let Some(home) = TestHome::new("navigation: {block: [b.localhost], subresources: allow}") else { return };
    let (profile, witness) = (home.main(), Site::start());
    attempt(&profile, &home.site, &format!("b.localhost:{}", witness.port()));
    let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| !kind.starts_with("frame")).collect();
    assert_eq!(arrived(&witness), kinds);
}

#[test]
fn the_policy_applies_to_attached_browsers() {
    let Some(lease) = Lease::take_empty() else { return };
    let settings = format!("cdp_url: '{}', navigation: {{block: [b.localhost]}}", lease.url());
    let home = TestHome::without_browser(&settings, Default::default());
    home.main().start(None, soon()).unwrap();
    let witness = Site::start();
    attempt(&home.main(), &home.site, &format!("b.localhost:{}", witness.port()));
    assert_eq!(arrived(&witness), [""; 0]);
}

/// Network prediction fetched a blocked document, whose script then ran before the document was removed.
#[test]
fn a_blocked_document_is_not_prefetched() {
    let witness = Site::start();
    let Some(home) = TestHome::launching(&format!("navigation: {{block: ['127.0.0.1:{}']}}", witness.port())) else {
        return;
    };
    witness.page("/next", "<script>fetch('/ran')</script>");
    let next = format!("http://127.0.0.1:{}/next", witness.port());
    home.site.page(
        "/",
        &format!(
            "<link rel=dns-prefetch href='{next}'><link rel=preconnect href='{next}'><link rel=prefetch href='{next}'>
            <script type=speculationrules>{{ \"prefetch\": [{{ \"source\": \"list\", \"urls\": [\"{next}\"], \"eagerness\": \"immediate\" }}],
            \"prerender\": [{{ \"source\": \"list\", \"urls\": [\"/own\"], \"eagerness\": \"immediate\" }}] }}</script>
            <link rel=prefetch href='/over'><a href='{next}' ping='{next}?ping'>next</a>"
        ),
    );
    let profile = home.main();
    // Not b.localhost: what is prefetched has to be of the same site.
    profile.navigate(Navigate::new(home.site.url("1", "/")), soon()).unwrap();
    home.site.wait_requested("127.0.0.1/over", 1);
    let (before, tab) = (profile.events().last(), profile.tab(None).unwrap().info.target_id);
    eval_value(&profile, None, "document.querySelector('a').click(); 1");
    event(&profile, before, EventKind::NavigationBlocked, &tab);
    assert_eq!(eval_value(&profile, None, "location.pathname"), "/");
    assert_eq!(arrived(&witness), [""; 0]);
    assert_eq!(home.site.requested_from("127.0.0.1").iter().filter(|requested| requested.ends_with("/own")).count(), 0);
}
