//! Profiles of a home: where they come from, what they may be called, and what is refused before a browser starts.

use std::path::Path;

use cdpilot_server::config::{Config, Confirm, Guard, Home};
use cdpilot_server::control::{Control, NewProfile, NewTab, Overrides};

use crate::support::chrome::soon;
use crate::support::test_home::TestHome;

fn named(name: &str) -> NewProfile {
    NewProfile::new(name)
}

fn bare(browser: &str) -> TestHome {
    TestHome::without_browser(browser, Overrides::default())
}

#[test]
fn profiles_come_from_settings_and_requests_and_persist() {
    let settings = "cdp_port: 28792, profiles: {work: {cdp_port: 28801, color: '#00AA00'}, far: {cdp_url: 'ws://10.0.0.1:1/devtools/browser/secret'}}";
    let home = bare(settings);
    let made = home.create_profile(named("made-1").color("#0000FF").cdp_port(0)).unwrap();
    assert_eq!((made.color.as_str(), made.running, made.is_remote), ("#0000FF", false, false));
    assert!(Path::new(&made.user_data_dir).ends_with("profiles/made-1"), "{}", made.user_data_dir);
    let shown = |home: &TestHome| -> Vec<_> {
        home.profiles().into_iter().map(|p| (p.name, p.cdp_port, p.is_default, p.is_remote)).collect()
    };
    let expected = [
        ("cdpilot".to_owned(), None, true, false),
        ("far".to_owned(), None, false, true),
        ("made-1".to_owned(), None, false, false),
        ("work".to_owned(), Some(28801), false, false),
    ];
    assert_eq!(shown(&home), expected);
    assert!(!format!("{:?}{:?}", home.profiles(), home.control).contains("secret"));

    let home = home.again(settings, Overrides::new().profile("work"));
    assert_eq!(home.main().name(), "work");
    assert_eq!(home.main().status().color, "#00AA00");
    assert!(home.profile(Some("made-1")).is_ok());
    for (name, why) in [("work", "default"), ("cdpilot", "default"), ("far", "config.yaml")] {
        let refused = home.delete_profile(name, soon()).unwrap_err();
        assert!(refused.code() == "CONFLICT" && refused.to_string().contains(why), "{refused}");
    }
    std::fs::create_dir_all(home.path().join("profiles/made-1/Default")).unwrap();
    home.reset_profile("made-1", soon()).unwrap();
    assert!(!home.path().join("profiles/made-1").exists());
    assert_eq!(home.reset_profile("far", soon()).unwrap_err().code(), "CONFLICT");
    home.delete_profile("made-1", soon()).unwrap();
    let home = home.again(settings, Overrides::default());
    let gone = home.profile(Some("made-1")).unwrap_err();
    assert!(gone.code() == "PROFILE_NOT_FOUND" && gone.to_string().contains("cdpilot, far, work"), "{gone}");
    let near = home.profile(Some("wrok")).unwrap_err().to_string();
    assert!(near.contains("did you mean work?"), "{near}");
}

#[test]
fn invalid_profiles_are_refused() {
    let home = bare("profiles: {work: {}}");
    for name in ["", "Work", "a b", "../x", "ä", &"x".repeat(41)] {
        assert_eq!(home.create_profile(named(name)).unwrap_err().code(), "BAD_REQUEST", "{name}");
    }
    assert_eq!(home.create_profile(named("work")).unwrap_err().code(), "CONFLICT");
    let wrong = [named("a").color("red"), named("a").cdp_port(9222), named("a").cdp_url("ftp://user:geheim@x")];
    for new in wrong {
        let error = home.create_profile(new).unwrap_err();
        assert!(error.code() == "BAD_REQUEST" && !error.to_string().contains("geheim"), "{error}");
    }
    assert!(!home.path().join("profiles.json").exists());

    let open = |text: &str, overrides: Overrides| {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::parse(text, Path::new("config.yaml")).unwrap();
        Control::open(Home::at(folder.path()), config, overrides).unwrap_err()
    };
    let wrong = open("browser: {profiles: {Work: {}}}", Overrides::default());
    assert!(wrong.to_string().contains("Work"), "{wrong}");
    let wrong = open("browser: {default_profile: ''}", Overrides::default());
    assert!(wrong.to_string().contains("default_profile"), "{wrong}");
    let missing = open("", Overrides::new().profile("nobody"));
    assert_eq!(missing.code(), "PROFILE_NOT_FOUND");
    let rule = open("browser: {navigation: {allow: ['http://']}}", Overrides::default());
    assert!(rule.to_string().contains("browser.navigation"), "{rule}");
}

#[test]
fn an_unreadable_profile_file_is_not_overwritten() {
    let home = bare("");
    home.create_profile(named("first")).unwrap();
    let file = home.path().join("profiles.json");
    let half = std::fs::read_to_string(&file).unwrap().trim_end().trim_end_matches('}').to_owned();
    std::fs::write(&file, &half).unwrap();
    let data = home.path().join("profiles/first/Default");
    std::fs::create_dir_all(&data).unwrap();
    for refused in
        [home.create_profile(named("second")).unwrap_err(), home.delete_profile("first", soon()).unwrap_err()]
    {
        assert!(refused.to_string().contains("profiles.json"), "{refused}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), half);
    assert_eq!(home.profile(Some("second")).unwrap_err().code(), "PROFILE_NOT_FOUND");
    assert!(home.profile(Some("first")).is_ok() && data.exists());
}

#[test]
fn a_disabled_browser_is_not_started() {
    let home = bare("enabled: false");
    let profile = home.main();
    assert_eq!(profile.start(None, soon()).unwrap_err().code(), "BROWSER_DISABLED");
    let new = NewTab::new("http://127.0.0.1/");
    let disabled = profile.open_tab(new, soon()).unwrap_err();
    assert!(disabled.to_string().starts_with("Browser disabled in settings"), "{disabled}");
    let status = profile.status();
    assert!(!status.enabled && !status.running && status.pid.is_none() && profile.tabs().is_empty());
    assert_eq!(profile.tab(None).unwrap_err().code(), "BROWSER_DISABLED");
    assert_eq!(profile.dialogs(None).unwrap(), (vec![], vec![]));
    profile.stop(soon()).unwrap();

    // Nobody listens on port 1.
    let home = bare("attach_only: true, cdp_port: 1");
    let status = home.main().status();
    assert!(status.attach_only && status.transport == "remote" && status.user_data_dir.is_none());
    let nobody = home.main().start(None, soon()).unwrap_err();
    assert!(nobody.to_string().contains("no browser reachable"), "{nobody}");
    assert!(!home.path().join("profiles/cdpilot").exists());
    assert_eq!(bare("attach_only: true").main().start(None, soon()).unwrap_err().code(), "CONFLICT");

    let home = bare("control_url: 'http://10.1.2.3:18791'");
    let elsewhere = home.main().start(None, soon()).unwrap_err();
    assert!(elsewhere.to_string().contains("another machine"), "{elsewhere}");
}

#[test]
fn the_default_profile_of_the_user_is_never_used() {
    let own = cdpilot::browser::default_profiles().into_iter().next().expect("there are such folders");
    for folder in [own.clone(), own.join("Default"), own.join("../").join(own.file_name().unwrap())] {
        let home = bare(&format!("profiles: {{mine: {{user_data_dir: '{}'}}}}", folder.display()));
        let refused = home.profile(Some("mine")).unwrap().start(None, soon()).unwrap_err();
        assert!(refused.code() == "CONFLICT" && refused.to_string().contains("you use yourself"), "{refused}");
        assert!(home.reset_profile("mine", soon()).is_err());
    }
}

#[cfg(unix)]
#[test]
fn repeated_failed_starts_are_paused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (program, starts) = (folder.path().join("chrome"), folder.path().join("starts"));
    std::fs::write(&program, format!("#!/bin/sh\necho >> '{}'\necho out of luck >&2\nexit 7\n", starts.display()))
        .unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let overrides = Overrides::new().executable(program).headless(true);
    let home = TestHome::without_browser("user_agent: native", overrides); // which needs no version
    let profile = home.main();
    let count = || std::fs::read_to_string(&starts).unwrap().len();
    let start = || profile.start(None, soon()).unwrap_err();
    for n in 1..=3 {
        let failed = start();
        assert!(failed.code() == "BROWSER_ERROR" && failed.to_string().contains("out of luck"), "{failed}");
        assert_eq!(count(), n);
    }
    let resting = start();
    assert!(resting.code() == "BROWSER_ERROR" && resting.to_string().contains("failed to start 3 times"), "{resting}");
    assert!(resting.to_string().contains("out of luck"), "{resting}");
    let new = NewTab::new("http://127.0.0.1/");
    assert!(profile.open_tab(new, soon()).is_err());
    assert_eq!(count(), 3, "nothing was started while it rests");
    assert!(!profile.status().running);
    profile.stop(crate::support::soon()).unwrap();
    assert!(start().to_string().contains("out of luck"));
    assert_eq!(count(), 4);
}

#[test]
fn settings_of_the_agent_are_validated() {
    let parse = |agent: &str| Config::parse(&format!("agent: {{{agent}}}"), Path::new("config.yaml"));
    let agent = parse("model: fast, max_steps: 5, image_window: 2, confirm: never, guard: all").unwrap().agent;
    let confirm = agent.confirm;
    assert_eq!((agent.model.as_str(), agent.max_steps, agent.image_window, confirm), ("fast", 5, 2, Confirm::Never));
    let words =
        [("false", Confirm::Never), ("true", Confirm::Always), ("always", Confirm::Always), ("auto", Confirm::Auto)];
    for (word, confirm) in words {
        assert_eq!(parse(&format!("confirm: {word}")).unwrap().agent.confirm, confirm, "{word}");
    }
    assert_eq!(parse("").unwrap().agent.confirm, Confirm::Auto);
    assert!(parse("confirm: sometimes").unwrap_err().to_string().contains("always"));
    assert_eq!(agent.guard, Guard::All);
    assert_eq!(parse("").unwrap().agent.guard, Guard::Irreversible);
    for (wrong, named) in [("guard: some", "irreversible"), ("gaurd: all", "guard")] {
        let error = parse(wrong).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}
