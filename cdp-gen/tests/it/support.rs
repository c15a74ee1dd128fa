//! Small helpers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cdp_gen::schema::Protocol;
use cdp_gen::{Options, render};

/// The synthetic protocol: every construct, in about 120 lines.
pub(crate) fn synthetic() -> Protocol {
    Protocol::parse("synthetic.json", include_str!("synthetic.json")).unwrap()
}

/// A protocol with one domain `A`, given the inside of its JSON object.
pub(crate) fn one_domain(inside: &str) -> Protocol {
    let text = format!(r#"{{"version":{{"major":"1","minor":"3"}},"domains":[{{"domain":"A",{inside}}}]}}"#);
    Protocol::parse("test", &text).unwrap()
}

/// Options for a protocol as it stands.
pub(crate) fn options(protocol: Protocol, items: &str) -> Options {
    Options { items: items.to_owned(), protocol: Some(protocol), patches: &[], ..Options::default() }
}

/// Everything in a protocol, as files.
pub(crate) fn whole(protocol: Protocol) -> BTreeMap<String, String> {
    render(&Options { full: true, ..options(protocol, "") }).unwrap()
}

/// The message of what should fail.
pub(crate) fn failure<T: std::fmt::Debug>(result: Result<T, cdp_gen::Error>) -> String {
    result.unwrap_err().to_string()
}

/// A file of this crate.
pub(crate) fn file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}
