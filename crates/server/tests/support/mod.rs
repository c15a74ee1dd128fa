//! Servers and their homes in the process of a test; also used by the tests of the program.

pub(crate) mod agent_home;
pub(crate) mod api;
pub(crate) mod fake_mcp;
#[cfg(unix)]
pub(crate) mod port_attempts;
pub(crate) mod raw;
pub(crate) mod session_client;
pub(crate) mod stage;
pub(crate) mod test_home;
pub(crate) mod tool_home;
pub(crate) mod tool_workspace;

pub(crate) use testkit::*;
