//! Form fields: selecting, checking, filling, and refused values.

use cdpilot::page::Error;
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::input_stage::InputStage;
use crate::support::share::share;
use crate::support::test_tab::{TestTab, ref_of};

const LISTS: &str =
    "<select id=s><option value=a>Apple<option value=b> Big  pear </option><option value=c disabled>Cherry
    <optgroup disabled label=off><option value=d>Date</optgroup></select>
    <select id=m multiple><option>one<option>two<option>three</select>";

#[test]
fn options_are_chosen_by_value_or_label_in_every_frame() {
    let Some((staged, places)) = InputStage::everywhere("select", LISTS) else { return };
    for place in share(&places, 1) {
        let chosen = |id: &str, values: &[&str]| {
            let response =
                staged.act_in(place, json!({ "kind": "select", "selector": format!("#{id}"), "values": values }));
            (response.result.unwrap()["values"].clone(), staged.log_in(place))
        };
        let both = |id: &str| vec![format!("input:{id}:::script"), format!("change:{id}:::script")];
        assert_eq!(chosen("s", &["b"]), (json!(["b"]), both("s")), "{}", place.name);
        assert_eq!(chosen("s", &["Big pear"]), (json!(["b"]), vec![]), "it is chosen already");
        assert_eq!(chosen("s", &["Apple"]), (json!(["a"]), both("s")));
        assert_eq!(chosen("m", &["three", "one"]), (json!(["one", "three"]), both("m")));
        assert_eq!(chosen("m", &["two"]), (json!(["two"]), both("m")));
        assert_eq!(chosen("m", &[]), (json!([]), both("m")));
        assert_eq!(staged.value(place, "[s.value, m.selectedOptions.length]"), json!(["a", 0]));
    }
}

#[test]
fn an_impossible_selection_reports_the_reason() {
    let body = format!(
        "{LISTS}<select id=off disabled><option>x</select><div id=d role=listbox><div role=option>x</div></div>
         <select id=back onchange='this.value = \"a\"'><option>a<option>b</select>"
    );
    let Some(staged) = InputStage::alone("select-refused", &body) else { return };
    let refused = |id: &str, values: &[&str]| {
        let act = json!({ "kind": "select", "selector": format!("#{id}"), "values": values });
        staged.try_by(act, Deadline::after_millis(1500)).unwrap_err()
    };
    let unknown = refused("s", &["pear"]);
    assert_eq!(unknown.code(), "BAD_REQUEST");
    assert!(unknown.to_string().contains("\"b\" (Big pear)"), "{unknown}");
    assert_eq!(refused("s", &["a", "b"]).code(), "BAD_REQUEST");
    assert_eq!(refused("s", &[]).code(), "BAD_REQUEST");
    for (id, value, reason) in [
        ("s", "c", "disabled"),
        ("s", "Date", "disabled"),
        ("off", "x", "disabled"),
        ("d", "x", "click it"),
        ("back", "b", "changed the selection"),
    ] {
        let error = refused(id, &[value]);
        assert!(matches!(&error, Error::NotActionable { reason: why, .. } if why.contains(reason)), "{id}: {error}");
    }
    assert_eq!(staged.eval_value("s.value"), "a");
}

const BOXES: &str = "<input type=checkbox id=c><input type=radio name=r id=r1><input type=radio name=r id=r2>
    <div role=switch aria-checked=false tabindex=0 id=w style='width:20px;height:20px'
        onclick=\"this.setAttribute('aria-checked', this.getAttribute('aria-checked') !== 'true')\"></div>
    <div role=menuitemcheckbox aria-checked=mixed tabindex=0 id=x style='width:20px;height:20px'
        onclick=\"setTimeout(() => this.setAttribute('aria-checked', this.getAttribute('aria-checked') === 'mixed'), 50)\"></div>
    <label id=l><input type=checkbox id=h style='position:absolute;opacity:0;width:1px;height:1px'><b id=t>Fancy</b></label>
    <input type=checkbox id=n style='display:none'><label for=n id=nl>Hidden</label>";

#[test]
fn checkboxes_are_checked_by_a_trusted_click_only_if_needed() {
    let Some((staged, places)) = InputStage::everywhere("check", BOXES) else { return };
    for place in share(&places, 1) {
        let ticked = |kind: &str, id: &str| {
            staged.act_in(place, json!({ "kind": kind, "selector": format!("#{id}") }));
            let clicks =
                staged.log_in(place).into_iter().filter(|event| event.starts_with("click")).collect::<Vec<_>>();
            (staged.value(place, &format!("{id}.checked ?? {id}.getAttribute('aria-checked')")), clicks)
        };
        let click = |id: &str| format!("click:{id}:::trusted");
        assert_eq!(ticked("check", "c"), (json!(true), vec![click("c")]), "{}", place.name);
        assert_eq!(ticked("check", "c"), (json!(true), vec![]));
        assert_eq!(ticked("uncheck", "c"), (json!(false), vec![click("c")]));
        assert_eq!(ticked("check", "r2"), (json!(true), vec![click("r2")]));
        assert_eq!(ticked("check", "r1").0, json!(true));
        assert_eq!(staged.value(place, "r2.checked"), false);
        assert_eq!(ticked("check", "w"), (json!("true"), vec![click("w")]));
        assert_eq!(ticked("uncheck", "w"), (json!("false"), vec![click("w")]));
        assert_eq!(ticked("check", "x"), (json!("true"), vec![click("x")]));
        let (state, clicks) = ticked("check", "h");
        assert_eq!((state, &clicks[0]), (json!(true), &click("t")), "by its label");
        let (state, clicks) = ticked("check", "n");
        assert_eq!((state, &clicks[0]), (json!(true), &click("nl")));
    }
}

#[test]
fn an_element_that_cannot_be_checked_reports_the_reason() {
    let body = "<input type=checkbox id=off disabled><input type=radio id=r checked><input id=i>
        <input type=checkbox id=stuck onclick='return false'><input type=checkbox id=gone style='display:none'>";
    let Some(staged) = InputStage::alone("check-refused", body) else { return };
    let refused = |kind: &str, id: &str, reason: &str, deadline: Deadline<'_>| {
        let act = json!({ "kind": kind, "selector": format!("#{id}") });
        let error = staged.try_by(act, deadline).unwrap_err();
        assert!(matches!(&error, Error::NotActionable { reason: why, .. } if why.contains(reason)), "{id}: {error}");
    };
    for (kind, id, reason) in
        [("uncheck", "r", "another one"), ("check", "i", "not a checkbox"), ("check", "stuck", "not checked")]
    {
        refused(kind, id, reason, soon());
    }
    // What may become otherwise is waited for until the deadline.
    for (kind, id, reason) in [("check", "off", "disabled"), ("check", "gone", "not visible")] {
        refused(kind, id, reason, Deadline::after_millis(1500));
    }
}

const FORM: &str = "<form id=f><input id=name><input id=mail type=email><input id=pass type=password><input id=age type=number min=0 max=150>
    <input id=d type=date min=2020-01-01><input id=tm type=time><input id=mo type=month><input id=wk type=week><input id=dt type=datetime-local>
    <input id=col type=color><input id=rg type=range min=0 max=10 step=2><textarea id=ta></textarea>
    <select id=sel><option value=x>Ex<option value=y>Why</select><select id=mul multiple><option>1<option>2<option>3</select>
    <input id=box type=checkbox checked><input id=rad type=radio><div id=ed contenteditable>old</div></form>";

#[test]
fn fill_handles_every_kind_of_field_in_every_frame() {
    let Some((staged, places)) = InputStage::everywhere("fill", FORM) else { return };
    let values = [
        ("name", json!("Ada L\u{f6}velace")),
        ("mail", json!("ada@example.org")),
        ("pass", json!("s3cret")),
        ("age", json!(36)),
        ("d", json!("2024-02-29")),
        ("tm", json!("13:45")),
        ("mo", json!("2024-02")),
        ("wk", json!("2024-W09")),
        ("dt", json!("2024-02-29T13:45")),
        ("col", json!("#FF8800")),
        ("rg", json!(4)),
        ("ta", json!("two\nlines")),
        ("sel", json!("Why")),
        ("mul", json!(["1", "3"])),
        ("box", json!(false)),
        ("rad", json!(true)),
        ("ed", json!("new")),
    ];
    let fields: Vec<Value> =
        values.iter().map(|(id, value)| json!({ "selector": format!("#{id}"), "value": value })).collect();
    let [top, near, deep] = &places[..] else { panic!("three places") };
    let cases = [(top, "trusted"), (top, "synthetic"), (near, "trusted"), (deep, "trusted"), (deep, "synthetic")];
    for (place, input) in share(cases, 2) {
        staged.value(place, "f.reset(); ed.textContent = 'old'; 0");
        staged.act_in(place, json!({ "kind": "fill", "fields": fields, "input": input }));
        let log = staged.log_in(place);
        let held = staged.value(
            place,
            "[...document.querySelectorAll('#f > *')].map(e => e.type === 'checkbox' || e.type === 'radio' ? e.checked
                : e.multiple && e.localName === 'select' ? [...e.selectedOptions].map(o => o.value) : e.value ?? e.textContent)",
        );
        let wanted = json!([
            "Ada L\u{f6}velace",
            "ada@example.org",
            "s3cret",
            "36",
            "2024-02-29",
            "13:45",
            "2024-02",
            "2024-W09",
            "2024-02-29T13:45",
            "#ff8800",
            "4",
            "two\nlines",
            "y",
            ["1", "3"],
            false,
            true,
            "new"
        ]);
        assert_eq!(held, wanted, "{} {input}", place.name);
        for id in ["name", "mail", "pass", "age", "d", "tm", "mo", "wk", "dt", "col", "rg", "ta", "sel", "mul", "box"] {
            let changes = log.iter().filter(|event| event.starts_with(&format!("change:{id}:"))).count();
            assert_eq!(changes, 1, "{} {input} {id}: {log:?}", place.name);
        }
        let how = if input == "trusted" { "trusted" } else { "script" };
        assert!(log.contains(&format!("keydown:name:A:KeyA:{how}")), "{log:?}");
        assert!(log.contains(&format!("change:ta:::{how}")), "{log:?}");
    }
}

#[test]
fn a_rejected_value_is_reported_with_its_field() {
    let body = format!(
        "{FORM}<input id=short maxlength=3><input id=ro readonly><input id=file type=file><input id=no onkeydown='return false'><p id=p>x</p>"
    );
    let Some(staged) = InputStage::alone("fill-refused", &body) else { return };
    let refused = |id: &str, value: Value| {
        let fields =
            json!([{ "selector": "#name", "value": "fine" }, { "selector": format!("#{id}"), "value": value }]);
        let error = staged.try_by(json!({ "kind": "fill", "fields": fields }), Deadline::after_secs(2)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("field 2") && text.contains(&format!("#{id}")), "{text}");
        assert_eq!(staged.eval_value("name.value ?? f.elements[0].value"), "fine");
        (error.code(), text)
    };
    let cases = [
        ("d", json!("29.02.2024"), "NOT_ACTIONABLE", "a date like"),
        ("d", json!("2024-02-30"), "NOT_ACTIONABLE", "a date like"),
        ("d", json!("2019-01-01"), "NOT_ACTIONABLE", "below the minimum 2020-01-01"),
        ("tm", json!("25:00"), "NOT_ACTIONABLE", "a time like"),
        ("mo", json!("02/2024"), "NOT_ACTIONABLE", "a month like"),
        ("wk", json!("9"), "NOT_ACTIONABLE", "a week like"),
        ("dt", json!("2024-02-29"), "NOT_ACTIONABLE", "a date and time like"),
        ("col", json!("orange"), "NOT_ACTIONABLE", "a colour like"),
        ("rg", json!(11), "NOT_ACTIONABLE", "from 0 to 10"),
        ("rg", json!("3"), "NOT_ACTIONABLE", "steps of 2"),
        ("age", json!("young"), "NOT_ACTIONABLE", "numbers only"),
        ("short", json!("abcd"), "NOT_ACTIONABLE", "at most 3 characters"),
        ("no", json!("abcd"), "NOT_ACTIONABLE", "did not accept"),
        ("ro", json!("x"), "NOT_ACTIONABLE", "read-only"),
        ("file", json!("/etc/passwd"), "NOT_ACTIONABLE", "upload"),
        ("p", json!("x"), "NOT_ACTIONABLE", "not editable"),
        ("sel", json!("z"), "BAD_REQUEST", "\"x\" (Ex)"),
        ("sel", json!(true), "BAD_REQUEST", "list of options"),
        ("box", json!("yes"), "BAD_REQUEST", "true or false"),
        ("mail", json!(true), "BAD_REQUEST", "text field"),
        ("mail", json!("two\nlines"), "BAD_REQUEST", "single-line"),
    ];
    for (id, value, code, reason) in share(cases, 6) {
        let (got, text) = refused(id, value);
        assert!(got == code && text.contains(reason), "{id}: {got}: {text}");
    }
}

#[test]
fn fill_accepts_refs_and_stops_at_dialogs() {
    let body =
        "<label>A <input id=a></label><label>B <input id=b onfocus='alert(1)'></label><label>C <input id=c></label>";
    let Some(staged) = InputStage::alone("fill-dialog", body) else { return };
    let seen = staged.snapshot();
    let field = |name: &str, value: &str| json!({ "ref": ref_of(&seen, name), "value": value });
    let response = staged
        .act(json!({ "kind": "fill", "fields": [field("\"A\"", "1"), field("\"B\"", "2"), field("\"C\"", "3")] }));
    assert!(response.blocked_by_dialog);
    staged.supervisor().respond(None, crate::support::chrome::ACCEPT, crate::support::chrome::soon()).unwrap();
    assert_eq!(staged.eval_value("[a.value, c.value]"), json!(["1", ""]));
}

#[test]
fn a_fill_that_fails_names_the_fields_that_are_filled() {
    let Some(staged) = InputStage::alone("fill-partly", "<input id=a><input id=b><select id=s><option>x</select>")
    else {
        return;
    };
    let fill = |fields: Value| {
        staged.try_by(json!({ "kind": "fill", "fields": fields }), Deadline::after_millis(1500)).unwrap_err()
    };
    let error = fill(json!([{ "selector": "#a", "value": "Ada" }, { "ref": "e999", "value": "x" }]));
    assert_eq!(error.code(), "STALE_REF");
    let text = error.to_string();
    assert!(text.starts_with("field 2 (e999): unknown ref e999"), "{text}");
    assert!(text.contains("field 1 (the element \"#a\") is already filled"), "{text}");
    assert_eq!(staged.eval_value("a.value"), "Ada");
    let both = [("#a", "1"), ("#b", "2"), ("#s", "none")].map(|(at, value)| json!({ "selector": at, "value": value }));
    let error = fill(json!(both));
    assert_eq!(error.code(), "BAD_REQUEST");
    assert!(error.to_string().contains("fields 1 to 2 ("), "{error}");
    assert_eq!(fill(json!([])).code(), "BAD_REQUEST");
}

/// A page that sets fields back after the one before has lost the focus.
#[test]
fn a_date_that_is_reset_after_a_blur_is_filled() {
    let Some(page) = TestTab::new("forms-blur") else { return };
    page.put(
        "/",
        "<input id=n><input type=date id=d><script>n.addEventListener('blur', () => requestAnimationFrame(() => d.value = ''))</script>
         <input type=date id=e><script>e.addEventListener('input', () => requestAnimationFrame(() => e.value = '2020-01-01'))</script>",
    );
    page.go("/");
    let fields = json!([{ "selector": "#n", "value": "Ada" }, { "selector": "#d", "value": "2026-12-24" }]);
    page.act(json!({ "kind": "fill", "fields": fields })).unwrap();
    assert_eq!(page.value("d.value"), "2026-12-24");
    let fields = json!([{ "selector": "#n", "value": "Bea" }, { "selector": "#e", "value": "2026-12-24" }]);
    let error = page.act(json!({ "kind": "fill", "fields": fields })).unwrap_err().to_string();
    assert!(error.contains("the page changed it to another value"), "{error}");
}

/// Keys for no given field do not press what has the focus, and cells are no fields.
#[test]
fn text_is_not_typed_into_buttons_and_cells() {
    let Some(page) = TestTab::new("forms-buttons") else { return };
    page.put(
        "/",
        "<button id=b onclick=\"o.append('clicked ')\">Add card</button><p id=o></p><table><td id=c>Jazz</table>
         <select id=s style='position: absolute; width: 1px; height: 1px; clip: rect(0 0 0 0)'><option>a<option>b</select>",
    );
    page.go("/");
    page.act(json!({ "kind": "click", "selector": "#b" })).unwrap();
    let error = page.act(json!({ "kind": "type", "text": "New card x" })).unwrap_err().to_string();
    assert!(error.contains("button \"Add card\"") && error.contains("keys would press it"), "{error}");
    assert_eq!(page.value("o.textContent"), "clicked ");
    let error = page.act(json!({ "kind": "type", "selector": "#c", "text": "x" })).unwrap_err().to_string();
    assert!(error.contains("it is no field; click or double-click it"), "{error}");
    let done = page.act(json!({ "kind": "select", "selector": "#s", "values": ["b"] })).unwrap();
    assert!(done.hint.is_some_and(|hint| hint.contains("not visible")), "{done:?}");
}
