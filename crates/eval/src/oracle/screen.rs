//! What the tools show: the lines of elements, tabs and dialogs of an observation.

/// An element of an observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    /// Its id, for actions.
    pub(super) id: String,
    /// Its type: `clickable`, `inputable`, `selectable`, `scrollable`, `hoverable`.
    pub(super) kind: String,
    /// Further words: `disabled`, `off-screen`, …
    pub(super) hints: Vec<String>,
    /// Its HTML, shortened.
    pub(super) html: String,
}

/// A tab of an observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TabLine {
    /// `t1`
    pub(super) id: String,
    pub(super) current: bool,
    /// Title and address.
    pub(super) text: String,
}

/// An observation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Screen {
    /// The whole text.
    pub(super) text: String,
    pub(super) elements: Vec<Element>,
    pub(super) tabs: Vec<TabLine>,
    /// Number of this page of elements, and how many there are.
    pub(super) page: usize,
    pub(super) pages: usize,
}

impl Screen {
    /// Reads the text of an observation.
    pub(super) fn read(text: &str) -> Self {
        let mut screen = Self { text: text.to_owned(), page: 1, pages: 1, ..Self::default() };
        for line in text.lines() {
            if let Some((page, pages)) = paging(line) {
                (screen.page, screen.pages) = (page, pages);
            }
            screen.elements.extend(element(line));
            screen.tabs.extend(tab(line));
        }
        screen
    }
}

/// `17 elements, page 1 of 2.`
fn paging(line: &str) -> Option<(usize, usize)> {
    let (before, after) = line.split_once(", page ")?;
    before.ends_with("elements").then_some(())?;
    let mut words = after.split([' ', '.', ';']);
    let page = words.next()?.parse().ok()?;
    let pages = words.nth(1)?.parse().ok()?;
    Some((page, pages))
}

/// `eu0v6t(clickable, disabled): <a …>`
fn element(line: &str) -> Option<Element> {
    let (id, rest) = line.split_once('(')?;
    let is_id = !id.is_empty() && id.len() <= 12 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let (hints, html) = rest.split_once("): ").filter(|_| is_id)?;
    let mut hints = hints.split(", ").map(str::to_owned);
    let kind = hints.next()?;
    Some(Element { id: id.to_owned(), kind, hints: hints.collect(), html: html.to_owned() })
}

/// `tab t1 (current): Title - address`
fn tab(line: &str) -> Option<TabLine> {
    let (head, text) = line.strip_prefix("tab ")?.split_once(": ")?;
    let (id, note) = head.split_once(' ').unwrap_or((head, ""));
    Some(TabLine { id: id.to_owned(), current: note.contains("current"), text: text.to_owned() })
}

/// A line of a snapshot of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Depth in the tree.
    pub(super) depth: usize,
    /// Role, name and states: `button "Save" [disabled]`.
    pub(super) text: String,
    /// `e12`, if it can be acted on.
    pub(super) reference: Option<String>,
}

impl Line {
    /// The name: the text in quotes.
    pub(super) fn name(&self) -> &str {
        self.text.split('"').nth(1).unwrap_or_default()
    }
}

/// What is inside of each line that begins with this: the deeper lines that follow it.
pub(super) fn groups<'a>(lines: &'a [Line], head: &'a str) -> impl Iterator<Item = &'a [Line]> {
    let heads = lines.iter().enumerate().filter(move |(_, line)| line.text.starts_with(head));
    heads.map(|(at, line)| {
        let rest = lines.get(at + 1..).unwrap_or_default();
        let end = rest.iter().position(|other| other.depth <= line.depth).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    })
}

/// Reads the lines of a snapshot.
pub(super) fn lines(snapshot: &str) -> Vec<Line> {
    let line = |line: &str| {
        let inner = line.trim_start();
        let text = inner.strip_prefix("- ").unwrap_or(inner);
        let reference = text.split_once("[ref=").and_then(|(_, rest)| rest.split_once(']')).map(|(r, _)| r.to_owned());
        Line { depth: (line.len() - inner.len()) / 2, text: text.to_owned(), reference }
    };
    snapshot.lines().filter(|line| !line.trim().is_empty()).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_are_read() {
        let screen = Screen::read(
            "17 elements, page 1 of 2. More: highlight with page 2.\ntab t1 (current): GBR - http://h/\ntab t2: B - http://h/b\n\
             eu0v6t(clickable): <a href=\"/\">Top (all)</a>\nogn(clickable, disabled): <button>",
        );
        assert_eq!((screen.page, screen.pages, screen.elements.len(), screen.tabs.len()), (1, 2, 2, 2));
        assert_eq!(screen.elements[1].hints, ["disabled"]);
        assert!(screen.tabs[0].current && !screen.tabs[1].current);
        assert_eq!(screen.elements[0].html, "<a href=\"/\">Top (all)</a>");
    }

    #[test]
    fn snapshots_are_read() {
        let read = lines("- heading \"A\"\n  - button \"B\" [ref=e2] [disabled]\n");
        assert_eq!((read[1].depth, read[1].reference.as_deref()), (1, Some("e2")));
        assert_eq!(read[0].reference, None);
        assert_eq!(read[1].name(), "B");
    }

    #[test]
    fn groups_contain_the_deeper_lines() {
        let read = lines("- row\n  - cell \"1\"\n    - link \"A\"\n- row \"B\"\n- text: C\n");
        let sizes: Vec<usize> = groups(&read, "row").map(<[Line]>::len).collect();
        assert_eq!(sizes, [2, 0]);
    }
}
