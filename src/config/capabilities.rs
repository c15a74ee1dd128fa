//! Names of WebDriver capabilities.

use serde_json::{Map, Value};

use super::nearest;

/// Those of the standard: <https://www.w3.org/TR/webdriver2/#capabilities>. Others have a vendor and a colon before them.
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

/// What is wrong with capabilities that are asked for. No value is in it.
///
/// # Errors
/// A sentence that names the capability.
pub fn check_capabilities(wanted: &Map<String, Value>) -> Result<(), String> {
    for (name, value) in wanted {
        if name == "unhandledPromptBehavior" {
            return Err(format!(
                "{name} cannot be set: dialogs are left to the dialog policy, so it is always `ignore`"
            ));
        }
        if matches!(name.as_str(), "browserName" | "browserVersion" | "platformName") && !value.is_string() {
            return Err(format!("{name} is a text"));
        }
        let is_vendors = name.split_once(':').is_some_and(|(vendor, rest)| !vendor.is_empty() && !rest.is_empty());
        if !is_vendors && !KNOWN.contains(&name.as_str()) {
            let shown: String = name.chars().take(80).collect();
            let meant = nearest(name, KNOWN).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            return Err(format!(
                "there is no capability {shown}{meant} Options of a vendor have a colon, as in goog:chromeOptions"
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
            (json!({ "platform": "s3cret" }), "there is no capability platform"),
            (json!({ ":x": "s3cret" }), "vendor"),
            (json!({ "browserName": ["s3cret"] }), "browserName is a text"),
            (json!({ "unhandledPromptBehavior": "accept" }), "always `ignore`"),
        ] {
            let problem = check(wanted).unwrap_err();
            assert!(problem.contains(words) && !problem.contains("s3cret"), "{problem}");
        }
    }
}
