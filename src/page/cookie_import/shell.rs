//! Words of a command line as shells read them: bash (`'…'`, `$'…'`, `"…"`, `\`) and cmd (`^`).

/// A word, and the line that it begins in, counted from 1.
#[derive(Debug, PartialEq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) line: usize,
    /// It ends a command: `;`, `&`, `|`, unquoted.
    pub(super) ends: bool,
}

/// The words of one or more commands.
pub(super) fn words(text: &str) -> Vec<Word> {
    let is_cmd = text.contains("^\"") || text.contains("^\n") || text.contains("^\r");
    if is_cmd { split(&without_carets(text), true) } else { split(text, false) }
}

/// What cmd makes of carets: each stands for the character behind it, and joins lines at their end.
fn without_carets(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '^' {
            plain.push(c);
            continue;
        }
        match rest.next() {
            // The line goes on; what lines there are is still counted.
            Some('\r') if rest.peek() == Some(&'\n') => {
                rest.next();
                plain.push_str("\\\n");
            }
            Some('\n') => plain.push_str("\\\n"),
            Some(other) => plain.push(other),
            None => {}
        }
    }
    plain
}

fn split(text: &str, is_cmd: bool) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    let mut line = 1;
    let mut rest = text.chars().peekable();
    fn begin(word: &mut Option<Word>, line: usize) -> &mut String {
        &mut word.get_or_insert_with(|| Word { text: String::new(), line, ends: false }).text
    }
    while let Some(c) = rest.next() {
        match c {
            '\n' => {
                words.extend(word.take());
                words.push(Word { text: String::new(), line, ends: true });
                line += 1;
            }
            c if c.is_whitespace() => words.extend(word.take()),
            ';' | '&' | '|' => {
                words.extend(word.take());
                words.push(Word { text: String::new(), line, ends: true });
            }
            '\\' => match rest.next() {
                Some('\n') => line += 1,
                Some('\r') if rest.peek() == Some(&'\n') => {
                    rest.next();
                    line += 1;
                }
                Some(other) => begin(&mut word, line).push(other),
                None => {}
            },
            '\'' if !is_cmd => {
                let into = begin(&mut word, line);
                for c in rest.by_ref().take_while(|c| *c != '\'') {
                    line += usize::from(c == '\n');
                    into.push(c);
                }
            }
            '$' if !is_cmd && rest.peek() == Some(&'\'') => {
                rest.next();
                let into = begin(&mut word, line);
                while let Some(c) = rest.next().filter(|c| *c != '\'') {
                    line += usize::from(c == '\n');
                    match c {
                        '\\' => into.extend(escape(&mut rest)),
                        c => into.push(c),
                    }
                }
            }
            '"' => {
                let into = begin(&mut word, line);
                while let Some(c) = rest.next() {
                    line += usize::from(c == '\n');
                    match c {
                        // In cmd two quotes are one; a backslash stands before a quote or itself only.
                        '"' if is_cmd && rest.peek() == Some(&'"') => into.extend(rest.next()),
                        '"' => break,
                        '\\' => match rest.peek() {
                            Some('"' | '\\') => into.extend(rest.next()),
                            Some('$' | '`') if !is_cmd => into.extend(rest.next()),
                            Some('\n') => {
                                rest.next();
                                line += 1;
                            }
                            _ => into.push('\\'),
                        },
                        c => into.push(c),
                    }
                }
            }
            c => begin(&mut word, line).push(c),
        }
    }
    words.extend(word);
    words
}

/// An escape of `$'…'`, behind its backslash.
fn escape(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<char> {
    match rest.next()? {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'x' => hex(rest, 2),
        'u' => hex(rest, 4),
        other => Some(other),
    }
}

/// The character of up to so many hexadecimal digits.
fn hex(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, most: usize) -> Option<char> {
    let mut code = 0;
    for _ in 0..most {
        let Some(digit) = rest.peek().and_then(|c| c.to_digit(16)) else { break };
        code = code * 16 + digit;
        rest.next();
    }
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, usize)> {
        words(text).into_iter().filter(|word| !word.ends).map(|word| (word.text, word.line)).collect()
    }

    fn texts(text: &str) -> Vec<String> {
        read(text).into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn bash_is_read() {
        assert_eq!(texts(r#"curl 'a b' "c \"d\" $e" f\ g -H'x'"#), ["curl", "a b", "c \"d\" $e", "f g", "-Hx"]);
        assert_eq!(texts(r"$'it\'s \u0021 \x41 \n'"), ["it's ! A \n"]);
        assert_eq!(
            read("curl \\\n  'a' \\\r\n  b"),
            [("curl".to_owned(), 1), ("a".to_owned(), 2), ("b".to_owned(), 3)]
        );
        assert_eq!(texts("a '' ''"), ["a", "", ""]);
        assert_eq!(texts("'open"), ["open"]);
    }

    #[test]
    fn cmd_is_read() {
        assert_eq!(
            read("curl ^\"https://x/?a=1^&b=2^\" ^\r\n  -H ^\"A: ^\\^\"q^\\^\" ^%^7B^\" ^\n -b ^\"c=d^\""),
            [
                ("curl".to_owned(), 1),
                ("https://x/?a=1&b=2".to_owned(), 1),
                ("-H".to_owned(), 2),
                ("A: \"q\" %7B".to_owned(), 2),
                ("-b".to_owned(), 3),
                ("c=d".to_owned(), 3)
            ]
        );
        assert_eq!(
            texts("curl \"https://x\" ^\n -H \"A: \"\"q\"\" it's\""),
            ["curl", "https://x", "-H", "A: \"q\" it's"]
        );
    }

    #[test]
    fn commands_end() {
        let ends = words("a ;\nb & c").iter().filter(|word| word.ends).count();
        assert_eq!(ends, 3);
    }
}
