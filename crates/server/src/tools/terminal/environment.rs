//! Environment variables of commands: those of cdpilot, without secrets.

use std::ffi::OsString;

use cdpilot::redact::Secrets;

/// Parts of names of variables that hold secrets or give access to some.
const WORDS: [&str; 9] = ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE", "CERT"];
/// Prefix of cdpilot's own variables.
const OWN: &str = "CDPILOT_";
/// Variables that make programs write plain text and never prompt.
const SET: [(&str, &str); 5] =
    [("TERM", "dumb"), ("NO_COLOR", "1"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")];

/// The variables of this process without secrets, and those that make output easy to read.
pub(super) fn scrubbed(secrets: &Secrets) -> Vec<(OsString, OsString)> {
    let ours = std::env::vars_os()
        .filter(|(name, value)| may_have(&name.to_string_lossy(), &value.to_string_lossy(), secrets));
    ours.chain(SET.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)))).collect()
}

fn may_have(name: &str, value: &str, secrets: &Secrets) -> bool {
    let name = name.to_ascii_uppercase();
    let is_secret = WORDS.iter().any(|word| name.contains(word)) || name.starts_with(OWN);
    // Excludes URLs with a password and values that look like tokens.
    !is_secret && *secrets.cover(value) == *value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_behind_by_name_and_by_form() {
        let secrets = Secrets::new(["hunter22"]);
        for (name, value, stays) in [
            ("PATH", "/usr/bin:/bin", true),
            ("PWD", "/home/ada", true),
            ("LANG", "de_DE.UTF-8", true),
            ("HTTPS_PROXY", "http://proxy.test:3128", true),
            ("HTTPS_PROXY", "http://ada:geheim@proxy.test:3128", false),
            ("OPENAI_API_KEY", "x", false),
            ("github_token", "x", false),
            ("PGPASSWORD", "x", false),
            ("SSH_AUTH_SOCK", "x", false),
            ("CDPILOT_HOME", "x", false),
            ("NOTE", "say hunter22", false),
        ] {
            assert_eq!(may_have(name, value, &secrets), stays, "{name}={value}");
        }
    }
}
