//! The command line: commands and options of the program, except those of `cdpilot browser`, `tool` and `tools`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::values::{port, whole};
use super::{browser, chat, models, secrets, tool_calls, tool_settings};
use cdpilot::browser::{Switch, TransportKind};
use cdpilot::supervisor::{BridgeMode, DialogPolicy};
use cdpilot_server::config::AutoSwitch;

const ENVIRONMENT: &str = "\
Environment variables (flags take precedence):
  CDPILOT_BROWSER       browser executable (*)
  CDPILOT_CDP_URL       browser to attach to instead of starting one (*)
  CDPILOT_HEADLESS      true, false or auto: run browsers without a window; takes precedence over config.yaml (*)
  CDPILOT_HOME          folder for settings, profiles and files [default: ~/.cdpilot]
  CDPILOT_LOG           log filter for stderr, for example info or cdpilot=debug
  CDPILOT_NO_AUTOSTART  true or false: same as --no-autostart
  CDPILOT_PROFILE       same as --profile
  CDPILOT_SESSION       same as --session
  CDPILOT_TIMEOUT_MS    same as --timeout
  CDPILOT_TOKEN         token of the server [default: the file `token` in the home]
  CDPILOT_URL           same as --url
(*) Read by a server when it starts (`cdpilot serve --stop` ends it, and the next command starts another), and by
    supervise; CDPILOT_BROWSER and CDPILOT_HEADLESS also by demo and bench.

Exit status:
  0  success
  1  the operation failed, or a settings file is invalid
  2  usage error: wrong command line or environment variable; `eval`: also a model that cannot be reached
  3  no server reachable, no browser reachable or started, or wrong token
  4  blocked by an open dialog";

/// Browser commands that the help of the program lists: what most people need first.
const BASICS: [&str; 9] = ["open", "snapshot", "click", "type", "text", "screenshot", "wait", "dialog", "stop"];

/// These commands with their one-line help.
fn basics() -> String {
    let all = browser::Command::augment_subcommands(clap::Command::new("browser"));
    let mut text = "Most used:".to_owned();
    for name in BASICS {
        let about = all.find_subcommand(name).and_then(clap::Command::get_about).map(ToString::to_string);
        text.push_str(&format!("\n  cdpilot {name:<12} {}", about.unwrap_or_default()));
    }
    text + "\nAll browser commands: cdpilot browser --help"
}

/// Drive and supervise a browser over the Chrome DevTools Protocol.
#[derive(Debug, Parser)]
#[command(name = "cdpilot", version, before_help = basics(), after_help = ENVIRONMENT, arg_required_else_help = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Common options")]
pub(super) struct Global {
    /// Print JSON to stdout: one object, on success and on failure; `events` and `supervise` print one per line
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Print only the result, and log only errors
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Log debug messages to stderr; -vv logs everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(super) verbose: u8,
    /// Time limit for the operation, in milliseconds [default: CDPILOT_TIMEOUT_MS, else depends on the command]
    #[arg(long, global = true, value_name = "MS", value_parser = whole::<u64>(1..))]
    pub(super) timeout: Option<u64>,
    /// Browser profile to use [default: CDPILOT_PROFILE, else browser.default_profile in config.yaml]
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// Session to use: a client with its own current tab, tabs and dialog answers given in advance [default: CDPILOT_SESSION, else the
    /// default session]
    #[arg(long, global = true, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) session: Option<String>,
    /// Control server, http://host:port [default: CDPILOT_URL, else the running server of the home, else
    /// browser.control_url in config.yaml]
    // Not `url`: some commands have an argument with that id.
    #[arg(id = "server_url", long = "url", global = true, value_name = "URL")]
    pub(super) url: Option<String>,
    /// Do not start a server in the background when none is running
    #[arg(long, global = true)]
    pub(super) no_autostart: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Drive a browser; the word `browser` may be omitted: `cdpilot open URL`
    #[command(subcommand, arg_required_else_help = true)]
    Browser(Box<browser::Command>),
    /// Run the control server in the foreground
    Serve(Serve),
    /// Call a tool, or list the tools that can be called
    Tool(tool_calls::Tool),
    /// Let a model do a task in the browser
    Chat(chat::ChatArgs),
    /// Choose which tools `cdpilot tool` and MCP clients may call
    Tools(tool_settings::Tools),
    /// Store passwords that a model may type but never sees
    Secrets(secrets::Secrets),
    /// Read and correct what models have noted for later conversations
    Memory(super::notes::NotesArgs),
    /// List, export and bring saved instructions for models
    Skill(super::skills::SkillArgs),
    /// Record what you do in a browser, to review it or to make a routine of it
    Record(super::record::Record),
    /// Write down tasks as routines, and let a model run them step by step
    Routine(super::routine::Routine),
    /// Set up the models that drive the agent, and test them
    Models(models::Models),
    /// Measure how well models use a browser, on mock sites
    Eval(super::eval::Eval),
    /// Run an MCP server on stdin and stdout
    Mcp(Mcp),
    /// Print a one-time URL of the web UI
    Ui,
    /// Check that browsers work on this machine; when none is running, start one for a moment
    Doctor(Doctor),
    /// Install a browser with the system's package manager
    Install(Install),
    /// Demonstrate dialog and frame handling on local pages, in a temporary browser
    Demo(Demo),
    /// Print a browser's events as JSON lines, and read requests from stdin
    Supervise(Supervise),
    /// Measure how fast a browser answers: round trips, calls and events per second
    Bench(Bench),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// Shell to generate the script for
        shell: Shell,
    },
    /// Print the manual page, or write one page per command to a folder
    Man {
        /// Output folder; it is created when missing
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
        /// Print all commands as Markdown
        #[arg(long, hide = true, conflicts_with = "folder")]
        markdown: bool,
    },
}

#[derive(Debug, Args)]
#[command(after_help = SERVE)]
pub(super) struct Serve {
    /// Port to listen on; 0: any free port [default: server.port in config.yaml, 18791]
    #[arg(long, value_name = "PORT", value_parser = port)]
    pub(super) port: Option<u16>,
    /// IP address to listen on [default: server.bind in config.yaml, 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    pub(super) bind: Option<String>,
    /// Open this CDP port for other programs in the default profile's browser; 0: any free port [default: no port]
    #[arg(long, value_name = "PORT", value_parser = port)]
    pub(super) cdp_port: Option<u16>,
    /// Run browsers without a window [default: CDPILOT_HEADLESS, else browser.headless in config.yaml]
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, default_missing_value = "true")]
    pub(super) headless: Option<When>,
    /// Stop the running server of the home, and its browsers
    #[arg(long, conflicts_with_all = ["port", "bind", "cdp_port", "headless"])]
    pub(super) stop: bool,
    /// Detach from the terminal; used when a command starts the server
    #[arg(long, hide = true)]
    pub(super) background: bool,
}

const SERVE: &str = "\
Each home has one server. SIGINT (Ctrl-C) and SIGTERM stop it together with its browsers.";

const COMPLETIONS: &str = "\
In ~/.bashrc:                   source <(cdpilot completions bash)
In ~/.zshrc, after compinit:    source <(cdpilot completions zsh)
In ~/.config/fish/config.fish:  cdpilot completions fish | source
In ~/.config/elvish/rc.elv:     eval (cdpilot completions elvish | slurp)

Tabs, labels, refs of the last snapshot and profiles are completed while a server is running,
except in PowerShell. Completion never starts a server.";

const MCP: &str = "\
Uses the running server of the home and its browser. When no server is running, it starts one
on a free port. That server starts its browser when a tool first needs it, and both stop when
stdin closes.

Configuration of an MCP client:
  {\"mcpServers\": {\"cdpilot\": {\"command\": \"cdpilot\", \"args\": [\"mcp\"]}}}

By default twelve browser tools are offered. --toolsets, `cdpilot tools enable|disable NAME
--platform mcp` and tools.platforms.mcp in config.yaml change that. Logs go to stderr. MCP clients that use HTTP can connect to `cdpilot serve` instead:
http://127.0.0.1:18791/mcp, with the token of the home as bearer token.";

#[derive(Debug, Args)]
#[command(after_help = MCP)]
pub(super) struct Mcp {
    /// Comma-separated toolsets and tools to offer; `cdpilot tools list` shows them [default: see below]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) toolsets: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Repair permissions and clean up after killed processes: hung browsers, stale locks, temporary files, partial downloads
    #[arg(long)]
    pub(super) fix: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Demo {
    #[command(subcommand)]
    pub(super) what: Option<DemoOf>,
    /// Browser executable [default: CDPILOT_BROWSER, else an installed browser]
    #[arg(long, value_name = "PATH")]
    pub(super) browser: Option<PathBuf>,
    /// Run the browser without a window [default: CDPILOT_HEADLESS, else true]
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, default_missing_value = "true")]
    pub(super) headless: Option<When>,
    /// Output file of the screenshot [default: a new temporary file]
    #[arg(long, value_name = "PATH")]
    pub(super) screenshot: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(super) enum DemoOf {
    /// Record a purchase in a local shop, and show the events, draft, screenshots and exports
    Record(DemoRecord),
}

#[derive(Debug, Args)]
pub(super) struct DemoRecord {
    /// Browser executable [default: CDPILOT_BROWSER, else an installed browser]
    #[arg(long, value_name = "PATH")]
    pub(super) browser: Option<PathBuf>,
    /// Run the browser without a window [default: CDPILOT_HEADLESS, else whether there is no display]
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, default_missing_value = "true")]
    pub(super) headless: Option<When>,
    /// Folder for screenshots and exports [default: a new temporary folder]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Install {
    /// Print the commands without running them
    #[arg(long)]
    pub(super) dry_run: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Choose the browser with --launch, --cdp-url or CDPILOT_CDP_URL. The command ends when stdin closes.\n\n\
                  Lines are requests of the HTTP API: JSON objects with the method, the path, the body and an id of your \
                  choice, which the answer repeats:\n\n  \
                  {\"id\": 1, \"POST\": \"/navigate\", \"body\": {\"url\": \"https://example.com\"}}\n  \
                  {\"id\": 2, \"GET\": \"/snapshot?interactive=true\"}"
)]
#[command(group = ArgGroup::new("which").args(["cdp_url", "launch"]))]
pub(super) struct Supervise {
    /// Attach to a running browser: ws://…, wss://…, http://host:port or host:port; or to a session of a
    /// WebDriver server or Selenium Grid: webdriver+http://host:port [default: CDPILOT_CDP_URL]
    #[arg(long, value_name = "URL")]
    pub(super) cdp_url: Option<String>,
    /// Header to send when connecting, for example 'Authorization: Bearer …'; repeatable
    #[arg(long = "cdp-header", value_name = "NAME: VALUE", conflicts_with = "launch")]
    pub(super) cdp_headers: Vec<String>,
    /// Start a browser; it is closed when the command ends
    #[arg(long)]
    pub(super) launch: bool,
    /// How to handle dialogs without an answer given in advance
    #[arg(long, value_enum, default_value = "must_respond")]
    pub(super) policy: Policy,
    /// Dismiss a dialog that was not answered within this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = whole::<u64>(1..))]
    pub(super) dialog_timeout: u64,
    /// Replace native dialogs by the dialog bridge, for endpoints that answer dialogs themselves
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub(super) dialog_bridge: Bridge,
    /// Terminate the script of a page that has blocked a command for this long, in milliseconds, but none within 10 s of
    /// loading; 0: never
    #[arg(long, value_name = "MS", default_value = "10000", value_parser = whole::<u64>(..))]
    pub(super) rescue_after: u64,
    /// Supervise only the page with this target id [default: all pages]
    #[arg(long, value_name = "ID", conflicts_with = "launch")]
    pub(super) target: Option<String>,
    /// Folder for files: screenshots and PDFs go to its folder media/, downloads to downloads/ [default: the current folder for
    /// screenshots and PDFs, the browser's own folder for downloads]
    #[arg(long, value_name = "DIR")]
    pub(super) files: Option<PathBuf>,
    /// Browser executable [default: CDPILOT_BROWSER, else an installed browser]
    #[arg(long, value_name = "PATH", requires = "launch", conflicts_with = "cdp_url")]
    pub(super) browser: Option<PathBuf>,
    /// Start the browser without a window [default: CDPILOT_HEADLESS, else auto]
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, default_missing_value = "true", requires = "launch", conflicts_with = "cdp_url")]
    pub(super) headless: Option<When>,
    /// Also open this CDP port for other programs; 0: any free port
    #[arg(long, value_name = "PORT", value_parser = port, requires = "launch", conflicts_with = "cdp_url")]
    pub(super) port: Option<u16>,
}

const BENCH: &str = "\
Starts a temporary browser, or uses the running one given by --cdp-url without touching its pages.
--timeout limits the whole run [default: 120000].

With --json: {ok, version, browser, transport, calls, p50_us, p95_us, sequential_per_s,
pipelined_per_s, events_per_s}
  p50_us, p95_us    duration of a call into a page: median and 95th percentile, microseconds
  sequential_per_s  calls per second, one after the other
  pipelined_per_s   calls per second, 64 at a time from one thread
  events_per_s      console messages per second";

#[derive(Debug, Args)]
#[command(after_help = BENCH)]
pub(super) struct Bench {
    /// Calls of each kind
    #[arg(long, value_name = "N", default_value = "2000", value_parser = whole::<u32>(1..=1_000_000))]
    pub(super) calls: u32,
    /// Measure this running browser: ws://…, wss://…, http://host:port or host:port
    #[arg(long, value_name = "URL", conflicts_with_all = ["transport", "browser", "headless"])]
    pub(super) cdp_url: Option<String>,
    /// Connection to the started browser
    #[arg(long, value_enum, default_value = "pipe")]
    pub(super) transport: Transport,
    /// Browser executable [default: CDPILOT_BROWSER, else an installed browser]
    #[arg(long, value_name = "PATH")]
    pub(super) browser: Option<PathBuf>,
    /// Run the browser without a window [default: CDPILOT_HEADLESS, else true]
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, default_missing_value = "true")]
    pub(super) headless: Option<When>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Transport {
    /// Pipe; other programs cannot connect
    Pipe,
    /// WebSocket on a free local port
    Port,
}

impl From<Transport> for TransportKind {
    fn from(transport: Transport) -> Self {
        match transport {
            Transport::Pipe => Self::Pipe,
            Transport::Port => Self::Port(0),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    /// Only when there is no display
    Auto,
    True,
    False,
}

impl From<When> for AutoSwitch {
    fn from(when: When) -> Self {
        match when {
            When::Auto => Self::Auto,
            When::True => Self::On,
            When::False => Self::Off,
        }
    }
}

impl From<When> for Switch {
    fn from(when: When) -> Self {
        match when {
            When::Auto => Self::Auto,
            When::True => Self::On,
            When::False => Self::Off,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum Policy {
    /// Keep it open until it is answered or --dialog-timeout has passed
    MustRespond,
    /// Dismiss it immediately
    AutoDismiss,
    /// Accept it immediately; a prompt gets its default text
    AutoAccept,
    /// Keep it open until it is answered, without a time limit
    Hold,
}

impl From<Policy> for DialogPolicy {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::MustRespond => Self::MustRespond,
            Policy::AutoDismiss => Self::AutoDismiss,
            Policy::AutoAccept => Self::AutoAccept,
            Policy::Hold => Self::Hold,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Bridge {
    /// For browsers on other machines, and after the endpoint has answered a dialog itself
    Auto,
    Always,
    Never,
}

impl From<Bridge> for BridgeMode {
    fn from(bridge: Bridge) -> Self {
        match bridge {
            Bridge::Auto => Self::Auto,
            Bridge::Always => Self::Always,
            Bridge::Never => Self::Never,
        }
    }
}
