//! The hands of a play: it calls tools as a model does, and sees what a model sees. Nothing else of a run is known to it.

use crossbeam_channel::{Receiver, Sender};
use serde_json::{Value, json};

use super::super::assets::Assets;
use super::picture;
use super::screen::{Element, Line, Screen, TabLine, lines};

/// A play cannot go on: the conversation has ended, or what it looks for is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lost(pub(super) String);

pub(super) type Done<T = ()> = Result<T, Lost>;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
}

/// What a model receives for a call: the text of the result, and the picture that came with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Received {
    pub(super) text: String,
    pub(super) png: Option<Vec<u8>>,
}

/// What a play can do. One at a time is taken away to show that it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Abilities {
    /// Looking at further pages of elements.
    pub(super) paging: bool,
    /// Scrolling lists in boxes.
    pub(super) containers: bool,
    /// Reading pictures.
    pub(super) pictures: bool,
    /// Using what is in frames of other origins.
    pub(super) frames: bool,
    /// Answering dialogs.
    pub(super) dialogs: bool,
    /// Choosing in selects.
    pub(super) selects: bool,
    /// Pressing keys.
    pub(super) keys: bool,
    /// Using several tabs.
    pub(super) tabs: bool,
    /// Confirming previews.
    pub(super) phases: bool,
}

impl Abilities {
    /// The names with which one is taken away.
    pub(super) const NAMES: [&'static str; 9] =
        ["paging", "containers", "pictures", "frames", "dialogs", "selects", "keys", "tabs", "phases"];

    pub(super) fn all() -> Self {
        Self {
            paging: true,
            containers: true,
            pictures: true,
            frames: true,
            dialogs: true,
            selects: true,
            keys: true,
            tabs: true,
            phases: true,
        }
    }

    /// All but one; `None` for an unknown name.
    pub(super) fn without(name: &str) -> Option<Self> {
        let mut all = Self::all();
        let taken = match name {
            "paging" => &mut all.paging,
            "containers" => &mut all.containers,
            "pictures" => &mut all.pictures,
            "frames" => &mut all.frames,
            "dialogs" => &mut all.dialogs,
            "selects" => &mut all.selects,
            "keys" => &mut all.keys,
            "tabs" => &mut all.tabs,
            "phases" => &mut all.phases,
            _ => return None,
        };
        *taken = false;
        Some(all)
    }
}

/// An element that is looked for: all parts stand in its HTML. `Want::new().has("id=\"size-option-m\"")`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Want {
    parts: Vec<String>,
    not: Vec<String>,
    kind: Option<&'static str>,
}

impl Want {
    pub(super) fn id(id: &str) -> Self {
        Self::default().has(&format!("id=\"{id}\""))
    }

    /// An element whose HTML contains this.
    pub(super) fn html(part: &str) -> Self {
        Self::default().has(part)
    }

    /// An element with this text, between tags.
    pub(super) fn text(text: &str) -> Self {
        Self::default().has(&format!(">{text}<"))
    }

    pub(super) fn has(mut self, part: &str) -> Self {
        self.parts.push(part.to_owned());
        self
    }

    pub(super) fn lacks(mut self, part: &str) -> Self {
        self.not.push(part.to_owned());
        self
    }

    /// Only elements of this type.
    pub(super) fn of(mut self, kind: &'static str) -> Self {
        self.kind = Some(kind);
        self
    }

    fn fits(&self, element: &Element) -> bool {
        // White space at the ends of texts is kept in HTML.
        let html = element.html.replace("> ", ">").replace(" <", "<");
        let has = |part: &String| element.html.contains(part.as_str()) || html.contains(part.as_str());
        self.parts.iter().all(has) && !self.not.iter().any(has) && self.kind.is_none_or(|kind| element.kind == kind)
    }
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

    /// The paths of all pages of the site where the run begins. No play needs it: a model that opens every address must not pass.
    pub(super) fn pages(&self) -> Vec<String> {
        let site = self.start.split('/').nth(3).unwrap_or_default();
        let pages = self.sites.ending(".html").unwrap_or_default();
        pages.into_iter().filter(|path| path.starts_with(&format!("{site}/"))).collect()
    }

    /// Calls a tool and returns the text of its result.
    pub(super) fn call(&mut self, tool: &'static str, arguments: Value) -> Done<String> {
        self.calls.send(Call { tool, arguments }).map_err(|_| Lost("the conversation has ended".into()))?;
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

    /// Looks for an element in the viewport, then further down the page.
    pub(super) fn find(&mut self, want: &Want) -> Done<Element> {
        for _ in 0..MOST_SCROLLS {
            if let Some(element) = self.here(want)? {
                return Ok(element);
            }
            let before = self.screen.elements.clone();
            self.scroll_page("down", 0.7)?;
            self.look()?;
            if self.screen.elements == before {
                break;
            }
        }
        self.lost(format!("no element {want:?}"))
    }

    /// Scrolls the page by parts of the viewport.
    pub(super) fn scroll_page(&mut self, direction: &str, amount: f64) -> Done {
        let arguments = json!({ "action": "scroll", "direction": direction, "scroll_amount": amount });
        self.call("element_interaction", arguments).map(drop)
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

    /// Calls an action that needs a confirmation, and confirms it.
    fn in_two_phases(&mut self, mut arguments: Value) -> Done {
        self.call("element_interaction", arguments.clone())?;
        if !self.ok() {
            return Ok(());
        }
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

    /// Reads the page with its texts, all frames included, as lines with refs.
    pub(super) fn read(&mut self) -> Done<Vec<Line>> {
        let (mut all, mut offset) = (Vec::new(), 0);
        loop {
            let text = self.call("browser_snapshot", json!({ "full": true, "offset": offset }))?;
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
        self.call("browser_click", json!({ "ref": reference })).map(drop)
    }

    /// Replaces the text of a field by a ref of a snapshot.
    pub(super) fn fill(&mut self, reference: &str, text: &str) -> Done {
        self.call("browser_type", json!({ "ref": reference, "text": text })).map(drop)
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
