//! Compares a click in a recorded page with the same click in the same page without a recording, in the same run, and two ways of
//! taking the screenshot of a click.
//!
//! `cargo bench -p cdpilot-server --bench record -- [--quick] [--json]`. A server records over its HTTP API; a second CDP client clicks
//! as a person does. The contestants take turns in blocks; figures are medians in milliseconds. Nothing here fails because something
//! was slow.
//!
//! A recording takes the screenshot of a click from the live picture: the newest frame from before the press. The other way is to
//! request a screenshot with the press. Here it is requested by the client that presses, which is earlier than a recorder in the page could.
//! The click changes the colour of the page, so that a screenshot shows whether it was taken before it.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)] // a bench prints; a run that fails has no figures

use std::io::Read as _;
use std::time::{Duration, Instant};

use cdpilot::sync::pause;
use cdpilot_server::config::{Config, Home};
use cdpilot_server::server::{Server, ServerOptions};
use serde_json::{Value, json};
use testkit::lease::Lease;
use testkit::person::Person;
use testkit::pixels::base64;
use testkit::site::Site;
use testkit::soon;

/// Time between two clicks: a person is not faster, and the live picture has shown the page meanwhile.
const BETWEEN: Duration = Duration::from_millis(250);
/// Where the colour of the page is read: in pixels of a screenshot that is 960 pixels wide.
const SAMPLE: (u32, u32) = (600, 300);

/// A page of 200 rows. The click changes the colour of the whole page.
const HTML: &str = "<title>Stage</title><style>body { margin: 0; background: #fff } button { position: fixed; left: 20px; top: 20px; \
    width: 120px; height: 40px } table { margin: 80px 20px }</style><button onclick=\"document.body.style.background = '#00f'\">Save</button>\
    <table></table><script>for (let n = 0; n < 200; n++) document.querySelector('table').insertAdjacentHTML('beforeend', \
    `<tr><td>Person ${n}<td><input aria-label='Note ${n}'><td><a href='#${n}'>Open</a><td><button style='position: static'>Delete</button></tr>`)</script>";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let asked = |flag: &str| args.iter().any(|arg| arg == flag);
    let (blocks, clicks) = if asked("--quick") { (2, 5) } else { (5, 15) };
    let Some(lease) = Lease::take_empty() else { return };
    let (folder, site) = (tempfile::tempdir().unwrap(), Site::start());
    site.page("/", HTML);
    let mut config = Config::default();
    config.browser.cdp_url = Some(lease.url().to_owned());
    let mut options = ServerOptions::new(Home::at(folder.path().join("home")), config);
    options.port = Some(0);
    let server = Server::start(options).unwrap();
    let api = Api { root: format!("http://{}", server.addr()), token: server.token().reveal().to_owned() };
    let (mut plain, mut recorded, mut shot) = (Vec::new(), Vec::new(), Vec::new());
    let (mut filmed, mut shots) = (Pictures::default(), Pictures::default());
    let mut tab = None;
    for block in 1..=blocks {
        eprintln!("block {block} of {blocks}");
        let begun = api.post("/recordings", &json!({ "start_url": site.url("a", "/") }));
        let path = format!("/recordings/{}", begun["recording_id"].as_str().unwrap());
        let target = api.target(&path);
        let person = Person::at(lease.url(), &target);
        for _ in 0..clicks {
            recorded.push(click(&person, || {}));
        }
        api.post(&format!("{path}/stop"), &json!({}));
        let events = api.get(&format!("{path}/events?limit=500"));
        let made: Vec<Value> =
            events["events"].as_array().unwrap().iter().filter(|one| one["event_type"] == "click").cloned().collect();
        assert_eq!(made.len(), clicks, "every click is in the recording once");
        for event in made {
            let picture = event["keyframe"].as_str().map(|path| api.bytes(path));
            filmed.add(&person, picture.map(|jpeg| base64(&jpeg)));
        }
        // The page is loaded again, without a recorder.
        person.send("Page.reload", &json!({}));
        while person.title() != "Stage" {}
        for _ in 0..clicks {
            plain.push(click(&person, || {}));
            let mut picture = None;
            shot.push(click(&person, || {
                let params = json!({ "format": "jpeg", "quality": 70 });
                picture = person.send("Page.captureScreenshot", &params)["data"].as_str().map(ToOwned::to_owned);
            }));
            shots.add(&person, picture);
        }
        tab.replace(person);
    }
    drop(tab);
    let rows = [
        Row { what: "recorded, screenshot from the live picture", ms: median(recorded), pictures: Some(filmed) },
        Row { what: "not recorded", ms: median(plain), pictures: None },
        Row { what: "not recorded, screenshot requested with the press", ms: median(shot), pictures: Some(shots) },
    ];
    print(&rows, asked("--json"));
    server.stop(soon());
}

struct Row {
    what: &'static str,
    ms: f64,
    pictures: Option<Pictures>,
}

/// What the screenshots of clicks show.
#[derive(Default)]
struct Pictures {
    missing: usize,
    before: usize,
    after: usize,
}

impl Pictures {
    /// A screenshot as Base64. The browser decodes it.
    fn add(&mut self, person: &Person, jpeg: Option<String>) {
        let Some(jpeg) = jpeg else {
            self.missing += 1;
            return;
        };
        let (x, y) = SAMPLE;
        let script = format!(
            "(async () => {{ const image = new Image(); image.src = 'data:image/jpeg;base64,{jpeg}'; await image.decode(); \
             const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d'); canvas.drawImage(image, 0, 0); \
             const at = image.width / 960; return canvas.getImageData({x} * at, {y} * at, 1, 1).data[0] > 128; }})()"
        );
        if person.eval(&script) == true {
            self.before += 1;
        } else {
            self.after += 1;
        }
    }
}

/// Presses and releases the button; `meanwhile` begins with the press. Milliseconds until the page has handled both.
fn click(person: &Person, meanwhile: impl FnOnce()) -> f64 {
    person.eval("document.body.style.background = '#fff'; 1");
    let at = (80.0, 40.0);
    person.move_to(at);
    pause(BETWEEN);
    std::thread::scope(|scope| {
        let pressing = scope.spawn(|| {
            let began = Instant::now();
            person.press_at(at);
            began.elapsed().as_secs_f64() * 1e3
        });
        meanwhile();
        pressing.join().unwrap()
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn print(rows: &[Row], as_json: bool) {
    let plain = rows.iter().find(|row| row.pictures.is_none()).map_or(f64::NAN, |row| row.ms);
    if as_json {
        let row = |row: &Row| {
            let pictures = row.pictures.as_ref();
            let pictures =
                pictures.map(|all| json!({ "before": all.before, "after": all.after, "missing": all.missing }));
            json!({ "what": row.what, "ms": row.ms, "more": row.ms - plain, "ratio": row.ms / plain, "pictures": pictures })
        };
        println!("{:#}", json!({ "unit": "ms", "rows": rows.iter().map(row).collect::<Vec<_>>() }));
        return;
    }
    println!("{:52} {:>7} {:>7} {:>6}  screenshots", "click; ms, medians", "ms", "more", "ratio");
    for row in rows {
        let pictures = row.pictures.as_ref().map_or_else(String::new, |all| {
            format!("{} from before the click, {} from after it, {} missing", all.before, all.after, all.missing)
        });
        println!("{:52} {:>7.1} {:>7.1} {:>6.2}  {pictures}", row.what, row.ms, row.ms - plain, row.ms / plain);
    }
}

/// A client of the server.
struct Api {
    root: String,
    token: String,
}

impl Api {
    fn post(&self, path: &str, body: &Value) -> Value {
        let request =
            ureq::post(format!("{}{path}", self.root)).header("Authorization", format!("Bearer {}", self.token));
        let request = request.header("Content-Type", "application/json");
        let answer = request.send(body.to_string()).unwrap().into_body().read_to_string().unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        let request =
            ureq::get(format!("{}{path}", self.root)).header("Authorization", format!("Bearer {}", self.token));
        let mut bytes = Vec::new();
        request.call().unwrap().into_body().into_reader().read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn get(&self, path: &str) -> Value {
        serde_json::from_slice(&self.bytes(path)).unwrap()
    }

    /// The tab of a recording, once its page has loaded.
    fn target(&self, path: &str) -> String {
        loop {
            let answer = self.get(&format!("{path}/events"));
            let events = answer["events"].as_array().unwrap();
            let of_type = |wanted: &str| events.iter().find(|event| event["event_type"] == wanted);
            if let (Some(created), Some(_)) = (of_type("tab_created"), of_type("page_view")) {
                return created["data"]["target_id"].as_str().unwrap().to_owned();
            }
        }
    }
}
