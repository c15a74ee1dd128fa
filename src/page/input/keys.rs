//! The keys of a US keyboard, and their key events.
//!
//! A key is named by its value ([`KeyboardEvent.key`](https://www.w3.org/TR/uievents-key/): `Enter`, `a`, `ArrowDown`),
//! by its position ([`KeyboardEvent.code`](https://www.w3.org/TR/uievents-code/): `KeyA`, `NumpadEnter`, `ShiftRight`),
//! or by a common short name (`esc`, `ctrl`, `up`). Case matters for single characters only.

use std::borrow::Cow;

use serde::Serialize;

pub(in crate::page) use super::layout::SHIFT;
use super::layout::{ALIASES, HELD, KEYPAD, MAC, NAMED, SIGNS};
use crate::cdp::protocol::input::{DispatchKeyEvent, DispatchKeyEventType};

/// A key, and its present value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::page) struct Key {
    /// `KeyboardEvent.key`.
    pub(in crate::page) key: Cow<'static, str>,
    /// `KeyboardEvent.code`.
    pub(in crate::page) code: Cow<'static, str>,
    /// The Windows virtual key code: `KeyboardEvent.keyCode`.
    #[serde(rename = "keyCode")]
    pub(in crate::page) windows: i64,
    /// `KeyboardEvent.location`: 1 left, 2 right, 3 numeric keypad.
    pub(in crate::page) location: i64,
    /// The character that it types.
    pub(in crate::page) text: Option<char>,
    /// The modifier bit, for a modifier key.
    #[serde(skip)]
    pub(in crate::page) bit: i64,
    /// Whether it needs Shift.
    #[serde(skip)]
    pub(in crate::page) shifted: bool,
}

impl Key {
    fn new(key: impl Into<Cow<'static, str>>, code: impl Into<Cow<'static, str>>, windows: i64) -> Self {
        Self { key: key.into(), code: code.into(), windows, location: 0, text: None, bit: 0, shifted: false }
    }

    /// The key of a character, if the keyboard has one. A line break is Enter.
    pub(in crate::page) fn of_char(character: char) -> Option<Self> {
        let lower = character.to_ascii_lowercase();
        let mut key = if lower.is_ascii_lowercase() {
            let upper = lower.to_ascii_uppercase();
            let mut key = Self::new(character.to_string(), format!("Key{upper}"), i64::from(u32::from(upper)));
            key.shifted = character == upper;
            key
        } else if character == '\n' || character == '\r' {
            return Some(Self { text: Some('\r'), ..Self::new("Enter", "Enter", 13) });
        } else {
            let (plain, _, code, windows) = SIGNS.iter().find(|(a, b, ..)| *a == character || *b == character)?;
            let mut key = Self::new(character.to_string(), *code, *windows);
            key.shifted = character != *plain;
            key
        };
        key.text = Some(character);
        Some(key)
    }

    /// A key by its name.
    fn named(name: &str) -> Option<Self> {
        let mut characters = name.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            return Self::of_char(only).filter(|key| key.key.len() == 1);
        }
        let is = |other: &str| other.eq_ignore_ascii_case(name);
        if let Some((_, canonical)) = ALIASES.iter().find(|(alias, _)| is(alias)) {
            return Self::named(canonical);
        }
        for (key, left, right, windows_left, windows_right, bit) in HELD {
            let (code, windows, location) = match name {
                _ if is(key) || is(left) => (*left, *windows_left, 1),
                _ if is(right) => (*right, *windows_right, 2),
                _ => continue,
            };
            return Some(Self { location, bit: *bit, ..Self::new(*key, code, windows) });
        }
        if let Some((code, key, windows)) = KEYPAD.iter().find(|(code, ..)| is(code)) {
            let text = if *key == "Enter" { Some('\r') } else { key.chars().next() };
            return Some(Self { text, location: 3, ..Self::new(*key, *code, *windows) });
        }
        if let Some((key, code, windows)) = NAMED.iter().find(|(key, ..)| is(key)) {
            let text = (*key == "Enter").then_some('\r');
            return Some(Self { text, ..Self::new(*key, *code, *windows) });
        }
        if let Some((plain, ..)) = SIGNS.iter().find(|(_, _, code, _)| is(code)) {
            return Self::of_char(*plain);
        }
        let rest = name.get(..3).filter(|begin| begin.eq_ignore_ascii_case("key")).and(name.get(3..));
        if let Some(letter) = rest.and_then(|rest| rest.parse::<char>().ok()).filter(char::is_ascii_alphabetic) {
            return Self::of_char(letter.to_ascii_lowercase());
        }
        let number = name.strip_prefix(['f', 'F'])?.parse::<i64>().ok()?;
        let canonical = format!("F{number}");
        ((1..=24).contains(&number) && is(&canonical)).then(|| Self::new(canonical.clone(), canonical, 111 + number))
    }

    /// The key with Shift held.
    fn with_shift(self) -> Self {
        let Some(text) = self.text.filter(|_| self.location == 0) else { return self };
        let other = SIGNS.iter().find(|(plain, ..)| *plain == text).map(|(_, shifted, ..)| *shifted);
        let other = if text.is_ascii_lowercase() { Some(text.to_ascii_uppercase()) } else { other };
        other.and_then(Self::of_char).unwrap_or(self)
    }

    /// The key down event, with modifiers held.
    pub(in crate::page) fn down(&self, modifiers: i64, again: bool, mac: bool) -> DispatchKeyEvent {
        // With Control, Alt or Meta a key is a command and types nothing.
        let text = self.text.filter(|_| modifiers & !SHIFT == 0).map(String::from);
        let kind = if text.is_some() { DispatchKeyEventType::KeyDown } else { DispatchKeyEventType::RawKeyDown };
        let mut event = self.event(kind, modifiers | self.bit);
        event.unmodified_text.clone_from(&text);
        event.text = text;
        event.auto_repeat = again.then_some(true);
        if mac {
            let command = MAC.iter().find(|(bits, key, _)| *bits == modifiers && *key == self.key);
            event.commands = command.map(|(_, _, command)| vec![(*command).to_owned()]);
        }
        event
    }

    /// The key up event.
    pub(in crate::page) fn up(&self, modifiers: i64) -> DispatchKeyEvent {
        self.event(DispatchKeyEventType::KeyUp, modifiers & !self.bit)
    }

    fn event(&self, kind: DispatchKeyEventType, modifiers: i64) -> DispatchKeyEvent {
        let mut event = DispatchKeyEvent::new(kind);
        event.modifiers = (modifiers != 0).then_some(modifiers);
        event.key = Some(self.key.clone().into_owned());
        event.code = Some(self.code.clone().into_owned());
        event.windows_virtual_key_code = Some(self.windows);
        // Without `nativeVirtualKeyCode`: with it, Chromium 156 handles Control+T, Control+W and the like as its own
        // shortcuts, opens and closes tabs, and hides them from the page.
        event.location = (self.location != 0).then_some(self.location);
        event.is_keypad = (self.location == 3).then_some(true);
        event
    }
}

/// A key with modifiers held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::page) struct Chord {
    /// The modifiers, in the order in which they go down.
    pub(in crate::page) held: Vec<Key>,
    /// The key.
    pub(in crate::page) key: Key,
    /// Control, or Meta on macOS: [`on`](Self::on) decides.
    pub(in crate::page) by_platform: bool,
}

impl Chord {
    /// Parses `Enter`, `Control+a`, `Control+Shift+T`, `ControlOrMeta+a`, `Control++`. With Control, Alt or Meta, Shift
    /// is only held when it is named: `Control+A` is `Control+a`.
    ///
    /// # Errors
    /// A message that says what is wrong and what is expected.
    pub(in crate::page) fn parse(text: &str) -> Result<Self, String> {
        let (names, last) = match text.strip_suffix('+') {
            Some(rest) => (rest.strip_suffix('+').unwrap_or(rest), "+"),
            None => text.rsplit_once('+').unwrap_or(("", text)),
        };
        if text.is_empty() {
            return Err("key is empty; give one, such as Enter, ArrowDown or Control+a".to_owned());
        }
        if !names.is_empty() && last == "+" && !text.ends_with("++") {
            return Err(format!("{text:?} ends with + and names no key; use {names}++ for the plus key"));
        }
        let (mut held, mut by_platform) = (Vec::new(), false);
        for name in names.split('+').filter(|_| !names.is_empty()) {
            if ["ControlOrMeta", "CtrlOrMeta", "CommandOrControl", "CmdOrCtrl", "Mod"]
                .iter()
                .any(|other| other.eq_ignore_ascii_case(name.trim()))
            {
                by_platform = true;
                continue;
            }
            let key = Key::named(name.trim()).ok_or_else(|| unknown(name))?;
            if key.bit == 0 {
                return Err(format!(
                    "{name:?} in {text:?} is not a modifier; before the last + use Control, Shift, Alt, \
                     Meta or ControlOrMeta"
                ));
            }
            if held.iter().all(|other: &Key| other.bit != key.bit) {
                held.push(key);
            }
        }
        let trimmed = if last.trim().is_empty() { last } else { last.trim() };
        let key = Key::named(trimmed).ok_or_else(|| unknown(trimmed))?;
        let bits = held.iter().fold(0, |bits, key| bits | key.bit);
        let key = if bits & SHIFT != 0 {
            key.with_shift()
        } else if (bits != 0 || by_platform) && key.text.is_some_and(|text| text.is_ascii_uppercase()) {
            let lower = key.text.map(|text| text.to_ascii_lowercase());
            lower.and_then(Key::of_char).unwrap_or(key)
        } else {
            key
        };
        Ok(Self { held, key, by_platform })
    }

    /// The chord with `ControlOrMeta` resolved for a platform.
    pub(in crate::page) fn on(mut self, mac: bool) -> Self {
        if std::mem::take(&mut self.by_platform) {
            let held = Key::named(if mac { "Meta" } else { "Control" });
            let missing = |key: &Key| self.held.iter().all(|other| other.bit != key.bit);
            if let Some(key) = held.filter(missing) {
                self.held.insert(0, key);
            }
        }
        self
    }

    /// The modifier bits while the key itself goes down.
    pub(in crate::page) fn bits(&self) -> i64 {
        let held = self.held.iter().fold(0, |bits, key| bits | key.bit);
        // A single character that needs Shift has its bit, as with a real keyboard.
        if self.key.shifted { held | SHIFT } else { held }
    }

    /// All key events: the modifiers go down, the key goes down `times` times like a repeating key, and all go up
    /// again.
    pub(in crate::page) fn events(&self, times: u32, mac: bool) -> Vec<DispatchKeyEvent> {
        let mut events = Vec::new();
        let mut bits = 0;
        for key in &self.held {
            events.push(key.down(bits, false, mac));
            bits |= key.bit;
        }
        let bits = self.bits();
        events.extend((0..times).map(|turn| self.key.down(bits, turn > 0, mac)));
        events.push(self.key.up(bits));
        let mut bits = self.held.iter().fold(0, |bits, key| bits | key.bit);
        for key in self.held.iter().rev() {
            events.push(key.up(bits));
            bits &= !key.bit;
        }
        events
    }
}

fn unknown(name: &str) -> String {
    let name: String = name.chars().take(40).collect();
    let lower = name.to_ascii_lowercase();
    let named = NAMED.iter().map(|(key, ..)| *key).chain(HELD.iter().map(|(key, ..)| *key));
    let all = named.chain(KEYPAD.iter().map(|(code, ..)| *code)).chain(ALIASES.iter().map(|(alias, _)| *alias));
    let mut near: Vec<(usize, &str)> = all.map(|key| (distance(&lower, &key.to_ascii_lowercase()), key)).collect();
    near.sort_by_key(|(distance, _)| *distance);
    let near: Vec<&str> = near
        .into_iter()
        .filter(|(far, key)| *far <= 3 && far * 2 <= key.len().max(lower.len()))
        .take(3)
        .map(|(_, key)| key)
        .collect();
    let hint = if near.is_empty() { "Enter, Escape, ArrowDown, F5 or a".to_owned() } else { near.join(", ") };
    let kind = if near.is_empty() { "use a name such as" } else { "similar names:" };
    let more = if name.chars().count() == 1 { "; use insertText or type for a character without a key" } else { "" };
    format!("unknown key {name:?}; {kind} {hint}{more}")
}

/// The edit distance (Levenshtein) of two names.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let changed = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}
