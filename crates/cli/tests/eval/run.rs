//! `cdpilot eval`: the command, with a model that follows a script and a dataset of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cdpilot::sync::pause;
use serde_json::{Value, json};

use crate::cli_browser_real::AtHome;
use crate::cli_run::{Ran, has_browser, kill};
use crate::support::eval_model::{EvalModel, Turn};
#[cfg(unix)]
use crate::support::share::rounds;

/// A home, a dataset and a site.
struct Stand {
    at: AtHome,
    _model: EvalModel,
    root: PathBuf,
}

const PAGE: &str = "<!doctype html><title>Shop</title><link rel=icon href=data:,><script src=/js/run.js></script><script src=/js/tracker.js></script>
    <button id=buy>Buy</button><script>window.tracker = new AgentTracker('shop', 'easy'); buy.onclick = () => tracker.track('bought', { n: 1 })</script>";

fn yaml(id: &str, seconds: f64) -> String {
    format!(
        "id: {id}\nname: Buy\ndescription: Buy something\ndifficulty: easy\nstart_url: \"{{{{a}}}}/shop/\"\ninstruction: Buy it ({id}).\ntime_limit: {seconds}\n\
         cost_limit: 0.5\ncurrency: USD\ncriteria:\n  - {{description: It is bought, points: 4, expected: {{event_type: bought}}}}\n\
         \x20 - {{description: Twice, points: 1, expected: {{event_type: count_min, condition: bought, count: 2}}, optional: true}}\n"
    )
}

impl Stand {
    /// With a leased browser. `None` if there is no browser here and none is required.
    fn new(ids: &[(&str, f64)], answer: impl Fn(&str, usize) -> Turn + Send + Sync + 'static) -> Option<Self> {
        Some(Self::at(AtHome::browsing()?, ids, answer))
    }

    fn at(at: AtHome, ids: &[(&str, f64)], answer: impl Fn(&str, usize) -> Turn + Send + Sync + 'static) -> Self {
        let model = EvalModel::new(answer);
        let root = at.home.root().parent().unwrap().to_owned();
        let price = json!({ "input": 100.0, "output": 0.0, "currency": "USD" });
        let models = json!({ "models": {
            "one": { "model": "m", "base_url": model.url(), "price": price },
            "free": { "model": "f", "base_url": model.url() },
            "gone": { "model": "g", "base_url": "http://127.0.0.1:9/v1?key=sk-hidden" },
        }, "default": "one" });
        fs::write(at.home.root().join("llm.json"), models.to_string()).unwrap();
        for folder in ["tests", "sites/shop"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("sites/shop/index.html"), PAGE).unwrap();
        for (id, seconds) in ids {
            fs::write(root.join(format!("tests/{id}.yaml")), yaml(id, *seconds)).unwrap();
        }
        Self { at, _model: model, root }
    }

    fn args(&self, more: &[&str]) -> Vec<String> {
        let path = |name: &str| self.root.join(name).display().to_string();
        let usual =
            ["eval", "run", "--sites", &path("sites"), "--out", &path("out"), "--dataset", &path("tests"), "--json"];
        usual.iter().chain(more).map(|arg| (*arg).to_owned()).collect()
    }

    fn run(&self, more: &[&str]) -> Ran {
        let args = self.args(more);
        self.at.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The folder of an evaluation that has a plan; others were interrupted before they began.
    fn planned(&self) -> Option<PathBuf> {
        let all = fs::read_dir(self.root.join("out")).into_iter().flatten().flatten();
        all.map(|entry| entry.path()).find(|folder| folder.join("plan.json").is_file())
    }

    /// The arguments that begin an evaluation, or continue the one that was begun.
    fn next_args(&self) -> Vec<String> {
        let begin = self.args(&["--toolsets", "visual,browser"]);
        let Some(folder) = self.planned() else { return begin };
        let path = |name: &str| self.root.join(name).display().to_string();
        let folder = folder.display().to_string();
        ["eval", "run", "--resume", &folder, "--sites", &path("sites"), "--dataset", &path("tests"), "--json"]
            .map(str::to_owned)
            .to_vec()
    }

    /// Waits until the run of the test `a` has its conversation.
    #[cfg(unix)]
    fn wait_for_conversation(&self) {
        let until = crate::support::soon();
        while !self.planned().is_some_and(|folder| folder.join("one/a/conversation.txt").is_file()) {
            assert!(!until.passed(), "no conversation");
            pause(Duration::from_millis(10)); // nothing signals that a file is there
        }
    }

    /// The results so far, by their files.
    fn results(&self) -> BTreeMap<PathBuf, String> {
        let runs = self.planned().into_iter().flat_map(|folder| fs::read_dir(folder.join("one")).into_iter().flatten());
        let files = runs.flatten().map(|run| run.path().join("result.json")).filter(|file| file.is_file());
        files.map(|file| (file.clone(), fs::read_to_string(&file).unwrap())).collect()
    }

    /// Only the tab with which a browser starts is open.
    fn assert_no_tab_left(&self) {
        let answer = self.at.run(&["browser", "tabs", "--json"]).json();
        let tabs = answer["tabs"].as_array().unwrap();
        assert!(tabs.iter().all(|tab| tab["url"] == "about:blank") && tabs.len() < 2, "{answer}");
    }

    /// The folder of the only evaluation.
    fn folder(&self) -> PathBuf {
        let all: Vec<PathBuf> =
            fs::read_dir(self.root.join("out")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }
}

/// Buys once: opens the address of the task, looks for the button and clicks it.
fn buys(task: &str, answers: usize) -> Turn {
    let url = task.trim_start_matches("Open ").split(".\n").next().unwrap_or_default().to_owned();
    match answers {
        0 => Turn::Call("tab", json!({ "action": "init", "url": url })),
        1 => Turn::Call("browser_snapshot", json!({})),
        2 => Turn::Call("browser_click", json!({ "ref": "e1" })),
        _ => Turn::Say("Bought."),
    }
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

/// Each row of the tables of a report has as many cells as its header.
pub(crate) fn assert_columns(folder: &Path) {
    let report = fs::read_to_string(folder.join("report.html")).unwrap();
    let count = |row: &str| row.matches("<th").count() + row.matches("<td").count();
    let mut rows = 0;
    for table in report.split("<table").skip(1) {
        let table = table.split("</table>").next().unwrap();
        let (head, body) = table.split_once("</thead>").unwrap();
        for row in body.split("<tr>").skip(1) {
            assert_eq!(count(row), count(head) - 1, "{head}\n{row}"); // thead is no cell
            rows += 1;
        }
    }
    assert!(rows > 1, "{report}");
}

#[test]
fn a_run_is_scored_by_what_its_pages_report_and_scored_again_the_same() {
    let stand = Stand::new(&[("buy", 60.0), ("skip", 60.0)], |task, answers| {
        if task.contains("(skip)") { Turn::Say("No.") } else { buys(task, answers) }
    });
    let Some(stand) = stand else { return };
    let ran = stand.run(&["--model", "one", "--model", "free", "--jobs", "2", "--toolsets", "visual,browser"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let shown = ran.json();
    let of = |id: &str, model: &str| {
        let all = shown["results"].as_array().unwrap();
        all.iter().find(|result| result["id"] == id && result["model"] == model).unwrap().clone()
    };
    let bought = of("buy", "one");
    assert_eq!(
        (&bought["score"], &bought["max"], &bought["passed"]),
        (&json!(4.0), &json!(5.0), &json!(true)),
        "{bought}"
    );
    assert_eq!(
        (&bought["timed_out"], &bought["cost"]),
        (&json!(false), &json!(0.4)),
        "4 answers of 1,000 tokens at 100 a million"
    );
    assert!((bought["usage"].as_f64().unwrap() - 0.2).abs() < 1e-6, "{bought}");
    let free = of("buy", "free");
    assert_eq!((&free["cost"], &free["usage"], &free["composite"]), (&Value::Null, &Value::Null, &Value::Null));
    let skipped = of("skip", "one");
    assert_eq!(
        (&skipped["score"], &skipped["passed"], &skipped["status"]),
        (&json!(0.0), &json!(false), &json!("failed"))
    );
    // Nothing is left in the browser or in the list of conversations.
    stand.assert_no_tab_left();
    let folder = stand.folder();
    let names =
        ["report.json", "report.html", "report.xml", "one/buy/result.json", "free/skip/result.json", "one/report.json"];
    let before: Vec<Vec<u8>> = names.iter().map(|name| read(&folder.join(name))).collect();
    assert!(folder.join("one/buy/images/001.png").is_file());
    for (id, answers) in [("buy", 4), ("skip", 1)] {
        let events: Vec<Value> =
            serde_json::from_slice(&read(&folder.join("one").join(id).join("events.json"))).unwrap();
        assert_eq!(events.iter().filter(|event| event["event"] == "usage_metrics").count(), answers, "{id}");
    }
    let junit = String::from_utf8(read(&folder.join("report.xml"))).unwrap();
    assert!(
        junit.contains("<testsuite name=\"one\" tests=\"2\" failures=\"1\" errors=\"0\"")
            && junit.contains("missing: It is bought"),
        "{junit}"
    );
    assert_columns(&folder);
    let again = stand.at.run(&["eval", "score", &folder.display().to_string(), "--json"]);
    assert_eq!((again.code, again.json()["results"].clone()), (Some(1), shown["results"].clone()));
    for (name, before) in names.iter().zip(before) {
        assert!(read(&folder.join(name)) == before, "{name} differs");
    }
}

#[test]
fn what_cannot_work_is_reported_before_anything_runs() {
    let stand = Stand::at(AtHome::new(""), &[("buy", 60.0)], |_, _| Turn::Say("Hello."));
    for (args, part) in [
        (&["by"][..], "did you mean buy?"),
        (&["--model", "two"], "configured are free, gone, one"),
        (&["--model", "gone"], "does not answer"),
        (&["--rate", "USD:7"], "USD=7"),
        (&["--port", "9222"], "9222"),
        (&["--toolsets", "nope"], "nope"),
        (&["--rate", "USD=7", "--rate", "USD=9"], "another rate"),
        (&["--track", "compile"], "cannot compile recordings"),
        (&["--browser-id", "00000000-0000-4000-8000-000000000000"], "register it again"),
        (&["--no-serve", "--port", "1"], "cdpilot eval serve"),
        (&["--resume", "nowhere"], ""),
    ] {
        let args: Vec<&str> = if args == ["--no-serve", "--port", "1"] {
            vec!["eval", "run", "--no-serve", "--port", "1", "--json"]
        } else if args[0] == "--resume" {
            vec!["eval", "run", "--resume", "nowhere", "--json"]
        } else {
            let ran = stand.run(args);
            assert_eq!(ran.code, Some(2), "{args:?} {ran:?}");
            let error = ran.json()["error"].as_str().unwrap().to_owned();
            assert!(error.contains(part) && !error.contains("sk-hidden"), "{args:?}: {error}");
            continue;
        };
        let ran = stand.at.run(&args);
        let expected = if args.contains(&"--no-serve") { 3 } else { 2 };
        assert_eq!(ran.code, Some(expected), "{args:?} {ran:?}");
    }
    assert!(!stand.root.join("out").exists(), "nothing was written");
    fs::write(stand.root.join("tests/buy.yaml"), yaml("buy", 60.0).replace("points: 4", "point: 4")).unwrap();
    let ran = stand.run(&[]);
    let error = ran.json()["error"].as_str().unwrap().to_owned();
    assert!(ran.code == Some(2) && error.contains("buy.yaml:11: ") && error.contains("points"), "{error}");
    fs::write(stand.root.join("tests/buy.yaml"), yaml("buy", 60.0).replace("/shop/", "/bank/")).unwrap();
    assert!(stand.run(&[]).json()["error"].as_str().unwrap().contains("\"bank\""));
}

#[test]
fn limits_end_a_run_and_what_happened_is_scored() {
    let stand =
        Stand::new(&[("late", 12.0), ("dear", 60.0), ("asks", 60.0), ("broken", 60.0)], |task, answers| match () {
            () if task.contains("(late)") && answers == 3 => Turn::Hang,
            // The sixth answer exceeds the limit; the run ends while the eighth is awaited.
            () if task.contains("(dear)") && answers == 7 => Turn::Hang,
            () if task.contains("(dear)") && answers > 2 => Turn::Call("browser_snapshot", json!({})),
            () if task.contains("(asks)") && answers == 3 => {
                Turn::Call("please_help_me", json!({ "message": "May I?" }))
            }
            () if task.contains("(broken)") => Turn::Fail(401),
            () => buys(task, answers),
        });
    let Some(stand) = stand else { return };
    let ran = stand.run(&["--jobs", "4", "--toolsets", "visual,browser,clarify"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let all = ran.json()["results"].clone();
    let of = |id: &str| all.as_array().unwrap().iter().find(|result| result["id"] == id).unwrap().clone();
    let late = of("late");
    assert_eq!(
        (&late["timed_out"], &late["passed"], &late["efficiency"]),
        (&json!(true), &json!(true), &json!(0.0)),
        "{late}"
    );
    assert!(late["cause"].as_str().unwrap().contains("time limit"), "{late}");
    let dear = of("dear");
    assert_eq!(
        (&dear["over_cost"], &dear["usage"], &dear["passed"], &dear["timed_out"]),
        (&json!(true), &json!(0.0), &json!(true), &json!(false)),
        "{dear}"
    );
    assert!(dear["cost"].as_f64().unwrap() <= 0.7, "stopped after the answer that exceeded it: {dear}");
    assert!(of("asks")["cause"].as_str().unwrap().contains("May I?"));
    let broken = of("broken");
    assert_eq!(
        (&broken["status"], &broken["score"], &broken["max"]),
        (&json!("error"), &json!(0.0), &json!(5.0)),
        "{broken}"
    );
}

/// Interrupted by SIGINT and by kill -9, twice when a run has just ended, then at random moments (`CDPILOT_TEST_KILLS=50`), and
/// resumed each time: the same totals as in one go, and no finished run is run again.
#[cfg(unix)]
#[test]
fn an_interrupted_evaluation_is_resumed() {
    if !has_browser() {
        return;
    }
    let random = rounds("CDPILOT_TEST_KILLS", 1, 2);
    let ids: Vec<String> = (0..5 + random).map(|number| format!("t{number:02}")).collect();
    let stand = Stand::at(AtHome::new(""), &ids.iter().map(|id| (id.as_str(), 60.0)).collect::<Vec<_>>(), buys);
    let mut kept = BTreeMap::<PathBuf, String>::new();
    for round in 0..2 + random {
        let args = stand.next_args();
        let (before, signal) = (kept.len(), if round % 2 == 0 { "-INT" } else { "-KILL" });
        let ran = stand.at.program.run_and(&args.iter().map(String::as_str).collect::<Vec<_>>(), |id| {
            let until = crate::support::soon();
            while round < 2 && stand.results().len() <= before {
                assert!(!until.passed(), "no run ended");
                pause(Duration::from_millis(10)); // nothing signals that a file is there
            }
            if round >= 2 {
                pause(Duration::from_millis(fastrand::u64(..2_500)));
            }
            kill(id, signal);
        });
        let now = stand.results();
        assert!(round >= 2 || (ran.code != Some(0) && now.len() < ids.len()), "it was interrupted too late: {ran:?}");
        for (file, text) in &kept {
            assert!(now.get(file) == Some(text), "{signal}: the finished run {} was run again", file.display());
        }
        kept = now;
    }
    let ran = stand.at.run(&stand.next_args().iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let shown = ran.json();
    let totals = &shown["totals"][0];
    #[allow(clippy::cast_precision_loss)] // a handful
    let points = 4.0 * ids.len() as f64;
    assert_eq!((&totals["runs"], &totals["score"]), (&json!(ids.len()), &json!(points)), "{shown}");
    let now = stand.results();
    assert!(kept.iter().all(|(file, text)| now.get(file) == Some(text)), "a finished run was run again");
    stand.assert_no_tab_left();
}

/// The server is killed while the model thinks: the run ends at once, with the reason.
#[cfg(unix)]
#[test]
fn a_run_whose_server_dies_is_an_error() {
    if !has_browser() {
        return;
    }
    let stand = Stand::at(AtHome::new(""), &[("a", 60.0)], |_, _| Turn::Hang);
    let args = stand.args(&["--toolsets", "visual,browser"]);
    let ran = stand.at.program.run_and(&args.iter().map(String::as_str).collect::<Vec<_>>(), |_| {
        stand.wait_for_conversation();
        kill(stand.at.running().unwrap().pid, "-KILL");
    });
    let result = &ran.json()["results"][0];
    assert_eq!((ran.code, &result["status"]), (Some(1), &json!("error")), "{ran:?}");
    assert!(result["cause"].as_str().unwrap().contains("server"), "{result}");
    assert!(result["seconds"].as_f64().unwrap() < 50.0, "{result}");
}

/// Two evaluations in the same folder would undo each other's work.
#[cfg(unix)]
#[test]
fn an_evaluation_has_its_folder_for_itself() {
    let stand = Stand::new(&[("a", 60.0)], |_, _| Turn::Hang);
    let Some(stand) = stand else { return };
    let args = stand.args(&["--toolsets", "visual,browser"]);
    let first = stand.at.program.run_and(&args.iter().map(String::as_str).collect::<Vec<_>>(), |id| {
        stand.wait_for_conversation();
        let second = stand.at.run(&stand.next_args().iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(second.code, Some(2), "{second:?}");
        assert!(second.json()["error"].as_str().unwrap().contains("another `cdpilot eval run`"), "{second:?}");
        kill(id, "-INT");
    });
    assert_eq!(first.code, Some(1), "{first:?}");
    // What the folder lacks, its report says.
    let folder = stand.planned().unwrap();
    let report = stand.at.run(&["eval", "report", &folder.display().to_string(), "--json"]);
    assert_eq!((report.code, &report.json()["missing"]), (Some(1), &json!(1)), "{report:?}");
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert!(text("report.html").contains("1 of 1 runs have no result") && text("report.xml").contains("not run"));
}

#[test]
fn the_tests_are_listed_with_their_points_and_limits() {
    let at = AtHome::new("");
    let ran = at.run(&["eval", "list", "--json"]);
    let tests = ran.json()["tests"].clone();
    let all = tests.as_array().unwrap();
    assert!(all.len() >= 26, "{}", all.len());
    let complex = all.iter().find(|test| test["id"] == "finviz_complex").unwrap();
    assert_eq!(
        (&complex["points"], &complex["time_limit"], &complex["cost_limit"], &complex["currency"]),
        (&json!(5.0), &json!(400.0), &json!(1.0), &json!("CNY"))
    );
    assert!(at.run(&["eval", "list"]).stdout.lines().count() >= 26);
}
