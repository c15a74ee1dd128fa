//! Covering secrets in names, values and texts of nodes, before lines are written.

use super::collect::Item;
use crate::redact::Secrets;

/// Roles of text fields.
const FIELDS: [&str; 4] = ["textbox", "searchbox", "spinbutton", "combobox"];
/// The label for values of fields that are secret by their attributes.
const LABEL: &str = "password";

/// The nodes with secrets covered. Each keeps its place, role and ref.
pub(super) fn covered(items: &[Item], secrets: &Secrets) -> Vec<Item> {
    let mut items = items.to_vec();
    // The value of a secret field also appears in the names of elements around it.
    let mut typed = Vec::new();
    for item in &mut items {
        let Some(more) = item.more.as_deref_mut() else { continue };
        let Some(value) = &mut more.value else { continue };
        let label = match &*item.role {
            _ if more.secret => LABEL,
            role if FIELDS.contains(&role) => &item.name,
            _ => "",
        };
        let covered = secrets.cover_field(label, value).into_owned();
        if covered == Secrets::COVER && covered != *value {
            typed.push(std::mem::replace(value, covered));
        } else {
            *value = covered;
        }
    }
    let secrets = secrets.and(typed);
    for item in &mut items {
        if let Some(more) = item.more.as_deref_mut() {
            for text in
                [&mut more.description, &mut more.placeholder, &mut more.url, &mut more.hint].into_iter().flatten()
            {
                *text = secrets.cover(text).into_owned();
            }
        }
        item.name = secrets.cover(&item.name).into();
    }
    items
}
