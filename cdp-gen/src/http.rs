//! One GET over plain HTTP, for a debugging port.

use std::time::Duration;

use ureq::Agent;

use crate::error::Error;

/// For the connection.
const CONNECT: Duration = Duration::from_secs(5);
/// For the whole answer.
const WHOLE: Duration = Duration::from_secs(20);
/// The protocol description is 1.6 MB; ten times that is no description.
const LIMIT: u64 = 16 << 20;

/// The body of a successful answer, as text. No proxy is used and no redirect followed.
///
/// # Errors
/// The address is not plain `http://`, there is no response within 20 s, or it is not a success or exceeds 16 MiB.
pub fn get(url: &str) -> Result<String, Error> {
    if !url.starts_with("http://") {
        return Err(Error::http(url, "the address must begin with http://"));
    }
    let config = Agent::config_builder()
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(WHOLE))
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(true);
    let fail = |problem: ureq::Error| match problem {
        ureq::Error::StatusCode(status) => Error::http(url, format!("answered with status {status}")),
        problem => Error::http(url, problem),
    };
    let mut answer = Agent::new_with_config(config.build()).get(url).call().map_err(fail)?;
    if !answer.status().is_success() {
        return Err(fail(ureq::Error::StatusCode(answer.status().as_u16())));
    }
    answer.body_mut().with_config().limit(LIMIT).read_to_string().map_err(fail)
}
