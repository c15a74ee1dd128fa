//! Network requests of a tab.
//!
//! | file | contents |
//! |---|---|
//! | `requests` | the list of requests, and response bodies |
//! | `request_record` | one request in detail: headers, timing, bodies |
//! | `har` | requests as an HTTP Archive |

mod har;
mod request_record;
mod requests;

pub use har::Har;
pub use request_record::{RecordOptions, RequestRecord, RequestTiming};
pub use requests::ResponseBody;
