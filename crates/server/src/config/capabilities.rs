//! Names of WebDriver capabilities.

use serde_json::{Map, Value};

use super::nearest;

/// The standard capabilities: <https://www.w3.org/TR/webdriver2/#capabilities>. Others have a vendor prefix with a
/// colon.
const KNOWN: [&str; 11] = [
    "acceptInsecureCerts",
    "browserName",
    "browserVersion",
    "pageLoadStrategy",
    "platformName",
    "proxy",
    "setWindowRect",
    "strictFileInteractability",
    "timeouts",
    "unhandledPromptBehavior",
    "webSocketUrl",
];

/// Checks the names of requested capabilities.
///
/// # Errors
/// A message that names the capability, without its value.
pub fn check_capabilities(wanted: &Map<String, Value>) -> Result<(), String> {
    for (name, value) in wanted {
        if name == "unhandledPromptBehavior" {
            return Err(format!("{name} cannot be set: the dialog policy handles dialogs, so it is always `ignore`"));
        }
        if matches!(name.as_str(), "browserName" | "browserVersion" | "platformName") && !value.is_string() {
            return Err(format!("{name} must be a string"));
        }
        let is_vendors = name.split_once(':').is_some_and(|(vendor, rest)| !vendor.is_empty() && !rest.is_empty());
        if !is_vendors && !KNOWN.contains(&name.as_str()) {
            let shown: String = name.chars().take(80).collect();
            let hint = nearest(name, KNOWN).map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
            return Err(format!(
                "unknown capability {shown}{hint}; vendor capabilities contain a colon, such as goog:chromeOptions"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_those_of_the_standard_or_of_a_vendor() {
        let check = |wanted: Value| check_capabilities(wanted.as_object().unwrap());
        check(
            json!({ "browserName": "chrome", "platformName": "linux", "se:name": "s3cret", "goog:chromeOptions": {} }),
        )
        .unwrap();
        for (wanted, words) in [
            (json!({ "browsername": "s3cret" }), "did you mean browserName?"),
            (json!({ "platform": "s3cret" }), "unknown capability platform"),
            (json!({ ":x": "s3cret" }), "vendor"),
            (json!({ "browserName": ["s3cret"] }), "browserName must be a string"),
            (json!({ "unhandledPromptBehavior": "accept" }), "always `ignore`"),
        ] {
            let problem = check(wanted).unwrap_err();
            assert!(problem.contains(words) && !problem.contains("s3cret"), "{problem}");
        }
    }
}
