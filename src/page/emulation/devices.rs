//! Well-known devices, as far as a page can distinguish them.

/// The properties of a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Device {
    pub(super) name: &'static str,
    /// CSS pixels, portrait.
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) scale: f64,
    pub(super) mobile: bool,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    IPhone,
    IPad,
    Android(&'static str),
    Desktop,
}

const fn device(name: &'static str, width: u32, height: u32, scale: f64, kind: Kind) -> Device {
    Device { name, width, height, scale, mobile: !matches!(kind, Kind::Desktop), kind }
}

const DEVICES: [Device; 20] = [
    device("iPhone SE", 375, 667, 2.0, Kind::IPhone),
    device("iPhone 12", 390, 844, 3.0, Kind::IPhone),
    device("iPhone 13", 390, 844, 3.0, Kind::IPhone),
    device("iPhone 14", 390, 844, 3.0, Kind::IPhone),
    device("iPhone 14 Pro Max", 430, 932, 3.0, Kind::IPhone),
    device("iPhone 15", 393, 852, 3.0, Kind::IPhone),
    device("iPhone 15 Pro", 393, 852, 3.0, Kind::IPhone),
    device("iPhone 15 Pro Max", 430, 932, 3.0, Kind::IPhone),
    device("iPad Mini", 768, 1024, 2.0, Kind::IPad),
    device("iPad Air", 820, 1180, 2.0, Kind::IPad),
    device("iPad Pro", 1024, 1366, 2.0, Kind::IPad),
    device("Pixel 5", 393, 851, 2.75, Kind::Android("Pixel 5")),
    device("Pixel 7", 412, 915, 2.625, Kind::Android("Pixel 7")),
    device("Pixel 8", 412, 915, 2.625, Kind::Android("Pixel 8")),
    device("Galaxy S9", 360, 740, 3.0, Kind::Android("SM-G960F")),
    device("Galaxy S20 Ultra", 412, 915, 3.5, Kind::Android("SM-G988B")),
    device("Galaxy S23", 360, 780, 3.0, Kind::Android("SM-S911B")),
    device("Laptop", 1280, 800, 1.0, Kind::Desktop),
    device("Laptop HiDPI", 1280, 800, 2.0, Kind::Desktop),
    device("Desktop", 1920, 1080, 1.0, Kind::Desktop),
];
/// How many similar names are suggested for an unknown one.
const NEAR: usize = 3;

/// The names of all devices.
pub fn device_names() -> impl Iterator<Item = &'static str> {
    DEVICES.iter().map(|device| device.name)
}

impl Device {
    /// The device with a name, regardless of case; otherwise the most similar names.
    pub(super) fn find(name: &str) -> Result<Self, Vec<&'static str>> {
        let name = name.trim();
        if let Some(device) = DEVICES.iter().find(|device| device.name.eq_ignore_ascii_case(name)) {
            return Ok(*device);
        }
        let wanted = name.to_lowercase();
        let mut all: Vec<(usize, &'static str)> =
            DEVICES.iter().map(|device| (distance(&wanted, &device.name.to_lowercase()), device.name)).collect();
        all.sort();
        Err(all.into_iter().take(NEAR).map(|(_, name)| name).collect())
    }

    /// Its user agent, in a Chromium of this major version; `None` for a desktop, which has the browser's own.
    pub(super) fn user_agent(&self, major: &str) -> Option<String> {
        const APPLE: &str = "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";
        match self.kind {
            Kind::IPhone => Some(format!("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) {APPLE}")),
            Kind::IPad => Some(format!("Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) {APPLE}")),
            Kind::Android(model) => Some(format!(
                "Mozilla/5.0 (Linux; Android 14; {model}) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/{major}.0.0.0 Mobile Safari/537.36"
            )),
            Kind::Desktop => None,
        }
    }
}

/// The edit distance (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut left = i + 1;
        let mut corner = i;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let next = (corner + usize::from(x != *y)).min(*cell + 1).min(left + 1);
            corner = std::mem::replace(cell, next);
            left = next;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_found_by_name_and_near_ones_are_told() {
        assert_eq!(Device::find(" iphone 15 PRO ").map(|device| device.width), Ok(393));
        assert_eq!(Device::find("iPhone 51").unwrap_err()[0], "iPhone 12", "of names as near, the first");
        assert!(Device::find("pixel7").unwrap_err().contains(&"Pixel 7"));
        assert_eq!(Device::find("").unwrap_err().len(), NEAR);
        assert_eq!((distance("kitten", "sitting"), distance("", "abc"), distance("a", "a")), (3, 3, 0));
    }
}
