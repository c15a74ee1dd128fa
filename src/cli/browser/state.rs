//! Dialogs, what sites have stored, what a tab is made to believe, downloads, raw commands.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json as value};

use super::super::client::Request;
use super::super::failure::Failure;
use super::call::{Call, Tab, frame, json};
use super::show;

/// Answers the dialog that is open, or the next one, for two minutes.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("answer").required(true).args(["accept", "dismiss", "disarm"]))]
pub(in super::super) struct Dialog {
    /// Accept it
    #[arg(long)]
    accept: bool,
    /// Dismiss it
    #[arg(long)]
    dismiss: bool,
    /// Take back an answer that waits for a dialog to come
    #[arg(long, conflicts_with = "id")]
    disarm: bool,
    /// Text for a prompt [default: the prompt's own]
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["dismiss", "disarm"], allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Only this dialog; `cdpilot browser dialogs` lists them
    #[arg(long, value_name = "ID", alias = "dialog-id")]
    id: Option<String>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Dialogs {
    /// Of this tab only: its id (t1), its label, its target id or the beginning of that
    #[arg(long, value_name = "TAB")]
    target: Option<String>,
}

/// Bytes of a file with cookies; the server takes 8 MiB.
const MOST_IMPORTED: u64 = 6 << 20;

#[derive(Debug, Args)]
pub(in super::super) struct Cookies {
    #[command(subcommand)]
    what: Option<CookiesWhat>,
}

#[derive(Debug, Subcommand)]
enum CookiesWhat {
    /// List them
    #[command(alias = "get")]
    List {
        /// Only those that would be sent to this address
        #[arg(value_name = "URL")]
        address: Option<String>,
    },
    /// Set one; --domain or --for says whose it is
    #[command(group = ArgGroup::new("whose").required(true).args(["domain", "address", "several"]))]
    Set {
        /// Its name
        #[arg(required_unless_present = "several")]
        name: Option<String>,
        /// Its value
        #[arg(required_unless_present = "several", allow_hyphen_values = true)]
        value: Option<String>,
        /// Its domain
        #[arg(long)]
        domain: Option<String>,
        /// The address of a page that it is for, instead of a domain
        #[arg(long = "for", value_name = "URL", conflicts_with = "domain")]
        address: Option<String>,
        /// Its path
        #[arg(long)]
        path: Option<String>,
        /// When it ends, Unix seconds [default: with the browser]
        #[arg(long, value_name = "SECONDS")]
        expires: Option<f64>,
        /// Out of reach of scripts
        #[arg(long)]
        http_only: bool,
        /// Over https only
        #[arg(long)]
        secure: bool,
        /// Whether it goes along with requests of other sites
        #[arg(long, value_name = "RULE", value_parser = ["Strict", "Lax", "None"], ignore_case = true)]
        same_site: Option<String>,
        /// Several at once, as JSON: [{"name", "value", "domain" or "url", …}]
        #[arg(long = "cookies", value_name = "JSON", conflicts_with_all = ["name", "domain", "address"])]
        several: Option<String>,
    },
    /// Import cookies from a cookie file (curl, yt-dlp, browser extensions), curl commands or JSON
    Import {
        /// The file, `-` for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Its format [default: known by how it begins]
        #[arg(long, value_name = "FORMAT", value_parser = ["netscape", "curl", "json"])]
        format: Option<String>,
        /// The address that cookies without one are for
        #[arg(long = "for", value_name = "URL")]
        address: Option<String>,
    },
    /// Delete them
    #[command(alias = "delete")]
    Clear {
        /// Only those with this name
        #[arg(long)]
        name: Option<String>,
        /// Only those of this domain
        #[arg(long)]
        domain: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(in super::super) struct Storage {
    /// Which of the two that a site has
    #[arg(value_enum, value_name = "AREA")]
    area: Area,
    #[command(subcommand)]
    what: Option<StorageWhat>,
    /// The tab: its id (t1), its label, its target id or the beginning of that [default: the last used]
    #[arg(long, value_name = "TAB", global = true)]
    target: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Area {
    Local,
    Session,
}

#[derive(Debug, Subcommand)]
enum StorageWhat {
    /// Tell what is stored
    Get {
        /// Only this item
        key: Option<String>,
    },
    /// Store items
    #[command(override_usage = "cdpilot browser storage <AREA> set <KEY> <VALUE>\n       \
                                cdpilot browser storage <AREA> set --items <JSON>")]
    Set {
        /// The item
        #[arg(required_unless_present = "items")]
        key: Option<String>,
        /// Its value
        #[arg(required_unless_present = "items", allow_hyphen_values = true)]
        value: Option<String>,
        /// Several at once, as JSON: {"key": "value", …}
        #[arg(long, value_name = "JSON", conflicts_with = "key")]
        items: Option<String>,
    },
    /// Delete what is stored
    #[command(alias = "delete")]
    Clear {
        /// Only this item
        key: Option<String>,
    },
}

/// Lasts for the tab.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).multiple(true).args([
    "device", "viewport", "scale", "mobile", "touch", "geo", "timezone", "locale", "media", "color_scheme",
    "reduced_motion", "offline", "cpu", "network", "header", "user_agent", "credentials", "reset",
]))]
pub(in super::super) struct Emulate {
    /// A device, as in "iPhone 15"
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// The size of the viewport, CSS pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size)]
    viewport: Option<(u32, u32)>,
    /// Pixels of the screen for one CSS pixel
    #[arg(long, value_name = "FACTOR", requires = "viewport", alias = "device-scale-factor")]
    scale: Option<f64>,
    /// As a mobile browser lays it out
    #[arg(long, requires = "viewport")]
    mobile: bool,
    /// With a touch screen
    #[arg(long, requires = "viewport")]
    touch: bool,
    /// Where it is, degrees, and how exactly that is known, metres
    #[arg(
        long,
        value_name = "LATITUDE,LONGITUDE[,ACCURACY]",
        value_parser = geolocation,
        allow_hyphen_values = true,
        alias = "geolocation"
    )]
    geo: Option<Value>,
    /// As in Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// As in de-DE
    #[arg(long, value_name = "LOCALE")]
    locale: Option<String>,
    /// `screen` or `print`
    #[arg(long, value_name = "TYPE")]
    media: Option<String>,
    /// `light` or `dark`
    #[arg(long, value_name = "SCHEME")]
    color_scheme: Option<String>,
    /// `reduce` or `no-preference`
    #[arg(long, value_name = "WISH")]
    reduced_motion: Option<String>,
    /// Without a network
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    offline: Option<bool>,
    /// How many times slower scripts run, 1 to 20
    #[arg(long, value_name = "TIMES")]
    cpu: Option<f64>,
    /// offline, slow-3g, fast-3g, 4g, or latency and limits: milliseconds, kbit/s down, kbit/s up
    #[arg(long, value_name = "NAME|LATENCY,DOWN,UP", value_parser = network, conflicts_with = "offline")]
    network: Option<Value>,
    /// Send this header with every request; may be given more than once
    #[arg(long, value_name = "NAME: VALUE", value_parser = header)]
    header: Vec<(String, String)>,
    /// How the browser names itself
    #[arg(long, value_name = "TEXT")]
    user_agent: Option<String>,
    /// For sites that ask by HTTP
    #[arg(long, value_name = "USER:PASSWORD", value_parser = credentials)]
    credentials: Option<Secret>,
    /// Back to how it is: these, separated by commas, or all
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', value_parser = RESETS)]
    reset: Vec<String>,
    #[command(flatten)]
    tab: Tab,
}

const RESETS: [&str; 13] = [
    "all",
    "viewport",
    "device",
    "geolocation",
    "timezone",
    "locale",
    "media",
    "offline",
    "cpu",
    "network",
    "headers",
    "userAgent",
    "credentials",
];

/// A user name and a password.
#[derive(Clone)]
struct Secret(String, String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The next download, or one that is under way.
#[derive(Debug, Args)]
pub(in super::super) struct Download {
    /// The name it gets in downloads/ of the home [default: what the site suggests]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Copy the file here
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Cdp {
    /// The command, as in Browser.getVersion
    #[arg(value_name = "METHOD")]
    method: String,
    /// Its parameters, as JSON
    #[arg(value_name = "JSON")]
    params: Option<String>,
    /// The frame whose session gets it: its id, or the ref of the iframe
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    frame: Option<String>,
    #[command(flatten)]
    tab: Tab,
}

impl Dialog {
    pub(super) fn call(&self) -> Call {
        if self.disarm {
            let request = Request::delete("/hooks/dialog").query("targetId", self.tab.target.clone());
            return Call::new(request, show::disarmed).quick();
        }
        let request = Request::post("/hooks/dialog").field("accept", Some(self.accept && !self.dismiss));
        let request = request.field("promptText", self.prompt.clone()).field("dialogId", self.id.clone());
        Call::new(request.field("targetId", self.tab.target.clone()), show::answered)
    }
}

impl Dialogs {
    pub(super) fn call(&self) -> Call {
        Call::new(Request::get("/dialogs").query("targetId", self.target.clone()), show::dialogs).quick()
    }
}

impl Cookies {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        Ok(match &self.what {
            None => Call::new(Request::get("/cookies"), show::cookies),
            Some(CookiesWhat::List { address }) => {
                Call::new(Request::get("/cookies").query("url", address.clone()), show::cookies)
            }
            Some(CookiesWhat::Import { file, format, address }) => {
                let request = Request::post("/cookies/import").field("text", Some(import_text(file)?));
                let request = request.field("format", format.clone()).field("url", address.clone());
                Call::new(request, show::imported)
            }
            Some(CookiesWhat::Clear { name, domain }) => {
                let request = Request::delete("/cookies").query("name", name.clone());
                Call::new(request.query("domain", domain.clone()), show::deleted)
            }
            Some(CookiesWhat::Set { several: Some(text), .. }) => match json(text, "--cookies")? {
                cookies @ Value::Array(_) => set(cookies),
                one @ Value::Object(_) => set(Value::Array(vec![one])),
                _ => return Err(Failure::usage("cookies are a list of objects, as in [{\"name\": …}]")),
            },
            Some(CookiesWhat::Set {
                name,
                value,
                domain,
                address,
                path,
                expires,
                http_only,
                secure,
                same_site,
                several: None,
            }) => {
                let mut cookie = Map::new();
                let mut put = |field: &str, value: Option<Value>| {
                    cookie.extend(value.map(|value| (field.to_owned(), value)));
                };
                put("name", name.clone().map(Value::from));
                put("value", value.clone().map(Value::from));
                put("domain", domain.clone().map(Value::from));
                put("url", address.clone().map(Value::from));
                put("path", path.clone().map(Value::from));
                put("expires", expires.map(Value::from));
                put("httpOnly", http_only.then_some(Value::Bool(true)));
                put("secure", secure.then_some(Value::Bool(true)));
                put("sameSite", same_site.as_deref().map(capital).map(Value::from));
                set(value!([cookie]))
            }
        })
    }
}

/// What is to be imported.
fn import_text(file: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = match file.to_str() {
        Some("-") => io::stdin().lock().take(MOST_IMPORTED + 1).read_to_string(&mut text),
        _ => File::open(file).and_then(|file| file.take(MOST_IMPORTED + 1).read_to_string(&mut text)),
    };
    let refused = |why: &str| Failure::new("PATH_REFUSED", format!("{}: {why}", file.display()));
    match read {
        Ok(length) if length as u64 > MOST_IMPORTED => Err(refused("it is larger than 6 MiB; split it")),
        Ok(_) => Ok(text),
        Err(problem) => Err(refused(&format!("it cannot be read: {problem}"))),
    }
}

fn set(cookies: Value) -> Call {
    Call::new(Request::post("/cookies").field("cookies", Some(cookies)), show::added)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_ascii_uppercase().to_string() + &letters.as_str().to_ascii_lowercase())
        .unwrap_or_default()
}

impl Storage {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let path = match self.area {
            Area::Local => "/storage/local",
            Area::Session => "/storage/session",
        };
        let (tab, request) = (
            self.target.clone(),
            match &self.what {
                None => Request::get(path),
                Some(StorageWhat::Get { key }) => Request::get(path).query("key", key.clone()),
                Some(StorageWhat::Clear { key }) => Request::delete(path).query("key", key.clone()),
                Some(StorageWhat::Set { key, value, items }) => {
                    let items = match (items, key, value) {
                        (Some(items), ..) => json(items, "--items")?,
                        (None, Some(key), Some(value)) => value!({ key: value }),
                        _ => Value::Null,
                    };
                    if !items.is_object() {
                        return Err(Failure::usage("items are an object, as in {\"key\": \"value\"}"));
                    }
                    Request::post(path).field("items", Some(items)).field("targetId", self.target.clone())
                }
            },
        );
        let request = if request.body.is_some() { request } else { request.query("targetId", tab) };
        Ok(Call::new(request, show::items))
    }
}

impl Emulate {
    pub(super) fn call(&self) -> Call {
        let mut request = Request::post("/emulate").field("targetId", self.tab.target.clone());
        for field in RESETS.into_iter().filter(|field| *field != "all") {
            let reset = self.reset.iter().any(|name| name == field || name == "all");
            request = request.field(field, reset.then_some(Value::Null));
        }
        let viewport = self.viewport.map(|(width, height)| {
            let mut viewport = value!({ "width": width, "height": height });
            if let Some(scale) = self.scale {
                viewport["deviceScaleFactor"] = scale.into();
            }
            for (name, _) in [("mobile", self.mobile), ("touch", self.touch)].into_iter().filter(|(_, on)| *on) {
                viewport[name] = true.into();
            }
            viewport
        });
        let media =
            [("type", &self.media), ("colorScheme", &self.color_scheme), ("reducedMotion", &self.reduced_motion)];
        let media: Map<String, Value> = media
            .into_iter()
            .filter_map(|(name, value)| value.clone().map(|value| (name.to_owned(), value.into())))
            .collect();
        let headers: Map<String, Value> =
            self.header.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let secret = self.credentials.as_ref().map(|Secret(user, word)| value!({ "username": user, "password": word }));
        let some = |map: Map<String, Value>| (!map.is_empty()).then_some(map);
        let request = request.field("viewport", viewport).field("device", self.device.clone());
        let request = request.field("geolocation", self.geo.clone()).field("timezone", self.timezone.clone());
        let request = request.field("locale", self.locale.clone()).field("media", some(media));
        let request = request.field("cpu", self.cpu).field("network", self.network.clone());
        let request = request.field("offline", self.offline).field("headers", some(headers));
        let request = request.field("userAgent", self.user_agent.clone()).field("credentials", secret);
        Call::new(request, show::emulated)
    }
}

impl Download {
    pub(super) fn call(&self) -> Call {
        let request = Request::post("/wait/download").field("path", self.name.clone());
        let call = Call::new(request.field("targetId", self.tab.target.clone()), show::download).file(self.out.clone());
        Call { waits_for: Some("waiting for a download of the tab to end"), ..call }
    }
}

impl Cdp {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let params = self.params.as_deref().map(|text| json(text, "the parameters")).transpose()?;
        if params.as_ref().is_some_and(|params| !params.is_object()) {
            return Err(Failure::usage("the parameters are a JSON object, as in {\"expression\": \"1 + 1\"}"));
        }
        let request = Request::post("/cdp").field("method", Some(self.method.clone())).field("params", params);
        let request = request.field("targetId", self.tab.target.clone()).field("frameId", self.frame.clone());
        Ok(Call::new(request, show::result))
    }
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let read = |text: &str| text.trim().parse::<u32>().ok().filter(|side| *side > 0);
    let sides = text.split_once(['x', 'X', '×']).and_then(|(width, height)| Some((read(width)?, read(height)?)));
    sides.ok_or_else(|| "a size is written 1280x720".to_owned())
}

fn geolocation(text: &str) -> Result<Value, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some([latitude, longitude]) => Ok(value!({ "latitude": latitude, "longitude": longitude })),
        Some([latitude, longitude, accuracy]) => {
            Ok(value!({ "latitude": latitude, "longitude": longitude, "accuracy": accuracy }))
        }
        _ => Err("a place is written latitude,longitude, as in 52.52,13.4".to_owned()),
    }
}

fn network(text: &str) -> Result<Value, String> {
    if ["offline", "slow-3g", "fast-3g", "4g"].contains(&text) {
        return Ok(text.into());
    }
    let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some([latency, down, up]) => Ok(value!({ "latencyMs": latency, "downloadKbps": down, "uploadKbps": up })),
        _ => Err("a network is offline, slow-3g, fast-3g, 4g, or latency,down,up as in 100,2000,500".to_owned()),
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once(':').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    parts.filter(|(name, _)| !name.is_empty()).ok_or_else(|| "a header is written `Name: value`".to_owned())
}

fn credentials(text: &str) -> Result<Secret, String> {
    let parts = text.split_once(':').map(|(user, word)| Secret(user.to_owned(), word.to_owned()));
    parts.ok_or_else(|| "give USER:PASSWORD".to_owned())
}
