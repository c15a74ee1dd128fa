//! The web UI's routines, used in a real browser as a person would.

use cdpilot::page::Act;
use serde_json::json;

use crate::replay_fast::{found, of_invoices};
use crate::server_tasks::Tasks;
use crate::server_ui_agent::{Person, shop};
use crate::support::agent_plan::Do;
use crate::support::site::Site;

#[test]
fn routines_are_written_run_and_compared_in_the_page() {
    let site = Site::start();
    shop(&site);
    let step = |command: &str, n: u32| Do::Call("routine_step", json!({ "command": command, "n": n }));
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        step("begin", 1),
        Do::Look,
        step("done", 1),
        Do::Say("It is a shop."),
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let Some(person) = Person::at(&tasks.served) else { return };
    person.clicks("role=link[name=Routines]");
    person.sees("view-routines", "There are no routines yet.");
    person.clicks("role=button[name=\"New routine\"]");
    // Problems stand beside their lines, and the text stays.
    let text = format!(
        "# Workflow: Look around\n\n## Prerequisites\nStarting URL: {}\n\n## Inputs\n- what\n\n## Step 2: Look\nLook at the {{{{what}}}}. Follow plan 0\n",
        site.url("a", "/")
    );
    person.types("label=Name", "look");
    person.types("label=\"Text of the routine\"", &text);
    person.clicks("role=button[name=Save]");
    person.sees("view-routines", "write `## Step 1: Look`");
    assert_eq!(person.eval("document.querySelector('.gutter .bad').textContent.trim()"), 9);
    person.types("label=\"Text of the routine\"", &text.replace("Step 2", "Step 1"));
    person.clicks("role=button[name=Save]");
    person.sees("view-routines", "version 1, not tried");
    person.types("label=what", "shop");
    person.clicks("text=\"Without the logins of the profile\"");
    person.clicks("css=.run-form button.primary");
    person.sees("narration", "It is a shop.");
    person.clicks("role=link[name=Routines]");
    person.clicks("text=\"Look around\"");
    person.sees("view-routines", "version 1, works");
    person.clicks("role=tab[name=Runs]");
    person.sees("view-routines", "1 of 1 steps");
    person.until("[...document.querySelectorAll('#view-routines td img')].some(image => !image.hidden)");
    person.clicks("role=tab[name=Edit]");
    person.types("label=\"Text of the routine\"", &text.replace("Step 2", "Step 1").replace("Look at", "Read"));
    person.clicks("role=button[name=Save]");
    person.sees("view-routines", "version 2, not tried");
    person.clicks("role=tab[name=Versions]");
    person.clicks("role=button[name=\"Compare with version 1\"]");
    person.sees("view-routines", "+Read the {{what}}");
    for width in [1280, 420] {
        person.acts(Act::resize(width, 740));
        person.until(&format!("innerWidth === {width}"));
        assert_eq!(person.eval("document.documentElement.scrollWidth <= innerWidth"), true, "{width}");
    }
    person.clicks("role=button[name=\"Use it again\"]");
    person.sees("view-routines", "Version 3");
    person.clicks("role=button[name=Delete]");
    person.clicks("text=\"Delete it with its runs?\"");
    person.sees("view-routines", "There are no routines yet.");
}

#[test]
fn what_a_model_has_found_is_shown_beside_what_was_recorded_and_approved_in_the_page() {
    let Some(made) = of_invoices() else { return };
    let served = &made.stage.served;
    served.site.page("/found", &found(&[1001, 1002], "Put away"));
    made.plan(vec![
        Do::Look,
        Do::Look,
        Do::Look,
        Do::Look,
        Do::Look,
        Do::Act("click", "data-n=\"1002\"", ""),
        Do::Call("routine_step", json!({ "command": "done", "n": 3 })),
        Do::Say("Archived."),
    ]);
    assert_eq!(made.run(&json!({ "login": "own" }))["status"], "done");
    let Some(person) = Person::at(served) else { return };
    person.clicks("role=link[name=Routines]");
    person.sees("view-routines", "a new version is proposed");
    person.clicks("css=#view-routines .routines a");
    person.clicks("text=\"Compare and decide\"");
    person.sees("view-routines", "button \"Put away\" in row \"Invoice 1002\"");
    person.sees("view-routines", "button \"Archive\" in row \"Invoice 1002\"");
    person.until("[...document.querySelectorAll('#view-routines .pair img')].some(image => !image.hidden)");
    person.clicks("role=button[name=\"Use it\"]");
    person.sees("view-routines", "in use");
    // Without a model, from the page.
    person.clicks("role=tab[name=Text]");
    person.acts(Act::select("label=Model", ["No model: stop where one is needed"]));
    person.clicks("text=\"Without the logins of the profile\"");
    person.clicks("css=.run-form button.primary");
    person.sees("narration", "All 3 steps were done without a model.");
    person.clicks("role=link[name=Routines]");
    person.clicks("css=#view-routines .routines a");
    person.clicks("role=tab[name=Runs]");
    person.sees("view-routines", "3 of 3 steps, 0 requests to the model");
    person.until("[...document.querySelectorAll('#view-routines td img')].filter(image => !image.hidden).length >= 3");
    person.acts(Act::resize(420, 740));
    person.until("innerWidth === 420");
    assert_eq!(person.eval("document.documentElement.scrollWidth <= innerWidth"), true);
}
