//! Presses, keys and scrolling in pages that act on them before the click, as libraries of menus, lists and editors do.

use serde_json::Value;

use super::recording_capture::{Stage, actions};
use crate::support::api::TestServer;

/// The container of each event with an element: its kind and title.
fn containers(events: &[Value]) -> Vec<String> {
    let elements = events.iter().map(|event| &event["element"]).filter(|element| element.is_object());
    let container = |element: &Value| {
        let of = |name: &str| element["container"][name].as_str().unwrap_or_default().to_owned();
        format!("{} {}", of("kind"), of("title")).trim().to_owned()
    };
    elements.map(container).collect()
}

#[test]
fn a_press_is_on_what_was_pressed_also_if_that_is_removed() {
    // Below each option is another field, which gets the rest of the press.
    let list = |n: usize, event: &str| {
        let top = 20 + 60 * n;
        let place = format!("position: absolute; left: 20px; top: {top}px; width: 200px; height: 30px");
        format!(
            "<input aria-label='Below {n}' style='{place}'><ul role=listbox style='{place}; margin: 0; padding: 0; background: #eee' \
             on{event}='this.remove()'><li role=option>Option {n}</li></ul>"
        )
    };
    let lists: String = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]
        .iter()
        .enumerate()
        .map(|(n, on)| list(n, on))
        .collect();
    let Some(stage) = Stage::showing(&format!("<title>Lists</title>{lists}")) else { return };
    for n in 0..5 {
        stage.person.click_at((60.0, f64::from(35 + 60 * n)));
    }
    let expected: Vec<String> = (0..5).map(|n| format!("click option \"Option {n}\"")).collect();
    assert_eq!(actions(&stage.events()), expected);
}

#[test]
fn an_option_of_a_list_box_is_one_change() {
    let html = "<title>Tags</title><select multiple size=4 aria-label=Tags ondblclick='document.title = this.value' \
        style='font: 20px sans-serif'><option>art<option>books<option>cats</select>";
    let Some(stage) = Stage::showing(html) else { return };
    stage.person.click("document.querySelectorAll('option')[0]");
    stage.person.double_click("document.querySelectorAll('option')[1]");
    // What is selected in the end, and the double click.
    assert_eq!(
        actions(&stage.events()),
        ["change listbox \"Tags\" [{\"label\":\"books\",\"value\":\"books\"}]", "click option \"books\" 2",]
    );
}

#[test]
fn keys_that_the_page_uses_are_recorded() {
    let html = "<title>Keys</title><input id=date aria-label=Date onkeydown=\"if (/Arrow/.test(event.key)) event.preventDefault()\">
        <input id=plain aria-label=Plain><textarea id=chat aria-label=Message></textarea><textarea id=text aria-label=Text></textarea>
        <script>chat.onkeydown = (event) => { if (event.key === 'Enter' && !event.shiftKey) { event.preventDefault(); chat.value = ''; } };</script>";
    let Some(stage) = Stage::showing(html) else { return };
    let person = &stage.person;
    for field in ["date", "plain"] {
        person.click(field);
        person.press("ArrowDown", 0);
    }
    person.click("chat");
    for message in ["Hello", "Bye"] {
        person.write(message);
        person.press("Enter", 0);
    }
    person.click("text");
    person.write("a");
    person.press("Enter", 0);
    person.write("b");
    assert_eq!(
        actions(&stage.events()),
        [
            "click textbox \"Date\"",
            "keydown textbox \"Date\" \"ArrowDown\"",
            "click textbox \"Plain\"",
            "click textbox \"Message\"",
            "input textbox \"Message\" \"Hello\"",
            "keydown textbox \"Message\" \"Enter\"",
            "input textbox \"Message\" \"Bye\"",
            "keydown textbox \"Message\" \"Enter\"",
            "click textbox \"Text\"",
            "input textbox \"Text\" \"a\\nb\"",
        ]
    );
}

#[test]
fn titles_of_containers_tell_them_apart() {
    let html = "<title>Books</title><table><tr><th scope=row><a href='#1'>Emma</a><td>Add</tr><tr><th scope=row><a href='#2'>Persuasion</a>\
        <td>Add</tr></table><form><fieldset><div><label>Title <input></label></div><div><label><input type=checkbox> Lent</label></div></fieldset>
        <label class=choice><input type=radio> To the door</label></form>
        <table><tr><td>Ada<td><button>Edit</button></tr><tr><td>Bob<td><button>Edit</button></tr></table>";
    let Some(stage) = Stage::showing(html) else { return };
    for element in [
        "querySelectorAll('a')[1]",
        "querySelector('[type=checkbox]')",
        "querySelector('[type=radio]')",
        "querySelectorAll('button')[1]",
    ] {
        stage.person.click(&format!("document.{element}"));
    }
    let events = stage.events();
    assert_eq!(
        actions(&events),
        [
            "click link \"Persuasion\"",
            "change checkbox \"Lent\" true",
            "change radio \"To the door\" true",
            "click button \"Edit\""
        ]
    );
    assert_eq!(containers(&events), ["", "", "", "row Bob"]);
}

#[test]
fn cards_are_alike_although_one_is_marked() {
    let html = "<title>Board</title><div><div class='card wide'><h2>Sales</h2><button>Refresh</button></div><div class='card wide on'><h2>Visitors</h2>
        <button>Refresh</button></div><div class='card wide'><h2>Errors</h2><button>Refresh</button></div></div>
        <div><p class=intro>Some text.</p><p class=note>More text.</p><p class='end note'><button>Close</button></p></div>
        <div class='widget panel'>One</div><div class='widget menu'><button>Open</button></div><div class='widget bar'>Two</div>";
    let Some(stage) = Stage::showing(html) else { return };
    for n in [0, 1, 3, 4] {
        stage.person.click(&format!("document.querySelectorAll('button')[{n}]"));
    }
    assert_eq!(containers(&stage.events()), ["item Sales", "item Visitors", "", ""]);
}

#[test]
fn an_item_of_a_list_with_the_focus_is_what_is_used() {
    let html = "<title>Files</title><div tabindex=0><ul><li><span>letter.txt</span></li><li><span>notes.txt</span></li></ul></div>
        <div tabindex=0><div class=file><b>One</b></div><div class=file><b>Two</b></div><div class=file><b>Three</b></div></div>
        <div tabindex=0 id=card><div><b>A card</b> that is pressed as a whole</div></div>";
    let Some(stage) = Stage::showing(html) else { return };
    for element in ["querySelectorAll('span')[1]", "querySelectorAll('.file b')[1]", "querySelector('#card b')"] {
        stage.person.click(&format!("document.{element}"));
    }
    let events = stage.events();
    let clicked: Vec<&str> = events.iter().filter_map(|event| event["element"]["text"].as_str()).collect();
    assert_eq!(clicked, ["notes.txt", "Two", "A card that is pressed as a whole"]);
}

#[test]
fn what_the_page_does_under_the_pointer_is_nobodys_work() {
    // Elements change their class while the pointer is over them; a press scrolls a box.
    let html = "<title>Panel</title><style>button, h2 { width: 200px; height: 30px; margin: 10px; display: block } #box { height: 80px; overflow: auto } \
        .on { color: red }</style><button>First</button><button>Second</button><section class=panel><h2>Heading</h2></section>
        <button onpointerdown='box.scrollTop = 30'>Third</button><div id=box><p style='height: 500px'></p></div><script>
        for (const one of document.querySelectorAll('button, h2, .panel'))
          one.onmouseenter = one.onmouseleave = (event) => one.classList.toggle('on', event.type === 'mouseenter');</script>";
    let Some(stage) = Stage::showing(html) else { return };
    for element in [
        "querySelectorAll('button')[0]",
        "querySelectorAll('button')[1]",
        "querySelector('h2')",
        "querySelectorAll('button')[2]",
    ] {
        let at = stage.person.middle("document.querySelector('button')");
        stage.person.move_to(at);
        stage.person.click(&format!("document.{element}"));
    }
    assert_eq!(
        actions(&stage.events()),
        ["click button \"First\"", "click button \"Second\"", "click heading \"Heading\"", "click button \"Third\""]
    );
}

#[test]
fn a_page_that_goes_on_by_itself_is_one_step() {
    let Some(served) = TestServer::browsing() else { return };
    served.site.page("/", "<title>Start</title><script>history.replaceState(null, '', '#/'); setTimeout(() => (location = '/home'))</script>");
    served.site.page("/home", "<title>Home</title><button onclick=\"location = '/'\">Again</button>");
    let stage = Stage::of(served, "/");
    stage.served.api.until("the home page", &stage.path("/events"), |_| stage.person.title() == "Home");
    stage.person.click("document.querySelector('button')");
    stage.served.api.until("the second time", &stage.path("/events"), |answer| {
        let events = answer["events"].as_array().unwrap();
        events.iter().filter(|event| event["event_type"] == "page_view" && event["page"]["title"] == "Home").count()
            == 2
    });
    stage.events();
    let draft = stage.served.api.get(&stage.path("/workflow-draft")).ok();
    let steps: Vec<&str> =
        draft["normalized_steps"].as_array().unwrap().iter().map(|step| step["action"].as_str().unwrap()).collect();
    assert_eq!(steps, ["open", "click"], "{draft:#}");
}

#[test]
fn back_and_forward_say_whether_the_page_did_it() {
    let Some(served) = TestServer::browsing() else { return };
    served.site.page("/", "<title>List</title><a href=/one>One</a> <a href=/two>Two</a>");
    for (path, title) in [("/one", "One"), ("/two", "Two")] {
        let page = format!("<title>{title}</title><button onclick='history.back()'>Cancel</button>");
        served.site.page(path, &page);
    }
    let stage = Stage::of(served, "/");
    let until = |title: &str, kind: &str, count: usize| {
        stage.served.api.until(title, &stage.path("/events"), |answer| {
            let events = answer["events"].as_array().unwrap();
            stage.person.title() == title && events.iter().filter(|event| event["event_type"] == kind).count() == count
        });
    };
    stage.person.click("document.querySelectorAll('a')[0]");
    until("One", "tab_navigated", 2);
    stage.person.click("document.querySelector('button')");
    until("List", "tab_back", 1);
    // The history is as long as before.
    stage.person.click("document.querySelectorAll('a')[1]");
    until("Two", "tab_navigated", 3);
    // What the button of the browser does.
    let history = stage.person.send("Page.getNavigationHistory", &serde_json::json!({}));
    let before = history["currentIndex"].as_u64().unwrap() - 1;
    let entry = &history["entries"][usize::try_from(before).unwrap()]["id"];
    stage.person.send("Page.navigateToHistoryEntry", &serde_json::json!({ "entryId": entry }));
    until("List", "tab_back", 2);
    let events = stage.events();
    let moves: Vec<(String, bool)> = events
        .iter()
        .filter(|event| {
            ["tab_navigated", "tab_back", "tab_forward", "tab_activated", "gap"]
                .contains(&event["event_type"].as_str().unwrap())
        })
        .map(|event| (event["event_type"].as_str().unwrap().to_owned(), event["data"]["caused_by"].is_u64()))
        .collect();
    let expected = [
        ("tab_navigated", false),
        ("tab_navigated", true),
        ("tab_back", true),
        ("tab_navigated", true),
        ("tab_back", false),
    ];
    assert_eq!(moves, expected.map(|(kind, is_caused)| (kind.to_owned(), is_caused)), "{events:#?}");
}

#[test]
fn keys_of_the_browser_are_recorded_if_the_page_handles_them() {
    let html = "<title>Keys</title><h1>Report</h1><script>onkeydown = (event) => {
        if (event.ctrlKey && event.key === 's') event.preventDefault();
        else if (event.altKey && event.key === 'p') document.title = 'Preview'; }</script>";
    let Some(stage) = Stage::showing(html) else { return };
    let (alt, control) = (1, 2);
    for (key, modifiers) in [("ArrowLeft", alt), ("p", alt), ("f", control), ("s", control), ("F5", 0), ("F2", 0)] {
        stage.person.press(key, modifiers);
    }
    let events = stage.events();
    assert_eq!(
        actions(&events),
        ["keydown generic \"\" \"p\"", "keydown generic \"\" \"s\"", "keydown generic \"\" \"F2\""]
    );
}

#[test]
fn the_page_of_new_tabs_and_the_keys_of_the_browser_are_no_work() {
    let Some(served) = TestServer::browsing() else { return };
    served.site.page("/", "<title>Start</title><button>Save</button>");
    let stage = Stage::of(served, "/");
    let page_views = |count: usize| {
        stage.served.api.until("the page", &stage.path("/events"), |answer| {
            let events = answer["events"].as_array().unwrap();
            events.iter().filter(|event| event["event_type"] == "page_view").count() == count
        });
    };
    stage.person.click("document.querySelector('button')");
    stage.person.press("F5", 0);
    stage.person.send("Page.reload", &serde_json::json!({}));
    page_views(2);
    let start = stage.served.site.url("a", "/");
    stage.person.send("Page.navigate", &serde_json::json!({ "url": "chrome://newtab/" }));
    stage
        .served
        .api
        .until("the new tab", &stage.path("/events"), |_| stage.person.eval("document.readyState") == "complete");
    stage.person.press("Enter", 0);
    stage.person.send("Page.navigate", &serde_json::json!({ "url": start }));
    page_views(3);
    let events = stage.events();
    assert_eq!(actions(&events), ["click button \"Save\""]);
    assert!(
        events.iter().all(|event| !event["page"]["url"].as_str().unwrap_or_default().starts_with("chrome")),
        "{events:#?}"
    );
    let draft = stage.served.api.get(&stage.path("/workflow-draft")).ok();
    let steps: Vec<&str> =
        draft["normalized_steps"].as_array().unwrap().iter().map(|step| step["action"].as_str().unwrap()).collect();
    assert_eq!(steps[..3], ["open", "click", "reload"], "{draft:#}");
}

#[test]
fn pictures_and_formulas_in_buttons_are_part_of_them() {
    let icon = "<svg width=24 height=24 viewBox='0 0 24 24'><g><path d='M0 0h24v24H0z'/></g></svg>";
    let html = format!(
        "<title>Icons</title><style>* {{ margin: 8px }}</style><button aria-label=Delete>{icon}</button> <a href=# aria-label=Edit>{icon}</a> \
         <button aria-label=Root><math display=block><msqrt><mi>x</mi></msqrt></math></button> \
         <svg width=40 height=40 role=button tabindex=0 aria-label=Map><circle cx=20 cy=20 r=18></circle></svg>"
    );
    let Some(stage) = Stage::showing(&html) else { return };
    for inner in ["button path", "a path", "mi", "circle"] {
        stage.person.click(&format!("document.querySelector('{inner}')"));
    }
    stage.person.press("Enter", 0);
    assert_eq!(
        actions(&stage.events()),
        [
            "click button \"Delete\"",
            "click link \"Edit\"",
            "click button \"Root\"",
            "click button \"Map\"",
            "keydown button \"Map\" \"Enter\"",
        ]
    );
}

#[test]
fn a_document_that_is_opened_again_is_recorded_and_a_password_in_another_field_is_not() {
    let html = "<title>Old</title><label>Password <input id=p type=password></label><button id=show onclick=\"const text = \
        document.createElement('input'); text.id = 'shown'; text.ariaLabel = 'Code'; text.value = p.value; p.replaceWith(text)\">Show</button>\
        <p id=echo></p><button id=again onclick=\"document.open(); document.write('<title>New</title><button>Go on</button><input aria-label=Name>'); \
        document.close()\">Again</button>";
    let Some(stage) = Stage::showing(html) else { return };
    stage.person.click("document.querySelector('#p')");
    stage.person.write("Xylophone77");
    stage.person.click("document.querySelector('#show')");
    stage.person.click("document.querySelector('#shown')");
    stage.person.write("8");
    stage.person.click("document.querySelector('#again')");
    stage.person.click("document.querySelector('button')");
    stage.person.click("document.querySelector('input')");
    stage.person.write("Ada");
    let events = stage.events();
    let text = serde_json::to_string(&events).unwrap();
    assert!(!text.contains("Xylophone"), "{text}");
    let lines = actions(&events);
    let last = &lines[lines.len().saturating_sub(3)..];
    assert_eq!(
        last,
        ["click button \"Go on\"", "click textbox \"Name\"", "input textbox \"Name\" \"Ada\""],
        "{lines:#?}"
    );
}
