//! Standard error of a server: logged within bounds; the last lines are kept for errors. Secrets of its environment are
//! redacted.

use std::collections::VecDeque;

use parking_lot::Mutex;

use cdpilot::text::is_hidden;

/// Maximum length of a line, in bytes; longer ones are truncated.
const MAX_LINE_BYTES: usize = 4096;
/// Maximum length of a line in errors and logs, in characters.
const SHOWN: usize = 300;
/// Number of lines kept.
const KEPT: usize = 5;
/// Maximum number of lines logged per process.
const LOGGED: usize = 500;

/// Redacts secrets in a text.
pub(super) type Cover = Box<dyn Fn(&str) -> String + Send + Sync>;

/// The last lines, shared by the reader thread and the errors that quote them.
pub(super) struct Tail {
    name: String,
    cover: Cover,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    line: Vec<u8>,
    kept: VecDeque<String>,
    logged: usize,
}

impl std::fmt::Debug for Tail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tail").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Tail {
    pub(super) fn new(name: &str, cover: Cover) -> Self {
        Self { name: name.to_owned(), cover, state: Mutex::default() }
    }

    /// Adds output.
    pub(super) fn push(&self, bytes: &[u8]) {
        let mut whole = Vec::new();
        {
            let mut state = self.state.lock();
            for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                let room = MAX_LINE_BYTES.saturating_sub(state.line.len());
                state.line.extend(part.iter().take(room));
                if part.ends_with(b"\n") {
                    whole.push(std::mem::take(&mut state.line));
                }
            }
        }
        whole.iter().for_each(|line| self.note(line));
    }

    /// Ends the output.
    pub(super) fn end(&self) {
        let last = std::mem::take(&mut self.state.lock().line);
        self.note(&last);
    }

    fn note(&self, line: &[u8]) {
        // Redact before truncating: the rest of a truncated secret would not be recognised.
        let covered = (self.cover)(String::from_utf8_lossy(line).trim_end());
        let shown: String = covered.chars().filter(|c| !is_hidden(*c)).take(SHOWN).collect();
        if shown.trim().is_empty() {
            return;
        }
        let logged = {
            let mut state = self.state.lock();
            state.kept.push_back(shown.clone());
            while state.kept.len() > KEPT {
                state.kept.pop_front();
            }
            state.logged += 1;
            state.logged
        };
        match logged.cmp(&LOGGED) {
            std::cmp::Ordering::Less => tracing::debug!(server = self.name, "{shown}"),
            std::cmp::Ordering::Equal => {
                tracing::debug!(server = self.name, "further output of the server is not logged")
            }
            std::cmp::Ordering::Greater => {}
        }
    }

    /// Drops the lines before another start.
    pub(super) fn forget(&self) {
        self.state.lock().kept.clear();
    }

    /// The last lines, joined.
    pub(super) fn quote(&self) -> String {
        let state = self.state.lock();
        state.kept.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_without_secrets() {
        let tail = Tail::new("x", Box::new(|line| line.replace("hunter22", "[secret]")));
        for number in 0..20 {
            tail.push(format!("line {number}\n").as_bytes());
        }
        tail.push(b"\n\x1b[31mkey hun");
        tail.push(b"ter22 is wrong");
        assert_eq!(tail.quote(), "line 15 | line 16 | line 17 | line 18 | line 19");
        tail.end();
        assert_eq!(tail.quote(), "line 16 | line 17 | line 18 | line 19 | [31mkey [secret] is wrong");
        tail.push(&[b'a'; 10_000]);
        tail.push(b"\n");
        assert!(tail.quote().ends_with(&"a".repeat(SHOWN)));
        assert!(tail.quote().len() < KEPT * (SHOWN + 10));
    }
}
