//! `console.table` as text.

use super::console_text::{Text, preview, property_value};
use crate::cdp::protocol::runtime::{ObjectPreview, PropertyPreview};

/// Maximum number of columns.
const COLUMNS: usize = 12;
/// Maximum number of rows.
const ROWS: usize = 60;
/// Maximum length of a cell, in characters.
const CELL: usize = 40;

/// The heading of the first column.
const INDEX: &str = "(index)";
/// The heading of the column for rows without columns of their own.
const VALUE: &str = "Value";

/// Formats a table, or the object if it has no rows.
pub(super) fn table(of: &ObjectPreview, out: &mut Text) {
    if of.properties.is_empty() {
        return preview(of, out);
    }
    let shown = || of.properties.iter().take(ROWS);
    let mut names: Vec<&str> = Vec::new();
    for column in shown().filter_map(|row| row.value_preview.as_ref()).flat_map(|row| &row.properties) {
        if !names.contains(&&*column.name) && names.len() < COLUMNS {
            names.push(&column.name);
        }
    }
    let has_values = shown().any(|row| row.value_preview.is_none());
    let rows: Vec<_> =
        std::iter::once(heading(&names, has_values)).chain(shown().map(|row| cells(row, &names, has_values))).collect();
    let mut widths = vec![0; names.len() + 1 + usize::from(has_values)];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    rule(&widths, ['┌', '┬', '┐'], out);
    for (nth, row) in rows.iter().enumerate() {
        if out.is_full() {
            return;
        }
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!(" {cell:<width$} "));
        out.push(&format!("\n│{}│", padded.collect::<Vec<_>>().join("│")));
        if nth == 0 {
            out.push("\n");
            rule(&widths, ['├', '┼', '┤'], out);
        }
    }
    out.push("\n");
    rule(&widths, ['└', '┴', '┘'], out);
    if of.overflow || of.properties.len() > ROWS {
        out.push("\n…");
    }
}

fn heading(names: &[&str], has_values: bool) -> Vec<String> {
    let names = names.iter().map(|name| cell(name));
    std::iter::once(INDEX.to_owned()).chain(names).chain(has_values.then(|| VALUE.to_owned())).collect()
}

fn cells(row: &PropertyPreview, names: &[&str], has_values: bool) -> Vec<String> {
    let inside = row.value_preview.as_ref();
    let find = |name: &str| inside.and_then(|row| row.properties.iter().find(|column| column.name == name));
    let columns = names.iter().map(|name| find(name).map(shown).unwrap_or_default());
    let own = has_values.then(|| if inside.is_none() { shown(row) } else { String::new() });
    std::iter::once(cell(&row.name)).chain(columns).chain(own).collect()
}

fn shown(property: &PropertyPreview) -> String {
    let mut text = Text::default();
    property_value(property, &mut text);
    cell(&text.finish())
}

/// A text on one line, truncated to the width of a cell.
fn cell(text: &str) -> String {
    let text = text.replace(['\n', '\r', '\t'], " ");
    if text.chars().count() <= CELL {
        return text;
    }
    text.chars().take(CELL - 1).chain(['…']).collect()
}

fn rule(widths: &[usize], [left, middle, right]: [char; 3], out: &mut Text) {
    let lines = widths.iter().map(|width| "─".repeat(width + 2)).collect::<Vec<_>>();
    out.push(&format!("{left}{}{right}", lines.join(&middle.to_string())));
}
