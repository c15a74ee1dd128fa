//! Phase 3: which items are wanted, and what they pull in.
//!
//! Wanted are the lines of the item list, whole domains, or everything. What a command or event
//! refers to comes along type by type (never by domain: one domain would pull eight others, and
//! the description's own `dependencies` are incomplete), with the direction it travels in, so that
//! only the needed half of the encoding is written.
//!
//! How a type *looks* (borrowing, boxes) is decided over the whole protocol, not over the
//! selection: otherwise switching a cargo feature on would change the types of code that compiled
//! without it.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::items::Item;
use crate::names;
use crate::schema::{Field, Protocol, Shape, TypeRef};

/// The ways a type travels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ways {
    /// To the browser, in parameters.
    pub to: bool,
    /// From the browser, in answers.
    pub from: bool,
    /// From the browser, in events.
    pub event: bool,
}

impl Ways {
    const TO: Self = Self { to: true, from: false, event: false };
    const FROM: Self = Self { to: false, from: true, event: false };
    const EVENT: Self = Self { to: false, from: false, event: true };

    /// Read by us, in whatever message.
    #[must_use]
    pub fn read(self) -> bool {
        self.from || self.event
    }

    /// Met in events and nowhere else.
    #[must_use]
    pub fn only_event(self) -> bool {
        self.event && !self.to && !self.from
    }

    /// True if `more` adds anything.
    fn add(&mut self, more: Self) -> bool {
        let before = *self;
        self.to |= more.to;
        self.from |= more.from;
        self.event |= more.event;
        *self != before
    }
}

/// Which types are reached, and how.
#[derive(Debug, Clone, Default)]
pub struct Reach(BTreeMap<TypeRef, Ways>);

impl Reach {
    /// Every type: what commands and events reach, and the few types that nothing refers to, which
    /// count as met in events.
    #[must_use]
    pub fn whole(protocol: &Protocol) -> Self {
        let mut reach = Self::of_items(protocol);
        for name in reach.missing(protocol) {
            reach.named(protocol, &name, Ways::EVENT);
        }
        reach
    }

    fn of_items(protocol: &Protocol) -> Self {
        let mut reach = Self::default();
        for domain in protocol.domains.values() {
            for command in domain.commands.values() {
                reach.fields(protocol, &command.params, Ways::TO);
                reach.fields(protocol, &command.returns, Ways::FROM);
            }
            for event in domain.events.values() {
                reach.fields(protocol, &event.fields, Ways::EVENT);
            }
        }
        reach
    }

    fn missing(&self, protocol: &Protocol) -> Vec<TypeRef> {
        let names = all_types(protocol).map(|(domain, id, _)| TypeRef::new(domain, id));
        names.filter(|name| !self.0.contains_key(name)).collect()
    }

    /// How one type travels; not at all if it is not reached.
    #[must_use]
    pub fn of(&self, name: &TypeRef) -> Ways {
        self.0.get(name).copied().unwrap_or_default()
    }

    fn fields(&mut self, protocol: &Protocol, fields: &[Field], ways: Ways) {
        for field in fields {
            self.shape(protocol, &field.shape, ways);
        }
    }

    fn shape(&mut self, protocol: &Protocol, shape: &Shape, ways: Ways) {
        match shape {
            Shape::Ref(name) => self.named(protocol, name, ways),
            Shape::Array(item) => self.shape(protocol, item, ways),
            Shape::Struct(fields) => self.fields(protocol, fields, ways),
            _ => {}
        }
    }

    fn named(&mut self, protocol: &Protocol, name: &TypeRef, ways: Ways) {
        if self.0.entry(name.clone()).or_default().add(ways)
            && let Ok(def) = protocol.type_def(name)
        {
            self.shape(protocol, &def.shape, ways);
        }
    }
}

/// What is to be written.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Domain and name of each command.
    pub commands: BTreeSet<(String, String)>,
    /// Domain and name of each event.
    pub events: BTreeSet<(String, String)>,
    /// Types with the ways they need.
    pub types: Reach,
}

impl Selection {
    /// The listed items, the whole domains, and what they refer to. A domain is named as in the
    /// protocol or by its module (`dom_snapshot`).
    ///
    /// # Errors
    /// An item or domain does not exist.
    pub fn new(protocol: &Protocol, items: &[Item], whole: &[String]) -> Result<Self, Error> {
        let mut selection = Self::default();
        for item in items {
            selection.item(protocol, item)?;
        }
        for wanted in whole {
            selection.domain(protocol, &find_domain(protocol, wanted)?)?;
        }
        Ok(selection)
    }

    /// The types to write, with their ways.
    pub fn types(&self) -> impl Iterator<Item = (&TypeRef, Ways)> {
        self.types.0.iter().map(|(name, ways)| (name, *ways))
    }

    /// The domains that something is written for.
    #[must_use]
    pub fn domains(&self) -> BTreeSet<&str> {
        let items = self.commands.iter().chain(&self.events).map(|(domain, _)| domain.as_str());
        items.chain(self.types.0.keys().map(|name| name.domain.as_str())).collect()
    }

    fn item(&mut self, protocol: &Protocol, item: &Item) -> Result<(), Error> {
        let unknown = || Error::Unknown { name: format!("{}.{}", item.domain, item.name) };
        let domain = protocol.domains.get(&item.domain).ok_or_else(unknown)?;
        let key = (item.domain.clone(), item.name.clone());
        let mut known = false;
        if let Some(command) = domain.commands.get(&item.name) {
            self.types.fields(protocol, &command.params, Ways::TO);
            self.types.fields(protocol, &command.returns, Ways::FROM);
            self.commands.insert(key.clone());
            known = true;
        }
        if let Some(event) = domain.events.get(&item.name) {
            self.types.fields(protocol, &event.fields, Ways::EVENT);
            self.events.insert(key);
            known = true;
        }
        if domain.types.contains_key(&item.name) {
            let name = TypeRef::new(&item.domain, &item.name);
            self.types.named(protocol, &name, Ways::TO);
            self.types.named(protocol, &name, Ways::FROM);
            known = true;
        }
        if known { Ok(()) } else { Err(unknown()) }
    }

    fn domain(&mut self, protocol: &Protocol, name: &str) -> Result<(), Error> {
        let unknown = || Error::Unknown { name: name.to_owned() };
        let domain = protocol.domains.get(name).ok_or_else(unknown)?;
        for id in domain.commands.keys().chain(domain.events.keys()) {
            self.item(protocol, &Item { domain: name.to_owned(), name: id.clone() })?;
        }
        for unused in Reach::of_items(protocol).missing(protocol) {
            if unused.domain == name {
                self.types.named(protocol, &unused, Ways::EVENT);
            }
        }
        Ok(())
    }
}

fn find_domain(protocol: &Protocol, wanted: &str) -> Result<String, Error> {
    let mut domains = protocol.domains.keys();
    let found = domains.find(|name| *name == wanted || names::snake(name) == wanted);
    found.cloned().ok_or_else(|| Error::Unknown { name: wanted.to_owned() })
}

/// How the types look, the same for every selection.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// Objects met in events only, with something in them that can be borrowed from the message.
    pub borrowed: BTreeSet<TypeRef>,
    /// Fields that close a cycle of types, so their value is boxed.
    pub boxed: BTreeSet<(TypeRef, String)>,
}

impl Layout {
    /// Looks at the whole protocol.
    #[must_use]
    pub fn new(protocol: &Protocol) -> Self {
        let reach = Reach::whole(protocol);
        let mut layout = Self { boxed: boxed(protocol), ..Self::default() };
        // A type borrows if a type in it does, so repeat until nothing is added.
        loop {
            let before = layout.borrowed.len();
            for (domain, id, shape) in all_types(protocol) {
                let name = TypeRef::new(domain, id);
                let own = matches!(shape, Shape::Struct(_)) && reach.of(&name).only_event();
                if own && layout.borrows(protocol, shape) {
                    layout.borrowed.insert(name);
                }
            }
            if layout.borrowed.len() == before {
                return layout;
            }
        }
    }

    /// True if a value of this shape, in an event, holds something borrowed from the message.
    #[must_use]
    pub fn borrows(&self, protocol: &Protocol, shape: &Shape) -> bool {
        match shape {
            Shape::String | Shape::Any | Shape::Binary | Shape::Free => true,
            Shape::Integer | Shape::Number | Shape::Boolean | Shape::Enum(_) => false,
            Shape::Array(item) => self.borrows(protocol, item),
            Shape::Struct(fields) => fields.iter().any(|f| self.borrows(protocol, &f.shape)),
            Shape::Ref(name) => match protocol.type_def(name).map(|def| &def.shape) {
                Ok(shape) if shape.is_alias() => self.borrows(protocol, shape),
                _ => self.borrowed.contains(name),
            },
        }
    }
}

fn all_types(protocol: &Protocol) -> impl Iterator<Item = (&str, &str, &Shape)> {
    protocol.domains.iter().flat_map(|(domain, content)| {
        content.types.iter().map(move |(id, def)| (domain.as_str(), id.as_str(), &def.shape))
    })
}

/// The fields that hold, without a list between, a type from which their own type is reached again.
fn boxed(protocol: &Protocol) -> BTreeSet<(TypeRef, String)> {
    let mut boxed = BTreeSet::new();
    for (domain, id, shape) in all_types(protocol) {
        let Shape::Struct(fields) = shape else {
            continue;
        };
        let owner = TypeRef::new(domain, id);
        for field in fields {
            if let Shape::Ref(to) = &field.shape
                && holds(protocol, to, &owner, &mut BTreeSet::new())
            {
                boxed.insert((owner.clone(), field.name.clone()));
            }
        }
    }
    boxed
}

fn holds(from: &Protocol, outer: &TypeRef, inner: &TypeRef, seen: &mut BTreeSet<TypeRef>) -> bool {
    if outer == inner {
        return true;
    }
    if !seen.insert(outer.clone()) {
        return false;
    }
    let Ok(Shape::Struct(fields)) = from.type_def(outer).map(|def| &def.shape) else {
        return false;
    };
    fields.iter().any(|field| match &field.shape {
        Shape::Ref(to) => holds(from, to, inner, seen),
        _ => false,
    })
}
