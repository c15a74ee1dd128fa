//! Actions, elements and conditions written in Rust, where requests give them as JSON.

use std::time::Duration;

use super::{
    Act, ActKind, Button, Direction, Field, FieldValue, Input, LoadState, Locator, Modifier, MouseEvent, Point, Settle,
    State, WaitFor,
};
use crate::page::find::is_locator;

impl Locator {
    /// The element of a ref, as `e12` or `@e12`.
    #[must_use]
    pub fn by_ref(reference: impl Into<String>) -> Self {
        Self { reference: Some(reference.into()), ..Self::default() }
    }

    /// The element that a CSS selector matches, in any frame and open or closed shadow root. It is waited for; several matches
    /// are an error unless [`nth`](Self::nth) chooses one.
    #[must_use]
    pub fn css(selector: impl AsRef<str>) -> Self {
        Self { locator: Some(format!("css={}", selector.as_ref())), ..Self::default() }
    }

    /// The same with one match of several: counted from 0, or from the end for a negative number.
    #[must_use]
    pub fn nth(mut self, nth: i32) -> Self {
        self.nth = Some(nth);
        self
    }

    /// The same in one frame and those inside it: the frame's id, or the ref of its `<iframe>`.
    #[must_use]
    pub fn in_frame(mut self, frame: impl Into<String>) -> Self {
        self.frame_id = Some(frame.into());
        self
    }
}

/// A ref (`e12`, `@e12`), a locator (`role=button[name="Save"]`, `text=…`, `label=…`, `placeholder=…`, `testid=…`, chained by
/// ` >> `), or else a CSS selector.
impl From<&str> for Locator {
    fn from(text: &str) -> Self {
        let trimmed = text.trim();
        if is_ref(trimmed) {
            Self::by_ref(trimmed)
        } else if is_locator(trimmed) {
            Self { locator: Some(trimmed.to_owned()), ..Self::default() }
        } else {
            Self::css(trimmed)
        }
    }
}

impl From<String> for Locator {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&String> for Locator {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

fn is_ref(text: &str) -> bool {
    let number = text.strip_prefix('@').unwrap_or(text).strip_prefix('e');
    number.is_some_and(|number| !number.is_empty() && number.len() <= 9 && number.bytes().all(|b| b.is_ascii_digit()))
}

impl From<&str> for FieldValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for FieldValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for FieldValue {
    fn from(on: bool) -> Self {
        Self::Flag(on)
    }
}

impl From<i64> for FieldValue {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl<const N: usize> From<[&str; N]> for FieldValue {
    fn from(options: [&str; N]) -> Self {
        Self::Texts(options.map(str::to_owned).to_vec())
    }
}

impl From<Vec<String>> for FieldValue {
    fn from(options: Vec<String>) -> Self {
        Self::Texts(options)
    }
}

impl Act {
    /// Clicks an element.
    ///
    /// ```
    /// use cdpilot::page::{Act, Button, Modifier};
    /// let act = Act::click("role=link[name=\"Docs\"]").button(Button::Middle).holding(&[Modifier::Shift]);
    /// ```
    #[must_use]
    pub fn click(element: impl Into<Locator>) -> Self {
        let (double, button, modifiers) = (false, Button::default(), Vec::new());
        Self::new(ActKind::Click { at: element.into(), double, button, modifiers })
    }

    /// Clicks at a point of the viewport, in CSS pixels.
    #[must_use]
    pub fn click_at(x: f64, y: f64) -> Self {
        Self::new(ActKind::ClickCoords { x, y, double: false, button: Button::default(), modifiers: Vec::new() })
    }

    /// Moves the mouse over an element.
    #[must_use]
    pub fn hover(element: impl Into<Locator>) -> Self {
        Self::new(ActKind::Hover { at: element.into() })
    }

    /// Gives an element the focus.
    #[must_use]
    pub fn focus(element: impl Into<Locator>) -> Self {
        Self::new(ActKind::Focus { at: element.into() })
    }

    /// Scrolls an element into view.
    #[must_use]
    pub fn scroll_into_view(element: impl Into<Locator>) -> Self {
        Self::new(ActKind::ScrollIntoView { at: element.into() })
    }

    /// Scrolls the page by most of a viewport, or what [`on`](Self::on) names.
    #[must_use]
    pub fn scroll(direction: Direction) -> Self {
        Self::new(ActKind::Scroll { at: Locator::default(), direction, pixels: None })
    }

    /// Performs raw mouse events in order, without actionability checks.
    #[must_use]
    pub fn mouse(events: Vec<MouseEvent>) -> Self {
        Self::new(ActKind::Mouse { events })
    }

    /// Fills in a form field: a text, a checkbox or switch (`true`), a number, options by value or label.
    #[must_use]
    pub fn fill(field: impl Into<Locator>, value: impl Into<FieldValue>) -> Self {
        let fields = vec![Field { at: field.into(), value: value.into() }];
        Self::new(ActKind::Fill { fields, submit: false })
    }

    /// Fills in one more field. For [`fill`](Self::fill); other actions stay as they are.
    #[must_use]
    pub fn and_fill(mut self, field: impl Into<Locator>, value: impl Into<FieldValue>) -> Self {
        if let ActKind::Fill { fields, .. } = &mut self.kind {
            fields.push(Field { at: field.into(), value: value.into() });
        }
        self
    }

    /// Types a text into an element, in place of what is in it, with key events.
    #[must_use]
    pub fn type_text(element: impl Into<Locator>, text: impl Into<String>) -> Self {
        let (submit, slowly, append) = (false, false, false);
        Self::new(ActKind::Type { at: element.into(), text: text.into(), submit, slowly, append })
    }

    /// Presses a key or a chord (`Enter`, `Control+a`) in the focused element, or in the one that [`on`](Self::on) names.
    #[must_use]
    pub fn press(key: impl Into<String>) -> Self {
        Self::new(ActKind::Press { at: Locator::default(), key: key.into(), repeat: None })
    }

    /// Chooses options by value or label.
    #[must_use]
    pub fn select<V: Into<String>>(element: impl Into<Locator>, options: impl IntoIterator<Item = V>) -> Self {
        let values = options.into_iter().map(Into::into).collect();
        Self::new(ActKind::Select { at: element.into(), values })
    }

    /// Checks a checkbox, radio button or switch.
    #[must_use]
    pub fn check(element: impl Into<Locator>) -> Self {
        Self::new(ActKind::Check { at: element.into() })
    }

    /// Unchecks a checkbox or switch.
    #[must_use]
    pub fn uncheck(element: impl Into<Locator>) -> Self {
        Self::new(ActKind::Uncheck { at: element.into() })
    }

    /// Drags from one point of the viewport to another, in CSS pixels.
    #[must_use]
    pub fn drag(start: Point, end: Point) -> Self {
        Self::new(ActKind::Drag {
            start_ref: None,
            start_selector: None,
            start_locator: None,
            start: Some(start),
            end_ref: None,
            end_selector: None,
            end_locator: None,
            end: Some(end),
            steps: None,
            frame_id: None,
        })
    }

    /// Drags one element onto another.
    #[must_use]
    pub fn drag_onto(from: impl Into<Locator>, onto: impl Into<Locator>) -> Self {
        let (from, onto) = (from.into(), onto.into());
        Self::new(ActKind::Drag {
            start_ref: from.reference,
            start_selector: from.selector,
            start_locator: from.locator,
            start: None,
            end_ref: onto.reference,
            end_selector: onto.selector,
            end_locator: onto.locator,
            end: None,
            steps: None,
            frame_id: from.frame_id.or(onto.frame_id),
        })
    }

    /// Waits until conditions hold.
    #[must_use]
    pub fn wait(condition: impl Into<WaitFor>) -> Self {
        Self::new(ActKind::Wait(condition.into()))
    }

    /// Runs a script: an expression, a function, or the body of one.
    #[must_use]
    pub fn evaluate(script: impl Into<String>) -> Self {
        Self::new(ActKind::Evaluate { script: script.into(), reference: None, locator: None, frame_id: None })
    }

    /// Sets the size of the viewport, in CSS pixels.
    #[must_use]
    pub fn resize(width: u32, height: u32) -> Self {
        Self::new(ActKind::Resize { width, height })
    }

    /// Several actions in a row; the first that fails ends the batch.
    #[must_use]
    pub fn batch(actions: Vec<Self>) -> Self {
        Self::new(ActKind::Batch { actions, stop_on_error: None })
    }

    /// The element that the action is for. For [`press`](Self::press), [`scroll`](Self::scroll) and
    /// [`evaluate`](Self::evaluate), and to replace that of the others.
    #[must_use]
    pub fn on(mut self, element: impl Into<Locator>) -> Self {
        let element = element.into();
        match &mut self.kind {
            ActKind::Evaluate { reference, locator, frame_id, .. } => {
                (*reference, *locator, *frame_id) = (element.reference, element.locator, element.frame_id);
            }
            kind => {
                if let Some(at) = kind.locator_mut() {
                    *at = element;
                }
            }
        }
        self
    }

    /// Presses Enter afterwards. For [`fill`](Self::fill) and [`type_text`](Self::type_text); other actions stay as they are.
    #[must_use]
    pub fn submit(mut self) -> Self {
        if let ActKind::Fill { submit, .. } | ActKind::Type { submit, .. } = &mut self.kind {
            *submit = true;
        }
        self
    }

    /// Types behind what is in the field. For [`type_text`](Self::type_text).
    #[must_use]
    pub fn append(mut self) -> Self {
        if let ActKind::Type { append, .. } = &mut self.kind {
            *append = true;
        }
        self
    }

    /// Types with 75 ms between characters. For [`type_text`](Self::type_text).
    #[must_use]
    pub fn slowly(mut self) -> Self {
        if let ActKind::Type { slowly, .. } = &mut self.kind {
            *slowly = true;
        }
        self
    }

    /// Clicks twice. For [`click`](Self::click) and [`click_at`](Self::click_at).
    #[must_use]
    pub fn double(mut self) -> Self {
        if let ActKind::Click { double, .. } | ActKind::ClickCoords { double, .. } = &mut self.kind {
            *double = true;
        }
        self
    }

    /// Clicks with another mouse button. For [`click`](Self::click) and [`click_at`](Self::click_at).
    #[must_use]
    pub fn button(mut self, with: Button) -> Self {
        if let ActKind::Click { button, .. } | ActKind::ClickCoords { button, .. } = &mut self.kind {
            *button = with;
        }
        self
    }

    /// Holds keys meanwhile. For [`click`](Self::click).
    #[must_use]
    pub fn holding(mut self, keys: &[Modifier]) -> Self {
        if let ActKind::Click { modifiers, .. } = &mut self.kind {
            *modifiers = keys.to_vec();
        }
        self
    }

    /// Presses the key several times. For [`press`](Self::press).
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        if let ActKind::Press { repeat, .. } = &mut self.kind {
            *repeat = Some(times);
        }
        self
    }

    /// Scrolls by so many CSS pixels. For [`scroll`](Self::scroll).
    #[must_use]
    pub fn by_pixels(mut self, distance: f64) -> Self {
        if let ActKind::Scroll { pixels, .. } = &mut self.kind {
            *pixels = Some(distance);
        }
        self
    }

    /// Limits the action to this time, at most 120 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout_ms = Some(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Dispatches the events by script, for elements that trusted input does not reach.
    #[must_use]
    pub fn synthetic(mut self) -> Self {
        self.input = Some(Input::Synthetic);
        self
    }

    /// Acts although role or name of the element changed since its ref was shown.
    #[must_use]
    pub fn force(mut self) -> Self {
        self.force = true;
        self
    }

    /// Reports what changed on the page, in [`Outcome::changes`](super::Outcome::changes).
    #[must_use]
    pub fn delta(mut self) -> Self {
        self.delta = true;
        self
    }

    /// How long the effects of the action are waited for.
    #[must_use]
    pub fn settle(mut self, settle: Settle) -> Self {
        self.settle = Some(settle);
        self
    }
}

impl WaitFor {
    /// No condition yet. All that are added must hold at once.
    ///
    /// ```
    /// use cdpilot::page::{State, WaitFor};
    /// let wanted = WaitFor::new().url("*/done*").element("testid=spinner", State::Hidden);
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An element is in a state.
    #[must_use]
    pub fn element(mut self, element: impl Into<Locator>, state: State) -> Self {
        let Locator { reference, selector, locator, nth, frame_id } = element.into();
        (self.reference, self.selector, self.locator, self.nth) = (reference, selector, locator, nth);
        self.frame_id = frame_id.or(self.frame_id);
        self.state = Some(state);
        self
    }

    /// A text is visible in some frame; case and the kind of white space do not matter.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// A text is visible in no frame.
    #[must_use]
    pub fn text_gone(mut self, text: impl Into<String>) -> Self {
        self.text_gone = Some(text.into());
        self
    }

    /// The address matches: `*` stands for any characters, `?` for one.
    #[must_use]
    pub fn url(mut self, pattern: impl Into<String>) -> Self {
        self.url = Some(pattern.into());
        self
    }

    /// No request is under way, and none was for 500 ms. Sockets and event streams do not count.
    #[must_use]
    pub fn network_idle(mut self) -> Self {
        self.load_state = Some(LoadState::NetworkIdle);
        self
    }

    /// The document and all that belongs to it is loaded.
    #[must_use]
    pub fn loaded(mut self) -> Self {
        self.load_state = Some(LoadState::Load);
        self
    }

    /// Some time has passed, 30 seconds at most.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time_ms = Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// A script gives something true.
    #[must_use]
    pub fn script(mut self, script: impl Into<String>) -> Self {
        self.script = Some(script.into());
        self
    }
}

/// The element is visible.
impl From<&str> for WaitFor {
    fn from(element: &str) -> Self {
        Self::new().element(element, State::Visible)
    }
}

impl From<Locator> for WaitFor {
    fn from(element: Locator) -> Self {
        Self::new().element(element, State::Visible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_an_element_by_ref_locator_or_css() {
        let located = |text: &str| {
            let at = Locator::from(text);
            (at.reference, at.locator)
        };
        for reference in ["e12", "@e12", " e1 "] {
            assert_eq!(located(reference), (Some(reference.trim().to_owned()), None), "{reference}");
        }
        for locator in
            ["text=Done", "label=Name", "role=button[name=\"a=b\"]", "css=a >> nth=0", "testid=x", "ref=e1 >> css=b"]
        {
            assert_eq!(located(locator), (None, Some(locator.to_owned())), "{locator}");
        }
        for css in ["button", "#id", "a[href='x=1']", "input[name=text]", ".e12", "e", "e1x", "ul > li:nth-child(2)"] {
            assert_eq!(located(css), (None, Some(format!("css={css}"))), "{css}");
        }
    }

    #[test]
    fn what_is_built_is_what_requests_say() {
        let read = |json: serde_json::Value| Act::parse(json).unwrap();
        let json = serde_json::json!({ "kind": "fill", "fields": [{ "locator": "label=Name", "value": "Ada" }], "submit": true });
        assert_eq!(Act::fill("label=Name", "Ada").submit(), read(json));
        let json = serde_json::json!({ "kind": "press", "key": "Enter", "ref": "e3", "repeat": 2, "timeoutMs": 500 });
        assert_eq!(Act::press("Enter").on("e3").times(2).timeout(Duration::from_millis(500)), read(json));
        let json = serde_json::json!({ "kind": "wait", "locator": "text=Done", "state": "visible" });
        assert_eq!(Act::wait("text=Done"), read(json));
        let json = serde_json::json!({ "kind": "click", "locator": "css=#a", "double": true, "force": true });
        assert_eq!(Act::click("#a").double().force(), read(json));
        // What an action has no use for changes nothing.
        assert_eq!(Act::hover("e1").submit().double().times(3), Act::hover("e1"));
    }
}
