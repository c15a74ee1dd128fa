//! Models that must not pass: one that clicks at random, one that opens every address.

use super::super::hands::{Done, Hands};

/// Number of clicks.
const CLICKS: usize = 20;
/// Most addresses that are opened.
const MOST_ADDRESSES: usize = 80;

/// Clicks at random. The same seed clicks the same things, as long as the page shows the same.
pub(super) fn at_random(hands: &mut Hands, seed: u64) -> Done {
    let mut random = fastrand::Rng::with_seed(seed);
    hands.begin()?;
    for _ in 0..CLICKS {
        if hands.last.contains("dialog_action") || hands.last.contains("BLOCKED_BY_DIALOG") {
            hands.dialog(random.bool(), None)?;
        }
        hands.look()?;
        let count = hands.screen.elements.len();
        if count == 0 {
            continue;
        }
        let Some(element) = hands.screen.elements.get(random.usize(..count)).cloned() else { continue };
        let mut arguments = serde_json::json!({ "action": "click", "element_id": element.id });
        hands.call("element_interaction", arguments.clone())?;
        arguments["action"] = "confirm_click".into();
        hands.call("element_interaction", arguments)?;
    }
    Ok(())
}

/// Opens the address of every page of the sites.
pub(super) fn all_addresses(hands: &mut Hands) -> Done {
    hands.begin()?;
    let base = hands.start.split('/').take(3).collect::<Vec<_>>().join("/");
    for path in hands.pages().into_iter().take(MOST_ADDRESSES) {
        hands.call("tab", serde_json::json!({ "action": "open", "url": format!("{base}/{path}") }))?;
        let tab = hands.screen.tabs.iter().find(|tab| tab.current).map(|tab| tab.id.clone());
        if let Some(tab) = tab {
            hands.call("tab", serde_json::json!({ "action": "close", "tab_id": tab }))?;
        }
    }
    Ok(())
}
