//! Wrappers that add nothing to their content: they are left out, so that each control is shown once.

use super::collect::{Item, is_interactive};
use super::fold::lifted;
use super::tree::NodeDetails;

/// Removes generic elements around a single control with the same name, and those that only hold other controls. Their
/// content moves up.
pub(super) fn merged(items: Vec<Item>) -> Vec<Item> {
    let redundant: Vec<bool> = (0..items.len()).map(|at| is_redundant(&items, at)).collect();
    if !redundant.contains(&true) {
        return items;
    }
    let mut at = 0;
    let keep = |_: &Item| {
        at += 1;
        redundant.get(at - 1) != Some(&true)
    };
    lifted(items, keep, |_| true)
}

fn is_redundant(items: &[Item], at: usize) -> bool {
    let Some(wrapper) = items.get(at) else { return false };
    let idle = match wrapper.more.as_deref() {
        // A state of its own, above all the focus, is worth a line.
        Some(more) if *more != (NodeDetails { cursor: more.cursor, idle: more.idle, ..NodeDetails::default() }) => {
            return false;
        }
        more => more.is_some_and(|more| more.idle),
    };
    if !wrapper.has_ref || !matches!(&*wrapper.role, "generic" | "label") {
        return false;
    }
    let inside = Content::of(wrapper, items.get(at + 1..).unwrap_or_default());
    let is_alone = inside.controls == 1 && !inside.others;
    let same_name = |name: &str| !name.is_empty() && inside.name.is_some_and(|control| control.trim() == name.trim());
    if !wrapper.name.is_empty() {
        return inside.controls == 1 && same_name(&wrapper.name);
    }
    let only_controls = inside.controls > 0 && !inside.others && inside.text.is_empty();
    (is_alone && (inside.text.is_empty() || same_name(&inside.text))) || (idle && only_controls)
}

/// The content of an element.
#[derive(Default)]
struct Content<'a> {
    /// The number of controls, without those inside other controls.
    controls: usize,
    /// The name of the first control.
    name: Option<&'a str>,
    /// The text outside the controls.
    text: String,
    /// Whether there is any other visible content.
    others: bool,
}

impl<'a> Content<'a> {
    fn of(wrapper: &Item, behind: &'a [Item]) -> Self {
        let mut inside = Self::default();
        let mut skip = None; // the depth of the control that contains the items
        for item in behind.iter().take_while(|item| item.depth > wrapper.depth) {
            if skip.is_some_and(|depth| item.depth > depth) {
                continue;
            }
            skip = None;
            if is_interactive(&item.role, item.more.as_deref()) {
                inside.controls += 1;
                inside.name = inside.name.or(Some(&item.name));
                skip = Some(item.depth);
            } else if &*item.role == "text" {
                inside.text.push_str(if inside.text.is_empty() { "" } else { " " });
                inside.text.push_str(&item.name);
            } else if item.has_ref
                || matches!(&*item.role, "img" | "canvas" | "video" | "audio" | "progressbar" | "meter")
            {
                inside.others = true;
            }
        }
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdp::protocol::page::FrameId;
    use crate::page::world::{Doc, Node};

    fn item(depth: u32, role: &str, name: &str, more: NodeDetails) -> Item {
        let frame = FrameId::from("F");
        let node = Node { frame: frame.clone(), doc: Doc("D".into()), id: 1 };
        let has_ref = role != "text" && role != "list";
        let more = Some(Box::new(more));
        Item {
            depth,
            role: role.into(),
            name: name.into(),
            node: Some(node),
            frame,
            in_top: true,
            has_ref,
            more,
            folded: 0,
        }
    }

    fn left(items: &[(u32, &str, &str, NodeDetails)]) -> Vec<(u32, String)> {
        let items = items.iter().map(|(depth, role, name, more)| item(*depth, role, name, more.clone())).collect();
        merged(items).into_iter().map(|item| (item.depth, format!("{} {}", item.role, item.name))).collect()
    }

    #[test]
    fn wrappers_of_one_control_or_without_effect_go_and_others_stay() {
        let none = NodeDetails::default;
        let idle = || NodeDetails { cursor: true, idle: true, ..NodeDetails::default() };
        let acting = || NodeDetails { cursor: true, ..NodeDetails::default() };
        let gone =
            |items: &[(u32, &str, &str, NodeDetails)]| left(items)[0].0 == 0 && left(items).len() == items.len() - 1;
        // Of the same name, or unnamed around one control, whatever it does.
        assert!(gone(&[(0, "generic", "Save", acting()), (1, "button", "Save", none())]));
        assert!(gone(&[(0, "generic", "", acting()), (1, "list", "", none()), (2, "button", "Save", none())]));
        assert!(gone(&[(0, "label", "", idle()), (1, "text", "Agree", none()), (1, "checkbox", "Agree", none())]));
        assert!(gone(&[
            (0, "label", "", idle()),
            (1, "combobox", "City", none()),
            (2, "option", "Rome", none()),
            (2, "option", "Oslo", none()),
        ]));
        // Around several: only one that does nothing itself.
        let two = [(1, "button", "a", none()), (1, "button", "b", none())];
        assert!(gone(&[&[(0, "generic", "", idle())], &two[..]].concat()));
        assert!(!gone(&[&[(0, "generic", "", acting())], &two[..]].concat()));
        // Another name, more to read, a state of its own.
        assert!(!gone(&[(0, "generic", "Bar", idle()), (1, "button", "Save", none())]));
        assert!(!gone(&[(0, "generic", "", idle()), (1, "text", "more", none()), (1, "button", "Save", none())]));
        assert!(!gone(&[(0, "generic", "", idle()), (1, "heading", "Title", none()), (1, "button", "Save", none())]));
        assert!(!gone(&[(0, "generic", "", NodeDetails { active: true, ..idle() }), (1, "button", "Save", none())]));
        assert!(!gone(&[(0, "generic", "", idle()), (1, "text", "alone", none())]));
        // What was in it moves up, also out of several.
        let nested = [
            (0, "generic", "", acting()),
            (1, "generic", "", acting()),
            (2, "button", "Save", none()),
            (0, "button", "Next", none()),
        ];
        assert_eq!(left(&nested), [(0, "button Save".to_owned()), (0, "button Next".to_owned())]);
    }
}
