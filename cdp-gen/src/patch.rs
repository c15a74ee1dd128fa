//! Phase 2: named corrections of the protocol, each with its reason.
//!
//! A correction that finds nothing to correct is an error: upstream has changed, so the entry has
//! to go or to be looked at again.

use crate::error::Error;
use crate::schema::{Field, Protocol, Shape, TypeRef};
use crate::select::Reach;

/// One correction.
#[derive(Debug)]
pub struct Patch {
    /// Short name for messages.
    pub name: &'static str,
    /// Why the published description is not taken as it stands.
    pub reason: &'static str,
    apply: fn(&mut Protocol) -> usize,
}

/// All corrections, in the order they are made.
pub const PATCHES: &[Patch] = &[
    Patch {
        name: "experimental-fields-may-be-missing",
        reason: "A field that is required and experimental is required only in the build the \
                 description was taken from. Other versions and other browsers leave it out, and \
                 one such field would make the whole message unreadable. In types that only the \
                 browser sends they are read as optional.",
        apply: experimental_fields_optional,
    },
    Patch {
        name: "response-charset",
        reason: "`Network.Response.charset` was added as required; browsers from before do not \
                 send it with `Network.responseReceived`.",
        apply: |protocol| make_optional(protocol, "Network", "Response", "charset"),
    },
];

/// Makes every correction.
///
/// # Errors
/// One of them found nothing to correct.
pub fn apply(protocol: &mut Protocol, patches: &[Patch]) -> Result<(), Error> {
    for patch in patches {
        if (patch.apply)(protocol) == 0 {
            let problem = "there is nothing left to correct".to_owned();
            return Err(Error::Patch { name: patch.name, problem });
        }
    }
    Ok(())
}

fn experimental_fields_optional(protocol: &mut Protocol) -> usize {
    let reach = Reach::whole(protocol);
    let mut changed = 0;
    for (name, domain) in &mut protocol.domains {
        for (id, def) in &mut domain.types {
            if let Shape::Struct(fields) = &mut def.shape
                && !reach.of(&TypeRef::new(name, id)).to
            {
                changed += relax(fields);
            }
        }
        for command in domain.commands.values_mut() {
            changed += relax(&mut command.returns);
        }
        for event in domain.events.values_mut() {
            changed += relax(&mut event.fields);
        }
    }
    changed
}

fn relax(fields: &mut [Field]) -> usize {
    let mut changed = 0;
    for field in fields {
        if field.flags.experimental && !field.optional {
            field.optional = true;
            changed += 1;
        }
    }
    changed
}

fn make_optional(protocol: &mut Protocol, domain: &str, type_name: &str, field: &str) -> usize {
    let domain = protocol.domains.get_mut(domain);
    let def = domain.and_then(|domain| domain.types.get_mut(type_name));
    let Some(Shape::Struct(fields)) = def.map(|def| &mut def.shape) else {
        return 0;
    };
    let mut hits = fields.iter_mut().filter(|f| f.name == field && !f.optional);
    hits.next().map_or(0, |field| {
        field.optional = true;
        1
    })
}
