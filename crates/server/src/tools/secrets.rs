//! Secrets that are redacted in results of tools: API keys of models, credentials in the URL of the search instance,
//! and values in the environments of MCP servers.

use std::net::{IpAddr, SocketAddr};

use base64::Engine as _;
use percent_encoding::percent_decode_str;
use url::Url;

use crate::config::Config;
use crate::control::Control;
use crate::llm::{Model, Models};
use cdpilot::redact::{ChangingSecrets, Secrets};

/// Parts of variable names that mark a secret, whatever its value looks like.
const SECRET_NAMES: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH"];
/// Variables that hold no secrets.
const PLAIN_NAMES: [&str; 12] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "NODE_ENV", "LOG_LEVEL", "RUST_LOG"];
/// Values that are options of programs, not secrets.
const PLAIN_VALUES: [&str; 12] = [
    "default",
    "development",
    "disable",
    "disabled",
    "enable",
    "enabled",
    "localhost",
    "production",
    "staging",
    "testing",
    "verbose",
    "warning",
];
/// Minimum length of a value that is treated as a secret regardless of its variable, in characters.
const SHORTEST: usize = 6;
/// Minimum length of a part of a URL that may be a key, in characters.
const LONG_PART: usize = 16;

/// The secrets to redact in results of tools: those of the browsers, keys and headers of models, and values in the
/// environments of MCP servers. An invalid `llm.json` adds no keys, since its models are not used.
#[must_use]
pub fn secrets(control: &Control) -> Secrets {
    let models = Models::of(control.home()).unwrap_or_default();
    control.secrets().and(of_config(control.config())).and(of_models(&models))
}

/// Like [`secrets`], with those of models as they are at the time of use.
pub(crate) fn secrets_with(control: &Control, of_models: &ChangingSecrets) -> Secrets {
    control.secrets().and(of_config(control.config())).including(of_models)
}

/// The secrets of models: keys, headers, and credentials in their URLs.
pub(crate) fn of_models(models: &Models) -> Vec<String> {
    let of_model = |model: &Model| {
        let named = model.api_key_env.as_ref().and_then(|name| std::env::var(name).ok());
        let headers = model.headers.iter().filter(|(name, value)| is_secret(name, value));
        let headers = headers.map(|(_, value)| value.clone());
        let keys = model.api_key.clone().into_iter().chain(named).chain(headers);
        keys.chain(of_address(&model.base_url)).collect::<Vec<_>>()
    };
    models.models.values().flat_map(of_model).collect()
}

/// The secrets in the configuration.
pub(super) fn of_config(config: &Config) -> Vec<String> {
    let given = config.mcp_servers.values().flat_map(|server| server.env.iter());
    let given = given.filter(|(name, value)| is_secret(name, value)).map(|(_, value)| value.clone());
    config.tools.search.url.as_deref().map(of_address).unwrap_or_default().into_iter().chain(given).collect()
}

/// The secrets in a URL: its password, the encoded login, and keys in its query, each as written and decoded.
fn of_address(text: &str) -> Vec<String> {
    let Ok(url) = Url::parse(text) else { return Vec::new() };
    let mut all = Vec::new();
    if let Some(password) = url.password().filter(|password| !password.is_empty()) {
        let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let pair = format!("{}:{}", plain(url.username()), plain(password));
        all.extend([plain(password), password.to_owned()]);
        all.push(base64::engine::general_purpose::STANDARD.encode(pair));
    }
    let pairs = url.query_pairs().filter(|(name, value)| is_secret(name, value));
    for (_, value) in pairs {
        all.extend([value.to_string(), url::form_urlencoded::byte_serialize(value.as_bytes()).collect()]);
    }
    all
}

/// Whether a value is treated as a secret: by the name of its variable, or if it is long enough and not known to be
/// harmless.
fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    if SECRET_NAMES.iter().any(|word| name.contains(word)) {
        return true;
    }
    let is_plain = PLAIN_NAMES.contains(&name.as_str()) || name.starts_with("LC_");
    value.chars().count() >= SHORTEST && !is_plain && !is_harmless(value.trim())
}

/// Whether a value is a number, a boolean, a path, a URL without a key, or a list of these.
fn is_harmless(value: &str) -> bool {
    PLAIN_VALUES.contains(&value.to_ascii_lowercase().as_str())
        || value.parse::<f64>().is_ok()
        || is_place(value)
        || is_address(value)
        || is_path(value)
        || value.split([':', ';']).all(is_path)
        || (value.contains(',')
            && value.split(',').all(|part| is_harmless(part.trim()) || part.trim().len() < SHORTEST))
}

/// Whether the value is a host with an optional port: `127.0.0.1`, `[::1]:80`, `localhost:8080`.
fn is_place(value: &str) -> bool {
    let of_localhost = |port: &str| port.parse::<u16>().is_ok();
    value.parse::<IpAddr>().is_ok()
        || value.parse::<SocketAddr>().is_ok()
        || value.strip_prefix("localhost:").is_some_and(of_localhost)
}

fn is_path(value: &str) -> bool {
    let drive = value.as_bytes().get(1..3).is_some_and(|drive| drive == b":\\" || drive == b":/");
    let rooted = ["/", "./", "../", "~/"].iter().any(|root| value.starts_with(root)) || drive;
    let in_path = |c: char| c.is_alphanumeric() || " /\\._-~:@()".contains(c);
    rooted && value.chars().all(in_path)
}

/// Whether the value is a URL without user, query or fragment, and without a part that looks like a key.
fn is_address(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once("://") else { return false };
    let parts = || rest.split(['/', '.', ':']);
    let may_be_key = |part: &str| part.len() >= LONG_PART && part.chars().any(|c| c.is_ascii_digit());
    scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !rest.contains(['@', '?', '#', '='])
        && !parts().any(may_be_key)
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn values_of_environments_are_secrets_unless_they_are_plainly_not() {
        for (name, value) in [
            ("NOTES_KEY", "abc"),
            ("ACCOUNT", "correcthorse"),
            ("LICENCE", "a1b2c3"),
            ("DATABASE_URL", "postgres://ada:lovelace@db.test/notes"),
            ("WEBHOOK", "https://hooks.test/services/T0001/XyZ12abcDEF34ghiJKL"),
            ("ENDPOINT", "https://api.test/v1?key=abc"),
            ("WORD", "/not+a=path"),
            ("REGION", "eu-central-1"),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("ACCOUNT", "ada"),
            ("DEBUG", "true"),
            ("TIMEOUT", "300000"),
            ("RATIO", "0.123456"),
            ("MODE", "Production"),
            ("PATH", "/usr/local/bin:/usr/bin"),
            ("NOTES_DIR", "/home/ada/notes"),
            ("NOTES_DIR", "C:\\Users\\ada"),
            ("ENDPOINT", "https://api.example.test:8443/v1"),
            ("LISTEN", "127.0.0.1:8080"),
            ("LISTEN", "localhost:8080"),
            ("TZ", "Europe/Berlin"),
            ("LC_ALL", "de_DE.UTF-8"),
            ("FOLDERS", "/home/ada/notes,/home/ada/tasks"),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }
}
