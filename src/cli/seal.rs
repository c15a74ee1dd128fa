//! Encrypts text with a passphrase: Argon2id derives the key, XChaCha20-Poly1305 encrypts.
//!
//! The file is JSON with everything needed to read it except the passphrase. The cost of the key derivation is read from the
//! file, so it is limited before any work is done.

use crate::code::Code;
use std::fmt;

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};

use super::failure::Failure;

/// The `format` of an encrypted state.
pub(super) const SEALED: &str = "cdpilot-state-encrypted";
const VERSION: u32 = 1;
const KDF: &str = "argon2id";
const CIPHER: &str = "xchacha20poly1305";
/// Cost of the key derivation: KiB of memory, passes.
const MEMORY: u32 = 64 * 1024;
const PASSES: u32 = 3;
/// Limits for files.
const MOST_MEMORY: u32 = 256 * 1024;
const MOST_PASSES: u32 = 10;
const MOST_LANES: u32 = 4;
const KEY: usize = 32;
/// Length of the check value, which distinguishes a wrong passphrase from a changed file.
const CHECK: usize = 16;

/// A passphrase. `Debug` does not show it.
pub(super) struct Passphrase(String);

impl Passphrase {
    pub(super) fn new(text: String) -> Result<Self, Failure> {
        match text.is_empty() {
            true => Err(Failure::usage("the passphrase is empty; give at least one character")),
            false => Ok(Self(text)),
        }
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase")
    }
}

/// An encrypted file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Sealed {
    format: String,
    version: u32,
    kdf: String,
    /// KiB.
    memory: u32,
    passes: u32,
    lanes: u32,
    salt: String,
    check: String,
    cipher: String,
    nonce: String,
    data: String,
}

impl Sealed {
    /// The fields that are authenticated together with the data.
    fn header(&self) -> String {
        let Self { format, version, kdf, memory, passes, lanes, salt, check, cipher, nonce, .. } = self;
        format!("{format} {version} {kdf} {memory} {passes} {lanes} {salt} {check} {cipher} {nonce}")
    }

    fn key(&self, passphrase: &Passphrase, salt: &[u8]) -> Result<[u8; KEY + CHECK], Failure> {
        let failed = |problem: argon2::Error| Failure::new(Code::Internal, format!("cannot derive the key: {problem}"));
        let params = Params::new(self.memory, self.passes, self.lanes, Some(KEY + CHECK)).map_err(failed)?;
        let mut key = [0; KEY + CHECK];
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon.hash_password_into(passphrase.0.as_bytes(), salt, &mut key).map_err(failed)?;
        Ok(key)
    }
}

/// Encrypts text.
pub(super) fn seal(text: &str, passphrase: &Passphrase) -> Result<String, Failure> {
    let failed =
        |problem: &dyn fmt::Display| Failure::new(Code::Internal, format!("cannot encrypt the state: {problem}"));
    let (mut salt, mut nonce) = ([0; 16], [0; 24]);
    getrandom::fill(&mut salt).and_then(|()| getrandom::fill(&mut nonce)).map_err(|problem| failed(&problem))?;
    let mut sealed = Sealed {
        format: SEALED.to_owned(),
        version: VERSION,
        kdf: KDF.to_owned(),
        memory: MEMORY,
        passes: PASSES,
        lanes: 1,
        salt: STANDARD.encode(salt),
        check: String::new(),
        cipher: CIPHER.to_owned(),
        nonce: STANDARD.encode(nonce),
        data: String::new(),
    };
    let key = sealed.key(passphrase, &salt)?;
    sealed.check = STANDARD.encode(&key[KEY..]);
    let cipher = XChaCha20Poly1305::new_from_slice(&key[..KEY]).map_err(|problem| failed(&problem))?;
    let header = sealed.header();
    let payload = Payload { msg: text.as_bytes(), aad: header.as_bytes() };
    let data = cipher.encrypt(&XNonce::from(nonce), payload).map_err(|problem| failed(&problem))?;
    sealed.data = STANDARD.encode(data);
    serde_json::to_string(&sealed).map_err(|problem| failed(&problem))
}

/// Decrypts the output of [`seal`].
pub(super) fn open(file: &str, passphrase: &Passphrase) -> Result<String, Failure> {
    let bad = |why: &str| Failure::new(Code::BadRequest, format!("cannot read the encrypted state: {why}"));
    let sealed: Sealed = serde_json::from_str(file)
        .map_err(|_| bad("a field is missing, unknown or of the wrong type; the file is damaged"))?;
    if sealed.format != SEALED || sealed.version != VERSION || sealed.kdf != KDF || sealed.cipher != CIPHER {
        return Err(bad("its format or version is unknown; use the cdpilot version that wrote it"));
    }
    if sealed.memory > MOST_MEMORY || sealed.passes > MOST_PASSES || sealed.lanes > MOST_LANES {
        return Err(bad("its key derivation exceeds the allowed 256 MiB, 10 passes or 4 lanes; do not trust the file"));
    }
    let bytes = |text: &str| STANDARD.decode(text).map_err(|_| bad("a field is not valid Base64; the file is damaged"));
    let (salt, nonce, data) = (bytes(&sealed.salt)?, bytes(&sealed.nonce)?, bytes(&sealed.data)?);
    let nonce: [u8; 24] = nonce.try_into().map_err(|_| bad("its nonce has the wrong length; the file is damaged"))?;
    let key = sealed.key(passphrase, &salt)?;
    if bytes(&sealed.check)? != key[KEY..] {
        return Err(Failure::new(
            Code::BadRequest,
            "the passphrase is wrong, or the file's header was changed; give the passphrase that the state was saved with",
        ));
    }
    let cipher = XChaCha20Poly1305::new_from_slice(&key[..KEY])
        .map_err(|_| bad("its key has the wrong length; the file is damaged"))?;
    let header = sealed.header();
    let payload = Payload { msg: &data, aad: header.as_bytes() };
    let plain = cipher
        .decrypt(&XNonce::from(nonce), payload)
        .map_err(|_| bad("the passphrase is right, but the file was changed or is damaged; do not use it"))?;
    String::from_utf8(plain).map_err(|_| bad("its content is not text; the file is damaged"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passphrase(text: &str) -> Passphrase {
        Passphrase::new(text.to_owned()).unwrap()
    }

    /// The file with one field changed.
    fn with(file: &str, field: &str, value: impl Into<serde_json::Value>) -> String {
        let mut json: serde_json::Value = serde_json::from_str(file).unwrap();
        json[field] = value.into();
        json.to_string()
    }

    #[test]
    fn only_the_passphrase_opens_an_untouched_file() {
        let file = seal("s3cret ä", &passphrase("p w")).unwrap();
        assert!(!file.contains("s3cret"));
        assert_eq!(open(&file, &passphrase("p w")).unwrap(), "s3cret ä");
        assert_ne!(file, seal("s3cret ä", &passphrase("p w")).unwrap(), "salt and nonce are new each time");
        let error = |file: &str, word: &str| open(file, &passphrase(word)).unwrap_err().error;
        assert!(error(&file, "p w ").contains("passphrase is wrong"));
        let json: serde_json::Value = serde_json::from_str(&file).unwrap();
        let mut data = STANDARD.decode(json["data"].as_str().unwrap()).unwrap();
        data[3] ^= 1;
        let changed = error(&with(&file, "data", STANDARD.encode(data)), "p w");
        assert!(changed.contains("was changed") && changed.contains("passphrase is right"), "{changed}");
        let nonce = error(&with(&file, "nonce", STANDARD.encode([0; 24])), "p w");
        assert!(nonce.contains("was changed"), "{nonce}");
        assert!(error(&with(&file, "salt", STANDARD.encode([0; 16])), "p w").contains("passphrase is wrong"));
        assert!(Passphrase::new(String::new()).is_err());
        assert_eq!(format!("{:?}", passphrase("p w")), "Passphrase");
    }

    #[test]
    fn a_hostile_file_costs_nothing() {
        let file = seal("x", &passphrase("p")).unwrap();
        for (field, value) in [("memory", u32::MAX), ("passes", u32::MAX), ("lanes", u32::MAX), ("memory", 262_145)] {
            let error = open(&with(&file, field, value), &passphrase("p")).unwrap_err().error;
            assert!(error.contains("allowed"), "{field}: {error}");
        }
        for (field, value) in [("memory", 0), ("passes", 0), ("lanes", 0)] {
            assert!(open(&with(&file, field, value), &passphrase("p")).is_err(), "{field}");
        }
        for field in ["salt", "nonce", "check", "data"] {
            for value in ["", "!", "AAAA"] {
                assert!(open(&with(&file, field, value), &passphrase("p")).is_err(), "{field} {value}");
            }
        }
        for file in [
            String::new(),
            "{}".to_owned(),
            with(&file, "version", 2),
            with(&file, "kdf", "none"),
            with(&file, "more", 1),
        ] {
            assert!(open(&file, &passphrase("p")).is_err(), "{file}");
        }
    }
}
