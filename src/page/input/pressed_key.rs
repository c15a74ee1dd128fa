//! A key as an action presses it, for callers that decide about it first.

use super::keys::Chord;
use super::layout::SHIFT;

/// The key that a name stands for: the same reading as that of the action `press`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PressedKey {
    /// `KeyboardEvent.key`: `Enter`, ` `, `ArrowDown`, `a`.
    pub key: String,
    /// Whether Control, Alt or Meta is held, so that it is a command and types nothing.
    pub is_command: bool,
}

impl PressedKey {
    /// Reads the name of a key, such as `Enter`, `esc` or `Control+a`.
    ///
    /// # Errors
    /// What is wrong with the name, and what is expected.
    pub fn read(name: &str) -> Result<Self, String> {
        let chord = Chord::parse(name)?;
        let is_command = chord.by_platform || chord.bits() & !SHIFT != 0;
        Ok(Self { key: chord.key.key.into_owned(), is_command })
    }
}

#[cfg(test)]
mod tests {
    use super::PressedKey;

    #[test]
    fn names_are_read_as_the_keyboard_reads_them() {
        for (name, key, is_command) in [
            ("Enter", "Enter", false),
            (" enter ", "Enter", false),
            ("Return", "Enter", false),
            ("NumpadEnter", "Enter", false),
            ("Shift+Enter", "Enter", false),
            ("ctrl + Enter", "Enter", true),
            ("esc", "Escape", false),
            ("down", "ArrowDown", false),
            ("Space", " ", false),
            ("ControlOrMeta+A", "a", true),
        ] {
            let read = PressedKey::read(name).unwrap();
            assert_eq!((&*read.key, read.is_command), (key, is_command), "{name:?}");
        }
        assert!(PressedKey::read("Entre").is_err() && PressedKey::read("").is_err());
    }
}
