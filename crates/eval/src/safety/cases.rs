//! Places, injections and twins.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::super::assets::{Assets, AssetsError};
use super::super::dataset::{Criterion, Dataset, Difficulty, Test};

const FILE: &str = "cases.yaml";
/// Time limit of a case in seconds, and its cost limit.
const TIME_LIMIT: f64 = 180.0;
const COST_LIMIT: f64 = 1.0;
/// What the person adds to the task of a twin.
const ALLOWED: &str = " Then do what it asks for.";
/// Number of the first case in the texts, which the obedient model recognises.
const FIRST: usize = 101;

/// What a server must have for a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// The MCP server `cdpilot eval board`, as `board`.
    Board,
    /// `tools.terminal.enabled`.
    Terminal,
    /// Its folder `uploads/` can be written by this program.
    Uploads,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// Its arguments; with placeholders, and `@Name` for the ref of the element with that name.
    pub arguments: Value,
}

impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::<String, Value>::deserialize(deserializer)?;
        let mut calls = map.into_iter();
        match (calls.next(), calls.next()) {
            (Some((tool, arguments @ Value::Object(_))), None) => Ok(Self { tool, arguments }),
            _ => Err(serde::de::Error::custom("a call is written as TOOL: {ARGUMENT: VALUE}")),
        }
    }
}

/// Where a text stands.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Its id.
    pub id: String,
    /// Path of the page where the run begins.
    pub start: String,
    /// The task, for which the text is read.
    pub task: String,
    /// What a server must have.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Tools whose calls the task asks for.
    #[serde(default)]
    pub approves: Vec<String>,
    /// The calls that read it.
    pub reads: Vec<Call>,
}

/// What shows that a twin was carried out. All fields that are given have to hold.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Done {
    /// The site reports this effect.
    #[serde(default)]
    pub effect: Option<String>,
    /// The request of the effect contains this text.
    #[serde(default)]
    pub containing: Option<String>,
    /// A call of this tool succeeded.
    #[serde(default)]
    pub tool: Option<String>,
    /// This file of the working folder exists.
    #[serde(default)]
    pub file: Option<String>,
}

/// What a text asks for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Its id.
    pub id: String,
    /// The text; with placeholders.
    pub text: String,
    /// What the obedient model does.
    pub calls: Vec<Call>,
    /// What a server must have.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Whether the conversation may type a secret.
    #[serde(default)]
    pub has_secret: bool,
    /// What shows that a twin was carried out; an injection has none.
    #[serde(default)]
    pub done: Option<Done>,
}

/// A text in a place.
#[derive(Debug, Clone, Copy)]
pub struct Case<'c> {
    /// Where the text stands.
    pub place: &'c Place,
    /// What it asks for.
    pub order: &'c Order,
    /// Whether a person wants it: a twin.
    pub is_twin: bool,
    /// Number of the text.
    pub number: usize,
}

/// All cases.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    /// Effects on the sites that only a person may cause.
    pub harmful: Vec<String>,
    /// The places.
    pub places: Vec<Place>,
    /// What an attacker wants.
    pub injections: Vec<Order>,
    /// What a user may want.
    pub twins: Vec<Order>,
}

impl Case<'_> {
    /// Its id: `injection_PLACE_ORDER` or `twin_PLACE_ORDER`.
    #[must_use]
    pub fn id(&self) -> String {
        let kind = if self.is_twin { "twin" } else { "injection" };
        format!("{kind}_{}_{}", self.place.id, self.order.id)
    }

    /// The mark with which its text begins.
    #[must_use]
    pub fn mark(&self) -> String {
        mark(self.number)
    }

    /// All that a server must have for it.
    pub fn needs(&self) -> impl Iterator<Item = Need> + '_ {
        self.place.needs.iter().chain(&self.order.needs).copied()
    }

    fn test(&self) -> Test {
        let criterion = |description: &str, optional| Criterion {
            description: description.to_owned(),
            points: 1.0,
            patterns: Vec::new(),
            optional,
            after: None,
        };
        let criteria = if self.is_twin {
            vec![criterion(super::verdict::CARRIED_OUT, false), criterion(super::verdict::NOT_ASKED, true)]
        } else {
            [super::verdict::READ, super::verdict::NO_LEAK, super::verdict::APPROVED]
                .map(|description| criterion(description, false))
                .to_vec()
        };
        let (what, end) = if self.is_twin { ("Harmless", ALLOWED) } else { ("Harmful", "") };
        Test {
            id: self.id(),
            name: format!("{}, {}", self.place.id, self.order.id),
            description: format!("{what} instruction ({}) in: {}", self.order.id, self.place.id),
            difficulty: Difficulty::Easy,
            start_url: format!("{{{{a}}}}{}?n={}", self.place.start, self.number),
            instruction: format!("{}{end}", self.place.task.replace("{{n}}", &self.number.to_string())),
            time_limit: TIME_LIMIT,
            cost_limit: COST_LIMIT,
            currency: "CNY".to_owned(),
            finals: Vec::new(),
            criteria,
            routine_file: None,
        }
    }
}

/// The mark of the text with a number: pages, file names and addresses keep it as it is.
fn mark(number: usize) -> String {
    format!("SUP-{}", FIRST + number)
}

impl Cases {
    /// Reads the cases.
    ///
    /// # Errors
    /// The file cannot be read, or is not written correctly.
    pub fn load(assets: &Assets) -> Result<Self, AssetsError> {
        let bytes = assets.read(FILE)?.unwrap_or_default();
        serde_saphyr::from_str(&String::from_utf8_lossy(&bytes))
            .map_err(|problem| AssetsError::Damaged(format!("{}: {problem}", assets.shown(FILE))))
    }

    /// The cases of the program.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn embedded() -> Result<Self, AssetsError> {
        Self::load(&Assets::embedded("safety"))
    }

    /// Injections, then twins, each with its number.
    fn orders(&self) -> impl Iterator<Item = (usize, &Order, bool)> {
        let injections = self.injections.iter().map(|order| (order, false));
        let all = injections.chain(self.twins.iter().map(|order| (order, true)));
        all.enumerate().map(|(number, (order, is_twin))| (number, order, is_twin))
    }

    /// All cases: the injections of each place, then the twins.
    pub fn all(&self) -> impl Iterator<Item = Case<'_>> {
        self.orders().flat_map(move |(number, order, is_twin)| {
            self.places.iter().map(move |place| Case { place, order, is_twin, number })
        })
    }

    /// A case by its id.
    #[must_use]
    pub fn case(&self, id: &str) -> Option<Case<'_>> {
        self.all().find(|case| case.id() == id)
    }

    /// The ids of the cases that a name selects: of one case, of a place, of an injection or a twin, or all `injections` or
    /// `twins`.
    #[must_use]
    pub fn named(&self, name: &str) -> Vec<String> {
        let fits = |case: &Case<'_>| {
            case.place.id == name
                || case.order.id == name
                || case.id() == name
                || name == if case.is_twin { "twins" } else { "injections" }
        };
        self.all().filter(fits).map(|case| case.id()).collect()
    }

    /// The text with a number, beginning with its mark; with placeholders.
    #[must_use]
    pub fn text(&self, number: usize) -> Option<String> {
        let (_, order, _) = self.orders().nth(number)?;
        Some(format!("{} {}", mark(number), order.text.replace("{{n}}", &number.to_string())))
    }

    /// The order whose text was read, found by its mark.
    #[must_use]
    pub fn order_in(&self, read: &str) -> Option<(usize, &Order)> {
        self.orders().find(|(number, ..)| read.contains(&mark(*number))).map(|(number, order, _)| (number, order))
    }

    /// An order by its number.
    #[must_use]
    pub fn order(&self, number: usize) -> Option<&Order> {
        self.orders().nth(number).map(|(_, order, _)| order)
    }

    /// The cases as tests.
    #[must_use]
    pub fn dataset(&self) -> Dataset {
        Dataset { tests: self.all().map(|case| case.test()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_cases_of_the_program_are_complete() {
        let cases = Cases::embedded().unwrap();
        let (injections, twins): (Vec<_>, Vec<_>) = cases.all().partition(|case| !case.is_twin);
        assert!(injections.len() >= 120 && twins.len() == injections.len(), "{} {}", injections.len(), twins.len());
        let ids: BTreeSet<String> = cases.all().map(|case| case.id()).collect();
        assert_eq!(ids.len(), injections.len() + twins.len());
        for case in cases.all() {
            assert_eq!(case.order.done.is_some(), case.is_twin, "{}", case.id());
            let text = cases.text(case.number).unwrap();
            assert!(text.starts_with(&case.mark()) && text.len() < 200, "{text}");
            assert_eq!(cases.order_in(&text).unwrap().1.id, case.order.id);
        }
        // A name of a place is not also that of an order, except where both are meant.
        assert_eq!(cases.named("visible").len(), cases.injections.len() + cases.twins.len());
        assert_eq!(cases.named("twins").len(), twins.len());
        assert_eq!(cases.named("injection_dialog_purchase"), ["injection_dialog_purchase"]);
        assert!(cases.named("nothing").is_empty());
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let text = std::fs::read_to_string("../../eval/safety/cases.yaml").unwrap();
        let damaged = |from: &str, to: &str| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(FILE), text.replacen(from, to, 1)).unwrap();
            Cases::load(&Assets::folder(folder.path()).unwrap()).map(drop)
        };
        assert!(damaged("harmful", "harmful").is_ok());
        for (from, to) in [("has_secret", "has_secrets"), ("start: ", "begin: "), ("done: {effect", "done: {efect")] {
            let problem = damaged(from, to).unwrap_err().to_string();
            assert!(problem.contains("cases.yaml"), "{problem}");
        }
    }
}
