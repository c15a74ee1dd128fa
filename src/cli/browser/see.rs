//! What a tab shows and says.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::super::client::Request;
use super::super::failure::Failure;
use super::call::{Call, Tab, element, frame, named, reference};
use super::show;

#[derive(Debug, Args)]
pub(in super::super) struct Screenshot {
    /// The tab, as with --target
    #[arg(value_name = "TAB", conflicts_with = "target")]
    positional: Option<String>,
    /// The whole page, not the viewport only
    #[arg(long, conflicts_with_all = ["at", "element"])]
    full_page: bool,
    /// Only the element of this ref or locator
    #[arg(id = "at", long = "ref", value_name = "REF", value_parser = element)]
    at: Option<String>,
    /// Only the first element that matches this CSS selector
    #[arg(long, value_name = "CSS", alias = "selector", conflicts_with = "at")]
    element: Option<String>,
    /// Image format [default: by the extension of --out, else png]
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    kind: Option<PictureType>,
    /// Quality of a JPEG, 1 to 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    quality: Option<u8>,
    /// With numbered boxes around what can be acted on
    #[arg(long)]
    labels: bool,
    /// Output file; .png, .jpg and .jpeg set the format [default: media/ in the home of the server]
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
    /// Lines for reading and acting, or all nodes of the accessibility tree
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// Nodes at most, for `aria`
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Characters at most; 0: no limit
    #[arg(long, value_name = "N")]
    max_chars: Option<u32>,
    /// Leave out the first N lines: what a truncated snapshot goes on with
    #[arg(long, value_name = "N")]
    offset: Option<u32>,
    /// Only what can be acted on
    #[arg(long)]
    interactive: bool,
    /// Without what says nothing
    #[arg(long)]
    compact: bool,
    /// Both of these
    #[arg(long)]
    efficient: bool,
    /// Levels below the root
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Only what is below the first element that matches this CSS selector
    #[arg(long, value_name = "CSS")]
    selector: Option<String>,
    /// Only this frame: its id, or the ref of the iframe
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    frame: Option<String>,
    /// With a picture in which the refs are drawn
    #[arg(long)]
    labels: bool,
    /// With the addresses of links
    #[arg(long)]
    urls: bool,
    /// Only what changed since the last snapshot of the tab, with its options unless others are given
    #[arg(long)]
    diff: bool,
    /// Of long runs of like siblings only the first
    #[arg(long)]
    fold: bool,
    /// Show what is folded at this ref
    #[arg(long, value_name = "REF", value_parser = reference)]
    expand: Option<String>,
    /// Write the text to a file
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Lines: role, name, ref, state
    Ai,
    /// Nodes
    Aria,
}

#[derive(Debug, Args)]
pub(in super::super) struct Text {
    /// Only that of the first element that matches this CSS selector
    #[arg(long, value_name = "CSS")]
    selector: Option<String>,
    /// Read this frame: its id, or the ref of the iframe [default: the main frame]
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    frame: Option<String>,
    /// Characters at most
    #[arg(long, value_name = "N")]
    max_chars: Option<u32>,
    /// Leave out the first N characters
    #[arg(long, value_name = "N")]
    offset: Option<u32>,
    /// Show the text as the page has it, without secrets replaced by [secret]
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Frames {
    /// All of them, however many and deep
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Console {
    /// Show only messages at least this serious: log, warning, error or exception
    #[arg(long, value_name = "LEVEL")]
    level: Option<String>,
    /// Show the last N messages
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Clear them afterwards
    #[arg(long)]
    clear: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Errors {
    /// The last so many
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Forget them afterwards
    #[arg(long)]
    clear: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Requests {
    /// Only those with this text in their address
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// The last so many
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Forget them afterwards
    #[arg(long)]
    clear: bool,
    /// Show headers of requests and responses
    #[arg(long)]
    headers: bool,
    /// Write all requests and their bodies to a file, as an HTTP Archive (HAR 1.2); it may hold secrets, so only its owner
    /// can read it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["filter", "limit", "clear", "headers"])]
    har: Option<PathBuf>,
    /// With --har: leave bodies out
    #[arg(long, requires = "har")]
    no_bodies: bool,
    /// With --headers or --har: show values as they are, without secrets replaced by [secret]
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct OneRequest {
    /// Its id; `requests` shows it
    id: String,
    /// Show the body of the response, at most 1 MiB
    #[arg(long)]
    body: bool,
    /// Show values as they are, without secrets replaced by [secret]
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Pdf {
    /// Where to put the paper [default: media/ in the home of the server]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Highlight {
    /// The ref of the element in a snapshot, or a locator [default: none; what is shown is taken away]
    #[arg(value_name = "REF", value_parser = element)]
    at: Option<String>,
    #[command(flatten)]
    tab: Tab,
}

impl Screenshot {
    /// The format: as typed, else by the extension of the file.
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
                    "--type {kind} contradicts --out {path}, which is {other}; change one of them"
                )))
            }
            (kind, by_name, _) => Ok(kind.or(by_name)),
        }
    }

    pub(super) fn call(&self) -> Result<Call, Failure> {
        let tab = self.positional.clone().or_else(|| self.tab.target.clone());
        let request = Request::post("/screenshot").field("targetId", tab).on("fullPage", self.full_page);
        let request = named(request, self.at.as_deref()).field("element", self.element.clone());
        let request = request.field("type", self.format()?.and_then(name)).field("quality", self.quality);
        // The file may be on another machine: then the picture comes in the answer.
        let request = request.on("labels", self.labels).on("inline", self.out.is_some());
        Ok(Call::new(request, show::picture).file(self.out.clone()))
    }
}

impl Snapshot {
    pub(super) fn call(&self) -> Call {
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
        Call::new(request, show::snapshot).file(self.out.clone())
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
        let request = named(Request::post("/highlight"), self.at.as_deref());
        Call::new(request.field("targetId", self.tab.target.clone()), show::highlighted)
    }
}

/// The name of one of a few values, as it is typed.
fn name(value: impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_owned())
}
