//! Routes for the secrets that conversations may type.

use super::super::error::ApiError;
use super::Call;
use crate::api::{NewSecret, NoFields, Removed, SecretList, SecretStored};

pub(super) fn list(call: &Call<'_>, _: NoFields) -> Result<SecretList, ApiError> {
    Ok(SecretList { secrets: call.context.control.secret_store().list()? })
}

pub(super) fn set(call: &Call<'_>, new: NewSecret) -> Result<SecretStored, ApiError> {
    let store = call.context.control.secret_store();
    let secret = match (&new.origin, &new.value) {
        (Some(origin), Some(value)) => store.set(&new.name, origin, &value.0, &new.fields)?,
        (None, None) if !new.fields.is_empty() => store.add_fields(&new.name, &new.fields)?,
        _ => {
            let problem = "give origin and value to store a secret, or fields alone to add them to a stored one";
            return Err(ApiError::bad(problem));
        }
    };
    Ok(SecretStored { secret })
}

pub(super) fn remove(call: &Call<'_>, _: NoFields) -> Result<Removed, ApiError> {
    call.context.control.secret_store().remove(call.path_param(0))?;
    Ok(Removed { removed: true })
}
