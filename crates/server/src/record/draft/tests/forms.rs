//! Forms, their fields, and inputs.

use serde_json::json;

use super::*;
use crate::record::draft::{Action, FieldValue, StepType, SubmitBy};

fn input_names(trace: &Trace) -> Vec<String> {
    trace.draft().workflow.inputs.into_iter().map(|input| input.name).collect()
}

#[test]
fn consecutive_edits_and_the_submission_are_one_step() {
    let mut trace = Trace::default();
    trace.input("Name", "Ada");
    trace.input("Email", "ada@example.org");
    trace.click("button", "Save");
    trace.submit();
    let steps = trace.steps();
    assert_eq!(steps.len(), 1);
    assert_eq!((steps[0].kind, steps[0].action), (StepType::Form, Action::FillSubmit));
    assert_eq!(steps[0].source_event_indexes, [1, 2, 3, 4]);
    let expected = "Enter “Ada” in textbox “Name”, enter “ada@example.org” in textbox “Email” and submit with \
                    button “Save”";
    assert_eq!(steps[0].description, expected);
    let target = steps[0].target.as_ref().unwrap();
    let names: Vec<&str> = target.fields.iter().map(|field| field.element.name.as_str()).collect();
    assert_eq!(names, ["Name", "Email"]);
    let submit = target.submit.as_ref().unwrap();
    assert_eq!((submit.by, submit.element.as_ref().unwrap().name.as_str()), (SubmitBy::Click, "Save"));
}

#[test]
fn a_click_that_submits_nothing_stays_a_step() {
    let mut trace = Trace::default();
    trace.input("Name", "Ada");
    trace.click("button", "Save");
    assert_eq!(trace.descriptions(), ["Enter “Ada” in textbox “Name”", "Click button “Save”"]);
}

#[test]
fn the_submission_of_another_document_is_not_that_of_a_click() {
    let mut trace = Trace::default();
    trace.click("button", "Save");
    trace.submit().page.url = "https://other.example/".to_owned();
    assert_eq!(trace.descriptions(), ["Click button “Save”", "Submit form “Order”"]);
}

#[test]
fn a_click_into_a_field_before_typing_is_part_of_the_form() {
    let mut trace = Trace::default();
    trace.click("textbox", "Name");
    trace.input("Name", "Ada");
    trace.click("textbox", "Email");
    trace.add(EventType::Focus, Some(element("textbox", "Email")), json!({}));
    trace.input("Email", "ada@example.org");
    let steps = trace.steps();
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0].source_event_indexes, [1, 2, 3, 4, 5]);
}

#[test]
fn a_click_on_another_element_before_typing_stays_a_step() {
    let mut trace = Trace::default();
    trace.click("button", "Edit");
    trace.input("Name", "Ada");
    assert_eq!(trace.steps().len(), 2);
}

#[test]
fn a_double_click_into_a_field_stays_a_step() {
    let mut trace = Trace::default();
    trace.click("textbox", "Name").data.insert("count".to_owned(), 2.into());
    trace.input("Name", "Ada");
    assert_eq!(trace.descriptions(), ["Double-click textbox “Name”", "Enter “Ada” in textbox “Name”"]);
}

#[test]
fn a_click_that_selects_the_text_of_a_field_is_part_of_the_form() {
    let mut trace = Trace::default();
    trace.click("textbox", "Name").data.insert("count".to_owned(), 3.into());
    trace.input("Name", "Ada");
    assert_eq!(trace.descriptions(), ["Enter “Ada” in textbox “Name”"]);
}

#[test]
fn input_names_are_unique_over_forms() {
    let mut trace = Trace::default();
    trace.input("Email", "a@example.org");
    trace.click("button", "Next");
    trace.input("Email", "b@example.org");
    trace.click("button", "Next");
    trace.input("Email 2", "c@example.org");
    trace.click("button", "Next");
    trace.input("Email", "d@example.org");
    assert_eq!(input_names(&trace), ["email", "email_2", "email_2_2", "email_3"]);
    let draft = trace.draft();
    let steps: Vec<&str> = draft.workflow.inputs.iter().map(|input| input.step.as_str()).collect();
    assert_eq!(steps, ["step_001", "step_003", "step_005", "step_007"]);
}

#[test]
fn input_names_come_from_labels_and_are_plain() {
    let mut trace = Trace::default();
    trace.input("search-field", "x").element.as_mut().unwrap().label = "Größe (cm)".to_owned();
    trace.input("2nd address", "x");
    trace.input("住所", "x");
    trace.input("住所", "y").element.as_mut().unwrap().test_id = "home-address".to_owned();
    assert_eq!(input_names(&trace), ["groesse_cm", "nd_address", "field", "home_address"]);
}

#[test]
fn the_last_value_of_a_field_counts() {
    let mut trace = Trace::default();
    trace.input("Name", "Ad");
    trace.input("Email", "ada@example.org");
    trace.input("Name", "Ada");
    trace.add(EventType::Change, Some(element("textbox", "Name")), json!({ "value": "Ada" }));
    let draft = trace.draft();
    assert_eq!(draft.normalized_step_count, 1);
    let defaults: Vec<_> = draft.workflow.inputs.iter().map(|input| input.default.as_deref().unwrap()).collect();
    assert_eq!(defaults, ["Ada", "ada@example.org"]);
}

#[test]
fn anonymous_fields_stay_apart() {
    let mut trace = Trace::default();
    for (y, value) in [(10.0, "a"), (40.0, "b"), (10.0, "c")] {
        trace.input("", value).element.as_mut().unwrap().area = at(y);
    }
    let inputs = trace.draft().workflow.inputs;
    let values: Vec<_> = inputs.iter().map(|input| (input.name.as_str(), input.default.as_deref().unwrap())).collect();
    assert_eq!(values, [("field", "c"), ("field_2", "b")], "the field at the same place is the same one");
    let mut trace = Trace::default();
    trace.input("", "a");
    trace.input("", "b");
    assert_eq!(input_names(&trace), ["field", "field_2"], "nothing says that they are one field");
}

#[test]
fn fields_that_differ_in_one_part_of_their_identity_stay_apart() {
    let changes: [fn(&mut Event); 4] = [
        |event| event.element.as_mut().unwrap().selectors = vec!["#other".to_owned()],
        |event| event.element.as_mut().unwrap().label = "Other".to_owned(),
        |event| event.element.as_mut().unwrap().role = "searchbox".to_owned(),
        |event| event.element.as_mut().unwrap().container = within("row", "Other"),
    ];
    for change in changes {
        let mut trace = Trace::default();
        trace.input("Quantity", "1");
        change(trace.input("Quantity", "2"));
        let steps = trace.steps();
        assert_eq!(steps[0].target.as_ref().unwrap().fields.len(), 2);
    }
}

#[test]
fn fields_of_two_forms_are_two_steps() {
    let mut trace = Trace::default();
    trace.input("Name", "Ada").element.as_mut().unwrap().container = within("form", "Sender");
    trace.input("Name", "Eve").element.as_mut().unwrap().container = within("form", "Recipient");
    let expected =
        ["Enter “Ada” in textbox “Name” in form “Sender”", "Enter “Eve” in textbox “Name” in form “Recipient”"];
    assert_eq!(trace.descriptions(), expected);
}

#[test]
fn fields_of_two_frames_are_two_steps() {
    let mut trace = Trace::default();
    trace.input("Name", "Ada");
    let frame = crate::record::FrameStep { index: 1, name: "pay".to_owned(), url: String::new() };
    trace.input("Name", "Eve").frame = vec![frame];
    assert_eq!(trace.descriptions(), ["Enter “Ada” in textbox “Name”", "Enter “Eve” in textbox “Name” in frame “pay”"]);
}

#[test]
fn sensitive_fields_are_required_inputs_without_a_default() {
    let mut trace = Trace::default();
    trace.input("User", "ada");
    let event = trace.add(EventType::Input, Some(element("textbox", "Password")), json!({ "value": null }));
    event.element.as_mut().unwrap().sensitive = true;
    let event = trace.input("Code", "123456");
    event.element.as_mut().unwrap().sensitive = true;
    event.element.as_mut().unwrap().text = "123456".to_owned();
    let draft = trace.draft();
    let inputs = &draft.workflow.inputs;
    assert_eq!((inputs[0].required, inputs[0].sensitive), (false, false));
    for input in &inputs[1..] {
        assert_eq!((input.required, input.sensitive, &input.default), (true, true, &None));
    }
    let text = serde_json::to_string(&draft).unwrap();
    assert!(!text.contains("123456"), "{text}");
    assert!(text.contains("enter the input `password` in textbox “Password”"), "{text}");
}

#[test]
fn an_input_whose_value_was_withheld_is_sensitive() {
    let mut trace = Trace::default();
    trace.add(EventType::Input, Some(element("textbox", "Pin")), json!({ "value": null, "source_count": 4 }));
    let input = &trace.draft().workflow.inputs[0];
    assert!(input.sensitive && input.required);
    let mut trace = Trace::default();
    trace.input("Pin", "");
    let input = &trace.draft().workflow.inputs[0];
    assert_eq!((input.sensitive, input.default.as_deref()), (false, Some("")), "a field that was cleared");
    assert_eq!(trace.descriptions(), ["Clear textbox “Pin”"]);
}

#[test]
fn a_choice_keeps_label_and_value() {
    let mut trace = Trace::default();
    let values = json!({ "values": [{ "value": "xl", "label": "Extra large" }] });
    trace.add(EventType::Change, Some(element("combobox", "Size")), values);
    let steps = trace.steps();
    assert_eq!(steps[0].description, "Choose “Extra large” in combobox “Size”");
    let value = serde_json::to_value(&steps[0].target.as_ref().unwrap().fields[0].value).unwrap();
    let expected = json!({
        "kind": "variable", "name": "size", "required": false, "sensitive": false, "default": "xl",
        "choices": [{ "value": "xl", "label": "Extra large" }],
    });
    assert_eq!(value, expected);
}

#[test]
fn checkboxes_have_a_state_and_no_input() {
    let mut trace = Trace::default();
    trace.click("checkbox", "Terms");
    trace.add(EventType::Change, Some(element("checkbox", "Terms")), json!({ "checked": true }));
    trace.add(EventType::Change, Some(element("checkbox", "News")), json!({ "checked": false }));
    let draft = trace.draft();
    assert_eq!(draft.workflow.inputs, []);
    assert_eq!(trace.descriptions(), ["Check checkbox “Terms” and uncheck checkbox “News”"]);
    let fields = &draft.normalized_steps[0].target.as_ref().unwrap().fields;
    assert_eq!(fields[0].value, FieldValue::Checked { checked: true });
}

#[test]
fn the_radio_button_chosen_last_is_the_last_field() {
    let mut trace = Trace::default();
    for name in ["Post", "Courier", "Post"] {
        trace.add(EventType::Change, Some(element("radio", name)), json!({ "checked": true }));
    }
    assert_eq!(trace.descriptions(), ["Check radio “Courier” and check radio “Post”"]);
}

#[test]
fn tab_between_fields_is_part_of_the_form_and_a_step_elsewhere() {
    let mut trace = Trace::default();
    trace.input("Name", "Ada");
    trace.key("Tab", "textbox", "Name");
    trace.add(EventType::Focus, Some(element("textbox", "Email")), json!({}));
    trace.input("Email", "ada@example.org");
    trace.key("Tab", "textbox", "Email");
    trace.click("link", "Help");
    let expected = [
        "Enter “Ada” in textbox “Name” and enter “ada@example.org” in textbox “Email”",
        "Press Tab in textbox “Email”",
        "Click link “Help”",
    ];
    assert_eq!(trace.descriptions(), expected);
    assert_eq!(trace.steps()[0].source_event_indexes, [1, 2, 3, 4]);
}

#[test]
fn enter_submits_the_form() {
    let mut trace = Trace::default();
    trace.input("Search", "boots");
    trace.key("Enter", "textbox", "Search");
    trace.submit();
    trace.navigated("https://shop.example/?q=boots", Some(3));
    let steps = trace.steps();
    assert_eq!(trace.descriptions(), ["Enter “boots” in textbox “Search” and submit with Enter"]);
    assert_eq!(steps[0].target.as_ref().unwrap().submit.as_ref().unwrap().by, SubmitBy::Enter);
    assert_eq!(steps[0].postcondition, goes_to("https://shop.example/?q=boots"));
}

#[test]
fn enter_without_a_submission_is_a_step() {
    let mut trace = Trace::default();
    trace.input("Search", "boots");
    trace.key("Enter", "textbox", "Search");
    trace.navigated("https://shop.example/?q=boots", Some(2));
    let steps = trace.steps();
    assert_eq!(trace.descriptions(), ["Enter “boots” in textbox “Search”", "Press Enter in textbox “Search”"]);
    assert_eq!(steps[1].kind, StepType::Key);
    assert_eq!(steps[1].postcondition, goes_to("https://shop.example/?q=boots"));
}

#[test]
fn scrolling_while_a_form_is_filled_does_not_split_it() {
    let mut trace = Trace::default();
    trace.input("Name", "Ada");
    trace.add(EventType::Scroll, None, json!({ "x": 0, "y": 2000 }));
    trace.click("textbox", "Email");
    trace.input("Email", "ada@example.org");
    trace.add(EventType::Scroll, None, json!({ "x": 0, "y": 4000 }));
    trace.click("button", "Save");
    trace.submit();
    assert_eq!(trace.steps().len(), 1);
}
