//! One element before it is used: a picture of it, and what the use is bound to.

use serde::Deserialize;

use super::super::error::{Error, Shown};
use cdpilot_picture::{Canvas, Rect};

use super::super::screenshot::BoxOptions;
use super::super::world::Node;
use super::super::{Locator, Tab};
use super::draw;
use super::look::{Picture, distance, encoded};
use crate::sync::Deadline;

/// Least height of the crop, in CSS pixels; it is as wide as the viewport, so that it shows whole rows.
const LEAST_HEIGHT: f64 = 320.0;
/// What the crop shows above and below the element, in CSS pixels.
const AROUND: f64 = 224.0;
/// A box that has moved further is no longer where it was shown, in CSS pixels.
const MOVED: f64 = 24.0;

/// What a use of an element is bound to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// The node.
    pub node: Node,
    /// Its role and name.
    pub shown: Shown,
    /// Its visible part, in CSS pixels of the top viewport.
    pub bounds: Rect,
    /// Where its link leads, or its form is sent; empty for neither.
    pub destination: String,
    /// The method of its form; empty without a form.
    pub method: String,
    /// Its HTML, at most 900 characters. Untrusted.
    pub html: String,
    /// Whether what is typed into it is secret.
    pub is_secret: bool,
    /// A SHA-256 that differs when its role, its name, its place in the document or where it leads does.
    pub identity: String,
    /// A SHA-256 that differs when where it leads or what its press sends does; the same for an element that was drawn anew.
    pub lasting: String,
}

/// While it lives, actions on some elements fail unless the elements are still what a preview has shown.
#[derive(Debug)]
pub struct Binding<'a> {
    tab: &'a Tab,
    nodes: Vec<Node>,
}

impl<'a> Binding<'a> {
    /// Binds nodes to seals that an action compares before it acts.
    pub(in crate::page) fn new(tab: &'a Tab, seals: Vec<(Node, String)>) -> Self {
        let mut refs = tab.refs.lock();
        seals.iter().for_each(|(node, seal)| refs.bind(node, Some(seal)));
        drop(refs);
        Self { tab, nodes: seals.into_iter().map(|(node, _)| node).collect() }
    }
}

impl Drop for Binding<'_> {
    fn drop(&mut self) {
        let mut refs = self.tab.refs.lock();
        self.nodes.iter().for_each(|node| refs.bind(node, None));
        drop(refs);
        // An action that failed may have left keys blocked.
        for node in &self.nodes {
            self.tab.post_to(&node.frame, "keysBlocked", &());
        }
    }
}

/// An element before it is used.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Preview {
    /// What the use is bound to.
    pub bound: Bound,
    /// The element and what is around it, with a yellow box and the question.
    pub picture: Picture,
}

#[derive(Deserialize)]
struct Now {
    #[serde(default)]
    gone: bool,
    /// The node that is drawn in its place, or its own.
    #[serde(default)]
    place: u32,
    #[serde(default)]
    role: String,
    #[serde(default)]
    name: String,
    /// If it is in another row, card or dialog than it was shown in.
    #[serde(default)]
    elsewhere: Option<Elsewhere>,
    #[serde(default)]
    html: String,
    #[serde(default)]
    destination: String,
    #[serde(default)]
    method: String,
    #[serde(default)]
    hidden: Option<String>,
    #[serde(default)]
    disabled: Option<String>,
    #[serde(default)]
    secret: bool,
    #[serde(default)]
    identity: String,
    #[serde(default)]
    lasting: String,
}

#[derive(Deserialize)]
struct Elsewhere {
    was: String,
    now: String,
}

impl Tab {
    /// What a use of an element would be bound to, as it is now. It is scrolled into view. `id` names it in errors; `shown`
    /// is the role and name that it was shown with.
    ///
    /// # Errors
    /// [`Error::StaleRef`] when it is gone, [`Error::RefChanged`], [`Error::NotActionable`] when it is disabled, not visible
    /// or covered; those of the supervisor.
    pub fn bound(&self, id: &str, node: &Node, shown: &Shown, deadline: Deadline<'_>) -> Result<Bound, Error> {
        let stale = |why| Error::StaleRef { reference: id.to_owned(), why };
        let ask = serde_json::json!({ "id": node.id });
        let now = match self.call_in::<Now>(&node.frame, &node.doc, "bound", &ask, deadline) {
            Ok(done) => done.result,
            Err(Error::DocumentGone { .. }) => return Err(stale("its frame now shows another document")),
            Err(error) => return Err(error),
        };
        if now.gone {
            return Err(stale("its element was removed from the document"));
        }
        let what = || format!("{id} ({})", shown.described());
        let not = |reason: String| Error::NotActionable { what: what(), reason, covered_by: None, waited: None };
        // A hidden element has no name.
        if let Some(reason) = now.hidden {
            return Err(not(reason));
        }
        let is = Shown::new(now.role, now.name);
        if !is.is_like(shown) {
            return Err(Error::RefChanged {
                reference: id.to_owned(),
                was: Box::new(shown.clone()),
                now: Box::new(is),
            });
        }
        if let Some(Elsewhere { was, now }) = now.elsewhere {
            let (was, now) = (shown.clone().in_context(was), is.in_context(now));
            return Err(Error::RefChanged { reference: id.to_owned(), was: Box::new(was), now: Box::new(now) });
        }
        if let Some(reason) = now.disabled {
            return Err(not(reason));
        }
        let place = Node { id: now.place, ..node.clone() };
        let layout =
            self.layout(std::slice::from_ref(&place), BoxOptions { whole: false, uncovered: true }, deadline)?;
        let part = layout.position(&place).and_then(|place| place.part);
        let unseen = || not("it is not visible in the viewport, or another element covers it".to_owned());
        let part = part.ok_or_else(unseen)?;
        let top = self.top()?;
        if self.covered_in_frames(&top, &layout, &[(node, &part)], deadline)?.contains(&true) {
            return Err(not("its frame is covered by something else".to_owned()));
        }
        let bounds = layout.view.shown(&part).ok_or_else(unseen)?;
        let (destination, method, html) = (now.destination, now.method, now.html);
        let (is_secret, identity, lasting) = (now.secret, now.identity, now.lasting);
        Ok(Bound { node: node.clone(), shown: is, bounds, destination, method, html, is_secret, identity, lasting })
    }

    /// Binds actions on elements to what previews have shown, for as long as the result lives.
    #[must_use]
    pub fn bind<'a>(&'a self, bounds: impl IntoIterator<Item = &'a Bound>) -> Binding<'a> {
        Binding::new(self, bounds.into_iter().map(|bound| (bound.node.clone(), bound.identity.clone())).collect())
    }

    /// Checks that an element is as it was in a preview.
    ///
    /// # Errors
    /// As [`bound`](Self::bound); [`Error::StaleRef`] when it has moved or its form is sent elsewhere, [`Error::RefChanged`] when
    /// its name is another one. A counter in brackets may change.
    pub fn still_bound(&self, id: &str, was: &Bound, deadline: Deadline<'_>) -> Result<Bound, Error> {
        let now = self.bound(id, &was.node, &was.shown, deadline)?;
        if distance(&now.bounds, &was.bounds) >= MOVED {
            return Err(Error::StaleRef { reference: id.to_owned(), why: "it has moved since the preview" });
        }
        if (&now.destination, &now.method) != (&was.destination, &was.method) {
            return Err(Error::StaleRef {
                reference: id.to_owned(),
                why: "it now leads elsewhere, or its form is sent elsewhere",
            });
        }
        if now.identity != was.identity {
            return Err(Error::StaleRef {
                reference: id.to_owned(),
                why: "it now belongs to something else, or is used for something else",
            });
        }
        Ok(now)
    }

    /// Checks that an element that was drawn anew is as the one before was in a preview. It may be elsewhere.
    ///
    /// # Errors
    /// As [`bound`](Self::bound); [`Error::StaleRef`] when it leads elsewhere, its form is sent elsewhere, or its press sends something
    /// else.
    pub fn still_bound_anew(&self, id: &str, node: &Node, was: &Bound, deadline: Deadline<'_>) -> Result<Bound, Error> {
        let now = self.bound(id, node, &was.shown, deadline)?;
        if now.lasting != was.lasting {
            let why = "it was drawn anew and now leads elsewhere, or is used for something else";
            return Err(Error::StaleRef { reference: id.to_owned(), why });
        }
        Ok(now)
    }

    /// Shows an element before it is used: it is scrolled into view, and captured with what is around it.
    ///
    /// # Errors
    /// As [`bound`](Self::bound); [`Error::NotCaptured`].
    pub fn preview(
        &self,
        id: &str,
        (node, shown): (&Node, &Shown),
        question: &str,
        deadline: Deadline<'_>,
    ) -> Result<Preview, Error> {
        let bound = self.bound(id, node, shown, deadline)?;
        let png = self.capture_viewport(deadline)?;
        let bound = self.still_bound(id, &bound, deadline)?;
        let view = self.view(deadline)?;
        let canvas = Canvas::decode(&png)?;
        let scale = f64::from(canvas.width) / view.width;
        let crop = crop_around(&bound.bounds, (view.width, view.height));
        let scaled = |rect: &Rect, scale: f64| Rect {
            x: rect.x * scale,
            y: rect.y * scale,
            width: rect.width * scale,
            height: rect.height * scale,
        };
        let part = canvas.cut(&scaled(&crop, scale));
        let (width, height) = (f64::from(part.width) / scale, f64::from(part.height) / scale);
        let mut part = if scale > 1.0 { part.resized(whole(width), whole(height))? } else { part };
        // Drawn into the final size, so that lines keep their width and colour.
        draw::draw_confirmation(&mut part, &scaled(&bound.bounds.moved(-crop.x, -crop.y), scale.min(1.0)));
        let picture = encoded(&draw::with_banner(&part, question))?;
        Ok(Preview { bound, picture })
    }

    /// A locator for a node that was looked at.
    #[must_use]
    pub fn locator(&self, node: &Node) -> Option<Locator> {
        let number = self.refs.lock().number(node)?;
        Some(Locator { reference: Some(format!("e{number}")), ..Locator::default() })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pixels of a picture")]
fn whole(pixels: f64) -> u32 {
    (pixels.round() as u32).max(1)
}

/// The part of the viewport to show around an element, in CSS pixels.
fn crop_around(element: &Rect, (width, height): (f64, f64)) -> Rect {
    let wanted = LEAST_HEIGHT.max(element.height + AROUND).round().min(height);
    let y = (element.y + element.height / 2.0 - wanted / 2.0).round().clamp(0.0, height - wanted);
    Rect { x: 0.0, y, width, height: wanted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crop_is_large_enough_and_in_the_viewport() {
        let view = (1280.0, 720.0);
        let crop = |x, y, width, height| crop_around(&Rect { x, y, width, height }, view);
        assert_eq!(crop(600.0, 350.0, 80.0, 20.0), Rect { x: 0.0, y: 200.0, width: 1280.0, height: 320.0 });
        assert_eq!(crop(0.0, 0.0, 10.0, 10.0).y, 0.0);
        let corner = crop(1270.0, 710.0, 10.0, 10.0);
        assert!((corner.right() - 1280.0).abs() < 0.01 && (corner.bottom() - 720.0).abs() < 0.01);
        assert_eq!(crop(0.0, 0.0, 1280.0, 720.0), Rect { x: 0.0, y: 0.0, width: 1280.0, height: 720.0 });
        // A small window is shown whole.
        let small = crop_around(&Rect { x: 5.0, y: 5.0, width: 9.0, height: 9.0 }, (400.0, 300.0));
        assert_eq!((small.width, small.height), (400.0, 300.0));
    }
}
