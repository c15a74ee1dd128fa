//! What can be typed.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::bench::Part;
use super::{browser, tool, tools};
use crate::browser::{Switch, TransportKind};
use crate::supervisor::{BridgeMode, DialogPolicy};

const ENVIRONMENT: &str = "\
Environment (a flag comes before it):
  CDPILOT_BROWSER       the browser's executable
  CDPILOT_CDP_URL       the browser to attach to, instead of starting one
  CDPILOT_HEADLESS      true, false or auto: run browsers without a window; by default exactly when there is no display
  CDPILOT_HOME          folder of settings and profiles, ~/.cdpilot by default
  CDPILOT_LOG           what is logged to stderr, as in `info` or `cdpilot=debug`
  CDPILOT_NO_AUTOSTART  1: as --no-autostart
  CDPILOT_PROFILE       as --profile
  CDPILOT_SESSION       as --session
  CDPILOT_STATE_PASSPHRASE  the passphrase of encrypted login states
  CDPILOT_TIMEOUT_MS    as --timeout
  CDPILOT_TOKEN         the token of the server, else that of the home
  CDPILOT_URL           as --url

Exit status:
  0 done, 1 the operation failed, 2 wrong usage, 3 no server or browser reachable, or the wrong token,
  4 a dialog is in the way: what was asked for could not be done";

/// Watches and drives a browser over the Chrome DevTools Protocol.
#[derive(Debug, Parser)]
#[command(name = "cdpilot", version, after_help = ENVIRONMENT, arg_required_else_help = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options for every command")]
pub(super) struct Global {
    /// Print exactly one JSON object, on success and on failure
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Print only what was asked for, and log errors only
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Log what happens to stderr; twice for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(super) verbose: u8,
    /// How long one operation may take, in milliseconds
    #[arg(long, global = true, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) timeout: Option<u64>,
    /// The profile: a browser with data of its own [default: CDPILOT_PROFILE, else as the settings say]
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// The session: a client with its own current tab, tabs and armed answers [default: CDPILOT_SESSION, else the default
    /// session]
    #[arg(long, global = true, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) session: Option<String>,
    /// The control server, http://host:port [default: CDPILOT_URL, else the one that serves the home, else
    /// browser.control_url]
    // An id of its own: commands have addresses too.
    #[arg(id = "server_url", long = "url", global = true, value_name = "URL")]
    pub(super) url: Option<String>,
    /// Start no server in the background when none runs
    #[arg(long, global = true)]
    pub(super) no_autostart: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Drive a browser: tabs, snapshots, actions and more. The word may be left out: `cdpilot open URL`
    #[command(subcommand, arg_required_else_help = true)]
    Browser(Box<browser::Command>),
    /// Serve the home in the foreground: the control server that the browser commands talk to
    Serve(Serve),
    /// Call one tool, as a model does
    Tool(tool::Tool),
    /// Choose the tools that models may call; without a command, at the terminal
    Tools(tools::Tools),
    /// Offer the browser to a model: an MCP server on stdin and stdout
    Mcp(Mcp),
    /// Print an address that opens the web UI once
    Ui,
    /// Check whether browsers work on this machine
    Doctor(Doctor),
    /// Get a browser with the system's package manager
    Install(Install),
    /// Show on local pages, in a browser of its own, what the supervisor does
    Demo(Demo),
    /// Watch a browser: events as JSON lines on stdout, commands on stdin
    Supervise(Supervise),
    /// Measure this machine: calls, events, dialogs, tabs, contexts, browsers
    Bench(Bench),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write one for each command
    Man {
        /// The folder to write to
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
        /// All commands as one Markdown text
        #[arg(long, hide = true, conflicts_with = "folder")]
        markdown: bool,
    },
}

/// One server serves a home. SIGINT and SIGTERM end it, and its browsers with it.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// The port to listen on; 0: any free one [default: server.port, 18791]
    #[arg(long, value_name = "PORT")]
    pub(super) port: Option<u16>,
    /// The address of this machine to listen on [default: server.bind, 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    pub(super) bind: Option<String>,
    /// Open this debugging port for other programs in the default profile's browser; 0: any free one [default: none is open]
    #[arg(long, value_name = "PORT")]
    pub(super) cdp_port: Option<u16>,
    /// Run browsers without a window [default: CDPILOT_HEADLESS, else as the settings say]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(super) headless: Option<bool>,
    /// End the server that serves the home, and its browsers
    #[arg(long, conflicts_with_all = ["port", "bind", "cdp_port", "headless"])]
    pub(super) stop: bool,
    /// Away from the terminal, as a command starts it
    #[arg(long, hide = true)]
    pub(super) background: bool,
}

const COMPLETIONS: &str = "\
In ~/.bashrc:                   source <(cdpilot completions bash)
In ~/.zshrc, after compinit:    source <(cdpilot completions zsh)
In ~/.config/fish/config.fish:  cdpilot completions fish | source
In ~/.config/elvish/rc.elv:     eval (cdpilot completions elvish | slurp)

Tabs, labels, refs of the last snapshot and profiles complete from a running server, except in PowerShell. Without one they do
not complete: nothing is started.";

const MCP: &str = "\
Uses the server that serves the home, and its browser. Where none runs it serves the home itself, on any free port, as long
as stdin is open: the browser starts when a page is asked for, and ends with stdin.

In the settings of an MCP client:
  {\"mcpServers\": {\"cdpilot\": {\"command\": \"cdpilot\", \"args\": [\"mcp\"]}}}

Twelve browser tools are offered unless --toolsets or tools.platforms.mcp in config.yaml say otherwise. Logs go to stderr.
A client that speaks HTTP can use POST /mcp of `cdpilot serve` instead, with the token of the home.";

#[derive(Debug, Args)]
#[command(after_help = MCP)]
pub(super) struct Mcp {
    /// Offer these toolsets and tools instead, separated by commas; `cdpilot tools list` shows them
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) toolsets: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Repair permissions and remove what killed processes left: hung browsers, locks, temporary files, incomplete downloads
    #[arg(long)]
    pub(super) fix: bool,
}

#[derive(Debug, Args)]
pub(super) struct Demo {
    /// The browser's executable [default: CDPILOT_BROWSER, else searched for]
    #[arg(long, value_name = "PATH")]
    pub(super) browser: Option<PathBuf>,
    /// Whether to run the browser without a window [default: true, or what CDPILOT_HEADLESS says]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(super) headless: Option<When>,
    /// Where to write the picture [default: a new file in the folder for temporary files]
    #[arg(long, value_name = "PATH")]
    pub(super) screenshot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Install {
    /// Only say what would be run
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// `--cdp-url`, `--launch` or CDPILOT_CDP_URL says which browser.
#[derive(Debug, Args)]
#[command(after_help = "Type `help` on stdin for the commands. The end of stdin ends the session.")]
#[command(group = ArgGroup::new("which").args(["cdp_url", "launch"]))]
pub(super) struct Supervise {
    /// Attach to a running browser: ws://…, wss://…, http://host:port or host:port; or take one from a
    /// WebDriver server or Selenium Grid: webdriver+http://host:port [default: CDPILOT_CDP_URL]
    #[arg(long, value_name = "URL")]
    pub(super) cdp_url: Option<String>,
    /// Send this header along, as in `Authorization: Bearer …`; may be given more than once
    #[arg(long = "cdp-header", value_name = "NAME: VALUE", conflicts_with = "launch")]
    pub(super) cdp_headers: Vec<String>,
    /// Start a browser, which ends with the session
    #[arg(long)]
    pub(super) launch: bool,
    /// What happens to a dialog that nobody armed an answer for
    #[arg(long, value_enum, default_value = "must_respond")]
    pub(super) policy: Policy,
    /// How long a dialog waits for an answer before it is dismissed
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) dialog_timeout: u64,
    /// Whether pages ask over requests instead of native dialogs, for endpoints that answer those themselves
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub(super) dialog_bridge: Bridge,
    /// End a page's running script when a command waits and the page has not answered for so long; 0: never
    #[arg(long, value_name = "MS", default_value = "1000")]
    pub(super) rescue_after: u64,
    /// Watch one page only, by its target id [default: all pages]
    #[arg(long, value_name = "ID", conflicts_with = "launch")]
    pub(super) target: Option<String>,
    /// A folder for screenshots and papers (in media/) and for downloads (in downloads/) [default: screenshots and
    /// papers go to the present folder, downloads where the browser puts them]
    #[arg(long, value_name = "DIR")]
    pub(super) files: Option<PathBuf>,
    /// The browser's executable [default: CDPILOT_BROWSER, else searched for]
    #[arg(long, value_name = "PATH", requires = "launch", conflicts_with = "cdp_url")]
    pub(super) browser: Option<PathBuf>,
    /// Whether to start the browser without a window [default: what CDPILOT_HEADLESS says, else auto]
    #[arg(long, value_enum, value_name = "WHEN", requires = "launch", conflicts_with = "cdp_url")]
    pub(super) headless: Option<When>,
    /// Open this debugging port too, so that others may attach; 0 for any free one
    #[arg(long, value_name = "PORT", requires = "launch", conflicts_with = "cdp_url")]
    pub(super) port: Option<u16>,
}

const BENCH: &str = "\
Every figure is the median of its rounds, with the range. --timeout is for the whole run here, by default 600 s
and with --quick 180 s. Ctrl-C ends it; what was measured until then is listed.

With --json: {ok, version, browser, transport, machine, plan, rows, total_ms}, and {error, code} when it failed.
  machine  os, arch, processors, memory_mib, memory_is (pss: shared pages are split; rss: they count more than
           once), load_before and load_after (1, 5, 15 minutes)
  rows     part, id, what, unit (us, ms, per_s, KiB, MiB, %, count), median, min, max, rounds
  What is unknown is null.";

/// Starts browsers of its own, unless --cdp-url names one that runs; its pages are left alone.
#[derive(Debug, Args)]
#[command(after_help = BENCH)]
pub(super) struct Bench {
    /// Fewer of everything, for a first impression
    #[arg(long)]
    pub(super) quick: bool,
    /// Measure these parts only, separated by commas
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub(super) only: Vec<Part>,
    /// Rounds [default: 5, quick 3]
    #[arg(long, value_name = "N", value_parser = count(100))]
    pub(super) rounds: Option<u32>,
    /// Calls a round, of each kind [default: 2000, quick 300]
    #[arg(long, value_name = "N", value_parser = count(1_000_000))]
    pub(super) calls: Option<u32>,
    /// Calls under way at once [default: 64]
    #[arg(long, value_name = "N", value_parser = count(1000))]
    pub(super) in_flight: Option<u32>,
    /// Console messages a round [default: 50000, quick 5000]
    #[arg(long, value_name = "N", value_parser = count(10_000_000))]
    pub(super) events: Option<u32>,
    /// Dialogs a round [default: 500, quick 60]
    #[arg(long, value_name = "N", value_parser = count(100_000))]
    pub(super) dialogs: Option<u32>,
    /// Tabs [default: 20, quick 6]
    #[arg(long, value_name = "N", value_parser = count(1000))]
    pub(super) tabs: Option<u32>,
    /// Browser contexts [default: 10, quick 3]
    #[arg(long, value_name = "N", value_parser = count(1000))]
    pub(super) contexts: Option<u32>,
    /// Browsers beside the first [default: 5, quick 2]
    #[arg(long, value_name = "N", value_parser = count(100))]
    pub(super) browsers: Option<u32>,
    /// Measure a running browser: ws://…, wss://…, http://host:port or host:port
    #[arg(long, value_name = "URL", conflicts_with_all = ["transport", "browser", "headless"])]
    pub(super) cdp_url: Option<String>,
    /// How to talk to browsers that are started
    #[arg(long, value_enum, default_value = "pipe")]
    pub(super) transport: Transport,
    /// The browser's executable [default: CDPILOT_BROWSER, else searched for]
    #[arg(long, value_name = "PATH")]
    pub(super) browser: Option<PathBuf>,
    /// Whether to run browsers without a window [default: true, or what CDPILOT_HEADLESS says]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(super) headless: Option<When>,
}

/// A number of things, at least one.
fn count(most: u32) -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(most))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Transport {
    /// A pipe that nobody else can reach
    Pipe,
    /// A WebSocket on a free port of this machine
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
    /// Exactly when there is no display
    Auto,
    True,
    False,
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
    /// It waits until somebody answers, or for --dialog-timeout
    MustRespond,
    /// It is dismissed at once
    AutoDismiss,
    /// It is accepted at once, a prompt with its own default text
    AutoAccept,
    /// It waits until somebody answers, however long that takes
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
    /// For browsers on other machines, and once a dialog was answered by somebody else at once
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
