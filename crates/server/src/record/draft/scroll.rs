//! Scroll steps: runs that reveal the next element, or that scroll a container.

use serde_json::Value;

use super::super::event::{Event, EventType};
use super::describe;
use super::facts;
use super::types::{Action, StepType, StepValue};
use super::walk::{Builder, New, target};

impl<'e> Builder<'e> {
    pub(super) fn scroll(&mut self, position: usize, event: &'e Event) {
        let place = place(event);
        let (mut sources, mut last, mut end) = (vec![event.event_index], position, event);
        while let Some((next, more)) =
            self.after(last).filter(|(_, more)| more.event_type == EventType::Scroll && is_same_place(&place, more))
        {
            if let Some(taken) = self.taken.get_mut(next) {
                *taken = true;
            }
            sources.push(more.event_index);
            (last, end) = (next, more);
        }
        let to = (facts::number(end, "x").unwrap_or(0.0), facts::number(end, "y").unwrap_or(0.0));
        let from = self.tabs.scrolled(event.tab, &place, to);
        let moved = (to.0 - from.0, to.1 - from.1);
        let container = container(event);
        let is_container = container.is_some() || event.element.is_some();
        // Fields of the form that is being filled are scrolled into view anyway.
        let is_kept = if is_container { !self.continues_form(last) } else { self.reveals(event, last, moved) };
        if !is_kept {
            return;
        }
        self.close_form();
        self.use_tab(event);
        let direction = match moved {
            (x, y) if x.abs() > y.abs() => {
                if x > 0.0 {
                    "right"
                } else {
                    "left"
                }
            }
            (_, y) if y < 0.0 => "up",
            _ => "down",
        };
        let new = New {
            kind: StepType::Scroll,
            action: if is_container { Action::ScrollContainer } else { Action::ScrollToReveal },
            description: describe::scroll(event, direction, container.as_deref()),
            sources,
            target: Some(target(event)),
            value: Some(StepValue::Scroll { x: to.0, y: to.1, direction: direction.to_owned() }),
            postcondition: None,
        };
        self.push(new, event.tab);
    }

    /// Whether the element of the next action was out of view before a page was scrolled.
    fn reveals(&self, event: &Event, last: usize, moved: (f64, f64)) -> bool {
        let Some((_, next)) = self.after(last) else { return false };
        let is_same_page = next.tab == event.tab && facts::page(&next.page.url) == facts::page(&event.page.url);
        let Some(element) = next.element.as_ref().filter(|_| is_same_page && !self.continues_form(last)) else {
            return false;
        };
        let (width, height) = self.viewport;
        match element.area.filter(|_| next.frame == event.frame) {
            Some(area) => {
                let (x, y) = (area.x + area.width / 2.0 + moved.0, area.y + area.height / 2.0 + moved.1);
                !(0.0..=width).contains(&x) || !(0.0..=height).contains(&y)
            }
            // Without a place, a short way is taken to have shown the element all along.
            None => moved.1.abs() >= height / 2.0 || moved.0.abs() >= width / 2.0,
        }
    }
}

/// Title of the scrolled container, which may be empty; `None` for a page.
fn container(event: &Event) -> Option<String> {
    match event.data.get("container")? {
        Value::Null => None,
        Value::String(title) => Some(title.clone()),
        Value::Object(container) => {
            let text = |key: &str| container.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            Some(text("title").or_else(|| text("name")).unwrap_or_default().to_owned())
        }
        _ => Some(String::new()),
    }
}

/// Identifies what was scrolled.
fn place(event: &Event) -> String {
    let identity = facts::identity(event).unwrap_or_else(|| facts::document(event));
    let container = event.data.get("container").filter(|container| !container.is_null());
    format!("{identity}\u{1d}{}", container.map(Value::to_string).unwrap_or_default())
}

fn is_same_place(place: &str, more: &Event) -> bool {
    self::place(more) == place
}
