//! JUnit XML, as CI systems read it: a suite for each model.

use std::fmt::Write as _;

use super::super::plan::Plan;
use super::super::record::{Record, Status};
use super::escaped;

pub(super) fn text(plan: &Plan, records: &[Record]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for model in &plan.models {
        let own: Vec<&Record> = records.iter().filter(|record| record.model == *model).collect();
        let count = |status| own.iter().filter(|record| record.status == status).count();
        let seconds: f64 = own.iter().map(|record| record.facts.seconds).sum();
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\">",
            escaped(model),
            own.len() + plan.excluded.len(),
            count(Status::Failed),
            count(Status::Error),
            plan.excluded.len(),
        );
        for record in own {
            case(&mut xml, record);
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

fn case(xml: &mut String, record: &Record) {
    let name = if record.repeat > 1 { format!("{} ({})", record.id, record.repeat) } else { record.id.clone() };
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
    let message = record.cause.clone().unwrap_or_else(|| "not all points were earned".to_owned());
    let _ = writeln!(
        xml,
        ">\n      <{kind} message=\"{}\">{} of {} points; missing: {}</{kind}>\n    </testcase>",
        escaped(&message),
        record.score.score,
        record.score.max,
        escaped(&missing.join("; "))
    );
}
