//! Routes for the settings of models, and the settings that clients of conversations need.

use serde_json::{Value, json};

use super::super::error::ApiError;
use super::Call;
use crate::api::{ModelSettings, NoFields, SettingsShown};
use crate::llm::Models;

pub(super) fn models(call: &Call<'_>, _: NoFields) -> Result<ModelSettings, ApiError> {
    Ok(shown(&Models::of(call.context.control.home())?))
}

/// Replaces all models. Those of a faulty file are lost with it; their keys cannot be kept by a mask then.
pub(super) fn set_models(call: &Call<'_>, new: Value) -> Result<ModelSettings, ApiError> {
    Ok(shown(&call.context.tools.replace_models(new)?))
}

/// The settings. A faulty `llm.json` is a part of the answer, so that a client can show and replace it.
pub(super) fn settings(call: &Call<'_>, _: NoFields) -> Result<SettingsShown, ApiError> {
    let control = &call.context.control;
    let (models, problem) = match Models::of(control.home()) {
        Ok(models) => (models, None),
        Err(problem) => (Models::default(), Some(problem.to_string())),
    };
    let default = models.find(None).ok().map(|(alias, _)| alias.to_owned());
    let masked = models.masked();
    let entry = |alias: &String| {
        let mut entry = masked["models"][alias].clone();
        entry["alias"] = json!(alias);
        entry["has_api_key"] = json!(models.models.get(alias).is_some_and(crate::llm::Model::has_key));
        entry["is_default"] = json!(default.as_ref() == Some(alias));
        entry
    };
    let llm_configs: Vec<Value> = models.models.keys().map(entry).collect();
    let agent = serde_json::to_value(&control.config().agent).unwrap_or_default();
    Ok(SettingsShown {
        llm: default.as_ref().map(entry),
        llm_configs,
        is_configured: default.is_some(),
        problem,
        default_llm_alias: default,
        default_cwd: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
        agent,
    })
}

fn shown(models: &Models) -> ModelSettings {
    let mut masked = models.masked();
    ModelSettings { models: masked["models"].take(), default: models.default.clone() }
}
