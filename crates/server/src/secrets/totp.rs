//! One-time codes that change with the time (RFC 6238).

use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::BASE32_NOPAD;
use ring::hmac;
use url::Url;

/// Begins the value of a secret that is a key of one-time codes.
const PREFIX: &str = "totp:";
/// The addresses in QR codes of authenticators.
const URI: &str = "otpauth:";
const STEP: u64 = 30;
const DIGITS: u32 = 6;

/// The key of one-time codes, with its settings.
#[derive(Debug)]
pub(super) struct Totp {
    key: hmac::Key,
    digits: u32,
    step: u64,
}

impl Totp {
    /// Whether a value is meant as a key of one-time codes.
    pub(super) fn is_meant(value: &str) -> bool {
        let value = value.trim_start().to_ascii_lowercase();
        value.starts_with(PREFIX) || value.starts_with(URI)
    }

    /// Reads `totp:KEY`, `totp:otpauth://…` or `otpauth://totp/…`. The error does not contain the key.
    pub(super) fn parse(value: &str) -> Result<Self, String> {
        let value = value.trim();
        let given = value.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX));
        let value = if given { value[PREFIX.len()..].trim() } else { value };
        if !value.to_ascii_lowercase().starts_with(URI) {
            return Self::new(value, hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, DIGITS, STEP);
        }
        let url = Url::parse(value).map_err(|_| "the otpauth:// address is not valid".to_owned())?;
        if url.host_str() != Some("totp") {
            return Err("only codes that change with the time (otpauth://totp/…) are supported".to_owned());
        }
        let field = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        let number = |name: &str, usual: u64| field(name).map_or(Ok(usual), |text| text.parse::<u64>().map_err(drop));
        let algorithm = match field("algorithm").unwrap_or_else(|| "SHA1".to_owned()).to_ascii_uppercase().as_str() {
            "SHA1" => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            "SHA256" => hmac::HMAC_SHA256,
            "SHA512" => hmac::HMAC_SHA512,
            _ => return Err("the algorithm of the otpauth:// address must be SHA1, SHA256 or SHA512".to_owned()),
        };
        let digits = number("digits", DIGITS.into()).ok().and_then(|digits| u32::try_from(digits).ok());
        let digits = digits.filter(|digits| (6..=8).contains(digits)).ok_or("digits must be 6 to 8")?;
        let step = number("period", STEP).ok().filter(|step| (5..=600).contains(step));
        let step = step.ok_or("period must be 5 to 600 seconds")?;
        Self::new(&field("secret").ok_or("the otpauth:// address has no secret")?, algorithm, digits, step)
    }

    fn new(key: &str, algorithm: hmac::Algorithm, digits: u32, step: u64) -> Result<Self, String> {
        let plain: String = key.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '=')).collect();
        let bytes = BASE32_NOPAD.decode(plain.to_ascii_uppercase().as_bytes());
        let bytes = bytes.ok().filter(|bytes| !bytes.is_empty());
        let bytes = bytes.ok_or("the key of one-time codes is not valid Base32 (letters A to Z and digits 2 to 7)")?;
        Ok(Self { key: hmac::Key::new(algorithm, &bytes), digits, step })
    }

    /// The code of this moment.
    pub(super) fn now(&self) -> String {
        self.at(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
    }

    fn at(&self, seconds: u64) -> String {
        let tag = hmac::sign(&self.key, &(seconds / self.step).to_be_bytes());
        let tag = tag.as_ref();
        // RFC 4226, section 5.3: four bytes, where the low bits of the last byte say.
        let start = usize::from(tag.last().copied().unwrap_or_default() & 0xf);
        let bytes: [u8; 4] = tag.get(start..start + 4).and_then(|part| part.try_into().ok()).unwrap_or_default();
        let number = u32::from_be_bytes(bytes) & 0x7fff_ffff;
        format!("{:0width$}", number % 10_u32.pow(self.digits), width = self.digits as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6238, appendix B.
    #[test]
    fn codes_are_those_of_the_standard() {
        let key = |length: usize| BASE32_NOPAD.encode(&"1234567890".repeat(7).as_bytes()[..length]);
        for (algorithm, length, codes) in [
            ("SHA1", 20, ["94287082", "07081804", "14050471", "89005924", "69279037", "65353130"]),
            ("SHA256", 32, ["46119246", "68084774", "67062674", "91819424", "90698825", "77737706"]),
            ("SHA512", 64, ["90693936", "25091201", "99943326", "93441116", "38618901", "47863826"]),
        ] {
            let uri = format!("otpauth://totp/a?secret={}&digits=8&algorithm={algorithm}", key(length));
            let totp = Totp::parse(&uri).unwrap();
            let times = [59, 1_111_111_109, 1_111_111_111, 1_234_567_890, 2_000_000_000, 20_000_000_000];
            assert_eq!(times.map(|time| totp.at(time)), codes.map(str::to_owned), "{algorithm}");
        }
    }

    #[test]
    fn keys_are_read_as_people_paste_them() {
        let code = |text: &str| Totp::parse(text).map(|totp| totp.at(59));
        let expected = code("totp:GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ").unwrap();
        assert_eq!(expected, "287082");
        for text in [
            "totp:gezd gnbv gy3t qojq gezd gnbv gy3t qojq",
            "TOTP: GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ==",
            "otpauth://totp/Shop:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Shop",
            "totp:otpauth://totp/ada?secret=gezdgnbvgy3tqojqgezdgnbvgy3tqojq&period=30",
        ] {
            assert!(Totp::is_meant(text));
            assert_eq!(code(text).unwrap(), expected, "{text}");
        }
        for (text, part) in [
            ("totp:", "Base32"),
            ("totp:01189", "Base32"),
            ("otpauth://hotp/a?secret=GEZDGNBV&counter=1", "change with the time"),
            ("otpauth://totp/a", "no secret"),
            ("otpauth://totp/a?secret=GEZDGNBV&digits=3", "digits"),
            ("otpauth://totp/a?secret=GEZDGNBV&period=0", "period"),
            ("otpauth://totp/a?secret=GEZDGNBV&algorithm=MD5", "algorithm"),
        ] {
            assert!(code(text).unwrap_err().contains(part), "{text}");
        }
        assert!(!Totp::is_meant("correct horse"));
    }
}
