//! Our tools for others. One [`Offer`] answers requests of both eras; stdio and HTTP carry them.

mod offer;

pub use offer::{Offer, Peer};
