//! Locators, `find`, `get`, `is`, `back`, `forward`, `reload` and `fill` at a shell, with and without the word `browser`.

use serde_json::json;

use crate::cli_browser_real::AtHome;
use crate::support::site::Site;

#[test]
fn elements_are_located_and_read() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page(
        "/",
        "<title>Form</title><form onsubmit='document.title = q.value; return false'><label>Query <input id=q name=q></label>
         <label><input type=checkbox id=c> Exact</label><button>Search</button></form><a href='/two' title=''>Next</a><button>Other</button>",
    );
    site.page("/two", "<title>Two</title><h1>Second</h1>");
    let does = |args: &[&str]| {
        let ran = at.run(args);
        assert_eq!(ran.code, Some(0), "{args:?} {ran:?}");
        ran.stdout.trim().to_owned()
    };
    does(&["open", &site.url("a", "/")]);
    let listed = does(&["find", "role=button"]);
    assert!(listed.contains("button \"Search\"") && listed.contains("button \"Other\""), "{listed}");
    does(&["fill", "label=Query", "maps", "role=checkbox", "true", "--submit"]);
    assert_eq!(does(&["get", "value", "label=Query"]), "maps");
    assert_eq!(does(&["get", "count", "role=button"]), "2");
    assert_eq!(does(&["get", "attribute", "role=link", "--name", "href"]), "/two");
    // Absent and empty are not the same, and neither looks like a value.
    for (read, said) in [
        (&["get", "value", "role=link"][..], "link \"Next\" has no value; `get text`"),
        (&["get", "attribute", "role=link", "--name", "rel"], "link \"Next\" does not have this attribute"),
        (&["get", "attribute", "role=textbox", "--name", "value"], "does not have this attribute"),
        (&["get", "attribute", "role=link", "--name", "title"], "empty"),
        (&["snapshot", "--interactive", "--selector", "title"], "nothing to show"),
    ] {
        let ran = at.run(read);
        assert_eq!((ran.code, ran.stdout.trim()), (Some(0), ""), "{ran:?}");
        assert!(ran.stderr.contains(said), "{read:?}: {ran:?}");
    }
    let missing = at.run(&["snapshot", "--selector", "#nowhere"]);
    assert!(missing.code == Some(1) && missing.stderr.contains("no element matches the selector"), "{missing:?}");
    assert_eq!(does(&["is", "checked", "role=checkbox"]), "true");
    let not = at.run(&["is", "disabled", "role=link"]);
    assert_eq!((not.code, not.stdout.trim()), (Some(1), "false"));
    // What is not there is hidden, as for `wait --state hidden`, and nothing else.
    assert_eq!(does(&["is", "hidden", "text=Nowhere"]), "true");
    assert_eq!(does(&["is", "hidden", "--selector", "#nowhere"]), "true");
    let not = at.run(&["is", "visible", "text=Nowhere"]);
    assert_eq!((not.code, not.stdout.trim()), (Some(1), "false"));
    assert_eq!(at.run(&["is", "checked", "text=Nowhere", "--timeout", "700"]).code, Some(1));
    assert_eq!(does(&["evaluate", "document.title"]), "maps");
    // Statements without a return have no value.
    let ran = at.run(&["evaluate", "const a = 1; a"]);
    assert!(ran.code == Some(0) && ran.stdout.trim() == "null" && ran.stderr.contains("`return` a value"), "{ran:?}");
    for fine in ["const a = 1; return a", "document.body.dataset.nothing", "void 0"] {
        let ran = at.run(&["evaluate", fine]);
        assert!(ran.code == Some(0) && ran.stderr.is_empty(), "{ran:?}");
    }
    does(&["focus", "role=link"]);
    assert_eq!(does(&["evaluate", "document.activeElement.localName"]), "a");
    does(&["focus", "t1"]);

    let several = at.run(&["click", "role=button", "--json"]);
    assert_eq!((several.code, &several.json()["code"]), (Some(1), &json!("AMBIGUOUS_LOCATOR")));
    does(&["click", "role=button", "--nth", "0", "--settle", "none"]);
    let response = does(&["browser", "click", "text=Next"]);
    assert!(response.contains("/two"), "{response}");
    assert!(!does(&["back"]).contains("/two"));
    assert!(does(&["forward"]).contains("/two"));
    assert!(does(&["reload", "--until", "domcontentloaded"]).contains("/two"));
    let last = at.run(&["forward"]);
    assert_eq!(last.code, Some(1), "{last:?}");
    assert!(last.stderr.contains("forward"), "{last:?}");
    for (wrong, part) in [
        (&["click", "#id"][..], "css=#id"),
        (&["fill", "label=Query"][..], "value"),
        (&["find", "button"][..], "css="),
        (&["get", "attribute", "role=link"][..], "--name"),
    ] {
        let ran = at.run(wrong);
        assert!(ran.code != Some(0) && ran.stderr.contains(part), "{wrong:?} {ran:?}");
    }
}
