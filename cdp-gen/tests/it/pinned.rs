//! The pinned protocol, counted and emitted whole.

use std::collections::BTreeSet;

use cdp_gen::import::{self, Part};
use cdp_gen::schema::{Protocol, Shape};
use cdp_gen::{Options, names, patch, pinned, render};

use crate::support::file;

fn full() -> std::collections::BTreeMap<String, String> {
    render(&Options { full: true, ..Options::default() }).unwrap()
}

#[test]
fn the_pinned_protocol_has_its_known_size() {
    let protocol = pinned::protocol().unwrap();
    let count = |of: fn(&cdp_gen::schema::Domain) -> usize| protocol.domains.values().map(of).sum::<usize>();
    assert_eq!(protocol.domains.len(), 59);
    assert_eq!(count(|domain| domain.commands.len()), 677);
    assert_eq!(count(|domain| domain.events.len()), 232);
    assert_eq!(count(|domain| domain.types.len()), 611);
    let redirects = |domain: &cdp_gen::schema::Domain| {
        domain.commands.values().filter(|command| command.redirect.is_some()).count()
    };
    assert_eq!(protocol.domains.values().map(redirects).sum::<usize>(), 15);
}

/// The published JSON marks none of them; they come from the PDL text.
#[test]
fn all_binary_fields_are_marked() {
    let marks = import::marks_of(&pinned::protocol().unwrap());
    assert_eq!(marks.iter().filter(|mark| !mark.list).count(), 45);
    assert_eq!(marks.iter().filter(|mark| mark.list).count(), 1);
    for (domain, item, part, field) in [
        ("Page", "captureScreenshot", Part::Returns, "data"),
        ("WebAuthn", "Credential", Part::Properties, "credentialId"),
        ("SmartCardEmulation", "reportDataResult", Part::Parameters, "data"),
        ("Page", "screencastFrame", Part::Event, "data"),
    ] {
        let hit =
            |mark: &&import::Mark| (&*mark.domain, &*mark.item, mark.part, &*mark.field) == (domain, item, part, field);
        assert!(marks.iter().any(|mark| hit(&mark)), "{domain}.{item}.{field}");
    }
}

#[test]
fn binary_fields_are_found_in_pdl_text() {
    let pdl = "\
experimental domain Demo
  # binary in a comment
  type Blob extends object
    properties
      # optional binary notThis
      experimental optional binary bytes
      string text
  command put
    parameters
      binary data
    returns
      optional array of binary parts
  event came
    parameters
      binary data
";
    let found: Vec<_> = import::binary_marks(pdl)
        .into_iter()
        .map(|mark| (format!("{}.{}.{}", mark.domain, mark.item, mark.field), mark.part, mark.list))
        .collect();
    assert_eq!(
        found,
        [
            ("Demo.Blob.bytes".to_owned(), Part::Properties, false),
            ("Demo.put.data".to_owned(), Part::Parameters, false),
            ("Demo.put.parts".to_owned(), Part::Returns, true),
            ("Demo.came.data".to_owned(), Part::Event, false),
        ]
    );
}

#[test]
fn the_pinned_files_are_in_the_form_the_import_writes() {
    for name in ["browser.json", "js.json"] {
        let text = std::fs::read_to_string(file("protocol").join(name)).unwrap();
        assert_eq!(pinned::to_json(&Protocol::parse(name, &text).unwrap()), text, "{name}");
        assert!(!text.contains("\"description\":"));
    }
    assert!(pinned::VERSION.starts_with("devtools-protocol "));
}

#[test]
fn every_command_and_event_is_written() {
    let protocol = pinned::protocol().unwrap();
    let files = full();
    let (mut commands, mut events) = (0, 0);
    for (name, domain) in &protocol.domains {
        let text = &files[&format!("{}.rs", names::snake(name))];
        for id in domain.commands.keys() {
            let rust = names::item(name, id, "").unwrap();
            let head = format!("impl rt::Command for {rust} {{\n    const METHOD: &'static str = \"{name}.{id}\";\n");
            assert_eq!(text.matches(&head).count(), 1, "{name}.{id}");
            commands += 1;
        }
        for id in domain.events.keys() {
            assert_eq!(text.matches(&format!("METHOD: &'static str = \"{name}.{id}\"")).count(), 1);
            assert!(text.contains(&format!("pub struct {}", names::item(name, id, "Event").unwrap())));
            events += 1;
        }
        for id in domain.types.keys() {
            assert!(text.contains(&format!("/// Type [`{name}.{id}`]")), "{name}.{id}");
        }
    }
    assert_eq!((commands, events), (677, 232));
}

/// With distinct values, an open enum gives back each of them by how the macro is built.
#[test]
fn enum_values_are_distinct() {
    let mut count = 0;
    pinned::protocol().unwrap().each_shape(&mut |at, shape| {
        if let Shape::Enum(values) = shape {
            count += values.len();
            assert_eq!(values.iter().collect::<BTreeSet<_>>().len(), values.len(), "{at}");
        }
    });
    assert!(count > 1_900, "{count}");
}

#[test]
fn required_experimental_fields_are_read_as_optional() {
    let files = render(&Options { items: "Target.getTargets\n".into(), ..Options::default() }).unwrap();
    assert!(files["target.rs"].contains("pub can_access_opener: Option<bool>"));
    let uncorrected = Options { items: "Target.getTargets\n".into(), patches: &[], ..Options::default() };
    assert!(render(&uncorrected).unwrap()["target.rs"].contains("pub can_access_opener: bool"));
    assert_eq!(patch::PATCHES.len(), 2);
}

/// Compile time goes with these lines.
#[test]
fn default_code_stays_under_8000_lines() {
    let lines: usize = render(&Options::default()).unwrap().values().map(|text| text.lines().count()).sum();
    assert!(lines < 8_000, "{lines} lines for the item list");
}

#[test]
fn the_root_manifest_has_a_feature_for_every_domain() {
    let manifest = std::fs::read_to_string(file("../Cargo.toml")).unwrap();
    for domain in pinned::protocol().unwrap().domains.keys() {
        let feature = format!("domain-{}", names::snake(domain).replace('_', "-"));
        assert!(manifest.contains(&format!("\n{feature} = []\n")), "{feature} is missing");
        assert!(manifest.contains(&format!("\"{feature}\"")), "full-protocol lacks {feature}");
    }
    assert_eq!(manifest.matches("\ndomain-").count(), 59);
}
