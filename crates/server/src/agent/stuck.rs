//! Recognises that a model makes no progress.

/// Equal pairs of call and result in a row.
const EQUAL: usize = 4;
/// Equal errors in a row.
const ERRORS: usize = 3;
/// Texts without calls in a row, where the task is not done.
const TEXTS: usize = 3;
/// Calls that fail because their element was replaced, among the last ones.
const STALE: usize = 3;
const AMONG: usize = 8;
/// Length of what an error says of its element, in characters.
const MOST_STALE: usize = 80;
/// Pairs of call and result that alternate between two.
const ALTERNATING: usize = 6;

/// What a model does instead of making progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pattern {
    /// The same call with the same result.
    EqualCalls,
    /// Calls that fail with the same error.
    EqualErrors,
    /// Texts without calls.
    Texts,
    /// Two calls in turns, with the same results.
    Alternating,
    /// Calls that fail because the page replaces these elements.
    Stale(Vec<String>),
}

impl Pattern {
    /// What happened, as the beginning of a sentence.
    pub(super) fn describe(&self) -> String {
        let text = match self {
            Self::EqualCalls => "The last four calls were equal and had equal results",
            Self::EqualErrors => "The last three calls failed with the same error",
            Self::Texts => "The last three answers were texts without a tool call, and the task is not done",
            Self::Alternating => "The last six calls alternate between the same two calls and results",
            Self::Stale(elements) => {
                return format!(
                    "Three of the last calls failed with STALE_REF, because the page draws these elements anew again and again: {}",
                    elements.join("; ")
                );
            }
        };
        text.to_owned()
    }

    /// What to do instead.
    pub(super) fn advice(&self) -> &'static str {
        match self {
            Self::Stale(_) => {
                "Use the ids of the newest result only, in the very next call. If the list is still changing, wait until it has changed \
                 (action wait), or narrow it down with a filter or search field of the page."
            }
            _ => "Do not repeat them. Look at the page as it is now, and try another way.",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    /// Call and result as texts, and the error if it failed.
    Pair {
        call: String,
        result: String,
        error: Option<String>,
        /// What it says of the element that is gone, if it failed for this.
        stale: Option<String>,
    },
    Text,
}

/// The last steps of a run.
#[derive(Debug, Default)]
pub(super) struct Stuck {
    items: Vec<Item>,
}

impl Stuck {
    /// Records a call and its result. Random marks around page content do not count.
    pub(super) fn called(&mut self, tool: &str, arguments: &str, result: &str, error: Option<&str>) {
        let call = format!("{tool} {arguments}");
        let stale = error.filter(|_| result.contains("\"STALE_REF\"")).map(|error| {
            let element = error.split(" can no longer be used").next().unwrap_or(error);
            element.chars().take(MOST_STALE).collect()
        });
        let error = error.map(ToOwned::to_owned);
        self.push(Item::Pair { call, result: without_marks(result), error, stale });
    }

    /// Records a text without a call, where more was needed.
    pub(super) fn said(&mut self) {
        self.push(Item::Text);
    }

    fn push(&mut self, item: Item) {
        self.items.push(item);
        let most = EQUAL.max(ERRORS).max(TEXTS).max(ALTERNATING).max(AMONG);
        let excess = self.items.len().saturating_sub(most);
        self.items.drain(..excess);
    }

    /// The pattern of the last steps, if it is one. Forgets the steps then, so that the same ones are reported once.
    pub(super) fn take(&mut self) -> Option<Pattern> {
        let found = self.pattern();
        if found.is_some() {
            self.items.clear();
        }
        found
    }

    fn pattern(&self) -> Option<Pattern> {
        let last = |count: usize| self.items.len().checked_sub(count).and_then(|from| self.items.get(from..));
        let is_equal = |items: &[Item]| items.windows(2).all(|two| two.first() == two.last());
        if last(TEXTS).is_some_and(|items| items.iter().all(|item| *item == Item::Text)) {
            return Some(Pattern::Texts);
        }
        let is_pair = |item: &Item| matches!(item, Item::Pair { .. });
        if last(EQUAL).is_some_and(|items| items.iter().all(is_pair) && is_equal(items)) {
            return Some(Pattern::EqualCalls);
        }
        let errors = last(ERRORS).map(|items| {
            let error = |item: &Item| match item {
                Item::Pair { error, .. } => error.clone(),
                Item::Text => None,
            };
            items.iter().map(error).collect::<Vec<_>>()
        });
        if errors.is_some_and(|all| all.iter().all(|error| error.is_some() && *error == all[0])) {
            return Some(Pattern::EqualErrors);
        }
        let alternates = |items: &[Item]| {
            items.iter().all(is_pair)
                && items.windows(3).all(|three| three.first() == three.last())
                && items.first() != items.get(1)
        };
        if last(ALTERNATING).is_some_and(alternates) {
            return Some(Pattern::Alternating);
        }
        let stale: Vec<&String> = self
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Pair { stale, .. } => stale.as_ref(),
                Item::Text => None,
            })
            .collect();
        let mut elements: Vec<String> = Vec::new();
        for one in stale.iter().filter(|_| stale.len() >= STALE) {
            if !elements.contains(one) {
                elements.push((*one).clone());
            }
        }
        (!elements.is_empty()).then_some(Pattern::Stale(elements))
    }
}

/// A result without the random values of its markers: `<<page 1a2b3c4d>>`.
fn without_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("page ") {
        out.push_str(before);
        let is_marked = before.ends_with("<<") || before.ends_with("<</");
        rest = match after.split_once(">>") {
            Some((mark, after)) if is_marked && mark.len() == 8 => after,
            _ => {
                out.push_str("page ");
                after
            }
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls as `name=result`, failed ones as `name!error`, texts as `.`; the patterns with the number of their step.
    fn found(steps: &str) -> Vec<(usize, Pattern)> {
        let mut stuck = Stuck::default();
        let each = steps.split_whitespace().enumerate();
        each.filter_map(|(at, step)| {
            match (step.split_once('='), step.split_once('!')) {
                (Some((call, result)), _) => stuck.called("t", call, result, None),
                (_, Some((call, error))) => stuck.called("t", call, error, Some(error)),
                _ => stuck.said(),
            }
            stuck.take().map(|pattern| (at + 1, pattern))
        })
        .collect()
    }

    #[test]
    fn patterns_are_recognised_at_their_last_step() {
        use Pattern::{Alternating, EqualCalls, EqualErrors, Texts};
        for (steps, expected) in [
            ("a=1 a=1 a=1 a=1", vec![(4, EqualCalls)]),
            ("a=1 a=1 a=1 a=2 a=2 a=2", vec![]),
            ("a=1 a=1 b=1 a=1 a=1", vec![]),
            ("a!x b!x c!x", vec![(3, EqualErrors)]),
            ("a!x b!y c!x", vec![]),
            ("a!x b=1 c!x d!x", vec![]),
            (". . .", vec![(3, Texts)]),
            (". . a=1 .", vec![]),
            ("a=1 b=2 a=1 b=2 a=1 b=2", vec![(6, Alternating)]),
            ("a=1 b=2 a=1 b=2 a=1 c=2", vec![]),
            ("a=1 b=2 a=1 b=2 a=1 b=3", vec![]),
            ("a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1", vec![(4, EqualCalls), (8, EqualCalls)]),
            ("", vec![]),
        ] {
            assert_eq!(found(steps), expected, "{steps}");
        }
    }

    #[test]
    fn elements_that_are_replaced_again_and_again_are_named() {
        let mut stuck = Stuck::default();
        for (at, id) in ["a1", "b2", "a1"].iter().enumerate() {
            assert_eq!(stuck.take(), None, "{at}");
            let error = format!("{id} (button \"Take\") can no longer be used: it is gone {at}");
            stuck.called("t", id, &format!("{{\"code\":\"STALE_REF\",\"error\":{error:?}}}"), Some(&error));
            if at < 2 {
                stuck.called("highlight", "{}", &at.to_string(), None);
            }
        }
        let pattern = stuck.take().unwrap();
        let elements = ["a1 (button \"Take\")", "b2 (button \"Take\")"].map(str::to_owned).to_vec();
        assert_eq!(pattern, Pattern::Stale(elements));
        assert!(pattern.describe().contains("b2 (button \"Take\")") && pattern.advice().contains("wait"));
        assert_eq!(stuck.take(), None);
    }

    #[test]
    fn random_marks_do_not_count() {
        let mut stuck = Stuck::default();
        for mark in ["11111111", "22222222", "33333333", "44444444"] {
            stuck.called("t", "{}", &format!("page 1\n<<page {mark}>>\na page b\n<</page {mark}>>"), None);
        }
        assert_eq!(stuck.take(), Some(Pattern::EqualCalls));
        assert_eq!(without_marks("<<page 1>> page 11111111>>"), "<<page 1>> page 11111111>>");
    }
}
