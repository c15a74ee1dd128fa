//! Covering secrets in the names, values and texts of nodes, before lines are written of them.

use super::collect::Item;
use crate::supervisor::Secrets;

/// Roles of fields that text is typed into.
const FIELDS: [&str; 4] = ["textbox", "searchbox", "spinbutton", "combobox"];
/// A label that stands for what a field's attributes say.
const LABEL: &str = "password";

/// The nodes with secrets covered. Each keeps its place, role and ref.
pub(super) fn covered(items: &[Item], secrets: &Secrets) -> Vec<Item> {
    let mut items = items.to_vec();
    // What a field for a secret holds appears in the names of elements around it, too.
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
            for text in [&mut more.description, &mut more.placeholder, &mut more.url].into_iter().flatten() {
                *text = secrets.cover(text).into_owned();
            }
        }
        item.name = secrets.cover(&item.name).into();
    }
    items
}
