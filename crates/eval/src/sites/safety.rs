//! `/safety/…`: a shop in whose pages somebody else has put a text, and the third origin, which must not be reached.
//!
//! Every request that changes something is an event, as are all requests to the third origin. `GET /safety/PAGE?n=N` is a page
//! with the text of that number.

use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue, LOCATION};
use serde_json::{Value, json};

use super::super::assets::Assets;
use super::super::safety::{Cases, EFFECT};
use super::Shared;
use super::pages::escaped;
use super::runs::{Run, Site};
use cdpilot::code::Code;
use cdpilot_server::http::{Answer, Request};

pub(super) const PATH: &str = "/safety/";
/// Longest part of a request that is kept, in characters.
const MAX_SENT: usize = 500;
/// What pages call to report something that sends no request by itself.
const SCRIPT: &str =
    "<script>function did(what, value) { new Image().src = '/safety/did/' + what + '?' + (value ?? ''); }</script>";
const LAMP: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"60\" height=\"60\"><circle cx=\"30\" cy=\"20\" r=\"16\" fill=\"#fd6\"/>\
                    <path d=\"M26 36h8v18h-8z\" fill=\"#654\"/></svg>";

/// The colour of the picture with a text: a model without eyes recognises it.
pub(in super::super) fn colour(number: usize) -> [u8; 3] {
    [0x12, 0xe0, 0x80 + u8::try_from(number % 0x7f).unwrap_or_default()]
}

/// Answers a request below `/safety/`, or to the third origin.
pub(super) fn answer(shared: &Shared, run: &Run, site: Site, request: &Request) -> Answer {
    let number = request.parameter("n").and_then(|number| number.parse().ok()).unwrap_or_default();
    let name = request.path.strip_prefix(PATH).unwrap_or_default();
    let done = || Answer::html(format!("<!doctype html><title>Shop</title>{SCRIPT}<p>Done.</p>"));
    let answered = match (request.method.as_str(), name) {
        _ if site == Site::C => {
            report(run, site, request, "request");
            done()
        }
        ("POST", "in") => {
            report(run, site, request, name);
            page(shared, run, name, number)
        }
        ("POST", _) | ("GET", "delete" | "next") => {
            report(run, site, request, name);
            done()
        }
        ("GET", "found") => {
            report(run, site, request, name);
            page(shared, run, name, number)
        }
        ("GET", "address") => redirect(shared, run, number),
        ("GET", "board") => text(shared, run, number)
            .map_or_else(missing, |text| Answer::bytes(StatusCode::OK, "text/plain; charset=utf-8", text.into_bytes())),
        ("GET", "lamp.svg") => svg(LAMP.to_owned()),
        ("GET", "notice.svg") => text(shared, run, number).map_or_else(missing, |text| svg(notice(&text, number))),
        ("GET", _) => match name.strip_prefix("did/") {
            Some(name) => {
                report(run, site, request, name);
                svg(LAMP.to_owned())
            }
            None => page(shared, run, name, number),
        },
        _ => Answer::failure(
            StatusCode::METHOD_NOT_ALLOWED,
            Code::MethodNotAllowed,
            "only GET and POST are possible here",
        ),
    };
    answered.with(CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

fn missing() -> Answer {
    Answer::failure(StatusCode::NOT_FOUND, Code::NotFound, "there is no such page or text")
}

fn svg(text: String) -> Answer {
    Answer::bytes(StatusCode::OK, "image/svg+xml", text.into_bytes())
}

/// Reports a request as an event. The value of the secret is left out.
fn report(run: &Run, site: Site, request: &Request, effect: &str) {
    let query: Vec<String> = request.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let body = String::from_utf8_lossy(&request.body);
    let sent = format!("{} {body}", query.join("&"));
    let headers: String = request.headers.values().filter_map(|value| value.to_str().ok()).collect();
    let decoded: String =
        url::form_urlencoded::parse(&request.body).map(|(name, value)| format!("{name}={value} ")).collect();
    let is_there = |text: &str| run.without_secret(text).1;
    let has_secret = [&sent, &request.path, &headers, &decoded].into_iter().any(|text| is_there(text));
    // The encoded form of a value that was found decoded is not kept either.
    let sent = if has_secret { "********".to_owned() } else { sent.trim().chars().take(MAX_SENT).collect() };
    let path = run.without_secret(&request.path).0;
    let effect = run.without_secret(effect).0;
    let mut event = json!({
        "eventType": EFFECT, "effect": effect, "origin": site.name(), "method": request.method.as_str(), "path": path, "sent": sent,
        "timestamp": now(),
    });
    if has_secret {
        event["secret"] = true.into();
    }
    run.add(event);
}

fn now() -> Value {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_millis();
    u64::try_from(now).unwrap_or(u64::MAX).into()
}

/// The text with a number, as it stands in pages of a run.
fn text(shared: &Shared, run: &Run, number: usize) -> Option<String> {
    let places = run.places(shared.runs.port());
    let text = Cases::embedded().ok()?.text(number)?;
    let text = text.replace("{{c}}", &places.a.replacen("-a.localhost", "-c.localhost", 1));
    Some(places.fill(&text).map_or_else(|_| text.clone(), std::borrow::Cow::into_owned))
}

fn redirect(shared: &Shared, run: &Run, number: usize) -> Answer {
    let text = text(shared, run, number).unwrap_or_default();
    let note: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    let target = format!("{PATH}plain?n={number}&note={note}");
    match HeaderValue::try_from(target) {
        Ok(target) => Answer::bytes(StatusCode::FOUND, "text/html; charset=utf-8", Vec::new()).with(LOCATION, target),
        Err(_) => missing(),
    }
}

/// A picture of a text.
fn notice(text: &str, number: usize) -> String {
    let [red, green, blue] = colour(number);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < 46 => *line = format!("{line} {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    let lines: String = lines
        .iter()
        .enumerate()
        .map(|(row, line)| format!("<text x=\"20\" y=\"{}\">{}</text>", 50 + row * 34, escaped(line)))
        .collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"600\" height=\"200\"><rect width=\"600\" height=\"200\" fill=\"#{red:02x}{green:02x}{blue:02x}\"/>\
         <g font-family=\"sans-serif\" font-size=\"22\">{lines}</g></svg>"
    )
}

/// A page: its own part, and the shop, which all have except frames and forms of the second origin.
fn page(shared: &Shared, run: &Run, name: &str, number: usize) -> Answer {
    let assets = Assets::embedded("safety");
    let read = |name: &str| {
        let bytes = assets.read(&format!("pages/{name}.html")).ok().flatten();
        bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let own = if name == "plain" || name == "login" || name == "search" { Some(String::new()) } else { read(name) };
    let (Some(own), Some(text)) = (own.filter(|_| name != "shop"), text(shared, run, number)) else { return missing() };
    let shop = if matches!(name, "outer" | "compose") { String::new() } else { read("shop").unwrap_or_default() };
    let places = run.places(shared.runs.port());
    let filled = format!("{shop}{own}")
        .replace("{{n}}", &number.to_string())
        .replace("{{b}}", &places.b)
        .replace("{{json}}", &json!(text).to_string().replace('<', "\\u003c"))
        .replace("{{text}}", &escaped(&text));
    Answer::html(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Shop</title><link rel=\"icon\" href=\"data:,\">{SCRIPT}\n{filled}"
    ))
}
