//! Draws a frame tree.

use crate::style::Style;
use cdpilot::supervisor::{FrameTree, FrameView};

pub(super) fn draw(tree: &FrameTree, style: Style) -> Vec<String> {
    let mut rows = Vec::new();
    if let Some(top) = &tree.top {
        rows.push((top.url.to_string(), "top frame".to_owned()));
        below(tree, top, "", style, &mut rows);
    }
    let width = rows.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0);
    rows.into_iter().map(|(text, what)| format!("{text:<width$}   {what}")).collect()
}

fn below(tree: &FrameTree, parent: &FrameView, indent: &str, style: Style, rows: &mut Vec<(String, String)>) {
    let children: Vec<&FrameView> =
        tree.children.iter().filter(|child| child.parent_frame_id.as_ref() == Some(&parent.frame_id)).collect();
    for (index, child) in children.iter().enumerate() {
        let last = index + 1 == children.len();
        let (branch, next) = match last {
            true => (style.pick("└─ ", "`- "), "   "),
            false => (style.pick("├─ ", "|- "), style.pick("│  ", "|  ")),
        };
        let what =
            if child.is_oopif { style.yellow("own process") } else { "same process as its parent frame".to_owned() };
        rows.push((format!("{indent}{branch}{}", child.url), what));
        below(tree, child, &format!("{indent}{next}"), style, rows);
    }
}
