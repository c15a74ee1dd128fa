//! Splitting command lines into words, like bash (`'…'`, `$'…'`, `"…"`, `\`) and cmd (`^`).

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// A word, and the line it starts in, from 1.
#[derive(Debug, PartialEq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) line: usize,
    /// Whether it ends a command: an unquoted `;`, `&` or `|`.
    pub(super) ends: bool,
    /// Whether it contains an invalid escape of `$'…'`.
    pub(super) faulty: bool,
}

impl Word {
    fn new(line: usize) -> Self {
        Self { text: String::new(), line, ends: false, faulty: false }
    }

    fn end(line: usize) -> Self {
        Self { ends: true, ..Self::new(line) }
    }
}

/// Maximum number of words: each takes many times the memory of its text.
pub(super) const MANY_WORDS: usize = 200_000;

/// The words of one or more commands.
pub(super) fn words(text: &str) -> Vec<Word> {
    let is_cmd = text.contains("^\"") || text.contains("^\n") || text.contains("^\r");
    if is_cmd { split(&without_carets(text), true) } else { split(text, false) }
}

/// Resolves cmd's carets: each escapes the next character, and joins lines at their end.
fn without_carets(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '^' {
            plain.push(c);
            continue;
        }
        match rest.next() {
            // A line continuation; line numbers are still counted.
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
        &mut word.get_or_insert_with(|| Word::new(line)).text
    }
    while let Some(c) = rest.next() {
        if words.len() > MANY_WORDS {
            return words;
        }
        match c {
            '\n' => {
                words.extend(word.take());
                words.push(Word::end(line));
                line += 1;
            }
            c if c.is_whitespace() => words.extend(word.take()),
            ';' | '&' | '|' => {
                words.extend(word.take());
                words.push(Word::end(line));
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
                let into = word.get_or_insert_with(|| Word::new(line));
                while let Some(c) = rest.next().filter(|c| *c != '\'') {
                    line += usize::from(c == '\n');
                    match if c == '\\' { escape(&mut rest) } else { Some(c) } {
                        Some(c) => into.text.push(c),
                        None => into.faulty = true,
                    }
                }
            }
            '"' => {
                let into = begin(&mut word, line);
                while let Some(c) = rest.next() {
                    line += usize::from(c == '\n');
                    match c {
                        // In cmd two quotes stand for one; a backslash escapes only a quote or itself.
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

/// Reads an escape of `$'…'` after its backslash. `None` if it is invalid.
fn escape(rest: &mut Chars<'_>) -> Option<char> {
    match rest.next()? {
        'a' => Some('\x07'),
        'b' => Some('\x08'),
        'e' | 'E' => Some('\x1b'),
        'f' => Some('\x0c'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'v' => Some('\x0b'),
        plain @ ('\\' | '\'' | '"' | '?') => Some(plain),
        first @ '0'..='7' => {
            let (code, count) = digits(rest, 8, 2).unwrap_or_default();
            char::from_u32((first.to_digit(8)? << (3 * count)) + code)
        }
        'x' => char::from_u32(digits(rest, 16, 2)?.0),
        'u' => utf16(rest),
        'U' => char::from_u32(digits(rest, 16, 8)?.0),
        _ => None,
    }
}

/// The character of `\uXXXX`, or of a surrogate pair of them, as developer tools write characters beyond 16 bits.
fn utf16(rest: &mut Chars<'_>) -> Option<char> {
    let (code, _) = digits(rest, 16, 4)?;
    if !(0xd800..0xdc00).contains(&code) {
        return char::from_u32(code);
    }
    let mut ahead = rest.clone();
    if (ahead.next(), ahead.next()) != (Some('\\'), Some('u')) {
        return None;
    }
    let (low, _) = digits(&mut ahead, 16, 4)?;
    if !(0xdc00..0xe000).contains(&low) {
        return None;
    }
    *rest = ahead;
    char::from_u32(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00))
}

/// A number of at most `most` digits, and the number of digits.
fn digits(rest: &mut Chars<'_>, radix: u32, most: u32) -> Option<(u32, u32)> {
    let (mut code, mut count) = (0_u32, 0);
    while count < most
        && let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix))
    {
        code = code * radix + digit;
        count += 1;
        rest.next();
    }
    (count > 0).then_some((code, count))
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
