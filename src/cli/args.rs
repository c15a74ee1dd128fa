//! What can be typed.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::browser::Switch;
use crate::supervisor::DialogPolicy;

const ENVIRONMENT: &str = "\
Environment (a flag comes before it):
  CDPILOT_BROWSER     the browser's executable
  CDPILOT_CDP_URL     the browser that `supervise` attaches to
  CDPILOT_HEADLESS    true or false: run browsers without a window; by default exactly when there is no display
  CDPILOT_HOME        folder of settings and profiles, ~/.cdpilot by default
  CDPILOT_LOG         what is logged to stderr, as in `info` or `cdpilot=debug`
  CDPILOT_TIMEOUT_MS  as --timeout

Exit status:
  0 done, 1 the operation failed, 2 wrong usage, 3 no browser reachable, 4 a dialog stands in the way";

/// Watches and drives a browser over the Chrome DevTools Protocol.
#[derive(Debug, Parser)]
#[command(name = "cdpilot", version, after_help = ENVIRONMENT, arg_required_else_help = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Args)]
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
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show on local pages, in a browser of its own, what the supervisor does
    Demo(Demo),
    /// Check whether browsers work on this machine
    Doctor,
    /// Get a browser with the system's package manager
    Install(Install),
    /// Watch a browser: events as JSON lines on stdout, commands on stdin
    Supervise(Supervise),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
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
    /// Watch one page only, by its target id [default: all pages]
    #[arg(long, value_name = "ID", conflicts_with = "launch")]
    pub(super) target: Option<String>,
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
}

impl From<Policy> for DialogPolicy {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::MustRespond => Self::MustRespond,
            Policy::AutoDismiss => Self::AutoDismiss,
            Policy::AutoAccept => Self::AutoAccept,
        }
    }
}
