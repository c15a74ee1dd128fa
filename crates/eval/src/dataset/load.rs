//! Reading a test. Whatever is not understood is refused, with its line: a criterion that is ignored gives points to
//! everybody.

use std::fmt;

use serde_json::Value;

use super::super::placeholders::Places;
use super::node::{self, Kind, Node};
use super::test::{Condition, Criterion, Difficulty, Expect, Final, Pattern, Test};

const TEST_KEYS: [&str; 12] = [
    "id",
    "name",
    "description",
    "difficulty",
    "start_url",
    "instruction",
    "time_limit",
    "cost_limit",
    "currency",
    "final",
    "criteria",
    "routine_file",
];
const CRITERION_KEYS: [&str; 6] = ["description", "points", "expected", "alternatives", "optional", "ordered_after"];
const PATTERN_KEYS: [&str; 11] = [
    "event_type",
    "page",
    "page_contains",
    "element_id",
    "element_class",
    "element_text",
    "parent_text_contains",
    "value_contains",
    "value_contains_any",
    "value_length_min",
    "condition",
];
/// Keys that other programs accept and ignore.
const IGNORED: [(&str, &str); 2] = [
    ("element_href", "events have no such field; use the page_view that follows, or a field that the site reports"),
    ("check", "it has no meaning; order is stated by ordered_after"),
];
/// Longest text of a test, in characters.
const MAX_TEXT: usize = 20_000;
const MAX_POINTS: f64 = 1000.0;

/// A test that is not written correctly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faulty {
    /// Line of the file, from 1.
    pub line: u64,
    /// What is wrong, and what is right.
    pub problem: String,
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.problem)
    }
}

impl std::error::Error for Faulty {}

fn fault<T>(line: u64, problem: impl Into<String>) -> Result<T, Faulty> {
    Err(Faulty { line, problem: problem.into() })
}

/// The name that resembles `name` most, if one does.
pub(super) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = known.map(|known| (strsim::damerau_levenshtein(name, known), known)).min()?;
    (near.0 <= 1 + name.len() / 3).then_some(near.1)
}

/// The fields of a mapping: each key once, each value once.
struct Fields<'n> {
    line: u64,
    what: &'static str,
    fields: Vec<&'n (String, u64, Node)>,
}

impl<'n> Fields<'n> {
    fn of(node: &'n Node, what: &'static str) -> Result<Self, Faulty> {
        let Kind::Map(fields) = &node.kind else { return fault(node.line, format!("{what} has to be a mapping")) };
        let mut seen: Vec<&(String, u64, Node)> = Vec::new();
        for field in fields {
            if let Some((_, first, _)) = seen.iter().find(|(name, ..)| *name == field.0) {
                return fault(field.1, format!("{:?} is given twice, first in line {first}", field.0));
            }
            seen.push(field);
        }
        Ok(Self { line: node.line, what, fields: seen })
    }

    /// Refuses keys beside these.
    fn only(self, known: &[&str]) -> Result<Self, Faulty> {
        for (name, line, _) in &self.fields {
            if !known.contains(&name.as_str()) {
                let hint = nearest(name, known.iter().copied()).map_or_else(
                    || format!("known are {}", known.join(", ")),
                    |near| format!("did you mean {near:?}?"),
                );
                return fault(*line, format!("{} has no key {name:?}; {hint}", self.what));
            }
        }
        Ok(self)
    }

    fn get(&self, name: &str) -> Option<&'n Node> {
        self.fields.iter().find(|(key, ..)| key == name).map(|(_, _, node)| node)
    }

    fn need(&self, name: &str) -> Result<&'n Node, Faulty> {
        self.get(name).map_or_else(|| fault(self.line, format!("{} needs {name:?}", self.what)), Ok)
    }

    /// A text that is not empty, with its line.
    fn text(&self, name: &str) -> Result<(String, u64), Faulty> {
        let node = self.need(name)?;
        Ok((text(node, name)?, node.line))
    }
}

fn text(node: &Node, name: &str) -> Result<String, Faulty> {
    match &node.kind {
        Kind::Scalar(Value::String(text)) if text.trim().is_empty() => fault(node.line, format!("{name:?} is empty")),
        Kind::Scalar(Value::String(text)) if text.chars().count() > MAX_TEXT => {
            fault(node.line, format!("{name:?} is longer than {MAX_TEXT} characters"))
        }
        Kind::Scalar(Value::String(text)) => Ok(text.trim().to_owned()),
        _ => fault(node.line, format!("{name:?} has to be a text; put it in quotes")),
    }
}

fn positive(node: &Node, name: &str, most: f64) -> Result<f64, Faulty> {
    let number = if let Kind::Scalar(value) = &node.kind { value.as_f64() } else { None };
    match number {
        Some(number) if number > 0.0 && number <= most => Ok(number),
        _ => fault(node.line, format!("{name:?} has to be a number above 0, at most {most}")),
    }
}

fn flag(node: &Node, name: &str) -> Result<bool, Faulty> {
    match &node.kind {
        Kind::Scalar(Value::Bool(flag)) => Ok(*flag),
        _ => fault(node.line, format!("{name:?} has to be true or false")),
    }
}

fn list<'n>(node: &'n Node, name: &str) -> Result<&'n [Node], Faulty> {
    match &node.kind {
        Kind::List(list) if !list.is_empty() => Ok(list),
        _ => fault(node.line, format!("{name:?} has to be a list with at least one item")),
    }
}

/// Refuses unknown placeholders, and years, which make a test wrong from the next one on.
fn timeless(text: &str, line: u64) -> Result<(), Faulty> {
    if let Err(unknown) = Places::default().fill(text) {
        return fault(
            line,
            format!("unknown placeholder {unknown}; known are {{{{a}}}}, {{{{b}}}}, {{{{today}}}}, {{{{today+3}}}}"),
        );
    }
    let digits = |word: &str| word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
    if let Some(year) = text.split(|c: char| !c.is_ascii_digit()).find(|word| digits(word)) {
        return fault(line, format!("the year {year} stands in it; give dates as {{{{today}}}} or {{{{today+3}}}}"));
    }
    Ok(())
}

/// Reads a test.
///
/// # Errors
/// The first fault.
pub fn parse(yaml: &str) -> Result<Test, Faulty> {
    let root = node::parse(yaml).or_else(|(line, problem)| fault(line, problem))?;
    let fields = Fields::of(&root, "a test")?.only(&TEST_KEYS)?;
    let (id, line) = fields.text("id")?;
    if !id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_') || id.len() > 64 {
        return fault(line, "an id has only lower-case letters, digits and _, at most 64");
    }
    let (start_url, line) = fields.text("start_url")?;
    timeless(&start_url, line)?;
    if !start_url.starts_with("{{a}}/") && !start_url.starts_with("{{b}}/") {
        return fault(line, "start_url has to begin with {{a}}/ or {{b}}/, the origins of the run");
    }
    let (instruction, line) = fields.text("instruction")?;
    timeless(&instruction, line)?;
    let (difficulty, line) = fields.text("difficulty")?;
    let Some((_, difficulty)) = Difficulty::ALL.into_iter().find(|(name, _)| *name == difficulty) else {
        return fault(line, "difficulty has to be easy, medium, hard or very hard");
    };
    let (name, description) = (fields.text("name")?.0, fields.text("description")?.0);
    let time_limit = fields.get("time_limit").map_or(Ok(600.0), |node| positive(node, "time_limit", 86_400.0))?;
    let cost_limit = fields.get("cost_limit").map_or(Ok(1.0), |node| positive(node, "cost_limit", 10_000.0))?;
    let currency = fields.get("currency").map_or_else(|| Ok("CNY".to_owned()), currency)?;
    let routine_file = fields.get("routine_file").map(|node| text(node, "routine_file")).transpose()?;
    let finals = fields.get("final").map_or_else(|| Ok(Vec::new()), finals)?;
    let mut criteria: Vec<Criterion> = Vec::new();
    for node in list(fields.need("criteria")?, "criteria")? {
        let next = criterion(node, &criteria)?;
        criteria.push(next);
    }
    if criteria.iter().all(|criterion| criterion.optional) {
        return fault(fields.need("criteria")?.line, "all criteria are optional, so that every run passes");
    }
    let types: Vec<&str> = criteria.iter().flat_map(|criterion| &criterion.patterns).flat_map(types_of).collect();
    if let Some((unused, line)) = finals.iter().find(|(last, _)| !types.contains(&last.event_type.as_str())) {
        return fault(*line, format!("no criterion is about events of the type {:?}", unused.event_type));
    }
    let finals = finals.into_iter().map(|(last, _)| last).collect();
    Ok(Test {
        id,
        name,
        description,
        difficulty,
        start_url,
        instruction,
        time_limit,
        cost_limit,
        currency,
        finals,
        criteria,
        routine_file,
    })
}

fn types_of(pattern: &Pattern) -> impl Iterator<Item = &str> {
    let counted = match &pattern.count {
        Some((Condition::EventType(name), _)) => Some(name.as_str()),
        _ => None,
    };
    let expected = pattern.expects.iter().filter_map(|expect| match expect {
        Expect::Equal(field, Value::String(name)) if field == "eventType" => Some(name.as_str()),
        _ => None,
    });
    expected.chain(counted)
}

fn currency(node: &Node) -> Result<String, Faulty> {
    let code = text(node, "currency")?;
    if code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase()) {
        Ok(code)
    } else {
        fault(node.line, "currency has to be a code of three capitals, such as CNY or USD")
    }
}

fn finals(node: &Node) -> Result<Vec<(Final, u64)>, Faulty> {
    let mut finals = Vec::new();
    for node in list(node, "final")? {
        let fields = Fields::of(node, "an item of final")?.only(&["event_type", "by"])?;
        let (event_type, line) = fields.text("event_type")?;
        let by = match fields.get("by") {
            None => Vec::new(),
            Some(Node { kind: Kind::List(names), .. }) => {
                names.iter().map(|name| text(name, "by")).collect::<Result<Vec<_>, _>>()?
            }
            Some(node) => return fault(node.line, "\"by\" has to be a list of fields"),
        };
        finals.push((Final { event_type, by }, line));
    }
    Ok(finals)
}

fn criterion(node: &Node, earlier: &[Criterion]) -> Result<Criterion, Faulty> {
    let fields = Fields::of(node, "a criterion")?.only(&CRITERION_KEYS)?;
    let (description, line) = fields.text("description")?;
    if earlier.iter().any(|other| other.description == description) {
        return fault(line, format!("two criteria have the description {description:?}"));
    }
    let points = positive(fields.need("points")?, "points", MAX_POINTS)?;
    let optional = fields.get("optional").map_or(Ok(false), |node| flag(node, "optional"))?;
    let after = match fields.get("ordered_after") {
        None => None,
        Some(node) => {
            let name = text(node, "ordered_after")?;
            match earlier.iter().position(|other| other.description == name) {
                Some(index) => Some(index),
                None if name == description => return fault(node.line, "a criterion cannot come after itself"),
                None => {
                    let hint = nearest(&name, earlier.iter().map(|other| other.description.as_str()))
                        .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
                    return fault(
                        node.line,
                        format!("ordered_after has to be the description of an earlier criterion{hint}"),
                    );
                }
            }
        }
    };
    let patterns = match (fields.get("expected"), fields.get("alternatives")) {
        (Some(expected), None) => vec![pattern(expected)?],
        (None, Some(node)) => {
            let patterns = list(node, "alternatives")?;
            if patterns.len() < 2 {
                return fault(node.line, "alternatives needs at least two patterns; give a single one as expected");
            }
            patterns.iter().map(pattern).collect::<Result<_, _>>()?
        }
        (Some(_), Some(node)) => return fault(node.line, "a criterion has expected or alternatives, not both"),
        (None, None) => return fault(fields.line, "a criterion needs expected or alternatives"),
    };
    Ok(Criterion { description, points, patterns, optional, after })
}

fn pattern(node: &Node) -> Result<Pattern, Faulty> {
    let fields = Fields::of(node, "a pattern")?;
    for (name, line, _) in &fields.fields {
        if let Some((_, why)) = IGNORED.iter().find(|(ignored, _)| ignored == name) {
            return fault(*line, format!("{name:?} is not supported: {why}"));
        }
        if let Some(hint) = slip(name) {
            return fault(*line, format!("a pattern has no key {name:?}; {hint}"));
        }
    }
    let (event_type, type_line) = fields.text("event_type")?;
    let mut expects = Vec::new();
    let (mut condition, mut count) = (None, None);
    for (name, line, node) in &fields.fields {
        let equal = |field: &str, value: Value| Expect::Equal(field.to_owned(), value);
        match name.as_str() {
            "event_type" if event_type == "count_min" => {}
            "event_type" => expects.push(equal("eventType", event_type.clone().into())),
            "page" => expects.push(equal("page", plain(node, name)?.into())),
            "element_id" => expects.push(equal("elementId", plain(node, name)?.into())),
            "page_contains" => expects.push(Expect::Contains("page", plain(node, name)?)),
            "element_class" => expects.push(Expect::Contains("elementClass", plain(node, name)?)),
            "element_text" => expects.push(Expect::Contains("elementText", plain(node, name)?)),
            "parent_text_contains" => expects.push(Expect::Contains("parentText", plain(node, name)?)),
            "value_contains" => expects.push(Expect::ValueContains(vec![plain(node, name)?])),
            "value_contains_any" => expects.push(Expect::ValueContains(match &node.kind {
                Kind::List(_) => list(node, name)?.iter().map(|item| plain(item, name)).collect::<Result<_, _>>()?,
                _ => vec![plain(node, name)?],
            })),
            "value_length_min" => expects.push(Expect::ValueLengthMin(positive(node, name, 1e6)?)),
            "condition" => condition = Some((plain(node, name)?, *line)),
            "count" => {
                let whole = if let Kind::Scalar(value) = &node.kind { value.as_u64().filter(|n| *n > 0) } else { None };
                let Some(whole) = whole else { return fault(*line, "\"count\" has to be a whole number above 0") };
                count = Some((whole, *line));
            }
            _ => expects.push(equal(name, value(node)?)),
        }
    }
    let count = match (event_type == "count_min", condition, count) {
        (true, Some((condition, _)), Some((count, _))) => {
            let condition = match condition.as_str() {
                "chat_interactions" => Condition::ChatInteractions,
                _ => Condition::EventType(condition),
            };
            Some((condition, count))
        }
        (true, ..) => return fault(type_line, "count_min needs \"condition\" and \"count\""),
        (false, None, None) => None,
        (false, condition, count) => {
            let line = condition.map(|(_, line)| line).or(count.map(|(_, line)| line)).unwrap_or(type_line);
            return fault(line, "\"condition\" and \"count\" need event_type: count_min");
        }
    };
    Ok(Pattern { expects, count })
}

/// Any other key is a field of the event. One that resembles a key of patterns is a slip: a field that no event has.
fn slip(name: &str) -> Option<String> {
    if name == "count" || PATTERN_KEYS.contains(&name) {
        return None;
    }
    let reserved = ["event_", "page_", "element_", "parent_", "value_"].iter().any(|start| name.starts_with(start));
    let keys = || PATTERN_KEYS.into_iter().chain(["count"]);
    if reserved || keys().any(|key| strsim::damerau_levenshtein(name, key) < 2) {
        let hint = nearest(name, keys()).map(|near| format!("did you mean {near:?}?"));
        return Some(hint.unwrap_or_else(|| format!("known are {}, count", PATTERN_KEYS.join(", "))));
    }
    None
}

fn plain(node: &Node, name: &str) -> Result<String, Faulty> {
    let text = text(node, name)?;
    timeless(&text, node.line)?;
    Ok(text)
}

/// A value that a field has to have.
fn value(node: &Node) -> Result<Value, Faulty> {
    match &node.kind {
        Kind::Scalar(Value::String(text)) => {
            timeless(text, node.line)?;
            Ok(text.as_str().into())
        }
        Kind::Scalar(value) => Ok(value.clone()),
        Kind::List(_) | Kind::Map(_) => {
            fault(node.line, "a field is compared with a text, a number, true, false or null")
        }
    }
}
