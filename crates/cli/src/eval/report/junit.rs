//! JUnit XML, as CI systems read it: a suite for each model.

use std::fmt::Write as _;

use super::super::plan::{Job, Plan};
use super::super::record::{Record, Status};
use super::escaped;

pub(super) fn text(plan: &Plan, records: &[Record]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for model in &plan.models {
        let own: Vec<&Record> = records.iter().filter(|record| record.model == *model).collect();
        let jobs: Vec<Job> = plan.jobs().into_iter().filter(|job| job.model == *model).collect();
        let count = |status| own.iter().filter(|record| record.status == status).count();
        let seconds: f64 = own.iter().map(|record| record.facts.seconds).sum();
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\">",
            escaped(model),
            jobs.len() + plan.excluded.len(),
            count(Status::Failed),
            count(Status::Error),
            plan.excluded.len() + jobs.len().saturating_sub(own.len()),
        );
        for job in &jobs {
            match own.iter().find(|record| record.id == job.test && record.repeat == job.repeat) {
                Some(record) => case(&mut xml, record),
                None => {
                    let _ = writeln!(
                        xml,
                        "    <testcase name=\"{}\" classname=\"{}\"><skipped message=\"not run\"/></testcase>",
                        escaped(&named(&job.test, job.repeat)),
                        escaped(model)
                    );
                }
            }
        }
        for (test, why) in &plan.excluded {
            let (test, model, why) = (escaped(test), escaped(model), escaped(why));
            let _ = writeln!(
                xml,
                "    <testcase name=\"{test}\" classname=\"{model}\"><skipped message=\"{why}\"/></testcase>"
            );
        }
        xml.push_str("  </testsuite>\n");
    }
    xml + "</testsuites>\n"
}

fn named(test: &str, repeat: u32) -> String {
    if repeat > 1 { format!("{test} ({repeat})") } else { test.to_owned() }
}

fn case(xml: &mut String, record: &Record) {
    let name = named(&record.id, record.repeat);
    let _ = write!(
        xml,
        "    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3}\"",
        escaped(&name),
        escaped(&record.model),
        record.facts.seconds
    );
    if record.status == Status::Passed {
        xml.push_str("/>\n");
        return;
    }
    let missing: Vec<&str> = record
        .score
        .criteria
        .iter()
        .filter(|criterion| !criterion.earned && !criterion.optional)
        .map(|criterion| criterion.description.as_str())
        .collect();
    let kind = if record.status == Status::Error { "error" } else { "failure" };
    let message = record.cause.clone().unwrap_or_else(|| "fewer than 0.8 of the points were earned".to_owned());
    let _ = writeln!(
        xml,
        ">\n      <{kind} message=\"{}\">{} of {} points; missing: {}</{kind}>\n    </testcase>",
        escaped(&message),
        record.score.score,
        record.score.max,
        escaped(&missing.join("; "))
    );
}
