//! Messages of the page in the result of an action: status texts, alerts, dialogs, invalid fields; and the HTTP status of a
//! navigation.

use cdpilot::page::{Notice, NoticeKind, Outcome};
use serde_json::{Value, json};

use crate::support::share::share;
use crate::support::site::Answer;
use crate::support::test_tab::TestTab;

/// The notices of an answer, each as `kind name: text`.
fn notice_lines(outcome: &Outcome) -> Vec<String> {
    let line = |Notice { kind, name, text, .. }: &Notice| format!("{} {name}: {text}", kind.as_str());
    outcome.notices.iter().map(line).collect()
}

#[test]
fn status_texts_and_alerts_are_reported_when_they_change() {
    let Some(page) = TestTab::new("notices-live") else { return };
    let cases = [
        ("<p role=status id=s>", "s.textContent = ' Saved\\n 2 items '", vec!["status : Saved 2 items"]),
        ("<output id=s>", "s.textContent = '3'", vec!["status : 3"]),
        ("<p aria-live=polite id=s>", "setTimeout(() => s.append('Soon'))", vec!["status : Soon"]),
        ("<p aria-live=assertive id=s>", "s.textContent = 'Now'", vec!["alert : Now"]),
        ("<p id=s>", "s.innerHTML = '<b role=alert>Wrong password</b>'", vec!["alert : Wrong password"]),
        ("<p role=alert id=s hidden>Was there</p>", "s.hidden = false", vec!["alert : Was there"]),
        ("<p role=status id=s>Same</p>", "s.textContent = 'Same'", vec!["status : Same"]),
        (
            "<span id=s></span><script>s.attachShadow({mode: 'open'})</script>",
            "s.shadowRoot.innerHTML = '<b role=alert>Deep</b>'",
            vec!["alert : Deep"],
        ),
        (
            "<p role=status id=s></p><p role=alert id=t></p>",
            "s.textContent = 'one'; t.textContent = 'two'",
            vec!["alert : two", "status : one"],
        ),
        // Nothing that is not displayed.
        ("<p role=status id=s>Old</p><p id=t>", "t.textContent = 'x'", vec!["text : x"]),
        ("<p role=status aria-live=off id=s>", "s.textContent = 'x'", vec![]),
        ("<p role=status id=s hidden>", "s.textContent = 'x'", vec![]),
        ("<p role=status id=s>Old</p>", "s.remove()", vec![]),
    ];
    for (html, script, wanted) in share(cases, 4) {
        page.put("/", &format!("<button id=b onclick=\"{script}\">Go</button>{html}"));
        page.go("/");
        let outcome = page.click("#b");
        assert_eq!(notice_lines(&outcome), wanted, "{html} {script}: {outcome:?}");
    }
    // Pressing a key reports as a click does, and an answer reports nothing of the action before.
    page.put("/", "<input id=i onkeydown=\"s.textContent = event.key\"><p role=status id=s>");
    page.go("/");
    page.value("i.focus()");
    assert_eq!(notice_lines(&page.act(json!({ "kind": "press", "key": "Enter" })).unwrap()), ["status : Enter"]);
    assert_eq!(notice_lines(&page.act(json!({ "kind": "hover", "selector": "#i" })).unwrap()), Vec::<String>::new());
}

/// A popup of plain elements, however it is shown: its first five lines.
#[test]
fn text_that_appears_is_reported() {
    let Some(page) = TestTab::new("notices-text") else { return };
    let popup = "<p>Delete it?</p><p>This cannot be undone</p>";
    let lines = vec!["text : Delete it?", "text : This cannot be undone"];
    let cases = [
        ("<div id=s></div>".to_owned(), format!("s.innerHTML = '<div>{popup}</div>'"), lines.clone()),
        (format!("<div id=s style='display: none'>{popup}</div>"), "s.style.display = 'block'".to_owned(), lines.clone()),
        (format!("<div id=s hidden>{popup}</div>"), "s.hidden = false".to_owned(), lines.clone()),
        (
            format!("<style>.m {{ display: none }} .m.on {{ display: block }}</style><div id=s class=m>{popup}</div>"),
            "s.classList.add('on')".to_owned(),
            lines.clone(),
        ),
        (
            format!("<style>.hidden {{ visibility: hidden }}</style><div id=s class='box hidden'>{popup}</div>"),
            "s.classList.remove('hidden')".to_owned(),
            lines.clone(),
        ),
        (
            "<ul id=s></ul>".to_owned(),
            "for (let i = 1; i < 9; i++) s.append(Object.assign(document.createElement('li'), { textContent: 'Row ' + i }))".to_owned(),
            vec!["text : Row 1", "text : Row 2", "text : Row 3", "text : Row 4", "text : Row 5"],
        ),
        ("<p id=s></p>".to_owned(), "s.append('Saved at 5')".to_owned(), vec!["text : Saved at 5"]),
        // A rule that hides other elements of the class, or elsewhere.
        (
            format!("<style>body.x>:not(.y) {{ display: none }} .off .m {{ display: none }}</style><div id=s class=m>{popup}</div>"),
            "s.classList.toggle('ed')".to_owned(),
            vec![],
        ),
        ("<div id=s></div>".to_owned(), "s.innerHTML = '<b>\u{200b}</b>'".to_owned(), vec![]),
        // Text that was there before, only changed, is not seen, or is reported as a dialog.
        ("<div id=s><b>Same</b></div>".to_owned(), "s.innerHTML = '<i>Same</i>'".to_owned(), vec![]),
        (format!("<div id=s>{popup}</div>"), "s.className = 'active'; s.style.color = 'red'".to_owned(), vec![]),
        ("<div id=s></div>".to_owned(), "s.innerHTML = '<div hidden>x</div>'".to_owned(), vec![]),
        ("<div id=s></div>".to_owned(), "s.innerHTML = '<div role=dialog aria-label=D>Sure?</div>'".to_owned(), vec!["dialog D: Sure?"]),
    ];
    for (html, script, wanted) in share(cases, 4) {
        page.put("/", &format!("<button id=b onclick=\"{script}\">Go</button>{html}"));
        page.go("/");
        let outcome = page.click("#b");
        assert_eq!(notice_lines(&outcome), wanted, "{html} {script}: {outcome:?}");
    }
}

#[test]
fn dialogs_of_the_page_are_reported_with_their_text() {
    let Some(page) = TestTab::new("notices-dialogs") else { return };
    for (html, script) in [
        ("<dialog id=d aria-label=Cookies>We use cookies <p role=alert>Really</p></dialog>", "d.showModal()"),
        (
            "<div id=d role=dialog aria-labelledby=h style='display: none'><h2 id=h>Cookies</h2></div>",
            "d.style = ''; d.append('We use cookies Really')",
        ),
        ("<div id=s></div>", "s.innerHTML = '<div role=alertdialog aria-label=Cookies>We use cookies Really</div>'"),
    ] {
        page.put("/", &format!("<button id=b onclick=\"{script}\">Go</button>{html}"));
        page.go("/");
        let outcome = page.click("#b");
        let [notice] = outcome.notices.as_slice() else { panic!("{html}: {outcome:?}") };
        assert_eq!((notice.kind, notice.name.as_str()), (NoticeKind::Dialog, "Cookies"), "{notice:?}");
        assert!(notice.text.contains("We use cookies Really"), "{notice:?}");
        assert!(!outcome.blocked_by_dialog && outcome.pending_dialogs.is_empty(), "{outcome:?}");
    }
}

#[test]
fn invalid_fields_are_reported_with_their_validation_message() {
    let Some(page) = TestTab::new("notices-invalid") else { return };
    page.put(
        "/",
        "<form action='/sent'><label>Email <input id=e type=email required></label><input aria-label=Note><button id=b>Send</button></form>",
    );
    page.go("/");
    let outcome = page.click("#b");
    let [notice] = outcome.notices.as_slice() else { panic!("{outcome:?}") };
    assert_eq!((notice.kind, notice.name.as_str()), (NoticeKind::Invalid, "Email"));
    assert!(notice.text == page.value("e.validationMessage").as_str().unwrap() && notice.text.len() > 5, "{notice:?}");
    assert_eq!(outcome.settled.as_str(), "page_settled");
    // The second try says so once more, another fault says another thing.
    assert_eq!(page.click("#b").notices, outcome.notices);
    page.act(json!({ "kind": "type", "selector": "#e", "text": "nobody" })).unwrap();
    let other = page.click("#b").notices;
    assert!(other.len() == 1 && other[0].text.contains('@'), "{other:?}");

    page.put(
        "/",
        "<button id=b onclick=\"n.setAttribute('aria-invalid', 'true'); m.hidden = false; a.ariaInvalid = 'true'\">Send</button>
         <input id=n aria-label=Name aria-errormessage=m><p id=m hidden>Name is taken</p>
         <input id=a aria-label=Age aria-describedby=h><p id=h>A number, 18 or more</p>
         <input aria-label=Old aria-invalid=true>",
    );
    page.go("/");
    assert_eq!(notice_lines(&page.click("#b")), ["invalid Name: Name is taken", "invalid Age: A number, 18 or more"]);
}

#[test]
fn notices_of_the_next_document_are_reported() {
    let Some(page) = TestTab::new("notices-documents") else { return };
    page.put("/", "<p role=alert>Before</p><form action='/sent' method=post><button id=b>Send</button></form>");
    let after =
        "<p role=alert>Wrong password</p><p aria-live=polite>Not new</p><input aria-label=Password aria-invalid=true>";
    page.site.put("/sent", Answer::html(after).status("422 Unprocessable Content"));
    page.go("/");
    let outcome = page.click("#b");
    assert_eq!(notice_lines(&outcome), ["alert : Wrong password", "invalid Password: invalid"]);
    assert_eq!((outcome.settled.as_str(), outcome.navigated, outcome.status), ("navigated", true, Some(422)));
    // In a frame, with its id.
    page.put("/", "<iframe src='@b/in'></iframe>");
    page.put("/in", "<button id=b onclick=\"s.textContent = 'In there'\">Go</button><p role=status id=s>");
    page.go("/");
    let frame = page.id_of("/in");
    let outcome = page.act(json!({ "kind": "click", "selector": "#b", "frameId": frame })).unwrap();
    assert_eq!(outcome.notices[0].frame_id.as_ref().map(|id| id.as_str()), Some(&*frame), "{outcome:?}");
}

#[test]
fn notices_are_limited_in_number_and_length() {
    let Some(page) = TestTab::new("notices-many") else { return };
    let script = "for (let n = 0; n < 40; n++) { const p = document.createElement('p'); p.role = 'alert'; p.textContent = n + '😀'.repeat(500); s.append(p) }";
    page.put("/", &format!("<button id=b onclick=\"{script}\">Go</button><p id=s>"));
    page.go("/");
    let outcome = page.click("#b");
    assert_eq!(outcome.notices.len(), 5);
    for notice in &outcome.notices {
        // Whole characters only.
        let long = notice.text.encode_utf16().count();
        assert!((290..=300).contains(&long) && notice.text.ends_with("😀…"), "{long} {}", notice.text);
    }
}

#[test]
fn the_status_of_a_navigation_is_reported() {
    let Some(page) = TestTab::new("notices-status") else { return };
    page.site.put("/gone", Answer::html("gone").status("404 Not Found"));
    page.put("/there", "<p>There</p>");
    page.site.put("/moved", Answer::html("").status("302 Found").header("Location", "/gone"));
    let status = |html: &str| {
        page.put("/", html);
        page.go("/");
        let outcome = page.click("#b");
        (outcome.navigated, outcome.status)
    };
    let cases = [
        ("<a id=b href='/gone'>Go</a>", (true, Some(404))),
        ("<a id=b href='/there'>Go</a>", (true, Some(200))),
        ("<a id=b href='/moved'>Go</a>", (true, Some(404))),
        ("<a id=b href='@b/gone'>Go</a>", (true, Some(404))),
        (
            "<a id=b href='data:text/html,x' onclick='history.pushState(0, 0, \"/x\"); return false'>Go</a>",
            (true, None),
        ),
        ("<button id=b onclick='fetch(\"/gone\")'>Go</button>", (false, None)),
    ];
    for (html, wanted) in share(cases, 2) {
        assert_eq!(status(html), wanted, "{html}");
    }
    page.put("/", "<a id=b href='/gone'>Go</a>");
    page.go("/");
    let batch = page.act(json!({ "kind": "batch", "actions": [{ "kind": "click", "selector": "#b" }] })).unwrap();
    assert_eq!((batch.status, batch.settled.as_str()), (Some(404), "navigated"));
    let results: Vec<Value> = batch.results.unwrap();
    assert_eq!((&results[0]["status"], &results[0]["settled"]), (&json!(404), &json!("navigated")));
}
