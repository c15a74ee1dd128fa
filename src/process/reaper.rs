//! Reaper processes: shell processes that outlive this one briefly to end the processes it started.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeWriter};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// Directories searched first for the programs of a script.
const PATH: &str = "/usr/bin:/bin";

/// A running reaper process. Its script begins with `read -r _`, which waits for the end of stdin: this value is
/// dropped, or this process has ended for any reason.
#[derive(Debug)]
pub struct Reaper {
    child: Child,
    /// Closing it lets the script continue.
    _life: PipeWriter,
}

impl Reaper {
    /// Starts a reaper process in a process group, whose id cannot be reused while it lives. Group 0 creates a new
    /// group that it leads. `name` is `$0` of the script, visible on its command line.
    pub fn start(group: i32, name: &str, script: &str, args: &[&OsStr]) -> io::Result<Self> {
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

    /// The process.
    pub fn child(&self) -> &Child {
        &self.child
    }

    /// Kills and reaps the reaper process; its script does not run.
    pub fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
