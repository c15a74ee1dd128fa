//! Pages with oversized data: names, event types, attributes, values.

use cdpilot::cdp::ConnectOptions;
use cdpilot::page::{ElementProperty, Locator};
use cdpilot::supervisor::Phase;
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::share::share;
use crate::support::test_tab::{TestTab, ref_of, text};

/// A message from the browser may have so many bytes.
const MESSAGE: usize = 16 * 1024 * 1024;

fn narrow(name: &str, html: &str) -> Option<TestTab> {
    let page = TestTab::with(name, &ConnectOptions::new().max_message(MESSAGE))?;
    page.site.page("/", html);
    page.go("/");
    Some(page)
}

fn is_live(page: &TestTab) -> bool {
    !matches!(page.supervisor().view().phase, Phase::Ended(_))
}

#[test]
fn event_types_of_a_page_do_not_crash_the_browser() {
    let html = "<button>Go</button><script>
        for (let n = 0; n < 20; n++) document.querySelector('button').addEventListener('t'.repeat(1e6) + n, () => {});
        </script>";
    let Some(page) = narrow("limit-types", html) else { return };
    let seen = page.snapshot();
    assert!(text(&seen).contains("button \"Go\""), "{}", text(&seen));
    assert!(is_live(&page));
    page.act(json!({ "kind": "click", "ref": ref_of(&seen, "Go") })).unwrap();
}

#[test]
fn long_names_are_truncated_in_the_page() {
    let html = "<script>
        for (let n = 0; n < 24; n++) {
            const button = document.createElement('button');
            button.setAttribute('aria-label', `B${n} ` + 'x'.repeat(1e6));
            button.onclick = () => window.hit = n;
            document.body.append(button);
        }
        for (let n = 0; n < 6; n++) {
            const input = document.createElement('input');
            input.title = input.ariaDescription = 'v'.repeat(1e6);
            document.body.append(input);
        }
        </script>";
    let Some(page) = narrow("limit-names", &format!("<body>{html}")) else { return };
    let found = page.tab.find("role=button", None, None, soon()).unwrap();
    assert_eq!((found.total, found.matches[1].name.chars().count()), (24, 200));
    let seen = page.snapshot();
    assert!(is_live(&page));
    let second = ref_of(&seen, "\"B1 ");
    assert_eq!(second, found.matches[1].reference);
    page.act(json!({ "kind": "click", "ref": second })).unwrap();
    assert_eq!(page.value("hit"), 1);
}

#[test]
fn element_reads_are_truncated() {
    let html =
        "<a id=a>x</a><select multiple id=s></select><input type=password id=p><div role=slider id=r></div><script>
        a.setAttribute('data-long', 'q'.repeat(20e6));
        for (let n = 0; n < 40; n++) s.append(new Option('o', 'o'.repeat(5e5), true, true));
        p.value = 's'.repeat(6e6);
        r.setAttribute('aria-valuetext', 'r'.repeat(20e6));
        </script>";
    let Some(page) = narrow("limit-get", html) else { return };
    let get = |what, name, selector: &str| {
        let at = Locator { selector: Some(selector.to_owned()), ..Locator::default() };
        page.tab.get(what, name, &at, soon()).unwrap()
    };
    let cases = [
        (ElementProperty::Attribute, Some("data-long"), "#a"),
        (ElementProperty::Value, None, "#s"),
        (ElementProperty::Value, None, "#p"),
        (ElementProperty::Value, None, "#r"),
    ];
    for (what, name, selector) in share(cases, 1) {
        let got = get(what, name, selector);
        let size = match &got.value {
            serde_json::Value::Array(values) => values.iter().map(|value| value.as_str().unwrap().len()).sum(),
            value => value.as_str().unwrap().chars().count(),
        };
        assert!(got.truncated && size > 0 && size <= 100_000, "{size} {}", got.truncated);
    }
    assert!(is_live(&page));
}

#[test]
fn html_reads_contain_no_passwords() {
    let html = "<form id=f><input type=password id=p value='hunter2secret'><input name=api_token value='tok-4711'>
        <textarea name=secret>written-secret</textarea><input name=city value=Rome>
        <span id=host></span></form>
        <script>host.attachShadow({ mode: 'open' }).innerHTML = '<p>in'</script>";
    let Some(page) = TestTab::showing("html-secrets", html) else { return };
    let get = |selector: &str| {
        let at = Locator { selector: Some(selector.to_owned()), ..Locator::default() };
        page.tab.get(ElementProperty::Html, None, &at, soon()).unwrap().value.as_str().unwrap().to_owned()
    };
    let form = get("#f");
    for secret in ["hunter2", "tok-4711", "written-secret"] {
        assert!(!form.contains(secret), "{form}");
    }
    assert!(form.contains("value=\"Rome\"") && form.contains("type=\"password\""), "{form}");
    assert!(!get("#p").contains("hunter2"), "{}", get("#p"));
    assert_eq!(page.value("p.getAttribute('value')"), "hunter2secret", "the page keeps it");
}
