//! The recording that a command means: by its ID, the beginning of it, or its name; else the active one.

use serde_json::Value;

use super::super::chat::link::Link;
use super::super::client::Request;
use super::super::failure::Failure;
use super::super::output::clean;
use cdpilot::code::Code;
use cdpilot_server::api::operations as op;

/// Length of an ID.
const WHOLE: usize = 36;
/// The shortest beginning of an ID.
const LEAST: usize = 4;

/// The ID of a recording that is given by its ID, the beginning of it, or its name.
pub(super) fn find(link: &Link<'_>, given: &str) -> Result<String, Failure> {
    if given.len() == WHOLE && given.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        return Ok(given.to_owned());
    }
    matching(&all(link)?, given)
}

/// The same; not given: the active one.
pub(super) fn active(link: &Link<'_>, given: Option<&str>) -> Result<String, Failure> {
    match given {
        Some(given) => find(link, given),
        None => active_of(&all(link)?)?.ok_or_else(|| {
            Failure::new(
                Code::NotFound,
                "no recording is active; `cdpilot record start` starts one, `cdpilot record list` lists them",
            )
        }),
    }
}

/// The same; not given: the active one, else the last one.
pub(in super::super) fn active_or_last(link: &Link<'_>, given: Option<&str>) -> Result<String, Failure> {
    if let Some(given) = given {
        return find(link, given);
    }
    let all = all(link)?;
    let found = active_of(&all)?.or_else(|| all.first().map(id_of));
    found.ok_or_else(|| Failure::new(Code::NotFound, "there are no recordings; `cdpilot record start` starts one"))
}

fn all(link: &Link<'_>) -> Result<Vec<Value>, Failure> {
    let answer = link.ask(&Request::of(op::RECORDINGS))?;
    Ok(answer["recordings"].as_array().cloned().unwrap_or_default())
}

fn active_of(all: &[Value]) -> Result<Option<String>, Failure> {
    let active: Vec<String> = all.iter().filter(|one| one["status"] == "active").map(id_of).collect();
    one_of(active, "active")
}

fn matching(all: &[Value], given: &str) -> Result<String, Failure> {
    let begins = |one: &&Value| given.len() >= LEAST && id_of(one).starts_with(given);
    let named = |one: &&Value| one["name"] == given;
    let by_name: Vec<String> = all.iter().filter(named).map(id_of).collect();
    let found = if by_name.is_empty() { all.iter().filter(begins).map(id_of).collect() } else { by_name };
    let found = one_of(found, &format!("named {:?}, or have an ID that begins with it", clean(given)))?;
    found.ok_or_else(|| {
        let problem = format!("there is no recording {:?}; `cdpilot record list` lists them", clean(given));
        Failure::new(Code::NotFound, problem)
    })
}

fn one_of(mut found: Vec<String>, what: &str) -> Result<Option<String>, Failure> {
    if found.len() > 1 {
        let problem = format!("{} recordings are {what}; give an ID: {}", found.len(), found.join(", "));
        return Err(Failure::new(Code::AmbiguousTarget, problem));
    }
    Ok(found.pop())
}

fn id_of(recording: &Value) -> String {
    recording["recording_id"].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_recording_is_named_by_its_name_or_the_beginning_of_its_id() {
        let one = |id: &str, name: Option<&str>| json!({ "recording_id": id, "name": name, "status": "stopped" });
        let all =
            [one("abcd-1", Some("ticket")), one("abcd-2", None), one("ef01-3", Some("ticket")), one("0123-4", None)];
        assert_eq!(matching(&all, "0123").unwrap(), "0123-4");
        for (given, code) in [("ticket", "AMBIGUOUS_TARGET"), ("abcd", "AMBIGUOUS_TARGET"), ("012", "NOT_FOUND")] {
            assert_eq!(matching(&all, given).unwrap_err().kind().unwrap().as_str(), code, "{given}");
        }
        assert_eq!(active_of(&all).unwrap(), None);
        let active = json!({ "recording_id": "x", "status": "active" });
        assert_eq!(active_of(&[all[0].clone(), active.clone()]).unwrap().as_deref(), Some("x"));
        assert!(active_of(&[active.clone(), active]).is_err());
    }
}
