//! Making the pinned copy, from the npm package or from a running browser.
//!
//! The published JSON turns `binary` into `string`. The package's PDL text still has it, so the
//! marks are read there. A browser's protocol description may lack them too (Chromium 156 keeps them) and
//! comes without PDL; it gets the marks that the pinned copy knows.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Error;
#[cfg(feature = "import")]
use crate::http;
use crate::pinned;
use crate::schema::{Command, Event, Field, Protocol, Shape, TypeDef};

/// Where a binary field stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// Protocol name of the domain.
    pub domain: String,
    /// Name of the type, command or event.
    pub item: String,
    /// Which of its lists.
    pub part: Part,
    /// Wire name of the field.
    pub field: String,
    /// A list of binary values, not one.
    pub list: bool,
}

/// A list of fields inside an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Members of a type.
    Properties,
    /// What a command takes.
    Parameters,
    /// What a command returns.
    Returns,
    /// What an event carries.
    Event,
}

/// An imported protocol in its two halves, with its origin.
#[derive(Debug, Clone)]
pub struct Import {
    /// What the browser serves.
    pub browser: Protocol,
    /// What the JavaScript engine serves.
    pub js: Protocol,
    /// Text of the `VERSION` file.
    pub version: String,
    /// The binary fields that were marked.
    pub marks: BTreeSet<Mark>,
}

impl Import {
    /// Reads the unpacked npm package `devtools-protocol`.
    ///
    /// # Errors
    /// A file is missing or unreadable, or a binary field of the PDL is not a text field of the JSON.
    pub fn from_package(package: &Path) -> Result<Self, Error> {
        let manifest = read(&package.join("package.json"))?;
        let manifest: Value = serde_json::from_str(&manifest)
            .map_err(|source| Error::Json { what: "package.json".to_owned(), source })?;
        let mut marks = BTreeSet::new();
        for file in pdl_files(package)? {
            marks.extend(binary_marks(&read(&file)?));
        }
        let half = |name: &str| {
            let file = package.join("json").join(name);
            let mut half = Protocol::parse(name, &read(&file)?)?;
            let applied = apply(&mut half, &marks)?;
            Ok::<_, Error>((half, applied))
        };
        let (browser, in_browser) = half("browser_protocol.json")?;
        let (js, in_js) = half("js_protocol.json")?;
        if in_browser + in_js != marks.len() {
            let text = format!("{} binary fields in PDL, {} in JSON", marks.len(), in_browser + in_js);
            return Err(Error::import(text));
        }
        let name = manifest["name"].as_str().unwrap_or("?");
        let number = manifest["version"].as_str().unwrap_or("?");
        let version = format!("{name} {number}\nprotocol {}\n", browser.version);
        Ok(Self { browser, js, version, marks })
    }

    /// Asks a running browser, by the address of its debugging port.
    ///
    /// # Errors
    /// The browser does not answer, or with something that is not a protocol.
    #[cfg(feature = "import")]
    pub fn from_browser(address: &str) -> Result<Self, Error> {
        let about = http::get(&format!("{address}/json/version"))?;
        let about: Value =
            serde_json::from_str(&about).map_err(|source| Error::Json { what: "/json/version".to_owned(), source })?;
        let mut browser = from_browser(address)?;
        let known = marks_of(&pinned::protocol()?);
        apply(&mut browser, &known)?;
        let marks = marks_of(&browser);
        let mut js = Protocol { version: browser.version.clone(), ..Protocol::default() };
        for name in pinned::js()?.domains.into_keys() {
            if let Some(domain) = browser.domains.remove(&name) {
                js.domains.insert(name, domain);
            }
        }
        let product = about["Browser"].as_str().unwrap_or("unknown browser");
        let version = format!("{product}\nprotocol {}\n", browser.version);
        Ok(Self { browser, js, version, marks })
    }

    /// Writes the pinned files.
    ///
    /// # Errors
    /// The protocol has dangling references, or a file cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        let mut whole = self.browser.clone();
        whole.merge(self.js.clone())?;
        whole.check_refs()?;
        let files = [
            ("browser.json", pinned::to_json(&self.browser)),
            ("js.json", pinned::to_json(&self.js)),
            ("VERSION", self.version.clone()),
        ];
        fs::create_dir_all(dir).map_err(|source| Error::io(dir, source))?;
        for (name, text) in files {
            let path = dir.join(name);
            fs::write(&path, text).map_err(|source| Error::io(&path, source))?;
        }
        Ok(())
    }
}

/// What a running browser says it speaks, without binary marks.
///
/// # Errors
/// The browser does not answer, or with something that is not a protocol.
#[cfg(feature = "import")]
pub fn from_browser(address: &str) -> Result<Protocol, Error> {
    let url = format!("{address}/json/protocol");
    Protocol::parse(&url, &http::get(&url)?)
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::io(path, source))
}

fn pdl_files(package: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for dir in [package.join("pdl"), package.join("pdl/domains")] {
        let entries = fs::read_dir(&dir).map_err(|source| Error::io(&dir, source))?;
        for entry in entries {
            let path = entry.map_err(|source| Error::io(&dir, source))?.path();
            if path.extension().is_some_and(|ext| ext == "pdl") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Finds the binary fields in PDL text.
#[must_use]
pub fn binary_marks(pdl: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    let (mut domain, mut item, mut part) = (String::new(), String::new(), Part::Properties);
    let mut in_event = false;
    for line in pdl.lines() {
        let flag = |word: &&str| matches!(*word, "experimental" | "deprecated" | "optional");
        let words: Vec<&str> = line.split_whitespace().skip_while(flag).collect();
        match words.as_slice() {
            ["domain", name] => (*name).clone_into(&mut domain),
            ["type", name, "extends", ..] => (*name).clone_into(&mut item),
            ["command", name] => {
                (*name).clone_into(&mut item);
                in_event = false;
            }
            ["event", name] => {
                (*name).clone_into(&mut item);
                in_event = true;
            }
            ["properties"] => part = Part::Properties,
            ["returns"] => part = Part::Returns,
            ["parameters"] => part = if in_event { Part::Event } else { Part::Parameters },
            ["binary", name] | ["array", "of", "binary", name] => marks.push(Mark {
                domain: domain.clone(),
                item: item.clone(),
                part,
                field: (*name).to_owned(),
                list: words.len() > 2,
            }),
            _ => {}
        }
    }
    marks
}

/// The binary fields of a protocol that has them marked.
#[must_use]
pub fn marks_of(protocol: &Protocol) -> BTreeSet<Mark> {
    let mut marks = BTreeSet::new();
    let mut add = |domain: &str, item: &str, part: Part, fields: &[Field]| {
        for field in fields {
            let list = matches!(&field.shape, Shape::Array(item) if **item == Shape::Binary);
            if list || field.shape == Shape::Binary {
                let (domain, item) = (domain.to_owned(), item.to_owned());
                marks.insert(Mark { domain, item, part, field: field.name.clone(), list });
            }
        }
    };
    for (name, domain) in &protocol.domains {
        for (id, TypeDef { shape, .. }) in &domain.types {
            if let Shape::Struct(fields) = shape {
                add(name, id, Part::Properties, fields);
            }
        }
        for (id, Command { params, returns, .. }) in &domain.commands {
            add(name, id, Part::Parameters, params);
            add(name, id, Part::Returns, returns);
        }
        for (id, Event { fields, .. }) in &domain.events {
            add(name, id, Part::Event, fields);
        }
    }
    marks
}

/// Marks the fields that exist, and says how many do.
///
/// # Errors
/// A marked field exists but is neither text nor marked already.
pub fn apply(protocol: &mut Protocol, marks: &BTreeSet<Mark>) -> Result<usize, Error> {
    let mut applied = 0;
    for mark in marks {
        let Some(domain) = protocol.domains.get_mut(&mark.domain) else {
            continue;
        };
        let fields = match mark.part {
            Part::Properties => match domain.types.get_mut(&mark.item) {
                Some(TypeDef { shape: Shape::Struct(fields), .. }) => Some(fields),
                _ => None,
            },
            Part::Parameters => domain.commands.get_mut(&mark.item).map(|c| &mut c.params),
            Part::Returns => domain.commands.get_mut(&mark.item).map(|c| &mut c.returns),
            Part::Event => domain.events.get_mut(&mark.item).map(|e| &mut e.fields),
        };
        let found = fields.and_then(|all| all.iter_mut().find(|field| field.name == mark.field));
        let Some(field) = found else { continue };
        let wrap = |shape| match mark.list {
            true => Shape::Array(Box::new(shape)),
            false => shape,
        };
        if field.shape != wrap(Shape::String) && field.shape != wrap(Shape::Binary) {
            let at = format!("{}.{}.{}", mark.domain, mark.item, mark.field);
            return Err(Error::schema(at, "marked as binary, but not text"));
        }
        field.shape = wrap(Shape::Binary);
        applied += 1;
    }
    Ok(applied)
}
