//! What changed on a page since its text was last kept.
//!
//! The kept text is that of the whole page, with long runs folded, whatever part of it a snapshot showed. So actions
//! also report text that an `interactive` snapshot leaves out.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::Tab;
use super::super::error::{Error, Shown};
use super::super::world::Doc;
use super::collect::Item;
use super::diff::Diff;
use super::fold::own_ref;
use super::{Format, SnapshotOptions, fold, redact, text};
use crate::redact::Secrets;
use crate::sync::Deadline;

/// The text of a whole page.
#[derive(Debug, Clone)]
pub(super) struct PageText {
    doc: Doc,
    text: Arc<str>,
}

impl SnapshotOptions {
    /// Whether the text of the whole page is kept with a snapshot: for models, whose actions report changes.
    pub(super) fn keeps_page(&self) -> bool {
        let covers_page = self.frame.is_none() && self.selector.is_none();
        self.fold && covers_page && self.format == Format::Ai
    }
}

impl Tab {
    /// Keeps the text of the whole page for [`changes`](Self::changes).
    pub(super) fn keep_page(&self, doc: &Doc, items: Vec<Item>, redact: Option<&Secrets>) {
        let text = self.page_text(&folded(items), redact);
        self.snapshot_cache.lock().page[usize::from(redact.is_some())] = Some(PageText { doc: doc.clone(), text });
    }

    /// Whether changes of this document can be reported.
    pub(in super::super) fn is_page_kept(&self, doc: &Doc, redact: Option<&Secrets>) -> bool {
        self.snapshot_cache.lock().page[usize::from(redact.is_some())].as_ref().is_some_and(|page| page.doc == *doc)
    }

    /// Keeps the present text of the page.
    pub(in super::super) fn keep_page_now(
        &self,
        redact: Option<&Secrets>,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let now = self.collect(&SnapshotOptions::default(), deadline)?;
        self.keep_page(&now.doc, now.items, redact);
        Ok(())
    }

    /// The lines that changed since the text of the page was last kept, in at most `most` characters. For another
    /// document, the interactive elements. Keeps the present text.
    pub(in super::super) fn changes(
        &self,
        most: usize,
        redact: Option<&Secrets>,
        deadline: Deadline<'_>,
    ) -> Result<String, Error> {
        let now = self.collect(&SnapshotOptions::default(), deadline)?;
        let is_same = self.is_page_kept(&now.doc, redact);
        let controls = SnapshotOptions { interactive: true, ..SnapshotOptions::default() };
        let shown = if is_same { Vec::new() } else { folded(fold::filtered(now.items.clone(), &controls)) };
        let items = folded(now.items);
        let whole = self.page_text(&items, redact);
        let page = PageText { doc: now.doc, text: Arc::clone(&whole) };
        let before = self.snapshot_cache.lock().page[usize::from(redact.is_some())].replace(page).filter(|_| is_same);
        let (lines, items) = match before {
            Some(before) => (brief(&Diff::between(&before.text, &whole)), items),
            None => (Diff::between("", &self.page_text(&shown, redact)).to_string(), shown),
        };
        let lines = fitted(lines, most);
        // Reported nodes count as shown; the others keep the role and name they were shown with.
        let added_refs: HashSet<&str> = lines.lines().filter_map(|line| own_ref(line.strip_prefix("+ ")?)).collect();
        let mut refs = self.refs.lock();
        for (node, item) in items.iter().filter_map(|item| Some((item.node.as_ref()?, item))) {
            let is_added = refs.number(node).is_some_and(|number| added_refs.contains(format!("e{number}").as_str()));
            if item.has_ref && is_added {
                refs.show(node.clone(), shown_as(item));
            }
        }
        drop(refs);
        Ok(lines)
    }

    fn page_text(&self, items: &[Item], redact: Option<&Secrets>) -> Arc<str> {
        let covered = redact.map(|secrets| redact::covered(items, secrets));
        let lines = text::lines(covered.as_deref().unwrap_or(items));
        let mut refs = self.refs.lock();
        for item in items.iter().filter(|item| item.has_ref) {
            if let Some(node) = &item.node {
                // Uncovered, since it is later compared with the page.
                refs.reserve(node.clone(), shown_as(item));
            }
        }
        text::written(&lines, |item| refs.number(item.node.as_ref().filter(|_| item.has_ref)?)).into()
    }
}

fn shown_as(item: &Item) -> Shown {
    Shown::new(&*item.role, &*item.name)
}

/// The items of a whole page, without the focus, which does not count as a change.
fn folded(mut items: Vec<Item>) -> Vec<Item> {
    for more in items.iter_mut().filter_map(|item| item.more.as_mut()) {
        more.active = false;
    }
    fold::folded(items, None)
}

/// A diff without the old lines of elements that still exist, by their refs.
fn brief(diff: &Diff) -> String {
    let added: HashSet<&str> =
        diff.hunks.iter().flat_map(|hunk| &hunk.added).filter_map(|line| own_ref(line)).collect();
    let mut lines = Vec::new();
    for hunk in &diff.hunks {
        let is_gone = |line: &&str| own_ref(line).is_none_or(|reference| !added.contains(reference));
        let removed: Vec<&str> = hunk.removed.iter().map(String::as_str).filter(is_gone).collect();
        lines.extend(fold::folded_lines(&removed, "- "));
        lines.extend(fold::folded_lines(&hunk.added.iter().map(String::as_str).collect::<Vec<_>>(), "+ "));
    }
    lines.join("\n")
}

/// Removed lines that are reported when what was added has no room beside all of them.
const MOST_REMOVED: usize = 10;

/// The same in at most `most` characters: what was added counts more than what is gone.
fn fitted(lines: String, most: usize) -> String {
    if most == 0 || lines.chars().count() <= most {
        return lines;
    }
    let (mut kept, mut removed) = (Vec::new(), 0);
    for line in lines.lines() {
        if line.starts_with("- ") {
            removed += 1;
            if removed > MOST_REMOVED {
                continue;
            }
        }
        kept.push(line);
    }
    let more = removed.saturating_sub(MOST_REMOVED);
    let gone = if more > 0 { format!("\n- … and {more} more lines that are gone") } else { String::new() };
    let (text, _) = text::cut(kept.join("\n"), most.saturating_sub(gone.len()), 0);
    format!("{text}{gone}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_not_cut_for_what_is_gone() {
        let removed: String = (0..80).map(|n| format!("- cell {n}\n")).collect();
        let lines = format!("{removed}+ heading \"New\"");
        let shown = fitted(lines.clone(), 400);
        assert!(shown.contains("+ heading") && shown.contains("- … and 70 more lines that are gone"), "{shown}");
        assert!(shown.chars().count() <= 400);
        assert_eq!(fitted(lines.clone(), 10_000), lines);
    }

    #[test]
    fn a_line_that_is_still_there_is_shown_once() {
        let before = "- button \"Buy (2)\" [ref=e1]\n- paragraph: old\n- link \"Gone\" [ref=e2]";
        let after = "- button \"Buy (3)\" [ref=e1]\n- paragraph: new";
        let text = brief(&Diff::between(before, after));
        assert_eq!(
            text,
            "- - paragraph: old\n- - link \"Gone\" [ref=e2]\n+ - button \"Buy (3)\" [ref=e1]\n+ - paragraph: new"
        );
    }

    #[test]
    fn days_of_a_calendar_are_folded() {
        let days = |from: u32| -> String {
            let day = |day: u32| format!("    - gridcell \"{day}\" [ref=e{}]\n", day + from);
            let week = |week: u32| {
                format!("  - row [ref=e{}]\n", 100 + week) + &(1..=7).map(|d| day(week * 7 + d)).collect::<String>()
            };
            (0..5).map(week).collect()
        };
        let opened = brief(&Diff::between(
            "- button \"Date\" [ref=e200]",
            &format!("- button \"Date\" [ref=e200]\n{}", days(0)),
        ));
        assert!(opened.contains("+     - 30 more like these [ref=e6]"), "{opened}");
        assert_eq!((opened.matches("gridcell").count(), opened.matches("- row").count()), (5, 5), "{opened}");
        let closed = brief(&Diff::between(&format!("- text: x\n{}", days(0)), "- text: x"));
        assert!(closed.contains("-     - 30 more like these [ref=e6]"), "{closed}");
        // Different buttons are not alike.
        let tools = "- button \"Bold\" [ref=e1]\n- button \"Italic\" [ref=e2]\n- button \"a\" [ref=e3]\n- button \"b\" [ref=e4]\n\
            - button \"c\" [ref=e5]\n- button \"d\" [ref=e6]\n- button \"e\" [ref=e7]\n- button \"f\" [ref=e8]\n- button \"g\" [ref=e9]";
        assert!(!brief(&Diff::between("", tools)).contains("more like"));
    }

    #[test]
    fn the_ref_of_a_line_is_its_own() {
        for (line, reference) in [
            ("  - button \"a \\\" [ref=e9]\" [ref=e1] [disabled]", Some("e1")),
            ("- textbox [ref=e2]: [ref=e3]", Some("e2")),
            ("- text: [ref=e3]", None),
            ("- heading \"x\"", None),
        ] {
            assert_eq!(own_ref(line), reference, "{line}");
        }
    }
}
