//! Finds the process that listens on a local TCP port, where the system reports it.

use std::fmt;

/// A process that listens on a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortHolder {
    /// A process of this user.
    Process {
        /// Id of the process that listens on the port.
        pid: u32,
        /// Name of the program.
        program: String,
    },
    /// A process of another user.
    User {
        /// Id of the user that the process belongs to.
        uid: u32,
    },
}

impl fmt::Display for PortHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { pid, program } => write!(f, "{program} (process {pid})"),
            Self::User { uid } => write!(f, "a process of another user (uid {uid})"),
        }
    }
}

/// The process that listens on a port. `None` if there is none or the system does not report it.
#[must_use]
pub fn port_holder(port: u16) -> Option<PortHolder> {
    system::holder(port)
}

/// Names the process that listens on a port, or how to find it.
#[must_use]
pub fn port_in_use(port: u16) -> String {
    match port_holder(port) {
        Some(holder) => format!("port {port} is in use by {holder}"),
        None if cfg!(windows) => format!("port {port} is in use (`netstat -ano | findstr :{port}` shows the process)"),
        None => format!("port {port} is in use (`lsof -nP -iTCP:{port} -sTCP:LISTEN` shows the process)"),
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    use super::PortHolder;

    /// The state of a listening socket in `/proc/net/tcp`.
    const LISTENING: &str = "0A";

    pub(super) fn holder(port: u16) -> Option<PortHolder> {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap_or_default());
        let (uid, inode) = tables.iter().flat_map(|table| table.lines()).find_map(|line| listening(line, port))?;
        let socket = format!("socket:[{inode}]");
        let mut pids: Vec<u32> = fs::read_dir("/proc")
            .ok()?
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| has_open(*pid, &socket))
            .collect();
        // A child may have inherited the socket; the parent is most often the older one.
        pids.sort_unstable();
        Some(match pids.first() {
            Some(pid) => PortHolder::Process { pid: *pid, program: name(*pid) },
            None => PortHolder::User { uid },
        })
    }

    /// The user and the inode of a line that is about a socket listening on a port.
    fn listening(line: &str, port: u16) -> Option<(u32, u64)> {
        let mut fields = line.split_whitespace().skip(1);
        let (_, local) = fields.next()?.rsplit_once(':')?;
        let state = fields.nth(1)?;
        if u16::from_str_radix(local, 16).ok()? != port || state != LISTENING {
            return None;
        }
        let uid = fields.nth(3)?.parse().ok()?;
        let inode = fields.nth(1)?.parse().ok()?;
        Some((uid, inode))
    }

    fn has_open(pid: u32, socket: &str) -> bool {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_link(file.path()).ok()).any(|link| link.as_os_str() == socket)
    }

    /// The name of a process, not its arguments: there may be secrets in them.
    fn name(pid: u32) -> String {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let name: String = name.trim().chars().filter(|c| !c.is_control()).collect();
        if name.is_empty() { "a program".to_owned() } else { name }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn lines_of_the_table_are_read() {
            let line = "   1: 0100007F:4967 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 98765 1 0000000000000000 100 0 0 10 0";
            assert_eq!(listening(line, 18791), Some((1000, 98765)));
            assert_eq!(listening(line, 18792), None);
            assert_eq!(listening(&line.replace(" 0A ", " 01 "), 18791), None);
            let head =
                "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
            assert_eq!(listening(head, 18791), None);
            let six = line.replace("0100007F:", "00000000000000000000000001000000:");
            assert_eq!(listening(&six, 18791), Some((1000, 98765)));
        }

        #[test]
        fn a_port_of_this_process_is_found() {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let found = holder(listener.local_addr().unwrap().port());
            assert!(matches!(found, Some(PortHolder::Process { pid, .. }) if pid == std::process::id()), "{found:?}");
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn holder(_port: u16) -> Option<super::PortHolder> {
        None
    }
}
