//! The part of `doctor` that checks the settings of the server and of the tools.

use std::sync::Arc;

use super::start::bind_address;
use crate::config::{Config, Home};
use crate::control::{Check, CheckStatus};
use crate::tools::Registry;
use crate::tools::toolsets::setting_problems;

/// Completes the check `config`, which `control` makes without knowing the server and the tools.
pub fn complete(checks: &mut [Check], home: &Home, registry: &Arc<Registry>) {
    let Ok(config) = Config::of(home) else { return };
    complete_with(checks, home, &config, setting_problems(&config, registry));
}

/// Like [`complete`], with the problems of the tools.
pub(super) fn complete_with(checks: &mut [Check], home: &Home, config: &Config, mut problems: Vec<String>) {
    let Some(check) = checks.iter_mut().find(|check| check.id == "config" && check.status == CheckStatus::Pass) else {
        return;
    };
    let path = home.config();
    if let Err(problem) = bind_address(&config.server.bind, &config.server.allowed_hosts) {
        check.status = CheckStatus::Fail;
        check.summary = format!("{} is invalid at server.bind: {problem}", path.display());
        check.fix_hint = Some("correct the file; the server does not start with it".to_owned());
        return;
    }
    if let Some(folder) = config.tools.workspace.as_ref().map(|folder| home.root().join(folder))
        && !folder.is_dir()
    {
        problems.push(format!("tools.workspace: {} is not a folder", folder.display()));
    }
    if !problems.is_empty() {
        check.status = CheckStatus::Warn;
        check.summary = format!("{}: {}", path.display(), problems.join("; "));
        let hint = "correct the names; `cdpilot tools list` and `cdpilot tools list --toolsets` show the known ones";
        check.fix_hint = Some(hint.to_owned());
    }
}
