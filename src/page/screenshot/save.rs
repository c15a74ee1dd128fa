//! Writing screenshots and PDFs into a folder.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::Error;

/// How many names are tried.
const MAX_TRIES: u32 = 8;
/// Maximum length of the stem, in characters.
const MAX_STEM: usize = 60;

/// Writes a file under a new name into a folder, created if missing. The name consists of the safe characters of
/// `stem`, the time and a random part. The file is complete or absent; on Unix only its owner can read it. Links are
/// not followed: a folder that is a link is refused, and existing files are not overwritten.
///
/// # Errors
/// [`Error::File`].
pub fn save(folder: &Path, stem: &str, ending: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
    let failed = |doing, error: std::io::Error| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Error::File { doing, name, problem: error.to_string() }
    };
    make(folder).map_err(|error| failed("use", error))?;
    let mut file = tempfile::Builder::new().prefix(".part-").tempfile_in(folder).map_err(|e| failed("write to", e))?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_data()).map_err(|error| failed("write to", error))?;
    let mut tries = 0;
    loop {
        tries += 1;
        let path = folder.join(name(stem, ending));
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(back) if tries < MAX_TRIES && back.error.kind() == std::io::ErrorKind::AlreadyExists => {
                file = back.file
            }
            Err(back) => return Err(failed("write to", back.error)),
        }
    }
}

/// Creates a private folder; refuses a link.
fn make(folder: &Path) -> std::io::Result<()> {
    if fs::symlink_metadata(folder).is_err() {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    if fs::symlink_metadata(folder)?.is_dir() {
        return Ok(());
    }
    Err(std::io::Error::new(std::io::ErrorKind::NotADirectory, "it is a link or a file, not a folder; give a folder"))
}

fn name(stem: &str, ending: &str) -> String {
    let safe = |text: &str| -> String {
        let kept = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
        let text: String = text.chars().map(kept).take(MAX_STEM).collect();
        let parts: Vec<&str> = text.split('-').filter(|part| !part.is_empty()).collect();
        parts.join("-")
    };
    let (stem, ending) = (safe(stem), safe(ending));
    let stem = if stem.is_empty() { "file" } else { &stem };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("{stem}-{now}-{:06x}.{ending}", fastrand::u32(..1 << 24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_get_new_safe_names_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let media = folder.path().join("a/media");
        let first = save(&media, "../../etc/pass wd\u{e9}", "png", b"one").unwrap();
        let second = save(&media, "", "pdf", b"two").unwrap();
        assert!(first.starts_with(&media) && second.starts_with(&media));
        let name = first.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("etc-pass-wd-") && name.ends_with(".png"), "{name}");
        assert!(second.file_name().unwrap().to_str().unwrap().starts_with("file-"));
        assert_eq!((fs::read(&first).unwrap(), fs::read(&second).unwrap()), (b"one".to_vec(), b"two".to_vec()));
        assert_eq!(fs::read_dir(&media).unwrap().count(), 2, "nothing is left beside them");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&first), mode(&media)), (0o600, 0o700));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_a_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let error = save(&link, "x", "png", b"x").unwrap_err();
        assert_eq!(error.code(), "PATH_REFUSED");
        assert_eq!(fs::read_dir(&real).unwrap().count(), 0);
        std::os::unix::fs::symlink("/nowhere", folder.path().join("dead")).unwrap();
        assert!(save(&folder.path().join("dead"), "x", "png", b"x").is_err());
    }
}
