//! A page that logs its events, shown in every kind of place at once: the top frame, a frame of the same process, a frame two
//! processes down, and a shadow root.

use std::ops::Deref;

use cdpilot::page::{Act, Error, Outcome};
use cdpilot::supervisor::FrameRef;
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use super::chrome::{soon, until};
use super::test_tab::TestTab;

/// Every event of a keyboard and of a field, as `type:target:what:code:trusted`.
const LOG: &str = "<script>
    window.log = [];
    const record = event => {
        const at = event.composedPath()[0];
        const what = event.inputType ? event.inputType + (event.data === null ? '' : '=' + event.data) : event.key || '';
        log.push([event.type, at.id || at.localName || 'document', what, event.code || '', event.isTrusted ? 'trusted' : 'script'].join(':'));
    };
    for (const type of ['keydown', 'keypress', 'keyup', 'beforeinput', 'input', 'change', 'click', 'submit'])
        addEventListener(type, record, true);
    addEventListener('submit', event => event.preventDefault());
</script>";

/// A tab that shows a stage.
pub struct InputStage {
    pub paged: TestTab,
}

impl Deref for InputStage {
    type Target = TestTab;

    fn deref(&self) -> &TestTab {
        &self.paged
    }
}

/// A frame of the stage.
pub struct Place {
    pub name: &'static str,
    pub frame: FrameRef,
    id: Option<String>,
}

impl InputStage {
    /// The page in the top frame alone.
    pub fn alone(name: &str, body: &str) -> Option<Self> {
        let paged = TestTab::new(name)?;
        paged.site.page("/", &format!("{LOG}{body}"));
        paged.go("/");
        Some(Self { paged })
    }

    /// The page in the top frame, and the same in a frame of its process and in one of another two levels down.
    pub fn everywhere(name: &str, body: &str) -> Option<(Self, Vec<Place>)> {
        let paged = TestTab::new(name)?;
        let size = "width=600 height=400";
        let frames = format!("<hr><iframe {size} src='/near'></iframe><iframe {size} src='@b/middle'></iframe>");
        paged.site.page("/", &format!("{LOG}{body}{frames}"));
        paged.site.page("/near", &format!("{LOG}{body}"));
        paged.site.page("/middle", "<iframe width=500 height=350 src='@c/deep'></iframe>");
        paged.site.page("/deep", &format!("{LOG}{body}"));
        paged.go("/");
        let supervisor = paged.supervisor();
        let frame = |path: &str| {
            let here = |url: &str| url.ends_with(path);
            let now = until(supervisor, path, |now| {
                now.frames.iter().any(|f| here(&f.url) && f.session_id.is_some() && !f.origin.is_empty())
            });
            let id = now.frames.iter().find(|f| here(&f.url)).unwrap().frame_id.clone();
            let loaded =
                "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(1)))";
            supervisor.evaluate(&FrameRef::Id(id.clone()), loaded, soon()).unwrap();
            id
        };
        let (near, deep) = (frame("/near"), frame("/deep"));
        let place = |name, id: cdpilot::cdp::protocol::page::FrameId| Place {
            name,
            id: Some(id.to_string()),
            frame: FrameRef::Id(id),
        };
        let top = Place { name: "top", frame: paged.top(), id: None };
        Some((Self { paged }, vec![top, place("near", near), place("deep", deep)]))
    }

    /// Does something in the top frame.
    pub fn act(&self, act: Value) -> Outcome {
        self.try_act(act.clone()).unwrap_or_else(|error| panic!("{act}: {error}"))
    }

    pub fn try_act(&self, act: Value) -> Result<Outcome, Error> {
        self.try_by(act, soon())
    }

    pub fn try_by(&self, act: Value, deadline: Deadline<'_>) -> Result<Outcome, Error> {
        let act: Act = serde_json::from_value(act).unwrap();
        self.paged.tab.act(&act, deadline)
    }

    /// Does something in a frame.
    pub fn act_in(&self, place: &Place, act: Value) -> Outcome {
        self.try_act_in(place, act.clone()).unwrap_or_else(|error| panic!("{act}: {error}"))
    }

    pub fn try_act_in(&self, place: &Place, mut act: Value) -> Result<Outcome, Error> {
        if let Some(id) = &place.id {
            act["frameId"] = json!(id);
            for field in act.get_mut("fields").and_then(Value::as_array_mut).into_iter().flatten() {
                field["frameId"] = json!(id);
            }
        }
        self.try_act(act)
    }

    /// What a script is worth in a frame.
    pub fn value(&self, place: &Place, script: &str) -> Value {
        let done = self.supervisor().evaluate(&place.frame, script, soon());
        done.unwrap_or_else(|error| panic!("{}: {script}: {error}", place.name)).result.value
    }

    /// What a script is worth in the top frame.
    pub fn eval_value(&self, script: &str) -> Value {
        let done = self.supervisor().evaluate(&self.top(), script, soon());
        done.unwrap_or_else(|error| panic!("{script}: {error}")).result.value
    }

    /// The events of the top frame since it was asked last.
    pub fn log(&self) -> Vec<String> {
        serde_json::from_value(self.eval_value("log.splice(0)")).unwrap()
    }

    pub fn log_in(&self, place: &Place) -> Vec<String> {
        serde_json::from_value(self.value(place, "log.splice(0)")).unwrap()
    }
}
