//! `tools.json`: what `cdpilot tools` turned on and off, as differences to `config.yaml`, which it never changes.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Config, Error, Home, Platform};

/// The settings of a home by their origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers {
    /// The settings of `config.yaml`, without the choices in `tools.json`.
    pub file: Config,
    /// `tools.terminal.enabled`, if `config.yaml` has it.
    terminal: Option<bool>,
    choices: Choices,
}

/// The content of `tools.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Choices {
    toolsets: Names,
    disabled: Names,
    platforms: BTreeMap<String, PlatformChoices>,
    terminal: Option<TerminalChoice>,
}

/// A list, as a difference to the one in `config.yaml`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Names {
    /// The whole list, if `config.yaml` had none. No longer used once it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    all: Option<Vec<String>>,
    add: Vec<String>,
    remove: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PlatformChoices {
    toolsets: Names,
    disabled: Names,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TerminalChoice {
    enabled: bool,
    /// The value in `config.yaml` at that time. The choice is dropped once that value changes, so that `config.yaml`
    /// can always forbid commands.
    config: Option<bool>,
}

impl Names {
    fn between(from: &[String], to: &[String]) -> Self {
        let missing = |of: &[String], other: &[String]| {
            of.iter().filter(|name| !other.contains(name)).cloned().collect::<Vec<_>>()
        };
        Self { all: None, add: missing(to, from), remove: missing(from, to) }
    }

    fn apply(&self, list: &mut Vec<String>) {
        list.retain(|name| !self.remove.contains(name));
        for name in &self.add {
            if !list.contains(name) {
                list.push(name.clone());
            }
        }
    }
}

impl Choices {
    /// The differences between `config.yaml` and the wanted settings.
    fn between(file: &Config, terminal: Option<bool>, new: &Config) -> Self {
        let none = Platform::default();
        let platforms = new.tools.platforms.iter().map(|(name, to)| {
            let from = file.tools.platforms.get(name).unwrap_or(&none);
            let toolsets = match (&from.toolsets, &to.toolsets) {
                (Some(from), Some(to)) => Names::between(from, to),
                (_, to) => Names { all: to.clone(), ..Names::default() },
            };
            let disabled = Names::between(&from.disabled, &to.disabled);
            (name.clone(), PlatformChoices { toolsets, disabled })
        });
        let enabled = new.tools.terminal.enabled;
        Self {
            toolsets: Names::between(&file.toolsets, &new.toolsets),
            disabled: Names::between(&file.tools.disabled, &new.tools.disabled),
            platforms: platforms.filter(|(_, choices)| *choices != PlatformChoices::default()).collect(),
            terminal: (enabled != file.tools.terminal.enabled).then_some(TerminalChoice { enabled, config: terminal }),
        }
    }

    fn apply(&self, config: &mut Config, terminal: Option<bool>) {
        self.toolsets.apply(&mut config.toolsets);
        self.disabled.apply(&mut config.tools.disabled);
        for (name, choices) in &self.platforms {
            let platform = config.tools.platforms.entry(name.clone()).or_default();
            match &mut platform.toolsets {
                Some(list) => choices.toolsets.apply(list),
                none => none.clone_from(&choices.toolsets.all),
            }
            choices.disabled.apply(&mut platform.disabled);
        }
        if let Some(choice) = self.terminal.filter(|choice| choice.config == terminal) {
            config.tools.terminal.enabled = choice.enabled;
        }
    }
}

impl Layers {
    /// Reads `config.yaml` and `tools.json` of a home; a missing file counts as empty.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Wrong`], [`Error::UnknownKey`].
    pub fn of(home: &Home) -> Result<Self, Error> {
        let path = home.config();
        let text = read(home, &path)?.unwrap_or_default();
        let file = Config::parse(&text, &path)?;
        let raw: Value = serde_saphyr::from_str(&text).unwrap_or_default();
        let terminal = raw.pointer("/tools/terminal/enabled").and_then(Value::as_bool);
        let path = home.tools();
        let choices = match read(home, &path)? {
            None => Choices::default(),
            Some(text) => serde_json::from_str(&text).map_err(|problem| Error::Wrong {
                at: format!("line {}", problem.line()),
                problem: format!("{problem}; `cdpilot tools` writes this file, delete it to begin anew"),
                path,
            })?,
        };
        Ok(Self { file, terminal, choices })
    }

    /// The settings that apply: those of `config.yaml` with the choices of `tools.json`.
    #[must_use]
    pub fn config(&self) -> Config {
        let mut config = self.file.clone();
        self.choices.apply(&mut config, self.terminal);
        config
    }

    /// Applies the tools of these settings and writes `tools.json`, readable by its owner only. Only the lists of tools
    /// and toolsets and `tools.terminal.enabled` are written.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn choose(&mut self, home: &Home, wanted: &Config) -> Result<(), Error> {
        self.choices = Choices::between(&self.file, self.terminal, wanted);
        let path = home.tools();
        let write = || -> io::Result<()> {
            let mut file = tempfile::Builder::new().prefix(".tools-").tempfile_in(home.root())?;
            serde_json::to_writer_pretty(&mut file, &self.choices)?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|problem| problem.error)?;
            Ok(())
        };
        write().map_err(|problem| Error::file("write", &path, &problem))
    }
}

fn read(home: &Home, path: &std::path::Path) -> Result<Option<String>, Error> {
    match home.read(path) {
        Ok(text) => Ok(Some(text)),
        Err(problem) if super::is_absent(&problem) => Ok(None),
        Err(problem) => Err(Error::file("read", path, &problem)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The settings that apply after `change` was chosen over `before` and `config.yaml` was then edited to `after`.
    fn edited(before: &str, change: impl FnOnce(&mut Config), after: &str) -> Config {
        let layers = |text: &str, choices: Choices| {
            let raw: Value = serde_saphyr::from_str(text).unwrap_or_default();
            let terminal = raw.pointer("/tools/terminal/enabled").and_then(Value::as_bool);
            Layers { file: Config::parse(text, Path::new("config.yaml")).unwrap(), terminal, choices }
        };
        let from = layers(before, Choices::default());
        let mut wanted = from.config();
        change(&mut wanted);
        let choices = Choices::between(&from.file, from.terminal, &wanted);
        assert_eq!(layers(before, choices.clone()).config(), wanted, "{choices:?}");
        let text = serde_json::to_string(&choices).unwrap();
        assert_eq!(serde_json::from_str::<Choices>(&text).unwrap(), choices);
        layers(after, choices).config()
    }

    #[test]
    fn choices_hold_when_other_names_are_edited() {
        let config = edited(
            "tools: {disabled: [a, b]}",
            |config| config.tools.disabled = vec!["b".to_owned(), "c".to_owned()],
            "toolsets: [web]\ntools: {disabled: [a, b, d]}",
        );
        assert_eq!(
            (config.tools.disabled, config.toolsets),
            (["b", "d", "c"].map(str::to_owned).to_vec(), vec!["web".to_owned()])
        );
    }

    #[test]
    fn a_list_written_later_replaces_the_one_chosen_for_a_platform() {
        let choose = |config: &mut Config| {
            let platform = config.tools.platforms.entry("mcp".to_owned()).or_default();
            platform.toolsets = Some(vec!["cdpilot-mcp".to_owned(), "todo".to_owned()]);
        };
        let of = |config: Config| config.tools.platforms["mcp"].toolsets.clone().unwrap();
        assert_eq!(of(edited("", choose, "# a comment")), ["cdpilot-mcp", "todo"]);
        assert_eq!(of(edited("", choose, "tools: {platforms: {mcp: {toolsets: [web]}}}")), ["web"]);
    }

    #[test]
    fn commands_forbidden_later_stay_forbidden() {
        let allow = |config: &mut Config| config.tools.terminal.enabled = true;
        let enabled = |config: Config| config.tools.terminal.enabled;
        let off = "tools: {terminal: {enabled: false}}";
        assert!(enabled(edited("", allow, "toolsets: [web]")) && enabled(edited(off, allow, off)));
        assert!(!enabled(edited("", allow, off)));
        let forbid = |config: &mut Config| config.tools.terminal.enabled = false;
        assert!(!enabled(edited("tools: {terminal: {enabled: true}}", forbid, "")));
    }
}
