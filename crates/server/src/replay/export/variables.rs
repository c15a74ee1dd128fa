//! Variables of a script: inputs and secrets.

use super::Source;
use super::words::Names;
use crate::routine::secrets_used;

/// A variable whose value a run is given.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    /// Its name in the script.
    pub(super) name: String,
    /// Its name in the environment.
    pub(super) environment: String,
    /// Its value if the environment has none.
    pub(super) default: Option<String>,
    /// Where its value is also found in the routine.
    pub(super) of: Of,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Of {
    Input(String),
    Secret(String),
}

impl Variable {
    /// Whether its value is never written down.
    pub(super) fn is_secret(&self) -> bool {
        self.environment.starts_with("SECRET_")
    }
}

/// The inputs and secrets of a routine.
pub(super) fn variables(source: &Source<'_>) -> Vec<Variable> {
    let (mut names, mut environments) = (Names::default(), Names::default());
    let mut all: Vec<Variable> = Vec::new();
    for input in &source.routine.inputs {
        // That of a stored secret is the secret.
        if input.secret.is_some() {
            continue;
        }
        let (prefix, capitals) = if input.sensitive { ("secret_", "SECRET_") } else { ("input_", "INPUT_") };
        all.push(Variable {
            name: names.new_name(prefix, &input.name),
            environment: environments.new_name(capitals, &input.name.to_uppercase()),
            default: input.default.clone().filter(|_| !input.sensitive),
            of: Of::Input(input.name.clone()),
        });
    }
    for secret in secrets_used(source.routine) {
        all.push(Variable {
            name: names.new_name("secret_", &secret),
            environment: environments.new_name("SECRET_", &secret.to_uppercase()),
            default: None,
            of: Of::Secret(secret),
        });
    }
    all
}
