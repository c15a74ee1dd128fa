//! Properties and load of the machine, to judge the results by.

use std::process::Command;

use serde::Serialize;

use super::memory::basis;

/// The machine; unknown values are `null`.
#[derive(Debug, Serialize)]
pub(super) struct Machine {
    os: &'static str,
    arch: &'static str,
    processors: Option<usize>,
    memory_mib: Option<u64>,
    /// How memory was measured: `pss`, `rss` or unknown.
    memory_is: Option<&'static str>,
    /// Averages over 1, 5 and 15 minutes.
    load_before: Option<[f64; 3]>,
    load_after: Option<[f64; 3]>,
}

impl Machine {
    pub(super) fn now() -> Self {
        let memory = std::fs::read_to_string("/proc/meminfo").ok();
        Self {
            os: std::env::consts::OS,
            arch: std::env::consts::ARCH,
            processors: std::thread::available_parallelism().ok().map(usize::from),
            memory_mib: memory.and_then(|text| super::memory::field(&text, "MemTotal")).map(|kib| kib >> 10),
            memory_is: None,
            load_before: load(),
            load_after: None,
        }
    }

    /// Adds the values that are known after the run.
    pub(super) fn finish(&mut self) {
        self.load_after = load();
        self.memory_is = basis();
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let processors = self.processors.map_or("unknown".to_owned(), |n| n.to_string());
        let memory = self.memory_mib.map_or("unknown".to_owned(), |mib| format!("{:.1} GiB", mib as f64 / 1024.0));
        let shown = |load: Option<[f64; 3]>| match load {
            Some([one, five, fifteen]) => format!("{one:.2} {five:.2} {fifteen:.2}"),
            None => "unknown".to_owned(),
        };
        let (before, after) = (shown(self.load_before), shown(self.load_after));
        let mut lines = vec![
            format!("{} {}, {processors} processors, memory {memory}", self.os, self.arch),
            format!("load average {before} before, {after} after"),
        ];
        lines.extend(self.memory_is.map(|is| {
            match is {
                "pss" => "memory: proportional set size (PSS); shared pages are divided among processes",
                _ => "memory: sum of resident set sizes (RSS); shared pages are counted once per process",
            }
            .to_owned()
        }));
        let busy = self.load_before.zip(self.processors).is_some_and(|([one, ..], n)| one > n as f64 / 2.0);
        lines
            .extend(busy.then(|| "warning: the machine was busy before the run, so the times are too high".to_owned()));
        lines
    }
}

fn load() -> Option<[f64; 3]> {
    match std::fs::read_to_string("/proc/loadavg") {
        Ok(text) => numbers(&text),
        Err(_) if cfg!(unix) => {
            let output = Command::new("uptime").env("LC_ALL", "C").output().ok()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            numbers(text.split_once("load average")?.1.split_once(':')?.1)
        }
        Err(_) => None,
    }
}

fn numbers(text: &str) -> Option<[f64; 3]> {
    let mut numbers = text.split([' ', ',', '\n']).filter(|word| !word.is_empty()).map(|word| word.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_read_as_systems_write_them() {
        assert_eq!(numbers("0.17 0.58 2.93 1/200 4711\n"), Some([0.17, 0.58, 2.93]));
        assert_eq!(numbers(" 2.05, 1.90, 1.84\n"), Some([2.05, 1.9, 1.84]));
        assert_eq!(numbers(" 2.05 1.90 1.84\n"), Some([2.05, 1.9, 1.84]));
        assert_eq!(numbers("soon"), None);
        assert_eq!(numbers(""), None);
    }
}
