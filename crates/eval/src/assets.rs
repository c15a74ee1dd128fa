//! The files of `eval/`: sites, dataset, traces, routines.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use flate2::read::GzDecoder;

/// A tar archive of the folder `eval/`, made by `build.rs`.
const ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/eval.tar.gz"));
/// Largest file of a folder that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;
/// Most files of a folder.
const MAX_FILES: usize = 10_000;

/// Why files cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AssetsError {
    /// The folder does not exist, or is a file.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// A file of the folder cannot be read.
    #[error("cannot read {}: {problem}", .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        problem: io::Error,
    },
    /// The folder contains too much.
    #[error("{} contains more than {MAX_FILES} files; give the folder of the dataset or of the sites", .0.display())]
    TooMany(PathBuf),
    /// The embedded archive is damaged.
    #[error("the files of the evaluation in this program are damaged: {0}; install it again")]
    Damaged(String),
}

/// Files by their path, with `/` between folders.
#[derive(Debug, Clone)]
pub struct Assets {
    root: Root,
}

#[derive(Debug, Clone)]
enum Root {
    /// Paths below this folder of the archive.
    Embedded(&'static str),
    Folder(PathBuf),
}

fn embedded() -> Result<&'static BTreeMap<String, Vec<u8>>, AssetsError> {
    static FILES: OnceLock<Result<BTreeMap<String, Vec<u8>>, String>> = OnceLock::new();
    let unpack = || {
        let mut files = BTreeMap::new();
        for entry in tar::Archive::new(GzDecoder::new(ARCHIVE)).entries()? {
            let mut entry = entry?;
            let path = entry.path()?.to_string_lossy().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            files.insert(path, bytes);
        }
        Ok(files)
    };
    let files = FILES.get_or_init(|| unpack().map_err(|problem: io::Error| problem.to_string()));
    files.as_ref().map_err(|problem| AssetsError::Damaged(problem.clone()))
}

impl Assets {
    /// The embedded files below a folder of `eval/`, for example `sites`.
    #[must_use]
    pub fn embedded(folder: &'static str) -> Self {
        Self { root: Root::Embedded(folder) }
    }

    /// The files of a folder. They are read when they are needed.
    ///
    /// # Errors
    /// [`AssetsError::NotAFolder`].
    pub fn folder(path: &Path) -> Result<Self, AssetsError> {
        if path.is_dir() {
            Ok(Self { root: Root::Folder(path.to_owned()) })
        } else {
            Err(AssetsError::NotAFolder(path.to_owned()))
        }
    }

    /// A file; `None` if there is none at this path. A path never leads out of the folder.
    ///
    /// # Errors
    /// [`AssetsError::Unreadable`], [`AssetsError::Damaged`].
    pub fn read(&self, path: &str) -> Result<Option<Cow<'static, [u8]>>, AssetsError> {
        match &self.root {
            Root::Embedded(folder) => {
                Ok(embedded()?.get(&format!("{folder}/{path}")).map(|bytes| Cow::Borrowed(bytes.as_slice())))
            }
            Root::Folder(root) => {
                let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
                let file = root.join(path);
                if path.is_empty() || !is_inside || !file.is_file() {
                    return Ok(None);
                }
                read_file(&file).map(|bytes| Some(Cow::Owned(bytes)))
            }
        }
    }

    /// Whether there is a folder at this path.
    ///
    /// # Errors
    /// [`AssetsError::Damaged`].
    pub fn has_folder(&self, path: &str) -> Result<bool, AssetsError> {
        match &self.root {
            Root::Embedded(folder) => {
                let start = format!("{folder}/{path}/");
                Ok(embedded()?.range(start.clone()..).next().is_some_and(|(path, _)| path.starts_with(&start)))
            }
            Root::Folder(root) => {
                let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
                Ok(is_inside && root.join(path).is_dir())
            }
        }
    }

    /// The paths of all files whose name ends so, sorted.
    ///
    /// # Errors
    /// [`AssetsError::Unreadable`], [`AssetsError::TooMany`], [`AssetsError::Damaged`].
    pub fn ending(&self, end: &str) -> Result<Vec<String>, AssetsError> {
        let mut paths = Vec::new();
        match &self.root {
            Root::Embedded(folder) => {
                let start = format!("{folder}/");
                let all = embedded()?.keys().filter_map(|path| path.strip_prefix(&start));
                paths.extend(all.map(str::to_owned));
            }
            Root::Folder(root) => walk(root, "", &mut paths)?,
        }
        paths.retain(|path| path.ends_with(end));
        paths.sort();
        Ok(paths)
    }

    /// How messages name a file.
    #[must_use]
    pub fn shown(&self, path: &str) -> String {
        match &self.root {
            Root::Embedded(folder) => format!("eval/{folder}/{path}"),
            Root::Folder(root) => root.join(path).display().to_string(),
        }
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, AssetsError> {
    let unreadable = |problem| AssetsError::Unreadable { path: path.to_owned(), problem };
    let mut bytes = Vec::new();
    fs::File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(unreadable(io::Error::other("it is larger than 16 MiB")));
    }
    Ok(bytes)
}

fn walk(root: &Path, below: &str, into: &mut Vec<String>) -> Result<(), AssetsError> {
    let folder = root.join(below);
    let unreadable = |problem| AssetsError::Unreadable { path: folder.clone(), problem };
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        // Links are not followed: they may lead in a circle.
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            walk(root, &path, into)?;
        } else if kind.is_file() {
            into.push(path);
        }
        if into.len() > MAX_FILES {
            return Err(AssetsError::TooMany(root.to_owned()));
        }
    }
    Ok(())
}
