//! Symbols and colors. Also a part of the example `demo`.

/// Symbols and colors on a capable terminal, plain ASCII everywhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Rich,
}

impl Style {
    pub(crate) fn of(terminal: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if terminal && !set("NO_COLOR") && !dumb { Self::Rich } else { Self::Plain }
    }

    /// `rich` on a capable terminal, else `plain`.
    pub(crate) fn pick<'a>(self, rich: &'a str, plain: &'a str) -> &'a str {
        if self == Self::Rich { rich } else { plain }
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Rich => format!("\x1b[{code}m{text}\x1b[0m"),
            Self::Plain => text.to_owned(),
        }
    }
}
