//! Generates the typed protocol into `OUT_DIR`; cargo features select the domains. Minifies the scripts of the feature `page`.

use std::path::Path;
use std::{env, ffi::OsString, process::ExitCode};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=cdp-gen/protocol");
    println!("cargo::rerun-if-changed=cdp-gen/items.txt");
    let domain = |(key, _): (OsString, OsString)| {
        let name = key.to_str()?.strip_prefix("CARGO_FEATURE_DOMAIN_")?;
        Some(name.to_ascii_lowercase())
    };
    let options = cdp_gen::Options {
        domains: env::vars_os().filter_map(domain).collect(),
        full: env::var_os("CARGO_FEATURE_FULL_PROTOCOL").is_some(),
        ..cdp_gen::Options::default()
    };
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    if let Err(error) = cdp_gen::generate(&options, Path::new(&out)) {
        println!("cargo::error={error}");
        return ExitCode::FAILURE;
    }
    #[cfg(feature = "page")]
    if let Err(problem) = scripts::minify(Path::new(&out)) {
        println!("cargo::error=cannot minify the scripts of pages: {problem}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

#[cfg(feature = "page")]
mod scripts {
    use std::path::Path;
    use std::{fs, io};

    use minifier::js;

    const PAGE: &str = include!("src/page/script/source.rs");
    const ORIGIN: &str = include_str!("src/page/login_state/origin.js");

    /// Writes the scripts that run in pages without comments and blanks; names are kept for stack traces.
    pub(super) fn minify(out: &Path) -> io::Result<()> {
        for (file, script) in [("page-script.js", PAGE), ("origin.js", ORIGIN)] {
            fs::write(out.join(file), js::minify(script).to_string())?;
        }
        Ok(())
    }
}
