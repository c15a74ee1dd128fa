//! Commands that read a tab: screenshots, snapshots, text, console, requests.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::super::client::Request;
use super::super::failure::Failure;
use super::call::{Call, Tab, element, frame, locator, reference};
use super::show;
use cdpilot::page::Locator;
use cdpilot_server::api;

#[derive(Debug, Args)]
pub(in super::super) struct Screenshot {
    /// Tab, same as --target
    #[arg(value_name = "TAB", conflicts_with = "target")]
    positional: Option<String>,
    /// Capture the whole page instead of the viewport
    #[arg(long, conflicts_with_all = ["at", "element"])]
    full_page: bool,
    /// Capture only this element: ref or locator
    #[arg(id = "at", long = "ref", value_name = "REF", value_parser = element)]
    at: Option<String>,
    /// Capture only the first element that matches this CSS selector
    #[arg(long, value_name = "CSS", alias = "selector", conflicts_with = "at")]
    element: Option<String>,
    /// Image format [default: from the extension of --out, else png]
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    kind: Option<PictureType>,
    /// JPEG quality, 1 to 100 [default: 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    quality: Option<u8>,
    /// Draw numbered boxes around interactive elements
    #[arg(long)]
    labels: bool,
    /// Output file; .png, .jpg and .jpeg set the format [default: a new file in media/ of the server's home]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PictureType {
    Png,
    #[value(alias = "jpg")]
    Jpeg,
}

#[derive(Debug, Args)]
pub(in super::super) struct Snapshot {
    /// Output format [default: ai]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// Show at most N nodes, with --format aria [default: 500]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Show at most N characters; 0: no limit [default: 40000]
    #[arg(long, value_name = "N")]
    max_chars: Option<u32>,
    /// Skip the first N lines, to continue a truncated snapshot
    #[arg(long, value_name = "N")]
    offset: Option<u32>,
    /// Show only interactive elements
    #[arg(long)]
    interactive: bool,
    /// Omit unnamed containers
    #[arg(long)]
    compact: bool,
    /// Same as --interactive --compact
    #[arg(long)]
    efficient: bool,
    /// Show at most N levels below the root
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Show only the subtree of the first element that matches this CSS selector
    #[arg(long, value_name = "CSS")]
    selector: Option<String>,
    /// Show only this frame: frame id, or ref of the iframe
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    frame: Option<String>,
    /// Also save a screenshot with the refs drawn on it
    #[arg(long)]
    labels: bool,
    /// Show link URLs
    #[arg(long)]
    urls: bool,
    /// Show only changes since the last snapshot of the tab; options that are not given are taken from it
    #[arg(long)]
    diff: bool,
    /// Fold long runs of similar siblings
    #[arg(long)]
    fold: bool,
    /// Show the siblings folded at this ref
    #[arg(long, value_name = "REF", value_parser = reference)]
    expand: Option<String>,
    /// Write the snapshot to this file
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Indented lines with role, name, ref and state
    Ai,
    /// All nodes of the accessibility tree
    Aria,
}

#[derive(Debug, Args)]
pub(in super::super) struct Text {
    /// Print only the text of the first element that matches this CSS selector
    #[arg(long, value_name = "CSS")]
    selector: Option<String>,
    /// Read this frame: frame id, or ref of the iframe [default: the main frame]
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    frame: Option<String>,
    /// Print at most N characters; 0: no limit [default: 40000]
    #[arg(long, value_name = "N")]
    max_chars: Option<u32>,
    /// Skip the first N characters
    #[arg(long, value_name = "N")]
    offset: Option<u32>,
    /// Print the text as it is; without --raw, secrets are replaced by [secret]
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Frames {
    /// List all frames; without --full at most 30 child frames are listed
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    tab: Tab,
}

/// Levels of console messages, with their aliases.
const LEVELS: [&str; 7] = ["log", "debug", "info", "warning", "warn", "error", "exception"];

#[derive(Debug, Args)]
pub(in super::super) struct Console {
    /// Show only messages of this level or above: log (same as debug and info), warning (same as warn), error, or
    /// exception
    #[arg(long, value_name = "LEVEL", value_parser = LEVELS, hide_possible_values = true)]
    level: Option<String>,
    /// Show the last N messages [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Clear the messages afterwards
    #[arg(long)]
    clear: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Errors {
    /// Show the last N exceptions [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Clear the exceptions afterwards
    #[arg(long)]
    clear: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Requests {
    /// Show only requests whose URL contains this text; with *, those whose whole URL matches this pattern
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Show the last N requests [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Clear the requests afterwards
    #[arg(long)]
    clear: bool,
    /// Show request and response headers
    #[arg(long)]
    headers: bool,
    /// Write all requests and bodies to this file as an HTTP Archive (HAR 1.2); it may contain secrets and is readable by
    /// its owner only
    #[arg(long, value_name = "FILE", conflicts_with_all = ["filter", "limit", "clear", "headers"])]
    har: Option<PathBuf>,
    /// Leave bodies out of the --har file
    #[arg(long, requires = "har")]
    no_bodies: bool,
    /// Show header values as they are, with --headers or --har; without --raw, secrets are replaced by [secret]
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct OneRequest {
    /// Request id, from `requests`
    id: String,
    /// Show the response body, at most 1 MiB
    #[arg(long)]
    body: bool,
    /// Show values as they are; without --raw, secrets are replaced by [secret]
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Pdf {
    /// Output file [default: a new file in media/ of the server's home]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Highlight {
    /// Ref or locator of the element; without it the highlight is removed
    #[arg(value_name = "REF", value_parser = element)]
    at: Option<String>,
    #[command(flatten)]
    tab: Tab,
}

/// Whether a file extension is that of a format that is not written.
fn is_other_picture(extension: &std::ffi::OsStr) -> bool {
    const OTHERS: [&str; 8] = ["gif", "webp", "avif", "bmp", "tif", "tiff", "svg", "pdf"];
    extension.to_str().is_some_and(|extension| OTHERS.contains(&extension))
}

impl Screenshot {
    /// The format given by --type, else by the file extension.
    fn format(&self) -> Result<Option<PictureType>, Failure> {
        let extension = self.out.as_ref().and_then(|path| path.extension()).map(|it| it.to_ascii_lowercase());
        let by_name = match extension.as_ref().and_then(|it| it.to_str()) {
            Some("jpg" | "jpeg") => Some(PictureType::Jpeg),
            Some("png") => Some(PictureType::Png),
            _ => None,
        };
        match (self.kind, by_name, &self.out) {
            (Some(kind), Some(other), Some(path)) if kind != other => {
                let (kind, other) = (name(kind).unwrap_or_default(), name(other).unwrap_or_default());
                let path = path.display();
                Err(Failure::usage(format!(
                    "--type {kind} does not match --out {path} (extension for {other}); change one of them"
                )))
            }
            (None, None, Some(path)) if extension.as_ref().is_some_and(|it| is_other_picture(it)) => {
                let path = path.display();
                Err(Failure::usage(format!("--out {path}: a screenshot is PNG or JPEG; use .png or .jpg")))
            }
            (kind, by_name, _) => Ok(kind.or(by_name)),
        }
    }

    pub(super) fn call(&self) -> Result<Call, Failure> {
        let tab = self.positional.clone().or_else(|| self.tab.target.clone());
        let Locator { reference, locator, .. } = locator(self.at.as_deref());
        let body = api::TakeScreenshot {
            full_page: self.full_page,
            reference,
            locator,
            element: self.element.clone(),
            quality: self.quality,
            labels: self.labels,
            // With --out the image comes in the answer: the server may be on another machine.
            inline: self.out.is_some(),
            ..Default::default()
        };
        // The type is sent where it is given, even if it is the default.
        let request = Request::post("/screenshot").object(&body).field("type", self.format()?.and_then(name));
        Ok(Call::new(request.field("targetId", tab), show::picture).file(self.out.clone()))
    }
}

impl Snapshot {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        // A snapshot of changes has the format of the one before.
        if self.limit.is_some() && !self.diff && self.format != Some(Format::Aria) {
            let problem = "--limit applies to --format aria only; shorten this snapshot with --max-chars or --depth";
            return Err(Failure::usage(problem));
        }
        let request = Request::get("/snapshot").query("format", self.format.and_then(name));
        let request = request.query("targetId", self.tab.target.clone()).query("limit", self.limit);
        let request = request
            .query("maxChars", self.max_chars)
            .query("offset", self.offset)
            .flag("interactive", self.interactive || self.efficient);
        let request = request.flag("compact", self.compact || self.efficient).query("depth", self.depth);
        let request = request.query("selector", self.selector.clone()).query("frame", self.frame.clone());
        let request = request.flag("labels", self.labels).flag("urls", self.urls).flag("diff", self.diff);
        let request = request.flag("fold", self.fold).query("expand", self.expand.clone());
        Ok(Call::new(request, show::snapshot).file(self.out.clone()))
    }
}

impl Text {
    pub(super) fn call(&self) -> Call {
        let request = Request::get("/text").query("targetId", self.tab.target.clone());
        let request = request.query("selector", self.selector.clone()).query("maxChars", self.max_chars);
        let request = request.query("frame", self.frame.clone()).query("offset", self.offset);
        let request = request.flag("raw", self.raw);
        Call::new(request, show::text)
    }
}

impl Frames {
    pub(super) fn call(&self) -> Call {
        let request = Request::get("/frames").query("targetId", self.tab.target.clone()).flag("full", self.full);
        Call::new(request, show::frames).quick()
    }
}

impl Console {
    pub(super) fn call(&self) -> Call {
        let request = Request::get("/console").query("level", self.level.clone());
        let request = request.query("targetId", self.tab.target.clone()).query("limit", self.limit);
        Call::new(request.flag("clear", self.clear), show::console).quick()
    }
}

impl Errors {
    pub(super) fn call(&self) -> Call {
        let request = Request::get("/errors").query("targetId", self.tab.target.clone());
        Call::new(request.query("limit", self.limit).flag("clear", self.clear), show::errors).quick()
    }
}

impl Requests {
    pub(super) fn call(&self) -> Call {
        if self.har.is_some() {
            let request = Request::get("/requests/har").query("targetId", self.tab.target.clone());
            let request = request.flag("bodies", !self.no_bodies).flag("raw", self.raw);
            return Call::new(request, show::archive).file(self.har.clone());
        }
        let request = Request::get("/requests").query("filter", self.filter.clone());
        let request = request.query("targetId", self.tab.target.clone()).query("limit", self.limit);
        let request = request.flag("headers", self.headers).flag("raw", self.raw);
        Call::new(request.flag("clear", self.clear), show::requests).quick()
    }
}

impl OneRequest {
    pub(super) fn call(&self) -> Call {
        let request = Request::get("/requests").segment(&self.id).query("targetId", self.tab.target.clone());
        Call::new(request.flag("body", self.body).flag("raw", self.raw), show::request)
    }
}

impl Pdf {
    pub(super) fn call(&self) -> Call {
        let request = Request::post("/pdf").field("targetId", self.tab.target.clone());
        Call::new(request, show::path).file(self.out.clone())
    }
}

impl Highlight {
    pub(super) fn call(&self) -> Call {
        let Locator { reference, locator, .. } = locator(self.at.as_deref());
        let request = Request::post("/highlight").object(&api::Highlight { reference, locator });
        Call::new(request.field("targetId", self.tab.target.clone()), show::highlighted)
    }
}

/// The name of an enum value as typed on the command line.
fn name(value: impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_owned())
}
