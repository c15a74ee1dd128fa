//! Addresses that do something when they are opened.

use url::Url;

use super::words;
use super::{EffectKind, Ground};

/// What opening an address may do, by the words in its path and query; `None` if it only shows something.
pub(super) fn ground(address: &str) -> Option<Ground> {
    let url = Url::parse(address).ok()?;
    if url.scheme() == "data" {
        return Some(Ground::new(EffectKind::Script, "an address with a document in it may contain scripts and forms"));
    }
    let url = Some(url).filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let path = path_of(&url);
    let is_id = |part: &&str| part.len() >= 2 && part.chars().filter(char::is_ascii_digit).count() * 2 > part.len();
    let has_details = url.query().is_some_and(|query| !query.is_empty())
        || path.iter().any(|part| is_id(&part.as_str()) || part.parse::<u64>().is_ok());
    let in_path = path.iter().find_map(|part| words::of_part(part));
    // `/pay` shows a form; `/pay?to=ada` and `/pay/12` may pay.
    let in_path = in_path.filter(|(kind, _)| has_details || matches!(kind, EffectKind::Delete | EffectKind::Account));
    let in_query = || {
        url.query_pairs().find_map(|(name, value)| match is_command(&name) {
            true => words::of_part(&value),
            // `?delete=3`, not `?item=delete`.
            false => words::of_part(&name),
        })
    };
    let (kind, word) = in_path.or_else(in_query)?;
    Some(Ground::new(kind, format!("its address contains the word {word:?}")))
}

fn path_of(url: &Url) -> Vec<String> {
    let parts = url.path_segments().into_iter().flatten().filter(|part| !part.is_empty());
    parts.map(|part| percent_encoding::percent_decode_str(part).decode_utf8_lossy().into_owned()).collect()
}

/// What sending a form to an address does, by the words in its path.
pub(super) fn ground_of_form(address: &str) -> Option<Ground> {
    let path = path_of(&Url::parse(address).ok()?);
    let (kind, word) = path.iter().find_map(|part| words::of_part(part))?;
    Some(Ground::new(kind, format!("its form is sent to an address with the word {word:?}")))
}

/// Whether a field or parameter of this name says what is to be done.
pub(super) fn is_command(name: &str) -> bool {
    let name = name.to_lowercase();
    matches!(&*name, "action" | "do" | "cmd" | "command" | "op" | "operation" | "method" | "_method" | "task" | "act")
}

/// The origin of an address; empty if it has none.
pub(super) fn origin(address: &str) -> String {
    let origin = Url::parse(address).map(|url| url.origin());
    origin.ok().filter(url::Origin::is_tuple).map(|origin| origin.ascii_serialization()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_do_something_are_told_from_those_that_show_something() {
        for (address, expected) in [
            ("https://shop.test/items/3/delete", Some(EffectKind::Delete)),
            ("https://shop.test/account/delete", Some(EffectKind::Delete)),
            ("https://shop.test/?action=delete&id=3", Some(EffectKind::Delete)),
            ("https://shop.test/admin?delete=3", Some(EffectKind::Delete)),
            ("https://mail.test/send?to=x@evil.test&body=y", Some(EffectKind::Send)),
            ("https://bank.test/transfer?to=1&amount=5", Some(EffectKind::Purchase)),
            ("https://bank.test/transfer", None),
            ("https://bank.test/pay/12", Some(EffectKind::Purchase)),
            ("https://news.test/unsubscribe", Some(EffectKind::Account)),
            ("https://wiki.test/how-to-delete-files", None),
            ("https://shop.test/search?q=delete", None),
            ("https://shop.test/checkout", None),
            ("https://shop.test/orders/2024", None),
            ("https://shop.test/item/%64elete/4", Some(EffectKind::Delete)),
            ("data:text/html,x", Some(EffectKind::Script)),
            ("https://shop.test/", None),
            ("about:blank", None),
        ] {
            assert_eq!(ground(address).map(|ground| ground.kind), expected, "{address}");
        }
    }
}
