//! What a recorder reports of a person's work. Input is trusted and sent to the page itself, not by actions.

use std::collections::BTreeMap;
use std::time::Duration;

use cdpilot::cdp::RecvError;
use cdpilot::page::{Recorded, Recorder, RecorderOptions, Reported};
use cdpilot::supervisor::{FrameId, FrameRef};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::lease::Lease;
use crate::support::person::Person;
use crate::support::proxy::Proxy;
use crate::support::share::rounds;
use crate::support::test_tab::TestTab;

/// A tab that is recorded, and a person who uses it.
struct Stage {
    page: TestTab,
    recorder: Recorder,
}

impl Stage {
    fn showing(name: &str, html: &str) -> Option<Self> {
        let page = TestTab::new(name)?;
        page.site.page("/", html);
        let options = RecorderOptions::of(vec![page.tab.target().clone()]);
        let recorder = Recorder::begin(page.tab.supervisor(), options, soon()).unwrap();
        page.go("/");
        Some(Self { page, recorder })
    }

    fn input(&self, method: &str, params: &Value) {
        self.page.supervisor().call_raw(&self.page.top(), method, params, soon()).unwrap();
    }

    /// The middle of an element in the top viewport.
    fn middle(&self, frame: &FrameRef, selector: &str) -> (f64, f64) {
        let script = format!(
            "(() => {{ const box = {selector}.getBoundingClientRect(); return [box.x, box.y, box.width, box.height] }})()"
        );
        let found = self.page.supervisor().evaluate(frame, &script, soon()).unwrap();
        let part: (f64, f64, f64, f64) = serde_json::from_value(found.result.value).unwrap();
        let frame: FrameId = match frame {
            FrameRef::Id(frame) => frame.clone(),
            _ => {
                self.page.supervisor().view().page(self.page.tab.target().as_str()).unwrap().top_frame.clone().unwrap()
            }
        };
        let (x, y, width, height) = self.page.tab.in_top_viewport(&frame, &[part], soon()).unwrap()[0];
        (x + width / 2.0, y + height / 2.0)
    }

    fn mouse(&self, kind: &str, (x, y): (f64, f64), count: u32) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        self.input(
            "Input.dispatchMouseEvent",
            &json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": count }),
        );
    }

    fn click_in(&self, frame: &FrameRef, selector: &str) {
        let at = self.middle(frame, selector);
        self.mouse("mouseMoved", at, 0);
        self.mouse("mousePressed", at, 1);
        self.mouse("mouseReleased", at, 1);
    }

    fn click(&self, selector: &str) {
        self.click_in(&self.page.top(), selector);
    }

    fn key(&self, key: &str, code: i64) {
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let params = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": if kind == "keyDown" { text } else { "" } });
            self.input("Input.dispatchKeyEvent", &params);
        }
    }

    fn write(&self, text: &str) {
        for letter in text.chars() {
            let letter = letter.to_string();
            self.input("Input.dispatchKeyEvent", &json!({ "type": "keyDown", "text": letter, "key": letter }));
            self.input("Input.dispatchKeyEvent", &json!({ "type": "keyUp", "key": letter }));
        }
    }

    /// All reports, with those that were replaced left out.
    fn reports(self) -> Vec<Reported> {
        self.page.tab.end_recording(soon());
        self.recorder.caught_up(soon()).unwrap();
        let mut all: Vec<Reported> = Vec::new();
        loop {
            match self.recorder.next(Deadline::after(Duration::ZERO)) {
                Ok(Recorded::Report(one)) => {
                    let is_known =
                        all.iter().any(|known| known.report.doc == one.report.doc && known.report.n == one.report.n);
                    let same = all
                        .iter()
                        .position(|known| known.report.doc == one.report.doc && known.report.of == one.report.of);
                    match same {
                        _ if is_known => {}
                        Some(at) => all[at] = *one,
                        None => all.push(*one),
                    }
                }
                Ok(_) => {}
                Err(RecvError::Timeout | RecvError::Closed) => return all,
            }
        }
    }

    /// The actions, a line each.
    fn lines(self) -> Vec<String> {
        let passive = ["hello", "ready", "shown", "hidden", "page_view", "closed"];
        self.reports().iter().filter(|one| !passive.contains(&one.report.kind.as_str())).map(line).collect()
    }
}

fn line(reported: &Reported) -> String {
    let report = &reported.report;
    let of = |name: &str| {
        report.element.as_ref().map_or(String::new(), |element| element[name].as_str().unwrap_or("").to_owned())
    };
    let mut data = report.data.clone();
    data.remove("modifiers");
    data.remove("source_count");
    let data = data.iter().map(|(name, value)| format!(" {name}={value}")).collect::<String>();
    format!("{} {} {:?}{data}", report.kind, of("role"), of("name"))
}

/// The title of a row or item tells it from its siblings: neither a button that all of them have, nor a time.
#[test]
fn rows_and_cards_have_a_title_of_their_own() {
    let buttons = "<button class=a>Archive</button><button>Print</button>";
    let row = |n: u32| format!("<tr><th>Invoice {n}</th><td>Ada</td><td>{buttons}</td></tr>");
    let plain = |n: u32| format!("<tr><td>{buttons}</td><td>12:0{n}</td><td>Open</td><td>Order {n}</td></tr>");
    let card = |name: &str| format!("<div class=card><img alt=''><div>Sale</div><div>{name}</div>{buttons}</div>");
    let html = format!(
        "<title>Stage</title><table id=one>{}</table><table id=two>{}</table><div id=three>{}</div>",
        [1001, 1002, 1003].map(row).concat(),
        [1, 2, 3].map(plain).concat(),
        ["Red lamp", "Blue lamp", "Chair"].map(card).concat(),
    );
    let Some(stage) = Stage::showing("recorded-rows", &html) else { return };
    for list in ["one", "two", "three"] {
        stage.click(&format!("document.querySelectorAll('#{list} .a')[1]"));
    }
    let reports = stage.reports();
    let titles = reports.iter().filter(|one| one.report.kind == "click").map(|one| {
        let container = &one.report.element.as_ref().unwrap()["container"];
        format!("{} {}", container["kind"].as_str().unwrap(), container["title"].as_str().unwrap())
    });
    assert_eq!(titles.collect::<Vec<_>>(), ["row Invoice 1002", "row Order 2", "item Blue lamp"]);
}

#[test]
fn work_is_reported_once_as_intent() {
    let html = "<title>Stage</title><form onsubmit='event.preventDefault()'><label>Name <input id=name></label> \
        <label><input type=checkbox id=news> News</label><select id=size><option value=s>Small<option value=l>Large</select>\
        <input type=password id=pass aria-label=Password><textarea id=note aria-label=Note></textarea><button id=send>Send</button></form>\
        <div id=rich contenteditable aria-label=Story></div><button id=twice>Twice</button>";
    let Some(stage) = Stage::showing("recorded-work", html) else { return };
    stage.click("document.querySelector('#name')");
    stage.write("Ada");
    stage.key("Tab", 9);
    stage.click("document.querySelector('#news').parentNode");
    stage.click("document.querySelector('#pass')");
    stage.write("hunter22");
    stage.click("document.querySelector('#rich')");
    stage.write("Once upon");
    let at = stage.middle(&stage.page.top(), "document.querySelector('#twice')");
    for count in [1, 2] {
        stage.mouse("mousePressed", at, count);
        stage.mouse("mouseReleased", at, count);
    }
    stage.click("document.querySelector('#name')");
    stage.write("!");
    stage.key("Enter", 13);
    let lines = stage.lines();
    assert_eq!(
        lines,
        [
            "click textbox \"Name\" button=\"left\" count=1",
            "input textbox \"Name\" value=\"Ada\"",
            "keydown textbox \"Name\" key=\"Tab\"",
            "focus checkbox \"News\"",
            "change checkbox \"News\" checked=true",
            "click textbox \"Password\" button=\"left\" count=1",
            "input textbox \"Password\" value=null",
            "click generic \"Story\" button=\"left\" count=1",
            "input generic \"Story\" value=\"Once upon\"",
            "click button \"Twice\" button=\"left\" count=2",
            "click textbox \"Name\" button=\"left\" count=1",
            "input textbox \"Name\" value=\"Ada!\"",
            "keydown textbox \"Name\" key=\"Enter\"",
            "submit form \"\"",
        ],
        "{lines:#?}"
    );
}

#[test]
fn hovering_is_reported_if_it_shows_what_is_used_then() {
    let html = "<ul><li id=menu style='width: 100px'>Menu<ul id=sub><li><a href='#entry'>Entry</a></ul></ul>\
        <style>#sub { display: none } #menu:hover #sub { display: block }</style>\
        <button id=hint onmouseenter=\"later.hidden = false\">Hint</button><button id=later hidden>Later</button><button id=plain>Plain</button>";
    let Some(stage) = Stage::showing("recorded-hover", html) else { return };
    let top = stage.page.top();
    for (over, then) in
        [("menu", "document.querySelector('#sub a')"), ("plain", "plain"), ("hint", "later"), ("hint", "plain")]
    {
        let (x, y) = stage.middle(&top, over);
        stage.mouse("mouseMoved", (x - 3.0, y), 0);
        stage.mouse("mouseMoved", (x, y), 0);
        stage.click(then);
    }
    assert_eq!(
        stage.lines(),
        [
            "hover listitem \"\"",
            "click link \"Entry\" button=\"left\" count=1",
            "click button \"Plain\" button=\"left\" count=1",
            "hover button \"Hint\"",
            "click button \"Later\" button=\"left\" count=1",
            "click button \"Plain\" button=\"left\" count=1",
        ]
    );
}

#[test]
fn popups_are_recorded_from_their_first_document() {
    let html = "<a id=own href=/popup target=_blank rel=opener>Own</a><a id=apart href=/popup target=_blank>Apart</a>";
    let Some(stage) = Stage::showing("recorded-popups", html) else { return };
    stage.page.site.page("/popup", "<title>Popup</title><button onclick='window.close()'>Close</button>");
    for link in ["own", "apart"] {
        stage.click(link);
        let until = soon();
        let mut seen = Vec::new();
        loop {
            match stage.recorder.next(Deadline::after_secs(20)) {
                Ok(Recorded::Report(one)) if one.report.kind == "page_view" && one.report.title == "Popup" => break,
                Ok(Recorded::Report(one)) => {
                    seen.push(format!("{} {} {} {}", one.report.kind, one.report.n, one.report.url, one.report.title))
                }
                Ok(item) => seen.push(format!("{item:?}")),
                Err(error) => panic!("{link}: {error:?} {seen:#?}"),
            }
            assert!(!until.passed(), "{seen:#?}");
        }
    }
}

#[test]
fn no_click_is_lost_or_doubled_when_the_connection_is_lost() {
    let Some(lease) = Lease::take() else { return };
    let proxy = Proxy::of(lease.url());
    let page = TestTab::attached("recorded-cuts", &proxy.url());
    page.site.page("/", "<button id=b onclick='this.textContent = ++clicks'>0</button><script>let clicks = 0</script>");
    let options = RecorderOptions::of(vec![page.tab.target().clone()]);
    let recorder = Recorder::begin(page.tab.supervisor(), options, soon()).unwrap();
    page.go("/");
    let person = Person::at(lease.url(), page.tab.target().as_str());
    let at = person.middle("document.querySelector('#b')");
    person.move_to(at);
    let supervisor = page.supervisor();
    let clicks = rounds("CDPILOT_TEST_CLICKS", 120, 500);
    let mut reports: BTreeMap<u64, Reported> = BTreeMap::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for click in 1..=clicks {
                person.press_at(at);
                // Three cuts; clicks go on while the supervisor reconnects.
                if click % (clicks / 4) == 0 && click < clicks {
                    let cuts = (click / (clicks / 4)) as u64;
                    let is_back = |now: &cdpilot::supervisor::View| now.is_active() && now.generation == cuts;
                    supervisor.wait_until(soon(), is_back).unwrap();
                    proxy.cut();
                }
            }
        });
        let until = soon();
        let is_click = |one: &&Reported| one.report.kind == "click";
        while reports.values().filter(is_click).count() < clicks {
            assert!(!until.passed(), "{} reports", reports.len());
            if let Ok(Recorded::Report(one)) = recorder.next(Deadline::after_secs(1))
                && one.report.url.ends_with('/')
            {
                reports.insert(one.report.n, *one);
                // Up to the first that is missing, as what is stored is acknowledged.
                let whole = reports.values().zip(1..).take_while(|(one, n)| one.report.n == *n).last();
                if let Some((last, _)) = whole {
                    recorder.acknowledge(last);
                }
            }
        }
    });
    let names: Vec<String> =
        reports.values().filter_map(|one| Some(one.report.element.as_ref()?["name"].as_str()?.to_owned())).collect();
    assert_eq!(names, (0..clicks).map(|n| n.to_string()).collect::<Vec<_>>());
    let is_back = |now: &cdpilot::supervisor::View| now.is_active() && now.generation == 4;
    assert!(supervisor.wait_until(soon(), is_back).is_some(), "three connections were lost");
    drop(recorder);
    supervisor.stop(soon());
}
