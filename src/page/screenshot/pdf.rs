//! Printing to PDF.

use base64::Engine as _;
use serde::{Deserialize, Serialize};

use super::super::{Error, Tab};
use crate::cdp;
use crate::cdp::protocol::io;
use crate::cdp::protocol::page::{PrintToPdf, PrintToPdfTransferMode};
use crate::setters;
use crate::supervisor::{self, FrameRef, is_disk_full};
use crate::sync::Deadline;

/// Minimum side of the paper, in inches: Chromium 156 crashes when a side is shorter than a point.
const SMALLEST: f64 = 0.1;
/// Bytes of a PDF read at once.
const PIECE: i64 = 1024 * 1024;

/// Options of a PDF. Absent fields have Chromium's defaults: Letter, portrait, margins of 1 cm. Lengths are in inches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PdfOptions {
    /// Landscape instead of portrait.
    pub landscape: bool,
    /// Print background colours and images. Default false.
    pub print_background: bool,
    /// Scale, 0.1 to 2. Default 1.
    pub scale: Option<f64>,
    /// Width of the paper, in inches, 0.1 to 200.
    pub paper_width: Option<f64>,
    /// Height of the paper, in inches, 0.1 to 200.
    pub paper_height: Option<f64>,
    /// Margin on all sides, in inches, 0 to 100.
    pub margin: Option<f64>,
    /// The pages to print, from 1, such as `1-5, 8`. Default: all.
    pub page_ranges: Option<String>,
    /// Let a page size in the style sheet override the size of the paper.
    pub prefer_css_page_size: bool,
}

impl PdfOptions {
    /// The default options, as [`Default`] gives them.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { PdfOptions:
    landscape(bool),
    print_background(bool),
    scale(some f64),
    paper_width(some f64),
    paper_height(some f64),
    margin(some f64),
    page_ranges(some into String),
    prefer_css_page_size(bool),
}

impl PdfOptions {
    fn command(&self) -> Result<PrintToPdf, Error> {
        let bad = |problem: &str| Error::BadRequest { problem: problem.to_owned() };
        if self.scale.is_some_and(|scale| !(0.1..=2.0).contains(&scale)) {
            return Err(bad("scale of a PDF must be 0.1 to 2"));
        }
        let lengths = [self.paper_width, self.paper_height];
        if lengths.into_iter().flatten().any(|inches| !(SMALLEST..=200.0).contains(&inches)) {
            return Err(bad("paperWidth and paperHeight must be 0.1 to 200 inches"));
        }
        if self.margin.is_some_and(|inches| !(0.0..=100.0).contains(&inches)) {
            return Err(bad("margin must be 0 to 100 inches"));
        }
        let mut print = PrintToPdf::new();
        print.landscape = Some(self.landscape);
        print.print_background = Some(self.print_background);
        (print.scale, print.paper_width, print.paper_height) = (self.scale, self.paper_width, self.paper_height);
        (print.margin_top, print.margin_bottom) = (self.margin, self.margin);
        (print.margin_left, print.margin_right) = (self.margin, self.margin);
        print.page_ranges.clone_from(&self.page_ranges);
        print.prefer_css_page_size = Some(self.prefer_css_page_size);
        print.transfer_mode = Some(PrintToPdfTransferMode::ReturnAsStream);
        Ok(print)
    }
}

impl Tab {
    /// Prints the page to PDF.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for invalid options, [`Error::NoPdf`] when the browser refuses, [`Error::DiskFull`] since
    /// the browser writes a temporary file, and those of the supervisor, such as `BLOCKED_BY_DIALOG`.
    pub fn pdf(&self, options: &PdfOptions, deadline: Deadline<'_>) -> Result<Vec<u8>, Error> {
        self.printed(options, deadline).map_err(|error| {
            let folder = std::env::temp_dir();
            match error {
                Error::NoPdf { .. } if is_disk_full(&folder) => {
                    Error::DiskFull { folder: folder.display().to_string() }
                }
                error => error,
            }
        })
    }

    fn printed(&self, options: &PdfOptions, deadline: Deadline<'_>) -> Result<Vec<u8>, Error> {
        self.check_nothing_hidden(deadline)?;
        let page = FrameRef::TopOf(self.target.clone());
        let printed = self.supervisor.call(&page, &options.command()?, deadline).map_err(refused)?.result;
        let Some(stream) = printed.stream else {
            return printed.data.decode().map_err(|error| Error::NoPdf { problem: error.to_string() });
        };
        let bytes = self.read_stream(&page, &stream, deadline);
        self.supervisor.post(&page, &io::Close::new(stream));
        bytes
    }

    fn read_stream(
        &self,
        page: &FrameRef,
        stream: &io::StreamHandle,
        deadline: Deadline<'_>,
    ) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        loop {
            let mut read = io::Read::new(stream.clone());
            read.size = Some(PIECE);
            let piece = self.supervisor.call(page, &read, deadline).map_err(refused)?.result;
            if piece.base64_encoded == Some(true) {
                let decoded = base64::engine::general_purpose::STANDARD.decode(&piece.data);
                bytes.extend(decoded.map_err(|error| Error::NoPdf { problem: error.to_string() })?);
            } else {
                bytes.extend_from_slice(piece.data.as_bytes());
            }
            if piece.eof {
                return Ok(bytes);
            }
        }
    }
}

/// A refusal of the browser, or an error of the supervisor.
fn refused(error: supervisor::Error) -> Error {
    match error {
        supervisor::Error::Cdp(cdp::Error::Protocol { message, .. })
            if message.to_lowercase().contains("page range") =>
        {
            Error::BadRequest { problem: format!("{message}; give pageRanges such as 1-5, 8") }
        }
        supervisor::Error::Cdp(cdp::Error::Protocol { message, .. }) => Error::NoPdf { problem: message },
        error => error.into(),
    }
}
