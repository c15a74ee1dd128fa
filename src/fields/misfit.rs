//! What does not fit, and where.

use std::fmt;

use super::words;

/// A part of a value that does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", self.place(), self.problem)]
pub struct Misfit {
    /// Path of the part, such as `fields[0].value`; empty for the whole.
    pub at: String,
    /// What is wrong.
    pub problem: Problem,
}

/// Why a part of a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// There is no such field.
    Unknown {
        /// The last part of the path.
        name: String,
        /// All fields there, required ones first.
        known: Vec<String>,
        /// Those of them that are required.
        required: Vec<String>,
    },
    /// A required field is not given.
    Missing {
        /// What it should be, if the style describes it.
        expected: Option<String>,
    },
    /// The value has another type or is out of range.
    Value {
        /// What it should be: `a whole number, 0 or more`.
        expected: String,
        /// What it is: its type, or the number.
        given: Option<String>,
    },
    /// The value is not one of the known words.
    Word {
        /// The beginning of the given one, if the style repeats it.
        given: Option<String>,
        /// All words.
        known: Vec<String>,
    },
}

impl Misfit {
    fn place(&self) -> String {
        match (&self.problem, self.at.as_str()) {
            (_, "") => String::new(),
            (Problem::Missing { .. }, at) => format!("{at} "),
            (Problem::Unknown { .. }, _) => String::new(),
            (_, at) => format!("{at}: "),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known, .. } => {
                let name: String = name.chars().take(words::SHOWN).collect();
                write!(f, "unknown field {name}; known fields: {}", known.join(", "))
            }
            Self::Missing { expected: None } => write!(f, "is missing"),
            Self::Missing { expected: Some(expected) } => write!(f, "is missing; expected {expected}"),
            Self::Value { expected, given: None } => write!(f, "expected {expected}"),
            Self::Value { expected, given: Some(given) } => write!(f, "expected {expected}, got {given}"),
            Self::Word { given: None, known } => write!(f, "unknown value; use {}", words::listed(known)),
            Self::Word { given: Some(given), known } => {
                write!(f, "{given:?} is not valid; use {}", words::listed(known))
            }
        }
    }
}
