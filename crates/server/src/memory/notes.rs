//! The notes in a file: one on each line, with its origin in a comment behind it.

use std::fmt::Write as _;

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
        Self(lines.filter(|line| !line.is_empty() && *line != "-").map(note).collect())
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

    /// The places of the notes that contain a text.
    pub(super) fn with(&self, text: &str) -> Vec<usize> {
        self.0.iter().enumerate().filter(|(_, note)| note.text.contains(text)).map(|(at, _)| at).collect()
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

fn is_origin(text: &str) -> bool {
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
