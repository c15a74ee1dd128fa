//! Files to upload: into a given file input, or into the next file chooser.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;

use super::upload_folder::upload_folder_files;
use crate::cdp::protocol::dom::SetFileInputFiles;
use crate::page::error::ShownNow;
use crate::page::{Error, Node, Shown, Tab};
use crate::supervisor::{ArmedChooser, FrameRef, Supervisor};
use crate::sync::Deadline;

/// Maximum number of files.
const FILES: usize = 100;

/// The result of [`Tab::arm_chooser`].
#[derive(Debug)]
#[must_use]
pub enum Upload {
    /// The input has the files.
    Done(UploadedFiles),
    /// The files are armed for the next file chooser of the tab.
    Armed(ArmedChooser),
}

/// The element that received files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UploadedFiles {
    /// Ref of the file input, or of the element that the files were dropped onto.
    pub reference: String,
    /// Its role and name.
    pub shown: Shown,
    /// How many files the page received: those of a folder included.
    pub count: usize,
    /// Whether the field is empty again: the page has taken the files, or has refused them.
    pub cleared: bool,
}

/// The answer of the in-page call `fileInput`.
#[derive(Debug, Deserialize)]
struct FileInputReply {
    #[serde(default)]
    gone: bool,
    changed: Option<ShownNow>,
    input: Option<u32>,
    #[serde(default)]
    multiple: bool,
    #[serde(default)]
    disabled: bool,
    /// Whether it takes a folder.
    #[serde(default)]
    folder: bool,
}

/// The answer of the in-page call `filesTaken`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FilesTaken {
    /// How many files the input had when it reported them.
    seen: Option<usize>,
    /// How many it has now.
    now: Option<usize>,
}

impl Tab {
    /// Gives files to a page. With the ref of a file input, or of its label, the input has them when this returns; onto
    /// another element they are dropped. An input with `webkitdirectory` takes one folder.
    /// Without a ref they are armed for the next file chooser that the tab opens, in any frame, until the deadline but
    /// for at most two minutes; they replace files armed before. A chooser without armed files is cancelled.
    ///
    /// # Errors
    /// [`Error::PathRefused`] when a path is not a plain file or is outside
    /// [`PageOptions::uploads`](super::super::PageOptions::uploads); [`Error::NotActionable`] when the element is not a
    /// file input or accepts one file only; [`Error::StaleRef`], [`Error::RefChanged`], [`Error::BadRef`],
    /// [`Error::BadRequest`], [`Error::Supervisor`].
    pub fn arm_chooser(
        &self,
        paths: &[PathBuf],
        reference: Option<&str>,
        deadline: Deadline<'_>,
    ) -> Result<Upload, Error> {
        if paths.is_empty() || paths.len() > FILES {
            let problem = format!("give 1 to {FILES} paths, not {}", paths.len());
            return Err(Error::BadRequest { problem });
        }
        let files: Vec<PathBuf> = paths.iter().map(|path| self.may_upload(path)).collect::<Result<_, _>>()?;
        let folders = files.iter().filter(|file| file.is_dir()).count();
        if folders > 0 && (reference.is_none() || files.len() > 1) {
            let problem = "give a folder alone, with the ref of a file input that takes folders".to_owned();
            return Err(Error::BadRequest { problem });
        }
        match reference {
            Some(reference) => {
                let given = self.set_files(reference, &files, deadline)?;
                let reference = format!("e{}", reference.trim_start_matches(['@', 'e']));
                Ok(Upload::Done(UploadedFiles { reference, ..given }))
            }
            None => {
                let time = deadline.left().min(Supervisor::CHOOSER_LIMIT);
                Ok(Upload::Armed(self.supervisor.arm_chooser(&self.target, &files, time, deadline)?))
            }
        }
    }

    /// The file of a path, if it may be uploaded.
    fn may_upload(&self, path: &Path) -> Result<PathBuf, Error> {
        let refuse = |why: String| Error::PathRefused { name: path.display().to_string(), why };
        let file = path.canonicalize().map_err(|error| refuse(format!("cannot find it: {error}")))?;
        let what = std::fs::symlink_metadata(&file).map_err(|error| refuse(error.to_string()))?;
        if !what.is_file() && !what.is_dir() {
            return Err(refuse("it is neither a plain file nor a folder".to_owned()));
        }
        if what.is_dir() {
            upload_folder_files(&file).map_err(refuse)?;
        }
        let Some(roots) = &self.options.uploads else { return Ok(file) };
        let inside = |root: &PathBuf| root.canonicalize().is_ok_and(|root| file.starts_with(root));
        if !roots.iter().any(inside) {
            let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
            return Err(refuse(format!("files to upload must be in {}", roots.join(" or "))));
        }
        #[cfg(unix)]
        if what.is_file() && std::os::unix::fs::MetadataExt::nlink(&what) > 1 {
            return Err(refuse("the file has several hard links; upload a copy of it".to_owned()));
        }
        Ok(file)
    }

    fn set_files(&self, reference: &str, files: &[PathBuf], deadline: Deadline<'_>) -> Result<UploadedFiles, Error> {
        let (node, shown) = self.resolve(reference)?;
        let stale = |why| Error::StaleRef { reference: reference.to_owned(), why };
        let args = json!({ "id": node.id, "expect": shown });
        let reply = self.call_in::<FileInputReply>(&node.frame, &node.doc, "fileInput", &args, deadline);
        let reply = reply.map_err(|error| match error {
            Error::DocumentGone { .. } => stale("its frame now shows another document"),
            error => error,
        })?;
        let reply = reply.result;
        if reply.gone {
            return Err(stale("its element was removed from the document"));
        }
        if let Some(now) = reply.changed {
            return Err(now.of(reference, &shown));
        }
        let refuse = |reason: String| Error::not_actionable(reference, reason);
        let done = |count: usize, cleared: bool| UploadedFiles {
            reference: String::new(),
            shown: shown.clone(),
            count,
            cleared,
        };
        let is_folder = files.iter().any(|file| file.is_dir());
        let Some(id) = reply.input else {
            if is_folder {
                return Err(refuse("it is no file input; a folder is given to one that takes folders".to_owned()));
            }
            return Ok(done(self.drop_files(reference, files, deadline)?, false));
        };
        if is_folder != reply.folder {
            let takes = if reply.folder { "one folder, not files" } else { "files, not a folder" };
            return Err(refuse(format!("it takes {takes}")));
        }
        if reply.disabled {
            return Err(refuse("it is disabled".to_owned()));
        }
        if files.len() > 1 && !reply.multiple {
            return Err(refuse(format!("it accepts one file, not {}", files.len())));
        }
        let input = Node { id, ..node };
        let object = self.object(&input, deadline)?;
        let names = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let mut set = SetFileInputFiles::new(names);
        set.object_id = Some(object.clone());
        let outcome = self.supervisor.session_call(&FrameRef::Id(input.frame.clone()), &set, deadline);
        self.release(&input.frame, object);
        outcome?;
        // A page that leaves its document has taken them.
        let taken = self.call_in::<FilesTaken>(&input.frame, &input.doc, "filesTaken", &json!({}), deadline);
        let taken = taken.map(|done| done.result).unwrap_or_default();
        let wanted = match files {
            [folder] if is_folder => upload_folder_files(folder).unwrap_or(1),
            files => files.len(),
        };
        let kept = |count: Option<usize>| count.filter(|count| *count != wanted);
        if let Some(count) = kept(taken.seen).or_else(|| kept(taken.now).filter(|count| *count > 0)) {
            return Err(refuse(format!("it holds {count} of {wanted} files")));
        }
        Ok(done(wanted, taken.now == Some(0)))
    }
}
