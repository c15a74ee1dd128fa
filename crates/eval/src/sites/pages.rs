//! The files of the sites, the search of the news site and the service that fails.

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue, LOCATION, REFERRER_POLICY};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::super::assets::Assets;
use super::Shared;
use super::runs::Run;
use cdpilot::code::Code;
use cdpilot::sync::{Deadline, pause};
use cdpilot_server::http::{Answer, Request};

/// Where the service is that is slow and fails.
const FLAKY: &str = "/flaky/api/";
/// Its delays, in milliseconds: the shortest, and by how much others are longer.
const DELAY_MS: (u64, u64) = (200, 1000);
/// Of so many successive calls of a name, one fails.
const FAILS: u32 = 3;
/// Scripts that all sites have.
const SCRIPTS: &str = "js/";
const HTML: &str = "text/html; charset=utf-8";

/// Whether answering takes time on purpose.
pub(super) fn is_slow(path: &str) -> bool {
    path.starts_with(FLAKY)
}

fn not_found(path: &str) -> Answer {
    let body = format!("There is no page {path} here.\n");
    Answer::bytes(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", body.into_bytes())
}

/// Answers a request for a page.
pub(super) fn answer(shared: &Shared, run: &Run, request: &Request, deadline: Deadline<'_>) -> Answer {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        return Answer::failure(StatusCode::METHOD_NOT_ALLOWED, Code::MethodNotAllowed, "pages can only be read");
    }
    let path = percent_decode_str(&request.path).decode_utf8_lossy().into_owned();
    let answered = match path.as_str() {
        "/" => start(shared),
        "/js/run.js" => {
            Answer::bytes(StatusCode::OK, "text/javascript; charset=utf-8", script(shared, run).into_bytes())
        }
        "/gbr/search" => search(shared, request.parameter("q").unwrap_or_default()),
        _ => match path.strip_prefix(FLAKY) {
            Some(name) => flaky(shared, run, name, deadline),
            None => file(shared, &path),
        },
    };
    // A browser must not show an old state of a site, or the script of another run. Sites ask where a visitor comes from.
    answered
        .with(CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .with(REFERRER_POLICY, HeaderValue::from_static("strict-origin-when-cross-origin"))
}

/// `/js/run.js`: what pages know of their run.
fn script(shared: &Shared, run: &Run) -> String {
    let places = run.places(shared.runs.port());
    let known =
        json!({ "id": run.id(), "seed": run.seed(), "a": places.a, "b": places.b, "today": places.today.iso() });
    format!("window.evalRun = {known};\n")
}

/// A list of the sites, for people.
fn start(shared: &Shared) -> Answer {
    let links: String = shared.sites().iter().map(|site| format!("<li><a href=\"/{site}/\">{site}</a>")).collect();
    Answer::html(format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Sites of the evaluation</title><link rel=icon href=data:,>\
         <style>body {{ font: 16px/1.6 system-ui; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }}</style>\
         <h1>Sites of the evaluation</h1><p>Mock sites for testing agents. What happens on them is at \
         <a href=\"/api/events\">/api/events</a>.<ul>{links}</ul>"
    ))
}

fn file(shared: &Shared, path: &str) -> Answer {
    let relative = path.trim_start_matches('/');
    let is_folder = relative.ends_with('/') || relative.is_empty();
    let name = if is_folder { format!("{relative}index.html") } else { relative.to_owned() };
    let mut found = shared.assets.read(&name);
    if name.starts_with(SCRIPTS) && matches!(found, Ok(None)) {
        // Sites of others use the same tracker.
        found = Assets::embedded("sites").read(&name);
    }
    match found {
        Ok(Some(bytes)) => Answer::bytes(StatusCode::OK, media_type(&name), bytes.into_owned()),
        Ok(None) if !is_folder && shared.assets.has_folder(relative).unwrap_or_default() => {
            let Ok(location) = HeaderValue::try_from(format!("/{relative}/")) else { return not_found(path) };
            Answer::bytes(StatusCode::MOVED_PERMANENTLY, HTML, Vec::new()).with(LOCATION, location)
        }
        Ok(None) => not_found(path),
        Err(problem) => Answer::failure(StatusCode::INTERNAL_SERVER_ERROR, Code::Internal, problem),
    }
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, end)| end) {
        "html" => HTML,
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webp" => "image/webp",
        "jpg" | "jpeg" => "image/jpeg",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn text(shared: &Shared, path: &str) -> String {
    let bytes = shared.assets.read(path).ok().flatten().unwrap_or(Cow::Borrowed(&[]));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The search of the news site: articles whose title, summary and keywords contain every word.
fn search(shared: &Shared, asked: &str) -> Answer {
    let words = words(asked);
    let articles: Vec<Value> = serde_json::from_str(&text(shared, "gbr/articles.json")).unwrap_or_default();
    let is_hit = |article: &&Value| {
        let part = |name: &str| article[name].as_str().unwrap_or_default().to_owned();
        let known = self::words(&format!("{} {} {}", part("title"), part("summary"), part("keywords")));
        !words.is_empty() && words.iter().all(|word| known.contains(word))
    };
    let hits: Vec<&Value> = articles.iter().filter(is_hit).collect();
    let card = text(shared, "gbr/search-result.html");
    let results: String = hits.iter().map(|article| filled(&card, article)).collect();
    let page = text(shared, "gbr/search.html");
    let page = page.replace("{{query}}", &escaped(asked)).replace("{{count}}", &hits.len().to_string());
    Answer::html(page.replace("{{results}}", &results))
}

fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A template with the fields of an object in place of their names.
fn filled(template: &str, fields: &Value) -> String {
    let (mut filled, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        filled.push_str(before);
        match &fields[name] {
            Value::String(text) => filled.push_str(&escaped(text)),
            Value::Null => {}
            other => filled.push_str(&escaped(&other.to_string())),
        }
        rest = after;
    }
    filled + rest
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// A file of the service that is slow and fails. Delay and the first failure of a name follow from the seed of the run.
fn flaky(shared: &Shared, run: &Run, name: &str, deadline: Deadline<'_>) -> Answer {
    let hash = hash(run.seed(), name);
    let call = run.call(name);
    pause(Duration::from_millis(DELAY_MS.0 + u64::from(hash >> 8) % DELAY_MS.1).min(deadline.left()));
    if (hash % FAILS + call).is_multiple_of(FAILS) {
        return Answer::json(
            StatusCode::SERVICE_UNAVAILABLE,
            &json!({ "ok": false, "error": "The service is busy. Try again." }),
        );
    }
    match shared.assets.read(&format!("flaky/data/{name}.json")) {
        Ok(Some(bytes)) => Answer::bytes(StatusCode::OK, "application/json", bytes.into_owned()),
        _ => not_found(name),
    }
}

/// FNV-1a: the same on every machine.
fn hash(seed: u32, text: &str) -> u32 {
    let bytes = seed.to_le_bytes().into_iter().chain(text.bytes());
    bytes.fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
