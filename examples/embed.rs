//! The supervisor embedded in another program: start a browser, answer a dialog, look into a frame.
//!
//! `cargo run --example embed --no-default-features`
#![allow(clippy::print_stdout)] // an example shows what it found

use cdpilot::browser::LaunchOptions;
use cdpilot::supervisor::{DialogAnswer, FrameRef, Supervisor, SupervisorOptions, View};
use cdpilot::sync::Deadline;

const PAGE: &str = "data:text/html,<title>outer</title>\
    <iframe sandbox=allow-scripts srcdoc='<title>inner</title><p>hello'></iframe>";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let supervisor = Supervisor::launch(&LaunchOptions::default(), SupervisorOptions::task("embed"))?;
    let soon = || Deadline::after_secs(10);

    supervisor.navigate(&FrameRef::Top, PAGE, soon())?;
    supervisor.start_script(&FrameRef::Top, "window.answer = prompt('Your name?', 'nobody')")?;
    let open = supervisor.wait_until(soon(), |now| !now.dialogs.is_empty()).ok_or("no dialog")?;
    println!("the page asks: {}", open.dialogs[0].message);
    supervisor.respond(None, DialogAnswer::Accept(Some("Ada".into())), soon())?;
    println!("the page got: {}", supervisor.evaluate(&FrameRef::Top, "window.answer", soon())?);

    let loaded = |now: &View| now.frames.iter().any(|f| &*f.url == "about:srcdoc");
    let now = supervisor.wait_until(soon(), loaded).ok_or("no frame")?;
    let inner = now.frames.iter().find(|f| f.parent_frame_id.is_some()).ok_or("no frame")?;
    let title = supervisor.evaluate(&FrameRef::Id(inner.frame_id.clone()), "document.title", soon())?;
    println!("the frame's title: {title}");

    supervisor.stop(soon());
    Ok(())
}
