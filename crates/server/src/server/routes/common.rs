//! The fields that many operations have: `profile`, `targetId`, `rescue`, `timeoutMs`.

use serde_json::{Value, json};

use crate::api::{Spec, TimeLimit};

/// The common fields of an operation.
pub(in crate::server) fn of_spec(spec: &Spec) -> impl Iterator<Item = &'static str> {
    let all = [
        ("profile", spec.of_profile),
        ("targetId", spec.of_tab),
        ("rescue", spec.of_tab),
        ("timeoutMs", spec.time == TimeLimit::Common),
    ];
    all.into_iter().filter(|(_, takes)| *takes).map(|(name, _)| name)
}

/// The schema of a common field.
pub(in crate::server) fn common_schema(name: &str) -> Value {
    match name {
        "profile" => json!({ "type": "string", "description": "Name of the profile. Default: the default profile." }),
        "targetId" => json!({
            "type": "string",
            "description": "Tab: target id, tab id (`t1`), label, or a unique prefix of the target id. Default: the current tab.",
        }),
        "rescue" => json!({
            "type": "boolean",
            "description": "End a script that keeps the page busy first, at once; the document is kept. Default false: wait for it.",
        }),
        _ => json!({
            "type": "integer",
            "minimum": 1,
            "format": "uint64",
            "description": "Timeout in milliseconds; limited to 200 … 120,000.",
        }),
    }
}

/// The schema of a request: that of its own fields, with the common ones. In a body, each may be `null`.
pub(super) fn with_common(spec: &Spec, mut fields: Value) -> Value {
    for name in of_spec(spec) {
        let own = common_schema(name);
        fields["properties"][name] = if spec.has_body() { json!({ "anyOf": [own, { "type": "null" }] }) } else { own };
    }
    fields
}
