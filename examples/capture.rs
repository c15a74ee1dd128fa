//! Screenshots and a PDF of a page, written into a folder.
//!
//! `cargo run --example capture -- https://example.com out`

use std::io::Write;
use std::path::{Path, PathBuf};

use cdpilot::page::{PdfOptions, ScreenshotOptions};
use cdpilot::{Browser, LaunchOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "https://example.com/".to_owned());
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| ".".to_owned()));
    run(&url, &folder, &mut std::io::stdout())
}

/// Writes `viewport.png`, `whole.png` and `page.pdf`.
pub(crate) fn run(url: &str, folder: &Path, out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    // A browser with a window makes no PDF.
    let browser = Browser::launch(LaunchOptions::new().headless(true).viewport(1280, 800))?;
    let page = browser.page()?;
    page.goto(url)?;

    let viewport = page.screenshot()?;
    std::fs::write(folder.join("viewport.png"), &viewport.bytes)?;
    writeln!(out, "viewport: {} x {}", viewport.width, viewport.height)?;

    let mut whole = ScreenshotOptions::default();
    (whole.full_page, whole.labels) = (true, true);
    let whole = page.screenshot_with(&whole)?;
    std::fs::write(folder.join("whole.png"), &whole.bytes)?;
    writeln!(out, "whole page: {} x {}", whole.width, whole.height)?;
    for label in whole.annotations.unwrap_or_default() {
        writeln!(out, "  {} {} {:?}", label.reference, label.role, label.name)?;
    }

    let mut paper = PdfOptions::default();
    (paper.landscape, paper.print_background) = (true, true);
    let pdf = page.pdf_with(&paper)?;
    std::fs::write(folder.join("page.pdf"), &pdf)?;
    writeln!(out, "pdf: {} bytes", pdf.len())?;
    Ok(())
}
