//! Runs that nobody watches: approvals, being told, and the end of a run that waits too long.

use cdpilot_server::config::Confirm;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::recording_capture::Stage;
use crate::replay_fast::{Made, STYLE, Task, event, statuses};
use crate::support::agent_plan::Do;
use crate::support::api::TestServer;

fn payment(served: &TestServer) {
    let form = "<form method=post action=/pay><label>Amount <input name=amount></label> <button>Pay</button></form>";
    served.site.page("/", &format!("{STYLE}<title>Payment</title>{form}"));
    served.site.page("/pay", &format!("{STYLE}<title>Paid</title><p>Thank you.</p>"));
}

const TEXT: &str = "\n## Inputs\n- amount (default 12)\n\n## Step 1: Say how much\nType {{amount}} into Amount.\n\n## Step 2: Pay\nPress Pay.\n";

fn made(served: TestServer) -> Made {
    let work = |stage: &Stage| {
        stage.person.click("document.querySelector('input')");
        stage.person.write("12");
        stage.person.click("document.querySelector('button')");
        let path = stage.path("/events?limit=5000");
        stage.served.api.until("the receipt", &path, |answer| answer.to_string().contains("\"Paid\""));
    };
    let steps =
        |events: &[Value]| json!({ "1": [event(events, "input", "Amount")], "2": [event(events, "click", "\"Pay\"")] });
    Made::on(served, &Task { pages: &payment, work: &work, text: TEXT, steps: &steps })
}

fn paid(made: &Made) -> usize {
    let all = made.stage.served.site.heads("a.localhost/pay");
    all.iter().filter(|head| head.starts_with("POST")).count()
}

fn report(made: &Made, run: &str) -> Value {
    made.stage.served.api.get(&format!("/routines/{}/runs/{run}", made.routine)).ok()
}

/// Answers the question of a run, and waits until the run has ended.
pub(crate) fn decide(made: &Made, run: &str, question: &Value, decision: &str) -> Value {
    let api = &made.stage.served.api;
    let body = json!({ "approval_id": question["approval_id"], "decision": decision });
    api.post(&format!("/agent/conversations/{run}/answer"), &body).ok();
    let path = format!("/routines/{}/runs/{run}", made.routine);
    api.until("the end of the run", &path, |report| !report["ended_at"].is_null())
}

#[test]
fn an_effect_of_a_run_without_a_model_waits_for_its_approval() {
    let Some(served) = TestServer::browsing_with(|config, _| config.agent.confirm = Confirm::Never) else { return };
    let mut made = made(served);
    let before = paid(&made);
    let (run, question) = made.waiting(&json!({ "model": "none", "login": "own", "inputs": { "amount": "15" } }));
    assert_eq!(question["kind"], "approval", "{question:#}");
    let message = question["message"].as_str().unwrap();
    assert!(message.starts_with("The routine wants to"), "{message}");
    assert_eq!(question["values"], json!({ "Amount": "15" }));
    assert_eq!((report(&made, &run)["status"].as_str(), paid(&made)), (Some("waiting"), before));
    let ended = decide(&made, &run, &question, "once");
    assert_eq!(statuses(&ended), ["done fast", "done fast"], "{ended:#}");
    assert_eq!(paid(&made), before + 1);
    // The question outlives the server, what was typed into the page does not: an empty form is not sent.
    let (run, question) = made.waiting(&json!({ "model": "none", "login": "own", "inputs": { "amount": "16" } }));
    made.stage.served.restart();
    assert_eq!(report(&made, &run)["status"], "waiting");
    let ended = decide(&made, &run, &question, "once");
    assert_eq!((&ended["status"], &ended["code"]), (&json!("failed"), &json!("INTERRUPTED")), "{ended:#}");
    assert_eq!(paid(&made), before + 1);
    // Without the approval, nothing is sent.
    let (run, question) = made.waiting(&json!({ "model": "none", "login": "own" }));
    let ended = decide(&made, &run, &question, "refuse");
    assert_eq!((&ended["status"], &ended["code"]), (&json!("failed"), &json!("APPROVAL_REFUSED")), "{ended:#}");
    assert_eq!(paid(&made), before + 1);
    // What is allowed for the routine needs no approval in later runs.
    let (run, question) = made.waiting(&json!({ "model": "none", "login": "own" }));
    assert_eq!(decide(&made, &run, &question, "routine")["status"], "done");
    let report = made.fast(json!({ "amount": "17" }));
    assert_eq!((&report["status"], paid(&made)), (&json!("done"), before + 3), "{report:#}");
}

#[cfg(unix)]
#[test]
fn a_person_is_told_that_a_run_waits_and_it_ends_after_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("told.json");
    // A rename is seen as a whole.
    let command = format!("cat > {0}.part && mv {0}.part {0}", told.display());
    let served = TestServer::browsing_with(|config, _| {
        config.agent.confirm = Confirm::Never;
        config.routines.notify = Some(command);
    });
    let Some(served) = served else { return };
    let mut made = made(served);
    let (run, _) = made.waiting(&json!({ "model": "none", "login": "own" }));
    made.stage.served.api.until("the message", "/", |_| told.exists());
    let message: Value = serde_json::from_str(&std::fs::read_to_string(&told).unwrap()).unwrap();
    let given = ["event", "run_id", "routine_id", "routine", "step", "kind"].map(|name| message[name].clone());
    let expected = [json!("run_waiting"), json!(run), json!(made.routine), json!("made"), json!(2), json!("approval")];
    assert_eq!(given, expected, "{message:#}");
    assert!(message["question"].as_str().unwrap().contains("Pay"), "{message:#}");
    // A day later.
    let database = made.stage.served.home.database();
    made.stage.served.restart_after(|| {
        let changed = Connection::open(&database).unwrap();
        changed.execute("UPDATE questions SET asked_at = asked_at - 86401", []).unwrap();
    });
    let path = format!("/routines/{}/runs/{run}", made.routine);
    let ended = made.stage.served.api.until("the end of the run", &path, |report| report["status"] != "waiting");
    assert_eq!((&ended["status"], &ended["code"]), (&json!("failed"), &json!("LIMIT_REACHED")), "{ended:#}");
    assert!(ended["steps"][1]["cause"]["found"].as_str().unwrap().contains("24 hours"), "{ended:#}");
    assert_eq!(paid(&made), 1, "only the person has paid");
}

/// What a model does is recorded while it helps; nothing of that outlives the run.
#[test]
fn a_run_that_is_stopped_while_it_waits_leaves_no_recording() {
    let Some(served) = TestServer::browsing_with(|config, _| config.agent.confirm = Confirm::Never) else { return };
    let made = made(served);
    let site = &made.stage.served.site;
    site.page("/", &format!("{STYLE}<title>Payment</title><label>Sum <input name=amount></label>"));
    let blocked = Do::Call("routine_step", json!({ "command": "blocked", "n": 1, "note": "There is no Amount." }));
    made.plan(vec![blocked]);
    let (run, question) = made.waiting(&json!({ "login": "own" }));
    assert_eq!(question["kind"], "help", "{question:#}");
    let api = &made.stage.served.api;
    assert_eq!(api.get("/recordings").ok()["count"], 2);
    api.post(&format!("/agent/conversations/{run}/stop"), &json!({})).ok();
    assert_eq!(report(&made, &run)["status"], "stopped");
    assert_eq!(api.get("/recordings").ok()["count"], 1);
}
