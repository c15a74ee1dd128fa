//! The visible text of a page.

use cdpilot::page::Error;

use crate::support::chrome::soon;
use crate::support::settle_tab::SettleTab;

fn showing(name: &str, html: &str) -> Option<SettleTab> {
    let tab = SettleTab::new(name)?;
    tab.site.page("/", html);
    tab.go("/");
    Some(tab)
}

fn text(tab: &SettleTab, selector: Option<&str>) -> String {
    tab.text(selector, None, soon()).unwrap().text
}

fn main_text(tab: &SettleTab) -> String {
    tab.main_text(None, None, soon()).unwrap().text
}

#[test]
fn text_is_the_visible_text() {
    let Some(tab) = showing(
        "text",
        "<nav>Menu</nav><main><h1>The  title</h1><p>First <b>bold</b>,\n <a href=/x>a link</a>.</p>\
         <p>Second<br>line</p><ul><li>one<li>two<ul><li>inner</ul></ul><ol start=3><li>three<li>four</ol>\
         <table><tr><th>Name<th>Age<tr><td>Ann<td>7</table><pre>a\n  b</pre>\
         <p hidden>hidden</p><p style='display:none'>none</p><p style='visibility:hidden'>unseen <i style='visibility:visible'>seen</i></p>\
         <script>'script'</script><style>x{}</style><noscript>noscript</noscript><template>template</template>\
         <details><summary>More</summary>folded</details><input value=field><textarea>area</textarea>\
         <select><option>Red<option selected>Blue</select><button>Go</button><button>Stop</button>\
         <div id=host>light</div><iframe srcdoc='framed'></iframe><svg><text>drawn</text></svg></main><footer>Foot</footer>\
         <script>host.attachShadow({mode: 'open'}).innerHTML = '<p>shadow <slot></slot></p>'</script>",
    ) else {
        return;
    };
    let expected = "The title\n\nFirst bold, a link.\n\nSecond\nline\n\n- one\n- two\n  - inner\n\n3. three\n4. four\n\n\
        Name\tAge\nAnn\t7\n\na\n  b\n\nseen\n\nMore\nBlue Go Stop\n\nshadow light";
    assert_eq!(text(&tab, Some("main")), expected);
    assert_eq!(text(&tab, None), format!("Menu\n\n{expected}\n\nFoot"));
    assert_eq!(text(&tab, Some("nav")), "Menu");
    assert_eq!(text(&tab, Some("p")), "First bold, a link.");
    assert_eq!(text(&tab, Some("p[hidden]")), "");
    let error = tab.text(Some(".none"), None, soon()).unwrap_err();
    assert!(matches!(error, Error::NoMatch { .. }), "{error}");
    let error = tab.text(Some("p["), None, soon()).unwrap_err();
    assert_eq!(error.code(), "BAD_REQUEST");
}

#[test]
fn content_is_the_only_article_or_main_or_everything() {
    let Some(tab) = showing("content", "<p>around</p><article>the article<article>a comment</article></article>")
    else {
        return;
    };
    assert_eq!(main_text(&tab), "the article\n\na comment");
    assert_eq!(text(&tab, None), "around\n\nthe article\n\na comment");
    tab.eval("document.body.innerHTML = '<p>around</p><main><article>a</article><article>b</article></main>', 1");
    assert_eq!(main_text(&tab), "a\n\nb");
    tab.eval("document.body.innerHTML = '<p>around</p><article hidden>a</article><main></main>', 1");
    assert_eq!(main_text(&tab), "around");
    // A form whose fields have the names of properties.
    tab.eval("document.body.innerHTML = '<form><input name=firstChild><input name=childNodes>in a form</form>', 1");
    assert_eq!(main_text(&tab), "in a form");
    tab.go_to("about:blank");
    assert_eq!(main_text(&tab), "");
}

#[test]
fn a_long_text_is_truncated_with_a_notice() {
    let Some(tab) = showing("long-text", "<body>") else { return };
    tab.eval("document.body.textContent = 'word '.repeat(20000), 1");
    let got = tab.text(None, None, soon()).unwrap();
    assert_eq!((got.text.chars().count(), got.truncated), (40_000, true));
    let got = tab.text(None, Some(0), soon()).unwrap();
    assert_eq!((got.text.chars().count(), got.truncated), (99_999, false));
    tab.eval("document.body.textContent = '🦀'.repeat(100), 1");
    let got = tab.text(None, Some(7), soon()).unwrap();
    assert_eq!((got.text.as_str(), got.truncated), ("🦀🦀🦀🦀🦀🦀🦀", true));
    let got = tab.text(None, Some(100), soon()).unwrap();
    assert!(!got.truncated);
}
