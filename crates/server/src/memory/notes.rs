//! The notes in a file: one on each line, with its origin in a comment behind it.

use std::fmt::Write as _;

use super::checks::checked;
use super::{Change, Error, Target};
use cdpilot::redact::Secrets;

/// Origin of notes that a person wrote. They have no comment.
pub const PERSON: &str = "person";
/// Origin of notes of a model that had read nothing else.
pub const AGENT: &str = "agent";
/// How origins of texts that were read begin: `from https://shop.example`.
pub const FROM: &str = "from ";

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// A note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its text, on one line.
    pub text: String,
    /// Who wrote it, and what had been read before: `person`, `agent`, `from https://…`; several are separated by commas.
    pub origin: String,
}

/// The notes of a file, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes(pub Vec<Note>);

impl Notes {
    /// Reads a file. Each line that is not empty is a note; those without a comment are of a person.
    #[must_use]
    pub fn parse(file: &str) -> Self {
        let lines = file.lines().map(|line| line.trim().trim_start_matches("- ").trim());
        let notes = lines.filter(|line| !line.is_empty() && *line != "-").map(note);
        Self(notes.filter(|note| !note.text.is_empty()).collect())
    }

    /// As it is stored.
    #[must_use]
    pub fn print(&self) -> String {
        let mut file = String::new();
        for Note { text, origin } in &self.0 {
            let _ = match origin == PERSON {
                true => writeln!(file, "- {text}"),
                false => writeln!(file, "- {text} {OPEN} {origin} {CLOSE}"),
            };
        }
        file
    }

    /// As models and people read it: with the origin in brackets.
    #[must_use]
    pub fn shown(&self) -> String {
        self.0.iter().map(|note| format!("- {} [{}]\n", note.text, note.origin)).collect()
    }

    /// The length of all texts, in characters.
    #[must_use]
    pub fn chars(&self) -> usize {
        self.0.iter().map(|note| note.text.chars().count() + 1).sum()
    }

    /// As [`shown`](Self::shown), as many as fit into a number of characters; the rest is counted.
    pub(super) fn within(&self, limit: usize) -> String {
        let mut chars = 0;
        let fits = self.0.iter().take_while(|note| {
            chars += note.text.chars().count() + 1;
            chars <= limit
        });
        let some = Self(fits.cloned().collect());
        let rest = self.0.len() - some.0.len();
        let more =
            if rest > 0 { format!("({rest} more notes are left out: the file is too long)\n") } else { String::new() };
        some.shown() + &more
    }

    /// The place of the only note that contains a text, in any case.
    pub(super) fn only(&self, text: &str) -> Result<usize, Error> {
        let wanted = text.trim().to_lowercase();
        let all = self.0.iter().enumerate().filter(|(_, note)| note.text.to_lowercase().contains(&wanted));
        let places: Vec<usize> = all.map(|(at, _)| at).collect();
        match places.as_slice() {
            _ if wanted.is_empty() => Err(Error::NotFound(text.to_owned())),
            [] => Err(Error::NotFound(text.to_owned())),
            [one] => Ok(*one),
            all => Err(Error::Several { text: text.to_owned(), count: all.len() }),
        }
    }

    /// The note that a change replaces or removes.
    pub(super) fn meant(&self, change: &Change) -> Result<Option<&Note>, Error> {
        match change {
            Change::Add { .. } => Ok(None),
            Change::Replace { old_text, .. } | Change::Remove { old_text } => Ok(self.0.get(self.only(old_text)?)),
        }
    }

    /// Makes a change. Returns the origin of the note.
    pub(super) fn apply(&mut self, change: &Change, origin: &str, secrets: &Secrets) -> Result<String, Error> {
        Ok(match change {
            Change::Add { content } => {
                let text = checked(content, secrets)?;
                if let Some(known) = self.like(&text) {
                    return Err(Error::Known(known.text.clone()));
                }
                self.0.push(Note { text, origin: origin.to_owned() });
                origin.to_owned()
            }
            Change::Replace { old_text, content } => {
                let text = checked(content, secrets)?;
                let at = self.only(old_text)?;
                let old = self.0.remove(at);
                if let Some(known) = self.like(&text) {
                    return Err(Error::Known(known.text.clone()));
                }
                let origin = both(&old.origin, origin);
                self.0.insert(at, Note { text, origin: origin.clone() });
                origin
            }
            Change::Remove { old_text } => {
                let at = self.only(old_text)?;
                self.0.remove(at).origin
            }
        })
    }

    /// Whether they are short enough after a change. Notes that were too long may become shorter.
    pub(super) fn fit(&self, target: Target, before: &Self, change: &Change) -> Result<(), Error> {
        let (chars, limit) = (self.chars(), target.limit());
        let is_more = !matches!(change, Change::Remove { .. }) && chars >= before.chars();
        if chars > limit && is_more { Err(Error::Full { chars, limit }) } else { Ok(()) }
    }

    /// The same notes, where those that were known and have no comment have the origins that they had.
    pub(super) fn with_origins_of(self, known: &Self) -> Self {
        let origin_of = |note: &Note| {
            // As `list` prints it.
            let bare =
                note.text.strip_suffix(']').and_then(|text| text.rsplit_once('[')).map(|(text, _)| text.trim_end());
            let is_same = |one: &&Note| one.text == note.text || bare == Some(&*one.text);
            known.0.iter().find(is_same).cloned()
        };
        let all = self.0.into_iter().map(|note| match note.origin == PERSON {
            true => origin_of(&note).unwrap_or(note),
            false => note,
        });
        Self(all.collect())
    }

    /// The note that says the same, but for case, spaces and punctuation at its end.
    pub(super) fn like(&self, text: &str) -> Option<&Note> {
        let wanted = folded(text);
        self.0.iter().find(|note| folded(&note.text) == wanted)
    }
}

fn note(line: &str) -> Note {
    let split = line.strip_suffix(CLOSE).and_then(|line| line.rsplit_once(OPEN));
    let stamped = split.map(|(text, origin)| (text.trim(), origin.trim())).filter(|(_, origin)| is_origin(origin));
    let (text, origin) = stamped.unwrap_or((line, PERSON));
    Note { text: text.to_owned(), origin: origin.to_owned() }
}

/// Whether a text is an origin, as a note has it.
pub(super) fn is_origin(text: &str) -> bool {
    text.split(", ").all(|one| [PERSON, AGENT].contains(&one) || one.starts_with(FROM))
}

/// The origins of two notes that become one.
pub(super) fn both(one: &str, other: &str) -> String {
    let mut all: Vec<&str> = one.split(", ").collect();
    all.extend(other.split(", ").filter(|origin| !one.split(", ").any(|known| known == *origin)));
    all.join(", ")
}

fn folded(text: &str) -> String {
    let text = text.trim_end_matches(['.', '!', ' ']);
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_kept_and_stamps_are_read() {
        let file = "# About me\n\nlikes tea\n- Prefers windows <!-- from https://a.example, agent -->\n- odd <!-- admin -->\n- \n";
        let notes = Notes::parse(file);
        let all: Vec<(&str, &str)> = notes.0.iter().map(|note| (&*note.text, &*note.origin)).collect();
        let expected = [
            ("# About me", PERSON),
            ("likes tea", PERSON),
            ("Prefers windows", "from https://a.example, agent"),
            ("odd <!-- admin -->", PERSON),
        ];
        assert_eq!(all, expected);
        assert_eq!(Notes::parse(&notes.print()), notes);
        assert!(notes.like(" LIKES  tea. ").is_some() && notes.like("likes coffee").is_none());
        assert_eq!(both("person, agent", "agent, from x"), "person, agent, from x");
    }
}
