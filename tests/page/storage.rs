//! Local and session storage.

use std::collections::BTreeMap;

use cdpilot::page::{Error, Storage};

use crate::support::chrome::soon;
use crate::support::settle_tab::SettleTab;

fn items<const N: usize>(items: [(&str, &str); N]) -> BTreeMap<String, String> {
    items.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[test]
fn storage_is_that_of_the_page() {
    let Some(tab) = SettleTab::new("storage") else { return };
    // Obstacles created by the page are ignored.
    tab.site.page("/", "<script>Storage.prototype.getItem = () => 'lie'; Storage.prototype.key = () => null</script>");
    tab.go("/");
    for (kind, name) in [(Storage::Local, "localStorage"), (Storage::Session, "sessionStorage")] {
        tab.eval(&format!(
            "{name}.clear(), {name}.setItem('getItem', 'of the page'), {name}.setItem('a', 'ä🦀\\0'), 1"
        ));
        let all = tab.storage(kind, None, soon()).unwrap();
        assert_eq!(all, items([("getItem", "of the page"), ("a", "ä🦀\0")]));
        assert_eq!(tab.storage(kind, Some("a"), soon()).unwrap(), items([("a", "ä🦀\0")]));
        assert_eq!(tab.storage(kind, Some("none"), soon()).unwrap(), items([]));
        let all = tab.set_storage(kind, &items([("b", "2"), ("", "empty"), ("length", "x")]), soon()).unwrap();
        assert_eq!(all.len(), 5);
        assert_eq!(tab.eval(&format!("[{name}['b'], {name}[''], {name}.length].join()")), "2,empty,5");
        assert_eq!(tab.delete_storage(kind, Some("b"), soon()).unwrap().len(), 4);
        assert_eq!(tab.eval(&format!("'b' in {name}")), false);
        assert!(tab.delete_storage(kind, None, soon()).unwrap().is_empty());
        assert_eq!(tab.eval(&format!("{name}.length")), 0);
    }
    let full = tab.set_storage(Storage::Local, &items([("big", &"x".repeat(6 * 1024 * 1024))]), soon()).unwrap_err();
    assert!(full.code() == "BAD_REQUEST" && full.to_string().contains("no space left"), "{full}");

    // One tab's session storage is not another's; local storage is.
    tab.set_storage(Storage::Local, &items([("shared", "1")]), soon()).unwrap();
    tab.set_storage(Storage::Session, &items([("own", "1")]), soon()).unwrap();
    let other = tab.supervisor().open_page(&tab.site.url("a", "/"), None, soon()).unwrap();
    let other = tab.pages.tab(&other).unwrap();
    tab.until("the page", |now| now.page(other.target().as_str()).is_some_and(|page| page.url.ends_with('/')));
    assert_eq!(other.storage(Storage::Local, None, soon()).unwrap(), items([("shared", "1")]));
    assert!(other.storage(Storage::Session, None, soon()).unwrap().is_empty());
    tab.delete_storage(Storage::Local, None, soon()).unwrap();
}

#[test]
fn storage_of_a_document_without_origin_is_an_error() {
    let Some(tab) = SettleTab::new("no-storage") else { return };
    for url in ["about:blank", "data:text/html,x"] {
        tab.go_to(url);
        let error = tab.storage(Storage::Local, None, soon()).unwrap_err();
        assert!(matches!(&error, Error::NoStorage { .. }) && error.code() == "CONFLICT", "{url}: {error}");
        println!("{url}: {error}");
    }
}
