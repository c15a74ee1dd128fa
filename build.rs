//! Generates the typed protocol into `OUT_DIR`; cargo features select the domains.

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
    ExitCode::SUCCESS
}
