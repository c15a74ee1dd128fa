//! The secrets of a home.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;

use super::file::{self, Entry, FileVersion};
use super::keyring::Keyring;
use super::totp::Totp;
use super::{Error, check};
use crate::config::{Home, SecretsIn};
use cdpilot::page::SecretTarget;
use cdpilot::redact::{ChangingSecrets, Covered, Fingerprint, fingerprinted_parts, forms_of, parts_of};

/// How long a one-time code is redacted after it was typed.
const CODES: Duration = Duration::from_secs(900);

/// What a secret is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SecretKind {
    /// A text, which is typed as it is.
    Text,
    /// The key of one-time codes; the code of the moment is typed.
    Totp,
}

/// Where the value of a secret is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SecretPlace {
    /// In the keyring of the system.
    Keyring,
    /// In `secrets.json` in the home.
    File,
}

/// A secret without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SecretInfo {
    /// Its name, as in `{{secret:NAME}}`.
    pub name: String,
    /// The origin of the pages in which it may be typed, such as `https://example.com`.
    pub origin: String,
    /// Fields that it may be typed into, besides those for passwords and one-time codes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// What it is.
    pub kind: SecretKind,
    /// Where its value is.
    pub stored_in: SecretPlace,
}

impl SecretInfo {
    fn of(name: &str, entry: &Entry) -> Self {
        Self {
            name: name.to_owned(),
            origin: entry.origin.clone(),
            fields: entry.fields.clone(),
            kind: if entry.totp { SecretKind::Totp } else { SecretKind::Text },
            stored_in: if entry.value.is_some() { SecretPlace::File } else { SecretPlace::Keyring },
        }
    }
}

/// The secrets of a home. Clones are the same store. `Debug` shows no values.
#[derive(Clone)]
pub struct SecretStore(Arc<Inner>);

struct Inner {
    /// `None`: without a home, there are no secrets.
    home: Option<Home>,
    keyring: Option<Keyring>,
    /// Serialises changes of the file.
    changes: Mutex<()>,
    /// Locked only to copy or change it.
    known: Mutex<Known>,
    covers: ChangingSecrets,
}

/// What was read last.
#[derive(Default)]
struct Known {
    version: FileVersion,
    /// Whether values in the keyring were read, too.
    is_complete: bool,
    entries: BTreeMap<String, Entry>,
    /// The values, those in the keyring included.
    values: BTreeMap<String, String>,
    /// Values that were removed or replaced: pages and stored texts may still hold them, so they stay redacted.
    former: BTreeSet<String>,
    /// Values that were typed.
    typed: BTreeSet<String>,
    /// One-time codes that were typed, with the time.
    codes: Vec<(Instant, String)>,
    /// Values that are kept in memory only, with the origin in which they may be typed.
    lent: BTreeMap<String, (String, String)>,
}

impl fmt::Debug for SecretStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretStore").finish_non_exhaustive()
    }
}

impl Default for SecretStore {
    /// A store without a home, which has no secrets.
    fn default() -> Self {
        Self::with(None, None)
    }
}

impl SecretStore {
    /// The secrets of a home. A file that cannot be read is reported by the first use. Values in a keyring, which may ask its
    /// user, are read when a secret is looked up.
    #[must_use]
    pub fn of(home: &Home, storage: SecretsIn) -> Self {
        let keyring = if storage == SecretsIn::Auto { Keyring::of(home) } else { None };
        let store = Self::with(Some(home.clone()), keyring);
        if let Err(problem) = store.refresh(false) {
            tracing::warn!(%problem, "the stored secrets cannot be used");
        }
        store
    }

    fn with(home: Option<Home>, keyring: Option<Keyring>) -> Self {
        let inner = Inner {
            home,
            keyring,
            changes: Mutex::default(),
            known: Mutex::default(),
            covers: ChangingSecrets::default(),
        };
        Self(Arc::new(inner))
    }

    /// What has to be redacted wherever a text leaves: all values in all their forms, and codes that were typed.
    pub(crate) fn covers(&self) -> &ChangingSecrets {
        &self.0.covers
    }

    /// The secrets by name, without their values.
    ///
    /// # Errors
    /// [`Error::File`] if `secrets.json` cannot be read.
    pub fn list(&self) -> Result<Vec<SecretInfo>, Error> {
        self.refresh(false)?;
        Ok(self.0.known.lock().entries.iter().map(|(name, entry)| SecretInfo::of(name, entry)).collect())
    }

    /// A secret by name. Reads its value, so that it is redacted from now on.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::File`] if `secrets.json` cannot be read, [`Error::Keyring`] if the keyring fails.
    pub fn find(&self, name: &str) -> Result<SecretInfo, Error> {
        self.refresh(true)?;
        let known = self.0.known.lock();
        let entry = known.entries.get(name).ok_or_else(|| not_found(name, known.entries.keys()))?;
        Ok(SecretInfo::of(name, entry))
    }

    /// Stores a secret; one with the same name is replaced. A value `totp:KEY` or `otpauth://totp/…` is the key of one-time
    /// codes.
    ///
    /// # Errors
    /// [`Error::NotAccepted`]; [`Error::File`], [`Error::Keyring`] if it cannot be stored.
    pub fn set(&self, name: &str, origin: &str, value: &str, fields: &[String]) -> Result<SecretInfo, Error> {
        check::name(name)?;
        let origin = check::origin(origin)?;
        check::value(value)?;
        let fields = check::fields(fields)?;
        let Some(home) = &self.0.home else {
            return Err(Error::NotAccepted { field: "name", problem: "there is no home to store it in".to_owned() });
        };
        let _changing = self.0.changes.lock();
        let mut entries = file::read(home)?;
        let is_totp = Totp::is_meant(value);
        let is_kept = match &self.0.keyring {
            Some(keyring) => keyring.store(name, value)?,
            None => false,
        };
        let value = (!is_kept).then(|| value.to_owned());
        let entry = Entry { origin, totp: is_totp, fields, value };
        let info = SecretInfo::of(name, &entry);
        entries.insert(name.to_owned(), entry);
        file::write(home, &entries)?;
        self.read_again(home, true)?;
        Ok(info)
    }

    /// Adds fields that a secret may be typed into, besides those for passwords and one-time codes.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotAccepted`]; [`Error::File`] if it cannot be stored.
    pub fn add_fields(&self, name: &str, fields: &[String]) -> Result<SecretInfo, Error> {
        let fields = check::fields(fields)?;
        let none = BTreeMap::<String, Entry>::new();
        let Some(home) = &self.0.home else { return Err(not_found(name, none.keys())) };
        let _changing = self.0.changes.lock();
        let mut entries = file::read(home)?;
        if !entries.contains_key(name) {
            return Err(not_found(name, entries.keys()));
        }
        let Some(entry) = entries.get_mut(name) else { return Err(not_found(name, none.keys())) };
        for field in fields {
            if !entry.fields.contains(&field) {
                entry.fields.push(field);
            }
        }
        check::fields(&entry.fields)?;
        let info = SecretInfo::of(name, entry);
        file::write(home, &entries)?;
        self.read_again(home, false)?;
        Ok(info)
    }

    /// Removes a secret.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::File`], [`Error::Keyring`] if it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        let none = BTreeMap::<String, Entry>::new();
        let Some(home) = &self.0.home else { return Err(not_found(name, none.keys())) };
        let _changing = self.0.changes.lock();
        let mut entries = file::read(home)?;
        let Some(entry) = entries.remove(name) else { return Err(not_found(name, entries.keys())) };
        if entry.value.is_none()
            && let Some(keyring) = &self.0.keyring
        {
            keyring.remove(name)?;
        }
        file::write(home, &entries)?;
        self.read_again(home, true)
    }

    /// Keeps a value in memory that may be typed into any field of one origin, under a name that no stored secret can have. It is
    /// redacted like a stored one.
    pub(crate) fn lend(&self, name: &str, origin: &str, value: String) {
        let mut known = self.0.known.lock();
        known.lent.insert(name.to_owned(), (origin.to_owned(), value));
        self.cover(&known);
    }

    /// Whether a value is lent under a name.
    pub(crate) fn has_lent(&self, name: &str) -> bool {
        self.0.known.lock().lent.contains_key(name)
    }

    /// Forgets the values that were lent under names with this beginning. Pages may still hold them, so they stay redacted.
    pub(crate) fn take_back(&self, beginning: &str) {
        let mut known = self.0.known.lock();
        let Known { lent, former, .. } = &mut *known;
        lent.retain(|name, (_, value)| {
            let stays = !name.starts_with(beginning);
            if !stays {
                former.insert(value.clone());
            }
            stays
        });
    }

    /// What to type for a secret into a field: its value, or the one-time code of this moment. `approved`: a person has approved
    /// the field. The reason if it must not be typed there. From now on, parts of it are redacted, too.
    pub(crate) fn typed(&self, name: &str, target: &SecretTarget, approved: bool) -> Result<String, String> {
        self.refresh(true).map_err(|error| error.to_string())?;
        let mut known = self.0.known.lock();
        if let Some((origin, value)) = known.lent.get(name).cloned() {
            if origin != target.origin {
                return Err(format!("the value belongs to {origin}, and this field is in a page of {}", target.origin));
            }
            if known.typed.insert(value.clone()) {
                self.cover(&known);
            }
            return Ok(value);
        }
        let entry = known.entries.get(name);
        let entry = entry.ok_or_else(|| format!("the secret {name:?} is no longer stored"))?;
        if entry.origin != target.origin {
            return Err(format!(
                "the secret {name:?} belongs to {}, and this field is in a page of {}",
                entry.origin, target.origin
            ));
        }
        let is_named = target.names.iter().any(|name| entry.fields.contains(name));
        if !target.fits && !is_named && !approved {
            return Err(format!(
                "{:?} is no field for passwords or one-time codes, so the secret {name:?} is not typed into it; the user can \
                 allow it: cdpilot secrets set {name} --field NAME",
                target.name()
            ));
        }
        let is_totp = entry.totp;
        let missing =
            || format!("the value of the secret {name:?} is no longer in the keyring of the system; store it again");
        let value = known.values.get(name).cloned().ok_or_else(missing)?;
        if !is_totp {
            if known.typed.insert(value.clone()) {
                self.cover(&known);
            }
            return Ok(value);
        }
        let code = Totp::parse(&value)?.now();
        known.codes.retain(|(typed, old)| typed.elapsed() < CODES && *old != code);
        known.codes.push((Instant::now(), code.clone()));
        self.cover(&known);
        Ok(code)
    }

    /// The secret among some that has a value, or whose one-time code it is.
    pub(crate) fn name_of(&self, value: &str, names: &[String]) -> Option<String> {
        let known = self.0.known.lock();
        let is_lent = |name: &&String| known.lent.get(*name).is_some_and(|(_, lent)| lent == value);
        if let Some(name) = names.iter().find(is_lent) {
            return Some(name.clone());
        }
        let has = |name: &&String| match known.entries.get(*name) {
            Some(entry) if entry.totp => known.codes.iter().any(|(_, code)| code == value),
            Some(_) => known.values.get(*name).is_some_and(|known| known == value),
            None => false,
        };
        names.iter().find(has).cloned()
    }

    /// Fingerprints of all values and codes, to find them in a page.
    pub(crate) fn fingerprints(&self, base: u32) -> Vec<Fingerprint> {
        let known = self.0.known.lock();
        let lent = known.lent.values().map(|(_, value)| value);
        let texts =
            known.values.values().chain(&known.former).chain(lent).chain(known.codes.iter().map(|(_, code)| code));
        let forms = texts.flat_map(|text| forms_of(text)).filter(Covered::is_long_enough);
        let parts = known.typed.iter().flat_map(|text| fingerprinted_parts(text, base));
        forms.map(|form| Fingerprint::of(form.text(), base)).chain(parts).collect()
    }

    /// Reads the file again if it has changed. `completely`: values in the keyring, too.
    fn refresh(&self, completely: bool) -> Result<(), Error> {
        let Some(home) = &self.0.home else { return Ok(()) };
        let (known, is_complete) = {
            let known = self.0.known.lock();
            (known.version, known.is_complete)
        };
        let is_current = known == file::version(home) && (is_complete || !completely);
        if is_current { Ok(()) } else { self.read_again(home, completely || is_complete) }
    }

    fn read_again(&self, home: &Home, completely: bool) -> Result<(), Error> {
        let version = file::version(home);
        let entries = file::read(home)?;
        let mut values = BTreeMap::new();
        for (name, entry) in &entries {
            let value = match (&entry.value, &self.0.keyring) {
                (Some(value), _) => Some(value.clone()),
                (None, Some(keyring)) if completely => keyring.value(name)?,
                (None, _) => None,
            };
            values.extend(value.map(|value| (name.clone(), value)));
        }
        let mut known = self.0.known.lock();
        known.version = version;
        known.is_complete = completely;
        known.entries = entries;
        let before = std::mem::replace(&mut known.values, values);
        known.former.extend(before.into_values());
        let Known { former, values, .. } = &mut *known;
        former.retain(|value| !values.values().any(|now| now == value));
        self.cover(&known);
        Ok(())
    }

    fn cover(&self, known: &Known) {
        let lent = known.lent.values().map(|(_, value)| value);
        let values = known.values.values().chain(&known.former).chain(lent).flat_map(|value| forms_of(value));
        let codes = known.codes.iter().flat_map(|(_, code)| forms_of(code));
        let parts = known.typed.iter().flat_map(|value| parts_of(value));
        self.0.covers.replace_covered(values.chain(codes).chain(parts));
    }
}

fn not_found<'n>(name: &str, known: impl Iterator<Item = &'n String>) -> Error {
    let names: Vec<&str> = known.map(String::as_str).collect();
    let known = match names.as_slice() {
        [] => "none is stored yet; `cdpilot secrets set NAME --origin https://…` stores one".to_owned(),
        names => format!("there are: {}", names.join(", ")),
    };
    Error::NotFound { name: name.to_owned(), known }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        home.prepare().unwrap();
        (folder, home)
    }

    fn field(origin: &str) -> SecretTarget {
        SecretTarget::new(origin, true, vec!["Password".to_owned()])
    }

    #[test]
    fn other_fields_need_a_name_or_an_approval() {
        let (_folder, home) = home();
        let store = open(&home);
        store.set("shop", "https://shop.test", "hunter2", &[]).unwrap();
        let search = SecretTarget::new("https://shop.test", false, vec!["Search".to_owned(), "q".to_owned()]);
        let problem = store.typed("shop", &search, false).unwrap_err();
        assert!(
            problem.contains("\"Search\"") && problem.contains("--field") && !problem.contains("hunter"),
            "{problem}"
        );
        assert_eq!(store.typed("shop", &search, true).unwrap(), "hunter2");
        assert_eq!(store.add_fields("shop", &["q".to_owned()]).unwrap().fields, ["q"]);
        assert_eq!(open(&home).typed("shop", &search, false).unwrap(), "hunter2");
        assert!(
            store.add_fields("shop", &[String::new()]).is_err() && store.add_fields("bank", &["q".to_owned()]).is_err()
        );
        // Parts of what was typed are covered from then on.
        assert_eq!(store.covers().cover("hu~nter2 unter2"), "hu~nter2 [secret]");
    }

    fn open(home: &Home) -> SecretStore {
        SecretStore::of(home, SecretsIn::File)
    }

    #[test]
    fn a_secret_is_typed_only_into_its_origin() {
        let (_folder, home) = home();
        let store = open(&home);
        let info = store.set("shop", "https://Shop.test/", "correct horse", &[]).unwrap();
        assert_eq!(
            (info.origin.as_str(), info.kind, info.stored_in),
            ("https://shop.test", SecretKind::Text, SecretPlace::File)
        );
        // Another program of the same home sees it, and a change of it.
        let other = open(&home);
        assert_eq!(other.typed("shop", &field("https://shop.test"), false).unwrap(), "correct horse");
        store.set("shop", "https://shop.test", "battery staple", &[]).unwrap();
        assert_eq!(other.typed("shop", &field("https://shop.test"), false).unwrap(), "battery staple");
        for origin in
            ["https://evil.test", "http://shop.test", "https://shop.test:8443", "https://a.shop.test", "null", ""]
        {
            let problem = other.typed("shop", &field(origin), false).unwrap_err();
            assert!(problem.contains("belongs to https://shop.test") && !problem.contains("battery"), "{problem}");
        }
        assert!(!other.typed("bank", &field("https://shop.test"), false).unwrap_err().contains("shop"));
        other.remove("shop").unwrap();
        assert!(matches!(store.remove("shop"), Err(Error::NotFound { .. })));
        assert!(store.list().unwrap().is_empty());
        // A page may still show what was typed.
        for store in [&store, &other] {
            assert_eq!(store.covers().cover("x battery staple"), "x [secret]");
        }
    }

    #[test]
    fn values_are_covered_from_the_start_and_codes_once_typed() {
        let (_folder, home) = home();
        let store = open(&home);
        store.set("a", "https://a.test", "correct horse", &[]).unwrap();
        store.set("b", "https://b.test", "totp:JBSWY3DPEHPK3PXP", &[]).unwrap();
        let store = open(&home);
        assert_eq!(store.covers().cover("x correct+horse JBSWY3DPEHPK3PXP"), "x [secret] JBSWY3DPEHPK3PXP");
        assert_eq!(store.covers().cover("totp:JBSWY3DPEHPK3PXP"), "[secret]");
        let code = store.typed("b", &field("https://b.test"), false).unwrap();
        assert!(code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()));
        assert_eq!(store.covers().cover(&format!("code {code}.")), "code [secret].");
        let fingerprints = store.fingerprints(31);
        assert!(fingerprints.contains(&Fingerprint::of("correct horse", 31)));
        assert!(fingerprints.contains(&Fingerprint::of(&code, 31)));
        assert!(!format!("{store:?}").contains("correct"));
    }

    #[test]
    fn a_damaged_file_is_reported_without_its_content() {
        let (folder, home) = home();
        open(&home).set("a", "https://a.test", "correct horse", &[]).unwrap();
        let path = folder.path().join("secrets.json");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for damaged in
            [text.replace("\"version\": 1", "\"version\": 7"), text.replace("\"value\"", "\"valeu\""), "{".to_owned()]
        {
            std::fs::write(&path, &damaged).unwrap();
            let problem = SecretStore::of(&home, SecretsIn::File).list().unwrap_err().to_string();
            assert!(problem.contains("secrets.json") && !problem.contains("horse"), "{problem}");
        }
    }
}
