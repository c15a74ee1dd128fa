//! The control server: HTTP in front of `control`. It parses, authorises, calls and answers.
//!
//! | file | what it holds |
//! |---|---|
//! | `http` | connections, requests, answers; knows nothing of browsers |

pub mod http;
