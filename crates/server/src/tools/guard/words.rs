//! Words that say what a control does, in some languages; they are in `words.yaml`.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer};

use super::EffectKind;

/// How a word has to occur in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum In {
    /// Anywhere: the word is hardly used for anything else.
    #[default]
    Any,
    /// At the beginning of the name or of a part of it, but for the words of [`Lists::filling`], unless one of
    /// [`Lists::nouns`] follows.
    Begins,
}

/// Words with one meaning.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[serde(deserialize_with = "kind")]
    kind: EffectKind,
    #[serde(default, rename = "in")]
    place: In,
    words: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
}

impl Group {
    /// The first word that fulfils a condition.
    fn find(&self, fits: impl Fn(&str) -> bool) -> Option<(EffectKind, &str)> {
        self.words.iter().find(|word| fits(word)).map(|word| (self.kind, word.as_str()))
    }
}

/// The lists of `words.yaml`, which describes them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    spaced: Vec<Group>,
    unspaced: Vec<Group>,
    signs: Vec<Group>,
    questions: Vec<Group>,
    coded: Vec<Group>,
    filling: Vec<String>,
    refusing: Vec<String>,
    nouns: Vec<String>,
    search_beginnings: Vec<String>,
    search_parts: Vec<String>,
}

#[expect(clippy::expect_used, reason = "the file is a part of the program, and a test reads it")]
static LISTS: LazyLock<Lists> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("words.yaml")).expect("words.yaml is valid"));

fn kind<'de, D: Deserializer<'de>>(from: D) -> Result<EffectKind, D::Error> {
    let name = String::deserialize(from)?;
    EffectKind::parse(&name).ok_or_else(|| serde::de::Error::custom(format_args!("unknown kind {name:?}")))
}

/// The first word of some groups that fulfils a condition.
fn find(groups: &'static [Group], fits: impl Fn(&str) -> bool) -> Option<(EffectKind, &'static str)> {
    groups.iter().find_map(|group| group.find(&fits))
}

/// Longest name of a link that is read as that of an action, in words.
const MOST_LINK_WORDS: usize = 3;
/// Longest part of an address that is read as the name of an action, in words: longer ones are titles.
const MOST_PART_WORDS: usize = 2;

fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'').map(|word| word.trim_matches('\''));
    words.filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
}

/// Whether the words of a phrase occur one after the other.
fn has_phrase(words: &[String], phrase: &str) -> bool {
    let wanted: Vec<&str> = phrase.split(' ').collect();
    words.windows(wanted.len()).any(|part| part.iter().zip(&wanted).all(|(word, wanted)| word == wanted))
}

/// A name as it is read by a person: without invisible characters, with wide letters as plain ones, spaced letters joined.
fn readable(name: &str) -> String {
    let plain = name.chars().filter(|c| !is_invisible(*c)).map(|c| match u32::from(c) {
        wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(c),
        _ => c,
    });
    let plain: String = plain.collect();
    let letters: Vec<&str> = plain.split_whitespace().collect();
    let is_spaced = letters.len() > 2
        && letters.iter().all(|letter| letter.chars().count() == 1 && letter.chars().all(char::is_alphabetic));
    if is_spaced && plain.is_ascii() { letters.concat() } else { plain }
}

fn is_invisible(c: char) -> bool {
    matches!(u32::from(c), 0xad | 0x180e | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2064 | 0xfeff | 0x300..=0x36f)
}

/// Whether a name is written so that a program reads another one than a person: text that runs backwards, letters of several
/// scripts in a word, letters made of mathematical signs, invisible characters in a word.
pub(super) fn is_disguised(name: &str) -> bool {
    let odd = |c: char| matches!(u32::from(c), 0x202d | 0x202e | 0x1d400..=0x1d7ff);
    let in_word = |word: &str| {
        let inner: Vec<char> = word.trim_matches(|c: char| !c.is_alphabetic()).chars().collect();
        let hidden = inner.iter().any(|c| matches!(u32::from(*c), 0xad | 0x200b | 0x2060..=0x2064 | 0xfeff));
        let latin = inner.iter().any(|c| c.is_alphabetic() && u32::from(*c) < 0x250);
        let other = inner.iter().any(|c| matches!(u32::from(*c), 0x370..=0x3ff | 0x400..=0x52f | 0x531..=0x58f));
        hidden || (latin && other)
    };
    name.chars().any(odd) || name.split_whitespace().any(in_word)
}

/// What the name of a control says that it does. `is_link`: only the names of actions count, not titles.
pub(super) fn of_name(name: &str, is_link: bool) -> Option<(EffectKind, &'static str)> {
    if let Some(found) = find(&LISTS.signs, |sign| name.contains(sign)) {
        return Some(found);
    }
    let name = &*readable(name);
    let words = words(name);
    if !is_link || words.len() <= MOST_LINK_WORDS {
        let parts = parts_of_name(name);
        let bare: Vec<String> = parts.iter().flatten().cloned().collect();
        let found = LISTS.spaced.iter().find_map(|group| {
            group.find(|phrase| match group.place {
                In::Any => has_phrase(&words, phrase) || has_phrase(&bare, phrase),
                In::Begins => parts.iter().any(|part| begins(part, phrase, &group.except)),
            })
        });
        if found.is_some() {
            return found;
        }
    }
    unspaced(name, if is_link { 8 } else { 24 })
}

/// The parts of a name that each say something to do, without words that add nothing, numbers and currencies.
fn parts_of_name(name: &str) -> Vec<Vec<String>> {
    let is_filling = |word: &String| {
        LISTS.filling.contains(word) || word.chars().any(|c| c.is_ascii_digit()) || CURRENCIES.contains(&word.as_str())
    };
    let separated = name.replace([',', ';', '&', '+', '|', '/', ':', '–', '—'], "\n").replace(" - ", "\n");
    let parts = separated.lines().flat_map(|part| {
        let words = words(part);
        words.split(|word| AND.contains(&word.as_str())).map(<[String]>::to_vec).collect::<Vec<_>>()
    });
    parts.map(|part| part.into_iter().filter(|word| !is_filling(word)).collect()).collect()
}

/// Whether a part of a name begins with a phrase that is no noun there.
fn begins(part: &[String], phrase: &str, except: &[String]) -> bool {
    let wanted: Vec<&str> = phrase.split(' ').collect();
    let follows = part.get(wanted.len());
    part.len() >= wanted.len()
        && part.iter().zip(&wanted).all(|(word, wanted)| word == wanted)
        && follows.is_none_or(|next| !LISTS.nouns.contains(next) && !except.contains(next))
}

/// Words between two things to do.
const AND: &[&str] = &["and", "then", "und", "et", "y", "e", "en", "i", "och", "og", "ja", "a", "ve", "και", "и"];
/// Words for currencies; signs are no words.
const CURRENCIES: &[&str] =
    &["eur", "euro", "euros", "usd", "dollar", "dollars", "gbp", "chf", "jpy", "yen", "sek", "pln", "inr"];

fn unspaced(text: &str, most: usize) -> Option<(EffectKind, &'static str)> {
    if text.is_ascii() || text.chars().count() > most {
        return None;
    }
    find(&LISTS.unspaced, |word| text.contains(word))
}

/// What a longer text, such as the question of a dialog, says that would be done.
pub(super) fn of_text(text: &str) -> Option<(EffectKind, &'static str)> {
    let words = words(text);
    let mut anywhere = LISTS.spaced.iter().filter(|group| group.place == In::Any);
    let spaced = anywhere.find_map(|group| group.find(|phrase| has_phrase(&words, phrase)));
    let common = || find(&LISTS.questions, |word| words.iter().any(|one| one == word));
    spaced.or_else(common).or_else(|| unspaced(text, usize::MAX))
}

/// Whether a name is that of a field to search with.
pub(super) fn is_search(name: &str) -> bool {
    let begins = |word: &String| LISTS.search_beginnings.iter().any(|beginning| word.starts_with(beginning));
    words(name).iter().any(begins) || LISTS.search_parts.iter().any(|part| name.contains(part))
}

/// Whether a name is that of an answer which keeps everything as it is.
pub(super) fn is_refusing(name: &str) -> bool {
    is_one_of(name, &LISTS.refusing)
}

fn is_one_of(name: &str, names: &[String]) -> bool {
    let name = name.to_lowercase();
    let name = name.trim_matches(|c: char| !c.is_alphanumeric() && c != '×' && c != '✕');
    names.iter().any(|one| one == name)
}

/// The words of an identifier: `deleteItem`, `delete-item` and `DELETE_ITEM` have two.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars() {
        let begins = !c.is_alphabetic() || (was_lower && c.is_uppercase());
        was_lower = c.is_lowercase();
        if begins && parts.last().is_some_and(|last| !last.is_empty()) {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut().filter(|_| c.is_alphabetic()) {
            last.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn coded(word: &str) -> Option<(EffectKind, &'static str)> {
    find(&LISTS.coded, |known| known == word)
}

/// What the attributes of a control say that it does.
pub(super) fn of_attributes(text: &str) -> Option<(EffectKind, &'static str)> {
    parts(text).iter().find_map(|part| coded(part))
}

/// What a part of an address says that opening it does; titles of pages say nothing.
pub(super) fn of_part(text: &str) -> Option<(EffectKind, &'static str)> {
    let stem = text.rsplit_once('.').map_or(text, |(stem, _)| stem);
    let parts = parts(stem);
    if parts.len() > MOST_PART_WORDS {
        return None;
    }
    let whole = parts.concat();
    coded(&whole).or_else(|| parts.iter().find_map(|part| coded(part)))
}

#[cfg(test)]
mod tests {
    use super::EffectKind::{Account, Delete, Purchase, Send};
    use super::*;

    #[test]
    fn the_lists_can_be_read_and_are_in_lower_case() {
        let Lists { spaced, unspaced, signs, questions, coded, .. } = &*LISTS;
        let grouped = [spaced, unspaced, signs, questions, coded].into_iter().flatten().flat_map(|group| &group.words);
        let Lists { filling, refusing, nouns, search_beginnings, search_parts, .. } = &*LISTS;
        let plain = [filling, refusing, nouns, search_beginnings, search_parts].into_iter().flatten();
        for word in grouped.chain(plain) {
            assert!(!word.is_empty() && word.trim() == word && word.to_lowercase() == *word, "{word:?}");
        }
        let faulty = include_str!("words.yaml").replacen("kind: delete", "kind: deletes", 1);
        assert!(serde_saphyr::from_str::<Lists>(&faulty).unwrap_err().to_string().contains("deletes"));
    }

    #[test]
    fn names_say_what_controls_do() {
        for (name, expected) in [
            ("Delete", Some(Delete)),
            ("Yes, delete it", Some(Delete)),
            ("Remove", Some(Delete)),
            ("Remove item", Some(Delete)),
            ("Place order", Some(Purchase)),
            ("Buy now for 12 €", Some(Purchase)),
            ("Jetzt kaufen", Some(Purchase)),
            ("Zahlungspflichtig bestellen", Some(Purchase)),
            ("Nachricht senden", Some(Send)),
            ("Send", Some(Send)),
            ("Submit", Some(Send)),
            ("Post comment", Some(Send)),
            ("Удалить сообщение", Some(Delete)),
            ("立即购买", Some(Purchase)),
            ("送信", Some(Send)),
            ("삭제", Some(Delete)),
            ("🗑", Some(Delete)),
            ("Create account", Some(Account)),
            ("Pay $49.99", Some(Purchase)),
            ("Transfer $500", Some(Purchase)),
            ("Order for €20", Some(Purchase)),
            ("Finish and pay", Some(Purchase)),
            ("Yes, approve payment", Some(Send)),
            ("Remove 3 members", Some(Delete)),
            ("Send to 24 people", Some(Send)),
            ("Close my account", Some(Delete)),
            ("Cancel plan", Some(Delete)),
            ("Revoke access", Some(Delete)),
            ("Add admin", Some(Account)),
            ("Yes, I want to permanently delete this account and all its data", Some(Delete)),
            ("Order history", None),
            ("Sign in", None),
            ("Report details", None),
            ("Cancel", None),
            ("Add to cart and continue", None),
            ("Sort by order", None),
            ("Add to cart", None),
            ("Search", None),
            ("Next", None),
            ("Settings", None),
            ("Post", Some(Send)),
            ("Read this post about shares and orders today", None),
            ("", None),
        ] {
            assert_eq!(of_name(name, false).map(|(kind, _)| kind), expected, "{name}");
        }
        for title in
            ["How to delete your account safely", "Buy now, pay later: what it costs", "Send flowers to Berlin today"]
        {
            assert_eq!(of_name(title, true), None, "{title}");
        }
        assert!(of_name("Delete", true).is_some() && of_name("Place order", true).is_some());
    }

    #[test]
    fn disguised_names_are_read_as_a_person_reads_them_or_recognised() {
        for name in ["De\u{200b}lete", "De\u{ad}lete", "\u{ff24}\u{ff45}lete", "D e l e t e"] {
            assert!(of_name(name, false).is_some(), "{name:?}");
        }
        for name in ["D\u{435}lete", "\u{202e}eteleD", "\u{1d403}elete", "De\u{200b}tails"] {
            assert!(is_disguised(name), "{name:?}");
        }
        for name in ["Café", "Войти", "Σύνδεση", "Search Яндекс", "日本語 OK", "👩\u{200d}💻 Team"]
        {
            assert!(!is_disguised(name), "{name:?}");
        }
    }

    #[test]
    fn answers_and_questions_are_known() {
        assert!(is_refusing("Cancel") && is_refusing("×") && is_refusing("Abbrechen") && !is_refusing("OK"));
        assert_eq!(of_text("Do you really want to delete 3 files?").map(|(kind, _)| kind), Some(Delete));
        assert_eq!(of_text("Leave this page?"), None);
        assert!(is_search("Search the shop") && is_search("Suchbegriff") && is_search("検索ワード"));
        assert!(!is_search("Para") && !is_search("Research notes") && of_name("Página del producto", false).is_none());
    }

    #[test]
    fn attributes_and_addresses_are_read_word_by_word() {
        assert_eq!(of_attributes("btn deleteItem(3)").map(|(kind, _)| kind), Some(Delete));
        assert_eq!(of_attributes("postal-code repayment"), None);
        for (part, expected) in [
            ("delete", Some(Delete)),
            ("delete-item.php", Some(Delete)),
            ("deleteItem", Some(Delete)),
            ("unsubscribe", Some(Account)),
            ("checkout", None),
            ("pay", Some(Purchase)),
            ("how-to-delete-files", None),
            ("posts", None),
            ("items", None),
            ("3", None),
        ] {
            assert_eq!(of_part(part).map(|(kind, _)| kind), expected, "{part}");
        }
    }
}
