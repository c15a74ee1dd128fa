//! The editor of the user.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::failure::Failure;
use super::settings::env;
use cdpilot::code::Code;

/// The editor if none is set.
const EDITOR: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// Where a text is while it is edited: in the folder for temporary files, so that it survives a failure.
pub(super) fn kept_path(name: &str) -> PathBuf {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    std::env::temp_dir().join(format!("cdpilot-{plain}-{:08x}.md", fastrand::u32(..)))
}

/// Writes a new file that only its owner may read.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|problem| Failure::internal(format!("cannot write {}: {problem}", path.display())))
}

/// Reads the file again.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|problem| Failure::internal(format!("cannot read {} again: {problem}", path.display())))
}

/// Opens the editor, and waits until it ends.
pub(super) fn open(path: &Path) -> Result<(), Failure> {
    let editor = env("VISUAL").or_else(|| env("EDITOR")).unwrap_or_else(|| EDITOR.to_owned());
    // It may have arguments, as in `code --wait`.
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(EDITOR);
    let status = Command::new(program).args(words).arg(path).status();
    let problem = match status {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("{program} ended with {status}"),
        Err(problem) => format!("cannot start {program}: {problem}"),
    };
    Err(Failure::new(
        Code::Internal,
        format!("{problem}; set VISUAL or EDITOR, or give the text with --file. It is in {}", path.display()),
    ))
}
