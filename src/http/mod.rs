//! HTTP/1.1: one small client for single requests.
//!
//! | file | what it holds |
//! |---|---|
//! | `client` | one request per connection, over TCP or a stream given by the caller |
//! | `dial` | name resolution and TCP connections, with a deadline |

pub mod client;
pub mod dial;
