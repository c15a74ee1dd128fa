//! Media types and media features.

use serde::{Deserialize, Serialize};

use crate::setters;

/// The media type that style sheets see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MediaType {
    /// Styles for screens: the normal display.
    Screen,
    /// Paper, as in a print preview.
    Print,
}

/// The value of the media feature `prefers-color-scheme`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ColorScheme {
    /// Dark text on a light background.
    Light,
    /// Light text on a dark background.
    Dark,
}

/// The value of the media feature `prefers-reduced-motion`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReducedMotion {
    /// The user asked for fewer animations.
    Reduce,
    /// The user has no preference.
    NoPreference,
}

/// Media features for style sheets. Absent fields are the browser's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Media {
    /// The CSS media type: `screen` or `print`. Default: not changed.
    #[serde(rename = "type")]
    pub kind: Option<MediaType>,
    /// The preferred colour scheme: `light` or `dark`. Default: not changed.
    pub color_scheme: Option<ColorScheme>,
    /// The preference for less motion: `reduce` or `no-preference`. Default: not changed.
    pub reduced_motion: Option<ReducedMotion>,
}

impl Media {
    /// Nothing is overridden.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { Media:
    kind(some MediaType),
    color_scheme(some ColorScheme),
    reduced_motion(some ReducedMotion),
}

impl MediaType {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Screen => "screen",
            Self::Print => "print",
        }
    }
}

impl ColorScheme {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

impl ReducedMotion {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Reduce => "reduce",
            Self::NoPreference => "no-preference",
        }
    }
}
