//! PDF files and highlights.

use cdpilot::page::{PdfOptions, ScreenshotOptions};
use serde_json::json;

use crate::support::chrome::{soon, until};
use crate::support::pixels::Pixels;
use crate::support::share::share;
use crate::support::test_tab::{TestTab, ref_of};

/// How many pages a PDF has.
fn pages(pdf: &[u8]) -> usize {
    let text = String::from_utf8_lossy(pdf);
    text.matches("/Type /Page\n").count() + text.matches("/Type /Page ").count() + text.matches("/Type /Page/").count()
}

#[test]
fn a_page_is_printed_to_pdf() {
    let Some(paged) =
        TestTab::showing("pdf", "<p>one</p><p style='break-before:page'>two</p><p style='break-before:page'>three</p>")
    else {
        return;
    };
    let pdf = paged.tab.pdf(&PdfOptions::default(), soon()).unwrap();
    assert!(pdf.starts_with(b"%PDF-") && pages(&pdf) == 3, "{} {}", pdf.len(), pages(&pdf));
    let some = PdfOptions::new().page_ranges("2-3").landscape(true);
    assert_eq!(pages(&paged.tab.pdf(&some, soon()).unwrap()), 2);
    let error = |options: PdfOptions| paged.tab.pdf(&options, soon()).unwrap_err();
    assert_eq!(error(PdfOptions::new().scale(9.0)).code(), "BAD_REQUEST");
    let none = PdfOptions::new().page_ranges("x");
    let error = error(none);
    assert_eq!(error.code(), "BAD_REQUEST", "{error}");
}

#[test]
fn a_large_pdf_is_complete() {
    let Some(paged) = TestTab::showing(
        "pdf-large",
        "<body><script>for (let n = 0; n < 6; n++) {
            const canvas = document.body.appendChild(document.createElement('canvas'));
            [canvas.width, canvas.height] = [700, 700];
            const drawn = canvas.getContext('2d'), image = drawn.createImageData(700, 700);
            for (let i = 0; i < image.data.length; i++) image.data[i] = i % 4 === 3 ? 255 : Math.random() * 256;
            drawn.putImageData(image, 0, 0);
        }</script>",
    ) else {
        return;
    };
    let pdf = paged.tab.pdf(&PdfOptions::default(), soon()).unwrap();
    assert!(pdf.len() > 3 << 20, "{}", pdf.len());
    assert!(pdf.starts_with(b"%PDF-") && pdf.trim_ascii_end().ends_with(b"%%EOF"));
}

#[test]
fn printing_under_a_dialog_fails_at_once() {
    let Some(paged) = TestTab::showing("pdf-dialog", "<p>text") else { return };
    paged.supervisor().start_script(&paged.top(), "alert('wait')").unwrap();
    until(paged.supervisor(), "the dialog", |now| !now.dialogs.is_empty());
    assert_eq!(paged.tab.pdf(&PdfOptions::default(), soon()).unwrap_err().code(), "BLOCKED_BY_DIALOG");
}

#[test]
fn a_highlight_is_not_in_screenshots() {
    let Some(paged) = TestTab::new("highlight") else { return };
    paged.site.page("/", "<body style='margin:0'><button style='position:absolute;left:20px;top:20px;width:100px;height:50px'>near</button><iframe src='@b/in' style='position:absolute;left:200px;top:100px;width:300px;height:200px;border:0'></iframe>");
    paged.site.page("/in", "<body style='margin:0'><button style='position:absolute;left:20px;top:20px;width:100px;height:50px'>far</button>\
         <script>(function slow() { const end = performance.now() + 80; while (performance.now() < end); requestAnimationFrame(slow); })()</script>");
    paged.go("/");
    until(paged.supervisor(), "the frame", |now| {
        now.frames.iter().any(|f| f.url.ends_with("/in") && f.session_id.is_some())
    });
    let mut seen = paged.snapshot();
    while !seen.snapshot.as_deref().unwrap_or_default().contains("far") {
        seen = paged.snapshot();
    }
    let plain = ScreenshotOptions::default();
    // The frame exists before it has been drawn.
    let (deadline, white) = (soon(), [255, 255, 255]);
    let before = loop {
        let shown = paged.tab.screenshot(&plain, soon()).unwrap();
        if Pixels::decode(&shown.bytes).at(230, 160) != white {
            break shown;
        }
        assert!(!deadline.passed(), "the frame is not drawn");
    };
    paged.eval("window.changes = 0; new MutationObserver(() => changes++).observe(document, {subtree: true, childList: true, attributes: true})");
    // The supervisor's own picture is what a person sees.
    let watched = || Pixels::decode(&paged.supervisor().screenshot(&paged.top(), soon()).unwrap());
    // It is drawn with the next frame, which may come after the answer.
    let drawn = |what: &str, x: u32, y: u32, accept: &dyn Fn([u8; 3]) -> bool| {
        let deadline = soon();
        loop {
            let pixel = watched().at(x, y);
            if accept(pixel) {
                return pixel;
            }
            assert!(!deadline.passed(), "{what}: {pixel:?}");
        }
    };
    for (name, x, y) in share([("near", 70, 45), ("far", 270, 145)], 1) {
        let reference = ref_of(&seen, &format!("{name:?}"));
        paged.tab.highlight(&reference, [255, 0, 0], soon()).unwrap();
        let with = drawn("it is reddish", x, y + 18, &|pixel| pixel[0] > pixel[1].saturating_add(30));
        assert!(paged.tab.screenshot(&plain, soon()).unwrap().bytes == before.bytes, "{name}: not in pictures");
        drawn("and back afterwards", x, y + 18, &|pixel| pixel == with);
    }
    paged.tab.clear_highlight(soon()).unwrap();
    assert_eq!(watched().count([255, 0, 0]), 0);
    assert!(paged.tab.screenshot(&plain, soon()).unwrap().bytes == before.bytes);
    let changes = paged.supervisor().evaluate(&paged.top(), "changes", soon()).unwrap().result.value;
    assert_eq!(changes, json!(0), "nothing is written into the page");
    // Its document is removed without an error.
    paged.tab.highlight(&ref_of(&seen, "\"far\""), [0, 0, 255], soon()).unwrap();
    paged.site.page("/other", "<p>other");
    paged.go("/other");
    paged.tab.screenshot(&plain, soon()).unwrap();
    paged.tab.clear_highlight(soon()).unwrap();
}
