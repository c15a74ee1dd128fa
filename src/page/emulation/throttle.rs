//! Slower processors and networks.

use serde::{Deserialize, Serialize};

use crate::setters;
use crate::supervisor::Throttle;

/// The speed of a network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct NetworkSpeed {
    /// Minimum time from request to response, in milliseconds, up to 60,000. Default 0.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 60_000)))]
    pub latency_ms: Option<f64>,
    /// Download limit, in kilobits per second. Default: unlimited.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub download_kbps: Option<f64>,
    /// Upload limit, in kilobits per second. Default: unlimited.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub upload_kbps: Option<f64>,
}

impl NetworkSpeed {
    /// No added latency and no limits of speed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { NetworkSpeed:
    latency_ms(some f64),
    download_kbps(some f64),
    upload_kbps(some f64),
}

/// A well-known network, with the figures of Chromium's developer tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NetworkPreset {
    /// Every request fails, as without a network.
    Offline,
    /// 2,000 ms, 400 kbit/s down and up.
    #[serde(rename = "slow-3g")]
    Slow3g,
    /// 562.5 ms, 1,440 kbit/s down, 675 kbit/s up.
    #[serde(rename = "fast-3g")]
    Fast3g,
    /// 165 ms, 8,100 kbit/s down, 1,350 kbit/s up.
    #[serde(rename = "4g")]
    FourG,
}

/// A network: a preset, or figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "offline, slow-3g, fast-3g, 4g, or {latencyMs, downloadKbps, uploadKbps} with numbers")]
pub enum EmulatedNetwork {
    /// The figures of a named kind of connection.
    Preset(NetworkPreset),
    /// Latency and speeds as given.
    Speed(NetworkSpeed),
}

impl EmulatedNetwork {
    pub(super) fn is_offline(self) -> bool {
        self == Self::Preset(NetworkPreset::Offline)
    }

    /// What is wrong with it, as part of a sentence.
    pub(super) fn problem(self) -> Option<&'static str> {
        let Self::Speed(speed) = self else { return None };
        let NetworkSpeed { latency_ms, download_kbps, upload_kbps } = speed;
        if latency_ms.is_some_and(|millis| !(0.0..=60_000.0).contains(&millis)) {
            return Some("latencyMs must be 0 to 60000");
        }
        if [download_kbps, upload_kbps].into_iter().flatten().any(|kbps| !(kbps >= 1.0 && kbps.is_finite())) {
            return Some("downloadKbps and uploadKbps must be 1 or more; leave them out for no limit");
        }
        [latency_ms, download_kbps, upload_kbps]
            .iter()
            .all(Option::is_none)
            .then_some("give latencyMs, downloadKbps or uploadKbps, or null to clear it")
    }

    /// The limits; `None` for `offline`.
    pub(super) fn throttle(self) -> Option<Throttle> {
        let (latency_ms, download_kbps, upload_kbps) = match self {
            Self::Preset(NetworkPreset::Offline) => return None,
            Self::Preset(NetworkPreset::Slow3g) => (2000.0, Some(400.0), Some(400.0)),
            Self::Preset(NetworkPreset::Fast3g) => (562.5, Some(1440.0), Some(675.0)),
            Self::Preset(NetworkPreset::FourG) => (165.0, Some(8100.0), Some(1350.0)),
            Self::Speed(speed) => (speed.latency_ms.unwrap_or(0.0), speed.download_kbps, speed.upload_kbps),
        };
        Some(Throttle { latency_ms, download_kbps, upload_kbps })
    }
}
