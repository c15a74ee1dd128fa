//! Lines of snapshots: separation, merging, omission, and what counts as a change.

use cdpilot::page::{Diff, Snapshot, SnapshotOptions};

use crate::support::chrome::soon;
use crate::support::test_tab::{TestTab, ref_of, text};

fn diff() -> SnapshotOptions {
    SnapshotOptions::new().diff(true)
}

/// The lines without refs.
fn lines(seen: &Snapshot) -> Vec<String> {
    let plain = |line: &str| match line.split_once(" [ref=") {
        Some((before, rest)) => format!("{before}{}", rest.split_once(']').unwrap().1),
        None => line.to_owned(),
    };
    text(seen).lines().map(plain).collect()
}

#[test]
fn texts_of_adjacent_boxes_are_separated() {
    let apart = [
        "<div>@Alice</div><div>admin</div>",
        "<span style='display:block'>@Alice</span><span style='display:block'>admin</span>",
        "<span style='display:inline-block'>@Alice</span><span style='display:inline-block'>admin</span>",
        "<div style='display:flex'><span>@Alice</span><span>admin</span></div>",
        "<div style='display:grid'><span>@Alice</span><span>admin</span></div>",
        "<div style='display:table'><span style='display:table-cell'>@Alice</span><span style='display:table-cell'>admin</span></div>",
        "<table><tr><td>@Alice<td>admin</table>",
        "<div>@Alice<span style='float:right'>admin</span></div>",
        "<div>@Alice<span style='margin-left:8px'>admin</span></div>",
        "<div>@Alice<b style='padding:0 6px'>admin</b></div>",
        "<div>@Alice<br>admin</div>",
        "<ul><li>@Alice<div>admin</div></ul>",
        "<table border=1><tr><td><span style='display:block'>@Alice</span>admin<td>x<tr><td>y<td>z</table>",
        "<div style='cursor:pointer'><span style='display:block'>@Alice</span><i style='display:inline-block'>admin</i></div>",
        "<a href='#'><div>@Alice</div><div>admin</div></a>",
        "<button style='display:flex'><span>@Alice</span><span>admin</span></button>",
        "<div>@Alice<textarea hidden></textarea><textarea></textarea>admin</div>",
        "<div>@Alice<button>admin</button></div>",
        "<style>q::after { content: 'admin'; display: inline-block }</style><q style='quotes:none'>@Alice</q>",
    ];
    let html: String = apart.iter().enumerate().map(|(n, part)| part.replace('@', &format!("{n}-"))).collect();
    let Some(paged) = TestTab::showing("lines-apart", &html) else { return };
    let seen = paged.snapshot();
    let reading = paged.tab.text(Some("body"), None, soon()).unwrap().text;
    for (n, part) in apart.iter().enumerate() {
        let together = format!("{n}-Aliceadmin");
        assert!(!text(&seen).contains(&together), "{part}:\n{}", text(&seen));
        // The text of a page has none of what only its style writes.
        assert!(!reading.contains(&together) && reading.contains(&format!("{n}-Alice")), "{part}: {reading}");
    }
    assert_eq!(text(&seen).matches("admin").count(), apart.len(), "{}", text(&seen));
    // Parts of one word stay together.
    let Some(paged) =
        TestTab::showing("lines-together", "<p>in<b>cre</b>di<span>ble</span>, <i>H</i><sub>2</sub>O</p>")
    else {
        return;
    };
    assert_eq!(
        lines(&paged.snapshot()),
        ["- paragraph", "  - text: incredible, H", "  - subscript: \"2\"", "  - text: O"]
            .map(|line| line.replace('"', ""))
    );
    assert_eq!(paged.tab.text(None, None, soon()).unwrap().text, "incredible, H2O");
}

#[test]
fn a_wrapper_and_its_control_are_one_element() {
    let Some(paged) = TestTab::showing(
        "lines-merged",
        "<style>.p { cursor: pointer }</style>
         <div class=p><a href='#one'>One</a></div>
         <div tabindex=0 aria-label=Two><button>Two</button></div>
         <label class=p><input type=checkbox> Three</label>
         <div onclick='1'><div tabindex=0><button>Four</button></div></div>
         <div class=p>Five and <button>more</button></div>
         <div tabindex=0 aria-label=Group><button>Six</button></div>",
    ) else {
        return;
    };
    let seen = paged.snapshot();
    assert_eq!(
        lines(&seen),
        [
            "- link \"One\"",
            "- button \"Two\"",
            "- checkbox \"Three\"",
            "- button \"Four\"",
            "- generic [cursor=pointer]",
            "  - text: Five and",
            "  - button \"more\"",
            "- generic \"Group\" [cursor=pointer]",
            "  - button \"Six\"",
        ]
    );
    // The labels in a picture are the same.
    let options = cdpilot::page::ScreenshotOptions::new().labels(true);
    let labels = paged.tab.screenshot(&options, soon()).unwrap().annotations.unwrap();
    assert_eq!(labels.len(), 8, "{labels:?}");
    assert!(labels.iter().all(|label| seen.refs.contains_key(&label.reference)), "{labels:?}");
}

#[test]
fn unnamed_generics_without_effect_are_omitted() {
    let Some(paged) = TestTab::showing(
        "lines-idle",
        "<style>.p { cursor: pointer; min-height: 9px }</style>
         <div class=p></div><div class=p><span></span> </div>
         <div class=p><button>One</button><button>Two</button></div>
         <div tabindex=-1><p>Text to read</p></div>
         <div class=p style='background:red'></div>
         <div class=p><svg width=9 height=9><path d='M0 0h9v9z'/></svg></div>
         <div onclick='1'></div>
         <div class=p>Words</div>",
    ) else {
        return;
    };
    assert_eq!(
        lines(&paged.snapshot()),
        [
            "- button \"One\"",
            "- button \"Two\"",
            "- paragraph: Text to read",
            "- generic [cursor=pointer]",
            "- generic [cursor=pointer]",
            "- generic [cursor=pointer]",
            "- generic [cursor=pointer]: Words",
        ]
    );
}

#[test]
fn compact_keeps_rows() {
    let rows = "<tr><td>Alice<td><button>Edit</button><tr><td>Bob<td><button>Edit</button>";
    let Some(paged) = TestTab::showing("lines-rows", &format!("<table border=1><tr><th>Name<th>Do{rows}</table>"))
    else {
        return;
    };
    let seen = paged.snapshot_with(SnapshotOptions::new().compact(true));
    let lines = lines(&seen);
    assert_eq!(lines.iter().filter(|line| line.trim_start().starts_with("- row")).count(), 3, "{lines:?}");
    let alice = lines.iter().position(|line| line.contains("Alice")).unwrap();
    assert!(lines[alice - 1].contains("- row") && lines[alice].starts_with("  "), "{lines:?}");
}

#[test]
fn a_focus_change_alone_is_no_delta() {
    let Some(paged) = TestTab::showing(
        "lines-focus",
        "<input id=a aria-label=A><input id=b aria-label=B><div id=c tabindex=-1><p>in it</p></div>",
    ) else {
        return;
    };
    paged.eval("a.focus()");
    assert!(text(&paged.snapshot()).contains("[active]"));
    for next in ["b", "c"] {
        paged.eval(&format!("{next}.focus()"));
        let seen = paged.snapshot_with(diff());
        assert_eq!((text(&seen), seen.full), ("", false), "{next}");
        assert!(text(&paged.snapshot()).contains("[active]"), "a snapshot as such shows it");
    }
    // With another change it is reported.
    paged.eval("b.focus(); b.value = 'x'");
    let seen = paged.snapshot_with(diff());
    let response: Vec<String> = text(&seen).lines().map(str::to_owned).collect();
    assert_eq!(response.len(), 2, "{response:?}");
    assert!(response[0].starts_with("- - textbox \"B\"") && !response[0].contains("active"), "{response:?}");
    assert!(response[1].starts_with("+ - textbox \"B\"") && response[1].ends_with("[active]: x"), "{response:?}");
}

#[test]
fn a_delta_uses_the_options_of_the_last_snapshot_or_is_a_full_one() {
    let Some(paged) =
        TestTab::showing("lines-options", "<h1>Title</h1><p>Text</p><a href='/x'>go</a><button>One</button>")
    else {
        return;
    };
    let interactive = SnapshotOptions::new().interactive(true).urls(true);
    let before = paged.snapshot_with(interactive.clone());
    paged.eval("document.querySelector('button').textContent = 'Two'");
    let seen = paged.snapshot_with(diff());
    let of = ref_of(&before, "One");
    assert_eq!(text(&seen), format!("- - button \"One\" [ref={of}]\n+ - button \"Two\" [ref={of}]"));
    assert!(!seen.full);
    assert_eq!(text(&paged.snapshot_with(diff())), "", "again, and nothing changed");
    // With the same options, given once more.
    let same = paged.snapshot_with(interactive.diff(true));
    assert_eq!((text(&same), same.full), ("", false));
    // With other options all of it is new, and that is said.
    let other = paged.snapshot_with(diff().compact(true));
    assert!(other.full && text(&other).contains("+ - heading \"Title\""), "{}", text(&other));
    assert_eq!(text(&other).lines().count(), 4);
    assert_eq!(serde_json::to_value(&other).unwrap()["full"], true);
    // So it is after a navigation.
    paged.go("/");
    let new = paged.snapshot_with(diff());
    assert!(new.full && text(&new).lines().all(|line| line.starts_with("+ ")), "{}", text(&new));
    let all = Diff::between("", text(&paged.snapshot_with(SnapshotOptions::new().compact(true))));
    assert_eq!(all.to_string(), text(&new));
}

#[test]
fn omitted_deeply_nested_content_is_reported() {
    let deep = "let at = document.body; for (let n = 0; n < 1200; n++) at = at.appendChild(document.createElement('div')); at.textContent = 'deep';
        document.body.append('shallow')";
    let Some(paged) = TestTab::showing("lines-deep", "<p>first</p>") else { return };
    assert!(!paged.snapshot().truncated);
    paged.eval(deep);
    let seen = paged.snapshot();
    assert!(seen.truncated && text(&seen).contains("first") && !text(&seen).contains("deep"), "{}", text(&seen));
    let reading = paged.tab.text(None, None, soon()).unwrap();
    assert!(reading.truncated && reading.text.contains("first") && !reading.text.contains("deep"), "{reading:?}");
}

/// Days of a calendar: one listener for all, on the shadow root, its host, or inside; in a cursor or hover style of that root.
#[test]
fn items_of_a_listener_in_a_shadow_root_have_refs() {
    let html = "<x-a></x-a><x-b></x-b><x-c></x-c><x-d></x-d><x-e></x-e><script>
        const make = (name, mode, where, css) => customElements.define(name, class extends HTMLElement { constructor() {
            super();
            const root = this.attachShadow({ mode });
            root.innerHTML = `<style>${css}</style><section><div class=grid>` +
                [1, 2, 3].map(n => `<div class=day>${name} ${n}</div>`).join('') + '</div></section>';
            const at = where === 'root' ? root : where === 'host' ? this : root.querySelector('.grid');
            if (where !== 'none') at.addEventListener('click', () => 0);
        } });
        const hover = '.day:hover { background: red }';
        make('x-a', 'open', 'root', hover); make('x-b', 'open', 'host', hover); make('x-c', 'open', 'grid', hover);
        make('x-d', 'closed', 'root', hover); make('x-e', 'open', 'none', '.day { cursor: pointer }');
        </script>";
    let Some(paged) = TestTab::showing("lines-shadow", html) else { return };
    let seen = paged.snapshot();
    for name in ["x-a", "x-b", "x-c", "x-d", "x-e"] {
        for day in 1..=3 {
            let day = format!("{name} {day}");
            let line = text(&seen).lines().find(|line| line.contains(&day)).unwrap_or_default();
            assert!(line.contains("[ref=") && line.ends_with(&day), "{day}: {line:?} in\n{}", text(&seen));
        }
    }
}

#[test]
fn clickable_parts_of_an_editor_have_refs() {
    let html = "<div contenteditable role=textbox aria-multiline=true aria-label=Code>line one
        <div class=fold contenteditable=false>22 unchanged lines</div>line two <span style='cursor:pointer'>@Ann</span>
        <a href=/x>a link</a></div><script>document.querySelector('.fold').addEventListener('click', () => 0)</script>";
    let Some(paged) = TestTab::showing("lines-editor", html) else { return };
    let seen = paged.snapshot();
    for part in ["22 unchanged lines", "@Ann", "a link"] {
        let line = text(&seen).lines().find(|line| line.contains(part) && !line.contains("textbox"));
        assert!(line.is_some_and(|line| line.contains("[ref=")), "{part} in\n{}", text(&seen));
    }
    assert_eq!(text(&seen).matches("line one").count(), 1, "{}", text(&seen));
}

/// Elements without a role that can be clicked are told by their text, in any format.
#[test]
fn interactive_lines_have_the_text_of_what_is_clicked() {
    let html = "<div onclick='0'>Plain card</div><div onclick='0'><p>Nested</p><b>words</b></div><span style='cursor:pointer'>Tag</span>
        <li onclick='0'>Item <i>one</i></li><div tabindex=0>Focusable text</div><div onclick='0'><button>Inner</button> beside</div>";
    let Some(paged) = TestTab::showing("lines-interactive", html) else { return };
    let mut options = SnapshotOptions::default();
    options.interactive = true;
    let seen = paged.tab.snapshot(&options, soon()).unwrap();
    for part in ["Plain card", "Nested words", "Tag", "Item one", "Focusable text", "beside"] {
        let line = text(&seen).lines().find(|line| line.contains(part));
        assert!(line.is_some_and(|line| line.contains("[ref=")), "{part} in\n{}", text(&seen));
    }
}
