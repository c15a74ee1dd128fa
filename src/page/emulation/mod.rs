//! Emulation: overrides of a tab's screen, location, locale, network speed and processor speed.
//!
//! Overrides last for the tab. Chromium 156 keeps those of the page's own session across navigations into other
//! processes; cross-process frames, workers and new connections start without them, so the supervisor sends them again
//! before these run.
//!
//! | file | contents |
//! |---|---|
//! | `devices` | well-known devices |
//! | `media` | media type and media features |
//! | `throttle` | network speeds and processor slowdown |

mod devices;
mod media;
mod throttle;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

pub use devices::device_names;
pub use media::{ColorScheme, Media, MediaType, ReducedMotion};
pub use throttle::{EmulatedNetwork, NetworkPreset, NetworkSpeed};

use crate::cdp;
use crate::cdp::protocol::browser::GetVersion;
use crate::cdp::protocol::emulation::{
    ClearDeviceMetricsOverride, ClearGeolocationOverride, MediaFeature, SetCpuThrottlingRate, SetDeviceMetricsOverride,
    SetEmulatedMedia, SetGeolocationOverride, SetLocaleOverride, SetTimezoneOverride, SetTouchEmulationEnabled,
    SetUserAgentOverride,
};
use crate::cdp::protocol::network::{self, Headers, SetExtraHttpHeaders};
use crate::cdp::rt::Command;
use crate::page::{Error, Tab};
use crate::setters;
use crate::supervisor::{self, Login, PersistentCommand, SessionScope};
use crate::sync::Deadline;
use devices::Device;

/// A field that may be absent (unchanged), `null` (cleared) or a value.
pub type Change<T> = Option<Option<T>>;

/// Overrides to change. An absent field stays as it is, `null` clears it. `Debug` shows neither headers nor
/// credentials.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Emulation {
    /// Size, pixel ratio and kind of the screen.
    #[serde(deserialize_with = "change")]
    pub viewport: Change<Viewport>,
    /// A well-known device: screen and user agent, unless `viewport` or `user_agent` is given.
    #[serde(deserialize_with = "change")]
    pub device: Change<String>,
    /// The location. Pages may read it without asking the user.
    #[serde(deserialize_with = "change")]
    pub geolocation: Change<Geolocation>,
    /// The time zone, such as `Europe/Berlin`.
    #[serde(deserialize_with = "change")]
    pub timezone: Change<String>,
    /// The language, such as `de-DE`: of formats, `navigator.language` and the `Accept-Language` header.
    #[serde(deserialize_with = "change")]
    pub locale: Change<String>,
    /// Media features for style sheets.
    #[serde(deserialize_with = "change")]
    pub media: Change<Media>,
    /// Whether to disconnect from the network.
    #[serde(deserialize_with = "change")]
    pub offline: Change<bool>,
    /// How many times slower scripts run, 1 to 20.
    #[serde(deserialize_with = "change")]
    pub cpu: Change<f64>,
    /// The network speed: `offline`, `slow-3g`, `fast-3g`, `4g`, or figures. Replaces earlier values of this field and
    /// of `offline`.
    #[serde(deserialize_with = "change")]
    pub network: Change<EmulatedNetwork>,
    /// Extra headers of every request. They replace earlier ones.
    #[serde(deserialize_with = "change")]
    pub headers: Change<BTreeMap<String, String>>,
    /// The user agent string, for requests and scripts.
    #[serde(deserialize_with = "change")]
    pub user_agent: Change<String>,
    /// Credentials for HTTP authentication. They are sent to one origin: the given one, or else that of the address that
    /// is opened in the tab (before that, of the document it shows). A server that a redirect leads to gets none.
    #[serde(deserialize_with = "change")]
    pub credentials: Change<Credentials>,
}

impl Emulation {
    /// Changes nothing; each setter adds one override. To clear one, set its field to `Some(None)`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { Emulation:
    viewport(change Viewport),
    device(change into String),
    geolocation(change Geolocation),
    timezone(change into String),
    locale(change into String),
    media(change Media),
    offline(change bool),
    cpu(change f64),
    network(change EmulatedNetwork),
    headers(change BTreeMap<String, String>),
    user_agent(change into String),
    credentials(change Credentials),
}

impl fmt::Debug for Emulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.headers.as_ref().map(|headers| headers.as_ref().map(|h| h.keys().collect::<Vec<_>>()));
        f.debug_struct("Emulation")
            .field("viewport", &self.viewport)
            .field("device", &self.device)
            .field("geolocation", &self.geolocation)
            .field("timezone", &self.timezone)
            .field("locale", &self.locale)
            .field("media", &self.media)
            .field("offline", &self.offline)
            .field("cpu", &self.cpu)
            .field("network", &self.network)
            .field("headers", &names)
            .field("user_agent", &self.user_agent)
            .field("credentials", &self.credentials)
            .finish()
    }
}

/// The screen that a page sees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Viewport {
    /// Width in CSS pixels, 1 to 10,000.
    pub width: u32,
    /// Height in CSS pixels, 1 to 10,000.
    pub height: u32,
    /// Device pixels per CSS pixel, above 0 and up to 10. Default 1.
    pub device_scale_factor: Option<f64>,
    /// Whether pages are laid out as on a phone. Default false.
    pub mobile: Option<bool>,
    /// Whether touch input is supported. Default: as `mobile`.
    pub touch: Option<bool>,
}

impl Viewport {
    /// A screen of this size in CSS pixels, with one device pixel per CSS pixel, without touch.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, device_scale_factor: None, mobile: None, touch: None }
    }
}

setters! { Viewport:
    device_scale_factor(some f64),
    mobile(some bool),
    touch(some bool),
}

/// The location that the geolocation API reports.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Geolocation {
    /// Degrees, -90 to 90.
    pub latitude: f64,
    /// Degrees, -180 to 180.
    pub longitude: f64,
    /// Accuracy in metres. Default 0.
    pub accuracy: Option<f64>,
}

impl Geolocation {
    /// A location, in degrees.
    #[must_use]
    pub fn new(latitude: f64, longitude: f64) -> Self {
        Self { latitude, longitude, accuracy: None }
    }
}

setters! { Geolocation: accuracy(some f64) }

/// Credentials for HTTP authentication. `Debug` shows neither field.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Credentials {
    /// The user name to log in with.
    pub username: String,
    /// The password to log in with. Secret.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "password")))]
    pub password: String,
    /// The origin that may receive them, such as `https://example.com`. Default: that of the address that is opened.
    #[serde(default)]
    pub origin: Option<String>,
}

impl Credentials {
    /// Credentials for HTTP authentication.
    #[must_use]
    pub fn new(username: impl Into<String>, password: impl Into<String>) -> Self {
        Self { username: username.into(), password: password.into(), origin: None }
    }

    fn login(&self) -> Result<Login, Error> {
        let login = Login::new(&*self.username, &*self.password);
        match &self.origin {
            None => Ok(login),
            Some(origin) => login.for_origin(origin).ok_or_else(|| {
                bad(
                    "credentials",
                    "origin must be that of a website, such as https://example.com or http://localhost:8080",
                )
            }),
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

/// The overrides of a tab.
#[derive(Debug, Default)]
pub(crate) struct Overrides {
    viewport: Option<Viewport>,
    device: Option<Device>,
    locale: Option<String>,
    user_agent: Option<String>,
    offline: bool,
}

impl Tab {
    /// Changes the overrides of the tab, which last as long as the tab. All values are checked before anything is
    /// changed; if Chromium refuses one later, earlier ones stay in place.
    ///
    /// # Errors
    /// [`Error::BadRequest`] without any field, and naming the field, with the most similar names for an unknown device;
    /// [`Error::Supervisor`].
    pub fn emulate(&self, change: &Emulation, deadline: Deadline<'_>) -> Result<(), Error> {
        if *change == Emulation::default() {
            let problem =
                "nothing to emulate; give at least one setting, such as viewport, device or locale; null clears one";
            return Err(Error::BadRequest { problem: problem.to_owned() });
        }
        check(change)?;
        let device = match &change.device {
            Some(Some(name)) => Some(Some(Device::find(name).map_err(|near| unknown_device(name, &near))?)),
            Some(None) => Some(None),
            None => None,
        };
        self.emulate_screen(change, device, deadline)?;
        if let Some(coordinates) = &change.geolocation {
            self.emulate_place(*coordinates, deadline)?;
        }
        if let Some(zone) = &change.timezone {
            let set = SetTimezoneOverride::new(zone.clone().unwrap_or_default());
            let refused = |error| match (error, zone) {
                (Error::Supervisor(supervisor::Error::Cdp(cdp::Error::Protocol { .. })), Some(zone)) => {
                    let zone: String = zone.chars().take(60).collect();
                    bad("timezone", &format!("{zone:?} is not a time zone; give one such as Europe/Berlin"))
                }
                (error, _) => error,
            };
            self.stand("timezone", SessionScope::Frames, set, zone.is_some(), deadline).map_err(refused)?;
        }
        if let Some(locale) = &change.locale {
            let mut set = SetLocaleOverride::new();
            set.locale.clone_from(locale);
            self.stand("locale", SessionScope::Frames, set, locale.is_some(), deadline)
                .map_err(|error| invalid_locale(error, locale.as_deref()))?;
        }
        if let Some(media) = &change.media {
            let set = media_command(media.as_ref());
            self.stand("media", SessionScope::Frames, set, media.is_some(), deadline).map_err(refused("media"))?;
        }
        if let Some(times) = change.cpu {
            let set = SetCpuThrottlingRate::new(times.unwrap_or(1.0));
            self.stand(supervisor::CPU, SessionScope::Frames, set, times.is_some(), deadline)
                .map_err(refused("cpu"))?;
            self.supervisor.slowed(&self.target, times.unwrap_or(1.0));
        }
        if change.offline.is_some() || change.headers.is_some() || change.network.is_some() {
            // These only work while requests are watched.
            self.supervisor.watch_network(true, deadline)?;
        }
        if let Some(network) = change.network {
            let throttle = network.and_then(EmulatedNetwork::throttle);
            self.supervisor
                .set_throttle(&self.target, throttle, deadline)
                .map_err(|error| refused("network")(error.into()))?;
        }
        let by_network = change.network.map(|network| Some(network.is_some_and(EmulatedNetwork::is_offline)));
        let was_offline = self.overrides.lock().offline;
        let offline =
            change.offline.or(by_network.filter(|offline| change.offline.is_some() || *offline != Some(was_offline)));
        if let Some(offline) = offline {
            let offline = offline == Some(true);
            #[expect(deprecated, reason = "older browsers support nothing else")]
            let set = network::EmulateNetworkConditions::new(offline, 0.0, -1.0, -1.0);
            self.stand(supervisor::OFFLINE, SessionScope::All, set, offline, deadline).map_err(refused("offline"))?;
            self.overrides.lock().offline = offline;
        }
        if let Some(headers) = &change.headers {
            let given = headers.clone().unwrap_or_default();
            let set = SetExtraHttpHeaders::new(headers_of(&given));
            self.stand("headers", SessionScope::All, set, !given.is_empty(), deadline).map_err(refused("headers"))?;
        }
        if let Some(credentials) = &change.credentials {
            let login = credentials.as_ref().map(Credentials::login).transpose()?;
            self.supervisor.set_login(&self.target, login, deadline)?;
        }
        Ok(())
    }

    /// Screen and user agent, which also depend on device and locale.
    fn emulate_screen(
        &self,
        change: &Emulation,
        device: Option<Option<Device>>,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let (viewport, user_agent, locale, device) = {
            let mut overrides = self.overrides.lock();
            if let Some(viewport) = change.viewport {
                overrides.viewport = viewport;
            }
            if let Some(device) = device {
                overrides.device = device;
            }
            if let Some(locale) = &change.locale {
                overrides.locale.clone_from(locale);
            }
            if let Some(user_agent) = &change.user_agent {
                overrides.user_agent.clone_from(user_agent);
            }
            (overrides.viewport, overrides.user_agent.clone(), overrides.locale.clone(), overrides.device)
        };
        if change.viewport.is_some() || device_changes(change) {
            self.set_screen(viewport.or_else(|| device.map(viewport_of)), deadline)?;
        }
        if change.user_agent.is_some() || change.locale.is_some() || device_changes(change) {
            self.set_user_agent(user_agent, locale, device, deadline)?;
        }
        Ok(())
    }

    fn set_screen(&self, screen: Option<Viewport>, deadline: Deadline<'_>) -> Result<(), Error> {
        match screen {
            Some(screen) => {
                let scale = screen.device_scale_factor.unwrap_or(1.0);
                let mobile = screen.mobile.unwrap_or(false);
                let (width, height) = (i64::from(screen.width), i64::from(screen.height));
                let mut set = SetDeviceMetricsOverride::new(width, height, scale, mobile);
                (set.screen_width, set.screen_height) = (Some(width), Some(height));
                self.stand("screen", SessionScope::Page, set, true, deadline).map_err(refused("viewport"))?;
            }
            None => {
                let clear = ClearDeviceMetricsOverride::new();
                self.stand("screen", SessionScope::Page, clear, false, deadline).map_err(refused("viewport"))?;
            }
        }
        let touch = screen.is_some_and(|screen| screen.touch.or(screen.mobile).unwrap_or(false));
        let mut set = SetTouchEmulationEnabled::new(touch);
        set.max_touch_points = touch.then_some(5);
        self.stand("touch", SessionScope::Frames, set, touch, deadline).map_err(refused("viewport"))
    }

    fn set_user_agent(
        &self,
        user_agent: Option<String>,
        locale: Option<String>,
        device: Option<Device>,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let own = self.supervisor.connection().call(&GetVersion::new(), deadline).map_err(supervisor::Error::from)?;
        let major = own.product.split_once('/').map_or("", |(_, version)| version);
        let major = major.split('.').next().unwrap_or_default();
        let of_device = device.and_then(|device| device.user_agent(major));
        let is_own = user_agent.is_none() && of_device.is_none() && locale.is_none();
        // An empty text restores the browser's own user agent, but a language needs one.
        let agent = if is_own { String::new() } else { user_agent.or(of_device).unwrap_or(own.user_agent) };
        let mut set = SetUserAgentOverride::new(agent);
        set.accept_language = locale;
        self.stand("agent", SessionScope::All, set, !is_own, deadline).map_err(refused("userAgent"))
    }

    /// Location applies to all frames of a tab in Chromium 156: if it were set on the session of a frame too, it would
    /// be cleared for all frames when that frame goes.
    fn emulate_place(&self, place: Option<Geolocation>, deadline: Deadline<'_>) -> Result<(), Error> {
        match place {
            Some(place) => {
                let mut set = SetGeolocationOverride::new();
                set.latitude = Some(place.latitude);
                set.longitude = Some(place.longitude);
                set.accuracy = Some(place.accuracy.unwrap_or(0.0));
                self.stand("place", SessionScope::Page, set, true, deadline).map_err(refused("geolocation"))?;
            }
            None => {
                let clear = ClearGeolocationOverride::new();
                self.stand("place", SessionScope::Page, clear, false, deadline).map_err(refused("geolocation"))?;
            }
        }
        Ok(self.supervisor.allow_location(&self.target, place.is_some(), deadline)?)
    }

    /// Sends a command to the page's session and, when that is accepted, to all others, present and future.
    fn stand<C: Command + Send + Sync + 'static>(
        &self,
        key: &'static str,
        sessions: SessionScope,
        command: C,
        keep: bool,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        self.supervisor.session_call(&self.page(), &command, deadline)?;
        self.supervisor.set_persistent_command(
            &self.target,
            key,
            sessions,
            PersistentCommand::new(command),
            keep,
            deadline,
        )?;
        Ok(())
    }
}

fn device_changes(change: &Emulation) -> bool {
    change.device.is_some()
}

fn viewport_of(device: Device) -> Viewport {
    Viewport {
        width: device.width,
        height: device.height,
        device_scale_factor: Some(device.scale),
        mobile: Some(device.mobile),
        touch: Some(device.mobile),
    }
}

fn media_command(media: Option<&Media>) -> SetEmulatedMedia {
    let mut set = SetEmulatedMedia::new();
    let media = media.cloned().unwrap_or_default();
    set.media = Some(media.kind.map_or("", MediaType::name).to_owned());
    let feature = |name: &str, value: Option<&str>| MediaFeature::new(name, value.unwrap_or_default());
    set.features = Some(vec![
        feature("prefers-color-scheme", media.color_scheme.map(ColorScheme::name)),
        feature("prefers-reduced-motion", media.reduced_motion.map(ReducedMotion::name)),
    ]);
    set
}

fn headers_of(given: &BTreeMap<String, String>) -> Headers {
    serde_json::value::to_raw_value(given).unwrap_or_default()
}

fn bad(field: &str, problem: &str) -> Error {
    Error::BadRequest { problem: format!("`{field}`: {problem}") }
}

fn unknown_device(name: &str, near: &[&str]) -> Error {
    let name: String = name.chars().take(60).collect();
    bad("device", &format!("unknown device {name:?}; did you mean {}?", near.join(", ")))
}

/// Chromium's message about a value, with the name of its field. Its messages contain no values.
fn refused(field: &'static str) -> impl Fn(Error) -> Error {
    move |error| match error {
        Error::Supervisor(supervisor::Error::Cdp(cdp::Error::Protocol { message, .. })) => bad(field, &message),
        other => other,
    }
}

/// As [`refused`], with the locale where it is unknown.
fn invalid_locale(error: Error, locale: Option<&str>) -> Error {
    match (error, locale) {
        (Error::Supervisor(supervisor::Error::Cdp(cdp::Error::Protocol { message, .. })), Some(locale))
            if message.contains("Invalid locale") =>
        {
            bad("locale", &format!("{locale:?} is not a locale; give one such as de-DE"))
        }
        (error, _) => refused("locale")(error),
    }
}

/// Checks all values.
fn check(change: &Emulation) -> Result<(), Error> {
    if let Some(Some(screen)) = &change.viewport {
        let side = |pixels: u32| (1..=10_000).contains(&pixels);
        if !side(screen.width) || !side(screen.height) {
            return Err(bad("viewport", "width and height must be 1 to 10000"));
        }
        if screen.device_scale_factor.is_some_and(|scale| !(scale > 0.0 && scale <= 10.0)) {
            return Err(bad("viewport", "deviceScaleFactor must be above 0 and at most 10"));
        }
    }
    if let Some(Some(place)) = &change.geolocation {
        let fits = place.latitude.abs() <= 90.0
            && place.longitude.abs() <= 180.0
            && place.accuracy.is_none_or(|metres| metres >= 0.0 && metres.is_finite());
        if !fits {
            return Err(bad("geolocation", "latitude must be -90 to 90, longitude -180 to 180, accuracy 0 or more"));
        }
    }
    if let Some(Some(zone)) = &change.timezone
        && zone.trim().is_empty()
    {
        return Err(bad("timezone", "give a name such as Europe/Berlin, or null to clear it"));
    }
    if let Some(Some(locale)) = &change.locale {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if locale.is_empty() || locale.len() > 35 || !locale.chars().all(plain) {
            return Err(bad("locale", "give one language such as de-DE, or null to clear it"));
        }
    }
    if let Some(Some(times)) = change.cpu
        && !(1.0..=20.0).contains(&times)
    {
        return Err(bad("cpu", "the slowdown must be 1 to 20; null clears it"));
    }
    if let Some(problem) = change.network.flatten().and_then(EmulatedNetwork::problem) {
        return Err(bad("network", problem));
    }
    if let Some(Some(agent)) = &change.user_agent
        && (agent.trim().is_empty() || agent.chars().any(char::is_control))
    {
        return Err(bad("userAgent", "give a text without control characters, or null to clear it"));
    }
    if let Some(Some(headers)) = &change.headers {
        check_headers(headers)?;
    }
    if let Some(Some(credentials)) = &change.credentials {
        credentials.login()?;
    }
    Ok(())
}

/// Headers that only the browser may set.
const RESERVED_HEADERS: [&str; 7] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"];

fn check_headers(headers: &BTreeMap<String, String>) -> Result<(), Error> {
    for (name, value) in headers {
        let shown: String = name.chars().take(60).collect();
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(token) {
            return Err(bad("headers", &format!("{shown:?} is not a valid header name")));
        }
        if RESERVED_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(bad("headers", &format!("{shown} can only be set by the browser")));
        }
        if value.chars().any(|c| c.is_control() && c != '\t') {
            return Err(bad("headers", &format!("the value of {shown} contains a control character")));
        }
    }
    Ok(())
}

/// Distinguishes `null` from an absent field.
fn change<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Change<T>, D::Error> {
    Option::<T>::deserialize(from).map(Some)
}
