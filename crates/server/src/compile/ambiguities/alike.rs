//! Common parts of uses of different items, by which they are recognised as the same action.

use super::words::line;
use crate::record::{Container, Element};

/// Names the action on an item; the same action on other items has the same text.
pub(super) fn action(role: &str, name: &str, item: Option<&Container>, element: &Element) -> String {
    let title = item.map(|item| line(&item.title)).unwrap_or_default();
    let rest = if title.is_empty() { name.to_owned() } else { name.replace(&title, " ") };
    let rest: Vec<&str> = rest.split(' ').filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit())).collect();
    match rest.join(" ") {
        empty if empty.is_empty() && role == "link" => "link open".to_owned(),
        // An icon without a name is recognised by its selector.
        empty if empty.is_empty() => {
            let own = [element.test_id.as_str(), element.selectors.first().map_or("", |selector| selector)];
            let own = own.into_iter().find(|own| !own.is_empty()).unwrap_or_default();
            format!("{role} {}", without_numbers(own))
        }
        rest => format!("{role} {rest}"),
    }
}

/// Role and selector of an element without the parts that differ between items; `None` if its selectors have no such parts.
pub(super) fn shape(role: &str, element: &Element) -> Option<String> {
    let selector =
        element.selectors.iter().find(|selector| selector.contains("[href=") || selector.contains(":nth-"))?;
    let Some((_, address)) = selector.split_once("[href=\"") else {
        return Some(format!("{role} {}", without_numbers(selector)));
    };
    let address = address.trim_end_matches("\"]");
    if address.contains('?') {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let names: Vec<&str> = query.split('&').filter_map(|part| part.split('=').next()).collect();
        return Some(format!("{role} {path}?{}", names.join("&")));
    }
    let (folder, _) = address.trim_end_matches('/').rsplit_once('/')?;
    (!folder.is_empty()).then(|| format!("{role} {}/", without_numbers(folder)))
}

/// A text with `#` for each number.
pub(super) fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if !c.is_ascii_digit() => out.push(c),
            _ if out.ends_with('#') => {}
            _ => out.push('#'),
        }
    }
    out
}
