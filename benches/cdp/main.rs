//! Compares this crate with a raw loop on the same browser, in the same run.
//!
//! `cargo bench --bench cdp -- [--quick] [--json] [FILTER…]`. A filter selects workloads whose name
//! contains it (`sequential`, `calls`, `flight`, `threads`, `flood`, `large`, `screenshot`, `attach`, `ws`,
//! `pipe`). Raw loop and cdpilot alternate in rounds of rotating order; figures are medians, the ratio is the
//! median of the rounds' ratios. Nothing here fails because something was slow.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a bench prints

#[cfg(unix)]
mod bulk;
#[cfg(unix)]
mod calls;
#[cfg(unix)]
mod chrome;
#[cfg(unix)]
mod lane;
#[cfg(unix)]
mod measure;
#[cfg(unix)]
mod raw;
#[cfg(unix)]
mod table;
#[cfg(unix)]
mod workloads;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Options of the command line.
#[derive(Default)]
struct Options {
    quick: bool,
    json: bool,
    filters: Vec<String>,
}

impl Options {
    fn parse() -> Self {
        let mut options = Self::default();
        for argument in std::env::args().skip(1) {
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--json" => options.json = true,
                "--bench" => {} // cargo adds it
                filter => options.filters.push(filter.to_owned()),
            }
        }
        options
    }

    #[cfg(unix)]
    fn wants_lane(&self, lane: &str) -> bool {
        let mut lanes = self.filters.iter().filter(|f| matches!(f.as_str(), "ws" | "pipe")).peekable();
        lanes.peek().is_none() || lanes.any(|f| f == lane)
    }

    #[cfg(unix)]
    fn wants(&self, workload: &str) -> bool {
        let mut names = self.filters.iter().filter(|f| !matches!(f.as_str(), "ws" | "pipe")).peekable();
        names.peek().is_none() || names.any(|f| workload.contains(f.as_str()))
    }
}

#[cfg(unix)]
fn main() -> Result<()> {
    let options = Options::parse();
    let program = cdpilot::browser::find::find(None)?.path;
    let before = measure::load();
    let mut rows = Vec::new();
    let mut browser = String::new();
    let mut others = Vec::new();
    for name in ["ws", "pipe"].into_iter().filter(|name| options.wants_lane(name)) {
        let lane = lane::Lane::start(&program, name)?;
        browser.clone_from(&lane.version);
        let strangers = measure::Strangers::watch(lane.browser_process());
        for (workload, run) in workloads::ALL {
            if options.wants(workload) {
                eprintln!("{workload}, {name}");
                rows.extend(run(&lane, options.quick)?);
            }
        }
        others.push(strangers.share());
    }
    let others = measure::median(others);
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let load = format!("{before} before, {} after", measure::load());
    if options.json {
        let all = serde_json::json!({
            "browser": browser, "processors": processors, "load": load, "others": others,
            "quick": options.quick, "rows": rows,
        });
        println!("{all:#}");
    } else {
        print!("{}", table::text(&rows));
        println!("{browser}, {processors} processors, load average {load}");
        println!("other processes took {:.0} % of the processors meanwhile", others * 100.0);
        println!("ratio: ours to raw, median of rounds; raw: one blocking loop (spin: the same, spinning)");
    }
    Ok(())
}

#[cfg(not(unix))]
fn main() -> Result<()> {
    let _ = Options::parse();
    println!("this bench runs on Unix only");
    Ok(())
}
