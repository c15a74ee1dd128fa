//! How big the pages of a headless browser are, and what it calls itself.

use cdpilot::control::{Navigate, Profile};

use crate::support::chrome::soon;
use crate::support::controlled::{Homely, worth};
use crate::support::site::{Answer, Site};

const AGENTS: &str = "(async () => {
    const ask = worker => new Promise(done => { (worker.port ?? worker).onmessage = event => done(event.data) });
    const brands = navigator.userAgentData.brands.map(({ brand, version }) => `${brand}/${version}`);
    return [navigator.userAgent, await ask(new Worker('/worker.js')), await ask(new SharedWorker('/shared.js')), ...brands];
})()";

/// What the page, its workers and its brands say, and what servers are told by its first request and its workers'.
fn agents(profile: &Profile, site: &Site) -> (Vec<String>, Vec<String>) {
    site.page("/", "agents");
    site.put("/worker.js", Answer::script("postMessage(navigator.userAgent)"));
    site.put("/shared.js", Answer::script("onconnect = event => event.ports[0].postMessage(navigator.userAgent)"));
    profile.navigate(Navigate::new(site.url("a", "/")), soon()).unwrap();
    let said = worth(profile, None, AGENTS);
    let said = said.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
    let paths = ["a.localhost/", "a.localhost/worker.js", "a.localhost/shared.js"];
    let heads = paths.iter().flat_map(|path| site.heads(path)).collect();
    (said, heads)
}

#[test]
fn a_page_is_as_big_as_its_settings_say_and_its_browser_is_not_called_headless() {
    let Some(home) = Homely::new("") else { return };
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
    assert_eq!(worth(&profile, None, size), "1280x800 true");
    let second = home.open("/");
    assert_eq!(worth(&profile, Some(&second.target_id), size), "1280x800 true");
    let tab = profile.tab(None).unwrap().tab;
    let picture = tab.screenshot(&Default::default(), soon()).unwrap();
    assert_eq!((picture.width, picture.height), (1280, 800));
}

#[test]
fn size_and_name_are_those_of_the_settings() {
    let Some(home) = Homely::new("viewport: {width: 900, height: 700}, user_agent: 'Probe/1.0 (test)'") else { return };
    let (said, heads) = agents(&home.main(), &home.site);
    assert_eq!(said[..3], ["Probe/1.0 (test)"; 3]);
    assert!(heads.iter().all(|head| head.contains("User-Agent: Probe/1.0 (test)\r\n")), "{heads:?}");
    assert_eq!(worth(&home.main(), None, "`${innerWidth}x${innerHeight}`"), "900x700");
    let home = home.again("user_agent: native", crate::support::controlled::overrides(crate::support::browser_path()));
    let (said, _) = agents(&home.main(), &home.site);
    assert!(said[..3].iter().all(|text| text.contains("HeadlessChrome/")), "{said:?}");
}
