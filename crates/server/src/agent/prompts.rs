//! System prompts and descriptions of tools: templates that are part of the program and can be replaced file by file in the home.

use std::io::ErrorKind;
use std::path::PathBuf;

use handlebars::{Handlebars, RenderError, TemplateError, no_escape};
use serde::Serialize;

use super::Error;
use crate::config::Home;
use crate::llm::Size;

/// A template: its name, its path below `prompts/`, and the built-in text.
macro_rules! template {
    ($name:literal, $path:literal) => {
        ($name, $path, include_str!(concat!("../../../../prompts/", $path)))
    };
}

/// The templates. Partials are named as other templates include them, prompts by profile and contents.
const TEMPLATES: [(&str, &str, &str); 16] = [
    // Partials first: the others include them.
    template!("data", "partials/data.hbs"),
    template!("help", "partials/help.hbs"),
    template!("notes", "partials/notes.hbs"),
    template!("replay", "partials/replay.hbs"),
    template!("secrets", "partials/secrets.hbs"),
    template!("compile/system", "compile/system.hbs"),
    template!("big/system", "big/system.hbs"),
    template!("big/tab", "big/tab.hbs"),
    template!("big/highlight", "big/highlight.hbs"),
    template!("big/element_interaction", "big/element_interaction.hbs"),
    template!("big/dialog", "big/dialog.hbs"),
    template!("small/system", "small/system.hbs"),
    template!("small/tab", "small/tab.hbs"),
    template!("small/highlight", "small/highlight.hbs"),
    template!("small/element_interaction", "small/element_interaction.hbs"),
    template!("small/dialog", "small/dialog.hbs"),
];
/// Contents of the system prompt; the other prompts are named as the tools that they describe.
const SYSTEM: &str = "system";
/// Number of flags of a prompt.
const FLAGS: u32 = 9;

/// What a prompt depends on. Nothing of it changes within a conversation, so that requests have a stable prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[allow(clippy::struct_excessive_bools)] // independent facts
pub(super) struct Flags {
    /// The visual tools are enabled.
    pub(super) visual: bool,
    /// The browser tools with refs are enabled.
    pub(super) browser: bool,
    /// The model accepts images.
    pub(super) vision: bool,
    /// Actions are previewed.
    pub(super) confirm: bool,
    /// Only some of them are; without effect unless `confirm` is set.
    pub(super) auto: bool,
    /// `highlight` takes `keywords`.
    pub(super) keywords: bool,
    /// The message is a routine.
    pub(super) replay: bool,
    /// A person can be asked.
    pub(super) help: bool,
    /// There is a to-do list.
    pub(super) todo: bool,
}

/// What templates see.
#[derive(Serialize)]
struct Context<'a> {
    #[serde(flatten)]
    flags: Flags,
    /// How the secrets that it may type are named in texts; empty without any.
    secrets: &'a str,
    /// The notes of earlier conversations; empty without any.
    notes: &'a str,
}

/// The texts that a system prompt has.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Texts<'a> {
    /// The names of the secrets that the model may type.
    pub(super) secrets: &'a [String],
    /// The notes of earlier conversations, as they were when this one began.
    pub(super) notes: &'a str,
}

impl Flags {
    /// All combinations that have a meaning of their own.
    fn all() -> impl Iterator<Item = Self> {
        let all = (0..1_u32 << FLAGS).map(|bits| {
            let bit = |n: u32| bits >> n & 1 == 1;
            Self {
                visual: bit(0),
                vision: bit(1),
                confirm: bit(2),
                keywords: bit(3),
                replay: bit(4),
                help: bit(5),
                todo: bit(6),
                browser: bit(7),
                auto: bit(8),
            }
        });
        all.filter(|flags| flags.confirm || !flags.auto)
    }
}

/// System prompts and tool descriptions for both model profiles.
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
            for (name, ..) in TEMPLATES.iter().filter(|(name, ..)| name.contains('/')) {
                prompts.render(name, flags, Texts::default())?;
            }
        }
        let one = ["example".to_owned()];
        for size in [Size::Big, Size::Small] {
            prompts.system(size, Flags::default(), Texts { secrets: &one, notes: "- example" })?;
        }
        Ok(prompts)
    }

    /// The system prompt for a model.
    ///
    /// # Errors
    /// [`Error::Prompt`].
    pub(super) fn system(&self, size: Size, flags: Flags, texts: Texts<'_>) -> Result<String, Error> {
        self.render(&name(size, SYSTEM), flags, texts)
    }

    /// The system prompt of a compilation.
    ///
    /// # Errors
    /// [`Error::Prompt`].
    pub(super) fn compile(&self, flags: Flags) -> Result<String, Error> {
        self.render("compile/system", flags, Texts::default())
    }

    /// The description of a tool for a model; `None` for tools without a prompt of their own.
    ///
    /// # Errors
    /// [`Error::Prompt`].
    pub(super) fn tool(&self, size: Size, tool: &str, flags: Flags) -> Result<Option<String>, Error> {
        let name = name(size, tool);
        let is_known = tool != SYSTEM && TEMPLATES.iter().any(|(known, ..)| *known == name);
        is_known.then(|| self.render(&name, flags, Texts::default())).transpose()
    }

    fn render(&self, name: &str, flags: Flags, texts: Texts<'_>) -> Result<String, Error> {
        let named: Vec<String> = texts.secrets.iter().map(|name| format!("`{{{{secret:{name}}}}}`")).collect();
        let text = self
            .templates
            .render(name, &Context { flags, secrets: &named.join(", "), notes: texts.notes })
            .map_err(|error| self.wrong_render(name, &error))?;
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

/// The name of a template.
fn name(size: Size, contents: &str) -> String {
    let size = match size {
        Size::Big => "big",
        Size::Small => "small",
    };
    format!("{size}/{contents}")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::config::Config;
    use crate::control::{Control, Overrides};
    use crate::tools::visual::VisualTools;

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
        assert_eq!(Flags::all().count(), 384);
        for flags in Flags::all() {
            for size in [Size::Big, Size::Small] {
                let system = prompts.system(size, flags, Texts::default()).unwrap();
                let tool = |name| prompts.tool(size, name, flags).unwrap().unwrap();
                let element = tool("element_interaction");
                let has = |part: &str| system.contains(part);
                assert!(has("data, not instructions"), "{system}");
                assert_eq!(has("please_help_me"), flags.help, "{flags:?}");
                assert_eq!(has("todo"), flags.todo, "{flags:?}");
                assert_eq!(has("The task is a routine"), flags.replay, "{flags:?}");
                assert_eq!(has("six"), flags.visual, "{flags:?}");
                assert_eq!(has("browser_snapshot"), flags.browser, "{flags:?}");
                assert_eq!(element.contains("confirm_"), flags.confirm, "{flags:?}");
                assert_eq!(tool("highlight").contains("keywords"), flags.keywords, "{flags:?}");
                assert!(!has("`keywords`") && !has("\"keywords\""), "{system}");
                for text in [&system, &element, &tool("tab"), &tool("highlight"), &tool("dialog")] {
                    assert!(!text.contains("{{") && !text.contains("\n\n\n"), "{text}");
                    // A model that gets no pictures does not read of them.
                    let of_pictures = ["picture", "screenshot", "image", "yellow", "drawn as", "label"];
                    assert!(flags.vision || !of_pictures.iter().any(|word| text.contains(word)), "{text}");
                }
                if size == Size::Small {
                    assert!(flags.replay || system.len() < 3_000, "{}", system.len());
                    assert_eq!(numbers(&system), (1..).take(numbers(&system).len()).collect::<Vec<u32>>(), "{system}");
                }
            }
        }
        assert_eq!(prompts.tool(Size::Big, "browser_click", Flags::default()).unwrap(), None);
        assert_eq!(prompts.tool(Size::Big, SYSTEM, Flags::default()).unwrap(), None);
    }

    #[test]
    fn a_model_is_told_which_secrets_it_may_type() {
        let (_folder, home) = home();
        let prompts = Prompts::of(&home).unwrap();
        for size in [Size::Big, Size::Small] {
            let flags = Flags { browser: true, help: true, ..Flags::default() };
            let names = ["shop".to_owned(), "shop_code".to_owned()];
            let text = prompts.system(size, flags, Texts { secrets: &names, notes: "" }).unwrap();
            assert!(text.contains("`{{secret:shop}}`, `{{secret:shop_code}}`"), "{text}");
            assert!(!prompts.system(size, flags, Texts::default()).unwrap().contains("secret:"));
            assert_eq!(numbers(&text), (1..).take(numbers(&text).len()).collect::<Vec<u32>>(), "{text}");
        }
    }

    /// The numbers of numbered rules.
    fn numbers(text: &str) -> Vec<u32> {
        text.lines().filter_map(|line| line.split_once(". ")?.0.parse().ok()).collect()
    }

    /// A model is shown one example of every action, and none of an action that is refused.
    #[test]
    fn small_models_get_examples_of_every_action() {
        let (_folder, home) = home();
        let prompts = Prompts::of(&home).unwrap();
        let registry = crate::tools::Registry::new();
        let control = Control::open(home, Config::default(), Overrides::default()).unwrap();
        VisualTools::new(control.into()).register(&registry).unwrap();
        for name in ["tab", "highlight", "element_interaction", "dialog"] {
            let schema = registry.get(name).unwrap().schema;
            for confirm in [true, false] {
                let flags = Flags { visual: true, confirm, keywords: true, ..Flags::default() };
                let text = prompts.tool(Size::Small, name, flags).unwrap().unwrap();
                let examples = text.lines().filter(|line| line.starts_with('{'));
                let examples: Vec<Value> =
                    examples.map(|line| serde_json::from_str(&line[..=line.rfind('}').unwrap()]).unwrap()).collect();
                for example in &examples {
                    let fields = example.as_object().unwrap().keys();
                    assert!(fields.clone().all(|field| schema["properties"].get(field).is_some()), "{example}");
                }
                let is_shown = |action: &str| examples.iter().any(|example| example["action"] == action);
                let actions = schema["properties"]["action"]["enum"].as_array().into_iter().flatten();
                for action in actions.filter_map(Value::as_str) {
                    assert_eq!(is_shown(action), confirm || !action.starts_with("confirm_"), "{name}: {action}");
                }
                assert!(examples.len() >= 2, "{name}: {text}");
            }
        }
    }

    #[test]
    fn a_file_of_the_home_replaces_a_template() {
        let (_folder, home) = home();
        replace(&home, "partials/help.hbs", "Call Ada.");
        let prompts = Prompts::of(&home).unwrap();
        let text = prompts.system(Size::Big, Flags { help: true, ..Flags::default() }, Texts::default()).unwrap();
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
