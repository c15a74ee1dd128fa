//! Looking at widgets: controls that are drawn by something else, menus that open under the mouse, transitions.

use cdpilot::page::{ElementType, Hint, Look, LookOptions, Readiness, Use};

use crate::support::chrome::soon;
use crate::support::test_tab::TestTab;

fn looked(page: &TestTab, html: &str) -> Look {
    page.site.page("/", html);
    page.go("/");
    page.tab.look_at(&LookOptions::new(), soon()).unwrap()
}

fn names(look: &Look) -> Vec<&str> {
    look.all.iter().map(|element| &*element.shown.name).collect()
}

#[test]
fn a_control_is_shown_where_its_label_is_drawn() {
    let Some(page) = TestTab::new("look-labels") else { return };
    let look = looked(
        &page,
        "<body style='margin:0'><style>label{display:inline-block;width:200px;height:40px;margin:40px;background:#ddd}</style>
         <input type=checkbox id=far checked style='position:absolute;left:-9999px'><label for=far>Far away</label>
         <input type=radio name=r id=clear style='opacity:0;width:0;height:0'><label for=clear>Clear</label>
         <input type=checkbox id=none style='display:none'><label for=none>Not displayed</label>",
    );
    // A control that is not displayed is used through its label.
    assert_eq!(names(&look), ["Far away", "Clear", "Not displayed"], "{:?}", look.all);
    for element in &look.all {
        assert_eq!((element.bounds.width, element.bounds.height), (200.0, 40.0), "{element:?}");
    }
    assert!(look.all[0].hints.contains(&Hint::Checked) && !look.all[1].hints.contains(&Hint::Checked));
}

#[test]
fn a_hidden_control_behind_a_backdrop_is_not_listed() {
    let Some(page) = TestTab::new("look-backdrop") else { return };
    let look = looked(
        &page,
        "<input type=radio id=one style='position:absolute;clip:rect(0,0,0,0);pointer-events:none'><label for=one>One</label>
         <div style='position:fixed;inset:0;background:#0008'></div>
         <div role=dialog style='position:fixed;left:300px;top:200px;background:#fff'><button>Close</button></div>
         <button style='position:fixed;left:20px;top:300px;pointer-events:none;z-index:9'>Inert</button>",
    );
    assert_eq!(names(&look), ["Close"], "{:?}", look.all);
}

#[test]
fn what_opens_under_the_mouse_is_hoverable() {
    let Some(page) = TestTab::new("look-hover") else { return };
    page.site.page(
        "/",
        "<style>ul ul{display:none} li:hover > ul{display:block} .tip:hover::after{content:'help'} .quiet:hover{color:red}</style>
         <ul><li id=menu>Products<ul><li>One</ul></ul><p class=tip>Tip</p><p class=quiet>Quiet</p><p id=listens>Listens</p>
         <script>listens.addEventListener('mouseenter', () => {})</script>",
    );
    page.go("/");
    let look = page.tab.look_at(&LookOptions::new().element_type(ElementType::Hoverable), soon()).unwrap();
    let mut texts: Vec<&str> = look.all.iter().map(|element| &*element.html).collect();
    texts.sort_unstable();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts[0].starts_with("<li id=\"menu\">"), "{texts:?}");
    assert!(texts[1].contains("class=\"tip\"") && texts[2].contains("id=\"listens\""), "{texts:?}");
    assert!(look.all.iter().all(|element| element.kind == Use::Hoverable));
}

#[test]
fn a_transition_is_awaited_and_a_number_field_is_no_spinner() {
    let Some(page) = TestTab::new("look-transition") else { return };
    let look = looked(
        &page,
        "<style>div{opacity:0;transition:opacity 400ms} .open{opacity:1}</style><div id=box><button>Inside</button></div>
         <span class=ui-spinner><input value=4 aria-label=Count><a href=#>+</a></span>",
    );
    assert_eq!((names(&look), look.readiness), (vec!["Count", "+"], Readiness::Ready));
    page.eval("box.className = 'open'; getComputedStyle(box).opacity");
    let look = page.tab.look_at(&LookOptions::new(), soon()).unwrap();
    assert_eq!((names(&look), look.readiness), (vec!["Inside", "Count", "+"], Readiness::Ready));
}
