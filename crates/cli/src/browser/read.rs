//! Commands that read a tab: screenshots, snapshots, text, console, requests.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::super::client::Request;
use super::super::failure::Failure;
use super::call::{Call, Tab, element, locator};
use super::fields::Fields;
use super::show;
use cdpilot::page::{self, Locator, PictureType};
use cdpilot_server::api::{self, operations as op};

#[derive(Debug, Args)]
pub(in super::super) struct Screenshot {
    /// Tab, same as --target
    #[arg(value_name = "TAB", conflicts_with = "target")]
    positional: Option<String>,
    /// Capture only this element: ref or locator
    #[arg(id = "at", long = "ref", value_name = "REF", value_parser = element, conflicts_with_all = ["fullPage", "element"])]
    at: Option<String>,
    #[command(flatten)]
    fields: Fields<api::TakeScreenshot>,
    /// Image format [default: from the extension of --out, else png]
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    kind: Option<Format>,
    /// Output file; .png, .jpg and .jpeg set the format [default: a new file in media/ of the server's home]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Png,
    #[value(alias = "jpg")]
    Jpeg,
}

#[derive(Debug, Args)]
pub(in super::super) struct Snapshot {
    #[command(flatten)]
    fields: Fields<api::SnapshotQuery>,
    /// Same as --interactive --compact
    #[arg(long)]
    efficient: bool,
    /// Write the snapshot to this file
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Text {
    #[command(flatten)]
    fields: Fields<api::TextQuery>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Frames {
    #[command(flatten)]
    fields: Fields<api::FramesQuery>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Console {
    #[command(flatten)]
    fields: Fields<api::ConsoleQuery>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Errors {
    #[command(flatten)]
    fields: Fields<api::ErrorsQuery>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Requests {
    #[command(flatten)]
    fields: Fields<api::RequestsQuery>,
    /// Write all requests and bodies, without WebSockets, to this file as an HTTP Archive (HAR 1.2); it may contain secrets and is readable by
    /// its owner only
    #[arg(long, value_name = "FILE", conflicts_with_all = ["filter", "limit", "clear", "headers"])]
    har: Option<PathBuf>,
    /// Leave bodies out of the --har file
    #[arg(long, requires = "har")]
    no_bodies: bool,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct OneRequest {
    /// Request id, from `requests`
    id: String,
    #[command(flatten)]
    fields: Fields<api::RequestQuery>,
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
    fn format(&self) -> Result<Option<Format>, Failure> {
        let extension = self.out.as_ref().and_then(|path| path.extension()).map(|it| it.to_ascii_lowercase());
        let by_name = match extension.as_ref().and_then(|it| it.to_str()) {
            Some("jpg" | "jpeg") => Some(Format::Jpeg),
            Some("png") => Some(Format::Png),
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
        let tab = self.positional.as_deref().or(self.tab.target.as_deref());
        let Locator { reference, locator, .. } = locator(self.at.as_deref());
        let kind = self.format()?.map_or(PictureType::default(), |format| match format {
            Format::Png => PictureType::Png,
            Format::Jpeg => PictureType::Jpeg,
        });
        // With --out the image comes in the answer: the server may be on another machine.
        let inline = self.out.is_some();
        let take = api::TakeScreenshot { reference, locator, kind, inline, ..self.fields.request()? };
        Ok(Call::new(Request::new(op::SCREENSHOT, &take).tab(tab), show::picture).file(self.out.clone()))
    }
}

impl Snapshot {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let mut query = self.fields.request()?;
        // A snapshot of changes has the format of the one before.
        if query.limit.is_some() && !query.diff && query.format != page::Format::Aria {
            let problem = "--limit applies to --format aria only; shorten this snapshot with --max-chars or --depth";
            return Err(Failure::usage(problem));
        }
        query.interactive |= self.efficient;
        query.compact |= self.efficient;
        Ok(Call::new(self.tab.of(Request::new(op::SNAPSHOT, &query)), show::snapshot).file(self.out.clone()))
    }
}

impl Text {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        Ok(Call::new(self.tab.of(Request::new(op::TEXT, &self.fields.request()?)), show::text))
    }
}

impl Frames {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        Ok(Call::new(self.tab.of(Request::new(op::FRAMES, &self.fields.request()?)), show::frames))
    }
}

impl Console {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        Ok(Call::new(self.tab.of(Request::new(op::CONSOLE, &self.fields.request()?)), show::console))
    }
}

impl Errors {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        Ok(Call::new(self.tab.of(Request::new(op::ERRORS, &self.fields.request()?)), show::errors))
    }
}

impl Requests {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let query = self.fields.request()?;
        if self.har.is_some() {
            let query = api::HarQuery { bodies: !self.no_bodies, raw: query.raw };
            return Ok(Call::new(self.tab.of(Request::new(op::HAR, &query)), show::archive).file(self.har.clone()));
        }
        Ok(Call::new(self.tab.of(Request::new(op::REQUESTS, &query)), show::requests))
    }
}

impl OneRequest {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let request = Request::at(op::REQUEST, &[&self.id]).and(&self.fields.request()?);
        Ok(Call::new(self.tab.of(request), show::request))
    }
}

impl Pdf {
    pub(super) fn call(&self) -> Call {
        Call::new(self.tab.of(Request::of(op::PDF)), show::path).file(self.out.clone())
    }
}

impl Highlight {
    pub(super) fn call(&self) -> Call {
        let Locator { reference, locator, .. } = locator(self.at.as_deref());
        let request = Request::new(op::HIGHLIGHT, &api::Highlight { reference, locator });
        Call::new(self.tab.of(request), show::highlighted)
    }
}

/// The name of an enum value as typed on the command line.
fn name(value: impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_owned())
}
