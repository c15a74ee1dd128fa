//! The hands of a play: it calls tools as a model does, and sees what a model sees. Nothing else of a run is known to it.

use std::borrow::Cow;

use crossbeam_channel::{Receiver, Sender};
use serde_json::{Value, json};

use super::super::assets::Assets;
pub(super) use super::abilities::Abilities;
use super::icon;
use super::picture;
use super::screen::{Element, Line, Screen, TabLine, lines};
pub(super) use super::want::Want;

/// A play cannot go on: the conversation has ended, or what it looks for is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lost(pub(super) String);

pub(super) type Done<T = ()> = Result<T, Lost>;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) tool: Cow<'static, str>,
    pub(super) arguments: Value,
}

/// What a model receives for a call: the text of the result, and the picture that came with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Received {
    pub(super) text: String,
    pub(super) png: Option<Vec<u8>>,
}

/// The hands of one play.
pub(super) struct Hands {
    calls: Sender<Call>,
    results: Receiver<Received>,
    sites: Assets,
    pub(super) can: Abilities,
    /// Where the run begins.
    pub(super) start: String,
    /// What the model is told.
    pub(super) task: String,
    /// The last observation with elements.
    pub(super) screen: Screen,
    /// The text of the last result.
    pub(super) last: String,
    png: Option<Vec<u8>>,
}

/// Steps in which a page or a list is scrolled while something is looked for.
const MOST_SCROLLS: usize = 30;
/// Most lines of a page that are read.
const MOST_LINES: usize = 20_000;
/// Most pages of elements that are looked at.
const MOST_PAGES: usize = 12;

impl Hands {
    pub(super) fn new(
        calls: Sender<Call>,
        results: Receiver<Received>,
        sites: Assets,
        can: Abilities,
        start: &str,
        task: &str,
    ) -> Self {
        let (start, task) = (start.to_owned(), task.to_owned());
        Self { calls, results, sites, can, start, task, screen: Screen::default(), last: String::new(), png: None }
    }

    /// Fails with a reason.
    pub(super) fn lost<T>(&self, why: impl Into<String>) -> Done<T> {
        Err(Lost(why.into()))
    }

    /// The texts in double quotes in the task, in their order.
    pub(super) fn quoted(&self) -> Vec<String> {
        self.task.split('"').skip(1).step_by(2).map(str::to_owned).collect()
    }

    /// What the task says between two texts.
    pub(super) fn told(&self, before: &str, after: &str) -> Done<String> {
        let rest = self.task.split_once(before).map(|(_, rest)| rest);
        match rest.and_then(|rest| rest.split_once(after)) {
            Some((words, _)) => Ok(words.trim().to_owned()),
            None => self.lost(format!("the task says nothing between {before:?} and {after:?}")),
        }
    }

    /// The paths of all pages of the site where the run begins. No play needs it: a model that opens every address must not pass.
    pub(super) fn pages(&self) -> Vec<String> {
        let site = self.start.split('/').nth(3).unwrap_or_default();
        let pages = self.sites.ending(".html").unwrap_or_default();
        pages.into_iter().filter(|path| path.starts_with(&format!("{site}/"))).collect()
    }

    /// Calls a tool and returns the text of its result.
    pub(super) fn call(&mut self, tool: impl Into<Cow<'static, str>>, arguments: Value) -> Done<String> {
        self.calls
            .send(Call { tool: tool.into(), arguments })
            .map_err(|_| Lost("the conversation has ended".into()))?;
        let result = self.results.recv().map_err(|_| Lost("the conversation has ended".into()))?;
        self.last.clone_from(&result.text);
        if result.png.is_some() {
            self.png = result.png;
        }
        let value: Value = serde_json::from_str(&result.text).unwrap_or_default();
        if let Some(observation) = value["observation"].as_str() {
            let screen = Screen::read(observation);
            if !screen.elements.is_empty() || !screen.tabs.is_empty() {
                self.screen = screen;
            } else {
                self.screen.text = screen.text;
            }
        }
        Ok(result.text)
    }

    /// The last picture that came with a result, as PNG.
    pub(super) fn picture(&self) -> Option<&[u8]> {
        self.png.as_deref()
    }

    /// Whether the last call succeeded.
    pub(super) fn ok(&self) -> bool {
        let value: Value = serde_json::from_str(&self.last).unwrap_or_default();
        value["success"] != false
    }

    /// Opens an address in a tab of its own.
    pub(super) fn open(&mut self, url: &str) -> Done {
        self.call("tab", json!({ "action": "init", "url": url })).map(drop)
    }

    /// Opens the start address.
    pub(super) fn begin(&mut self) -> Done {
        let start = self.start.clone();
        self.open(&start)
    }

    /// Looks at the elements of the viewport.
    pub(super) fn look(&mut self) -> Done {
        self.call("highlight", json!({ "element_type": "any" })).map(drop)
    }

    fn seen(&self, want: &Want) -> Option<Element> {
        self.screen.elements.iter().find(|element| want.fits(element)).cloned()
    }

    /// Looks for an element in the viewport, on all pages of elements.
    pub(super) fn here(&mut self, want: &Want) -> Done<Option<Element>> {
        if let Some(element) = self.seen(want) {
            return Ok(Some(element));
        }
        self.look()?;
        let mut page = 1;
        loop {
            if let Some(element) = self.seen(want) {
                return Ok(Some(element));
            }
            page += 1;
            if !self.can.paging || page > self.screen.pages.min(MOST_PAGES) {
                return Ok(None);
            }
            self.call("highlight", json!({ "element_type": "any", "page": page }))?;
        }
    }

    /// The elements of the viewport that fit, on all pages of elements.
    pub(super) fn all(&mut self, want: &Want) -> Done<Vec<Element>> {
        self.look()?;
        let pages = if self.can.paging { self.screen.pages.min(MOST_PAGES) } else { 1 };
        let mut all = self.screen.elements.clone();
        for page in 2..=pages {
            self.call("highlight", json!({ "element_type": "any", "page": page }))?;
            all.append(&mut self.screen.elements.clone());
        }
        all.retain(|element| want.fits(element));
        Ok(all)
    }

    /// Looks for an element in the viewport, then down the page to its end, then up to its top.
    pub(super) fn find(&mut self, want: &Want) -> Done<Element> {
        if let Some(element) = self.here(want)? {
            return Ok(element);
        }
        for direction in ["down", "up"] {
            for _ in 0..MOST_SCROLLS {
                self.scroll_page(direction, 0.7)?;
                if self.last.contains("had no effect") {
                    break;
                }
                if let Some(element) = self.here(want)? {
                    return Ok(element);
                }
            }
        }
        self.lost(format!("no element {want:?}"))
    }

    /// Scrolls the page by parts of the viewport.
    pub(super) fn scroll_page(&mut self, direction: &str, amount: f64) -> Done {
        let arguments = json!({ "action": "scroll", "direction": direction, "scroll_amount": amount });
        self.call("element_interaction", arguments).map(drop)
    }

    /// Whether the last call could not scroll any further.
    pub(super) fn at_end(&self) -> bool {
        self.screen.text.contains(" had no effect: it is at its end")
    }

    /// Scrolls a list in a box.
    pub(super) fn scroll_in(&mut self, container: &Want, direction: &str, amount: f64) -> Done {
        if !self.can.containers {
            return self.lost("scrolling in boxes is switched off");
        }
        let id = self.find(container)?.id;
        let arguments =
            json!({ "action": "scroll", "direction": direction, "scroll_amount": amount, "element_id": id });
        self.call("element_interaction", arguments).map(drop)
    }

    /// Scrolls a list in a box until an element in it can be used: in view, and not covered.
    pub(super) fn bring(&mut self, container: &Want, element: &Want) -> Done {
        for _ in 0..MOST_SCROLLS {
            if self.here(element)?.is_some() {
                return Ok(());
            }
            self.scroll_in(container, "down", 0.4)?;
            if self.at_end() {
                break;
            }
        }
        self.lost(format!("scrolling does not bring {element:?}"))
    }

    /// Calls an action, and confirms it if it shows a preview.
    fn in_two_phases(&mut self, arguments: Value) -> Done {
        self.call("element_interaction", arguments.clone())?;
        if self.ok() && self.is_previewed() { self.confirm(arguments) } else { Ok(()) }
    }

    /// Whether the last call has shown a preview and done nothing yet.
    fn is_previewed(&self) -> bool {
        let value: Value = serde_json::from_str(&self.last).unwrap_or_default();
        value["pending"].is_object()
    }

    /// Carries out what a preview has shown.
    fn confirm(&mut self, mut arguments: Value) -> Done {
        if !self.can.phases {
            return self.lost("confirming is switched off");
        }
        let action = arguments["action"].as_str().unwrap_or_default();
        arguments["action"] = format!("confirm_{action}").into();
        self.call("element_interaction", arguments).map(drop)
    }

    /// Clicks an element, wherever on the page it is. A stale one is looked for again.
    pub(super) fn click(&mut self, want: &Want) -> Done {
        for _ in 0..4 {
            let id = self.find(want)?.id;
            self.in_two_phases(json!({ "action": "click", "element_id": id }))?;
            if self.ok() {
                return Ok(());
            }
            self.screen.elements.clear();
        }
        self.lost(format!("cannot click {want:?}: {}", self.last))
    }

    /// Clicks the element that fits and looks like a sketch, as its preview shows.
    pub(super) fn click_icon(&mut self, want: &Want, sketch: &[&str]) -> Done {
        if !self.can.pictures {
            return self.lost("pictures are switched off");
        }
        for element in self.all(want)? {
            self.png = None;
            let arguments = json!({ "action": "click", "element_id": element.id });
            self.call("element_interaction", arguments.clone())?;
            if self.png.as_ref().is_some_and(|png| icon::is_like(png, sketch)) {
                self.confirm(arguments)?;
                return if self.ok() { Ok(()) } else { self.lost(format!("cannot click the icon: {}", self.last)) };
            }
        }
        self.lost("no icon looks like the sketch")
    }

    /// Replaces the text of a field; `submit` presses Enter afterwards.
    pub(super) fn write(&mut self, want: &Want, text: &str, submit: bool) -> Done {
        if submit && !self.can.keys {
            return self.lost("keys are switched off");
        }
        for _ in 0..4 {
            let id = self.find(want)?.id;
            let arguments = json!({ "action": "keyboard_input", "element_id": id, "text": text, "submit": submit });
            self.in_two_phases(arguments)?;
            if self.ok() {
                return Ok(());
            }
            self.screen.elements.clear();
        }
        self.lost(format!("cannot write into {want:?}: {}", self.last))
    }

    /// Chooses the option of a `<select>` with this value.
    pub(super) fn choose(&mut self, want: &Want, value: &str) -> Done {
        if !self.can.selects {
            return self.lost("selects are switched off");
        }
        for _ in 0..4 {
            let id = self.find(want)?.id;
            self.in_two_phases(json!({ "action": "select", "element_id": id, "value": value }))?;
            if self.ok() {
                return Ok(());
            }
            self.screen.elements.clear();
        }
        self.lost(format!("cannot choose {value:?} in {want:?}: {}", self.last))
    }

    /// Swipes an element to the next or previous picture.
    pub(super) fn swipe(&mut self, want: &Want, direction: &str) -> Done {
        let id = self.find(want)?.id;
        let arguments = json!({ "action": "swipe", "element_id": id, "direction": direction });
        self.call("element_interaction", arguments).map(drop)
    }

    /// Answers the open dialog.
    pub(super) fn dialog(&mut self, accept: bool, text: Option<&str>) -> Done {
        if !self.can.dialogs {
            return self.lost("dialogs are switched off");
        }
        let mut arguments = json!({ "dialog_action": if accept { "accept" } else { "dismiss" } });
        if let Some(text) = text {
            arguments["prompt_text"] = text.into();
        }
        self.call("dialog", arguments).map(drop)
    }

    /// The open tabs.
    pub(super) fn tabs(&mut self) -> Done<Vec<TabLine>> {
        self.call("tab", json!({ "action": "list" }))?;
        Ok(self.screen.tabs.clone())
    }

    /// Makes the tab current whose title or address contains this.
    pub(super) fn switch(&mut self, part: &str) -> Done {
        if !self.can.tabs {
            return self.lost("further tabs are switched off");
        }
        let tabs = self.tabs()?;
        let Some(tab) = tabs.iter().find(|tab| tab.text.contains(part)) else {
            return self.lost(format!("no tab {part:?}"));
        };
        self.call("tab", json!({ "action": "switch", "tab_id": tab.id })).map(drop)
    }

    /// Goes back in the history of the current tab.
    pub(super) fn back(&mut self) -> Done {
        self.call("tab", json!({ "action": "back" })).map(drop)
    }

    /// Reads the page with its texts, all frames included, as lines with refs. Folded groups are unfolded.
    pub(super) fn read(&mut self) -> Done<Vec<Line>> {
        let folded = self.snapshot(None)?;
        let mut all = folded.clone();
        // From the last one: the lines before a group are the same in every snapshot.
        for (at, line) in folded.iter().enumerate().rev() {
            let Some(group) = line.reference.as_deref().filter(|_| line.text.contains(" more like these ")) else {
                continue;
            };
            let unfolded = self.snapshot(Some(group))?;
            let end = (unfolded.len() + at + 1).saturating_sub(folded.len());
            if let Some(group) = unfolded.get(at..end) {
                all.splice(at..=at, group.iter().cloned());
            }
        }
        Ok(all)
    }

    /// Looks for something in what the page shows, then also in each folded group.
    pub(super) fn read_for<T>(&mut self, look: impl Fn(&[Line]) -> Option<T>) -> Done<T> {
        let lines = self.snapshot(None)?;
        if let Some(found) = look(&lines) {
            return Ok(found);
        }
        for group in lines.iter().filter(|line| line.text.contains(" more like these ")) {
            let lines = self.snapshot(group.reference.as_deref())?;
            if let Some(found) = look(&lines) {
                return Ok(found);
            }
        }
        self.lost("what is looked for is not on the page")
    }

    /// The lines of all parts of a snapshot, one folded group unfolded.
    fn snapshot(&mut self, unfold: Option<&str>) -> Done<Vec<Line>> {
        let (mut all, mut offset) = (Vec::new(), 0);
        loop {
            let text = self.call("browser_snapshot", json!({ "full": true, "offset": offset, "expand": unfold }))?;
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            let snapshot = value["snapshot"].as_str().unwrap_or_default();
            let next =
                snapshot.rsplit_once("call again with offset ").map(|(_, rest)| rest.trim_end_matches([')', ']', '.']));
            let next = next.and_then(|next| next.trim().parse::<usize>().ok());
            all.extend(lines(snapshot));
            match next {
                Some(next) if next > offset && next < MOST_LINES => {
                    all.pop(); // the note
                    offset = next;
                }
                _ => return Ok(all),
            }
        }
    }

    /// The text of the page, in one piece.
    pub(super) fn page_text(&mut self) -> Done<String> {
        let lines = self.read()?;
        Ok(lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n"))
    }

    /// Clicks by a ref of a snapshot.
    pub(super) fn press(&mut self, reference: &str) -> Done {
        self.call("browser_click", json!({ "ref": reference }))?;
        self.screen.elements.clear(); // those of before the click
        Ok(())
    }

    /// Waits until a text appears on the page. Whether it did.
    pub(super) fn wait_for(&mut self, text: &str) -> Done<bool> {
        self.call("browser_wait", json!({ "text": text, "timeout_ms": 5000 }))?;
        Ok(self.ok())
    }

    /// Waits until a text has gone. Whether it did.
    pub(super) fn wait_gone(&mut self, text: &str) -> Done<bool> {
        self.call("browser_wait", json!({ "text_gone": text, "timeout_ms": 5000 }))?;
        Ok(self.ok())
    }

    /// Whether a clean screenshot of the page really shows a picture of the sites, for example `bluebook/img/p-0412.png`.
    pub(super) fn sees(&mut self, picture: &str) -> Done<bool> {
        if !self.can.pictures {
            return self.lost("pictures are switched off");
        }
        self.png = None;
        self.call("tab", json!({ "action": "view" }))?;
        Ok(self.png.as_ref().is_some_and(|png| picture::shows(png, &self.sites, picture)))
    }
}
