//! Names, origins and values that are accepted.

use url::Url;

use super::Error;
use super::totp::Totp;

/// Maximum length of a name, in characters.
const LONGEST_NAME: usize = 64;
/// Length of a value, in characters. Shorter ones cannot be redacted: they occur in too many texts.
const SHORTEST_VALUE: usize = 4;
const LONGEST_VALUE: usize = 4_096;
/// Names of fields of one secret: their number, and length in characters.
const MOST_FIELDS: usize = 20;
const LONGEST_FIELD: usize = 200;

fn wrong(field: &'static str, problem: impl Into<String>) -> Error {
    Error::NotAccepted { field, problem: problem.into() }
}

/// Checks a name: letters, digits, `_`, `-` and `.`.
pub(super) fn name(name: &str) -> Result<(), Error> {
    let is_named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    match (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_named) {
        true => Ok(()),
        false => Err(wrong("name", "use 1 to 64 letters, digits, `_`, `-` or `.`, for example `shop_password`")),
    }
}

/// The origin of a text such as `https://example.com`, as browsers write it.
pub(super) fn origin(text: &str) -> Result<String, Error> {
    let example = "give the origin of the login page, for example https://example.com";
    let text = text.trim();
    let url = Url::parse(text).map_err(|_| {
        // It may contain a password.
        let given = if text.contains('@') { "the value".to_owned() } else { format!("{:?}", shortened(text)) };
        wrong("origin", format!("{given} is not a URL; {example}"))
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("origin", format!("only https:// and http:// addresses have logins; {example}")));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("origin", format!("it contains a user name or password; {example}")));
    }
    let origin = url.origin().ascii_serialization();
    if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("origin", format!("an origin has no path; give {origin}")));
    }
    Ok(origin)
}

/// The beginning of a text, to be quoted.
fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}

/// Names of fields, as they are compared.
pub(super) fn fields(fields: &[String]) -> Result<Vec<String>, Error> {
    let names: Vec<String> =
        fields.iter().map(|field| field.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    if names.len() > MOST_FIELDS || names.iter().any(|name| name.is_empty() || name.chars().count() > LONGEST_FIELD) {
        return Err(wrong(
            "field",
            format!(
                "give the label, the name or the id of a field, at most {MOST_FIELDS} of at most {LONGEST_FIELD} characters"
            ),
        ));
    }
    Ok(names)
}

/// Checks a value: a text, or the key of one-time codes.
pub(super) fn value(value: &str) -> Result<(), Error> {
    if Totp::is_meant(value) {
        return Totp::parse(value).map(drop).map_err(|problem| wrong("value", problem));
    }
    let length = value.chars().count();
    if length < SHORTEST_VALUE {
        return Err(wrong(
            "value",
            format!(
                "it has fewer than {SHORTEST_VALUE} characters; use at least {SHORTEST_VALUE}: shorter ones cannot be masked in answers"
            ),
        ));
    }
    if length > LONGEST_VALUE {
        return Err(wrong("value", format!("it has more than {LONGEST_VALUE} characters")));
    }
    if value.chars().any(char::is_control) {
        return Err(wrong(
            "value",
            "it contains a line break or another control character, which no login field takes",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_written_as_browsers_do() {
        for (text, expected) in [
            ("https://example.com", "https://example.com"),
            (" https://Example.COM:443/ ", "https://example.com"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("https://[::1]:8443", "https://[::1]:8443"),
        ] {
            assert_eq!(origin(text).unwrap(), expected);
        }
        for (text, part) in [
            ("example.com", "\"example.com\" is not a URL"),
            ("ada pw@example.com", "the value is not a URL"),
            ("", "is not a URL"),
            ("ftp://example.com", "only https://"),
            ("file:///etc/passwd", "only https://"),
            ("data:text/html,x", "only https://"),
            ("https://ada:pw@example.com", "user name"),
            ("https://example.com/login", "give https://example.com"),
            ("https://example.com/?a", "give https://example.com"),
        ] {
            let error = origin(text).unwrap_err().to_string();
            assert!(error.starts_with("origin: ") && error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn names_and_values_have_limits() {
        for text in ["a", "shop_password", "A.b-9"] {
            assert!(name(text).is_ok(), "{text}");
        }
        for text in ["", "a b", "a}}", "ä", "a/b", &"x".repeat(65)] {
            assert!(name(text).is_err(), "{text}");
        }
        for text in ["1234", "correct horse", "totp:JBSWY3DPEHPK3PXP"] {
            assert!(value(text).is_ok(), "{text}");
        }
        for text in ["", "123", "a\nbcd", "totp:", "totp:not base 32!", &"x".repeat(4_097)] {
            let error = value(text).unwrap_err().to_string();
            assert!(error.starts_with("value: "), "{error}");
            assert!(text.len() < 4 || !error.contains(text), "{error}");
        }
    }
}
