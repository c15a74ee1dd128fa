//! Snapshots over all frames: content, refs, filters.

use cdpilot::page::{Diff, Error, Format, SnapshotOptions};

use crate::support::chrome::{soon, until};
use crate::support::test_tab::{TestTab, ref_of, text};

fn form(name: &str) -> Option<TestTab> {
    TestTab::showing(
        name,
        "<title>Sign in</title><h1>Sign in</h1>
         <label>Mail <input id=mail required></label>
         <label><input type=checkbox checked> Remember me</label>
         <p>Read <a href='/terms'>the terms</a> first.</p>
         <button onclick='this.textContent = \"Done\"'>Go</button><button disabled>Stop</button>",
    )
}

#[test]
fn snapshot_lines_contain_roles_names_states_and_texts() {
    let Some(paged) = form("see-lines") else { return };
    let seen = paged.snapshot();
    let lines: Vec<String> = text(&seen).lines().map(without_refs).collect();
    assert_eq!(
        lines,
        [
            "- heading \"Sign in\" [level=1]",
            "- text: Mail",
            "- textbox \"Mail\" [required]",
            "- checkbox \"Remember me\" [checked]",
            "- paragraph",
            "  - text: Read",
            "  - link \"the terms\"",
            "  - text: first.",
            "- button \"Go\"",
            "- button \"Stop\" [disabled]",
        ],
        "{}",
        text(&seen)
    );
    assert_eq!((seen.title.as_str(), seen.truncated, seen.stats.frames), ("Sign in", false, 1));
    assert_eq!(seen.stats.lines, 10);
    assert_eq!(seen.stats.refs, seen.refs.len());
    let mail = &seen.refs[&ref_of(&seen, "textbox")];
    assert_eq!((mail.role.as_str(), mail.name.as_str(), &mail.frame_id), ("textbox", "Mail", &None));
}

/// A line without its ref.
fn without_refs(line: &str) -> String {
    match line.split_once(" [ref=") {
        Some((before, rest)) => format!("{before}{}", rest.split_once(']').unwrap().1),
        None => line.to_owned(),
    }
}

#[test]
fn frames_of_any_process_appear_below_their_elements() {
    let Some(paged) = TestTab::new("see-frames") else { return };
    paged.site.page(
        "/",
        "<button>zero</button><iframe title=near src='/near'></iframe><iframe title=far src='@b/far'></iframe>",
    );
    paged.site.page("/near", "<button>one</button>");
    paged.site.page("/far", "<button>two</button><iframe title=back src='@a/back'></iframe>");
    paged.site.page("/back", "<button>three</button><iframe title=deep src='@b/deep'></iframe>");
    paged.site.page("/deep", "<button>four</button>");
    paged.go("/");
    let supervisor = paged.supervisor();
    until(supervisor, "five frames", |now| {
        now.frames.iter().filter(|frame| frame.session_id.is_some() && !frame.origin.is_empty()).count() == 5
    });
    for frame in supervisor.view().frames.iter() {
        let loaded =
            "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(1)))";
        supervisor.evaluate(&frame.frame_id.clone().into(), loaded, soon()).unwrap();
    }
    let seen = paged.snapshot();
    let lines: Vec<String> = text(&seen).lines().map(without_refs).collect();
    assert_eq!(
        lines,
        [
            "- button \"zero\"",
            "- iframe \"near\"",
            "  - button \"one\"",
            "- iframe \"far\"",
            "  - button \"two\"",
            "  - iframe \"back\"",
            "    - button \"three\"",
            "    - iframe \"deep\"",
            "      - button \"four\"",
        ],
        "{}",
        text(&seen)
    );
    assert_eq!(seen.stats.frames, 5);
    assert!(seen.refs[&ref_of(&seen, "four")].frame_id.is_some());
    // Only one of them, by its element's ref.
    let inner = paged.snapshot_with(SnapshotOptions::new().frame(ref_of(&seen, "\"back\"")));
    assert_eq!(
        text(&inner).lines().next().map(without_refs).as_deref(),
        Some("- button \"three\""),
        "{}",
        text(&inner)
    );
    assert_eq!(ref_of(&inner, "four"), ref_of(&seen, "four"));
    assert!(paged.tab.resolve(&ref_of(&seen, "zero")).is_ok(), "what was not looked at stays");
}

#[test]
fn a_ref_lasts_as_long_as_its_node_and_document() {
    let Some(paged) = form("see-refs") else { return };
    let seen = paged.snapshot();
    let go = ref_of(&seen, "\"Go\"");
    paged.eval(
        "document.querySelector('h1').before(document.createElement('hr')); document.querySelector('a').remove()",
    );
    let again = paged.snapshot();
    assert_eq!(ref_of(&again, "\"Go\""), go);
    assert!(!text(&again).contains("the terms"));
    paged.eval("document.querySelector('button').outerHTML = '<button>Go</button>'; 1");
    let other = ref_of(&paged.snapshot(), "\"Go\"");
    assert_ne!(other, go, "another node");
    paged.go("/");
    let new = paged.snapshot();
    assert!(matches!(paged.tab.resolve(&other), Err(Error::StaleRef { .. })));
    let number = |text: &str| text[1..].parse::<u32>().unwrap();
    let last = number(&other);
    assert!(new.refs.keys().all(|reference| number(reference) > last), "no number is used again: {:?}", new.refs);
    for bad in ["", "e", "e0", "x1", "e-1", "e1x", "e99999999999"] {
        assert!(matches!(paged.tab.resolve(bad), Err(Error::BadRef { .. })), "{bad:?}");
    }
    assert!(matches!(paged.tab.resolve("e4000000"), Err(Error::StaleRef { .. })));
    let some = new.refs.keys().next().unwrap();
    for way in [some.clone(), format!("@{some}"), some[1..].to_owned()] {
        assert!(paged.tab.resolve(&way).is_ok(), "{way}");
    }
}

#[test]
fn a_snapshot_under_a_dialog_returns_known_data_at_once() {
    let Some(paged) = form("see-dialog") else { return };
    paged.supervisor().start_script(&paged.top(), "confirm('really?')").unwrap();
    until(paged.supervisor(), "the dialog", |now| !now.dialogs.is_empty());
    let seen = paged.snapshot();
    assert!(seen.blocked_by_dialog);
    assert_eq!((text(&seen), seen.pending_dialogs.len()), ("", 1));
    assert_eq!(&*seen.pending_dialogs[0].message, "really?");
    let response = serde_json::to_value(&seen).unwrap();
    assert_eq!(response["blockedByDialog"], true);
    assert!(response["frame_tree"]["top"].is_object());
    let nodes = paged.snapshot_with(SnapshotOptions::new().format(Format::Aria));
    assert_eq!(nodes.nodes.as_deref(), Some([].as_slice()));
}

#[test]
fn nodes_have_protocol_ids() {
    let Some(paged) = form("see-aria") else { return };
    let seen = paged.snapshot_with(SnapshotOptions::new().format(Format::Aria));
    let nodes = seen.nodes.unwrap();
    let button = nodes.iter().find(|node| node.role == "button" && node.name == "Go").unwrap();
    let requested = serde_json::json!({ "backendNodeId": button.backend_node_id.unwrap() });
    let response = paged.supervisor().call_raw(&paged.top(), "DOM.describeNode", &requested, soon()).unwrap();
    let response: serde_json::Value = response.result.decode().unwrap();
    assert_eq!(response["node"]["localName"], "button");
    let few = paged.snapshot_with(SnapshotOptions::new().format(Format::Aria).limit(3));
    assert_eq!((few.nodes.unwrap().len(), few.truncated), (3, true));
}

#[test]
fn filters_keep_the_documented_elements() {
    let Some(paged) = form("see-filters") else { return };
    let lines = |options: SnapshotOptions| -> Vec<String> {
        text(&paged.snapshot_with(options)).lines().map(without_refs).collect()
    };
    let interactive = lines(SnapshotOptions::new().interactive(true));
    let wanted = ["- textbox \"Mail\" [required]", "- checkbox \"Remember me\" [checked]", "- link \"the terms\""];
    assert_eq!(interactive[..3], wanted);
    assert_eq!(interactive.len(), 5);
    let compact = lines(SnapshotOptions::new().compact(true));
    assert!(compact.contains(&"- link \"the terms\"".to_owned()), "{compact:?}");
    let flat = lines(SnapshotOptions::new().depth(0));
    assert!(flat.iter().all(|line| !line.starts_with(' ')) && flat.contains(&"- paragraph".to_owned()), "{flat:?}");
    let part = lines(SnapshotOptions::new().selector("p"));
    assert_eq!(part[0], "- paragraph");
    assert_eq!(part.len(), 4);
    for format in [Format::Ai, Format::Aria] {
        let missing = paged.tab.snapshot(&SnapshotOptions::new().selector("#nothing").format(format), soon());
        assert_eq!(missing.unwrap_err().code(), "NOT_FOUND");
    }
    let bad = SnapshotOptions::new().selector("p[");
    assert!(matches!(paged.tab.snapshot(&bad, soon()), Err(Error::BadRequest { .. })));
    let urls = lines(SnapshotOptions::new().urls(true));
    assert!(urls.iter().any(|line| line.contains("/terms]")), "{urls:?}");
    let cut = paged.snapshot_with(SnapshotOptions::new().max_chars(120));
    assert!(cut.truncated && text(&cut).chars().count() <= 120, "{}", text(&cut));
    assert!(text(&cut).ends_with("of 10 lines]"), "{}", text(&cut));
    assert!(cut.refs.keys().all(|reference| text(&cut).contains(&format!("[ref={reference}]"))));
}

/// What is folded is like what is shown: by its role and by the shape of its content.
#[test]
fn only_what_is_alike_is_folded() {
    let tools = ["Bold", "Italic", "Underline", "Strike", "Quote", "Code", "Link", "Image", "Undo", "Redo"];
    let buttons: String = tools.iter().map(|tool| format!("<button>{tool}</button>")).collect();
    let days: String = (1..=31).map(|day| format!("<button>{day}</button>")).collect();
    let rows: String = (1..=12)
        .map(|row| {
            let more = if row == 11 { "<button>Approve</button>" } else { "" };
            format!("<li><a href='#{row}'>Order {row}</a> <span>of Ann</span>{more}</li>")
        })
        .collect();
    let links: String = ["Home", "Docs", "Blog", "Prices", "About", "Jobs", "Contact", "Log in", "Help"]
        .iter()
        .map(|name| format!("<li><a href='#'>{name}</a></li>"))
        .collect();
    let many: String = (0..60).map(|n| format!("<button>{}</button>", "x".repeat(n + 1))).collect();
    let icons: String = (0..9).map(|n| format!("<button class=b{n}></button>")).collect();
    let html = format!(
        "<div role=toolbar>{buttons}</div><h2>Days</h2><div>{days}</div><ul>{rows}</ul><div>{icons}</div>\
         <nav><ul>{links}</ul></nav><h2>Many</h2><div>{many}</div>"
    );
    let Some(paged) = TestTab::showing("see-alike", &html) else { return };
    for interactive in [false, true] {
        let seen = paged.snapshot_with(SnapshotOptions::new().fold(true).interactive(interactive));
        let text = text(&seen);
        for name in tools.iter().chain(&["Approve", "Contact", "Log in", "Help"]) {
            assert!(text.contains(&format!("\"{name}\"")), "{name} in\n{text}");
        }
        assert!(text.contains("- 26 more like these [ref=") && !text.contains("\"31\""), "{text}");
        assert!(text.contains("- 55 more like these [ref="), "{text}");
        assert_eq!(text.matches("- button [ref=").count(), 9, "{text}");
        assert!(!text.contains("Order 9"), "{text}");
    }
}

/// A page that has just been opened and shows nothing yet is waited for.
#[test]
fn the_first_content_of_a_page_is_awaited() {
    let late = "<div id=root></div><script>setTimeout(() => root.innerHTML = '<button>Ready</button>', 500)</script>";
    let Some(paged) = TestTab::showing("see-late", late) else { return };
    assert!(text(&paged.snapshot()).contains("Ready"), "{}", text(&paged.snapshot()));
    let unchanged = paged.snapshot_with(SnapshotOptions::new().diff(true));
    assert!(unchanged.unchanged && text(&unchanged).is_empty());
    paged.eval("root.innerHTML += '<b>more</b>'; 1");
    assert!(!paged.snapshot_with(SnapshotOptions::new().diff(true)).unchanged);
    paged.eval("root.remove(); 1");
    assert!(text(&paged.snapshot()).is_empty());
}

/// A button without a name is shown with what people see, marked as no name.
#[test]
fn icons_without_a_name_are_shown_with_what_tells_them() {
    let html = "<button><i class='fas fa-lg fa-trash'></i></button><button><svg><use href='/s.svg#star'></use></svg></button>\
        <button class='ql-bold'></button><button data-testid=close-it>\u{d7}</button><button data-testid=close-it></button>\
        <button aria-describedby=d></button><span id=d hidden>Sends [it] away</span><button data-tooltip='Print it'></button>\
        <button><svg data-testid=DeleteIcon></svg></button><div onclick='0' style='width:9px;height:9px' class=icon-menu></div>\
        <button class='btn btn-lg'></button><button><img src='/icons/cart.svg?v=2'></button><input type=checkbox data-cy=agree>\
        <button class='cal-icon cal-ic-close'></button><button><svg class=sv-svg-icon><use xlink:href='#icon-clear-16x16'></use></svg></button>\
        <span class='ql-picker ql-color'><span class=ql-picker-label role=button tabindex=0></span></span>";
    let Some(paged) = TestTab::showing("see-icons", html) else { return };
    for interactive in [false, true] {
        let seen = paged.snapshot_with(SnapshotOptions::new().interactive(interactive));
        for mark in [
            "[icon=trash]",
            "[icon=star]",
            "[icon=bold]",
            "[testid=close-it]",
            "[description=Sends it away]",
            "[tooltip=Print it]",
            "[icon=Delete]",
            "[icon=menu]",
            "[icon=cart]",
            "[testid=agree]",
            "[icon=close]",
            "[icon=clear]",
            "[icon=color]",
        ] {
            assert_eq!(text(&seen).matches(mark).count(), 1, "{mark} in\n{}", text(&seen));
        }
        assert!(text(&seen).contains("button \"\u{d7}\""), "{}", text(&seen));
    }
}

#[test]
fn long_runs_are_folded_and_expanded_on_request() {
    let rows: String =
        (0..300).map(|n| format!("<tr><td>row {n}</td><td><a href='#{n}'>open {n}</a></td></tr>")).collect();
    let Some(paged) = TestTab::showing("see-fold", &format!("<table>{rows}</table><ul><li>a<li>b<li>c</ul>")) else {
        return;
    };
    let folded = paged.snapshot_with(SnapshotOptions::new().fold(true));
    assert!(text(&folded).contains("open 4") && !text(&folded).contains("open 5"), "{}", text(&folded));
    assert!(text(&folded).contains("- 295 more like these [ref="), "{}", text(&folded));
    assert!(text(&folded).len() < 2_000, "{}", text(&folded).len());
    let rest = ref_of(&folded, "295 more");
    let whole = paged.snapshot_with(SnapshotOptions::new().fold(true).expand(rest));
    assert!(text(&whole).contains("open 299") && !text(&whole).contains("more like these"));
    let plain = paged.snapshot();
    assert!(text(&plain).contains("open 299"));
    assert_eq!(ref_of(&plain, "open 3"), ref_of(&folded, "open 3"));
}

#[test]
fn a_delta_turns_the_old_snapshot_into_the_new_one() {
    let Some(paged) = form("see-diff") else { return };
    let before = paged.snapshot();
    paged.eval("document.querySelector('button').click(); document.querySelector('a').remove(); 1");
    let diff = paged.snapshot_with(SnapshotOptions::new().diff(true));
    let response = text(&diff);
    assert!(response.lines().all(|line| line.starts_with("- ") || line.starts_with("+ ")), "{response}");
    assert!(response.contains("+ - button \"Done\"") && response.contains("-   - link \"the terms\""), "{response}");
    let after = paged.snapshot();
    let made = Diff::between(text(&before), text(&after)).apply(text(&before)).unwrap();
    assert_eq!(made, text(&after));
    let none = paged.snapshot_with(SnapshotOptions::new().diff(true));
    assert_eq!(text(&none), "");
    paged.go("/");
    let other = paged.snapshot_with(SnapshotOptions::new().diff(true));
    assert!(text(&other).lines().all(|line| line.starts_with("+ ")), "{}", text(&other));
}

#[test]
fn closed_shadow_roots_are_shown_when_added_later() {
    let Some(paged) = TestTab::showing(
        "see-closed",
        "<div id=a>light</div><x-y id=b></x-y><iframe srcdoc='<p id=c></p>'></iframe>
         <script>a.attachShadow({mode: 'closed'}).innerHTML = '<button>inside</button><slot></slot>'</script>",
    ) else {
        return;
    };
    let seen = paged.snapshot();
    assert!(text(&seen).contains("- button \"inside\"") && text(&seen).contains("light"), "{}", text(&seen));
    let inside = ref_of(&seen, "inside");
    let late = "b.attachShadow({mode: 'closed'}).innerHTML = '<a href=#>later</a>';
        frames[0].document.querySelector('#c').attachShadow({mode: 'closed'}).innerHTML = '<button>framed</button>'; 1";
    paged.eval(late);
    let seen = paged.snapshot();
    assert!(text(&seen).contains("- link \"later\"") && text(&seen).contains("framed"), "{}", text(&seen));
    assert_eq!(ref_of(&seen, "inside"), inside);
}
