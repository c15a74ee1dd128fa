//! Refs under random edits of a page: a ref is of one element, or of none.
//!
//! The page holds every element it ever made in a list and tells which one a ref leads to, so nothing depends
//! on what a snapshot says. `CDPILOT_SEED` repeats a run; the seed of each run is printed.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use cdpilot::page::{Diff, Error, SnapshotOptions};
use serde_json::json;

use crate::support::share;
use crate::support::test_tab::{TestTab, text};

/// Edits between two snapshots, and rounds of that.
const EDITS: usize = 5;

const PAGE: &str = "<!doctype html><title>Edits</title><main id=root></main><aside><div id=host></div></aside><script>
    const all = [], roles = ['button', 'link', 'checkbox', 'heading', 'listitem'];
    const keys = new WeakMap();
    const names = ['Save', 'Delete', 'Open', 'Send', 'Draft 1', 'Draft 2'];
    let seed = 1;
    const random = n => { seed = (seed * 48271) % 2147483647; return seed % n; };
    const pick = list => list[random(list.length)];
    const shadow = host.attachShadow({ mode: 'open' });
    const places = () => [root, shadow, ...live().filter(e => e.localName === 'section')];
    const live = () => all.filter(e => e.isConnected);
    const register = e => { keys.set(e, all.length); all.push(e); return e };
    const make = () => {
        const kind = random(5);
        const e = document.createElement(['button', 'a', 'section', 'input', 'p'][kind]);
        if (kind === 1) e.href = '#' + random(3);
        if (kind === 2) e.setAttribute('aria-label', pick(names));
        else if (kind === 3) e.placeholder = pick(names);
        else e.textContent = pick(names);
        return register(e);
    };
    const copy = e => {
        const twin = e.cloneNode(true);
        register(twin);
        for (const inner of twin.querySelectorAll('*')) register(inner);
        return twin;
    };
    const fits = (e, place) => !(e === place || e.contains(place));
    const edits = {
        insert: () => { const p = pick(places()); p.insertBefore(make(), p.childNodes[random(p.childNodes.length + 1)] || null) },
        remove: e => e.remove(),
        back: () => { const gone = all.filter(e => !e.isConnected); if (gone.length) root.append(pick(gone)) },
        move: e => { const p = pick(places()); if (fits(e, p)) p.prepend(e) },
        adopt: e => { if (fits(e, shadow)) shadow.append(e) },
        rename: e => e.localName === 'input' ? e.placeholder = pick(names) : e.setAttribute('aria-label', pick(names)),
        role: e => e.setAttribute('role', pick(roles)),
        recreate: e => e.replaceWith(copy(e)),
        html: () => {
            const p = pick(places());
            p.innerHTML = p.innerHTML;
            for (const e of p.querySelectorAll('*')) register(e);
        },
        text: e => { if (e.firstChild && e.firstChild.nodeType === 3) e.firstChild.data = pick(names) },
        content: e => { if (!e.firstElementChild && e.localName !== 'input') e.textContent = pick(names) },
        hide: e => { e.hidden = !e.hidden },
        swap: e => { if (e.nextSibling) e.parentNode.insertBefore(e.nextSibling, e) },
    };
    const edit = () => {
        const there = live();
        const name = there.length > 30 ? 'remove' : pick(Object.keys(edits));
        if (!there.length) edits.insert();
        else edits[name](pick(there));
        return name;
    };
    for (let n = 0; n < 12; n++) edits.insert();
</script>";

/// Begins the page's random numbers: with `CDPILOT_SEED` where it is set.
fn seed(page: &TestTab) {
    page.value(&format!("seed = {}, 1", share::seed() + 1));
}

/// The known data of a ref.
struct Known {
    key: u64,
    role: String,
    name: String,
}

#[test]
fn a_ref_resolves_to_its_own_element_or_fails() {
    let Some(page) = TestTab::showing("refs-random", PAGE) else { return };
    seed(&page);
    let mut known: BTreeMap<u64, Known> = BTreeMap::new();
    let mut numbers: HashMap<u64, u64> = HashMap::new();
    let (mut shown, mut done) = (None::<String>, String::new());
    let (mut led, mut stale, mut changed) = (0, 0, 0);
    for _ in 0..share::rounds("CDPILOT_TEST_ROUNDS", 6, 25) {
        let seen = page.snapshot();
        let highest = known.keys().last().copied().unwrap_or(0);
        for (reference, info) in &seen.refs {
            let number: u64 = reference[1..].parse().unwrap();
            let key = led_to(&page, reference).unwrap_or_else(|error| panic!("{reference} {error}\n{done}"));
            // Text around the elements is not in the list of the page.
            let Some(key) = key else { continue };
            let now = Known { key, role: info.role.clone(), name: info.name.clone() };
            match known.insert(number, now) {
                Some(old) => assert_eq!(old.key, key, "{reference} is another element\n{done}"),
                None => assert!(number > highest, "{reference} was given before, up to e{highest}\n{done}"),
            }
            let own = *numbers.entry(key).or_insert(number);
            assert_eq!(own, number, "element {key} has two refs\n{done}");
        }
        // The difference makes the one text of the other.
        let now = text(&seen).to_owned();
        if let Some(before) = shown.replace(now.clone()) {
            let diff = Diff::between(&before, &now);
            assert_eq!(diff.apply(&before).as_deref(), Some(&*now), "{done}\n{before}\n\n{now}");
            assert_eq!(diff.is_empty(), before == now);
        }
        for _ in 0..EDITS {
            let _ = writeln!(done, "{}", page.value("edit()"));
        }
        let target: Vec<u64> = serde_json::from_value(page.value("live().map(e => keys.get(e))")).unwrap();
        for (number, known) in &known {
            match led_to(&page, &format!("e{number}")) {
                Ok(key) => {
                    assert_eq!(key, Some(known.key), "e{number} leads elsewhere\n{done}");
                    assert!(target.contains(&known.key), "e{number} is not in the document\n{done}");
                    led += 1;
                }
                Err(Error::StaleRef { .. }) => {
                    assert!(!target.contains(&known.key), "e{number} is said to be gone\n{done}");
                    stale += 1;
                }
                Err(Error::RefChanged { was, now, .. }) => {
                    assert_eq!((&was.role, &was.name), (&known.role, &known.name), "e{number}\n{done}");
                    assert_ne!(was, now, "e{number}\n{done}");
                    changed += 1;
                }
                Err(other) => panic!("e{number}: {other:?}\n{done}"),
            }
        }
    }
    println!("{led} led to their element, {stale} stale, {changed} changed, of {} refs", known.len());
    assert!(led > 10 && (stale > 10 || !share::is_whole()), "{led} {stale} {changed}\n{done}");
}

/// The number that the page has for the element of a ref.
fn led_to(page: &TestTab, reference: &str) -> Result<Option<u64>, Error> {
    let act = json!({ "kind": "evaluate", "fn": "e => keys.get(e) ?? null", "ref": reference, "settle": "none" });
    Ok(page.act(act)?.result.and_then(|value| value.as_u64()))
}

#[test]
fn deltas_of_random_edits_reproduce_the_new_snapshot() {
    let Some(page) = TestTab::showing("refs-diffs", PAGE) else { return };
    seed(&page);
    let mut before = text(&page.snapshot()).to_owned();
    for _ in 0..share::rounds("CDPILOT_TEST_ROUNDS", 6, 25) {
        page.value("edit()");
        let diff = page.snapshot_with(SnapshotOptions::new().diff(true));
        let now = text(&page.snapshot()).to_owned();
        assert_eq!(text(&diff), Diff::between(&before, &now).to_string(), "{before}\n\n{now}");
        assert_eq!(sorted(&followed(&before, text(&diff))), sorted(&now), "{}", text(&diff));
        before = now;
    }
}

/// The lines of a text after applying a delta.
fn followed(before: &str, diff: &str) -> String {
    let mut lines: Vec<&str> = before.lines().collect();
    for line in diff.lines() {
        match line.split_at(2) {
            ("- ", gone) => {
                let at = lines.iter().position(|line| *line == gone).unwrap_or_else(|| panic!("{gone:?} in {before}"));
                lines.remove(at);
            }
            ("+ ", new) => lines.push(new),
            _ => panic!("{line}"),
        }
    }
    lines.join("\n")
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn ref_numbers_continue_over_documents_and_old_refs_are_stale() {
    let Some(page) = TestTab::showing("refs-documents", "<button>One</button><iframe src='@b/in'></iframe>") else {
        return;
    };
    page.site.page("/in", "<button>Inner</button>");
    let mut given: Vec<u64> = Vec::new();
    for _ in 0..3 {
        page.go("/");
        page.frame("/in");
        let refs: Vec<u64> = page.snapshot().refs.keys().map(|reference| reference[1..].parse().unwrap()).collect();
        assert!(refs.len() >= 3 && refs.iter().all(|number| !given.contains(number)), "{given:?} {refs:?}");
        for old in share::share(&given, 3) {
            let reference = format!("@e{old}");
            let error = page.act(json!({ "kind": "evaluate", "fn": "1", "ref": reference })).unwrap_err();
            assert_eq!(error.code(), "STALE_REF", "{reference}");
        }
        given.extend(refs);
    }
}
