//! Files to upload: into a given file input, or into the next file chooser.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;

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
    /// Ref of the file input.
    pub reference: String,
    /// Its role and name.
    pub shown: Shown,
}

/// The answer of the in-page call `fileInput`.
#[derive(Debug, Deserialize)]
struct FileInputReply {
    #[serde(default)]
    gone: bool,
    changed: Option<ShownNow>,
    tag: Option<String>,
    input: Option<u32>,
    #[serde(default)]
    multiple: bool,
    #[serde(default)]
    disabled: bool,
}

impl Tab {
    /// Gives files to a page. With the ref of a file input, or of its label, the input has them when this returns.
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
        match reference {
            Some(reference) => {
                let shown = self.set_files(reference, &files, deadline)?;
                let reference = format!("e{}", reference.trim_start_matches(['@', 'e']));
                Ok(Upload::Done(UploadedFiles { reference, shown }))
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
        if !what.is_file() {
            return Err(refuse("it is not a plain file".to_owned()));
        }
        let Some(roots) = &self.options.uploads else { return Ok(file) };
        let inside = |root: &PathBuf| root.canonicalize().is_ok_and(|root| file.starts_with(root));
        if !roots.iter().any(inside) {
            let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
            return Err(refuse(format!("files to upload must be in {}", roots.join(" or "))));
        }
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::nlink(&what) > 1 {
            return Err(refuse("the file has several hard links; upload a copy of it".to_owned()));
        }
        Ok(file)
    }

    fn set_files(&self, reference: &str, files: &[PathBuf], deadline: Deadline<'_>) -> Result<Shown, Error> {
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
        let Some(id) = reply.input else {
            let tag = reply.tag.unwrap_or_default();
            let article = if tag.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            return Err(refuse(format!(
                "it is {article} <{tag}>, not a file input; give the files without a ref, then click the element that opens the file chooser"
            )));
        };
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
        Ok(shown)
    }
}
