//! The rest of a page: what it says, asks for, stores and downloads, and what it is made to believe.
//!
//! | file | what it holds |
//! |---|---|
//! | `console` | messages and uncaught exceptions |
//! | `requests` | network requests and what they brought |

mod requests;

pub use requests::ResponseBody;
