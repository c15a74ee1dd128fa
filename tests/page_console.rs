//! What a page says on its console, and its uncaught exceptions.

use cdpilot::page::ConsoleMessage;
use cdpilot::supervisor::ConsoleLevel;
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::resting::Resting;

fn said(tab: &Resting, level: Option<ConsoleLevel>) -> Vec<ConsoleMessage> {
    tab.supervisor().caught_up(soon()).unwrap();
    tab.console(level, None, false)
}

#[test]
fn messages_and_errors_are_told_by_tab_and_level() {
    let Some(tab) = Resting::new("console") else { return };
    tab.site.page("/", "<iframe src='@b/inner'></iframe>\n<script>\n  console.log('plain', 1, { a: 1 })\n</script>");
    tab.site.page("/inner", "<script>console.warn('from the frame')</script>");
    tab.go("/");
    let inner = tab.frame("/inner");
    tab.eval("console.info('info'), console.debug('debug'), console.error('bad'), 1");
    tab.eval(
        "setTimeout(() => { function fail() { throw new TypeError('boom\\nsecond line') } fail() }), \
              setTimeout(() => { throw 'text' }), new Promise(done => setTimeout(done, 20, 1))",
    );
    let all = said(&tab, None);
    let texts = |all: &[ConsoleMessage]| all.iter().map(|message| message.text.clone()).collect::<Vec<_>>();
    let mut found = texts(&all);
    assert_eq!(found.len(), 7, "{all:#?}");
    found.retain(|text| text != "from the frame");
    assert_eq!(found, ["plain 1 Object", "info", "debug", "bad", "TypeError: boom\nsecond line", "text"]);
    let first = all.iter().find(|message| message.text.starts_with("plain")).unwrap();
    assert_eq!((first.line, first.url.as_deref()), (Some(3), Some(&*tab.site.url("a", "/"))));
    let shown = serde_json::to_value(all.iter().find(|message| message.text == "from the frame").unwrap()).unwrap();
    assert_eq!((&shown["level"], &shown["frameId"]), (&json!("warning"), &json!(inner.frame_id)));
    assert!(shown.get("targetId").is_none() && shown["timestamp"].as_f64().unwrap() > 1.6e9);
    assert_eq!(said(&tab, Some(ConsoleLevel::Warning)).len(), 4);
    assert_eq!(texts(&said(&tab, Some(ConsoleLevel::Error))), ["bad", "TypeError: boom\nsecond line", "text"]);
    assert_eq!(texts(&tab.console(None, Some(2), false)), ["TypeError: boom\nsecond line", "text"]);

    let errors = tab.errors(None, false);
    assert_eq!(errors.len(), 2);
    assert_eq!(errors[0].message, "TypeError: boom\nsecond line");
    assert!(errors[0].stack.as_deref().is_some_and(|stack| stack.starts_with("    at fail")), "{errors:?}");
    assert_eq!((errors[1].message.as_str(), errors[1].stack.as_deref()), ("text", None));

    // Another tab has its own, and clearing one changes nothing else.
    let other = tab.supervisor().open_page(&tab.site.url("b", "/inner"), None, soon()).unwrap();
    let other = tab.pages.tab(&other).unwrap();
    tab.supervisor().wait_until(soon(), |now| now.console.iter().any(|e| e.target_id == *other.target())).unwrap();
    assert_eq!(other.console(None, None, false).len(), 1);
    assert_eq!(tab.console(None, None, true).len(), 7);
    assert!(tab.console(None, None, false).is_empty());
    assert_eq!((tab.errors(None, true).len(), tab.errors(None, false).len()), (2, 0));
    tab.eval("console.log('again'), 1");
    assert_eq!(texts(&said(&tab, None)), ["again"]);
    assert_eq!(other.console(None, None, false).len(), 1);
}

#[test]
fn the_last_five_hundred_of_a_tab_are_kept_whatever_another_says() {
    let Some(tab) = Resting::new("console-flood") else { return };
    tab.site.page("/", "hello");
    tab.go("/");
    tab.eval("console.log('kept'), 1");
    let other = tab.supervisor().open_page(&tab.site.url("b", "/"), None, soon()).unwrap();
    let other = tab.pages.tab(&other).unwrap();
    // In steps, so that the queue of messages does not run over.
    for step in 0..8 {
        let script = format!("for (let n = 0; n < 100; n++) console.log('m' + ({step} * 100 + n)); 1");
        let top = cdpilot::supervisor::FrameRef::TopOf(other.target().clone());
        tab.supervisor().evaluate(&top, &script, soon()).unwrap();
        tab.supervisor().caught_up(soon()).unwrap();
    }
    let all = other.console(None, None, false);
    assert_eq!((all.len(), &*all[0].text, &*all[499].text), (500, "m300", "m799"));
    assert_eq!(said(&tab, None).len(), 1);
}
