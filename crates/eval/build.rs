//! Packs `eval/` into one archive, which the program contains.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::ExitCode;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Folders of `eval/` that the program contains.
const FOLDERS: [&str; 5] = ["dataset", "fixtures", "routines", "safety", "sites"];

fn main() -> ExitCode {
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    if let Err(problem) = pack(Path::new(&out)) {
        println!("cargo::error=cannot pack eval/: {problem}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Writes the files of `eval/` into one compressed archive, the same for the same files.
fn pack(out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed=../../eval");
    let archive = File::create(out.join("eval.tar.gz"))?;
    let mut archive = tar::Builder::new(GzEncoder::new(archive, Compression::best()));
    for folder in FOLDERS {
        add(&mut archive, &Path::new("../../eval").join(folder), folder)?;
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
