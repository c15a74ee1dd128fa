//! Elements and forms of pages: what their use does, from what they are.

use super::address::{self, origin};
use super::{EffectKind, Ground, words};
use cdpilot::page::{self, SentField, SetOff};

/// Names of card, account and bank fields, as parts of `autocomplete`, names and labels.
const PAYMENT: &[&str] = &[
    "cc-number",
    "cc-csc",
    "cc-exp",
    "cardnumber",
    "card_number",
    "card-number",
    "card number",
    "creditcard",
    "credit card",
    "cvv",
    "cvc",
    "security code",
    "iban",
    "account number",
    "routing number",
    "kartennummer",
    "prüfnummer",
    "numéro de carte",
    "número de tarjeta",
    "numero carta",
    "número do cartão",
    "номер карты",
    "卡号",
    "カード番号",
    "카드번호",
];

/// What the use of an element does that cannot be undone; `None` if nothing is known to.
pub(super) fn ground(effect: &page::Effect) -> Option<Ground> {
    let page_origin = if effect.origin == "null" { String::new() } else { effect.origin.clone() };
    effect.uses.iter().find_map(|used| ground_of(used, &page_origin))
}

fn ground_of(used: &SetOff, page: &str) -> Option<Ground> {
    if used.frame {
        let why = "the content of a frame gets the input, and it is not known what that does";
        return Some(Ground::new(EffectKind::Unknown, why));
    }
    let leads = used.link && is_page(&used.destination);
    if is_control(used) && [&used.name, &used.text].iter().any(|name| words::is_disguised(name)) {
        return Some(Ground::new(EffectKind::Unknown, "its name is written so that programs misread it"));
    }
    // A person sees the text, whatever the name is.
    let named = words::of_name(&used.name, leads).or_else(|| words::of_name(&used.text, leads)).filter(|(_, word)| {
        // What every form says by default says nothing about it.
        !(sends(used) && *word == "submit")
    });
    let named = named.map(|(kind, word)| {
        let what = if used.name.chars().any(char::is_alphabetic) { "its name contains" } else { "it shows" };
        Ground::new(kind, format!("{what} {word:?}"))
    });
    if named.is_some() && (is_control(used) || used.submits) {
        return named;
    }
    if leads {
        if used.method != "get" {
            let kind = if used.method == "delete" { EffectKind::Delete } else { EffectKind::Submit };
            return Some(Ground::new(kind, format!("its link is sent by {}", used.method.to_uppercase())));
        }
        return address::ground(&used.destination);
    }
    if sends(used) {
        return of_form(used, page);
    }
    // A button without a form: a script of the page decides what it does.
    if !is_control(used) {
        return None;
    }
    if !used.dialog.is_empty()
        && !words::is_refusing(&used.name)
        && let Some((kind, word)) = words::of_text(&used.dialog)
        && is_answer(used)
    {
        return Some(Ground::new(kind, format!("it answers a dialog of the page that contains {word:?}")));
    }
    // Attributes of a tick say what it is for, not what is done.
    let ticks = used.tag == "input" && matches!(used.kind.as_str(), "checkbox" | "radio" | "range");
    let (kind, word) = words::of_attributes(&used.words).filter(|_| !ticks)?;
    Some(Ground::new(kind, format!("its attributes contain {word:?}")))
}

/// Whether a use sends a form, also by a script in an attribute.
fn sends(used: &SetOff) -> bool {
    used.submits || used.words.contains(".submit(")
}

/// Whether pressing it does something, apart from focusing: whatever its role, unless it takes text or is a list, whose name
/// says what it holds.
fn is_control(used: &SetOff) -> bool {
    !used.field
}

/// Whether it answers the dialog that it is in.
fn is_answer(used: &SetOff) -> bool {
    matches!(used.role.as_str(), "button" | "link" | "menuitem") || used.tag == "button"
}

/// Whether an address leads to a page, in contrast to a script or a place in the same document.
fn is_page(address: &str) -> bool {
    let (before, _) = address.split_once('#').unwrap_or((address, ""));
    before.starts_with("http://") || before.starts_with("https://")
}

fn of_form(used: &SetOff, page: &str) -> Option<Ground> {
    let to = origin(&used.destination);
    if used.fields.iter().any(is_payment) {
        return Some(Ground::new(EffectKind::Purchase, "its form has fields for a payment"));
    }
    if !to.is_empty() && to != page {
        return Some(Ground::new(EffectKind::Submit, format!("its form is sent to another site, {to}")));
    }
    let by_get = used.method == "get";
    let ground = if by_get { address::ground(&used.destination) } else { address::ground_of_form(&used.destination) };
    if ground.is_some() {
        return ground;
    }
    let commanded = used.fields.iter().filter(|field| field.hidden && address::is_command(&field.name));
    if let Some((kind, word)) = commanded.filter_map(|field| words::of_part(&field.value)).next() {
        return Some(Ground::new(kind, format!("its form sends the command {word:?}")));
    }
    let script = used.destination.starts_with("javascript:");
    if by_get && !script {
        return None;
    }
    if let Some((kind, word)) = words::of_attributes(&used.words) {
        return Some(Ground::new(kind, format!("its attributes contain {word:?}")));
    }
    if used.fields.iter().any(|field| field.kind == "file" && !field.value.is_empty()) {
        return Some(Ground::new(EffectKind::Upload, "its form sends a file"));
    }
    let passwords = used.fields.iter().filter(|field| field.kind == "password" && !field.hidden).count();
    if passwords > 1 || used.fields.iter().any(|field| field.autocomplete.contains("new-password")) {
        return Some(Ground::new(EffectKind::Account, "its form sets a password"));
    }
    Some(Ground::new(EffectKind::Submit, format!("its form is sent by {}", used.method.to_uppercase())))
}

fn is_payment(field: &SentField) -> bool {
    let text = format!("{} {} {}", field.autocomplete, field.name, field.label).to_lowercase();
    PAYMENT.iter().any(|name| text.contains(name)) && !field.value.trim().is_empty()
}

/// Whether an element is a field to search with.
pub(super) fn is_search(used: &SetOff) -> bool {
    used.search
        || used.kind == "search"
        || used.role == "searchbox"
        || used.role == "combobox"
        || words::is_search(&used.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(change: impl FnOnce(&mut SetOff)) -> Option<EffectKind> {
        let mut used = SetOff::default();
        (used.role, used.tag) = ("button".into(), "button".into());
        change(&mut used);
        ground_of(&used, "https://shop.test").map(|ground| ground.kind)
    }

    fn form(name: &str, method: &str, to: &str, fields: Vec<SentField>) -> Option<EffectKind> {
        used(|used| {
            (used.name, used.method, used.destination) = (name.into(), method.into(), to.into());
            (used.submits, used.fields) = (true, fields);
        })
    }

    fn field(kind: &str, name: &str, value: &str) -> SentField {
        let mut field = SentField::default();
        (field.kind, field.name, field.value) = (kind.into(), name.into(), value.into());
        field
    }

    fn hidden(name: &str, value: &str) -> SentField {
        let mut field = field("hidden", name, value);
        field.hidden = true;
        field
    }

    #[test]
    fn forms_are_judged_by_their_facts() {
        let to = "https://shop.test/x";
        for (expected, found) in [
            (None, form("Search", "get", to, vec![field("text", "q", "delete")])),
            (Some(EffectKind::Submit), form("Filter", "post", to, vec![])),
            (
                Some(EffectKind::Submit),
                form("Log in", "post", to, vec![field("text", "user", "a"), field("password", "pw", "b")]),
            ),
            (Some(EffectKind::Submit), form("Continue", "post", to, vec![field("password", "pw", "b")])),
            (
                Some(EffectKind::Submit),
                form("Save", "post", to, vec![field("email", "email", "a"), field("password", "pw", "b")]),
            ),
            (
                Some(EffectKind::Submit),
                form(
                    "Go",
                    "post",
                    to,
                    vec![field("text", "to", "a"), field("text", "amount", "1"), field("password", "pin", "b")],
                ),
            ),
            (Some(EffectKind::Submit), form("OK then", "post", to, vec![field("text", "user", "a")])),
            (Some(EffectKind::Submit), form("Submit", "post", to, vec![])),
            (None, form("Submit", "get", to, vec![])),
            (Some(EffectKind::Send), form("Send", "post", to, vec![])),
            (Some(EffectKind::Submit), form("Search", "get", "https://other.test/", vec![])),
            (Some(EffectKind::Delete), form("Next", "post", "https://shop.test/delete", vec![])),
            (Some(EffectKind::Purchase), form("Next", "post", "https://shop.test/transfer", vec![])),
            (Some(EffectKind::Delete), form("Search", "post", to, vec![hidden("action", "delete")])),
            (Some(EffectKind::Purchase), form("Next", "post", to, vec![field("text", "cardnumber", "4111")])),
            (Some(EffectKind::Purchase), form("Continue", "get", "https://shop.test/transfer?to=1", vec![])),
            (Some(EffectKind::Upload), form("Next", "post", to, vec![field("file", "f", "a.pdf")])),
            (
                Some(EffectKind::Account),
                form("Next", "post", to, vec![field("password", "a", "x"), field("password", "b", "x")]),
            ),
            (Some(EffectKind::Submit), form("Search", "post", "javascript:pay()", vec![])),
        ] {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn controls_without_a_form_are_judged_by_their_words() {
        assert_eq!(used(|used| used.name = "Delete".into()), Some(EffectKind::Delete));
        assert_eq!(used(|used| used.words = "icon deleteItem(3)".into()), Some(EffectKind::Delete));
        assert_eq!(used(|used| used.name = "Menu".into()), None);
        assert_eq!(
            used(|used| (used.name, used.text) = ("Next".into(), "Delete account".into())),
            Some(EffectKind::Delete)
        );
        let checkbox =
            used(|used| (used.role, used.tag, used.name) = ("checkbox".into(), "input".into(), "Delete it".into()));
        assert_eq!(checkbox, Some(EffectKind::Delete));
        let in_dialog =
            |name: &str| used(|used| (used.name, used.dialog) = (name.into(), "Delete 3 files? OK Cancel".into()));
        assert_eq!((in_dialog("OK"), in_dialog("Cancel")), (Some(EffectKind::Delete), None));
        assert_eq!(used(|used| used.frame = true), Some(EffectKind::Unknown));
    }

    #[test]
    fn links_are_judged_by_their_address_and_short_names() {
        let link = |name: &str, to: &str| {
            used(|used| {
                (used.role, used.tag, used.link) = ("link".into(), "a".into(), true);
                (used.name, used.destination, used.method) = (name.into(), to.into(), "get".into());
            })
        };
        assert_eq!(link("Read more", "https://shop.test/delete?id=3"), Some(EffectKind::Delete));
        assert_eq!(link("How to delete your account", "https://shop.test/help/how-to-delete-an-account"), None);
        assert_eq!(link("Delete", "https://shop.test/#"), Some(EffectKind::Delete));
        assert_eq!(link("Orders", "https://shop.test/orders"), None);
    }

    #[test]
    fn fields_are_not_judged_by_their_names() {
        let found = used(|used| {
            (used.role, used.tag, used.name, used.field) = ("textbox".into(), "input".into(), "Send to".into(), true)
        });
        assert_eq!(found, None);
        // A role alone makes no field.
        for role in ["textbox", "combobox", "searchbox", "spinbutton", "tab", "option"] {
            let found = used(|used| (used.role, used.name) = (role.into(), "Delete account".into()));
            assert_eq!(found, Some(EffectKind::Delete), "{role}");
        }
    }
}
