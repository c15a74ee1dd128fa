//! `cdpilot upload`: gives local files to a page. The server accepts files from `uploads/` of its home, so they
//! are copied there first. Files of the home itself, such as the token, are refused.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::super::client::{Request, ServerAddress};
use super::super::failure::Failure;
use super::call::{Call, Tab, element, locator};
use super::show;
use cdpilot::code::Code;
use cdpilot::page::Locator;
use cdpilot_server::api::{self, operations as op};
use cdpilot_server::config::Home;

/// How long copies are kept: a page may read the file late.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Args)]
pub(in super::super) struct Upload {
    /// Files to upload
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Upload to this file field now: ref or locator [default: the next file chooser that the tab opens]
    #[arg(long = "ref", value_name = "REF", value_parser = element)]
    at: Option<String>,
    #[command(flatten)]
    tab: Tab,
}

impl Upload {
    pub(super) fn call(&self, found: &ServerAddress, home: Option<&Home>) -> Result<Call, Failure> {
        if !found.is_near() {
            let why = "cannot upload: the server is on another machine and has no access to local files";
            return Err(Failure::new(Code::PathRefused, format!("{why}; run the command on that machine")));
        }
        let home = home.ok_or(cdpilot_server::config::Error::NoHome)?;
        home.prepare()?;
        sweep(&home.uploads());
        let checked: Vec<PathBuf> = self.files.iter().map(|file| allowed(file, home)).collect::<Result<_, _>>()?;
        let copies: Vec<String> = checked.iter().map(|file| copy(file, home)).collect::<Result<_, _>>()?;
        let Locator { reference, locator, .. } = locator(self.at.as_deref());
        let request = Request::new(op::ARM_CHOOSER, &api::ArmChooser { paths: copies, reference, locator });
        Ok(Call::new(self.tab.of(request), show::uploaded))
    }
}

fn refused(file: &Path, why: &str) -> Failure {
    Failure::new(Code::PathRefused, format!("cannot upload {}: {why}", file.display()))
}

/// Like [`usable`], for a file to upload.
fn allowed(file: &Path, home: &Home) -> Result<PathBuf, Failure> {
    usable(file, home).map_err(|why| {
        let is_element = !file.exists() && super::call::element(file.to_str().unwrap_or_default()).is_ok();
        let hint = if is_element { "; to name the file field, use --ref" } else { "" };
        refused(file, &format!("{why}{hint}"))
    })
}

/// Resolves links and checks that the file may be given to pages. The error is the reason, as part of a sentence.
pub(super) fn usable(file: &Path, home: &Home) -> Result<PathBuf, String> {
    let real = fs::canonicalize(file).map_err(|problem| problem.to_string())?;
    let meta = fs::metadata(&real).map_err(|problem| problem.to_string())?;
    if !meta.is_file() {
        return Err("it is not a regular file; give a file".to_owned());
    }
    let ours = fs::canonicalize(home.root()).map_err(|problem| problem.to_string())?;
    let own = [home.uploads(), home.downloads(), home.media()];
    let open = own.iter().filter_map(|folder| fs::canonicalize(folder).ok()).any(|folder| real.starts_with(folder));
    if (real.starts_with(&ours) && !open) || is_secret(&meta, home) {
        return Err("it belongs to cdpilot (settings, token, profiles) and is never given to pages".to_owned());
    }
    Ok(real)
}

/// Whether the file is a hard link to one of the home's own files.
#[cfg(unix)]
fn is_secret(meta: &fs::Metadata, home: &Home) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same = |other: fs::Metadata| (other.dev(), other.ino()) == (meta.dev(), meta.ino());
    home.secret_files().iter().filter_map(|path| fs::metadata(path).ok()).any(same)
}

#[cfg(not(unix))]
fn is_secret(_meta: &fs::Metadata, _home: &Home) -> bool {
    false
}

/// Copies the file to a new folder, so that it keeps its name.
fn copy(file: &Path, home: &Home) -> Result<String, Failure> {
    let failed =
        |problem: io::Error| Failure::new(Code::Internal, format!("cannot copy {}: {problem}", file.display()));
    let folder = tempfile::Builder::new().prefix("cli-").tempdir_in(home.uploads()).map_err(failed)?;
    let name = file.file_name().ok_or_else(|| refused(file, "it has no name"))?;
    let copied = folder.path().join(name);
    let mut from = File::open(file).map_err(|problem| refused(file, &format!("cannot read it: {problem}")))?;
    let mut to = private(&copied).map_err(failed)?;
    io::copy(&mut from, &mut to).map_err(failed)?;
    let kept = folder.keep().join(name);
    kept.into_os_string().into_string().map_err(|_| refused(file, "its name is not valid UTF-8; rename it"))
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Removes expired copies.
fn sweep(uploads: &Path) {
    let ours = |entry: &fs::DirEntry| entry.file_name().to_str().is_some_and(|name| name.starts_with("cli-"));
    let old = |entry: &fs::DirEntry| {
        let changed = entry.metadata().ok().filter(fs::Metadata::is_dir).and_then(|meta| meta.modified().ok());
        changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|age| age > KEPT)
    };
    for entry in fs::read_dir(uploads).into_iter().flatten().flatten().filter(|entry| ours(entry) && old(entry)) {
        let _ = fs::remove_dir_all(entry.path());
    }
}
