//! Files of the workspace: reading, writing, patching, searching. Nothing outside of it is reached, by no `..`, link or
//! trick; devices and pipes are not opened; what cdpilot keeps for itself is refused wherever it lies.
//!
//! | file | what it holds |
//! |---|---|
//! | `workspace` | the folder, and which paths are in it |
//! | `unix`, `windows` | opening and replacing files without following links |
//! | `read` | `read_file` |
//! | `write` | `write_file`, and what holds for all changes |
//! | `patch` | `patch` |
//! | `search` | `search_files` |
//! | `grep` | searching the text of one file |

mod grep;
mod patch;
mod read;
mod search;
#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;
mod workspace;
mod write;

pub(super) use workspace::Workspace;

use super::{Registry, RegistryError};

/// The toolset.
const FILE: &str = "file";

/// Adds the tools.
///
/// # Errors
/// Others are called like them.
pub(super) fn register(registry: &Registry) -> Result<(), RegistryError> {
    for tool in [read::tool(), write::tool(), patch::tool(), search::tool()] {
        registry.register(FILE, tool)?;
    }
    Ok(())
}

/// What kind of picture a file is, by how it begins.
#[must_use]
pub(crate) fn picture(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
