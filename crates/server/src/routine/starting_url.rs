//! Rules of the Starting URL, and its placeholders.

use url::Url;

use super::model::Routine;
use super::placeholders::{PlaceholderKind, placeholders};
use super::problem::{Problems, quoted};

/// Schemes of addresses that have no `//`. The navigation policy says whether they are admitted.
const BARE_SCHEMES: &[&str] = &["about", "blob", "data", "javascript", "view-source"];

/// Checks the address of a routine. `admits` says why an address is refused.
pub(super) fn check(
    routine: &Routine,
    line: usize,
    admits: &dyn Fn(&str) -> Result<(), String>,
    problems: &mut Problems,
) {
    let written = &routine.starting_url;
    if written.contains(char::is_whitespace) || written.starts_with(['<', '`', '"', '\'', '[', '(']) {
        let bare = written.split_whitespace().next().unwrap_or_default();
        let bare = bare.trim_matches(|c: char| "<>`\"'[]()".contains(c));
        let wanted = quoted(&format!("Starting URL: {bare}"));
        let message = format!("the line has more than an address; write {wanted}, and other text on its own line");
        problems.add(line, "URL_SYNTAX", message);
        return;
    }
    // Without a default, the value is known in the run only; one in the path cannot change what the policy says.
    let is_open = |name: &str| routine.input(name).is_none_or(|input| input.default.is_none());
    let opens_host = placeholders(written).iter().any(|found| {
        let is_open = match &found.kind {
            PlaceholderKind::Input(name) => is_open(name),
            _ => true,
        };
        is_open && !is_behind_host(written.get(..found.range.start).unwrap_or_default())
    });
    if opens_host {
        return;
    }
    let sample = filled(written, |name| {
        Some(routine.input(name).and_then(|input| input.default.clone()).unwrap_or_else(|| "x".to_owned()))
    });
    let Ok(url) = Url::parse(&sample) else {
        let message = format!(
            "{} is not a complete address; write it with its scheme, such as {}",
            quoted(written),
            quoted(&format!("https://{}", written.trim_start_matches('/')))
        );
        problems.add(line, "URL_SYNTAX", message);
        return;
    };
    if !sample.contains("://") && !BARE_SCHEMES.contains(&url.scheme()) {
        let wanted = quoted(&format!("https://{written}"));
        problems.add(line, "URL_SYNTAX", format!("{} has no scheme; write {wanted}", quoted(written)));
    } else if !url.username().is_empty() || url.password().is_some() {
        let message = "the address has a user name or a password; write it without, and declare a sensitive input or use a \
                       secret to sign in";
        problems.add(line, "URL_CREDENTIALS", message);
    } else if let Err(reason) = admits(&sample) {
        let reason = reason.trim().trim_end_matches('.');
        let message =
            format!("{} is refused: {reason}; write an address that the navigation policy admits", quoted(&sample));
        problems.add(line, "URL_REFUSED", message);
    }
}

/// The address with inputs filled in. `None` for a name keeps its placeholder.
///
/// Behind the host, everything but letters, digits, `-`, `.`, `_` and `~` of a value is percent-encoded, so that a value
/// can change neither host nor parameters.
pub(super) fn filled(address: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut from = 0;
    for found in placeholders(address) {
        out.push_str(address.get(from..found.range.start).unwrap_or_default());
        from = found.range.start;
        let PlaceholderKind::Input(name) = &found.kind else { continue };
        let Some(value) = value(name) else { continue };
        from = found.range.end;
        if is_behind_host(&out) {
            encode(&value, &mut out);
        } else {
            out.extend(value.trim().chars().filter(|c| !c.is_whitespace() && !c.is_control()));
        }
    }
    out.push_str(address.get(from..).unwrap_or_default());
    out
}

/// Whether the address goes on behind its host.
fn is_behind_host(address: &str) -> bool {
    address.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?', '#']))
}

fn encode(value: &str, out: &mut String) {
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
}
