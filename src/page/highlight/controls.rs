//! Carousels and sliders, which are used by what they show instead of by a click.

use serde::Deserialize;
use serde_json::json;

use super::super::error::{Error, Shown};
use super::super::world::Node;
use super::super::{Act, ActKind, Locator, Point, Tab};
use crate::sync::Deadline;

/// Whether an error says that an element or its document is gone.
fn is_removed(error: &Error) -> bool {
    matches!(error, Error::StaleRef { .. } | Error::DocumentGone { .. })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Carousel {
    gone: bool,
    /// Differs when it has moved; `None` if it is no carousel.
    state: Option<String>,
    carousel: u32,
    /// The control of the direction, or 0.
    control: u32,
    scrolls: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Slider {
    gone: bool,
    min: Option<f64>,
    max: Option<f64>,
    step: f64,
    /// The present value of a slider that is moved by arrow keys.
    now: f64,
    /// Whether it is moved by arrow keys.
    keys: bool,
}

/// Maximum number of arrow keys for one slider.
const MOST_KEYS: f64 = 1_000.0;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fitness {
    gone: bool,
    problem: Option<String>,
    labels: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Held {
    text: Option<String>,
}

/// Whether a field is a secret one.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Secrecy {
    gone: bool,
    secret: bool,
}

impl Tab {
    /// Why a text cannot be typed into an element, before it is tried; `None` if it can, as far as is known.
    ///
    /// # Errors
    /// [`Error::StaleRef`]; those of the supervisor.
    pub fn typing_problem(&self, node: &Node, text: &str, deadline: Deadline<'_>) -> Result<Option<String>, Error> {
        let ask = json!({ "id": node.id, "types": true, "values": [text] });
        Ok(self.fitness(node, &ask, deadline)?.problem)
    }

    /// Why options cannot be chosen in an element, before it is tried; `None` if they can.
    ///
    /// # Errors
    /// [`Error::StaleRef`]; those of the supervisor.
    pub fn choice_problem(
        &self,
        node: &Node,
        values: &[String],
        deadline: Deadline<'_>,
    ) -> Result<Option<String>, Error> {
        let ask = json!({ "id": node.id, "types": false, "values": values });
        Ok(self.fitness(node, &ask, deadline)?.problem)
    }

    /// The labels of the options that some values, or labels, name; empty if one of them cannot be chosen.
    ///
    /// # Errors
    /// [`Error::StaleRef`]; those of the supervisor.
    pub fn option_labels(&self, node: &Node, values: &[String], deadline: Deadline<'_>) -> Result<Vec<String>, Error> {
        let ask = json!({ "id": node.id, "types": false, "values": values });
        Ok(self.fitness(node, &ask, deadline)?.labels)
    }

    fn fitness(&self, node: &Node, ask: &serde_json::Value, deadline: Deadline<'_>) -> Result<Fitness, Error> {
        let fitness: Fitness = self.call_in(&node.frame, &node.doc, "fits", ask, deadline)?.result;
        if fitness.gone {
            let why = "its element was removed from the document";
            return Err(Error::StaleRef { reference: "the element".to_owned(), why });
        }
        Ok(fitness)
    }

    /// What a field holds, at most 1,200 characters; `None` for a secret field, for what is no field, and if it is gone.
    ///
    /// # Errors
    /// Those of the supervisor.
    pub fn held_text(&self, node: &Node, deadline: Deadline<'_>) -> Result<Option<String>, Error> {
        Ok(self.call_in::<Held>(&node.frame, &node.doc, "held", &json!({ "id": node.id }), deadline)?.result.text)
    }

    /// Whether what is typed into an element is secret: by its type, purpose, name or style.
    ///
    /// # Errors
    /// [`Error::StaleRef`] when it is gone; those of the supervisor.
    pub fn is_secret_field(&self, node: &Node, deadline: Deadline<'_>) -> Result<bool, Error> {
        let ask = json!({ "id": node.id });
        let now = self.call_in::<Secrecy>(&node.frame, &node.doc, "bound", &ask, deadline)?.result;
        if now.gone {
            return Err(Error::StaleRef { reference: "the field".to_owned(), why: "it was removed from the document" });
        }
        Ok(now.secret)
    }

    /// The size of the top viewport, in CSS pixels.
    ///
    /// # Errors
    /// Those of the supervisor.
    pub fn viewport_size(&self, deadline: Deadline<'_>) -> Result<(f64, f64), Error> {
        let view = self.view(deadline)?;
        Ok((view.width, view.height))
    }

    /// Moves a carousel by one step: by its own control, by scrolling, or by dragging its content. Returns how it moved;
    /// `None` if it did not. A page that draws the carousel anew has moved it.
    ///
    /// # Errors
    /// [`Error::StaleRef`]; those of actions.
    pub fn swipe(&self, node: &Node, next: bool, deadline: Deadline<'_>) -> Result<Option<&'static str>, Error> {
        let carousel = |scroll: bool| -> Result<Carousel, Error> {
            let ask = json!({ "id": node.id, "next": next, "scroll": scroll });
            let carousel: Carousel = self.call_in(&node.frame, &node.doc, "swipe", &ask, deadline)?.result;
            if carousel.gone {
                let why = "its element was removed from the document";
                return Err(Error::StaleRef { reference: "the element".to_owned(), why });
            }
            Ok(carousel)
        };
        let before = carousel(false)?;
        let Some(state) = &before.state else { return Ok(None) };
        // What the page has removed since is an effect.
        let has_moved = || match carousel(false) {
            Ok(now) => Ok(now.state.as_ref() != Some(state)),
            Err(error) if is_removed(&error) => Ok(true),
            Err(error) => Err(error),
        };
        let node_of = |id: u32| Node { id, ..node.clone() };
        if before.control > 0 {
            let control = Locator::by_ref(self.node_ref(&node_of(before.control)));
            match self.act(&Act::click(control).force(), deadline) {
                Ok(outcome) if outcome.navigated || has_moved()? => return Ok(Some("its control")),
                Ok(_) | Err(Error::NotActionable { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if before.scrolls {
            if let Err(error) = carousel(true) {
                return if is_removed(&error) { Ok(Some("scrolling")) } else { Err(error) };
            }
            if has_moved()? {
                return Ok(Some("scrolling"));
            }
        }
        let around = node_of(before.carousel);
        let layout = self.layout(
            std::slice::from_ref(&around),
            super::super::screenshot::BoxOptions { whole: false, uncovered: false },
            deadline,
        )?;
        let Some(part) = layout.position(&around).and_then(|place| place.part) else { return Ok(None) };
        let (y, way) = (part.y + part.height / 2.0, (part.width * 0.42).clamp(72.0, 320.0));
        let middle = part.x + part.width / 2.0;
        let (from, to) =
            if next { (middle + way / 2.0, middle - way / 2.0) } else { (middle - way / 2.0, middle + way / 2.0) };
        self.act(&Act::drag(Point { x: from, y }, Point { x: to, y }), deadline)?;
        Ok(has_moved()?.then_some("dragging"))
    }

    /// The value of a slider for a number or a percentage: within its limits, on a step.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for something else, or if the element is no slider; [`Error::StaleRef`].
    pub fn slider_value(&self, node: &Node, text: &str, deadline: Deadline<'_>) -> Result<String, Error> {
        let bad = |problem: String| Error::BadRequest { problem };
        let ask = json!({ "id": node.id });
        let slider: Slider = self.call_in(&node.frame, &node.doc, "slider", &ask, deadline)?.result;
        if slider.gone {
            let why = "its element was removed from the document";
            return Err(Error::StaleRef { reference: "the element".to_owned(), why });
        }
        let (Some(min), Some(max)) = (slider.min, slider.max) else {
            return Err(bad("this element is no slider; sliders have the hint slidable".to_owned()));
        };
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let wanted = match text.strip_suffix('%') {
            Some(part) => number(part).map(|part| min + (max - min) * part / 100.0),
            None => number(text),
        };
        let wanted = wanted.ok_or_else(|| bad(format!("{text:?} is neither a number nor a percentage such as 40%")))?;
        if !(min..=max).contains(&wanted) {
            return Err(bad(format!("{text} is outside the slider's range, {min} to {max}")));
        }
        let value = if slider.step > 0.0 { min + ((wanted - min) / slider.step).round() * slider.step } else { wanted };
        // Without the noise of binary fractions.
        Ok(((value.clamp(min, max) * 1e6).round() / 1e6).to_string())
    }

    /// Sets the slider of a node and its ref to a number or a percentage: by its value, or by arrow keys where it has none.
    /// Returns its value then.
    ///
    /// # Errors
    /// As [`slider_value`](Self::slider_value); those of actions.
    pub fn set_slider(
        &self,
        (node, reference): (&Node, &str),
        text: &str,
        deadline: Deadline<'_>,
    ) -> Result<String, Error> {
        let value = self.slider_value(node, text, deadline)?;
        let ask = json!({ "id": node.id });
        // `None`: the page has removed it.
        let read = || match self.call_in::<Slider>(&node.frame, &node.doc, "slider", &ask, deadline) {
            Ok(done) => Ok(Some(done.result).filter(|slider| !slider.gone)),
            Err(Error::DocumentGone { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        let gone =
            || Error::StaleRef { reference: reference.to_owned(), why: "its element was removed from the document" };
        let first = read()?.ok_or_else(gone)?;
        if !first.keys {
            self.act(&Act::fill(Locator::by_ref(reference), value.as_str()), deadline)?;
            return Ok(value);
        }
        let wanted: f64 = value.parse().unwrap_or(first.now);
        let press = |key: &str, times: u32| {
            let at = Locator::by_ref(reference);
            let act = Act::new(ActKind::Press { at, key: key.to_owned(), repeat: Some(times) });
            self.act(&act, deadline).map(drop)
        };
        let towards = |now: f64| if wanted > now { "ArrowRight" } else { "ArrowLeft" };
        if (wanted - first.now).abs() > f64::EPSILON {
            press(towards(first.now), 1)?;
            // Further keys would have no element; that it was drawn anew is an effect of the first one.
            let Some(Slider { now, .. }) = read()? else { return Ok(value) };
            let step = (now - first.now).abs();
            if step > 0.0 {
                let times = ((wanted - now) / step).abs().round().min(MOST_KEYS);
                // It is moved in the opposite direction where it is written from right to left.
                let is_reversed = (now > first.now) != (wanted > first.now);
                let key = if is_reversed == (wanted > now) { "ArrowLeft" } else { "ArrowRight" };
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1,000")]
                let times = times as u32;
                if times > 0 {
                    press(key, times)?;
                }
            }
        }
        let Some(Slider { now, .. }) = read()? else { return Ok(value) };
        if (now - first.now).abs() < f64::EPSILON && (wanted - first.now).abs() > f64::EPSILON {
            let problem = "this slider does not react to arrow keys; use drag_and_drop".to_owned();
            return Err(Error::BadRequest { problem });
        }
        Ok(now.to_string())
    }

    fn node_ref(&self, node: &Node) -> String {
        let unnamed = Shown::default();
        format!("e{}", self.refs.lock().reserve(node.clone(), unnamed))
    }
}
