//! Routes for the secrets that conversations may type.

use super::super::error::ApiError;
use super::Call;
use crate::api::{NewSecret, NoFields, Removed, SecretList, SecretStored};

pub(super) fn list(call: &Call<'_>, _: NoFields) -> Result<SecretList, ApiError> {
    Ok(SecretList { secrets: call.context.control.secret_store().list()? })
}

pub(super) fn set(call: &Call<'_>, new: NewSecret) -> Result<SecretStored, ApiError> {
    let store = call.context.control.secret_store();
    Ok(SecretStored { secret: store.set(&new.name, &new.origin, &new.value.0)? })
}

pub(super) fn remove(call: &Call<'_>, _: NoFields) -> Result<Removed, ApiError> {
    call.context.control.secret_store().remove(call.path_param(0))?;
    Ok(Removed { removed: true })
}
