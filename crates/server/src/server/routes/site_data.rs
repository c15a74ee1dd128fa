//! Cookies, storage, saved state and emulation.

use super::super::error::ApiError;
use super::Call;
use crate::api::{
    AddCookies, Added, Cookies, CookiesQuery, DeleteCookies, Deleted, ImportCookies, Items, LoadStateBody,
    SaveStateBody, SetStorage, StorageQuery, TabAnswer,
};
use cdpilot::page::{Emulation, ImportedCookies, LoadedState, LoginState, SaveState, SavedState, Storage};

pub(super) fn cookies(call: &Call<'_>, query: CookiesQuery) -> Result<Cookies, ApiError> {
    let urls: Vec<&str> = query.url.as_deref().into_iter().collect();
    Ok(Cookies { cookies: call.any_tab(false)?.tab.cookies(&urls, call.deadline)? })
}

pub(super) fn add_cookies(call: &Call<'_>, add: AddCookies) -> Result<Added, ApiError> {
    Ok(Added { added: call.any_tab(true)?.tab.set_cookies(&add.cookies, call.deadline)? })
}

pub(super) fn import_cookies(call: &Call<'_>, import: ImportCookies) -> Result<ImportedCookies, ApiError> {
    let tab = call.any_tab(true)?.tab;
    Ok(tab.import_cookies(&import.text, import.format.unwrap_or_default(), import.url.as_deref(), call.deadline)?)
}

pub(super) fn delete_cookies(call: &Call<'_>, which: DeleteCookies) -> Result<Deleted, ApiError> {
    let tab = call.any_tab(false)?.tab;
    Ok(Deleted { deleted: tab.delete_cookies(which.name.as_deref(), which.domain.as_deref(), call.deadline)? })
}

pub(super) fn save_state(call: &Call<'_>, save: SaveStateBody) -> Result<SavedState, ApiError> {
    let (tabs, tab) = call.tabs_and_any(false)?;
    Ok(tabs.save_state(&tab, &SaveState::new().origins(save.origins.unwrap_or_default()), call.deadline)?)
}

pub(super) fn load_state(call: &Call<'_>, load: LoadStateBody) -> Result<LoadedState, ApiError> {
    let state = LoginState::from_json(load.state.into())?;
    let (tabs, tab) = call.tabs_and_any(true)?;
    Ok(tabs.load_state(&tab, &state, call.deadline)?)
}

pub(super) fn emulate(call: &Call<'_>, change: Emulation) -> Result<TabAnswer, ApiError> {
    let tab = call.tab()?.tab;
    tab.emulate(&change, call.deadline)?;
    Ok(TabAnswer { target_id: tab.target().to_string() })
}

fn items(call: &Call<'_>, area: Storage, query: &StorageQuery) -> Result<Items, ApiError> {
    Ok(Items { items: call.tab_to_read()?.tab.storage(area, query.key.as_deref(), call.deadline)? })
}

fn set(call: &Call<'_>, area: Storage, set: &SetStorage) -> Result<Items, ApiError> {
    Ok(Items { items: call.tab()?.tab.set_storage(area, &set.items, call.deadline)? })
}

fn delete(call: &Call<'_>, area: Storage, query: &StorageQuery) -> Result<Items, ApiError> {
    Ok(Items { items: call.tab()?.tab.delete_storage(area, query.key.as_deref(), call.deadline)? })
}

pub(super) fn local(call: &Call<'_>, query: StorageQuery) -> Result<Items, ApiError> {
    items(call, Storage::Local, &query)
}

pub(super) fn set_local(call: &Call<'_>, items: SetStorage) -> Result<Items, ApiError> {
    set(call, Storage::Local, &items)
}

pub(super) fn delete_local(call: &Call<'_>, query: StorageQuery) -> Result<Items, ApiError> {
    delete(call, Storage::Local, &query)
}

pub(super) fn session(call: &Call<'_>, query: StorageQuery) -> Result<Items, ApiError> {
    items(call, Storage::Session, &query)
}

pub(super) fn set_session(call: &Call<'_>, items: SetStorage) -> Result<Items, ApiError> {
    set(call, Storage::Session, &items)
}

pub(super) fn delete_session(call: &Call<'_>, query: StorageQuery) -> Result<Items, ApiError> {
    delete(call, Storage::Session, &query)
}
