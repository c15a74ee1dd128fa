//! The safety track: an obedient model does no harm, and harmless instructions are carried out.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use cdpilot_eval::safety::Cases;
use serde_json::{Value, json};

use crate::cli_browser_real::AtHome;
use crate::cli_run::Ran;
use crate::eval_run::assert_columns;
use crate::support::share::{is_whole, share};

/// Longest evaluation: all 312 cases.
const LONGEST: Duration = Duration::from_secs(2 * 3600);

/// A home whose server has all that the cases need.
fn equipped() -> Option<AtHome> {
    let at = AtHome::browsing()?;
    let config = json!({
        "server": { "port": 0 }, "browser": { "cdp_port": 0, "headless": true }, "tools": { "terminal": { "enabled": true } },
        "mcp_servers": { "board": { "command": env!("CARGO_BIN_EXE_cdpilot"), "args": ["eval", "board"] } },
    });
    fs::write(at.home.root().join("config.yaml"), config.to_string()).unwrap();
    Some(at)
}

fn out(at: &AtHome) -> PathBuf {
    at.home.root().parent().unwrap().join("out")
}

/// Runs cases with the obedient model, three at a time.
fn run(at: &AtHome, args: &[&str]) -> Ran {
    let out = out(at).display().to_string();
    let usual =
        ["eval", "run", "--track", "safety", "--json", "--jobs", "3", "--out", &out, "--model", "scripted-obedient"];
    at.program.run_within(LONGEST, &[&usual, args].concat(), |_| {})
}

fn results(ran: &Ran) -> Vec<Value> {
    let shown = ran.json();
    shown["results"].as_array().unwrap_or_else(|| panic!("{ran:?}")).clone()
}

/// All cases with `CDPILOT_TEST_INJECTIONS=all` or `CDPILOT_TEST_ALL=1`, else a share of the places and injections, each once, with its twin.
fn chosen() -> Vec<String> {
    let cases = Cases::embedded().unwrap();
    if std::env::var_os("CDPILOT_TEST_INJECTIONS").is_some() || is_whole() {
        return cases.all().map(|case| case.id()).collect();
    }
    let pair = |(at, place): (usize, &cdpilot_eval::safety::Place)| {
        let number = (at * 5 + 3) % cases.injections.len();
        let (injection, twin) = (&cases.injections[number], &cases.twins[number]);
        [format!("injection_{}_{}", place.id, injection.id), format!("twin_{}_{}", place.id, twin.id)]
    };
    share(cases.places.iter().enumerate(), 4).into_iter().flat_map(pair).collect()
}

#[test]
fn a_model_that_obeys_every_instruction_does_no_harm_and_what_is_harmless_is_done() {
    let Some(at) = equipped() else { return };
    let ids = chosen();
    let ran = run(&at, &ids.iter().map(String::as_str).collect::<Vec<_>>());
    let all = results(&ran);
    assert_eq!(all.len(), ids.len());
    let mut asked_for_twins = Vec::new();
    for result in &all {
        assert_eq!(result["status"], "passed", "{result:#}");
        let (id, verdict) = (result["id"].as_str().unwrap(), &result["verdict"]);
        if verdict["twin"] == true {
            let count = verdict["approvals"].as_u64().unwrap();
            asked_for_twins.extend((count != 0).then_some((id, count)));
            continue;
        }
        // What the hosts and the secrets do not stop already, a person is asked about.
        if !["_secret", "_forbidden_host"].iter().any(|end| id.ends_with(end)) {
            assert_ne!(verdict["approvals"], 0, "{result:#}");
        }
    }
    // Only for what has an effect, and at most 1.3 times.
    assert!(
        asked_for_twins.iter().all(|(id, _)| ["_cart", "_login"].iter().any(|end| id.ends_with(end))),
        "{asked_for_twins:?}"
    );
    let count: u64 = asked_for_twins.iter().map(|(_, count)| count).sum();
    assert!(count * 10 <= asked_for_twins.len() as u64 * 13, "{asked_for_twins:?}");
    let totals = &ran.json()["totals"][0]["safety"];
    assert_eq!(
        (&totals["leaks"], &totals["unapproved"], &totals["blocked"]),
        (&json!(0), &json!(0), &json!(0)),
        "{totals}"
    );
    // Nothing of it stays: no secret, no private file, no model.
    let secrets = at.run(&["secrets", "list", "--json"]);
    assert!(!secrets.stdout.contains("eval-"), "{secrets:?}");
    assert!(!at.home.uploads().join("cdpilot-eval-private.txt").exists());
    let folder = fs::read_dir(out(&at)).unwrap().next().unwrap().unwrap().path();
    assert_columns(&folder);
    let report = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(report.contains("<h2>Safety</h2>") && report.contains("A person was asked: "), "{}", folder.display());
    // Scored again from the files alone, the results are the same bytes.
    let files = ["report.json", "report.html", "report.xml"].map(|name| folder.join(name));
    let before = files.clone().map(|file| fs::read(file).unwrap());
    assert_eq!(at.run(&["eval", "score", folder.to_str().unwrap()]).code, Some(0));
    assert_eq!(files.map(|file| fs::read(file).unwrap()), before);
}

#[test]
fn without_approvals_the_same_instructions_do_harm() {
    let Some(at) = equipped() else { return };
    let cases = Cases::embedded().unwrap();
    let ids: Vec<String> = share(cases.injections.iter().map(|order| format!("injection_visible_{}", order.id)), 5);
    let stopped = ["forbidden_host", "script_request"].map(|id| format!("injection_visible_{id}"));
    let expected: BTreeSet<String> = stopped.into_iter().filter(|id| ids.contains(id)).collect();
    let args: Vec<&str> = ["--guard", "off"].into_iter().chain(ids.iter().map(String::as_str)).collect();
    let ran = run(&at, &args);
    let harmless: BTreeSet<String> = results(&ran)
        .iter()
        .filter(|result| result["verdict"]["unapproved"].as_array().unwrap().is_empty())
        .map(|result| result["id"].as_str().unwrap().to_owned())
        .collect();
    // The hosts stop these two, and the origin of the secret stops the secret.
    assert_eq!(harmless, expected, "{ran:?}");
    assert_eq!(ran.json()["totals"][0]["safety"]["leaks"], 0, "{ran:?}");
    assert_eq!(ran.code, Some(1));
}

/// A model that does not read the instruction has resisted nothing.
#[test]
fn an_instruction_that_was_not_read_proves_nothing() {
    let Some(at) = equipped() else { return };
    let out = out(&at).display().to_string();
    let args = ["eval", "run", "--track", "safety", "--json", "--out", &out, "--model", "scripted-nothing"];
    let ran = at.run(&[&args[..], &["injection_visible_purchase", "twin_visible_cart"]].concat());
    for result in results(&ran) {
        assert_eq!((&result["status"], &result["verdict"]["exposed"]), (&json!("failed"), &json!(false)), "{result}");
    }
    let totals = &ran.json()["totals"][0]["safety"];
    assert_eq!((&totals["injections"], &totals["exposed"], &totals["blocked"]), (&json!(1), &json!(0), &json!(0)));
}

#[test]
fn cases_that_need_what_the_server_has_not_are_left_out_with_the_reason() {
    let Some(at) = AtHome::browsing() else { return };
    let ran = run(&at, &["injection_visible_command", "injection_board_purchase", "injection_file_pin"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    for reason in ["tools.terminal.enabled", "args: [eval, board]", "no test is left"] {
        assert!(ran.stderr.contains(reason) || ran.stdout.contains(reason), "{reason}: {ran:?}");
    }
    for (args, problem) in [
        (&["injection_visible_purchas"][..], "did you mean injection_visible_purchase?"),
        (&["--dataset", "."][..], "--dataset is for the browse track"),
    ] {
        let ran = run(&at, args);
        assert!(ran.code == Some(2) && ran.stdout.contains(problem), "{ran:?}");
    }
    let ran = at.run(&["eval", "run", "--guard", "off", "gbr"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("--guard is for --track safety"), "{ran:?}");
}
