//! Login state that exceeds limits or cannot be read: the rest is saved, and loading deletes nothing that is missing in the
//! file.

use cdpilot::page::{LoginState, OriginReport, SaveState, SavedState};
use serde_json::{Value, json};

use crate::login_state::{browser, of, through_json};
use crate::support::chrome::soon;
use crate::support::settle_tab::SettleTab;

/// Size limit for stored data of origins, with a margin for the rest of the file.
const ROOM: usize = (16 << 20) + (64 << 10);

/// Functions for the scripts below.
const TOOLS: &str = r"
  const opened = (name, upgrade, version = 1) => new Promise((ok, no) => {
    const open = indexedDB.open(name, version);
    open.onupgradeneeded = () => upgrade && upgrade(open.result);
    open.onsuccess = () => ok(open.result);
    open.onerror = () => no(open.error);
  });
  const done = (r) => new Promise((ok, no) => { r.onsuccess = () => ok(r.result); r.onerror = () => no(r.error); });
  const put = async (db, store, entries) => {
    const t = db.transaction(store, 'readwrite');
    for (const [key, value] of entries) t.objectStore(store).put(value, key);
    await new Promise((ok, no) => { t.oncomplete = ok; t.onabort = () => no(t.error); });
  };
";

/// Runs the body of an async function with the tools.
fn run(tab: &SettleTab, body: &str) -> Value {
    tab.eval(&format!("(async () => {{ {TOOLS} {body} }})()"))
}

fn save(tab: &SettleTab, origins: &[&str]) -> SavedState {
    let what = SaveState::new().origins(origins.iter().copied());
    tab.pages.save_state(tab.tab.target(), &what, soon()).unwrap()
}

fn load(tab: &SettleTab, state: &LoginState) -> Vec<OriginReport> {
    tab.pages.load_state(tab.tab.target(), &through_json(state), soon()).unwrap().origins
}

fn skipped(report: &OriginReport) -> Vec<(&str, &str)> {
    report.skipped.iter().map(|skipped| (&*skipped.what, &*skipped.reason)).collect()
}

fn bytes(saved: &SavedState) -> usize {
    serde_json::to_string(&saved.state).unwrap().len()
}

#[test]
fn an_oversized_record_is_skipped_and_not_deleted_by_loading() {
    let Some(tab) = browser("limits-record") else { return };
    tab.site.page("/", "x");
    let [a, b, c] = ["a", "b", "c"].map(|host| tab.site.url(host, ""));
    tab.go_to(&tab.site.url("c", "/"));
    run(
        &tab,
        "localStorage.token = 'of c'; const db = await opened('later', (db) => db.createObjectStore('s')); await put(db, 's', [['k', 'v']]); db.close(); return 1",
    );
    tab.go_to(&tab.site.url("b", "/"));
    run(&tab, "localStorage.token = 'of b'; return 1");
    tab.go("/");
    let fill = "localStorage.token = 'of a'; const db = await opened('big', (db) => db.createObjectStore('s')); \
        await put(db, 's', [['1 before', 'x'], ['2 big', 'y'.repeat(17 << 20)], ['3 behind', 'z']]); db.close(); return 1";
    run(&tab, fill);

    let saved = save(&tab, &[&a, &b, &c]);
    let state = |origin: &str| saved.state.origins.iter().find(|state| state.origin == origin).unwrap();
    for (origin, token) in [(&a, "of a"), (&b, "of b"), (&c, "of c")] {
        assert_eq!(state(origin).local_storage.as_ref().unwrap()["token"], token);
    }
    assert_eq!(skipped(of(&saved.origins, &a)), [("IndexedDB big/s", "the state would be too large")]);
    let records = &state(&a).indexed_db[0]["stores"][0]["records"];
    assert_eq!(records.as_array().unwrap().len(), 2, "{records}");
    assert_eq!(state(&c).indexed_db[0]["stores"][0]["records"].as_array().unwrap().len(), 1);

    let loaded = load(&tab, &saved.state);
    assert!(loaded.iter().all(|report| report.skipped.is_empty()), "{loaded:?}");
    let kept = "const db = await opened('big'); const s = db.transaction('s').objectStore('s'); \
        return [await done(s.count()), (await done(s.get('2 big'))).length].join()";
    assert_eq!(run(&tab, kept), format!("3,{}", 17 << 20));
}

#[test]
fn unreadable_data_is_not_deleted_by_loading() {
    let Some(tab) = browser("limits-unread") else { return };
    tab.site.page("/", "x");
    let a = tab.site.url("a", "");
    tab.go("/");
    // A store that another transaction keeps locked, one with a record that cannot be held, and one with nothing odd.
    let fill = "window.db = await opened('d', (db) => ['locked', 'odd', 'plain'].forEach((name) => db.createObjectStore(name))); \
        const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, false, ['encrypt']); \
        await put(db, 'locked', [['k', 'v']]); await put(db, 'odd', [['key', key], ['other', 1]]); await put(db, 'plain', [['p', 1]]); \
        window.locked = true; const s = db.transaction('locked', 'readwrite').objectStore('locked'); \
        const again = () => { if (window.locked) s.get('k').onsuccess = again; }; again(); \
        localStorage.fine = '1'; localStorage.lone = 'a\\ud800'; return 1";
    run(&tab, fill);
    let saved = save(&tab, &[&a]);
    let response = skipped(of(&saved.origins, &a));
    for wanted in [
        ("localStorage", "an item whose text is not valid Unicode"),
        ("IndexedDB d/locked", "the database does not answer"),
        ("IndexedDB d/odd", "a CryptoKey that cannot be exported"),
    ] {
        assert!(response.contains(&wanted), "{wanted:?}: {response:?}");
    }
    run(&tab, "window.locked = false; await put(db, 'plain', [['new', 2]]); localStorage.later = '2'; return 1");
    let loaded = load(&tab, &saved.state);
    assert!(of(&loaded, &a).skipped.is_empty(), "{loaded:?}");
    let keys = "const all = []; for (const name of db.objectStoreNames) \
        all.push((await done(db.transaction(name).objectStore(name).getAllKeys())).join()); return all.join(' ')";
    // Completely saved data is replaced, the rest is merged.
    assert_eq!(run(&tab, keys), "k key,other p");
    assert_eq!(run(&tab, "return Object.keys(localStorage).sort().join()"), "fine,later,lone");

    // A database of another form would have to be deleted first, with records that the state does not have.
    run(&tab, "db.close(); window.db = await opened('d', null, 2); db.close(); return 1");
    tab.go_to("data:text/html,elsewhere");
    let loaded = load(&tab, &saved.state);
    let [(what, reason)] = &*skipped(of(&loaded, &a)) else { panic!("{loaded:?}") };
    assert!(*what == "IndexedDB d" && reason.contains("clear the site's data"), "{what} {reason}");
    tab.go("/");
    assert_eq!(run(&tab, &format!("window.db = await opened('d', null, 2); {keys}")), "k key,other p");

    // In another browser the stores are all there, the one that could not be read without records.
    let Some(other) = browser("limits-unread-into") else { return };
    let [place] = &saved.state.origins[..] else { panic!("{:?}", saved.state) };
    let loaded = load(&other, &saved.state);
    assert_eq!(of(&loaded, &place.origin).databases, 1, "{loaded:?}");
    let stored =
        other.pages.save_state(other.tab.target(), &SaveState::new().origins(vec![place.origin.clone()]), soon());
    let stored = &stored.unwrap().state.origins[0];
    let counts: Vec<usize> = stored.indexed_db[0]["stores"]
        .as_array()
        .unwrap()
        .iter()
        .map(|store| store["records"].as_array().unwrap().len())
        .collect();
    assert_eq!(counts, [0, 1, 1]);
}

#[test]
fn database_names_count_towards_the_limit_and_are_truncated_in_reports() {
    let Some(tab) = browser("limits-names") else { return };
    tab.site.page("/", "x");
    let a = tab.site.url("a", "");
    tab.go("/");
    let fill = r"
      localStorage.text = '語'.repeat(5000000); // leaves room for four of the names
      const each = (letter) => [0, 1].map((n) => n + letter.repeat(400000));
      for (const name of each('n')) (await opened(name)).close();
      const indexes = (db) => { const s = db.createObjectStore('s'); s.createIndex(each('i')[0], 'i'); };
      (await opened('indexes', indexes)).close();
      const [long] = each('l');
      const db = await opened('long', (db) => db.createObjectStore(long));
      await put(db, long, [['image', new ImageData(1, 1)]]);
      db.close();
      (await opened('stores', (db) => each('s').forEach((name) => db.createObjectStore(name)))).close();
      (await opened('\ud800')).close();
      return 1";
    run(&tab, fill);
    let saved = save(&tab, &[&a]);
    assert!(bytes(&saved) < ROOM, "{}", bytes(&saved));
    let report = of(&saved.origins, &a);
    assert!(report.skipped.len() > 2, "{:?}", report.skipped.len());
    for skipped in &report.skipped {
        let length = skipped.what.chars().count();
        assert!(length <= 210, "{length}: {}", skipped.what.chars().take(80).collect::<String>());
    }
    let reasons: Vec<&str> = report.skipped.iter().map(|skipped| &*skipped.reason).collect();
    assert!(reasons.contains(&"its name is not valid Unicode"), "{reasons:?}");
    assert!(reasons.contains(&"the state would be too large"), "{reasons:?}");
}

#[test]
fn the_number_of_databases_per_origin_is_limited() {
    let Some(tab) = browser("limits-many") else { return };
    tab.site.page("/", "x");
    let a = tab.site.url("a", "");
    tab.go("/");
    run(&tab, "for (let n = 0; n < 203; n++) (await opened('d' + n)).close(); return 1");
    let saved = save(&tab, &[&a]);
    let report = of(&saved.origins, &a);
    assert_eq!(report.databases, 200);
    assert_eq!((&*report.skipped[0].what, report.skipped[0].count), ("IndexedDB", 3), "{:?}", report.skipped);
}

#[test]
fn the_size_limit_counts_bytes_of_the_file() {
    let Some(tab) = browser("limits-bytes") else { return };
    tab.site.page("/", "x");
    let [a, b] = ["a", "b"].map(|host| tab.site.url(host, ""));
    tab.go_to(&tab.site.url("b", "/"));
    run(&tab, "localStorage.text = '語'.repeat(4 << 20); localStorage.token = 'of b'; return 1");
    tab.go("/");
    run(&tab, "localStorage.text = '語'.repeat(4 << 20); sessionStorage.raw = '\\u0001'.repeat(1 << 20); return 1");
    let sparse = "const db = await opened('sparse', (db) => db.createObjectStore('s')); \
        await put(db, 's', [1, 2, 3].map((key) => [key, new Array(900000)])); db.close(); return 1";
    run(&tab, sparse);
    let saved = save(&tab, &[&a, &b]);
    assert!(bytes(&saved) < ROOM, "{}", bytes(&saved));
    let too_large = "the state would be too large";
    let response = skipped(of(&saved.origins, &a));
    assert_eq!(response, [("sessionStorage", too_large), ("IndexedDB sparse/s", too_large)]);
    assert_eq!(skipped(of(&saved.origins, &b)), [("localStorage", too_large)]);
    let of_b = saved.state.origins.iter().find(|state| state.origin == b).unwrap();
    assert_eq!(json!(of_b.local_storage), json!({ "token": "of b" }));

    // The item that is not in the state stays.
    load(&tab, &saved.state);
    tab.go_to(&tab.site.url("b", "/"));
    assert_eq!(tab.eval("localStorage.text.length"), 4 << 20);
}
