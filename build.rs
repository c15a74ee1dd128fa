//! Generates the typed protocol into `OUT_DIR`; cargo features select the domains. Minifies the scripts of the feature `page`, and
//! packs `eval/` for the feature `eval`.

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
    #[cfg(feature = "eval")]
    if let Err(problem) = pack::pack(Path::new(&out)) {
        println!("cargo::error=cannot pack eval/: {problem}");
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

#[cfg(feature = "eval")]
mod pack {
    use std::fs::{self, File};
    use std::io;
    use std::path::Path;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    /// Folders of `eval/` that the program contains.
    const FOLDERS: [&str; 5] = ["dataset", "fixtures", "routines", "safety", "sites"];

    /// Writes the files of `eval/` into one compressed archive, the same for the same files.
    pub(super) fn pack(out: &Path) -> io::Result<()> {
        println!("cargo::rerun-if-changed=eval");
        let archive = File::create(out.join("eval.tar.gz"))?;
        let mut archive = tar::Builder::new(GzEncoder::new(archive, Compression::best()));
        for folder in FOLDERS {
            add(&mut archive, &Path::new("eval").join(folder), folder)?;
        }
        archive.into_inner()?.finish()?;
        Ok(())
    }

    fn add<W: io::Write>(archive: &mut tar::Builder<W>, folder: &Path, name: &str) -> io::Result<()> {
        let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let below = format!("{name}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                add(archive, &entry.path(), &below)?;
                continue;
            }
            let bytes = fs::read(entry.path())?;
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            archive.append_data(&mut header, &below, bytes.as_slice())?;
        }
        Ok(())
    }
}
