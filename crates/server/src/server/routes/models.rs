//! Routes for the settings of models, and the settings that clients of conversations need.

use std::time::Instant;

use serde_json::{Value, json};

use super::super::error::ApiError;
use super::Call;
use crate::api::{ModelSettings, ModelTested, NoFields, SettingsShown, TestModel};
use crate::llm::{ChatRequest, Client, Message, Models, Role};

pub(super) fn models(call: &Call<'_>, _: NoFields) -> Result<ModelSettings, ApiError> {
    Ok(shown(&Models::of(call.context.control.home())?))
}

/// Replaces all models. Those of a faulty file are lost with it; their keys cannot be kept by a mask then.
pub(super) fn set_models(call: &Call<'_>, new: Value) -> Result<ModelSettings, ApiError> {
    Ok(shown(&call.context.tools.replace_models(new)?))
}

/// A white picture of 8 x 8 pixels, for models that accept pictures.
const PICTURE: &[u8] = include_bytes!("white.png");
/// Maximum length of the shown reply, in characters.
const REPLY: usize = 200;

/// Sends one request to a model that is stored, or that is about to be.
pub(super) fn test_model(call: &Call<'_>, wanted: TestModel) -> Result<ModelTested, ApiError> {
    let mut models = Models::of(call.context.control.home())?;
    if let Some(model) = wanted.model {
        let alias = wanted.alias.as_deref().ok_or_else(|| ApiError::bad("alias is missing; it goes with model"))?;
        let mut all = models.masked();
        all["models"][alias] = Value::Object(model);
        models = models.replaced(all)?;
    }
    let (alias, model) = models.find(wanted.alias.as_deref())?;
    let mut message = Message::text(Role::User, "This is a test of the connection. Answer with the word ok.");
    if model.vision {
        message = message.with_image("image/png", PICTURE.to_vec());
    }
    let began = Instant::now();
    let client = Client::new(alias, model)?;
    let answer = client.ask(&ChatRequest::new(vec![message]), call.deadline)?;
    let text = if answer.text.trim().is_empty() { &answer.reasoning } else { &answer.text };
    Ok(ModelTested {
        alias: alias.to_owned(),
        reply: text.trim().chars().take(REPLY).collect(),
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        with_picture: model.vision && client.accepts_images(),
    })
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
