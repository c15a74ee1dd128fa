//! Assembles the tools of a home.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use serde_json::Value;

use super::browser::BrowserTools;
use super::files;
use super::session_search::{self, HomeStore};
use super::toolsets::{Enabled, Toolsets};
use super::visual::VisualTools;
use super::web::BackgroundTabs;
use super::{
    AskUser, Registry, RegistryError, Scope, clarify, memory, search, secrets, skills, terminal, todo, vision, web,
};
use crate::config::{Config, Home, Token};
use crate::control::Control;
use crate::llm::{self, Client, Models};
use crate::store::Store;
use cdpilot::redact::{ChangingSecrets, Secrets};
use cdpilot::setters;

/// Prefix of the toolsets of entry points.
const PREFIX: &str = "cdpilot-";
/// Maximum number of times that `llm.json` is read again because it changed meanwhile.
const MOST_READS: u32 = 8;

/// Why a toolbox cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum ToolboxError {
    /// Two tools have the same name.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// Options of a toolbox.
#[derive(Clone, Default)]
pub struct ToolboxOptions {
    /// Profile whose browser is used [the default profile].
    pub profile: Option<String>,
    /// Workspace of file and terminal tools [`tools.workspace`, else the working directory].
    pub workspace: Option<PathBuf>,
    /// Asks the user [`clarify` is unavailable].
    pub ask: Option<Arc<dyn AskUser>>,
}

impl ToolboxOptions {
    /// The default options, as [`Default`] gives them.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { ToolboxOptions:
    profile(some into String),
    workspace(some into PathBuf),
    ask(some Arc<dyn AskUser>),
}

impl std::fmt::Debug for ToolboxOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { profile, workspace, ask } = self;
        let options = &mut f.debug_struct("ToolboxOptions");
        options.field("profile", profile).field("workspace", workspace).field("ask", &ask.is_some()).finish()
    }
}

/// The tools of a home. Cheap to clone; clones are the same toolbox.
#[derive(Debug, Clone)]
pub struct Toolbox {
    registry: Arc<Registry>,
    toolsets: Toolsets,
    control: Arc<Control>,
    scope: Scope,
    models: Arc<ModelTools>,
    store: HomeStore,
}

/// What depends on the settings of models.
#[derive(Debug)]
struct ModelTools {
    /// The browser tools, without a vision model.
    browser: BrowserTools,
    background: BackgroundTabs,
    secrets: ChangingSecrets,
    /// The `llm.json` that is in use. Locked only to copy or change it.
    file: Mutex<FileVersion>,
}

/// Tells versions of a file apart: time of modification and length; `None` without a file.
type FileVersion = Option<(SystemTime, u64)>;

impl Toolbox {
    /// Creates the tools of a home. Starts no browser and no other process.
    ///
    /// # Errors
    /// [`ToolboxError`].
    pub fn open(control: &Arc<Control>, options: &ToolboxOptions) -> Result<Self, ToolboxError> {
        Self::open_with(control, options, &ChangingSecrets::default())
    }

    /// Like [`open`](Self::open); keeps the secrets of models in `of_models`.
    pub(crate) fn open_with(
        control: &Arc<Control>,
        options: &ToolboxOptions,
        of_models: &ChangingSecrets,
    ) -> Result<Self, ToolboxError> {
        let config = control.config();
        let secrets = secrets::secrets_with(control, of_models);
        let registry = Arc::new(Registry::covering(secrets.clone()));
        let browser = BrowserTools::new(Arc::clone(control)).covering(secrets.clone());
        browser.register(&registry)?;
        VisualTools::new(Arc::clone(control)).covering(secrets.clone()).register(&registry)?;
        without_browser(&registry, config, &secrets)?;
        let background = BackgroundTabs::new(Arc::clone(control));
        web::register(&registry, &background)?;
        search::register(&registry, &config.tools.search)?;
        let store = HomeStore::default();
        session_search::register(&registry, &store, &secrets)?;
        memory::register(&registry, control.home(), config, &secrets)?;
        skills::register(&registry, control.home(), &secrets)?;
        let toolsets = Toolsets::new(Arc::clone(&registry), config.custom_toolsets.clone());
        let scope = Scope::new(control.home(), config, options);
        let models = ModelTools { browser, background, secrets: of_models.clone(), file: Mutex::default() };
        let toolbox = Self { registry, toolsets, control: Arc::clone(control), scope, models: Arc::new(models), store };
        toolbox.apply_models()?;
        Ok(toolbox)
    }

    /// Applies the settings of models if `llm.json` has changed since they were read: the next call of a vision tool uses
    /// the new model and key, and new keys are redacted. Checks the time and the length of the file.
    ///
    /// # Errors
    /// [`ToolboxError`].
    pub fn refresh_models(&self) -> Result<(), ToolboxError> {
        let known = *self.models.file.lock();
        if known == self.file_version() { Ok(()) } else { self.apply_models() }
    }

    /// Reads `llm.json` and applies it: secrets to redact, and the vision model.
    pub(crate) fn apply_models(&self) -> Result<(), ToolboxError> {
        for _ in 0..MOST_READS {
            let version = self.file_version();
            let (config, home) = (self.control.config(), self.control.home());
            let (models, fault) = models(home);
            self.models.secrets.replace(secrets::of_models(&models));
            let vision_model = vision_model(config, &models, fault);
            let browser = self.models.browser.clone();
            let browser = match &vision_model {
                Ok(vision_model) => browser.with_vision_model(vision_model.clone()),
                Err(missing) => browser.without_vision_model(missing),
            };
            browser.register_vision(&self.registry)?;
            vision::register(&self.registry, vision_model, home, Some(self.models.background.clone()))?;
            *self.models.file.lock() = version;
            // Another thread may have applied a newer version meanwhile.
            if version == self.file_version() {
                break;
            }
        }
        Ok(())
    }

    fn file_version(&self) -> FileVersion {
        let facts = std::fs::metadata(self.control.home().root().join("llm.json")).ok()?;
        Some((facts.modified().ok()?, facts.len()))
    }

    /// Gives the tools the database of the home, which makes those available that need it.
    pub fn set_store(&self, store: Store) {
        self.store.set(store);
    }

    /// All tools, enabled or not.
    #[must_use]
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The predefined toolsets and those of `config.yaml`.
    #[must_use]
    pub fn toolsets(&self) -> &Toolsets {
        &self.toolsets
    }

    /// The default scope of calls.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The browsers of the home.
    #[must_use]
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// The enabled toolsets of an entry point (`cli`, `mcp`, …): those requested for the session, else those configured
    /// for the entry point, else its defaults; minus what the configuration disables.
    #[must_use]
    pub fn enabled(&self, platform: &str, session: &[String]) -> Enabled {
        enabled(self.control.config(), &self.toolsets, platform, session)
    }
}

/// Creates the tools that need the caller's workspace but no browser: files, images in files, terminal, to-do list,
/// questions. For an entry point whose working directory differs from the server's.
///
/// # Errors
/// [`ToolboxError`].
pub fn folder_tools(home: &Home, config: &Config) -> Result<Arc<Registry>, ToolboxError> {
    let (models, fault) = models(home);
    let token = Token::read(home).ok().flatten().map(|token| token.reveal().to_owned());
    let secrets = token.into_iter().chain(secrets::of_config(config)).chain(secrets::of_models(&models));
    let secrets = Secrets::new(secrets);
    let registry = Arc::new(Registry::covering(secrets.clone()));
    without_browser(&registry, config, &secrets)?;
    vision::register(&registry, vision_model(config, &models, fault), home, None)?;
    Ok(registry)
}

/// Whether a call of one of the [`folder_tools`] needs the browser: its image is a URL.
#[must_use]
pub fn needs_browser(tool: &str, arguments: &Value) -> bool {
    vision::needs_browser(tool, arguments)
}

/// Registers the tools that need no browser.
fn without_browser(registry: &Registry, config: &Config, secrets: &Secrets) -> Result<(), RegistryError> {
    files::register(registry)?;
    terminal::register(registry, &config.tools.terminal, secrets)?;
    todo::register(registry)?;
    clarify::register(registry)
}

/// The enabled toolsets of an entry point; see [`Toolbox::enabled`].
#[must_use]
pub fn enabled(config: &Config, toolsets: &Toolsets, platform: &str, session: &[String]) -> Enabled {
    let settings = config.tools.platforms.get(platform);
    let own = format!("{PREFIX}{platform}");
    let toolsets = match settings.and_then(|settings| settings.toolsets.clone()) {
        _ if !session.is_empty() => session.to_vec(),
        Some(set) => set,
        None if platform != "cli" && toolsets.is_known(&own) => vec![own],
        None => config.toolsets.clone(),
    };
    let off = settings.map(|settings| settings.disabled.as_slice()).unwrap_or_default();
    let off: BTreeSet<String> = config.tools.disabled.iter().chain(off).cloned().collect();
    Enabled { toolsets, off }
}

/// The models of a home. An invalid `llm.json` disables only the tools that need a model; the second value is the
/// reason.
fn models(home: &Home) -> (Models, Option<String>) {
    match Models::of(home) {
        Ok(models) => (models, None),
        Err(problem) => {
            tracing::debug!(%problem, "tools that need a model are off until llm.json is corrected");
            (Models::default(), Some(format!("a correct llm.json: {problem}")))
        }
    }
}

/// The vision model, or what is missing for one.
fn vision_model(config: &Config, models: &Models, fault: Option<String>) -> Result<Client, String> {
    if let Some(fault) = fault {
        return Err(fault);
    }
    let (alias, model) = match models.find(config.tools.vision_model.as_deref()) {
        Ok(found) => found,
        Err(llm::Error::None) => return Err(vision::MISSING.to_owned()),
        Err(problem) => return Err(format!("{}: {problem}", vision::MISSING)),
    };
    if !model.vision {
        return Err(format!("{}: {alias:?} has vision: false there", vision::MISSING));
    }
    Client::new(alias, model).map_err(|problem| {
        tracing::warn!(%problem, "the vision model cannot be used");
        format!("{}: {problem}", vision::MISSING)
    })
}
