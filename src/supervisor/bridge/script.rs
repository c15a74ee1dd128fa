//! The page script, created from `script.js`.

use super::mac::Key;
use super::wire::TEXT_LIMIT;

const SCRIPT: &str = include_str!("script.js");

/// The script with its URL and key. The `use strict` directive comes first: functions in strict mode are not exposed to
/// `Error.prepareStackTrace` or `caller`.
pub(super) fn source(url: &str, key: Key) -> String {
    let code: Vec<&str> = SCRIPT.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let code = code.join("\n");
    let code = code.trim().trim_end_matches(';');
    let state = key.start().map(|word| format!("{},{}", word & 0xffff_ffff, word >> 32)).join(",");
    format!("'use strict';{code}('{url}',{TEXT_LIMIT},{state});")
}
