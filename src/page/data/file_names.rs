//! File names from outside, made safe for any system.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum length of a name, in bytes; leaves room for a number and for Chromium's own suffixes.
const NAME: usize = 200;
/// Longest extension that is kept when a name is cut, in bytes.
const ENDING: usize = 24;
/// Maximum number of files with the same name.
const SAME: u32 = 9999;
/// Device names of Windows, with any extension: <https://learn.microsoft.com/windows/win32/fileio/naming-a-file>.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// A name without folders, control or direction characters, leading dots and other characters that have a meaning for a
/// system. Never empty.
pub(super) fn safe_name(wanted: &str) -> String {
    let unseen = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let plain = |c: char| if matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|') { '_' } else { c };
    let name: String = wanted.chars().filter(|c| !unseen(*c)).map(plain).collect();
    let name = name.trim_start_matches(['.', ' ', '~', '\u{a0}']).trim_end_matches(['.', ' ', '\u{a0}']);
    let mut name = shorten(name);
    if is_device(&name) {
        name.insert(0, '_');
    }
    if name.is_empty() { "download".to_owned() } else { name }
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let port = |rest: &str| matches!(rest, "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³");
    DEVICES.contains(&stem.as_str())
        || stem.strip_prefix("com").is_some_and(port)
        || stem.strip_prefix("lpt").is_some_and(port)
        || matches!(stem.as_str(), "conin$" | "conout$")
}

/// Cut in the middle, so that the extension stays.
fn shorten(name: &str) -> String {
    if name.len() <= NAME {
        return name.to_owned();
    }
    let (stem, ending) = split(name);
    let (stem, ending) = if ending.len() > ENDING { (name, "") } else { (stem, ending) };
    let room = NAME - ending.len();
    let end = (0..=room).rev().find(|end| stem.is_char_boundary(*end)).unwrap_or(0);
    format!("{}{ending}", stem.get(..end).unwrap_or_default().trim_end_matches(['.', ' ']))
}

/// Stem and extension; the dot belongs to the extension, and `.tar.gz` is one.
fn split(name: &str) -> (&str, &str) {
    let Some(mut at) = name.rfind('.').filter(|at| *at > 0) else { return (name, "") };
    if let Some(inner) = name[..at].strip_suffix(".tar").filter(|inner| !inner.is_empty()) {
        at = inner.len();
    }
    name.split_at(at)
}

/// Moves a plain file into a folder under a name, or with ` (1)` and so on if it is taken. Never overwrites anything or
/// follows a link.
pub(super) fn move_in(file: &Path, folder: &Path, name: &str) -> io::Result<PathBuf> {
    let what = std::fs::symlink_metadata(file)?;
    if !what.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    let (stem, ending) = split(name);
    for number in 0..=SAME {
        let path = match number {
            0 => folder.join(name),
            _ => folder.join(format!("{stem} ({number}){ending}")),
        };
        // Reserves the name. Fails if anything exists there, even a dangling link.
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(placeholder) => {
                drop(placeholder);
                return match std::fs::rename(file, &path) {
                    Ok(()) => Ok(path),
                    Err(error) => {
                        let _ = std::fs::remove_file(&path);
                        Err(error)
                    }
                };
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many files have that name"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_lose_all_that_is_more_than_a_name() {
        for (wanted, name) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("..\\..\\x.exe", "_.._x.exe"),
            ("/abs", "_abs"),
            (".bashrc", "bashrc"),
            ("...", "download"),
            ("", "download"),
            (" . ", "download"),
            ("a\0b\nc\x7f.txt", "abc.txt"),
            ("cod\u{202e}txt.exe", "codtxt.exe"),
            ("CON", "_CON"),
            ("con.txt", "_con.txt"),
            ("com1.tar.gz", "_com1.tar.gz"),
            ("LPT9", "_LPT9"),
            ("com10", "com10"),
            ("console.log", "console.log"),
            ("trailing. ", "trailing"),
            ("a:b|c?.txt", "a_b_c_.txt"),
            ("~user", "user"),
            ("日本語.pdf", "日本語.pdf"),
        ] {
            assert_eq!(safe_name(wanted), name, "{wanted:?}");
        }
        let long = safe_name(&format!("{}.tar.gz", "é".repeat(300)));
        assert!(long.len() <= NAME && long.ends_with("é.tar.gz"), "{long}");
    }

    proptest! {
        #[test]
        fn no_name_is_more_than_a_name(wanted in any::<String>()) {
            let name = safe_name(&wanted);
            prop_assert!(!name.is_empty() && name.len() <= NAME + 1 && !name.starts_with('.'));
            prop_assert!(!name.chars().any(|c| c.is_control() || "/\\:".contains(c)));
            let path = Path::new(&name);
            prop_assert_eq!(path.components().count(), 1);
        }
    }

    #[test]
    fn files_take_the_next_free_name_and_nothing_that_is_there_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let put = |text: &str| {
            let file = folder.path().join("incoming");
            std::fs::write(&file, text).unwrap();
            file
        };
        let kept = move_in(&put("1"), folder.path(), "a.tar.gz").unwrap();
        assert_eq!(kept, folder.path().join("a.tar.gz"));
        assert_eq!(move_in(&put("2"), folder.path(), "a.tar.gz").unwrap(), folder.path().join("a (1).tar.gz"));
        assert_eq!(std::fs::read_to_string(kept).unwrap(), "1");
        assert!(move_in(&folder.path().join("none"), folder.path(), "b").is_err());
        assert!(!folder.path().join("b").exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_neither_moved_nor_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("outside");
        let link = folder.path().join("name.txt");
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        let file = folder.path().join("incoming");
        std::fs::write(&file, "x").unwrap();
        let kept = move_in(&file, folder.path(), "name.txt").unwrap();
        assert_eq!(kept, folder.path().join("name (1).txt"));
        assert!(!outside.exists() && link.is_symlink());
        assert!(move_in(&link, folder.path(), "other").is_err());
    }
}
