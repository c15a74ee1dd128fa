//! Folders to upload: what is in them.

use std::path::Path;

/// Maximum number of files in a folder, those of its folders included.
const MOST: usize = 5_000;
/// Maximum depth of folders.
const DEPTH: usize = 32;

/// The number of files in a folder to upload. The browser reads all of them, so that no link may lead out of it.
///
/// # Errors
/// Why it cannot be uploaded: a link or special file in it, too many files, or none.
pub fn upload_folder_files(folder: &Path) -> Result<usize, String> {
    let mut count = 0;
    read(folder, DEPTH, &mut count)?;
    if count == 0 { Err("the folder has no files".to_owned()) } else { Ok(count) }
}

fn read(folder: &Path, depth: usize, count: &mut usize) -> Result<(), String> {
    let unread = |error: std::io::Error| format!("the folder cannot be read: {error}");
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let facts = entry.path().symlink_metadata().map_err(unread)?;
        let name = entry.file_name().to_string_lossy().chars().take(80).collect::<String>();
        if facts.is_dir() {
            if depth == 0 {
                return Err(format!("its folders are nested deeper than {DEPTH} levels"));
            }
            read(&entry.path(), depth - 1, count)?;
            continue;
        }
        if !facts.is_file() {
            return Err(format!("{name:?} in it is a link or no regular file; copy what is to be uploaded"));
        }
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::nlink(&facts) > 1 {
            return Err(format!("{name:?} in it has several hard links; upload a copy"));
        }
        *count += 1;
        if *count > MOST {
            return Err(format!("it has more than {MOST} files"));
        }
    }
    Ok(())
}
