//! Viewport size and user agent of a headless browser.

use cdpilot_server::control::{Navigate, Profile};

use crate::support::chrome::soon;
use crate::support::site::{Answer, Site};
use crate::support::test_home::{TestHome, eval_value};

const AGENTS: &str = "(async () => {
    const ask = worker => new Promise(done => { (worker.port ?? worker).onmessage = event => done(event.data) });
    const brands = navigator.userAgentData.brands.map(({ brand, version }) => `${brand}/${version}`);
    return [navigator.userAgent, await ask(new Worker('/worker.js')), await ask(new SharedWorker('/shared.js')), ...brands];
})()";

/// What the page, its workers and its brands say, and what servers receive with its first request and its workers'.
fn agents(profile: &Profile, site: &Site) -> (Vec<String>, Vec<String>) {
    site.page("/", "agents");
    site.put("/worker.js", Answer::script("postMessage(navigator.userAgent)"));
    site.put("/shared.js", Answer::script("onconnect = event => event.ports[0].postMessage(navigator.userAgent)"));
    profile.navigate(Navigate::new(site.url("a", "/")), soon()).unwrap();
    let said = eval_value(profile, None, AGENTS);
    let said = said.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
    let paths = ["a.localhost/", "a.localhost/worker.js", "a.localhost/shared.js"];
    let heads = paths.iter().flat_map(|path| site.heads(path)).collect();
    (said, heads)
}

#[test]
fn viewport_size_follows_the_settings_and_the_user_agent_is_not_headless() {
    let Some(home) = TestHome::launching("") else { return };
    let profile = home.main();
    let (said, heads) = agents(&profile, &home.site);
    let product = profile.status().browser.unwrap();
    let major = product.split_once('/').unwrap().1.split('.').next().unwrap();
    for text in &said[..3] {
        assert!(text.contains(&format!("Chrome/{major}.0.0.0")) && !text.contains("Headless"), "{said:?}");
    }
    assert!(said[3..].iter().any(|brand| brand.ends_with(&format!("/{major}"))), "{said:?}");
    assert!(!said.iter().any(|text| text.contains("Headless")), "{said:?}");
    assert_eq!(heads.len(), 3);
    for head in &heads {
        assert!(head.contains(&format!("User-Agent: {}", said[0])) && !head.contains("Headless"), "{head}");
    }
    let size = "`${innerWidth}x${innerHeight} ${screen.width >= innerWidth && screen.height >= innerHeight}`";
    assert_eq!(eval_value(&profile, None, size), "1280x800 true");
    let second = home.open("/");
    assert_eq!(eval_value(&profile, Some(&second.target_id), size), "1280x800 true");
    let tab = profile.tab(None).unwrap().tab;
    let picture = tab.screenshot(&Default::default(), soon()).unwrap();
    assert_eq!((picture.width, picture.height), (1280, 800));
}

#[test]
fn window_size_and_user_agent_come_from_the_settings() {
    let Some(home) = TestHome::launching("viewport: {width: 900, height: 700}, user_agent: 'Probe/1.0 (test)'") else {
        return;
    };
    let (said, heads) = agents(&home.main(), &home.site);
    assert_eq!(said[..3], ["Probe/1.0 (test)"; 3]);
    assert!(heads.iter().all(|head| head.contains("User-Agent: Probe/1.0 (test)\r\n")), "{heads:?}");
    assert_eq!(eval_value(&home.main(), None, "`${innerWidth}x${innerHeight}`"), "900x700");
    let home = home.again("user_agent: native", crate::support::test_home::overrides(crate::support::browser_path()));
    let (said, _) = agents(&home.main(), &home.site);
    assert!(said[..3].iter().all(|text| text.contains("HeadlessChrome/")), "{said:?}");
}
