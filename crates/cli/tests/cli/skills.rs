//! `cdpilot skill`, and the skill that is part of the program: each of its commands works.

use std::fs;

use crate::cli_browser_real::AtHome;
use crate::support::site::Site;

#[test]
fn skills_are_listed_exported_imported_and_removed() {
    let at = AtHome::new("");
    let run = |args: &[&str]| at.program.run(&[&["skill"], args].concat());
    let listed = run(&["list"]);
    assert!(
        listed.code == Some(0) && listed.stdout.contains("cdpilot-browser") && listed.stdout.contains("[cdpilot]"),
        "{listed:?}"
    );
    let folder = at.program.temp.path().join("elsewhere");
    let path = folder.display().to_string();
    assert_eq!(run(&["export", &path]).code, Some(0));
    let file = folder.join("cdpilot-browser/SKILL.md");
    assert!(fs::read_to_string(&file).unwrap().starts_with("---\nname: \"cdpilot-browser\"\n"));
    let again = run(&["export", &path]);
    assert!(again.code == Some(1) && again.stderr.contains("is there already"), "{again:?}");
    // One with a further file, from another program.
    fs::create_dir_all(folder.join("weather/data")).unwrap();
    fs::write(folder.join("weather/SKILL.md"), "---\nname: weather\ndescription: Read the forecast\n---\nLook.\n")
        .unwrap();
    fs::write(folder.join("weather/data/cities.txt"), "Dover\n").unwrap();
    let added = run(&["import", &folder.join("weather").display().to_string()]);
    assert!(added.code == Some(0) && added.stdout.contains("added weather"), "{added:?}");
    let shown = at.program.run(&["--json", "skill", "show", "weather"]).json();
    assert_eq!(
        (&shown["skill"]["origin"], &shown["files"][0]),
        (&"elsewhere".into(), &"data/cities.txt".into()),
        "{shown}"
    );
    fs::create_dir_all(at.home.root().join("skills/faulty")).unwrap();
    fs::write(at.home.root().join("skills/faulty/SKILL.md"), "Look.").unwrap();
    let listed = run(&["list"]);
    assert!(listed.stderr.contains("faulty: ") && listed.stderr.contains("line ---"), "{listed:?}");
    assert_eq!(run(&["remove", "weather"]).code, Some(0));
    let missing = run(&["show", "weather"]);
    assert!(missing.code == Some(1) && missing.stderr.contains("no skill \"weather\""), "{missing:?}");
}

/// The words of a command, with single quotes around those that have blanks.
fn words_of(line: &str) -> Vec<String> {
    let (mut words, mut is_quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// The commands of the skill, in the order in which it shows them.
fn commands() -> Vec<String> {
    let text = include_str!("../../../../skills/cdpilot-browser/SKILL.md");
    let blocks = text.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.flat_map(str::lines).map(ToOwned::to_owned).collect()
}

#[test]
fn each_command_of_the_own_skill_works() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page(
        "/",
        "<title>Shop</title><p>Welcome<p>More<p>Text<button>Search</button><label>Name <input></label><script>history.replaceState(0, '', '/welcome/1')</script>",
    );
    site.page("/help", "<title>Help</title><p>Help");
    let shop = site.url("a", "");
    let all = commands();
    assert!(all.len() >= 15, "{all:?}");
    for command in all {
        if command.starts_with("cdpilot dialog ") {
            let opened = at.program.run(&["evaluate", "alert('Hi')"]);
            assert!(opened.stderr.contains("Hi"), "{opened:?}");
        }
        let line = command.replace("https://shop.example", shop.trim_end_matches('/'));
        let line = line.strip_prefix("cdpilot ").unwrap_or_else(|| panic!("{command}"));
        let mut words = words_of(line);
        if words[0] == "click" && words[1] == "e3" {
            let snapshot = at.does("snapshot");
            let line = snapshot.lines().find(|line| line.contains("\"Search\"")).unwrap();
            words[1] = line.split("[ref=").nth(1).unwrap().split(']').next().unwrap().to_owned();
        }
        if let Some(out) = words.iter_mut().find(|word| word.ends_with(".png")) {
            *out = at.program.temp.path().join(&*out).display().to_string();
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = at.program.run(&words);
        assert_eq!(ran.code, Some(0), "{command}: {ran:?}");
    }
}
