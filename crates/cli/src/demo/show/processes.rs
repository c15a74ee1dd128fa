//! Lists the processes of a browser, to prove that none is left.

use std::path::Path;

/// Ids of the processes in the process group of `browser`, and of all others with `folder` in their arguments. Zombies do not
/// count. `None` if the system does not provide the list.
pub(crate) fn of(browser: u32, folder: &Path) -> Option<Vec<u32>> {
    let folder = folder.to_str()?;
    let rows = if cfg!(target_os = "linux") { from_proc()? } else { from_ps()? };
    let this = std::process::id();
    let processes =
        |row: &Row| row.id != this && !row.ended && (row.group == browser || row.arguments.contains(folder));
    Some(rows.into_iter().filter(processes).map(|row| row.id).collect())
}

struct Row {
    id: u32,
    group: u32,
    ended: bool,
    arguments: String,
}

fn from_proc() -> Option<Vec<Row>> {
    let folders = std::fs::read_dir("/proc").ok()?;
    let ids = folders.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let row = |id: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // After the name, which may contain anything: state, parent, group.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let ended = matches!(fields.next()?, "Z" | "X");
        let group = fields.nth(1)?.parse().ok()?;
        let arguments = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
        Some(Row { id, group, ended, arguments: String::from_utf8_lossy(&arguments).into_owned() })
    };
    Some(ids.filter_map(row).collect())
}

fn from_ps() -> Option<Vec<Row>> {
    let listed = std::process::Command::new("ps").args(["-A", "-ww", "-o", "pid=,pgid=,stat=,args="]).output().ok()?;
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let row = |line: &str| {
        let mut fields = line.split_whitespace();
        let id = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let ended = fields.next()?.starts_with('Z');
        Some(Row { id, group, ended, arguments: line.to_owned() })
    };
    listed.status.success().then(|| text.lines().filter_map(row).collect())
}
