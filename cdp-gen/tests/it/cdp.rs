//! The place generated code expects its runtime at: the root crate's runtime, and the golden text.

#[path = "../../../src/cdp/rt/mod.rs"]
pub(crate) mod rt;

pub(crate) mod protocol {
    include!("golden/protocol.rs");
}
