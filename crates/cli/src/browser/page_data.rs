//! Commands for dialogs, cookies, storage, emulation, downloads and raw CDP.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json as value};

use super::super::client::Request;
use super::super::failure::Failure;
use super::super::output::one_line;
use super::super::values::{number, one_of};
use super::call::{Call, Tab, frame, json};
use super::show;
use cdpilot::code::Code;
use cdpilot::page::CookieFormat;
use cdpilot_server::api::{self, operations as op};

#[derive(Debug, Args)]
#[command(
    after_help = "Without an open dialog the answer is armed: the next dialog of the tab within two minutes gets it."
)]
#[command(group = ArgGroup::new("answer").required(true).args(["accept", "dismiss", "disarm"]))]
pub(in super::super) struct Dialog {
    /// Accept the dialog
    #[arg(long)]
    accept: bool,
    /// Dismiss the dialog
    #[arg(long)]
    dismiss: bool,
    /// Remove the answers that were given in advance for the tab
    #[arg(long, conflicts_with = "id")]
    disarm: bool,
    /// Text to enter into a prompt [default: the prompt's default text]
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["dismiss", "disarm"], allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Answer the dialog with this id, from `cdpilot dialogs`
    #[arg(long, value_name = "ID", alias = "dialog-id")]
    id: Option<String>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Dialogs {
    /// Show only dialogs of this tab: id (t1), label, target id or unique prefix of the target id [default: all tabs]
    #[arg(long, value_name = "TAB")]
    target: Option<String>,
}

/// Size limit for cookie files, bytes; the server accepts 8 MiB.
const MOST_IMPORTED: u64 = 6 << 20;

#[derive(Debug, Args)]
pub(in super::super) struct Cookies {
    #[command(subcommand)]
    what: Option<CookiesWhat>,
}

#[derive(Debug, Subcommand)]
enum CookiesWhat {
    /// List cookies
    #[command(alias = "get")]
    List {
        /// Show only cookies that are sent to this URL [default: all]
        #[arg(value_name = "URL")]
        address: Option<String>,
    },
    /// Set a cookie for --domain or --for, or several with --cookies
    #[command(group = ArgGroup::new("whose").required(true).args(["domain", "address", "several"]))]
    Set {
        /// Cookie name
        #[arg(required_unless_present = "several")]
        name: Option<String>,
        /// Cookie value
        #[arg(required_unless_present = "several", allow_hyphen_values = true)]
        value: Option<String>,
        /// Domain of the cookie
        #[arg(long)]
        domain: Option<String>,
        /// URL whose host the cookie belongs to, alternative to --domain
        #[arg(long = "for", value_name = "URL", conflicts_with = "domain")]
        address: Option<String>,
        /// Path of the cookie [default: /]
        #[arg(long)]
        path: Option<String>,
        /// Expiry time, Unix seconds [default: end of the browser session]
        #[arg(long, value_name = "SECONDS", value_parser = number)]
        expires: Option<f64>,
        /// Hide the cookie from scripts (HttpOnly)
        #[arg(long)]
        http_only: bool,
        /// Send the cookie only over https (Secure)
        #[arg(long)]
        secure: bool,
        /// SameSite attribute
        #[arg(long, value_name = "RULE", value_parser = ["Strict", "Lax", "None"], ignore_case = true)]
        same_site: Option<String>,
        /// Cookies as JSON: [{"name": …, "value": …, "domain" or "url": …}, …]
        #[arg(long = "cookies", value_name = "JSON", conflicts_with_all = ["name", "domain", "address"])]
        several: Option<String>,
    },
    /// Import cookies from a Netscape cookie file (as curl and yt-dlp write it) or the JSON of browser extensions
    Import {
        /// Input file; `-`: stdin
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Format of the file [default: detected]
        #[arg(long, value_name = "FORMAT", value_parser = one_of::<CookieFormat>(["netscape", "json"]))]
        format: Option<CookieFormat>,
        /// URL for cookies that have no domain
        #[arg(long = "for", value_name = "URL")]
        address: Option<String>,
    },
    /// Delete cookies: all, or those selected by --name and --domain
    #[command(alias = "delete")]
    Clear {
        /// Delete only cookies with this name
        #[arg(long)]
        name: Option<String>,
        /// Delete only cookies of this domain
        #[arg(long)]
        domain: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(in super::super) struct Storage {
    /// Storage area: localStorage or sessionStorage
    #[arg(value_enum, value_name = "AREA")]
    area: Area,
    #[command(subcommand)]
    what: Option<StorageWhat>,
    /// Tab: id (t1), label, target id or unique prefix of the target id [default: the current tab]
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
    /// Print stored items
    Get {
        /// Print only the item with this key
        key: Option<String>,
    },
    /// Set an item, or several with --items
    #[command(override_usage = "cdpilot browser storage <AREA> set <KEY> <VALUE>\n       \
                                cdpilot browser storage <AREA> set --items <JSON>")]
    Set {
        /// Key of the item
        #[arg(required_unless_present = "items")]
        key: Option<String>,
        /// Value of the item
        #[arg(required_unless_present = "items", allow_hyphen_values = true)]
        value: Option<String>,
        /// Items as JSON: {"key": "value", …}
        #[arg(long, value_name = "JSON", conflicts_with = "key")]
        items: Option<String>,
    },
    /// Delete one item, or all items
    #[command(alias = "delete")]
    Clear {
        /// Delete only the item with this key
        key: Option<String>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "The settings last until the tab closes or --reset removes them.")]
pub(in super::super) struct Emulate {
    /// Emulate a device, for example "iPhone 15"
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Viewport size, CSS pixels, 1 to 10000 each, for example 1280x720
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size)]
    viewport: Option<(u32, u32)>,
    /// Device pixels per CSS pixel, with --viewport, at most 10 [default: 1]
    #[arg(long, value_name = "FACTOR", value_parser = number, requires = "viewport", alias = "device-scale-factor")]
    scale: Option<f64>,
    /// Use mobile layout, with --viewport
    #[arg(long, requires = "viewport")]
    mobile: bool,
    /// Emulate a touch screen, with --viewport
    #[arg(long, requires = "viewport")]
    touch: bool,
    /// Geolocation in degrees, and accuracy in meters, for example 52.52,13.4
    #[arg(
        long,
        value_name = "LATITUDE,LONGITUDE[,ACCURACY]",
        value_parser = geolocation,
        allow_hyphen_values = true,
        alias = "geolocation"
    )]
    geo: Option<Value>,
    /// Time zone, for example Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// Locale, for example de-DE
    #[arg(long, value_name = "LOCALE")]
    locale: Option<String>,
    /// CSS media type
    #[arg(long, value_name = "TYPE", value_parser = ["screen", "print"])]
    media: Option<String>,
    /// Value of the media feature prefers-color-scheme
    #[arg(long, value_name = "SCHEME", value_parser = ["light", "dark"])]
    color_scheme: Option<String>,
    /// Value of the media feature prefers-reduced-motion
    #[arg(long, value_name = "VALUE", value_parser = ["reduce", "no-preference"])]
    reduced_motion: Option<String>,
    /// Disconnect the tab from the network; `--offline false` reconnects it
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    offline: Option<bool>,
    /// Slow down scripts by this factor, 1 to 20
    #[arg(long, value_name = "FACTOR", value_parser = slowdown)]
    cpu: Option<f64>,
    /// Network preset (offline, slow-3g, fast-3g, 4g), or latency in milliseconds, download and upload in kbit/s
    #[arg(long, value_name = "NAME|LATENCY,DOWN,UP", value_parser = network, conflicts_with = "offline")]
    network: Option<Value>,
    /// Header to send with every request; repeatable
    #[arg(long, value_name = "NAME: VALUE", value_parser = header)]
    header: Vec<(String, String)>,
    /// User agent string
    #[arg(long, value_name = "TEXT")]
    user_agent: Option<String>,
    /// Credentials for HTTP authentication, for the origin of the address that is opened
    #[arg(long, value_name = "USER:PASSWORD", value_parser = credentials)]
    credentials: Option<Secret>,
    /// The origin that may receive the credentials, also after a redirect
    #[arg(long, value_name = "ORIGIN", requires = "credentials")]
    credentials_for: Option<String>,
    /// Comma-separated settings to remove, or all
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

#[derive(Debug, Args)]
#[command(after_help = "Waits for the running download of the tab, else for the next one.")]
pub(in super::super) struct Download {
    /// Name under which the file is saved in downloads/ of the server's home [default: the name suggested by the site]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Download the document that the tab shows, such as a PDF, instead of waiting
    #[arg(long)]
    document: bool,
    /// Copy the downloaded file to this path
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
pub(in super::super) struct Cdp {
    /// CDP method, for example Browser.getVersion
    #[arg(value_name = "METHOD")]
    method: String,
    /// Parameters as a JSON object [default: {}]
    #[arg(value_name = "JSON")]
    params: Option<String>,
    /// Frame to send the command to: frame id, or ref of the iframe [default: the page]
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    frame: Option<String>,
    #[command(flatten)]
    tab: Tab,
}

impl Dialog {
    pub(super) fn call(&self) -> Call {
        if self.disarm {
            return Call::new(self.tab.of(Request::of(op::DISARM_DIALOG)), show::disarmed);
        }
        let accept = self.accept && !self.dismiss;
        let body = api::AnswerDialog { accept, prompt_text: self.prompt.clone(), dialog_id: self.id.clone() };
        let show = if self.prompt.is_some() { show::answered_with_text } else { show::answered };
        Call::new(self.tab.of(Request::new(op::ANSWER_DIALOG, &body)), show)
    }
}

impl Dialogs {
    pub(super) fn call(&self) -> Call {
        Call::new(Request::of(op::DIALOGS).tab(self.target.as_deref()), show::dialogs)
    }
}

impl Cookies {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        Ok(match &self.what {
            None => Call::new(Request::of(op::COOKIES), show::cookies),
            Some(CookiesWhat::List { address }) => {
                let query = api::CookiesQuery { url: address.clone() };
                Call::new(Request::new(op::COOKIES, &query), show::cookies)
            }
            Some(CookiesWhat::Import { file, format, address }) => {
                let body = api::ImportCookies { text: import_text(file)?, format: *format, url: address.clone() };
                Call::new(Request::new(op::IMPORT_COOKIES, &body), show::imported)
            }
            Some(CookiesWhat::Clear { name, domain }) => {
                let query = api::DeleteCookies { name: name.clone(), domain: domain.clone() };
                Call::new(Request::new(op::DELETE_COOKIES, &query), show::deleted_cookies)
            }
            Some(CookiesWhat::Set { several: Some(text), .. }) => match json(text, "--cookies")? {
                cookies @ Value::Array(_) => set(cookies),
                one @ Value::Object(_) => set(Value::Array(vec![one])),
                _ => {
                    return Err(Failure::usage(
                        "--cookies must be a list of objects, for example [{\"name\": …, \"value\": …, \"domain\": …}]",
                    ));
                }
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

/// Reads the cookie file.
fn import_text(file: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = match file.to_str() {
        Some("-") => io::stdin().lock().take(MOST_IMPORTED + 1).read_to_string(&mut text),
        _ => File::open(file).and_then(|file| file.take(MOST_IMPORTED + 1).read_to_string(&mut text)),
    };
    let refused = |why: &str| Failure::new(Code::PathRefused, format!("cannot read {}: {why}", file.display()));
    match read {
        Ok(length) if length as u64 > MOST_IMPORTED => Err(refused("it is larger than 6 MiB, the limit; split it")),
        Ok(_) => Ok(text),
        Err(problem) if problem.kind() == io::ErrorKind::InvalidData => Err(refused("it is not a text file")),
        Err(problem) => Err(refused(&problem.to_string())),
    }
}

fn set(cookies: Value) -> Call {
    // As they are: the server's errors name what is wrong in them.
    Call::new(Request::of(op::ADD_COOKIES).and(&value!({ "cookies": cookies })), show::added)
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
        let (get, set, delete) = match self.area {
            Area::Local => (op::LOCAL_STORAGE, op::SET_LOCAL_STORAGE, op::DELETE_LOCAL_STORAGE),
            Area::Session => (op::SESSION_STORAGE, op::SET_SESSION_STORAGE, op::DELETE_SESSION_STORAGE),
        };
        let query = |key: &Option<String>| api::StorageQuery { key: key.clone() };
        let request = match &self.what {
            None => Request::of(get),
            Some(StorageWhat::Get { key }) => Request::new(get, &query(key)),
            Some(StorageWhat::Clear { key }) => Request::new(delete, &query(key)),
            Some(StorageWhat::Set { key, value, items }) => {
                let items = match (items, key, value) {
                    (Some(items), ..) => json(items, "--items")?,
                    (None, Some(key), Some(value)) => value!({ key: value }),
                    _ => Value::Null,
                };
                if !items.is_object() {
                    return Err(Failure::usage("--items must be a JSON object, for example {\"key\": \"value\"}"));
                }
                Request::of(set).and(&value!({ "items": items }))
            }
        };
        let call = Call::new(request.tab(self.target.as_deref()), show::items);
        Ok(match &self.what {
            Some(StorageWhat::Get { key: Some(_) }) => Call { show: show::item, ..call },
            // The answer lists what remains, whether or not there was such an item.
            Some(StorageWhat::Clear { key: Some(key) }) => {
                Call { done: Some(format!("there is no item {:?} now", one_line(key))), ..call }
            }
            _ => call,
        })
    }
}

impl Emulate {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let summary = self.summary();
        if summary.is_empty() {
            let problem =
                "nothing to emulate; give at least one setting, such as --device, --viewport or --locale, or --reset";
            return Err(Failure::usage(problem));
        }
        let mut request = self.tab.of(Request::of(op::EMULATE));
        for field in RESETS.into_iter().filter(|field| *field != "all") {
            let reset = self.reset.iter().any(|name| name == field || name == "all");
            request = request.common(field, reset.then_some(Value::Null));
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
        let secret = self.credentials.as_ref().map(|Secret(user, word)| {
            let mut secret = value!({ "username": user, "password": word });
            if let Some(origin) = &self.credentials_for {
                secret["origin"] = origin.clone().into();
            }
            secret
        });
        let some = |map: Map<String, Value>| (!map.is_empty()).then_some(map);
        let request = request.and(&value!({
            "viewport": viewport, "device": self.device, "geolocation": self.geo, "timezone": self.timezone,
            "locale": self.locale, "media": some(media), "cpu": self.cpu, "network": self.network, "offline": self.offline,
            "headers": some(headers), "userAgent": self.user_agent, "credentials": secret,
        }));
        Ok(Call { done: Some(summary), ..Call::new(request, show::emulated) })
    }
}

impl Emulate {
    /// What the command has set and removed. Credentials and header values are secrets.
    fn summary(&self) -> String {
        let mut set = Vec::new();
        let mut add = |name: &str, value: Option<String>| set.extend(value.map(|value| format!("{name} {value}")));
        add("device", self.device.clone());
        add("viewport", self.viewport.map(|(width, height)| format!("{width}x{height}")));
        add("scale", self.scale.map(|scale| scale.to_string()));
        add("geolocation", self.geo.as_ref().map(|geo| format!("{},{}", geo["latitude"], geo["longitude"])));
        add("timezone", self.timezone.clone());
        add("locale", self.locale.clone());
        add("media", self.media.clone());
        add("color scheme", self.color_scheme.clone());
        add("reduced motion", self.reduced_motion.clone());
        add("offline", self.offline.map(|offline| offline.to_string()));
        add("cpu slowdown", self.cpu.map(|times| times.to_string()));
        add("network", self.network.as_ref().map(|network| network.as_str().unwrap_or("limits").to_owned()));
        let names: Vec<&str> = self.header.iter().map(|(name, _)| name.as_str()).collect();
        add("headers", (!names.is_empty()).then(|| names.join(" ")));
        add("user agent", self.user_agent.clone());
        add("credentials", self.credentials.as_ref().map(|secret| format!("of {}", secret.0)));
        let mut parts = Vec::new();
        if self.reset.iter().any(|name| name == "all") {
            parts.push("removed all settings".to_owned());
        } else if !self.reset.is_empty() {
            parts.push(format!("removed: {}", self.reset.join(", ")));
        }
        if !set.is_empty() {
            parts.push(format!("set until the tab closes: {}", set.join(", ")));
        }
        parts.join("; ")
    }
}

impl Download {
    pub(super) fn call(&self) -> Call {
        let request =
            Request::new(op::WAIT_DOWNLOAD, &api::WaitDownload { path: self.name.clone(), document: self.document });
        let call = Call::new(self.tab.of(request), show::download).file(self.out.clone());
        Call { waits_for: Some("waiting for a download to finish"), ..call }
    }
}

impl Cdp {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let params = match self.params.as_deref().map(|text| json(text, "the JSON argument")).transpose()? {
            None => None,
            Some(Value::Object(params)) => Some(params),
            Some(_) => {
                return Err(Failure::usage(
                    "the parameters must be a JSON object, for example {\"expression\": \"1 + 1\"}",
                ));
            }
        };
        let body = api::RawCommand { method: self.method.clone(), params, frame_id: self.frame.clone() };
        Ok(Call::new(self.tab.of(Request::new(op::RAW_COMMAND, &body)), show::result))
    }
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let read = |text: &str| text.trim().parse::<u32>().ok();
    let sides = text.split_once(['x', 'X', '×']).and_then(|(width, height)| Some((read(width)?, read(height)?)));
    let sides = sides.filter(|(width, height)| (1..=10_000).contains(width) && (1..=10_000).contains(height));
    sides.ok_or_else(|| "give WIDTHxHEIGHT, each 1 to 10000, for example 1280x720".to_owned())
}

fn geolocation(text: &str) -> Result<Value, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some([latitude, longitude]) => Ok(value!({ "latitude": latitude, "longitude": longitude })),
        Some([latitude, longitude, accuracy]) => {
            Ok(value!({ "latitude": latitude, "longitude": longitude, "accuracy": accuracy }))
        }
        _ => Err("give latitude,longitude, for example 52.52,13.4".to_owned()),
    }
}

fn network(text: &str) -> Result<Value, String> {
    if ["offline", "slow-3g", "fast-3g", "4g"].contains(&text) {
        return Ok(text.into());
    }
    let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some([latency, down, up]) => Ok(value!({ "latencyMs": latency, "downloadKbps": down, "uploadKbps": up })),
        _ => Err("give offline, slow-3g, fast-3g, 4g, or LATENCY,DOWN,UP such as 100,2000,500".to_owned()),
    }
}

/// Parses `--cpu`.
fn slowdown(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|times| (1.0..=20.0).contains(times))
        .ok_or_else(|| "give a factor from 1 to 20".to_owned())
}

fn header(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once(':').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    parts.filter(|(name, _)| !name.is_empty()).ok_or_else(|| "give 'Name: value'".to_owned())
}

fn credentials(text: &str) -> Result<Secret, String> {
    let parts = text.split_once(':').map(|(user, word)| Secret(user.to_owned(), word.to_owned()));
    parts.ok_or_else(|| "give USER:PASSWORD".to_owned())
}
