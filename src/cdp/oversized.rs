//! Messages above the size limit. They are skipped; their beginning and end identify the call or event.
//!
//! Data that a page can make large must not end the browser of all tabs. The call that such a message answers fails
//! with `AnswerTooLarge`. Subscribers of its event receive the strings at the beginning of its parameters, so that an
//! intercepted request can be failed by its id.

use super::envelope;

/// Number of bytes kept of the beginning and of the end.
const HEAD_BYTES: usize = 4096;
const TAIL_BYTES: usize = 256;
/// A message of this many times the limit ends the connection.
const MAX_SKIPPED_FACTOR: usize = 16;

/// A skipped message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Oversized {
    head: Vec<u8>,
    tail: Vec<u8>,
    bytes: usize,
    limit: usize,
}

/// What a skipped message was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SkippedMessage {
    /// The answer to a call.
    Answer(u64),
    /// An event, and its leading string parameters as a JSON object.
    Event { method: String, session: Option<String>, params: String },
}

impl Oversized {
    /// Continues after the bytes read so far.
    pub(super) fn after(read: &[u8], limit: usize) -> Self {
        let mut skipped = Self { head: Vec::new(), tail: Vec::new(), bytes: 0, limit };
        skipped.push(read);
        skipped
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.bytes = self.bytes.saturating_add(piece.len());
        let room = HEAD_BYTES - self.head.len();
        self.head.extend_from_slice(&piece[..room.min(piece.len())]);
        self.tail.extend_from_slice(&piece[piece.len().saturating_sub(TAIL_BYTES)..]);
        let surplus = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..surplus);
    }

    /// Its size so far, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The limit, in bytes.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Whether a message is too large to wait for its end.
    pub(super) fn is_endless(bytes: usize, limit: usize) -> bool {
        bytes > limit.saturating_mul(MAX_SKIPPED_FACTOR)
    }

    /// Identifies the message, if it has the order that browsers use: id or method first, session last.
    pub(super) fn about(&self) -> Option<SkippedMessage> {
        let mut strings = Strings { text: &self.head, at: 0 };
        strings.expect(b'{')?;
        let key = strings.string()?;
        strings.expect(b':')?;
        if key == "id" {
            return strings.number().map(SkippedMessage::Answer);
        }
        if key != "method" {
            return None;
        }
        let method = strings.string()?;
        let mut params = serde_json::Map::new();
        if strings.expect(b',').is_some() && strings.string()? == "params" {
            strings.expect(b':')?;
            strings.expect(b'{')?;
            while let Some((key, value)) = strings.member() {
                params.insert(key, value.into());
                if strings.expect(b',').is_none() {
                    break;
                }
            }
        }
        let params = serde_json::Value::Object(params).to_string();
        Some(SkippedMessage::Event { method, session: self.session(), params })
    }

    fn session(&self) -> Option<String> {
        let tail = self.tail.trim_ascii_end().strip_suffix(b"\"}")?;
        let from = memchr::memmem::rfind(tail, br#""sessionId":""#)? + br#""sessionId":""#.len();
        let id = std::str::from_utf8(&tail[from..]).ok()?;
        id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)).then(|| id.to_owned())
    }
}

/// Tokenizes the beginning of a message.
struct Strings<'a> {
    text: &'a [u8],
    at: usize,
}

impl Strings<'_> {
    fn expect(&mut self, byte: u8) -> Option<()> {
        let at = envelope::skip_space(self.text, self.at);
        (self.text.get(at) == Some(&byte)).then(|| self.at = at + 1)
    }

    fn string(&mut self) -> Option<String> {
        let from = envelope::skip_space(self.text, self.at);
        let end = envelope::skip_string(self.text, from)?;
        let value = serde_json::from_slice(self.text.get(from..end)?).ok()?;
        self.at = end;
        Some(value)
    }

    /// A member with a string value.
    fn member(&mut self) -> Option<(String, String)> {
        let key = self.string()?;
        self.expect(b':')?;
        Some((key, self.string()?))
    }

    fn number(&mut self) -> Option<u64> {
        let from = envelope::skip_space(self.text, self.at);
        let digits = self.text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(&self.text[from..from + digits]).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(pieces: &[&str]) -> Option<SkippedMessage> {
        let mut skipped = Oversized::after(b"", 10);
        for piece in pieces {
            skipped.push(piece.as_bytes());
        }
        skipped.about()
    }

    #[test]
    fn the_ends_of_a_message_say_what_it_was_about() {
        let long = "x".repeat(10_000);
        assert_eq!(
            about(&[r#"{"id":71,"result":{"data":""#, &long, r#""},"sessionId":"S"}"#]),
            Some(SkippedMessage::Answer(71))
        );
        let event = about(&[
            r#"{"method":"Fetch.requestPaused","params":{"requestId":"a\"1","request":{"url":"x","postData":""#,
            &long,
            r#""}},"sessi"#,
            r#"onId":"A1B2"}"#,
        ]);
        let (method, session) = ("Fetch.requestPaused".to_owned(), Some("A1B2".to_owned()));
        assert_eq!(
            event,
            Some(SkippedMessage::Event { method, session, params: r#"{"requestId":"a\"1"}"#.to_owned() })
        );
    }

    #[test]
    fn what_is_no_message_of_a_browser_says_nothing() {
        let long = "x".repeat(10_000);
        for text in ["", "[", "{\"result\":{}", &long, "{\"id\":x", "{\"method\":7"] {
            assert_eq!(about(&[text]), None, "{text:.20}");
        }
        // A session id that no browser writes.
        let forged = about(&[r#"{"method":"A.b","params":{"x":""#, &long, r#"","sessionId":"a b"}"#]);
        assert!(matches!(forged, Some(SkippedMessage::Event { session: None, .. })), "{forged:?}");
    }
}
