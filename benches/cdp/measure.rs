//! Cost of one run: time, processor time, memory.

use std::time::{Duration, Instant};

use crate::Result;

/// Cost of one run of one contestant.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sample {
    /// Time, or calls or events per second.
    pub(crate) value: f64,
    /// Processor time of this process, milliseconds for the whole run.
    pub(crate) cpu: f64,
    /// Growth of the peak of resident memory, MiB.
    pub(crate) memory: f64,
}

/// Processor time of this process so far.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A field of `/proc/self/status` in MiB; 0 where there is none.
fn status(field: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// Measures `body`; `value` computes the figure from its time.
pub(crate) fn measure(value: impl Fn(Duration) -> f64, body: impl FnOnce() -> Result<()>) -> Result<Sample> {
    // Sets the peak back to what is resident now (proc(5)); Linux only.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let resident = status("VmRSS");
    let (cpu_before, began) = (cpu(), Instant::now());
    body()?;
    let (time, cpu) = (began.elapsed(), cpu().saturating_sub(cpu_before));
    let memory = (status("VmHWM") - resident).max(0.0);
    Ok(Sample { value: value(time), cpu: cpu.as_secs_f64() * 1e3, memory })
}

/// The middle value.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

/// The load average of the machine.
pub(crate) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// Processor time used by other processes than this one and the browser; Linux only.
pub(crate) struct Strangers {
    group: u32,
    before: Ticks,
}

/// Processor time of the whole machine, in ticks of 10 ms.
#[derive(Default)]
struct Ticks {
    busy: f64,
    all: f64,
    ours: f64,
}

impl Strangers {
    /// Watches from now on; `group` is the browser's process group.
    pub(crate) fn watch(group: u32) -> Self {
        Self { group, before: Ticks::now(group) }
    }

    /// Their share of the processors since then, 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        let now = Ticks::now(self.group);
        let busy = (now.busy - self.before.busy) - (now.ours - self.before.ours);
        (busy / (now.all - self.before.all)).clamp(0.0, 1.0)
    }
}

impl Ticks {
    fn now(group: u32) -> Self {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = stat.lines().next().unwrap_or_default();
        let fields: Vec<f64> = line.split_ascii_whitespace().skip(1).take(8).map_while(|f| f.parse().ok()).collect();
        let all: f64 = fields.iter().sum();
        let idle: f64 = fields.iter().skip(3).take(2).sum();
        let ours = cpu().as_secs_f64() * 100.0 + group_time(group);
        Self { busy: all - idle, all, ours }
    }
}

/// Processor time of a process group and the children its members have waited for, in ticks.
fn group_time(group: u32) -> f64 {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0.0 };
    let mut sum = 0.0;
    for process in processes.flatten() {
        let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        // Behind the name, which may hold anything: state, parent, group, … (proc(5)).
        let Some((_, rest)) = stat.rsplit_once(')') else { continue };
        let fields: Vec<f64> = rest.split_ascii_whitespace().skip(1).map_while(|f| f.parse().ok()).collect();
        if fields.get(1) == Some(&f64::from(group)) {
            sum += fields.iter().skip(10).take(4).sum::<f64>();
        }
    }
    sum
}
