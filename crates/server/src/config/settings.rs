//! `config.yaml`. Every key is optional; an unknown key is an error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::kinds::{AutoSwitch, Bridge, Confirm, Policy, RawCdp, SecretsIn, Subresources, Transport, UserAgent};
use super::tools::{CustomTools, McpServer, Tools};
use super::{Error, Home, nearest};
use cdpilot::fields::{self, Misfit, Problem, Style, schema_of};

/// The port reserved for manual debugging.
pub const RESERVED_PORT: u16 = 9222;

/// The content of `config.yaml`, with defaults for what it leaves out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The browser, and how it may be used.
    pub browser: Browser,
    /// Names of the enabled toolsets and tools. Default: `cdpilot-cli`.
    pub toolsets: Vec<String>,
    /// User-defined toolsets: lists of tools and toolsets, by name.
    pub custom_toolsets: BTreeMap<String, CustomTools>,
    /// External MCP servers, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// The tools of models.
    pub tools: Tools,
    /// Where the HTTP server listens, and which hosts it accepts.
    pub server: Server,
    /// Model, limits and confirmations of the agent.
    pub agent: Agent,
    /// What is kept of runs of routines.
    pub routines: Routines,
    /// Secrets that conversations may type.
    pub secrets: Secrets,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            browser: Browser::default(),
            toolsets: vec!["cdpilot-cli".to_owned()],
            custom_toolsets: BTreeMap::new(),
            mcp_servers: BTreeMap::new(),
            tools: Tools::default(),
            server: Server::default(),
            agent: Agent::default(),
            routines: Routines::default(),
            secrets: Secrets::default(),
        }
    }
}

/// `secrets`: the secrets that conversations may type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Secrets {
    /// Where their values are stored.
    pub store: SecretsIn,
}

/// Settings of `browser`: how browsers are started, and what clients may do with them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Browser {
    /// Whether browsers may be used. False: none is started, and operations that need one fail.
    pub enabled: bool,
    /// The URL of the control server. If it is not loopback, this machine is only a client of it.
    pub control_url: String,
    /// The colour of the browser's windows, `#RRGGBB`.
    pub color: String,
    /// Whether to run without a window; `auto`: if there is no display.
    pub headless: AutoSwitch,
    /// Never start a browser; only attach to a running one.
    pub attach_only: bool,
    /// Whether to run without Chromium's sandbox; `auto`: only as root in a container-like environment.
    pub no_sandbox: AutoSwitch,
    /// The browser's executable. Default: search for one.
    pub executable_path: Option<PathBuf>,
    /// Additional arguments of the browser.
    pub extra_args: Vec<String>,
    /// How a started browser is controlled. Default `auto`.
    pub transport: Transport,
    /// CDP port of the default profile if a port is open; other profiles use the next free ones. 0: any free port.
    pub cdp_port: u16,
    /// The viewport of headless browsers.
    pub viewport: Viewport,
    /// The user agent: `auto` applies to headless browsers, a text to all started browsers.
    pub user_agent: UserAgent,
    /// A browser to attach to instead of starting one.
    pub cdp_url: Option<String>,
    /// The profile of commands without a profile.
    pub default_profile: String,
    /// Profiles with their own settings, by name.
    pub profiles: BTreeMap<String, Profile>,
    /// How dialogs are handled.
    pub dialog_policy: Policy,
    /// How long a dialog may stay open, in seconds.
    pub dialog_timeout_s: u64,
    /// When to use the dialog bridge.
    pub dialog_bridge: Bridge,
    /// Whether scripts of clients may run.
    pub evaluate_enabled: bool,
    /// Which raw CDP commands are allowed.
    pub raw_cdp_enabled: RawCdp,
    /// Which addresses pages may load.
    pub navigation: Navigation,
    /// Folders, besides `uploads/`, from which files may be uploaded.
    pub upload_roots: Vec<PathBuf>,
    /// How long a script may run without a pause while calls wait for its page, in milliseconds, before it is terminated;
    /// 0: never.
    pub rescue_after_ms: u64,
    /// How long after a document has loaded its scripts are not terminated, in milliseconds. While it loads they never are.
    pub rescue_after_load_ms: u64,
    /// How many tabs may be open, and when unused ones are closed.
    pub tabs: TabLimits,
}

impl Default for Browser {
    fn default() -> Self {
        Self {
            enabled: true,
            control_url: "http://127.0.0.1:18791".to_owned(),
            color: "#FF4500".to_owned(),
            headless: AutoSwitch::Auto,
            attach_only: false,
            no_sandbox: AutoSwitch::Auto,
            executable_path: None,
            extra_args: Vec::new(),
            transport: Transport::Auto,
            cdp_port: 18792,
            viewport: Viewport::default(),
            user_agent: UserAgent::Auto,
            cdp_url: None,
            default_profile: "cdpilot".to_owned(),
            profiles: BTreeMap::new(),
            dialog_policy: Policy::MustRespond,
            dialog_timeout_s: 300,
            dialog_bridge: Bridge::Auto,
            evaluate_enabled: true,
            raw_cdp_enabled: RawCdp::All,
            navigation: Navigation::default(),
            upload_roots: Vec::new(),
            rescue_after_ms: 10_000,
            rescue_after_load_ms: 10_000,
            tabs: TabLimits::default(),
        }
    }
}

/// `browser.viewport`: the viewport in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Viewport {
    /// Width, 500 to 7680: Chromium has no narrower window.
    pub width: u32,
    /// Height, 100 to 7680.
    pub height: u32,
}

impl Default for Viewport {
    fn default() -> Self {
        Self { width: 1280, height: 800 }
    }
}

/// `browser.profiles.<name>`: overrides of `browser`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// CDP port of the profile. Default: the next free one, where a port is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdp_port: Option<u16>,
    /// A browser to attach to instead of starting one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdp_url: Option<String>,
    /// Colour of the profile's windows, `#RRGGBB`. Default: `browser.color`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// Whether to run without a window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headless: Option<AutoSwitch>,
    /// Executable of the profile. Default: `browser.executable_path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable_path: Option<PathBuf>,
    /// Its folder, instead of one in the home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_data_dir: Option<PathBuf>,
    /// WebDriver capabilities to request, if `cdp_url` is a WebDriver server or Selenium Grid.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub capabilities: Map<String, Value>,
}

/// `browser.navigation`. Patterns are hosts, or `*.example.com` for all subdomains, with an optional scheme
/// (`https://`) and port (`:8443`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Navigation {
    /// If not empty, only these are allowed.
    pub allow: Vec<String>,
    /// Never allowed; takes precedence over `allow`.
    pub block: Vec<String>,
    /// Whether addresses of private networks and of this machine are allowed.
    pub private_addresses: bool,
    /// Whether `file:` URLs are allowed.
    pub file_urls: bool,
    /// Whether the policy applies to requests of pages too.
    pub subresources: Subresources,
}

impl Default for Navigation {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            block: Vec::new(),
            private_addresses: true,
            file_urls: false,
            subresources: Subresources::Same,
        }
    }
}

/// Settings of `browser.tabs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TabLimits {
    /// Maximum number of tabs.
    pub max: usize,
    /// Minutes after which an unused tab that was opened by a client is closed; 0: never.
    pub idle_minutes: u64,
}

impl Default for TabLimits {
    fn default() -> Self {
        Self { max: 32, idle_minutes: 120 }
    }
}

/// Settings of `server`: where the HTTP server listens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// The address to listen on.
    pub bind: String,
    /// The port to listen on; 0: any free one.
    pub port: u16,
    /// Hosts, besides loopback, that requests may be addressed to.
    pub allowed_hosts: Vec<String>,
}

impl Default for Server {
    fn default() -> Self {
        Self { bind: "127.0.0.1".to_owned(), port: 18791, allowed_hosts: Vec::new() }
    }
}

/// Settings of `agent`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Agent {
    /// Alias of the model.
    pub model: String,
    /// Maximum number of steps.
    pub max_steps: u32,
    /// Number of images kept in the conversation.
    pub image_window: u32,
    /// Which actions of the visual tools show a preview that has to be confirmed.
    pub confirm: Confirm,
    /// Which actions of a model a person approves.
    pub guard: Guard,
}

/// Settings of `routines`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Routines {
    /// Number of the last runs of each routine whose reports are kept.
    pub keep_runs: usize,
    /// Days that the pictures of reports are kept.
    pub keep_days: u32,
    /// What tells you that a run waits for you: a command, which gets a JSON object on its stdin, or the address of a webhook.
    pub notify: Option<String>,
}

impl Default for Routines {
    fn default() -> Self {
        Self { keep_runs: 50, keep_days: 30, notify: None }
    }
}

/// Which actions of a model a person approves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Guard {
    /// No action.
    Off,
    /// Those that cannot be taken back.
    #[default]
    Irreversible,
    /// Every action.
    All,
}

impl Guard {
    /// The word in settings and requests.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Irreversible => "irreversible",
            Self::All => "all",
        }
    }
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            model: "default".to_owned(),
            max_steps: 100,
            image_window: 3,
            confirm: Confirm::default(),
            guard: Guard::default(),
        }
    }
}

impl Config {
    /// The settings of a home: `config.yaml`, the defaults for what it leaves out, and the tools that `cdpilot tools` turned
    /// on and off.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Wrong`], [`Error::UnknownKey`].
    pub fn of(home: &Home) -> Result<Self, Error> {
        Ok(super::Layers::of(home)?.config())
    }

    /// Parses settings; `path` is used in errors.
    ///
    /// # Errors
    /// [`Error::Wrong`], [`Error::UnknownKey`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let not_yaml = |problem: String| Error::Syntax { path: path.to_owned(), format: "YAML", problem };
        let wrong = |at: &str, problem: String| Error::Wrong { path: path.to_owned(), at: at.to_owned(), problem };
        // By way of plain values, so that errors can name the key.
        let value: Value = match serde_saphyr::from_str(text) {
            Ok(value) => value,
            Err(problem) => return Err(not_yaml(first_line(&problem.to_string()))),
        };
        if value.is_null() {
            return Ok(Self::default());
        }
        if !value.is_object() {
            let problem = "it has no keys; write keys and values, such as `toolsets: [file]`";
            return Err(wrong("its first line", problem.to_owned()));
        }
        let config: Self = fields::read(value, &SCHEMA, Style::Exact).map_err(|misfit| refused(misfit, path))?;
        config.check().map_err(|(at, problem)| wrong(&at, problem))?;
        Ok(config)
    }

    /// Checks what types cannot express.
    fn check(&self) -> Result<(), (String, String)> {
        let browser = &self.browser;
        let own = |name: &String, key: &str| format!("browser.profiles.{name}.{key}");
        let ports = [("browser.cdp_port", browser.cdp_port), ("server.port", self.server.port)];
        let ports = ports.into_iter().map(|(at, port)| (at.to_owned(), Some(port)));
        let profiles = browser.profiles.iter().map(|(name, profile)| (own(name, "cdp_port"), profile.cdp_port));
        for (at, port) in ports.chain(profiles) {
            if port == Some(RESERVED_PORT) {
                return Err((at, format!("port {RESERVED_PORT} is reserved for manual debugging; choose another one")));
            }
        }
        for (name, profile) in &browser.profiles {
            super::check_capabilities(&profile.capabilities).map_err(|problem| (own(name, "capabilities"), problem))?;
        }
        let colors = [("browser.color".to_owned(), Some(&browser.color))];
        let profiles = browser.profiles.iter().map(|(name, profile)| (own(name, "color"), profile.color.as_ref()));
        for (at, color) in colors.into_iter().chain(profiles) {
            if let Some(color) = color.filter(|color| !is_color(color)) {
                return Err((at, format!("{color:?} is not a colour; give it as \"#RRGGBB\"")));
            }
        }
        let Viewport { width, height } = browser.viewport;
        for (at, pixels, least) in [("browser.viewport.width", width, 500), ("browser.viewport.height", height, 100)] {
            if !(least..=7680).contains(&pixels) {
                return Err((at.to_owned(), format!("{pixels} is out of range; use {least} to 7680 pixels")));
            }
        }
        if let UserAgent::Text(text) = &browser.user_agent
            && (text.is_empty() || !text.chars().all(|letter| matches!(letter, ' '..='~')))
        {
            let problem = format!("{text:?} is not auto, native or a user agent of printable ASCII characters");
            return Err(("browser.user_agent".to_owned(), problem));
        }
        if browser.tabs.max == 0 {
            return Err(("browser.tabs.max".to_owned(), "0 is too small; give 1 or more".to_owned()));
        }
        if !browser.control_url.starts_with("http://") && !browser.control_url.starts_with("https://") {
            // It is not repeated if it may contain a password.
            let given = Some(&browser.control_url).filter(|url| !url.contains('@'));
            let given = given.map_or_else(|| "it".to_owned(), |url| format!("{url:?}"));
            let problem = format!("{given} is not an HTTP address; give one such as http://127.0.0.1:18791");
            return Err(("browser.control_url".to_owned(), problem));
        }
        Ok(())
    }
}

fn is_color(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|hex| hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// The schema of the settings.
static SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<Config>);

/// A setting that does not fit, in words of YAML.
fn refused(misfit: Misfit, path: &Path) -> Error {
    let (path, key) = (path.to_owned(), misfit.at);
    match misfit.problem {
        Problem::Unknown { name, known, .. } => {
            let nearest = nearest(&name, known.iter().map(String::as_str)).map(str::to_owned);
            Error::UnknownKey { path, key, nearest, known: known.join(", ") }
        }
        problem => Error::Wrong { path, at: key, problem: problem.to_string().replace("an object", "keys and values") },
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it is not YAML");
    let line = line.strip_prefix("error: ").unwrap_or(line);
    // Advice for users of the parser's API.
    line.split(", set DuplicateKeyPolicy").next().unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, Error> {
        Config::parse(text, Path::new("config.yaml"))
    }

    #[test]
    fn nothing_and_everything_are_read() {
        assert_eq!(parse("").unwrap(), Config::default());
        assert_eq!(parse("# only a remark\n").unwrap(), Config::default());
        let config = parse(
            "browser:\n  headless: true\n  no_sandbox: auto\n  transport: pipe\n  cdp_url: null\n  profiles:\n    \
             work: {cdp_port: 18800, color: '#00AA00', headless: false}\n  navigation: {allow: ['*.example.com']}\n  \
             tabs: {max: 4}\nserver: {port: 0}\nmcp_servers:\n  files: {command: npx, args: [-y, server]}\n",
        );
        let config = config.unwrap();
        assert_eq!(config.browser.headless, AutoSwitch::On);
        assert_eq!(config.browser.transport, Transport::Pipe);
        assert_eq!(config.browser.profiles["work"].headless, Some(AutoSwitch::Off));
        assert_eq!((config.browser.tabs.max, config.browser.tabs.idle_minutes), (4, 120));
        assert!(config.browser.navigation.private_addresses);
        assert_eq!(config.server.port, 0);
        assert_eq!(config.mcp_servers["files"].args, ["-y", "server"]);
    }

    #[test]
    fn the_defaults_survive_being_written() {
        let text = serde_json::to_string(&Config::default()).unwrap();
        assert_eq!(parse(&text).unwrap(), Config::default());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        let unknown = message("browser:\n  headles: true\n");
        assert!(unknown.contains("browser.headles") && unknown.contains("did you mean headless?"), "{unknown}");
        let unknown = message("browser:\n  profiles:\n    work: {colour: '#000000'}\n");
        assert!(unknown.contains("browser.profiles.work.colour") && unknown.contains("color"), "{unknown}");
        assert!(message("browzer: {}\n").contains("did you mean browser?"));
        assert!(message("browser: {cdp_port: 9222}").contains("browser.cdp_port"));
        assert!(message("browser: {color: red}").contains("#RRGGBB"));
        let maybe = message("browser: {headless: maybe}");
        assert!(maybe.contains("auto, true or false"), "{maybe}");
        assert!(message("browser: {transport: tcp}").ends_with(": \"tcp\" is not valid; use auto, port or pipe"));
        assert!(message("browser: {tabs: {max: many}}").contains("browser.tabs.max"));
        let low = message("browser: {viewport: {width: 100}}");
        assert!(low.contains("browser.viewport.width") && low.contains("100"), "{low}");
        assert!(message("browser: {viewport: {height: 9000}}").contains("browser.viewport.height"));
        assert!(message("browser: {viewport: {heigth: 900}}").contains("did you mean height?"));
        assert!(message("browser: {viewport: 1280}").contains("browser.viewport"));
        let bad = message("browser: {user_agent: \"two\\nlines\"}");
        assert!(bad.contains("browser.user_agent") && bad.contains("two"), "{bad}");
        let raw = message("browser: {raw_cdp_enabled: some}");
        assert!(raw.contains("browser.raw_cdp_enabled") && raw.contains("read, act, all, true or false"), "{raw}");
        assert!(message("browser: {navigation: {subresources: none}}").contains("browser.navigation.subresources"));
        assert!(message("browser: [").starts_with("config.yaml is not valid YAML: line"), "{}", message("browser: ["));
        assert!(message("server: {port: 70000}").ends_with("expected a whole number from 0 to 65535, got 70000"));
        for (list, at) in [
            ("browser: [1]", "browser"),
            ("browser: {viewport: []}", "browser.viewport"),
            ("browser: {profiles: {work: []}}", "browser.profiles.work"),
            ("mcp_servers: {files: [npx]}", "mcp_servers.files"),
        ] {
            let message = message(list);
            assert!(
                message.contains(&format!("at {at}: ")) && message.ends_with("expected keys and values, got a list"),
                "{message}"
            );
        }
        assert!(message("browser: {profiles: {work: {color: red}}}").contains("browser.profiles.work.color: \"red\""));
        assert!(message("browser: {tabs: {max: 0}}").contains("0 is too small"));
        assert!(message("browser: {control_url: foo}").contains("\"foo\""));
        assert!(!message("browser: {control_url: 'ftp://u:s3cret@h'}").contains("s3cret"));
        assert!(message("toolsets: file").ends_with("expected a list of strings, got a string"));
        assert!(message("browser: 3").ends_with("browser: expected keys and values, got 3"));
        assert!(message("- a").contains("keys and values"));
        let twice = message("tools: {}\ntools: {}\n");
        assert!(twice.contains("line 2") && twice.ends_with("duplicate mapping key: tools"), "{twice}");
    }
}
