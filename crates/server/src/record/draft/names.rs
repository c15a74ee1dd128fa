//! Names of inputs: made from the label of a field, unique over all steps.

use std::collections::{HashMap, HashSet};

use super::super::event::Element;
use super::facts::short;

/// The longest name, without its number.
const MAX_NAME: usize = 40;
/// Name of inputs of fields that have none.
const UNNAMED: &str = "field";

/// Gives out names.
#[derive(Debug, Default)]
pub(super) struct Names {
    used: HashSet<String>,
    /// The last number of each name.
    numbers: HashMap<String, u64>,
}

impl Names {
    /// A name that no other input has: `email`, then `email_2`.
    pub(super) fn take(&mut self, element: Option<&Element>) -> String {
        let name = base(element);
        if self.used.insert(name.clone()) {
            return name;
        }
        let number = self.numbers.entry(name.clone()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{name}_{number}");
            if self.used.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Label of a field as shown: its label, else its accessible name.
pub(super) fn label(element: Option<&Element>) -> String {
    let parts = element.into_iter().flat_map(|element| [&element.label, &element.name]);
    parts.map(|part| short(part, 100)).find(|part| !part.is_empty()).unwrap_or_default()
}

fn base(element: Option<&Element>) -> String {
    let parts = element.into_iter().flat_map(|element| [&element.label, &element.name, &element.test_id]);
    parts.map(|part| slug(part)).find(|slug| !slug.is_empty()).unwrap_or_else(|| UNNAMED.to_owned())
}

/// Lower-case letters, digits and `_`, beginning with a letter; empty if there is no letter for it.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().flat_map(plain) {
        if slug.len() >= MAX_NAME {
            break;
        }
        match c {
            c if c.is_ascii_alphabetic() => slug.push(c.to_ascii_lowercase()),
            c if c.is_ascii_digit() && !slug.is_empty() => slug.push(c),
            _ if !slug.is_empty() && !slug.ends_with('_') => slug.push('_'),
            _ => {}
        }
    }
    slug.truncate(slug.trim_end_matches('_').len());
    slug
}

/// Latin letters without their marks.
fn plain(c: char) -> impl Iterator<Item = char> {
    let plain = match c {
        'à'..='ã' | 'å' | 'À'..='Ã' | 'Å' | 'ā' | 'ă' | 'ą' => "a",
        'ä' | 'Ä' | 'æ' | 'Æ' => "ae",
        'ç' | 'Ç' | 'ć' | 'č' | 'Č' => "c",
        'è'..='ë' | 'È'..='Ë' | 'ē' | 'ę' | 'ě' => "e",
        'ì'..='ï' | 'Ì'..='Ï' | 'ī' => "i",
        'ł' | 'Ł' => "l",
        'ñ' | 'Ñ' | 'ń' | 'ň' => "n",
        'ò'..='õ' | 'Ò'..='Õ' | 'ō' | 'ő' | 'ø' | 'Ø' => "o",
        'ö' | 'Ö' | 'œ' | 'Œ' => "oe",
        'ř' | 'Ř' => "r",
        'ś' | 'š' | 'Š' | 'ş' => "s",
        'ß' => "ss",
        'ù'..='û' | 'Ù'..='Û' | 'ū' | 'ů' | 'ű' => "u",
        'ü' | 'Ü' => "ue",
        'ý' | 'ÿ' | 'Ý' => "y",
        'ź' | 'ż' | 'ž' | 'Ž' => "z",
        _ => "",
    };
    plain.chars().chain(plain.is_empty().then_some(c))
}
