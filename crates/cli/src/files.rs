//! Writes output files atomically; reads texts from files and standard input within limits.

use cdpilot::code::Code;
use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::output::clean;

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readers {
    /// Its owner only, for files with secrets.
    Owner,
    /// As the user's umask allows.
    Usual,
}

/// Fails when the folder of an output file does not exist, or the path is a folder itself.
pub(super) fn check_folder(path: &Path) -> Result<(), Failure> {
    let refused = |why: String| Err(Failure::new(Code::PathRefused, format!("cannot write {}: {why}", path.display())));
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        _ if path.is_dir() => refused("it is a folder; add a file name".to_owned()),
        Some(folder) if !folder.is_dir() => {
            refused(format!("the folder {} does not exist; create it first", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Writes a temporary file in the same folder and renames it. Symbolic links are followed; anything but a regular file, such
/// as `/dev/stdout`, is written to directly.
pub(super) fn write(path: &Path, readers: Readers, bytes: &[u8]) -> io::Result<()> {
    write_with(path, readers, |file| file.write_all(bytes))
}

/// Copies a file in the same way as [`write`].
pub(super) fn copy(from: &Path, path: &Path, readers: Readers) -> io::Result<()> {
    let mut from = File::open(from)?;
    write_with(path, readers, |file| io::copy(&mut from, file).map(drop))
}

fn write_with(path: &Path, readers: Readers, content: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let there = fs::metadata(path).ok();
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        return content(&mut File::options().write(true).open(path)?);
    }
    let path = match there {
        Some(_) => fs::canonicalize(path)?,
        None => target(path)?,
    };
    let folder = path.parent().unwrap_or(&path);
    // Without the name of the temporary file, which the user did not give.
    let mut made = temporary(readers).tempfile_in(folder).map_err(|problem| {
        if problem.kind() == io::ErrorKind::NotFound {
            let text = format!("the folder {} does not exist; create it first", folder.display());
            return io::Error::new(problem.kind(), text);
        }
        let text = problem.to_string();
        let text = text.split(" at path ").next().unwrap_or_default();
        io::Error::new(problem.kind(), format!("{text} in the folder {}", folder.display()))
    })?;
    content(made.as_file_mut())?;
    made.as_file().sync_all()?;
    made.persist(&path)?;
    Ok(())
}

/// The path of a file that does not exist yet. Dangling links are followed.
fn target(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match fs::read_link(&path) {
        Ok(to) => std::path::absolute(path.parent().unwrap_or(&path).join(to)),
        Err(_) => Ok(path),
    }
}

fn temporary(readers: Readers) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cdpilot-");
    #[cfg(unix)]
    if readers == Readers::Usual {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666)); // less the umask
    }
    #[cfg(not(unix))]
    let _ = readers; // permissions are inherited from the folder
    builder
}

/// Reads a file, or standard input for `-`.
///
/// # Errors
/// The file cannot be read, is not UTF-8, or is larger than `most` bytes.
pub(super) fn read_text(file: &str, most: u64) -> Result<String, Failure> {
    let wrong = |problem: String| Failure::usage(format!("cannot read {}: {problem}", clean(file)));
    let mut text = String::new();
    let read = if file == "-" {
        io::stdin().lock().take(most + 1).read_to_string(&mut text)
    } else {
        File::open(file).and_then(|opened| opened.take(most + 1).read_to_string(&mut text))
    };
    read.map_err(|problem| wrong(problem.to_string()))?;
    if text.len() as u64 > most {
        return Err(wrong(format!("it is larger than {most} bytes")));
    }
    Ok(text)
}
