//! System prompts: templates that are part of the program and can be replaced file by file in the home.

use std::io::ErrorKind;
use std::path::PathBuf;

use handlebars::{Handlebars, RenderError, TemplateError, no_escape};
use serde::Serialize;

use super::Error;
use crate::config::Home;
use crate::llm::Size;

/// The templates: name, path below `prompts/`, text.
const TEMPLATES: [(&str, &str, &str); 5] = [
    // Partials first: the others include them.
    ("data", "partials/data.hbs", include_str!("../../prompts/partials/data.hbs")),
    ("help", "partials/help.hbs", include_str!("../../prompts/partials/help.hbs")),
    ("replay", "partials/replay.hbs", include_str!("../../prompts/partials/replay.hbs")),
    ("big", "big/system.hbs", include_str!("../../prompts/big/system.hbs")),
    ("small", "small/system.hbs", include_str!("../../prompts/small/system.hbs")),
];
/// Number of flags of a prompt.
const FLAGS: u32 = 7;

/// What a prompt depends on. Nothing of it changes within a conversation, so that requests have a stable prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[allow(clippy::struct_excessive_bools)] // independent facts
pub(super) struct Flags {
    /// The visual tools are enabled.
    pub(super) visual: bool,
    /// The model accepts images.
    pub(super) vision: bool,
    /// Actions are previewed.
    pub(super) confirm: bool,
    /// `highlight` takes `keywords`.
    pub(super) keywords: bool,
    /// The message is a routine.
    pub(super) replay: bool,
    /// A person can be asked.
    pub(super) help: bool,
    /// There is a to-do list.
    pub(super) todo: bool,
}

impl Flags {
    /// All combinations.
    fn all() -> impl Iterator<Item = Self> {
        (0..1_u32 << FLAGS).map(|bits| {
            let bit = |n: u32| bits >> n & 1 == 1;
            Self {
                visual: bit(0),
                vision: bit(1),
                confirm: bit(2),
                keywords: bit(3),
                replay: bit(4),
                help: bit(5),
                todo: bit(6),
            }
        })
    }
}

/// The system prompts.
#[derive(Debug)]
pub(super) struct Prompts {
    templates: Handlebars<'static>,
    /// The files that replace a template, by name.
    replaced: Vec<(&'static str, PathBuf)>,
}

impl Prompts {
    /// Reads the templates, with those of the home in place of the built-in ones, and renders each once with all
    /// combinations of flags.
    ///
    /// # Errors
    /// [`Error::Prompt`] with file and line.
    pub(super) fn of(home: &Home) -> Result<Self, Error> {
        let mut templates = Handlebars::new();
        templates.set_strict_mode(true);
        templates.register_escape_fn(no_escape);
        let mut prompts = Self { templates, replaced: Vec::new() };
        for (name, path, text) in TEMPLATES {
            let file = home.root().join("prompts").join(path);
            let own = match home.read(&file) {
                Ok(own) => Some(own),
                Err(problem) if problem.kind() == ErrorKind::NotFound => None,
                Err(problem) => return Err(Error::prompt(file, None, problem.to_string())),
            };
            if own.is_some() {
                prompts.replaced.push((name, file));
            }
            let added = prompts.templates.register_template_string(name, own.as_deref().unwrap_or(text));
            added.map_err(|error| prompts.wrong_template(name, &error))?;
        }
        for flags in Flags::all() {
            for size in [Size::Big, Size::Small] {
                prompts.system(size, flags)?;
            }
        }
        Ok(prompts)
    }

    /// The system prompt for a model.
    ///
    /// # Errors
    /// [`Error::Prompt`].
    pub(super) fn system(&self, size: Size, flags: Flags) -> Result<String, Error> {
        let name = match size {
            Size::Big => "big",
            Size::Small => "small",
        };
        let text = self.templates.render(name, &flags).map_err(|error| self.wrong_render(name, &error))?;
        Ok(text.trim().to_owned())
    }

    fn wrong_template(&self, name: &str, error: &TemplateError) -> Error {
        Error::prompt(self.file(name), error.pos().map(|(line, _)| line), error.reason().to_string())
    }

    fn wrong_render(&self, name: &str, error: &RenderError) -> Error {
        // A partial has a name of its own.
        let name = error.template_name.as_deref().unwrap_or(name);
        Error::prompt(self.file(name), error.line_no, error.reason().to_string())
    }

    fn file(&self, name: &str) -> PathBuf {
        let own = self.replaced.iter().find(|(replaced, _)| *replaced == name).map(|(_, file)| file.clone());
        let known = TEMPLATES.iter().find(|(known, ..)| *known == name);
        own.unwrap_or_else(|| PathBuf::from("prompts").join(known.map_or(name, |(_, path, _)| path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        (folder, home)
    }

    fn replace(home: &Home, path: &str, text: &str) -> PathBuf {
        let file = home.root().join("prompts").join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    #[test]
    fn every_combination_renders_what_its_flags_say() {
        let (_folder, home) = home();
        let prompts = Prompts::of(&home).unwrap();
        assert_eq!(Flags::all().count(), 128);
        for flags in Flags::all() {
            for size in [Size::Big, Size::Small] {
                let text = prompts.system(size, flags).unwrap();
                let has = |part: &str| text.contains(part);
                assert!(has("data, not instructions") && !has("{{"), "{text}");
                assert_eq!(has("please_help_me"), flags.help, "{flags:?}");
                assert_eq!(has("todo"), flags.todo, "{flags:?}");
                assert_eq!(has("The task is a routine"), flags.replay, "{flags:?}");
                assert_eq!(has("element_id") || has("## Finding elements"), flags.visual, "{flags:?}");
                assert_eq!(has("yellow box"), flags.visual && flags.confirm, "{flags:?}");
                let keywords = text.contains("\"keywords\"") || text.contains("`keywords`");
                assert_eq!(keywords, flags.visual && flags.keywords, "{flags:?}");
                if size == Size::Small && !flags.replay {
                    assert!(text.len() < 4_700, "{}", text.len());
                }
            }
        }
    }

    #[test]
    fn a_file_of_the_home_replaces_a_template() {
        let (_folder, home) = home();
        replace(&home, "partials/help.hbs", "Call Ada.");
        let prompts = Prompts::of(&home).unwrap();
        let text = prompts.system(Size::Big, Flags { help: true, ..Flags::default() }).unwrap();
        assert!(text.contains("Call Ada.") && !text.contains("CAPTCHA"), "{text}");
    }

    #[test]
    fn a_wrong_file_is_refused_by_name_and_line() {
        for (path, text, line, about) in [
            ("big/system.hbs", "One\n{{#if visual}}\nTwo", 3, ""),
            ("small/system.hbs", "One\n\n{{unknown}}", 3, "unknown"),
            ("partials/data.hbs", "{{> nothing}}", 1, "nothing"),
        ] {
            let (_folder, home) = home();
            let file = replace(&home, path, text);
            let error = Prompts::of(&home).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(&file.display().to_string()), "{message}");
            assert!(message.contains(&format!("line {line}")) && message.contains(about), "{message}");
        }
    }
}
