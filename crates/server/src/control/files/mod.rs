//! The files of a home: screenshots, downloads, uploads and traces, each kind in its own folder.

mod media_type;
mod upload;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::Error;
use crate::config::{self, Home};

pub use media_type::media_type;

/// How long screenshots and PDFs are kept.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Screenshots and PDFs, in `media/`.
    Media,
    /// Files that clients may upload to pages, in `uploads/`.
    Upload,
    /// Files that pages downloaded, in `downloads/`.
    Download,
    /// Performance traces, in `traces/`.
    Trace,
}

/// The folder of each kind.
#[derive(Debug, Clone)]
struct Folders {
    media: PathBuf,
    uploads: PathBuf,
    downloads: PathBuf,
    traces: PathBuf,
}

/// The files of a home.
#[derive(Debug, Clone)]
pub struct Files {
    folders: Folders,
    roots: Vec<PathBuf>,
    /// Whether the folders are those of a home, whose old files are deleted.
    of_home: bool,
    /// Time of creation, by both clocks.
    made: (Instant, SystemTime),
}

impl Files {
    pub(super) fn new(home: &Home, upload_roots: &[PathBuf]) -> Self {
        let roots = upload_roots.iter().map(|root| home.root().join(root));
        let roots = std::iter::once(home.uploads()).chain(roots).collect();
        let folders = Folders {
            media: home.media(),
            uploads: home.uploads(),
            downloads: home.downloads(),
            traces: home.traces(),
        };
        Self { folders, roots, of_home: true, made: (Instant::now(), SystemTime::now()) }
    }

    /// Files without a home: screenshots and PDFs in `media`, and uploads from any folder, relative to the current one. None
    /// of them is deleted.
    pub(super) fn without_home(media: &Path) -> Self {
        let folder = media.to_owned();
        let folders =
            Folders { uploads: PathBuf::new(), downloads: folder.clone(), traces: folder.clone(), media: folder };
        Self { folders, roots: vec!["/".into()], of_home: false, made: (Instant::now(), SystemTime::now()) }
    }

    /// The folder of a kind.
    #[must_use]
    pub fn folder(&self, kind: FileKind) -> PathBuf {
        match kind {
            FileKind::Media => self.folders.media.clone(),
            FileKind::Upload => self.folders.uploads.clone(),
            FileKind::Download => self.folders.downloads.clone(),
            FileKind::Trace => self.folders.traces.clone(),
        }
    }

    /// The folders from which files may be uploaded: `uploads/` and `browser.upload_roots`.
    #[must_use]
    pub fn upload_roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Writes a new file atomically, readable by its owner only. `ending` is the extension without a dot, such as `png`.
    ///
    /// # Errors
    /// [`Error::PathRefused`] for an invalid extension, [`Error::Config`] if it cannot be written.
    pub fn save(&self, kind: FileKind, ending: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        if !(1..=8).contains(&ending.len()) || !ending.bytes().all(|b| b.is_ascii_alphanumeric()) {
            let why = "a file extension has one to eight letters and digits".to_owned();
            return Err(Error::PathRefused { name: ending.to_owned(), why });
        }
        let folder = self.folder(kind);
        let failed = |problem: &std::io::Error| {
            Error::Config(config::Error::File {
                doing: "write into",
                path: folder.clone(),
                problem: problem.to_string(),
            })
        };
        let mut file =
            tempfile::Builder::new().prefix(".").suffix(".part").tempfile_in(&folder).map_err(|e| failed(&e))?;
        file.write_all(bytes).map_err(|e| failed(&e))?;
        let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        loop {
            let path = folder.join(format!("{millis}-{:08x}.{ending}", fastrand::u32(..)));
            match file.persist_noclobber(&path) {
                Ok(_) => return Ok(path),
                Err(again) if again.error.kind() == std::io::ErrorKind::AlreadyExists => file = again.file,
                Err(problem) => return Err(failed(&problem.error)),
            }
        }
    }

    /// Deletes screenshots and PDFs older than 24 hours, as if `ahead` had passed. Returns how many.
    pub(super) fn sweep(&self, ahead: Duration) -> usize {
        if !self.of_home {
            return 0;
        }
        // Setting the clock forward must not make files old.
        let (instant, system) = self.made;
        let now = SystemTime::now().min(system + instant.elapsed()) + ahead;
        let entries = fs::read_dir(&self.folders.media).into_iter().flatten().flatten();
        let old = |path: &Path| {
            let facts = fs::symlink_metadata(path).ok().filter(|facts| facts.is_file())?;
            now.duration_since(facts.modified().ok()?).ok().filter(|age| *age > KEPT)
        };
        entries.map(|entry| entry.path()).filter(|path| old(path).is_some() && fs::remove_file(path).is_ok()).count()
    }
}
