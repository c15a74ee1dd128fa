//! Placeholders in tests: the places of a run and dates relative to its start.

use std::borrow::Cow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

/// Days that a date may lie ahead.
const MAX_DAYS: u64 = 3660;

/// A day, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub u64);

impl Day {
    /// The day of a time, in UTC.
    #[must_use]
    pub fn of(time: SystemTime) -> Self {
        Self(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400)
    }

    /// The day as `YYYY-MM-DD`.
    #[must_use]
    pub fn iso(self) -> String {
        civil_date(self.0)
    }

    fn later(self, days: u64) -> Self {
        Self(self.0 + days)
    }

    /// The first moment of the day.
    #[must_use]
    pub fn start(self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.0 * 86_400)
    }
}

/// The civil date of a day: the algorithm of Howard Hinnant's `civil_from_days`, for days after 1970.
fn civil_date(days: u64) -> String {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// What the placeholders of a test stand for in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Base address of the first origin, without a slash at the end.
    pub a: String,
    /// Base address of the second origin.
    pub b: String,
    /// The day on which the run began.
    pub today: Day,
}

impl Places {
    /// A text with its placeholders replaced.
    ///
    /// # Errors
    /// The placeholder that is unknown.
    pub fn fill<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, String> {
        if !text.contains("{{") {
            return Ok(Cow::Borrowed(text));
        }
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").ok_or_else(|| "{{ without }}".to_owned())?;
            filled.push_str(before);
            filled.push_str(&self.value(name).ok_or_else(|| format!("{{{{{name}}}}}"))?);
            rest = after;
        }
        filled.push_str(rest);
        Ok(Cow::Owned(filled))
    }

    fn value(&self, name: &str) -> Option<String> {
        match name {
            "a" => Some(self.a.clone()),
            "b" => Some(self.b.clone()),
            "today" => Some(self.today.iso()),
            _ => {
                let days: u64 = name.strip_prefix("today+")?.parse().ok()?;
                (days <= MAX_DAYS).then(|| self.today.later(days).iso())
            }
        }
    }

    /// A JSON value with the placeholders in its texts replaced; unknown ones stay.
    #[must_use]
    pub fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.fill(text).map_or_else(|_| value.clone(), |text| text.as_ref().into()),
            Value::Array(list) => list.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), self.fill_value(value))).collect()
            }
            other => other.clone(),
        }
    }
}

impl Default for Places {
    /// Examples: tests are checked with them.
    fn default() -> Self {
        Self { a: "http://a.localhost".to_owned(), b: "http://b.localhost".to_owned(), today: Day(20_000) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, date) in [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_000, "2024-10-04")] {
            assert_eq!(Day(days).iso(), date);
        }
        assert_eq!(Day::of(Day(20_783).start()), Day(20_783));
    }

    #[test]
    fn placeholders_are_replaced_and_unknown_ones_named() {
        let places = Places { a: "http://x-a.localhost:1".into(), ..Places::default() };
        assert_eq!(places.fill("{{a}}/gbr/ on {{today+3}}").unwrap(), "http://x-a.localhost:1/gbr/ on 2024-10-07");
        for unknown in ["{{c}}", "{{today-1}}", "{{today+99999}}", "{{today+ 1}}"] {
            assert_eq!(places.fill(unknown), Err(unknown.to_owned()));
        }
        assert_eq!(places.fill("{{a"), Err("{{ without }}".to_owned()));
        assert_eq!(places.fill_value(&json!({ "x": ["{{today}}", 1] })), json!({ "x": ["2024-10-04", 1] }));
    }
}
