//! A shell process that outlives this one for a moment, to end what this one started.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeWriter};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// Where the programs of a script are looked for first.
const PATH: &str = "/usr/bin:/bin";

/// A running reaper process. Its script begins by waiting for the end of its input (`read -r _`), which comes when this
/// value is dropped or this process ends, however that happens.
#[derive(Debug)]
pub(crate) struct Reaper {
    child: Child,
    /// Its closing starts the script's work.
    _life: PipeWriter,
}

impl Reaper {
    /// Starts one in a process group: while it lives, the id of the group stays taken. Group 0 is a new one, which it
    /// leads. `name` is `$0` of the script and shows on its command line.
    pub(crate) fn start(group: i32, name: &str, script: &str, args: &[&OsStr]) -> io::Result<Self> {
        let (input, life) = io::pipe()?;
        let mut path = OsString::from(PATH);
        if let Some(ours) = std::env::var_os("PATH") {
            path.push(":");
            path.push(ours);
        }
        let child = Command::new("/bin/sh")
            .args(["-c", script, name])
            .args(args)
            .env_clear()
            .env("PATH", path)
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(group)
            .spawn()?;
        Ok(Self { child, _life: life })
    }

    /// The process itself.
    pub(crate) fn child(&self) -> &Child {
        &self.child
    }

    /// Kills and reaps it; the script does nothing more.
    pub(crate) fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
