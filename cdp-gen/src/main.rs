//! `cdp-gen`: makes and checks the pinned protocol, and shows what would be generated.

// A small tool for developers; its output is its purpose.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cdp_gen::import::{self, Import};
use cdp_gen::schema::Protocol;
use cdp_gen::{Error, Options, diff, pinned};

const USAGE: &str = "\
cdp-gen import --package DIR [--to DIR]       pin the unpacked npm package devtools-protocol
cdp-gen import --browser http://HOST:PORT [--to DIR]
                                              pin what a running browser speaks
cdp-gen diff --browser http://HOST:PORT       compare it with the pinned protocol:
                                              exit 0 same, 1 different, 2 error
cdp-gen emit [--items FILE] [--domain NAME]... [--full] --out DIR
                                              write the generated files
        [--protocol FILE]                     … of this description, uncorrected";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("cdp-gen: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[String]) -> Result<ExitCode, Error> {
    let verb = words.first().map(String::as_str);
    let args = Args::parse(words.get(1..).unwrap_or_default())?;
    match verb {
        Some("import") => run_import(&args),
        Some("diff") => run_diff(&args),
        Some("emit") => run_emit(&args),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(usage("say what to do")),
    }
}

#[derive(Default)]
struct Args {
    package: Option<PathBuf>,
    browser: Option<String>,
    to: Option<PathBuf>,
    items: Option<PathBuf>,
    protocol: Option<PathBuf>,
    domains: Vec<String>,
    full: bool,
    out: Option<PathBuf>,
}

impl Args {
    fn parse(words: &[String]) -> Result<Self, Error> {
        let mut args = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().cloned().ok_or_else(|| usage(&format!("`{word}` needs a value")));
            match word.as_str() {
                "--package" => args.package = Some(value()?.into()),
                "--browser" => args.browser = Some(value()?.trim_end_matches('/').to_owned()),
                "--to" => args.to = Some(value()?.into()),
                "--items" => args.items = Some(value()?.into()),
                "--protocol" => args.protocol = Some(value()?.into()),
                "--domain" => args.domains.push(value()?),
                "--full" => args.full = true,
                "--out" => args.out = Some(value()?.into()),
                _ => return Err(usage(&format!("`{word}` is not known"))),
            }
        }
        Ok(args)
    }
}

fn usage(problem: &str) -> Error {
    Error::Usage { problem: format!("{problem}\n{USAGE}") }
}

fn run_import(args: &Args) -> Result<ExitCode, Error> {
    let import = match (&args.package, &args.browser) {
        (Some(dir), None) => Import::from_package(dir)?,
        (None, Some(address)) => Import::from_browser(address)?,
        _ => return Err(usage("import needs either --package or --browser")),
    };
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("protocol");
    let to = args.to.clone().unwrap_or_else(default);
    import.write(&to)?;
    let lists = import.marks.iter().filter(|mark| mark.list).count();
    let single = import.marks.len() - lists;
    println!("{}binary: {single} fields, {lists} lists", import.version);
    println!("written to {}", to.display());
    Ok(ExitCode::SUCCESS)
}

fn run_diff(args: &Args) -> Result<ExitCode, Error> {
    let Some(address) = &args.browser else {
        return Err(usage("diff needs --browser"));
    };
    let lines = diff::diff(&pinned::protocol()?, &import::from_browser(address)?);
    for line in &lines {
        println!("{line}");
    }
    Ok(if lines.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn run_emit(args: &Args) -> Result<ExitCode, Error> {
    let Some(out) = &args.out else {
        return Err(usage("emit needs --out"));
    };
    let mut options = Options { domains: args.domains.clone(), full: args.full, ..Options::default() };
    let io = |path: &Path| {
        let path = path.to_owned();
        |source| Error::Io { path, source }
    };
    if let Some(file) = &args.items {
        options.items = fs::read_to_string(file).map_err(io(file))?;
    }
    if let Some(file) = &args.protocol {
        let text = fs::read_to_string(file).map_err(io(file))?;
        options.protocol = Some(Protocol::parse(&file.to_string_lossy(), &text)?);
        options.patches = &[];
    }
    fs::create_dir_all(out).map_err(io(out))?;
    cdp_gen::generate(&options, out)?;
    println!("written to {}", out.display());
    Ok(ExitCode::SUCCESS)
}
