//! The grammar of locators: `role=button[name="Save"]`, `text=…`, chained by ` >> `.
//!
//! Pure: from a text to its steps.

use serde::Serialize;

/// Maximum length of a locator, in bytes.
const MAX_LENGTH: usize = 2_000;
/// Maximum number of steps.
const MAX_STEPS: usize = 20;
/// Attributes of roles, besides `name`.
const STATES: [&str; 7] = ["checked", "disabled", "expanded", "level", "pressed", "selected", "required"];

/// The roles of ARIA, and those that snapshots have besides.
const ROLES: &[&str] = &[
    "alert",
    "alertdialog",
    "application",
    "article",
    "audio",
    "banner",
    "blockquote",
    "button",
    "canvas",
    "caption",
    "cell",
    "checkbox",
    "code",
    "columnheader",
    "combobox",
    "comment",
    "complementary",
    "contentinfo",
    "definition",
    "deletion",
    "dialog",
    "directory",
    "document",
    "embed",
    "emphasis",
    "feed",
    "figure",
    "form",
    "generic",
    "grid",
    "gridcell",
    "group",
    "heading",
    "iframe",
    "img",
    "insertion",
    "label",
    "legend",
    "link",
    "list",
    "listbox",
    "listitem",
    "log",
    "main",
    "mark",
    "marquee",
    "math",
    "menu",
    "menubar",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "meter",
    "navigation",
    "none",
    "note",
    "object",
    "option",
    "paragraph",
    "presentation",
    "progressbar",
    "radio",
    "radiogroup",
    "region",
    "row",
    "rowgroup",
    "rowheader",
    "scrollbar",
    "search",
    "searchbox",
    "separator",
    "slider",
    "spinbutton",
    "status",
    "strong",
    "subscript",
    "suggestion",
    "superscript",
    "svg",
    "switch",
    "tab",
    "table",
    "tablist",
    "tabpanel",
    "term",
    "text",
    "textbox",
    "time",
    "timer",
    "toolbar",
    "tooltip",
    "tree",
    "treegrid",
    "treeitem",
    "video",
    "summary",
    "details",
    "file",
];

/// One step of a locator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Elements that match.
    Match(Matcher),
    /// One of the matches so far: from 0, or from the end if negative.
    Nth(i32),
    /// A ref from a snapshot.
    Ref(String),
}

/// How elements are matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Matcher {
    /// What the text is compared with.
    pub(super) engine: Engine,
    /// The role, text, label, placeholder, test id or CSS selector.
    pub(super) text: String,
    /// Whether the whole text must match, including case.
    pub(super) exact: bool,
    /// Conditions on a role.
    pub(super) attributes: Vec<Attribute>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Engine {
    Role,
    Text,
    Label,
    Placeholder,
    TestId,
    Css,
}

/// `[name="Save"]`, `[checked]`, `[level=2]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Attribute {
    pub(super) name: String,
    /// `=` for the whole value, `*=` for a part of it regardless of case.
    pub(super) op: &'static str,
    pub(super) value: String,
}

/// The locator with its last step matching whole texts only, if that step matches parts of texts.
pub(super) fn whole(locator: &str) -> Option<String> {
    let Some(Step::Match(last)) = parse(locator).ok()?.pop() else { return None };
    let is_part = matches!(last.engine, Engine::Text | Engine::Label | Engine::Placeholder) && !last.exact;
    let before = locator.strip_suffix(&last.text).filter(|_| is_part && !last.text.contains('"'))?;
    Some(format!("{before}\"{}\"", last.text))
}

/// The text or name that the last step of a locator seeks.
pub(super) fn sought(locator: &str) -> Option<String> {
    let Step::Match(last) = parse(locator).ok()?.into_iter().rfind(|step| !matches!(step, Step::Nth(_)))? else {
        return None;
    };
    match last.engine {
        Engine::Text | Engine::Label | Engine::Placeholder => Some(last.text),
        Engine::Role => last.attributes.into_iter().find(|one| one.name == "name").map(|name| name.value),
        Engine::TestId | Engine::Css => None,
    }
}

/// A locator without the `nth` at its end, and that `nth`.
pub(super) fn without_nth(locator: &str) -> Option<(String, i32)> {
    let Some(Step::Nth(nth)) = parse(locator).ok()?.pop() else { return None };
    let before = locator.rsplit_once(">>")?.0.trim_end();
    Some((before.to_owned(), nth))
}

/// Whether a text starts like a locator. Anything else may be a CSS selector.
pub(in crate::page) fn is_locator(text: &str) -> bool {
    const ENGINES: [&str; 8] = ["role", "text", "label", "placeholder", "testid", "data-testid", "css", "ref"];
    text.split_once('=').is_some_and(|(engine, _)| ENGINES.contains(&engine.trim()))
}

/// Parses a locator. The error says what is wrong and what is expected.
pub(super) fn parse(text: &str) -> Result<Vec<Step>, String> {
    if text.len() > MAX_LENGTH {
        return Err(format!("the locator is longer than {MAX_LENGTH} characters"));
    }
    let steps: Vec<Step> = chain(text).into_iter().map(step).collect::<Result<_, _>>()?;
    if steps.len() > MAX_STEPS {
        return Err(format!("the locator has more than {MAX_STEPS} steps"));
    }
    if !matches!(steps.last(), Some(Step::Match(_) | Step::Ref(_) | Step::Nth(_))) || matches!(steps[0], Step::Nth(_)) {
        return Err("nth picks one of the matches of the step before it; start with another step".to_owned());
    }
    if steps.iter().skip(1).any(|step| matches!(step, Step::Ref(_))) {
        return Err("a ref must be the first step of a locator".to_owned());
    }
    Ok(steps)
}

/// The parts between `>>` outside quotes.
fn chain(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut quote, mut escaped) = (Vec::new(), 0, None, false);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if byte == b'\\' => escaped = true,
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            // An apostrophe inside a word is not a quote.
            None if byte == b'"' || (byte == b'\'' && at > 0 && matches!(bytes[at - 1], b'=' | b'[' | b'(')) => {
                quote = bytes[at + 1..].contains(&byte).then_some(byte);
            }
            None if bytes[at..].starts_with(b">>") => {
                parts.push(text[from..at].trim());
                from = at + 2;
                at += 1;
            }
            None => {}
        }
        at += 1;
    }
    parts.push(text[from..].trim());
    parts
}

fn step(part: &str) -> Result<Step, String> {
    const HELP: &str = "a locator is role=button[name=\"Save\"], text=…, label=…, placeholder=…, testid=…, css=… or ref=e12, \
                        chained by >>";
    let Some((engine, value)) = part.split_once('=') else {
        return Err(format!("{part:?} is not a locator; {HELP}"));
    };
    let value = value.trim();
    if value.is_empty() {
        return Err(format!("{part:?} has no value after the equals sign; {HELP}"));
    }
    let plain = |engine| {
        if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\''))
            && (value.len() == 1 || !value.ends_with(quote))
            && quote == '"'
        {
            return Err(format!("the quote of {part:?} is not closed; end it with {quote}, or leave both quotes out"));
        }
        let (text, exact) = unquoted(value);
        Ok(Step::Match(Matcher { engine, text, exact, attributes: Vec::new() }))
    };
    match engine.trim() {
        "role" => role(value),
        "text" => plain(Engine::Text),
        "label" => plain(Engine::Label),
        "placeholder" => plain(Engine::Placeholder),
        "testid" | "data-testid" => plain(Engine::TestId),
        "css" => Ok(Step::Match(Matcher {
            engine: Engine::Css,
            text: value.to_owned(),
            exact: true,
            attributes: Vec::new(),
        })),
        "ref" => Ok(Step::Ref(value.to_owned())),
        "nth" => value.parse().map(Step::Nth).map_err(|_| format!("nth={value} is not a number; 0 is the first match")),
        other => Err(format!("unknown locator {other:?}; {HELP}")),
    }
}

/// The known role that an unknown one is a misspelling of. Other unknown roles are searched for: pages may have any.
fn misspelt(role: &str) -> Option<&'static str> {
    if ROLES.contains(&role) {
        return None;
    }
    ROLES.iter().copied().find(|known| known.len() > 3 && is_one_edit_apart(role.as_bytes(), known.as_bytes()))
}

/// Whether two texts differ by one character that was added, left out, replaced or swapped with the next one.
fn is_one_edit_apart(one: &[u8], other: &[u8]) -> bool {
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[start..], &other[start..]);
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    match (&one[..one.len() - end], &other[..other.len() - end]) {
        ([] | [_], [_]) | ([_], []) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

/// `button[name="Save"][checked]`.
fn role(value: &str) -> Result<Step, String> {
    let (role, mut rest) = value.split_at(value.find('[').unwrap_or(value.len()));
    let role = match role.trim().to_ascii_lowercase().as_str() {
        "image" => "img".to_owned(),
        role => role.to_owned(),
    };
    if role.is_empty() || !role.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err(format!("{role:?} is not a role; roles are those of a snapshot, such as button, link or textbox"));
    }
    if let Some(near) = misspelt(&role) {
        return Err(format!("{role:?} is not a role; did you mean {near}?"));
    }
    let mut attributes = Vec::new();
    while !rest.trim().is_empty() {
        let open = rest
            .trim_start()
            .strip_prefix('[')
            .ok_or_else(|| format!("{rest:?} is not of the form [attribute=value]"))?;
        let end = closing(open).ok_or_else(|| {
            format!("the bracket of {rest:?} is not closed; end it with ], as in role=button[name=\"Save\"]")
        })?;
        attributes.push(attribute(&open[..end])?);
        rest = &open[end + 1..];
    }
    Ok(Step::Match(Matcher { engine: Engine::Role, text: role, exact: true, attributes }))
}

/// The position of the closing bracket outside quotes.
fn closing(text: &str) -> Option<usize> {
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in text.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == ']' => return Some(at),
            None => {}
        }
    }
    None
}

fn attribute(text: &str) -> Result<Attribute, String> {
    let (name, op, value) = match text.split_once('=') {
        None => (text.trim(), "=", "true".to_owned()),
        Some((name, value)) => match name.strip_suffix('*') {
            Some(name) => (name.trim(), "*=", unquoted(value.trim()).0),
            None => (name.trim(), "=", unquoted(value.trim()).0),
        },
    };
    if name != "name" && !STATES.contains(&name) {
        return Err(format!("unknown attribute {name:?} of a role; use name, {}", STATES.join(", ")));
    }
    Ok(Attribute { name: name.to_owned(), op, value })
}

/// A text without its quotes, and whether it had some.
fn unquoted(text: &str) -> (String, bool) {
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner.filter(|_| text.len() >= 2) {
            let mut plain = String::with_capacity(inner.len());
            let mut chars = inner.chars();
            while let Some(c) = chars.next() {
                plain.extend(if c == '\\' { chars.next() } else { Some(c) });
            }
            return (plain, true);
        }
    }
    (text.to_owned(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Matcher {
        match parse(text).unwrap().remove(0) {
            Step::Match(matcher) => matcher,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn misspelt_roles_and_open_quotes_are_refused() {
        for (text, near) in [("role=buton", "button"), ("role=lnik", "link"), ("role=dialogg[name=a]", "dialog")] {
            assert!(parse(text).unwrap_err().contains(&format!("did you mean {near}?")), "{text}");
        }
        for text in ["role=button", "role=gizmo", "role=tab", "role=img", "role=image"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        assert!(parse("text=\"Save").unwrap_err().contains("is not closed"));
        assert!(parse("role=button[name=Save").unwrap_err().contains("end it with ]"));
        assert_eq!(without_nth("css=p >> text=Save >> nth=9"), Some(("css=p >> text=Save".to_owned(), 9)));
        assert_eq!(without_nth("text=Save"), None);
    }

    #[test]
    fn every_way_to_name_an_element_is_read() {
        for (text, engine, value, exact) in [
            ("text=Sign in", Engine::Text, "Sign in", false),
            ("text=\"Sign in\"", Engine::Text, "Sign in", true),
            ("text=Don't >> nth=0", Engine::Text, "Don't", false),
            ("text='a >> b'", Engine::Text, "a >> b", true),
            ("label=E-mail", Engine::Label, "E-mail", false),
            ("placeholder=Search…", Engine::Placeholder, "Search…", false),
            ("testid=login-form", Engine::TestId, "login-form", false),
            ("css=a[href='#x'] > b", Engine::Css, "a[href='#x'] > b", true),
            (" role = Button ", Engine::Role, "button", true),
            ("text=a=b", Engine::Text, "a=b", false),
        ] {
            let read = one(text);
            assert_eq!((read.engine, read.text.as_str(), read.exact), (engine, value, exact), "{text}");
        }
        assert_eq!(parse("ref=e12").unwrap(), [Step::Ref("e12".to_owned())]);
    }

    #[test]
    fn roles_are_narrowed_by_name_and_state() {
        let read = one(r#"role=checkbox[name="Say \"hi\" ] now"][checked][level=2][name*=part]"#);
        let attributes: Vec<_> = read.attributes.iter().map(|a| (a.name.as_str(), a.op, a.value.as_str())).collect();
        assert_eq!(
            attributes,
            [("name", "=", "Say \"hi\" ] now"), ("checked", "=", "true"), ("level", "=", "2"), ("name", "*=", "part")]
        );
    }

    #[test]
    fn chains_are_read_in_order() {
        let steps = parse("role=dialog >> css=form>>text=\"Save >> exit\" >> nth=-1").unwrap();
        assert_eq!(steps.len(), 4);
        assert_eq!(steps[3], Step::Nth(-1));
        assert!(matches!(&steps[2], Step::Match(matcher) if matcher.text == "Save >> exit"));
    }

    #[test]
    fn what_is_no_locator_says_what_there_is() {
        for (text, part) in [
            ("", "is not a locator"),
            ("#id", "css="),
            ("button", "role="),
            ("xpath=//a", "unknown locator"),
            ("role=", "no value after"),
            ("role=but ton", "is not a role"),
            ("role=button[name=\"x\"", "not closed"),
            ("role=button[color=red]", "unknown attribute"),
            ("role=button name", "is not a role"),
            ("nth=1", "start with another step"),
            ("text=a >> nth=x", "not a number"),
            ("text=a >> ref=e1", "first step"),
            ("text=a >> ", "is not a locator"),
        ] {
            let problem = parse(text).unwrap_err();
            assert!(problem.contains(part), "{text}: {problem}");
        }
        assert!(parse(&"text=a >> ".repeat(300)).is_err());
    }

    #[test]
    fn the_locator_for_a_whole_text_is_proposed_where_a_part_was_given() {
        for (part, wanted) in [
            ("text=Add", Some("text=\"Add\"")),
            ("role=list >> label=Mail address", Some("role=list >> label=\"Mail address\"")),
            ("text=\"Add\"", None),
            ("role=button[name=\"Add\"]", None),
            ("css=a", None),
            ("text=Add >> nth=0", None),
        ] {
            assert_eq!(whole(part).as_deref(), wanted, "{part}");
        }
    }
}
