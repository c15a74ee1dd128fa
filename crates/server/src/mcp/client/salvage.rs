//! Finds the request of a response that cannot be decoded.

/// The id of a response that is otherwise invalid; `None` for a request, or without a readable id.
pub(super) fn answer_id(line: &[u8]) -> Option<i64> {
    let (mut at, mut depth, mut id) = (0, 0_usize, None);
    while let Some(byte) = line.get(at) {
        match byte {
            b'"' => {
                let end = string_end(line, at);
                let key = line.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
                at = end;
                if depth == 1
                    && let Some(value) = value_of(line, end)
                {
                    match key {
                        b"method" => return None,
                        b"id" => id = number(value),
                        _ => {}
                    }
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    id
}

/// Whether a line looks like a JSON-RPC message.
pub(super) fn is_message(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"{") && memchr::memmem::find(line, b"\"jsonrpc\"").is_some()
}

/// The position after the string that begins at `at`.
fn string_end(line: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(byte) = line.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    line.len()
}

/// The value after a key and its colon.
fn value_of(line: &[u8], end: usize) -> Option<&[u8]> {
    let rest = line.get(end..)?.trim_ascii_start();
    rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start)
}

fn number(value: &[u8]) -> Option<i64> {
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = value.split_at_checked(digits)?;
    // At the end of a truncated line, more digits may have followed.
    rest.first()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_broken_answer_is_found() {
        for (line, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"a":"\q"}}"#, Some(7)),
            (r#"{"result":{"id":5,"text":"\"id\":6 \q"},"id": 8 }"#, Some(8)),
            (r#"{"id":9.0,"result":1}"#, Some(9)),
            (r#"{"id":"10","result":1}"#, Some(10)),
            (r#"{"id":11,"result":{"content":[{"#, Some(11)),
            (r#"{"id":1"#, None),
            (r#"{"id":12,"method":"ping","params":{"a":\q}}"#, None),
            (r#"{"result":{"id":5}}"#, None),
            (r#"{"text":"id","id":null}"#, None),
            ("no json", None),
            ("", None),
        ] {
            assert_eq!(answer_id(line.as_bytes()), id, "{line}");
        }
        assert!(is_message(b" {\"jsonrpc\":\"2.0\"") && !is_message(b"{\"level\":\"info\"}") && !is_message(b"x"));
    }
}
