//! The seeds of the fuzz targets hold for the same checks that the fuzzer runs, so that neither rots.

use std::fs;
use std::path::Path;

#[allow(unreachable_pub)] // public for the fuzz targets
#[path = "../../../fuzz/src/lib.rs"]
mod checks;

/// Most that all seeds may take together, in bytes.
const MOST: u64 = 100_000;

type Check = fn(&[u8]);

/// Every target and its check.
const TARGETS: [(&str, Check); 7] = [
    ("bridge_request", checks::bridge_request),
    ("cookie_text", checks::cookie_text),
    ("envelope", checks::envelope),
    ("frame_decoder", checks::frame_decoder),
    ("http_request", checks::http_request),
    ("stdin_requests", checks::stdin_requests),
    ("surrogates", checks::surrogates),
];

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|problem| panic!("{}: {problem}", folder.display()));
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_fuzz_target_accepts_its_seeds() {
    let fuzz = testkit::root().join("fuzz");
    let known: Vec<String> = TARGETS.iter().map(|(target, _)| (*target).to_owned()).collect();
    let targets = names(&fuzz.join("fuzz_targets"));
    assert_eq!(targets, known.iter().map(|target| format!("{target}.rs")).collect::<Vec<_>>());
    assert_eq!(names(&fuzz.join("seeds")), known);
    let mut size = 0;
    for (target, check) in TARGETS {
        let folder = fuzz.join("seeds").join(target);
        let seeds = names(&folder);
        assert!(seeds.len() >= 3, "{target} has {} seeds", seeds.len());
        for seed in seeds {
            let bytes = fs::read(folder.join(&seed)).unwrap();
            size += bytes.len() as u64;
            check(&bytes);
            // Cut short anywhere, it must hold as well.
            (0..bytes.len()).for_each(|end| check(&bytes[..end]));
        }
    }
    assert!(size < MOST, "the seeds have {size} bytes, at most {MOST}");
}
