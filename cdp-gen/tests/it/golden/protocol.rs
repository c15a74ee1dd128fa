// Written by cdp-gen from devtools-protocol 0.0.1734725, protocol 1.3.

/// Domain [`Alpha`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/).
#[allow(missing_docs, deprecated, unused_imports, clippy::too_many_arguments, clippy::enum_variant_names, clippy::large_enum_variant)]
pub mod alpha {
    include!("alpha.rs");
}

/// Domain [`IO`](https://chromedevtools.github.io/devtools-protocol/tot/IO/). Experimental.
#[allow(missing_docs, deprecated, unused_imports, clippy::too_many_arguments, clippy::enum_variant_names, clippy::large_enum_variant)]
pub mod io {
    include!("io.rs");
}

/// Domain [`Old`](https://chromedevtools.github.io/devtools-protocol/tot/Old/). Deprecated.
#[allow(missing_docs, deprecated, unused_imports, clippy::too_many_arguments, clippy::enum_variant_names, clippy::large_enum_variant)]
pub mod old {
    include!("old.rs");
}
