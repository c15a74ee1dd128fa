//! From the code of a failure to the status of its answer: the one table.

/// Status and codes, as the contract lists them.
pub(super) const STATUSES: [(u16, &[&str]); 14] = [
    (400, &["BAD_REQUEST", "UNKNOWN_FIELD", "UNKNOWN_KIND"]),
    (401, &["UNAUTHORIZED"]),
    (
        403,
        &[
            "FORBIDDEN_HOST",
            "FORBIDDEN_ORIGIN",
            "NAVIGATION_BLOCKED",
            "EVALUATE_DISABLED",
            "RAW_CDP_DISABLED",
            "PATH_REFUSED",
        ],
    ),
    (404, &["NOT_FOUND", "TAB_NOT_FOUND", "PROFILE_NOT_FOUND", "FRAME_NOT_FOUND", "DIALOG_NOT_FOUND"]),
    (405, &["METHOD_NOT_ALLOWED"]),
    (
        409,
        &[
            "AMBIGUOUS_TARGET",
            "TAB_GONE",
            "TAB_LIMIT",
            "STALE_REF",
            "REF_CHANGED",
            "NOT_ACTIONABLE",
            "BLOCKED_BY_DIALOG",
            "NO_DIALOG",
            "SEVERAL_DIALOGS",
            "PAGE_BUSY",
            "CONFLICT",
        ],
    ),
    (413, &["BODY_TOO_LARGE"]),
    (415, &["UNSUPPORTED_MEDIA_TYPE"]),
    (422, &["SCRIPT_ERROR"]),
    // Told to nobody: whoever asked has gone.
    (499, &["CANCELLED"]),
    (500, &["INTERNAL"]),
    (502, &["BROWSER_ERROR", "MODEL_ERROR"]),
    (503, &["BROWSER_NOT_RUNNING", "BROWSER_DISABLED", "BUSY"]),
    (504, &["TIMEOUT"]),
];

/// The status of a code. A code that is not in the table is an error of ours.
pub(super) fn of(code: &str) -> u16 {
    STATUSES.iter().find(|(_, codes)| codes.contains(&code)).map_or(500, |(status, _)| *status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_stands_once_and_an_unknown_one_is_ours() {
        let mut all: Vec<&str> = STATUSES.iter().flat_map(|(_, codes)| codes.iter().copied()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert_eq!((of("STALE_REF"), of("TIMEOUT"), of("NO_SUCH_CODE")), (409, 504, 500));
    }
}
