//! Parsers of values on the command line: numbers, whose errors say which are accepted (the parser's own do not), and names.

use std::ops::{Bound, RangeBounds};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;

/// Parses a whole number within a range and the range of its type.
pub(super) fn whole<T: TryFrom<u64>>(
    range: impl RangeBounds<u64> + Clone,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| format!("give {}", within(&range)))
    }
}

/// Parses a number of a port.
pub(super) fn port(text: &str) -> Result<u16, String> {
    whole(0..=u64::from(u16::MAX))(text)
}

/// Parses a whole number, also one below 0.
pub(super) fn signed(text: &str) -> Result<i32, String> {
    text.parse().map_err(|_| "give a whole number".to_owned())
}

/// Parses a number, fractions included.
pub(super) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "give a number".to_owned())
}

fn within(range: &impl RangeBounds<u64>) -> String {
    let least = match range.start_bound() {
        Bound::Included(least) => *least,
        Bound::Excluded(least) => least + 1,
        Bound::Unbounded => 0,
    };
    match range.end_bound() {
        // The ends of types are no limits that a person has in mind.
        Bound::Included(most) if *most < u64::from(u32::MAX) => format!("a whole number from {least} to {most}"),
        _ => format!("a whole number, {least} or more"),
    }
}

/// Parses one of these names of values in the HTTP API.
pub(super) fn one_of<T>(names: impl IntoIterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_answered_with_what_is_accepted() {
        assert_eq!(whole::<u8>(1..=100)("100"), Ok(100));
        for text in ["0", "101", "a", "", "-1", "1.5", "99999999999999999999999"] {
            assert_eq!(whole::<u8>(1..=100)(text), Err("give a whole number from 1 to 100".to_owned()), "{text}");
        }
        assert_eq!(whole::<u32>(1..)("0"), Err("give a whole number, 1 or more".to_owned()));
        assert_eq!(whole::<u32>(..)("4294967296"), Err("give a whole number, 0 or more".to_owned()));
        assert_eq!(port("70000"), Err("give a whole number from 0 to 65535".to_owned()));
        assert_eq!((signed("-2"), signed("x")), (Ok(-2), Err("give a whole number".to_owned())));
        assert_eq!((number("1.5"), number("x")), (Ok(1.5), Err("give a number".to_owned())));
    }
}
