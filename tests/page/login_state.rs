//! Login state: saved from one browser, loaded into another, verified by the pages.

use cdpilot::page::{LoginState, NewCookie, OriginReport, PageOptions, SaveState, SessionRestore};
use cdpilot::supervisor::{NavigationPolicy, SupervisorOptions};
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::settle_tab::SettleTab;
use crate::support::site::Answer;

/// A supervised tab, for saving and loading login states.
pub(crate) fn browser(name: &str) -> Option<SettleTab> {
    with(SupervisorOptions::task(name))
}

fn with(options: SupervisorOptions) -> Option<SettleTab> {
    SettleTab::with(options, PageOptions::default())
}

fn save(tab: &SettleTab) -> cdpilot::page::SavedState {
    tab.pages.save_state(tab.tab.target(), &SaveState::default(), soon()).unwrap()
}

pub(crate) fn of<'a>(reports: &'a [OriginReport], origin: &str) -> &'a OriginReport {
    reports.iter().find(|report| report.origin == origin).unwrap_or_else(|| panic!("{origin}: {reports:?}"))
}

/// The state as it goes through a file.
pub(crate) fn through_json(state: &LoginState) -> LoginState {
    LoginState::from_json(serde_json::from_str(&serde_json::to_string(state).unwrap()).unwrap()).unwrap()
}

/// Puts one of everything into a database.
const FILL: &str = r"(async () => {
  const open = indexedDB.open('of everything', 7);
  open.onupgradeneeded = () => {
    const inline = open.result.createObjectStore('inline', { keyPath: ['a', 'b.c'] });
    inline.createIndex('by tag', 'tags', { multiEntry: true });
    inline.createIndex('by d', ['a', 'd'], { unique: true });
    open.result.createObjectStore('counted', { autoIncrement: true });
    open.result.createObjectStore('outside');
  };
  const db = await new Promise((ok, no) => { open.onsuccess = () => ok(open.result); open.onerror = () => no(open.error); });
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt', 'decrypt']);
  const t = db.transaction(['inline', 'counted', 'outside'], 'readwrite');
  t.objectStore('inline').put({ a: 1, b: { c: new Date(5) }, d: 'x', tags: ['p', 'q'] });
  t.objectStore('counted').put('first');
  t.objectStore('counted').put('second');
  const out = t.objectStore('outside');
  const error = new RangeError('too far'); 
  out.put({
    text: 'ä🦀\0', lone: 'a\ud800b', ['lone\udc00key']: 1, ['__proto__x']: 2, empty: '', yes: true, no: false, nothing: null,
    undef: undefined, nan: NaN, inf: -Infinity, zero: -0, number: 1.5, big: 12345678901234567890n, date: new Date(86400000),
    invalid: new Date(NaN), regexp: /a\/b/giu, map: new Map([[{ k: 1 }, new Set(['s', 2])]]), buffer: new Uint8Array([0, 255, 3]).buffer,
    floats: new Float64Array([1.5, -2]), part: new Uint8Array([1, 2, 3, 4]).subarray(1, 3), view: new DataView(new ArrayBuffer(4)),
    file: new File(['content'], 'näme.txt', { type: 'text/plain', lastModified: 9 }), blob: new Blob(['blob'], { type: 'x/y' }),
    sparse: [1, , 3], boxed: new Number(4), error, key, nested: { object: { date: 'no tag' }, array: [[[]]] },
  }, 'main');
  out.put('by number', 3);
  out.put('by date', new Date(4));
  out.put('by bytes', new Uint8Array([9, 8]));
  out.put('by list', ['x', [1]]);
  await new Promise((ok, no) => { t.oncomplete = ok; t.onabort = () => no(t.error); });
  db.close();
  return 'filled';
})()";

/// The content that a page sees, as text.
const SEE: &str = r"(async () => {
  const [known] = (await indexedDB.databases()).filter(({ name }) => name === 'of everything');
  if (!known) return 'no database';
  const open = indexedDB.open('of everything');
  const db = await new Promise((ok, no) => { open.onsuccess = () => ok(open.result); open.onerror = () => no(open.error); });
  const done = (r) => new Promise((ok, no) => { r.onsuccess = () => ok(r.result); r.onerror = () => no(r.error); });
  const show = async (v) => {
    const kind = Object.prototype.toString.call(v).slice(8, -1);
    if (v === null || typeof v !== 'object') return kind + ':' + (Object.is(v, -0) ? '-0' : typeof v === 'string' ? JSON.stringify(v) : String(v));
    const all = async (list) => { const out = []; for (const one of list) out.push(await show(one)); return out.join(','); };
    if (kind === 'Date') return 'Date:' + v.getTime();
    if (kind === 'RegExp') return 'RegExp:' + v;
    if (kind === 'Map') return 'Map:' + await all([...v].flat());
    if (kind === 'Set') return 'Set:' + await all([...v]);
    if (kind === 'ArrayBuffer') return kind + ':' + new Uint8Array(v);
    if (ArrayBuffer.isView(v)) return kind + ':' + new Uint8Array(v.buffer, v.byteOffset, v.byteLength);
    if (kind === 'File') return ['File', v.name, v.type, v.lastModified, await v.text()].join(':');
    if (kind === 'Blob') return ['Blob', v.type, await v.text()].join(':');
    if (kind === 'CryptoKey') return 'CryptoKey:' + JSON.stringify(await crypto.subtle.exportKey('jwk', v)) + v.usages;
    if (kind === 'Error') return ['Error', v.name, v.message].join(':');
    if (kind === 'Number') return 'boxed:' + v;
    if (Array.isArray(v)) { const out = []; for (let i = 0; i < v.length; i++) out.push(i in v ? await show(v[i]) : 'hole'); return '[' + out + ']'; }
    const out = [];
    for (const key of Object.keys(v)) out.push(JSON.stringify(key) + '=' + await show(v[key]));
    return '{' + out + '}';
  };
  const lines = [db.version];
  for (const name of db.objectStoreNames) {
    const s = () => db.transaction(name).objectStore(name);
    lines.push([name, JSON.stringify(s().keyPath), s().autoIncrement].join(' '));
    for (const i of s().indexNames) { const x = s().index(i); lines.push(['index', i, JSON.stringify(x.keyPath), x.unique, x.multiEntry, await done(x.count())].join(' ')); }
    const [keys, values] = [await done(s().getAllKeys()), await done(s().getAll())];
    for (let i = 0; i < keys.length; i++) lines.push(await show(keys[i]) + ' -> ' + await show(values[i]));
  }
  db.close();
  return lines.join('\n');
})()";

const COOKIE: &str = "name=plain; Path=/; Max-Age=3600; HttpOnly; SameSite=Strict";

#[test]
fn a_login_state_moves_to_another_browser_without_network_requests() {
    let Some(from) = browser("state-from") else { return };
    let site = &from.site;
    site.put("/", Answer::html("<p>home</p>").header("Set-Cookie", COOKIE).header("Set-Cookie", "ends=withthebrowser"));
    site.put("/sw.js", Answer::script("onfetch = (event) => event.respondWith(fetch('/from-the-worker'))"));
    site.page("/from-the-worker", "worker");
    let (a, b, c) = (site.url("a", ""), site.url("b", ""), site.url("c", ""));

    // Three origins: one with a worker and a database, one that was left, one whose tab is closed.
    from.go_to(&site.url("c", "/"));
    from.eval("localStorage.setItem('closed', 'c'), 1");
    from.go_to(&site.url("b", "/"));
    from.eval("localStorage.setItem('left', 'b'), sessionStorage.setItem('not', 'readable any more'), 1");
    from.go_to(&site.url("a", "/"));
    let filled = from.eval(FILL);
    assert_eq!(filled, "filled");
    let worker =
        "navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(() => 'ready')";
    assert_eq!(from.eval(worker), "ready");
    from.eval("localStorage.setItem('token', 'l\\u00e4\\ud83e\\udd80'), sessionStorage.setItem('step', '2'), 1");
    let partitioned = json!({
        "name": "chip", "value": "1", "url": "https://b.localhost", "secure": true, "sameSite": "None", "path": "/",
        "partitionKey": { "topLevelSite": "https://example.com", "hasCrossSiteAncestor": true },
    });
    from.supervisor().call_raw(&from.top(), "Network.setCookie", &partitioned, soon()).unwrap();
    let host =
        json!([{ "name": "__Host-id", "value": "h", "url": "https://a.localhost/", "secure": true, "path": "/" }]);
    from.set_cookies(&serde_json::from_value::<Vec<NewCookie>>(host).unwrap(), soon()).unwrap();

    let seen = from.eval(SEE);
    let requested = site.requested().len();
    let log = from.supervisor().log().last();
    let saved = save(&from);
    assert_eq!(site.requested().len(), requested, "{:?}", site.requested());
    let entries = from.supervisor().caught_up(soon()).map(|_| from.supervisor().log().since(log, 100).entries).unwrap();
    assert!(entries.is_empty(), "tabs are left alone: {entries:?}");

    assert!(saved.skipped.is_empty(), "{:?}", saved.skipped);
    let report = of(&saved.origins, &a);
    assert_eq!((report.local_storage, report.session_storage, report.databases), (1, 1, 1));
    assert!(report.skipped.is_empty(), "{:?}", report.skipped);
    assert_eq!((of(&saved.origins, &b).local_storage, of(&saved.origins, &c).local_storage), (1, 1));
    assert_eq!(of(&saved.origins, &b).session_storage, 0);

    // Another browser, and a state that went through a file.
    let Some(into) = browser("state-into") else { return };
    into.go_to("data:text/html,elsewhere");
    let requested = site.requested().len();
    let loaded = into.pages.load_state(into.tab.target(), &through_json(&saved.state), soon()).unwrap();
    assert_eq!(site.requested().len(), requested, "{:?}", site.requested());
    assert!(loaded.rejected_cookies.is_empty(), "{:?}", loaded.rejected_cookies);
    assert_eq!(loaded.cookies, saved.cookies);
    let report = of(&loaded.origins, &a);
    assert_eq!((report.local_storage, report.session_storage, report.databases), (1, 1, 1));
    assert_eq!(report.session_restore, Some(SessionRestore::NextVisit));
    assert!(loaded.origins.iter().all(|origin| origin.skipped.is_empty()), "{:?}", loaded.origins);

    into.go_to(&site.url("a", "/"));
    assert_eq!(into.eval("localStorage.getItem('token')"), "lä🦀");
    assert_eq!(into.eval("sessionStorage.getItem('step')"), "2");
    assert_eq!(into.eval(SEE), seen);
    assert!(seen.as_str().unwrap().lines().count() > 12, "{seen}");
    let head = site.heads("a.localhost/").pop().unwrap();
    assert!(head.contains("name=plain") && head.contains("ends=withthebrowser"), "{head}");
    assert_eq!(into.eval("localStorage.length"), 1);

    // Everything that a cookie has is the same.
    let all = |tab: &SettleTab| {
        let mut all: Vec<Value> = save(tab).state.cookies.iter().map(|c| serde_json::to_value(c).unwrap()).collect();
        // Cookies set by later responses are included.
        all.retain(|cookie| !(cookie["domain"] == "a.localhost" && cookie["name"] == "name"));
        all.sort_by_key(ToString::to_string);
        all
    };
    assert_eq!(all(&into), all(&from));
    let chips = all(&into).into_iter().filter(|cookie| cookie["partitionKey"].is_object()).count();
    assert_eq!(chips, 1);
}

#[test]
fn session_storage_is_restored_once() {
    let Some(tab) = browser("state-session") else { return };
    tab.site.page("/", "<script>window.first = sessionStorage.getItem('k')</script>");
    tab.site.page("/clears", "<script>sessionStorage.clear()</script>");
    let (a, b) = (tab.site.url("a", ""), tab.site.url("b", ""));
    let state = |origin: &str| {
        LoginState::from_json(json!({
            "format": "cdpilot-state", "version": 1, "cookies": [],
            "origins": [{ "origin": origin, "sessionStorage": { "k": "saved" } }],
        }))
        .unwrap()
    };
    let load = |origin: &str| tab.pages.load_state(tab.tab.target(), &state(origin), soon()).unwrap();
    tab.go("/");
    tab.eval("sessionStorage.setItem('old', '1'), 1");
    assert_eq!(of(&load(&a).origins, &a).session_restore, Some(SessionRestore::Now));
    assert_eq!(tab.eval("JSON.stringify(sessionStorage)"), r#"{"k":"saved"}"#);

    // For an origin that is not shown it waits; the page's first script sees it.
    assert_eq!(of(&load(&b).origins, &b).session_restore, Some(SessionRestore::NextVisit));
    tab.go_to(&tab.site.url("b", "/"));
    assert_eq!(tab.eval("window.first"), "saved");
    // Logging out clears it, and it does not come back.
    tab.go_to(&tab.site.url("b", "/clears"));
    tab.go_to(&tab.site.url("b", "/"));
    assert_eq!(tab.eval("window.first"), Value::Null);
    // Another tab has nothing of it.
    let other = tab.supervisor().open_page(&tab.site.url("b", "/"), None, soon()).unwrap();
    let other = tab.pages.tab(&other).unwrap();
    assert!(other.storage(cdpilot::page::Storage::Session, None, soon()).unwrap().is_empty());
}

#[test]
fn unsupported_state_is_reported_and_the_rest_is_saved() {
    let Some(tab) = browser("state-unfit") else { return };
    tab.site.page("/", "x");
    let a = tab.site.url("a", "");
    tab.go("/");
    let fill = r"(async () => {
      const open = indexedDB.open('odd', 1);
      open.onupgradeneeded = () => open.result.createObjectStore('s');
      const db = await new Promise((ok) => { open.onsuccess = () => ok(open.result); });
      const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, false, ['encrypt']);
      const cycle = { name: 'cycle' }; cycle.self = cycle;
      let deep = 'bottom'; for (let i = 0; i < 100; i++) deep = { deep };
      const shared = { n: 1 };
      const named = [1]; named.extra = 's3cret';
      const t = db.transaction('s', 'readwrite'), s = t.objectStore('s');
      s.put('good', 'good'); s.put(key, 'key'); s.put(cycle, 'cycle'); s.put(deep, 'deep'); s.put([shared, shared], 'twice');
      s.put(named, 'named'); s.put(cycle, 'cycle 2'); s.put(new ImageData(1, 1), 'image');
      await new Promise((ok) => { t.oncomplete = ok; });
      db.close();
      localStorage.setItem('fine', '1');
      localStorage.setItem('lone', 'a\ud800');
      return 1;
    })()";
    tab.eval(fill);
    let saved = save(&tab);
    let report = of(&saved.origins, &a);
    assert_eq!((report.local_storage, report.databases), (1, 1));
    let response: Vec<(&str, &str, u64)> =
        report.skipped.iter().map(|skipped| (&*skipped.what, &*skipped.reason, skipped.count)).collect();
    for wanted in [
        ("localStorage", "an item whose text is not valid Unicode", 1),
        ("IndexedDB odd/s", "a CryptoKey that cannot be exported", 1),
        ("IndexedDB odd/s", "it contains itself", 2),
        ("IndexedDB odd/s", "it is nested too deep", 1),
        ("IndexedDB odd/s", "an array with named fields or very many places", 1),
        ("IndexedDB odd/s", "a ImageData cannot be held", 1),
    ] {
        assert!(response.contains(&wanted), "{wanted:?}: {response:?}");
    }
    assert_eq!(response.len(), 6, "{response:?}");
    let records = &saved.state.origins[0].indexed_db[0]["stores"][0]["records"];
    assert_eq!(records.as_array().unwrap().len(), 2, "{records}");
}

#[test]
fn databases_in_use_are_replaced_only_with_the_same_schema() {
    let Some(tab) = browser("state-replace") else { return };
    tab.site.page("/", "x");
    let a = tab.site.url("a", "");
    let state = |version: u32| {
        LoginState::from_json(json!({
            "format": "cdpilot-state", "version": 1, "cookies": [],
            "origins": [{
                "origin": a, "localStorage": { "new": "1" },
                "indexedDb": [{
                    "name": "d", "version": version, "stores": [{
                        "name": "s", "keyPath": null, "autoIncrement": false, "indexes": [],
                        "records": [{ "key": "k", "value": { "date": 7 } }, { "key": "bad", "value": { "nonsense": 1 } }],
                    }],
                }],
            }],
        }))
        .unwrap()
    };
    let load = |version: u32| {
        let loaded = tab.pages.load_state(tab.tab.target(), &state(version), soon()).unwrap();
        of(&loaded.origins, &a).clone()
    };
    tab.go("/");
    // The page keeps it open, as pages do.
    let open = r"(async () => {
      const open = indexedDB.open('d', 2);
      open.onupgradeneeded = () => { open.result.createObjectStore('s').put('old', 'old'); };
      window.db = await new Promise((ok) => { open.onsuccess = () => ok(open.result); });
      localStorage.setItem('old', '1');
      return 1;
    })()";
    tab.eval(open);
    let keys = r"new Promise((ok) => {
      const r = db.transaction('s').objectStore('s').getAllKeys(); r.onsuccess = () => ok(r.result.join());
    })";
    let report = load(2);
    assert_eq!((report.local_storage, report.databases), (1, 1));
    assert_eq!(report.skipped.len(), 1, "{:?}", report.skipped);
    assert_eq!(report.skipped[0].reason, "a value of a kind that is not known");
    assert_eq!(tab.eval(keys), "k");
    assert_eq!(tab.eval("Object.keys(localStorage).join()"), "new");

    let report = load(3);
    assert_eq!(report.databases, 0);
    assert!(report.skipped[0].reason.contains("close it and load again"), "{:?}", report.skipped);
    assert_eq!(tab.eval(keys), "k", "it is as it was");

    tab.go_to("data:text/html,elsewhere");
    assert_eq!(load(3).databases, 1);
    tab.go("/");
    assert_eq!(tab.eval("indexedDB.databases().then(([d]) => d.version)"), 3);
}

#[test]
fn origins_blocked_by_the_policy_are_skipped() {
    let policy = NavigationPolicy::new(&[] as &[&str], &["b.localhost"], true, false).unwrap();
    let options = SupervisorOptions::task("state-policy").navigation(policy);
    let Some(tab) = with(options) else { return };
    tab.site.page("/", "x");
    let (a, b) = (tab.site.url("a", ""), tab.site.url("b", ""));
    tab.go("/");
    let items = json!([{ "name": "k", "value": "v" }]);
    let origins = [&a, &b].map(|origin| json!({ "origin": origin, "localStorage": items }));
    let state = json!({ "cookies": [], "origins": origins });
    let state = LoginState::from_json(state).unwrap();
    let loaded = tab.pages.load_state(tab.tab.target(), &state, soon()).unwrap();
    let (a, b) = (of(&loaded.origins, &a), of(&loaded.origins, &b));
    assert_eq!((a.local_storage, b.local_storage), (1, 0));
    assert!(a.skipped.is_empty() && b.skipped[0].what == "origin" && b.skipped[0].reason.contains("blocked"), "{b:?}");
    // Chromium passes it on to the processes of other pages of the origin afterwards.
    let stored = "new Promise(done => { const look = () => localStorage.getItem('k') ? done(localStorage.getItem('k')) : setTimeout(look, 20); look(); })";
    assert_eq!(tab.eval(stored), "v");

    let only = SaveState::new().origins(vec![b.origin.clone(), format!("{}/path?x", a.origin)]);
    let saved = tab.pages.save_state(tab.tab.target(), &only, soon()).unwrap();
    assert_eq!(saved.state.origins.len(), 1);
    assert!(of(&saved.origins, &b.origin).skipped[0].reason.contains("blocked"));
    let bad = SaveState::new().origins(vec!["file:///etc/passwd".to_owned()]);
    assert_eq!(tab.pages.save_state(tab.tab.target(), &bad, soon()).unwrap_err().code(), "BAD_REQUEST");
}

#[test]
fn cookies_with_an_invalid_domain_are_rejected() {
    let Some(tab) = browser("state-hosts") else { return };
    let cookie = |(name, domain, path): (&str, &str, &str)| json!({ "name": name, "value": "v", "domain": domain, "path": path });
    let bad = [
        ("user", "127.0.0.1@evil.com", "/"),
        ("port", "127.0.0.1:99/zz", "/"),
        ("query", "a.test?", "/"),
        ("space", "a.test b.test", "/"),
        ("dots", "..a.test", "/"),
        ("number", "2130706433", "/"),
        ("hex", "0x7f.1", "/"),
        ("backslash", "a.test\\b", "/"),
        ("bracket", "[::1]@evil.com]", "/"),
        ("path", "a.test", ".evil.com/"),
        ("long", &"x".repeat(5000), "y"),
    ];
    let good =
        [("v4", "127.0.0.1", "/"), ("v6", "[::1]", "/"), ("host", "a_b.test", "/p"), ("parent", ".example.com", "/")];
    let cookies: Vec<Value> = bad.into_iter().chain(good).map(cookie).collect();
    let state = LoginState::from_json(json!({ "cookies": cookies, "origins": [] })).unwrap();
    let loaded = tab.pages.load_state(tab.tab.target(), &state, soon()).unwrap();
    let names: Vec<&str> = loaded.rejected_cookies.iter().map(|cookie| &*cookie.name).collect();
    assert_eq!(names, bad.map(|(name, ..)| name));
    assert!(loaded.rejected_cookies.iter().all(|cookie| cookie.domain.len() <= 300));
    assert_eq!(loaded.cookies, good.len());
    let mut set: Vec<String> = tab.tab.cookies(&[], soon()).unwrap().into_iter().map(|cookie| cookie.domain).collect();
    set.sort();
    assert_eq!(set, [".example.com", "127.0.0.1", "[::1]", "a_b.test"]);
}
