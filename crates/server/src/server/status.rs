//! HTTP statuses of error codes.

use cdpilot::code::Code;

/// Each status with its codes, ascending.
pub(super) fn statuses() -> Vec<(u16, Vec<&'static str>)> {
    let mut all: Vec<(u16, Vec<&'static str>)> = Vec::new();
    for (code, status) in Code::all().filter_map(|code| Some((code, code.status()?))) {
        match all.last_mut() {
            Some((last, codes)) if *last == status => codes.push(code.as_str()),
            _ => all.push((status, vec![code.as_str()])),
        }
    }
    all
}

/// The status of a code; 500 for codes without a status.
pub(super) fn of(code: Code) -> u16 {
    code.status().unwrap_or(500)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_stands_once_and_a_code_without_one_is_internal() {
        let statuses: Vec<u16> = statuses().into_iter().map(|(status, _)| status).collect();
        assert!(statuses.is_sorted_by(|one, next| one < next), "{statuses:?}");
        assert_eq!((of(Code::StaleRef), of(Code::Timeout), of(Code::AmbiguousLocator)), (409, 504, 409));
        assert_eq!(of(Code::TooLarge), 500);
    }
}
